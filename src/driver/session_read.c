/* Rounds of sessions, from JSON. What it says is judged by the session; here it must have the right types and fit into
 * them. */
#include "driver/session_json.h"

#include <inttypes.h>
#include <string.h>

#define LIST_ENTRIES_MAX 65536 /* elements */

json_t *json_read(const char *text, struct text *why) {
  json_error_t error;
  if (!text) {
    text_add(why, "there is no JSON");
    return NULL;
  }
  json_t *j = json_loadb(text, strlen(text), JSON_REJECT_DUPLICATES, &error);
  if (!j)
    text_addf(why, "this is not JSON: line %d, column %d: %s", error.line, error.column, error.text);
  return j;
}

struct round_reader {
  const struct model *model;
  uint32_t nprocesses;
  uint32_t process; /* whose part is read */
  struct arena *arena;
  struct text *why;
};

static bool fail_key(struct round_reader *r, const char *key, const char *what) {
  text_addf(r->why, "process %u: '%s' %s", r->process, key, what);
  return false;
}

/* --- numbers --- */

static bool digits_read(const char *s, uint64_t *n) {
  *n = 0;
  for (; *s >= '0' && *s <= '9'; s++) {
    uint64_t digit = (uint64_t)(*s - '0');
    if (*n > (UINT64_MAX - digit) / 10)
      return false;
    *n = *n * 10 + digit;
  }
  return *s == '\0';
}

/* As number_to_json writes it. */
static bool number_read(const json_t *j, uint64_t most, uint64_t *n) {
  *n = 0;
  if (json_is_string(j) && json_string_length(j) > 0)
    return digits_read(json_string_value(j), n) && *n <= most;
  if (!json_is_integer(j) || json_integer_value(j) < 0)
    return false;
  *n = (uint64_t)json_integer_value(j);
  return *n <= most;
}

/* A missing list is empty. */
static bool list_read(struct round_reader *r, const json_t *part, const char *key, const json_t **list, uint32_t *n) {
  *list = json_object_get(part, key);
  *n = 0;
  if (*list && !json_is_array(*list))
    return fail_key(r, key, "must be a list");
  if (json_array_size(*list) > LIST_ENTRIES_MAX)
    return fail_key(r, key, "is too long");
  *n = (uint32_t)json_array_size(*list);
  return true;
}

/* --- the fields of a part --- */

static bool heard_read(struct round_reader *r, const json_t *part, uint64_t *heard) {
  const json_t *list;
  uint32_t n;
  uint64_t q;
  if (!list_read(r, part, "heard", &list, &n))
    return false;
  if (!list) {
    *heard = UINT64_MAX >> (SESSION_ROUND_PROCESSES - r->nprocesses);
    return true;
  }
  for (uint32_t i = 0; i < n; i++) {
    if (!number_read(json_array_get(list, i), r->nprocesses - 1, &q))
      return fail_key(r, "heard", "must have indices of processes");
    *heard |= UINT64_C(1) << q;
  }
  return true;
}

static bool crashes_read(struct round_reader *r, const json_t *part, bool *crashes) {
  const json_t *j = json_object_get(part, "crashes");
  if (j && !json_is_boolean(j))
    return fail_key(r, "crashes", "must be true or false");
  *crashes = json_is_true(j);
  return true;
}

/* If they are left out they have their first values. */
static bool oracles_read(struct round_reader *r, const json_t *part, struct session_part *out) {
  const json_t *list;
  if (!list_read(r, part, "oracles", &list, &out->noracles))
    return false;
  if (!list) {
    out->noracles = r->model->roles[model_role_of(r->model, r->process)].nvars; /* and not all of them are oracles */
    out->oracles = arena_array(r->arena, out->noracles + (size_t)1, sizeof *out->oracles);
    return true;
  }
  out->oracles = arena_array(r->arena, out->noracles + (size_t)1, sizeof *out->oracles);
  for (uint32_t i = 0; i < out->noracles; i++)
    if (!number_read(json_array_get(list, i), UINT64_MAX, &out->oracles[i]))
      return fail_key(r, "oracles", "must have numbers of values, from 0");
  return true;
}

static bool picks_read(struct round_reader *r, const json_t *part, const char *key, uint32_t **picks,
                       uint32_t *npicks) {
  const json_t *list;
  uint64_t n;
  if (!list_read(r, part, key, &list, npicks))
    return false;
  *picks = arena_array(r->arena, *npicks + (size_t)1, sizeof **picks);
  for (uint32_t i = 0; i < *npicks; i++) {
    if (!number_read(json_array_get(list, i), UINT32_MAX, &n))
      return fail_key(r, key, "must have numbers of alternatives, from 0");
    (*picks)[i] = (uint32_t)n;
  }
  return true;
}

static bool keys_known(const json_t *object, const char *const *keys, struct text *why) {
  const char *key;
  json_t *ignored;
  json_object_foreach((json_t *)object, key, ignored) {
    size_t i = 0;
    while (keys[i] && strcmp(keys[i], key) != 0)
      i++;
    if (!keys[i] && strlen(key) <= 40)
      text_addf(why, "unknown key '%s'", key);
    else if (!keys[i])
      text_add(why, "unknown key");
    if (!keys[i])
      return false;
  }
  return true;
}

static bool forged_read(struct round_reader *r, const json_t *part, struct session_part *out) {
  static const char *const keys[] = {"sender", "payload", NULL};
  const json_t *list;
  uint64_t sender;
  if (!list_read(r, part, "forged", &list, &out->nforged))
    return false;
  out->forged = arena_array(r->arena, out->nforged + (size_t)1, sizeof *out->forged);
  for (uint32_t i = 0; i < out->nforged; i++) {
    const json_t *one = json_array_get(list, i);
    if (!json_is_object(one))
      return fail_key(r, "forged", "must have objects");
    if (!keys_known(one, keys, r->why))
      return false;
    if (!number_read(json_object_get(one, "sender"), r->nprocesses - 1, &sender))
      return fail_key(r, "sender", "must be the index of a process");
    if (!number_read(json_object_get(one, "payload"), UINT64_MAX, &out->forged[i].payload))
      return fail_key(r, "payload", "must be the number of a value, from 0");
    out->forged[i].sender = (uint32_t)sender;
  }
  return true;
}

static bool part_read(struct round_reader *r, const json_t *part, struct session_part *out) {
  static const char *const keys[] = {"heard", "crashes", "oracles", "sends", "updates", "forged", NULL};
  if (!json_is_object(part)) {
    text_addf(r->why, "process %u: its part must be an object", r->process);
    return false;
  }
  return keys_known(part, keys, r->why) && heard_read(r, part, &out->heard) && crashes_read(r, part, &out->crashes) &&
         oracles_read(r, part, out) && picks_read(r, part, "sends", &out->sends, &out->nsends) &&
         picks_read(r, part, "updates", &out->updates, &out->nupdates) && forged_read(r, part, out);
}

/* --- the round --- */

static bool parts_found(const json_t *j, uint32_t nprocesses, bool async, const json_t **parts, struct text *why) {
  const char *const keys[] = {"parts", async ? "process" : NULL, NULL};
  if (!json_is_object(j)) {
    text_add(why, "a round must be an object");
    return false;
  }
  *parts = json_object_get(j, "parts");
  if (!keys_known(j, keys, why))
    return false;
  if (!json_is_array(*parts) || json_array_size(*parts) != nprocesses || nprocesses == 0 ||
      nprocesses > SESSION_ROUND_PROCESSES) {
    text_addf(why, "'parts' must be a list with one object for each of the %u processes", nprocesses);
    return false;
  }
  return true;
}

/* Who ends it, in asynchronous rounds. */
static bool process_read(const json_t *j, uint32_t nprocesses, uint32_t *process, struct text *why) {
  const json_t *given = json_object_get(j, "process");
  uint64_t n;
  *process = SESSION_NO_PROCESS;
  if (!given)
    return true;
  if (!number_read(given, nprocesses - 1, &n)) {
    text_add(why, "'process' must be the index of a process");
    return false;
  }
  *process = (uint32_t)n;
  return true;
}

bool session_round_read(const json_t *j, const struct model *m, bool async, struct session_round *out,
                        struct text *why) {
  const json_t *parts;
  uint32_t nprocesses = m->nprocesses;
  *out = (struct session_round){0};
  if (!parts_found(j, nprocesses, async, &parts, why) || !process_read(j, nprocesses, &out->process, why))
    return false;
  arena_init(&out->arena);
  struct round_reader r = {.model = m, .nprocesses = nprocesses, .arena = &out->arena, .why = why};
  out->parts = arena_array(&out->arena, nprocesses, sizeof *out->parts);
  out->nparts = nprocesses;
  for (; r.process < nprocesses; r.process++)
    if (!part_read(&r, json_array_get(parts, r.process), &out->parts[r.process])) {
      session_round_release(out);
      return false;
    }
  return true;
}
