/* Whether an expression is reached for the given parameters. A value that never fits is reported before the search only
   if it is certainly computed, or if it is a literal. Otherwise it is checked at run time. */
#include "lang/typecheck_reach.h"

#include "lang/typecheck_nodes.h"
#include "lang/typecheck_types.h"
#include "lang/typechecker.h"

/* The range of a number or truth value. False: unknown. */
static bool node_bounds(const struct node *n, int64_t *lo, int64_t *hi) {
  bool plain = type_is_number(n->type) || n->type->kind == TYPE_BOOL;
  if (plain && (n->op == NODE_CONST || n->op == NODE_PARAM)) {
    *lo = *hi = n->constant;
    return true;
  }
  *lo = n->type->lo;
  *hi = n->type->hi;
  return n->type->kind == TYPE_RANGE;
}

static int negate(int truth) { return truth < 0 ? truth : !truth; }

static int less(const struct node *x, const struct node *y, bool or_equal) {
  int64_t xlo, xhi, ylo, yhi;
  if (!node_bounds(x, &xlo, &xhi) || !node_bounds(y, &ylo, &yhi))
    return -1;
  if (or_equal ? xhi <= ylo : xhi < ylo)
    return 1;
  return (or_equal ? xlo > yhi : xlo >= yhi) ? 0 : -1;
}

static int both(int x, int y) { return x == 0 || y == 0 ? 0 : x == 1 && y == 1 ? 1 : -1; }

/* The value of a condition, judged by the types of its parts: 1, 0, or -1 if unknown. */
static int known_truth(const struct node *n) {
  switch (op_number(n->op)) {
  case NODE_CONST:
  case NODE_PARAM:
    return n->type->kind == TYPE_BOOL ? n->constant != 0 : -1;
  case NODE_NOT:
    return negate(known_truth(n->kid[0]));
  case NODE_AND:
    return both(known_truth(n->kid[0]), known_truth(n->kid[1]));
  case NODE_OR:
    return negate(both(negate(known_truth(n->kid[0])), negate(known_truth(n->kid[1]))));
  case NODE_IMPLIES:
    return negate(both(known_truth(n->kid[0]), negate(known_truth(n->kid[1]))));
  case NODE_EQ:
    return both(less(n->kid[0], n->kid[1], true), less(n->kid[1], n->kid[0], true));
  case NODE_NE:
    return negate(both(less(n->kid[0], n->kid[1], true), less(n->kid[1], n->kid[0], true)));
  case NODE_LT:
    return less(n->kid[0], n->kid[1], false);
  case NODE_LE:
    return less(n->kid[0], n->kid[1], true);
  case NODE_GT:
    return less(n->kid[1], n->kid[0], false);
  case NODE_GE:
    return less(n->kid[1], n->kid[0], true);
  case NODE_IN:
    if (n->kid[1]->op == NODE_INTERVAL)
      return both(less(n->kid[1]->kid[0], n->kid[0], true), less(n->kid[0], n->kid[1]->kid[1], true));
    break;
  }
  return -1;
}

enum reach reach_if(const struct typechecker *c, const struct node *condition, bool holds) {
  if (c->in.reach == REACH_NEVER)
    return REACH_NEVER;
  int truth = node_is_error(condition) ? -1 : known_truth(condition);
  return truth < 0 ? REACH_MAYBE : truth == holds ? c->in.reach : REACH_NEVER;
}

enum reach reach_maybe(const struct typechecker *c) { return c->in.reach == REACH_NEVER ? REACH_NEVER : REACH_MAYBE; }

bool refused_here(const struct typechecker *c, const struct node *n) {
  return c->in.reach == REACH_ALWAYS || (c->in.reach == REACH_MAYBE && n->op == NODE_CONST);
}
