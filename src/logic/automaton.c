/* The tableau (Couvreur 1999). A state is a set of formulas that the rest of the word must satisfy. The covers of a
   formula are the ways to satisfy it: some literals now, some formulas from the next letter on, and some untils whose
   fulfilment is deferred ("promised"). The acceptance set of an until contains the transitions that do not defer it. */
#include "logic/automaton.h"

#include "base/intern.h"
#include "base/memory.h"
#include "base/vec.h"

#include <string.h>

#define UNTILS_MOST 64
#define COVERS_MOST 4096
#define STATES_MOST 4096
#define TRANSITIONS_MOST 65536

struct cover {
  uint64_t when, unless, promises;
  uint32_t next; /* a set of formulas */
};
typedef VEC(struct cover) covers;

struct tableau {
  struct ltl_pool *pool;
  struct intern *sets; /* sets of formulas, ascending; except for the first, they contain only until and release */
  VEC(covers) of;      /* by formula */
  VEC(bool) known;
  VEC(ltl) untils; /* untils that can be promised */
  VEC(int64_t) scratch;
  VEC(uint32_t) states;        /* by state: its set */
  VEC(uint32_t) state_numbers; /* by set: its state; UINT32_MAX: not a state yet */
  bool too_large;
};

static bool set_is_subset(const struct tableau *t, uint32_t a, uint32_t b) {
  const int64_t *x = intern_at(t->sets, a), *y = intern_at(t->sets, b);
  size_t n = intern_length(t->sets, a), m = intern_length(t->sets, b), k = 0;
  for (size_t i = 0; i < n; i++, k++) {
    while (k < m && y[k] < x[i])
      k++;
    if (k == m || y[k] != x[i])
      return false;
  }
  return true;
}

static uint32_t set_union(struct tableau *t, uint32_t a, uint32_t b) {
  const int64_t *x = intern_at(t->sets, a), *y = intern_at(t->sets, b);
  size_t n = intern_length(t->sets, a), m = intern_length(t->sets, b), i = 0, k = 0;
  vec_clear(&t->scratch);
  while (i < n || k < m) {
    int64_t least = k == m || (i < n && x[i] < y[k]) ? x[i] : y[k];
    i += i < n && x[i] == least;
    k += k < m && y[k] == least;
    vec_push(&t->scratch, least);
  }
  return intern_put(t->sets, t->scratch.at, t->scratch.n);
}

static bool is_subsumed(const struct tableau *t, const struct cover *x, const struct cover *by) {
  return !(by->when & ~x->when) && !(by->unless & ~x->unless) && !(by->promises & ~x->promises) &&
         set_is_subset(t, by->next, x->next);
}

/* Adds a cover unless an existing one is at least as weak; removes the covers that are stronger than the new one. */
static void add_cover(struct tableau *t, covers *to, struct cover c) {
  size_t kept = 0;
  if (c.when & c.unless)
    return;
  for (size_t i = 0; i < to->n; i++)
    if (is_subsumed(t, &c, &to->at[i]))
      return;
  for (size_t i = 0; i < to->n; i++)
    if (!is_subsumed(t, &to->at[i], &c))
      to->at[kept++] = to->at[i];
  to->n = kept;
  if (to->n >= COVERS_MOST)
    t->too_large = true;
  else
    vec_push(to, c);
}

static void add_products(struct tableau *t, covers *to, const covers *a, const covers *b) {
  for (size_t i = 0; i < a->n; i++)
    for (size_t k = 0; k < b->n && !t->too_large; k++) {
      const struct cover *x = &a->at[i], *y = &b->at[k];
      add_cover(t, to,
                (struct cover){x->when | y->when, x->unless | y->unless, x->promises | y->promises,
                               set_union(t, x->next, y->next)});
    }
}

static uint32_t set_singleton(struct tableau *t, ltl f) { return intern_put(t->sets, &(int64_t){f}, 1); }

static uint64_t promise_bit(struct tableau *t, ltl until) {
  for (size_t i = 0; i < t->untils.n; i++)
    if (t->untils.at[i] == until)
      return UINT64_C(1) << i;
  if (t->untils.n == UNTILS_MOST) {
    t->too_large = true;
    return 0;
  }
  vec_push(&t->untils, until);
  return UINT64_C(1) << (t->untils.n - 1);
}

static covers *covers_of(struct tableau *, ltl);

/* a until b: b now; or a now, and a until b later. a release b: b now, and either a now or a release b later. */
static void cover_temporal(struct tableau *t, ltl f, const struct ltl_node *x, covers *out) {
  covers_of(t, x->a);
  covers_of(t, x->b);
  const covers a = t->of.at[x->a], b = t->of.at[x->b];
  bool until = x->op == LTL_UNTIL;
  struct cover put_off = {.next = set_singleton(t, f), .promises = until ? promise_bit(t, f) : 0};
  covers later = {&put_off, 1, 1};
  if (until) {
    for (size_t i = 0; i < b.n; i++)
      add_cover(t, out, b.at[i]);
    add_products(t, out, &a, &later);
  } else {
    add_products(t, out, &a, &b);
    add_products(t, out, &b, &later);
  }
}

static void cover_formula(struct tableau *t, ltl f, covers *out) {
  struct ltl_node x = ltl_at(t->pool, f);
  uint32_t nothing = intern_put(t->sets, NULL, 0);
  switch (x.op) {
  case LTL_FALSE:
    break;
  case LTL_TRUE:
    add_cover(t, out, (struct cover){.next = nothing});
    break;
  case LTL_ATOM:
    add_cover(t, out, (struct cover){.when = UINT64_C(1) << x.a, .next = nothing});
    break;
  case LTL_NOT_ATOM:
    add_cover(t, out, (struct cover){.unless = UINT64_C(1) << x.a, .next = nothing});
    break;
  case LTL_AND: {
    covers_of(t, x.a);
    covers_of(t, x.b);
    const covers a = t->of.at[x.a], b = t->of.at[x.b];
    add_products(t, out, &a, &b);
    break;
  }
  case LTL_OR:
    for (int side = 0; side < 2; side++) {
      const covers c = *covers_of(t, side ? x.b : x.a);
      for (size_t i = 0; i < c.n; i++)
        add_cover(t, out, c.at[i]);
    }
    break;
  case LTL_UNTIL:
  case LTL_RELEASE:
    cover_temporal(t, f, &x, out);
    break;
  }
}

/* The result is valid until the next call. */
static covers *covers_of(struct tableau *t, ltl f) {
  if (!t->known.at[f]) {
    covers out = {0};
    cover_formula(t, f, &out);
    t->of.at[f] = out;
    t->known.at[f] = true;
  }
  return &t->of.at[f];
}

static uint32_t state_of(struct tableau *t, uint32_t set) {
  while (t->state_numbers.n <= set)
    vec_push(&t->state_numbers, UINT32_MAX);
  if (t->state_numbers.at[set] == UINT32_MAX) {
    t->state_numbers.at[set] = (uint32_t)t->states.n;
    vec_push(&t->states, set);
    t->too_large |= t->states.n > STATES_MOST;
  }
  return t->state_numbers.at[set];
}

/* The covers of the conjunction of the set. */
static void cover_state(struct tableau *t, uint32_t set, covers *out) {
  size_t n = intern_length(t->sets, set);
  vec_push(out, ((struct cover){.next = intern_put(t->sets, NULL, 0)}));
  for (size_t i = 0; i < n && !t->too_large; i++) {
    const covers one = *covers_of(t, (ltl)intern_at(t->sets, set)[i]);
    covers both = {0};
    add_products(t, &both, out, &one);
    vec_release(out);
    *out = both;
  }
}

static struct automaton *build_automaton(struct tableau *t, ltl f) {
  VEC(uint32_t) first = {0};
  VEC(struct automaton_transition) transitions = {0};
  state_of(t, set_singleton(t, f));
  for (uint32_t q = 0; q < t->states.n && !t->too_large; q++) {
    covers out = {0};
    cover_state(t, t->states.at[q], &out);
    vec_push(&first, (uint32_t)transitions.n);
    for (size_t i = 0; i < out.n; i++) {
      const struct cover *c = &out.at[i];
      vec_push(&transitions, ((struct automaton_transition){c->when, c->unless, ~c->promises, state_of(t, c->next)}));
    }
    t->too_large |= transitions.n > TRANSITIONS_MOST;
    vec_release(&out);
  }
  vec_push(&first, (uint32_t)transitions.n);
  struct automaton *a = memory_alloc(sizeof *a);
  *a = (struct automaton){(uint32_t)t->states.n, first.at, transitions.at, (uint32_t)t->untils.n};
  for (size_t i = 0; i < transitions.n; i++)
    a->transitions[i].accepts &= automaton_sets(a);
  return a;
}

struct automaton *automaton_of(struct ltl_pool *pool, ltl f) {
  struct tableau t = {.pool = pool, .sets = intern_new()};
  size_t formulas = ltl_count(pool);
  for (size_t i = 0; i < formulas; i++) {
    vec_push(&t.of, ((covers){0}));
    vec_push(&t.known, false);
  }
  struct automaton *a = build_automaton(&t, f);
  if (t.too_large) {
    automaton_free(a);
    a = NULL;
  } else {
    automaton_reduce(a);
  }
  for (size_t i = 0; i < formulas; i++)
    vec_release(&t.of.at[i]);
  intern_free(t.sets);
  vec_release(&t.of);
  vec_release(&t.known);
  vec_release(&t.untils);
  vec_release(&t.scratch);
  vec_release(&t.states);
  vec_release(&t.state_numbers);
  return a;
}

struct automaton *automaton_universal(void) {
  struct automaton *a = memory_alloc(sizeof *a);
  *a = (struct automaton){
      .nstates = 1, .first = memory_alloc(2 * sizeof *a->first), .transitions = memory_alloc(sizeof *a->transitions)};
  a->first[1] = 1;
  return a;
}

void automaton_free(struct automaton *a) {
  if (!a)
    return;
  memory_free(a->first);
  memory_free(a->transitions);
  memory_free(a);
}
