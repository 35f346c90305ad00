/* Language-preserving reductions of automata. */
#include "logic/automaton.h"

#include "base/memory.h"
#include "base/vec.h"

#include <string.h>

#define SIMULATION_STATES_MAX 300 /* pairs of states are compared, so the cost is quadratic */

struct automaton_reduction {
  struct automaton *a;
  struct automaton_components scc;
  bool *useful; /* by state: its language is not empty */
};

static void find_useful(struct automaton_reduction *r) {
  const struct automaton *a = r->a;
  bool *reaches = memory_alloc(r->scc.n + 1); /* by SCC: it can reach an accepting SCC */
  memcpy(reaches, r->scc.accepting, r->scc.n);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t q = 0; q < a->nstates; q++)
      for (uint32_t i = a->first[q]; i < a->first[q + 1]; i++)
        if (!reaches[r->scc.of[q]] && reaches[r->scc.of[a->transitions[i].to]])
          reaches[r->scc.of[q]] = changed = true;
  }
  for (uint32_t q = 0; q < a->nstates; q++)
    r->useful[q] = reaches[r->scc.of[q]];
  memory_free(reaches);
}

/* --- rebuilding --- */

/* Keeps the marked transitions, renames states (UINT32_MAX: removed) and drops unreachable states. */
static void rebuild(struct automaton *a, const bool *keep, const uint32_t *rename) {
  VEC(uint32_t) queue = {0};
  uint32_t *number = memory_alloc((a->nstates + 1) * sizeof *number);
  VEC(struct automaton_transition) transitions = {0};
  VEC(uint32_t) first = {0};
  memset(number, 0xff, a->nstates * sizeof *number);
  if (a->nstates > 0 && rename[0] != UINT32_MAX) {
    number[rename[0]] = 0;
    vec_push(&queue, rename[0]);
  }
  for (size_t k = 0; k < queue.n; k++) {
    uint32_t q = queue.at[k];
    vec_push(&first, (uint32_t)transitions.n);
    for (uint32_t i = a->first[q]; i < a->first[q + 1]; i++) {
      struct automaton_transition t = a->transitions[i];
      uint32_t to = rename[t.to];
      if (!keep[i] || to == UINT32_MAX)
        continue;
      if (number[to] == UINT32_MAX) {
        number[to] = (uint32_t)queue.n;
        vec_push(&queue, to);
      }
      t.to = number[to];
      vec_push(&transitions, t);
    }
  }
  vec_push(&first, (uint32_t)transitions.n);
  memory_free(a->first);
  memory_free(a->transitions);
  a->first = first.at;
  a->transitions = transitions.at;
  a->nstates = (uint32_t)queue.n;
  memory_free(number);
  vec_release(&queue);
}

static bool *keep_all(const struct automaton *a) {
  uint32_t n = a->first[a->nstates];
  bool *keep = memory_alloc(n + 1);
  memset(keep, true, n);
  return keep;
}

static void trim(struct automaton_reduction *r) {
  bool *keep = keep_all(r->a);
  uint32_t *rename = memory_alloc((r->a->nstates + 1) * sizeof *rename);
  for (uint32_t q = 0; q < r->a->nstates; q++)
    rename[q] = r->useful[q] ? q : UINT32_MAX;
  rebuild(r->a, keep, rename);
  memory_free(keep);
  memory_free(rename);
}

/* --- acceptance sets --- */

/* The acceptance sets that one SCC needs. It does not need set k if all its transitions are in k, or if all its
   transitions in some other set are also in k. */
struct acceptance_use {
  bool inner;           /* it has inner transitions */
  uint64_t full;        /* sets that contain all its transitions */
  uint64_t implies[64]; /* by set k: the sets whose transitions are all in k */
  uint64_t needed;
};

static void compare_sets(const struct automaton_reduction *r, struct acceptance_use *of) {
  const struct automaton *a = r->a;
  uint64_t all = automaton_sets(a);
  for (uint32_t c = 0; c < r->scc.n; c++) {
    of[c].full = of[c].needed = all;
    for (uint32_t k = 0; k < a->nsets; k++)
      of[c].implies[k] = all & ~(UINT64_C(1) << k);
  }
  for (uint32_t q = 0; q < a->nstates; q++)
    for (uint32_t i = a->first[q]; i < a->first[q + 1]; i++) {
      struct acceptance_use *c = &of[r->scc.of[q]];
      uint64_t accepts = a->transitions[i].accepts;
      if (r->scc.of[a->transitions[i].to] != r->scc.of[q])
        continue;
      c->inner = true;
      c->full &= accepts;
      for (uint64_t others = all & ~accepts; others; others &= others - 1)
        c->implies[__builtin_ctzll(others)] &= ~accepts;
    }
}

/* Moves the needed sets to the front; the remaining numbers then contain every transition. */
static uint64_t renumbered_acceptance(uint64_t accepts, uint64_t needed, uint32_t nsets) {
  uint64_t out = 0;
  uint32_t n = 0;
  for (; needed; needed &= needed - 1, n++)
    out |= (accepts >> __builtin_ctzll(needed) & 1) << n;
  for (; n < nsets; n++)
    out |= UINT64_C(1) << n;
  return out;
}

/* An SCC needs only its own sets, so SCCs can share set numbers. In an SCC that is not accepting, no transition is in
   any set. */
static void merge_acceptance_sets(struct automaton_reduction *r) {
  struct automaton *a = r->a;
  struct acceptance_use *of = memory_alloc((r->scc.n + (size_t)1) * sizeof *of);
  uint32_t nsets = 0;
  compare_sets(r, of);
  for (uint32_t c = 0; c < r->scc.n; c++) {
    for (uint32_t k = a->nsets; k-- > 0;)
      if ((of[c].full >> k & 1) || (of[c].implies[k] & of[c].needed))
        of[c].needed &= ~(UINT64_C(1) << k);
    uint32_t n = r->scc.accepting[c] ? (uint32_t)__builtin_popcountll(of[c].needed) : of[c].inner;
    nsets = n > nsets ? n : nsets;
  }
  for (uint32_t q = 0; q < a->nstates; q++)
    for (uint32_t i = a->first[q]; i < a->first[q + 1]; i++) {
      uint32_t c = r->scc.of[q];
      bool stays = r->scc.of[a->transitions[i].to] == c && r->scc.accepting[c];
      a->transitions[i].accepts = stays ? renumbered_acceptance(a->transitions[i].accepts, of[c].needed, nsets) : 0;
    }
  a->nsets = nsets;
  memory_free(of);
}

/* --- simulation --- */

static bool is_weaker(const struct automaton_transition *t, const struct automaton_transition *by) {
  return !(by->when & ~t->when) && !(by->unless & ~t->unless) && !(t->accepts & ~by->accepts);
}

static bool is_simulated(const struct automaton *a, const bool *simulated, const struct automaton_transition *t,
                         uint32_t by) {
  for (uint32_t i = a->first[by]; i < a->first[by + 1]; i++)
    if (is_weaker(t, &a->transitions[i]) && simulated[t->to * a->nstates + a->transitions[i].to])
      return true;
  return false;
}

/* simulated[q * n + r]: r simulates q, including acceptance. */
static bool *find_simulation(const struct automaton *a) {
  uint32_t n = a->nstates;
  bool *simulated = memory_alloc((size_t)n * n + 1), changed = true;
  memset(simulated, true, (size_t)n * n);
  while (changed) {
    changed = false;
    for (uint32_t q = 0; q < n; q++)
      for (uint32_t r = 0; r < n; r++)
        for (uint32_t i = a->first[q]; i < a->first[q + 1] && simulated[q * n + r]; i++)
          if (!is_simulated(a, simulated, &a->transitions[i], r)) {
            simulated[q * n + r] = false;
            changed = true;
          }
  }
  return simulated;
}

/* Is there another transition of the same state that allows at least as much? Of two equivalent ones, the first
   stays. */
static bool is_dominated(const struct automaton *a, const bool *simulated, uint32_t q, uint32_t i) {
  const struct automaton_transition *t = &a->transitions[i];
  for (uint32_t k = a->first[q]; k < a->first[q + 1]; k++) {
    const struct automaton_transition *u = &a->transitions[k];
    bool as_much = k != i && is_weaker(t, u) && simulated[t->to * a->nstates + u->to];
    bool mutual = as_much && is_weaker(u, t) && simulated[u->to * a->nstates + t->to];
    if (as_much && (!mutual || k < i))
      return true;
  }
  return false;
}

static void merge_simulated(struct automaton *a) {
  uint32_t n = a->nstates;
  bool *simulated = find_simulation(a), *keep = keep_all(a);
  uint32_t *rename = memory_alloc((n + 1) * sizeof *rename);
  for (uint32_t q = 0; q < n; q++) {
    rename[q] = q;
    for (uint32_t r = 0; r < q && rename[q] == q; r++)
      if (simulated[q * n + r] && simulated[r * n + q])
        rename[q] = rename[r];
    for (uint32_t i = a->first[q]; i < a->first[q + 1]; i++)
      keep[i] = !is_dominated(a, simulated, q, i);
  }
  rebuild(a, keep, rename);
  memory_free(simulated);
  memory_free(keep);
  memory_free(rename);
}

void automaton_reduce(struct automaton *a) {
  uint32_t before;
  do {
    before = a->nstates + a->first[a->nstates] + a->nsets;
    struct automaton_reduction r = {.a = a};
    r.useful = memory_alloc(a->nstates + 1);
    automaton_components_find(&r.scc, a);
    find_useful(&r);
    merge_acceptance_sets(&r);
    trim(&r);
    if (a->nstates <= SIMULATION_STATES_MAX)
      merge_simulated(a);
    automaton_components_release(&r.scc);
    memory_free(r.useful);
  } while (a->nstates + a->first[a->nstates] + a->nsets < before);
}
