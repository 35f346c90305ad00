#include "analysis/model_visitor.h"

#include "model/node.h"

static void visit(const struct model_visitor *s, const struct visit_site *at, const struct node *n) {
  if (n)
    s->node(s->context, at, n);
}

static void flow(const struct model_visitor *s, const struct visit_site *at, const struct node *n,
                 const struct type *to) {
  if (n && to && s->flow)
    s->flow(s->context, at, n, to);
  visit(s, at, n);
}

static void visit_guard(const struct model_visitor *s, const struct visit_site *at, const struct guard *g) {
  if (s->guard) {
    s->guard(s->context, at, g);
    return;
  }
  for (uint32_t i = 0; i < g->ngen; i++) {
    visit(s, at, g->gen[i].range);
    visit(s, at, g->gen[i].cond);
  }
  visit(s, at, g->cond);
}

const struct type *assigned_type(const struct model *m, uint32_t role, const struct stmt *assign) {
  return assign->shared ? m->globals[assign->var].type : m->roles[role].vars[assign->var].type;
}

static void visit_assign(const struct model_visitor *s, const struct visit_site *at, const struct stmt *stmt) {
  const struct type *t = assigned_type(s->model, at->role, stmt);
  for (uint32_t i = 0; i < stmt->npath; i++) {
    const struct place_step *step = &stmt->path[i];
    if (step->index)
      flow(s, at, step->index, t->index);
    t = step->index ? t->element : t->fields[step->field].type;
  }
  flow(s, at, stmt->expr, t);
}

struct stmt_visitor {
  const struct model_visitor *visitor;
  const struct visit_site *at;
};

static void visit_stmt(void *context, const struct stmt *stmt) {
  const struct stmt_visitor *v = context;
  const struct model_visitor *s = v->visitor;
  if (stmt->kind == STMT_IF)
    visit_guard(s, v->at, &stmt->guard);
  if (stmt->kind == STMT_LET)
    visit(s, v->at, stmt->expr);
  if (stmt->kind == STMT_ASSIGN)
    visit_assign(s, v->at, stmt);
  if (stmt->kind == STMT_SEND) {
    flow(s, v->at, stmt->send->message, s->model->messages[stmt->send->kind].type);
    visit(s, v->at, stmt->send->to);
  }
}

static void visit_block(const struct model_visitor *s, const struct visit_site *at, const struct block *b) {
  block_visit(b, visit_stmt, &(struct stmt_visitor){s, at});
}

/* Can the send reach processes of the role? A computed target may be any process. */
static bool may_reach(const struct send *send, uint32_t role) {
  return send->target != TARGET_SET || send->to_role == ROLE_ANY || send->to_role == role;
}

static void visit_send(const struct model_visitor *s, const struct visit_site *at, const struct send *send,
                       uint32_t point) {
  const struct model *m = s->model;
  visit_guard(s, at, &send->guard);
  visit(s, at, send->message);
  visit(s, at, send->to);
  for (uint32_t r = 0; r < m->nroles && s->flow; r++)
    if (may_reach(send, r) && m->roles[r].body[point].received)
      s->flow(s->context, at, send->message, m->roles[r].body[point].received);
}

static void visit_vars(const struct model_visitor *s, const struct visit_site *at, const struct var *vars, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    flow(s, at, vars[i].init, vars[i].type);
    visit(s, at, vars[i].where);
  }
}

/* A process that recovers computes its first values again, as part of its behaviour. */
static void visit_recovery(const struct model_visitor *s, uint32_t r) {
  const struct role *role = &s->model->roles[r];
  struct visit_site at = {.place = SITE_PROCESS, .role = r};
  for (uint32_t i = 0; i < role->nvars; i++)
    if (var_is_volatile(&role->vars[i]))
      flow(s, &at, role->vars[i].init, role->vars[i].type);
}

/* The size of a quorum is a plain number. */
static const struct type number_type = {.kind = TYPE_INT};

static void visit_actions(const struct model_visitor *s, uint32_t r) {
  const struct role *role = &s->model->roles[r];
  struct visit_site at = {.place = SITE_PROCESS, .role = r};
  visit(s, &at, role->graph);
  for (uint32_t i = 0; i < role->nactions; i++) {
    const struct action *a = at.action = &role->actions[i];
    visit(s, &at, a->match);
    flow(s, &at, a->size, &number_type);
    visit_guard(s, &at, &a->guard);
    visit_block(s, &at, &a->body);
  }
  if (role_recovers(s->model, s->query, r))
    visit_recovery(s, r);
}

static void visit_role(const struct model_visitor *s, uint32_t r) {
  const struct role *role = &s->model->roles[r];
  struct visit_site initial = {.place = SITE_INITIAL, .role = r};
  visit_vars(s, &initial, role->vars, role->nvars);
  if (model_steps(s->model))
    visit_actions(s, r);
  for (uint32_t point = 0; point < s->model->npoints; point++) {
    const struct body *body = &role->body[point];
    struct visit_site at = {.place = SITE_PROCESS, .role = r, .body = body};
    for (uint32_t i = 0; i < body->nsends; i++)
      visit_send(s, &at, &body->sends[i], point);
    visit_block(s, &at, &body->update);
    visit_block(s, &at, &body->finally);
  }
}

static bool query_has_live_property(const struct model *m, const struct query *q) {
  for (uint32_t i = 0; i < q->nproperties; i++)
    if (m->properties[q->properties[i]].kind == PROPERTY_LIVE)
      return true;
  return false;
}

bool clause_is_relevant(const struct model *m, const struct query *q, const struct clause *c) {
  if (clause_is_of_runs(c))
    return query_has_live_property(m, q);
  return true;
}

void model_visit(const struct model_visitor *s) {
  const struct model *m = s->model;
  struct visit_site initial = {.place = SITE_INITIAL, .role = ROLE_ANY};
  visit_vars(s, &initial, m->globals, m->nglobals);
  for (uint32_t r = 0; r < m->nroles; r++)
    visit_role(s, r);
  struct visit_site environment = {.place = SITE_ENVIRONMENT, .role = ROLE_ANY};
  const struct environment *env = &m->environments[s->query->environment];
  for (uint32_t i = 0; i < env->nclauses; i++)
    if (clause_is_relevant(m, s->query, &env->clauses[i]))
      visit(s, &environment, env->clauses[i].pred);
  struct visit_site property = {.place = SITE_PROPERTY, .role = ROLE_ANY};
  for (uint32_t i = 0; i < s->query->nproperties; i++)
    visit(s, &property, m->properties[s->query->properties[i]].formula);
}

static const struct clause *find_clause(const struct model *m, const struct query *q, enum clause_kind kind) {
  const struct environment *env = &m->environments[q->environment];
  for (uint32_t i = 0; i < env->nclauses; i++)
    if (env->clauses[i].kind == kind && env->clauses[i].limit > 0)
      return &env->clauses[i];
  return NULL;
}

bool environment_has_fault(const struct model *m, const struct query *q, enum clause_kind kind) {
  return find_clause(m, q, kind) != NULL;
}

const struct clause *query_channels(const struct model *m, const struct query *q) {
  const struct environment *env = &m->environments[q->environment];
  for (uint32_t i = 0; i < env->nclauses; i++)
    if (env->clauses[i].kind == CLAUSE_CHANNELS)
      return &env->clauses[i];
  return NULL;
}

bool role_recovers(const struct model *m, const struct query *q, uint32_t role) {
  const struct environment *env = &m->environments[q->environment];
  for (uint32_t i = 0; i < env->nclauses; i++) {
    const struct clause *c = &env->clauses[i];
    if (c->kind == CLAUSE_CRASH && c->recovers && c->limit > 0 && (c->role == ROLE_ANY || c->role == role))
      return true;
  }
  return false;
}

bool var_is_volatile(const struct var *v) {
  return v->kind != VAR_INPUT && v->kind != VAR_STABLE && v->kind != VAR_GHOST;
}

const struct clause *environment_forging_clause(const struct model *m, const struct query *q) {
  const struct clause *c = find_clause(m, q, CLAUSE_BYZANTINE);
  if (!c)
    c = find_clause(m, q, CLAUSE_CORRUPTED);
  /* a predicate about SHO allows corruption as far as it holds */
  const struct environment *env = &m->environments[q->environment];
  for (uint32_t i = 0; i < env->nclauses && !c; i++)
    if (node_has_op(env->clauses[i].pred, NODE_SHO))
      c = &env->clauses[i];
  return c;
}
