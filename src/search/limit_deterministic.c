/* Which transitions of an automaton can recur, and whether it is limit-deterministic. */
#include "search/liveness_search.h"

#include "base/memory.h"

/* reach[q * n + r]: some nonempty word leads from q to r. */
static bool *find_reach(const struct automaton *a) {
  uint32_t n = a->nstates;
  bool *reach = memory_alloc((size_t)n * n + 1);
  for (uint32_t q = 0; q < n; q++)
    for (uint32_t i = a->first[q]; i < a->first[q + 1]; i++)
      reach[q * n + a->transitions[i].to] = true;
  for (uint32_t k = 0; k < n; k++)
    for (uint32_t q = 0; q < n; q++)
      for (uint32_t r = 0; r < n && reach[q * n + k]; r++)
        reach[q * n + r] |= reach[k * n + r];
  return reach;
}

static bool accepts_in_component(const struct automaton *a, const bool *reach, uint32_t q) {
  uint64_t accepts = 0;
  bool stays = false;
  for (uint32_t r = 0; r < a->nstates; r++)
    for (uint32_t i = a->first[r]; i < a->first[r + 1]; i++) {
      uint32_t to = a->transitions[i].to;
      bool here = (r == q || (reach[q * a->nstates + r] && reach[r * a->nstates + q])) && reach[to * a->nstates + q] &&
                  reach[q * a->nstates + to];
      accepts |= here ? a->transitions[i].accepts : 0;
      stays |= here;
    }
  return stays && accepts == automaton_sets(a);
}

/* Are there two transitions that stay in the component and read the same letter? */
static bool guesses(const struct automaton *a, const bool *reach, uint32_t q) {
  for (uint32_t i = a->first[q]; i < a->first[q + 1]; i++)
    for (uint32_t k = i + 1; k < a->first[q + 1]; k++) {
      const struct automaton_transition *x = &a->transitions[i], *y = &a->transitions[k];
      bool stay = reach[x->to * a->nstates + q] && reach[y->to * a->nstates + q];
      if (stay && !((x->when | y->when) & (x->unless | y->unless)))
        return true;
    }
  return false;
}

bool *automaton_recurrent(const struct automaton *a) {
  bool *reach = find_reach(a), *lasting = memory_alloc(a->first[a->nstates] + (size_t)1);
  for (uint32_t q = 0; q < a->nstates; q++) {
    bool accepts = accepts_in_component(a, reach, q);
    for (uint32_t i = a->first[q]; i < a->first[q + 1]; i++)
      lasting[i] = accepts && (a->transitions[i].to == q || reach[a->transitions[i].to * a->nstates + q]);
  }
  memory_free(reach);
  return lasting;
}

bool automaton_is_limit_deterministic(const struct automaton *a) {
  bool *reach = find_reach(a), suits = true;
  for (uint32_t q = 0; q < a->nstates && suits; q++)
    suits = !accepts_in_component(a, reach, q) || !guesses(a, reach, q);
  memory_free(reach);
  return suits;
}
