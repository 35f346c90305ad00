/* Can a model of message handlers be expressed by counters? Each refusal names its place. */
#include "param/handlers_internal.h"

#include "analysis/type_usage.h"
#include "base/memory.h"
#include "model/node.h"

struct place_search {
  const struct handler_builder *h;
  struct span at;
};

static bool find_open_param(void *context, const struct node *n) {
  struct place_search *s = context;
  if (n->op == NODE_PARAM && s->h->b.params.open[n->index] && !s->at.to)
    s->at = n->at;
  return !s->at.to;
}

static bool no_open_param(struct handler_builder *h, const struct node *n, const char *where) {
  struct place_search s = {h, {0, 0}};
  if (n)
    node_walk_deep(h->b.m, n, find_open_param, &s);
  return !s.at.to || derive_refuse(&h->b, s.at, "%s reads a parameter that has no fixed value", where);
}

static bool find_identity(void *context, const struct node *n) {
  struct place_search *s = context;
  if (!s->at.to &&
      (n->op == NODE_ME || n->op == NODE_NUMBER_OF || n->op == NODE_NEXT || n->op == NODE_NEIGHBOURS ||
       n->op == NODE_PROCESS_AT || n->op == NODE_SENDER || (n->type && type_contains_kind(n->type, TYPE_PROCESS))))
    s->at = n->at;
  return !s->at.to;
}

static bool no_identity(struct handler_builder *h, const struct node *n, const char *what) {
  struct place_search s = {h, {0, 0}};
  if (n)
    node_walk_deep(h->b.m, n, find_identity, &s);
  return !s.at.to || derive_refuse(&h->b, s.at, "%s", what);
}

/* ---- variables ---- */

static bool check_var(struct handler_builder *h, const struct var *v) {
  struct derivation_builder *d = &h->b;
  switch (v->kind) {
  case VAR_INPUT:
  case VAR_PLAIN:
  case VAR_GHOST:
  case VAR_STABLE: /* no process recovers */
  case VAR_POINT:
  case VAR_ONCE:
    break;
  case VAR_ORACLE:
  case VAR_SHARED:
    return derive_refuse(d, v->at, "the variable '%s' cannot be expressed by counters", v->name);
  }
  if (v->followed || type_contains_kind(v->type, TYPE_PROCESS))
    return derive_refuse(d, v->at, "the variable '%s' holds processes", v->name);
  if (type_contains_kind(v->type, TYPE_ROUND))
    return derive_refuse(d, v->at, "the variable '%s' is an unbounded number", v->name);
  if (v->distinct)
    return derive_refuse(d, v->at, "inputs are distinct, so processes are not alike");
  if (v->type->count == UINT64_MAX)
    return derive_refuse(d, v->at, "the variable '%s' has too many values", v->name);
  static const char differ[] = "processes begin differently: a first value depends on who the process is";
  return no_identity(h, v->init, differ) && no_identity(h, v->where, differ) &&
         no_open_param(h, v->init, "a first value") && no_open_param(h, v->where, "a condition on an input");
}

/* ---- actions ---- */

static bool check_block(struct handler_builder *h, const struct block *b) {
  for (uint32_t i = 0; i < b->n; i++) {
    const struct stmt *s = b->at[i];
    if (s->kind == STMT_FOREACH)
      return derive_refuse(&h->b, s->at, "messages are gone through one by one");
    if (s->kind == STMT_SEND && (s->send->target != TARGET_SET || s->send->guard.cond))
      return derive_refuse(&h->b, s->at, "a message does not go to all");
    if (!check_block(h, &s->then) || !check_block(h, &s->other))
      return false;
  }
  return true;
}

static bool check_action(struct handler_builder *h, const struct action *a) {
  if (a->from_slot != NO_SLOT)
    return derive_refuse(&h->b, a->at, "a process reads who has sent a message");
  return no_open_param(h, a->match, "a pattern") && check_block(h, &a->body);
}

static bool check_role(struct handler_builder *h) {
  struct derivation_builder *d = &h->b;
  const struct model *m = d->m;
  if (m->nroles != 1)
    return derive_refuse(d, m->roles[1].at, "there is more than one role");
  if (m->nglobals)
    return derive_refuse(d, m->globals[0].at, "there are variables or inputs of the whole file");
  if (d->role->ring || d->role->graph)
    return derive_refuse(d, d->role->at, "processes are on a ring or a graph");
  for (uint32_t i = 0; i < m->nmessages; i++) {
    if (i >= KINDS_MAX)
      return derive_refuse(d, m->messages[i].at, "there are too many kinds of messages");
    if (type_contains_kind(m->messages[i].type, TYPE_PROCESS) || type_contains_kind(m->messages[i].type, TYPE_ROUND) ||
        m->messages[i].type->count == UINT64_MAX)
      return derive_refuse(d, m->messages[i].at, "messages of this kind hold processes or unbounded numbers");
  }
  for (uint32_t i = 0; i < d->role->nvars; i++)
    if (!check_var(h, &d->role->vars[i]))
      return false;
  for (uint32_t i = 0; i < d->role->nactions; i++)
    if (!check_action(h, &d->role->actions[i]))
      return false;
  return true;
}

/* ---- the environment ---- */

static bool check_limit(struct handler_builder *h, const struct clause *c) {
  int64_t *row = memory_alloc((h->b.params.base->nparams + (size_t)1) * sizeof *row);
  bool ok = c->limit_node ? node_row(&h->b, c->limit_node, 1, row)
                          : derive_refuse(&h->b, c->at, "any number may be faulty: say how many");
  memory_free(row);
  return ok;
}

static bool check_clause(struct handler_builder *h, const struct clause *c) {
  struct derivation_builder *d = &h->b;
  switch (c->kind) {
  case CLAUSE_CRASH:
    h->crashes = c;
    if (c->recovers)
      return derive_refuse(d, c->at, "processes recover");
    return check_limit(h, c);
  case CLAUSE_BYZANTINE:
    h->byzantine = c;
    return check_limit(h, c);
  case CLAUSE_FAIR:
    h->fair = c;
    return true;
  case CLAUSE_LOST: /* a lost message is one that is never taken */
  case CLAUSE_DUPLICATED:
    return !h->live || derive_refuse(d, c->at, "what must arrive is not known where messages are lost or duplicated");
  case CLAUSE_CHANNELS:
    return (c->channel != CHANNEL_FIFO && c->bound == 0) ||
           derive_refuse(d, c->at, "channels have an order or a bound");
  case CLAUSE_OMIT:
  case CLAUSE_CORRUPTED:
  case CLAUSE_EVERY:
  case CLAUSE_FROM_ROUND:
  case CLAUSE_OFTEN:
  case CLAUSE_FINALLY:
  case CLAUSE_ONCE:
  case CLAUSE_SYNCHRONOUS:
    break;
  }
  return derive_refuse(d, c->at, "this clause cannot be expressed by counters");
}

/* ---- the query ---- */

static bool check_property(struct handler_builder *h, const struct property *p) {
  struct derivation_builder *d = &h->b;
  if (p->kind == PROPERTY_COVER)
    return derive_refuse(d, p->at, "a cover is a question about instances: use 'rondo check'");
  if (p->step)
    return derive_refuse(d, p->at, "step properties of message handlers");
  if (p->almost_surely)
    return derive_refuse(d, p->at, "there are probabilities");
  if (p->built_in || p->until)
    return derive_refuse(d, p->at, "this property speaks of more than states of processes");
  if (h->live && !h->fair)
    return derive_refuse(d, d->env->at,
                         "without a clause 'fair' nobody has to take a step, and nothing can be said of all runs");
  return true;
}

static bool check_symmetry(struct handler_builder *h) {
  struct derivation_builder *d = &h->b;
  const struct identity_usage *ids = identity_usage_of(d->m, d->q, &d->d->arena);
  return ids[0].use == IDENTITY_ANONYMOUS ||
         derive_refuse(d, ids[0].why.at, "%s", ids[0].why.reason ? ids[0].why.reason : "identities are read");
}

bool handlers_licensed(struct handler_builder *h) {
  struct derivation_builder *d = &h->b;
  if (d->q->nproperties != 1)
    return derive_refuse(d, d->role->at, "there is more than one property at a time");
  if (!check_role(h))
    return false;
  for (uint32_t i = 0; i < d->env->nclauses; i++)
    if (!check_clause(h, &d->env->clauses[i]))
      return false;
  return check_property(h, &d->m->properties[d->q->properties[0]]) && check_symmetry(h);
}
