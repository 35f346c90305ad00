/* Types the text of a model again, with one type made opaque: its values may be copied, compared for equality,
   gathered in sets, and used as indices, and nothing else. What is well typed like that does not change when the
   values are renamed (parametricity); everything else is an event with its place. */
#ifndef RONDO_MODEL_OPAQUE_H
#define RONDO_MODEL_OPAQUE_H

#include "model/model.h"

enum opaque_event {
  OPAQUE_ORDER,      /* compared by order */
  OPAQUE_LITERAL,    /* a constant of that type; of rounds: other than 0 */
  OPAQUE_MIXED,      /* compared with, or made to, something of another type */
  OPAQUE_ARITHMETIC, /* computed with */
  OPAQUE_RESIDUE,    /* mod; P(i) */
  OPAQUE_SIZE,       /* how many values the type has */
};

struct opaque {
  const struct model *model;
  const struct question *question;
  const struct type *value; /* the type; NULL: rounds */
  void *context;
  /* initial: in a first value or its condition */
  void (*raise)(void *context, enum opaque_event, const struct node *, bool initial);
};

void opaque_run(const struct opaque *);
bool opaque_mentions(const struct opaque *, const struct type *);
bool opaque_indexes(const struct opaque *, const struct type *); /* some array inside is indexed by it */

#endif
