/* Paths: an initial state and steps, each the number of a choice or a round. A session is moved to a path by going back
   to where the two part, and on from there. */
#include "explore/explore_server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void cursor_release(struct session_cursor *c) {
  rondo_session_free(c->session);
  json_decref(c->initial);
  json_decref(c->steps);
  *c = (struct session_cursor){0};
}

/* Numbers above 2^53 are strings of digits. */
static bool number_of(const json_t *j, uint64_t *n) {
  char *end;
  if (json_is_integer(j) && json_integer_value(j) >= 0) {
    *n = (uint64_t)json_integer_value(j);
    return true;
  }
  const char *digits = json_is_string(j) ? json_string_value(j) : "";
  if (!*digits || strspn(digits, "0123456789") != strlen(digits))
    return false;
  errno = 0;
  *n = strtoull(digits, &end, 10);
  return errno == 0 && *end == '\0' && *n != UINT64_MAX;
}

static bool take(rondo_session *s, const json_t *step, const char **invalid) {
  uint64_t n;
  if (number_of(step, &n))
    return rondo_session_take(s, n);
  if (!json_is_object(step)) {
    *invalid = "a step is the number of a choice, or a round";
    return false;
  }
  char *round = json_dumps(step, JSON_COMPACT);
  bool ok = round && rondo_session_take_round(s, round);
  free(round);
  return ok;
}

static bool restart(struct session_cursor *c, json_t *initial, const char **invalid) {
  uint64_t n;
  if (!number_of(initial, &n)) {
    *invalid = "'initial' is the number of an initial state";
    return false;
  }
  if (!rondo_session_start(c->session, n))
    return false;
  json_decref(c->initial);
  json_decref(c->steps);
  c->initial = json_incref(initial);
  c->steps = json_array();
  return true;
}

/* The loop in which the path ends, if it has one. */
static bool set_loop(struct session_cursor *c, const json_t *loop, const char **invalid) {
  uint64_t n;
  if (!loop || json_is_null(loop)) {
    rondo_session_open_loop(c->session);
    return true;
  }
  if (!number_of(loop, &n) || n > SIZE_MAX) {
    *invalid = "'loop' is a number of steps";
    return false;
  }
  return rondo_session_close_loop(c->session, (size_t)n);
}

static size_t common_steps(const struct session_cursor *c, const json_t *steps) {
  size_t n = 0;
  while (n < json_array_size(c->steps) && n < json_array_size(steps) &&
         json_equal(json_array_get(c->steps, n), json_array_get(steps, n)))
    n++;
  return n;
}

bool cursor_move(struct session_cursor *c, const json_t *path, size_t *kept, const char **invalid) {
  json_t *initial = json_object_get(path, "initial"), *steps = json_object_get(path, "steps");
  *kept = 0;
  *invalid = NULL;
  if (!json_is_object(path) || !initial || !json_is_array(steps) || json_array_size(steps) > PATH_STEPS_MAX) {
    *invalid = "a path has an 'initial' and a list of 'steps'";
    return false;
  }
  if ((!c->initial || !json_equal(c->initial, initial)) && !restart(c, initial, invalid))
    return false;
  size_t n = common_steps(c, steps), behind = json_array_size(c->steps) - n;
  if (behind && !rondo_session_back(c->session, behind))
    return false;
  while (json_array_size(c->steps) > n)
    json_array_remove(c->steps, n);
  for (; n < json_array_size(steps); n++) {
    json_t *step = json_array_get(steps, n);
    *kept = n;
    if (!take(c->session, step, invalid))
      return false;
    json_array_append(c->steps, step);
  }
  *kept = n;
  return set_loop(c, json_object_get(path, "loop"), invalid);
}
