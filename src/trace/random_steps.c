/* The next event of a random run of steps. The interpreter enumerates what is enabled. Similar events count as one, so
   that a process with a thousand quorums to choose from does not crowd out the others. */
#include "base/memory.h"
#include "base/vec.h"
#include "trace/random_walk.h"

#define MOST_EVENTS 20000 /* enumerated before each step */

/* Events of the same kind, process and action, all or none of them with forged or duplicated messages. */
struct event_class {
  enum event_kind kind;
  uint32_t process, action;
  bool forged, kept;
  uint64_t seen;
  struct witness *sample; /* reservoir sampling: each event seen is equally likely */
};

struct event_sampler {
  struct random_walk *walker;
  VEC(struct event_class) classes;
  uint64_t seen;
};

static struct event_class class_of(const struct event *e) {
  struct event_class c = {.kind = e->kind, .process = e->process, .action = e->action};
  for (uint32_t i = 0; i < e->ntaken; i++) {
    c.forged |= e->taken[i].forged;
    c.kept |= e->taken[i].kept;
  }
  return c;
}

static bool sample_event(void *context, const struct witness *w, enum step_result result, const struct config *next,
                         const struct model_error *error) {
  struct event_sampler *d = context;
  struct event_class c = class_of(w->event);
  size_t i = 0;
  (void)next;
  (void)error;
  if (result == STEP_BAD_WITNESS)
    return true;
  for (; i < d->classes.n; i++) {
    const struct event_class *k = &d->classes.at[i];
    if (k->kind == c.kind && k->process == c.process && k->action == c.action && k->forged == c.forged &&
        k->kept == c.kept)
      break;
  }
  if (i == d->classes.n)
    vec_push(&d->classes, c);
  struct event_class *k = &d->classes.at[i];
  if (below(d->walker, ++k->seen) == 0) {
    witness_free(k->sample);
    k->sample = witness_copy(d->walker->model, w);
  }
  return ++d->seen < MOST_EVENTS;
}

/* Faults are rare, and so are recoveries while other events are enabled. */
static double weight(const struct event_class *c) {
  if (c->kind == EVENT_LOSE || c->kind == EVENT_CRASH)
    return 0.04;
  if (c->kept)
    return 0.1;
  return c->kind == EVENT_RECOVER ? 0.2 : c->forged ? 0.5 : 1;
}

static bool is_fault(const struct event_class *c) { return c->kind == EVENT_LOSE || c->kind == EVENT_CRASH; }

struct witness *random_event(struct random_walk *r, const struct config *c) {
  struct event_sampler d = {.walker = r};
  struct witness *chosen = NULL;
  double sum = 0;
  bool alive = false;
  config_successors(r->interp, r->environment, c, sample_event, &d);
  for (size_t i = 0; i < d.classes.n; i++)
    alive |= !is_fault(&d.classes.at[i]);
  for (size_t i = 0; i < d.classes.n; i++) {
    struct event_class *k = &d.classes.at[i];
    sum += weight(k);
    bool take = alive && chance(r, weight(k) / sum);
    witness_free(take ? chosen : k->sample);
    if (take)
      chosen = k->sample;
  }
  vec_release(&d.classes);
  return chosen;
}
