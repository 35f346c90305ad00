/* rondo export: a model for another tool. */
#include "export/counter_export.h"

#include "driver/command_export.h"

#include "driver/commands.h"
#include "driver/context.h"
#include "driver/load.h"
#include "driver/prove.h"
#include "driver/query_symbolic.h"

#include <string.h>

static const struct counter_property *property_of(const struct counter_system *s, const struct command_options *o) {
  uint32_t index = 0;
  if (o->properties.n > 1)
    context_error(o->rondo, E0811, "one property at a time");
  else if (o->properties.n == 0 && s->nproperties > 1)
    context_error(o->rondo, E0811, "which property?\n  help: --property %s, or another one", s->properties[0].name);
  else if (o->properties.n == 0 || counter_property_find(o->rondo, s, o->properties.at[0], &index))
    return &s->properties[index];
  return NULL;
}

int export_counter_property(struct rondo *context, const struct counter_system *s, const struct counter_property *p,
                            const char *format) {
  struct text out = {0}, why = {0};
  if (!strcmp(format, "smv")) {
    export_smv(s, p, &out);
    context_write(context, &out);
    return EXIT_HOLDS;
  }
  const volatile sig_atomic_t *stop = context_listen(context);
  struct counter_graph *g = counter_graph_unfold(s, p, false, stop, &why);
  if (g)
    counter_graph_minimise(g);
  if (!g || *stop) {
    if (*stop)
      context_error(context, N0106, "interrupted before the counter system was unfolded");
    else
      context_error(context, E1003, "too large to unfold: %s", text_or_empty(&why));
    text_release(&why);
    counter_graph_free(g);
    return EXIT_INCONCLUSIVE;
  }
  if (!strcmp(format, "horn"))
    export_horn(g, &out);
  else
    export_mcmt(g, &out);
  context_write(context, &out);
  counter_graph_free(g);
  return EXIT_HOLDS;
}

bool is_counter_format(const char *format) {
  return !strcmp(format, "horn") || !strcmp(format, "mcmt") || !strcmp(format, "smv");
}

/* The counter system that is derived from a model of rounds, for the property that is asked. */
static int export_derived(const struct parsed_file *parsed, const struct command_options *o) {
  int status = EXIT_BAD_INPUT;
  if (o->properties.n != 1) {
    context_error(o->rondo, E0811, "which property?\n  help: a counter system is derived for one, --property NAME");
    return status;
  }
  struct derived_system *r = derived_system_open(parsed, o, o->properties.at[0], false, &status);
  if (r) {
    const struct counter_system *s = derived_system_counters(r);
    status = !strcmp(o->output.to, "ta") ? export_counters_as_automaton(o->rondo, s, NULL)
                                         : export_counter_property(o->rondo, s, &s->properties[0], o->output.to);
  }
  derived_system_close(r);
  return status;
}

/* SMV is a format of both: an instance if all parameters have values, else the counter system, for all their values;
   where processes take steps, always an instance. */
static bool wants_counters(const struct parsed_file *parsed, const struct command_options *o) {
  enum model_kind kind = ast_model_kind(parsed->tree);
  if (strcmp(o->output.to, "smv") != 0)
    return (kind == MODEL_ROUNDS || kind == MODEL_MESSAGES) &&
           (!strcmp(o->output.to, "ta") || is_counter_format(o->output.to));
  return kind == MODEL_ROUNDS && rounds_have_free_params(parsed, o);
}

int command_export(const struct command_options *o) {
  struct parsed_file parsed;
  const char *path = only_file(o);
  int status = EXIT_BAD_INPUT;
  if (path && !o->output.to)
    context_error(o->rondo, E0811,
                  "which format?\n  help: --to promela, murphi, tla, smv, smtlib, dot or itf; a counter "
                  "system: --to horn, mcmt, smv or ta");
  if (!path || !o->output.to || !model_text_load(&parsed, o->rondo, path))
    return EXIT_BAD_INPUT;
  if (source_is_threshold_automaton(&parsed.source)) {
    status = export_automaton(&parsed, o);
    parsed_file_release(&parsed);
    return status;
  }
  if (!parsed_text(&parsed))
    return EXIT_BAD_INPUT;
  if (!strcmp(o->output.to, "smtlib")) {
    status = export_smtlib(&parsed, o);
    parsed_file_release(&parsed);
    return status;
  }
  if (ast_model_kind(parsed.tree) != MODEL_COUNTERS) {
    status = wants_counters(&parsed, o) ? export_derived(&parsed, o) : export_model(&parsed, o);
    parsed_file_release(&parsed);
    return status;
  }
  bool automaton = !strcmp(o->output.to, "ta");
  if (!automaton && !is_counter_format(o->output.to)) {
    context_error(o->rondo, E0813, "counter systems are written as horn, mcmt, smv or ta, not as %s", o->output.to);
    parsed_file_release(&parsed);
    return EXIT_BAD_INPUT;
  }
  struct counter_system *s = counters_load(&parsed, o);
  bool all = automaton && o->properties.n == 0; /* an automaton may have many specifications */
  const struct counter_property *p = s && !all ? property_of(s, o) : NULL;
  if (s && automaton && (all || p))
    status = export_counters_as_automaton(o->rondo, s, p);
  else if (p)
    status = export_counter_property(o->rondo, s, p, o->output.to);
  counter_system_free(s);
  parsed_file_release(&parsed);
  return status;
}
