/* Decides whether an environment allows a witness, directly as the clauses are defined. */
#include "interp/run_clauses.h"

#include "model/node.h"

#include <string.h>

const struct clause *environment_clause(const struct environment *env, enum clause_kind kind) {
  for (uint32_t i = 0; i < env->nclauses; i++)
    if (env->clauses[i].kind == kind)
      return &env->clauses[i];
  return NULL;
}

bool environment_delivers(const struct environment *env) {
  return environment_clause(env, CLAUSE_SYNCHRONOUS) || environment_clause(env, CLAUSE_LOST);
}

bool environment_corrupts(const struct environment *env) {
  bool found = environment_clause(env, CLAUSE_CORRUPTED) != NULL;
  for (uint32_t i = 0; i < env->nclauses && !found; i++)
    if (env->clauses[i].kind == CLAUSE_EVERY || env->clauses[i].kind == CLAUSE_FROM_ROUND)
      found = node_has_op(env->clauses[i].pred, NODE_SHO);
  return found;
}

bool must_hear(const struct message_exchange *x, const struct witness *w, uint32_t p, uint32_t q) {
  value sender = x->config->local[q][LOCAL_STATUS], receiver = x->config->local[p][LOCAL_STATUS];
  if (p == q)
    return true;
  return !w->crashes[q] && !(sender & (STATUS_CRASHED | STATUS_OMITS_SEND | STATUS_BYZANTINE)) &&
         !(receiver & STATUS_OMITS_RECEIVE);
}

bool environment_reads_heard_of(const struct environment *env) {
  for (uint32_t i = 0; i < env->nclauses; i++)
    if (node_has_traits(env->clauses[i].pred, TRAIT_HEARD_OF))
      return true;
  return false;
}

bool exchange_may_miss(const struct message_exchange *x, const struct environment *env, const struct witness *w,
                       bool reads, uint32_t p, uint32_t q) {
  if (!process_active(x->config->local[p][LOCAL_STATUS]) || w->crashes[p])
    return reads;
  if (!environment_delivers(env) || !must_hear(x, w, p, q))
    return true;
  return p != q && environment_clause(env, CLAUSE_LOST);
}

static int64_t limit_of(const struct environment *env, enum clause_kind kind, uint32_t role) {
  int64_t limit = 0;
  for (uint32_t i = 0; i < env->nclauses; i++)
    if (env->clauses[i].kind == kind && env->clauses[i].role == role)
      limit = limit > INT64_MAX - env->clauses[i].limit ? INT64_MAX : limit + env->clauses[i].limit;
  return limit;
}

bool faults_within(const struct model *m, const struct environment *env, enum clause_kind kind, const int64_t *faulty) {
  int64_t excess = 0;
  for (uint32_t r = 0; r < m->nroles; r++) {
    int64_t own = limit_of(env, kind, r);
    excess += faulty[r] > own ? faulty[r] - own : 0;
  }
  return excess <= limit_of(env, kind, ROLE_ANY);
}

static bool within_limits(const struct model *m, const struct environment *env, const value *const *local,
                          const bool *crashes, enum clause_kind kind, value bits) {
  int64_t *faulty = memory_alloc((m->nroles + 1) * sizeof *faulty);
  for (uint32_t p = 0; p < m->nprocesses; p++)
    faulty[model_role_of(m, p)] += (local[p][LOCAL_STATUS] & bits) != 0 || (crashes && crashes[p]);
  bool ok = faults_within(m, env, kind, faulty);
  memory_free(faulty);
  return ok;
}

static bool crashes_allowed(const struct model *m, const struct environment *env, const struct config *c,
                            const struct witness *w) {
  bool any = false;
  for (uint32_t p = 0; p < w->nprocesses; p++) {
    if (w->crashes[p] && !process_active(c->local[p][LOCAL_STATUS]))
      return false;
    any |= w->crashes[p];
  }
  return !any || within_limits(m, env, (const value *const *)c->local, w->crashes, CLAUSE_CRASH, STATUS_CRASHED);
}

static bool deliveries_allowed(const struct message_exchange *x, const struct environment *env,
                               const struct witness *w) {
  if (!environment_delivers(env))
    return true;
  bool lossy = environment_clause(env, CLAUSE_LOST) != NULL;
  for (uint32_t p = 0; p < w->nprocesses; p++)
    for (uint32_t q = 0; q < w->nprocesses; q++) {
      if (w->heard[p][q] || !process_active(x->config->local[p][LOCAL_STATUS]) || w->crashes[p])
        continue;
      if (must_hear(x, w, p, q) && (!lossy || p == q))
        return false;
    }
  return true;
}

static bool forgeries_allowed(const struct message_exchange *x, const struct environment *env,
                              const struct witness *w) {
  struct model_error ignored;
  for (uint32_t i = 0; i < w->nforged; i++) {
    const struct forgery *f = &w->forged[i];
    if (f->receiver >= w->nprocesses || f->sender >= w->nprocesses || !w->heard[f->receiver][f->sender])
      return false;
    const struct local_send *s;
    exchange_message(x, f->sender, f->receiver, &s, &ignored);
    bool byzantine = x->config->local[f->sender][LOCAL_STATUS] & STATUS_BYZANTINE;
    if (!byzantine && !(s && environment_corrupts(env)))
      return false;
  }
  return true;
}

bool exchange_within_budget(const struct message_exchange *x, const struct environment *env, const struct witness *w) {
  int64_t lost, corrupted;
  exchange_faults(x, env, w, &lost, &corrupted);
  for (uint32_t i = 0; i < env->nclauses; i++) {
    const struct clause *c = &env->clauses[i];
    if (c->kind != CLAUSE_LOST && c->kind != CLAUSE_CORRUPTED)
      continue;
    int64_t now = c->kind == CLAUSE_LOST ? lost : corrupted;
    int64_t before = c->kind == CLAUSE_LOST ? x->config->lost : x->config->corrupted;
    if (c->per == PER_ROUND && now > c->limit)
      return false;
    if (c->per == PER_RUN && now > 0 && now > c->limit - before)
      return false;
    for (uint32_t p = 0; p < w->nprocesses && c->per == PER_RECEIVER; p++) {
      int64_t count = 0;
      for (uint32_t q = 0; q < w->nprocesses; q++) {
        const struct local_send *s;
        struct model_error ignored;
        exchange_message(x, q, p, &s, &ignored);
        bool faulty = c->kind == CLAUSE_LOST ? s && !w->heard[p][q] && must_hear(x, w, p, q)
                                             : s && w->heard[p][q] && witness_forgery(w, p, q);
        count += faulty;
      }
      if (process_active(x->config->local[p][LOCAL_STATUS]) && !w->crashes[p] && count > c->limit)
        return false;
    }
  }
  return true;
}

bool clause_applies(const struct model *m, const struct clause *c, const struct config *config) {
  if (c->kind != CLAUSE_EVERY && c->kind != CLAUSE_FROM_ROUND)
    return false;
  if (c->name_id != NO_NAME && m->points[config->point].name_id != c->name_id)
    return false;
  return c->kind == CLAUSE_EVERY || config->rounds + 1 >= c->from;
}

static bool predicate_holds(struct interpreter *interp, const struct clause *c, const struct message_exchange *x,
                            const struct witness *w, uint8_t **corrupt) {
  struct config seen = *x->config;
  seen.local = x->local; /* with the oracles of this step */
  return part_holds(interp, c, c->pred, NULL, &seen, w->heard, corrupt);
}

static const char *clause_name(enum clause_kind kind) {
  return kind == CLAUSE_EVERY        ? "a clause 'every ...'"
         : kind == CLAUSE_FROM_ROUND ? "a clause 'from round ...'"
                                     : "a clause";
}

/* A send fails independently of what is heard: only conditions on crashes and oracles can forbid it. */
static bool failing_send_allowed(struct interpreter *interp, const struct environment *env,
                                 const struct message_exchange *x, const struct witness *w, const char **why) {
  *why = "the number of crashes";
  if (!crashes_allowed(interp->model, env, x->config, w))
    return false;
  for (uint32_t i = 0; i < env->nclauses; i++) {
    const struct clause *c = &env->clauses[i];
    if (!clause_applies(interp->model, c, x->config))
      continue;
    *why = clause_name(c->kind);
    if (!node_has_traits(c->pred, TRAIT_HEARD_OF) && !predicate_holds(interp, c, x, w, NULL))
      return false;
  }
  return true;
}

uint8_t **witness_corrupt(const struct witness *w) {
  size_t n = w->nprocesses;
  uint8_t **corrupt = memory_alloc((n + 1) * sizeof *corrupt + n * n + 1);
  uint8_t *cells = (uint8_t *)(corrupt + n + 1);
  for (size_t p = 0; p < n; p++)
    corrupt[p] = cells + p * n;
  for (uint32_t i = 0; i < w->nforged; i++)
    if (w->forged[i].receiver < n && w->forged[i].sender < n)
      corrupt[w->forged[i].receiver][w->forged[i].sender] = 1;
  return corrupt;
}

static bool clauses_hold(const struct message_exchange *x, const struct environment *env, const struct witness *w,
                         const char **why) {
  const struct model *m = x->interp->model;
  uint8_t **corrupt = witness_corrupt(w);
  bool ok = true;
  for (uint32_t i = 0; i < env->nclauses && ok; i++)
    if (clause_applies(m, &env->clauses[i], x->config) &&
        !predicate_holds(x->interp, &env->clauses[i], x, w, corrupt)) {
      coverage_mark(x->interp->coverage, env->clauses[i].at, COVERED_FALSE);
      *why = clause_name(env->clauses[i].kind);
      ok = false;
    }
  memory_free(corrupt);
  return ok;
}

bool exchange_allowed(const struct message_exchange *x, uint32_t environment, const struct witness *w,
                      const char **why) {
  const struct model *m = x->interp->model;
  const struct environment *env = &m->environments[environment];
  if (!crashes_allowed(m, env, x->config, w))
    *why = "the number of crashes";
  else if (!deliveries_allowed(x, env, w))
    *why = "a message that must arrive";
  else if (!forgeries_allowed(x, env, w))
    *why = "a forged message";
  else if (!exchange_within_budget(x, env, w))
    *why = "the number of lost or corrupted messages";
  else
    return clauses_hold(x, env, w, why);
  return false;
}

bool round_allows(struct interpreter *interp, uint32_t environment, const struct config *c, const struct witness *w,
                  const char **why) {
  struct message_exchange x;
  struct model_error error;
  enum step_result begun = exchange_begin(&x, interp, c, w, &error);
  bool ok = false;
  if (begun == STEP_BAD_WITNESS)
    *why = "an oracle or a choice that does not exist";
  else if (begun == STEP_ERROR)
    ok = failing_send_allowed(interp, &interp->model->environments[environment], &x, w, why);
  else
    ok = exchange_allowed(&x, environment, w, why);
  exchange_release(&x);
  return ok;
}

static bool distinct_kept(const struct model *m, const value *const *local) {
  for (uint32_t r = 0; r < m->nroles; r++) {
    const struct role *role = &m->roles[r];
    for (uint32_t i = 0; i < role->nvars; i++)
      for (uint32_t p = role->first; role->vars[i].distinct && p < role->first + role->count; p++)
        for (uint32_t q = p + 1; q < role->first + role->count; q++)
          if (!((local[p][LOCAL_STATUS] | local[q][LOCAL_STATUS]) & STATUS_BYZANTINE) &&
              local[p][LOCAL_VAR(i)] == local[q][LOCAL_VAR(i)])
            return false;
  }
  return true;
}

bool initial_allowed(const struct model *m, uint32_t environment, const value *const *local) {
  const struct environment *env = &m->environments[environment];
  return distinct_kept(m, local) && within_limits(m, env, local, NULL, CLAUSE_BYZANTINE, STATUS_BYZANTINE) &&
         within_limits(m, env, local, NULL, CLAUSE_OMIT, STATUS_OMITS_SEND | STATUS_OMITS_RECEIVE);
}

static bool globals_allowed(struct interpreter *interp, const value *globals) {
  const struct model *m = interp->model;
  for (uint32_t i = 0; i < m->nglobals; i++)
    if (!type_has(&m->values, m->globals[i].type, globals[i]))
      return false;
  return globals_chosen(interp, globals);
}

bool config_is_initial(struct interpreter *interp, uint32_t environment, const struct config *c, const char **why) {
  const struct model *m = interp->model;
  *why = model_steps(m) ? "something has happened already" : "it is not at the first round";
  if (c->point != 0 || c->rounds != 0 || c->phase != 1 || c->lost || c->corrupted || c->duplicated || c->npackets)
    return false;
  *why = "a global input";
  if (!globals_allowed(interp, c->globals))
    return false;
  for (uint32_t p = 0; p < m->nprocesses; p++) {
    struct locals all = {0};
    struct model_error error;
    *why = "a process cannot start like that";
    bool found = false, ok = local_initials(interp, environment, p, c->globals, &all, &error);
    for (size_t i = 0; i < all.n && ok; i++)
      found |= !memcmp(all.at + i * all.length, c->local[p], all.length * sizeof *all.at);
    locals_release(&all);
    if (!found)
      return false;
  }
  *why = "the number of faulty processes, or inputs that must be distinct";
  return initial_allowed(m, environment, (const value *const *)c->local);
}
