/* Marks of rounds: the edges that the space makes by menus against the plain ones, mark by mark; and both against the
   judge of clauses about whole runs, along random runs of the reference and along paths made concrete. */
#include "interp/run_clauses.h"
#include "lockstep/lockstep.h"
#include "lockstep/lockstep_system.h"

#include "base/vec.h"

#include <stdio.h>
#include <stdlib.h>

#define LIVE_SYSTEM_TYPE struct lockstep
#include "live_system.h"
#include "short.h"

/* --- models put together from pieces --- */

static const char *const bodies[] = {
    /* one round, counting */
    "process P[n] { input x: 1..2  var d: 0..2 = 0\n"
    "  round { send x to all  update { if 2 * |received| > n { x := min(received)  d := x } } } }\n"
    "def dummy = 0\n",
    /* three rounds with names and a coordinator */
    "process P[n] { input x: 1..2  oracle c: P each phase  var v: 0..2 = 0\n"
    "  phase { round first { send x to c update { if me == c and |received| > 1 { v := min(received) } } }\n"
    "    round second { send v to all when me == c update { if exists w in from(c): w > 0 { x := w } } }\n"
    "    round third { send x to all update { v := if |received| == n then 1 else 0 } } } }\n"
    "def dummy = 1\n",
    /* crashes show, and what is heard by name */
    "process P[n] { var seen: set of P = {}  oracle s: set of P each round\n"
    "  phase { round first { send true to all update { seen := heard } }\n"
    "    round second { send true to all when me in seen update { seen := s } } } }\n"
    "def dummy = 2\n",
    /* free choice, nobody told apart */
    "process P[n] { input x: 1..2  phase { round first { send x to all update { x := pick(received) otherwise x } }\n"
    "    round second { update { } } } }\n"
    "def dummy = 3\n"};

static const char *const bases[] = {"every round: nosplit",
                                    "every round: forall p in P: 2 * |HO[p]| > n",
                                    "at most 1 processes crash; synchronous",
                                    "at most 1 messages are lost each round",
                                    "every round: kernel",
                                    "at most 1 processes crash; any messages are lost"};

static const char *const clauses[] = {
    "infinitely often: uniform",
    "infinitely often: exists S in subsets(P): 2 * |S| > n and forall p in P: HO[p] == S",
    "infinitely often: kernel",
    "infinitely often: forall p in P: 2 * |HO[p]| > n",
    "infinitely often: exists q in P: |HO[q]| == n",
    "infinitely often: exists q in P: |HO[q]| > 1 and forall p in P: q in HO[p]",
    "infinitely often: nosplit",
    "infinitely often: exists p in P: HO[p] == {}",
    "infinitely often: exists p, q in P: p != q and HO[p] == HO[q]",
    "infinitely often for each p in P: |HO[p]| == n",
    "infinitely often for each p in P: 2 * |HO[p]| > n or p not in HO[p]",
    "infinitely often for each p in P: exists q in P: q != p and q in HO[p]",
    "eventually for each p in P: HO[p] == {p}",
    "eventually always: forall p in P: p in HO[p]",
    "eventually always: exists q in P: forall p in P: q in HO[p]",
    "eventually always: nosplit",
    "eventually always for some q in P: forall p in P: q in HO[p]",
    "eventually: uniform",
    "eventually: forall p in P: |HO[p]| == n",
    "infinitely often phase: forall p in P: p in HO[p]",
    "infinitely often phase: exists q in P: forall p in P: q in HO[p]",
    "infinitely often phase: exists q in P: 2 * |HO[q]| > n and forall p in P: q in HO[p]",
    "eventually always phase: exists q in P: forall p in P: q in HO[p]",
    "eventually phase: exists q in P: |HO[q]| == n and forall p in P: q not in HO[p] or p == q"};
static const char *const named[] = {
    "infinitely often phase: exists q in P: |HO[q, first]| > 1 and forall p in P: q in HO[p, second]",
    "infinitely often: forall p in P: |HO[p, second]| == n", "eventually always: forall p in P: p in HO[p, first]"};
static const char *const coordinated[] = {
    "infinitely often phase: exists q in P: 2 * |HO[q, first]| > n and forall p in P: c[p] == q and q in HO[p, second]",
    "eventually always phase: forall p in P: c[p] in HO[p]", "infinitely often: forall p, q in P: c[p] == c[q]"};
static const char *const detectors[] = {
    "eventually always: perfect(s)", "eventually always for some q in P: trusts(s, q)", "infinitely often: waits(s)"};

#define ONE_OF(list) list[(uint32_t)rand() % (sizeof list / sizeof *list)]

/* Whom they speak of is followed: hidden inputs, or bits of a status. */
static const char *const properties[] = {
    "eventually true", "forall p in P: eventually p in correct and exists q in P: p != q",
    "forall p, q in P: eventually p == q", "exists p in P: always eventually p in correct"};

static void write_clause(char *out, size_t size, uint32_t body) {
  const char *c = ONE_OF(clauses);
  if (body > 0 && rand() % 3 == 0)
    c = ONE_OF(named);
  if (body == 1 && rand() % 3 == 0)
    c = ONE_OF(coordinated);
  if (body == 2 && rand() % 2 == 0)
    c = ONE_OF(detectors);
  snprintf(out, size, "%s", c);
}

static void write_model(char *out, size_t size) {
  uint32_t body = (uint32_t)rand() % (sizeof bodies / sizeof *bodies);
  char first[200], second[200];
  write_clause(first, sizeof first, body);
  write_clause(second, sizeof second, body);
  bool crowded = body == 1 || body == 2; /* all oracles are tried the plain way */
  snprintf(out, size, "algorithm M\nparam n = %d\n%s\nenvironment e { %s; %s; %s }\nlive l in e: %s\n",
           crowded || rand() % 3 ? 2 : 3, bodies[body], rand() % 2 ? ONE_OF(bases) : "any messages are lost", first,
           rand() % 2 ? second : first, ONE_OF(properties));
}

/* --- a space to look at --- */

static bool trial_init(struct live_system *t, const char *text, bool reduce) {
  bool otherwise = t->otherwise;
  live_system_read(t, text, NULL, 0);
  t->otherwise = otherwise;
  uint32_t environment = t->model->properties[t->property].environments[0];
  live_formula_init(&t->form, t->model, t->property, environment);
  if (t->otherwise)
    live_approximate_each(t->model, t->property, environment, rand() % 2 ? EACH_WEAKER : EACH_STRONGER);
  live_system_query(t, environment, SEMANTICS_COARSE);
  struct reduction_request w = live_system_reductions(reduce);
  if (reduce)
    w.reduce[REDUCE_SYMMETRY] = REQUEST_FORCED;
  struct licences *l = licences_grant(t->model, &t->query, &w, &t->arena);
  /* forced only where every permutation is harmless */
  for (uint32_t r = 0; reduce && r < t->model->nroles; r++)
    if (l->identity[r] == IDENTITY_NUMBERED || l->identity[r] == IDENTITY_RING) {
      w.reduce[REDUCE_SYMMETRY] = REQUEST_OFF;
      l = licences_grant(t->model, &t->query, &w, &t->arena);
      break;
    }
  struct system_options o = {.successors = SUCCESSORS_AUTO};
  t->space = (struct lockstep *)lockstep_new(t->interp, t->model, &t->query, l, &o);
  return true;
}

struct key {
  uint8_t bytes[120];
  uint32_t length;
};

struct found_edge {
  struct key to;
  uint64_t marks;
};

struct found {
  VEC(struct found_edge) edges;
};

static struct key key_of(const struct state *s) {
  struct key k = {.length = s->length};
  assert_true(s->length <= sizeof k.bytes);
  memcpy(k.bytes, s->bytes, s->length);
  return k;
}

static struct state state_of(const struct key *k) { return (struct state){k->bytes, k->length}; }

static bool same_key(const struct key *a, const struct key *b) {
  return a->length == b->length && !memcmp(a->bytes, b->bytes, a->length);
}

static bool collect(void *context, const struct state *s, const struct edge *e) {
  struct found *f = context;
  assert_null(e->error);
  struct found_edge one = {key_of(s), e->marks};
  for (size_t i = 0; i < f->edges.n; i++) /* only the largest sets of marks matter */
    if (same_key(&f->edges.at[i].to, &one.to) && (one.marks & ~f->edges.at[i].marks) == 0)
      return true;
  vec_push(&f->edges, one);
  return true;
}

static bool covers(const struct found *f, const struct found_edge *e) {
  for (size_t i = 0; i < f->edges.n; i++)
    if (same_key(&f->edges.at[i].to, &e->to) && (e->marks & ~f->edges.at[i].marks) == 0)
      return true;
  return false;
}

static void successors(struct live_system *t, const struct key *k, bool plain, struct found *f) {
  struct state s = state_of(k);
  t->space->form.plain = plain;
  vec_clear(&f->edges);
  t->space->base.ops->successors(&t->space->base, &s, collect, f);
  t->space->form.plain = false;
}

/* --- menus against the plain way --- */

static bool keep_initial(void *context, const struct state *s, const struct edge *e) { return collect(context, s, e); }

static void compare_ways(const char *text, struct live_system *t, uint32_t most) {
  struct found seen = {0}, fast = {0}, plain = {0};
  t->space->base.ops->initial(&t->space->base, keep_initial, &seen);
  for (size_t i = 0; i < seen.edges.n && i < most; i++) {
    struct key k = seen.edges.at[i].to;
    successors(t, &k, false, &fast);
    successors(t, &k, true, &plain);
    for (size_t j = 0; j < fast.edges.n; j++)
      if (!covers(&plain, &fast.edges.at[j]))
        fail_msg("%s\nstate %zu: an edge with marks %llx that the plain way does not have", text, i,
                 (unsigned long long)fast.edges.at[j].marks);
    for (size_t j = 0; j < plain.edges.n; j++)
      if (!covers(&fast, &plain.edges.at[j]))
        fail_msg("%s\nstate %zu: no edge with marks %llx, which the plain way has", text, i,
                 (unsigned long long)plain.edges.at[j].marks);
    for (size_t j = 0; j < fast.edges.n; j++) {
      struct found_edge one = {fast.edges.at[j].to, 0};
      if (!covers(&seen, &one))
        vec_push(&seen.edges, one);
    }
  }
  vec_release(&seen.edges);
  vec_release(&fast.edges);
  vec_release(&plain.edges);
}

/* --- random runs of the reference --- */

struct pick_one {
  struct live_system *t;
  struct witness *witness;
  struct config *next;
  uint32_t met;
};

static bool pick_step(void *context, const struct witness *w, enum step_result r, const struct config *next,
                      const struct model_error *e) {
  struct pick_one *p = context;
  (void)e;
  if (r != STEP_OK || (uint32_t)rand() % ++p->met)
    return true;
  if (p->witness) {
    witness_free(p->witness);
    config_free(p->next);
  }
  p->witness = witness_copy(p->t->model, w);
  p->next = config_copy(p->t->model, next);
  return true;
}

static bool pick_start(void *context, const struct config *c) {
  struct pick_one *p = context;
  if ((uint32_t)rand() % ++p->met)
    return true;
  if (p->next)
    config_free(p->next);
  p->next = config_copy(p->t->model, c);
  return true;
}

/* The configuration as the space sees it, hopes aside. */
static struct key packed(struct live_system *t, const struct config *c) {
  struct lockstep *s = t->space;
  struct unpacked_state *g = global_new(&s->pack);
  struct state state;
  global_from_config(&s->pack, c, g);
  for (uint32_t i = 0; i < g->n; i++)
    g->at[i].local =
        c->rounds ? local_drop_dead(&s->pack, g->at[i].local, g->point) : local_at_start(&s->pack, g->at[i].local);
  global_canonical(&s->pack, g, NULL);
  global_encode(&s->pack, g, &s->buffer, &s->buffer_capacity, &state);
  struct key k = key_of(&state);
  global_free(g);
  return k;
}

static uint32_t clause_number(const struct live_system *t, uint32_t mark) {
  const struct environment *env = &t->model->environments[t->query.environment];
  uint32_t i = 0;
  for (;; i++)
    if (clause_is_of_runs(&env->clauses[i]) && mark-- == 0)
      return i;
}

/* Which marks the reference sees at the end of a round, or of a phase. Clauses for ever are looked at elsewhere. */
static uint64_t judged(struct live_system *t, const struct config *const *configs, const struct witness *const *steps,
                       uint32_t n) {
  const struct model *m = t->model;
  const struct config *now = configs[n - 1];
  uint64_t marks = 0;
  for (uint32_t i = 0; i < t->space->pack.nmarks; i++) {
    const struct clause *c = t->space->pack.marks[i];
    uint32_t k = clause_number(t, i), first = n - 1;
    bool ok;
    if (c->unit != EACH_PHASE) {
      ok = clause_holds(t->interp, t->query.environment, k, now, steps[n - 1]);
    } else if (!m->points[now->point].phase_end) {
      ok = c->kind == CLAUSE_FINALLY;
    } else {
      while (!m->points[configs[first]->point].phase_start)
        first--;
      ok = clause_holds_in_phase(t->interp, t->query.environment, k, configs + first, steps + first, n - first);
    }
    marks |= (uint64_t)ok << i;
  }
  return marks;
}

/* The space's states whose obligation may be anything, that a run can be in. */
struct front {
  VEC(struct found_edge) at;
};

static struct key without_hope(struct live_system *t, const struct key *k) {
  struct lockstep *s = t->space;
  struct unpacked_state *g = global_new(&s->pack);
  struct state state = state_of(k);
  global_decode(&s->pack, &state, g);
  struct config *c = global_to_config(&s->pack, g);
  c->rounds = g->rounds ? g->rounds : 1; /* not initial: blanks are where they were */
  g->obligation = 0;
  global_canonical(&s->pack, g, NULL);
  global_encode(&s->pack, g, &s->buffer, &s->buffer_capacity, &state);
  struct key bare = key_of(&state);
  config_free(c);
  global_free(g);
  return bare;
}

static void compare_atoms(const char *text, struct live_system *t, const struct config *c) {
  struct key k = packed(t, c);
  struct state s = state_of(&k);
  for (uint32_t i = 0; i < t->query.natoms; i++) {
    struct model_error error;
    if (t->space->base.ops->atom(&t->space->base, i, &s, &error) !=
        config_holds(t->interp, t->form.atoms[i], c, NULL, &error))
      fail_msg("%s\natom %u is something else to the space", text, i);
  }
}

static void follow_run(const char *text, struct live_system *t, uint32_t rounds) {
  struct pick_one p = {.t = t};
  config_initials(t->interp, t->query.environment, pick_start, &p, &(struct model_error){0});
  if (!p.next)
    return;
  const struct config *configs[16];
  const struct witness *steps[16];
  struct front now = {0}, later = {0};
  configs[0] = p.next;
  vec_push(&now.at, ((struct found_edge){packed(t, configs[0]), 0}));
  uint32_t n = 0;
  for (; n < rounds && configs[n]->point != POINT_END; n++) {
    struct pick_one q = {.t = t};
    config_successors(t->interp, t->query.environment, configs[n], pick_step, &q);
    if (!q.witness)
      break;
    steps[n] = q.witness;
    configs[n + 1] = q.next;
    uint64_t marks = judged(t, configs, steps, n + 1), reached = 0, finally = 0;
    bool all_finally = false;
    struct key target = packed(t, configs[n + 1]);
    compare_atoms(text, t, configs[n + 1]);
    vec_clear(&later.at);
    for (size_t i = 0; i < now.at.n; i++) {
      struct found f = {0};
      successors(t, &now.at.at[i].to, false, &f);
      for (size_t j = 0; j < f.edges.n; j++) {
        struct key bare = without_hope(t, &f.edges.at[j].to);
        if (!same_key(&bare, &target))
          continue;
        reached |= f.edges.at[j].marks;
        vec_push(&later.at, f.edges.at[j]);
      }
      vec_release(&f.edges);
    }
    if (!later.at.n)
      fail_msg("%s\nround %u: the space does not follow the reference", text, n + 1);
    uint64_t expected = 0;
    for (uint32_t i = 0; i < t->space->pack.nmarks; i++) {
      if (t->space->pack.marks[i]->kind == CLAUSE_FINALLY)
        finally |= UINT64_C(1) << i;
      else if (marks >> i & 1)
        expected |= UINT64_C(1) << i;
    }
    all_finally = finally && (marks & finally) == finally && t->model->points[configs[n]->point].phase_start &&
                  t->model->points[configs[n]->point].phase_end;
    if (all_finally)
      expected |= finally;
    if (expected & ~reached)
      fail_msg("%s\nround %u: the reference has marks %llx, the space %llx", text, n + 1, (unsigned long long)expected,
               (unsigned long long)reached);
    VEC(struct found_edge) swap = {now.at.at, now.at.n, now.at.cap};
    now.at.at = later.at.at;
    now.at.n = later.at.n < 200 ? later.at.n : 200;
    now.at.cap = later.at.cap;
    later.at.at = swap.at;
    later.at.n = swap.n;
    later.at.cap = swap.cap;
  }
  for (uint32_t i = 0; i <= n; i++)
    config_free((struct config *)(uintptr_t)configs[i]);
  for (uint32_t i = 0; i < n; i++)
    witness_free((struct witness *)(uintptr_t)steps[i]);
  vec_release(&now.at);
  vec_release(&later.at);
}

/* --- paths made concrete --- */

static void make_concrete(const char *text, struct live_system *t, uint32_t rounds) {
  struct found f = {0};
  struct key path[16];
  struct state states[16];
  struct step_requirement wish[16];
  uint32_t n = 1;
  t->space->base.ops->initial(&t->space->base, keep_initial, &f);
  path[0] = f.edges.at[(uint32_t)rand() % f.edges.n].to;
  for (; n <= rounds; n++) {
    successors(t, &path[n - 1], false, &f);
    if (!f.edges.n)
      break;
    const struct found_edge *e = &f.edges.at[(uint32_t)rand() % f.edges.n];
    path[n] = e->to;
    wish[n - 1] = (struct step_requirement){e->marks, NO_GROUP};
  }
  for (uint32_t i = 0; i < n; i++)
    states[i] = state_of(&path[i]);
  struct run run;
  if (!t->space->base.ops->liveness.concretise_path(&t->space->base, states, n, wish, &run))
    fail_msg("%s\na path of %u states cannot be made concrete", text, n);
  static const volatile sig_atomic_t now = 1;
  struct run none = {0};
  interpreter_watch(t->interp, &now);
  assert_int_equal(t->space->base.ops->liveness.concretise_path(&t->space->base, states, n, wish, &none), n == 1);
  interpreter_watch(t->interp, NULL);
  if (n == 1)
    run_release(&none);
  const struct config *configs[16];
  const struct witness *steps[16];
  configs[0] = config_copy(t->model, run.initial);
  for (uint32_t i = 0; i < run.nsteps; i++) {
    struct config *next = config_new(t->model);
    struct model_error error;
    const char *why;
    steps[i] = run.steps[i];
    assert_true(config_allows(t->interp, t->query.environment, configs[i], steps[i], &why));
    assert_int_equal(config_step(t->interp, t->query.environment, configs[i], steps[i], next, NULL, &error), STEP_OK);
    configs[i + 1] = next;
    uint64_t often = 0, marks = judged(t, configs, steps, i + 1);
    for (uint32_t k = 0; k < t->space->pack.nmarks; k++)
      if (t->space->pack.marks[k]->kind != CLAUSE_ONCE)
        often |= UINT64_C(1) << k;
    if (wish[i].marks & often & ~marks)
      fail_msg("%s\nround %u: the space promised marks %llx, the reference has %llx", text, i + 1,
               (unsigned long long)wish[i].marks, (unsigned long long)marks);
  }
  for (uint32_t i = 0; i <= run.nsteps; i++)
    config_free((struct config *)(uintptr_t)configs[i]);
  run_release(&run);
  vec_release(&f.edges);
}

static void test_random_models(void **state) {
  (void)state;
  const char *seed = getenv("SEED"), *count = getenv("COUNT");
  uint32_t from = seed ? (uint32_t)atoi(seed) : 1, n = count ? (uint32_t)atoi(count) : trials(24);
  for (uint32_t i = from; i < from + n; i++) {
    char text[2000];
    srand(i);
    write_model(text, sizeof text);
    if (getenv("SHOW"))
      print_message("--- %u\n%s", i, text);
    for (int reduce = 0; reduce < 2; reduce++) {
      struct live_system t = {.otherwise = rand() % 3};
      trial_init(&t, text, reduce);
      compare_ways(text, &t, 12);
      for (int k = 0; k < 3; k++) {
        follow_run(text, &t, 6);
        make_concrete(text, &t, 9);
      }
      live_system_release(&t);
    }
  }
}

/* --- probabilistic_choices --- */

static const char *const tossing[] = {
    "if |received| < n { x := random(1..2) }", "if exists m in received { x := m } else { x := random(Value) }",
    "if exists m in received: m == 1 { x := random(1..2) } else if |received| > 1 { x := random(received) }",
    "let a = pick(received) otherwise 1  if a == x { x := random(Value) } else { x := a }",
    "x := random(Value)  if |received| == 1 { x := random(1..2) }"};

struct result { /* of a adversary_choice */
  uint32_t adversary_choice;
  struct found_edge edge;
};
struct results {
  VEC(struct result) at;
};

static bool collect_result(void *context, const struct state *s, const struct edge *e) {
  struct results *r = context;
  vec_push(&r->at, ((struct result){e->adversary_choice, {key_of(s), e->marks}}));
  return true;
}

static bool in_lottery(const struct results *r, uint32_t adversary_choice, const struct found_edge *e) {
  for (size_t i = 0; i < r->at.n; i++)
    if (r->at.at[i].adversary_choice == adversary_choice && r->at.at[i].edge.marks == e->marks &&
        same_key(&r->at.at[i].edge.to, &e->to))
      return true;
  return false;
}

static bool within_lottery(const struct results *a, uint32_t x, const struct results *b, uint32_t y) {
  for (size_t i = 0; i < a->at.n; i++)
    if (a->at.at[i].adversary_choice == x && !in_lottery(b, y, &a->at.at[i].edge))
      return false;
  return true;
}

/* For each adversary_choice of a: b has one with the same results. */
static bool has_all(const struct results *a, const struct results *b) {
  for (size_t i = 0; i < a->at.n; i++) {
    bool found = false;
    for (size_t k = 0; k < b->at.n && !found; k++)
      found = within_lottery(a, a->at.at[i].adversary_choice, b, b->at.at[k].adversary_choice) &&
              within_lottery(b, b->at.at[k].adversary_choice, a, a->at.at[i].adversary_choice);
    if (!found)
      return false;
  }
  return true;
}

static void compare_lotteries(const char *text, struct live_system *t, uint32_t most) {
  struct found seen = {0}, next = {0};
  t->space->base.ops->initial(&t->space->base, keep_initial, &seen);
  for (size_t i = 0; i < seen.edges.n && i < most; i++) {
    struct results fast = {0}, plain = {0};
    struct state s = state_of(&seen.edges.at[i].to);
    t->space->base.ops->successors(&t->space->base, &s, collect_result, &fast);
    t->space->form.plain = true;
    t->space->base.ops->successors(&t->space->base, &s, collect_result, &plain);
    t->space->form.plain = false;
    assert_null(t->space->base.coins_lost);
    if (!has_all(&fast, &plain) || !has_all(&plain, &fast))
      fail_msg("%s\nstate %zu: lotteries differ", text, i);
    for (size_t k = 0; k < fast.at.n; k++)
      collect(&next, &(struct state){fast.at.at[k].edge.to.bytes, fast.at.at[k].edge.to.length}, &(struct edge){0});
    for (size_t k = 0; k < next.edges.n; k++)
      if (!covers(&seen, &next.edges.at[k]))
        vec_push(&seen.edges, next.edges.at[k]);
    vec_clear(&next.edges);
    vec_release(&fast.at);
    vec_release(&plain.at);
  }
  vec_release(&seen.edges);
  vec_release(&next.edges);
}

static void test_lotteries(void **state) {
  (void)state;
  static const char *const environments[] = {"every round: forall p in P: |HO[p]| >= 1", "synchronous",
                                             "any messages are lost; infinitely often: uniform",
                                             "at most 1 processes crash; synchronous"};
  for (size_t b = 0; b < sizeof tossing / sizeof *tossing; b++)
    for (size_t e = 0; e < sizeof environments / sizeof *environments; e++)
      for (int reduce = 0; reduce < 2; reduce++) {
        char text[1000];
        struct live_system t = {0};
        snprintf(text, sizeof text,
                 "algorithm M\nparam n = 2\ntype Value = 1..2\n"
                 "process P[n] { input x: Value  round { send x to all update { %s } } }\n"
                 "environment e { %s }\nlive almost surely l in e: eventually true\n",
                 tossing[b], environments[e]);
        trial_init(&t, text, reduce);
        compare_lotteries(text, &t, 8);
        live_system_release(&t);
      }
}

/* An adversary that chooses after a coin is tossed knows how it fell: so it can have any function of that. */
static void test_choosing_after_a_coin(void **state) {
  (void)state;
  struct live_system t = {0};
  trial_init(&t,
             "algorithm M\nprocess P[1] { var x: 0..4 = 0  round { update { if x == 0 {\n"
             "  let a = random(0..1)  x := pick(2 * a + b for b in 1..2) } } } }\n"
             "environment e { synchronous }\nlive almost surely l in e: eventually true\n",
             false);
  struct found seen = {0};
  struct results r = {0};
  t.space->base.ops->initial(&t.space->base, keep_initial, &seen);
  struct state s = state_of(&seen.edges.at[0].to);
  t.space->base.ops->successors(&t.space->base, &s, collect_result, &r);
  assert_int_equal(r.at.n, 8); /* {1, 3} {1, 4} {2, 3} {2, 4} */
  assert_null(t.space->base.coins_lost);
  vec_release(&seen.edges);
  vec_release(&r.at);
  live_system_release(&t);
}

/* --- the judge, on runs written by hand --- */

struct judged_run { /* two processes, phases of the rounds `a` and `b` */
  const char *clause;
  const char *heard; /* by round: does P(1) hear P(1), P(2); P(2) hear P(1), P(2)? */
  uint32_t loop;
  bool holds;
};

static const struct judged_run judged_runs[] = {
    {"infinitely often: uniform", "1010 1001", 0, true},
    {"infinitely often: uniform", "1010 1001 1001 1001", 2, false},
    {"eventually: uniform", "1010 1001 1001 1001", 2, true},
    {"eventually: uniform", "0110 1001 1001 1001", 2, false},
    {"eventually always: uniform", "0110 1001 1010 0101", 2, true},
    {"eventually always: uniform", "1010 0101 1010 1001", 2, false},
    /* the same one for ever, or any one each time */
    {"eventually always: exists q in P: forall p in P: q in HO[p]", "1010 0101", 0, true},
    {"eventually always for some q in P: forall p in P: q in HO[p]", "1010 0101", 0, false},
    {"eventually always for some q in P: forall p in P: q in HO[p]", "1010 1110", 0, true},
    /* all of one round, or each in a round of its own */
    {"infinitely often: forall p in P: |HO[p]| == 2", "1100 0011", 0, false},
    {"infinitely often for each p in P: |HO[p]| == 2", "1100 0011", 0, true},
    {"infinitely often for each p in P: |HO[p]| == 2", "1100 1100", 0, false},
    /* rounds by name: what is said of others says nothing */
    {"infinitely often: forall p in P: p in HO[p, a]", "1001 0110", 0, true},
    {"infinitely often: forall p in P: p in HO[p, b]", "1001 0110", 0, false},
    {"eventually always: forall p in P: p in HO[p, a]", "1001 0110", 0, true},
    {"eventually always: forall p in P: p in HO[p, b]", "1001 0110", 0, false},
    /* one witness for the whole phase */
    {"infinitely often: exists q in P: forall p in P: q in HO[p]", "1010 0101", 0, true},
    {"infinitely often phase: exists q in P: forall p in P: q in HO[p]", "1010 0101", 0, false},
    {"infinitely often phase: exists q in P: forall p in P: q in HO[p]", "1010 0101 0101 1101", 0, true},
    {"infinitely often phase: exists q in P: |HO[q, a]| == 2 and forall p in P: q in HO[p, b]", "1100 1010", 0, true},
    {"infinitely often phase: exists q in P: |HO[q, a]| == 2 and forall p in P: q in HO[p, b]", "1100 0101", 0, false},
    {"eventually always phase: exists q in P: forall p in P: q in HO[p]", "1010 1010 0101 0101", 0, true},
    {"eventually always phase: exists q in P: forall p in P: q in HO[p]", "1010 1010 0101 1010", 0, false},
    {"eventually phase: exists q in P: forall p in P: q in HO[p]", "1010 1010 0000 0000", 2, true},
    /* the loop begins in the middle of a phase, which began at the loop's end; that of the stem comes but once */
    {"infinitely often phase: forall p in P: p in HO[p]", "1001 1001 0000", 1, false},
    {"infinitely often phase: forall p in P: p in HO[p]", "0000 1001 1001", 1, true},
    {"eventually phase: forall p in P: p in HO[p]", "1001 1001 0000", 1, true}};

static bool judge(const struct judged_run *r) {
  char text[600];
  struct live_system t = {0};
  snprintf(text, sizeof text,
           "algorithm M\nprocess P[2] { phase { round a { send true to all } round b { send true to all } } }\n"
           "environment e { %s }\nlive l in e: eventually true\n",
           r->clause);
  trial_init(&t, text, false);
  const struct config *configs[8];
  const struct witness *steps[8];
  uint32_t n = 0;
  struct pick_one p = {.t = &t};
  config_initials(t.interp, t.query.environment, pick_start, &p, &(struct model_error){0});
  configs[0] = p.next;
  for (const char *at = r->heard; *at; at += at[4] ? 5 : 4, n++) {
    struct witness *w = witness_new(t.model);
    struct config *next = config_new(t.model);
    struct model_error error;
    for (int i = 0; i < 4; i++)
      w->heard[i / 2][i % 2] = at[i] == '1';
    assert_int_equal(config_step(t.interp, t.query.environment, configs[n], w, next, NULL, &error), STEP_OK);
    steps[n] = w;
    configs[n + 1] = next;
  }
  assert_int_equal(configs[n]->point, configs[r->loop]->point);
  const struct environment *env = &t.model->environments[t.query.environment];
  bool holds = true; /* `for each` makes several */
  for (uint32_t i = 0; i < env->nclauses; i++)
    holds &= clause_holds_of_run(t.interp, t.query.environment, i, configs, steps, n, r->loop);
  for (uint32_t i = 0; i <= n; i++)
    config_free((struct config *)(uintptr_t)configs[i]);
  for (uint32_t i = 0; i < n; i++)
    witness_free((struct witness *)(uintptr_t)steps[i]);
  live_system_release(&t);
  return holds;
}

static void test_judge(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof judged_runs / sizeof *judged_runs; i++)
    if (judge(&judged_runs[i]) != judged_runs[i].holds)
      fail_msg("%s on %s, loop %u: expected %s", judged_runs[i].clause, judged_runs[i].heard, judged_runs[i].loop,
               judged_runs[i].holds ? "true" : "false");
}

/* --- many phases: steps that read their number are remembered by it, however large it is --- */

static bool compare_phases(void *context, const struct state *state, const struct edge *edge) {
  struct lockstep *s = context;
  struct unpacked_state *g = global_new(&s->pack);
  (void)edge;
  global_decode(&s->pack, state, g);
  for (value phase = 1; phase < 4; phase++)
    for (value later = phase + 65536; later <= phase + (INT64_C(1) << 40); later += (INT64_C(1) << 40) - 65536)
      assert_int_not_equal(projection_of(s, g->at[0].local, 0, 0, phase, g->globals),
                           projection_of(s, g->at[0].local, 0, 0, later, g->globals));
  global_free(g);
  return true;
}

static void test_many_phases(void **state) {
  struct live_system t = {0};
  (void)state;
  trial_init(&t,
             "algorithm M\ninput x: 0..1\nprocess P[1] { var late: bool = false\n"
             "phase ph { round { update { if ph == 9 and x == 0 { late := true } } } } }\n"
             "environment e { any messages are lost }\nlive l in e: eventually forall p in P: p.late\n",
             false);
  assert_true(t.space->base.ops->initial(&t.space->base, compare_phases, t.space));
  live_system_release(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_models), cmocka_unit_test(test_lotteries),
                                     cmocka_unit_test(test_many_phases), cmocka_unit_test(test_judge),
                                     cmocka_unit_test(test_choosing_after_a_coin)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
