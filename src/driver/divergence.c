/* Asynchronous rounds: is the round distance unbounded? It is if a run of lockstep rounds returns to a state, and some
   processes can go through that segment without the others: then they can repeat it forever. */
#include "driver/divergence.h"

#include "interp/async_round.h"
#include "interp/local.h"

#include <string.h>

/* Equal except for the numbers of rounds and phases, where these cannot be observed. */
static bool is_same_state(const struct model *m, const struct config *a, const struct config *b, uint32_t period) {
  struct config *copy = config_copy(m, b);
  copy->rounds = a->rounds;
  if (period && (b->phase - a->phase) % period == 0)
    copy->phase = a->phase;
  bool same = config_equal(m, a, copy);
  config_free(copy);
  return same;
}

/* Every live process has completed the segment or has not begun it, there are some of each, and in the segment the
   former hear none of the latter. */
static bool repeats_without_others(const struct async_run *f, uint32_t from, uint32_t to) {
  uint64_t ahead = 0, behind = 0;
  for (uint32_t p = 0; p < f->n; p++) {
    if (!process_active(f->at.at[f->done[p]]->local[p][LOCAL_STATUS]))
      continue;
    if (f->done[p] >= to)
      ahead |= UINT64_C(1) << p;
    else if (f->done[p] <= from)
      behind |= UINT64_C(1) << p;
    else
      return false;
  }
  for (uint32_t r = from; r < to; r++)
    for (uint32_t p = 0; p < f->n; p++)
      if (ahead >> p & 1 && f->messages.at[(size_t)r * f->n + p] & ~ahead)
        return false;
  return ahead && behind;
}

static bool finds_round_number(void *context, const struct node *n) {
  bool *found = context;
  *found |= (op_traits(n->op) & (TRAIT_CLOCK | TRAIT_CALLS)) != 0;
  return !*found;
}

/* From the round after `rounds` on, what the environment allows does not depend on the number of the round. */
static bool environment_is_stationary(const struct environment *env, uint32_t rounds) {
  bool counts = false;
  for (uint32_t i = 0; i < env->nclauses; i++) {
    const struct clause *c = &env->clauses[i];
    if (c->kind == CLAUSE_FROM_ROUND && c->from > rounds + 1)
      return false;
    if (c->pred && (c->kind == CLAUSE_EVERY || c->kind == CLAUSE_FROM_ROUND))
      node_walk(c->pred, finds_round_number, &counts);
  }
  return !counts;
}

bool divergence_find(const struct trace *t, struct interpreter *interp, uint32_t period,
                     struct divergent_segment *out) {
  struct async_run f;
  const char *why;
  bool found = false;
  async_run_init(&f, interp, t->configs, t->run.steps, t->run.nsteps);
  for (uint32_t i = 0; i < t->run.norder; i++)
    async_run_end_round(&f, t->run.order[i], &why);
  for (uint32_t from = 0; from < t->run.nsteps && !found; from++)
    for (uint32_t to = from + 1; to <= t->run.nsteps && !found; to++)
      if (environment_is_stationary(&t->model->environments[t->claim.environment], from) &&
          is_same_state(t->model, t->configs[from], t->configs[to], period) && repeats_without_others(&f, from, to)) {
        *out = (struct divergent_segment){from, to};
        found = true;
      }
  async_run_release(&f);
  return found;
}
