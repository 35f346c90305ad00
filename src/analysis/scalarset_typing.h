/* Types the text of a model again, with one type made scalarset: its values may be copied, compared for equality,
   gathered in sets, and used as indices, and nothing else. What is well typed like that does not change when the
   values are renamed (parametricity); everything else is an event with its place. */
#ifndef RONDO_ANALYSIS_SCALARSET_TYPING_H
#define RONDO_ANALYSIS_SCALARSET_TYPING_H

#include "model/model.h"

enum scalarset_event {
  SCALARSET_ORDER,      /* compared by order */
  SCALARSET_LITERAL,    /* a constant of that type; of rounds: other than 0 */
  SCALARSET_MIXED,      /* compared with, or made to, something of another type */
  SCALARSET_ARITHMETIC, /* computed with */
  SCALARSET_RESIDUE,    /* mod; P(i) */
  SCALARSET_SIZE,       /* how many values the type has */
};

struct scalarset {
  const struct model *model;
  const struct query *query;
  const struct type *value; /* the type; NULL: rounds */
  void *context;
  /* initial: in a first value or its condition */
  void (*raise)(void *context, enum scalarset_event, const struct node *, bool initial);
};

void scalarset_check(const struct scalarset *);
bool scalarset_occurs_in(const struct scalarset *, const struct type *);
bool scalarset_indexes(const struct scalarset *, const struct type *); /* some array inside is indexed by it */

#endif
