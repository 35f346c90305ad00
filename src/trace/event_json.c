#include "trace/event_json.h"

#include "base/memory.h"
#include "trace/trace.h"
#include "trace/value_json.h"

#include <string.h>

const char *const packet_place_names[3] = {"in_transit", "delivered", "seen"};
static const char *const kind_names[] = {"action", "deliver", "lose", "crash", "recover"};
#define NKINDS (sizeof kind_names / sizeof *kind_names)

json_t *line_to_json(const struct model *m, struct span at) {
  uint32_t line, column;
  if (at.from == 0 && at.to == 0)
    return json_null();
  source_place(&m->source, at.from, &line, &column);
  return json_integer(line);
}

/* --- writing --- */

json_t *message_to_json(const struct model *m, uint32_t kind, value v) {
  struct text text = {0};
  message_print(m, kind, v, &text);
  json_t *j = json_pack("{s:s, s:o, s:s}", "kind", m->messages[kind].name, "message",
                        value_to_json(m, m->messages[kind].type, v), "text", text.at);
  text_release(&text);
  return j;
}

static json_t *taken_to_json(const struct model *m, const struct event *e) {
  json_t *j = json_array();
  uint32_t kind = event_message_kind(m, e);
  for (uint32_t i = 0; i < e->ntaken; i++) {
    const struct taken_message *taken = &e->taken[i];
    json_t *one = json_pack("{s:o}", "from", process_to_json(m, taken->from));
    json_object_update_new(one, message_to_json(m, kind, taken->message));
    json_object_set_new(one, "place", taken->forged ? json_null() : json_string(packet_place_names[taken->place]));
    json_object_set_new(one, "forged", json_boolean(taken->forged));
    json_object_set_new(one, "kept", json_boolean(taken->kept));
    json_array_append_new(j, one);
  }
  return j;
}

json_t *numbers_to_json(const uint32_t *at, uint32_t n) {
  json_t *j = json_array();
  for (uint32_t i = 0; i < n; i++)
    json_array_append_new(j, json_integer(at[i]));
  return j;
}

void event_to_json(const struct model *m, const struct event *e, json_t *into) {
  const struct action *action = event_action(m, e);
  json_object_set_new(into, "event", json_string(kind_names[e->kind]));
  json_object_set_new(into, "process", process_to_json(m, e->process));
  json_object_set_new(into, "action", action ? json_integer(e->action + 1) : json_null());
  json_object_set_new(into, "name", action ? json_string(action->name) : json_null());
  json_object_set_new(into, "line", action ? line_to_json(m, action->at) : json_null());
  json_object_set_new(into, "taken", taken_to_json(m, e));
  json_object_set_new(into, "choices", numbers_to_json(e->script.at, e->script.n));
  json_object_set_new(into, "out", numbers_to_json(e->out, e->nout));
}

/* --- reading --- */

static bool read_action(const json_t *j, const struct model *m, struct event *e, struct text *why) {
  const struct role *role = process_role(m, e->process);
  json_int_t number = json_integer_value(j);
  bool needed = e->kind == EVENT_ACTION;
  if ((!j || json_is_null(j)) && !needed)
    return true;
  if (!needed && e->kind != EVENT_CRASH) {
    text_addf(why, "an event '%s' has no action", kind_names[e->kind]);
    return false;
  }
  if (!json_is_integer(j) || number < 1 || number > (json_int_t)role->nactions) {
    text_addf(why, "'action' is not the number of an action of %s, 1 to %u", role->name, role->nactions);
    return false;
  }
  e->action = (uint32_t)number - 1;
  return true;
}

/* The message kind of the event; NO_KIND: none. */
static bool read_kind(const json_t *taken, const struct model *m, struct event *e, uint32_t *kind, struct text *why) {
  const char *name = json_string_value(json_object_get(json_array_get(taken, 0), "kind"));
  *kind = NO_KIND;
  if (e->action != NO_ACTION) {
    const struct action *a = &process_role(m, e->process)->actions[e->action];
    *kind = a->trigger == TRIGGER_NONE ? NO_KIND : a->kind;
  } else if (e->kind == EVENT_DELIVER || e->kind == EVENT_LOSE) {
    for (uint32_t i = 0; name && i < m->nmessages; i++)
      if (!strcmp(name, m->messages[i].name))
        *kind = i;
    if (*kind == NO_KIND) {
      text_addf(why, "there is no kind of messages '%.60s'", name ? name : "?");
      return false;
    }
    if (json_array_size(taken) != 1) {
      text_addf(why, "an event '%s' is about one message", kind_names[e->kind]);
      return false;
    }
    e->message_kind = *kind;
  }
  if (*kind == NO_KIND && json_array_size(taken) > 0) {
    text_add(why, "it takes a message, though it can take none");
    return false;
  }
  return true;
}

static bool read_place(const json_t *j, struct taken_message *taken, struct text *why) {
  const char *name = json_string_value(j);
  if (taken->forged)
    return true;
  for (unsigned i = 0; name && i < 3; i++)
    if (!strcmp(name, packet_place_names[i])) {
      taken->place = (enum packet_place)i;
      return true;
    }
  text_addf(why, "a message is 'in_transit', 'delivered' or 'seen', not '%.60s'", name ? name : "?");
  return false;
}

static bool read_taken(const json_t *list, struct model *m, struct event *e, struct text *why) {
  uint32_t kind;
  if (!read_kind(list, m, e, &kind, why))
    return false;
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t *one = json_array_get(list, i), *message = json_object_get(one, "message");
    struct taken_message taken = {.forged = json_is_true(json_object_get(one, "forged")),
                                  .kept = json_is_true(json_object_get(one, "kept"))};
    const char *name = json_string_value(json_object_get(one, "kind"));
    if (!name || strcmp(name, m->messages[kind].name) != 0) {
      text_addf(why, "it takes messages '%s', not '%.60s'", m->messages[kind].name, name ? name : "?");
      return false;
    }
    if (!message) {
      text_add(why, "'message' is missing");
      return false;
    }
    if (!process_from_json(m, json_object_get(one, "from"), &taken.from, why) ||
        !read_place(json_object_get(one, "place"), &taken, why) ||
        !value_from_json(m, m->messages[kind].type, message, &taken.message, why))
      return false;
    event_add_taken(e, taken);
  }
  return true;
}

bool numbers_from_json(const json_t *list, const char *what, uint32_t **at, uint32_t *n, struct text *why) {
  *n = (uint32_t)json_array_size(list);
  *at = memory_alloc((*n + (size_t)1) * sizeof **at);
  for (size_t i = 0; i < *n; i++) {
    json_int_t v = json_integer_value(json_array_get(list, i));
    if (!json_is_integer(json_array_get(list, i)) || v < 0 || v > UINT32_MAX) {
      text_addf(why, "'%s' has what is not a small number", what);
      return false;
    }
    (*at)[i] = (uint32_t)v;
  }
  return true;
}

static bool read_choices(const json_t *j, struct event *e, struct text *why) {
  uint32_t *at, n;
  bool ok = numbers_from_json(json_object_get(j, "choices"), "choices", &at, &n, why);
  if (ok)
    event_set_script(e, at, n);
  memory_free(at);
  return ok;
}

static bool read_out(const json_t *j, struct event *e, struct text *why) {
  uint32_t *at, n;
  bool ok = numbers_from_json(json_object_get(j, "out"), "out", &at, &n, why);
  for (size_t i = 0; i < n && ok; i++) {
    ok = i == 0 || at[i - 1] < at[i];
    if (ok)
      event_add_out(e, at[i]);
    else
      text_add(why, "'out' is not ascending");
  }
  memory_free(at);
  return ok;
}

bool event_from_json(const json_t *j, struct model *m, struct witness *w, struct text *why) {
  struct event *e = w->event;
  const char *name = json_string_value(json_object_get(j, "event"));
  unsigned kind = 0;
  while (kind < NKINDS && (!name || strcmp(name, kind_names[kind]) != 0))
    kind++;
  if (kind == NKINDS) {
    text_addf(why, "unknown event '%.60s'", name ? name : "?");
    return false;
  }
  e->kind = (enum event_kind)kind;
  return process_from_json(m, json_object_get(j, "process"), &e->process, why) &&
         read_action(json_object_get(j, "action"), m, e, why) && read_taken(json_object_get(j, "taken"), m, e, why) &&
         read_choices(j, e, why) && read_out(j, e, why);
}
