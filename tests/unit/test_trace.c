/* Values to JSON and back. */
#include "base/memory.h"
#include "trace/value_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Two roles, A with 3 processes and B with 2, and some types over them. */
struct world {
  struct model m;
  struct role roles[2];
  struct type any, flag, digit, colour, some, twice, set, names, pair, table, list;
  struct field_type fields[2];
};

static void world_init(struct world *w) {
  static const char *labels[] = {"red", "green"};
  memset(w, 0, sizeof *w);
  values_init(&w->m.values);
  w->roles[0] = (struct role){.name = "A", .first = 0, .count = 3};
  w->roles[1] = (struct role){.name = "Ab", .first = 3, .count = 2};
  w->m.roles = w->roles;
  w->m.nroles = 2;
  w->m.nprocesses = 5;
  w->m.process_types.any = &w->any;
  w->any = (struct type){.kind = TYPE_PROCESS, .role = ROLE_ANY};
  w->flag = (struct type){.kind = TYPE_BOOL};
  w->digit = (struct type){.kind = TYPE_RANGE, .lo = -1, .hi = 2};
  w->colour = (struct type){.kind = TYPE_ENUM, .labels = labels, .size = 2};
  w->some = (struct type){.kind = TYPE_OPTION, .element = &w->digit};
  w->twice = (struct type){.kind = TYPE_OPTION, .element = &w->some};
  w->set = (struct type){.kind = TYPE_SET, .element = &w->colour};
  w->names = (struct type){.kind = TYPE_SET, .element = &w->any};
  w->fields[0] = (struct field_type){"x", &w->some};
  w->fields[1] = (struct field_type){"who", &w->any};
  w->pair = (struct type){.kind = TYPE_RECORD, .fields = w->fields, .size = 2};
  w->table = (struct type){.kind = TYPE_ARRAY, .index = &w->colour, .element = &w->some};
  w->list = (struct type){.kind = TYPE_SEQUENCE, .element = &w->colour, .hi = 2};
  struct type *all[] = {&w->any, &w->flag,  &w->digit, &w->colour, &w->some, &w->twice,
                        &w->set, &w->names, &w->pair,  &w->table,  &w->list};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    type_finish(all[i], &w->m);
}

static void every_value_survives(void **unused) {
  (void)unused;
  struct world w;
  world_init(&w);
  const struct type *all[] = {&w.any, &w.flag,  &w.digit, &w.colour, &w.some, &w.twice,
                              &w.set, &w.names, &w.pair,  &w.table,  &w.list};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    for (uint64_t k = 0; k < all[i]->count; k++) {
      value v = type_nth(&w.m.values, all[i], k), back;
      struct text why = {0};
      json_t *j = value_to_json(&w.m, all[i], v);
      char *dump = json_dumps(j, JSON_ENCODE_ANY);
      json_t *again = json_loads(dump, JSON_DECODE_ANY, NULL);
      assert_true(value_from_json(&w.m, all[i], again, &back, &why));
      assert_int_equal(back, v);
      free(dump);
      json_decref(j);
      json_decref(again);
    }
  values_release(&w.m.values);
}

static void other_values_are_refused(void **unused) {
  (void)unused;
  struct world w;
  world_init(&w);
  const struct {
    const struct type *type;
    const char *json;
  } wrong[] = {{&w.flag, "1"},
               {&w.digit, "3"},
               {&w.digit, "1.5"},
               {&w.digit, "true"},
               {&w.colour, "\"blue\""},
               {&w.colour, "0"},
               {&w.any, "\"A(4)\""},
               {&w.any, "\"A(0)\""},
               {&w.any, "\"A(1\""},
               {&w.any, "\"C(1)\""},
               {&w.any, "\"A(1)x\""},
               {&w.any, "\"A(01)\""},
               {&w.any, "\"A( 1)\""},
               {&w.any, "\"A(+1)\""},
               {&w.any, "\"A(-1)\""},
               {&w.any, "\"A(4294967297)\""},
               {&w.any, "2"},
               {&w.some, "9"},
               {&w.twice, "1"},
               {&w.twice, "{\"some\": 7}"},
               {&w.set, "[\"red\"]"},
               {&w.set, "{\"set\": 3}"},
               {&w.set, "{\"set\": [\"blue\"]}"},
               {&w.pair, "{\"x\": 1}"},
               {&w.pair, "[1, \"A(1)\"]"},
               {&w.table, "[1]"},
               {&w.pair, "{\"x\": 1, \"y\": \"A(1)\"}"},
               {&w.list, "[\"red\", \"red\", \"red\"]"},
               {&w.table, "[1, 2, 3]"},
               {&w.list, "{}"},
               {&w.digit, "99999999999999999999.0"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    value v;
    struct text why = {0};
    json_t *j = json_loads(wrong[i].json, JSON_DECODE_ANY, NULL);
    assert_non_null(j);
    assert_false(value_from_json(&w.m, wrong[i].type, j, &v, &why));
    assert_true(why.n > 0);
    text_release(&why);
    json_decref(j);
  }
  values_release(&w.m.values);
}

static void text_that_is_no_utf8_is_kept_readable(void **unused) {
  (void)unused;
  json_t *j = text_to_json("caf\xe9 \xc3", 6);
  assert_string_equal(json_string_value(j), "caf? ?");
  json_decref(j);
  j = text_to_json("caf\xc3\xa9", 5);
  assert_string_equal(json_string_value(j), "caf\xc3\xa9");
  json_decref(j);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_value_survives),
      cmocka_unit_test(other_values_are_refused),
      cmocka_unit_test(text_that_is_no_utf8_is_kept_readable),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
