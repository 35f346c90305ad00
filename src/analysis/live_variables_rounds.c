/* Live variables of round models: a backward pass over the schedule, up to a fixed point. */
#include "analysis/read_sets.h"

#include "analysis/dataflow.h"
#include "analysis/formula_reads.h"
#include "analysis/model_visitor.h"
#include "base/memory.h"

#include <string.h>

/* --- what properties read --- */

static void read_formula(const struct model *m, const struct node *formula, bool **vars) {
  struct arena scratch;
  arena_init(&scratch);
  struct formula_reads reads = formula_reads_of(m, formula, &scratch);
  for (uint32_t r = 0; r < m->nroles; r++)
    for (uint32_t i = 0; i < m->roles[r].nvars; i++)
      vars[r][i] |= reads.vars[r][i];
  arena_release(&scratch);
}

/* --- what environments read: the oracles --- */

struct oracle_reads_walk {
  const struct model *model;
  bool **vars;                  /* by role, by variable: read by the clause */
  bool **idle;                  /* the same, of processes that take no part in the round */
  bool *role_slot, *other_slot; /* by slot: bound over a role; over something else */
  bool in_def;                  /* a def has its own slots: its arguments may be any processes */
};

static bool visit_slots(void *context, const struct node *n) {
  struct oracle_reads_walk *o = context;
  for (uint32_t i = 0; i < n->ngen; i++)
    (n->gen[i].range->op == NODE_ROLE_SET ? o->role_slot : o->other_slot)[n->gen[i].slot] = true;
  return true;
}

/* A quantifier over a role ranges over the processes that take part; any other process may be idle. */
static bool takes_part(const struct oracle_reads_walk *o, const struct node *process) {
  return !o->in_def && process->op == NODE_SLOT && o->role_slot[process->index] && !o->other_slot[process->index];
}

static void read_all(struct oracle_reads_walk *o) {
  for (uint32_t r = 0; r < o->model->nroles; r++)
    for (uint32_t i = 0; i < o->model->roles[r].nvars; i++)
      o->vars[r][i] = o->idle[r][i] = true;
}

static bool visit_oracle(void *context, const struct node *n) {
  struct oracle_reads_walk *o = context;
  if (!op_is_known(n->op))
    read_all(o);
  if (n->op != NODE_ORACLE && n->op != NODE_REMOTE)
    return true;
  for (uint32_t r = 0; r < o->model->nroles; r++) {
    uint32_t var = o->model->fields[n->index].var[r];
    if (var == UINT32_MAX)
      continue;
    o->vars[r][var] = true;
    if (!takes_part(o, n->kid[0]))
      o->idle[r][var] = true;
  }
  return true;
}

static bool visit_clause(void *context, const struct node *n) {
  struct oracle_reads_walk *o = context;
  visit_oracle(o, n);
  if (n->op == NODE_CALL) {
    o->in_def = true;
    node_walk_deep(o->model, o->model->defs[n->index].body, visit_oracle, o);
    o->in_def = false;
  }
  return true;
}

/* --- the pass --- */

struct round_liveness_pass {
  const struct model *model;
  const struct query *query;
  struct live_variables *out;
  bool **clause_vars; /* scratch: by role, what clauses read in the current round */
};

static bool **vars_new(const struct model *m) {
  bool **vars = memory_alloc((m->nroles + 1) * sizeof *vars);
  for (uint32_t r = 0; r < m->nroles; r++)
    vars[r] = memory_alloc(m->roles[r].nvars + 1);
  return vars;
}

static void vars_free(const struct model *m, bool **vars) {
  for (uint32_t r = 0; r < m->nroles; r++)
    memory_free(vars[r]);
  memory_free(vars);
}

/* `from round k` is treated as `every round`: in an endless phase a point has no fixed round number. */
static bool clause_speaks_at(const struct round_liveness_pass *p, const struct clause *c, uint32_t point) {
  if (!c->pred || !clause_is_relevant(p->model, p->query, c))
    return false;
  return c->name_id == NO_NAME || p->model->points[point].name_id == c->name_id;
}

static void read_clauses(struct round_liveness_pass *p, uint32_t point) {
  const struct model *m = p->model;
  const struct environment *env = &m->environments[p->query->environment];
  for (uint32_t r = 0; r < m->nroles; r++)
    memset(p->clause_vars[r], 0, m->roles[r].nvars);
  for (uint32_t i = 0; i < env->nclauses; i++) {
    const struct clause *c = &env->clauses[i];
    if (!clause_speaks_at(p, c, point))
      continue;
    struct oracle_reads_walk o = {.model = m, .vars = p->clause_vars, .idle = p->out->idle};
    o.role_slot = memory_alloc(m->nslots + 1);
    o.other_slot = memory_alloc(m->nslots + 1);
    node_walk(c->pred, visit_slots, &o);
    node_walk(c->pred, visit_clause, &o);
    memory_free(o.role_slot);
    memory_free(o.other_slot);
  }
}

static bool oracle_chosen(const struct var *v, const struct point *p) {
  return v->kind == VAR_ORACLE && (v->each == EACH_ROUND || p->phase_start);
}

static bool oracle_forgotten(const struct var *v, const struct point *p) {
  return v->kind == VAR_ORACLE && (v->each == EACH_ROUND || p->phase_end);
}

/* From the live variables of a role after a round to those before it. */
static void round_before(struct round_liveness_pass *p, uint32_t r, uint32_t point, bool *matters) {
  const struct model *m = p->model;
  const struct role *role = &m->roles[r];
  const struct body *body = &role->body[point];
  struct flow flow = {.model = m, .mode = FLOW_LIVENESS, .nvars = role->nvars};
  flow.halted = p->out->idle[r];
  for (uint32_t i = 0; i < role->nvars; i++)
    if (oracle_forgotten(&role->vars[i], &m->points[point]))
      matters[i] = false;
  flow_block(&flow, &body->finally, matters);
  flow_block(&flow, &body->update, matters);
  for (uint32_t i = 0; i < body->nsends; i++)
    flow_send(&flow, &body->sends[i], matters);
  for (uint32_t i = 0; i < role->nvars; i++)
    matters[i] |= p->clause_vars[r][i];
  for (uint32_t i = 0; i < role->nvars; i++)
    if (oracle_chosen(&role->vars[i], &m->points[point]))
      matters[i] = false;
  /* a process that crashes in this round keeps its values */
  for (uint32_t i = 0; i < role->nvars; i++)
    matters[i] |= p->out->idle[r][i];
}

static bool update_point(struct round_liveness_pass *p, uint32_t r, uint32_t point) {
  const struct model *m = p->model;
  uint32_t nvars = m->roles[r].nvars, next = m->points[point].next;
  bool *matters = memory_alloc(nvars + 1), grew = false;
  memcpy(matters, p->out->live[r][next == POINT_END ? m->npoints : next], nvars);
  round_before(p, r, point, matters);
  for (uint32_t i = 0; i < nvars; i++) {
    grew |= matters[i] && !p->out->live[r][point][i];
    p->out->live[r][point][i] |= matters[i];
  }
  memory_free(matters);
  return grew;
}

static struct live_variables *liveness_new(const struct model *m, struct arena *arena) {
  struct live_variables *out = arena_alloc(arena, sizeof *out);
  out->live = arena_array(arena, m->nroles + 1, sizeof *out->live);
  out->idle = arena_array(arena, m->nroles + 1, sizeof *out->idle);
  for (uint32_t r = 0; r < m->nroles; r++) {
    out->live[r] = arena_array(arena, m->npoints + 1, sizeof **out->live);
    out->idle[r] = arena_array(arena, m->roles[r].nvars + 1, sizeof **out->idle);
    for (uint32_t i = 0; i <= m->npoints; i++)
      out->live[r][i] = arena_array(arena, m->roles[r].nvars + 1, sizeof ***out->live);
  }
  return out;
}

struct live_variables *live_variables_of(const struct model *m, const struct query *q, struct arena *arena) {
  struct round_liveness_pass p = {.model = m, .query = q, .out = liveness_new(m, arena), .clause_vars = vars_new(m)};
  for (uint32_t i = 0; i < q->nproperties; i++)
    read_formula(m, m->properties[q->properties[i]].formula, p.out->idle);
  for (uint32_t point = 0; point < m->npoints; point++) /* adds to idle, which the pass reads */
    read_clauses(&p, point);
  for (uint32_t r = 0; r < m->nroles; r++)
    memcpy(p.out->live[r][m->npoints], p.out->idle[r], m->roles[r].nvars);
  bool grew;
  do {
    grew = false;
    for (uint32_t point = m->npoints; point-- > 0;) {
      read_clauses(&p, point);
      for (uint32_t r = 0; r < m->nroles; r++)
        grew |= update_point(&p, r, point);
    }
  } while (grew);
  vars_free(m, p.clause_vars);
  return p.out;
}
