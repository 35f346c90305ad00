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

/* A parameter that is nothing but the number of values of a type: `type Value = 1..k`, and conditions `k >= 1`. */
struct param_type_size {
  const char *type;
  int64_t low, least; /* the lowest value of the type; the smallest value of the parameter */
};
/* Its value for so many values of the type, or the smallest that is allowed. */
static inline int64_t param_for_values(const struct param_type_size *s, uint32_t values) {
  int64_t number = s->low + (int64_t)values - 1;
  return number > s->least ? number : s->least;
}
/* False: it is read elsewhere, too, at *other ({0, 0}: no type reads it like that). Its default is not read. */
bool param_is_type_size(const struct ast *file, const char *name, struct param_type_size *, struct span *other);

#endif
