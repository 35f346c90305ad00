/* Syntax tree -> counter system: names, sorts, linearity. All errors in one go. */
#ifndef RONDO_LANG_CHECK_COUNTERS_H
#define RONDO_LANG_CHECK_COUNTERS_H

#include "lang/check.h"
#include "model/counters.h"

/* NULL if there was an error. Parameters that have a binding get its value, all others stay free.
 */
struct counter_system *counters_check(const struct ast *file, const struct source *,
                                      const struct binding *, size_t nbindings, struct diags *);

#endif
