/* Step models: the messages of a run, from the step that sends one to the step that takes, reads, delivers or loses it.
 */
#ifndef RONDO_REPORT_DIAGRAM_FLIGHTS_H
#define RONDO_REPORT_DIAGRAM_FLIGHTS_H

#include "base/vec.h"
#include "trace/trace.h"

#define STEP_EARLIER UINT32_MAX /* sent: before the part of the run that is drawn */
#define STEP_NEVER UINT32_MAX   /* taken: still on its way at the end */

enum flight_end { FLIGHT_TAKEN, FLIGHT_LOST, FLIGHT_FORGED /* never sent */, FLIGHT_PENDING };
struct flight {
  enum flight_end end;
  uint32_t from, to, kind;
  value message;
  uint32_t sent, taken; /* steps */
};
struct flights {
  VEC(struct flight) at; /* in the order of the steps that take them; pending ones last */
};

void flights_find(struct flights *, const struct trace *);
void flights_release(struct flights *);

#endif
