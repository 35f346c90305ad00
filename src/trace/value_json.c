#include "trace/value_json.h"

#include "base/memory.h"
#include "base/vec.h"
#include "model/type_print.h"

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
  value_print(&m->values, m, m->process_types.any, process, &name);
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
    if (*digits >= '1' && *digits <= '9' && strcmp(end, ")") == 0 && number <= role->count) { /* no leading zeros */
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

/* Writes rondo's own format, or ITF. */
static json_t *write_value(const struct model *m, const struct type *t, value v, bool itf);

static json_t *write_record(const struct model *m, const struct type *t, value v, bool itf) {
  size_t n;
  json_t *j = json_object();
  value_parts(&m->values, v, &n);
  for (size_t i = 0; i < n; i++)
    json_object_set_new(j, t->fields[i].name,
                        write_value(m, t->fields[i].type, value_parts(&m->values, v, &n)[i], itf));
  return j;
}

/* Elements of an array or a sequence. ITF: an array is a map from its indices. */
static json_t *write_elements(const struct model *m, const struct type *t, value v, bool itf) {
  bool map = itf && t->kind == TYPE_ARRAY;
  size_t n;
  json_t *j = json_array();
  value_parts(&m->values, v, &n);
  for (size_t i = 0; i < n; i++) {
    json_t *element = write_value(m, t->element, value_parts(&m->values, v, &n)[i], itf);
    value index = map ? type_nth((struct values *)&m->values, t->index, i) : 0;
    json_array_append_new(j, map ? json_pack("[o, o]", write_value(m, t->index, index, itf), element) : element);
  }
  return map ? json_pack("{s:o}", "#map", j) : j;
}

static json_t *write_set(const struct model *m, const struct type *t, value v, bool itf) {
  json_t *members = json_array();
  value member;
  for (uint64_t cursor = 0; set_member(&m->values, t, v, &cursor, &member);)
    json_array_append_new(members, write_value(m, t->element, member, itf));
  return json_pack("{s:o}", itf ? "#set" : "set", members);
}

/* ITF: a set of at most one element, as docs/language.md defines options. */
static json_t *write_option(const struct model *m, const struct type *t, value v, bool itf) {
  if (v == VALUE_NONE)
    return itf ? json_pack("{s:[]}", "#set") : json_null();
  json_t *j = write_value(m, t->element, value_unwrap(v), itf);
  if (itf)
    return json_pack("{s:[o]}", "#set", j);
  return t->element->kind == TYPE_OPTION ? json_pack("{s:o}", "some", j) : j;
}

json_t *number_to_itf(int64_t n) {
  struct text digits = {0};
  text_addf(&digits, "%" PRId64, n);
  json_t *j = json_pack("{s:s}", "#bigint", digits.at);
  text_release(&digits);
  return j;
}

static json_t *write_value(const struct model *m, const struct type *t, value v, bool itf) {
  switch (t->kind) {
  case TYPE_BOOL:
    return json_boolean(v);
  case TYPE_INT:
  case TYPE_RANGE:
  case TYPE_ROUND:
    return itf ? number_to_itf(v) : json_integer(v);
  case TYPE_ENUM:
    return json_string(t->labels[v]);
  case TYPE_PROCESS:
    return process_to_json(m, (uint32_t)v);
  case TYPE_OPTION:
    return write_option(m, t, v, itf);
  case TYPE_SET:
    return write_set(m, t, v, itf);
  case TYPE_RECORD:
    return write_record(m, t, v, itf);
  case TYPE_ARRAY:
  case TYPE_SEQUENCE:
    return write_elements(m, t, v, itf);
  case TYPE_BAG:
  case TYPE_ERROR:
    break;
  }
  return json_null();
}

json_t *value_to_json(const struct model *m, const struct type *t, value v) { return write_value(m, t, v, false); }

json_t *value_to_itf(const struct model *m, const struct type *t, value v) { return write_value(m, t, v, true); }

/* --- reading --- */

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
