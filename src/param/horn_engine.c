/* Horn clauses, a predicate for each location. Conserved sums and what is known of the parameters
   stand in every clause: without them Spacer has to find them again and again, and often does not.
 */
#include "param/engine.h"

#include "base/memory.h"
#include "param/certificate.h"
#include "symbolic/horn.h"

#include <inttypes.h>
#include <string.h>

struct levels {
  struct outcome *out;
  const struct watch *watch;
};

static void at_level(void *context, uint32_t level) {
  struct levels *l = context;
  l->out->depth = level;
  outcome_tell(l->out, l->watch, "level %" PRIu32, level);
}

static void add_clauses(struct horn *h, const struct graph *g) {
  const int64_t **update = memory_alloc((g->nvars + (size_t)1) * sizeof *update);
  horn_assume(h, g->conditions.at, g->conditions.n);
  horn_assume(h, &g->naturals, 1);
  horn_assume(h, &g->laws, 1);
  for (uint32_t l = 0; l < g->locations.n; l++) {
    for (size_t i = 0; i < g->locations.at[l].start.n; i++)
      horn_add_start(h, l, &g->locations.at[l].start.at[i]);
    for (size_t i = 0; i < g->locations.at[l].unsafe.n; i++)
      horn_add_goal(h, l, &g->locations.at[l].unsafe.at[i]);
  }
  for (size_t i = 0; i < g->transitions.n; i++) {
    const struct transition *t = &g->transitions.at[i];
    for (uint32_t k = 0; k < g->ncounters; k++)
      update[g->nparams + k] = t->update[k];
    horn_add_step(h, t->from, t->to, &t->guard, update);
  }
  memory_free(update);
}

/* Locations from which an unsafe one can be reached, as far as control goes. */
static void find_matters(const struct graph *g, bool *matters) {
  for (uint32_t l = 0; l < g->locations.n; l++)
    matters[l] = g->locations.at[l].unsafe.n > 0;
  for (bool more = true; more;) {
    more = false;
    for (size_t i = 0; i < g->transitions.n; i++)
      if (matters[g->transitions.at[i].to] && !matters[g->transitions.at[i].from])
        more = matters[g->transitions.at[i].from] = true;
  }
}

static bool stands(const struct graph *g, const char *const *invariant) {
  struct text script = {0}, why = {0};
  certificate_print(g, invariant, &script);
  bool ok = certificate_check(script.at, &why);
  text_release(&script);
  text_release(&why);
  return ok;
}

/* Spacer does not mention what does not matter (true will do), nor what is never reached (false is
 * right): which is it? */
static void take_invariants(struct horn *h, const struct graph *g, struct outcome *out) {
  bool *matters = memory_alloc(g->locations.n + 1), *missing = memory_alloc(g->locations.n + 1),
       any = false;
  find_matters(g, matters);
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
        out->invariant[l] = way == 1 || (way == 0 && !matters[l]) ? "true" : "false";
    any = !stands(g, out->invariant);
  }
  memory_free(matters);
  memory_free(missing);
}

void engine_horn(const struct graph *g, const struct watch *watch, struct outcome *out) {
  struct levels levels = {out, watch};
  const char **names = graph_names(g, &out->arena);
  struct horn *h = horn_new(names, g->nvars, (uint32_t)g->locations.n);
  horn_on_level(h, at_level, &levels);
  if (watch && watch->stop)
    horn_watch(h, watch->stop);
  add_clauses(h, g);
  switch (horn_solve(h)) {
  case ANSWER_NO:
    out->kind = OUTCOME_SAFE;
    take_invariants(h, g, out);
    outcome_tell(out, watch, "an invariant at level %" PRIu32, out->depth);
    break;
  case ANSWER_YES: /* the run is for the bounded search to find */
    outcome_tell(out, watch, "unsafe, at level %" PRIu32, out->depth);
    break;
  case ANSWER_UNKNOWN:
    outcome_tell(out, watch, "gave up at level %" PRIu32, out->depth);
    break;
  }
  horn_free(h);
}
