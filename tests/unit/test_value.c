/* Values and finite types: the index bijection, sets in both representations, order, renaming. */
#include "model/model.h"
#include "model/type_print.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Two roles: A with 3 processes (identities 0..2), B with `wide` of them. */
struct world {
  struct model m;
  struct role roles[2];
  struct type a, b, any, flag, digit, round;
};

static void world_init(struct world *w, uint32_t wide) {
  memset(w, 0, sizeof *w);
  values_init(&w->m.values);
  w->roles[0] = (struct role){.name = "A", .first = 0, .count = 3};
  w->roles[1] = (struct role){.name = "B", .first = 3, .count = wide};
  w->m.roles = w->roles;
  w->m.nroles = 2;
  w->m.nprocesses = 3 + wide;
  w->a = (struct type){.kind = TYPE_PROCESS, .role = 0};
  w->b = (struct type){.kind = TYPE_PROCESS, .role = 1};
  w->any = (struct type){.kind = TYPE_PROCESS, .role = ROLE_ANY};
  w->flag = (struct type){.kind = TYPE_BOOL};
  w->digit = (struct type){.kind = TYPE_RANGE, .lo = -1, .hi = 2};
  w->round = (struct type){.kind = TYPE_ROUND};
  struct type *all[] = {&w->a, &w->b, &w->any, &w->flag, &w->digit, &w->round};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    type_finish(all[i], &w->m);
}

static void world_release(struct world *w) { values_release(&w->m.values); }

static struct type made(struct world *w, struct type t) {
  type_finish(&t, &w->m);
  return t;
}

static void bijection(struct world *w, const struct type *t) {
  struct values *values = &w->m.values;
  assert_true(t->count < 100000);
  for (uint64_t i = 0; i < t->count; i++) {
    value v = type_nth(values, t, i);
    assert_true(type_has(values, t, v));
    assert_int_equal(type_index(values, t, v), i);
    if (i > 0 && t->kind != TYPE_SET)
      assert_true(value_compare(values, t, type_nth(values, t, i - 1), v) < 0);
  }
}

static void test_bijection(void **state) {
  (void)state;
  struct world w;
  world_init(&w, 2);
  struct type option = made(&w, (struct type){.kind = TYPE_OPTION, .element = &w.digit});
  struct type twice = made(&w, (struct type){.kind = TYPE_OPTION, .element = &option});
  struct field_type fields[] = {{"x", &w.digit}, {"vote", &twice}, {"p", &w.b}};
  struct type record = made(&w, (struct type){.kind = TYPE_RECORD, .fields = fields, .size = 3});
  struct type label = made(&w, (struct type){.kind = TYPE_SEQUENCE, .element = &w.any, .hi = 3, .distinct = true});
  struct type word = made(&w, (struct type){.kind = TYPE_SEQUENCE, .element = &w.flag, .hi = 4});
  struct type longer = made(&w, (struct type){.kind = TYPE_SEQUENCE, .element = &w.a, .hi = 9, .distinct = true});
  struct type array = made(&w, (struct type){.kind = TYPE_ARRAY, .index = &w.a, .element = &option});
  struct type set = made(&w, (struct type){.kind = TYPE_SET, .element = &w.digit});
  struct type group = made(&w, (struct type){.kind = TYPE_SET, .element = &w.b});
  struct type sets = made(&w, (struct type){.kind = TYPE_SET, .element = &group});
  assert_int_equal(twice.count, 6);
  assert_int_equal(record.count, 4 * 6 * 2);
  assert_int_equal(label.count, 1 + 5 + 20 + 60);
  assert_int_equal(word.count, 31);
  assert_int_equal(longer.count, 1 + 3 + 6 + 6);
  assert_int_equal(array.count, 125);
  const struct type *all[] = {&w.a,  &w.b,    &w.digit, &option, &twice, &record, &label,
                              &word, &longer, &array,   &set,    &group, &sets};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    bijection(&w, all[i]);
  world_release(&w);
}

static void test_sizes_saturate(void **state) {
  (void)state;
  struct world w;
  world_init(&w, 100);
  struct type set = made(&w, (struct type){.kind = TYPE_SET, .element = &w.b});
  assert_int_equal(set.count, UINT64_MAX);
  assert_false(set.mask);
  struct type array = made(&w, (struct type){.kind = TYPE_ARRAY, .index = &set, .element = &w.flag});
  assert_int_equal(array.count, UINT64_MAX);
  struct type word = made(&w, (struct type){.kind = TYPE_SEQUENCE, .element = &w.flag, .hi = INT64_MAX});
  assert_int_equal(word.count, UINT64_MAX);
  struct type full = made(&w, (struct type){.kind = TYPE_RANGE, .lo = INT64_MIN, .hi = INT64_MAX});
  assert_int_equal(full.count, UINT64_MAX);
  world_release(&w);
}

/* The same script of set operations, as a mask and as a vector. */
static void sets_of(uint32_t wide) {
  struct world w;
  world_init(&w, wide);
  struct values *values = &w.m.values;
  struct type set = made(&w, (struct type){.kind = TYPE_SET, .element = &w.any});
  struct type of_a = made(&w, (struct type){.kind = TYPE_SET, .element = &w.a});
  value empty = set_empty(values, &set), x = empty, y = empty;
  x = set_insert(values, &set, set_insert(values, &set, x, 4), 1);
  y = set_insert(values, &set, set_insert(values, &set, y, 2), 4);
  assert_int_equal(set_insert(values, &set, x, 4), x);
  assert_true(set_contains(values, &set, x, 1));
  assert_false(set_contains(values, &set, x, 2));
  assert_int_equal(set_size(values, &set, set_union(values, &set, x, y)), 3);
  value four = set_insert(values, &set, empty, 4), one = set_insert(values, &set, empty, 1);
  assert_int_equal(set_intersection(values, &set, x, y), four);
  assert_int_equal(set_difference(values, &set, x, y), one);
  assert_true(set_is_subset(values, &set, four, x));
  assert_false(set_is_subset(values, &set, x, four));
  assert_true(value_compare(values, &set, one, x) < 0);
  assert_true(value_compare(values, &set, x, y) < 0);
  uint64_t cursor = 0;
  value member;
  assert_true(set_member(values, &set, x, &cursor, &member));
  assert_int_equal(member, 1);
  assert_true(set_member(values, &set, x, &cursor, &member));
  assert_int_equal(member, 4);
  assert_false(set_member(values, &set, x, &cursor, &member));
  assert_true(type_has(values, &of_a, one)); /* the same number for a role and for any role */
  assert_false(type_has(values, &of_a, four));
  world_release(&w);
}

static void test_sets(void **state) {
  (void)state;
  sets_of(5);
  sets_of(100);
}

static void test_member_outside(void **state) {
  (void)state;
  struct world w;
  world_init(&w, 2);
  struct type set = made(&w, (struct type){.kind = TYPE_SET, .element = &w.digit});
  assert_false(set_contains(&w.m.values, &set, 15, 99));
  assert_false(set_contains(&w.m.values, &set, 15, -2));
  assert_true(set_contains(&w.m.values, &set, 15, -1));
  world_release(&w);
}

static void test_options(void **state) {
  (void)state;
  assert_int_equal(value_wrap(7), 7);
  value some_none = value_wrap(VALUE_NONE);
  assert_int_not_equal(some_none, VALUE_NONE);
  assert_int_equal(value_unwrap(some_none), VALUE_NONE);
  assert_int_equal(value_unwrap(value_wrap(some_none)), some_none);
}

/* Renaming by a swap of A(1) and A(3), and back, is the identity; and moves what it should. */
static void rename_in(uint32_t wide) {
  struct world w;
  world_init(&w, wide);
  struct values *values = &w.m.values;
  uint32_t swap[300];
  for (uint32_t i = 0; i < w.m.nprocesses; i++)
    swap[i] = i;
  swap[0] = 2;
  swap[2] = 0;
  struct renaming r = {.process = swap};

  struct type set = made(&w, (struct type){.kind = TYPE_SET, .element = &w.any});
  value s = set_insert(values, &set, set_insert(values, &set, set_empty(values, &set), 2), 4);
  value renamed = value_rename(values, &set, s, &r);
  assert_true(set_contains(values, &set, renamed, 0) && set_contains(values, &set, renamed, 4));
  assert_int_equal(value_rename(values, &set, renamed, &r), s);

  struct type array = made(&w, (struct type){.kind = TYPE_ARRAY, .index = &w.a, .element = &w.a});
  value v = value_vector(values, (value[]){0, 0, 1}, 3); /* [1]=A1 [2]=A1 [3]=A2 */
  assert_int_equal(value_rename(values, &array, v, &r), value_vector(values, (value[]){1, 2, 2}, 3));

  struct type label = made(&w, (struct type){.kind = TYPE_SEQUENCE, .element = &w.a, .hi = 2, .distinct = true});
  struct type tree = made(&w, (struct type){.kind = TYPE_ARRAY, .index = &label, .element = &w.flag});
  value *part = memory_alloc(label.count * sizeof *part);
  value path = value_vector(values, (value[]){2, 1}, 2), mirrored = value_vector(values, (value[]){0, 1}, 2);
  part[type_index(values, &label, path)] = 1;
  value t = value_vector(values, part, label.count);
  value moved = value_rename(values, &tree, t, &r);
  size_t n;
  assert_int_equal(value_parts(values, moved, &n)[type_index(values, &label, mirrored)], 1);
  assert_int_equal(value_parts(values, moved, &n)[type_index(values, &label, path)], 0);
  assert_int_equal(value_rename(values, &tree, moved, &r), t);
  memory_free(part);
  world_release(&w);
}

static void test_rename(void **state) {
  (void)state;
  rename_in(5);
  rename_in(200);
}

static void mark_round(void *context, value round) { *(uint64_t *)context |= UINT64_C(1) << (round < 63 ? round : 63); }

static void test_rename_rounds(void **state) {
  (void)state;
  struct world w;
  world_init(&w, 1);
  struct values *values = &w.m.values;
  struct type option = made(&w, (struct type){.kind = TYPE_OPTION, .element = &w.round});
  struct type set = made(&w, (struct type){.kind = TYPE_SET, .element = &w.round});
  struct field_type fields[] = {{"ts", &option}, {"seen", &set}};
  struct type record = made(&w, (struct type){.kind = TYPE_RECORD, .fields = fields, .size = 2});
  value seen = set_insert(values, &set, set_insert(values, &set, set_empty(values, &set), 5), 70);
  value v = value_vector(values, (value[]){value_wrap(9), seen}, 2);
  uint64_t rounds = 0;
  value_each_round(values, &record, v, mark_round, &rounds);
  assert_int_equal(rounds, UINT64_C(1) << 5 | UINT64_C(1) << 9 | UINT64_C(1) << 63);
  value rank[71] = {[5] = 3, [9] = 1, [70] = 0};
  value renamed = value_rename(values, &record, v, &(struct renaming){.rounds = rank});
  value expected = set_insert(values, &set, set_insert(values, &set, set_empty(values, &set), 0), 3);
  size_t n;
  assert_int_equal(value_parts(values, renamed, &n)[0], 1);
  assert_int_equal(value_parts(values, renamed, &n)[1], expected);
  world_release(&w);
}

/* Values of one type go where they are told to, everywhere, and nothing else moves. */
static void test_rename_values(void **state) {
  (void)state;
  struct world w;
  world_init(&w, 2);
  struct values *values = &w.m.values;
  struct type digit = w.digit, other = w.digit; /* two types with the same values, -1..2 */
  struct type option = made(&w, (struct type){.kind = TYPE_OPTION, .element = &digit});
  struct type set = made(&w, (struct type){.kind = TYPE_SET, .element = &digit});
  struct type array = made(&w, (struct type){.kind = TYPE_ARRAY, .index = &digit, .element = &w.a});
  struct field_type fields[] = {{"x", &option}, {"s", &set}, {"y", &other}, {"m", &array}};
  struct type record = made(&w, (struct type){.kind = TYPE_RECORD, .fields = fields, .size = 4});
  assert_true(type_contains(&record, &digit) && type_contains(&array, &digit) && !type_contains(&array, &other));
  uint32_t to[] = {2, 0, 1, 3}; /* -1 -> 1 -> 0 -> -1 */
  struct renaming r = {.type = &digit, .to = to};
  value pair = set_insert(values, &set, set_insert(values, &set, set_empty(values, &set), -1), 2);
  value map = value_vector(values, (value[]){0, 1, 2, 0}, 4);
  value v = value_vector(values, (value[]){value_wrap(-1), pair, -1, map}, 4);
  value renamed = value_rename(values, &record, v, &r);
  size_t n;
  const value *part = value_parts(values, renamed, &n);
  assert_int_equal(part[0], 1);
  assert_true(set_contains(values, &set, part[1], 1) && set_contains(values, &set, part[1], 2));
  assert_int_equal(set_size(values, &set, part[1]), 2);
  assert_int_equal(part[2], -1);
  assert_int_equal(part[3], value_vector(values, (value[]){1, 2, 0, 0}, 4));
  for (int i = 0; i < 2; i++)
    renamed = value_rename(values, &record, renamed, &r);
  assert_int_equal(renamed, v);
  world_release(&w);
}

/* By content: values that are named otherwise in another table have the same hash. */
static void test_hash(void **state) {
  (void)state;
  struct world w[2];
  uint64_t hash[2][3];
  for (int i = 0; i < 2; i++) {
    world_init(&w[i], 200);
    struct values *values = &w[i].m.values;
    struct type set = made(&w[i], (struct type){.kind = TYPE_SET, .element = &w[i].any});
    struct type pairs = made(&w[i], (struct type){.kind = TYPE_SEQUENCE, .element = &set, .hi = 2});
    if (i)
      value_vector(values, (value[]){9, 9, 9}, 3);
    value a = set_insert(values, &set, set_empty(values, &set), 7), b = set_insert(values, &set, a, i ? 5 : 6);
    b = set_insert(values, &set, b, i ? 6 : 5);
    hash[i][0] = value_hash(values, &pairs, value_vector(values, (value[]){a, b}, 2));
    hash[i][1] = value_hash(values, &pairs, value_vector(values, (value[]){b, a}, 2));
    hash[i][2] = value_hash(values, &pairs, value_vector(values, NULL, 0));
  }
  for (int k = 0; k < 3; k++) {
    assert_true(hash[0][k] == hash[1][k]);
    assert_true(hash[0][k] != hash[0][(k + 1) % 3]);
  }
  world_release(&w[0]);
  world_release(&w[1]);
}

static void test_print(void **state) {
  (void)state;
  struct world w;
  world_init(&w, 2);
  struct values *values = &w.m.values;
  struct type option = made(&w, (struct type){.kind = TYPE_OPTION, .element = &w.digit});
  struct type set = made(&w, (struct type){.kind = TYPE_SET, .element = &w.any});
  struct field_type fields[] = {{"x", &option}, {"by", &set}};
  struct type record = made(&w, (struct type){.kind = TYPE_RECORD, .fields = fields, .size = 2});
  value v = value_vector(values, (value[]){VALUE_NONE, 1 << 0 | 1 << 4}, 2);
  struct text out = {0};
  value_print(values, &w.m, &record, v, &out);
  text_add(&out, " ");
  type_print(&w.m, &record, &out);
  assert_string_equal(text_or_empty(&out), "(x: none, by: {A(1), B(2)}) (x: -1..2?, by: set of process)");
  text_release(&out);
  world_release(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bijection),     cmocka_unit_test(test_sizes_saturate),
      cmocka_unit_test(test_sets),          cmocka_unit_test(test_member_outside),
      cmocka_unit_test(test_options),       cmocka_unit_test(test_rename),
      cmocka_unit_test(test_rename_rounds), cmocka_unit_test(test_print),
      cmocka_unit_test(test_rename_values), cmocka_unit_test(test_hash),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
