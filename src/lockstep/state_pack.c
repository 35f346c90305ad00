#include "lockstep/state_pack.h"

#include "analysis/dataflow.h"
#include "analysis/model_visitor.h"
#include "base/vec.h"
#include "interp/local.h"
#include "system/initial_set.h"

#include <string.h>

#define ROUNDS_KEPT_MOST 1000000000 /* effectively unlimited */

/* --- what states must keep --- */

static bool look_phase(void *context, const struct node *n) {
  bool *found = context;
  *found |=
      n->op == NODE_PHASE || !op_is_known(n->op) || (n->op == NODE_PROCESS_AT && n->kid[0]->type->kind == TYPE_ROUND);
  return !*found;
}

/* Walks all code of the rounds, all defs, and the formulas of the query. */
static void phase_readers_walk(const struct model *m, const struct query *q, node_visit_fn *visit, void *context) {
  for (uint32_t r = 0; r < m->nroles; r++)
    for (uint32_t p = 0; p < m->npoints; p++) {
      const struct body *b = &m->roles[r].body[p];
      for (uint32_t i = 0; i < b->nsends; i++) {
        guard_walk(&b->sends[i].guard, visit, context);
        node_walk(b->sends[i].message, visit, context);
        if (b->sends[i].to)
          node_walk(b->sends[i].to, visit, context);
      }
      block_walk(&b->update, visit, context);
      block_walk(&b->finally, visit, context);
    }
  for (uint32_t i = 0; i < m->ndefs; i++)
    node_walk(m->defs[i].body, visit, context);
  for (uint32_t i = 0; i < query_nformulas(q); i++)
    node_walk(query_formula(m, q, i), visit, context);
}

static bool reads_phase(const struct model *m, const struct query *q) {
  bool found = false;
  phase_readers_walk(m, q, look_phase, &found);
  return found;
}

/* --- phase numbers that matter only modulo a period, as for rotating coordinators --- */

struct residue_look {
  const struct model *model;
  uint64_t period;
  bool other; /* the number itself matters */
};

#define PERIOD_MOST 100000

static bool is_phase(const struct node *n) {
  return n->op == NODE_PHASE || (n->op == NODE_ADD && ((is_phase(n->kid[0]) && n->kid[1]->op == NODE_CONST) ||
                                                       (is_phase(n->kid[1]) && n->kid[0]->op == NODE_CONST)));
}

static bool look_residue(void *context, const struct node *n) {
  struct residue_look *l = context;
  uint64_t of = 0;
  if (n->op == NODE_PROCESS_AT && is_phase(n->kid[0]))
    of = l->model->roles[n->index].count;
  else if (n->op == NODE_MOD && is_phase(n->kid[0]) && n->kid[1]->op == NODE_CONST && n->kid[1]->constant > 0)
    of = (uint64_t)n->kid[1]->constant;
  if (of > PERIOD_MOST) { /* the least common multiple might overflow */
    l->other = true;
    return false;
  }
  if (of) {
    uint64_t a = l->period, b = of;
    while (b) {
      uint64_t rest = a % b;
      a = b;
      b = rest;
    }
    l->period = l->period / a * of;
    l->other |= l->period > PERIOD_MOST;
    return false;
  }
  l->other |= n->op == NODE_PHASE || !op_is_known(n->op) || (n->type && type_contains_kind(n->type, TYPE_ROUND));
  return true;
}

/* The period of the phase number: it matters only modulo this; 0: there is no period. */
static uint32_t phase_period(const struct model *m, const struct query *q) {
  struct residue_look l = {.model = m, .period = 1};
  for (uint32_t r = 0; r < m->nroles; r++)
    for (uint32_t i = 0; i < m->roles[r].nvars; i++)
      l.other |= type_contains_kind(m->roles[r].vars[i].type, TYPE_ROUND);
  for (uint32_t i = 0; i < m->nglobals; i++)
    l.other |= type_contains_kind(m->globals[i].type, TYPE_ROUND);
  phase_readers_walk(m, q, look_residue, &l);
  return l.other ? 0 : (uint32_t)l.period;
}

/* If `round` is only compared with expressions of known upper bounds, larger round numbers need not be distinguished.
 */
struct round_look {
  uint32_t all, compared;
  int64_t most;
};

/* An upper bound, or ROUNDS_KEPT_MOST if none is known. */
static int64_t upper_bound_of(const struct node *n) {
  if ((n->op == NODE_CONST || n->op == NODE_PARAM) && n->constant < ROUNDS_KEPT_MOST)
    return n->constant;
  if (n->type->kind == TYPE_RANGE && n->type->hi < ROUNDS_KEPT_MOST)
    return n->type->hi;
  if (n->op == NODE_CARD && n->kid[0]->type->element && n->kid[0]->type->element->count < ROUNDS_KEPT_MOST)
    return (int64_t)n->kid[0]->type->element->count;
  if (n->op == NODE_ADD) {
    int64_t sum = upper_bound_of(n->kid[0]) + upper_bound_of(n->kid[1]);
    return sum < ROUNDS_KEPT_MOST ? sum : ROUNDS_KEPT_MOST;
  }
  return ROUNDS_KEPT_MOST;
}

static bool look_compared(void *context, const struct node *n) {
  struct round_look *l = context;
  l->all += n->op == NODE_ROUND_NUMBER || !op_is_known(n->op);
  if (n->op != NODE_EQ && n->op != NODE_NE && n->op != NODE_LT && n->op != NODE_LE && n->op != NODE_GT &&
      n->op != NODE_GE)
    return true;
  for (int side = 0; side < 2; side++) {
    const struct node *other = n->kid[1 - side];
    if (n->kid[side]->op != NODE_ROUND_NUMBER || other->op == NODE_ROUND_NUMBER ||
        upper_bound_of(other) >= ROUNDS_KEPT_MOST)
      continue;
    l->compared++;
    if (upper_bound_of(other) > l->most)
      l->most = upper_bound_of(other);
  }
  return true;
}

static void bound_rounds(struct pack *p, const struct node *formula) {
  struct round_look l = {0, 0, 0};
  node_walk_deep(p->model, formula, look_compared, &l);
  uint32_t cap = l.all == l.compared ? (uint32_t)l.most + 2 : ROUNDS_KEPT_MOST;
  if (cap > p->kept.rounds_cap)
    p->kept.rounds_cap = cap;
}

static void decide_what_to_keep(struct pack *p) {
  const struct model *m = p->model;
  const struct environment *env = &m->environments[p->query->environment];
  bool endless = m->points[m->npoints - 1].endless;
  for (uint32_t i = 0; i < query_nformulas(p->query); i++) {
    const struct node *formula = query_formula(m, p->query, i);
    if (endless && formula_reads_round_number(m, formula)) {
      p->kept.rounds = true;
      bound_rounds(p, formula);
    }
  }
  p->kept.initials = initials_asked(m, p->query);
  for (uint32_t i = 0; i < env->nclauses; i++) {
    const struct clause *c = &env->clauses[i];
    bool budget = c->per == PER_RUN && c->limit < INT64_MAX;
    p->kept.lost |= c->kind == CLAUSE_LOST && budget;
    p->kept.corrupted |= c->kind == CLAUSE_CORRUPTED && budget;
    if (c->kind == CLAUSE_FROM_ROUND && endless) {
      p->kept.rounds = true;
      if (c->from > p->kept.rounds_cap)
        p->kept.rounds_cap = c->from;
      if (c->from > p->kept.from_cap)
        p->kept.from_cap = c->from;
    }
    if (endless && c->pred && clause_is_relevant(m, p->query, c) && formula_reads_round_number(m, c->pred)) {
      p->kept.rounds = true;
      bound_rounds(p, c->pred);
    }
  }
  p->kept.phase = reads_phase(m, p->query);
  p->kept.phase_period = p->kept.phase ? phase_period(m, p->query) : 0;
}

static void find_followed(struct pack *p) {
  const struct model *m = p->model;
  for (uint32_t i = 0; i < m->nglobals && p->licences->of[REDUCE_SYMMETRY].applied; i++)
    if (m->globals[i].followed)
      p->followed[p->nfollowed++] = i;
}

static void find_marks(struct pack *p) {
  const struct model *m = p->model;
  if (!query_is_live(m, p->query))
    return;
  p->nmarks = environment_run_clauses(&m->environments[p->query->environment], p->marks);
  for (uint32_t i = 0; i < m->npoints; i++)
    p->long_phases |= !m->points[i].phase_start || !m->points[i].phase_end;
  for (uint32_t i = 0; i < p->nmarks; i++)
    p->kept.obligation |= p->marks[i]->kind == CLAUSE_ONCE || p->marks[i]->nrigid > 0 ||
                          (p->long_phases && p->marks[i]->unit == EACH_PHASE);
}

void pack_init(struct pack *p, struct interpreter *interp, struct model *m, const struct query *q,
               const struct licences *l) {
  memset(p, 0, sizeof *p);
  p->interp = interp;
  p->model = m;
  p->query = q;
  p->licences = l;
  arena_init(&p->arena);
  p->locals = intern_new();
  p->vectors = intern_new();
  p->renamings = intern_new();
  intern_put(p->vectors, NULL, 0); /* 0 is the empty vector */
  decide_what_to_keep(p);
  find_followed(p);
  find_marks(p);
  p->rank = l->of[REDUCE_ROUND_RANK].applied && p->kept.phase;
  p->drop_dead = l->of[REDUCE_DEAD_VARIABLES].applied;
  if (p->drop_dead)
    p->liveness = live_variables_of(m, q, &p->arena);
}

void pack_share(struct pack *p, struct pack *first) {
  intern_share(p->model->values.vectors);
  intern_share(first->locals);
  intern_share(first->vectors);
  intern_free(p->locals);
  intern_free(p->vectors);
  p->locals = first->locals;
  p->vectors = first->vectors;
  p->borrowed = true;
}

void pack_release(struct pack *p) {
  if (!p->borrowed) {
    intern_free(p->locals);
    intern_free(p->vectors);
  }
  intern_free(p->renamings);
  memo_release(&p->dead_dropped);
  memo_release(&p->renamed);
  arena_release(&p->arena);
}

size_t pack_bytes(const struct pack *p) {
  size_t names = p->borrowed ? 0 : intern_bytes(p->locals) + intern_bytes(p->vectors);
  return names + arena_bytes(&p->arena) + intern_bytes(p->renamings) + memo_bytes(&p->dead_dropped) +
         memo_bytes(&p->renamed);
}

/* --- local states --- */

uint32_t local_role(const struct pack *p, local_id id) { return (uint32_t)intern_at(p->locals, id)[0]; }

const value *local_values(const struct pack *p, local_id id) { return intern_at(p->locals, id) + 1; }

value local_status(const struct pack *p, local_id id) { return local_values(p, id)[LOCAL_STATUS]; }

local_id local_put_followed(struct pack *p, uint32_t role, const value *values, value followed) {
  const struct role *r = &p->model->roles[role];
  uint32_t length = role_local_length(r);
  value buffer[64], *v = length < 64 ? buffer : memory_alloc((length + 1) * sizeof *v);
  v[0] = role;
  memcpy(v + 1, values, length * sizeof *v);
  v[1 + LOCAL_STATUS] |= followed;
  if (p->kept.initials != INITIALS_EACH)
    memset(v + 1 + 1 + r->nvars, 0, (length - 1 - r->nvars) * sizeof *v);
  local_id id = intern_put(p->locals, v, length + 1);
  if (v != buffer)
    memory_free(v);
  return id;
}

local_id local_put(struct pack *p, uint32_t role, const value *values) {
  return local_put_followed(p, role, values, 0);
}

value followed_bits(const struct pack *p, const value *globals, uint32_t process) {
  value bits = 0;
  for (uint32_t i = 0; i < p->nfollowed; i++) {
    const struct type *t = p->model->globals[p->followed[i]].type;
    value v = globals[p->followed[i]];
    bool is = t->kind == TYPE_PROCESS ? v == (value)process : set_contains(&p->model->values, t, v, process);
    bits |= (value)is << (STATUS_FOLLOWED + i);
  }
  return bits;
}

/* Sets the followed inputs of the configuration that name this process. */
static void follow(struct pack *p, uint32_t process, struct config *c) {
  value status = c->local[process][LOCAL_STATUS];
  for (uint32_t i = 0; i < p->nfollowed && status > STATUS_BITS; i++) {
    const struct type *t = p->model->globals[p->followed[i]].type;
    value *v = &c->globals[p->followed[i]];
    if (status >> (STATUS_FOLLOWED + i) & 1)
      *v = t->kind == TYPE_PROCESS ? (value)process : set_insert(&p->model->values, t, *v, process);
  }
  c->local[process][LOCAL_STATUS] &= STATUS_BITS;
}

/* Is the variable irrelevant from `point` on? */
static bool is_dont_care(const struct pack *p, uint32_t r, uint32_t var, value status, uint32_t point) {
  const struct var *v = &p->model->roles[r].vars[var];
  bool idle = status & (STATUS_CRASHED | STATUS_HALTED);
  if (v->kind == VAR_ORACLE && (idle || point == POINT_END || oracle_chosen_at(p->model, v, point)))
    return true;
  if (!p->drop_dead)
    return false;
  if (idle)
    return !p->liveness->idle[r][var];
  return !p->liveness->live[r][point == POINT_END ? p->model->npoints : point][var];
}

local_id local_drop_dead(struct pack *p, local_id id, uint32_t point) {
  uint32_t result;
  if (memo_find(&p->dead_dropped, id, point, &result))
    return result;
  uint32_t r = local_role(p, id);
  const struct role *role = &p->model->roles[r];
  value status = local_status(p, id);
  result = id;
  if (!(status & STATUS_BYZANTINE)) {
    uint32_t length = role_local_length(role);
    value *v = memory_alloc(length * sizeof *v);
    memcpy(v, local_values(p, id), length * sizeof *v);
    for (uint32_t i = 0; i < role->nvars; i++)
      if (is_dont_care(p, r, i, status, point))
        v[LOCAL_VAR(i)] = VALUE_DONT_CARE;
    result = local_put(p, r, v);
    memory_free(v);
  }
  memo_add(&p->dead_dropped, id, point, result);
  return result;
}

local_id local_at_start(struct pack *p, local_id id) {
  bool drop_dead = p->drop_dead;
  uint32_t r = local_role(p, id);
  value status = local_status(p, id);
  if (status & STATUS_BYZANTINE)
    return id;
  uint32_t length = role_local_length(&p->model->roles[r]);
  value *v = memory_alloc(length * sizeof *v);
  memcpy(v, local_values(p, id), length * sizeof *v);
  p->drop_dead = false;
  for (uint32_t i = 0; i < p->model->roles[r].nvars; i++)
    if (is_dont_care(p, r, i, status, 0))
      v[LOCAL_VAR(i)] = VALUE_DONT_CARE;
  p->drop_dead = drop_dead;
  id = local_put(p, r, v);
  memory_free(v);
  return id;
}

/* --- configurations --- */

struct unpacked_state *global_new(const struct pack *p) {
  struct unpacked_state *g = memory_alloc(sizeof *g);
  g->at = memory_alloc((p->model->nprocesses + 1) * sizeof *g->at);
  g->phase = 1;
  return g;
}

void global_free(struct unpacked_state *g) {
  if (g)
    memory_free(g->at);
  memory_free(g);
}

uint32_t initials_put(struct pack *p, const value *const *local) {
  size_t n;
  value *set = initial_set_of(p->model, local, &n);
  uint32_t id = intern_put(p->vectors, set, n);
  memory_free(set);
  return id;
}

/* The globals without the inputs that are status bits. */
static uint32_t globals_put(struct pack *p, const value *globals) {
  const struct model *m = p->model;
  if (!p->nfollowed)
    return intern_put(p->vectors, globals, m->nglobals);
  value *v = memory_alloc((m->nglobals + 1) * sizeof *v);
  memcpy(v, globals, m->nglobals * sizeof *v);
  for (uint32_t i = 0; i < p->nfollowed; i++)
    v[p->followed[i]] = 0;
  uint32_t id = intern_put(p->vectors, v, m->nglobals);
  memory_free(v);
  return id;
}

void global_from_config(struct pack *p, const struct config *c, struct unpacked_state *g) {
  const struct model *m = p->model;
  g->point = c->point;
  g->rounds = !p->kept.rounds ? 0 : c->rounds < p->kept.rounds_cap ? c->rounds : p->kept.rounds_cap;
  g->phase = p->kept.phase ? c->phase : 1;
  g->lost = p->kept.lost ? c->lost : 0;
  g->corrupted = p->kept.corrupted ? c->corrupted : 0;
  g->globals = globals_put(p, c->globals);
  g->inits = p->kept.initials == INITIALS_SET ? initials_put(p, (const value *const *)c->local) : 0;
  g->obligation = 0;
  g->n = m->nprocesses;
  for (uint32_t q = 0; q < m->nprocesses; q++)
    g->at[q] =
        (struct member){local_put_followed(p, model_role_of(m, q), c->local[q], followed_bits(p, c->globals, q)), 1};
}

struct config *global_to_config(struct pack *p, const struct unpacked_state *g) {
  const struct model *m = p->model;
  struct config *c = config_new(m);
  uint32_t *next = memory_alloc((m->nroles + 1) * sizeof *next);
  c->point = g->point;
  c->rounds = p->kept.rounds ? g->rounds : g->point == POINT_END ? m->npoints : m->points[g->point].number - 1;
  c->phase = g->phase;
  c->lost = g->lost;
  c->corrupted = g->corrupted;
  memcpy(c->globals, intern_at(p->vectors, g->globals), m->nglobals * sizeof(value));
  for (uint32_t i = 0; i < p->nfollowed; i++)
    if (m->globals[p->followed[i]].type->kind == TYPE_SET)
      c->globals[p->followed[i]] = set_empty(&p->model->values, m->globals[p->followed[i]].type);
  for (uint32_t i = 0; i < g->n; i++)
    for (uint32_t k = 0; k < g->at[i].count; k++) {
      uint32_t r = local_role(p, g->at[i].local);
      uint32_t q = p->bag ? m->roles[r].first + next[r]++ : i;
      memcpy(c->local[q], local_values(p, g->at[i].local), role_local_length(&m->roles[r]) * sizeof(value));
      local_fill_dont_care(p->model, r, c->local[q]);
      follow(p, q, c);
    }
  if (p->kept.initials == INITIALS_SET)
    initial_set_fill(m, intern_at(p->vectors, g->inits), intern_length(p->vectors, g->inits), c);
  memory_free(next);
  return c;
}

/* --- keys --- */

uint8_t *key_put(uint8_t *at, uint64_t x) {
  while (x >= 128) {
    *at++ = (uint8_t)(x | 128);
    x >>= 7;
  }
  *at++ = (uint8_t)x;
  return at;
}

const uint8_t *key_get(const uint8_t *at, uint64_t *x) {
  unsigned shift = 0;
  *x = 0;
  while (*at & 128) {
    *x |= (uint64_t)(*at++ & 127) << shift;
    shift += 7;
  }
  *x |= (uint64_t)*at++ << shift;
  return at;
}

void global_encode(const struct pack *p, const struct unpacked_state *g, uint8_t **buffer, size_t *capacity,
                   struct state *out) {
  size_t need = 70 + (size_t)g->n * 10;
  if (*capacity < need) {
    *buffer = memory_resize(*buffer, 2 * need);
    *capacity = 2 * need;
  }
  uint8_t *at = key_put(*buffer, g->point == POINT_END ? p->model->npoints : g->point);
  if (p->kept.rounds)
    at = key_put(at, g->rounds);
  if (p->kept.phase)
    at = key_put(at, (uint64_t)g->phase);
  if (p->kept.lost)
    at = key_put(at, (uint64_t)g->lost);
  if (p->kept.corrupted)
    at = key_put(at, (uint64_t)g->corrupted);
  if (p->model->nglobals)
    at = key_put(at, g->globals);
  if (p->kept.initials == INITIALS_SET)
    at = key_put(at, g->inits);
  if (p->kept.obligation)
    at = key_put(at, g->obligation);
  for (uint32_t i = 0; i < g->n; i++) {
    at = key_put(at, g->at[i].local);
    if (p->bag)
      at = key_put(at, g->at[i].count);
  }
  *out = (struct state){*buffer, (uint32_t)(at - *buffer)};
}

void global_decode(const struct pack *p, const struct state *s, struct unpacked_state *g) {
  const uint8_t *at = s->bytes, *end = s->bytes + s->length;
  uint64_t x;
  at = key_get(at, &x);
  g->point = x == p->model->npoints ? POINT_END : (uint32_t)x;
  g->rounds = 0;
  g->phase = 1;
  g->lost = g->corrupted = 0;
  g->inits = 0;
  if (p->kept.rounds) {
    at = key_get(at, &x);
    g->rounds = (uint32_t)x;
  }
  if (p->kept.phase) {
    at = key_get(at, &x);
    g->phase = (value)x;
  }
  if (p->kept.lost) {
    at = key_get(at, &x);
    g->lost = (int64_t)x;
  }
  if (p->kept.corrupted) {
    at = key_get(at, &x);
    g->corrupted = (int64_t)x;
  }
  g->globals = 0;
  if (p->model->nglobals) {
    at = key_get(at, &x);
    g->globals = (uint32_t)x;
  }
  if (p->kept.initials == INITIALS_SET) {
    at = key_get(at, &x);
    g->inits = (uint32_t)x;
  }
  g->obligation = 0;
  if (p->kept.obligation) {
    at = key_get(at, &x);
    g->obligation = (uint32_t)x;
  }
  g->n = 0;
  while (at < end) {
    at = key_get(at, &x);
    struct member m = {(local_id)x, 1};
    if (p->bag) {
      at = key_get(at, &x);
      m.count = (uint32_t)x;
    }
    g->at[g->n++] = m;
  }
}
