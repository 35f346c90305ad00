/* Types as text; value_print is declared in value.h. */
#ifndef RONDO_MODEL_TYPE_PRINT_H
#define RONDO_MODEL_TYPE_PRINT_H

#include "model/model.h"

/* As the source would write it: the name if it has one, else `set of Value`, `(x: Value, vote: Value?)` ... */
void type_print(const struct model *, const struct type *, struct text *);

#endif
