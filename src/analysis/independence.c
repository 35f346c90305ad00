#include "analysis/independence.h"

#include "analysis/dataflow.h"
#include "analysis/may_fail.h"
#include "analysis/model_visitor.h"

/* --- assignments that commute --- */

/* Two assignments x := x | e commute, and so do two x := c with the same constant, if e reads nothing that either
   action writes. */
enum update_form {
  UPDATE_NONE, /* the action does not assign the variable */
  UPDATE_UNION,
  UPDATE_CONST,
  UPDATE_CONST_PART, /* x[i] := c, x.f := c */
  UPDATE_OTHER
};

struct update_forms {
  const struct model *model;
  uint32_t nvars;
  enum update_form *of; /* by variable of the role */
  value *constant;
};

static const struct node *peeled(const struct node *n) {
  while (n->op == NODE_WRAP)
    n = n->kid[0];
  return n;
}

static bool is_var(const struct node *n, uint32_t var) { return n->op == NODE_VAR && n->index == var; }

static bool visit_read(void *context, const struct node *n) {
  struct update_forms *j = context;
  if (n->op == NODE_VAR)
    j->of[n->index] = UPDATE_OTHER;
  for (uint32_t v = 0; !op_is_known(n->op) && v < j->nvars; v++) /* it may read all of them */
    j->of[v] = UPDATE_OTHER;
  return true;
}

static void reads_of_node(struct update_forms *j, const struct node *n) { node_walk_deep(j->model, n, visit_read, j); }

static void update_form_of_assign(struct update_forms *j, const struct stmt *s) {
  const struct node *e = peeled(s->expr);
  enum update_form how = UPDATE_OTHER;
  for (uint32_t i = 0; i < s->npath; i++)
    reads_of_node(j, s->path[i].index);
  bool has_parts = e->type->kind == TYPE_RECORD || e->type->kind == TYPE_ARRAY; /* another path may assign a part */
  if ((e->op == NODE_CONST || e->op == NODE_PARAM) && !has_parts) {
    how = s->npath ? UPDATE_CONST_PART : UPDATE_CONST;
  } else if (e->op == NODE_UNION && s->npath == 0 && (is_var(e->kid[0], s->var) || is_var(e->kid[1], s->var))) {
    how = UPDATE_UNION;
    reads_of_node(j, is_var(e->kid[0], s->var) ? e->kid[1] : e->kid[0]);
  } else {
    reads_of_node(j, s->expr);
  }
  if (s->shared)
    return;
  enum update_form *of = &j->of[s->var];
  bool constant = how == UPDATE_CONST || how == UPDATE_CONST_PART;
  bool same = *of == UPDATE_NONE || (*of == how && (!constant || j->constant[s->var] == s->expr->constant));
  j->constant[s->var] = s->expr->constant;
  *of = same && (!constant || s->expr->op == NODE_CONST) ? how : UPDATE_OTHER;
}

static void update_form_of_stmt(void *context, const struct stmt *s) {
  struct update_forms *j = context;
  if (s->kind == STMT_ASSIGN)
    update_form_of_assign(j, s);
  else
    stmt_walk_deep(j->model, s, visit_read, j);
}

static struct update_forms update_forms_of(const struct model *m, const struct role *role, const struct action *a,
                                           struct arena *arena) {
  struct update_forms j = {m, role->nvars, arena_alloc(arena, (role->nvars + 1) * sizeof *j.of),
                           arena_alloc(arena, (role->nvars + 1) * sizeof *j.constant)};
  block_visit(&a->body, update_form_of_stmt, &j);
  reads_of_node(&j, a->match);
  reads_of_node(&j, a->size);
  guard_walk_deep(m, &a->guard, visit_read, &j);
  return j;
}

/* --- two actions --- */

static bool takes(const struct action *a) { return a->trigger == TRIGGER_ONE || a->taken; }

/* One of them may take a message that the other one needs. (Messages of different senders are for the caller to
   distinguish.) */
static bool compete_for_messages(const struct action *a, const struct action *b) {
  return a->trigger != TRIGGER_NONE && b->trigger != TRIGGER_NONE && a->kind == b->kind &&
         (a->trigger == TRIGGER_QUORUM || b->trigger == TRIGGER_QUORUM || a != b) && (takes(a) || takes(b));
}

static bool conflict(const bool *writes, const bool *reads, const bool *others, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (writes[i] && (reads[i] || others[i]))
      return true;
  return false;
}

struct independence_check {
  const struct model *model;
  const struct role *role;
  const struct action_use *use; /* of the role */
  const struct update_forms *forms;
  bool fifo;
};

static bool are_independent(const struct independence_check *c, uint32_t a, uint32_t b) {
  const struct action *x = &c->role->actions[a], *y = &c->role->actions[b];
  const struct action_use *p = &c->use[a], *q = &c->use[b];
  uint32_t globals = c->model->nglobals;
  if (compete_for_messages(x, y) || block_halts(&x->body) || block_halts(&y->body) ||
      (c->fifo && p->nsends && q->nsends) || conflict(p->writes_shared, q->reads_shared, q->writes_shared, globals) ||
      conflict(q->writes_shared, p->reads_shared, p->writes_shared, globals))
    return false;
  for (uint32_t v = 0; v < c->role->nvars; v++) {
    bool apart = !(p->writes[v] && (q->writes[v] || q->reads[v])) && !(q->writes[v] && p->reads[v]);
    enum update_form j = c->forms[a].of[v];
    bool constant = (j == UPDATE_CONST || j == UPDATE_CONST_PART) && c->forms[a].constant[v] == c->forms[b].constant[v];
    bool joined = j == c->forms[b].of[v] && !p->needs[v] && !q->needs[v] && (j == UPDATE_UNION || constant);
    if (!apart && !joined)
      return false;
  }
  return true;
}

/* --- errors --- */

struct action_failure_check {
  const struct model *model;
  const struct query *query;
  const struct role *role;
  bool fails; /* so far */
};

static bool node_fails(const struct action_failure_check *f, const struct node *n) {
  return n && node_may_fail(f->model, f->query, n, NULL, NULL);
}

static bool guard_fails(const struct action_failure_check *f, const struct guard *g) {
  return (g->ngen || g->cond) && bindings_may_fail(f->model, f->query, g->gen, g->ngen, g->cond, NULL, NULL);
}

static bool stays_in(const struct type *from, const struct type *to) {
  if (from == to)
    return true;
  if (from->kind == TYPE_RANGE && to->kind == TYPE_RANGE)
    return to->lo <= from->lo && from->hi <= to->hi;
  if (from->kind == TYPE_OPTION && to->kind == TYPE_OPTION)
    return stays_in(from->element, to->element);
  return from->kind == to->kind && (from->kind == TYPE_BOOL || from->kind == TYPE_ENUM || from->kind == TYPE_ROUND);
}

static bool assign_fails(const struct action_failure_check *f, const struct stmt *s) {
  const struct type *place = s->shared ? f->model->globals[s->var].type : f->role->vars[s->var].type;
  for (uint32_t i = 0; i < s->npath; i++) {
    const struct node *index = s->path[i].index;
    if (index && (node_fails(f, index) || !stays_in(index->type, place->index)))
      return true;
    place = index ? place->element : place->fields[s->path[i].field].type;
  }
  return node_fails(f, s->expr) || !stays_in(s->expr->type, place);
}

static void visit_failure(void *context, const struct stmt *s) {
  struct action_failure_check *f = context;
  f->fails |= guard_fails(f, &s->guard) || (s->kind == STMT_ASSIGN ? assign_fails(f, s) : node_fails(f, s->expr));
  if (s->send)
    f->fails |= f->role->graph || node_fails(f, s->send->message) || node_fails(f, s->send->to);
}

static bool action_fails(struct action_failure_check f, const struct action *a) {
  f.fails = node_fails(&f, a->match) || node_fails(&f, a->size) || guard_fails(&f, &a->guard);
  block_visit(&a->body, visit_failure, &f);
  return f.fails;
}

/* --- all of them --- */

static bool channels_fifo(const struct model *m, const struct query *q) {
  const struct environment *env = &m->environments[q->environment];
  for (uint32_t i = 0; i < env->nclauses; i++)
    if (env->clauses[i].kind == CLAUSE_CHANNELS && env->clauses[i].channel == CHANNEL_FIFO)
      return true;
  return false;
}

struct independence *independence_of(const struct model *m, const struct query *q, const struct action_uses *use,
                                     struct arena *arena) {
  struct independence *out = arena_alloc(arena, sizeof *out);
  out->of = arena_alloc(arena, (m->nroles + 1) * sizeof *out->of);
  out->fails = arena_alloc(arena, (m->nroles + 1) * sizeof *out->fails);
  for (uint32_t r = 0; r < m->nroles; r++) {
    const struct role *role = &m->roles[r];
    uint32_t n = role->nactions;
    struct update_forms *forms = arena_alloc(arena, (n + 1) * sizeof *forms);
    struct action_failure_check f = {m, q, role, false};
    out->of[r] = arena_alloc(arena, (n * n + 1) * sizeof **out->of);
    out->fails[r] = arena_alloc(arena, (n + 1) * sizeof **out->fails);
    for (uint32_t a = 0; a < n; a++) {
      forms[a] = update_forms_of(m, role, &role->actions[a], arena);
      out->fails[r][a] = action_fails(f, &role->actions[a]);
    }
    struct independence_check c = {m, role, use->of[r], forms, channels_fifo(m, q)};
    for (uint32_t a = 0; a < n; a++)
      for (uint32_t b = 0; b < n; b++)
        out->of[r][a * n + b] = are_independent(&c, a, b);
  }
  return out;
}
