#include "trace/lasso_replay.h"

#include "base/memory.h"
#include "base/vec.h"
#include "interp/events.h"
#include "interp/run_clauses.h"

#include <string.h>

#define TIMES_MOST 256 /* repeating the loop often enough undoes a permutation of processes and values */

/* --- concrete runs --- */

static struct state *repeated(const struct state_lasso *l, uint32_t times, struct step_requirement **wish,
                              uint32_t *n) {
  uint32_t length = l->n - 1 - l->loop;
  *n = l->loop + 1 + times * length;
  struct state *path = memory_alloc(*n * sizeof *path);
  *wish = memory_alloc(*n * sizeof **wish);
  for (uint32_t i = 0; i < *n; i++) {
    uint32_t at = i <= l->loop ? i : l->loop + (i - l->loop) % length;
    path[i] = l->path[at];
    (*wish)[i] = l->wish[at];
  }
  return path;
}

static void run_cut(struct run *run, uint32_t nsteps) {
  for (uint32_t i = nsteps; i < run->nsteps; i++)
    witness_free(run->steps[i]);
  run->nsteps = nsteps;
}

/* The configurations of a run; NULL if the interpreter cannot follow it. */
static struct config **configs_of(struct interpreter *interp, uint32_t environment, const struct run *run) {
  const struct model *m = interp->model;
  struct config **at = memory_alloc((run->nsteps + (size_t)1) * sizeof *at);
  bool ok = true;
  at[0] = config_copy(m, run->initial);
  for (uint32_t i = 0; i < run->nsteps; i++) {
    struct model_error error;
    at[i + 1] = config_new(m);
    ok = ok && config_step(interp, environment, at[i], run->steps[i], at[i + 1], NULL, &error) == STEP_OK;
  }
  if (ok)
    return at;
  for (uint32_t i = 0; i <= run->nsteps; i++)
    config_free(at[i]);
  memory_free(at);
  return NULL;
}

/* The number of steps to the i-th state of the path. */
static uint32_t steps_to(const struct run *run, uint32_t i) { return run->reached ? run->reached[i] : i; }

static uint32_t pending(const struct config *c, uint32_t from, uint32_t to) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < c->npackets; i++)
    n += c->packets[i].from == from && c->packets[i].to == to;
  return n;
}

/* FIFO channels: a channel that holds more messages at b than at a must not be received from in between. */
static bool grown_untouched(const struct interpreter *interp, uint32_t environment, const struct run *run,
                            uint32_t first, uint32_t end, const struct config *a, const struct config *b) {
  if (environment_channels(&interp->model->environments[environment]).kind != CHANNEL_FIFO)
    return true;
  for (uint32_t i = first; i < end; i++) {
    const struct event *e = run->steps[i]->event;
    for (uint32_t k = 0; k < e->ntaken; k++)
      if (!e->taken[k].forged && pending(b, e->taken[k].from, e->process) > pending(a, e->taken[k].from, e->process))
        return false;
  }
  return true;
}

/* Rounds: the first of the environment's clauses about runs that the run does not satisfy; NULL: it satisfies all. */
static const struct clause *clause_missed(struct interpreter *interp, uint32_t environment,
                                          const struct config *const *configs, const struct witness *const *steps,
                                          uint32_t nsteps, uint32_t loop) {
  const struct environment *env = &interp->model->environments[environment];
  const struct clause *marks[RUN_CLAUSES_MAX];
  uint32_t n = model_steps(interp->model) ? 0 : environment_run_clauses(env, marks);
  for (uint32_t i = 0; i < n; i++)
    if (!clause_holds_of_run(interp, environment, (uint32_t)(marks[i] - env->clauses), configs, steps, nsteps, loop))
      return marks[i];
  return NULL;
}

/* Finds two iterations of the loop with the same configuration: exactly (the first attempt), or up to round numbers.
   One of them is in the second half; earlier pairs have been compared before. If the loop begins within a phase, its
   last phase goes on at its beginning, and a clause about phases may have chosen something there that was permuted
   since: then more iterations are needed. */
static bool find_recurrence(struct interpreter *interp, uint32_t environment, const struct run *run, struct config **at,
                            const struct state_lasso *l, uint32_t times, bool exactly, uint32_t *from, uint32_t *to) {
  uint32_t length = l->n - 1 - l->loop;
  for (uint32_t k = times / 2 + 1; k <= times; k++)
    for (uint32_t i = 0; i < k; i++) {
      struct recurrence r;
      *from = steps_to(run, l->loop + i * length);
      *to = steps_to(run, l->loop + k * length);
      bool recurs = config_recurs(interp, environment, at[*from], at[*to], &r);
      recurrence_release(&r);
      if (recurs && (r.exact || !exactly) &&
          (!r.piles || grown_untouched(interp, environment, run, *from, *to, at[*from], at[*to])) &&
          !clause_missed(interp, environment, (const struct config *const *)at,
                         (const struct witness *const *)run->steps, *to, *from))
        return true;
      if (interpreter_stopped(interp))
        return false;
    }
  return false;
}

static bool is_optional(const struct event *e) {
  if (e->kind != EVENT_ACTION && e->kind != EVENT_DELIVER)
    return true;
  for (uint32_t i = 0; i < e->ntaken; i++)
    if (e->taken[i].forged || e->taken[i].kept)
      return true;
  return false;
}

struct stutter_step {
  const struct model *model;
  struct config *at;
  struct witness *step;
};

static bool note_rest(void *context, const struct witness *w, enum step_result result, const struct config *next,
                      const struct model_error *error) {
  struct stutter_step *r = context;
  (void)error;
  if (result != STEP_OK || !w->event || is_optional(w->event) || !config_stutters(r->model, r->at, next))
    return true;
  r->step = witness_copy(r->model, w);
  config_assign(r->model, r->at, next);
  return false;
}

/* At the end of a run of steps, messages may have to be received that have no effect. */
static void append_stutters(struct interpreter *interp, uint32_t environment, struct run *run) {
  struct config **configs = model_steps(interp->model) ? configs_of(interp, environment, run) : NULL;
  struct stutter_step r = {.model = interp->model};
  if (!configs)
    return;
  r.at = config_copy(r.model, configs[run->nsteps]);
  for (uint32_t i = 0; i <= run->nsteps; i++)
    config_free(configs[i]);
  memory_free(configs);
  for (uint32_t n = 0; n < TIMES_MOST; n++) {
    struct config *before = config_copy(r.model, r.at);
    r.step = NULL;
    config_successors(interp, environment, before, note_rest, &r);
    config_free(before);
    if (!r.step)
      break;
    run->steps = memory_resize_array(run->steps, run->nsteps + 1, sizeof *run->steps);
    run->steps[run->nsteps++] = r.step;
  }
  config_free(r.at);
}

enum lasso_made lasso_run(struct system *space, struct interpreter *interp, uint32_t environment,
                          const struct state_lasso *l, struct run *run, uint32_t *loop) {
  bool stays = l->loop == l->n - 1, closed = false, piles = false;
  for (uint32_t times = stays ? 0 : 1; !closed && times <= TIMES_MOST; times *= 2) {
    uint32_t n, to = l->loop;
    struct step_requirement *wish;
    struct state *path = stays ? NULL : repeated(l, times, &wish, &n);
    bool ok = stays ? space->ops->liveness.concretise_path(space, l->path, l->n, l->wish, run)
                    : space->ops->liveness.concretise_path(space, path, n, wish, run);
    if (!stays) {
      memory_free(path);
      memory_free(wish);
    }
    if (!ok)
      return interpreter_stopped(interp) ? LASSO_STOPPED : LASSO_UNFOLLOWED;
    if (stays) {
      append_stutters(interp, environment, run);
      *loop = run->nsteps;
      return LASSO_MADE;
    }
    struct config **at = configs_of(interp, environment, run);
    if (!at)
      return LASSO_MADE; /* the replay will report the error */
    piles = at[run->nsteps]->npackets > at[steps_to(run, l->loop)]->npackets;
    closed = find_recurrence(interp, environment, run, at, l, times, true, loop, &to) ||
             find_recurrence(interp, environment, run, at, l, times, false, loop, &to);
    for (uint32_t i = 0; i <= run->nsteps; i++)
      config_free(at[i]);
    memory_free(at);
    if (closed)
      run_cut(run, to);
    else
      run_release(run);
    if (!closed && interpreter_stopped(interp))
      return LASSO_STOPPED;
  }
  return closed ? LASSO_MADE : piles ? LASSO_PILES : LASSO_OPEN;
}

/* --- confirmation --- */

struct enabled_scan {
  const struct model *model;
  bool acts;                /* a process can act */
  struct config *delivered; /* after a delivery, or NULL */
};

static bool look_for_step(void *context, const struct witness *w, enum step_result result, const struct config *next,
                          const struct model_error *error) {
  struct enabled_scan *o = context;
  (void)error;
  if (result == STEP_BAD_WITNESS || is_optional(w->event))
    return true;
  if (w->event->kind != EVENT_DELIVER)
    o->acts = true;
  else if (!o->delivered)
    o->delivered = config_copy(o->model, next);
  return !o->acts;
}

/* Steps: can a process act, now or after messages have been delivered? Deliveries alone change nothing. */
static bool somebody_acts(struct trace *t, struct interpreter *interp, const struct config *last) {
  struct config *at = config_copy(t->model, last);
  struct enabled_scan o = {.model = t->model};
  do {
    o.delivered = NULL;
    config_successors(interp, t->claim.environment, at, look_for_step, &o);
    config_free(at);
    at = o.delivered;
  } while (at && !o.acts);
  if (at)
    config_free(at);
  return o.acts;
}

static bool may_stay(struct trace *t, struct interpreter *interp, struct text *why) {
  const struct config *last = t->configs[t->nconfigs - 1];
  bool goes_on = model_steps(t->model) ? somebody_acts(t, interp, last) : last->point != POINT_END;
  if (goes_on)
    text_addf(why, "the run is said to stay as it is, but there is another %s", step_word(t->model));
  return !goes_on;
}

/* Repeats step i in place, in a configuration that recurs to the one before it. */
static bool again(struct trace *t, struct interpreter *interp, uint32_t i, struct config *at) {
  struct model *m = t->model;
  uint32_t environment = t->claim.environment;
  const char *clause = "";
  struct model_error error;
  struct recurrence r;
  if (!config_recurs(interp, environment, t->configs[i], at, &r))
    return false;
  struct witness *step = model_steps(m) ? witness_renumbered(m, &r, t->run.steps[i]) : witness_copy(m, t->run.steps[i]);
  struct config *next = config_new(m);
  bool ok = config_allows(interp, environment, at, step, &clause) &&
            config_step(interp, environment, at, step, next, NULL, &error) == STEP_OK;
  config_assign(m, at, next);
  config_free(next);
  witness_free(step);
  recurrence_release(&r);
  return ok;
}

/* Phase numbers may matter beyond their order. The loop is therefore repeated once for each process (a coordinator may
   rotate), with the same choices, and the configuration must recur. */
static bool goes_round(struct trace *t, struct interpreter *interp, struct text *why) {
  struct model *m = t->model;
  struct config *at = config_copy(m, t->configs[t->nconfigs - 1]);
  struct recurrence r = {0};
  bool ok = true;
  for (uint32_t times = 0; times < m->nprocesses && ok; times++)
    for (uint32_t i = t->claim.loop; i < t->run.nsteps && ok; i++)
      ok = again(t, interp, i, at);
  ok = ok && config_recurs(interp, t->claim.environment, t->configs[t->nconfigs - 1], at, &r);
  recurrence_release(&r);
  if (!ok)
    text_addf(why, "what happens from %s %u on cannot happen again and again", step_word(m), t->claim.loop + 1);
  config_free(at);
  return ok;
}

bool lasso_closes(struct trace *t, struct interpreter *interp, struct text *why) {
  if (t->claim.loop == t->run.nsteps)
    return may_stay(t, interp, why);
  struct recurrence r = {0};
  const struct config *first = t->configs[t->claim.loop], *last = t->configs[t->nconfigs - 1];
  bool recurs =
      config_recurs(interp, t->claim.environment, first, last, &r) &&
      (!r.piles || grown_untouched(interp, t->claim.environment, &t->run, t->claim.loop, t->run.nsteps, first, last));
  t->exact = r.exact;
  t->piles = r.piles;
  recurrence_release(&r);
  if (!recurs)
    text_addf(why, "the run does not come back to where it was after %u %ss", t->claim.loop, step_word(t->model));
  return recurs && goes_round(t, interp, why);
}

static bool clauses_hold(struct trace *t, struct interpreter *interp, struct text *why) {
  const struct clause *missed =
      clause_missed(interp, t->claim.environment, (const struct config *const *)t->configs,
                    (const struct witness *const *)t->run.steps, t->run.nsteps, t->claim.loop);
  uint32_t line, column;
  if (!missed)
    return true;
  source_place(&t->model->source, missed->at.from, &line, &column);
  text_addf(why, "it does not satisfy what environment '%s' says of runs (line %u)",
            t->model->environments[t->claim.environment].name, line);
  return false;
}

struct fair_count {
  struct fair_group group;
  uint32_t possible; /* in how many configurations of the loop it is enabled */
  uint32_t seen;     /* the last configuration in which it was, 1-based */
  bool taken;
};

struct fair_counts {
  VEC(struct fair_count) at;
  uint32_t now;
};

static struct fair_count *fair_count_of(struct fair_counts *c, const struct fair_group *g) {
  for (size_t i = 0; i < c->at.n; i++) {
    const struct fair_group *known = &c->at.at[i].group;
    if (known->process == g->process && known->action == g->action && known->sender == g->sender &&
        known->message == g->message)
      return &c->at.at[i];
  }
  vec_push(&c->at, ((struct fair_count){.group = *g}));
  return &c->at.at[c->at.n - 1];
}

static void count_possible(void *context, const struct fair_group *g) {
  struct fair_counts *c = context;
  struct fair_count *of = fair_count_of(c, g);
  of->possible += of->seen != c->now;
  of->seen = c->now;
}

/* Counts all groups that are enabled somewhere in the loop. Returns the number of configurations in the loop. */
static uint32_t count_groups(const struct trace *t, struct interpreter *interp, struct fair_counts *counts) {
  uint32_t from = t->claim.loop, to = from < t->run.nsteps ? t->run.nsteps : from + 1;
  for (uint32_t i = from; i < to; i++) {
    struct fair_group taken;
    counts->now = i + 1;
    config_groups(interp, t->claim.environment, t->configs[i], count_possible, counts);
    if (i < t->run.nsteps && event_fair_group(interp, t->claim.environment, t->run.steps[i]->event, &taken))
      fair_count_of(counts, &taken)->taken = true;
  }
  return to - from;
}

static const struct clause *fairness_of(const struct trace *t) {
  return model_steps(t->model) ? environment_fairness(&t->model->environments[t->claim.environment]) : NULL;
}

/* Steps: a group that is enabled always (strong: somewhere) in the loop must be taken in it. */
static bool is_fair(struct trace *t, struct interpreter *interp, struct text *why) {
  const struct clause *fair = fairness_of(t);
  struct fair_counts counts = {0};
  bool ok = true;
  if (!fair)
    return true;
  uint32_t length = count_groups(t, interp, &counts);
  for (size_t i = 0; i < counts.at.n && ok; i++) {
    const struct fair_count *c = &counts.at.at[i];
    ok = c->taken || c->possible == 0 || (!fair->strong && c->possible < length);
    if (!ok) {
      text_add(why, "it is not fair to ");
      process_print(t->model, c->group.process, why);
    }
  }
  vec_release(&counts.at);
  return ok;
}

void lasso_untaken_groups(const struct trace *t, struct interpreter *interp, untaken_fn *tell, void *context) {
  struct fair_counts counts = {0};
  if (!fairness_of(t))
    return;
  count_groups(t, interp, &counts);
  for (size_t i = 0; i < counts.at.n; i++)
    if (!counts.at.at[i].taken && counts.at.at[i].possible > 0)
      tell(context, &counts.at.at[i].group);
  vec_release(&counts.at);
}

struct lasso_configs trace_configs(const struct trace *t) {
  return (struct lasso_configs){(const struct config *const *)t->configs, t->nconfigs - !trace_stays(t), t->claim.loop};
}

const struct node *claim_formula(const struct trace *t) {
  return t->claim.text ? t->claim.text : trace_property(t)->formula;
}

bool lasso_admitted(struct trace *t, struct interpreter *interp, struct text *why) {
  return clauses_hold(t, interp, why) && is_fair(t, interp, why);
}

bool lasso_confirm(struct trace *t, struct interpreter *interp, struct text *why) {
  if (!lasso_closes(t, interp, why) || !lasso_admitted(t, interp, why))
    return false;
  struct lasso_configs run = trace_configs(t);
  enum verdict3 v = lasso_satisfies(interp, claim_formula(t), &run, &t->error);
  if (v != V_FALSE)
    text_addf(why, "'%s' is %s of the run", trace_property(t)->name, v == V_ERROR ? t->error.message : "true");
  return v == V_FALSE;
}
