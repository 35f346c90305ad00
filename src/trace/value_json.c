#include "trace/value_json.h"

#include "base/memory.h"
#include "base/vec.h"
#include "model/model_print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

json_t *text_to_json(const char *at, size_t n) {
  json_t *j = json_stringn(at, n);
  if (j)
    return j;
  struct text ascii = {0};
  for (size_t i = 0; i < n; i++)
    text_add_n(&ascii, (unsigned char)at[i] < 0x80 ? &at[i] : "?", 1);
  j = json_stringn(text_or_empty(&ascii), n);
  text_release(&ascii);
  return j;
}

json_t *process_to_json(const struct model *m, uint32_t process) {
  struct text name = {0};
  value_print(&m->values, m, m->processes, process, &name);
  json_t *j = json_string(name.at);
  text_release(&name);
  return j;
}

bool process_from_name(const struct model *m, const char *name, uint32_t *process) {
  for (uint32_t r = 0; r < m->nroles; r++) {
    const struct role *role = &m->roles[r];
    size_t n = strlen(role->name);
    if (strncmp(name, role->name, n) != 0 || name[n] != '(')
      continue;
    const char *digits = name + n + 1;
    char *end;
    unsigned long number = strtoul(digits, &end, 10);
    if (*digits >= '1' && *digits <= '9' && strcmp(end, ")") == 0 && number <= role->count) { /* one name each */
      *process = role->first + (uint32_t)number - 1;
      return true;
    }
  }
  return false;
}

bool process_from_json(const struct model *m, const json_t *j, uint32_t *process, struct text *why) {
  const char *name = json_string_value(j);
  if (name && process_from_name(m, name, process))
    return true;
  if (name)
    text_addf(why, "there is no process '%.60s'", name);
  else
    text_add(why, "a process must be named by a string such as \"P(1)\"");
  return false;
}

static json_t *parts_to_json(const struct model *m, const struct type *t, value v) {
  size_t n;
  const value *part = value_parts(&m->values, v, &n);
  json_t *j = t->kind == TYPE_RECORD ? json_object() : json_array();
  for (size_t i = 0; i < n; i++)
    if (t->kind == TYPE_RECORD)
      json_object_set_new(j, t->fields[i].name, value_to_json(m, t->fields[i].type, part[i]));
    else
      json_array_append_new(j, value_to_json(m, t->element, part[i]));
  return j;
}

static json_t *set_to_json(const struct model *m, const struct type *t, value v) {
  json_t *members = json_array(), *j = json_object();
  value member;
  for (uint64_t cursor = 0; set_member(&m->values, t, v, &cursor, &member);)
    json_array_append_new(members, value_to_json(m, t->element, member));
  json_object_set_new(j, "set", members);
  return j;
}

static json_t *option_to_json(const struct model *m, const struct type *t, value v) {
  if (v == VALUE_NONE)
    return json_null();
  json_t *j = value_to_json(m, t->element, value_unwrap(v));
  if (t->element->kind != TYPE_OPTION)
    return j;
  json_t *some = json_object();
  json_object_set_new(some, "some", j);
  return some;
}

json_t *value_to_json(const struct model *m, const struct type *t, value v) {
  switch (t->kind) {
  case TYPE_BOOL:
    return json_boolean(v);
  case TYPE_INT:
  case TYPE_RANGE:
  case TYPE_ROUND:
    return json_integer(v);
  case TYPE_ENUM:
    return json_string(t->labels[v]);
  case TYPE_PROCESS:
    return process_to_json(m, (uint32_t)v);
  case TYPE_OPTION:
    return option_to_json(m, t, v);
  case TYPE_SET:
    return set_to_json(m, t, v);
  case TYPE_RECORD:
  case TYPE_ARRAY:
  case TYPE_SEQUENCE:
    return parts_to_json(m, t, v);
  case TYPE_BAG:
  case TYPE_ERROR:
    break;
  }
  return json_null();
}

/* --- and back --- */

static bool mismatch(const struct model *m, const struct type *t, const json_t *j, struct text *why) {
  char *found = json_dumps(j, JSON_ENCODE_ANY | JSON_COMPACT);
  text_addf(why, "%.60s%s is no value of type ", found ? found : "?", found && strlen(found) > 60 ? "..." : "");
  type_print(m, t, why);
  free(found);
  return false;
}

static bool label_from_json(const struct type *t, const json_t *j, value *v) {
  const char *label = json_string_value(j);
  for (uint32_t i = 0; label && i < t->size; i++)
    if (!strcmp(label, t->labels[i])) {
      *v = i;
      return true;
    }
  return false;
}

static bool parts_from_json(struct model *m, const struct type *t, const json_t *j, value *v, struct text *why) {
  bool record = t->kind == TYPE_RECORD;
  if (record ? !json_is_object(j) : !json_is_array(j))
    return mismatch(m, t, j, why);
  size_t n = record ? t->size : json_array_size(j);
  if ((record && json_object_size(j) != n) || (t->kind == TYPE_ARRAY && n != t->index->count))
    return mismatch(m, t, j, why);
  value *part = memory_alloc((n + 1) * sizeof *part);
  bool ok = true;
  for (size_t i = 0; i < n && ok; i++) {
    const json_t *at = record ? json_object_get(j, t->fields[i].name) : json_array_get(j, i);
    const struct type *type = record ? t->fields[i].type : t->element;
    ok = at ? value_from_json(m, type, at, &part[i], why) : mismatch(m, t, j, why);
  }
  if (ok)
    *v = value_vector(&m->values, part, n);
  memory_free(part);
  return ok;
}

static bool set_from_json(struct model *m, const struct type *t, const json_t *j, value *v, struct text *why) {
  const json_t *members = json_object_get(j, "set");
  if (!json_is_array(members))
    return mismatch(m, t, j, why);
  *v = set_empty(&m->values, t);
  for (size_t i = 0; i < json_array_size(members); i++) {
    value member;
    if (!value_from_json(m, t->element, json_array_get(members, i), &member, why))
      return false;
    *v = set_insert(&m->values, t, *v, member);
  }
  return true;
}

static bool option_from_json(struct model *m, const struct type *t, const json_t *j, value *v, struct text *why) {
  *v = VALUE_NONE;
  if (json_is_null(j))
    return true;
  const json_t *inner = t->element->kind == TYPE_OPTION ? json_object_get(j, "some") : j;
  if (!inner)
    return mismatch(m, t, j, why);
  value element;
  if (!value_from_json(m, t->element, inner, &element, why))
    return false;
  *v = value_wrap(element);
  return true;
}

static bool read_value(struct model *m, const struct type *t, const json_t *j, value *v, struct text *why) {
  uint32_t process;
  switch (t->kind) {
  case TYPE_BOOL:
    *v = json_is_true(j);
    return json_is_boolean(j) || mismatch(m, t, j, why);
  case TYPE_INT:
  case TYPE_RANGE:
  case TYPE_ROUND:
    *v = json_integer_value(j);
    return json_is_integer(j) || mismatch(m, t, j, why);
  case TYPE_ENUM:
    return label_from_json(t, j, v) || mismatch(m, t, j, why);
  case TYPE_PROCESS:
    if (!process_from_json(m, j, &process, why))
      return false;
    *v = process;
    return true;
  case TYPE_OPTION:
    return option_from_json(m, t, j, v, why);
  case TYPE_SET:
    return set_from_json(m, t, j, v, why);
  case TYPE_RECORD:
  case TYPE_ARRAY:
  case TYPE_SEQUENCE:
    return parts_from_json(m, t, j, v, why);
  case TYPE_BAG:
  case TYPE_ERROR:
    break;
  }
  return mismatch(m, t, j, why);
}

bool value_from_json(struct model *m, const struct type *t, const json_t *j, value *v, struct text *why) {
  if (!read_value(m, t, j, v, why))
    return false;
  return type_has(&m->values, t, *v) || mismatch(m, t, j, why);
}
