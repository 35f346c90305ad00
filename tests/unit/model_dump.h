/* A readable dump of the typed model, near the source's own notation. */
#ifndef RONDO_TESTS_MODEL_DUMP_H
#define RONDO_TESTS_MODEL_DUMP_H

#include "model/model.h"

void node_print(const struct model *, const struct node *, struct text *);
void model_print(const struct model *, struct text *);

#endif
