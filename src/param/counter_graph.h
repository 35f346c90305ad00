/* A counter system for one property, unfolded: a location for each value of the control that can
   come up, and transitions whose guards are cubes. What engines work on.

   Variables of rows and cubes: the free parameters, then the counters, then (in transitions) the
   amounts of the move. Guards of a transition are its own; that counters are natural and parameters
   satisfy their conditions is in `facts`, which hold wherever a run comes. */
#ifndef RONDO_PARAM_COUNTER_GRAPH_H
#define RONDO_PARAM_COUNTER_GRAPH_H

#include "model/counter_system.h"
#include "symbolic/linear_cube.h"

#include <signal.h>

typedef VEC(struct cube) cube_vec;
void cubes_release(cube_vec *);

typedef VEC(const int64_t *) control_vec;

struct location {
  control_vec controls; /* the values of the control that it stands for */
  cube_vec start;       /* any of these, */
  control_vec started;  /* each with its own values of the control */
  cube_vec unsafe;
};

struct counter_transition {
  uint32_t move, from, to;
  uint32_t namounts;
  struct cube guard;
  int64_t **update; /* by counter: a row of the guard's width */
  bool repeats;     /* the move of another transition, taken once or more often: the last amount says
                       how often */
};

struct counter_graph {
  const struct counter_system *system;
  const struct counter_property *property;
  struct arena arena;
  uint32_t nparams, ncounters; /* free parameters */
  uint32_t nvars;              /* both */
  uint32_t *param;             /* by column: the system's parameter */
  VEC(struct location) locations;
  VEC(struct counter_transition) transitions;
  cube_vec conditions;               /* on the parameters: any of these */
  const volatile sig_atomic_t *stop; /* while it is made; or NULL */
  bool open;                         /* the conditions of `resilience` are left out */
  cube_vec excluded;                 /* and parameters within any of these */
  struct cube naturals;              /* counters are not negative */
  struct cube conserved;             /* equations that hold in every state that can be reached: conserved sums */
};

/* NULL: *why. leave_open: without the conditions of `resilience`. stop: it ends soon after *stop is
   not 0; NULL: never. */
struct counter_graph *counter_graph_unfold(const struct counter_system *, const struct counter_property *,
                                           bool leave_open, const volatile sig_atomic_t *stop, struct text *why);
void counter_graph_free(struct counter_graph *);
uint32_t counter_graph_most_amounts(const struct counter_graph *); /* of a transition */
void location_release(struct location *);

/* Restricts the parameters further: to none of these regions. */
void counter_graph_exclude(struct counter_graph *, const struct cube *region);

/* Restricts them to a region. */
void counter_graph_restrict(struct counter_graph *, const struct cube *region);

/* Makes one location of those from which the same can happen: values of the control that are not
   read any more do not keep locations apart. */
void counter_graph_minimise(struct counter_graph *);

/* Adds, for moves from a location to itself that change counters by fixed amounts, their
   repetitions. Exact: a guard is convex, so it holds all along the way if it holds at both ends. */
void counter_graph_accelerate(struct counter_graph *);

/* Adding `by` to the counters once or more often, each time under the guard (over parameters and
 * counters): guard, update, amounts. */
void transition_accelerate(const struct counter_graph *, const struct cube *guard, const int64_t *by,
                           struct counter_transition *, struct arena *);

/* Finds the conserved sums: conserved. */
void counter_graph_conserve(struct counter_graph *);

/* Unfolded, merged, with conserved and repetitions: what engines get. NULL: *why. */
struct counter_graph *counter_graph_new(const struct counter_system *, const struct counter_property *, bool leave_open,
                                        const volatile sig_atomic_t *stop, struct text *why);

#endif
