/* check --audit: the same check without reductions, with plain successors, and by bmc to a small depth. */
#ifndef RONDO_DRIVER_CHECK_AUDIT_H
#define RONDO_DRIVER_CHECK_AUDIT_H

#include "driver/query.h"

enum audit_outcome {
  AUDIT_CONSISTENT,      /* all that was decided agrees; the runs of the result have their notes */
  AUDIT_FAULT,           /* two answers contradict each other, or there is another fault of rondo: *why says
                            which */
  AUDIT_FORCED_REDUCTION /* a reduction that was forced gives another answer than none: likewise */
};

/* The result of the query_groups is what is audited. */
enum audit_outcome audit_answer(const struct query_groups *, const struct query_context *, struct check_result *,
                                struct text *why);

#endif
