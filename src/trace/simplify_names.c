/* Renumbers the processes of a run of steps in order of appearance, if the result is a run, too. The interpreter checks
   whether it is. */
#include "trace/simplify_internal.h"

#include <string.h>

struct process_renumbering {
  struct step_simplifier *simplifier;
  const struct run *run;
  uint32_t *group; /* by event: events of a group are printed in one sentence */
  uint32_t *to;    /* by process: its new identity */
};

/* Printed in one sentence: the same event at another process. */
static bool told_together(const struct model *m, const struct event *a, const struct event *b) {
  if (a->process == b->process || a->kind != b->kind || a->action != b->action || a->ntaken != b->ntaken ||
      a->message_kind != b->message_kind || process_role(m, a->process) != process_role(m, b->process))
    return false;
  for (uint32_t i = 0; i < a->ntaken; i++)
    if (a->taken[i].from != b->taken[i].from || a->taken[i].message != b->taken[i].message)
      return false;
  return true;
}

static void find_groups(struct process_renumbering *n) {
  for (uint32_t i = 1; i < n->run->nsteps; i++)
    n->group[i] =
        n->group[i - 1] + !told_together(n->simplifier->model, n->run->steps[i - 1]->event, n->run->steps[i]->event);
}

/* The next event of the process from i on; nsteps: none. */
static uint32_t next_of(const struct process_renumbering *n, uint32_t process, uint32_t i) {
  while (i < n->run->nsteps && n->run->steps[i]->event->process != process)
    i++;
  return i;
}

/* Does p appear before q? If both appear in the same group, their next events decide. */
static bool comes_first(const struct process_renumbering *n, uint32_t p, uint32_t q) {
  uint32_t end = n->run->nsteps, i = next_of(n, p, 0), k = next_of(n, q, 0);
  while (i < end && k < end && n->group[i] == n->group[k]) {
    i = next_of(n, p, i + 1);
    k = next_of(n, q, k + 1);
  }
  return i < end && (k == end || n->group[i] < n->group[k]);
}

/* In a ring, processes keep their order: it is only rotated. */
static void turn(struct process_renumbering *n, const struct role *role) {
  uint32_t first = role->first;
  for (uint32_t p = role->first; p < role->first + role->count; p++)
    first = comes_first(n, p, first) ? p : first;
  for (uint32_t i = 0; i < role->count; i++)
    n->to[role->first + (first - role->first + i) % role->count] = role->first + i;
}

static void number(struct process_renumbering *n, const struct role *role) {
  uint32_t end = role->first + role->count;
  for (uint32_t p = role->first; p < end; p++) {
    uint32_t place = role->first;
    for (uint32_t q = role->first; q < end; q++)
      place += comes_first(n, q, p) || (q < p && !comes_first(n, p, q));
    n->to[p] = place;
  }
}

/* --- renaming --- */

static value renamed(struct process_renumbering *n, const struct type *type, value v) {
  struct renaming r = {.process = n->to};
  return value_rename(&n->simplifier->model->values, type, v, &r);
}

static struct config *rename_config(struct process_renumbering *n, const struct config *c) {
  const struct model *m = n->simplifier->model;
  struct config *out = config_copy(m, c);
  for (uint32_t i = 0; i < m->nglobals; i++)
    out->globals[i] = renamed(n, m->globals[i].type, c->globals[i]);
  for (uint32_t p = 0; p < m->nprocesses; p++) {
    const struct role *role = process_role(m, p);
    value *local = out->local[n->to[p]];
    memcpy(local, c->local[p], role_local_length(role) * sizeof *local);
    for (uint32_t i = 0; i < role->nvars && !(local[LOCAL_STATUS] & STATUS_BYZANTINE); i++) {
      local[LOCAL_VAR(i)] = renamed(n, role->vars[i].type, local[LOCAL_VAR(i)]);
      if (role->vars[i].kind == VAR_INPUT)
        local[role_initial_at(role, i)] = renamed(n, role->vars[i].type, local[role_initial_at(role, i)]);
    }
  }
  return out;
}

static struct witness *rename_event(struct process_renumbering *n, const struct witness *w) {
  const struct model *m = n->simplifier->model;
  struct witness *copy = witness_copy(m, w);
  struct event *e = copy->event;
  uint32_t kind = event_message_kind(m, e);
  e->process = n->to[e->process];
  e->ntaken = 0;
  for (uint32_t i = 0; i < w->event->ntaken; i++) {
    struct taken_message taken = w->event->taken[i];
    taken.from = n->to[taken.from];
    taken.message = renamed(n, m->messages[kind].type, taken.message);
    event_add_taken(e, taken);
  }
  return copy;
}

static struct run rename_run(struct process_renumbering *n) {
  struct run out = {.initial = rename_config(n, n->run->initial), .nsteps = n->run->nsteps};
  out.steps = memory_alloc((out.nsteps + (size_t)1) * sizeof *out.steps);
  for (uint32_t i = 0; i < out.nsteps; i++)
    out.steps[i] = rename_event(n, n->run->steps[i]);
  return out;
}

/* Is it a run that shows the same claim, as far as it goes? */
static bool confirmed(const struct step_simplifier *of, const struct run *run) {
  struct step_simplifier t = *of;
  events all = {0}, kept = {0};
  const char *why;
  t.initial = run->initial;
  for (uint32_t i = 0; i < run->nsteps; i++)
    vec_push(&all, run->steps[i]);
  bool ok = config_is_initial(t.interp, t.claim->environment, run->initial, &why) &&
            step_simplifier_attempt(&t, &all, SIZE_MAX, &kept) && kept.n == all.n;
  vec_release(&all);
  vec_release(&kept);
  return ok;
}

static bool is_identity(const struct process_renumbering *n) {
  for (uint32_t p = 0; p < n->simplifier->model->nprocesses; p++)
    if (n->to[p] != p)
      return false;
  return true;
}

/* Renames the processes of one role; ROLE_ANY: of all roles. */
static bool try_names(struct step_simplifier *t, struct run *run, uint32_t only) {
  const struct model *m = t->model;
  struct process_renumbering n = {.simplifier = t, .run = run};
  n.group = memory_alloc((run->nsteps + (size_t)1) * sizeof *n.group);
  n.to = memory_alloc((m->nprocesses + (size_t)1) * sizeof *n.to);
  find_groups(&n);
  for (uint32_t p = 0; p < m->nprocesses; p++)
    n.to[p] = p;
  for (uint32_t r = 0; r < m->nroles; r++)
    if (only == ROLE_ANY || only == r)
      (m->roles[r].ring ? turn : number)(&n, &m->roles[r]);
  bool done = is_identity(&n);
  if (!done) {
    struct run other = rename_run(&n);
    done = confirmed(t, &other);
    if (done) {
      struct run old = *run;
      *run = other;
      other = old;
    }
    run_release(&other);
  }
  memory_free(n.group);
  memory_free(n.to);
  return done;
}

void step_simplifier_rename(struct step_simplifier *t, struct run *run) {
  if (run->nsteps == 0 || try_names(t, run, ROLE_ANY))
    return;
  for (uint32_t r = 0; r < t->model->nroles && t->model->nroles > 1; r++)
    try_names(t, run, r);
}
