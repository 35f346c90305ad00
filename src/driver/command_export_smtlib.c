/* rondo export --to smtlib: one property of an algorithm as a query to any solver. */
#include "driver/context.h"
#include "driver/load.h"
#include "driver/query_symbolic.h"
#include "driver/semantics.h"

#include <string.h>

/* The property that is asked for, or errors of the model. False: the error was reported. */
static bool choose_property(const struct model *m, const struct command_options *o, uint32_t *property, uint32_t *n) {
  *n = 1;
  if (o->properties.n > 1) {
    context_error(o->rondo, E0811, "one property at a time");
    return false;
  }
  if (o->properties.n == 1) {
    *n = strcmp(o->properties.at[0], "no_error") != 0;
    if (*n == 1 && !property_find(o->rondo, m, o->properties.at[0], property))
      return false;
  } else {
    uint32_t found = 0;
    for (uint32_t i = m->nproperties; i-- > 0;)
      if (m->properties[i].kind != PROPERTY_LIVE) {
        *property = i;
        found++;
      }
    *n = found > 0;
    if (found > 1) {
      context_error(o->rondo, E0811,
                    "which property?\n  help: --property %s, or another one; no_error for errors of the model",
                    m->properties[*property].name);
      return false;
    }
  }
  if (*n == 1 && m->properties[*property].kind == PROPERTY_LIVE) {
    context_error(o->rondo, E0903, "'%s' is a live property: those are not exported", m->properties[*property].name);
    return false;
  }
  return true;
}

static void describe(const struct model *m, const struct query *q, uint32_t depth, struct text *out) {
  const struct property *p = q->nproperties ? &m->properties[q->properties[0]] : NULL;
  text_addf(out, "; %s", m->name);
  for (uint32_t i = 0; i < m->nparams; i++)
    text_addf(out, ", %s = %lld", m->params[i].name, (long long)m->params[i].value);
  text_addf(out, ", environment %s: %s\n", m->environments[q->environment].name, p ? p->name : "no_error");
  const char *shows = !p ? "ends in an error of the model" : p->kind == PROPERTY_COVER ? "reaches it" : "violates it";
  if (depth)
    text_addf(out, "; sat: a run of at most %u %s %s; the last assertion says so, the others describe the runs\n",
              depth, model_steps(m) ? "steps" : "rounds", shows);
  else
    text_addf(
        out,
        "; sat: no run %s; P0, P1, ... hold of the states that can be reached, one for each round of the schedule\n",
        shows);
  text_add(out, "; a variable is called what it stands for, its process, and a number of its own\n");
}

static int write_query(struct model *m, const struct query *q, const struct command_options *o) {
  struct arena arena;
  struct text out = {0}, reason = {0};
  struct span at = {0, 0};
  struct reduction_request requested = o->requested;
  arena_init(&arena);
  for (unsigned i = 0; i < REDUCTIONS; i++)
    requested.reduce[i] = REQUEST_OFF; /* the query must not depend on analyses of the model */
  const struct licences *licences = licences_grant(m, q, &requested, &arena);
  describe(m, q, o->depth, &out);
  bool ok = symbolic_export(m, q, o->depth, licences, &out, &at, &reason);
  if (ok) {
    context_write(o->rondo, &out);
  } else {
    struct diags diags;
    diags_init(&diags, &m->source);
    if (at.to > 0)
      diag_error(&diags, E0903, at, "cannot be written as SMT-LIB: %s", reason.at);
    context_diagnostics(o->rondo, &diags);
    if (at.to == 0)
      context_error(o->rondo, E0903, "cannot be written as SMT-LIB: %s", reason.at);
    diags_release(&diags);
  }
  text_release(&out);
  text_release(&reason);
  arena_release(&arena);
  return ok ? EXIT_HOLDS : EXIT_BAD_INPUT;
}

int export_smtlib(const struct parsed_file *parsed, const struct command_options *o) {
  struct text error = {0};
  enum semantics semantics;
  uint32_t property = 0, n = 0, environment = 0;
  if (!parsed_file_is_algorithm(parsed))
    return EXIT_BAD_INPUT;
  struct param_binding *bindings = bindings_single(o, false);
  struct model *m = !bindings ? NULL : model_load(parsed, bindings, o->defines.n, false, false, &error);
  memory_free(bindings);
  text_release(&error);
  if (!m)
    return EXIT_BAD_INPUT;
  int status = EXIT_BAD_INPUT;
  if (semantics_choose(m, o, &semantics) && choose_property(m, o, &property, &n) &&
      (!o->env || environment_find(o->rondo, m, o->env, &environment))) {
    if (!o->env && n)
      environment = m->properties[property].environments[0];
    struct query q = {.environment = environment, .semantics = semantics, .properties = &property, .nproperties = n};
    status = write_query(m, &q, o);
  }
  model_free(m);
  return status;
}
