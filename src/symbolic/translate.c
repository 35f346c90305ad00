/* Nodes of an expression graph as terms of libz3. A bit-vector is as wide as the bounds of its node need; operands are
   widened, results narrowed, so nothing overflows. */
#include "symbolic/terms.h"

#include <stdio.h>

static Z3_sort bits(struct terms *t, unsigned width) {
  if (!t->bits[width]) {
    t->bits[width] = Z3_mk_bv_sort(t->m.z3, width);
    z3_builder_keep(&t->m, Z3_sort_to_ast(t->m.z3, t->bits[width]));
  }
  return t->bits[width];
}

unsigned bits_needed(int64_t lo, int64_t hi) {
  unsigned w = 1;
  while (w < 64 && (lo < -(INT64_C(1) << (w - 1)) || hi > (INT64_C(1) << (w - 1)) - 1))
    w++;
  return w;
}

static unsigned width_at(const struct expr_node *n) { return bits_needed(n->lo, n->hi); }

Z3_ast terms_variable(struct terms *t, const char *name, bool is_truth, int64_t lo, int64_t hi) {
  char unique[160];
  snprintf(unique, sizeof unique, "%.100s!%zu", name, t->fresh.n);
  Z3_sort sort = is_truth ? t->m.truths : t->integers ? t->m.integers : bits(t, bits_needed(lo, hi));
  return z3_builder_keep(&t->m, Z3_mk_const(t->m.z3, Z3_mk_string_symbol(t->m.z3, unique), sort));
}

/* ---- one node, whose kids are translated ---- */

static Z3_ast widened(struct terms *t, expr_id w, unsigned width) {
  const struct expr_node *n = node_of(&t->graph, w);
  Z3_ast term = t->terms.at[w];
  if (t->integers || width_at(n) == width)
    return term;
  if (n->expr_kind == EXPR_NUMBER)
    return z3_builder_keep(&t->m, Z3_mk_int64(t->m.z3, n->number, bits(t, width)));
  return z3_builder_keep(&t->m, Z3_mk_sign_ext(t->m.z3, width - width_at(n), term));
}

static Z3_ast narrowed(struct terms *t, Z3_ast term, unsigned width, const struct expr_node *n) {
  unsigned own = width_at(n);
  if (t->integers || own >= width)
    return term;
  return Z3_mk_extract(t->m.z3, own - 1, 0, z3_builder_keep(&t->m, term));
}

static unsigned common_width(const struct terms *t, const struct expr_node *n) {
  unsigned a = width_at(node_of(&t->graph, n->kid[0])), b = width_at(node_of(&t->graph, n->kid[1]));
  return a > b ? a : b;
}

static Z3_ast compared(struct terms *t, const struct expr_node *n) {
  Z3_context z3 = t->m.z3;
  if (node_of(&t->graph, n->kid[0])->truth)
    return Z3_mk_eq(z3, t->terms.at[n->kid[0]], t->terms.at[n->kid[1]]);
  unsigned width = common_width(t, n);
  Z3_ast a = widened(t, n->kid[0], width), b = widened(t, n->kid[1], width);
  if (n->expr_kind == EXPR_EQ)
    return Z3_mk_eq(z3, a, b);
  if (n->expr_kind == EXPR_LT)
    return t->integers ? Z3_mk_lt(z3, a, b) : Z3_mk_bvslt(z3, a, b);
  return t->integers ? Z3_mk_le(z3, a, b) : Z3_mk_bvsle(z3, a, b);
}

static Z3_ast computed(struct terms *t, const struct expr_node *n) {
  Z3_context z3 = t->m.z3;
  unsigned width = common_width(t, n), own = width_at(n);
  width = width < own ? own : width;
  Z3_ast a = widened(t, n->kid[0], width), b = widened(t, n->kid[1], width), both[2] = {a, b}, term = NULL;
  if (n->expr_kind == EXPR_ADD)
    term = t->integers ? Z3_mk_add(z3, 2, both) : Z3_mk_bvadd(z3, a, b);
  else if (n->expr_kind == EXPR_SUB)
    term = t->integers ? Z3_mk_sub(z3, 2, both) : Z3_mk_bvsub(z3, a, b);
  else if (n->expr_kind == EXPR_MUL)
    term = t->integers ? Z3_mk_mul(z3, 2, both) : Z3_mk_bvmul(z3, a, b);
  else if (n->expr_kind == EXPR_DIV)
    term = t->integers ? Z3_mk_div(z3, a, b) : Z3_mk_bvudiv(z3, a, b);
  else
    term = t->integers ? Z3_mk_mod(z3, a, b) : Z3_mk_bvurem(z3, a, b);
  return narrowed(t, term, width, n);
}

/* The operands of a chain of AND or OR. A shared inner node stays a single operand. */
static void find_operands(struct terms *t, expr_id w) {
  enum expr_kind kind = node_of(&t->graph, w)->expr_kind;
  vec_clear(&t->operands);
  vec_push(&t->chain, w);
  while (t->chain.n) {
    expr_id at = t->chain.at[--t->chain.n];
    const struct expr_node *n = node_of(&t->graph, at);
    if (n->expr_kind != kind || (at != w && (n->shared || t->terms.at[at]))) {
      vec_push(&t->operands, at);
      continue;
    }
    vec_push(&t->chain, n->kid[1]);
    vec_push(&t->chain, n->kid[0]);
  }
}

static Z3_ast joined(struct terms *t, enum expr_kind kind) {
  VEC(Z3_ast) all = {0};
  for (size_t i = 0; i < t->operands.n; i++)
    vec_push(&all, t->terms.at[t->operands.at[i]]);
  Z3_ast term = (kind == EXPR_AND ? Z3_mk_and : Z3_mk_or)(t->m.z3, (unsigned)all.n, all.at);
  vec_release(&all);
  return term;
}

static Z3_ast node_term(struct terms *t, const struct expr_node *n) {
  Z3_context z3 = t->m.z3;
  unsigned width = width_at(n);
  switch (n->expr_kind) {
  case EXPR_NUMBER:
    if (n->truth)
      return n->number ? Z3_mk_true(z3) : Z3_mk_false(z3);
    return Z3_mk_int64(z3, n->number, t->integers ? t->m.integers : bits(t, width));
  case EXPR_VARIABLE:
    return t->fresh.at[n->index];
  case EXPR_ADD:
  case EXPR_SUB:
  case EXPR_MUL:
  case EXPR_DIV:
  case EXPR_MOD:
    return computed(t, n);
  case EXPR_EQ:
  case EXPR_LT:
  case EXPR_LE:
    return compared(t, n);
  case EXPR_NOT:
    return Z3_mk_not(z3, t->terms.at[n->kid[0]]);
  case EXPR_AND:
  case EXPR_OR:
    return joined(t, n->expr_kind);
  case EXPR_ITE:
    if (n->truth)
      return Z3_mk_ite(z3, t->terms.at[n->kid[0]], t->terms.at[n->kid[1]], t->terms.at[n->kid[2]]);
    return Z3_mk_ite(z3, t->terms.at[n->kid[0]], widened(t, n->kid[1], width), widened(t, n->kid[2], width));
  case EXPR_BOUNDED:
    return narrowed(t, t->terms.at[n->kid[0]], width_at(node_of(&t->graph, n->kid[0])), n);
  case EXPR_ARRAY_READ: /* exporters only */
  case EXPR_CHOICE:
    break;
  }
  return NULL;
}

/* Pushes the kids that are not translated yet. Returns false if there are none. */
static bool need_kids(struct terms *t, expr_id w) {
  const struct expr_node *n = node_of(&t->graph, w);
  size_t before = t->todo.n;
  bool chain = n->expr_kind == EXPR_AND || n->expr_kind == EXPR_OR;
  if (chain)
    find_operands(t, w);
  const expr_id *kid = chain ? t->operands.at : n->kid;
  for (size_t i = 0; i < (chain ? t->operands.n : expr_kids(n->expr_kind)); i++)
    if (!t->terms.at[kid[i]])
      vec_push(&t->todo, kid[i]);
  return t->todo.n > before;
}

Z3_ast terms_translate(struct terms *t, expr_id w) {
  while (t->terms.n < t->graph.nodes.n)
    vec_push(&t->terms, NULL);
  vec_push(&t->todo, w);
  while (t->todo.n) {
    expr_id at = t->todo.at[t->todo.n - 1];
    if (t->terms.at[at]) {
      t->todo.n--;
    } else if (!need_kids(t, at)) {
      t->terms.at[at] = z3_builder_keep(&t->m, node_term(t, node_of(&t->graph, at)));
      t->failed |= !t->terms.at[at];
      t->todo.n = t->failed ? 0 : t->todo.n - 1;
    }
  }
  return t->terms.at[w];
}
