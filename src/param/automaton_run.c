#include "param/automaton_run.h"

#include "base/memory.h"

#include <string.h>

static void add_state(struct automaton_run *r, const struct counter_state *state) {
  size_t size = r->ncounters * sizeof(int64_t);
  if (!r->nstates || memcmp(r->states[r->nstates - 1], state->counters, size) != 0)
    r->states[r->nstates++] = arena_copy(&r->arena, state->counters, size);
}

void automaton_run_init(struct automaton_run *r, const struct threshold_automaton *a, const struct counter_run *from) {
  *r = (struct automaton_run){.ncounters = a->system->ncounters};
  arena_init(&r->arena);
  r->params = arena_copy(&r->arena, from->params, a->system->nparams * sizeof *from->params);
  r->states = arena_array(&r->arena, from->steps.n + 1, sizeof *r->states);
  add_state(r, &from->start);
  for (size_t i = 0; i < from->steps.n; i++)
    add_state(r, &from->steps.at[i].after);
}

void automaton_run_release(struct automaton_run *r) { arena_release(&r->arena); }

/* 1, 0, or -1: overflow. */
static int truth_of(const struct automaton_run *r, const struct term *t, const int64_t *params, uint32_t state) {
  struct counter_values v = {params, r->states[state], NULL, NULL};
  int64_t truth;
  return term_value(t, &v, &truth) ? truth != 0 : -1;
}

static int negated(int truth) { return truth < 0 ? truth : !truth; }

/* The value of the formula from this state on. */
static int formula_truth(const struct automaton_run *r, const struct ta_formula *f, const int64_t *params,
                         uint32_t state) {
  switch (f->op) {
  case TA_STATE:
    return truth_of(r, f->term, params, state);
  case TA_NOT:
    return negated(formula_truth(r, f->kid[0], params, state));
  case TA_AND:
  case TA_OR:
  case TA_IMPLIES: {
    int a = formula_truth(r, f->kid[0], params, state), b = formula_truth(r, f->kid[1], params, state);
    if (a < 0 || b < 0)
      return -1;
    return f->op == TA_AND ? a && b : f->op == TA_OR ? a || b : !a || b;
  }
  case TA_ALWAYS:
  case TA_EVENTUALLY: {
    bool all = true, some = false;
    for (uint32_t i = state; i < r->nstates; i++) {
      int truth = formula_truth(r, f->kid[0], params, i);
      if (truth < 0)
        return -1;
      all &= truth == 1;
      some |= truth == 1;
    }
    return f->op == TA_ALWAYS ? all : some;
  }
  case TA_FINALLY:
    break; /* only in normal forms */
  }
  return -1;
}

static bool is_step(const struct automaton_run *r, const struct counter_system *s, const int64_t *params, uint32_t to,
                    int64_t *next) {
  struct counter_state before = {r->states[to - 1], NULL}, after = {next, NULL};
  for (uint32_t m = 0; m < s->nmoves; m++)
    if (counter_moves(s, m, params, &before, NULL, &after) && !memcmp(next, r->states[to], r->ncounters * sizeof *next))
      return true;
  return false;
}

bool automaton_run_violates(const struct automaton_run *r, const struct threshold_automaton *a,
                            uint32_t specification) {
  const struct counter_system *s = a->system;
  int64_t *params = memory_alloc((s->nparams + (size_t)1) * sizeof *params);
  int64_t *next = memory_alloc((r->ncounters + (size_t)1) * sizeof *next);
  memcpy(params, r->params, s->nparams * sizeof *params);
  bool ok = s->ncounters == r->ncounters && !s->ncontrols && counter_params_hold(s, false, params) &&
            truth_of(r, s->start, params, 0) == 1;
  for (uint32_t i = 1; i < r->nstates && ok; i++)
    ok = is_step(r, s, params, i, next);
  ok = ok && formula_truth(r, a->specifications[specification].formula, params, 0) == 0;
  memory_free(params);
  memory_free(next);
  return ok;
}
