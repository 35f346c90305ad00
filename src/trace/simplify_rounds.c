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
  uint64_t steps, work;    /* done so far */
};

static bool exhausted(const struct round_simplifier *t) { return t->steps >= MOST_STEPS || t->work >= MOST_WORK; }

/* Does the run still show the claim if it continues from configs[first] with the witnesses? */
static bool still_shows(struct round_simplifier *t, uint32_t first) {
  struct model_error error;
  const char *why;
  uint32_t n = t->run->nsteps;
  for (uint32_t i = first; i < n; i++) {
    const struct witness *w = t->run->steps[i];
    t->steps++;
    t->work += (uint64_t)w->nprocesses * w->nprocesses;
    if (t->configs[i]->point == POINT_END || !config_allows(t->interp, t->claim->environment, t->configs[i], w, &why))
      return false;
    enum step_result result =
        config_step(t->interp, t->claim->environment, t->configs[i], w, t->configs[i + 1], NULL, &error);
    if (result == STEP_ERROR)
      return i + 1 == n && t->claim->error;
    if (result != STEP_OK)
      return false;
  }
  if (t->claim->property == NO_PROPERTY)
    return false;
  return property_evaluate(t->interp, &t->model->properties[t->claim->property], n ? t->configs[n - 1] : NULL,
                           t->configs[n], &error) == claim_verdict(t->model, t->claim);
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
  struct round_simplifier t = {.run = run, .interp = interp, .model = m, .claim = claim};
  t.configs = memory_alloc((run->nsteps + (size_t)1) * sizeof *t.configs);
  for (uint32_t i = 0; i <= run->nsteps; i++)
    t.configs[i] = i ? config_new(m) : config_copy(m, run->initial);
  bool shown = still_shows(&t, 0);
  for (uint32_t i = 0; i < run->nsteps && shown; i++) {
    for (uint32_t p = 0; p < m->nprocesses; p++)
      hear_more(&t, i, p);
    shown = still_shows(&t, i); /* a failed attempt may have left other configurations */
  }
  for (uint32_t i = 0; i <= run->nsteps; i++)
    config_free(t.configs[i]);
  memory_free(t.configs);
}
