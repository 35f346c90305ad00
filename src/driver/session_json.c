#include "driver/session_json.h"

#include "base/vec.h"
#include "trace/event_json.h"
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
  source_place(source, at.from, &line, &column);
  return json_pack("{s:I, s:I, s:I, s:I}", "from", (json_int_t)at.from, "to", (json_int_t)at.to, "line",
                   (json_int_t)line, "column", (json_int_t)column);
}

static json_t *index_or_null(uint32_t index) { return index == UINT32_MAX ? json_null() : json_integer(index); }

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

static const char *const kind_names[] = {
    [PROPERTY_SAFETY] = "safety", [PROPERTY_COVER] = "cover", [PROPERTY_LIVE] = "live"};

static const char *const model_kind_names[] = {
    [MODEL_ROUNDS] = "rounds", [MODEL_MESSAGES] = "messages", [MODEL_SHARED] = "shared", [MODEL_COUNTERS] = "counters"};

json_t *session_info_to_json(const struct model *m, uint32_t environment, enum semantics semantics) {
  json_t *j = model_to_json(m, environment, semantics), *environments = json_array();
  json_t *processes = json_array(), *properties = json_array();
  for (uint32_t i = 0; i < m->nenvironments; i++)
    json_array_append_new(environments, string_or_null(m->environments[i].name));
  for (uint32_t p = 0; p < m->nprocesses; p++)
    json_array_append_new(processes, process_to_json(m, p));
  for (uint32_t i = 0; i < model_nasked(m); i++) {
    json_t *one = json_object();
    set(one, "name", string_or_null(m->properties[i].name));
    set(one, "kind", json_string(kind_names[m->properties[i].kind]));
    json_array_append_new(properties, one);
  }
  set(j, "schema", json_string(SESSION_SCHEMA));
  set(j, "kind", json_string(model_kind_names[m->kind]));
  set(j, "environments", environments);
  set(j, "processes", processes);
  set(j, "properties", properties);
  return j;
}

/* --- initial states and choices --- */

json_t *session_initials_to_json(struct session_initials *page) {
  json_t *all = json_array();
  for (size_t i = 0; i < page->n; i++) {
    json_array_append_new(all, json_pack("{s:o, s:o}", "index", number_to_json(page->at[i].index), "text",
                                         string_or_null(page->at[i].text)));
  }
  json_t *j = json_pack("{s:o, s:b}", "initials", all, "more", page->more);
  session_initials_release(page);
  return j;
}

static const char *const choice_kind_names[] = {[SESSION_ROUND] = "round",
                                                [SESSION_END_ROUND] = "end_round",
                                                [SESSION_ACTION] = "action",
                                                [SESSION_DELIVER] = "deliver",
                                                [SESSION_LOSE] = "lose",
                                                [SESSION_CRASH] = "crash",
                                                [SESSION_CRASH_IN_ACTION] = "crash_in_action",
                                                [SESSION_RECOVER] = "recover"};

static json_t *taken_to_json(const struct session_choice *c) {
  json_t *j = json_array();
  for (uint32_t i = 0; i < c->ntaken; i++) {
    const struct session_taken *t = &c->taken[i];
    json_array_append_new(j, json_pack("{s:I, s:o, s:o, s:b, s:b}", "from", (json_int_t)t->from, "kind",
                                       string_or_null(t->kind), "text", string_or_null(t->text), "forged", t->forged,
                                       "duplicated", t->duplicated));
  }
  return j;
}

json_t *session_choice_to_json(const struct source *source, const struct session_choice *c) {
  json_t *j = json_object();
  set(j, "index", c->index == SESSION_NONE ? json_null() : number_to_json(c->index));
  set(j, "kind", json_string(choice_kind_names[c->kind]));
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

json_t *session_choices_to_json(const struct source *source, struct session_choices *page) {
  json_t *all = json_array();
  for (size_t i = 0; i < page->n; i++)
    json_array_append_new(all, session_choice_to_json(source, &page->at[i]));
  json_t *j = json_pack("{s:o, s:b}", "choices", all, "more", page->more);
  session_choices_release(page);
  return j;
}

/* --- states --- */

static json_t *value_shown(const struct source *source, const struct session_value *v) {
  return json_pack("{s:o, s:o, s:b, s:o}", "name", string_or_null(v->name), "text", string_or_null(v->text), "changed",
                   v->changed, "at", span_to_json(source, v->at));
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
    json_t *one =
        json_pack("{s:o, s:o, s:b, s:b, s:o}", "name", string_or_null(of->name), "status", string_or_null(of->status),
                  "active", of->active, "changed", of->changed, "values", values_shown(source, state, p));
    if (state->async)
      set(one, "rounds", json_integer(of->rounds));
    json_array_append_new(j, one);
  }
  return j;
}

static json_t *messages_shown(const struct session_state *state) {
  json_t *j = json_array();
  for (size_t i = 0; i < state->nmessages; i++) {
    const struct session_message *m = &state->messages[i];
    json_array_append_new(j, json_pack("{s:I, s:I, s:o, s:o, s:o, s:b}", "from", (json_int_t)m->from, "to",
                                       (json_int_t)m->to, "kind", string_or_null(m->kind), "text",
                                       string_or_null(m->text), "place", string_or_null(m->place), "added", m->added));
  }
  return j;
}

json_t *session_state_to_json(const struct source *source, struct session_state *state) {
  json_t *j = json_pack("{s:o, s:o, s:o, s:b, s:I, s:o, s:o, s:I, s:I, s:I}", "globals",
                        values_shown(source, state, SESSION_NO_PROCESS), "processes", processes_shown(source, state),
                        "messages", messages_shown(state), "ended", state->ended, "rounds", (json_int_t)state->rounds,
                        "round", string_or_null(state->round), "phase",
                        state->phase ? json_integer(state->phase) : json_null(), "lost", (json_int_t)state->lost,
                        "corrupted", (json_int_t)state->corrupted, "duplicated", (json_int_t)state->duplicated);
  session_state_release(state);
  return j;
}

/* --- properties and expressions --- */

static const char *const verdict_names[] = {
    [SESSION_TRUE] = "true", [SESSION_FALSE] = "false", [SESSION_ERROR] = "error", [SESSION_NOT_ASKED] = "not_asked"};

static json_t *property_to_json(const struct source *source, const struct session_property *p) {
  return json_pack("{s:o, s:s, s:b, s:b, s:s, s:b, s:o, s:o, s:o, s:o}", "name", string_or_null(p->name), "kind",
                   kind_names[p->kind], "step", p->step, "applies", p->applies, "verdict", verdict_names[p->verdict],
                   "shown", p->shown, "why", string_or_null(p->error), "bindings",
                   strings_to_json(p->bindings, p->nbindings), "reads", strings_to_json(p->reads, p->nreads), "at",
                   span_to_json(source, p->at));
}

json_t *session_properties_to_json(const struct source *source, struct session_properties *all) {
  json_t *properties = json_array();
  for (size_t i = 0; i < all->n; i++)
    json_array_append_new(properties, property_to_json(source, &all->at[i]));
  json_t *j = json_pack("{s:o}", "properties", properties);
  session_properties_release(all);
  return j;
}

static json_t *diags_to_json(const struct diags *diags) {
  json_t *j = json_array();
  for (size_t i = 0; i < diags->n; i++) {
    const struct diag *d = &diags->at[i];
    json_array_append_new(j, json_pack("{s:s, s:s, s:o, s:o, s:o}", "code", diag_entry(d->code)->code, "severity",
                                       diag_level_name(diag_code_level(d->code)), "message", string_or_null(d->message),
                                       "help", string_or_null(d->help), "at", span_to_json(diags->source, d->at)));
  }
  return j;
}

json_t *session_result_to_json(struct session_result *r) {
  json_t *j = json_pack("{s:b, s:o, s:o, s:o, s:o}", "ok", r->ok, "text", string_or_null(r->text), "type",
                        string_or_null(r->type), "truth", r->ok && r->is_bool ? json_boolean(r->truth) : json_null(),
                        "diagnostics", diags_to_json(r->diags));
  session_result_release(r);
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
    json_array_append_new(j, json_pack("{s:I, s:o}", "sender", (json_int_t)part->forged[i].sender, "payload",
                                       number_to_json(part->forged[i].payload)));
  }
  return j;
}

json_t *session_round_to_json(const struct session_round *round) {
  json_t *parts = json_array();
  for (uint32_t p = 0; p < round->nparts; p++) {
    const struct session_part *part = &round->parts[p];
    json_array_append_new(parts,
                          json_pack("{s:o, s:b, s:o, s:o, s:o, s:o}", "heard", heard_to_json(part->heard), "crashes",
                                    part->crashes, "oracles", wide_to_json(part->oracles, part->noracles), "sends",
                                    numbers_to_json(part->sends, part->nsends), "updates",
                                    numbers_to_json(part->updates, part->nupdates), "forged", forged_to_json(part)));
  }
  json_t *j = json_pack("{s:o}", "parts", parts);
  if (round->process != SESSION_NO_PROCESS)
    set(j, "process", json_integer(round->process));
  return j;
}

static json_t *oracles_to_json(const struct session_candidate *c) {
  json_t *j = json_array();
  for (uint32_t i = 0; i < c->noracles; i++) {
    json_array_append_new(j, json_pack("{s:o, s:o, s:b}", "name", string_or_null(c->oracles[i].name), "values",
                                       number_to_json(c->oracles[i].nvalues), "chosen", c->oracles[i].chosen));
  }
  return j;
}

static json_t *senders_to_json(const struct session_candidate *c, uint32_t n) {
  json_t *j = json_array();
  for (uint32_t q = 0; q < n; q++) {
    const struct session_sender *from = &c->senders[q];
    json_array_append_new(j, json_pack("{s:b, s:b, s:b, s:o}", "must", from->must, "byzantine", from->byzantine,
                                       "sends", from->sends, "text", string_or_null(from->text)));
  }
  return j;
}

static json_t *updates_to_json(const struct session_candidate *c) {
  json_t *j = json_array();
  for (uint32_t i = 0; i < c->nupdate_picks; i++) {
    json_array_append_new(j, json_pack("{s:I, s:b}", "alternatives", (json_int_t)c->update_picks[i], "coin",
                                       i < 64 && c->update_coins >> i & 1));
  }
  return j;
}

static json_t *sends_to_json(const struct session_candidate *c) {
  json_t *j = json_array();
  for (uint32_t i = 0; i < c->nsend_picks; i++) {
    json_array_append_new(j, json_pack("{s:I}", "alternatives", (json_int_t)c->send_picks[i]));
  }
  return j;
}

json_t *session_candidates_to_json(struct session_candidates *all) {
  json_t *processes = json_array();
  for (uint32_t p = 0; p < all->n; p++) {
    const struct session_candidate *c = &all->at[p];
    json_array_append_new(processes,
                          json_pack("{s:b, s:b, s:b, s:o, s:o, s:o, s:o, s:o}", "active", c->active, "may_crash",
                                    c->may_crash, "may_forge", c->may_forge, "payloads", number_to_json(c->npayloads),
                                    "oracles", oracles_to_json(c), "senders", senders_to_json(c, all->n), "sends",
                                    sends_to_json(c), "updates", updates_to_json(c)));
  }
  json_t *j = json_pack("{s:o}", "processes", processes);
  session_candidates_release(all);
  return j;
}

json_t *session_judgement_to_json(const struct source *source, const struct session_judgement *judgement) {
  return json_pack("{s:b, s:b, s:o, s:o, s:o, s:o}", "possible", judgement->possible, "allowed", judgement->allowed,
                   "why", string_or_null(judgement->why), "clause", index_or_null(judgement->clause), "clause_at",
                   span_to_json(source, judgement->clause_at), "error", string_or_null(judgement->error));
}

static const char *const search_names[] = {
    [SESSION_FOUND] = "found", [SESSION_IMPOSSIBLE] = "impossible", [SESSION_GAVE_UP] = "gave_up"};

static json_t *outcome_to_json(const struct session_outcome *o) {
  return json_pack("{s:o, s:b, s:b, s:b, s:b, s:s, s:o}", "text", string_or_null(o->text), "crashed", o->crashed,
                   "halted", o->halted, "error", o->error, "changed", o->changed, "search", search_names[o->search],
                   "round", o->search == SESSION_FOUND ? session_round_to_json(&o->round) : json_null());
}

json_t *session_outcomes_to_json(struct session_outcomes *all, bool interrupted) {
  json_t *outcomes = json_array();
  for (size_t i = 0; i < all->n; i++)
    json_array_append_new(outcomes, outcome_to_json(&all->at[i]));
  json_t *j = json_pack("{s:o, s:b, s:o, s:b}", "outcomes", outcomes, "complete", all->complete, "work",
                        number_to_json(all->work), "interrupted", interrupted);
  session_outcomes_release(all);
  return j;
}

json_t *session_found_to_json(enum session_search search, const struct session_round *round, bool interrupted) {
  return json_pack("{s:s, s:o, s:b}", "search", search_names[search], "round",
                   search == SESSION_FOUND ? session_round_to_json(round) : json_null(), "interrupted", interrupted);
}

/* --- looking ahead --- */

static const char *const reach_names[] = {
    [SESSION_REACHABLE] = "reachable", [SESSION_UNREACHABLE] = "unreachable", [SESSION_UNKNOWN] = "unknown"};

json_t *session_ahead_to_json(struct session_ahead *a, bool interrupted) {
  json_t *j = json_pack("{s:s, s:o, s:o, s:o, s:b, s:o, s:b}", "reach", reach_names[a->reach], "steps",
                        a->reach == SESSION_UNREACHABLE ? json_null() : number_to_json(a->steps), "choices",
                        a->reach == SESSION_REACHABLE ? wide_to_json(a->choices, a->steps) : json_null(), "states",
                        number_to_json(a->states), "errors", a->errors, "why", string_or_null(a->why), "interrupted",
                        interrupted);
  session_ahead_release(a);
  return j;
}

/* --- reachable states --- */

/* Choices by number, or rounds. */
static json_t *way_to_json(const uint64_t *choices, const struct session_round *rounds, uint64_t n) {
  if (!rounds)
    return wide_to_json(choices, n);
  json_t *j = json_array();
  for (uint64_t i = 0; i < n; i++)
    json_array_append_new(j, session_round_to_json(&rounds[i]));
  return j;
}

static json_t *targets_to_json(const struct model *m, const struct session_survey *a) {
  json_t *j = json_array();
  for (uint32_t i = 0; i < a->ntargets; i++) {
    const struct session_target *t = &a->targets[i];
    const struct property *p = t->property == UINT32_MAX ? NULL : &m->properties[t->property];
    json_array_append_new(
        j, json_pack("{s:o, s:o, s:s, s:o, s:o}", "property", string_or_null(p ? p->name : NULL), "kind",
                     p ? json_string(p->kind == PROPERTY_COVER ? "cover" : "safety") : json_string("error"), "reach",
                     reach_names[t->reach], "steps",
                     t->reach == SESSION_UNREACHABLE ? json_null() : number_to_json(t->steps), "choices",
                     t->reach == SESSION_REACHABLE ? way_to_json(t->choices, t->rounds, t->steps) : json_null()));
  }
  return j;
}

static json_t *shown_to_json(const struct model *m, uint64_t shown) {
  json_t *j = json_array();
  for (uint32_t i = 0; i < m->nproperties && i < 64; i++)
    if (shown >> i & 1)
      json_array_append_new(j, json_string(m->properties[i].name));
  return j;
}

static json_t *classes_to_json(const struct model *m, const struct session_survey *a) {
  json_t *j = json_array();
  for (uint32_t i = 0; i < a->nclasses; i++) {
    const struct session_class *c = &a->classes[i];
    json_array_append_new(j, json_pack("{s:o, s:o, s:o, s:b, s:o}", "text", string_or_null(c->text), "states",
                                       number_to_json(c->states), "depth", number_to_json(c->depth), "final", c->final,
                                       "shown", shown_to_json(m, c->shown)));
  }
  return j;
}

static json_t *edges_to_json(const struct session_survey *a) {
  json_t *j = json_array();
  for (size_t i = 0; i < a->nedges; i++)
    json_array_append_new(j, json_pack("[I, I]", (json_int_t)a->edges[i].from, (json_int_t)a->edges[i].to));
  return j;
}

static json_t *path_classes_to_json(const struct session_survey *a) {
  json_t *j = json_array();
  for (size_t i = 0; i < a->npath; i++)
    json_array_append_new(j, a->path[i] == UINT32_MAX ? json_null() : json_integer((json_int_t)a->path[i]));
  return j;
}

json_t *session_survey_to_json(const struct model *m, struct session_survey *a) {
  json_t *final = json_null();
  if (a->final)
    final =
        json_pack("{s:o, s:o, s:o, s:b}", "states", number_to_json(a->final), "steps", number_to_json(a->final_steps),
                  "choices", way_to_json(a->final_choices, a->final_rounds, a->final_steps), "ended", a->final_ended);
  json_t *j = json_pack("{s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "complete", a->complete, "why",
                        string_or_null(a->why), "states", number_to_json(a->states), "depth", number_to_json(a->depth),
                        "errors", number_to_json(a->errors), "final", final, "targets", targets_to_json(m, a), "layers",
                        wide_to_json(a->layers, a->depth + 1), "classes", classes_to_json(m, a), "edges",
                        edges_to_json(a), "path", path_classes_to_json(a));
  session_survey_release(a);
  return j;
}
