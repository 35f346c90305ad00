#ifndef RONDO_LANG_CHECK_COMPLETE_H
#define RONDO_LANG_CHECK_COMPLETE_H

#include "base/diag.h"
#include "model/model.h"

/* Errors and warnings that need all of the model, its defs written out. */
void check_complete(const struct model *, struct diags *);

#endif
