#include "trace/trace.h"

#include "base/memory.h"

#include <inttypes.h>

const struct role *process_role(const struct model *m, uint32_t process) {
  return &m->roles[model_role_of(m, process)];
}

void process_print(const struct model *m, uint32_t process, struct text *out) {
  value_print(&m->values, m, m->processes, process, out);
}

void trace_release(struct trace *t) {
  for (uint32_t i = 0; i < t->nconfigs; i++)
    config_free(t->configs[i]);
  for (uint32_t i = 0; t->logs && i < t->run.nsteps; i++)
    step_log_release(&t->logs[i]);
  memory_free(t->configs);
  memory_free(t->logs);
  run_release(&t->run);
  *t = (struct trace){0};
}

bool trace_fails_in_step(const struct trace *t) { return t->nconfigs == t->run.nsteps; }

/* Step i from configs[i]. False: it cannot be taken; why says so. */
static bool replay_step(struct trace *t, struct meaning *meaning, uint32_t i, struct text *why) {
  const struct config *at = t->configs[i];
  const struct witness *w = t->run.steps[i];
  const char *clause = "";
  if (at->point == POINT_END) {
    text_addf(why, "round %u: the run is over before it", i + 1);
    return false;
  }
  if (!config_allows(meaning, t->claim.environment, at, w, &clause)) {
    text_addf(why, "round %u: environment '%s' does not allow it: %s", i + 1,
              t->model->environments[t->claim.environment].name, clause);
    return false;
  }
  struct config *next = config_new(t->model);
  switch (config_step(meaning, t->claim.environment, at, w, next, &t->logs[i], &t->error)) {
  case STEP_OK:
    t->configs[t->nconfigs++] = next;
    return true;
  case STEP_ERROR:
    if (i + 1 < t->run.nsteps)
      text_addf(why, "round %u: %s, though the run goes on", i + 1, t->error.message);
    break;
  case STEP_BAD_WITNESS:
    text_addf(why, "round %u: a choice that the algorithm does not have", i + 1);
    break;
  }
  config_free(next);
  return why->n == 0;
}

static bool replay_run(struct trace *t, struct meaning *meaning, struct text *why) {
  const char *clause = "";
  t->configs[t->nconfigs++] = config_copy(t->model, t->run.initial);
  if (!config_is_initial(meaning, t->claim.environment, t->run.initial, &clause)) {
    text_addf(why, "the algorithm cannot start like that: %s", clause);
    return false;
  }
  for (uint32_t i = 0; i < t->run.nsteps; i++)
    if (!replay_step(t, meaning, i, why))
      return false;
  return true;
}

/* Whether the end of the run shows the claim. */
static bool shows(struct trace *t, struct meaning *meaning, struct text *why) {
  if (trace_fails_in_step(t)) {
    if (!t->claim.error)
      text_addf(why, "the last round ends in an error: %s", t->error.message);
    return t->claim.error;
  }
  if (t->claim.property == NO_PROPERTY) {
    if (t->claim.error)
      text_add(why, "the last round does not end in an error");
    return !t->claim.error;
  }
  const struct property *p = &t->model->properties[t->claim.property];
  const struct config *last = t->configs[t->nconfigs - 1];
  enum verdict3 v;
  if (!p->step) {
    v = config_holds(meaning, p->formula, last, NULL, &t->error);
  } else if (t->nconfigs < 2) {
    text_addf(why, "'%s' speaks of a step, and there is none", p->name);
    return false;
  } else {
    v = config_holds(meaning, p->formula, t->configs[t->nconfigs - 2], last, &t->error);
  }
  enum verdict3 wanted = t->claim.error ? V_ERROR : p->kind == PROPERTY_COVER ? V_TRUE : V_FALSE;
  if (v != wanted)
    text_addf(why, "'%s' is %s at the end of the run", p->name,
              v == V_ERROR  ? t->error.message
              : v == V_TRUE ? "true"
                            : "false");
  return v == wanted;
}

enum replay trace_replay(struct trace *t, struct meaning *meaning, struct model *m,
                         const struct claim *claim, struct run *run, struct text *why) {
  *t = (struct trace){.model = m, .claim = *claim, .run = *run};
  *run = (struct run){0};
  t->configs = memory_alloc((t->run.nsteps + 1) * sizeof *t->configs);
  t->logs = memory_alloc((t->run.nsteps + 1) * sizeof *t->logs);
  if (!replay_run(t, meaning, why))
    return REPLAY_NOT_A_RUN;
  return shows(t, meaning, why) ? REPLAY_CONFIRMED : REPLAY_NOT_SHOWN;
}
