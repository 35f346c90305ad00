/* Matches a step with moves of the counter system: moves of single parts, then the joint move of the round. The solver
   finds amounts; interp/counter_run.h confirms that they make the move. */
#include "param/validation_internal.h"

#include "base/memory.h"

#include <string.h>

bool validation_moves(const struct validator *c, uint32_t move, const int64_t *from, const int64_t *amounts,
                      int64_t *to) {
  uint32_t n = c->s->ncounters;
  int64_t *before = memory_alloc((validation_state_width(c) + 1) * sizeof *before);
  memcpy(before, from, validation_state_width(c) * sizeof *before);
  memcpy(to, from, validation_state_width(c) * sizeof *to);
  struct counter_state a = {before, before + n}, b = {to, to + n};
  bool ok = counter_moves(c->s, move, c->params, &a, amounts, &b);
  memory_free(before);
  return ok;
}

bool validation_same_up_to_violation(const struct validator *c, const int64_t *a, const int64_t *b) {
  for (size_t i = 0; i < validation_state_width(c); i++)
    if (a[i] != b[i] && i != c->s->ncounters + (size_t)c->violated)
      return false;
  return true;
}

bool validation_violated(const struct validator *c, const int64_t *state) {
  return c->violated != UINT32_MAX && state[c->s->ncounters + c->violated];
}

/* ---- moves of single parts ---- */

/* Changes the local state of a part of one process if there is a move for it. If bad, prefers a move that violates the
   property. */
static void apply_part_move(const struct validator *c, int64_t *state, uint32_t from, uint32_t to, bool bad) {
  const struct derivation *dv = c->dv;
  size_t width = validation_state_width(c);
  int64_t *next = memory_alloc((width + 1) * sizeof *next);
  int64_t *wanted = memory_alloc((width + 1) * sizeof *wanted), one = 1;
  int64_t *found = memory_alloc((width + 1) * sizeof *found);
  bool any = false;
  memcpy(wanted, state, width * sizeof *wanted);
  if (dv->counter.at[from] == NO_COUNTER) {
    wanted[c->s->ncounters + dv->flag.at[to]] = 1;
  } else {
    wanted[dv->counter.at[from]]--;
    wanted[dv->counter.at[to]]++;
  }
  for (uint32_t m = 0; m < c->s->nmoves; m++)
    if (dv->is_part_move.at[m] && validation_moves(c, m, state, &one, next) &&
        validation_same_up_to_violation(c, next, wanted) &&
        (!any || (bad && validation_violated(c, next) && !validation_violated(c, found)))) {
      memcpy(found, next, width * sizeof *found);
      any = true;
    }
  if (any)
    memcpy(state, found, width * sizeof *state);
  memory_free(next);
  memory_free(wanted);
  memory_free(found);
}

static bool has_part_moves(const struct validator *c) {
  for (size_t i = 0; i < c->dv->is_part_move.n; i++)
    if (c->dv->is_part_move.at[i])
      return true;
  return false;
}

static void apply_part_moves(struct validator *c, const struct config *before, const struct config *after, bool bad,
                             int64_t *state) {
  const struct derivation *dv = c->dv;
  for (uint32_t p = 0; p < before->nprocesses; p++)
    for (uint32_t part = 0; part < dv->nparts; part++) {
      if (!part_exists(dv, part))
        continue;
      uint32_t l = validation_local(c, before->point, part, before->local[p]);
      uint32_t next = validation_local(c, after->point, part, after->local[p]);
      if (l != next && l != UINT32_MAX && next != UINT32_MAX && dv->parts.at[l] == dv->parts.at[next])
        apply_part_move(c, state, l, next, bad);
    }
}

/* ---- the round ---- */

/* Bound propagation rules out most transitions without the solver: each constraint bounds an amount, given the bounds
   of the others. */
enum { BOUND_MAX = 1 << 20, PASSES_MAX = 4 };

struct amount_bounds {
  uint32_t n;
  int64_t *low, *high; /* by amount */
};

/* The constant of the row with parameters and counters substituted: the constraint is rest + sum of its
   amounts >= 0. */
static __int128 row_rest(const struct validator *c, const int64_t *row, const int64_t *from) {
  const struct counter_graph *g = c->graph;
  __int128 sum = row[0];
  for (uint32_t k = 0; k < g->nvars; k++)
    if (row[k + 1])
      sum += (__int128)row[k + 1] * (k < g->nparams ? c->params[g->param[k]] : from[k - g->nparams]);
  return sum;
}

/* Propagates rest + sum of amounts[i] * x[i] >= 0 (sign -1: with all numbers negated). Returns false if it is
   unsatisfiable. */
static bool tighten(struct amount_bounds *b, __int128 rest, const int64_t *amounts, int sign) {
  __int128 most = sign * rest;
  for (uint32_t i = 0; i < b->n; i++) {
    int64_t x = sign * amounts[i];
    most += x > 0 ? (__int128)x * b->high[i] : (__int128)x * b->low[i];
  }
  if (most < 0)
    return false;
  for (uint32_t i = 0; i < b->n; i++) {
    int64_t x = sign * amounts[i];
    if (x > 0) { /* x * (high - value) <= most */
      __int128 low = b->high[i] - most / x;
      b->low[i] = low > b->low[i] ? (int64_t)low : b->low[i];
    } else if (x < 0) {
      __int128 high = b->low[i] + most / -x;
      b->high[i] = high < b->high[i] ? (int64_t)high : b->high[i];
    }
    if (b->low[i] > b->high[i])
      return false;
  }
  return true;
}

static bool is_possible(const struct validator *c, const struct counter_transition *t, const int64_t *from,
                        const int64_t *to) {
  const struct counter_graph *g = c->graph;
  struct amount_bounds b = {t->namounts, memory_alloc((t->namounts + (size_t)1) * sizeof *b.low),
                            memory_alloc((t->namounts + (size_t)1) * sizeof *b.high)};
  bool ok = true;
  for (uint32_t i = 0; i < b.n; i++) {
    b.low[i] = -BOUND_MAX; /* out of reach with few processes */
    b.high[i] = BOUND_MAX;
  }
  for (int pass = 0; pass < PASSES_MAX && ok; pass++) {
    for (uint32_t i = 0; i < t->guard.n && ok; i++) {
      const int64_t *row = cube_row(&t->guard, i);
      __int128 rest = row_rest(c, row, from);
      ok = tighten(&b, rest, row + 1 + g->nvars, 1) &&
           (!t->guard.equal.at[i] || tighten(&b, rest, row + 1 + g->nvars, -1));
    }
    for (uint32_t i = 0; i < g->ncounters && ok; i++) {
      __int128 rest = row_rest(c, t->update[i], from) - to[i];
      ok = tighten(&b, rest, t->update[i] + 1 + g->nvars, 1) && tighten(&b, rest, t->update[i] + 1 + g->nvars, -1);
    }
  }
  memory_free(b.low);
  memory_free(b.high);
  return ok;
}

/* Does the transition lead to the target for some amounts? */
bool validation_leads(struct validator *c, const struct counter_transition *t, const int64_t *from, const int64_t *to,
                      int64_t *end) {
  const struct counter_graph *g = c->graph;
  struct solver *s = c->solver;
  int64_t *row = memory_alloc(t->guard.width * sizeof *row);
  int64_t *amounts = memory_alloc((t->namounts + (size_t)1) * sizeof *amounts);
  solver_push(s);
  solver_add_cube(s, &t->guard, NULL);
  for (uint32_t i = 0; i < g->nparams; i++)
    solver_add_value(s, i, c->params[g->param[i]]);
  for (uint32_t i = 0; i < g->ncounters; i++) {
    solver_add_value(s, g->nparams + i, from[i]);
    memcpy(row, t->update[i], t->guard.width * sizeof *row);
    row[0] -= to[i];
    solver_add_row(s, row, t->guard.width, true, NULL);
  }
  bool ok = solver_check(s) == ANSWER_YES;
  for (uint32_t i = 0; i < t->namounts && ok; i++)
    ok = solver_value(s, g->nvars + i, &amounts[i]);
  solver_pop(s);
  ok = ok && validation_moves(c, t->move, from, amounts, end) && validation_same_up_to_violation(c, end, to);
  memory_free(row);
  memory_free(amounts);
  return ok;
}

static bool round_leads_by(struct validator *c, size_t transition, const int64_t *from, const int64_t *to, bool bad,
                           int64_t *end) {
  const struct counter_transition *t = &c->graph->transitions.at[transition];
  const int64_t *controls = c->graph->locations.at[t->to].controls.at[0];
  for (uint32_t i = 0; i < c->s->ncontrols; i++)
    if (i != c->violated && controls[i] != to[c->s->ncounters + i])
      return false;
  if (c->violated != UINT32_MAX && bad && !controls[c->violated])
    return false;
  if (c->dv->is_part_move.at[t->move] || !is_possible(c, t, from, to) || !validation_leads(c, t, from, to, end))
    return false;
  c->last = transition;
  return true;
}

bool validation_round_leads(struct validator *c, const int64_t *from, const int64_t *to, bool bad, int64_t *end) {
  uint32_t at = intern_find(c->locations, from + c->s->ncounters, c->s->ncontrols);
  if (at == INTERN_NONE)
    return false;
  bool here = c->last < c->graph->transitions.n && c->graph->transitions.at[c->last].from == at;
  if (here && round_leads_by(c, c->last, from, to, bad, end))
    return true;
  for (size_t i = c->first.at[at]; i < c->first.at[at + 1] && !validator_stopped(c); i++)
    if (round_leads_by(c, c->ordered.at[i], from, to, bad, end))
      return true;
  return false;
}

/* Flags that are set stay set. Returns false if a local state is occupied whose flag is not set. */
static bool keep_flags(const struct validator *c, const int64_t *from, int64_t *to) {
  const struct derivation *dv = c->dv;
  for (uint32_t l = 0; l < dv->locals.n; l++)
    if (dv->counter.at[l] == NO_COUNTER && !derived_leads(dv, l)) {
      size_t at = c->s->ncounters + (size_t)dv->flag.at[l];
      if (to[at] && !from[at])
        return false;
      to[at] = from[at];
    }
  return true;
}

static bool step_leads(struct validator *c, const int64_t *from, const struct config *before,
                       const struct config *after, const int64_t *to, bool bad, int64_t *end) {
  return validation_round_leads(c, from, to, bad, end) ||
         (c->dv->turn != UINT32_MAX && validation_turns_lead(c, from, before, after, to, bad, end));
}

bool validation_match_step(struct validator *c, const int64_t *from, const struct config *before,
                           const struct config *after, const int64_t *to, bool bad, int64_t *end) {
  size_t width = validation_state_width(c);
  int64_t *middle = memory_alloc((width + 1) * sizeof *middle);
  int64_t *wanted = memory_alloc((width + 1) * sizeof *wanted);
  memcpy(wanted, to, width * sizeof *wanted);
  bool ok = keep_flags(c, from, wanted) && step_leads(c, from, before, after, wanted, bad, end);
  if (!ok && has_part_moves(c)) {
    memcpy(middle, from, width * sizeof *middle);
    memcpy(wanted, to, width * sizeof *wanted);
    apply_part_moves(c, before, after, bad, middle);
    if (validation_violated(c, middle)) { /* already unsafe: the rest of the step does not matter */
      memcpy(end, middle, width * sizeof *end);
      ok = true;
    } else {
      ok = keep_flags(c, middle, wanted) && step_leads(c, middle, before, after, wanted, bad, end);
    }
  }
  memory_free(middle);
  memory_free(wanted);
  return ok;
}
