#include "trace/trace.h"

#include "base/memory.h"
#include "interp/async_round.h"
#include "interp/local.h"
#include "trace/lasso_replay.h"

#include <inttypes.h>

const struct role *process_role(const struct model *m, uint32_t process) {
  return &m->roles[model_role_of(m, process)];
}

uint32_t role_find_var(const struct role *role, const char *name) {
  for (uint32_t i = 0; i < role->nvars; i++)
    if (!strcmp(role->vars[i].name, name))
      return i;
  return NO_VAR;
}

void process_print(const struct model *m, uint32_t process, struct text *out) {
  value_print(&m->values, m, m->process_types.any, process, out);
}

void message_print(const struct model *m, uint32_t kind, value v, struct text *out) {
  const struct message_kind *k = &m->messages[kind];
  text_add(out, k->name);
  if (k->type->size > 0)
    value_print(&m->values, m, k->type, v, out);
}

bool var_is_hidden(const struct var *v) { return v->hidden || v->kind == VAR_POINT || v->kind == VAR_ONCE; }

const struct var *change_var(const struct model *m, const struct change *c) {
  return c->process == PROCESS_SHARED ? &m->globals[c->var] : &process_role(m, c->process)->vars[c->var];
}

void trace_release(struct trace *t) {
  for (uint32_t i = 0; i < t->nconfigs; i++)
    config_free(t->configs[i]);
  for (uint32_t i = 0; t->logs && i < t->run.nsteps; i++)
    step_log_release(&t->logs[i]);
  memory_free(t->configs);
  memory_free(t->logs);
  memory_free(t->done);
  config_free(t->cut);
  config_free(t->cut_before);
  run_release(&t->run);
  *t = (struct trace){0};
}

const char *step_word(const struct model *m) { return model_steps(m) ? "step" : "round"; }

enum verdict3 property_evaluate(struct interpreter *interp, const struct property *p, const struct config *before,
                                const struct config *at, struct model_error *error) {
  if (!p->step)
    return config_holds(interp, p->formula, at, NULL, error);
  return before ? config_holds(interp, p->formula, before, at, error) : V_TRUE;
}

bool property_ends(struct interpreter *interp, const struct property *p, const struct config *c) {
  struct model_error ignored;
  return p->until && config_holds(interp, p->until, c, NULL, &ignored) == V_TRUE;
}

enum verdict3 claim_verdict(const struct model *m, const struct claim *claim) {
  bool cover = m->properties[claim->property].kind == PROPERTY_COVER;
  return claim->error ? V_ERROR : cover ? V_TRUE : V_FALSE;
}

const struct property *trace_property(const struct trace *t) {
  return t->claim.property == NO_PROPERTY ? NULL : &t->model->properties[t->claim.property];
}

bool trace_is_good(const struct trace *t) {
  const struct property *p = trace_property(t);
  return !t->claim.error && (!p || p->kind == PROPERTY_COVER);
}

bool trace_stays(const struct trace *t) { return t->claim.lasso && t->claim.loop == t->run.nsteps; }

bool trace_fails_in_step(const struct trace *t) { return t->nconfigs == t->run.nsteps; }

const struct config *trace_last(const struct trace *t) {
  return t->cut ? t->cut : t->nconfigs ? t->configs[t->nconfigs - 1] : NULL;
}

const struct config *trace_before_last(const struct trace *t) {
  return t->cut ? t->cut_before : t->nconfigs > 1 ? t->configs[t->nconfigs - 2] : NULL;
}

bool trace_has_begun(const struct trace *t, uint32_t p, uint32_t step) {
  return !t->done || t->done[p] >= t->before + step;
}

bool trace_has_ended(const struct trace *t, uint32_t p, uint32_t step) {
  return !t->done || t->done[p] > t->before + step;
}

bool trace_takes_part(const struct trace *t, uint32_t p, uint32_t step) {
  return process_active(t->configs[step]->local[p][LOCAL_STATUS]) && !t->run.steps[step]->crashes[p] &&
         trace_has_ended(t, p, step);
}

bool trace_halts(const struct trace *t, uint32_t p, uint32_t step) {
  return step + 1 < t->nconfigs && trace_has_ended(t, p, step) &&
         (t->configs[step + 1]->local[p][LOCAL_STATUS] & ~t->configs[step]->local[p][LOCAL_STATUS] & STATUS_HALTED);
}

uint8_t *trace_heard_of(const struct trace *t, uint32_t step, uint8_t **missed) {
  const struct step_log *log = &t->logs[step];
  size_t n = t->model->nprocesses;
  uint8_t *heard = memory_alloc(2 * n * n + 1);
  *missed = heard + n * n;
  for (size_t i = 0; i < log->nsent; i++)
    (*missed)[log->sent[i].to * n + log->sent[i].from] = trace_takes_part(t, log->sent[i].to, step);
  for (size_t i = 0; i < log->narrivals; i++) {
    size_t at = log->arrivals[i].to * n + log->arrivals[i].from;
    heard[at] = trace_takes_part(t, log->arrivals[i].to, step);
    (*missed)[at] = 0;
  }
  return heard;
}

size_t sent_together(const struct trace *t, const struct step_log *log, size_t i, uint8_t *members, uint32_t *n) {
  const struct sent *first = &log->sent[i];
  memset(members, 0, t->model->nprocesses);
  for (*n = 0; i < log->nsent; i++, ++*n) {
    const struct sent *s = &log->sent[i];
    if (s->from != first->from || s->kind != first->kind || s->type != first->type || s->message != first->message ||
        members[s->to])
      break;
    members[s->to] = 1;
  }
  return i;
}

/* Takes step i from configs[i]. False: it cannot be taken; *why gives the reason. */
static bool replay_step(struct trace *t, struct interpreter *interp, uint32_t i, struct text *why) {
  const struct config *at = t->configs[i];
  const struct witness *w = t->run.steps[i];
  const char *clause = "";
  const char *word = step_word(t->model);
  if (at->point == POINT_END) {
    text_addf(why, "round %u: the run is over before it", i + 1);
    return false;
  }
  bool steps = model_steps(t->model);
  bool allowed = config_allows(interp, t->claim.environment, at, w, &clause);
  struct config *next = config_new(t->model);
  enum step_result result = STEP_BAD_WITNESS;
  /* A step that is impossible in the model is reported as such, not as a violation of the environment. */
  if (allowed || steps)
    result = config_step(interp, t->claim.environment, at, w, next, &t->logs[i], &t->error);
  if (!allowed && (!steps || result != STEP_BAD_WITNESS))
    text_addf(why, "%s %u: environment '%s' does not allow it: %s", word, i + 1,
              t->model->environments[t->claim.environment].name, clause);
  else if (result == STEP_BAD_WITNESS)
    text_addf(why, "%s %u: %s", word, i + 1,
              steps ? "it cannot happen there" : "a choice that the algorithm does not have");
  else if (result == STEP_ERROR && i + 1 < t->run.nsteps)
    text_addf(why, "%s %u: %s, though the run goes on", word, i + 1, t->error.message);
  if (result == STEP_OK && allowed)
    t->configs[t->nconfigs++] = next;
  else
    config_free(next);
  return why->n == 0;
}

/* Long runs end soon after the stop flag is set. The caller looks at the flag before it blames the run. */
static bool is_stopped(const struct interpreter *interp, struct text *why) {
  if (interpreter_stopped(interp))
    text_add(why, "interrupted");
  return why->n > 0;
}

/* The run goes on from this state: is the claim's property over? */
static void leave_state(struct trace *t, struct interpreter *interp, const struct config *c) {
  t->over |= t->claim.property != NO_PROPERTY && property_ends(interp, &t->model->properties[t->claim.property], c);
}

static bool replay_run(struct trace *t, struct interpreter *interp, struct text *why) {
  const char *clause = "";
  t->configs[t->nconfigs++] = config_copy(t->model, t->run.initial);
  if (!config_is_initial(interp, t->claim.environment, t->run.initial, &clause)) {
    text_addf(why, "the algorithm cannot start like that: %s", clause);
    return false;
  }
  for (uint32_t i = 0; i < t->run.nsteps; i++) {
    if (t->claim.semantics != SEMANTICS_FINE) /* in which the states are others, see replay_order */
      leave_state(t, interp, t->configs[i]);
    if (is_stopped(interp, why) || !replay_step(t, interp, i, why))
      return false;
  }
  return true;
}

/* --- asynchronous rounds --- */

/* Removes from the log of a whole round what has not happened yet. */
static void drop_unfinished(struct trace *t, uint32_t step) {
  struct step_log *log = &t->logs[step];
  size_t n = 0;
  for (size_t i = 0; i < log->nsent; i++)
    if (trace_has_begun(t, log->sent[i].from, step))
      log->sent[n++] = log->sent[i];
  log->nsent = n;
  n = 0;
  for (size_t i = 0; i < log->narrivals; i++)
    if (trace_has_ended(t, log->arrivals[i].to, step))
      log->arrivals[n++] = log->arrivals[i];
  log->narrivals = n;
  n = 0;
  for (size_t i = 0; i < log->nchanges; i++)
    if (trace_has_ended(t, log->changes[i].process, step))
      log->changes[n++] = log->changes[i];
  log->nchanges = n;
}

/* Replays the order in which processes end their rounds. */
static bool replay_order(struct trace *t, struct interpreter *interp, struct text *why) {
  struct async_run f;
  const char *reason = "";
  bool fails = trace_fails_in_step(t);
  uint32_t n = t->model->nprocesses;
  if (n > ASYNC_RUN_PROCESSES_MAX) {
    text_addf(why, "fine rounds are for at most %u processes", ASYNC_RUN_PROCESSES_MAX);
    return false;
  }
  struct config *before = config_new(t->model);
  async_run_init(&f, interp, t->configs, t->run.steps, t->run.nsteps);
  for (uint32_t i = 0; i < t->run.norder && why->n == 0 && !is_stopped(interp, why); i++) {
    bool last = i + 1 == t->run.norder;
    uint32_t p = t->run.order[i];
    async_run_view(&f, before);
    leave_state(t, interp, before);
    if (last && !fails)
      t->cut_before = config_copy(t->model, before);
    if (!async_run_end_round(&f, p, &reason)) {
      text_addf(why, "step %u: ", i + 1);
      if (p < n)
        process_print(t->model, p, why);
      text_addf(why, " cannot end its round: %s", reason);
    } else if (fails && f.done[p] == t->run.nsteps && (!last || p != t->error.process)) {
      text_addf(why, "step %u: the error is not there", i + 1);
    }
  }
  if (why->n == 0 && !fails) {
    t->cut = config_new(t->model);
    async_run_view(&f, t->cut);
  }
  t->done = memory_alloc((n + 1) * sizeof *t->done);
  for (uint32_t p = 0; p < n; p++)
    t->done[p] = f.done[p];
  for (uint32_t i = 0; i < t->run.nsteps; i++)
    drop_unfinished(t, i);
  async_run_release(&f);
  config_free(before);
  return why->n == 0;
}

/* Does the end of the run show the claim? */
static bool shows(struct trace *t, struct interpreter *interp, struct text *why) {
  const struct property *p = trace_property(t);
  if (trace_fails_in_step(t)) {
    if (!t->claim.error)
      text_addf(why, "the last %s ends in an error: %s", step_word(t->model), t->error.message);
    return t->claim.error;
  }
  if (!p) {
    if (t->claim.error)
      text_addf(why, "the last %s does not end in an error", step_word(t->model));
    return !t->claim.error;
  }
  const struct config *last = trace_last(t);
  if (t->claim.lasso)
    return lasso_confirm(t, interp, why);
  if (t->over) {
    text_addf(why, "what '%s' holds 'until' is reached before the end of the run", p->name);
    return false;
  }
  if (p->step && !trace_before_last(t)) {
    text_addf(why, "'%s' speaks of a step, and there is none", p->name);
    return false;
  }
  enum verdict3 wanted = claim_verdict(t->model, &t->claim),
                v = t->claim.text ? config_holds(interp, t->claim.text, last, NULL, &t->error)
                                  : property_evaluate(interp, p, trace_before_last(t), last, &t->error);
  if (v != wanted)
    text_addf(why, "'%s' is %s at the end of the run", p->name,
              v == V_ERROR  ? t->error.message
              : v == V_TRUE ? "true"
                            : "false");
  return v == wanted;
}

enum replay trace_replay(struct trace *t, struct interpreter *interp, struct model *m, const struct claim *claim,
                         struct run *run, struct text *why) {
  *t = (struct trace){.model = m, .claim = *claim, .run = *run};
  *run = (struct run){0};
  t->configs = memory_alloc((t->run.nsteps + 1) * sizeof *t->configs);
  t->logs = memory_alloc((t->run.nsteps + 1) * sizeof *t->logs);
  if (claim->lasso && claim->loop > t->run.nsteps) {
    text_addf(why, "its loop begins after %u %ss, and it has only %u", claim->loop, step_word(m), t->run.nsteps);
    return REPLAY_NOT_A_RUN;
  }
  if (!replay_run(t, interp, why) || (claim->semantics == SEMANTICS_FINE && !replay_order(t, interp, why)))
    return REPLAY_NOT_A_RUN;
  return shows(t, interp, why) ? REPLAY_CONFIRMED : REPLAY_NOT_SHOWN;
}

bool trace_window(struct trace *t, struct interpreter *interp, struct model *m, const struct claim *claim,
                  struct run *run, uint32_t before, const uint32_t *done) {
  uint32_t n = run->nsteps;
  enum step_result result = STEP_OK;
  *t = (struct trace){.model = m, .claim = *claim, .run = *run, .before = before};
  *run = (struct run){0};
  t->configs = memory_alloc((n + 1) * sizeof *t->configs);
  t->logs = memory_alloc((n + 1) * sizeof *t->logs);
  t->configs[t->nconfigs++] = config_copy(m, t->run.initial);
  for (uint32_t i = 0; i < n && result == STEP_OK; i++) {
    struct config *next = config_new(m);
    result = config_step(interp, claim->environment, t->configs[i], t->run.steps[i], next, &t->logs[i], &t->error);
    if (result == STEP_OK)
      t->configs[t->nconfigs++] = next;
    else
      config_free(next);
  }
  if (done) {
    t->done = memory_alloc((m->nprocesses + 1) * sizeof *t->done);
    memcpy(t->done, done, m->nprocesses * sizeof *t->done);
    for (uint32_t i = 0; i < n; i++)
      drop_unfinished(t, i);
  }
  return result == STEP_OK || (result == STEP_ERROR && t->nconfigs == n);
}

void trace_free(struct trace *t) {
  if (t)
    trace_release(t);
  memory_free(t);
}

struct trace *trace_confirmed(struct interpreter *interp, struct model *m, const struct claim *claim, struct run *run,
                              struct text *why) {
  struct trace *t = memory_alloc(sizeof *t);
  if (trace_replay(t, interp, m, claim, run, why) == REPLAY_CONFIRMED)
    return t;
  trace_free(t);
  return NULL;
}
