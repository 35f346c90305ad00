/* What a page asks of a session: docs/explore-api.md. Every request carries the path that it is about. */
#include "explore/explore_server.h"

#include <stdlib.h>
#include <string.h>

#define EXPRESSIONS_MAX 32
#define POSITIONS_MAX 2000
#define CHOICES_DEFAULT 200
#define TOGGLE_SECONDS 0.05  /* for the cells that come with the desk */
#define TOGGLES_SECONDS 0.25 /* for those that are asked for */

struct session_request {
  struct explore_server *server;
  struct explore_session *session;
  struct session_cursor *cursor;
  rondo_session *run; /* of the cursor */
  const json_t *body;
  struct reply *reply;
  FILE *out;
  size_t kept;
  char *cut; /* lenient: why the path was not taken in full */
};

/* --- parts of a request --- */

static size_t size_or(const json_t *body, const char *key, size_t otherwise, size_t most) {
  const json_t *j = json_object_get(body, key);
  if (!json_is_integer(j) || json_integer_value(j) < 0)
    return otherwise < most ? otherwise : most;
  size_t n = (size_t)json_integer_value(j);
  return n < most ? n : most;
}

static uint64_t offset_of(const json_t *body) {
  const json_t *j = json_object_get(body, "offset");
  if (json_is_string(j))
    return strtoull(json_string_value(j), NULL, 10);
  return json_is_integer(j) && json_integer_value(j) > 0 ? (uint64_t)json_integer_value(j) : 0;
}

static bool fail(struct session_request *c) {
  bool interrupted = rondo_session_interrupted(c->run);
  reply_error(c->reply, interrupted ? 503 : 409, "%s",
              interrupted ? "this takes too much time or memory" : rondo_session_error(c->run));
  return false;
}

/* Writes "key": answer, with a comma in front unless it is the first. False: the call failed. */
static bool put(struct session_request *c, const char *key, char *answer) {
  if (!answer)
    return fail(c);
  fprintf(c->out, "%s\"%s\":%s", ftell(c->out) > 1 ? "," : "", key, answer);
  rondo_string_free(answer);
  return true;
}

/* The JSON of a member of the request, as text; NULL: it is not there. To be freed. */
static char *member_text(const json_t *body, const char *key) {
  const json_t *j = json_object_get(body, key);
  return j && !json_is_null(j) ? json_dumps(j, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
}

/* --- states and choices --- */

static bool put_choices(struct session_request *c) {
  size_t max = size_or(c->body, "max", CHOICES_DEFAULT, 10000);
  uint64_t offset = offset_of(c->body);
  return put(c, "choices", rondo_session_choices(c->run, offset, max)) &&
         put(c, "forbidden", rondo_session_forbidden(c->run, 0, CHOICES_DEFAULT));
}

static bool call_look(struct session_request *c) {
  size_t length = rondo_session_length(c->run);
  bool failed = rondo_session_failed(c->run);
  size_t position = size_or(c->body, "position", length, length);
  if (failed && position == length && length > 0)
    position--; /* there is no state after an error */
  fprintf(c->out, "\"kept\":%zu,\"length\":%zu,\"position\":%zu,\"cut\":", c->kept, length, position);
  write_string(c->out, c->cut);
  if (!put(c, "info", rondo_session_info(c->run)) || !put(c, "state", rondo_session_state(c->run, position)) ||
      !put(c, "properties", rondo_session_properties(c->run, position)))
    return false;
  if (position > 0 && !put(c, "taken", rondo_session_taken(c->run, position - 1)))
    return false;
  if (failed && length > 0 && !put(c, "failing", rondo_session_taken(c->run, length - 1)))
    return false;
  if (position == length && !failed) {
    size_t loop;
    bool found = rondo_session_find_loop(c->run, &loop);
    fprintf(c->out, ",\"repeats\":%s", found ? "" : "null");
    if (found)
      fprintf(c->out, "%zu", loop);
  }
  return position < length || failed || (c->session->rounds && !json_is_true(json_object_get(c->body, "choices"))) ||
         put_choices(c);
}

/* What happened in some steps of the path, for a history. */
static bool call_taken(struct session_request *c) {
  size_t length = rondo_session_length(c->run), from = size_or(c->body, "from", 0, length),
         to = size_or(c->body, "to", length, length);
  fprintf(c->out, "\"taken\":[");
  for (size_t i = from; i < to; i++) {
    char *one = rondo_session_taken(c->run, i);
    if (!one)
      return fail(c);
    fprintf(c->out, "%s%s", i > from ? "," : "", one);
    rondo_string_free(one);
  }
  fprintf(c->out, "]");
  return true;
}

static bool call_choices(struct session_request *c) { return put_choices(c); }

static bool call_initials(struct session_request *c) {
  uint64_t n = 0;
  bool exact = false;
  if (!rondo_session_count_initials(c->run, 10000, &n, &exact))
    return fail(c);
  fprintf(c->out, "\"count\":%llu,\"exact\":%s", (unsigned long long)n, exact ? "true" : "false");
  return put(c, "initials", rondo_session_initials(c->run, offset_of(c->body), size_or(c->body, "max", 100, 1000)));
}

/* --- rounds --- */

/* null: allowed; else the judgement. */
static void put_judgement(struct session_request *c, const json_t *round) {
  char *text = json_dumps(round, JSON_COMPACT), *answer = text ? rondo_session_judge(c->run, text) : NULL;
  json_t *j = answer ? json_loads(answer, 0, NULL) : NULL;
  if (!j)
    fprintf(c->out, "{\"allowed\":false,\"why\":\"not possible\"}");
  else if (json_is_true(json_object_get(j, "allowed")))
    fprintf(c->out, "null");
  else
    fputs(answer, c->out);
  json_decref(j);
  rondo_string_free(answer);
  free(text);
}

static void flip_heard(json_t *part, size_t q) {
  json_t *heard = json_object_get(part, "heard");
  for (size_t i = 0; i < json_array_size(heard); i++)
    if ((size_t)json_integer_value(json_array_get(heard, i)) == q) {
      json_array_remove(heard, i);
      return;
    }
  size_t at = 0;
  while (at < json_array_size(heard) && (size_t)json_integer_value(json_array_get(heard, at)) < q)
    at++;
  json_array_insert_new(heard, at, json_integer((json_int_t)q));
}

/* What the environment says about the round with one cell changed. The cells of a process have the numbers
   p * (n + 1) + q, the last one being its crash. */
static void put_toggle(struct session_request *c, json_t *round, size_t cell) {
  json_t *parts = json_object_get(round, "parts");
  size_t n = json_array_size(parts), q = cell % (n + 1);
  json_t *part = json_array_get(parts, cell / (n + 1));
  bool crashes = json_is_true(json_object_get(part, "crashes"));
  if (q < n) {
    flip_heard(part, q);
    put_judgement(c, round);
    flip_heard(part, q);
  } else {
    json_object_set_new(part, "crashes", json_boolean(!crashes));
    put_judgement(c, round);
    json_object_set_new(part, "crashes", json_boolean(crashes));
  }
}

/* Those that there is time for: "toggles" are cells from a number on. */
static void put_toggles(struct session_request *c, json_t *round, size_t from, double seconds) {
  size_t n = json_array_size(json_object_get(round, "parts")), end = n * (n + 1);
  double until = seconds_now() + seconds;
  fprintf(c->out, ",\"toggles\":[");
  for (size_t cell = from; cell < end && (cell == from || seconds_now() < until); cell++) {
    fputs(cell > from ? "," : "", c->out);
    put_toggle(c, round, cell);
  }
  fprintf(c->out, "]");
}

/* The state that the round leads to, or null. */
static bool put_after(struct session_request *c, const char *round) {
  if (!rondo_session_take_round(c->run, round)) {
    fprintf(c->out, ",\"after\":null");
    return true;
  }
  size_t length = rondo_session_length(c->run);
  bool ok = rondo_session_failed(c->run) ? fprintf(c->out, ",\"after\":null") > 0
                                         : put(c, "after", rondo_session_state(c->run, length));
  if (!rondo_session_back(c->run, 1))
    ok = fail(c);
  return ok;
}

/* All keys of all parts, so that they can be changed. */
static json_t *full_round(struct session_request *c, const char *given) {
  char *full = rondo_session_full_round(c->run);
  json_t *whole = full ? json_loads(full, 0, NULL) : NULL, *round = given ? json_loads(given, 0, NULL) : NULL;
  json_t *parts = json_object_get(round, "parts");
  if (json_is_array(parts) && json_array_size(parts) == json_array_size(json_object_get(whole, "parts"))) {
    for (size_t p = 0; p < json_array_size(parts); p++)
      json_object_update(json_array_get(json_object_get(whole, "parts"), p), json_array_get(parts, p));
    if (json_object_get(round, "process"))
      json_object_set(whole, "process", json_object_get(round, "process"));
  }
  json_decref(round);
  rondo_string_free(full);
  return whole;
}

static bool call_desk(struct session_request *c) {
  char *given = member_text(c->body, "round");
  char *candidates = rondo_session_candidates(c->run, given); /* refuses a round that is malformed */
  json_t *round = candidates ? full_round(c, given) : NULL;
  char *text = round ? json_dumps(round, JSON_COMPACT) : NULL;
  bool ok = text && put(c, "candidates", candidates);
  if (!text) {
    rondo_string_free(candidates);
    fail(c);
  }
  ok = ok && put(c, "judge", rondo_session_judge(c->run, text));
  if (ok) {
    fprintf(c->out, ",\"round\":%s", text);
    ok = put_after(c, text);
  }
  if (ok)
    put_toggles(c, round, 0, TOGGLE_SECONDS);
  free(text);
  json_decref(round);
  free(given);
  return ok;
}

/* More of what the desk had no time for. */
static bool call_toggles(struct session_request *c) {
  char *given = member_text(c->body, "round");
  char *judged = given ? rondo_session_judge(c->run, given) : rondo_session_full_round(c->run);
  json_t *round = judged ? full_round(c, given) : NULL;
  bool ok = round != NULL;
  size_t from = size_or(c->body, "from", 0, SIZE_MAX);
  if (ok) {
    fprintf(c->out, "\"from\":%zu", from);
    put_toggles(c, round, from, TOGGLES_SECONDS);
  } else {
    fail(c);
  }
  rondo_string_free(judged);
  json_decref(round);
  free(given);
  return ok;
}

static bool call_outcomes(struct session_request *c) {
  size_t process = size_or(c->body, "process", 0, UINT32_MAX - 1);
  return put(c, "outcomes",
             rondo_session_outcomes(c->run, (uint32_t)process, size_or(c->body, "most", 20000, 1000000)));
}

static bool call_find_round(struct session_request *c) {
  char *wanted = member_text(c->body, "wanted");
  bool ok = put(c, "found",
                rondo_session_find_round(c->run, wanted ? wanted : "null", size_or(c->body, "most", 200000, 1000000)));
  free(wanted);
  return ok;
}

/* Values of an oracle, or messages that a process can receive: `count` texts from number `offset` on. */
static bool call_texts(struct session_request *c) {
  const json_t *oracle = json_object_get(c->body, "oracle");
  uint32_t process = (uint32_t)size_or(c->body, "process", 0, UINT32_MAX - 1);
  uint64_t offset = offset_of(c->body);
  size_t count = size_or(c->body, "count", 50, 200);
  fprintf(c->out, "\"texts\":[");
  for (size_t i = 0; i < count; i++) {
    char *text = json_is_integer(oracle)
                     ? rondo_session_oracle_text(c->run, process, (uint32_t)json_integer_value(oracle), offset + i)
                     : rondo_session_payload_text(c->run, process, offset + i);
    if (!text)
      break;
    fputs(i ? "," : "", c->out);
    write_string(c->out, text);
    rondo_string_free(text);
  }
  fprintf(c->out, "]");
  return true;
}

/* --- expressions --- */

static bool put_values(struct session_request *c, const char *text, size_t from, size_t to) {
  fprintf(c->out, "[");
  for (size_t i = from; i <= to; i++) {
    char *value = rondo_session_evaluate(c->run, i, text, false);
    if (!value)
      return fail(c);
    fprintf(c->out, "%s%s", i > from ? "," : "", value);
    json_t *j = i == from ? json_loads(value, 0, NULL) : NULL;
    bool hopeless = json_array_size(json_object_get(j, "diagnostics")) > 0; /* an error in its text */
    json_decref(j);
    rondo_string_free(value);
    if (hopeless)
      break;
  }
  fprintf(c->out, "]");
  return true;
}

static bool call_evaluate(struct session_request *c) {
  const json_t *expressions = json_object_get(c->body, "expressions");
  size_t length = rondo_session_length(c->run), last = rondo_session_failed(c->run) && length ? length - 1 : length;
  size_t to = size_or(c->body, "to", last, last), from = size_or(c->body, "from", 0, to);
  if (!json_is_array(expressions) || json_array_size(expressions) > EXPRESSIONS_MAX || to - from > POSITIONS_MAX) {
    reply_error(c->reply, 400, "'expressions' must be a list of at most %d texts", EXPRESSIONS_MAX);
    return false;
  }
  fprintf(c->out, "\"from\":%zu,\"values\":[", from);
  for (size_t i = 0; i < json_array_size(expressions); i++) {
    const char *text = json_string_value(json_array_get(expressions, i));
    fputs(i ? "," : "", c->out);
    if (!put_values(c, text ? text : "", from, to))
      return false;
  }
  fprintf(c->out, "]");
  return true;
}

/* --- traces --- */

static bool call_save(struct session_request *c) {
  const char *property = json_string_value(json_object_get(c->body, "property"));
  const char *format = json_string_value(json_object_get(c->body, "format"));
  char *text = rondo_session_export(c->run, format ? format : "trace", property);
  if (!text)
    return fail(c);
  fprintf(c->out, "\"text\":");
  write_string(c->out, text);
  rondo_string_free(text);
  return true;
}

static bool call_svg(struct session_request *c) {
  char *options = member_text(c->body, "options"), *text = rondo_session_svg(c->run, options);
  free(options);
  if (!text)
    return fail(c);
  fprintf(c->out, "\"svg\":");
  write_string(c->out, text);
  rondo_string_free(text);
  return true;
}

/* The entry of one step in the trace: what was sent, received and changed, with lines. */
static bool call_step(struct session_request *c) {
  size_t length = rondo_session_length(c->run), step = size_or(c->body, "position", length, length);
  if (step > 0)
    return put(c, "step", rondo_session_step(c->run, step - 1));
  fprintf(c->out, "\"step\":null");
  return true;
}

/* The initial state by number. Rounds are not looked up: there may be 2^(n*n). */
static json_t *initial_of_trace(struct session_request *c, const char *trace) {
  size_t length = rondo_session_length(c->run);
  char *path = rondo_session_back(c->run, length) ? rondo_session_path(c->run, 200000) : NULL;
  json_t *j = path ? json_loads(path, 0, NULL) : NULL, *initial = json_incref(json_object_get(j, "initial"));
  rondo_string_free(path);
  json_decref(j);
  if (initial && !rondo_session_load(c->run, trace, strlen(trace))) {
    json_decref(initial);
    initial = NULL;
  }
  return initial;
}

static json_t *rounds_of_path(struct session_request *c) {
  json_t *steps = json_array();
  for (size_t i = 0; i < rondo_session_length(c->run); i++) {
    char *round = rondo_session_round_taken(c->run, i);
    json_t *j = round ? json_loads(round, 0, NULL) : NULL;
    rondo_string_free(round);
    if (!j) {
      json_decref(steps);
      return NULL;
    }
    json_array_append_new(steps, j);
  }
  return steps;
}

static bool loaded_path(struct session_request *c, const char *trace, json_t **initial, json_t **steps) {
  if (c->session->rounds) {
    *initial = initial_of_trace(c, trace);
    *steps = *initial ? rounds_of_path(c) : NULL;
    return *steps != NULL;
  }
  char *path = rondo_session_path(c->run, 200000);
  json_t *j = path ? json_loads(path, 0, NULL) : NULL;
  *initial = json_incref(json_object_get(j, "initial"));
  *steps = json_incref(json_object_get(j, "choices"));
  rondo_string_free(path);
  json_decref(j);
  return *initial && *steps;
}

static bool call_load(struct session_request *c) {
  char *trace = member_text(c->body, "trace");
  json_t *initial = NULL, *steps = NULL;
  bool ok = trace && rondo_session_load(c->run, trace, strlen(trace));
  json_decref(c->cursor->initial); /* whatever happens, it is somewhere else now */
  json_decref(c->cursor->steps);
  c->cursor->initial = c->cursor->steps = NULL;
  ok = ok && loaded_path(c, trace, &initial, &steps);
  if (ok) {
    char *info = rondo_session_info(c->run);
    json_t *about = info ? json_loads(info, 0, NULL) : NULL, *loop = json_object_get(about, "loop");
    json_t *path = json_pack("{s:O, s:O, s:O?}", "initial", initial, "steps", steps, "loop", loop);
    rondo_string_free(info);
    json_decref(about);
    char *text = path ? json_dumps(path, JSON_COMPACT) : NULL;
    fprintf(c->out, "\"path\":%s", text ? text : "null");
    free(text);
    json_decref(path);
  } else if (!trace) {
    reply_error(c->reply, 400, "no 'trace' was given");
  } else {
    fail(c);
  }
  free(trace);
  json_decref(initial);
  json_decref(steps);
  return ok;
}

/* --- finding the call --- */

struct call_row {
  const char *verb;
  bool (*call)(struct session_request *);
  bool needs_path;
};
static const struct call_row rows[] = {
    {"look", call_look, true},         {"taken", call_taken, true},
    {"choices", call_choices, true},   {"initials", call_initials, false},
    {"desk", call_desk, true},         {"toggles", call_toggles, true},
    {"outcomes", call_outcomes, true}, {"find-round", call_find_round, true},
    {"texts", call_texts, true},       {"evaluate", call_evaluate, true},
    {"save", call_save, true},         {"step", call_step, true},
    {"load", call_load, false},        {"svg", call_svg, true},
};

/* The cursor that has fewer steps to take. */
static struct session_cursor *nearest_cursor(struct explore_session *s, const json_t *path) {
  const json_t *steps = json_object_get(path, "steps"), *initial = json_object_get(path, "initial");
  size_t best = SIZE_MAX;
  struct session_cursor *found = &s->cursors[0];
  for (int i = 0; i < 2; i++) {
    struct session_cursor *c = &s->cursors[i];
    size_t n = 0, total = json_array_size(steps);
    if (c->initial && json_equal(c->initial, initial))
      while (n < total && n < json_array_size(c->steps) &&
             json_equal(json_array_get(c->steps, n), json_array_get(steps, n)))
        n++;
    size_t cost = 4 * (total - n) + (json_array_size(c->steps) > n);
    if (cost < best) {
      best = cost;
      found = c;
    }
  }
  return found;
}

static bool move(struct session_request *c, const json_t *path) {
  const char *invalid;
  if (cursor_move(c->cursor, path, &c->kept, &invalid))
    return true;
  const char *why = invalid ? invalid : rondo_session_error(c->run);
  if (!invalid && !rondo_session_interrupted(c->run) && rondo_session_started(c->run) &&
      json_is_true(json_object_get(c->body, "lenient"))) {
    c->cut = strdup(why);
    return true;
  }
  if (invalid)
    reply_error(c->reply, 400, "%s", invalid);
  else if (rondo_session_interrupted(c->run))
    reply_error(c->reply, 503, "this takes too much time or memory");
  else
    reply_error(c->reply, 409, "step %zu: %s", c->kept + 1, why);
  return false;
}

static void make_call(struct session_request *c, const struct call_row *row) {
  const json_t *path = json_object_get(c->body, "path");
  char *text = NULL;
  size_t n = 0;
  c->cursor = row->needs_path ? nearest_cursor(c->session, path) : &c->session->cursors[1];
  c->run = c->cursor->session;
  if (row->needs_path && !move(c, path))
    return;
  c->out = open_memstream(&text, &n);
  if (!c->out) {
    reply_error(c->reply, 500, "out of memory");
    return;
  }
  fprintf(c->out, "{");
  bool ok = row->call(c);
  fprintf(c->out, "}");
  ok = fclose(c->out) == 0 && ok;
  if (ok) {
    c->reply->text = text;
    c->reply->length = n;
  } else {
    free(text);
  }
}

void session_call(struct explore_server *server, struct explore_session *s, const char *verb, const json_t *body,
                  int reader, struct reply *reply) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (!strcmp(rows[i].verb, verb)) {
      struct session_request c = {.server = server, .session = s, .body = body, .reply = reply};
      struct watch watch = {
          .context = s->opened.context, .deadline = seconds_now() + REQUEST_SECONDS, .reader = reader};
      watch_begin(&server->watchdog, &watch);
      make_call(&c, &rows[i]);
      watch_end(&server->watchdog, &watch);
      free(c.cut);
      return;
    }
  reply_error(reply, 404, "there is no '%s'", verb);
}
