/* rondo export of an algorithm at one value of its parameters: as a program for another checker, as the graph of its
   states, or the counterexample of a property as a trace. */
#include "driver/command_export.h"
#include "driver/context.h"
#include "driver/load.h"
#include "driver/query.h"
#include "driver/semantics.h"
#include "export/export_formats.h"
#include "report/json_report.h"
#include "report/trace_itf.h"

#include <string.h>

#define DOT_STATES_MAX 1000 /* states of a graph, by default */

/* Properties in one environment. */
struct selection {
  uint32_t environment;
  VEC(uint32_t) properties;
};

static bool is_in(const struct property *p, uint32_t environment) {
  for (uint32_t i = 0; i < p->nenvironments; i++)
    if (p->environments[i] == environment)
      return true;
  return false;
}

/* The environment that --env names, else that of the first property asked for, else the file's first. */
static bool selection_make(struct selection *a, const struct model *m, const struct command_options *o) {
  *a = (struct selection){0};
  uint32_t property;
  if (o->env && !environment_find(o->rondo, m, o->env, &a->environment))
    return false;
  for (size_t i = 0; i < o->properties.n; i++) {
    if (!property_find(o->rondo, m, o->properties.at[i], &property))
      return false;
    const struct property *p = &m->properties[property];
    if (!o->env && i == 0)
      a->environment = p->environments[0];
    if (!o->env && !is_in(p, a->environment)) {
      context_error(o->rondo, E0811,
                    "'%s' is not checked in environment '%s'\n  help: --env, or one property at a time", p->name,
                    m->environments[a->environment].name);
      return false;
    }
    vec_push(&a->properties, property);
  }
  for (uint32_t i = 0; i < m->nproperties && o->properties.n == 0; i++) {
    const struct property *p = &m->properties[i];
    if (!p->on_request && (o->env ? p->kind != PROPERTY_LIVE || is_in(p, a->environment) : is_in(p, a->environment)))
      vec_push(&a->properties, i);
  }
  return true;
}

static const struct {
  const char *name;
  enum engine_id engine;
  void (*write)(const struct program *, struct text *); /* NULL: dot, which may be too large */
} formats[] = {{"promela", ENGINE_PROMELA, export_promela},
               {"murphi", ENGINE_MURPHI, export_murphi},
               {"tla", ENGINE_TLA, export_tla},
               {"smv", ENGINE_SMV, export_program_smv},
               {"dot", ENGINE_DOT, NULL}};
#define FORMATS (sizeof formats / sizeof *formats)

static size_t format_find(const char *name) {
  size_t i = 0;
  while (i < FORMATS && strcmp(formats[i].name, name) != 0)
    i++;
  return i;
}

static bool export_is_for_models(const char *format) { return !strcmp(format, "itf") || format_find(format) < FORMATS; }

/* Programs have the granularity of the first semantics of their kind of model. */
static bool semantics_fits(const struct model *m, const struct command_options *o, const char *format) {
  enum semantics semantics;
  if (!semantics_choose(m, o, &semantics))
    return false;
  bool ok = semantics != SEMANTICS_FINE && semantics != SEMANTICS_M_MP && semantics != SEMANTICS_MP;
  if (!ok)
    context_error(o->rondo, E0903, "semantics '%s' cannot be written as %s, only '%s'", semantics_name(semantics),
                  format, semantics_name(m->kind == MODEL_ROUNDS ? SEMANTICS_COARSE : SEMANTICS_M));
  return ok;
}

static int write_program(struct model *m, const struct selection *a, const struct command_options *o,
                         const char *format) {
  struct diags diags;
  struct text out = {0};
  diags_init(&diags, &m->source);
  size_t f = format_find(format);
  struct program *p = program_new(m, a->environment, a->properties.at, (uint32_t)a->properties.n, o->limits.rounds,
                                  formats[f].engine, &diags);
  context_diagnostics(o->rondo, &diags);
  diags_release(&diags);
  if (!p)
    return EXIT_BAD_INPUT;
  uint64_t most = o->limits.states ? o->limits.states : DOT_STATES_MAX;
  bool ok = formats[f].write || export_dot(p, most, &out);
  if (formats[f].write)
    formats[f].write(p, &out);
  if (ok)
    context_write(o->rondo, &out);
  else
    context_error(o->rondo, E1003,
                  "more than %llu states: too many to draw\n  help: a smaller instance, or --max-states",
                  (unsigned long long)most);
  program_free(p);
  return ok ? EXIT_HOLDS : EXIT_BAD_INPUT;
}

/* --- the counterexample of a property --- */

/* The first violation; the run that reaches a cover only if it was asked for by name. */
static const struct trace *trace_to_show(const struct check_result *c, bool named) {
  for (uint32_t i = 0; i < c->nruns; i++)
    for (uint32_t k = 0; k < c->runs[i].nproperties; k++) {
      const struct property_result *p = &c->runs[i].properties[k];
      if (p->trace && (named || p->verdict == VERDICT_VIOLATED))
        return p->trace;
    }
  return NULL;
}

static int write_trace(const struct parsed_file *s, const struct param_binding *bindings, struct model *m,
                       const struct command_options *given) {
  struct command_options options = *given, *o = &options;
  struct query_groups in;
  struct check_result result = {0};
  struct arena arena;
  struct text refused = {0}, fault = {0}, out = {0};
  enum semantics semantics;
  if (!semantics_choose(m, o, &semantics) || !query_groups_make(&in, m, o))
    return EXIT_BAD_INPUT;
  limits_complete(o->rondo, &o->limits);
  arena_init(&arena);
  struct interpreter *interp = interpreter_new(m);
  int status = EXIT_FAULT;
  bool named = o->properties.n > 0;
  struct query_context about = {.parsed = s,
                                .bindings = bindings,
                                .nbindings = o->defines.n,
                                .model = m,
                                .interp = interp,
                                .arena = &arena,
                                .options = o,
                                .semantics = semantics,
                                .semantics_by_default = !o->has_semantics};
  if (!query_groups_answer(&in, &about, &result, &refused, &fault)) {
    if (refused.n > 0)
      status = EXIT_BAD_INPUT; /* it was reported */
    else
      context_error(o->rondo, E1001, "a fault of rondo itself: %s", text_or_empty(&fault));
  } else if (!trace_to_show(&result, named)) {
    bool cut = result.verdict == VERDICT_INCONCLUSIVE;
    context_error(o->rondo, E0906,
                  cut ? "no violation was found within the limits: there is no run to show"
                      : "no property is violated: there is no run to show");
    status = cut ? EXIT_INCONCLUSIVE : EXIT_BAD_INPUT;
  } else {
    json_text(itf_json(trace_to_show(&result, named)), &out);
    context_write(o->rondo, &out);
    status = EXIT_HOLDS;
  }
  text_release(&refused);
  text_release(&fault);
  query_groups_release(&in);
  check_result_release(&result);
  interpreter_free(interp);
  arena_release(&arena);
  return status;
}

int export_model(const struct parsed_file *s, const struct command_options *o) {
  struct text error = {0};
  struct selection asked = {0};
  if (!export_is_for_models(o->output.to)) {
    context_error(o->rondo, E0813, "'%s' is not a counter system, and %s is for those alone", s->source.path,
                  o->output.to);
    return EXIT_BAD_INPUT;
  }
  struct param_binding *bindings = bindings_single(o, false);
  struct model *m = bindings ? model_load(s, bindings, o->defines.n, false, false, &error) : NULL;
  int status = EXIT_BAD_INPUT;
  if (m && !strcmp(o->output.to, "itf"))
    status = write_trace(s, bindings, m, o);
  else if (m && semantics_fits(m, o, o->output.to) && selection_make(&asked, m, o))
    status = write_program(m, &asked, o, o->output.to);
  vec_release(&asked.properties);
  text_release(&error);
  memory_free(bindings);
  if (m)
    model_free(m);
  return status;
}
