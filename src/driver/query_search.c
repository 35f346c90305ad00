/* The explicit-state search of a query: its transition system, the search, and the search by one thread that makes
   traces deterministic. */
#include "driver/query_run.h"

#include "async/async.h"
#include "driver/answer_stream.h"
#include "driver/context.h"
#include "driver/query_order.h"
#include "driver/query_split.h"
#include "lockstep/lockstep_system.h"
#include "search/ranks.h"
#include "steps/step_system.h"

struct system *query_system(const struct query_context *a, const struct query *q,
                            const struct reduction_request *requested, const struct licences **licences) {
  struct system_options options = {.successors = a->options->successors,
                                   .per_message = a->options->rondo->tests.message_moves_always  ? PER_MESSAGE_ALWAYS
                                                  : a->options->rondo->tests.message_moves_never ? PER_MESSAGE_NEVER
                                                                                                 : PER_MESSAGE_AUTO,
                                   .narrow_keys = a->options->rondo->tests.narrow_keys,
                                   .few_states = a->trial,
                                   .max_distance = a->options->max_distance ? a->options->max_distance : ANY_DISTANCE};
  *licences = licences_grant(a->model, q, requested, a->arena);
  interpreter_follow(a->interp, q->semantics, model_steps(a->model) && !(*licences)->of[REDUCE_MESSAGE_ORDER].applied);
  if (q->semantics == SEMANTICS_FINE)
    return async_system_new(a->interp, a->model, q, *licences, &options);
  return model_steps(a->model) ? step_system_new(a->interp, a->model, q, *licences, &options)
                               : lockstep_new(a->interp, a->model, q, *licences, &options);
}

static void tell_found(void *context, const struct search *s, uint32_t property) { stream_found(context, s, property); }

/* What is done after each layer. */
struct layer_work {
  const struct query_context *about;
  struct query_order *order; /* or NULL */
};

/* What was found while it was not known yet whether this search is the one that answers. */
static void tell_earlier(const struct query_context *about, struct search *s) {
  const struct query *q = s->space->query;
  s->found = about->stream ? tell_found : NULL;
  for (uint32_t i = 0; i < q->nproperties && s->found; i++)
    if (s->findings[i].found && s->findings[i].rounds + 1 < s->complete &&
        !about->model->properties[q->properties[i]].stability_of)
      s->found(s->found_context, s, i);
}

static bool after_layer(void *context, struct search *s) {
  const struct layer_work *w = context;
  if (w->order && !order_is_known(w->order)) {
    if (!order_after_layer(w->order, s))
      return false;
    if (order_is_known(w->order))
      tell_earlier(w->about, s);
  }
  return !w->about->split || split_after_layer(w->about->split, s);
}

/* reports: findings are reported as they are found. */
static void search_with(const struct query_run *a, struct ranks *ranks, struct search *s, struct system *space,
                        const struct limits *given, struct checkpoints *checkpoints, bool reports) {
  struct limits within = *given, *limits = &within;
  limits_until(limits, a->about->deadline); /* making the transition system may have taken time */
  search_init(s, space, limits);
  s->ranks = ranks;
  s->checkpoints = checkpoints;
  s->disk.folder = a->options->storage.spill;
  s->progress = progress_or_null(a->options->rondo);
  s->progress_context = &(struct progress_context){a->options->rondo, a->model, a->about->stream, &a->query};
  s->found = reports && a->about->stream && !a->order ? tell_found : NULL;
  s->found_context = a->about->stream;
  s->layer = reports || a->order ? after_layer : NULL;
  s->layer_context = &(struct layer_work){a->about, a->order};
  interpreter_watch(a->interp, checkpoints ? limits->insist : limits->interrupt);
  watch_time(a->options->rondo, limits->seconds);
  watch_resident_memory(a->options->rondo, ranks ? 0 : limits->memory);
  search_run(s);
  s->progress = NULL; /* its context ends here */
  s->found = NULL;
  s->layer = NULL;
  watch_resident_memory(a->options->rondo, 0);
  watch_time(a->options->rondo, 0);
  interpreter_watch(a->interp, NULL); /* traces are not limited by it */
  context_progress(a->options->rondo, NULL);
}

void query_search_alone(const struct query_run *a, struct search *s, struct system *space, const struct limits *limits,
                        struct checkpoints *checkpoints) {
  search_with(a, NULL, s, space, limits, checkpoints, false);
}

void query_watch_again(const struct query_context *of, const struct search *s) {
  struct rondo *r = of->options->rondo;
  double seconds = s->limits.seconds, left = seconds - s->stats.seconds;
  watch_time(r, seconds > 0 ? (left > 1e-3 ? left : 1e-3) : 0);
  watch_resident_memory(r, s->limits.memory);
}

/* Partial-order reduction and fusion take longer paths, so they may miss what is within a limit of steps. */
static struct reduction_request requested_of(const struct command_options *o) {
  struct reduction_request requested = o->requested;
  if (o->limits.rounds > 0 && requested.reduce[REDUCE_PARTIAL_ORDER] == REQUEST_AUTO)
    requested.reduce[REDUCE_PARTIAL_ORDER] = REQUEST_OFF;
  if (o->limits.rounds > 0 && requested.reduce[REDUCE_FUSION] == REQUEST_AUTO)
    requested.reduce[REDUCE_FUSION] = REQUEST_OFF;
  return requested;
}

/* Rank 0 alone searches asynchronous rounds, and systems without a dictionary that ranks can share. It decides for all
   whether partial-order reduction pays. */
bool query_takes_part(struct query_run *a) {
  *a->result = (struct run_result){0};
  a->requested = requested_of(a->options);
  a->ranks = a->query.semantics == SEMANTICS_FINE ? NULL : a->options->ranks.all;
  if (a->options->ranks.is_helper && !a->ranks)
    return false;
  bool alone = !a->options->ranks.all && !a->options->storage.checkpoints;
  bool idle = !a->options->ranks.is_helper && order_is_idle(a, alone);
  if (a->ranks && !ranks_ready(a->ranks, a->model->values.vectors))
    return false; /* rank 0 has ended */
  if (a->ranks)
    ranks_broadcast(a->ranks, 0, &idle, sizeof idle);
  if (idle)
    a->requested.reduce[REDUCE_PARTIAL_ORDER] = REQUEST_IDLE;
  if (a->explored)
    return true;
  a->system = query_system(a->about, &a->query, &a->requested, &a->licences);
  if (a->ranks && !(a->system->ops->ranks.names && a->system->ops->ranks.names(a->system, 0)))
    a->ranks = NULL;
  if (!a->options->ranks.is_helper || a->ranks)
    return true;
  a->system->ops->free(a->system);
  a->system = NULL;
  return false;
}

/* The search without partial-order reduction has shown that the one with it pays. */
static void explore_reduced(struct query_run *a) {
  search_release(&a->search);
  a->system->ops->free(a->system);
  a->requested.reduce[REDUCE_PARTIAL_ORDER] = REQUEST_AUTO;
  a->system = query_system(a->about, &a->query, &a->requested, &a->licences);
  search_with(a, a->ranks, &a->search, a->system, &a->options->limits, NULL, true);
}

void query_explore(struct query_run *a) {
  struct text decimal = {0};
  if (!a->explored)
    search_with(a, a->ranks, &a->search, a->system, &a->options->limits, a->options->storage.checkpoints, true);
  bool pays = a->order && order_pays(a->order);
  order_free(a->order);
  a->order = NULL;
  if (pays)
    explore_reduced(a);
  if (a->system->ops->statistics.heard_of_assignments &&
      a->system->ops->statistics.heard_of_assignments(a->system, &decimal))
    a->heard_of_assignments = memory_strdup(text_or_empty(&decimal));
  text_release(&decimal);
}

/* --- again, by one thread --- */

/* By one thread, to that depth. False: a limit was reached. */
static bool search_again(const struct query_run *a, const struct search *s, uint32_t rounds, uint32_t signature,
                         struct search *again, struct system **space) {
  struct limits limits = a->options->limits;
  const struct licences *licences;
  limits.rounds = rounds;
  limits.signature = signature;
  limits.threads = 1;
  if (limits.seconds > 0)
    limits.seconds = limits.seconds > s->stats.seconds ? limits.seconds - s->stats.seconds : 1e-3;
  if (limits.memory > 0 && memory_resident() == 0) /* else the memory of s is part of it */
    limits.memory = limits.memory > s->stats.memory ? limits.memory - s->stats.memory : 1;
  *space = query_system(a->about, &a->query, &a->requested, &licences);
  query_search_alone(a, again, *space, &limits, a->options->storage.checkpoints);
  if (!search_limited(again->end))
    return true;
  search_release(again);
  (*space)->ops->free(*space);
  return false;
}

/* With hash compaction, omitted states may break the path to a finding, and one thread may find another one than
   several. */
static bool has_same_paths(const struct query_run *a, const struct search *s, const struct search *again) {
  for (uint32_t i = 0; i <= s->space->query->nproperties; i++) {
    const struct finding *f = i < s->space->query->nproperties ? &s->findings[i] : &s->error;
    const struct finding *g = i < s->space->query->nproperties ? &again->findings[i] : &again->error;
    uint32_t n;
    struct path_goal goal;
    if (!f->found)
      continue;
    if (!g->found || f->rounds != g->rounds || f->fault_cost != g->fault_cost)
      return false;
    if (g->state == STATE_REF_NONE)
      continue;
    trace_watch_begin(a);
    struct state *path = search_path(again, g, &n, &goal);
    trace_watch_end(a);
    memory_free(path);
    if (!path)
      return false;
  }
  return true;
}

/* Searches again with exact keys, which may find another path. */
static bool search_exact(const struct query_run *a, struct search *s, struct search *again, struct system **space) {
  uint32_t n = s->space->query->nproperties, rounds = 1;
  for (uint32_t i = 0; i <= n; i++) {
    const struct finding *f = i < n ? &s->findings[i] : &s->error;
    rounds = f->found && f->rounds > rounds ? f->rounds : rounds;
  }
  if (!search_again(a, s, rounds, 0, again, space))
    return false;
  for (uint32_t i = 0; i <= n; i++) {
    struct finding *f = i < n ? &s->findings[i] : &s->error;
    const struct finding *g = i < n ? &again->findings[i] : &again->error;
    f->rounds = g->found ? g->rounds : f->rounds;
    f->fault_cost = g->found ? g->fault_cost : f->fault_cost;
  }
  return true;
}

/* What several threads or ranks found is looked for again by one, so that traces are the same whatever their number.
   That may not be needed, or be more than the limits allow: then what was found is as short, but may differ from what
   one thread finds. */
void query_repeat(struct query_run *a) {
  struct search *s = &a->search;
  uint32_t rounds = a->options->rondo->tests.no_deterministic_search ? 0 : search_rerun_depth(s),
           signature = s->limits.signature;
  struct system *space;
  if (a->options->output.no_trace)
    return;
  if (rounds > 0 && search_again(a, s, rounds, signature, &a->repeat, &space)) {
    if (!signature || has_same_paths(a, s, &a->repeat)) {
      a->repeat_system = space;
      return;
    }
    search_release(&a->repeat);
    space->ops->free(space);
  }
  if (signature && !has_same_paths(a, s, s) && search_exact(a, s, &a->repeat, &space))
    a->repeat_system = space;
}

void query_fill_result(struct query_run *a) {
  if (a->repeat_system && a->repeat.error.found)
    a->search.error.error = a->repeat.error.error; /* several may be equally short */
  run_result_fill(a->result, &a->search, a->licences);
  a->result->heard_of_assignments = a->heard_of_assignments;
}

void query_run_release(struct query_run *a) {
  if (a->repeat_system) {
    search_release(&a->repeat);
    a->repeat_system->ops->free(a->repeat_system);
  }
  if (a->system) {
    search_release(&a->search);
    a->system->ops->free(a->system);
  }
  a->system = a->repeat_system = NULL;
}
