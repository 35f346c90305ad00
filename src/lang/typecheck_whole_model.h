#ifndef RONDO_LANG_TYPECHECK_WHOLE_MODEL_H
#define RONDO_LANG_TYPECHECK_WHOLE_MODEL_H

#include "base/diag.h"
#include "model/model.h"

/* Errors and warnings that need all of the model, its defs written out. */
void check_whole_model(const struct model *, struct diags *);

#endif
