/* Syntax tree and parameter values -> typed model: names, types, bounds. All errors in one go. */
#ifndef RONDO_LANG_TYPECHECK_H
#define RONDO_LANG_TYPECHECK_H

#include "lang/ast.h"
#include "model/model.h"

struct param_binding {
  const char *name;
  int64_t value;
};

/* Which kind of model a file holds, from its syntax alone. */
enum model_kind ast_model_kind(const struct ast *file);

/* NULL if there was an error. Errors about bindings themselves (unknown parameter, missing value, condition not
   met) have no place or point at the parameter. complete_params: give parameters that have neither a binding nor a
   default the smallest values that satisfy all conditions (for lint), instead of reporting them. */
struct model *model_typecheck(const struct ast *file, const struct source *, const struct param_binding *,
                              size_t nbindings, bool complete_params, struct diags *);

/* The same file with one more expression, read as in a property (step: as in one about steps, with primed variables).
   The model's values are kept in `values`, which stays the caller's: take it out of the model before freeing that.
   lang/state_expression.h does it all for a model that was checked before. */
struct model *model_typecheck_with(const struct ast *file, const struct source *, const struct param_binding *,
                                   size_t nbindings, const struct values *values, const struct ast *expression,
                                   bool step, struct node **lowered, struct diags *);

#endif
