/* Minimises runs of steps: first faults, then all other events are left out if the claim is shown without them, each
   together with everything that then becomes impossible. Finally the events are reordered so that the acting process
   changes rarely. */
#include "base/memory.h"
#include "base/vec.h"
#include "trace/simplify_internal.h"

#include <string.h>

#define MOST_STEPS 30000 /* of the interpreter, for leaving out events; and again for the order */

bool step_simplifier_exhausted(const struct step_simplifier *t) {
  return t->steps >= MOST_STEPS || interpreter_stopped(t->interp);
}

void step_simplifier_swap(struct step_simplifier *t) {
  struct config *c = t->at;
  t->at = t->next;
  t->next = c;
}

bool step_simplifier_step(struct step_simplifier *t, const struct witness *w, enum step_result *result) {
  struct model_error error;
  const char *why;
  t->steps++;
  if (!config_allows(t->interp, t->claim->environment, t->at, w, &why))
    return false;
  *result = config_step(t->interp, t->claim->environment, t->at, w, t->next, NULL, &error);
  return *result != STEP_BAD_WITNESS;
}

/* Is the claim shown at `at`, reached by a step from `before` (NULL: at the start)? */
static bool shown(struct step_simplifier *t, const struct config *before, const struct config *at) {
  struct model_error error;
  if (t->claim->property == NO_PROPERTY)
    return false;
  return property_evaluate(t->interp, &t->model->properties[t->claim->property], before, at, &error) ==
         claim_verdict(t->model, t->claim);
}

bool step_simplifier_attempt(struct step_simplifier *t, const events *all, size_t skip, events *kept) {
  vec_clear(kept);
  config_assign(t->model, t->at, t->initial);
  if (shown(t, NULL, t->at))
    return true;
  for (size_t i = 0; i < all->n && !step_simplifier_exhausted(t); i++) {
    enum step_result result;
    if (i == skip || !step_simplifier_step(t, all->at[i], &result))
      continue;
    if (result == STEP_ERROR && !t->claim->error)
      continue;
    vec_push(kept, all->at[i]);
    if (result == STEP_ERROR || shown(t, t->at, t->next))
      return true;
    step_simplifier_swap(t);
  }
  return false;
}

/* --- leaving out events --- */

static void adopt(events *run, events *shorter) {
  events old = *run;
  *run = *shorter;
  *shorter = old;
}

static bool is_fault(const struct event *e) {
  return e->kind == EVENT_LOSE || e->kind == EVENT_CRASH || e->kind == EVENT_RECOVER;
}

/* From the last to the first, because later events depend on earlier ones. */
static bool leave_out(struct step_simplifier *t, events *run, bool faults) {
  events kept = {0};
  bool changed = false;
  for (size_t i = run->n; i-- > 0 && !step_simplifier_exhausted(t);)
    if (i < run->n && (!faults || is_fault(run->at[i]->event)) && step_simplifier_attempt(t, run, i, &kept)) {
      adopt(run, &kept);
      changed = true;
    }
  vec_release(&kept);
  return changed;
}

/* A process that crashes in the middle of an action may instead finish it; a received message that stays in its channel
   (duplication) may instead be removed. */
static void weaken_faults(struct step_simplifier *t, events *run) {
  events kept = {0};
  for (size_t i = 0; i < run->n && !step_simplifier_exhausted(t); i++) {
    struct event *e = run->at[i]->event;
    if (e->kind == EVENT_CRASH && e->action != NO_ACTION) {
      struct event old = *e;
      e->kind = EVENT_ACTION;
      e->nout = 0;
      if (step_simplifier_attempt(t, run, SIZE_MAX, &kept) && kept.n <= run->n)
        adopt(run, &kept);
      else
        *e = old;
    }
    for (uint32_t k = 0; i < run->n && k < e->ntaken; k++)
      if (e->taken[k].kept) {
        e->taken[k].kept = false;
        if (step_simplifier_attempt(t, run, SIZE_MAX, &kept))
          adopt(run, &kept);
        else
          e->taken[k].kept = true;
      }
  }
  vec_release(&kept);
}

/* --- all together --- */

static void take_over(struct run *run, const events *tidied) {
  for (uint32_t i = 0; i < run->nsteps; i++) {
    size_t k = 0;
    while (k < tidied->n && tidied->at[k] != run->steps[i])
      k++;
    if (k == tidied->n)
      witness_free(run->steps[i]);
  }
  run->nsteps = (uint32_t)tidied->n;
  if (tidied->n > 0)
    memcpy(run->steps, tidied->at, tidied->n * sizeof *run->steps);
}

void run_simplify_steps(struct run *run, struct interpreter *interp, struct model *m, const struct claim *claim) {
  struct step_simplifier t = {.interp = interp,
                              .model = m,
                              .claim = claim,
                              .initial = run->initial,
                              .at = config_new(m),
                              .next = config_new(m)};
  events tidied = {0}, kept = {0};
  for (uint32_t i = 0; i < run->nsteps; i++)
    vec_push(&tidied, run->steps[i]);
  bool sound = step_simplifier_attempt(&t, &tidied, SIZE_MAX, &kept);
  for (size_t i = 0; i < kept.n && sound; i++)
    sound = kept.at[i] == tidied.at[i];
  if (sound) { /* otherwise the replay will report what is wrong */
    adopt(&tidied, &kept);
    leave_out(&t, &tidied, true);
    weaken_faults(&t, &tidied);
    while (leave_out(&t, &tidied, false) && !step_simplifier_exhausted(&t))
      ;
    t.steps = 0;
    step_simplifier_order(&t, &tidied);
    take_over(run, &tidied);
    t.steps = 0;
    step_simplifier_rename(&t, run);
  }
  vec_release(&tidied);
  vec_release(&kept);
  config_free(t.at);
  config_free(t.next);
}
