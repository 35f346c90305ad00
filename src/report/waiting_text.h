/* Who waits for what, as text. */
#ifndef RONDO_REPORT_WAITING_TEXT_H
#define RONDO_REPORT_WAITING_TEXT_H

#include "trace/waiting.h"

/* A line for each group of processes that wait for the same: "  P(1), P(2) wait at reach: when not taken[other]  (line
   14)". */
void waiting_list_print(const struct waiting_list *, const struct model *, struct text *);

#endif
