/* Stutter invariance of step properties (Lamport 1983): is the formula true of every step that changes nothing that it
   reads? It is evaluated in three-valued logic, as if nothing were primed. */
#include "analysis/action_use.h"

#include "analysis/may_fail.h"
#include "analysis/three_valued.h"
#include "model/node.h"

/* Generators around a formula: a name and the collection that it is a member of. */
struct binder_chain {
  uint32_t slot;
  const struct node *range;
  const struct binder_chain *outer;
};

/* The same value before the step and after it, if the step changes nothing that they read. */
static bool same(const struct node *a, const struct node *b) { return node_same_value(a, b, true); }

static const struct node *range_of(const struct binder_chain *around, const struct node *slot) {
  for (; around && slot->op == NODE_SLOT; around = around->outer)
    if (around->slot == slot->index)
      return around->range;
  return NULL;
}

/* v in x: ... v in x' */
static bool is_member(const struct binder_chain *around, const struct node *v, const struct node *of) {
  const struct node *range = range_of(around, v);
  return range && same(range, of);
}

/* v in x: ... x' == v, where x is an option */
static bool is_content(const struct binder_chain *around, const struct node *x, const struct node *v) {
  return x->type->kind == TYPE_OPTION && v->op == NODE_WRAP && is_member(around, v->kid[0], x);
}

static enum ternary truth_of(void *around, const struct node *);

/* For all bindings of the generators from i on. */
static enum ternary truth_of_all(const struct binder_chain *around, const struct node *n, uint32_t i) {
  if (i == n->ngen)
    return n->n ? truth_of((void *)around, n->kid[0]) : YES;
  struct binder_chain inner = {n->gen[i].slot, n->gen[i].range, around};
  return truth_of_all(&inner, n, i + 1);
}

static enum ternary equality(const struct binder_chain *around, const struct node *a, const struct node *b) {
  return same(a, b) || is_content(around, a, b) || is_content(around, b, a) ? YES : MAYBE;
}

static enum ternary truth_of(void *context, const struct node *n) {
  const struct binder_chain *around = context;
  const struct node *a = n->n > 0 ? n->kid[0] : NULL, *b = n->n > 1 ? n->kid[1] : NULL;
  switch (op_number(n->op)) {
  case NODE_IMPLIES:
    if (same(a, b))
      return YES;
    break;
  case NODE_IF:
    return ternary_and(truth_of(context, b), truth_of(context, n->kid[2])) == YES ? YES : MAYBE;
  case NODE_FORALL: /* over nothing it is true */
    return truth_of_all(around, n, 0) == YES ? YES : MAYBE;
  case NODE_EXISTS:
    return truth_of_all(around, n, 0) == NO ? NO : MAYBE;
  case NODE_EQ:
    return equality(around, a, b);
  case NODE_NE:
    return ternary_not(equality(around, a, b));
  case NODE_LE:
  case NODE_GE:
  case NODE_SUBSET:
    return same(a, b) ? YES : MAYBE;
  case NODE_LT:
  case NODE_GT:
    return same(a, b) ? NO : MAYBE;
  case NODE_IN:
    return is_member(around, a, b) ? YES : MAYBE;
  }
  return ternary_connective(n, truth_of, context);
}

bool property_is_stutter_invariant(const struct property *p) {
  return !p->step || (truth_of(NULL, p->formula) == YES && !node_has_traits(p->formula, TRAIT_UNKNOWN));
}

bool property_observes_stuttering(const struct model *m, const struct query *q, const struct property *p) {
  return p->step && (!property_is_stutter_invariant(p) || node_may_fail(m, q, p->formula, NULL, NULL));
}
