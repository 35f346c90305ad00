/* rondo export: a model for another tool. */
#include "export/export.h"

#include "driver/export.h"

#include "driver/commands.h"
#include "driver/load.h"
#include "driver/prove.h"
#include "driver/symbolic.h"
#include "driver/context.h"

#include <string.h>

static const struct counter_property *property_of(const struct counter_system *s,
                                                  const struct options *o) {
  const char **names = memory_alloc((s->nproperties + (size_t)1) * sizeof *names);
  const struct counter_property *found = o->properties.n == 0 ? &s->properties[0] : NULL;
  for (uint32_t i = 0; i < s->nproperties; i++) {
    names[i] = s->properties[i].name;
    if (o->properties.n == 1 && !strcmp(names[i], o->properties.at[0]))
      found = &s->properties[i];
  }
  if (o->properties.n > 1)
    say_error(o->rondo, "one property at a time");
  else if (!found)
    say_unknown(o->rondo, "property", o->properties.at[0], names, s->nproperties);
  else if (o->properties.n == 0 && s->nproperties > 1) {
    say_error(o->rondo, "which property?\n  help: --property %s, or another one", names[0]);
    found = NULL;
  }
  memory_free(names);
  return found;
}

static int write_out(struct rondo *context, const struct counter_system *s, const struct counter_property *p,
                     const char *format) {
  struct text out = {0}, why = {0};
  if (!strcmp(format, "smv")) {
    export_smv(s, p, &out);
    say(context, &out);
    return EXIT_HOLDS;
  }
  struct graph *g = graph_unfold(s, p, false, NULL, &why);
  if (!g) {
    say_error(context, "too large to unfold: %s", why.at);
    text_release(&why);
    return EXIT_INCONCLUSIVE;
  }
  graph_merge(g);
  if (!strcmp(format, "horn"))
    export_horn(g, &out);
  else
    export_mcmt(g, &out);
  say(context, &out);
  graph_free(g);
  return EXIT_HOLDS;
}

static bool is_for_counters(const char *format) {
  return !strcmp(format, "horn") || !strcmp(format, "mcmt") || !strcmp(format, "smv");
}

/* The counter system that is derived from a model of rounds, for the property that is asked. */
static int export_derived(const struct syntax *syntax, const struct options *o) {
  int status = EXIT_BAD_INPUT;
  if (o->properties.n != 1) {
    say_error(o->rondo, "which property?\n  help: a counter system is derived for one, --property NAME");
    return status;
  }
  struct rounds *r = rounds_open(syntax, o, o->properties.at[0], false, &status);
  if (r) {
    const struct counter_system *s = rounds_system(r);
    status = write_out(o->rondo, s, &s->properties[0], o->to);
  }
  rounds_close(r);
  return status;
}

/* SMV is for both: an instance if all parameters have values, else the counter system for all of them. */
static bool wants_counters(const struct syntax *syntax, const struct options *o) {
  return ast_model_kind(syntax->tree) == MODEL_ROUNDS && is_for_counters(o->to) &&
         (strcmp(o->to, "smv") || rounds_leave_params_free(syntax, o));
}

int command_export(const struct options *o) {
  struct syntax syntax;
  const char *path = only_file(o);
  int status = EXIT_BAD_INPUT;
  if (path && !o->to)
    say_error(o->rondo, "to which format?\n  help: --to promela, murphi, tla, smv, smtlib, dot or itf; a counter system: --to horn, mcmt or smv");
  if (!path || !o->to || !syntax_load(&syntax, o->rondo, path))
    return EXIT_BAD_INPUT;
  if (!strcmp(o->to, "smtlib")) {
    status = export_smtlib(&syntax, o);
    syntax_release(&syntax);
    return status;
  }
  if (ast_model_kind(syntax.tree) != MODEL_COUNTERS) {
    status = wants_counters(&syntax, o) ? export_derived(&syntax, o) : export_model(&syntax, o);
    syntax_release(&syntax);
    return status;
  }
  if (!is_for_counters(o->to)) {
    say_error(o->rondo, "counter systems are written as horn, mcmt or smv, not as %s", o->to);
    syntax_release(&syntax);
    return EXIT_BAD_INPUT;
  }
  struct counter_system *s = counters_load(&syntax, o);
  const struct counter_property *p = s ? property_of(s, o) : NULL;
  if (p)
    status = write_out(o->rondo, s, p, o->to);
  counter_system_free(s);
  syntax_release(&syntax);
  return status;
}
