#include "report/trace_itf.h"

#include "trace/trace_json.h"
#include "trace/value_json.h"

#include <string.h>

/* Roles may have variables of the same name, which share one map. */
static json_t *variable_itf(const struct model *m, const struct config *c, const char *name) {
  json_t *pairs = json_array();
  for (uint32_t p = 0; p < m->nprocesses; p++) {
    const struct role *role = process_role(m, p);
    uint32_t i = role_find_var(role, name);
    if (i != NO_VAR && !(c->local[p][LOCAL_STATUS] & STATUS_BYZANTINE))
      json_array_append_new(pairs, json_pack("[o, o]", process_to_json(m, p),
                                             value_to_itf(m, role->vars[i].type, c->local[p][LOCAL_VAR(i)])));
  }
  return json_pack("{s:o}", "#map", pairs);
}

static json_t *status_itf(const struct model *m, const struct config *c) {
  json_t *pairs = json_array();
  for (uint32_t p = 0; p < m->nprocesses; p++)
    json_array_append_new(
        pairs, json_pack("[o, {s:o}]", process_to_json(m, p), "#set", status_to_json(c->local[p][LOCAL_STATUS])));
  return json_pack("{s:o}", "#map", pairs);
}

static json_t *messages_itf(const struct model *m, const struct config *c) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < c->npackets; i++) {
    const struct packet *k = &c->packets[i];
    json_array_append_new(list, json_pack("{s:o, s:o, s:s, s:o}", "from", process_to_json(m, k->from), "to",
                                          process_to_json(m, k->to), "kind", m->messages[k->kind].name, "message",
                                          value_to_itf(m, m->messages[k->kind].type, k->message)));
  }
  return list;
}

/* If a role has a variable of this name, such as `status`, the generated variable gets another name. */
static const char *free_name(const struct model *m, const char *name, const char *other) {
  for (uint32_t r = 0; r < m->nroles; r++)
    if (role_find_var(&m->roles[r], name) != NO_VAR)
      return other;
  for (uint32_t i = 0; i < m->nglobals; i++)
    if (!strcmp(m->globals[i].name, name))
      return other;
  return name;
}

static json_t *state_itf(const struct trace *t, uint32_t index, json_t *names) {
  const struct model *m = t->model;
  const struct config *c = t->configs[index];
  json_t *state = json_pack("{s:{s:i}}", "#meta", "index", (int)index);
  for (uint32_t i = 0; i < m->nglobals; i++)
    json_object_set_new(state, m->globals[i].name, value_to_itf(m, m->globals[i].type, c->globals[i]));
  for (uint32_t r = 0; r < m->nroles; r++)
    for (uint32_t i = 0; i < m->roles[r].nvars; i++)
      json_object_set_new(state, m->roles[r].vars[i].name, variable_itf(m, c, m->roles[r].vars[i].name));
  json_object_set_new(state, free_name(m, "status", "rondo_status"), status_itf(m, c));
  if (model_steps(m))
    json_object_set_new(state, free_name(m, "messages", "rondo_messages"), messages_itf(m, c));
  else
    json_object_set_new(state, free_name(m, "round", "rondo_round"), number_to_itf(c->rounds));
  if (index == 0) {
    const char *key;
    json_t *v;
    json_object_foreach(state, key, v) if (strcmp(key, "#meta")) json_array_append_new(names, json_string(key));
  }
  return state;
}

json_t *itf_json(const struct trace *t) {
  const struct model *m = t->model;
  json_t *names = json_array(), *states = json_array();
  bool returns = t->claim.lasso && !trace_stays(t); /* the last state repeats the start of the loop */
  for (uint32_t i = 0; i + returns < t->nconfigs; i++)
    json_array_append_new(states, state_itf(t, i, names));
  const struct property *p = trace_property(t);
  json_t *meta = json_pack("{s:s, s:s, s:s, s:s, s:s, s:o}", "format", "ITF", "format-description",
                           "https://apalache-mc.org/docs/adr/015adr-trace.html", "description", m->name, "environment",
                           m->environments[t->claim.environment].name, "property", p ? p->name : "no_error",
                           "parameters", params_to_json(m));
  json_t *trace = json_pack("{s:o, s:o, s:o}", "#meta", meta, "vars", names, "states", states);
  if (t->claim.lasso)
    json_object_set_new(trace, "loop", json_integer(t->claim.loop));
  return trace;
}
