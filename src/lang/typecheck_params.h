/* Parameters: their values, and the conditions on them. */
#ifndef RONDO_LANG_TYPECHECK_PARAMS_H
#define RONDO_LANG_TYPECHECK_PARAMS_H

#include "base/vec.h"
#include "lang/typecheck.h"

struct typechecker;

struct param_info {
  const struct ast *ast; /* PARAM */
  bool known, is_bool;
};

struct param_table {
  VEC(struct param_info) list;        /* in the order of the model's parameters */
  VEC(const struct ast *) conditions; /* from `where` and `resilience` */
};

/* The last binding of the name; NULL: there is none. */
const struct param_binding *param_binding_find(const struct param_binding *, size_t n, const char *name);
void declare_params(struct typechecker *);
void assign_params(struct typechecker *, const struct param_binding *, size_t nbindings, bool complete);

#endif
