/* Horn clauses, one predicate per location. Every clause contains the conserved sums and the conditions on the
   parameters, because Spacer often fails to find them itself. */
#include "param/engine.h"

#include "base/memory.h"
#include "param/certificate.h"
#include "symbolic/horn_solver.h"

#include <inttypes.h>
#include <string.h>

struct horn_progress {
  struct engine_result *out;
  const struct engine_watch *watch;
};

static void on_level(void *context, uint32_t level) {
  struct horn_progress *l = context;
  l->out->depth = level;
  engine_progress(l->out, l->watch, "level %" PRIu32, level);
}

static void add_clauses(struct horn_system *h, const struct counter_graph *g) {
  const int64_t **update = memory_alloc((g->nvars + (size_t)1) * sizeof *update);
  horn_assume(h, g->conditions.at, g->conditions.n);
  horn_assume(h, &g->naturals, 1);
  horn_assume(h, &g->conserved, 1);
  for (uint32_t l = 0; l < g->locations.n; l++) {
    for (size_t i = 0; i < g->locations.at[l].start.n; i++)
      horn_add_start(h, l, &g->locations.at[l].start.at[i]);
    for (size_t i = 0; i < g->locations.at[l].unsafe.n; i++)
      horn_add_goal(h, l, &g->locations.at[l].unsafe.at[i]);
  }
  for (size_t i = 0; i < g->transitions.n; i++) {
    const struct counter_transition *t = &g->transitions.at[i];
    for (uint32_t k = 0; k < g->ncounters; k++)
      update[g->nparams + k] = t->update[k];
    horn_add_step(h, t->from, t->to, &t->guard, update);
  }
  memory_free(update);
}

/* The locations from which an unsafe one is reachable, ignoring guards. */
static void find_relevant(const struct counter_graph *g, bool *relevant) {
  for (uint32_t l = 0; l < g->locations.n; l++)
    relevant[l] = g->locations.at[l].unsafe.n > 0;
  for (bool more = true; more;) {
    more = false;
    for (size_t i = 0; i < g->transitions.n; i++)
      if (relevant[g->transitions.at[i].to] && !relevant[g->transitions.at[i].from])
        more = relevant[g->transitions.at[i].from] = true;
  }
}

static bool certificate_holds(const struct counter_graph *g, const struct engine_watch *watch,
                              const char *const *invariant) {
  struct text script = {0}, why = {0};
  certificate_print(g, invariant, &script);
  bool ok = certificate_check(script.at, CERTIFICATE_QUESTIONS, watch ? watch->stop : NULL, &why);
  text_release(&script);
  text_release(&why);
  return ok;
}

/* Spacer omits predicates that are irrelevant (invariant true) or unreachable (invariant false). This
   determines which. */
static void store_invariants(struct horn_system *h, const struct counter_graph *g, const struct engine_watch *watch,
                             struct engine_result *out) {
  bool *relevant = memory_alloc(g->locations.n + 1), *missing = memory_alloc(g->locations.n + 1), any = false;
  find_relevant(g, relevant);
  out->invariant = arena_array(&out->arena, g->locations.n + 1, sizeof *out->invariant);
  for (uint32_t l = 0; l < g->locations.n; l++) {
    struct text term = {0};
    missing[l] = !horn_invariant(h, l, &term);
    any |= missing[l];
    out->invariant[l] = arena_strndup(&out->arena, text_or_empty(&term), term.n);
    text_release(&term);
  }
  for (int way = 0; way < 3 && any; way++) {
    for (uint32_t l = 0; l < g->locations.n; l++)
      if (missing[l])
        out->invariant[l] = way == 1 || (way == 0 && !relevant[l]) ? "true" : "false";
    any = !certificate_holds(g, watch, out->invariant);
  }
  memory_free(relevant);
  memory_free(missing);
}

void engine_horn(const struct counter_graph *g, const struct engine_watch *watch, struct engine_result *out) {
  struct horn_progress levels = {out, watch};
  const char **names = counter_graph_names(g, &out->arena);
  struct horn_system *h = horn_new(names, g->nvars, (uint32_t)g->locations.n);
  horn_on_level(h, on_level, &levels);
  if (watch && watch->stop)
    horn_watch(h, watch->stop);
  add_clauses(h, g);
  switch (horn_solve(h)) {
  case ANSWER_NO:
    out->kind = ENGINE_SAFE;
    store_invariants(h, g, watch, out);
    engine_progress(out, watch, "an invariant at level %" PRIu32, out->depth);
    break;
  case ANSWER_YES: /* the bounded engine finds the run */
    engine_progress(out, watch, "unsafe, at level %" PRIu32, out->depth);
    break;
  case ANSWER_UNKNOWN:
    engine_progress(out, watch, "gave up at level %" PRIu32, out->depth);
    break;
  }
  horn_free(h);
}
