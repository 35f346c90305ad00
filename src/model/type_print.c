/* Types and values as text. */
#include "model/type_print.h"

#include <inttypes.h>

static void print_record_type(const struct model *m, const struct type *t, struct text *out) {
  text_add(out, "(");
  for (uint32_t i = 0; i < t->size; i++) {
    text_addf(out, "%s%s: ", i ? ", " : "", t->fields[i].name);
    type_print(m, t->fields[i].type, out);
  }
  text_add(out, ")");
}

static void print_sequence_type(const struct model *m, const struct type *t, struct text *out) {
  text_add(out, "seq of ");
  type_print(m, t->element, out);
  text_addf(out, " up to %" PRId64 "%s", t->hi, t->distinct ? " distinct" : "");
}

static void print_enum_type(const struct type *t, struct text *out) {
  text_add(out, "{");
  for (uint32_t i = 0; i < t->size; i++)
    text_addf(out, "%s%s", i ? ", " : "", t->labels[i]);
  text_add(out, "}");
}

void type_print(const struct model *m, const struct type *t, struct text *out) {
  if (t->name) {
    text_add(out, t->name);
    return;
  }
  switch (t->kind) {
  case TYPE_BOOL:
    text_add(out, "bool");
    return;
  case TYPE_INT:
    text_add(out, "int");
    return;
  case TYPE_RANGE:
    text_addf(out, "%" PRId64 "..%" PRId64, t->lo, t->hi);
    return;
  case TYPE_ENUM:
    print_enum_type(t, out);
    return;
  case TYPE_PROCESS:
    text_add(out, t->role == ROLE_ANY ? "process" : m->roles[t->role].name);
    return;
  case TYPE_ROUND:
    text_add(out, "round");
    return;
  case TYPE_OPTION:
    type_print(m, t->element, out);
    text_add(out, "?");
    return;
  case TYPE_SET:
  case TYPE_BAG:
    text_add(out, t->kind == TYPE_SET ? "set of " : "messages of type ");
    type_print(m, t->element, out);
    return;
  case TYPE_RECORD:
    print_record_type(m, t, out);
    return;
  case TYPE_ARRAY:
    text_add(out, "[");
    type_print(m, t->index, out);
    text_add(out, "] ");
    type_print(m, t->element, out);
    return;
  case TYPE_SEQUENCE:
    print_sequence_type(m, t, out);
    return;
  case TYPE_ERROR:
    text_add(out, "?");
    return;
  }
}

static void print_parts(const struct values *values, const struct model *m, const struct type *t, value v,
                        const char *open, const char *shut, struct text *out) {
  size_t n;
  const value *part = value_parts(values, v, &n);
  text_add(out, open);
  for (size_t i = 0; i < n; i++) {
    text_add(out, i ? ", " : "");
    if (t->kind == TYPE_RECORD && t->fields[i].name[0] != '_')
      text_addf(out, "%s: ", t->fields[i].name);
    value_print(values, m, type_part(t, i), part[i], out);
  }
  text_add(out, shut);
}

static void print_set(const struct values *values, const struct model *m, const struct type *t, value v,
                      struct text *out) {
  value member;
  const char *between = "";
  text_add(out, "{");
  for (uint64_t cursor = 0; set_member(values, t, v, &cursor, &member); between = ", ") {
    text_add(out, between);
    value_print(values, m, t->element, member, out);
  }
  text_add(out, "}");
}

void value_print(const struct values *values, const struct model *m, const struct type *t, value v, struct text *out) {
  switch (t->kind) {
  case TYPE_BOOL:
    text_add(out, v ? "true" : "false");
    return;
  case TYPE_ENUM:
    text_add(out, v >= 0 && v < (value)t->size ? t->labels[v] : "?");
    return;
  case TYPE_PROCESS: {
    const struct role *role = &m->roles[model_role_of(m, v)];
    text_addf(out, "%s(%" PRId64 ")", role->name, v - (value)role->first + 1);
    return;
  }
  case TYPE_OPTION:
    if (v == VALUE_NONE)
      text_add(out, "none");
    else
      value_print(values, m, t->element, value_unwrap(v), out);
    return;
  case TYPE_SET:
    print_set(values, m, t, v, out);
    return;
  case TYPE_RECORD:
    print_parts(values, m, t, v, "(", ")", out);
    return;
  case TYPE_ARRAY:
  case TYPE_SEQUENCE:
  case TYPE_BAG:
    print_parts(values, m, t, v, "[", "]", out);
    return;
  case TYPE_INT:
  case TYPE_RANGE:
  case TYPE_ROUND:
  case TYPE_ERROR:
    text_addf(out, "%" PRId64, v);
    return;
  }
}
