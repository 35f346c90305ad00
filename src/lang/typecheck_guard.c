/* Guards: `if` and `when`. An `exists` that is a conjunct of the condition binds its names in the guarded part. Only
   after that part has been checked is it known which names are used, so a guard is opened before the part and closed
   after it. */
#include "lang/typecheck_guard.h"

#include "lang/typecheck_expr.h"
#include "lang/typecheck_nodes.h"
#include "lang/typecheck_reach.h"
#include "lang/typecheck_scope.h"
#include "lang/typecheck_types.h"
#include "lang/typechecker.h"

#include <string.h>

static uint32_t count_conjuncts(const struct ast *a) {
  if (a->kind == AST_BINARY && a->op == OP_AND)
    return count_conjuncts(a->kid[0]) + count_conjuncts(a->kid[1]);
  return 1;
}

/* The names are hidden from the other conjuncts, and become visible to the guarded part once all conjuncts are
   lowered. */
static void open_group(struct typechecker *c, const struct ast *a, struct witness_group *g,
                       struct symbol_scope *bound) {
  size_t mark = c->locals.n;
  enum reach outer = c->in.reach;
  c->slots = c->slots_peak; /* the other conjuncts are evaluated while these names are bound */
  g->at = a->at;
  g->gen = lower_generators(c, a, 1, &g->ngen);
  g->body = a->kid[0] ? lower_bool(c, a->kid[0], "what 'exists' says") : NULL;
  for (size_t i = mark; i < c->locals.n; i++) {
    c->locals.at[i].used = false;
    scope_add(bound, c->locals.at[i]);
  }
  scope_cut(&c->locals, mark);
  c->in.reach = outer;
}

/* Remembers the name, to explain the error if it is used nevertheless. */
static void note_unbound(struct typechecker *c, const struct ast *a, const char *under) {
  if (a->kind == AST_QUANTIFIER && a->number == 0)
    for (uint32_t i = 1; i < a->n; i++)
      for (uint32_t j = 0; a->kid[i]->kind == AST_GENERATOR && j < a->kid[i]->kid[0]->n; j++)
        vec_push(&c->unbound, ((struct unbound_name){a->kid[i]->kid[0]->kid[j]->name, under}));
  if (a->kind != AST_BINARY && a->kind != AST_UNARY)
    return;
  for (uint32_t i = 0; i < a->n; i++)
    if (a->kid[i])
      note_unbound(c, a->kid[i], a->op == OP_AND ? under : ast_op_text(a->op));
}

size_t conditional_open(struct typechecker *c, const struct ast *condition) {
  size_t before = c->unbound.n;
  note_unbound(c, condition, "if");
  return before;
}

static void open_conjunct(struct typechecker *c, const struct ast *a, struct guard_builder *g,
                          struct symbol_scope *bound) {
  if (a->kind == AST_BINARY && a->op == OP_AND) {
    open_conjunct(c, a->kid[0], g, bound);
    open_conjunct(c, a->kid[1], g, bound);
    return;
  }
  uint32_t i = g->n++;
  if (a->kind == AST_QUANTIFIER && a->number == 0) {
    open_group(c, a, &g->group[i], bound);
    c->in.reach = reach_maybe(c);
    g->other = g->other == REACH_NEVER ? c->in.reach : g->other;
    return;
  }
  g->conjunct[i] = lower_bool(c, a, "a condition");
  note_unbound(c, a, NULL);
  enum reach other = reach_if(c, g->conjunct[i], false);
  if (other != REACH_NEVER && g->other != REACH_ALWAYS)
    g->other = other;
  c->in.reach = reach_if(c, g->conjunct[i], true);
}

void guard_open(struct typechecker *c, const struct ast *condition, struct guard_builder *g) {
  uint32_t n = count_conjuncts(condition);
  struct symbol_scope bound = {0};
  *g =
      (struct guard_builder){.scope = c->locals.n, .unbound = c->unbound.n, .outer = c->in.reach, .other = REACH_NEVER};
  g->conjunct = arena_array(&c->m->arena, n, sizeof *g->conjunct);
  g->group = arena_array(&c->m->arena, n, sizeof *g->group);
  c->slots_peak = c->slots;
  open_conjunct(c, condition, g, &bound);
  for (size_t i = 0; i < bound.n; i++) {
    struct scope_symbol *same = scope_find(&c->locals, bound.at[i].name);
    if (same && same >= c->locals.at + g->scope)
      same->open = true; /* (exists m ...) and (exists m ...): allowed unless the guarded part uses m */
    else
      scope_add(&c->locals, bound.at[i]);
  }
  scope_release(&bound);
}

/* ---- closing ---- */

static bool slot_used(const struct typechecker *c, const struct guard_builder *g, uint32_t slot) {
  for (size_t i = g->scope; i < c->locals.n; i++)
    if (c->locals.at[i].kind == SYMBOL_SLOT && c->locals.at[i].index == slot)
      return c->locals.at[i].used;
  return false;
}

static bool group_used(const struct typechecker *c, const struct guard_builder *g, uint32_t i) {
  for (uint32_t j = 0; j < g->group[i].ngen; j++)
    if (slot_used(c, g, g->group[i].gen[j].slot))
      return true;
  return false;
}

static bool group_bad(const struct witness_group *g) {
  for (uint32_t i = 0; i < g->ngen; i++)
    if (node_is_error(g->gen[i].range) || g->gen[i].type->kind == TYPE_ERROR ||
        (g->gen[i].cond && node_is_error(g->gen[i].cond)))
      return true;
  return g->body && node_is_error(g->body);
}

static struct node *group_as_exists(struct typechecker *c, const struct witness_group *g) {
  struct node *body = g->body ? g->body : node_constant(c, g->at, c->boolean, 1);
  return node_over(c, NODE_EXISTS, g->at, c->boolean, body, g->gen, g->ngen);
}

static bool within(const struct type *a, const struct type *b) {
  return a == b || (a->kind == TYPE_RANGE && b->kind == TYPE_RANGE && b->lo <= a->lo && a->hi <= b->hi);
}

/* Operators that may fail, but not on these operands. Results with known bounds fit into 64 bits (arithmetic_type). */
static bool never_fails_here(const struct node *n) {
  const struct type *second = n->n > 1 ? n->kid[1]->type : NULL;
  switch (op_number(n->op)) {
  case NODE_ADD:
  case NODE_SUB:
  case NODE_MUL:
  case NODE_NEG:
  case NODE_SUM:
    return n->type->kind == TYPE_RANGE;
  case NODE_DIV:
  case NODE_MOD:
    return n->type->kind == TYPE_RANGE && second->kind == TYPE_RANGE && (second->lo > 0 || second->hi < 0);
  case NODE_INDEX:
    return within(second, n->kid[0]->type->index);
  }
  return false;
}

static bool sees_failing_operator(void *context, const struct node *n) {
  bool *may = context;
  *may |= (op_traits(n->op) & TRAIT_FAILS) && !never_fails_here(n);
  return !*may;
}

/* Conjuncts are evaluated from left to right, but a guard evaluates its generators before its condition. In
   `a and exists v in f(): ...`, f() must not be evaluated unless a holds, and a must be evaluated even if f() is empty.
   If one of them may fail, a generator comes first that yields one dummy value if a holds, and none otherwise. */
static void guard_in_order(struct typechecker *c, struct guard *out, const struct witness_group *g,
                           struct node *before) {
  bool may_fail = false;
  if (!before)
    return;
  node_walk(before, sees_failing_operator, &may_fail);
  for (uint32_t i = 0; i < g->ngen; i++)
    node_walk(g->gen[i].range, sees_failing_operator, &may_fail);
  if (!may_fail)
    return;
  const struct type *option = option_type(c, c->boolean);
  struct node *some = node_unary(c, NODE_WRAP, before->at, option, node_constant(c, before->at, c->boolean, 1));
  struct node *range = node_if(c, before->at, option, before, some, node_constant(c, before->at, option, VALUE_NONE));
  out->gen[out->ngen++] = *generator_over(c, before->at, "_", slot_reserve(c), range);
}

void guard_close(struct typechecker *c, struct guard_builder *g, struct guard *out) {
  uint32_t room = 0;
  memset(out, 0, sizeof *out);
  for (uint32_t i = 0; i < g->n; i++)
    room += g->group[i].ngen + 1;
  out->gen = arena_array(&c->m->arena, room, sizeof *out->gen);
  out->used = arena_array(&c->m->arena, room, sizeof *out->used);
  for (uint32_t i = 0; i < g->n; i++) {
    struct witness_group *group = &g->group[i];
    if (g->conjunct[i]) {
      out->cond = node_and(c, out->cond, g->conjunct[i]);
      continue;
    }
    if (group_bad(group)) {
      out->cond = node_and(c, out->cond, node_error(c, group->at));
      continue;
    }
    if (!group_used(c, g, i)) {
      out->cond = node_and(c, out->cond, group_as_exists(c, group));
      continue;
    }
    guard_in_order(c, out, group, out->cond);
    for (uint32_t j = 0; j < group->ngen; j++) {
      out->gen[out->ngen++] = group->gen[j];
      if (slot_used(c, g, group->gen[j].slot))
        out->used[out->nused++] = group->gen[j].slot;
    }
    out->cond = node_and(c, out->cond, group->body);
  }
  scope_cut(&c->locals, g->scope);
  c->unbound.n = g->unbound;
  c->in.reach = g->outer;
}
