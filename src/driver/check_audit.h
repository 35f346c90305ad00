/* check --audit: the same check without reductions, with plain successors, and by bmc to a small depth. */
#ifndef RONDO_DRIVER_CHECK_AUDIT_H
#define RONDO_DRIVER_CHECK_AUDIT_H

#include "driver/query.h"

enum audit_outcome {
  AUDIT_CONSISTENT,      /* all conclusive answers agree; the audit is noted in the runs of the result */
  AUDIT_FAULT,           /* two answers contradict each other, or there is another fault of rondo: *why says
                            which */
  AUDIT_FORCED_REDUCTION /* a forced reduction changes an answer: *why says which */
};

/* Audits the result of these query groups. */
enum audit_outcome audit_answer(const struct query_groups *, const struct query_context *, struct check_result *,
                                struct text *why);

#endif
