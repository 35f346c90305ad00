/* Properties, and what is checked once the model is complete. */
#ifndef RONDO_LANG_TYPECHECK_PROPERTY_H
#define RONDO_LANG_TYPECHECK_PROPERTY_H

#include "model/model.h"

struct typechecker;

void check_properties(struct typechecker *);

/* typecheck_whole_model.c: errors and warnings that require the complete model with defs expanded. */
void check_whole_model(const struct model *, struct diags *);

#endif
