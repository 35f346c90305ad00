/* The explicit-state search of a query: its transition system, the search, and the search by one thread that makes
   traces deterministic. */
#include "driver/query_run.h"

#include "async/async.h"
#include "driver/answer_stream.h"
#include "driver/context.h"
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
                                   .max_distance = a->options->max_distance ? a->options->max_distance : ANY_DISTANCE};
  *licences = licences_grant(a->model, q, requested, a->arena);
  interpreter_follow(a->interp, q->semantics, model_steps(a->model) && !(*licences)->of[REDUCE_MESSAGE_ORDER].applied);
  if (q->semantics == SEMANTICS_FINE)
    return async_system_new(a->interp, a->model, q, *licences, &options);
  return model_steps(a->model) ? step_system_new(a->interp, a->model, q, *licences, &options)
                               : lockstep_new(a->interp, a->model, q, *licences, &options);
}

static void tell_found(void *context, const struct search *s, uint32_t property) { stream_found(context, s, property); }

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
  s->found = reports && a->about->stream ? tell_found : NULL;
  s->found_context = a->about->stream;
  s->layer = reports && a->about->split ? split_after_layer : NULL;
  s->layer_context = a->about->split;
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

/* Partial-order reduction and fusion take longer paths, so they may miss what is within a limit of steps. */
static struct reduction_request requested_of(const struct command_options *o) {
  struct reduction_request requested = o->requested;
  if (o->limits.rounds > 0 && requested.reduce[REDUCE_PARTIAL_ORDER] == REQUEST_AUTO)
    requested.reduce[REDUCE_PARTIAL_ORDER] = REQUEST_OFF;
  if (o->limits.rounds > 0 && requested.reduce[REDUCE_FUSION] == REQUEST_AUTO)
    requested.reduce[REDUCE_FUSION] = REQUEST_OFF;
  return requested;
}

/* --- does partial-order reduction pay? --- */

/* It takes time for each state, so it pays if it leaves out many states. Whether it does is tried on the first few
   states: a trial search with it, and one without it that goes equally deep. The reduction is dropped unless the last
   layer of the second one has so many times (in hundredths) the states of the first one's. What it leaves out tends to
   grow with the depth, so that this is less than the ratio of the times.

   The decision depends on numbers of states only, so it is the same in every run. A search never changes its mind: it
   is reduced from its first state to its last, or not at all. */
#define TRIAL_STATES 2000
#define TRIAL_FACTOR 8 /* the second trial ends with so many times the states of the first: the reduction pays */
#define PAYS_FROM 140
#define PAYS_FROM_FAST 300 /* if the search without it is fast: see fast_successors */

static bool is_conclusive(const struct search *s) { return !search_limited(s->end); }

/* The trial is the search that was asked for. */
static void trial_keep(struct query_run *a, struct search *s, struct system *system) {
  a->search = *s;
  a->system = system;
  a->explored = true;
}

static void trial_drop(struct search *s, struct system *system) {
  search_release(s);
  system->ops->free(system);
}

/* The trial without the reduction; given the one with it. True: the reduction does not pay. */
static bool is_idle(struct query_run *a, const struct search *with, bool keeps) {
  struct reduction_request without = a->requested;
  const struct licences *licences;
  struct limits limits = a->options->limits;
  struct search s;
  without.reduce[REDUCE_PARTIAL_ORDER] = REQUEST_IDLE;
  struct system *system = query_system(a->about, &a->query, &without, &licences);
  uint64_t pays_from = system->fast_successors ? PAYS_FROM_FAST : PAYS_FROM, first = with->initial_states;
  uint64_t most = first + (with->stats.states - first) * TRIAL_FACTOR;
  if (limits.states == 0 || limits.states > most)
    limits.states = most;
  limits.trial_rounds = with->complete - 1;
  query_search_alone(a, &s, system, &limits, NULL);
  bool idle = is_conclusive(&s) || (s.trial_ended && s.stats.frontier * 100 < with->stats.frontier * pays_from);
  if (is_conclusive(&s) && keeps) {
    a->licences = licences;
    trial_keep(a, &s, system);
  } else {
    trial_drop(&s, system);
  }
  return idle;
}

/* keeps: a trial that comes to an end is the answer. True: partial-order reduction does not pay. */
static bool partial_order_is_idle(struct query_run *a, bool keeps) {
  struct limits limits = a->options->limits;
  struct search s;
  bool idle = false;
  if (!model_steps(a->model) || limits.trial_rounds > 0 || a->requested.reduce[REDUCE_PARTIAL_ORDER] != REQUEST_AUTO)
    return false;
  struct system *system = query_system(a->about, &a->query, &a->requested, &a->licences);
  if (!system->uses_proviso) {
    system->ops->free(system);
    return false;
  }
  limits.trial_states = a->options->rondo->tests.trial_states ? a->options->rondo->tests.trial_states : TRIAL_STATES;
  query_search_alone(a, &s, system, &limits, NULL);
  if (s.trial_ended)
    idle = is_idle(a, &s, keeps);
  if (!s.trial_ended && keeps)
    trial_keep(a, &s, system);
  else
    trial_drop(&s, system);
  return idle;
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
  bool idle = !a->options->ranks.is_helper && partial_order_is_idle(a, alone);
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

void query_explore(struct query_run *a) {
  struct text decimal = {0};
  if (!a->explored)
    search_with(a, a->ranks, &a->search, a->system, &a->options->limits, a->options->storage.checkpoints, true);
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
