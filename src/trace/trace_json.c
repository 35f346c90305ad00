#include "trace/trace_json.h"
#include "trace/waiting.h"

#include "base/memory.h"
#include "interp/local.h"
#include "trace/event_json.h"
#include "trace/property_instance.h"
#include "trace/status_names.h"
#include "trace/value_json.h"

#include <string.h>

static json_t *name_or_null(const char *name) { return name ? json_string(name) : json_null(); }

static json_t *value_text(const struct model *m, const struct type *t, value v) {
  struct text text = {0};
  value_print(&m->values, m, t, v, &text);
  json_t *j = json_string(text_or_empty(&text));
  text_release(&text);
  return j;
}

/* --- states --- */

json_t *status_to_json(value status) {
  json_t *j = json_array();
  for (unsigned i = 0; i < NSTATUSES; i++)
    if (status & status_names[i].bit)
      json_array_append_new(j, json_string(status_names[i].name));
  return j;
}

/* A Byzantine process has no variables. The program point is not a variable either. */
static json_t *local_to_json(const struct model *m, uint32_t p, const value *local) {
  const struct role *role = process_role(m, p);
  bool liar = local[LOCAL_STATUS] & STATUS_BYZANTINE;
  json_t *j = json_object(), *variables = json_object();
  json_object_set_new(j, "process", process_to_json(m, p));
  json_object_set_new(j, "status", status_to_json(local[LOCAL_STATUS]));
  if (model_steps(m) && role->point_var != NO_VAR && !liar)
    json_object_set_new(j, "at", value_to_json(m, role->vars[role->point_var].type, local[LOCAL_VAR(role->point_var)]));
  for (uint32_t i = 0; i < role->nvars && !liar; i++)
    if (!var_is_hidden(&role->vars[i]))
      json_object_set_new(variables, role->vars[i].name, value_to_json(m, role->vars[i].type, local[LOCAL_VAR(i)]));
  json_object_set_new(j, "variables", variables);
  return j;
}

static json_t *pending_to_json(const struct model *m, const struct config *c) {
  json_t *j = json_array();
  for (uint32_t i = 0; i < c->npackets; i++) {
    const struct packet *p = &c->packets[i];
    json_t *one = message_to_json(m, p->kind, p->message);
    json_object_set_new(one, "from", process_to_json(m, p->from));
    json_object_set_new(one, "to", process_to_json(m, p->to));
    json_object_set_new(one, "place", json_string(packet_place_names[p->place]));
    json_array_append_new(j, one);
  }
  return j;
}

static json_t *config_to_json(const struct model *m, const struct config *c) {
  json_t *j = json_object(), *globals = json_object(), *processes = json_array();
  for (uint32_t i = 0; i < m->nglobals; i++)
    if (!var_is_hidden(&m->globals[i]))
      json_object_set_new(globals, m->globals[i].name, value_to_json(m, m->globals[i].type, c->globals[i]));
  for (uint32_t p = 0; p < m->nprocesses; p++)
    json_array_append_new(processes, local_to_json(m, p, c->local[p]));
  json_object_set_new(j, "globals", globals);
  json_object_set_new(j, "processes", processes);
  if (model_steps(m))
    json_object_set_new(j, "pending", pending_to_json(m, c));
  return j;
}

/* --- choices in a round --- */

static void set_for_process(json_t *object, const struct model *m, uint32_t p, json_t *what) {
  struct text name = {0};
  process_print(m, p, &name);
  json_object_set_new(object, name.at, what);
  text_release(&name);
}

static json_t *oracles_to_json(const struct model *m, const struct config *c, const struct witness *w) {
  json_t *j = json_object();
  for (uint32_t p = 0; p < m->nprocesses; p++) {
    const struct role *role = process_role(m, p);
    json_t *own = json_object();
    for (uint32_t i = 0; i < role->nvars; i++) {
      const value *chosen = oracle_choice(m, c, w, p, i);
      if (chosen)
        json_object_set_new(own, role->vars[i].name, value_to_json(m, role->vars[i].type, *chosen));
    }
    if (json_object_size(own) > 0)
      set_for_process(j, m, p, json_incref(own));
    json_decref(own);
  }
  return j;
}

static json_t *heard_to_json(const struct model *m, const struct witness *w) {
  json_t *j = json_object();
  for (uint32_t p = 0; p < m->nprocesses; p++) {
    json_t *of = json_array();
    for (uint32_t q = 0; q < m->nprocesses; q++)
      if (w->heard[p][q])
        json_array_append_new(of, process_to_json(m, q));
    set_for_process(j, m, p, of);
  }
  return j;
}

static json_t *choices_to_json(const struct model *m, const struct witness *w) {
  json_t *j = json_object();
  for (uint32_t p = 0; p < m->nprocesses; p++) {
    if (w->sends[p].n == 0 && w->updates[p].n == 0)
      continue;
    set_for_process(j, m, p,
                    json_pack("{s:o, s:o}", "send", numbers_to_json(w->sends[p].at, w->sends[p].n), "update",
                              numbers_to_json(w->updates[p].at, w->updates[p].n)));
  }
  return j;
}

/* By receiver and sender, so that the same round is always written in the same way. */
static json_t *forged_to_json(const struct model *m, const struct config *c, const struct witness *w) {
  json_t *j = json_array();
  const struct forgery **sorted = memory_alloc((w->nforged + (size_t)1) * sizeof *sorted);
  for (uint32_t i = 0; i < w->nforged; i++) {
    const struct forgery *f = &w->forged[i];
    uint32_t at = i;
    for (; at > 0 && (sorted[at - 1]->receiver > f->receiver ||
                      (sorted[at - 1]->receiver == f->receiver && sorted[at - 1]->sender > f->sender));
         at--)
      sorted[at] = sorted[at - 1];
    sorted[at] = f;
  }
  for (uint32_t i = 0; i < w->nforged; i++) {
    const struct forgery *f = sorted[i];
    const struct type *type = process_role(m, f->receiver)->body[c->point].received;
    json_array_append_new(j, json_pack("{s:o, s:o, s:o}", "receiver", process_to_json(m, f->receiver), "sender",
                                       process_to_json(m, f->sender), "message",
                                       type ? value_to_json(m, type, f->message) : json_null()));
  }
  memory_free(sorted);
  return j;
}

static json_t *crashes_to_json(const struct model *m, const struct witness *w) {
  json_t *j = json_array();
  for (uint32_t p = 0; p < m->nprocesses; p++)
    if (w->crashes[p])
      json_array_append_new(j, process_to_json(m, p));
  return j;
}

/* --- results of a round, for readers --- */

/* One entry for each message and sender, with all receivers. */
static json_t *sent_to_json(const struct model *m, const struct step_log *log) {
  json_t *j = json_array(), *to = NULL;
  for (size_t i = 0; i < log->nsent; i++) {
    const struct sent *s = &log->sent[i], *before = i ? s - 1 : NULL;
    if (!before || before->from != s->from || before->message != s->message || before->at.from != s->at.from ||
        (model_steps(m) && before->to >= s->to)) {
      json_t *one = model_steps(m) ? message_to_json(m, s->kind, s->message) : json_object();
      to = json_array();
      json_object_set_new(one, "from", process_to_json(m, s->from));
      json_object_set_new(one, "to", to);
      if (!model_steps(m)) {
        json_object_set_new(one, "message", value_to_json(m, s->type, s->message));
        json_object_set_new(one, "text", value_text(m, s->type, s->message));
      }
      json_object_set_new(one, "line", line_to_json(m, s->at));
      json_array_append_new(j, one);
    }
    json_array_append_new(to, process_to_json(m, s->to));
  }
  return j;
}

static json_t *received_to_json(const struct model *m, const struct step_log *log) {
  json_t *j = json_array();
  for (size_t i = 0; i < log->narrivals; i++) {
    const struct arrival *a = &log->arrivals[i];
    json_array_append_new(j, json_pack("{s:o, s:o, s:o, s:b}", "process", process_to_json(m, a->to), "from",
                                       process_to_json(m, a->from), "message", value_to_json(m, a->type, a->message),
                                       "forged", a->forged));
  }
  return j;
}

static void change_print(const struct model *m, const struct var *var, const struct change *c, struct text *text) {
  if (var->kind == VAR_POINT) {
    text_add(text, "goes to ");
  } else {
    text_addf(text, "%s ", var->name);
    value_print(&m->values, m, var->type, c->before, text);
    text_add(text, " -> ");
  }
  value_print(&m->values, m, var->type, c->after, text);
}

static json_t *changes_to_json(const struct model *m, const struct step_log *log) {
  json_t *j = json_array();
  for (size_t i = 0; i < log->nchanges; i++) {
    const struct change *c = &log->changes[i];
    bool shared = c->process == PROCESS_SHARED;
    const struct var *var = change_var(m, c);
    struct text text = {0};
    if (var->kind == VAR_ONCE)
      continue;
    json_t *one = json_object();
    change_print(m, var, c, &text);
    json_object_set_new(one, "process", shared ? json_null() : process_to_json(m, c->process));
    json_object_set_new(one, "variable", json_string(var->kind == VAR_POINT ? "at" : var->name));
    json_object_set_new(one, "before", value_to_json(m, var->type, c->before));
    json_object_set_new(one, "after", value_to_json(m, var->type, c->after));
    json_object_set_new(one, "text", json_string(text.at));
    json_object_set_new(one, "line", line_to_json(m, c->at));
    json_array_append_new(j, one);
    text_release(&text);
  }
  return j;
}

static json_t *round_to_json(const struct trace *t, uint32_t i) {
  const struct model *m = t->model;
  const struct config *c = t->configs[i];
  const struct witness *w = t->run.steps[i];
  const struct point *point = &m->points[c->point];
  json_t *j = json_object();
  json_object_set_new(j, "round", json_integer(i + 1));
  json_object_set_new(j, "name", name_or_null(point->name));
  json_object_set_new(j, "phase", point->endless ? json_integer(c->phase) : json_null());
  json_object_set_new(j, "oracles", oracles_to_json(m, c, w));
  json_object_set_new(j, "crashes", crashes_to_json(m, w));
  json_object_set_new(j, "heard", heard_to_json(m, w));
  json_object_set_new(j, "forged", forged_to_json(m, c, w));
  json_object_set_new(j, "choices", choices_to_json(m, w));
  json_object_set_new(j, "sent", sent_to_json(m, &t->logs[i]));
  json_object_set_new(j, "received", received_to_json(m, &t->logs[i]));
  json_object_set_new(j, "changes", changes_to_json(m, &t->logs[i]));
  json_object_set_new(j, "state", i + 1 < t->nconfigs ? config_to_json(m, t->configs[i + 1]) : json_null());
  return j;
}

static json_t *step_to_json(const struct trace *t, uint32_t i) {
  const struct model *m = t->model;
  json_t *j = json_object();
  json_object_set_new(j, "step", json_integer(i + 1));
  event_to_json(m, t->run.steps[i]->event, j);
  json_object_set_new(j, "sent", sent_to_json(m, &t->logs[i]));
  json_object_set_new(j, "changes", changes_to_json(m, &t->logs[i]));
  json_object_set_new(j, "state", i + 1 < t->nconfigs ? config_to_json(m, t->configs[i + 1]) : json_null());
  return j;
}

/* Asynchronous rounds: the order in which processes end their rounds. */
static json_t *order_to_json(const struct trace *t) {
  json_t *j = json_array();
  uint32_t *rounds = memory_alloc((t->model->nprocesses + 1) * sizeof *rounds);
  for (uint32_t i = 0; i < t->run.norder; i++) {
    uint32_t p = t->run.order[i];
    json_array_append_new(j, json_pack("{s:o, s:i}", "process", process_to_json(t->model, p), "round", ++rounds[p]));
  }
  memory_free(rounds);
  return j;
}

/* --- the whole trace --- */

static json_t *texts_to_json(char *const *at, size_t n) {
  json_t *j = json_array();
  for (size_t i = 0; i < n; i++)
    json_array_append_new(j, json_string(at[i]));
  return j;
}

/* Who waits for what in the last state, if nothing can happen there; else NULL. */
static json_t *waiting_to_json(const struct trace *t, struct interpreter *interp) {
  struct waiting_list list;
  if (!waiting_list_make(&list, interp, t->claim.environment, t->configs[t->nconfigs - 1]))
    return NULL;
  json_t *all = json_array();
  for (uint32_t i = 0; i < list.n; i++) {
    const struct waiting_process *w = &list.at[i];
    const struct role *role = &t->model->roles[model_role_of(t->model, w->process)];
    json_t *j = json_object(), *actions = json_array();
    json_object_set_new(j, "process", process_to_json(t->model, w->process));
    json_object_set_new(j, "at", w->place ? json_string(w->place) : json_null());
    json_object_set_new(j, "middle", json_boolean(w->how != WAITING_NOT));
    json_object_set_new(j, "room", json_boolean(w->how == WAITING_ROOM));
    for (uint32_t k = 0; k < w->nactions; k++) {
      const struct action *a = &role->actions[w->actions[k]];
      json_t *action = json_object();
      json_object_set_new(action, "action", json_string(a->name));
      json_object_set_new(action, "trigger", text_to_json(t->model->source.text + a->at.from, a->at.to - a->at.from));
      json_object_set_new(action, "line", line_to_json(t->model, a->at));
      json_array_append_new(actions, action);
    }
    json_object_set_new(j, "actions", actions);
    json_array_append_new(all, j);
  }
  waiting_list_release(&list);
  return all;
}

static json_t *property_to_json(const struct trace *t, struct interpreter *interp) {
  const struct property *p = trace_property(t);
  if (!p)
    return json_null();
  struct property_instance instance;
  json_t *j = json_object();
  property_instance_find(&instance, interp, t);
  json_object_set_new(j, "name", json_string(p->name));
  json_object_set_new(
      j, "formula",
      p->built_in ? json_string("not deadlocked")
                  : text_to_json(t->model->source.text + p->formula->at.from, p->formula->at.to - p->formula->at.from));
  json_object_set_new(j, "line", line_to_json(t->model, p->at));
  json_object_set_new(j, "instance", texts_to_json(instance.bound.at, instance.bound.n));
  json_object_set_new(j, "values", texts_to_json(instance.read.at, instance.read.n));
  json_t *waiting =
      !t->claim.lasso && t->nconfigs > 0 && formula_asks_quiescence(p->formula) ? waiting_to_json(t, interp) : NULL;
  if (waiting)
    json_object_set_new(j, "waiting", waiting);
  property_instance_release(&instance);
  return j;
}

static json_t *error_to_json(const struct trace *t) {
  if (!t->claim.error)
    return json_null();
  json_t *j = json_object();
  json_object_set_new(j, "message", json_string(t->error.message ? t->error.message : ""));
  json_object_set_new(j, "line", line_to_json(t->model, t->error.at));
  json_object_set_new(j, "process",
                      t->error.process < t->model->nprocesses ? process_to_json(t->model, t->error.process)
                                                              : json_null());
  return j;
}

json_t *params_to_json(const struct model *m) {
  json_t *j = json_object();
  for (uint32_t i = 0; i < m->nparams; i++) {
    const struct param *p = &m->params[i];
    json_object_set_new(j, p->name, p->truth ? json_boolean(p->value) : json_integer(p->value));
  }
  return j;
}

json_t *model_to_json(const struct model *m, uint32_t environment, enum semantics semantics) {
  json_t *j = json_object();
  json_object_set_new(j, "name", json_string(m->name));
  json_object_set_new(j, "file", text_to_json(m->source.path, strlen(m->source.path)));
  json_object_set_new(j, "params", params_to_json(m));
  json_object_set_new(j, "environment", json_string(m->environments[environment].name));
  json_object_set_new(j, "semantics", json_string(semantics_name(semantics)));
  return j;
}

json_t *trace_to_json(const struct trace *t, struct interpreter *interp) {
  const struct model *m = t->model;
  json_t *j = json_object(), *steps = json_array();
  for (uint32_t i = 0; i < t->run.nsteps; i++)
    json_array_append_new(steps, model_steps(m) ? step_to_json(t, i) : round_to_json(t, i));
  json_object_set_new(j, "schema", json_string(TRACE_SCHEMA));
  json_object_set_new(j, "model", model_to_json(m, t->claim.environment, t->claim.semantics));
  json_object_set_new(j, "property", property_to_json(t, interp));
  json_object_set_new(j, "error", error_to_json(t));
  if (t->claim.lasso)
    json_object_set_new(j, "loop", json_integer(t->claim.loop));
  json_object_set_new(j, "initial", config_to_json(m, t->configs[0]));
  json_object_set_new(j, model_steps(m) ? "steps" : "rounds", steps);
  if (t->done)
    json_object_set_new(j, "order", order_to_json(t));
  if (t->cut)
    json_object_set_new(j, "end", config_to_json(m, t->cut));
  return j;
}
