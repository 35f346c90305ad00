#include "interp/run_clauses.h"
#include "lockstep/lockstep.h"
#include "lockstep/lockstep_local_steps.h"
#include "model/node.h"

#include <string.h>

/* --- obligations --- */

enum { OBLIGATION_FINALLY = 1, OBLIGATION_PHASE = 2, OBLIGATION_PENDING = 8 /* shift */, OBLIGATION_VALUES = 2 };
#define NO_MARK UINT32_MAX

struct obligation { /* unpacked */
  bool finally, phase;
  uint32_t pending; /* or NO_MARK */
  uint64_t once;    /* marks that have come true */
};

static struct obligation obligation_of(const struct pack *p, uint32_t id) {
  struct obligation h = {.pending = NO_MARK};
  if (!id)
    return h;
  const value *v = intern_at(p->vectors, id);
  h.finally = v[0] & OBLIGATION_FINALLY;
  h.phase = v[0] & OBLIGATION_PHASE;
  if (v[0] >> OBLIGATION_PENDING)
    h.pending = (uint32_t)(v[0] >> OBLIGATION_PENDING) - 1;
  h.once = (uint64_t)v[1];
  return h;
}

static bool is_of_phase(const struct pack *p, uint32_t mark) { return p->marks[mark]->unit == EACH_PHASE; }

/* The number of values that an obligation holds for this mark. */
static uint32_t values_kept(const struct pack *p, const struct obligation *h, uint32_t mark) {
  const struct clause *c = p->marks[mark];
  if (c->kind == CLAUSE_FINALLY && h->finally)
    return h->phase && is_of_phase(p, mark) ? c->nwitness : c->nrigid;
  return mark == h->pending ? c->nwitness : 0;
}

/* The i-th mark of an obligation: first the FINALLY marks in order, then the pending one. */
static uint32_t mark_at(const struct pack *p, const struct obligation *h, uint32_t i) {
  for (uint32_t m = 0; m < p->nmarks; m++)
    if (p->marks[m]->kind == CLAUSE_FINALLY && i-- == 0)
      return m;
  return i == 0 ? h->pending : NO_MARK;
}

uint32_t obligation_values(const struct pack *p, uint32_t id, const value **values, const struct type **types) {
  struct obligation h = obligation_of(p, id);
  uint32_t n = 0;
  for (uint32_t i = 0; id && i <= p->nmarks; i++) {
    uint32_t m = mark_at(p, &h, i);
    for (uint32_t k = 0; m != NO_MARK && k < values_kept(p, &h, m); k++, n++)
      if (types)
        types[n] = p->marks[m]->witness[k].type;
  }
  if (values)
    *values = id ? intern_at(p->vectors, id) + OBLIGATION_VALUES : NULL;
  return n;
}

uint32_t obligation_renamed(struct pack *p, uint32_t id, const struct renaming *renaming) {
  uint32_t n = obligation_values(p, id, NULL, NULL);
  if (!n)
    return id;
  const struct type **types = memory_alloc(n * sizeof *types);
  value *v = memory_alloc((n + OBLIGATION_VALUES) * sizeof *v);
  memcpy(v, intern_at(p->vectors, id), (n + OBLIGATION_VALUES) * sizeof *v);
  obligation_values(p, id, NULL, types);
  for (uint32_t i = 0; i < n; i++)
    v[OBLIGATION_VALUES + i] = value_rename(&p->model->values, types[i], v[OBLIGATION_VALUES + i], renaming);
  uint32_t renamed = intern_put(p->vectors, v, n + OBLIGATION_VALUES);
  memory_free(types);
  memory_free(v);
  return renamed;
}

/* --- demands --- */

struct variant_builder { /* the demands on the round, mark by mark */
  struct lockstep *system;
  const struct unpacked_state *from;
  struct config *config; /* `from` as a configuration, made when a witness is chosen */
  const struct point *point;
  struct obligation before;
  bool finally;
  uint32_t pending; /* NO_MARK: none */
  uint64_t now;     /* marks that must hold in this round */
  const value *bound[RUN_CLAUSES_MAX];
  bool asked[RUN_CLAUSES_MAX], parts[RUN_CLAUSES_MAX];
  struct round_variants *out;
};

static bool stores_finally(const struct pack *p, bool for_ever_only) {
  for (uint32_t i = 0; i < p->nmarks; i++)
    if (p->marks[i]->kind == CLAUSE_FINALLY &&
        (p->marks[i]->nrigid || (!for_ever_only && p->long_phases && is_of_phase(p, i))))
      return true;
  return false;
}

/* The values of a mark in the obligation of the state; NULL: it has none. */
static const value *bound_before(const struct variant_builder *c, uint32_t mark) {
  const struct pack *p = &c->system->pack;
  const value *v;
  obligation_values(p, c->from->obligation, &v, NULL);
  for (uint32_t i = 0; v && i <= p->nmarks; i++) {
    uint32_t m = mark_at(p, &c->before, i);
    if (m == mark)
      return values_kept(p, &c->before, m) ? v : NULL;
    if (m != NO_MARK)
      v += values_kept(p, &c->before, m);
  }
  return NULL;
}

/* The demands as numbers, so that equal demands share their rules. */
static uint32_t demands_put(struct variant_builder *c) {
  struct lockstep *s = c->system;
  VEC(value) key = {0};
  uint32_t n = 0, id, found;
  for (uint32_t i = 0; i < s->pack.nmarks; i++) {
    if (!c->asked[i])
      continue;
    n++;
    vec_push(&key, (value)i << 1 | c->parts[i]);
    for (uint32_t k = 0; c->parts[i] && k < s->pack.marks[i]->nwitness; k++)
      vec_push(&key, c->bound[i][k]);
  }
  id = n ? intern_put(s->pack.vectors, key.at, key.n) : 0;
  vec_release(&key);
  if (!n)
    return 0;
  if (memo_find(&s->rules.demands_of, id, 0, &found))
    return found;
  struct demand *demands = arena_array(&s->arena, n, sizeof *demands);
  for (uint32_t i = 0, k = 0; i < s->pack.nmarks; i++)
    if (c->asked[i]) {
      const struct clause *clause = s->pack.marks[i];
      demands[k++] = (struct demand){
          clause, c->parts[i],
          c->parts[i] ? arena_keep_array(&s->arena, c->bound[i], clause->nwitness, sizeof(value)) : NULL};
    }
  vec_push(&s->rules.demands, ((struct demands){demands, n}));
  found = (uint32_t)s->rules.demands.n; /* 0 means no demands */
  memo_add(&s->rules.demands_of, id, 0, found);
  return found;
}

static uint32_t obligation_after(struct variant_builder *c, uint64_t once) {
  struct pack *p = &c->system->pack;
  bool ends = c->point->phase_end;
  struct obligation h = {.finally = c->finally && stores_finally(p, ends),
                         .phase = !ends,
                         .once = once,
                         .pending = ends ? NO_MARK : c->pending};
  h.phase &= h.finally || h.pending != NO_MARK;
  if (!h.finally && h.pending == NO_MARK && !h.once)
    return 0;
  VEC(value) v = {0};
  vec_push(&v, (h.finally ? OBLIGATION_FINALLY : 0) | (h.phase ? OBLIGATION_PHASE : 0) |
                   (value)(h.pending + 1) << OBLIGATION_PENDING);
  vec_push(&v, (value)once);
  for (uint32_t i = 0; i <= p->nmarks; i++) {
    uint32_t m = mark_at(p, &h, i);
    for (uint32_t k = 0; m != NO_MARK && k < values_kept(p, &h, m); k++)
      vec_push(&v, c->bound[m][k]);
  }
  uint32_t id = intern_put(p->vectors, v.at, v.n);
  vec_release(&v);
  return id;
}

static void variant_add(struct variant_builder *c, bool optional) {
  struct lockstep *s = c->system;
  const struct pack *p = &s->pack;
  struct round_variant v = {.demanded = demands_put(c), .optional = optional};
  uint64_t once = c->before.once;
  v.marks = c->now;
  if (c->point->phase_end && c->pending != NO_MARK)
    v.marks |= UINT64_C(1) << c->pending;
  for (uint32_t i = 0; i < p->nmarks; i++)
    if (p->marks[i]->kind == CLAUSE_ONCE)
      once |= v.marks & UINT64_C(1) << i;
  for (uint32_t i = 0; i < p->nmarks && c->finally; i++)
    if (p->marks[i]->kind == CLAUSE_FINALLY)
      v.marks |= UINT64_C(1) << i;
  v.marks |= once;
  v.obligation = obligation_after(c, once);
  if (v.demanded) {
    v.demands = s->rules.demands.at[v.demanded - 1].at;
    v.ndemands = s->rules.demands.at[v.demanded - 1].n;
  }
  if (c->out->n == c->out->cap)
    c->out->at = vec_grow(c->out->at, &c->out->cap, c->out->n + 1, sizeof *c->out->at);
  c->out->at[c->out->n++] = v;
}

/* --- choosing variants --- */

typedef void next_fn(struct variant_builder *, uint32_t mark);

static bool sees_round(const struct node *n) {
  return n->op == NODE_HO || n->op == NODE_SHO || n->op == NODE_ORACLE || n->op == NODE_CALL;
}

/* Conditions on the witness alone are decided at once. */
static bool witness_possible(struct variant_builder *c, const struct clause *clause, const value *bound) {
  struct lockstep *s = c->system;
  uint8_t *nobody = NULL;
  for (uint32_t i = 0; i < clause->nparts; i++) {
    bool round =
        !part_applies(s->model, &clause->parts[i], c->from->point) || node_has(clause->parts[i].pred, sees_round);
    if (!round && !part_holds(s->interp, clause, clause->parts[i].pred, bound, c->config, &nobody, NULL))
      return false;
  }
  return true;
}

/* Continues with every value of the mark's witness that begins with the given values. */
static void with_witnesses(struct variant_builder *c, uint32_t mark, const value *begins, uint32_t nbegins,
                           next_fn *next) {
  struct lockstep *s = c->system;
  const struct clause *clause = s->pack.marks[mark];
  uint32_t n;
  if (!c->config)
    c->config = global_to_config(&s->pack, c->from);
  value *found = clause_witnesses(s->interp, clause, c->config, &n);
  for (uint32_t i = 0; i < n; i++) {
    const value *bound = found + (size_t)i * clause->nwitness;
    if ((nbegins && memcmp(bound, begins, nbegins * sizeof *begins)) || !witness_possible(c, clause, bound))
      continue;
    c->bound[mark] = bound;
    next(c, mark);
  }
  c->bound[mark] = NULL;
  memory_free(found);
}

static bool names_this(const struct variant_builder *c, uint32_t mark) {
  const struct clause *clause = c->system->pack.marks[mark];
  return clause->name_id == NO_NAME || clause->name_id == c->point->name_id;
}

/* Must its witness be chosen before the rules can classify the clause? */
static bool is_opened(const struct variant_builder *c, uint32_t mark) {
  struct lockstep *s = c->system;
  uint32_t point = (uint32_t)(c->point - s->model->points), opened;
  if (!s->pack.marks[mark]->nwitness)
    return false;
  if (!memo_find(&s->rules.opened, mark, point, &opened)) {
    opened = !rules_known(s->interp, s->base.query->environment, point, global_rounds(s, c->from), s->pack.marks[mark]);
    memo_add(&s->rules.opened, mark, point, opened);
  }
  return opened;
}

/* In a phase of one round: do all parts of the clause apply to that round, so that it can be demanded as a whole? */
static bool is_whole(const struct variant_builder *c, uint32_t mark) {
  const struct model *m = c->system->model;
  const struct clause *clause = c->system->pack.marks[mark];
  bool whole = c->point->phase_start && c->point->phase_end;
  for (uint32_t i = 0; i < clause->nparts; i++)
    whole &= part_applies(m, &clause->parts[i], (uint32_t)(c->point - m->points));
  return whole && !is_opened(c, mark);
}

static void now_chosen(struct variant_builder *c, uint32_t mark) {
  c->asked[mark] = true;
  c->now = UINT64_C(1) << mark;
  variant_add(c, false);
  c->asked[mark] = false;
  c->now = 0;
}

static bool is_open(const struct variant_builder *c, uint32_t mark) {
  const struct clause *clause = c->system->pack.marks[mark];
  return clause->kind == CLAUSE_OFTEN || (clause->kind == CLAUSE_ONCE && !(c->before.once >> mark & 1));
}

/* All marks at once: not needed for soundness, but it shortens loops. */
static void choose_all(struct variant_builder *c, uint64_t marks) {
  if (!(marks & (marks - 1)))
    return;
  for (int demanded = 1; demanded >= 0; demanded--) {
    for (uint32_t i = 0; i < c->system->pack.nmarks; i++)
      if (marks >> i & 1)
        c->asked[i] = demanded;
    c->now = demanded ? marks : 0;
    if (demanded)
      variant_add(c, true);
  }
}

static void choose_round_marks(struct variant_builder *c) {
  const struct pack *p = &c->system->pack;
  uint64_t together = 0;
  variant_add(c, false);
  for (uint32_t i = 0; i < p->nmarks && c->pending == NO_MARK; i++) {
    if (!is_open(c, i) || is_of_phase(p, i) || !names_this(c, i))
      continue;
    c->parts[i] = is_opened(c, i);
    if (c->parts[i]) {
      with_witnesses(c, i, NULL, 0, now_chosen);
    } else {
      now_chosen(c, i);
      together |= UINT64_C(1) << i;
    }
    c->parts[i] = false;
  }
  choose_all(c, together);
}

static void pending_chosen(struct variant_builder *c, uint32_t mark) {
  c->pending = mark;
  c->asked[mark] = true;
  choose_round_marks(c);
  c->asked[mark] = false;
  c->pending = NO_MARK;
}

static void choose_pending(struct variant_builder *c) {
  const struct pack *p = &c->system->pack;
  if (c->before.pending != NO_MARK) {
    uint32_t m = c->before.pending;
    const value none = 0;
    c->bound[m] = p->marks[m]->nwitness ? bound_before(c, m) : &none;
    c->parts[m] = true;
    pending_chosen(c, m);
    c->parts[m] = false;
    c->bound[m] = NULL;
    return;
  }
  choose_round_marks(c);
  for (uint32_t i = 0; i < p->nmarks && c->point->phase_start; i++) {
    if (!is_open(c, i) || !is_of_phase(p, i))
      continue;
    c->parts[i] = !is_whole(c, i);
    if (c->parts[i])
      with_witnesses(c, i, NULL, 0, pending_chosen);
    else
      pending_chosen(c, i);
    c->parts[i] = false;
  }
}

static void choose_finally(struct variant_builder *c, uint32_t mark);

static void finally_chosen(struct variant_builder *c, uint32_t mark) { choose_finally(c, mark + 1); }

/* Demands all FINALLY clauses from this one on. */
static void choose_finally(struct variant_builder *c, uint32_t mark) {
  const struct pack *p = &c->system->pack;
  while (mark < p->nmarks && p->marks[mark]->kind != CLAUSE_FINALLY)
    mark++;
  if (mark == p->nmarks) {
    choose_pending(c);
    return;
  }
  const struct clause *clause = p->marks[mark];
  bool phase = is_of_phase(p, mark), carried = c->before.finally;
  const value *before = carried ? bound_before(c, mark) : NULL;
  c->parts[mark] = clause->nrigid || (phase ? !is_whole(c, mark) : names_this(c, mark) && is_opened(c, mark));
  c->asked[mark] = c->parts[mark] || phase || names_this(c, mark);
  if (carried && phase && !c->point->phase_start) {
    const value none = 0;
    c->bound[mark] = before ? before : &none;
    choose_finally(c, mark + 1);
  } else if (c->parts[mark]) {
    with_witnesses(c, mark, before, before ? clause->nrigid : 0, finally_chosen);
  } else {
    choose_finally(c, mark + 1);
  }
  c->bound[mark] = NULL;
  c->asked[mark] = c->parts[mark] = false;
}

void variants_of(struct lockstep *s, const struct unpacked_state *g, struct round_variants *out) {
  const struct pack *p = &s->pack;
  struct variant_builder c = {.system = s,
                              .from = g,
                              .point = &s->model->points[g->point],
                              .before = obligation_of(p, g->obligation),
                              .pending = NO_MARK,
                              .out = out};
  bool some = false, kept = stores_finally(p, false);
  for (uint32_t i = 0; i < p->nmarks; i++)
    some |= p->marks[i]->kind == CLAUSE_FINALLY;
  out->n = 0;
  if (!c.before.finally)
    choose_pending(&c);
  if (some && (!kept || c.before.finally || c.point->phase_start)) {
    c.finally = true;
    choose_finally(&c, 0);
  }
  if (c.config)
    config_free(c.config);
}
