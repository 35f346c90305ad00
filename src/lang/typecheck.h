/* Syntax tree and parameter values -> typed model: resolves names, types and bounds. Reports all errors together. */
#ifndef RONDO_LANG_TYPECHECK_H
#define RONDO_LANG_TYPECHECK_H

#include "lang/ast.h"
#include "model/model.h"

struct param_binding {
  const char *name;
  int64_t value;
};

/* The kind of model in a file, determined from its syntax alone. */
enum model_kind ast_model_kind(const struct ast *file);

/* NULL if there was an error. Errors about bindings (unknown parameter, missing value, violated condition) have no
   place or point at the parameter. complete_params (for lint): parameters with neither a binding nor a default get the
   smallest values that satisfy all conditions; otherwise they are reported. */
struct model *model_typecheck(const struct ast *file, const struct source *, const struct param_binding *,
                              size_t nbindings, bool complete_params, struct diags *);

/* Checks the same file with one more expression, as in a property (step: as in a step property, with primed variables).
   The model stores its values in `values`, which the caller owns: remove it from the model before freeing the model.
   lang/state_expression.h does all this for a model that has already been checked. */
struct model *model_typecheck_with(const struct ast *file, const struct source *, const struct param_binding *,
                                   size_t nbindings, const struct values *values, const struct ast *expression,
                                   bool step, struct node **lowered, struct diags *);

#endif
