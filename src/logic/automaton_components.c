/* Strongly connected components of an automaton (Tarjan 1972), and what they say about its runs. */
#include "logic/automaton.h"

#include "base/memory.h"
#include "base/vec.h"

#include <string.h>

struct tarjan_frame {
  uint32_t state, at; /* the next transition to explore */
};

struct tarjan {
  const struct automaton *a;
  struct automaton_components *scc;
  uint32_t *index, *low;
  VEC(uint32_t) stack;
  VEC(struct tarjan_frame) path;
  uint32_t next;
};

static void tarjan_enter(struct tarjan *t, uint32_t q) {
  t->index[q] = t->low[q] = ++t->next;
  vec_push(&t->stack, q);
  vec_push(&t->path, ((struct tarjan_frame){q, t->a->first[q]}));
}

static void tarjan_leave(struct tarjan *t, uint32_t q) {
  t->path.n--;
  if (t->path.n > 0) {
    uint32_t parent = t->path.at[t->path.n - 1].state;
    t->low[parent] = t->low[q] < t->low[parent] ? t->low[q] : t->low[parent];
  }
  if (t->low[q] != t->index[q])
    return;
  uint32_t member;
  do {
    member = t->stack.at[--t->stack.n];
    t->scc->of[member] = t->scc->n;
  } while (member != q);
  t->scc->n++;
}

static void tarjan_from(struct tarjan *t, uint32_t start) {
  tarjan_enter(t, start);
  while (t->path.n > 0) {
    struct tarjan_frame *v = &t->path.at[t->path.n - 1];
    if (v->at == t->a->first[v->state + 1]) {
      tarjan_leave(t, v->state);
      continue;
    }
    uint32_t from = v->state, to = t->a->transitions[v->at++].to;
    if (!t->index[to])
      tarjan_enter(t, to);
    else if (t->scc->of[to] == UINT32_MAX && t->index[to] < t->low[from])
      t->low[from] = t->index[to];
  }
}

/* An SCC is accepting if its inner transitions together belong to all acceptance sets. */
static void find_accepting(struct automaton_components *scc, const struct automaton *a) {
  uint64_t *seen = memory_alloc((scc->n + 1) * sizeof *seen);
  bool *inner = memory_alloc(scc->n + 1);
  for (uint32_t q = 0; q < a->nstates; q++)
    for (uint32_t i = a->first[q]; i < a->first[q + 1]; i++)
      if (scc->of[a->transitions[i].to] == scc->of[q]) {
        seen[scc->of[q]] |= a->transitions[i].accepts;
        inner[scc->of[q]] = true;
      }
  for (uint32_t c = 0; c < scc->n; c++)
    scc->accepting[c] = inner[c] && seen[c] == automaton_sets(a);
  memory_free(seen);
  memory_free(inner);
}

void automaton_components_find(struct automaton_components *scc, const struct automaton *a) {
  uint32_t n = a->nstates;
  struct tarjan t = {.a = a, .scc = scc};
  *scc = (struct automaton_components){memory_alloc((n + 1) * sizeof *scc->of), memory_alloc(n + 1), 0};
  t.index = memory_alloc((n + 1) * sizeof *t.index);
  t.low = memory_alloc((n + 1) * sizeof *t.low);
  memset(scc->of, 0xff, n * sizeof *scc->of);
  for (uint32_t q = 0; q < n; q++)
    if (!t.index[q])
      tarjan_from(&t, q);
  memory_free(t.index);
  memory_free(t.low);
  vec_release(&t.stack);
  vec_release(&t.path);
  find_accepting(scc, a);
}

void automaton_components_release(struct automaton_components *scc) {
  memory_free(scc->of);
  memory_free(scc->accepting);
}

bool *automaton_recurrent(const struct automaton *a) {
  struct automaton_components scc;
  bool *lasting = memory_alloc(a->first[a->nstates] + (size_t)1);
  automaton_components_find(&scc, a);
  for (uint32_t q = 0; q < a->nstates; q++)
    for (uint32_t i = a->first[q]; i < a->first[q + 1]; i++)
      lasting[i] = scc.accepting[scc.of[q]] && scc.of[a->transitions[i].to] == scc.of[q];
  automaton_components_release(&scc);
  return lasting;
}

/* Are there two transitions that stay in the component and read the same letter? */
static bool guesses(const struct automaton *a, const struct automaton_components *scc, uint32_t q) {
  for (uint32_t i = a->first[q]; i < a->first[q + 1]; i++)
    for (uint32_t k = i + 1; k < a->first[q + 1]; k++) {
      const struct automaton_transition *x = &a->transitions[i], *y = &a->transitions[k];
      bool stay = scc->of[x->to] == scc->of[q] && scc->of[y->to] == scc->of[q];
      if (stay && !((x->when | y->when) & (x->unless | y->unless)))
        return true;
    }
  return false;
}

bool automaton_is_limit_deterministic(const struct automaton *a) {
  struct automaton_components scc;
  bool suits = true;
  automaton_components_find(&scc, a);
  for (uint32_t q = 0; q < a->nstates && suits; q++)
    suits = !scc.accepting[scc.of[q]] || !guesses(a, &scc, q);
  automaton_components_release(&scc);
  return suits;
}
