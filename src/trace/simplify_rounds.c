#include "trace/simplify.h"

#include "base/memory.h"

#include <string.h>

/* Limits on interpreter steps, and on pairs of processes in these steps: runs of large instances are left as they
   are. */
#define MOST_STEPS 20000
#define MOST_WORK 20000000

struct round_simplifier {
  struct run *run;
  struct interpreter *interp;
  struct model *model;
  const struct claim *claim;
  struct config **configs; /* before each step, and the last */
  struct config **tried;   /* the same for an attempt, as far as it differs */
  uint32_t nconfigs;       /* nsteps + 1, or nsteps if the last step is the error */
  uint64_t steps, work;    /* done so far */
};

static bool exhausted(const struct round_simplifier *t) {
  return t->steps >= MOST_STEPS || t->work >= MOST_WORK || interpreter_stopped(t->interp);
}

/* Takes step i of the run from `at`. False: it is not allowed, or it ends in an error, *error tells. */
static bool take_step(struct round_simplifier *t, uint32_t i, const struct config *at, struct config *next,
                      bool *error) {
  const struct witness *w = t->run->steps[i];
  struct model_error ignored;
  const char *why;
  *error = false;
  t->steps++;
  t->work += (uint64_t)w->nprocesses * w->nprocesses;
  if (at->point == POINT_END || !config_allows(t->interp, t->claim->environment, at, w, &why))
    return false;
  enum step_result result = config_step(t->interp, t->claim->environment, at, w, next, NULL, &ignored);
  *error = result == STEP_ERROR;
  return result == STEP_OK;
}

/* Is the claim's property over in this state, so that what comes later shows nothing? */
static bool is_over(struct round_simplifier *t, const struct config *c) {
  return t->claim->property != NO_PROPERTY && property_ends(t->interp, &t->model->properties[t->claim->property], c);
}

/* Does the end of the run show the claim, given the last two states? */
static bool end_shows(struct round_simplifier *t, const struct config *before, const struct config *last) {
  struct model_error error;
  return t->claim->property != NO_PROPERTY &&
         property_evaluate(t->interp, &t->model->properties[t->claim->property], before, last, &error) ==
             claim_verdict(t->model, t->claim);
}

/* Does the run, of which step `first` was changed, still show the claim? Then configs are its states. It does if it
   comes back to a state that it had before, since the steps after that are the same. At the end of the run that says
   nothing: a step property reads the state before, too. */
static bool still_shows(struct round_simplifier *t, uint32_t first) {
  uint32_t n = t->run->nsteps, i = first;
  const struct config *at = t->configs[first];
  bool error = false, same = false;
  for (; i < n && !same; at = t->tried[++i]) {
    if (!t->tried[i + 1])
      t->tried[i + 1] = config_new(t->model);
    if (!take_step(t, i, at, t->tried[i + 1], &error)) {
      if (!error || i + 1 < n || !t->claim->error)
        return false;
      break;
    }
    if (i + 1 < n && is_over(t, t->tried[i + 1]))
      return false;
    same = i + 1 < n && i + 1 < t->nconfigs && config_equal(t->model, t->tried[i + 1], t->configs[i + 1]);
  }
  if (!same && !error && !end_shows(t, n == first ? NULL : n - 1 == first ? t->configs[first] : t->tried[n - 1], at))
    return false;
  t->nconfigs = same ? t->nconfigs : error ? n : n + 1;
  for (uint32_t k = first + 1; k <= i && k < t->nconfigs; k++) {
    struct config *old = t->configs[k];
    t->configs[k] = t->tried[k];
    t->tried[k] = old;
  }
  return true;
}

/* Process p hears of all others if possible, otherwise of as many as possible, added one by one. */
static void hear_more(struct round_simplifier *t, uint32_t step, uint32_t p) {
  struct witness *w = t->run->steps[step];
  uint32_t n = w->nprocesses;
  uint8_t *row = w->heard[p];
  if (!memchr(row, 0, n) || exhausted(t))
    return;
  uint8_t *all = memory_alloc(n + (size_t)1);
  memset(all, 1, n);
  w->heard[p] = all;
  bool fits = still_shows(t, step);
  memory_free(fits ? row : all);
  if (fits)
    return;
  w->heard[p] = row;
  for (uint32_t q = 0; q < n && !exhausted(t); q++)
    if (!row[q]) {
      row[q] = 1;
      row[q] = still_shows(t, step);
    }
}

void run_simplify(struct run *run, struct interpreter *interp, struct model *m, const struct claim *claim) {
  if (model_steps(m)) {
    run_simplify_steps(run, interp, m, claim);
    return;
  }
  if (claim->semantics == SEMANTICS_FINE) /* hearing of more processes would mean waiting for more */
    return;
  struct round_simplifier t = {.run = run, .interp = interp, .model = m, .claim = claim, .nconfigs = 1};
  t.configs = memory_alloc((run->nsteps + (size_t)1) * sizeof *t.configs);
  t.tried = memory_alloc((run->nsteps + (size_t)1) * sizeof *t.tried);
  t.configs[0] = config_copy(m, run->initial);
  if (still_shows(&t, 0)) /* otherwise the replay will report what is wrong */
    for (uint32_t i = 0; i < run->nsteps; i++)
      for (uint32_t p = 0; p < m->nprocesses; p++)
        hear_more(&t, i, p);
  for (uint32_t i = 0; i <= run->nsteps; i++) {
    config_free(t.configs[i]);
    config_free(t.tried[i]);
  }
  memory_free(t.configs);
  memory_free(t.tried);
}
