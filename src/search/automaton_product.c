#include "search/automaton_product.h"

#include "base/hash.h"
#include "base/memory.h"

#include <string.h>

#define TABLE_FIRST 1024

void product_init(struct product *p, struct liveness_graph *g, const struct automaton *a) {
  *p = (struct product){.graph = g, .automaton = a, .table_size = TABLE_FIRST};
  p->table = memory_alloc(p->table_size * sizeof *p->table);
}

void product_release(struct product *p) {
  vec_release(&p->nodes);
  memory_free(p->table);
  *p = (struct product){0};
}

size_t product_bytes(const struct product *p) {
  return p->nodes.cap * sizeof *p->nodes.at + p->table_size * sizeof *p->table;
}

/* The pair's slot in the table, or the empty slot where it belongs. */
static size_t place(const struct product *p, uint32_t state, uint32_t automaton) {
  size_t at = hash_mix(hash_mix(0, state), automaton) & (p->table_size - 1);
  while (p->table[at]) {
    const struct product_state *n = &p->nodes.at[p->table[at] - 1];
    if (n->state == state && n->automaton == automaton)
      break;
    at = (at + 1) & (p->table_size - 1);
  }
  return at;
}

static void grow(struct product *p) {
  memory_free(p->table);
  p->table_size *= 2;
  p->table = memory_alloc(p->table_size * sizeof *p->table);
  for (size_t i = 0; i < p->nodes.n; i++)
    p->table[place(p, p->nodes.at[i].state, p->nodes.at[i].automaton)] = (uint32_t)i + 1;
}

uint32_t product_find(const struct product *p, uint32_t state, uint32_t automaton) {
  return p->table[place(p, state, automaton)] - 1;
}

uint32_t product_node(struct product *p, uint32_t state, uint32_t automaton) {
  size_t at = place(p, state, automaton);
  if (!p->table[at]) {
    vec_push(&p->nodes, ((struct product_state){.state = state, .automaton = automaton}));
    p->table[at] = (uint32_t)p->nodes.n;
    if (2 * p->nodes.n > p->table_size)
      grow(p);
    return (uint32_t)p->nodes.n - 1;
  }
  return p->table[at] - 1;
}

struct product_edges product_edges_of(const struct product *p, uint32_t node) {
  const struct product_state *n = &p->nodes.at[node];
  const struct liveness_graph *g = p->graph;
  struct product_edges a = {.transitions_begin = p->automaton->first[n->automaton],
                            .transitions_end = p->automaton->first[n->automaton + 1],
                            .letter = g->letters.at[n->state]};
  a.transition = a.transitions_begin;
  if (g->first.at[n->state] != UNEXPANDED && a.transition < a.transitions_end) {
    a.step = g->first.at[n->state];
    a.steps_end = a.step + g->count.at[n->state];
  }
  return a;
}

bool product_edges_next(const struct product *p, struct product_edges *a, struct product_edge *out) {
  while (a->step < a->steps_end) {
    const struct automaton_transition *t = &p->automaton->transitions[a->transition];
    const struct liveness_graph_edge *step = &p->graph->steps.at[a->step];
    if (++a->transition == a->transitions_end) {
      a->transition = a->transitions_begin;
      a->step++;
    }
    if (automaton_transition_reads(t, a->letter)) {
      *out = (struct product_edge){step->to, t->to, step->label, t->accepts};
      return true;
    }
  }
  return false;
}
