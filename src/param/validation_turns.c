/* Matches a step with a round in turns. The processes that change in the step say how many change in each move; the
   moves are executed one after the other. */
#include "param/validation_internal.h"

#include "base/memory.h"

#include <string.h>

struct turn_match {
  struct validator *c;
  const int64_t *to;
  bool bad;
  int64_t *end;
  size_t nchanges;
  uint32_t *before, *after; /* by change: the local states of a part of a process */
  bool *crashed;            /* by change: the process crashes in this round */
};

static bool follow(struct turn_match *t, const int64_t *state);

static int64_t turn_of(const struct validator *c, const int64_t *state) { return state[c->s->ncounters + c->dv->turn]; }

static bool has_local(const struct turn_move *turn, uint32_t local) {
  for (uint32_t i = 0; i < turn->nlocals; i++)
    if (turn->locals[i] == local)
      return true;
  return false;
}

static int64_t changed(const struct turn_match *t, const struct turn_move *turn) {
  int64_t n = 0;
  for (size_t i = 0; i < t->nchanges; i++)
    n += !t->crashed[i] && t->after[i] == turn->to && has_local(turn, t->before[i]);
  return n;
}

static int64_t crashes(const struct turn_match *t, uint32_t local) {
  int64_t n = 0;
  for (size_t i = 0; i < t->nchanges; i++)
    n += t->crashed[i] && t->before[i] == local;
  return n;
}

/* A round that ends here must have led to the state that is wanted. */
static bool ends(const struct turn_match *t, const int64_t *state) {
  const struct validator *c = t->c;
  if (!validation_same_up_to_violation(c, state, t->to) ||
      (t->bad && c->violated != UINT32_MAX && !validation_violated(c, state)))
    return false;
  memcpy(t->end, state, validation_state_width(c) * sizeof *state);
  return true;
}

static bool go_on(struct turn_match *t, const int64_t *state) {
  return turn_of(t->c, state) ? follow(t, state) : ends(t, state);
}

/* ---- the beginning ---- */

/* Tries all numbers of messages that all may hear. */
static bool begin_from(struct turn_match *t, uint32_t move, const int64_t *state, int64_t *amounts, uint32_t i) {
  struct validator *c = t->c;
  const struct turn_move *turn = &c->dv->turns.at[move];
  if (validator_stopped(c))
    return false;
  if (i < turn->nlocals && turn->locals[i] != UINT32_MAX) {
    amounts[i] = crashes(t, turn->locals[i]);
    return begin_from(t, move, state, amounts, i + 1);
  }
  if (i < turn->nlocals) {
    struct counter_values values = {.params = c->params, .counters = state, .controls = state + c->s->ncounters};
    int64_t most = 0;
    if (turn->limit[i] && !term_value(turn->limit[i], &values, &most))
      return false;
    for (amounts[i] = 0; amounts[i] <= most; amounts[i]++)
      if (begin_from(t, move, state, amounts, i + 1))
        return true;
    return false;
  }
  int64_t *next = memory_alloc((validation_state_width(c) + 1) * sizeof *next);
  bool ok = validation_moves(c, move, state, amounts, next) && go_on(t, next);
  memory_free(next);
  return ok;
}

/* ---- changes ---- */

/* The move has further amounts: numbers of messages heard. */
static bool change_by_solver(struct turn_match *t, uint32_t move, const int64_t *state, int64_t amount, int64_t *next) {
  struct validator *c = t->c;
  const struct turn_move *turn = &c->dv->turns.at[move];
  uint32_t at = intern_find(c->locations, state + c->s->ncounters, c->s->ncontrols);
  uint32_t to = c->dv->counter.at[turn->to];
  int64_t *wanted = memory_alloc((validation_state_width(c) + 1) * sizeof *wanted);
  bool ok = false;
  for (size_t i = at == INTERN_NONE ? 0 : c->first.at[at]; at != INTERN_NONE && i < c->first.at[at + 1] && !ok; i++) {
    const struct counter_transition *x = &c->graph->transitions.at[c->ordered.at[i]];
    if (x->move != move || validator_stopped(c))
      continue;
    memcpy(wanted, state, validation_state_width(c) * sizeof *wanted);
    memcpy(wanted + c->s->ncounters, c->graph->locations.at[x->to].controls.at[0], c->s->ncontrols * sizeof *wanted);
    /* a change moves processes from the pool that it reads; the frozen numbers end with the round */
    struct counter_values values = {.params = c->params, .counters = state, .controls = state + c->s->ncounters};
    int64_t *amounts = memory_alloc((c->s->moves[move].namounts + (size_t)1) * sizeof *amounts);
    amounts[0] = amount;
    values.amounts = amounts;
    bool known = true;
    for (uint32_t k = 0; k < c->s->ncounters && known; k++)
      known = !c->s->moves[move].counters[k] || term_value(c->s->moves[move].counters[k], &values, &wanted[k]);
    memory_free(amounts);
    if (!known || (!turn->chosen && to != NO_COUNTER && wanted[to] != state[to] + amount))
      break;
    ok = validation_leads(c, x, state, wanted, next);
  }
  memory_free(wanted);
  return ok;
}

static bool change(struct turn_match *t, uint32_t move, const int64_t *state) {
  struct validator *c = t->c;
  const struct turn_move *turn = &c->dv->turns.at[move];
  int64_t amount = changed(t, turn), *next = memory_alloc((validation_state_width(c) + 1) * sizeof *next);
  bool by_solver = c->s->moves[move].namounts > (turn->chosen ? 1U : 0U);
  bool ok =
      by_solver ? change_by_solver(t, move, state, amount, next) : validation_moves(c, move, state, &amount, next);
  ok = ok && go_on(t, next);
  memory_free(next);
  return ok;
}

static bool follow(struct turn_match *t, const int64_t *state) {
  struct validator *c = t->c;
  enum turn_kind kind = turn_of(c, state) ? TURN_CHANGE : TURN_BEGIN;
  for (uint32_t m = 0; m < c->s->nmoves && !validator_stopped(c); m++) {
    const struct turn_move *turn = &c->dv->turns.at[m];
    if (turn->kind != kind)
      continue;
    if (kind == TURN_CHANGE) {
      if (change(t, m, state))
        return true;
      continue;
    }
    int64_t *amounts = memory_alloc((turn->nlocals + (size_t)1) * sizeof *amounts);
    bool ok = begin_from(t, m, state, amounts, 0);
    memory_free(amounts);
    if (ok)
      return true;
  }
  return false;
}

bool validation_turns_lead(struct validator *c, const int64_t *from, const struct config *before,
                           const struct config *after, const int64_t *to, bool bad, int64_t *end) {
  size_t most = (size_t)before->nprocesses * c->dv->nparts + 1;
  struct turn_match t = {.c = c,
                         .to = to,
                         .bad = bad,
                         .end = end,
                         .before = memory_alloc(most * sizeof *t.before),
                         .after = memory_alloc(most * sizeof *t.after),
                         .crashed = memory_alloc(most * sizeof *t.crashed)};
  for (uint32_t p = 0; p < before->nprocesses; p++)
    for (uint32_t part = 0; part < c->dv->nparts; part++) {
      if (!part_exists(c->dv, part))
        continue;
      t.before[t.nchanges] = validation_local(c, before->point, part, before->local[p]);
      t.after[t.nchanges] = validation_local(c, after->point, part, after->local[p]);
      t.crashed[t.nchanges++] = (after->local[p][LOCAL_STATUS] & ~before->local[p][LOCAL_STATUS] & STATUS_CRASHED) != 0;
    }
  bool ok = follow(&t, from);
  memory_free(t.before);
  memory_free(t.after);
  memory_free(t.crashed);
  return ok;
}
