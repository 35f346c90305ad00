/* rondo export for threshold automata: a file in ByMC's format, or a counter system of that form, as a threshold
   automaton
   (--to ta); a specification of one as a counter system (--to horn, mcmt, smv). */
#include "driver/command_export.h"

#include "driver/context.h"
#include "export/counter_automaton.h"
#include "symbolic/solver.h"

#include <string.h>

static int write_automaton(struct rondo *context, const struct threshold_automaton *a, const bool *chosen,
                           struct diags *diags) {
  struct text out = {0};
  bool ok = export_ta(a, chosen, &out, diags);
  if (ok)
    context_write(context, &out);
  text_release(&out);
  return ok ? EXIT_HOLDS : EXIT_BAD_INPUT;
}

int export_counters_as_automaton(struct rondo *context, const struct counter_system *s,
                                 const struct counter_property *only) {
  struct diags diags;
  int status = EXIT_BAD_INPUT;
  const volatile sig_atomic_t *stop = context_listen(context);
  if (solver_missing()) {
    context_error(context, E0817, "%s: it tells whether parameters are natural numbers", solver_missing());
    return status;
  }
  diags_init(&diags, &s->source);
  struct threshold_automaton *a = automaton_of_counters(s, only, stop, &diags);
  if (a && !*stop)
    status = write_automaton(context, a, NULL, &diags);
  automaton_of_counters_free(a);
  if (*stop) {
    context_error(context, N0106, "interrupted before the automaton was written");
    status = EXIT_INCONCLUSIVE;
  } else {
    context_diagnostics(context, &diags);
  }
  diags_release(&diags);
  return status;
}

/* One specification as a counter system. */
static int write_specification(struct rondo *context, const struct threshold_automaton *a, uint32_t index,
                               const char *format, struct diags *diags) {
  struct counter_system *s = threshold_automaton_specification(a, index, diags);
  int status = EXIT_BAD_INPUT;
  if (s)
    status = export_counter_property(context, s, &s->properties[0], format);
  else
    context_error(context, E0903, "'%s' cannot be written as %s", a->specifications[index].name, format);
  counter_system_free(s);
  return status;
}

int export_automaton(const struct parsed_file *parsed, const struct command_options *o) {
  struct threshold_automaton *a = threshold_automaton_load(parsed, o);
  struct diags diags;
  uint32_t index = 0;
  int status = EXIT_BAD_INPUT;
  if (!a)
    return status;
  bool *chosen = memory_alloc(a->nspecifications + (size_t)1), ok = true;
  memset(chosen, o->properties.n == 0, a->nspecifications + (size_t)1);
  for (size_t k = 0; k < o->properties.n && ok; k++) {
    ok = specification_find(o->rondo, a, o->properties.at[k], &index);
    if (ok)
      chosen[index] = true;
  }
  diags_init(&diags, &parsed->source);
  if (ok && !strcmp(o->output.to, "ta"))
    status = write_automaton(o->rondo, a, chosen, &diags);
  else if (ok && !is_counter_format(o->output.to))
    context_error(o->rondo, E0813, "threshold automata are written as ta, horn, mcmt or smv, not as %s", o->output.to);
  else if (ok && o->properties.n != 1 && a->nspecifications != 1)
    context_error(o->rondo, E0811, "which property?\n  help: --property %s, or another one", a->specifications[0].name);
  else if (ok)
    status = write_specification(o->rondo, a, index, o->output.to, &diags);
  context_diagnostics(o->rondo, &diags);
  diags_release(&diags);
  memory_free(chosen);
  threshold_automaton_free(a);
  return status;
}
