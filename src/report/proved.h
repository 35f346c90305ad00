/* What was proved, in words: the parts that several kinds of results share. */
#ifndef RONDO_REPORT_PROVED_H
#define RONDO_REPORT_PROVED_H

#include "report/result.h"

void proved_every_run(struct text *, const struct model *, const struct licences *); /* every run, n = 4 */
void proved_but_for(struct text *, const struct search *); /* , but for a state missed with ...; nothing if all were kept whole */
void proved_length(struct text *, bool steps, uint64_t n); /* 3 rounds, 3 steps */
/* the limit of ... was reached; why: the solver gave up */
void proved_limit(struct text *, enum search_end, const struct limits *, const char *why);
void proved_way(struct text *, bool steps, uint64_t n); /* after 3 rounds; in an initial state */
void proved_faulty(struct text *, uint64_t n);          /* , 1 faulty process; or nothing */

#endif
