/* check --audit: the same check without reductions, the plain way, and by a solver to a small
 * depth. */
#ifndef RONDO_DRIVER_AUDIT_H
#define RONDO_DRIVER_AUDIT_H

#include "driver/question.h"

enum audited {
  AUDITED,     /* all that was decided agrees; the runs of the result have their notes */
  AUDIT_FAULT, /* two answers contradict each other, or there is another fault of rondo: *why says
                  which */
  AUDIT_MISFORCED /* a reduction that was forced gives another answer than none: likewise */
};

/* The result of the inquiries is what is audited. */
enum audited audit_answer(const struct inquiries *, const struct asked *, struct check_result *,
                          struct text *why);

#endif
