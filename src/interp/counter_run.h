/* The interp of counter systems, by plain 64-bit integers: what a term is, what a move does, what
   a run is. Nothing here knows solvers; a run that an engine found counts only if it is confirmed
   here. */
#ifndef RONDO_INTERP_COUNTER_RUN_H
#define RONDO_INTERP_COUNTER_RUN_H

#include "base/vec.h"
#include "model/counter_system.h"

struct counter_values {  /* borrowed; what a term reads */
  const int64_t *params; /* all of them, also those that have a definition */
  const int64_t *counters, *controls, *amounts;
};

/* False: beyond 64 bits. Truth is 0 or 1. */
bool term_value(const struct term *, const struct counter_values *, int64_t *out);

struct counter_state {
  int64_t *counters, *controls;
};

struct counter_step {
  uint32_t move;
  int64_t *amounts;           /* of the move */
  struct counter_state after; /* filled in by a replay */
};

struct counter_run {
  struct arena arena; /* of everything here */
  int64_t *params;    /* the free ones are given, a replay fills in the others */
  struct counter_state start;
  VEC(struct counter_step) steps; /* may be empty: the start is unsafe */
};

void counter_run_init(struct counter_run *, const struct counter_system *);
void counter_run_release(struct counter_run *);
/* Room for a further step; its amounts are zero. */
struct counter_step *counter_run_add(struct counter_run *, const struct counter_system *, uint32_t move);

/* Each: false also if some number is beyond 64 bits. */
/* Also fills in definitions. open: whatever `resilience` says. */
bool counter_params_hold(const struct counter_system *, bool open, int64_t *params);
bool counter_starts(const struct counter_system *, const struct counter_property *, const int64_t *params,
                    const struct counter_state *);
bool counter_moves(const struct counter_system *, uint32_t move, const int64_t *params, const struct counter_state *,
                   const int64_t *amounts, struct counter_state *next);
bool counter_unsafe(const struct counter_system *, const struct counter_property *, const int64_t *params,
                    const struct counter_state *);

/* From the start through every move to an unsafe state. False: *why. */
bool counter_run_replay(struct counter_run *, const struct counter_system *, const struct counter_property *, bool open,
                        struct text *why);

#endif
