#include "model/survey.h"

static void visit(const struct survey *s, const struct site *at, const struct node *n) {
  if (n)
    s->node(s->context, at, n);
}

static void flow(const struct survey *s, const struct site *at, const struct node *n,
                 const struct type *to) {
  if (n && to && s->flow)
    s->flow(s->context, at, n, to);
  visit(s, at, n);
}

static void survey_guard(const struct survey *s, const struct site *at, const struct guard *g) {
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

static void survey_assign(const struct survey *s, const struct site *at, const struct stmt *stmt) {
  const struct type *t = assigned_type(s->model, at->role, stmt);
  for (uint32_t i = 0; i < stmt->npath; i++) {
    const struct place_step *step = &stmt->path[i];
    if (step->index)
      flow(s, at, step->index, t->index);
    t = step->index ? t->element : t->fields[step->field].type;
  }
  flow(s, at, stmt->expr, t);
}

static void survey_block(const struct survey *s, const struct site *at, const struct block *b) {
  for (uint32_t i = 0; i < b->n; i++) {
    const struct stmt *stmt = b->at[i];
    if (stmt->kind == STMT_IF)
      survey_guard(s, at, &stmt->guard);
    if (stmt->kind == STMT_LET)
      visit(s, at, stmt->expr);
    if (stmt->kind == STMT_ASSIGN)
      survey_assign(s, at, stmt);
    if (stmt->kind == STMT_SEND) {
      flow(s, at, stmt->send->message, s->model->messages[stmt->send->kind].type);
      visit(s, at, stmt->send->to);
    }
    survey_block(s, at, &stmt->then);
    survey_block(s, at, &stmt->other);
  }
}

/* The roles that a send can reach: a target that is computed may be anybody. */
static bool may_reach(const struct send *send, uint32_t role) {
  return send->target != TARGET_SET || send->to_role == ROLE_ANY || send->to_role == role;
}

static void survey_send(const struct survey *s, const struct site *at, const struct send *send,
                        uint32_t point) {
  const struct model *m = s->model;
  survey_guard(s, at, &send->guard);
  visit(s, at, send->message);
  visit(s, at, send->to);
  for (uint32_t r = 0; r < m->nroles && s->flow; r++)
    if (may_reach(send, r) && m->roles[r].body[point].received)
      s->flow(s->context, at, send->message, m->roles[r].body[point].received);
}

static void survey_vars(const struct survey *s, const struct site *at, const struct var *vars,
                        uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    flow(s, at, vars[i].init, vars[i].type);
    visit(s, at, vars[i].where);
  }
}

/* A process that recovers computes its first values again: what they say is then part of what it does. */
static void survey_recovery(const struct survey *s, uint32_t r) {
  const struct role *role = &s->model->roles[r];
  struct site at = {.place = PLACE_PROCESS, .role = r};
  for (uint32_t i = 0; i < role->nvars; i++)
    if (var_forgets(&role->vars[i]))
      flow(s, &at, role->vars[i].init, role->vars[i].type);
}

/* How many messages a quorum needs is a number, whatever else its values are. */
static const struct type number_type = {.kind = TYPE_INT};

static void survey_actions(const struct survey *s, uint32_t r) {
  const struct role *role = &s->model->roles[r];
  struct site at = {.place = PLACE_PROCESS, .role = r};
  visit(s, &at, role->graph);
  for (uint32_t i = 0; i < role->nactions; i++) {
    const struct action *a = at.action = &role->actions[i];
    visit(s, &at, a->match);
    flow(s, &at, a->size, &number_type);
    survey_guard(s, &at, &a->guard);
    survey_block(s, &at, &a->body);
  }
  if (role_recovers(s->model, s->question, r))
    survey_recovery(s, r);
}

static void survey_role(const struct survey *s, uint32_t r) {
  const struct role *role = &s->model->roles[r];
  struct site initial = {.place = PLACE_INITIAL, .role = r};
  survey_vars(s, &initial, role->vars, role->nvars);
  if (model_steps(s->model))
    survey_actions(s, r);
  for (uint32_t point = 0; point < s->model->npoints; point++) {
    const struct body *body = &role->body[point];
    struct site at = {.place = PLACE_PROCESS, .role = r, .body = body};
    for (uint32_t i = 0; i < body->nsends; i++)
      survey_send(s, &at, &body->sends[i], point);
    survey_block(s, &at, &body->update);
    survey_block(s, &at, &body->finally);
  }
}

bool question_is_live(const struct model *m, const struct question *q) {
  for (uint32_t i = 0; i < q->nproperties; i++)
    if (m->properties[q->properties[i]].kind == PROPERTY_LIVE)
      return true;
  return false;
}

bool clause_counts(const struct model *m, const struct question *q, const struct clause *c) {
  if (clause_of_runs(c))
    return question_is_live(m, q);
  return true;
}

void survey_run(const struct survey *s) {
  const struct model *m = s->model;
  struct site initial = {.place = PLACE_INITIAL, .role = ROLE_ANY};
  survey_vars(s, &initial, m->globals, m->nglobals);
  for (uint32_t r = 0; r < m->nroles; r++)
    survey_role(s, r);
  struct site environment = {.place = PLACE_ENVIRONMENT, .role = ROLE_ANY};
  const struct environment *env = &m->environments[s->question->environment];
  for (uint32_t i = 0; i < env->nclauses; i++)
    if (clause_counts(m, s->question, &env->clauses[i]))
      visit(s, &environment, env->clauses[i].pred);
  struct site property = {.place = PLACE_PROPERTY, .role = ROLE_ANY};
  for (uint32_t i = 0; i < s->question->nproperties; i++)
    visit(s, &property, m->properties[s->question->properties[i]].formula);
}

static const struct clause *find_clause(const struct model *m, const struct question *q,
                                        enum clause_kind kind) {
  const struct environment *env = &m->environments[q->environment];
  for (uint32_t i = 0; i < env->nclauses; i++)
    if (env->clauses[i].kind == kind && env->clauses[i].limit > 0)
      return &env->clauses[i];
  return NULL;
}

bool environment_has(const struct model *m, const struct question *q, enum clause_kind kind) {
  return find_clause(m, q, kind) != NULL;
}

const struct clause *question_channels(const struct model *m, const struct question *q) {
  const struct environment *env = &m->environments[q->environment];
  for (uint32_t i = 0; i < env->nclauses; i++)
    if (env->clauses[i].kind == CLAUSE_CHANNELS)
      return &env->clauses[i];
  return NULL;
}

bool role_recovers(const struct model *m, const struct question *q, uint32_t role) {
  const struct environment *env = &m->environments[q->environment];
  for (uint32_t i = 0; i < env->nclauses; i++) {
    const struct clause *c = &env->clauses[i];
    if (c->kind == CLAUSE_CRASH && c->recovers && c->limit > 0 &&
        (c->role == ROLE_ANY || c->role == role))
      return true;
  }
  return false;
}

bool var_forgets(const struct var *v) {
  return v->kind != VAR_INPUT && v->kind != VAR_STABLE && v->kind != VAR_GHOST;
}

static bool visit_sho(void *context, const struct node *n) {
  bool *found = context;
  *found |= n->op == NODE_SHO || !op_is_known(n->op);
  return !*found;
}

const struct clause *environment_forges(const struct model *m, const struct question *q) {
  const struct clause *c = find_clause(m, q, CLAUSE_BYZANTINE);
  if (!c)
    c = find_clause(m, q, CLAUSE_CORRUPTED);
  /* a predicate that speaks of SHO lets messages be corrupted as far as it holds */
  const struct environment *env = &m->environments[q->environment];
  for (uint32_t i = 0; i < env->nclauses && !c; i++) {
    bool found = false;
    node_walk(env->clauses[i].pred, visit_sho, &found);
    if (found)
      c = &env->clauses[i];
  }
  return c;
}
