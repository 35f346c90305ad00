/* Reads trace files. They may contain anything, so every step reports what it expected. */
#include "trace/trace_json.h"

#include "base/memory.h"
#include "base/vec.h"
#include "interp/local.h"
#include "trace/event_json.h"
#include "trace/status_names.h"
#include "trace/value_json.h"

#include <string.h>

/* The member if it has that type; otherwise NULL and an error. */
static const json_t *member(const json_t *object, const char *name, json_type type, const char *type_name,
                            struct text *why) {
  const json_t *found = json_object_get(object, name);
  if (found && json_typeof(found) == type)
    return found;
  text_addf(why, found ? "'%s' is not %s" : "'%s' is missing (%s)", name, type_name);
  return NULL;
}
#define OBJECT JSON_OBJECT, "an object"
#define ARRAY JSON_ARRAY, "a list"
#define STRING JSON_STRING, "a string"

void trace_head_release(struct trace_head *h) {
  memory_free(h->params);
  *h = (struct trace_head){0};
}

static bool read_params(const json_t *params, struct trace_head *h, struct text *why) {
  const char *name;
  json_t *at;
  h->params = memory_alloc((json_object_size(params) + 1) * sizeof *h->params);
  json_object_foreach((json_t *)params, name, at) {
    if (!json_is_integer(at) && !json_is_boolean(at)) {
      text_addf(why, "parameter '%s' is neither a whole number nor true or false", name);
      return false;
    }
    int64_t given = json_is_boolean(at) ? json_is_true(at) : json_integer_value(at);
    h->params[h->nparams++] = (struct param){.name = name, .value = given};
  }
  return true;
}

bool trace_head_read(const json_t *j, struct trace_head *h, struct text *why) {
  *h = (struct trace_head){0};
  const json_t *schema = member(j, "schema", STRING, why);
  if (!schema)
    return false;
  if (strcmp(json_string_value(schema), TRACE_SCHEMA) != 0) {
    text_addf(why, "its schema is '%.60s', and this rondo reads '%s'", json_string_value(schema), TRACE_SCHEMA);
    return false;
  }
  const json_t *model = member(j, "model", OBJECT, why);
  const json_t *path = model ? member(model, "file", STRING, why) : NULL;
  const json_t *params = path ? member(model, "params", OBJECT, why) : NULL;
  const json_t *environment = params ? member(model, "environment", STRING, why) : NULL;
  if (!environment || !read_params(params, h, why))
    return false;
  h->path = json_string_value(path);
  h->environment = json_string_value(environment);
  h->semantics = json_string_value(json_object_get(model, "semantics"));
  h->error = json_is_object(json_object_get(j, "error"));
  const json_t *property = json_object_get(j, "property"), *loop = json_object_get(j, "loop");
  h->lasso = loop != NULL;
  if (loop && (!json_is_integer(loop) || json_integer_value(loop) < 0 || json_integer_value(loop) > UINT32_MAX)) {
    text_add(why, "'loop' is not a number of steps");
    return false;
  }
  h->loop = (uint32_t)json_integer_value(loop);
  if (h->error && h->lasso) {
    text_add(why, "it ends in an error and has a loop");
    return false;
  }
  if (!property || json_is_null(property))
    return true;
  const json_t *name = member(property, "name", STRING, why);
  h->property = json_string_value(name);
  return name != NULL;
}

/* --- states --- */

static bool read_status(const json_t *list, value *status, struct text *why) {
  *status = 0;
  for (size_t i = 0; i < json_array_size(list); i++) {
    const char *name = json_string_value(json_array_get(list, i));
    value bit = 0;
    for (unsigned k = 0; name && k < NSTATUSES; k++)
      if (!strcmp(name, status_names[k].name))
        bit = status_names[k].bit;
    if (!bit) {
      text_addf(why, "unknown status '%.60s'", name ? name : "?");
      return false;
    }
    *status |= bit;
  }
  return true;
}

static bool read_variables(const json_t *variables, struct model *m, const struct role *role, value *local,
                           struct text *why) {
  uint32_t visible = 0;
  for (uint32_t i = 0; i < role->nvars; i++) {
    const struct var *var = &role->vars[i];
    const json_t *at = json_object_get(variables, var->name);
    struct text what = {0};
    if (var_is_hidden(var))
      continue; /* at the start no action has been taken */
    visible++;
    if (!at) {
      text_addf(why, "variable '%s' of the model is missing", var->name);
      return false;
    }
    if (!value_from_json(m, var->type, at, &local[LOCAL_VAR(i)], &what)) {
      text_addf(why, "variable '%s': %s", var->name, what.at);
      text_release(&what);
      return false;
    }
    if (var->kind == VAR_INPUT)
      local[role_initial_at(role, i)] = local[LOCAL_VAR(i)];
  }
  if (json_object_size(variables) == visible)
    return true;
  text_addf(why, "there are variables that the model does not have");
  return false;
}

/* The program point of the process, if its role has any. */
static bool read_point(const json_t *j, struct model *m, const struct role *role, value *local, struct text *why) {
  if (!model_steps(m) || role->point_var == NO_VAR)
    return true;
  if (!j)
    text_add(why, "'at' is missing (where the process stands)");
  return j && value_from_json(m, role->vars[role->point_var].type, j, &local[LOCAL_VAR(role->point_var)], why);
}

static bool read_local(const json_t *j, struct model *m, struct config *c, bool *seen, struct text *why) {
  uint32_t p;
  const json_t *name = json_object_get(j, "process");
  const json_t *status = member(j, "status", ARRAY, why);
  const json_t *variables = status ? member(j, "variables", OBJECT, why) : NULL;
  if (!variables || !process_from_json(m, name, &p, why))
    return false;
  if (seen[p]) {
    text_addf(why, "process '%s' is there twice", json_string_value(name));
    return false;
  }
  seen[p] = true;
  if (!read_status(status, &c->local[p][LOCAL_STATUS], why))
    return false;
  if (c->local[p][LOCAL_STATUS] & STATUS_BYZANTINE)
    return true;
  struct text what = {0};
  if (read_variables(variables, m, process_role(m, p), c->local[p], &what) &&
      read_point(json_object_get(j, "at"), m, process_role(m, p), c->local[p], &what))
    return true;
  text_addf(why, "%s: %s", json_string_value(name), what.at);
  text_release(&what);
  return false;
}

static bool read_initial(const json_t *j, struct model *m, struct config *c, struct text *why) {
  const json_t *globals = member(j, "globals", OBJECT, why);
  const json_t *processes = globals ? member(j, "processes", ARRAY, why) : NULL;
  if (!processes)
    return false;
  for (uint32_t i = 0; i < m->nglobals; i++) {
    const json_t *at = json_object_get(globals, m->globals[i].name);
    if (!at) {
      text_addf(why, "global '%s' is missing", m->globals[i].name);
      return false;
    }
    if (!value_from_json(m, m->globals[i].type, at, &c->globals[i], why))
      return false;
  }
  if (json_array_size(processes) != m->nprocesses) {
    text_addf(why, "it has %zu processes, the model %u", json_array_size(processes), m->nprocesses);
    return false;
  }
  bool *seen = memory_alloc((m->nprocesses + 1) * sizeof *seen);
  bool ok = true;
  for (size_t i = 0; i < m->nprocesses && ok; i++)
    ok = read_local(json_array_get(processes, i), m, c, seen, why);
  memory_free(seen);
  return ok;
}

/* --- rounds --- */

/* Oracles keep their values unless the file says otherwise. */
static bool read_oracles(const json_t *j, struct model *m, struct witness *w, struct text *why) {
  for (uint32_t p = 0; p < m->nprocesses; p++) {
    const struct role *role = process_role(m, p);
    struct text name = {0};
    process_print(m, p, &name);
    const json_t *own = json_object_get(j, name.at);
    text_release(&name);
    w->oracles[p] = memory_alloc((role_noracles(role) + 1) * sizeof **w->oracles);
    for (uint32_t i = 0, k = 0; i < role->nvars; i++) {
      if (role->vars[i].kind != VAR_ORACLE)
        continue;
      const json_t *at = json_object_get(own, role->vars[i].name);
      w->oracles[p][k] = type_default(&m->values, role->vars[i].type);
      if (at && !value_from_json(m, role->vars[i].type, at, &w->oracles[p][k], why))
        return false;
      k++;
    }
  }
  return true;
}

static bool read_crashes(const json_t *j, struct model *m, struct witness *w, struct text *why) {
  for (size_t i = 0; i < json_array_size(j); i++) {
    uint32_t p;
    if (!process_from_json(m, json_array_get(j, i), &p, why))
      return false;
    w->crashes[p] = true;
  }
  return true;
}

static bool read_heard(const json_t *j, struct model *m, struct witness *w, struct text *why) {
  const char *name;
  json_t *of;
  json_object_foreach((json_t *)j, name, of) {
    uint32_t p, q;
    if (!process_from_name(m, name, &p)) {
      text_addf(why, "there is no process '%.60s'", name);
      return false;
    }
    for (size_t i = 0; i < json_array_size(of); i++) {
      if (!process_from_json(m, json_array_get(of, i), &q, why))
        return false;
      w->heard[p][q] = 1;
    }
  }
  return true;
}

static bool read_forged(const json_t *j, struct model *m, uint32_t point, struct witness *w, struct text *why) {
  w->forged = memory_alloc((json_array_size(j) + 1) * sizeof *w->forged);
  for (size_t i = 0; i < json_array_size(j); i++) {
    const json_t *one = json_array_get(j, i), *message = json_object_get(one, "message");
    struct forgery *f = &w->forged[w->nforged++];
    if (!process_from_json(m, json_object_get(one, "receiver"), &f->receiver, why) ||
        !process_from_json(m, json_object_get(one, "sender"), &f->sender, why))
      return false;
    const struct type *type = process_role(m, f->receiver)->body[point].received;
    if (!type || !message) {
      text_add(why, "a forged message where none can be received");
      return false;
    }
    if (!value_from_json(m, type, message, &f->message, why))
      return false;
  }
  return true;
}

static bool read_script(const json_t *j, const char *what, struct script *s, struct text *why) {
  memory_free(s->at);
  return numbers_from_json(json_object_get(j, what), "choices", &s->at, &s->n, why);
}

static bool read_choices(const json_t *j, struct model *m, struct witness *w, struct text *why) {
  const char *name;
  json_t *own;
  json_object_foreach((json_t *)j, name, own) {
    uint32_t p;
    if (!process_from_name(m, name, &p)) {
      text_addf(why, "there is no process '%.60s'", name);
      return false;
    }
    if (!read_script(own, "send", &w->sends[p], why) || !read_script(own, "update", &w->updates[p], why))
      return false;
  }
  return true;
}

static bool read_round(const json_t *j, struct model *m, uint32_t point, struct witness *w, struct text *why) {
  const json_t *heard = member(j, "heard", OBJECT, why);
  return heard && read_heard(heard, m, w, why) && read_oracles(json_object_get(j, "oracles"), m, w, why) &&
         read_crashes(json_object_get(j, "crashes"), m, w, why) &&
         read_forged(json_object_get(j, "forged"), m, point, w, why) &&
         read_choices(json_object_get(j, "choices"), m, w, why);
}

static bool read_steps(const json_t *steps, struct model *m, struct run *run, struct text *why) {
  size_t n = json_array_size(steps);
  bool events = model_steps(m);
  uint32_t point = 0;
  run->steps = memory_alloc((n + 1) * sizeof *run->steps);
  for (size_t i = 0; i < n; i++) {
    const json_t *at = json_array_get(steps, i);
    struct text what = {0};
    if (!events && point == POINT_END) {
      text_addf(why, "it has %zu rounds, the algorithm only %zu", n, i);
      return false;
    }
    struct witness *w = run->steps[run->nsteps++] = witness_new(m);
    if (!(events ? event_from_json(at, m, w, &what) : read_round(at, m, point, w, &what))) {
      text_addf(why, "%s %zu: %s", step_word(m), i + 1, what.at);
      text_release(&what);
      return false;
    }
    if (!events)
      point = m->points[point].next;
  }
  return true;
}

/* Asynchronous rounds: the order in which processes end their rounds. Other semantics have no such list. */
static bool read_order(const json_t *order, struct model *m, struct run *run, struct text *why) {
  size_t n = json_array_size(order);
  run->order = memory_alloc((n + 1) * sizeof *run->order);
  for (size_t i = 0; i < n; i++)
    if (!process_from_json(m, json_object_get(json_array_get(order, i), "process"), &run->order[run->norder++], why))
      return false;
  return true;
}

bool trace_run_read(const json_t *j, struct model *m, struct run *run, struct text *why) {
  *run = (struct run){0};
  const json_t *initial = member(j, "initial", OBJECT, why);
  const json_t *steps = initial ? member(j, model_steps(m) ? "steps" : "rounds", ARRAY, why) : NULL;
  if (!steps)
    return false;
  run->initial = config_new(m);
  if (read_initial(initial, m, run->initial, why) && read_steps(steps, m, run, why) &&
      read_order(json_object_get(j, "order"), m, run, why))
    return true;
  run_release(run);
  *run = (struct run){0};
  return false;
}
