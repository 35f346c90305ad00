/* Syntax tree -> counter system: resolves names and sorts, checks linearity. Reports all errors together. */
#ifndef RONDO_LANG_TYPECHECK_COUNTERS_H
#define RONDO_LANG_TYPECHECK_COUNTERS_H

#include "lang/typecheck.h"
#include "model/counter_system.h"

/* NULL if there was an error. Parameters with a binding get its value; all others stay free. */
struct counter_system *counters_typecheck(const struct ast *file, const struct source *, const struct param_binding *,
                                          size_t nbindings, struct diags *);

/* The parameters of a model of rounds, for all their values. False if there was an error. */
bool rounds_param_system(const struct ast *file, const struct source *, const struct param_binding *, size_t nbindings,
                         struct round_shape *, struct diags *);

/* A place where a type depends on one of the parameters, or on a definition that reads it. {0,0}: there is none. */
struct span param_decides_type(const struct ast *file, const struct counter_system *params, const char *name);

#endif
