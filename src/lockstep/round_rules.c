#include "lockstep/round_rules.h"

#include "interp/eval.h"
#include "interp/run_clauses.h"

#include <string.h>

/* --- shapes of formulas --- */

struct shape { /* Q x, y, ... in role: body */
  enum op quantifier;
  uint32_t slots[4], n;
  uint32_t role;
  const struct node *body;
};

static bool covers_all(const struct model *m, uint32_t role) { return role == ROLE_ANY || m->nroles == 1; }

/* forall p, q in R: body, nested or not; all variables over the same role, without conditions. */
static bool shape_of(const struct node *n, enum op quantifier, struct shape *s) {
  *s = (struct shape){.quantifier = quantifier, .body = n};
  while (s->body->op == quantifier && s->body->n == 1) {
    for (uint32_t i = 0; i < s->body->ngen; i++) {
      const struct generator *g = &s->body->gen[i];
      if (g->range->op != NODE_ROLE_SET || g->cond || s->n == 4 || (s->n && s->role != g->range->index))
        return false;
      s->role = g->range->index;
      s->slots[s->n++] = g->slot;
    }
    s->body = s->body->kid[0];
  }
  return s->n > 0;
}

/* Marks a hidden input that a clause refers to, as if the clause bound it. */
#define SLOT_OF_INPUT 0x40000000u

static bool is_slot(const struct node *n, uint32_t slot) {
  return (n->op == NODE_SLOT && n->index == slot) || (n->op == NODE_GLOBAL && n->index + SLOT_OF_INPUT == slot);
}

static bool is_heard_of(const struct node *n, uint32_t slot) { return n->op == NODE_HO && is_slot(n->kid[0], slot); }

static bool is_empty_set(const struct node *n) { return n->op == NODE_SET && n->n == 0; }

static bool is_nosplit(const struct model *m, const struct node *n) {
  struct shape s;
  if (!shape_of(n, NODE_FORALL, &s) || s.n != 2 || !covers_all(m, s.role) || s.body->op != NODE_NE)
    return false;
  const struct node *meet = s.body->kid[0], *empty = s.body->kid[1];
  if (is_empty_set(meet)) {
    meet = s.body->kid[1];
    empty = s.body->kid[0];
  }
  return is_empty_set(empty) && meet->op == NODE_INTERSECTION &&
         ((is_heard_of(meet->kid[0], s.slots[0]) && is_heard_of(meet->kid[1], s.slots[1])) ||
          (is_heard_of(meet->kid[0], s.slots[1]) && is_heard_of(meet->kid[1], s.slots[0])));
}

static bool is_kernel(const struct model *m, const struct node *n) {
  struct shape outer, inner;
  return shape_of(n, NODE_EXISTS, &outer) && outer.n == 1 && covers_all(m, outer.role) &&
         shape_of(outer.body, NODE_FORALL, &inner) && inner.n == 1 && covers_all(m, inner.role) &&
         inner.body->op == NODE_IN && is_slot(inner.body->kid[0], outer.slots[0]) &&
         is_heard_of(inner.body->kid[1], inner.slots[0]);
}

/* --- conditions on the size of a set --- */

struct size_check {
  uint32_t slot; /* the process, or the set */
  bool set;      /* slot is a set: only |slot| may be read */
  bool other;    /* the condition depends on something else too */
};

static bool look_sized(void *context, const struct node *n) {
  struct size_check *s = context;
  switch (op_number(n->op)) {
  case NODE_CARD:
    if (!s->set && is_heard_of(n->kid[0], s->slot))
      return false;
    if (s->set && is_slot(n->kid[0], s->slot))
      return false;
    if (n->kid[0]->op == NODE_ROLE_SET)
      return false;
    s->other = true;
    return true;
  case NODE_IN:
    if (!s->set && is_slot(n->kid[0], s->slot) && is_heard_of(n->kid[1], s->slot))
      return false;
    s->other = true;
    return true;
  case NODE_EQ:
  case NODE_NE:
    /* HO[p] == P, all processes */
    if (!s->set && is_heard_of(n->kid[0], s->slot) && n->kid[1]->op == NODE_ROLE_SET && n->kid[1]->index == ROLE_ANY)
      return false;
    return true;
  case NODE_CONST:
  case NODE_PARAM:
  case NODE_ADD:
  case NODE_SUB:
  case NODE_MUL:
  case NODE_DIV:
  case NODE_MOD:
  case NODE_NEG:
  case NODE_NOT:
  case NODE_AND:
  case NODE_OR:
  case NODE_IMPLIES:
  case NODE_LT:
  case NODE_LE:
  case NODE_GT:
  case NODE_GE:
    return true;
  }
  s->other = true;
  return true;
}

static bool only_sized(const struct node *n, uint32_t slot, bool set) {
  struct size_check s = {slot, set, false};
  node_walk(n, look_sized, &s);
  return !s.other;
}

/* Is it HO[p] == R for a role R that contains all processes? Then it is a condition on the size. */
static bool same_as_everybody(const struct model *m, const struct node *n, uint32_t slot) {
  return n->op == NODE_EQ && is_heard_of(n->kid[0], slot) && n->kid[1]->op == NODE_ROLE_SET &&
         covers_all(m, n->kid[1]->index);
}

struct size_sample { /* evaluates a body for one process that hears a set of the given size */
  struct interpreter *interp;
  uint8_t **heard;
  struct config *config;
};

static void sample_init(struct size_sample *s, struct interpreter *interp) {
  const struct model *m = interp->model;
  s->interp = interp;
  s->config = config_new(m);
  s->heard = memory_alloc((m->nprocesses + 1) * sizeof *s->heard);
}

static void sample_release(struct size_sample *s) {
  config_free(s->config);
  memory_free(s->heard);
}

static bool sample_holds(struct size_sample *s, const struct node *body, uint32_t slot, value bound, uint8_t *row) {
  struct eval e;
  jmp_buf failure;
  eval_begin(&e, s->interp);
  e.before = s->config;
  for (uint32_t p = 0; p < s->interp->model->nprocesses; p++)
    s->heard[p] = row;
  e.round.heard = s->heard;
  e.failure = &failure;
  if (setjmp(failure))
    return false;
  e.globals = s->config->globals;
  if (slot >= SLOT_OF_INPUT)
    s->config->globals[slot - SLOT_OF_INPUT] = bound;
  else
    e.slot[slot] = bound;
  return eval_true(&e, body);
}

static bool *size_table(struct interpreter *interp, const struct node *body, uint32_t slot, uint32_t p,
                        struct arena *arena) {
  uint32_t n = interp->model->nprocesses;
  bool *ok = arena_array(arena, 2 * (size_t)n + 2, sizeof *ok);
  uint8_t *row = memory_alloc(n + 1);
  struct size_sample s;
  sample_init(&s, interp);
  for (uint32_t size = 0; size <= n; size++)
    for (uint32_t self = 0; self < 2; self++) {
      if ((self && size == 0) || (!self && size == n))
        continue;
      memset(row, 0, n + 1);
      row[p] = (uint8_t)self;
      uint32_t left = size - self;
      for (uint32_t q = 0; q < n && left; q++)
        if (q != p) {
          row[q] = 1;
          left--;
        }
      ok[2 * size + self] = sample_holds(&s, body, slot, p, row);
    }
  sample_release(&s);
  memory_free(row);
  return ok;
}

static void *grown_array(struct arena *arena, const void *at, uint32_t n, size_t each) {
  char *grown = arena_array(arena, n + 1, each);
  if (n)
    memcpy(grown, at, n * each);
  return grown;
}

static void add_size_rule(struct rules *r, struct interpreter *interp, const struct shape *s, struct arena *arena) {
  const struct model *m = interp->model;
  for (uint32_t role = 0; role < m->nroles; role++) {
    if (s->role != ROLE_ANY && s->role != role)
      continue;
    r->sizes = grown_array(arena, r->sizes, r->nsizes, sizeof *r->sizes);
    struct size_rule *rule = &r->sizes[r->nsizes++];
    rule->role = role;
    rule->followed = s->slots[0] >= SLOT_OF_INPUT ? 1 + s->slots[0] - SLOT_OF_INPUT : 0;
    rule->ok = size_table(interp, s->body, s->slots[0], m->roles[role].first, arena);
    for (uint32_t size = 0; size < m->nprocesses; size++)
      for (uint32_t self = 0; self < 2; self++)
        for (uint32_t more = self; more < 2; more++)
          if (rule->ok[2 * size + self] && !(size + 1 == m->nprocesses && !more) && !rule->ok[2 * (size + 1) + more] &&
              !(self && size == 0))
            r->sizes_grow = false;
  }
}

/* --- uniform rounds --- */

static bool is_uniform_body(const struct model *m, const struct node *n, uint32_t set) {
  struct shape s;
  if (!shape_of(n, NODE_FORALL, &s) || s.n != 1 || !covers_all(m, s.role) || s.body->op != NODE_EQ)
    return false;
  const struct node *a = s.body->kid[0], *b = s.body->kid[1];
  return (is_heard_of(a, s.slots[0]) && is_slot(b, set)) || (is_heard_of(b, s.slots[0]) && is_slot(a, set));
}

/* Splits n into conjuncts: one says that all processes hear S, the others depend on |S| only (or are S != {}). */
static bool split_uniform(const struct model *m, const struct node *n, uint32_t set, bool *found,
                          const struct node **rest, uint32_t *nrest) {
  if (n->op == NODE_AND)
    return split_uniform(m, n->kid[0], set, found, rest, nrest) && split_uniform(m, n->kid[1], set, found, rest, nrest);
  if (is_uniform_body(m, n, set)) {
    *found = true;
    return true;
  }
  bool nonempty = n->op == NODE_NE && ((is_slot(n->kid[0], set) && is_empty_set(n->kid[1])) ||
                                       (is_slot(n->kid[1], set) && is_empty_set(n->kid[0])));
  if ((!nonempty && !only_sized(n, set, true)) || *nrest == 8)
    return false;
  rest[(*nrest)++] = n;
  return true;
}

static bool is_uniform(struct interpreter *interp, const struct node *n, struct rules *r, struct arena *arena) {
  const struct model *m = interp->model;
  struct shape s;
  if (shape_of(n, NODE_FORALL, &s))
    return s.n == 2 && covers_all(m, s.role) && s.body->op == NODE_EQ &&
           ((is_heard_of(s.body->kid[0], s.slots[0]) && is_heard_of(s.body->kid[1], s.slots[1])) ||
            (is_heard_of(s.body->kid[0], s.slots[1]) && is_heard_of(s.body->kid[1], s.slots[0])));
  if (n->op != NODE_EXISTS || n->ngen != 1 || n->n != 1 || n->gen[0].range->op != NODE_SUBSETS || n->gen[0].cond)
    return false;
  const struct node *of = n->gen[0].range->kid[0];
  if (of->op != NODE_ROLE_SET || !covers_all(m, of->index))
    return false;
  const struct node *rest[8];
  uint32_t nrest = 0;
  bool found = false;
  if (!split_uniform(m, n->kid[0], n->gen[0].slot, &found, rest, &nrest) || !found)
    return false;
  if (!r->uniform_size) { /* else there is an earlier such clause, and both must hold */
    r->uniform_size = arena_array(arena, m->nprocesses + 1, sizeof *r->uniform_size);
    memset(r->uniform_size, true, m->nprocesses + 1);
  }
  struct size_sample sample;
  sample_init(&sample, interp);
  uint8_t *row = memory_alloc(m->nprocesses + 1);
  for (uint32_t size = 0; size <= m->nprocesses; size++) {
    value set = set_empty(&interp->model->values, m->process_types.set);
    for (uint32_t p = 0; p < size; p++)
      set = set_insert(&interp->model->values, m->process_types.set, set, p);
    for (uint32_t i = 0; i < nrest; i++)
      r->uniform_size[size] &= sample_holds(&sample, rest[i], n->gen[0].slot, set, row);
  }
  memory_free(row);
  sample_release(&sample);
  return true;
}

/* --- corrupted messages: forall p: |HO[p] - SHO[p]| <= e --- */

static bool is_corruption_limit(struct interpreter *interp, const struct node *n, int64_t *limit) {
  struct shape s;
  if (!shape_of(n, NODE_FORALL, &s) || s.n != 1 || !covers_all(interp->model, s.role) || s.body->op != NODE_LE)
    return false;
  const struct node *card = s.body->kid[0], *bound = s.body->kid[1];
  if (card->op != NODE_CARD || card->kid[0]->op != NODE_DIFFERENCE || !is_heard_of(card->kid[0]->kid[0], s.slots[0]) ||
      card->kid[0]->kid[1]->op != NODE_SHO || !is_slot(card->kid[0]->kid[1]->kid[0], s.slots[0]) ||
      !only_sized(bound, UINT32_MAX, true))
    return false;
  struct eval e;
  jmp_buf failure;
  eval_begin(&e, interp);
  e.failure = &failure;
  if (setjmp(failure))
    return false;
  *limit = eval_node(&e, bound);
  return *limit >= 0;
}

/* --- oracles --- */

struct clause_reads {
  bool heard, oracle;
};

static bool look_clause_reads(void *context, const struct node *n) {
  struct clause_reads *m = context;
  m->heard |= (op_traits(n->op) & TRAIT_HEARD_OF) != 0;
  m->oracle |= n->op == NODE_ORACLE || !op_is_known(n->op);
  return true;
}

static bool is_common_oracle(const struct model *m, const struct node *n) {
  struct shape s;
  if (m->nroles != 1 || !shape_of(n, NODE_FORALL, &s) || s.n != 2 || s.body->op != NODE_EQ)
    return false;
  const struct node *a = s.body->kid[0], *b = s.body->kid[1];
  uint32_t oracles = 0;
  for (uint32_t i = 0; i < m->roles[0].nvars; i++)
    oracles += m->roles[0].vars[i].kind == VAR_ORACLE;
  return oracles == 1 && a->op == NODE_ORACLE && b->op == NODE_ORACLE &&
         ((is_slot(a->kid[0], s.slots[0]) && is_slot(b->kid[0], s.slots[1])) ||
          (is_slot(a->kid[0], s.slots[1]) && is_slot(b->kid[0], s.slots[0])));
}

/* --- all clauses --- */

/* A kernel implies no-split, and so does a uniform round with a nonempty set. */
static void couple(struct rules *r, enum coupling kind) {
  enum coupling before = r->coupling;
  r->nosplit |= kind == COUPLED_NOSPLIT;
  r->heard_matters = true;
  if (before == COUPLED_NOT || before == COUPLED_NOSPLIT)
    r->coupling = kind;
  else if (kind != before && kind != COUPLED_NOSPLIT)
    r->plain = "several conditions couple whom the processes hear";
}

/* Is the condition on |HO[p]| independent of whether p hears itself? */
static bool blind_to_self(const struct size_rule *rule, uint32_t n) {
  bool blind = true;
  for (uint32_t size = 1; size < n; size++)
    blind &= rule->ok[2 * size] == rule->ok[2 * size + 1];
  return blind;
}

/* Uniform rounds: conditions on |HO[p]| of all processes become conditions on the common set. */
static void fold_uniform_sizes(struct rules *r, const struct model *m, struct arena *arena) {
  uint32_t n = m->nprocesses;
  if (r->coupling != COUPLED_UNIFORM || (!r->nosplit && !r->nsizes))
    return;
  if (!r->uniform_size) {
    r->uniform_size = arena_array(arena, n + 1, sizeof *r->uniform_size);
    memset(r->uniform_size, true, n + 1);
  }
  r->uniform_size[0] &= !r->nosplit;
  bool fold = m->nroles == 1;
  for (uint32_t i = 0; i < r->nsizes; i++)
    fold &= blind_to_self(&r->sizes[i], n);
  for (uint32_t i = 0; i < r->nsizes && fold; i++)
    for (uint32_t size = 0; size <= n; size++)
      r->uniform_size[size] &= r->sizes[i].ok[2 * size + (size == n)];
  if (fold)
    r->nsizes = 0;
}

/* --- conditions on a process that the query follows --- */

struct input_look {
  const struct model *model;
  uint32_t input; /* NO_VAR: none so far */
  bool several;
};

static bool look_input(void *context, const struct node *n) {
  struct input_look *l = context;
  if (n->op == NODE_GLOBAL && l->model->globals[n->index].followed) {
    l->several |= l->input != NO_VAR && l->input != n->index;
    l->input = n->index;
  }
  return true;
}

/* Is the condition about a followed process? Then returns it as a shape that binds that process. */
static bool shape_of_followed(const struct model *m, const struct node *n, struct shape *s) {
  struct input_look l = {m, NO_VAR, false};
  node_walk(n, look_input, &l);
  if (l.input == NO_VAR || l.several || m->globals[l.input].type->kind != TYPE_PROCESS)
    return false;
  *s = (struct shape){.slots = {SLOT_OF_INPUT + l.input}, .n = 1, .role = m->globals[l.input].type->role, .body = n};
  return s->role != ROLE_ANY;
}

/* --- conditions on one process each --- */

struct of_one { /* do all HO terms and oracles in it refer to the same process? */
  const struct bound_condition *condition;
  struct interpreter *interp;
  uint32_t slot; /* the process; NO_SLOT: a fixed process */
  struct filter *filter;
  bool other, seen;
};

static bool look_inner_slot(void *context, const struct node *n) {
  struct of_one *o = context;
  bool outer = false;
  if (n->op == NODE_SLOT)
    for (uint32_t i = 0; o->condition->bound && i < o->condition->clause->nwitness; i++)
      outer |= o->condition->clause->witness[i].slot == n->index;
  o->other |= (n->op == NODE_SLOT && !outer) ||
              (op_traits(n->op) & (TRAIT_CALLS | TRAIT_SHARED | TRAIT_CLOCK | TRAIT_STATUS | TRAIT_FIELD));
  return true;
}

static value fixed_process(const struct of_one *o, const struct node *n) {
  struct eval e;
  jmp_buf failure;
  eval_begin(&e, o->interp);
  e.failure = &failure;
  if (setjmp(failure))
    return -1;
  for (uint32_t i = 0; o->condition->bound && i < o->condition->clause->nwitness; i++)
    e.slot[o->condition->clause->witness[i].slot] = o->condition->bound[i];
  return eval_node(&e, n);
}

static bool look_of_one(void *context, const struct node *n) {
  struct of_one *o = context;
  o->other |= (op_traits(n->op) & TRAIT_CALLS) != 0;
  o->filter->status |= (op_traits(n->op) & (TRAIT_STATUS | TRAIT_PROCESSES)) != 0;
  o->filter->round |= (op_traits(n->op) & TRAIT_CLOCK) != 0;
  if (n->op != NODE_HO && n->op != NODE_SHO && n->op != NODE_ORACLE)
    return !o->other;
  o->filter->oracle |= n->op == NODE_ORACLE;
  if (o->slot != NO_SLOT || o->filter->followed) {
    o->other |= !is_slot(n->kid[0], o->filter->followed ? SLOT_OF_INPUT + o->filter->followed - 1 : o->slot);
    return true;
  }
  node_walk(n->kid[0], look_inner_slot, o);
  value p = o->other ? -1 : fixed_process(o, n->kid[0]);
  o->other |= p < 0 || (o->seen && o->filter->process != (uint32_t)p);
  o->filter->process = (uint32_t)p;
  o->seen = true;
  return true;
}

static bool is_forall_in_set(const struct node *n) {
  return n->op == NODE_FORALL && n->n == 1 && n->ngen == 1 && !n->gen[0].cond && n->gen[0].type->kind == TYPE_PROCESS;
}

static bool look_for_round(void *context, const struct node *n) {
  struct of_one *o = context;
  o->other |= (op_traits(n->op) & (TRAIT_HEARD_OF | TRAIT_FIELD | TRAIT_CALLS)) != 0;
  o->filter->status |= (op_traits(n->op) & (TRAIT_STATUS | TRAIT_PROCESSES)) != 0;
  o->filter->round |= (op_traits(n->op) & TRAIT_CLOCK) != 0;
  return true;
}

static bool filter_of(struct interpreter *interp, const struct bound_condition *c, struct filter *f) {
  struct shape s;
  *f = (struct filter){.of = *c, .whole = c->pred, .slot = NO_SLOT};
  if (interp->model->nprocesses > FILTER_PROCESSES)
    return false;
  bool of_role = shape_of(c->pred, NODE_FORALL, &s) && s.n == 1, of_set = !of_role && is_forall_in_set(c->pred);
  if (of_role || of_set) {
    struct of_one each = {.condition = c, .interp = interp, .slot = c->pred->gen[0].slot, .filter = f};
    f->of.pred = c->pred->kid[0];
    f->slot = each.slot;
    f->role = of_role ? s.role : ROLE_ANY;
    f->range = of_set ? c->pred->gen[0].range : NULL;
    node_walk(f->of.pred, look_of_one, &each);
    if (of_set)
      node_walk(f->range, look_for_round, &each);
    if (!each.other)
      return true;
    *f = (struct filter){.of = *c, .whole = c->pred, .slot = NO_SLOT};
  }
  struct of_one fixed = {.condition = c, .interp = interp, .slot = NO_SLOT, .filter = f};
  if (shape_of_followed(interp->model, c->pred, &s))
    f->followed = 1 + s.slots[0] - SLOT_OF_INPUT;
  node_walk(c->pred, look_of_one, &fixed);
  return !fixed.other && (fixed.seen || f->followed);
}

static void add_filter(struct filter **at, uint32_t *n, struct filter f, struct arena *arena) {
  *at = grown_array(arena, *at, *n, sizeof f);
  (*at)[(*n)++] = f;
}

/* --- all clauses --- */

/* Is the oracle chosen in this round? A clause about every round already held when the oracle was chosen. */
static bool oracle_settled(const struct model *m, const struct clause *c, uint32_t point) {
  bool chosen = c->kind == CLAUSE_EVERY && c->name_id == NO_NAME;
  for (uint32_t i = 0; i < m->roles[0].nvars; i++)
    chosen |= oracle_chosen_at(m, &m->roles[0].vars[i], point);
  return chosen;
}

static void add_oracle_clause(struct rules *r, struct interpreter *interp, struct bound_condition c, bool oracle,
                              uint32_t point, struct arena *arena) {
  struct filter f;
  if (oracle && is_common_oracle(interp->model, c.pred) && oracle_settled(interp->model, c.clause, point)) {
    r->oracles_common = true;
  } else if (oracle && filter_of(interp, &c, &f) && f.slot != NO_SLOT) {
    add_filter(&r->oracle_filters, &r->noracle_filters, f, arena);
  } else {
    r->oracle_clauses = grown_array(arena, r->oracle_clauses, r->noracle_clauses, sizeof c);
    r->oracle_clauses[r->noracle_clauses++] = c;
  }
}

static void add_clause(struct rules *r, struct interpreter *interp, struct bound_condition c, uint32_t point,
                       struct arena *arena) {
  const struct model *m = interp->model;
  struct clause_reads clause_reads = {false, false};
  struct filter filter;
  struct shape s;
  int64_t limit;
  node_walk(c.pred, look_clause_reads, &clause_reads);
  if (!clause_reads.heard) {
    add_oracle_clause(r, interp, c, clause_reads.oracle, point, arena);
  } else if (is_nosplit(m, c.pred)) {
    couple(r, COUPLED_NOSPLIT);
  } else if (is_kernel(m, c.pred)) {
    couple(r, COUPLED_KERNEL);
  } else if (is_uniform(interp, c.pred, r, arena)) {
    couple(r, COUPLED_UNIFORM);
  } else if (is_corruption_limit(interp, c.pred, &limit)) {
    if (limit < r->corrupt_each)
      r->corrupt_each = limit;
  } else if (((shape_of(c.pred, NODE_FORALL, &s) && s.n == 1) || shape_of_followed(m, c.pred, &s)) &&
             (only_sized(s.body, s.slots[0], false) || same_as_everybody(m, s.body, s.slots[0]))) {
    add_size_rule(r, interp, &s, arena);
    r->heard_matters = true;
  } else if (filter_of(interp, &c, &filter)) {
    add_filter(&r->filters, &r->nfilters, filter, arena);
    r->heard_matters = true;
  } else {
    uint32_t line, column;
    source_place(&m->source, c.clause->at.from, &line, &column);
    r->plain = arena_printf(arena, "a heard-of condition of no known kind (line %u)", line);
  }
}

static void add_demand(struct rules *r, struct interpreter *interp, const struct demand *d, uint32_t point,
                       struct arena *arena) {
  if (!d->parts) {
    add_clause(r, interp, (struct bound_condition){d->clause, NULL, d->clause->pred}, point, arena);
    return;
  }
  for (uint32_t i = 0; i < d->clause->nparts; i++)
    if (part_applies(interp->model, &d->clause->parts[i], point))
      add_clause(r, interp, (struct bound_condition){d->clause, d->bound, d->clause->parts[i].pred}, point, arena);
}

static bool clause_applies_at(const struct model *m, const struct clause *c, uint32_t point, uint32_t rounds) {
  if (c->kind != CLAUSE_EVERY && c->kind != CLAUSE_FROM_ROUND)
    return false;
  if (c->name_id != NO_NAME && m->points[point].name_id != c->name_id)
    return false;
  return c->kind == CLAUSE_EVERY || rounds + 1 >= c->from;
}

static bool never_corrupts(const struct environment *env) {
  for (uint32_t i = 0; i < env->nclauses; i++)
    if (env->clauses[i].kind == CLAUSE_CORRUPTED && env->clauses[i].limit == 0)
      return true;
  return false;
}

/* Is the clause part of the rules below? If not, the interpreter enumerates the rounds. */
static bool is_ruled(const struct clause *c) {
  switch (c->kind) {
  case CLAUSE_CRASH:
  case CLAUSE_OMIT:
  case CLAUSE_BYZANTINE:
  case CLAUSE_LOST:
  case CLAUSE_CORRUPTED:
  case CLAUSE_EVERY:
  case CLAUSE_FROM_ROUND:
  case CLAUSE_SYNCHRONOUS:
    return true;
  case CLAUSE_OFTEN: /* infinite runs: acceptance_marks.c */
  case CLAUSE_FINALLY:
  case CLAUSE_ONCE:
  case CLAUSE_FAIR:
    return true;
  case CLAUSE_DUPLICATED: /* steps only */
  case CLAUSE_CHANNELS:
    break;
  }
  return false;
}

struct rules *rules_of(struct interpreter *interp, uint32_t environment, uint32_t point, uint32_t rounds,
                       const struct demand *demands, uint32_t ndemands, struct arena *arena) {
  const struct model *m = interp->model;
  const struct environment *env = &m->environments[environment];
  struct rules *r = arena_alloc(arena, sizeof *r);
  r->sizes_grow = true;
  r->corrupt_each = INT64_MAX;
  r->delivers = environment_delivers(env);
  r->corrupts = environment_corrupts(env) && !never_corrupts(env);
  for (uint32_t i = 0; i < env->nclauses; i++) {
    const struct clause *c = &env->clauses[i];
    if (!is_ruled(c))
      r->plain = "a clause of no known kind";
    r->lossy |= c->kind == CLAUSE_LOST;
    r->crashes |= c->kind == CLAUSE_CRASH && c->limit > 0;
    if (c->kind == CLAUSE_LOST && c->per == PER_RECEIVER)
      r->plain = "a limit on lost messages for each receiver";
    if (c->kind == CLAUSE_CORRUPTED) {
      if (c->per == PER_RECEIVER && c->limit < r->corrupt_each)
        r->corrupt_each = c->limit;
      r->corrupt_total |= c->per != PER_RECEIVER;
      r->corrupt_charged = true;
    }
    if (clause_applies_at(m, c, point, rounds))
      add_clause(r, interp, (struct bound_condition){c, NULL, c->pred}, point, arena);
  }
  for (uint32_t i = 0; i < ndemands; i++)
    add_demand(r, interp, &demands[i], point, arena);
  fold_uniform_sizes(r, m, arena);
  if (r->corrupt_charged && r->lossy)
    r->plain = "budgets of lost and of corrupted messages together";
  if (r->corrupt_total)
    r->plain = "a limit on corrupted messages over all receivers";
  if (r->coupling != COUPLED_NOT && r->lossy)
    r->plain = "a coupling of heard-of sets together with a budget of lost messages";
  /* a Byzantine process may be the one in common, whatever it sends; and an outcome records one example of forged
     messages, not one for each set */
  if (r->coupling == COUPLED_NOSPLIT && (r->corrupts || environment_clause(env, CLAUSE_BYZANTINE)))
    r->plain = "no-split rounds together with messages that are made up";
  if (r->nsizes > 32)
    r->plain = "more than 32 conditions on how many are heard";
  if (r->coupling == COUPLED_NOSPLIT && !r->sizes_grow)
    r->plain = "no-split rounds together with a condition that larger heard-of sets can break";
  if (r->coupling == COUPLED_UNIFORM && r->nsizes &&
      !r->nfilters) /* with filters, sizes are checked together with them */
    r->plain = "uniform rounds together with another condition on heard-of sets";
  if (r->nfilters && r->coupling != COUPLED_NOT &&
      r->crashes) /* a crashing process makes no update, but its heard-of set is restricted like the others */
    r->plain = "a condition on whom one process hears together with one that couples them, and crashes";
  if (r->nfilters && (r->corrupts || environment_clause(env, CLAUSE_BYZANTINE)))
    r->plain = "a condition on whom one process hears together with messages that are made up";
  return r;
}

bool rules_known(struct interpreter *interp, uint32_t environment, uint32_t point, uint32_t rounds,
                 const struct clause *c) {
  struct arena scratch;
  arena_init(&scratch);
  struct demand d = {.clause = c};
  bool known = !rules_of(interp, environment, point, rounds, &d, 1, &scratch)->plain ||
               rules_of(interp, environment, point, rounds, NULL, 0, &scratch)->plain;
  arena_release(&scratch);
  return known;
}
