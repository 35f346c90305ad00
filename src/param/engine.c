#include "param/engine.h"

#include "base/memory.h"

#include <stdarg.h>
#include <string.h>

#include <inttypes.h>

void engine_result_init(struct engine_result *o) {
  *o = (struct engine_result){0};
  arena_init(&o->arena);
}

void engine_result_release(struct engine_result *o) {
  if (o->kind == ENGINE_UNSAFE)
    counter_run_release(&o->run);
  text_release(&o->reached);
  arena_release(&o->arena);
  *o = (struct engine_result){0};
}

void engine_progress(struct engine_result *o, const struct engine_watch *watch, const char *format, ...) {
  va_list args;
  va_start(args, format);
  o->reached.n = 0;
  text_addv(&o->reached, format, args);
  va_end(args);
  if (watch && watch->progress)
    watch->progress(watch->context, text_or_empty(&o->reached));
}

static void bounded(const struct counter_graph *g, const struct engine_watch *watch, struct engine_result *out) {
  engine_bounded(g, 0, watch, out);
}

const struct engine engines[ENGINES] = {{"horn", engine_horn, 5},         {"backward", engine_backward, 5},
                                        {"bounded", bounded, 5},          {"contexts", engine_contexts, 0},
                                        {"explicit", engine_explicit, 0}, {"guards", engine_guards, 0}};

/* Reserved words and function symbols of SMT-LIB that are valid names in rondo. */
static bool taken(const char *name) {
  static const char *const words[] = {
      "_",      "as",      "let",    "exists", "forall",   "match",     "par",    "true",    "false",       "not",
      "and",    "or",      "xor",    "ite",    "distinct", "div",       "mod",    "abs",     "Int",         "Bool",
      "assert", "push",    "pop",    "exit",   "echo",     "reset",     "start",  "unsafe",  "invariant",   "params",
      "step",   "is",      "is_int", "to_int", "to_real",  "Real",      "BINARY", "DECIMAL", "HEXADECIMAL", "NUMERAL",
      "STRING", "implies", "if",     "iff",    "int2bv",   "divisible", "rem",    "select",  "store"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcmp(words[i], name) == 0)
      return true;
  return false;
}

const char *smt_name(struct arena *arena, const char *name) {
  return taken(name) ? arena_printf(arena, "%s.", name) : arena_strndup(arena, name, strlen(name));
}

const char **counter_graph_names(const struct counter_graph *g, struct arena *arena) {
  const char **names = arena_array(arena, g->nvars + (size_t)1, sizeof *names);
  for (uint32_t i = 0; i < g->nparams; i++)
    names[i] = smt_name(arena, g->system->params[g->param[i]].name);
  for (uint32_t i = 0; i < g->ncounters; i++)
    names[g->nparams + i] = smt_name(arena, g->system->counters[i].name);
  return names;
}

const char **counter_graph_names_with_amounts(const struct counter_graph *g, const char *prefix, uint32_t *most,
                                              struct arena *arena) {
  *most = counter_graph_most_amounts(g);
  const char **names = arena_array(arena, g->nvars + *most + (size_t)1, sizeof *names),
             **columns = counter_graph_names(g, arena);
  for (uint32_t i = 0; i < g->nvars + *most; i++)
    names[i] = i < g->nvars ? columns[i] : arena_printf(arena, "%s%" PRIu32, prefix, i - g->nvars + 1);
  return names;
}
