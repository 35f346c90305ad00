#include "symbolic/terms.h"

void terms_init(struct terms *t, bool integers) {
  Z3_config config = Z3_mk_config();
  *t = (struct terms){.integers = integers};
  expr_graph_init(&t->graph, integers);
  z3_builder_init(&t->m, config);
  Z3_del_config(config);
}

void terms_release(struct terms *t) {
  expr_graph_release(&t->graph);
  vec_release(&t->facts);
  vec_release(&t->fresh);
  vec_release(&t->terms);
  vec_release(&t->todo);
  vec_release(&t->operands);
  vec_release(&t->chain);
  z3_builder_release(&t->m);
}

void terms_fact(struct terms *t, truth fact) {
  if (fact != EXPR_TRUE)
    vec_push(&t->facts, fact);
}

truth terms_facts(struct terms *t) {
  truth all = truth_all(&t->graph, t->facts.at, t->facts.n);
  vec_clear(&t->facts);
  return all;
}

static expr_id fresh(struct terms *t, const char *name, bool is_truth, int64_t lo, int64_t hi) {
  Z3_ast variable = terms_variable(t, name, is_truth, lo, hi);
  vec_push(&t->fresh, variable);
  return expr_variable(&t->graph, (uint32_t)t->fresh.n - 1, is_truth, lo, hi);
}

bool terms_is_variable(const struct terms *t, expr_id w) {
  const struct expr_node *n = node_of(&t->graph, w);
  return (n->expr_kind == EXPR_BOUNDED ? node_of(&t->graph, n->kid[0]) : n)->expr_kind == EXPR_VARIABLE;
}

truth truth_new(struct terms *t, const char *name) { return fresh(t, name, true, 0, 1); }

/* The sort of the variable may be wider than the bounds, so the bounds are a fact. */
struct number number_new(struct terms *t, const char *name, int64_t lo, int64_t hi) {
  if (lo == hi)
    return number_of(lo);
  int64_t most = t->integers ? NUMBER_MOST : (int64_t)((UINT64_C(1) << (bits_needed(lo, hi) - 1)) - 1);
  struct number any = number_at(&t->graph, fresh(t, name, false, -most - 1, most));
  terms_fact(t, lo == NUMBER_LEAST ? EXPR_TRUE : number_at_most(&t->graph, number_of(lo), any));
  terms_fact(t, hi == NUMBER_MOST ? EXPR_TRUE : number_at_most(&t->graph, any, number_of(hi)));
  return number_bounded(&t->graph, any, lo, hi);
}
