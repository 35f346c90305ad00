#include "interp/counter_run.h"

#include <string.h>

/* ---- terms ---- */

static bool sum_value(const struct term *t, const struct counter_values *v, int64_t *out) {
  int64_t a, b;
  if (!term_value(t->kid[0], v, &a) || !term_value(t->kid[1], v, &b))
    return false;
  switch (t->op) {
  case TERM_ADD:
    return !__builtin_add_overflow(a, b, out);
  case TERM_SUB:
    return !__builtin_sub_overflow(a, b, out);
  case TERM_TIMES:
    return !__builtin_mul_overflow(a, b, out);
  case TERM_EQ:
    *out = a == b;
    return true;
  case TERM_LE:
    *out = a <= b;
    return true;
  case TERM_LT:
    *out = a < b;
    return true;
  case TERM_NUMBER:
  case TERM_PARAM:
  case TERM_COUNTER:
  case TERM_CONTROL:
  case TERM_AMOUNT:
  case TERM_IF:
  case TERM_AND:
  case TERM_OR:
  case TERM_NOT:
    break;
  }
  return false;
}

bool term_value(const struct term *t, const struct counter_values *v, int64_t *out) {
  switch (t->op) {
  case TERM_NUMBER:
    *out = t->number;
    return true;
  case TERM_PARAM:
    *out = v->params[t->index];
    return true;
  case TERM_COUNTER:
    *out = v->counters[t->index];
    return true;
  case TERM_CONTROL:
    *out = v->controls[t->index];
    return true;
  case TERM_AMOUNT:
    *out = v->amounts[t->index];
    return true;
  case TERM_IF:
    return term_value(t->kid[0], v, out) && term_value(t->kid[*out ? 1 : 2], v, out);
  case TERM_NOT:
    if (!term_value(t->kid[0], v, out))
      return false;
    *out = !*out;
    return true;
  case TERM_AND:
    return term_value(t->kid[0], v, out) && (!*out || term_value(t->kid[1], v, out));
  case TERM_OR:
    return term_value(t->kid[0], v, out) && (*out || term_value(t->kid[1], v, out));
  case TERM_ADD:
  case TERM_SUB:
  case TERM_TIMES:
  case TERM_EQ:
  case TERM_LE:
  case TERM_LT:
    return sum_value(t, v, out);
  }
  return false;
}

static bool holds(const struct term *t, const struct counter_values *v) {
  int64_t truth;
  return term_value(t, v, &truth) && truth;
}

/* ---- steps ---- */

bool counter_params_hold(const struct counter_system *s, bool open, int64_t *params) {
  struct counter_values v = {.params = params};
  for (uint32_t i = 0; i < s->nparams; i++)
    if (s->params[i].is && !term_value(s->params[i].is, &v, &params[i]))
      return false;
  for (uint32_t i = 0; i < s->nconditions; i++)
    if (!(open && s->conditions[i].resilience) && !holds(s->conditions[i].term, &v))
      return false;
  return true;
}

bool counter_starts(const struct counter_system *s, const struct counter_property *p, const int64_t *params,
                    const struct counter_state *state) {
  struct counter_values v = {params, state->counters, state->controls, NULL};
  return holds(s->start, &v) && holds(p->from, &v);
}

bool counter_unsafe(const struct counter_system *s, const struct counter_property *p, const int64_t *params,
                    const struct counter_state *state) {
  (void)s;
  struct counter_values v = {params, state->counters, state->controls, NULL};
  return holds(p->unsafe, &v);
}

bool counter_moves(const struct counter_system *s, uint32_t move, const int64_t *params,
                   const struct counter_state *state, const int64_t *amounts, struct counter_state *next) {
  const struct counter_move *m = &s->moves[move];
  struct counter_values v = {params, state->counters, state->controls, amounts};
  if (!holds(m->guard, &v))
    return false;
  for (uint32_t i = 0; i < s->ncounters; i++) {
    next->counters[i] = state->counters[i];
    if (m->counters[i] && !term_value(m->counters[i], &v, &next->counters[i]))
      return false;
  }
  for (uint32_t i = 0; i < s->ncontrols; i++) {
    next->controls[i] = state->controls[i];
    if (m->controls[i] && !term_value(m->controls[i], &v, &next->controls[i]))
      return false;
  }
  return true;
}

/* ---- runs ---- */

static struct counter_state state_new(struct arena *arena, const struct counter_system *s) {
  return (struct counter_state){arena_array(arena, s->ncounters + (size_t)1, sizeof(int64_t)),
                                arena_array(arena, s->ncontrols + (size_t)1, sizeof(int64_t))};
}

void counter_run_init(struct counter_run *r, const struct counter_system *s) {
  *r = (struct counter_run){0};
  arena_init(&r->arena);
  r->params = arena_array(&r->arena, s->nparams + (size_t)1, sizeof *r->params);
  r->start = state_new(&r->arena, s);
}

void counter_run_release(struct counter_run *r) {
  vec_release(&r->steps);
  arena_release(&r->arena);
}

struct counter_step *counter_run_add(struct counter_run *r, const struct counter_system *s, uint32_t move) {
  size_t n = s->moves[move].namounts;
  vec_push(&r->steps, ((struct counter_step){.move = move,
                                             .amounts = arena_array(&r->arena, n + 1, sizeof(int64_t)),
                                             .after = state_new(&r->arena, s)}));
  return &r->steps.at[r->steps.n - 1];
}

bool counter_run_replay(struct counter_run *r, const struct counter_system *s, const struct counter_property *p,
                        bool open, struct text *why) {
  const struct counter_state *now = &r->start;
  if (!counter_params_hold(s, open, r->params)) {
    text_add(why, "the parameters do not satisfy their conditions");
    return false;
  }
  if (!counter_starts(s, p, r->params, now)) {
    text_add(why, "the run does not begin in a start state");
    return false;
  }
  for (size_t i = 0; i < r->steps.n; i++) {
    struct counter_step *step = &r->steps.at[i];
    if (!counter_moves(s, step->move, r->params, now, step->amounts, &step->after)) {
      text_addf(why, "step %zu: the move '%s' is not possible", i + 1, s->moves[step->move].name);
      return false;
    }
    now = &step->after;
  }
  if (!counter_unsafe(s, p, r->params, now))
    text_addf(why, "the run ends in a state that is not unsafe");
  return why->n == 0;
}
