#include "driver/session_json.h"

#include "base/vec.h"
#include "trace/trace_json.h"
#include "trace/value_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define JSON_EXACT_MAX (UINT64_C(1) << 53)

static void set(json_t *object, const char *key, json_t *to) { json_object_set_new(object, key, to); }

json_t *number_to_json(uint64_t n) {
  char digits[24];
  if (n <= JSON_EXACT_MAX)
    return json_integer((json_int_t)n);
  snprintf(digits, sizeof digits, "%" PRIu64, n);
  return json_string(digits);
}

json_t *string_or_null(const char *s) { return s ? text_to_json(s, strlen(s)) : json_null(); }

json_t *span_to_json(const struct source *source, struct span at) {
  uint32_t line, column;
  if (at.to == 0)
    return json_null();
  json_t *j = json_object();
  source_place(source, at.from, &line, &column);
  set(j, "from", json_integer(at.from));
  set(j, "to", json_integer(at.to));
  set(j, "line", json_integer(line));
  set(j, "column", json_integer(column));
  return j;
}

static json_t *index_or_null(uint32_t index) { return index == UINT32_MAX ? json_null() : json_integer(index); }

static json_t *numbers_to_json(const uint32_t *at, uint32_t n) {
  json_t *j = json_array();
  for (uint32_t i = 0; i < n; i++)
    json_array_append_new(j, json_integer(at[i]));
  return j;
}

static json_t *wide_to_json(const uint64_t *at, uint64_t n) {
  json_t *j = json_array();
  for (uint64_t i = 0; i < n; i++)
    json_array_append_new(j, number_to_json(at[i]));
  return j;
}

static json_t *strings_to_json(const char *const *at, uint32_t n) {
  json_t *j = json_array();
  for (uint32_t i = 0; i < n; i++)
    json_array_append_new(j, string_or_null(at[i]));
  return j;
}

/* --- the model --- */

static const char *kind_name(enum property_kind kind) {
  switch (kind) {
  case PROPERTY_SAFETY:
    return "safety";
  case PROPERTY_COVER:
    return "cover";
  case PROPERTY_LIVE:
    return "live";
  }
  return "";
}

static const char *model_kind_name(enum model_kind kind) {
  switch (kind) {
  case MODEL_ROUNDS:
    return "rounds";
  case MODEL_MESSAGES:
    return "messages";
  case MODEL_SHARED:
    return "shared";
  case MODEL_COUNTERS:
    return "counters";
  }
  return "";
}

json_t *session_info_to_json(const struct model *m, uint32_t environment, enum semantics semantics) {
  json_t *j = model_to_json(m, environment, semantics), *environments = json_array();
  json_t *processes = json_array(), *properties = json_array();
  for (uint32_t i = 0; i < m->nenvironments; i++)
    json_array_append_new(environments, string_or_null(m->environments[i].name));
  for (uint32_t p = 0; p < m->nprocesses; p++)
    json_array_append_new(processes, process_to_json(m, p));
  for (uint32_t i = 0; i < m->nproperties; i++) {
    json_t *one = json_object();
    set(one, "name", string_or_null(m->properties[i].name));
    set(one, "kind", json_string(kind_name(m->properties[i].kind)));
    json_array_append_new(properties, one);
  }
  set(j, "schema", json_string(SESSION_SCHEMA));
  set(j, "kind", json_string(model_kind_name(m->kind)));
  set(j, "environments", environments);
  set(j, "processes", processes);
  set(j, "properties", properties);
  return j;
}

/* --- initial states and choices --- */

json_t *session_initials_to_json(const struct session_initials *page) {
  json_t *j = json_object(), *all = json_array();
  for (size_t i = 0; i < page->n; i++) {
    json_t *one = json_object();
    set(one, "index", number_to_json(page->at[i].index));
    set(one, "text", string_or_null(page->at[i].text));
    json_array_append_new(all, one);
  }
  set(j, "initials", all);
  set(j, "more", json_boolean(page->more));
  return j;
}

static const char *choice_kind_name(enum session_choice_kind kind) {
  switch (kind) {
  case SESSION_ROUND:
    return "round";
  case SESSION_ACTION:
    return "action";
  case SESSION_DELIVER:
    return "deliver";
  case SESSION_LOSE:
    return "lose";
  case SESSION_CRASH:
    return "crash";
  case SESSION_CRASH_IN_ACTION:
    return "crash_in_action";
  case SESSION_RECOVER:
    return "recover";
  }
  return "";
}

static json_t *taken_to_json(const struct session_choice *c) {
  json_t *j = json_array();
  for (uint32_t i = 0; i < c->ntaken; i++) {
    const struct session_taken *t = &c->taken[i];
    json_t *one = json_object();
    set(one, "from", json_integer(t->from));
    set(one, "kind", string_or_null(t->kind));
    set(one, "text", string_or_null(t->text));
    set(one, "forged", json_boolean(t->forged));
    set(one, "duplicated", json_boolean(t->duplicated));
    json_array_append_new(j, one);
  }
  return j;
}

json_t *session_choice_to_json(const struct source *source, const struct session_choice *c) {
  json_t *j = json_object();
  set(j, "index", c->index == SESSION_NONE ? json_null() : number_to_json(c->index));
  set(j, "kind", json_string(choice_kind_name(c->kind)));
  set(j, "text", string_or_null(c->text));
  set(j, "process", index_or_null(c->process));
  set(j, "action", string_or_null(c->action));
  set(j, "at", span_to_json(source, c->at));
  set(j, "messages", taken_to_json(c));
  set(j, "picks", numbers_to_json(c->picks, c->npicks));
  set(j, "error", string_or_null(c->error));
  set(j, "allowed", json_boolean(c->allowed));
  if (!c->allowed) {
    set(j, "why", string_or_null(c->why));
    set(j, "clause", index_or_null(c->clause));
    set(j, "clause_at", span_to_json(source, c->clause_at));
  }
  return j;
}

json_t *session_choices_to_json(const struct source *source, const struct session_choices *page) {
  json_t *j = json_object(), *all = json_array();
  for (size_t i = 0; i < page->n; i++)
    json_array_append_new(all, session_choice_to_json(source, &page->at[i]));
  set(j, "choices", all);
  set(j, "more", json_boolean(page->more));
  return j;
}

/* --- states --- */

static json_t *value_shown(const struct source *source, const struct session_value *v) {
  json_t *j = json_object();
  set(j, "name", string_or_null(v->name));
  set(j, "text", string_or_null(v->text));
  set(j, "changed", json_boolean(v->changed));
  set(j, "at", span_to_json(source, v->at));
  return j;
}

/* Of that process, or of the file. */
static json_t *values_shown(const struct source *source, const struct session_state *state, uint32_t process) {
  json_t *j = json_array();
  for (size_t i = 0; i < state->nvalues; i++)
    if (state->values[i].process == process)
      json_array_append_new(j, value_shown(source, &state->values[i]));
  return j;
}

static json_t *processes_shown(const struct source *source, const struct session_state *state) {
  json_t *j = json_array();
  for (uint32_t p = 0; p < state->nprocesses; p++) {
    const struct session_process *of = &state->processes[p];
    json_t *one = json_object();
    set(one, "name", string_or_null(of->name));
    set(one, "status", string_or_null(of->status));
    set(one, "active", json_boolean(of->active));
    set(one, "changed", json_boolean(of->changed));
    set(one, "values", values_shown(source, state, p));
    json_array_append_new(j, one);
  }
  return j;
}

static json_t *messages_shown(const struct session_state *state) {
  json_t *j = json_array();
  for (size_t i = 0; i < state->nmessages; i++) {
    const struct session_message *m = &state->messages[i];
    json_t *one = json_object();
    set(one, "from", json_integer(m->from));
    set(one, "to", json_integer(m->to));
    set(one, "kind", string_or_null(m->kind));
    set(one, "text", string_or_null(m->text));
    set(one, "place", string_or_null(m->place));
    set(one, "added", json_boolean(m->added));
    json_array_append_new(j, one);
  }
  return j;
}

json_t *session_state_to_json(const struct source *source, const struct session_state *state) {
  json_t *j = json_object();
  set(j, "globals", values_shown(source, state, SESSION_NO_PROCESS));
  set(j, "processes", processes_shown(source, state));
  set(j, "messages", messages_shown(state));
  set(j, "ended", json_boolean(state->ended));
  set(j, "rounds", json_integer(state->rounds));
  set(j, "round", string_or_null(state->round));
  set(j, "phase", state->phase ? json_integer(state->phase) : json_null());
  set(j, "lost", json_integer(state->lost));
  set(j, "corrupted", json_integer(state->corrupted));
  set(j, "duplicated", json_integer(state->duplicated));
  return j;
}

/* --- properties and expressions --- */

static const char *verdict_name(enum session_verdict verdict) {
  switch (verdict) {
  case SESSION_TRUE:
    return "true";
  case SESSION_FALSE:
    return "false";
  case SESSION_ERROR:
    return "error";
  case SESSION_NOT_ASKED:
    return "not_asked";
  }
  return "";
}

static json_t *property_to_json(const struct source *source, const struct session_property *p) {
  json_t *j = json_object();
  set(j, "name", string_or_null(p->name));
  set(j, "kind", json_string(kind_name(p->kind)));
  set(j, "step", json_boolean(p->step));
  set(j, "applies", json_boolean(p->applies));
  set(j, "verdict", json_string(verdict_name(p->verdict)));
  set(j, "shown", json_boolean(p->shown));
  set(j, "why", string_or_null(p->error));
  set(j, "bindings", strings_to_json(p->bindings, p->nbindings));
  set(j, "reads", strings_to_json(p->reads, p->nreads));
  set(j, "at", span_to_json(source, p->at));
  return j;
}

json_t *session_properties_to_json(const struct source *source, const struct session_properties *all) {
  json_t *j = json_object(), *properties = json_array();
  for (size_t i = 0; i < all->n; i++)
    json_array_append_new(properties, property_to_json(source, &all->at[i]));
  set(j, "properties", properties);
  return j;
}

static json_t *diags_to_json(const struct diags *diags) {
  json_t *j = json_array();
  for (size_t i = 0; i < diags->n; i++) {
    const struct diag *d = &diags->at[i];
    json_t *one = json_object();
    set(one, "severity", json_string(d->level == DIAG_ERROR ? "error" : "warning"));
    set(one, "message", string_or_null(d->message));
    set(one, "help", string_or_null(d->help));
    set(one, "at", span_to_json(diags->source, d->at));
    json_array_append_new(j, one);
  }
  return j;
}

json_t *session_result_to_json(const struct session_result *r) {
  json_t *j = json_object();
  set(j, "ok", json_boolean(r->ok));
  set(j, "text", string_or_null(r->text));
  set(j, "type", string_or_null(r->type));
  set(j, "truth", r->ok && r->is_bool ? json_boolean(r->truth) : json_null());
  set(j, "diagnostics", diags_to_json(r->diags));
  return j;
}

/* --- rounds --- */

static json_t *heard_to_json(uint64_t heard) {
  json_t *j = json_array();
  for (uint32_t q = 0; q < SESSION_ROUND_PROCESSES; q++)
    if (heard >> q & 1)
      json_array_append_new(j, json_integer(q));
  return j;
}

static json_t *forged_to_json(const struct session_part *part) {
  json_t *j = json_array();
  for (uint32_t i = 0; i < part->nforged; i++) {
    json_t *one = json_object();
    set(one, "sender", json_integer(part->forged[i].sender));
    set(one, "payload", number_to_json(part->forged[i].payload));
    json_array_append_new(j, one);
  }
  return j;
}

json_t *session_round_to_json(const struct session_round *round) {
  json_t *j = json_object(), *parts = json_array();
  for (uint32_t p = 0; p < round->nparts; p++) {
    const struct session_part *part = &round->parts[p];
    json_t *one = json_object();
    set(one, "heard", heard_to_json(part->heard));
    set(one, "crashes", json_boolean(part->crashes));
    set(one, "oracles", wide_to_json(part->oracles, part->noracles));
    set(one, "sends", numbers_to_json(part->sends, part->nsends));
    set(one, "updates", numbers_to_json(part->updates, part->nupdates));
    set(one, "forged", forged_to_json(part));
    json_array_append_new(parts, one);
  }
  set(j, "parts", parts);
  return j;
}

static json_t *oracles_to_json(const struct session_candidate *c) {
  json_t *j = json_array();
  for (uint32_t i = 0; i < c->noracles; i++) {
    json_t *one = json_object();
    set(one, "name", string_or_null(c->oracles[i].name));
    set(one, "values", number_to_json(c->oracles[i].nvalues));
    set(one, "chosen", json_boolean(c->oracles[i].chosen));
    json_array_append_new(j, one);
  }
  return j;
}

static json_t *senders_to_json(const struct session_candidate *c, uint32_t n) {
  json_t *j = json_array();
  for (uint32_t q = 0; q < n; q++) {
    const struct session_sender *from = &c->senders[q];
    json_t *one = json_object();
    set(one, "must", json_boolean(from->must));
    set(one, "byzantine", json_boolean(from->byzantine));
    set(one, "sends", json_boolean(from->sends));
    set(one, "text", string_or_null(from->text));
    json_array_append_new(j, one);
  }
  return j;
}

static json_t *updates_to_json(const struct session_candidate *c) {
  json_t *j = json_array();
  for (uint32_t i = 0; i < c->nupdate_picks; i++) {
    json_t *one = json_object();
    set(one, "alternatives", json_integer(c->update_picks[i]));
    set(one, "coin", json_boolean(i < 64 && c->update_coins >> i & 1));
    json_array_append_new(j, one);
  }
  return j;
}

static json_t *sends_to_json(const struct session_candidate *c) {
  json_t *j = json_array();
  for (uint32_t i = 0; i < c->nsend_picks; i++) {
    json_t *one = json_object();
    set(one, "alternatives", json_integer(c->send_picks[i]));
    json_array_append_new(j, one);
  }
  return j;
}

json_t *session_candidates_to_json(const struct session_candidates *all) {
  json_t *j = json_object(), *processes = json_array();
  for (uint32_t p = 0; p < all->n; p++) {
    const struct session_candidate *c = &all->at[p];
    json_t *one = json_object();
    set(one, "active", json_boolean(c->active));
    set(one, "may_crash", json_boolean(c->may_crash));
    set(one, "may_forge", json_boolean(c->may_forge));
    set(one, "payloads", number_to_json(c->npayloads));
    set(one, "oracles", oracles_to_json(c));
    set(one, "senders", senders_to_json(c, all->n));
    set(one, "sends", sends_to_json(c));
    set(one, "updates", updates_to_json(c));
    json_array_append_new(processes, one);
  }
  set(j, "processes", processes);
  return j;
}

json_t *session_judgement_to_json(const struct source *source, const struct session_judgement *judgement) {
  json_t *j = json_object();
  set(j, "possible", json_boolean(judgement->possible));
  set(j, "allowed", json_boolean(judgement->allowed));
  set(j, "why", string_or_null(judgement->why));
  set(j, "clause", index_or_null(judgement->clause));
  set(j, "clause_at", span_to_json(source, judgement->clause_at));
  set(j, "error", string_or_null(judgement->error));
  return j;
}

static const char *search_name(enum session_search search) {
  switch (search) {
  case SESSION_FOUND:
    return "found";
  case SESSION_IMPOSSIBLE:
    return "impossible";
  case SESSION_GAVE_UP:
    return "gave_up";
  }
  return "";
}

static json_t *outcome_to_json(const struct session_outcome *o) {
  json_t *j = json_object();
  set(j, "text", string_or_null(o->text));
  set(j, "crashed", json_boolean(o->crashed));
  set(j, "halted", json_boolean(o->halted));
  set(j, "error", json_boolean(o->error));
  set(j, "changed", json_boolean(o->changed));
  set(j, "search", json_string(search_name(o->search)));
  set(j, "round", o->search == SESSION_FOUND ? session_round_to_json(&o->round) : json_null());
  return j;
}

json_t *session_outcomes_to_json(const struct session_outcomes *all, bool interrupted) {
  json_t *j = json_object(), *outcomes = json_array();
  for (size_t i = 0; i < all->n; i++)
    json_array_append_new(outcomes, outcome_to_json(&all->at[i]));
  set(j, "outcomes", outcomes);
  set(j, "complete", json_boolean(all->complete));
  set(j, "work", number_to_json(all->work));
  set(j, "interrupted", json_boolean(interrupted));
  return j;
}

json_t *session_found_to_json(enum session_search search, const struct session_round *round, bool interrupted) {
  json_t *j = json_object();
  set(j, "search", json_string(search_name(search)));
  set(j, "round", search == SESSION_FOUND ? session_round_to_json(round) : json_null());
  set(j, "interrupted", json_boolean(interrupted));
  return j;
}

/* --- looking ahead --- */

static const char *reach_name(enum session_reach reach) {
  switch (reach) {
  case SESSION_REACHABLE:
    return "reachable";
  case SESSION_UNREACHABLE:
    return "unreachable";
  case SESSION_UNKNOWN:
    return "unknown";
  }
  return "";
}

json_t *session_ahead_to_json(const struct session_ahead *a, bool interrupted) {
  json_t *j = json_object();
  set(j, "reach", json_string(reach_name(a->reach)));
  set(j, "steps", a->reach == SESSION_UNREACHABLE ? json_null() : number_to_json(a->steps));
  set(j, "choices", a->reach == SESSION_REACHABLE ? wide_to_json(a->choices, a->steps) : json_null());
  set(j, "states", number_to_json(a->states));
  set(j, "errors", json_boolean(a->errors));
  set(j, "why", string_or_null(a->why));
  set(j, "interrupted", json_boolean(interrupted));
  return j;
}
