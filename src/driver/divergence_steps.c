/* Models of steps: is the round distance unbounded? If a segment of a run leads back to the same state, except that the
   rounds of the leading processes are larger by the same amount, it is repeated with these larger rounds. Rounds are
   only compared and advanced, so a segment that can be repeated a few times, with ever larger gaps, can be repeated
   forever. The interpreter confirms each of the repeated steps, with plain integers. */
#include "driver/divergence.h"

#include "interp/events.h"
#include "interp/local.h"

#include <string.h>

#define REPETITIONS 8 /* more than any number that a model adds to a round */

struct pump {
  const struct trace *trace;
  struct interpreter *interp;
  struct system *space;
  struct model *model;
  value most;    /* the highest round in the run */
  value *rounds; /* what each becomes */
};

typedef void value_visit_fn(void *context, value *v, const struct type *);

/* Of processes and globals; messages are renamed when they are taken (shifted_step). */
static void each_value(const struct model *m, struct config *c, value_visit_fn *visit, void *context) {
  for (uint32_t g = 0; g < m->nglobals; g++)
    visit(context, &c->globals[g], m->globals[g].type);
  for (uint32_t p = 0; p < m->nprocesses; p++) {
    const struct role *role = &m->roles[model_role_of(m, p)];
    for (uint32_t i = 0; i < role->nvars; i++)
      visit(context, &c->local[p][LOCAL_VAR(i)], role->vars[i].type);
  }
}

static void shift_value(void *context, value *v, const struct type *t) {
  struct pump *k = context;
  const struct renaming r = {.rounds = k->rounds};
  if (type_contains_kind(t, TYPE_ROUND))
    *v = value_rename(&k->model->values, t, *v, &r);
}

struct span_search {
  struct values *values;
  struct round_span span;
};

static void add_span(void *context, value *v, const struct type *t) {
  struct span_search *s = context;
  if (type_contains_kind(t, TYPE_ROUND))
    value_round_span(s->values, t, *v, &s->span);
}

static struct round_span span_of(struct pump *k, const struct config *c) {
  struct span_search s = {&k->model->values, ROUND_SPAN_EMPTY};
  struct config *copy = config_copy(k->model, c);
  each_value(k->model, copy, add_span, &s);
  config_free(copy);
  return s.span;
}

static void set_shift(struct pump *k, value from, value by) {
  for (value r = 0; r <= k->most; r++)
    k->rounds[r] = r < from ? r : r + by;
}

/* Are processes and globals those of a, with the rounds of the leading processes increased? */
static bool is_shifted(struct pump *k, const struct config *a, const struct config *b) {
  struct config *copy = config_copy(k->model, a), *other = config_copy(k->model, b);
  each_value(k->model, copy, shift_value, k);
  copy->npackets = other->npackets = 0;
  bool same = config_equal(k->model, copy, other);
  config_free(copy);
  config_free(other);
  return same;
}

static const struct type *taken_type(const struct model *m, const struct event *e) {
  bool acts = e->kind == EVENT_ACTION || (e->kind == EVENT_CRASH && e->action != NO_ACTION);
  return m->messages[acts ? m->roles[model_role_of(m, e->process)].actions[e->action].kind : e->message_kind].type;
}

static struct witness *shifted_step(struct pump *k, const struct witness *w) {
  struct witness *moved = witness_copy(k->model, w);
  struct event *e = moved->event;
  for (uint32_t i = 0; i < e->ntaken; i++)
    shift_value(k, &e->taken[i].message, taken_type(k->model, e));
  return moved;
}

static void find_highest_round(struct pump *k) {
  const struct trace *t = k->trace;
  struct round_span all = ROUND_SPAN_EMPTY;
  for (uint32_t i = 0; i < t->nconfigs; i++) {
    struct round_span s = span_of(k, t->configs[i]);
    all.hi = s.hi > all.hi ? s.hi : all.hi;
  }
  for (uint32_t i = 0; i < t->run.nsteps; i++) {
    const struct event *e = t->run.steps[i]->event;
    for (uint32_t j = 0; j < e->ntaken; j++)
      if (type_contains_kind(taken_type(k->model, e), TYPE_ROUND))
        value_round_span(&k->model->values, taken_type(k->model, e), e->taken[j].message, &all);
  }
  k->most = all.hi > 0 ? all.hi : 0;
}

/* Repeats the segment from `at`, which becomes the state that it leads to. */
static bool repeat_stretch(struct pump *k, struct config *at, uint32_t from, uint32_t to) {
  const struct trace *t = k->trace;
  struct config *next = config_new(k->model);
  bool ok = true;
  for (uint32_t i = from; i < to && ok; i++) {
    struct witness *w = shifted_step(k, t->run.steps[i]);
    struct model_error error;
    const char *why;
    ok = config_allows(k->interp, t->claim.environment, at, w, &why) &&
         config_step(k->interp, t->claim.environment, at, w, next, NULL, &error) == STEP_OK;
    if (ok)
      config_assign(k->model, at, next);
    witness_free(w);
  }
  config_free(next);
  return ok;
}

static bool pump_repeats(struct pump *k, uint32_t from, uint32_t to, value front, value by) {
  const struct config *a = k->trace->configs[from];
  struct config *at = config_copy(k->model, k->trace->configs[to]);
  uint32_t apart = k->space->ops->statistics.round_distance(k->space, at);
  bool ok = apart > k->space->ops->statistics.round_distance(k->space, a);
  for (value time = 1; time <= REPETITIONS && ok; time++) {
    set_shift(k, front, time * by);
    ok = repeat_stretch(k, at, from, to);
    set_shift(k, front, (time + 1) * by);
    uint32_t further = ok ? k->space->ops->statistics.round_distance(k->space, at) : 0;
    ok = ok && further > apart && is_shifted(k, a, at);
    apart = further;
  }
  config_free(at);
  return ok;
}

static bool pump_find(struct pump *k, uint32_t from, uint32_t to, value modulus) {
  const struct config *a = k->trace->configs[from], *b = k->trace->configs[to];
  struct round_span x = span_of(k, a), y = span_of(k, b);
  value by = y.hi - x.hi;
  if (x.lo > x.hi || x.lo < 0 || by < 1 || by % modulus != 0 || y.lo < x.lo || y.lo > x.hi)
    return false;
  for (value front = x.hi; front > x.lo; front--) {
    set_shift(k, front, by);
    if (is_shifted(k, a, b) && pump_repeats(k, from, to, front, by))
      return true;
  }
  return false;
}

bool divergence_find_steps(const struct trace *t, struct interpreter *interp, struct system *space, value modulus,
                           struct divergent_segment *out) {
  struct pump k = {.trace = t, .interp = interp, .space = space, .model = t->model};
  bool found = false;
  find_highest_round(&k);
  k.rounds = memory_alloc((size_t)(k.most + 1) * sizeof *k.rounds);
  for (uint32_t to = 1; to < t->nconfigs && !found; to++)
    for (uint32_t from = to; from-- > 0 && !found;)
      if (pump_find(&k, from, to, modulus)) {
        *out = (struct divergent_segment){from, to};
        found = true;
      }
  memory_free(k.rounds);
  return found;
}
