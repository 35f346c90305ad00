/* Formulas and automata: random ones against the definition on random lassos, known ones against known sizes. */
#include "base/memory.h"
#include "base/text.h"
#include "logic/automaton.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ATOMS 3
#define LETTERS_MOST 7
#define ROUNDS 4000

static uint64_t seed = 1;
static uint32_t chance(uint32_t n) { /* 0 .. n - 1 */
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(seed >> 33) % n;
}

/* What was asked for, before any law was applied: the judge of the laws. */
struct plain {
  int op; /* 0: atom, 1: not, 2: and, 3: or, 4: until, 5: release, 6: eventually, 7: always */
  uint32_t atom;
  struct plain *a, *b;
};

static struct plain *random_plain(uint32_t size) {
  struct plain *f = memory_alloc(sizeof *f);
  f->op = size <= 1 ? 0 : 1 + (int)chance(7);
  f->atom = chance(ATOMS);
  if (f->op == 1 || f->op >= 6) {
    f->a = random_plain(size - 1);
  } else if (f->op > 0) {
    uint32_t left = size > 2 ? 1 + chance(size - 2) : 1;
    f->a = random_plain(left);
    f->b = random_plain(size > left + 1 ? size - left - 1 : 1);
  }
  return f;
}

static void plain_free(struct plain *f) {
  if (!f)
    return;
  plain_free(f->a);
  plain_free(f->b);
  memory_free(f);
}

static ltl made_of(struct ltl_pool *p, const struct plain *f) {
  switch (f->op) {
  case 0:
    return ltl_atom(p, f->atom);
  case 1:
    return ltl_not(p, made_of(p, f->a));
  case 2:
    return ltl_and(p, made_of(p, f->a), made_of(p, f->b));
  case 3:
    return ltl_or(p, made_of(p, f->a), made_of(p, f->b));
  case 4:
    return ltl_until(p, made_of(p, f->a), made_of(p, f->b));
  case 5:
    return ltl_release(p, made_of(p, f->a), made_of(p, f->b));
  case 6:
    return ltl_eventually(p, made_of(p, f->a));
  default:
    return ltl_always(p, made_of(p, f->a));
  }
}

/* The truth at every position, from the truth of the parts: least and greatest fixpoints, by going round often enough.
 */
static void truth(const struct plain *f, const uint64_t *word, uint32_t n, uint32_t loop, bool *out) {
  bool a[LETTERS_MOST], b[LETTERS_MOST];
  if (f->a)
    truth(f->a, word, n, loop, a);
  if (f->b)
    truth(f->b, word, n, loop, b);
  for (uint32_t i = 0; i < n; i++)
    switch (f->op) {
    case 0:
      out[i] = word[i] >> f->atom & 1;
      break;
    case 1:
      out[i] = !a[i];
      break;
    case 2:
      out[i] = a[i] && b[i];
      break;
    case 3:
      out[i] = a[i] || b[i];
      break;
    case 4:
    case 6:
      out[i] = false;
      break;
    default:
      out[i] = true;
      break;
    }
  for (uint32_t times = 0; f->op >= 4 && times < 2 * n; times++)
    for (uint32_t i = n; i-- > 0;) {
      bool later = out[i + 1 < n ? i + 1 : loop];
      out[i] = f->op == 4   ? b[i] || (a[i] && later)
               : f->op == 5 ? b[i] && (a[i] || later)
               : f->op == 6 ? a[i] || later
                            : a[i] && later;
    }
}

/* Is the lasso accepted? Pairs of position and state, which reach which, by the plainest means. */
struct pairs {
  const struct automaton *a;
  const uint64_t *word;
  uint32_t n, loop;
};

/* In one step or more: `from` itself only if it comes back. */
static bool *reached(const struct pairs *p, uint32_t from) {
  uint32_t size = p->n * p->a->nstates;
  bool *seen = memory_alloc(size + 1), changed = true;
  while (changed) {
    changed = false;
    for (uint32_t x = 0; x < size; x++) {
      if (x != from && !seen[x])
        continue;
      uint32_t at = x / p->a->nstates, q = x % p->a->nstates, next = at + 1 < p->n ? at + 1 : p->loop;
      for (uint32_t i = p->a->first[q]; i < p->a->first[q + 1]; i++) {
        uint32_t y = next * p->a->nstates + p->a->transitions[i].to;
        if (automaton_transition_reads(&p->a->transitions[i], p->word[at]) && !seen[y]) {
          seen[y] = true;
          changed = true;
        }
      }
    }
  }
  return seen;
}

static bool accepts(const struct automaton *a, const uint64_t *word, uint32_t n, uint32_t loop) {
  struct pairs p = {a, word, n, loop};
  uint32_t size = n * a->nstates;
  if (a->nstates == 0)
    return false;
  bool *from_start = reached(&p, 0), found = false;
  from_start[0] = true;
  bool **from = memory_alloc((size + 1) * sizeof *from);
  for (uint32_t x = 0; x < size; x++)
    from[x] = reached(&p, x);
  for (uint32_t x = 0; x < size && !found; x++) {
    uint64_t sets = 0;
    if (!from_start[x] || !from[x][x])
      continue;
    for (uint32_t y = 0; y < size; y++) {
      uint32_t at = y / a->nstates, q = y % a->nstates, next = at + 1 < n ? at + 1 : loop;
      if (!(from[x][y] && from[y][x]))
        continue;
      for (uint32_t i = a->first[q]; i < a->first[q + 1]; i++) {
        uint32_t z = next * a->nstates + a->transitions[i].to;
        if (automaton_transition_reads(&a->transitions[i], word[at]) && from[x][z] && from[z][x])
          sets |= a->transitions[i].accepts;
      }
    }
    found = sets == automaton_sets(a);
  }
  for (uint32_t x = 0; x < size; x++)
    memory_free(from[x]);
  memory_free(from);
  memory_free(from_start);
  return found;
}

/* On the run word[0] ... word[n - 1] word[loop] ... word[n - 1] word[loop] ..., bit i of a letter being the truth of
   atom i: by the definition. Positions from i on, in the order of time: each that will ever come is met within
   n + (n - loop) of them. */
static bool holds_at(const struct ltl_pool *p, ltl f, const uint64_t *word, uint32_t n, uint32_t loop, uint32_t i) {
  struct ltl_node x = ltl_at(p, f);
  switch (x.op) {
  case LTL_FALSE:
    return false;
  case LTL_TRUE:
    return true;
  case LTL_ATOM:
    return word[i] >> x.a & 1;
  case LTL_NOT_ATOM:
    return !(word[i] >> x.a & 1);
  case LTL_AND:
    return holds_at(p, x.a, word, n, loop, i) && holds_at(p, x.b, word, n, loop, i);
  case LTL_OR:
    return holds_at(p, x.a, word, n, loop, i) || holds_at(p, x.b, word, n, loop, i);
  case LTL_UNTIL:
  case LTL_RELEASE:
    break;
  }
  bool until = x.op == LTL_UNTIL;
  for (uint32_t steps = 0, at = i; steps < 2 * n; steps++, at = at + 1 < n ? at + 1 : loop) {
    if (holds_at(p, x.b, word, n, loop, at) == until)
      return until;
    if (holds_at(p, x.a, word, n, loop, at) != until)
      return !until;
  }
  return !until;
}

static void ltl_print(const struct ltl_pool *p, ltl f, struct text *out) {
  struct ltl_node x = ltl_at(p, f);
  static const char *const words[] = {
      [LTL_AND] = " and ", [LTL_OR] = " or ", [LTL_UNTIL] = " until ", [LTL_RELEASE] = " release "};
  if (x.op == LTL_TRUE || x.op == LTL_FALSE) {
    text_add(out, x.op == LTL_TRUE ? "true" : "false");
  } else if (x.op == LTL_ATOM || x.op == LTL_NOT_ATOM) {
    text_addf(out, "%s%c", x.op == LTL_ATOM ? "" : "not ", 'a' + (int)x.a);
  } else {
    text_add(out, "(");
    ltl_print(p, x.a, out);
    text_add(out, words[x.op]);
    ltl_print(p, x.b, out);
    text_add(out, ")");
  }
}

static void random_formulas_on_random_lassos(void **unused) {
  (void)unused;
  uint32_t states = 0, largest = 0;
  for (int round = 0; round < ROUNDS; round++) {
    struct ltl_pool *pool = ltl_pool_new();
    struct plain *f = random_plain(2 + chance(9));
    ltl made = made_of(pool, f);
    struct automaton *a = automaton_of(pool, made), *b = automaton_of(pool, ltl_not(pool, made));
    assert_non_null(a);
    assert_non_null(b);
    states += a->nstates;
    largest = a->nstates > largest ? a->nstates : largest;
    for (int k = 0; k < 12; k++) {
      uint64_t word[LETTERS_MOST];
      bool out[LETTERS_MOST];
      uint32_t n = 1 + chance(LETTERS_MOST), loop = chance(n);
      for (uint32_t i = 0; i < n; i++)
        word[i] = chance(1 << ATOMS);
      truth(f, word, n, loop, out);
      bool defined = holds_at(pool, made, word, n, loop, 0), accepted = accepts(a, word, n, loop);
      if (out[0] != defined || out[0] != accepted || out[0] == accepts(b, word, n, loop)) {
        struct text t = {0};
        ltl_print(pool, made, &t);
        fail_msg("round %d: %s: %d by fixpoints, %d by definition, %d accepted", round, t.at, out[0], defined,
                 accepted);
      }
    }
    automaton_free(a);
    automaton_free(b);
    plain_free(f);
    ltl_pool_free(pool);
  }
  assert_true(states < ROUNDS * 4); /* small on average */
  assert_true(largest < 40);
}

struct parser {
  struct ltl_pool *pool;
  const char *at;
};

/* Prefix notation: F G ! a-c, & | U R. */
static ltl parse(struct parser *p) {
  char c = *p->at++;
  if (c == 'F' || c == 'G' || c == '!') {
    ltl x = parse(p);
    return c == 'F' ? ltl_eventually(p->pool, x) : c == 'G' ? ltl_always(p->pool, x) : ltl_not(p->pool, x);
  }
  if (c == '&' || c == '|' || c == 'U' || c == 'R') {
    ltl x = parse(p), y = parse(p);
    return c == '&'   ? ltl_and(p->pool, x, y)
           : c == '|' ? ltl_or(p->pool, x, y)
           : c == 'U' ? ltl_until(p->pool, x, y)
                      : ltl_release(p->pool, x, y);
  }
  return ltl_atom(p->pool, (uint32_t)(c - 'a'));
}

/* States and sets: what is known as small for these shapes. All but the strong-fairness one (4 states: it starts by
   choosing a side) and the conjunctions of eventualities are as small as can be. */
static void common_shapes_are_small(void **unused) {
  (void)unused;
  static const struct {
    const char *formula;
    uint32_t states, sets;
  } shapes[] = {
      {"Ga", 1, 0},       {"Fa", 2, 1},         {"GFa", 1, 1},         {"FGa", 2, 1},       {"Uab", 2, 1},
      {"Rab", 2, 0},      {"&GFaGFb", 1, 2},    {"G|!aFb", 2, 1},      {"F&aG!b", 2, 1},    {"&GFaFG!b", 2, 2},
      {"|FG!aGFb", 4, 1}, {"&FGaGFb", 2, 2},    {"&GFa&GFbGFc", 1, 3}, {"&Ga&GbF!c", 2, 1}, {"&FaFb", 4, 2},
      {"Ua Ubc", 3, 1},   {"FFFa", 2, 1},       {"GFGFa", 1, 1},       {"&GaF!a", 0, 0},    {"|GaF!a", 1, 0},
      {"|GFaGFb", 1, 1},  {"&F&aG!bGFc", 2, 2},
  };
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    struct ltl_pool *pool = ltl_pool_new();
    char text[32] = "";
    size_t n = 0;
    for (const char *c = shapes[i].formula; *c; c++)
      if (*c != ' ')
        text[n++] = *c;
    text[n] = '\0';
    struct parser p = {pool, text};
    ltl f = parse(&p);
    struct automaton *a = automaton_of(pool, f);
    if (a->nstates > shapes[i].states || a->nsets > shapes[i].sets)
      fail_msg("%s has %u states and %u sets", shapes[i].formula, a->nstates, a->nsets);
    automaton_free(a);
    ltl_pool_free(pool);
  }
}

/* eventually a0 and eventually a1 and ...: as many states as there are sets of them. */
static void too_large_is_said(void **unused) {
  (void)unused;
  struct ltl_pool *pool = ltl_pool_new();
  ltl f = ltl_truth(pool, true), g = f;
  for (uint32_t i = 0; i < 20; i++)
    f = ltl_and(pool, f, ltl_eventually(pool, ltl_atom(pool, i)));
  for (uint32_t i = 0; i < 64; i++)
    g = ltl_and(pool, g, ltl_always(pool, ltl_atom(pool, i)));
  assert_null(automaton_of(pool, f));
  struct automaton *a = automaton_of(pool, g);
  assert_non_null(a);
  assert_int_equal(a->nstates, 1);
  automaton_free(a);
  ltl_pool_free(pool);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_formulas_on_random_lassos),
      cmocka_unit_test(common_shapes_are_small),
      cmocka_unit_test(too_large_is_said),
  };
  return cmocka_run_group_tests_name("logic", tests, NULL, NULL);
}
