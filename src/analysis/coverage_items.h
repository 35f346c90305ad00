/* What a run of the model can take or leave out: rounds, actions, statements, branches, sends, faults and clauses of
   environments. Copies of one text (the rounds of a `repeat`) are one item. */
#ifndef RONDO_ANALYSIS_COVERAGE_ITEMS_H
#define RONDO_ANALYSIS_COVERAGE_ITEMS_H

#include "base/vec.h"
#include "model/model.h"

enum coverage_kind {
  COVER_ROUND,     /* what a role does in a round */
  COVER_ACTION,    /* start, a step, a handler */
  COVER_STATEMENT, /* also a `send` of a round that has no condition */
  COVER_THEN,      /* the condition of an `if`, or of a `send`, is true */
  COVER_ELSE,      /* it is false, whether there is an `else` or not */
  COVER_FAULT,     /* a fault that an environment allows */
  COVER_CLAUSE     /* a clause that restricts what can happen in a round, or the bound of channels */
};

#define NO_ITEM UINT32_MAX
struct coverage_item {
  enum coverage_kind kind;
  struct span at;               /* its place: where the interpreter marks it (interp/coverage.h) */
  struct span shown;            /* what is quoted: the statement, the condition, the clause, the head of the action */
  struct span body;             /* THEN, ELSE: the first statement of the branch; none: both 0 */
  uint32_t inside;              /* the item that is executed whenever this one is; NO_ITEM: none */
  const char *name;             /* ACTION, ROUND: its name, or NULL; borrowed */
  uint32_t role;                /* ACTION, ROUND */
  uint32_t environment, clause; /* FAULT, CLAUSE */
  bool step;                    /* ACTION: a step, not a handler */
  bool recovery;                /* FAULT: recovery from a crash, not the crash */
};

struct coverage_items {
  VEC(struct coverage_item) at; /* an item comes after the one that it is inside of */
};

/* The items of the text that processes execute, in the order of roles, then those of the environments. */
void coverage_items_init(struct coverage_items *, const struct model *);
void coverage_items_release(struct coverage_items *);
/* Is it something that processes execute, not a part of an environment? */
bool coverage_item_is_code(const struct coverage_item *);

/* A part of a property that says nothing if some case never occurs: `a => b`, and `forall x in S: b`, where S may be
   empty; as written, or below `forall`, `and`, `always` and the right side of such an implication, so that it must hold
   in every state or step. `a leads to b` is one of these. */
struct implication {
  uint32_t property;
  const struct node *left; /* a; NULL: a quantifier */
  const struct node *right;
  struct node *never; /* a closed formula: the case does not occur, whatever the names around it are bound to */
};
struct implications {
  VEC(struct implication) at;
};
/* Formulas are made in the arena. */
void implications_of(struct implications *, const struct model *, uint32_t property, struct arena *);

#endif
