/* Expressions: operators and constructors. Names, collections and calls are in other files. */
#include "lang/typecheck_expr.h"

#include "lang/typecheck_coerce.h"
#include "lang/typecheck_guard.h"
#include "lang/typecheck_nodes.h"
#include "lang/typecheck_reach.h"
#include "lang/typecheck_types.h"
#include "lang/typechecker.h"

#include <inttypes.h>
#include <string.h>

/* ---- arithmetic ---- */

/* The range of the result, if the ranges of both operands are known and nothing overflows. */
static const struct type *arithmetic_type(struct typechecker *c, enum op op, const struct type *a,
                                          const struct type *b) {
  if (a->kind != TYPE_RANGE || b->kind != TYPE_RANGE)
    return c->integer;
  int64_t lo = 0, hi = 0;
  bool over = true;
  switch (op_number(op)) {
  case NODE_ADD:
    over = __builtin_add_overflow(a->lo, b->lo, &lo);
    over |= __builtin_add_overflow(a->hi, b->hi, &hi);
    break;
  case NODE_SUB:
    over = __builtin_sub_overflow(a->lo, b->hi, &lo);
    over |= __builtin_sub_overflow(a->hi, b->lo, &hi);
    break;
  case NODE_MUL: {
    int64_t p[4];
    over = __builtin_mul_overflow(a->lo, b->lo, &p[0]);
    over |= __builtin_mul_overflow(a->lo, b->hi, &p[1]);
    over |= __builtin_mul_overflow(a->hi, b->lo, &p[2]);
    over |= __builtin_mul_overflow(a->hi, b->hi, &p[3]);
    lo = hi = p[0];
    for (int i = 1; i < 4; i++) {
      lo = p[i] < lo ? p[i] : lo;
      hi = p[i] > hi ? p[i] : hi;
    }
    break;
  }
  case NODE_DIV: /* by a positive constant, floor division is monotone */
    over = b->lo != b->hi || b->lo <= 0;
    lo = over ? 0 : a->lo / b->lo - (a->lo % b->lo < 0);
    hi = over ? 0 : a->hi / b->lo - (a->hi % b->lo < 0);
    break;
  case NODE_MOD:
    over = b->lo <= 0;
    lo = 0;
    hi = b->hi - !over;
    if (a->lo >= 0 && a->hi < b->lo) {
      lo = a->lo;
      hi = a->hi;
    }
    break;
  }
  return over || !number_fits(lo) || !number_fits(hi) ? c->integer : range_type(c, lo, hi);
}

static bool constant_zero(const struct node *n) {
  return n->type->kind == TYPE_RANGE && n->type->lo == 0 && n->type->hi == 0;
}

static bool needs_number(struct typechecker *c, const struct node *n, const char *op) {
  if (node_is_error(n) || type_is_number(n->type))
    return !node_is_error(n);
  checker_error(c, E0303, n->at, "'%s' needs numbers, not %s", op, type_text(c, n->type));
  if (n->type->kind == TYPE_PROCESS)
    checker_help(c, "number(p) is the number of process p, counted from 1");
  else if (n->type->kind == TYPE_OPTION && type_is_number(n->type->element))
    checker_help(c, "it may be none: take its value with 'exists v in ...', or say what else with '... "
                    "otherwise ...'");
  else if (n->type->kind == TYPE_ROUND)
    checker_help(c, "a round is only copied, compared, and advanced by a constant");
  else if (n->type->kind == TYPE_SET || n->type->kind == TYPE_BAG)
    checker_help(c, "|...| is the size of a set or of the messages received");
  else if (n->type->kind == TYPE_SEQUENCE)
    checker_help(c, "sequences are joined by '++': s ++ [x]; |s| is the length");
  return false;
}

/* r + 1 and r mod k, the only arithmetic on rounds. NULL: no operand is a round. */
static struct node *lower_round_arithmetic(struct typechecker *c, const struct ast *a, struct node *x, struct node *y) {
  bool left = x->type->kind == TYPE_ROUND, right = y->type->kind == TYPE_ROUND;
  if (a->op == OP_ADD && right && !left)
    return lower_round_arithmetic(c, a, y, x);
  if (!left || right)
    return NULL;
  bool constant = y->type->kind == TYPE_RANGE && y->type->lo == y->type->hi && y->type->lo >= 0;
  if (a->op == OP_ADD && constant)
    return node_binary(c, NODE_ADD, a->at, c->round, x, y);
  if (a->op == OP_MOD && constant && y->type->lo > 0)
    return node_binary(c, NODE_MOD, a->at, range_type(c, 0, y->type->lo - 1), x, y);
  return NULL;
}

static struct node *lower_set_operator(struct typechecker *c, const struct ast *a, enum op op, struct node *x,
                                       struct node *y) {
  const char *text = ast_op_text(a->op);
  struct node *each[] = {x, y};
  for (int i = 0; i < 2; i++)
    if (each[i]->type->kind != TYPE_SET) {
      checker_error(c, E0303, each[i]->at, "'%s' needs sets, not %s", text, type_text(c, each[i]->type));
      if (each[i]->type->kind == TYPE_BAG)
        checker_help(c, "write {m for m in %s} for the set of the messages", received_name_text(c));
      else if (each[i]->type->kind == TYPE_BOOL)
        checker_help(c, "conditions are joined by 'and' and 'or'");
      else if (each[i]->type->kind == TYPE_PROCESS)
        checker_help(c, "a set of one is written {p}; the elements that satisfy a condition are '{x for x in S if C}'");
      else if (each[i]->type->kind == TYPE_SEQUENCE || each[1 - i]->type->kind == TYPE_SEQUENCE)
        checker_help(c, "sequences are joined by '++': [x] ++ s");
      else if (each[i]->type->kind == TYPE_INT || each[i]->type->kind == TYPE_RANGE)
        checker_help(c, "numbers have no bits; conditions are joined by 'and' and 'or'");
      return node_error(c, a->at);
    }
  if (!coerce_to_join(c, &x, &y)) {
    checker_error(c, E0305, a->word, "'%s' of %s and %s", text, type_text(c, x->type), type_text(c, y->type));
    return node_error(c, a->at);
  }
  const struct type *type = x->type;
  if (y->type->kind == TYPE_SET && type->element == c->unknown)
    type = y->type;
  else if (op == NODE_UNION && x->type != y->type) { /* sets of identities of different roles */
    const struct type *join = type_join(c, x->type, y->type);
    type = join ? join : type;
  }
  return node_binary(c, op, a->at, type, x, y);
}

static struct node *lower_arithmetic(struct typechecker *c, const struct ast *a) {
  static const enum op ops[] = {
      [OP_ADD] = NODE_ADD, [OP_SUB] = NODE_SUB, [OP_MUL] = NODE_MUL, [OP_DIV] = NODE_DIV, [OP_MOD] = NODE_MOD};
  enum op op = ops[a->op];
  struct node *x = lower_expr(c, a->kid[0]), *y = lower_expr(c, a->kid[1]);
  if (node_is_error(x) || node_is_error(y))
    return node_error(c, a->at);
  if (op == NODE_SUB && (x->type->kind == TYPE_SET || y->type->kind == TYPE_SET))
    return lower_set_operator(c, a, NODE_DIFFERENCE, x, y);
  struct node *advanced = lower_round_arithmetic(c, a, x, y);
  if (advanced)
    return advanced;
  if (op == NODE_ADD && x->type->kind == TYPE_SET && y->type->kind == TYPE_SET) {
    checker_error(c, E0303, a->word, "'+' adds numbers");
    checker_help(c, "the union of two sets is written with '|'");
    return node_error(c, a->at);
  }
  if (!needs_number(c, x, ast_op_text(a->op)) || !needs_number(c, y, ast_op_text(a->op)))
    return node_error(c, a->at);
  if ((op == NODE_DIV || op == NODE_MOD) && constant_zero(y) && refused_here(c, y)) {
    checker_error(c, E0310, a->word, "division by zero");
    return node_error(c, a->at);
  }
  const struct ast *over = a->kid[0], *under = a->kid[1];
  if (op == NODE_DIV && over->kind == AST_NUMBER && under->kind == AST_NUMBER && under->number > 0 &&
      over->number % under->number != 0) {
    diag_warning(c->diags, W0110, a->at, "%s is %" PRId64 ": a quotient is rounded down", source_text(c, a->at),
                 over->number / under->number);
    diag_help(c->diags, "multiply before dividing, or on the other side: '3 * |received| > 2 * n'");
  }
  return node_binary(c, op, a->at, arithmetic_type(c, op, x->type, y->type), x, y);
}

/* A sequence as long as those of the type, of other elements. */
static const struct type *sequence_like(struct typechecker *c, const struct type *t, const struct type *element) {
  return type_intern(c, (struct type){.kind = TYPE_SEQUENCE, .element = element, .hi = t->hi, .distinct = t->distinct});
}

static struct node *lower_append(struct typechecker *c, const struct ast *a) {
  struct node *x = lower_expr(c, a->kid[0]), *y = lower_expr(c, a->kid[1]);
  if (node_is_error(x) || node_is_error(y))
    return node_error(c, a->at);
  struct node *each[] = {x, y};
  for (int i = 0; i < 2; i++)
    if (each[i]->type->kind != TYPE_SEQUENCE) {
      checker_error(c, E0303, each[i]->at, "'++' joins sequences, not %s", type_text(c, each[i]->type));
      checker_help(c, "a sequence of one is written [x]");
      return node_error(c, a->at);
    }
  const struct type *was_x = x->type, *was_y = y->type;
  const struct type *element = type_join(c, x->type->element, y->type->element);
  x = element ? coerce(c, x, sequence_like(c, was_x, element), false) : NULL;
  y = x ? coerce(c, y, sequence_like(c, was_y, element), false) : NULL;
  if (!x || !y) {
    checker_error(c, E0305, a->word, "'++' of %s and %s", type_text(c, was_x), type_text(c, was_y));
    return node_error(c, a->at);
  }
  if (node_is_error(x) || node_is_error(y))
    return node_error(c, a->at);
  int64_t longest = x->type->hi + y->type->hi;
  struct type t = {.kind = TYPE_SEQUENCE, .element = element, .hi = longest};
  return node_binary(c, NODE_APPEND, a->at, type_intern(c, t), x, y);
}

/* ---- Boolean operators ---- */

struct node *lower_bool(struct typechecker *c, const struct ast *a, const char *what) {
  struct node *n = lower_expr(c, a);
  if (node_is_error(n) || n->type->kind == TYPE_BOOL)
    return n;
  checker_error(c, E0301, a->at, "%s must be true or false, not %s", what, type_text(c, n->type));
  if (n->type->kind == TYPE_INT || n->type->kind == TYPE_RANGE)
    checker_help(c, "a number is no condition: compare it, as in 'x != 0'");
  if (n->type->kind == TYPE_OPTION)
    checker_help(c, "compare it with none, or bind its value with 'exists v in ...'");
  if (n->type->kind == TYPE_SET || n->type->kind == TYPE_BAG || n->type->kind == TYPE_SEQUENCE)
    checker_help(c, "say what is asked of its elements: '|S| > 0', 'exists x in S: C', 'forall x in S: C'");
  return node_error(c, a->at);
}

static struct node *lower_logic(struct typechecker *c, const struct ast *a) {
  enum op op = a->op == OP_OR ? NODE_OR : a->op == OP_AND ? NODE_AND : NODE_IMPLIES;
  enum reach outer = c->in.reach;
  struct node *x = lower_bool(c, a->kid[0], "what stands here");
  c->in.reach = reach_if(c, x, op != NODE_OR);
  struct node *y = lower_bool(c, a->kid[1], "what stands here");
  c->in.reach = outer;
  if (node_is_error(x) || node_is_error(y))
    return node_error(c, a->at);
  return node_binary(c, op, a->at, c->boolean, x, y);
}

static bool temporal_allowed(struct typechecker *c, const struct ast *a) {
  if (c->in.where == IN_PROPERTY && c->in.live)
    return true;
  checker_error(c, E0506, a->word, "'%s' can only be used in a 'live' property", ast_op_text(a->op));
  if (c->in.where == IN_PROPERTY && a->op == OP_ALWAYS)
    checker_help(c, "leave 'always' out: 'safety NAME: C' says that C holds in every state");
  else
    checker_help(c, "what happens later is said by 'live NAME: FORMULA'");
  return false;
}

static struct node *lower_until(struct typechecker *c, const struct ast *a) {
  bool good = temporal_allowed(c, a);
  struct node *x = lower_bool(c, a->kid[0], "what stands here"), *y = lower_bool(c, a->kid[1], "what stands here");
  return good && !node_is_error(x) && !node_is_error(y) ? node_binary(c, NODE_UNTIL, a->at, c->boolean, x, y)
                                                        : node_error(c, a->at);
}

/* a leads to b: always (a => eventually b) */
static struct node *lower_leads_to(struct typechecker *c, const struct ast *a) {
  bool good = temporal_allowed(c, a);
  struct node *x = lower_bool(c, a->kid[0], "what stands here"), *y = lower_bool(c, a->kid[1], "what stands here");
  if (!good || node_is_error(x) || node_is_error(y))
    return node_error(c, a->at);
  struct node *later = node_unary(c, NODE_EVENTUALLY, a->at, c->boolean, y);
  return node_unary(c, NODE_ALWAYS, a->at, c->boolean, node_binary(c, NODE_IMPLIES, a->at, c->boolean, x, later));
}

static struct node *lower_unary(struct typechecker *c, const struct ast *a) {
  if (a->op == OP_NEG) {
    struct node *x = lower_expr(c, a->kid[0]);
    if (!needs_number(c, x, "-"))
      return node_error(c, a->at);
    if (x->op == NODE_CONST) /* a negative literal */
      return node_constant(c, a->at, range_type(c, -x->constant, -x->constant), -x->constant);
    const struct type *t = arithmetic_type(c, NODE_SUB, range_type(c, 0, 0), x->type);
    return node_unary(c, NODE_NEG, a->at, t, x);
  }
  if (a->op != OP_NOT && !temporal_allowed(c, a)) {
    lower_expr(c, a->kid[0]);
    return node_error(c, a->at);
  }
  struct node *x = lower_bool(c, a->kid[0], "what stands here");
  if (node_is_error(x))
    return x;
  enum op op = a->op == OP_NOT ? NODE_NOT : a->op == OP_ALWAYS ? NODE_ALWAYS : NODE_EVENTUALLY;
  return node_unary(c, op, a->at, c->boolean, x);
}

/* ---- relations ---- */

static bool empty_literal(const struct type *t) { return t->kind == TYPE_SET && !type_is_known(t); }

static void help_fields(struct typechecker *c, const struct type *record) {
  if (record->size > 0)
    checker_help(c, "it has fields: compare one of them, as in 'm.%s == ...'", record->fields[0].name);
}

static void cannot_compare(struct typechecker *c, const struct ast *a, const struct type *x, const struct type *y) {
  checker_error(c, E0304, a->word, "cannot compare %s with %s", type_text(c, x), type_text(c, y));
  if (type_is_number(x) && type_is_number(y) && x->name && y->name)
    checker_help(c, "'%s' and '%s' are declared as different types (lines %u and %u)", x->name, y->name,
                 checker_line(c, x->at), checker_line(c, y->at));
  else if (x->kind == TYPE_ROUND || y->kind == TYPE_ROUND)
    checker_help(c, "a round is compared with rounds and with constants");
  else if ((x->kind == TYPE_BAG && (type_is_number(y) || empty_literal(y))) ||
           (y->kind == TYPE_BAG && (type_is_number(x) || empty_literal(x))))
    checker_help(
        c, "the number of messages is |...|, as in '%s == 0'",
        arena_printf(&c->m->arena, "|%s|", source_text(c, x->kind == TYPE_BAG ? a->kid[0]->at : a->kid[1]->at)));
  else if (c->in.where == IN_PROPERTY && (x->kind == TYPE_BAG || y->kind == TYPE_BAG))
    checker_help(c, "write {m for m in %s} for the set of the messages",
                 source_text(c, x->kind == TYPE_BAG ? a->kid[0]->at : a->kid[1]->at));
  else if (x->kind == TYPE_BAG || y->kind == TYPE_BAG)
    checker_help(c, "write {m for m in %s} for the set of the messages", received_name_text(c));
  else if ((x->kind == TYPE_PROCESS && type_is_number(y)) || (y->kind == TYPE_PROCESS && type_is_number(x)))
    checker_help(c, "%s%s(i) is the process with number i, counted from 1",
                 in_process(c) ? "number(p) is the number of process p; " : "", c->m->roles[0].name);
  else if (x->kind == TYPE_RECORD && y->kind == TYPE_RECORD)
    checker_help(c, "records are compared if their fields have the same names in the same order");
  else if (x->kind == TYPE_SET && type_join(c, x->element, y))
    checker_help(c, "a set of one is written {x}; membership is 'x in S'");
  else if (x->kind == TYPE_RECORD || y->kind == TYPE_RECORD)
    help_fields(c, x->kind == TYPE_RECORD ? x : y);
}

static bool disjoint_roles(const struct type *x, const struct type *y) {
  return x->kind == TYPE_PROCESS && y->kind == TYPE_PROCESS && x->role != ROLE_ANY && y->role != ROLE_ANY &&
         x->role != y->role;
}

static struct node *lower_order(struct typechecker *c, const struct ast *a, enum op op, struct node *x,
                                struct node *y) {
  const char *why = order_missing_reason(x->type);
  if (!why)
    why = order_missing_reason(y->type);
  if (why) {
    bool identity = x->type->kind == TYPE_PROCESS || y->type->kind == TYPE_PROCESS;
    checker_error(c, E0304, a->word, "'%s' cannot be used here: %s", ast_op_text(a->op), why);
    if (identity)
      checker_help(c, "number(p) is the number of process p, counted from 1");
    else if (x->type->kind == TYPE_OPTION || y->type->kind == TYPE_OPTION)
      checker_help(c, "take its value with 'exists v in ...'");
    return node_error(c, a->at);
  }
  return node_binary(c, op, a->at, c->boolean, x, y);
}

/* Comparing a value with none that is never none. */
static void help_never_none(struct typechecker *c, const struct ast *a, const struct type *x, const struct type *y) {
  int none = a->kid[0]->kind == AST_NONE ? 0 : a->kid[1]->kind == AST_NONE ? 1 : -1;
  const struct type *other = none == 0 ? y : x;
  if (none < 0 || other->kind == TYPE_OPTION || other->kind == TYPE_BAG)
    return;
  diag_warning(c->diags, W0111, a->at, "'%s' is never none", source_text(c, a->kid[1 - none]->at));
  diag_help(c->diags, "what may be none is declared with '?': '%s?'", other->name ? other->name : type_text(c, other));
}

static struct node *lower_comparison(struct typechecker *c, const struct ast *a) {
  static const enum op ops[] = {
      [OP_EQ] = NODE_EQ, [OP_NE] = NODE_NE, [OP_LE] = NODE_LE, [OP_GE] = NODE_GE, [OP_LT] = NODE_LT, [OP_GT] = NODE_GT};
  struct node *x = lower_expr(c, a->kid[0]), *y = lower_expr(c, a->kid[1]);
  if (node_is_error(x) || node_is_error(y))
    return node_error(c, a->at);
  const struct type *was_x = x->type, *was_y = y->type;
  help_never_none(c, a, was_x, was_y);
  if (disjoint_roles(was_x, was_y) || was_x->kind == TYPE_BAG || was_y->kind == TYPE_BAG ||
      !coerce_to_join(c, &x, &y)) {
    cannot_compare(c, a, was_x, was_y);
    return node_error(c, a->at);
  }
  if (node_is_error(x) || node_is_error(y))
    return node_error(c, a->at);
  if (a->op == OP_EQ || a->op == OP_NE)
    return node_binary(c, ops[a->op], a->at, c->boolean, x, y);
  bool sets = x->type->kind == TYPE_SET && y->type->kind == TYPE_SET;
  if (sets && a->op == OP_LE)
    return node_binary(c, NODE_SUBSET, a->at, c->boolean, x, y);
  if (sets && a->op == OP_GE)
    return node_binary(c, NODE_SUBSET, a->at, c->boolean, y, x);
  return lower_order(c, a, ops[a->op], x, y);
}

static struct node *lower_membership(struct typechecker *c, const struct ast *a) {
  bool unknown = a->kid[0]->kind == AST_NAME && !symbol_find(c, a->kid[0]->name);
  struct node *x = lower_expr(c, a->kid[0]);
  if (unknown && node_is_error(x) && c->diags->n > 0 && !c->diags->at[c->diags->n - 1].help)
    checker_help(c, "to go through the elements write 'exists %s in ...' or 'forall %s in ...'", a->kid[0]->name,
                 a->kid[0]->name);
  struct node *of = lower_collection(c, a->kid[1]);
  if (node_is_error(x) || node_is_error(of))
    return node_error(c, a->at);
  struct node *in = node_binary(c, of->op == NODE_SUBSETS ? NODE_SUBSET : NODE_IN, a->at, c->boolean, x,
                                of->op == NODE_SUBSETS ? of->kid[0] : of);
  const struct type *element = of->type->element;
  const struct type *join = disjoint_roles(x->type, element) ? NULL : type_join(c, x->type, element);
  /* numbers and identities can be looked up whatever their bounds; other values must have the representation of a
     member */
  bool plain = join && same_representation(x->type, element);
  struct node *member = !join ? NULL : plain ? x : coerce(c, x, element, false);
  if (!member) {
    checker_error(c, E0304, a->word, "%s cannot be in %s", type_text(c, x->type), type_text(c, of->type));
    return node_error(c, a->at);
  }
  in->kid[0] = member;
  return a->op == OP_IN ? in : node_unary(c, NODE_NOT, a->at, c->boolean, in);
}

/* ---- choices ---- */

static struct node *lower_conditional(struct typechecker *c, const struct ast *a) {
  struct node *when = lower_bool(c, a->kid[0], "the condition of 'if'");
  enum reach outer = c->in.reach;
  size_t unbound = conditional_open(c, a->kid[0]);
  c->in.reach = reach_if(c, when, true);
  struct node *x = lower_expr(c, a->kid[1]);
  c->unbound.n = unbound;
  c->in.reach = outer;
  c->in.reach = reach_if(c, when, false);
  struct node *y = lower_expr(c, a->kid[2]);
  c->in.reach = outer;
  if (node_is_error(when) || node_is_error(x) || node_is_error(y))
    return node_error(c, a->at);
  const struct type *was_x = x->type, *was_y = y->type;
  if (!coerce_to_join(c, &x, &y)) {
    checker_error(c, E0305, a->kid[2]->at, "the two branches of 'if' differ: %s and %s", type_text(c, was_x),
                  type_text(c, was_y));
    return node_error(c, a->at);
  }
  const struct type *type = type_join(c, x->type, y->type);
  return node_if(c, a->at, type ? type : x->type, when, x, y);
}

static struct node *lower_otherwise(struct typechecker *c, const struct ast *a) {
  enum reach outer = c->in.reach;
  struct node *x = lower_expr(c, a->kid[0]);
  c->in.reach = reach_maybe(c);
  struct node *y = lower_expr(c, a->kid[1]);
  c->in.reach = outer;
  if (node_is_error(x) || node_is_error(y))
    return node_error(c, a->at);
  bool aggregate = op_may_be_empty(x->op), option = x->type->kind == TYPE_OPTION;
  if (!aggregate && !option) {
    checker_error(c, E0305, a->word, "'otherwise' has no effect: what stands before it always has a value");
    checker_help(c, "it follows an option, or min, max, pick, random, majority, first, last");
    return node_error(c, a->at);
  }
  const struct type *have = aggregate ? x->type : x->type->element;
  const struct type *type = type_join(c, have, y->type);
  struct node *n = node_binary(c, NODE_OTHERWISE, a->at, type, x, y);
  /* the right operand may also be an option of the value: a otherwise b otherwise none */
  struct node *left = NULL, *right = NULL;
  if (type) {
    left = coerce_found(c, x, type);
    c->in.reach = reach_maybe(c);
    right = left ? coerce(c, y, type, false) : NULL;
    c->in.reach = outer;
  }
  if (!left || !right) {
    checker_error(c, E0305, a->kid[1]->at, "'otherwise' gives %s instead of %s", type_text(c, y->type),
                  type_text(c, have));
    return node_error(c, a->at);
  }
  if (node_is_error(left) || node_is_error(right))
    return node_error(c, a->at);
  n->kid[0] = left;
  n->kid[1] = right;
  return n;
}

/* ---- constructors ---- */

/* Parts of different types: a collection beside single values, or a number beside processes. */
static void help_mixed(struct typechecker *c, const struct type *x, const struct type *y) {
  bool bag = x->kind == TYPE_BAG || y->kind == TYPE_BAG, set = x->kind == TYPE_SET || y->kind == TYPE_SET;
  if (x->kind != y->kind && bag)
    checker_help(c, "the messages and a value together are a set: '{m for m in %s} | {x}'", received_name_text(c));
  else if (x->kind != y->kind && set)
    checker_help(c, "a set and a value together are 'S | {x}'");
  else if ((x->kind == TYPE_PROCESS && type_is_number(y)) || (y->kind == TYPE_PROCESS && type_is_number(x)))
    checker_help(c, "%s(i) is the process with number i, counted from 1", c->m->roles[0].name);
}

/* The common type of several parts. */
static const struct type *common_type(struct typechecker *c, struct node **part, uint32_t n, const char *where) {
  const struct type *type = c->unknown;
  for (uint32_t i = 0; i < n; i++) {
    if (node_is_error(part[i]))
      return NULL;
    const struct type *join = type_join(c, type, part[i]->type);
    if (!join) {
      checker_error(c, E0305, part[i]->at, "%s in a %s of %s", type_text(c, part[i]->type), where, type_text(c, type));
      help_mixed(c, type, part[i]->type);
      return NULL;
    }
    type = join;
  }
  for (uint32_t i = 0; i < n; i++) {
    const struct type *from = part[i]->type;
    struct node *made = coerce(c, part[i], type, false);
    if (!made) {
      checker_error(c, E0305, part[i]->at, "%s in a %s of %s", type_text(c, from), where, type_text(c, type));
      help_mixed(c, type, from);
      return NULL;
    }
    if (node_is_error(made))
      return NULL;
    part[i] = made;
  }
  return type;
}

static struct node *lower_set(struct typechecker *c, const struct ast *a) {
  struct node *n = node_new(c, NODE_SET, a->at, c->error, a->n);
  for (uint32_t i = 0; i < a->n; i++)
    n->kid[i] = lower_expr(c, a->kid[i]);
  const struct type *element = common_type(c, n->kid, n->n, "set");
  if (!element)
    return node_error(c, a->at);
  n->type = set_type(c, element);
  return n;
}

static struct node *lower_sequence(struct typechecker *c, const struct ast *a) {
  struct node *n = node_new(c, NODE_SEQUENCE, a->at, c->error, a->n);
  for (uint32_t i = 0; i < a->n; i++)
    n->kid[i] = lower_expr(c, a->kid[i]);
  const struct type *element = common_type(c, n->kid, n->n, "sequence");
  if (!element)
    return node_error(c, a->at);
  struct type t = {.kind = TYPE_SEQUENCE, .element = element, .hi = n->n, .distinct = n->n <= 1};
  n->type = type_intern(c, t);
  return n;
}

/* A part that is a name or a field selection gives the record's field its name. */
static const char *part_name(struct typechecker *c, const struct ast *a, uint32_t i) {
  if ((a->kind == AST_NAME || a->kind == AST_SELECT || a->kind == AST_ITEM) && a->name)
    return checker_strdup(c, a->name);
  return arena_printf(&c->m->arena, "_%u", i + 1);
}

static struct node *lower_tuple(struct typechecker *c, const struct ast *a) {
  struct type t = {.kind = TYPE_RECORD, .size = a->n};
  t.fields = arena_array(&c->m->arena, a->n, sizeof *t.fields);
  struct node *n = node_new(c, NODE_RECORD, a->at, c->error, a->n);
  bool good = true;
  for (uint32_t i = 0; i < a->n; i++) {
    const struct ast *part = a->kid[i];
    n->index |= part->kind == AST_ITEM;
    n->kid[i] = lower_expr(c, part->kind == AST_ITEM ? part->kid[0] : part);
    t.fields[i].name = part_name(c, part, i);
    t.fields[i].type = n->kid[i]->type;
    good &= !node_is_error(n->kid[i]);
    for (uint32_t j = 0; j < i; j++) {
      if (strcmp(t.fields[j].name, t.fields[i].name) != 0)
        continue;
      if (part->kind == AST_ITEM) {
        checker_error(c, E0112, part->word, "field '%s' is given twice", part->name);
        good = false;
      } else
        t.fields[i].name = arena_printf(&c->m->arena, "_%u", i + 1);
    }
  }
  if (!good)
    return node_error(c, a->at);
  n->type = type_intern(c, t);
  return n;
}

static struct node *lower_cardinality(struct typechecker *c, const struct ast *a) {
  struct node *of = lower_collection(c, a->kid[0]);
  if (node_is_error(of))
    return of;
  if (of->op == NODE_INTERVAL || of->op == NODE_SUBSETS) {
    checker_error(c, E0313, a->at, "the size of '%s' cannot be taken", source_text(c, a->kid[0]->at));
    return node_error(c, a->at);
  }
  uint64_t most = collection_size_max(c, of);
  const struct type *type = most <= INT32_MAX ? range_type(c, 0, (int64_t)most) : c->integer;
  return node_unary(c, NODE_CARD, a->at, type, of);
}

/* ---- dispatch ---- */

static struct node *lower_binary(struct typechecker *c, const struct ast *a) {
  switch (ast_op_among(a->op)) {
  case OP_OR:
  case OP_AND:
  case OP_IMPLIES:
    return lower_logic(c, a);
  case OP_UNTIL:
    return lower_until(c, a);
  case OP_LEADS_TO:
    return lower_leads_to(c, a);
  case OP_OTHERWISE:
    return lower_otherwise(c, a);
  case OP_APPEND:
    return lower_append(c, a);
  case OP_UNITE:
  case OP_MEET: {
    struct node *x = lower_expr(c, a->kid[0]), *y = lower_expr(c, a->kid[1]);
    if (node_is_error(x) || node_is_error(y))
      return node_error(c, a->at);
    return lower_set_operator(c, a, a->op == OP_UNITE ? NODE_UNION : NODE_INTERSECTION, x, y);
  }
  case OP_ADD:
  case OP_SUB:
  case OP_MUL:
  case OP_DIV:
  case OP_MOD:
    return lower_arithmetic(c, a);
  }
  checker_error(c, E0303, a->word, "'%s' does not stand between two expressions", ast_op_text(a->op));
  return node_error(c, a->at);
}

struct node *lower_expr(struct typechecker *c, const struct ast *a) {
  if (diags_stopped(c->diags))
    return node_error(c, a->at);
  switch (ast_kind_among(a->kind)) {
  case AST_NUMBER:
    if (!number_fits(a->number)) {
      checker_error(c, E0103, a->at, "number too large (more than %" PRId64 ")", (int64_t)VALUE_NUMBER_MAX);
      return node_error(c, a->at);
    }
    return node_constant(c, a->at, range_type(c, a->number, a->number), a->number);
  case AST_TRUE:
  case AST_FALSE:
    return node_constant(c, a->at, c->boolean, a->kind == AST_TRUE);
  case AST_NONE:
    return node_constant(c, a->at, option_type(c, c->unknown), VALUE_NONE);
  case AST_NAME:
    return lower_name(c, a);
  case AST_BINARY:
    return lower_binary(c, a);
  case AST_UNARY:
    return lower_unary(c, a);
  case AST_RELATION:
    return a->op == OP_IN || a->op == OP_NOT_IN ? lower_membership(c, a) : lower_comparison(c, a);
  case AST_QUANTIFIER:
    return lower_quantifier(c, a);
  case AST_CONDITIONAL:
    return lower_conditional(c, a);
  case AST_CARDINALITY:
    return lower_cardinality(c, a);
  case AST_SET:
    return lower_set(c, a);
  case AST_SET_OF:
    return lower_set_of(c, a);
  case AST_ARRAY_OF:
    return lower_array_of(c, a);
  case AST_SEQUENCE:
    return lower_sequence(c, a);
  case AST_COUNT:
    return lower_count(c, a);
  case AST_CALL:
    return lower_call(c, a);
  case AST_CALL_OVER:
    return lower_call_over(c, a);
  case AST_TUPLE:
    return lower_tuple(c, a);
  case AST_INDEX:
    return lower_index(c, a);
  case AST_SELECT:
    return lower_select(c, a);
  case AST_PRIMED:
    return lower_primed(c, a);
  case AST_INTERVAL:
    checker_error(c, E0313, a->at, "a range is not a value here");
    checker_help(c, "it stands alone after 'in': 'x in %s'; the set of its numbers is '{x for x in %s}'",
                 source_text(c, a->at), source_text(c, a->at));
    return node_error(c, a->at);
  case AST_ERROR: /* reported */
    return node_error(c, a->at);
  }
  checker_error(c, E0306, a->at, "this is no expression");
  return node_error(c, a->at);
}
