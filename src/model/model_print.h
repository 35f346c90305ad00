/* A readable dump of the typed model, near the source's own notation, for --dump, tests and
 * messages. */
#ifndef RONDO_MODEL_MODEL_PRINT_H
#define RONDO_MODEL_MODEL_PRINT_H

#include "model/model.h"

/* As the source would write it: the name if it has one, else `set of Value`, `(x: Value, vote:
 * Value?)` ... */
void type_print(const struct model *, const struct type *, struct text *);
void node_print(const struct model *, const struct node *, struct text *);
void model_print(const struct model *, struct text *);

#endif
