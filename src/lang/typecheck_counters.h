/* Syntax tree -> counter system: names, sorts, linearity. All errors in one go. */
#ifndef RONDO_LANG_TYPECHECK_COUNTERS_H
#define RONDO_LANG_TYPECHECK_COUNTERS_H

#include "lang/typecheck.h"
#include "model/counter_system.h"

/* NULL if there was an error. Parameters that have a binding get its value, all others stay free.
 */
struct counter_system *counters_typecheck(const struct ast *file, const struct source *, const struct param_binding *,
                                          size_t nbindings, struct diags *);

/* A model of rounds, for all values of its parameters. False if there was an error. */
bool rounds_param_system(const struct ast *file, const struct source *, const struct param_binding *, size_t nbindings,
                         struct round_shape *, struct diags *);

/* Where one of the parameters (or what is defined by it) decides about a type. {0,0}: nowhere. */
struct span param_decides_type(const struct ast *file, const struct counter_system *params, const char *name);

#endif
