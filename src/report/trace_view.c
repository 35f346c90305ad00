#include "report/trace_view.h"

#include "report/trace_printer.h"
#include "trace/trace_json.h"

static json_t *value_text_json(const struct model *m, const struct type *type, value v) {
  struct text text = {0};
  value_print(&m->values, m, type, v, &text);
  json_t *j = json_string(text_or_empty(&text));
  text_release(&text);
  return j ? j : json_string("?");
}

/* The program point is shown as "at", unless there is only one besides the start. */
static bool is_shown(const struct var *v) {
  return v->kind == VAR_POINT ? v->type->size > 2 : !v->hidden && v->kind != VAR_ONCE && v->kind != VAR_ORACLE;
}

static const char *shown_name(const struct var *v) { return v->kind == VAR_POINT ? "at" : v->name; }

static json_t *local_view(const struct model *m, uint32_t p, const value *local) {
  const struct role *role = process_role(m, p);
  json_t *values = json_array();
  bool liar = local[LOCAL_STATUS] & STATUS_BYZANTINE;
  for (uint32_t i = 0; i < role->nvars && !liar; i++)
    if (is_shown(&role->vars[i]))
      json_array_append_new(values, json_pack("[s, o]", shown_name(&role->vars[i]),
                                              value_text_json(m, role->vars[i].type, local[LOCAL_VAR(i)])));
  return json_pack("{s:o, s:o}", "status", status_to_json(local[LOCAL_STATUS]), "values", values);
}

static json_t *start_view(const struct model *m, const struct config *c) {
  json_t *globals = json_array(), *locals = json_array();
  for (uint32_t i = 0; i < m->nglobals; i++)
    if (!m->globals[i].hidden)
      json_array_append_new(
          globals, json_pack("[s, o]", m->globals[i].name, value_text_json(m, m->globals[i].type, c->globals[i])));
  for (uint32_t p = 0; p < m->nprocesses; p++)
    json_array_append_new(locals, local_view(m, p, c->local[p]));
  return json_pack("{s:o, s:o}", "globals", globals, "locals", locals);
}

/* Adds a line, unless it is there. */
static void add_line(const struct model *m, struct span at, json_t *lines) {
  size_t i;
  json_t *one;
  if (at.to == 0)
    return;
  uint32_t line = source_line_number(&m->source, at);
  json_array_foreach(lines, i, one) {
    if (json_integer_value(one) == line)
      return;
  }
  json_array_append_new(lines, json_integer(line));
}

static json_t *lines_view(const struct trace *t, uint32_t step) {
  const struct step_log *log = &t->logs[step];
  const struct event *e = t->run.steps[step]->event;
  const struct action *a = e ? event_action(t->model, e) : NULL;
  json_t *lines = json_array();
  if (a)
    add_line(t->model, a->at, lines);
  for (size_t i = 0; i < log->nsent; i++)
    add_line(t->model, log->sent[i].at, lines);
  for (size_t i = 0; i < log->nchanges; i++)
    add_line(t->model, log->changes[i].at, lines);
  if (step + 1 >= t->nconfigs)
    add_line(t->model, t->error.at, lines);
  return lines;
}

static json_t *changes_view(const struct trace *t, uint32_t step) {
  const struct step_log *log = &t->logs[step];
  json_t *changes = json_array();
  for (size_t i = 0; i < log->nchanges; i++) {
    const struct change *c = &log->changes[i];
    const struct var *var = change_var(t->model, c);
    bool shared = c->process == PROCESS_SHARED;
    if (shared ? !var->hidden : is_shown(var))
      json_array_append_new(changes, json_pack("[o, s, o]", shared ? json_null() : json_integer(c->process),
                                               shared ? var->name : shown_name(var),
                                               value_text_json(t->model, var->type, c->after)));
  }
  return changes;
}

static json_t *statuses_view(const struct trace *t, uint32_t step) {
  json_t *statuses = json_array();
  for (uint32_t p = 0; p < t->model->nprocesses && step + 1 < t->nconfigs && trace_has_ended(t, p, step); p++) {
    value before = t->configs[step]->local[p][LOCAL_STATUS], after = t->configs[step + 1]->local[p][LOCAL_STATUS];
    if (before != after)
      json_array_append_new(statuses, json_pack("[i, o]", (int)p, status_to_json(after)));
  }
  return statuses;
}

static json_t *step_view(const struct trace *t, uint32_t step) {
  const struct trace_printer printer = {.trace = t, .model = t->model};
  struct text title = {0};
  if (model_steps(t->model))
    text_addf(&title, "step %u", t->before + step + 1);
  else
    trace_printer_round_title(&printer, step, &title);
  json_t *j = json_pack("{s:s, s:o, s:o, s:o}", "title", title.at, "lines", lines_view(t, step), "changes",
                        changes_view(t, step), "statuses", statuses_view(t, step));
  text_release(&title);
  return j;
}

json_t *trace_view(const struct trace *t) {
  const struct model *m = t->model;
  json_t *processes = json_array(), *steps = json_array();
  for (uint32_t p = 0; p < m->nprocesses; p++) {
    struct text name = {0};
    process_print(m, p, &name);
    json_array_append_new(processes, json_pack("{s:s, s:s}", "name", name.at, "role", process_role(m, p)->name));
    text_release(&name);
  }
  for (uint32_t i = 0; i < t->run.nsteps; i++)
    json_array_append_new(steps, step_view(t, i));
  return json_pack("{s:s, s:o, s:o, s:o, s:o}", "unit", step_word(m), "loop",
                   t->claim.lasso ? json_integer(t->claim.loop) : json_null(), "processes", processes, "start",
                   start_view(m, t->configs[0]), "steps", steps);
}
