/* Finds the clause of the environment that forbids a step, by running the interpreter again with all other clauses
   relaxed.

   Clauses are handled in groups, because some are counted together: limits on crashes, and the clauses that
   determine which messages arrive. A group is to blame if it forbids the step while no other group is in force. */
#include "session/session_internal.h"

#include "interp/round_step.h"

#include <string.h>

/* A group is identified by its first clause. */
static uint32_t group_of(const struct environment *env, uint32_t i) {
  enum clause_kind kind = env->clauses[i].kind;
  if (kind == CLAUSE_EVERY || kind == CLAUSE_FROM_ROUND)
    return i;
  bool delivery = kind == CLAUSE_LOST || kind == CLAUSE_SYNCHRONOUS;
  for (uint32_t k = 0; k < i; k++) {
    enum clause_kind other = env->clauses[k].kind;
    if (other == kind || (delivery && (other == CLAUSE_LOST || other == CLAUSE_SYNCHRONOUS)))
      return k;
  }
  return i;
}

/* Relaxes the clause so that it forbids nothing. False: omit the clause instead. */
static bool clause_relax(const struct model *m, struct clause *c) {
  switch (c->kind) {
  case CLAUSE_CRASH:
  case CLAUSE_CORRUPTED:
  case CLAUSE_DUPLICATED:
    c->limit = INT64_MAX;
    return true;
  case CLAUSE_LOST: /* rounds: without it and 'synchronous', anything may be lost */
    c->limit = INT64_MAX;
    return model_steps(m);
  case CLAUSE_EVERY:
  case CLAUSE_FROM_ROUND:
  case CLAUSE_SYNCHRONOUS:
  case CLAUSE_CHANNELS:
    return false;
  case CLAUSE_OMIT: /* these concern initial states or whole runs */
  case CLAUSE_BYZANTINE:
  case CLAUSE_OFTEN:
  case CLAUSE_FINALLY:
  case CLAUSE_ONCE:
  case CLAUSE_FAIR:
    break;
  }
  return true;
}

#define ALL_RELAXED UINT32_MAX

/* Fills in an environment in which only that group is in force. The mere presence of a clause about SHO permits
   corruption, so when such a clause is omitted, another clause must permit it. */
static void relax_all_but(struct session *s, struct environment *out, uint32_t group) {
  const struct environment *env = &s->model.environments[s->environment];
  out->nclauses = 0;
  for (uint32_t i = 0; i < env->nclauses; i++) {
    struct clause c = env->clauses[i];
    if (group_of(env, i) == group || clause_relax(&s->model, &c))
      out->clauses[out->nclauses++] = c;
  }
  if (environment_corrupts(env) && !environment_clause(env, CLAUSE_CORRUPTED))
    out->clauses[out->nclauses++] =
        (struct clause){.kind = CLAUSE_CORRUPTED, .limit = INT64_MAX, .role = ROLE_ANY, .per = PER_RUN};
}

void relaxed_environments_init(struct session *s) {
  uint32_t n = s->given->nenvironments;
  const struct environment *env = &s->given->environments[s->environment];
  struct environment *all = memory_alloc((n + 2) * sizeof *all);
  memcpy(all, s->given->environments, n * sizeof *all);
  s->relaxed = n;
  s->single = n + 1;
  for (uint32_t i = n; i < n + 2; i++) {
    all[i] = *env;
    all[i].clauses = memory_alloc((env->nclauses + 1) * sizeof *all[i].clauses);
  }
  s->model.environments = all;
  s->model.nenvironments = n + 2;
  relax_all_but(s, &all[s->relaxed], ALL_RELAXED);
}

void relaxed_environments_release(struct session *s) {
  memory_free(s->model.environments[s->relaxed].clauses);
  memory_free(s->model.environments[s->single].clauses);
  memory_free(s->model.environments);
}

/* Of the clauses about delivery, the one that limits losses. */
static uint32_t clause_to_name(const struct environment *env, uint32_t group) {
  for (uint32_t i = 0; i < env->nclauses; i++)
    if (env->clauses[i].kind == CLAUSE_LOST && group_of(env, i) == group)
      return i;
  return group;
}

bool crashes_within_limits(struct session *s, const struct config *c, const struct witness *w) {
  const struct environment *env = &s->model.environments[s->environment];
  const char *ignored;
  for (uint32_t i = 0; i < env->nclauses; i++)
    if (env->clauses[i].kind == CLAUSE_CRASH) {
      relax_all_but(s, &s->model.environments[s->single], group_of(env, i));
      return config_allows(s->interp, s->single, c, w, &ignored);
    }
  return true;
}

struct clause_blame clause_blame_of(struct session *s, const struct config *c, const struct witness *w) {
  const struct environment *env = &s->model.environments[s->environment];
  struct clause_blame b = {.clause = SESSION_NO_CLAUSE};
  const char *ignored;
  b.allowed = config_allows(s->interp, s->environment, c, w, &b.why);
  for (uint32_t i = 0; i < env->nclauses && !b.allowed && b.clause == SESSION_NO_CLAUSE; i++) {
    if (group_of(env, i) != i)
      continue;
    relax_all_but(s, &s->model.environments[s->single], i);
    if (!config_allows(s->interp, s->single, c, w, &ignored))
      b.clause = clause_to_name(env, i);
  }
  if (b.clause != SESSION_NO_CLAUSE)
    b.at = env->clauses[b.clause].at;
  return b;
}
