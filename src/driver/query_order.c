/* Partial-order reduction takes time for each state, so it pays if it leaves out many states. Whether it does is found
   out while the search without it is under way: now and then a trial search with the reduction goes through a few
   states, and its last complete layer is compared with the same layer of the other search. What the reduction leaves
   out tends to grow with the depth, so that a smaller ratio than that of the times is enough.

   The first trial comes before that, and so does a search without the reduction that goes as deep, because in many
   models either the one or the other needs a few states only.

   A trial takes a tenth of the time of the other search up to then, or less, so that little is lost whatever the answer
   is. Small searches never come to the second trial.

   The decision depends on numbers of states only, so it is the same in every run. A search never changes its mind: it
   is reduced from its first state to its last, or not at all. */
#include "driver/query_order.h"

#include "base/memory.h"
#include "driver/context.h"
#include "interp/eval.h"

struct order_trial {
  uint64_t from;   /* the search without the reduction has so many states when it is made */
  uint64_t states; /* it ends after the layer in which it has so many, besides the initial ones */
};
static const struct order_trial trials[] = {{0, 50}, {8000, 300}, {60000, 2000}};
#define TRIALS (sizeof trials / sizeof *trials)
/* In tests, all numbers are small: so many times what the test says. */
static const struct order_trial test_trials[TRIALS] = {{0, 1}, {5, 1}, {20, 4}};

/* The layer without the reduction has so many times (in hundredths) the states of that with it. */
#define PAYS_FROM 140
#define PAYS_FROM_FAST 300  /* if the search without it is fast: see fast_successors */
#define PAYS_FROM_EARLY 300 /* by trials before the last one */
#define FIRST_FACTOR 8      /* with so many times the states of the first trial, it is clear that the reduction pays */

struct query_order {
  struct query_run *of;
  uint64_t *layers, *sums; /* of the search without the reduction: states of each complete layer, and up to it */
  uint32_t nlayers;
  uint32_t next; /* of trials */
  bool known, pays;
  bool decides; /* the search without the reduction is made for this question only */
};

static struct order_trial trial_at(const struct query_order *o, uint32_t i) {
  uint64_t tested = o->of->options->rondo->tests.trial_states, states = o->of->options->limits.states;
  struct order_trial t = trials[i];
  if (tested > 0)
    t = (struct order_trial){test_trials[i].from * tested, test_trials[i].states * tested};
  if (states > 0 && t.from > states / 4 * i) /* or the limit would come before the trial */
    t.from = states / 4 * i;
  return t;
}

bool order_is_known(const struct query_order *o) { return o->known; }

bool order_pays(const struct query_order *o) { return o->pays; }

void order_free(struct query_order *o) {
  if (!o)
    return;
  memory_free(o->layers);
  memory_free(o->sums);
  memory_free(o);
}

static void trial_drop(struct search *s, struct system *system) {
  search_release(s);
  system->ops->free(system);
}

static void trial_end(struct query_run *a, struct search *s, struct system *system, bool keep) {
  if (keep) {
    a->search = *s;
    a->system = system;
    a->explored = true;
  } else {
    trial_drop(s, system);
  }
}

/* As deep as the first trial, without the reduction. */
static void try_without(struct query_order *o, const struct query_context *about, const struct search *with,
                        bool keeps) {
  struct query_run *a = o->of;
  struct reduction_request without = a->requested;
  struct limits limits = a->options->limits;
  const struct licences *licences;
  struct search s;
  uint64_t first = with->initial_states, most = first + (with->stats.states - first) * FIRST_FACTOR;
  without.reduce[REDUCE_PARTIAL_ORDER] = REQUEST_IDLE;
  if (limits.states == 0 || limits.states > most)
    limits.states = most;
  limits.trial_rounds = with->complete - 1;
  struct system *system = query_system(about, &a->query, &without, &licences);
  query_search_alone(a, &s, system, &limits, NULL);
  o->known = !search_limited(s.end);
  if (o->known && keeps)
    a->licences = licences;
  else if (!o->known)
    o->known = o->pays = !s.trial_ended || s.stats.frontier * 100 >= with->stats.frontier * PAYS_FROM_EARLY;
  trial_end(a, &s, system, o->known && !o->pays && keeps);
}

/* Is there a trial that can be made? Makes the first one, which may be the answer. */
static bool begin(struct query_run *a, bool keeps) {
  struct limits limits = a->options->limits;
  struct query_context about = *a->about;
  struct search s;
  about.trial = true;
  struct system *system = query_system(&about, &a->query, &a->requested, &a->licences);
  if (!system->uses_proviso) {
    system->ops->free(system);
    return false;
  }
  struct query_order *o = memory_alloc(sizeof *o);
  *o = (struct query_order){.of = a, .next = 1};
  limits.trial_states = trial_at(o, 0).states;
  query_search_alone(a, &s, system, &limits, NULL);
  o->known = o->pays = !s.trial_ended;
  if (!o->known)
    try_without(o, &about, &s, keeps);
  trial_end(a, &s, system, o->pays && !s.trial_ended && keeps);
  a->order = o;
  return true;
}

/* Another trial. The other search is in the middle of something, with its interpreter. */
static void try_again(struct query_order *o, struct search *other) {
  struct query_context about = *o->of->about;
  struct command_options options = *about.options;
  struct query_run a = *o->of;
  const struct licences *licences;
  struct search s;
  struct order_trial trial = trial_at(o, o->next++);
  struct limits limits = a.options->limits;
  about.interp = a.interp = interpreter_new(a.model);
  about.stream = NULL;
  about.split = NULL;
  about.trial = true;
  about.options = a.options = &options;
  options.storage.spill = NULL;
  a.about = &about;
  a.order = NULL;
  a.requested.reduce[REDUCE_PARTIAL_ORDER] = REQUEST_AUTO;
  limits.trial_states = trial.states;
  limits.threads = 1;
  limits.spill_from = 0;
  struct system *system = query_system(&about, &a.query, &a.requested, &licences);
  query_search_alone(&a, &s, system, &limits, NULL);
  uint32_t depth = s.complete - 1;
  uint64_t pays_from = o->next < TRIALS ? PAYS_FROM_EARLY : other->space->fast_successors ? PAYS_FROM_FAST : PAYS_FROM;
  bool limited = search_limited(s.end) && !s.trial_ended;
  o->pays =
      !limited && (!s.trial_ended || depth >= o->nlayers || o->layers[depth] * 100 >= s.stats.frontier * pays_from);
  o->known = o->pays || o->next == TRIALS;
  trial_drop(&s, system);
  interpreter_free(a.interp);
  query_watch_again(o->of->about, other);
}

bool order_after_layer(struct query_order *o, struct search *s) {
  uint32_t depth = s->complete - 1; /* it begins anew if keys become too narrow */
  o->layers = memory_resize_array(o->layers, depth + 1, sizeof *o->layers);
  o->sums = memory_resize_array(o->sums, depth + 1, sizeof *o->sums);
  o->layers[depth] = s->stats.frontier;
  o->sums[depth] = s->stats.frontier + (depth > 0 ? o->sums[depth - 1] : 0);
  o->nlayers = depth + 1;
  while (!o->known && o->sums[depth] >= trial_at(o, o->next).from)
    try_again(o, s);
  return !o->pays && !(o->known && o->decides);
}

/* As far as is needed to decide. */
static void decide(struct query_run *a) {
  const struct licences *licences;
  struct query_run alone = *a;
  struct search s;
  a->order->decides = true;
  alone.requested.reduce[REDUCE_PARTIAL_ORDER] = REQUEST_IDLE;
  struct system *system = query_system(a->about, &a->query, &alone.requested, &licences);
  query_search_alone(&alone, &s, system, &a->options->limits, NULL);
  trial_drop(&s, system);
}

bool order_is_idle(struct query_run *a, bool alone) {
  if (!model_steps(a->model) || a->options->limits.trial_rounds > 0 ||
      a->requested.reduce[REDUCE_PARTIAL_ORDER] != REQUEST_AUTO || !begin(a, alone))
    return false;
  if (!alone && !a->order->known)
    decide(a);
  bool idle = !a->order->pays;
  if (!alone || a->order->known) {
    order_free(a->order);
    a->order = NULL;
  }
  return idle;
}
