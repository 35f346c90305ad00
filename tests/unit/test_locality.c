/* Locality: one formula for each way in which whole rounds are enough, or not. */
#include "analysis/formula_reads.h"
#include "analysis/local_properties.h"

#include "checked_text.h"

#define TEXT                                                                                                           \
  "algorithm A param n process P[n] { input x: 0..1 var y: 0..2 = 0 var d: 0..1? = none var s: set of P = {}"          \
  " round { send x to all update { y := 1 } } } environment calm {} environment crash { at most 1 processes crash } "

static enum locality locality(const char *property, uint32_t environment, uint32_t *stabilities) {
  struct checked_text k;
  struct text text = {0};
  struct arena arena;
  struct refusal why = {0};
  text_addf(&text, TEXT "%s", property);
  arena_init(&arena);
  check_good(&k, text.at);
  struct query q = {.environment = environment};
  enum locality found = locality_of(k.model, &q, 0, &arena, &why);
  assert_true((found == LOCAL_NOT || found == LOCAL_STATUS_DEPENDENT) == (why.reason != NULL));
  *stabilities = k.model->nstabilities;
  for (uint32_t i = 0; i < k.model->nstabilities; i++) {
    const struct property *p = &k.model->properties[k.model->nproperties + i];
    assert_int_equal(p->stability_of, 1);
    assert_true(property_is_one_process_step(p));
  }
  release(&k);
  arena_release(&arena);
  text_release(&text);
  return found;
}

struct expected {
  const char *property;
  enum locality calm, crash;
  uint32_t stabilities;
};

static void formulas(void **state) {
  (void)state;
  static const struct expected all[] = {
      {"safety a: forall p in P: p.y <= 2", LOCAL, LOCAL, 0},
      {"safety a: forall p in P, v in p.d: exists q in P: v == initial(q.x)", LOCAL, LOCAL, 0},
      {"safety a: forall v in 0..1: (forall p in P: initial(p.x) == v) => forall q in P, w in q.d: w == v", LOCAL,
       LOCAL, 0},
      {"safety a: (forall p in P: p.y == 0) and forall p in P: p.x == 1", LOCAL, LOCAL, 0},
      {"safety a: (forall p in P: p.y == 0) or forall p in P: p.x == 1", LOCAL_IF_STABLE, LOCAL_IF_STABLE, 2},
      {"safety a: exists p in P: p.y == 0", LOCAL_IF_STABLE, LOCAL_IF_STABLE, 1},
      {"cover a: exists p in P: p.y == 0", LOCAL, LOCAL, 0},
      {"cover a: forall p in P: p.d != none", LOCAL_IF_STABLE, LOCAL_IF_STABLE, 1},
      {"safety a: forall p, q in P, v in p.d, w in q.d: v == w", LOCAL_IF_STABLE, LOCAL_IF_STABLE, 2},
      {"safety a: forall p, q in P: p.y == q.y", LOCAL_IF_STABLE, LOCAL_IF_STABLE, 2},
      {"safety a: forall p in correct: p.y == 0", LOCAL, LOCAL, 0},
      {"safety a: forall p, q in correct: p.d == none or q.d == none", LOCAL_IF_STABLE, LOCAL_STATUS_DEPENDENT, 2},
      {"safety a: |faulty| <= 1", LOCAL, LOCAL_STATUS_DEPENDENT, 0},
      {"safety a: count(p in P: p.y == 1) <= 2", LOCAL_NOT, LOCAL_NOT, 0},
      {"safety a: round > 1 => forall p, q in P: p.y == q.y", LOCAL_ROUNDS, LOCAL_ROUNDS, 0},
      {"safety a: step forall p in P: p.y' >= p.y", LOCAL, LOCAL, 0},
      {"safety a: step forall p, q in P: p.y' == q.y'", LOCAL_NOT, LOCAL_NOT, 0},
      {"safety a: forall p, q in P: (p != q and q in faulty) => p.y != 1", LOCAL, LOCAL_IF_STABLE, 1},
      {"safety a: forall p, q in faulty: p == q", LOCAL, LOCAL_IF_STABLE, 0},
      {"live a: always forall p in P, v in p.s: p.y == 0 or v == p", LOCAL, LOCAL, 0},
      {"live a: always forall p, q in P: forall v in q.d: p.x != v", LOCAL_NOT, LOCAL_NOT, 0},
      {"live a: eventually exists p, q in P, v in q.d: p.x != v", LOCAL_NOT, LOCAL_NOT, 0},
      {"live a: always eventually exists p in P, v in p.d: p.x != v", LOCAL, LOCAL, 0},
      {"live a: always forall p in correct: p.y == 0", LOCAL, LOCAL, 0},
      {"safety a: true until exists p in P: p.d != none", LOCAL_NOT, LOCAL_NOT, 0},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    uint32_t stabilities;
    enum locality calm = locality(all[i].property, 0, &stabilities), crash = locality(all[i].property, 1, &stabilities);
    if (calm != all[i].calm || crash != all[i].crash || stabilities != all[i].stabilities)
      print_error("%s: %d, %d, %u\n", all[i].property, calm, crash, stabilities);
    assert_int_equal(calm, all[i].calm);
    assert_int_equal(crash, all[i].crash);
    assert_int_equal(stabilities, all[i].stabilities);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(formulas)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
