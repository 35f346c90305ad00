/* The functions rondo_session_* of include/rondo.h: sessions (session/session.h), with JSON for whatever has a
 * structure. */
#include "driver/api.h"
#include "driver/load.h"
#include "driver/option_values.h"
#include "driver/semantics.h"
#include "driver/session_json.h"
#include "report/diagram.h"
#include "report/json_report.h"
#include "report/trace_html.h"
#include "report/trace_itf.h"
#include "session/session.h"
#include "trace/trace.h"
#include "trace/trace_json.h"

#include <string.h>

#define PAGE_ENTRIES_MAX 10000 /* entries of a list */
#define LOOKUP_DEFAULT 1000000

struct rondo_session {
  struct rondo *rondo;
  struct model *model; /* its own; the text belongs to the rondo_model */
  struct session *session;
  uint32_t environment;
  enum semantics semantics;
  struct text error; /* empty: the session's own error is the last one */
};

/* ---- every function begins and ends with these ---- */

static void call_begin(rondo_session *s) {
  context_enter(s->rondo);
  watch_time(s->rondo, 0); /* removes the limit of an earlier command */
  watch_resident_memory(s->rondo, 0);
  context_listen(s->rondo);
  text_release(&s->error);
}

static bool call_end(rondo_session *s, bool ok) {
  s->rondo->listening = false;
  return ok;
}

/* NULL: it failed. */
static char *answer(rondo_session *s, json_t *j) {
  struct text out = {0};
  s->rondo->listening = false;
  if (!j)
    return NULL;
  json_text(j, &out);
  return out.at;
}

static char *text_answer(rondo_session *s, char *text) {
  s->rondo->listening = false;
  return text;
}

static size_t page(size_t max) { return max < PAGE_ENTRIES_MAX ? max : PAGE_ENTRIES_MAX; }

/* ---- making one ---- */

static bool bindings_read(const rondo_model *m, struct define *defines, struct param_binding *bindings) {
  struct text ignored = {0};
  for (size_t i = 0; i < m->defines.n; i++) {
    define_parse(m->defines.at[i], &defines[i], &ignored); /* it was parsed before: rondo_set */
    bindings[i] = (struct param_binding){defines[i].name, defines[i].low};
    if (defines[i].low != defines[i].high) {
      context_error(m->rondo, E0705, "a range for '%s' is not for a session\n  help: give it one value",
                    defines[i].name);
      return false;
    }
  }
  return true;
}

static struct model *checked_model(const rondo_model *m) {
  struct define *defines = memory_alloc((m->defines.n + 1) * sizeof *defines);
  struct param_binding *bindings = memory_alloc((m->defines.n + 1) * sizeof *bindings);
  struct parsed_file parsed;
  struct text ignored = {0};
  struct model *model = NULL;
  if (bindings_read(m, defines, bindings) && parsed_file_borrow(&parsed, m->rondo, m->path, m->text, m->length)) {
    if (parsed_file_is_algorithm(&parsed))
      model = model_load(&parsed, bindings, m->defines.n, false, false, &ignored);
    parsed_file_release(&parsed);
  }
  for (size_t i = 0; i < m->defines.n; i++)
    memory_free(defines[i].name);
  memory_free(defines);
  memory_free(bindings);
  text_release(&ignored);
  return model;
}

static bool semantics_named(rondo *r, const struct model *m, const char *name, enum semantics *found) {
  struct text why = {0};
  bool ok = semantics_find(m, name, found, &why);
  if (!ok)
    context_error(r, E0901, "%s", why.at);
  text_release(&why);
  return ok;
}

static bool begin(rondo_session *s, const char *environment, const char *semantics) {
  char *why;
  if ((environment && !environment_find(s->rondo, s->model, environment, &s->environment)) ||
      !semantics_named(s->rondo, s->model, semantics, &s->semantics))
    return false;
  s->session = session_new(s->model, s->environment, s->semantics, &why);
  if (s->session) {
    session_watch(s->session, &s->rondo->stop);
    return true;
  }
  context_error(s->rondo, E0906, "no session of '%s': %s", s->model->name, why);
  memory_free(why);
  return false;
}

rondo_session *rondo_session_new(rondo_model *m, const char *environment, const char *semantics) {
  context_enter(m->rondo);
  struct model *model = checked_model(m);
  if (!model)
    return NULL;
  rondo_session *s = memory_alloc(sizeof *s);
  s->rondo = m->rondo;
  s->model = model;
  if (begin(s, environment, semantics))
    return s;
  rondo_session_free(s);
  return NULL;
}

void rondo_session_free(rondo_session *s) {
  if (!s)
    return;
  session_free(s->session);
  model_free(s->model);
  text_release(&s->error);
  memory_free(s);
}

const char *rondo_session_error(const rondo_session *s) { return s->error.n ? s->error.at : session_error(s->session); }

bool rondo_session_interrupted(const rondo_session *s) { return !s->error.n && session_interrupted(s->session); }

static bool property_named(rondo_session *s, const char *name, uint32_t *found) {
  *found = UINT32_MAX;
  for (uint32_t i = 0; name && i < model_nasked(s->model); i++)
    if (!strcmp(s->model->properties[i].name, name))
      *found = i;
  if (!name || *found != UINT32_MAX)
    return true;
  text_addf(&s->error, "unknown property '%s'", name);
  return false;
}

/* ---- initial states ---- */

char *rondo_session_initials(rondo_session *s, uint64_t offset, size_t max) {
  struct session_initials all;
  call_begin(s);
  return answer(s, session_initials(s->session, offset, page(max), &all) ? session_initials_to_json(&all) : NULL);
}

bool rondo_session_count_initials(rondo_session *s, uint64_t most, uint64_t *n, bool *exact) {
  call_begin(s);
  return call_end(s, session_count_initials(s->session, most, n, exact));
}

bool rondo_session_start(rondo_session *s, uint64_t index) {
  call_begin(s);
  return call_end(s, session_start(s->session, index));
}

/* ---- choices ---- */

static char *choices_answer(rondo_session *s, bool ok, struct session_choices *all) {
  return answer(s, ok ? session_choices_to_json(&s->model->source, all) : NULL);
}

char *rondo_session_choices(rondo_session *s, uint64_t offset, size_t max) {
  struct session_choices all;
  call_begin(s);
  bool ok = session_choices(s->session, offset, page(max), &all);
  return choices_answer(s, ok, &all);
}

char *rondo_session_forbidden(rondo_session *s, uint64_t offset, size_t max) {
  struct session_choices all;
  call_begin(s);
  bool ok = session_forbidden(s->session, offset, page(max), &all);
  return choices_answer(s, ok, &all);
}

bool rondo_session_count_choices(rondo_session *s, uint64_t most, uint64_t *n, bool *exact) {
  call_begin(s);
  return call_end(s, session_count_choices(s->session, most, n, exact));
}

bool rondo_session_take(rondo_session *s, uint64_t index) {
  call_begin(s);
  return call_end(s, session_take(s->session, index));
}

/* ---- the path ---- */

bool rondo_session_started(const rondo_session *s) { return session_started(s->session); }

size_t rondo_session_length(const rondo_session *s) { return session_length(s->session); }

bool rondo_session_failed(const rondo_session *s) {
  const char *error;
  struct span at;
  return session_failed(s->session, &error, &at);
}

static json_t *failure_json(const rondo_session *s) {
  const char *error;
  struct span at;
  if (!session_failed(s->session, &error, &at))
    return json_null();
  json_t *j = json_object();
  json_object_set_new(j, "message", string_or_null(error));
  json_object_set_new(j, "at", span_to_json(&s->model->source, at));
  return j;
}

char *rondo_session_info(rondo_session *s) {
  call_begin(s);
  json_t *j = session_info_to_json(s->model, s->environment, s->semantics);
  json_object_set_new(j, "started", json_boolean(session_started(s->session)));
  json_object_set_new(j, "length", json_integer((json_int_t)session_length(s->session)));
  size_t loop;
  bool closed = session_loop(s->session, &loop);
  json_object_set_new(j, "loop", closed ? json_integer((json_int_t)loop) : json_null());
  json_object_set_new(j, "failed", failure_json(s));
  return answer(s, j);
}

bool rondo_session_back(rondo_session *s, size_t steps) {
  call_begin(s);
  return call_end(s, session_back(s->session, steps));
}

bool rondo_session_replay(rondo_session *s, uint64_t initial, const uint64_t *choices, size_t n) {
  call_begin(s);
  return call_end(s, session_replay(s->session, initial, choices, n));
}

bool rondo_session_close_loop(rondo_session *s, size_t position) {
  call_begin(s);
  return call_end(s, session_close_loop(s->session, position));
}

void rondo_session_open_loop(rondo_session *s) { session_open_loop(s->session); }

bool rondo_session_find_loop(rondo_session *s, size_t *position) {
  call_begin(s);
  return call_end(s, session_find_loop(s->session, position));
}

char *rondo_session_path(rondo_session *s, uint64_t most) {
  uint64_t index;
  call_begin(s);
  most = most ? most : LOOKUP_DEFAULT;
  if (!session_initial_index(s->session, most, &index))
    return answer(s, NULL);
  json_t *j = json_object(), *choices = json_array();
  json_object_set_new(j, "initial", number_to_json(index));
  json_object_set_new(j, "choices", choices);
  for (size_t i = 0; i < session_length(s->session); i++) {
    if (!session_step_index(s->session, i, most, &index)) {
      json_decref(j);
      return answer(s, NULL);
    }
    json_array_append_new(choices, number_to_json(index));
  }
  return answer(s, j);
}

char *rondo_session_taken(rondo_session *s, size_t step) {
  struct session_choices one;
  call_begin(s);
  if (!session_taken(s->session, step, &one))
    return answer(s, NULL);
  json_t *j = session_choice_to_json(&s->model->source, &one.at[0]);
  session_choices_release(&one);
  return answer(s, j);
}

/* ---- states ---- */

char *rondo_session_state(rondo_session *s, size_t position) {
  struct session_state state;
  call_begin(s);
  return answer(s,
                session_state(s->session, position, &state) ? session_state_to_json(&s->model->source, &state) : NULL);
}

char *rondo_session_properties(rondo_session *s, size_t position) {
  struct session_properties all;
  call_begin(s);
  return answer(s, session_properties(s->session, position, &all) ? session_properties_to_json(&s->model->source, &all)
                                                                  : NULL);
}

char *rondo_session_evaluate(rondo_session *s, size_t position, const char *text, bool step) {
  struct session_result result;
  call_begin(s);
  return answer(s, session_evaluate(s->session, position, text ? text : "", step, &result)
                       ? session_result_to_json(&result)
                       : NULL);
}

/* ---- traces ---- */

char *rondo_session_save(rondo_session *s, const char *property) {
  uint32_t index;
  call_begin(s);
  return text_answer(s, property_named(s, property, &index) ? session_save(s->session, index) : NULL);
}

#define WINDOW_DEFAULT 100 /* steps of a diagram */
#define WINDOW_MAX 500

/* A member of the options that is a number; missing: as it is. */
static bool option_number(rondo_session *s, const json_t *options, const char *name, size_t *v) {
  const json_t *j = json_object_get(options, name);
  if (j && (!json_is_integer(j) || json_integer_value(j) < 0)) {
    text_addf(&s->error, "'%s' is not a number of steps", name);
    return false;
  }
  *v = j ? (size_t)json_integer_value(j) : *v;
  return true;
}

static bool option_truth(rondo_session *s, const json_t *options, const char *name, bool *v) {
  const json_t *j = json_object_get(options, name);
  if (j && !json_is_boolean(j)) {
    text_addf(&s->error, "'%s' is not true or false", name);
    return false;
  }
  *v = j ? json_is_true(j) : *v;
  return true;
}

static bool option_property(rondo_session *s, const json_t *options, uint32_t *property) {
  const json_t *j = json_object_get(options, "property");
  *property = NO_PROPERTY;
  if (!j || json_is_null(j))
    return true;
  if (!json_is_string(j))
    text_add(&s->error, "'property' is not a name");
  return json_is_string(j) && property_named(s, json_string_value(j), property);
}

/* Which part of the path, and how. */
static bool svg_options_read(rondo_session *s, const char *text, size_t *from, size_t *to, uint32_t *property,
                             struct diagram_options *how) {
  json_t *j = text ? json_read(text, &s->error) : json_object();
  bool ok = json_is_object(j);
  if (j && !ok)
    text_add(&s->error, "the options are not a JSON object");
  *to = session_started(s->session) ? session_rounds(s->session) : 0;
  ok = ok && option_number(s, j, "to", to);
  *from = *to > WINDOW_DEFAULT ? *to - WINDOW_DEFAULT : 0;
  ok = ok && option_number(s, j, "from", from) && option_truth(s, j, "fold", &how->fold) &&
       option_truth(s, j, "caption", &how->caption) && option_property(s, j, property);
  json_decref(j);
  if (ok && *to > *from && *to - *from > WINDOW_MAX) {
    text_addf(&s->error, "at most %d steps can be drawn at once", WINDOW_MAX);
    ok = false;
  }
  return ok;
}

char *rondo_session_svg(rondo_session *s, const char *options) {
  struct diagram_options how = {.fold = true};
  size_t from, to;
  uint32_t property;
  struct trace trace;
  struct text out = {0};
  call_begin(s);
  if (!svg_options_read(s, options, &from, &to, &property, &how) ||
      !session_window(s->session, from, to, property, &trace))
    return text_answer(s, NULL);
  if (trace_drawable(&trace))
    trace_svg_part(&trace, session_interpreter(s->session), &how, &out);
  else
    text_add(&s->error, "these steps have too many messages to be drawn");
  trace_release(&trace);
  return text_answer(s, out.at);
}

char *rondo_session_export(rondo_session *s, const char *format, const char *property) {
  uint32_t index;
  struct trace trace;
  struct text out = {0};
  call_begin(s);
  bool itf = !strcmp(format, "itf"), html = !strcmp(format, "html");
  if (!itf && !html && strcmp(format, "trace") != 0)
    text_addf(&s->error, "unknown format '%.40s'", format);
  if (s->error.n || !property_named(s, property, &index))
    return text_answer(s, NULL);
  if (!itf && !html)
    return text_answer(s, session_save(s->session, index));
  if (!session_started(s->session) || !session_window(s->session, 0, session_rounds(s->session), index, &trace))
    return text_answer(s, NULL);
  if (itf) {
    json_t *j = itf_json(&trace);
    json_text(j, &out);
  } else {
    trace_html(&trace, session_interpreter(s->session), &out);
  }
  trace_release(&trace);
  return text_answer(s, out.at);
}

char *rondo_session_step(rondo_session *s, size_t step) {
  struct trace trace;
  call_begin(s);
  if (!session_started(s->session) || step >= session_rounds(s->session)) {
    text_addf(&s->error, "there is no step %zu", step);
    return answer(s, NULL);
  }
  if (!session_window(s->session, step, step + 1, UINT32_MAX, &trace))
    return answer(s, NULL);
  json_t *all = trace_to_json(&trace, session_interpreter(s->session)), *list = json_object_get(all, "rounds");
  json_t *j = json_incref(json_array_get(list ? list : json_object_get(all, "steps"), 0));
  json_decref(all);
  trace_release(&trace);
  if (!j)
    text_add(&s->error, "the step cannot be described");
  return answer(s, j);
}

bool rondo_session_load(rondo_session *s, const char *json, size_t length) {
  call_begin(s);
  return call_end(s, session_load(s->session, json, length));
}

/* ---- rounds ---- */

static bool has_rounds(rondo_session *s) {
  if (!model_steps(s->model))
    return true;
  text_addf(&s->error, "the processes of '%s' take steps: there are no rounds", s->model->name);
  return false;
}

static bool round_read(rondo_session *s, const char *text, struct session_round *round) {
  json_t *j = has_rounds(s) ? json_read(text, &s->error) : NULL;
  bool ok = j && session_round_read(j, s->model, s->semantics == SEMANTICS_FINE, round, &s->error);
  json_decref(j);
  return ok;
}

static char *round_answer(rondo_session *s, bool ok, struct session_round *round) {
  if (!ok)
    return answer(s, NULL);
  json_t *j = session_round_to_json(round);
  session_round_release(round);
  return answer(s, j);
}

char *rondo_session_full_round(rondo_session *s) {
  struct session_round round;
  call_begin(s);
  bool ok = session_round_init(s->session, &round);
  return round_answer(s, ok, &round);
}

char *rondo_session_round(rondo_session *s, uint64_t index) {
  struct session_round round;
  call_begin(s);
  bool ok = session_round_nth(s->session, index, &round);
  return round_answer(s, ok, &round);
}

char *rondo_session_round_taken(rondo_session *s, size_t step) {
  struct session_round round;
  call_begin(s);
  bool ok = session_round_taken(s->session, step, &round);
  return round_answer(s, ok, &round);
}

char *rondo_session_candidates(rondo_session *s, const char *text) {
  struct session_round round = {0};
  struct session_candidates all;
  call_begin(s);
  if (text && !round_read(s, text, &round))
    return answer(s, NULL);
  bool ok = session_candidates(s->session, text ? &round : NULL, &all);
  if (text)
    session_round_release(&round);
  return answer(s, ok ? session_candidates_to_json(&all) : NULL);
}

char *rondo_session_judge(rondo_session *s, const char *text) {
  struct session_round round;
  struct session_judgement judgement;
  call_begin(s);
  if (!round_read(s, text, &round))
    return answer(s, NULL);
  json_t *j =
      session_judge(s->session, &round, &judgement) ? session_judgement_to_json(&s->model->source, &judgement) : NULL;
  session_round_release(&round);
  return answer(s, j);
}

bool rondo_session_take_round(rondo_session *s, const char *text) {
  struct session_round round;
  call_begin(s);
  if (!round_read(s, text, &round))
    return call_end(s, false);
  bool ok = session_take_round(s->session, &round);
  session_round_release(&round);
  return call_end(s, ok);
}

char *rondo_session_oracle_text(rondo_session *s, uint32_t process, uint32_t oracle, uint64_t number) {
  call_begin(s);
  return text_answer(s, session_oracle_text(s->session, process, oracle, number));
}

char *rondo_session_payload_text(rondo_session *s, uint32_t process, uint64_t number) {
  call_begin(s);
  return text_answer(s, session_payload_text(s->session, process, number));
}

/* ---- rounds by outcome ---- */

char *rondo_session_outcomes(rondo_session *s, uint32_t process, uint64_t most) {
  struct session_outcomes all;
  call_begin(s);
  return answer(s, session_outcomes(s->session, process, most, &all)
                       ? session_outcomes_to_json(&all, session_interrupted(s->session))
                       : NULL);
}

struct wanted_outcomes { /* by process */
  struct session_round rounds[SESSION_ROUND_PROCESSES];
  const struct session_round *at[SESSION_ROUND_PROCESSES]; /* NULL: any outcome */
};

static bool wanted_read(rondo_session *s, const json_t *j, struct wanted_outcomes *w) {
  uint32_t n = s->model->nprocesses;
  if (!json_is_array(j) || json_array_size(j) != n) {
    text_addf(&s->error, "there must be a list with a round or null for each of the %u processes", n);
    return false;
  }
  for (uint32_t p = 0; p < n; p++) {
    const json_t *one = json_array_get(j, p);
    if (json_is_null(one))
      continue;
    if (!session_round_read(one, s->model, s->semantics == SEMANTICS_FINE, &w->rounds[p], &s->error))
      return false;
    w->at[p] = &w->rounds[p];
  }
  return true;
}

static void wanted_free(struct wanted_outcomes *w) {
  for (uint32_t p = 0; p < SESSION_ROUND_PROCESSES; p++)
    if (w->at[p])
      session_round_release(&w->rounds[p]);
  memory_free(w);
}

static json_t *find_round(rondo_session *s, const struct wanted_outcomes *w, uint64_t most) {
  struct session_round found;
  enum session_search search = SESSION_GAVE_UP;
  if (!session_find_round(s->session, w->at, most, &search, &found))
    return NULL;
  json_t *j = session_found_to_json(search, &found, session_interrupted(s->session));
  if (search == SESSION_FOUND)
    session_round_release(&found);
  return j;
}

char *rondo_session_find_round(rondo_session *s, const char *rounds, uint64_t most) {
  call_begin(s);
  json_t *given = has_rounds(s) ? json_read(rounds, &s->error) : NULL, *j = NULL;
  struct wanted_outcomes *w = memory_alloc(sizeof *w);
  if (given && wanted_read(s, given, w))
    j = find_round(s, w, most);
  wanted_free(w);
  json_decref(given);
  return answer(s, j);
}

/* ---- looking ahead ---- */

char *rondo_session_ahead(rondo_session *s, const char *property, uint64_t choice, uint64_t states, uint64_t steps) {
  struct session_goal goal;
  struct session_limits limits = {.states = states, .steps = steps};
  struct session_ahead found;
  call_begin(s);
  if (!property_named(s, property, &goal.property) || !session_ahead(s->session, choice, &goal, &limits, &found))
    return answer(s, NULL);
  return answer(s, session_ahead_to_json(&found, session_interrupted(s->session)));
}

char *rondo_session_survey(rondo_session *s, size_t position, bool graph, const char *projection, uint64_t states,
                           uint64_t steps) {
  struct session_survey_request request = {
      .position = position, .limits = {.states = states, .steps = steps}, .graph = graph, .projection = projection};
  struct session_survey found;
  call_begin(s);
  return answer(s, session_survey(s->session, &request, &found) ? session_survey_to_json(s->model, &found) : NULL);
}
