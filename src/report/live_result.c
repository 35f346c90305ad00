/* Results of liveness queries. */
#include "base/memory.h"
#include "report/layout.h"
#include "report/verdict_text.h"
#include "search/liveness_search.h"

/* A run that seems to end may have further steps beyond the limit on the distance. */
bool live_shows_violation(const struct liveness_search *l) {
  return l->found && !(l->graph.space->distance_cut && l->lasso.loop == l->lasso.n - 1);
}

static enum verdict judge(const struct liveness_search *l, const struct licences *licences, const char *refused,
                          const char *vacuous, struct text *proved) {
  const struct liveness_graph *g = &l->graph;
  const struct model *m = g->space->model;
  if (refused) {
    text_addf(proved, "not checked: %s", refused);
    return VERDICT_INCONCLUSIVE;
  }
  if (live_shows_violation(l)) {
    text_add(proved, "an infinite run");
    return VERDICT_VIOLATED;
  }
  if (g->end == SEARCH_EXHAUSTED && !g->cut && !g->space->distance_cut) {
    if (vacuous)
      text_addf(proved, "vacuously: no run satisfies %s", vacuous);
    else
      verdict_add_every_run(proved, m, licences);
    return VERDICT_HOLDS;
  }
  if (g->end == SEARCH_EXHAUSTED && !g->cut) {
    text_addf(proved, "no violation up to distance %u", g->space->distance);
    return VERDICT_INCONCLUSIVE;
  }
  if (g->end == SEARCH_EXHAUSTED) {
    text_add(proved, "no violation by runs that stay within ");
    verdict_add_length(proved, model_steps(m), g->limits.rounds);
    return VERDICT_INCONCLUSIVE;
  }
  text_add(proved, "no violation found so far; ");
  verdict_add_limit(proved, g->end, &g->limits, NULL);
  return VERDICT_INCONCLUSIVE;
}

void run_result_fill_live(struct run_result *r, const struct system *space, const struct liveness_search *l,
                          const struct licences *licences, const struct property *shown, const char *refused,
                          const char *vacuous) {
  const struct query *q = space->query;
  *r = (struct run_result){.environment = q->environment,
                           .semantics = q->semantics,
                           .licences = licences,
                           .end = refused ? SEARCH_EXHAUSTED : l->graph.end,
                           .cut = !refused && l->graph.cut,
                           .transitions_counted = true,
                           .order_mattered = space->order_mattered,
                           .has_distance = space->has_distance && !refused,
                           .distance = space->distance,
                           .distance_cut = space->distance_cut,
                           .has_channels = space->has_channels && !refused,
                           .channel_bound = space->channel_bound,
                           .successors = memory_strdup(space->successors ? space->successors : "")};
  if (!refused)
    r->stats = l->prechecked ? l->precheck_stats : l->graph.stats;
  r->properties = memory_alloc(2 * sizeof *r->properties);
  struct property_result p = {
      .property = shown, .index = q->properties[0], .environment = q->environment, .vacuous = vacuous != NULL};
  struct text proved = {0};
  p.verdict = judge(l, licences, refused, vacuous, &proved);
  run_result_add(r, p, &proved);
  if (!refused && l->graph.error.found) {
    struct property_result error = {.index = NO_PROPERTY, .environment = q->environment, .verdict = VERDICT_VIOLATED};
    struct text message = {0};
    text_addf(&message, "in an initial state: %s", l->graph.error.error.message);
    run_result_add(r, error, &message);
  }
}

void property_result_describe_error(struct property_result *p) {
  const struct trace *t = p->trace;
  const struct config *last = t->configs[t->nconfigs - 1];
  struct text proved = {0};
  uint64_t faulty = 0;
  for (uint32_t q = 0; q < t->model->nprocesses; q++) {
    bool crashes = trace_fails_in_step(t) && !model_steps(t->model) && t->run.steps[t->run.nsteps - 1]->crashes[q];
    faulty += crashes || (last->local[q][LOCAL_STATUS] & STATUS_FAULTY);
  }
  verdict_add_after(&proved, model_steps(t->model), t->run.nsteps);
  verdict_add_faulty(&proved, faulty);
  text_addf(&proved, ": %s", t->error.message);
  property_result_set_proved(p, &proved);
}

void property_result_describe_lasso(struct property_result *p, bool shortest) {
  const struct trace *t = p->trace;
  struct text proved = {0};
  uint32_t loop = t->claim.loop, length = t->run.nsteps - loop;
  if (loop > 0) {
    text_add(&proved, "after ");
    verdict_add_length(&proved, model_steps(t->model), loop);
    text_add(&proved, length ? ", " : " ");
  }
  if (length == 0) {
    text_add(&proved, loop > 0 ? "nothing can happen any more" : "nothing can happen");
  } else {
    text_add(&proved, "a loop of ");
    verdict_add_length(&proved, model_steps(t->model), length);
  }
  if (model_steps(t->model) && !shortest)
    text_add(&proved, " (perhaps not the shortest)");
  property_result_set_proved(p, &proved);
}

void property_result_describe_unshown(struct property_result *p, enum unshown why, enum search_end end,
                                      const struct limits *limits) {
  struct text proved = {0};
  text_add(&proved, "a run that violates it was found, but ");
  if (why == UNSHOWN_STOPPED) {
    text_add(&proved, "could not be shown in time; ");
    verdict_add_limit(&proved, end, limits, NULL);
  } else {
    text_add(&proved, why == UNSHOWN_UNBOUNDED
                          ? "messages accumulate in it without bound, ahead of others in their channels"
                          : "it does not return to an earlier state");
  }
  p->verdict = VERDICT_INCONCLUSIVE;
  property_result_set_proved(p, &proved);
}
