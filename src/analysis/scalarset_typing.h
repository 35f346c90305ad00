/* Scalarsets (Ip, Dill 1996): types the text of a model again, with one type made a scalarset. The values of a
   scalarset may only be copied, compared for equality, collected in sets, and used as indices. What is well typed in
   this sense does not change if the values are renamed. Every other use is an event, with its place. */
#ifndef RONDO_ANALYSIS_SCALARSET_TYPING_H
#define RONDO_ANALYSIS_SCALARSET_TYPING_H

#include "model/model.h"

enum scalarset_event {
  SCALARSET_ORDER,      /* compared by order */
  SCALARSET_LITERAL,    /* a constant of that type; of rounds: other than 0 */
  SCALARSET_MIXED,      /* compared with, or converted to or from, another type */
  SCALARSET_ARITHMETIC, /* an operand or a result of arithmetic */
  SCALARSET_RESIDUE,    /* mod; P(i) */
  SCALARSET_SIZE,       /* how many values the type has */
};

struct scalarset {
  const struct model *model;
  const struct query *query;
  const struct type *value; /* the type; NULL: rounds */
  void *context;
  /* initial: the event is in a first value, or in the condition of an input */
  void (*raise)(void *context, enum scalarset_event, const struct node *, bool initial);
};

void scalarset_check(const struct scalarset *);
bool scalarset_occurs_in(const struct scalarset *, const struct type *);
bool scalarset_indexes(const struct scalarset *, const struct type *); /* some array inside is indexed by it */

#endif
