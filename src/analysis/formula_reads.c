#include "analysis/formula_reads.h"

#include "analysis/dataflow.h"

/* --- what it reads --- */

struct formula_reads_walk {
  const struct model *model;
  struct formula_reads *out;
};

void formula_reads_variables(const struct model *m, struct formula_reads *out) {
  for (uint32_t r = 0; r < m->nroles; r++)
    for (uint32_t i = 0; i < m->roles[r].nvars; i++)
      out->vars[r][i] = true;
  for (uint32_t i = 0; i < m->nglobals; i++)
    out->globals[i] = true;
}

static void reads_everything(const struct model *m, struct formula_reads *out) {
  formula_reads_variables(m, out);
  out->status = out->initials = out->rounds = out->phase = true;
  out->quiescence = out->deadlock = out->messages = true;
}

static void reads_field(const struct model *m, const struct node *n, struct formula_reads *out) {
  for (uint32_t r = 0; r < m->nroles; r++)
    if (m->fields[n->index].var[r] != UINT32_MAX)
      out->vars[r][m->fields[n->index].var[r]] = true;
}

/* Traits of operators that read nothing of a state beyond what their operands read. */
#define READS_NOTHING                                                                                                  \
  (TRAIT_NAME | TRAIT_PROCESSES | TRAIT_NUMBERED | TRAIT_BINDS | TRAIT_MULTIPLICITY | TRAIT_ORDERS | TRAIT_FAILS |     \
   TRAIT_CALLS | TRAIT_TEMPORAL)

/* Where every process is, and whether it has stopped. */
static void reads_places(const struct model *m, struct formula_reads *out) {
  for (uint32_t r = 0; r < m->nroles; r++)
    if (m->roles[r].point_var != NO_VAR)
      out->vars[r][m->roles[r].point_var] = true;
  out->status = true;
}

static bool visit_read(void *context, const struct node *n) {
  struct formula_reads_walk *r = context;
  unsigned reads = op_traits(n->op) & ~(unsigned)READS_NOTHING;
  if (reads == 0)
    return true;
  if (n->op == NODE_REMOTE || n->op == NODE_ORACLE)
    reads_field(r->model, n, r->out);
  else if (n->op == NODE_INITIAL)
    r->out->initials = true;
  else if (n->op == NODE_GLOBAL)
    r->out->globals[n->index] = true;
  else if (n->op == NODE_CORRECT || n->op == NODE_FAULTY)
    r->out->status = true;
  else if (n->op == NODE_ROUND_NUMBER)
    r->out->rounds = true;
  else if (n->op == NODE_PHASE)
    r->out->phase = true;
  else if (n->op == NODE_QUIESCENT)
    r->out->quiescence = true;
  else if (n->op == NODE_DEADLOCKED) {
    r->out->quiescence = r->out->deadlock = true;
    reads_places(r->model, r->out);
  } else if (n->op == NODE_PENDING || n->op == NODE_RECEIVER)
    r->out->messages = true;
  else
    reads_everything(r->model, r->out);
  return true;
}

struct formula_reads formula_reads_of(const struct model *m, const struct node *formula, struct arena *arena) {
  struct formula_reads out = {0};
  out.vars = arena_array(arena, m->nroles + 1, sizeof *out.vars);
  for (uint32_t r = 0; r < m->nroles; r++)
    out.vars[r] = arena_array(arena, m->roles[r].nvars + 1, sizeof **out.vars);
  out.globals = arena_array(arena, m->nglobals + 1, sizeof *out.globals);
  struct formula_reads_walk r = {m, &out};
  node_walk_deep(m, formula, visit_read, &r);
  return out;
}

/* --- what it can tell apart --- */

static bool is_process(const struct type *t) { return t && t->kind == TYPE_PROCESS; }

/* Hidden inputs of live properties: stored as a bit of the processes that they name. */
static bool is_followed(const struct model *m, const struct node *n) {
  return n->op == NODE_GLOBAL && m->globals[n->index].followed;
}

static bool is_set_of_all(const struct model *m, const struct node *n) {
  return n->op == NODE_ROLE_SET || n->op == NODE_CORRECT || n->op == NODE_FAULTY || is_followed(m, n);
}

/* A process that a quantifier names, or a hidden input. */
static bool is_named(const struct model *m, const struct node *n) {
  return is_process(n->type) && (n->op == NODE_SLOT || is_followed(m, n));
}

struct process_count_check {
  const struct model *model;
  bool counts;
  uint32_t quantifiers;
};

static void look(struct process_count_check *, const struct node *);

/* exists and forall over all processes of a role or status, or over values that are no processes, do not count. */
static void look_generator(struct process_count_check *c, const struct node *n, const struct generator *g) {
  bool quantifier = n->op == NODE_EXISTS || n->op == NODE_FORALL;
  if (is_process(g->type)) {
    c->quantifiers++;
    c->counts |= !quantifier || !is_set_of_all(c->model, g->range);
  } else {
    c->counts |= type_contains_kind(g->type, TYPE_PROCESS);
    look(c, g->range);
  }
  if (g->cond)
    look(c, g->cond);
}

/* The operands that may be a process, or a set of processes, without counting. */
static void look_children(struct process_count_check *c, const struct node *n) {
  bool field = op_traits(n->op) & TRAIT_FIELD, equal = n->op == NODE_EQ || n->op == NODE_NE;
  bool member = n->op == NODE_IN && is_named(c->model, n->kid[0]) && is_set_of_all(c->model, n->kid[1]);
  for (uint32_t i = 0; i < n->n; i++) {
    if (is_named(c->model, n->kid[i]) && (member || (field && i == 0) || (equal && is_named(c->model, n->kid[1 - i]))))
      continue;
    if (member && i == 1)
      continue;
    look(c, n->kid[i]);
  }
}

#define COUNTS_NOTHING                                                                                                 \
  (TRAIT_NAME | TRAIT_SHARED | TRAIT_CLOCK | TRAIT_FIELD | TRAIT_BINDS | TRAIT_MULTIPLICITY | TRAIT_ORDERS |           \
   TRAIT_FAILS | TRAIT_TEMPORAL)

static void look(struct process_count_check *c, const struct node *n) {
  if ((op_traits(n->op) & ~(unsigned)COUNTS_NOTHING) || type_contains_kind(n->type, TYPE_PROCESS))
    c->counts = true;
  for (uint32_t i = 0; i < n->ngen; i++)
    look_generator(c, n, &n->gen[i]);
  look_children(c, n);
}

bool formula_counts_processes(const struct model *m, const struct node *n, uint32_t *quantifiers) {
  struct process_count_check c = {.model = m};
  look(&c, n);
  *quantifiers = c.quantifiers;
  return c.counts;
}

/* --- steps of one process --- */

struct one_process_check {
  uint32_t slot;
  bool other; /* something else is read */
};

#define READS_OF_ONE (TRAIT_NAME | TRAIT_BINDS | TRAIT_MULTIPLICITY | TRAIT_ORDERS | TRAIT_FAILS)

static bool look_at_one(void *context, const struct node *n) {
  struct one_process_check *l = context;
  bool field = n->op == NODE_REMOTE || n->op == NODE_INITIAL;
  if (field && n->kid[0]->op == NODE_SLOT && n->kid[0]->index == l->slot)
    return false;
  bool itself = n->op == NODE_SLOT && n->index == l->slot;
  bool everybody = n->op == NODE_DOMAIN && type_contains_kind(n->type, TYPE_PROCESS);
  l->other |= field || itself || everybody || (op_traits(n->op) & ~(unsigned)READS_OF_ONE);
  return true;
}

static bool is_step_of(const struct property *p, enum op range) {
  const struct node *f = p->formula;
  if (!p->step || f->op != NODE_FORALL || f->ngen != 1 || f->gen[0].range->op != range || f->gen[0].cond || f->n != 1)
    return false;
  struct one_process_check l = {f->gen[0].slot, false};
  node_walk(f->kid[0], look_at_one, &l);
  return !l.other;
}

bool property_is_one_process_step(const struct property *p) { return is_step_of(p, NODE_ROLE_SET); }

bool property_is_correct_step(const struct property *p) { return is_step_of(p, NODE_CORRECT); }
