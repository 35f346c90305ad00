/* The reference semantics of counter systems, on plain 64-bit integers: values of terms, effects of moves, runs. It
   does not depend on a solver; a run found by an engine counts only after it is replayed here. */
#ifndef RONDO_INTERP_COUNTER_RUN_H
#define RONDO_INTERP_COUNTER_RUN_H

#include "base/vec.h"
#include "model/counter_system.h"

struct counter_values {  /* what a term reads; borrowed */
  const int64_t *params; /* all of them, including those with a definition */
  const int64_t *counters, *controls, *amounts;
};

/* False: overflow. Truth values are 0 and 1. */
bool term_value(const struct term *, const struct counter_values *, int64_t *out);

struct counter_state {
  int64_t *counters, *controls;
};

struct counter_step {
  uint32_t move;
  int64_t *amounts;           /* of the move */
  struct counter_state after; /* set by a replay */
};

struct counter_run {
  struct arena arena; /* owns everything here */
  int64_t *params;    /* the free ones are given; a replay sets the others */
  struct counter_state start;
  VEC(struct counter_step) steps; /* may be empty: the initial state is unsafe */
};

void counter_run_init(struct counter_run *, const struct counter_system *);
void counter_run_release(struct counter_run *);
/* Appends a step; its amounts are zero. */
struct counter_step *counter_run_add(struct counter_run *, const struct counter_system *, uint32_t move);

/* These functions also return false on overflow. */
/* Also computes definitions. open: ignore the `resilience` condition. */
bool counter_params_hold(const struct counter_system *, bool open, int64_t *params);
bool counter_starts(const struct counter_system *, const struct counter_property *, const int64_t *params,
                    const struct counter_state *);
bool counter_moves(const struct counter_system *, uint32_t move, const int64_t *params, const struct counter_state *,
                   const int64_t *amounts, struct counter_state *next);
bool counter_unsafe(const struct counter_system *, const struct counter_property *, const int64_t *params,
                    const struct counter_state *);

/* Replays the run from its start through every move to an unsafe state. On false, *why gives the reason. */
bool counter_run_replay(struct counter_run *, const struct counter_system *, const struct counter_property *, bool open,
                        struct text *why);

#endif
