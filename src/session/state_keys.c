/* Which parts of a configuration determine its future, and states as vectors of them. */
#include "session/state_keys.h"

#include "interp/local.h"
#include "trace/trace.h"

struct clock_use {
  bool round, phase;
};

static bool look_clock(void *context, const struct node *n) {
  struct clock_use *u = context;
  unsigned traits = op_traits(n->op);
  u->round |= n->op == NODE_ROUND_NUMBER || (traits & TRAIT_UNKNOWN);
  u->phase |= n->op == NODE_PHASE || (traits & TRAIT_UNKNOWN);
  return true;
}

static void look_send(const struct send *send, struct clock_use *u) {
  guard_walk(&send->guard, look_clock, u);
  node_walk(send->message, look_clock, u);
  if (send->to)
    node_walk(send->to, look_clock, u);
}

static void look_role(const struct model *m, const struct role *role, struct clock_use *u) {
  for (uint32_t i = 0; i < m->npoints && role->body; i++) {
    const struct body *body = &role->body[i];
    for (uint32_t k = 0; k < body->nsends; k++)
      look_send(&body->sends[k], u);
    block_walk(&body->update, look_clock, u);
    block_walk(&body->finally, look_clock, u);
  }
}

static void look_environment(const struct environment *env, struct clock_use *u, struct future_fields *out) {
  for (uint32_t i = 0; i < env->nclauses; i++) {
    const struct clause *c = &env->clauses[i];
    bool limits = c->per == PER_RUN && c->limit < INT64_MAX;
    if (c->pred)
      node_walk(c->pred, look_clock, u);
    if (c->kind == CLAUSE_FROM_ROUND && c->from > out->rounds_most)
      out->rounds_most = c->from;
    out->lost |= c->kind == CLAUSE_LOST && limits;
    out->corrupted |= c->kind == CLAUSE_CORRUPTED && limits;
    out->duplicated |= c->kind == CLAUSE_DUPLICATED && limits;
  }
}

struct future_fields future_fields_of(const struct session *s, const struct node *const *read, uint32_t nread) {
  const struct model *m = &s->model;
  struct future_fields out = {0};
  struct clock_use u = {0};
  for (uint32_t r = 0; r < m->nroles && !model_steps(m); r++)
    look_role(m, &m->roles[r], &u);
  for (uint32_t i = 0; i < m->ndefs; i++)
    if (m->defs[i].body)
      node_walk(m->defs[i].body, look_clock, &u);
  look_environment(&m->environments[s->environment], &u, &out);
  for (uint32_t i = 0; i < nread; i++)
    if (read[i])
      node_walk(read[i], look_clock, &u);
  out.rounds = u.round;
  out.phase = u.phase;
  return out;
}

void local_key(const struct model *m, const struct config *c, uint32_t p, key_vec *key) {
  uint32_t length = role_local_length(process_role(m, p));
  for (uint32_t i = 0; i < length; i++)
    vec_push(key, c->local[p][i]);
}

void config_key(const struct session *s, const struct future_fields *r, const struct config *c, key_vec *key) {
  const struct model *m = &s->model;
  vec_clear(key);
  vec_push(key, (int64_t)c->point);
  vec_push(key, r->rounds || c->rounds < r->rounds_most ? (int64_t)c->rounds : (int64_t)r->rounds_most);
  vec_push(key, r->phase ? c->phase : 0);
  vec_push(key, r->lost ? c->lost : 0);
  vec_push(key, r->corrupted ? c->corrupted : 0);
  vec_push(key, r->duplicated ? c->duplicated : 0);
  for (uint32_t i = 0; i < m->nglobals; i++)
    vec_push(key, c->globals[i]);
  for (uint32_t p = 0; p < m->nprocesses; p++)
    local_key(m, c, p, key);
  for (uint32_t i = 0; i < c->npackets; i++) {
    const struct packet *p = &c->packets[i];
    vec_push(key, (int64_t)p->from);
    vec_push(key, (int64_t)p->to);
    vec_push(key, (int64_t)p->kind);
    vec_push(key, (int64_t)p->place);
    vec_push(key, p->message);
  }
}
