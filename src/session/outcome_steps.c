/* The successors of a state by outcomes. There may be 2^(n*n) rounds, but few things that can become of a process. */
#include "session/outcome_steps.h"

#include "session/round_search.h"

#include <string.h>

#define RECEPTIONS_MAX (1u << 22) /* of one state */

struct outcome_list {
  VEC(struct process_reception) receptions; /* one for each distinct outcome */
};

struct combination_walk {
  struct round_search *search;
  choice_fn *visit;
  void *context;
  struct outcome_list *outcomes; /* by process */
  const struct process_reception **chosen;
  enum outcome_walk end;
};

bool outcome_steps_apply(const struct session *s) {
  const struct environment *env = &s->model.environments[s->environment];
  for (uint32_t i = 0; i < env->nclauses; i++)
    if ((env->clauses[i].kind == CLAUSE_LOST || env->clauses[i].kind == CLAUSE_CORRUPTED) &&
        env->clauses[i].limit < INT64_MAX)
      return false;
  return !model_steps(&s->model) && !s->path.async && s->semantics != SEMANTICS_FINE;
}

static bool same_outcome(const struct model *m, uint32_t p, const struct process_reception *a,
                         const struct process_reception *b) {
  if (!a->local || !b->local)
    return !a->local && !b->local && !strcmp(a->message, b->message);
  return !memcmp(a->local, b->local, role_local_length(process_role(m, p)) * sizeof *a->local);
}

static bool is_known(const struct combination_walk *k, uint32_t p, const struct process_reception *reception) {
  const struct outcome_list *list = &k->outcomes[p];
  for (size_t i = 0; i < list->receptions.n; i++)
    if (same_outcome(&k->search->session->model, p, &list->receptions.at[i], reception))
      return true;
  return false;
}

/* False: interrupted. */
static bool collect_outcomes(struct combination_walk *k, uint32_t p) {
  const struct process_reception *at;
  vec_clear(&k->outcomes[p].receptions);
  for (size_t i = 0; (at = round_search_reception(k->search, p, i)); i++) {
    struct process_reception reception = *at;
    if (!is_known(k, p, &reception))
      vec_push(&k->outcomes[p].receptions, reception);
  }
  return !k->search->spent;
}

static bool stop(struct combination_walk *k, enum outcome_walk end) {
  k->end = end;
  return false;
}

static bool visit_step(struct combination_walk *k, enum step_result result) {
  struct round_search *h = k->search;
  struct numbered_choice c = {.index = SESSION_NONE,
                              .witness = h->witness,
                              .process = SESSION_NO_PROCESS,
                              .result = result,
                              .after = result == STEP_OK ? h->next : NULL,
                              .error = result == STEP_ERROR ? &h->error : NULL};
  return k->visit(k->context, &c) || stop(k, OUTCOMES_ENDED);
}

static bool combine_outcomes(struct combination_walk *k, uint32_t p) {
  struct round_search *h = k->search;
  if (p < h->config->nprocesses) {
    for (size_t i = 0; i < k->outcomes[p].receptions.n; i++) {
      k->chosen[p] = &k->outcomes[p].receptions.at[i];
      if (!combine_outcomes(k, p + 1))
        return false;
    }
    return true;
  }
  if (session_stop_seen(h->session))
    return stop(k, OUTCOMES_STOPPED);
  enum step_result result = round_search_step(h, k->chosen);
  bool more = result == STEP_BAD_WITNESS ? stop(k, OUTCOMES_REFUSED) : visit_step(k, result);
  round_search_undo(h);
  return more;
}

static bool visit_context(struct round_search *h, void *context, bool failed) {
  struct combination_walk *k = context;
  const char *why;
  if (failed) /* while sending: whatever is heard */
    return !config_allows(h->session->interp, h->session->environment, h->config, h->witness, &why) ||
           visit_step(k, STEP_ERROR);
  round_search_restart(h);
  for (uint32_t p = 0; p < h->config->nprocesses; p++)
    if (!collect_outcomes(k, p))
      return stop(k, OUTCOMES_STOPPED);
  return combine_outcomes(k, 0);
}

enum outcome_walk outcome_steps_walk(struct session *s, const struct config *c, choice_fn *visit, void *context) {
  struct round_search h;
  uint32_t n = s->model.nprocesses;
  struct combination_walk k = {.search = &h, .visit = visit, .context = context};
  if (c->point == POINT_END)
    return OUTCOMES_ALL;
  round_search_init(&h, s, c, SESSION_NO_PROCESS, RECEPTIONS_MAX);
  k.outcomes = memory_alloc((n + (size_t)1) * sizeof *k.outcomes);
  k.chosen = memory_alloc((n + (size_t)1) * sizeof *k.chosen);
  if (!round_prefixes_each(&h, visit_context, &k) && k.end == OUTCOMES_ALL)
    k.end = OUTCOMES_STOPPED; /* between two contexts */
  for (uint32_t p = 0; p < n; p++)
    vec_release(&k.outcomes[p].receptions);
  memory_free(k.outcomes);
  memory_free(k.chosen);
  round_search_release(&h);
  return k.end;
}
