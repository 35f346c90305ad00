#include "space/round_space.h"

#include "sem/marks.h"

#include <string.h>

/* --- hopes --- */

enum { HOPE_FINALLY = 1, HOPE_PHASE = 2, HOPE_UNDER_WAY = 8 /* how far up */, HOPE_VALUES = 2 };
#define NO_MARK UINT32_MAX

struct hope { /* unfolded */
  bool finally, phase;
  uint32_t under_way; /* or NO_MARK */
  uint64_t once;      /* marks that have come true */
};

static struct hope hope_of(const struct pack *p, uint32_t id) {
  struct hope h = {.under_way = NO_MARK};
  if (!id)
    return h;
  const value *v = intern_at(p->vectors, id);
  h.finally = v[0] & HOPE_FINALLY;
  h.phase = v[0] & HOPE_PHASE;
  if (v[0] >> HOPE_UNDER_WAY)
    h.under_way = (uint32_t)(v[0] >> HOPE_UNDER_WAY) - 1;
  h.once = (uint64_t)v[1];
  return h;
}

static bool is_of_phase(const struct pack *p, uint32_t mark) { return p->marks[mark]->unit == EACH_PHASE; }

/* How many values a hope has for this mark. */
static uint32_t values_kept(const struct pack *p, const struct hope *h, uint32_t mark) {
  const struct clause *c = p->marks[mark];
  if (c->kind == CLAUSE_FINALLY && h->finally)
    return h->phase && is_of_phase(p, mark) ? c->nwitness : c->nrigid;
  return mark == h->under_way ? c->nwitness : 0;
}

/* Calls for FINALLY marks in order, then for the one under way. */
static uint32_t mark_at(const struct pack *p, const struct hope *h, uint32_t i) {
  for (uint32_t m = 0; m < p->nmarks; m++)
    if (p->marks[m]->kind == CLAUSE_FINALLY && i-- == 0)
      return m;
  return i == 0 ? h->under_way : NO_MARK;
}

uint32_t hope_values(const struct pack *p, uint32_t id, const value **values, const struct type **types) {
  struct hope h = hope_of(p, id);
  uint32_t n = 0;
  for (uint32_t i = 0; id && i <= p->nmarks; i++) {
    uint32_t m = mark_at(p, &h, i);
    for (uint32_t k = 0; m != NO_MARK && k < values_kept(p, &h, m); k++, n++)
      if (types)
        types[n] = p->marks[m]->witness[k].type;
  }
  if (values)
    *values = id ? intern_at(p->vectors, id) + HOPE_VALUES : NULL;
  return n;
}

uint32_t hope_renamed(struct pack *p, uint32_t id, const struct renaming *renaming) {
  uint32_t n = hope_values(p, id, NULL, NULL);
  if (!n)
    return id;
  const struct type **types = memory_alloc(n * sizeof *types);
  value *v = memory_alloc((n + HOPE_VALUES) * sizeof *v);
  memcpy(v, intern_at(p->vectors, id), (n + HOPE_VALUES) * sizeof *v);
  hope_values(p, id, NULL, types);
  for (uint32_t i = 0; i < n; i++)
    v[HOPE_VALUES + i] = value_rename(&p->model->values, types[i], v[HOPE_VALUES + i], renaming);
  uint32_t renamed = intern_put(p->vectors, v, n + HOPE_VALUES);
  memory_free(types);
  memory_free(v);
  return renamed;
}

/* --- demands --- */

struct choosing { /* what is demanded of the round, mark by mark */
  struct round_space *space;
  const struct global *from;
  struct config *config; /* from, once a witness is chosen */
  const struct point *point;
  struct hope before;
  bool finally;
  uint32_t under_way; /* NO_MARK: none */
  uint64_t now;       /* marks that are to hold of this round */
  const value *bound[MARKS_MOST];
  bool asked[MARKS_MOST], parts[MARKS_MOST];
  struct variants *out;
};

static bool stores_finally(const struct pack *p, bool for_ever_only) {
  for (uint32_t i = 0; i < p->nmarks; i++)
    if (p->marks[i]->kind == CLAUSE_FINALLY &&
        (p->marks[i]->nrigid || (!for_ever_only && p->long_phases && is_of_phase(p, i))))
      return true;
  return false;
}

/* Where the values of a mark begin in the hope of the state; NULL: it has none. */
static const value *bound_before(const struct choosing *c, uint32_t mark) {
  const struct pack *p = &c->space->pack;
  const value *v;
  hope_values(p, c->from->hope, &v, NULL);
  for (uint32_t i = 0; v && i <= p->nmarks; i++) {
    uint32_t m = mark_at(p, &c->before, i);
    if (m == mark)
      return values_kept(p, &c->before, m) ? v : NULL;
    if (m != NO_MARK)
      v += values_kept(p, &c->before, m);
  }
  return NULL;
}

/* The demands as numbers, so that equal ones share their rules. */
static uint32_t demands_put(struct choosing *c) {
  struct round_space *s = c->space;
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
  if (memo_find(&s->demands_of, id, 0, &found))
    return found;
  struct demand *demands = arena_array(&s->arena, n, sizeof *demands);
  for (uint32_t i = 0, k = 0; i < s->pack.nmarks; i++)
    if (c->asked[i]) {
      const struct clause *clause = s->pack.marks[i];
      demands[k++] = (struct demand){clause, c->parts[i],
                                     c->parts[i] ? keep_array(&s->arena, c->bound[i], clause->nwitness, sizeof(value))
                                                 : NULL};
    }
  vec_push(&s->demands, ((struct demands){demands, n}));
  found = (uint32_t)s->demands.n; /* 0 is none */
  memo_add(&s->demands_of, id, 0, found);
  return found;
}

static uint32_t hope_after(struct choosing *c, uint64_t once) {
  struct pack *p = &c->space->pack;
  bool ends = c->point->phase_end;
  struct hope h = {.finally = c->finally && stores_finally(p, ends), .phase = !ends, .once = once,
                   .under_way = ends ? NO_MARK : c->under_way};
  h.phase &= h.finally || h.under_way != NO_MARK;
  if (!h.finally && h.under_way == NO_MARK && !h.once)
    return 0;
  VEC(value) v = {0};
  vec_push(&v, (h.finally ? HOPE_FINALLY : 0) | (h.phase ? HOPE_PHASE : 0) |
                   (value)(h.under_way + 1) << HOPE_UNDER_WAY);
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

static void variant_add(struct choosing *c, bool optional) {
  struct round_space *s = c->space;
  const struct pack *p = &s->pack;
  struct variant v = {.demanded = demands_put(c), .optional = optional};
  uint64_t once = c->before.once;
  v.marks = c->now;
  if (c->point->phase_end && c->under_way != NO_MARK)
    v.marks |= UINT64_C(1) << c->under_way;
  for (uint32_t i = 0; i < p->nmarks; i++)
    if (p->marks[i]->kind == CLAUSE_ONCE)
      once |= v.marks & UINT64_C(1) << i;
  for (uint32_t i = 0; i < p->nmarks && c->finally; i++)
    if (p->marks[i]->kind == CLAUSE_FINALLY)
      v.marks |= UINT64_C(1) << i;
  v.marks |= once;
  v.hope = hope_after(c, once);
  if (v.demanded) {
    v.demands = s->demands.at[v.demanded - 1].at;
    v.ndemands = s->demands.at[v.demanded - 1].n;
  }
  if (c->out->n == c->out->cap)
    c->out->at = vec_grown(c->out->at, &c->out->cap, c->out->n + 1, sizeof *c->out->at);
  c->out->at[c->out->n++] = v;
}

/* --- choosing --- */

typedef void next_fn(struct choosing *, uint32_t mark);

static bool sees_round(void *context, const struct node *n) {
  bool *found = context;
  *found |= n->op == NODE_HO || n->op == NODE_SHO || n->op == NODE_ORACLE || n->op == NODE_CALL;
  return !*found;
}

/* What is said of the witness alone can be decided at once. */
static bool plainly_possible(struct choosing *c, const struct clause *clause, const value *bound) {
  struct round_space *s = c->space;
  uint8_t *nobody = NULL;
  for (uint32_t i = 0; i < clause->nparts; i++) {
    bool round = !part_asked(s->model, &clause->parts[i], c->from->point);
    node_walk(clause->parts[i].pred, sees_round, &round);
    if (!round && !part_holds(s->meaning, clause, clause->parts[i].pred, bound, c->config, &nobody, NULL))
      return false;
  }
  return true;
}

/* Every value of the mark's witness (that begins as given), then on. */
static void with_witnesses(struct choosing *c, uint32_t mark, const value *begins, uint32_t nbegins, next_fn *next) {
  struct round_space *s = c->space;
  const struct clause *clause = s->pack.marks[mark];
  uint32_t n;
  if (!c->config)
    c->config = global_to_config(&s->pack, c->from);
  value *found = clause_witnesses(s->meaning, clause, c->config, &n);
  for (uint32_t i = 0; i < n; i++) {
    const value *bound = found + (size_t)i * clause->nwitness;
    if ((nbegins && memcmp(bound, begins, nbegins * sizeof *begins)) || !plainly_possible(c, clause, bound))
      continue;
    c->bound[mark] = bound;
    next(c, mark);
  }
  c->bound[mark] = NULL;
  memory_free(found);
}

static bool names_this(const struct choosing *c, uint32_t mark) {
  const struct clause *clause = c->space->pack.marks[mark];
  return clause->name_id == NO_NAME || clause->name_id == c->point->name_id;
}

/* Must its witness be chosen for the rules to know what it is about? */
static bool is_opened(const struct choosing *c, uint32_t mark) {
  struct round_space *s = c->space;
  uint32_t point = (uint32_t)(c->point - s->model->points), opened;
  if (!s->pack.marks[mark]->nwitness)
    return false;
  if (!memo_find(&s->opened, mark, point, &opened)) {
    opened = !rules_know(s->meaning, s->base.question->environment, point, global_rounds(s, c->from),
                         s->pack.marks[mark]);
    memo_add(&s->opened, mark, point, opened);
  }
  return opened;
}

/* In a phase of one round: is all that it says asked of that round, so that it can be taken as a whole? */
static bool is_whole(const struct choosing *c, uint32_t mark) {
  const struct model *m = c->space->model;
  const struct clause *clause = c->space->pack.marks[mark];
  bool whole = c->point->phase_start && c->point->phase_end;
  for (uint32_t i = 0; i < clause->nparts; i++)
    whole &= part_asked(m, &clause->parts[i], (uint32_t)(c->point - m->points));
  return whole && !is_opened(c, mark);
}

static void now_chosen(struct choosing *c, uint32_t mark) {
  c->asked[mark] = true;
  c->now = UINT64_C(1) << mark;
  variant_add(c, false);
  c->asked[mark] = false;
  c->now = 0;
}

static bool is_open(const struct choosing *c, uint32_t mark) {
  const struct clause *clause = c->space->pack.marks[mark];
  return clause->kind == CLAUSE_OFTEN || (clause->kind == CLAUSE_ONCE && !(c->before.once >> mark & 1));
}

/* All at once: not needed, but loops become shorter. */
static void choose_together(struct choosing *c, uint64_t marks) {
  if (!(marks & (marks - 1)))
    return;
  for (int demanded = 1; demanded >= 0; demanded--) {
    for (uint32_t i = 0; i < c->space->pack.nmarks; i++)
      if (marks >> i & 1)
        c->asked[i] = demanded;
    c->now = demanded ? marks : 0;
    if (demanded)
      variant_add(c, true);
  }
}

static void choose_now(struct choosing *c) {
  const struct pack *p = &c->space->pack;
  uint64_t together = 0;
  variant_add(c, false);
  for (uint32_t i = 0; i < p->nmarks && c->under_way == NO_MARK; i++) {
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
  choose_together(c, together);
}

static void under_way_chosen(struct choosing *c, uint32_t mark) {
  c->under_way = mark;
  c->asked[mark] = true;
  choose_now(c);
  c->asked[mark] = false;
  c->under_way = NO_MARK;
}

static void choose_under_way(struct choosing *c) {
  const struct pack *p = &c->space->pack;
  if (c->before.under_way != NO_MARK) {
    uint32_t m = c->before.under_way;
    const value none = 0;
    c->bound[m] = p->marks[m]->nwitness ? bound_before(c, m) : &none;
    c->parts[m] = true;
    under_way_chosen(c, m);
    c->parts[m] = false;
    c->bound[m] = NULL;
    return;
  }
  choose_now(c);
  for (uint32_t i = 0; i < p->nmarks && c->point->phase_start; i++) {
    if (!is_open(c, i) || !is_of_phase(p, i))
      continue;
    c->parts[i] = !is_whole(c, i);
    if (c->parts[i])
      with_witnesses(c, i, NULL, 0, under_way_chosen);
    else
      under_way_chosen(c, i);
    c->parts[i] = false;
  }
}

static void choose_finally(struct choosing *c, uint32_t mark);

static void finally_chosen(struct choosing *c, uint32_t mark) { choose_finally(c, mark + 1); }

/* All FINALLY clauses from this one on. */
static void choose_finally(struct choosing *c, uint32_t mark) {
  const struct pack *p = &c->space->pack;
  while (mark < p->nmarks && p->marks[mark]->kind != CLAUSE_FINALLY)
    mark++;
  if (mark == p->nmarks) {
    choose_under_way(c);
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

void variants_of(struct round_space *s, const struct global *g, struct variants *out) {
  const struct pack *p = &s->pack;
  struct choosing c = {.space = s, .from = g, .point = &s->model->points[g->point], .before = hope_of(p, g->hope),
                       .under_way = NO_MARK, .out = out};
  bool some = false, kept = stores_finally(p, false);
  for (uint32_t i = 0; i < p->nmarks; i++)
    some |= p->marks[i]->kind == CLAUSE_FINALLY;
  out->n = 0;
  if (!c.before.finally)
    choose_under_way(&c);
  if (some && (!kept || c.before.finally || c.point->phase_start)) {
    c.finally = true;
    choose_finally(&c, 0);
  }
  if (c.config)
    config_free(c.config);
}
