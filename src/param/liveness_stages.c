/* The stages of the product: which rounds a run that violates the property must have, in which order. */
#include "param/liveness.h"

#include "model/node.h"

#include <string.h>

struct stage_builder {
  struct liveness *l;
  struct model *m;
  const struct environment *env; /* the original */
  VEC(struct liveness_rules) rules;
  VEC(struct liveness_edge) edges;
  VEC(struct liveness_clause) ignored;
  VEC(const struct clause *) often, finally, once;
  VEC(uint32_t) often_at, finally_at, once_at; /* their ordinals */
};

bool liveness_runs_end(const struct model *m) {
  for (uint32_t p = 0; p < m->npoints; p++)
    if (m->points[p].next == POINT_END)
      return true;
  return false;
}

bool liveness_edge_applies(const struct model *m, const struct liveness_edge *e, uint32_t point) {
  const struct point *p = &m->points[point];
  return (e->name_id == NO_NAME || p->name_id == e->name_id) &&
         (e->phase_start < 0 || p->phase_start == (e->phase_start > 0)) &&
         (e->phase_end < 0 || p->phase_end == (e->phase_end > 0));
}

bool liveness_predicate_applies(const struct model *m, const struct liveness_predicate *p, uint32_t point) {
  return p->name_id == NO_NAME || m->points[point].name_id == p->name_id;
}

/* ---- clauses ---- */

static bool reads_corruption(const struct clause *c) { return node_has_op(c->pred, NODE_SHO); }

static const char *reason_to_ignore(const struct stage_builder *b, const struct clause *c) {
  if (c->each || c->nrigid)
    return "it speaks of single processes";
  if (reads_corruption(c))
    return "it speaks of corrupted messages";
  if (c->kind == CLAUSE_OFTEN && b->l->coins != COINS_FREE)
    return "coins are fixed in rounds that follow each other";
  if (c->kind == CLAUSE_ONCE && b->once.n)
    return "another one says that something happens once";
  if (c->kind == CLAUSE_ONCE && b->l->formula.kind == LIVENESS_LEADS_TO)
    return "it may be over before the property asks for anything";
  return NULL;
}

/* Sorts the clauses about runs. What is ignored makes the property harder to prove, and no proof wrong. A round that
   occurs at least once may occur before the trigger of LEADS_TO. */
static void sort_clauses(struct stage_builder *b, uint64_t ignored) {
  uint32_t ordinal = 0;
  const struct node *each = NULL;
  for (uint32_t i = 0; i < b->env->nclauses; i++) {
    const struct clause *c = &b->env->clauses[i];
    bool of_runs = c->kind == CLAUSE_OFTEN || c->kind == CLAUSE_FINALLY || c->kind == CLAUSE_ONCE;
    if (!of_runs || (c->each && c->each == each))
      continue;
    each = c->each;
    struct liveness_clause one = {ordinal++, c->at, reason_to_ignore(b, c)};
    if (!one.why && one.ordinal >= LIVENESS_CLAUSES_MAX)
      one.why = "there are too many";
    if (one.why || ignored >> one.ordinal & 1) {
      vec_push(&b->ignored, one);
    } else if (c->kind == CLAUSE_OFTEN) {
      vec_push(&b->often, c);
      vec_push(&b->often_at, one.ordinal);
    } else if (c->kind == CLAUSE_FINALLY) {
      vec_push(&b->finally, c);
      vec_push(&b->finally_at, one.ordinal);
    } else {
      vec_push(&b->once, c);
      vec_push(&b->once_at, one.ordinal);
    }
  }
}

/* ---- coins ---- */

static bool find_coin(void *context, const struct node *n) {
  const struct node **found = (const struct node **)context;
  if (n->op == NODE_RANDOM && !*found)
    *found = n;
  return !*found;
}

bool liveness_coin_values(struct model *m, uint32_t point, const char *values[COIN_VALUES_MAX]) {
  const struct node *coin = NULL;
  block_walk(&m->roles[0].body[point].update, find_coin, &coin);
  for (uint32_t i = 0; i < COIN_VALUES_MAX; i++)
    values[i] = NULL;
  for (uint32_t i = 0; coin && i < COIN_VALUES_MAX && i < coin->type->count; i++) {
    struct text t = {0};
    value_print(&m->values, m, coin->type, type_nth(&m->values, coin->type, i), &t);
    values[i] = arena_strndup(&m->arena, text_or_empty(&t), t.n);
    text_release(&t);
  }
  return coin != NULL;
}

/* ---- rules ---- */

typedef VEC(struct liveness_predicate) predicate_vec;

static struct node *conjunction(struct stage_builder *b, struct node *a, struct node *c) {
  if (!a)
    return c;
  struct node *n = node_make(&b->m->arena, NODE_AND, c->at, c->type, 2);
  n->kid[0] = a;
  n->kid[1] = c;
  return n;
}

/* The parts of a clause about phases in rounds of one name, or in all. A witness may be another one in each round,
   which is weaker. */
static struct node *parts_in(struct stage_builder *b, const struct clause *c, uint32_t name_id) {
  struct node *all = NULL;
  for (uint32_t i = 0; i < c->nparts; i++)
    if (c->parts[i].name_id == name_id)
      all = conjunction(b, all, c->parts[i].pred);
  if (!all || !c->nwitness)
    return all;
  struct node *n = node_make(&b->m->arena, NODE_EXISTS, c->pred->at, all->type, 1);
  n->gen = c->witness;
  n->ngen = c->nwitness;
  n->kid[0] = all;
  return n;
}

static void add_predicates(struct stage_builder *b, const struct clause *c, uint32_t ordinal, predicate_vec *out) {
  if (c->unit != EACH_PHASE) {
    vec_push(out, ((struct liveness_predicate){c->pred, c->name_id, ordinal, c}));
    return;
  }
  for (uint32_t i = 0; i < c->nparts; i++) {
    uint32_t name_id = c->parts[i].name_id;
    bool first = true;
    for (uint32_t k = 0; k < i; k++)
      first &= c->parts[k].name_id != name_id;
    if (first)
      vec_push(out, ((struct liveness_predicate){parts_in(b, c, name_id), name_id, ordinal, c}));
  }
}

/* Rounds that satisfy these clauses, and those that hold from some time on if `finally`. */
static uint32_t add_rules(struct stage_builder *b, bool finally, const struct clause *more, uint32_t ordinal) {
  predicate_vec all = {0};
  for (size_t i = 0; finally && i < b->finally.n; i++)
    add_predicates(b, b->finally.at[i], b->finally_at.at[i], &all);
  if (more)
    add_predicates(b, more, ordinal, &all);
  struct liveness_rules r = {.n = (uint32_t)all.n};
  r.predicates = arena_copy(&b->m->arena, all.at, all.n * sizeof *all.at);
  vec_release(&all);
  vec_push(&b->rules, r);
  return (uint32_t)b->rules.n - 1;
}

/* ---- edges ---- */

static void add_edge(struct stage_builder *b, uint32_t from, uint32_t to, uint32_t rules) {
  bool missed = b->l->formula.kind != LIVENESS_SETTLES;
  vec_push(&b->edges, ((struct liveness_edge){from, to, rules, NO_NAME, -1, -1, missed, false, 0, from != to}));
}

static struct liveness_edge *newest(struct stage_builder *b) { return &b->edges.at[b->edges.n - 1]; }

/* A round, or the rounds of a phase, that the clause is about. Returns the stage after it. */
static uint32_t add_event(struct stage_builder *b, uint32_t from, const struct clause *c, uint32_t rules) {
  if (c->unit != EACH_PHASE) {
    add_edge(b, from, from + 1, rules);
    newest(b)->name_id = c->name_id;
    return from + 1;
  }
  uint32_t in = from + 1, after = from + 2;
  for (int last = 0; last <= 1; last++) {
    add_edge(b, from, last ? after : in, rules);
    newest(b)->phase_start = 1;
    newest(b)->phase_end = last;
    add_edge(b, in, last ? after : in, rules);
    newest(b)->phase_start = 0;
    newest(b)->phase_end = last;
  }
  return after;
}

/* The edges that leave `of`, also from another stage. */
static void copy_edges(struct stage_builder *b, uint32_t from, uint32_t of, bool triggered, bool phase_start) {
  for (size_t i = 0, n = b->edges.n; i < n; i++) {
    struct liveness_edge e = b->edges.at[i];
    if (e.from != of || (phase_start && e.phase_start == 0))
      continue;
    e.from = from;
    e.triggered = triggered;
    if (phase_start)
      e.phase_start = 1;
    vec_push(&b->edges, e);
  }
}

static bool any_about_phases(const struct stage_builder *b) {
  for (size_t i = 0; i < b->finally.n; i++)
    if (b->finally.at[i]->unit == EACH_PHASE)
      return true;
  return false;
}

/* The newest edge, with coins: an edge for each value. */
static void add_coins(struct stage_builder *b) {
  enum liveness_coins coins = b->l->coins;
  if (coins == COINS_FREE)
    return;
  newest(b)->coin = coins == COINS_ECHO ? 1 : (uint32_t)(coins - COINS_FIRST) + 1;
  for (uint32_t i = 2; i <= COIN_VALUES_MAX && coins == COINS_ECHO; i++) {
    struct liveness_edge e = *newest(b);
    e.coin = i;
    vec_push(&b->edges, e);
  }
}

/* Coins are fixed for whole phases. */
static uint32_t rounds_of_phase(const struct model *m) {
  uint32_t n = 0;
  for (uint32_t p = 0; p < m->npoints; p++)
    n += m->points[p].endless;
  return n ? n : 1;
}

/* The stage in which nothing is required yet. */
static void add_before(struct stage_builder *b, uint32_t any) {
  uint32_t before = b->l->before;
  if (before == NO_STAGE)
    return;
  copy_edges(b, before, before + 1, true, false);
  add_edge(b, before, before, any);
  newest(b)->missed = false;
  newest(b)->exact = b->l->last == NO_STAGE;
}

/* Stages, in this order: nothing is required yet (LEADS_TO); a round that occurs at least once; the time from which
   some clauses always hold; each kind of round that occurs infinitely often, in turn, so many times. Without the latter
   every round counts. If every run ends, there is one stage. */
static void add_stages(struct stage_builder *b, uint32_t times) {
  struct liveness *l = b->l;
  bool often = b->often.n > 0, finally = b->finally.n > 0;
  uint32_t any = add_rules(b, false, NULL, 0), settled = finally ? add_rules(b, true, NULL, 0) : any;
  l->before = l->formula.kind == LIVENESS_LEADS_TO ? 0 : NO_STAGE;
  uint32_t stage = l->before == 0 ? 1 : 0, wait = NO_STAGE;
  l->start = 0;
  if (liveness_runs_end(b->m)) {
    l->last = NO_STAGE;
    l->nstages = stage + 1;
    add_edge(b, stage, stage, any);
    newest(b)->exact = true;
    add_before(b, any);
    return;
  }
  if (b->once.n) {
    uint32_t rules = add_rules(b, false, b->once.at[0], b->once_at.at[0]);
    add_edge(b, stage, stage, any);
    stage = add_event(b, stage, b->once.at[0], rules);
  }
  if (finally || l->coins != COINS_FREE)
    wait = stage++;
  uint32_t first = stage;
  uint32_t *rules = arena_array(&b->m->arena, b->often.n + 1, sizeof *rules);
  for (size_t i = 0; i < b->often.n; i++)
    rules[i] = add_rules(b, true, b->often.at[i], b->often_at.at[i]);
  uint32_t kinds = often ? (uint32_t)b->often.n : l->coins == COINS_FREE ? 1 : rounds_of_phase(b->m);
  for (uint32_t i = 0; i < times * kinds; i++, l->events++) {
    if (often) {
      size_t k = i % b->often.n;
      add_edge(b, stage, stage, settled);
      stage = add_event(b, stage, b->often.at[k], rules[k]);
    } else {
      add_edge(b, stage, stage + 1, settled);
      add_coins(b);
      stage++;
    }
  }
  l->last = stage;
  l->nstages = stage + 1;
  if (l->formula.kind == LIVENESS_SETTLES)
    add_edge(b, l->last, l->last, settled);
  if (wait != NO_STAGE) {
    add_edge(b, wait, wait, any);
    copy_edges(b, wait, first, false, any_about_phases(b) || l->coins != COINS_FREE);
  }
  add_before(b, any);
}

/* ---- the model ---- */

/* An environment for each kind of round, for the interpreter. */
static void add_environments(struct stage_builder *b) {
  struct model *m = b->m;
  uint32_t n = m->nenvironments;
  struct environment *all = arena_array(&m->arena, n + b->rules.n, sizeof *all), original = *b->env;
  memcpy(all, m->environments, n * sizeof *all);
  for (size_t i = 0; i < b->rules.n; i++) {
    struct liveness_rules *r = &b->rules.at[i];
    struct environment *e = &all[n + i];
    *e = original;
    e->clauses = arena_array(&m->arena, original.nclauses + (size_t)r->n + 1, sizeof *e->clauses);
    memcpy(e->clauses, original.clauses, original.nclauses * sizeof *e->clauses);
    for (uint32_t k = 0; k < r->n; k++)
      e->clauses[e->nclauses++] = (struct clause){.kind = CLAUSE_EVERY,
                                                  .at = r->predicates[k].of->at,
                                                  .pred = r->predicates[k].pred,
                                                  .name_id = r->predicates[k].name_id,
                                                  .role = ROLE_ANY,
                                                  .unit = EACH_ROUND};
    r->environment = n + (uint32_t)i;
  }
  m->environments = all;
  m->nenvironments = n + (uint32_t)b->rules.n;
}

static struct node *implication(struct model *m, struct node *a, struct node *c) {
  if (!a)
    return c;
  struct node *n = node_make(&m->arena, NODE_IMPLIES, c->at, c->type, 2);
  n->kid[0] = a;
  n->kid[1] = c;
  return n;
}

static struct node *falsehood(struct model *m, const struct property *p) {
  return node_make(&m->arena, NODE_CONST, p->formula->at, p->formula->type, 0);
}

bool liveness_prepare(struct liveness *l, struct model *m, const struct liveness_request *request) {
  struct property *p = &m->properties[request->property];
  *l = (struct liveness){.property = request->property, .environment = request->environment, .coins = request->coins};
  if (request->promise_only)
    l->formula = (struct liveness_formula){.kind = LIVENESS_EVENTUALLY, .goal = falsehood(m, p)};
  else
    liveness_formula_of(&l->formula, m, p, request->environment);
  if (l->formula.refused)
    return false;
  struct stage_builder b = {.l = l, .m = m, .env = &m->environments[request->environment]};
  sort_clauses(&b, request->ignored);
  add_stages(&b, request->times);
  add_environments(&b);
  p->kind = PROPERTY_SAFETY;
  p->almost_surely = false;
  p->formula = implication(m, l->formula.from, implication(m, l->formula.trigger, l->formula.goal));
  l->rules = arena_copy(&m->arena, b.rules.at, b.rules.n * sizeof *b.rules.at);
  l->edges = arena_copy(&m->arena, b.edges.at, b.edges.n * sizeof *b.edges.at);
  l->ignored = arena_copy(&m->arena, b.ignored.at, b.ignored.n * sizeof *b.ignored.at);
  l->nrules = (uint32_t)b.rules.n;
  l->nedges = (uint32_t)b.edges.n;
  l->nignored = (uint32_t)b.ignored.n;
  vec_release(&b.rules);
  vec_release(&b.edges);
  vec_release(&b.ignored);
  vec_release(&b.often);
  vec_release(&b.finally);
  vec_release(&b.once);
  vec_release(&b.often_at);
  vec_release(&b.finally_at);
  vec_release(&b.once_at);
  return true;
}
