/* The engine for runs, on small random graphs that play the part of a space: against trying every set of states that a
   run could come back to again and again, or in which an adversary could keep it, whatever coins show. */
#include "base/memory.h"
#include "search/liveness_search.h"
#include "short.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define STATES 4
#define EDGES_MOST 24
#define MARKS 2
#define GROUPS 3
#define ATOMS 2
#define NODES_MOST (STATES * 3)

static uint64_t seed = 7;
static uint32_t chance(uint32_t n) { /* 0 .. n - 1 */
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(seed >> 33) % n;
}

struct fake_edge {
  uint32_t from, to, group, adversary_choice;
  uint64_t marks;
  bool optional;
};

struct fake {
  struct system base;
  struct model model;
  struct query query;
  struct property property;
  uint32_t n, initials, nedges;
  uint64_t letter[STATES];
  struct fake_edge edges[EDGES_MOST];
  uint32_t possible[STATES]; /* groups, a bit each */
  uint32_t restart_at;       /* state whose expansion makes keys longer, once */
  uint32_t shift;            /* keys */
};

static struct fake *fake_of(struct system *s) { return (struct fake *)s; }

static bool send(struct fake *f, uint32_t state, const struct edge *edge, emit_fn *emit, void *context) {
  uint8_t key[16] = {(uint8_t)(state + f->shift)};
  return emit(context, &(struct state){key, 1}, edge);
}

static bool fake_initial(struct system *s, emit_fn *emit, void *context) {
  struct fake *f = fake_of(s);
  for (uint32_t i = 0; i < f->initials; i++)
    if (!send(f, i, &(struct edge){.group = NO_GROUP}, emit, context))
      return false;
  return true;
}

static bool fake_successors(struct system *s, const struct state *state, emit_fn *emit, void *context) {
  struct fake *f = fake_of(s);
  uint32_t from = state->bytes[0] - f->shift;
  if (from == f->restart_at) {
    f->restart_at = UINT32_MAX;
    f->shift = 100;
    s->restart = true;
    return false;
  }
  for (uint32_t i = 0; i < f->nedges; i++)
    if (f->edges[i].from == from && !send(f, f->edges[i].to,
                                          &(struct edge){.group = f->edges[i].group,
                                                         .marks = f->edges[i].marks,
                                                         .optional = f->edges[i].optional,
                                                         .adversary_choice = f->edges[i].adversary_choice},
                                          emit, context))
      return false;
  return true;
}

static enum verdict3 fake_atom(struct system *s, uint32_t i, const struct state *state, struct model_error *error) {
  struct fake *f = fake_of(s);
  (void)error;
  return f->letter[state->bytes[0] - f->shift] >> i & 1 ? V_TRUE : V_FALSE;
}

static void fake_enabled(struct system *s, const struct state *state, group_fn *tell, void *context) {
  struct fake *f = fake_of(s);
  for (uint32_t g = 0; g < GROUPS; g++)
    if (f->possible[state->bytes[0] - f->shift] >> g & 1)
      tell(context, g);
}

static size_t fake_memory(const struct system *s) {
  (void)s;
  return 0;
}

static const struct system_ops fake_ops = {.initial = fake_initial,
                                           .successors = fake_successors,
                                           .atom = fake_atom,
                                           .liveness.enabled = fake_enabled,
                                           .memory = fake_memory};

static void fake_make(struct fake *f) {
  static const uint32_t property = 0;
  *f = (struct fake){.base = {.ops = &fake_ops}, .restart_at = UINT32_MAX};
  f->model.kind = MODEL_SHARED;
  f->model.properties = &f->property;
  f->model.nproperties = 1;
  f->property.kind = PROPERTY_LIVE;
  f->query = (struct query){.properties = &property, .nproperties = 1, .natoms = ATOMS};
  f->base.model = &f->model;
  f->base.query = &f->query;
  f->base.probabilistic = chance(4);
  f->n = 1 + chance(STATES);
  f->initials = 1 + chance(f->n > 2 ? 2 : 1);
  for (uint32_t i = 0; i < f->n; i++)
    f->letter[i] = chance(1 << ATOMS);
  uint32_t edges = chance(3 * f->n);
  for (uint32_t i = 0; i < edges; i++) {
    struct fake_edge e = {chance(f->n), chance(f->n),       chance(3) ? chance(GROUPS) : NO_GROUP,
                          chance(3),    chance(1 << MARKS), !chance(6)};
    f->edges[f->nedges++] = e;
    if (e.group != NO_GROUP) /* what is taken was possible */
      f->possible[e.from] |= 1u << e.group;
  }
  for (uint32_t i = 0; i < f->n && chance(2); i++) /* also what only leads elsewhere under that name */
    f->possible[i] |= chance(4) ? 0 : 1u << chance(GROUPS);
  if (!chance(5))
    f->restart_at = chance(f->n);
  if (chance(2))
    return;
  f->model.kind = MODEL_ROUNDS; /* they go on as long as there are any */
  f->restart_at = UINT32_MAX;
  for (uint32_t i = 0; i < f->nedges; i++)
    f->edges[i].optional = false;
}

static struct automaton *random_automaton(void) {
  struct automaton *a = memory_alloc(sizeof *a);
  a->nstates = 1 + chance(3);
  a->nsets = chance(3);
  a->first = memory_alloc((a->nstates + 1) * sizeof *a->first);
  a->transitions = memory_alloc(12 * sizeof *a->transitions);
  uint32_t n = 0;
  for (uint32_t q = 0; q < a->nstates; q++) {
    a->first[q] = n;
    for (uint32_t k = 1 + chance(3); k > 0; k--) {
      uint64_t when = chance(1 << ATOMS), unless = chance(1 << ATOMS) & ~when;
      a->transitions[n++] = (struct automaton_transition){chance(2) ? when : 0, chance(2) ? unless : 0,
                                                          chance(4) & automaton_sets(a), chance(a->nstates)};
    }
  }
  a->first[a->nstates] = n;
  return a;
}

/* --- the naive way --- */

struct naive_edge {
  uint32_t from, to, group, adversary_choice, choice; /* choice: which transition of the automaton */
  uint64_t marks, accepts;
};

struct naive {
  uint32_t n;
  bool initial[NODES_MOST], reached[NODES_MOST];
  uint32_t state[NODES_MOST];
  struct naive_edge edges[EDGES_MOST * 12 + STATES * 12];
  bool probabilistic_choices;
  uint32_t nedges;
};

static bool must_go_on(const struct fake *f, uint32_t state) {
  for (uint32_t i = 0; i < f->nedges; i++)
    if (f->edges[i].from == state && !f->edges[i].optional)
      return true;
  return false;
}

static void naive_add(struct naive *v, const struct fake *f, const struct automaton *a, const struct fake_edge *e) {
  for (uint32_t q = 0; q < a->nstates; q++)
    for (uint32_t i = a->first[q]; i < a->first[q + 1]; i++)
      if (automaton_transition_reads(&a->transitions[i], f->letter[e->from]))
        v->edges[v->nedges++] = (struct naive_edge){e->from * a->nstates + q,
                                                    e->to * a->nstates + a->transitions[i].to,
                                                    e->group,
                                                    e->adversary_choice,
                                                    i,
                                                    e->marks,
                                                    a->transitions[i].accepts};
}

static void naive_make(struct naive *v, const struct fake *f, const struct automaton *a) {
  *v = (struct naive){.n = f->n * a->nstates, .probabilistic_choices = f->base.probabilistic};
  for (uint32_t i = 0; i < f->nedges; i++)
    naive_add(v, f, a, &f->edges[i]);
  for (uint32_t s = 0; s < f->n; s++) {
    for (uint32_t q = 0; q < a->nstates; q++) {
      v->state[s * a->nstates + q] = s;
      v->initial[s * a->nstates + q] = v->reached[s * a->nstates + q] = s < f->initials && q == 0;
    }
    if (!must_go_on(f, s))
      naive_add(v, f, a, &(struct fake_edge){s, s, NO_GROUP, UINT32_MAX, UINT64_MAX, true});
  }
  for (uint32_t times = 0; times < v->n; times++)
    for (uint32_t i = 0; i < v->nedges; i++)
      v->reached[v->edges[i].to] |= v->reached[v->edges[i].from];
}

static bool stays(uint32_t set, const struct naive_edge *e, const struct assumptions *as) {
  return set >> e->from & 1 && set >> e->to & 1 && !(as->finally & ~e->marks);
}

/* With coins: whatever they show. */
static bool inside(const struct naive *v, uint32_t set, const struct naive_edge *e, const struct assumptions *as) {
  if (!as->coins || !v->probabilistic_choices)
    return stays(set, e, as);
  for (uint32_t i = 0; i < v->nedges; i++)
    if (v->edges[i].from == e->from && v->edges[i].adversary_choice == e->adversary_choice &&
        v->edges[i].choice == e->choice && !stays(set, &v->edges[i], as))
      return false;
  return true;
}

static bool connected(const struct naive *v, uint32_t set, const struct assumptions *as) {
  for (uint32_t start = 0; start < v->n; start++) {
    uint32_t seen = 0; /* in one step or more */
    if (!(set >> start & 1))
      continue;
    for (uint32_t times = 0; times <= v->n; times++)
      for (uint32_t i = 0; i < v->nedges; i++)
        if (inside(v, set, &v->edges[i], as) && (v->edges[i].from == start || seen >> v->edges[i].from & 1))
          seen |= 1u << v->edges[i].to;
    if (seen != set)
      return false;
  }
  return true;
}

/* Can a run come back to exactly these again and again, by all steps between them? */
static bool is_accepted(const struct naive *v, const struct fake *f, uint64_t sets, uint32_t set,
                        const struct assumptions *as) {
  uint64_t accepts = 0, marks = 0;
  uint32_t taken = 0, everywhere = UINT32_MAX, somewhere = 0;
  bool reached = false;
  for (uint32_t i = 0; i < v->n; i++)
    if (set >> i & 1) {
      reached |= v->reached[i];
      everywhere &= f->possible[v->state[i]];
      somewhere |= f->possible[v->state[i]];
    }
  for (uint32_t i = 0; i < v->nedges; i++)
    if (inside(v, set, &v->edges[i], as)) {
      accepts |= v->edges[i].accepts;
      marks |= v->edges[i].marks;
      taken |= v->edges[i].group == NO_GROUP ? 0 : 1u << v->edges[i].group;
    }
  return reached && accepts == sets && !(as->often & ~marks) &&
         (!as->fair || !((as->strong ? somewhere : everywhere) & ~taken)) && connected(v, set, as);
}

static bool naive_finds(const struct naive *v, const struct fake *f, const struct automaton *a,
                        const struct assumptions *as) {
  for (uint32_t set = 1; set < 1u << v->n; set++)
    if (is_accepted(v, f, automaton_sets(a), set, as))
      return true;
  return false;
}

/* How many steps the shortest lasso has, without fairness and coins: from each node that is reached, back to it by way
   of all that is asked for. */
static uint32_t naive_shortest(const struct naive *v, const struct automaton *a, const struct assumptions *as) {
  uint32_t least = UINT32_MAX, distance[NODES_MOST], masks = 1u << (a->nsets + MARKS), all = masks - 1;
  uint32_t often = ~(uint32_t)as->often & ((1u << MARKS) - 1); /* not asked for: met from the beginning */
  for (uint32_t i = 0; i < v->n; i++)
    distance[i] = v->initial[i] ? 0 : UINT32_MAX;
  for (uint32_t times = 0; times < v->n; times++)
    for (uint32_t i = 0; i < v->nedges; i++)
      if (distance[v->edges[i].from] != UINT32_MAX && distance[v->edges[i].from] + 1 < distance[v->edges[i].to])
        distance[v->edges[i].to] = distance[v->edges[i].from] + 1;
  for (uint32_t start = 0; start < v->n; start++) {
    bool at[NODES_MOST][1 << 4] = {{false}}, found = false;
    if (distance[start] == UINT32_MAX)
      continue;
    at[start][often << a->nsets] = true;
    for (uint32_t steps = 1; steps <= v->n * masks && !found && distance[start] + steps < least; steps++) {
      bool next[NODES_MOST][1 << 4] = {{false}};
      for (uint32_t i = 0; i < v->nedges; i++)
        for (uint32_t m = 0; m < masks && !(as->finally & ~v->edges[i].marks); m++)
          if (at[v->edges[i].from][m])
            next[v->edges[i].to][(m | (uint32_t)v->edges[i].accepts |
                                  (uint32_t)(v->edges[i].marks & ((1u << MARKS) - 1)) << a->nsets)] = true;
      memcpy(at, next, sizeof at);
      found = at[start][all];
      if (found)
        least = distance[start] + steps;
    }
  }
  return least;
}

/* --- lassos --- */

static uint32_t number_of(const struct fake *f, const struct state *s) { return s->bytes[0] - f->shift; }

/* Does the automaton accept the word? As in naive_finds, on the states of the lasso. */
static bool accepts_word(const struct fake *f, const struct automaton *a, const struct state_lasso *l) {
  uint32_t n = l->loop == l->n - 1 ? l->n : l->n - 1, size = n * a->nstates;
  bool *seen = memory_alloc(size + 1), found = false;
  seen[0] = true;
  for (uint32_t times = 0; times < size; times++)
    for (uint32_t x = 0; x < size; x++)
      for (uint32_t i = a->first[x % a->nstates]; seen[x] && i < a->first[x % a->nstates + 1]; i++)
        if (automaton_transition_reads(&a->transitions[i], f->letter[number_of(f, &l->path[x / a->nstates])]))
          seen[(x / a->nstates + 1 < n ? x / a->nstates + 1 : l->loop) * a->nstates + a->transitions[i].to] = true;
  for (uint32_t start = 0; start < size && !found; start++) {
    if (!seen[start])
      continue;
    /* from (start, sets so far) back to start with all of them */
    uint32_t masks = 1u << a->nsets;
    bool *with = memory_alloc(size * masks + 1);
    bool first = true, changed = true;
    while (changed) {
      changed = false;
      for (uint32_t x = 0; x < size; x++)
        for (uint32_t m = 0; m < masks; m++) {
          if (!(with[x * masks + m] || (first && x == start && m == 0)))
            continue;
          uint32_t at = x / a->nstates, q = x % a->nstates, next = at + 1 < n ? at + 1 : l->loop;
          for (uint32_t i = a->first[q]; i < a->first[q + 1]; i++) {
            uint32_t y = next * a->nstates + a->transitions[i].to, k = m | (uint32_t)a->transitions[i].accepts;
            if (automaton_transition_reads(&a->transitions[i], f->letter[number_of(f, &l->path[at])]) &&
                !with[y * masks + k]) {
              with[y * masks + k] = true;
              changed = true;
            }
          }
        }
      first = false;
    }
    found = with[start * masks + masks - 1];
    memory_free(with);
  }
  memory_free(seen);
  return found;
}

static bool has_step(const struct fake *f, uint32_t from, uint32_t to, const struct step_requirement *wish) {
  for (uint32_t i = 0; i < f->nedges; i++)
    if (f->edges[i].from == from && f->edges[i].to == to && !(wish->marks & ~f->edges[i].marks) &&
        (wish->group == NO_GROUP || wish->group == f->edges[i].group))
      return true;
  return false;
}

/* A lasso leaves out where a run stays for a while; that is no loss to formulas without "next" and where there are no
   marks, but these automata and marks are anything. */
static bool stays_and_goes_on(const struct fake *f) {
  for (uint32_t i = 0; i < f->nedges; i++)
    if (!must_go_on(f, f->edges[i].from))
      return true;
  return false;
}

static void check_lasso(const struct fake *f, const struct automaton *a, const struct assumptions *as,
                        const struct state_lasso *l) {
  uint64_t marks = 0;
  uint32_t taken = 0, everywhere = UINT32_MAX, somewhere = 0, end = l->loop == l->n - 1 ? l->n : l->n - 1;
  assert_true(number_of(f, &l->path[0]) < f->initials);
  assert_int_equal(number_of(f, &l->path[l->loop]), number_of(f, &l->path[l->n - 1]));
  for (uint32_t i = 0; i + 1 < l->n; i++)
    assert_true(has_step(f, number_of(f, &l->path[i]), number_of(f, &l->path[i + 1]), &l->wish[i]));
  for (uint32_t i = l->loop; i < end; i++) {
    uint32_t state = number_of(f, &l->path[i]);
    everywhere &= f->possible[state];
    somewhere |= f->possible[state];
    if (i + 1 == l->n)
      continue;
    marks |= l->wish[i].marks;
    assert_false(as->finally & ~l->wish[i].marks);
    taken |= l->wish[i].group == NO_GROUP ? 0 : 1u << l->wish[i].group;
  }
  if (l->loop == l->n - 1)
    assert_false(must_go_on(f, number_of(f, &l->path[l->loop])));
  else
    assert_false(as->often & ~marks);
  if (as->fair)
    assert_false((as->strong ? somewhere : everywhere) & ~taken);
  assert_true(accepts_word(f, a, l));
}

/* With the steps kept in memory, and by the sieve from the first state on. */
static void check_random_graphs(uint64_t precheck_from, uint32_t *sieved) {
  uint32_t found = 0, long_ones = 0, shortest = 0;
  *sieved = 0;
  for (uint32_t round = 0; round < trials(5000); round++) {
    struct fake f;
    struct naive v;
    struct liveness_search l;
    fake_make(&f);
    struct automaton *a = random_automaton();
    struct assumptions as = {.often = chance(1 << MARKS),
                             .finally = chance(2) ? 0 : chance(1 << MARKS),
                             .fair = chance(3),
                             .strong = chance(2),
                             .coins = chance(2)};
    while (as.coins && !automaton_is_limit_deterministic(a)) {
      automaton_free(a);
      a = random_automaton();
    }
    naive_make(&v, &f, a);
    liveness_search_init(&l, &f.base, a, &as, &(struct limits){.precheck_from = precheck_from});
    liveness_search_run(&l);
    *sieved += l.prechecked;
    bool expected = naive_finds(&v, &f, a, &as);
    if (l.found != expected)
      fail_msg("round %u: %s, though there is %s", round, l.found ? "found" : "not found", expected ? "one" : "none");
    if (l.found && !stays_and_goes_on(&f))
      check_lasso(&f, a, &as, &l.lasso);
    if (l.found && f.model.kind == MODEL_ROUNDS && !as.fair && !as.coins) {
      assert_true(l.lasso.n - 1 <= naive_shortest(&v, a, &as));
      shortest++;
    }
    assert_int_equal(l.graph.end, l.found ? SEARCH_DECIDED : SEARCH_EXHAUSTED);
    found += l.found;
    long_ones += l.found && l.lasso.n > 3;
    if (!l.found) { /* every word: are there runs at all? */
      struct automaton *all = automaton_universal();
      naive_make(&v, &f, all);
      as.coins = false;
      assert_int_equal(liveness_search_satisfiable(&l, &as), naive_finds(&v, &f, all, &as));
      automaton_free(all);
    }
    liveness_search_release(&l);
    automaton_free(a);
  }
  assert_true(found > trials(500) && found < trials(4500));
  assert_true(long_ones > trials(50) && shortest > trials(50));
}

static void random_graphs(void **unused) {
  (void)unused;
  uint32_t sieved;
  check_random_graphs(UINT64_MAX, &sieved);
  assert_int_equal(sieved, 0);
}

static void random_graphs_sieved(void **unused) {
  (void)unused;
  uint32_t sieved;
  check_random_graphs(1, &sieved);
  assert_true(sieved > trials(200));
}

static void limits_are_kept(void **unused) {
  (void)unused;
  struct fake f;
  struct liveness_search l;
  fake_make(&f);
  f.n = f.nedges = STATES;
  f.restart_at = UINT32_MAX;
  for (uint32_t i = 0; i < STATES; i++) /* one after the other */
    f.edges[i] = (struct fake_edge){.from = i, .to = (i + 1) % STATES, .group = NO_GROUP};
  struct automaton *all = automaton_universal();
  all->nsets = 1; /* which nothing is in */
  liveness_search_init(&l, &f.base, all, &(struct assumptions){0}, &(struct limits){.states = 2});
  liveness_search_run(&l);
  assert_false(l.found);
  assert_int_equal(l.graph.end, SEARCH_STATES);
  liveness_search_release(&l);
  liveness_search_init(&l, &f.base, all, &(struct assumptions){0}, &(struct limits){.states = 3, .precheck_from = 1});
  liveness_search_run(&l);
  assert_false(l.found);
  assert_true(l.prechecked);
  assert_int_equal(l.graph.end, SEARCH_STATES);
  liveness_search_release(&l);
  static const volatile sig_atomic_t interrupted = 1;
  liveness_search_init(&l, &f.base, all, &(struct assumptions){0}, &(struct limits){.interrupt = &interrupted});
  l.graph.clock.ticks = 1 << 20; /* it is time to look */
  liveness_search_run(&l);
  assert_int_equal(l.graph.end, SEARCH_INTERRUPTED);
  liveness_search_release(&l);
  automaton_free(all);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_graphs),
      cmocka_unit_test(random_graphs_sieved),
      cmocka_unit_test(limits_are_kept),
  };
  return cmocka_run_group_tests_name("live", tests, NULL, NULL);
}
