/* Step properties on steps that leave alone what they read: the formula is looked at as if nothing were primed. */
#include "analysis/action_use.h"

#include "model/node.h"

enum stutter_truth { NO, YES, MAYBE };

/* Generators around a formula: a name and the collection that it is a member of. */
struct binder_chain {
  uint32_t slot;
  const struct node *range;
  const struct binder_chain *outer;
};

static bool same(const struct node *a, const struct node *b) {
  if (!op_is_known(a->op) || a->op != b->op || a->index != b->index || a->constant != b->constant || a->n != b->n ||
      a->ngen || b->ngen)
    return false;
  for (uint32_t i = 0; i < a->n; i++)
    if (!same(a->kid[i], b->kid[i]))
      return false;
  return true;
}

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

static enum stutter_truth negated(enum stutter_truth t) { return t == MAYBE ? MAYBE : t == YES ? NO : YES; }

static enum stutter_truth conjunction(enum stutter_truth a, enum stutter_truth b) {
  return a == NO || b == NO ? NO : a == YES && b == YES ? YES : MAYBE;
}

static enum stutter_truth truth_of(const struct binder_chain *, const struct node *);

/* For all bindings of the generators from i on. */
static enum stutter_truth truth_of_all(const struct binder_chain *around, const struct node *n, uint32_t i) {
  if (i == n->ngen)
    return n->n ? truth_of(around, n->kid[0]) : YES;
  struct binder_chain inner = {n->gen[i].slot, n->gen[i].range, around};
  return truth_of_all(&inner, n, i + 1);
}

static enum stutter_truth equality(const struct binder_chain *around, const struct node *a, const struct node *b) {
  return same(a, b) || is_content(around, a, b) || is_content(around, b, a) ? YES : MAYBE;
}

static enum stutter_truth truth_of(const struct binder_chain *around, const struct node *n) {
  const struct node *a = n->n > 0 ? n->kid[0] : NULL, *b = n->n > 1 ? n->kid[1] : NULL;
  switch (op_number(n->op)) {
  case NODE_CONST:
    return n->constant ? YES : NO;
  case NODE_NOT:
    return negated(truth_of(around, a));
  case NODE_AND:
    return conjunction(truth_of(around, a), truth_of(around, b));
  case NODE_OR:
    return negated(conjunction(negated(truth_of(around, a)), negated(truth_of(around, b))));
  case NODE_IMPLIES:
    if (same(a, b))
      return YES;
    return negated(conjunction(truth_of(around, a), negated(truth_of(around, b))));
  case NODE_IF:
    return conjunction(truth_of(around, b), truth_of(around, n->kid[2])) == YES ? YES : MAYBE;
  case NODE_FORALL: /* over nothing it is true */
    return truth_of_all(around, n, 0) == YES ? YES : MAYBE;
  case NODE_EXISTS:
    return truth_of_all(around, n, 0) == NO ? NO : MAYBE;
  case NODE_EQ:
    return equality(around, a, b);
  case NODE_NE:
    return negated(equality(around, a, b));
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
  return MAYBE;
}

bool property_is_stutter_invariant(const struct property *p) {
  return !p->step || (truth_of(NULL, p->formula) == YES && !node_has_traits(p->formula, TRAIT_UNKNOWN));
}
