/* Names of the status bits in trace files. */
#ifndef RONDO_TRACE_STATUS_NAMES_H
#define RONDO_TRACE_STATUS_NAMES_H

#include "interp/config.h"

static const struct {
  value bit;
  const char *name;
} status_names[] = {{STATUS_HALTED, "halted"},         {STATUS_CRASHED, "crashed"},
                    {STATUS_OMITS_SEND, "omits_send"}, {STATUS_OMITS_RECEIVE, "omits_receive"},
                    {STATUS_BYZANTINE, "byzantine"},   {STATUS_RECOVERED, "recovered"}};
#define NSTATUSES (sizeof status_names / sizeof *status_names)

#endif
