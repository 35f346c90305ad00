/* A counter system for one property, unfolded: one location per reachable value of the control, and transitions whose
   guards are cubes. The engines work on this form.

   Variables of rows and cubes: the free parameters, then the counters, then (in transitions) the amounts of the move.
   Guards contain only the constraints of the transition itself. Facts that hold in every reachable state are separate:
   `naturals`, `conserved`, and the `conditions` on the parameters. */
#ifndef RONDO_PARAM_COUNTER_GRAPH_H
#define RONDO_PARAM_COUNTER_GRAPH_H

#include "model/counter_system.h"
#include "symbolic/linear_cube.h"

#include <signal.h>

typedef VEC(struct cube) cube_vec;
void cubes_release(cube_vec *);

typedef VEC(const int64_t *) control_vec;

struct location {
  control_vec controls; /* the values of the control that the location represents */
  cube_vec start;       /* initial states: the union of these cubes, */
  control_vec started;  /* each with its value of the control */
  cube_vec unsafe;
};

struct counter_transition {
  uint32_t move, from, to;
  uint32_t namounts;
  struct cube guard;
  int64_t **update; /* by counter: a row of the guard's width */
  bool repeats;     /* accelerated: the move of another transition, repeated as often as the last amount says (at least
                       once) */
};

struct counter_graph {
  const struct counter_system *system;
  const struct counter_property *property;
  struct arena arena;
  uint32_t nparams, ncounters; /* free parameters */
  uint32_t nvars;              /* nparams + ncounters */
  uint32_t *param;             /* by column: the system's parameter */
  VEC(struct location) locations;
  VEC(struct counter_transition) transitions;
  cube_vec conditions;               /* on the parameters: the union of these cubes */
  const volatile sig_atomic_t *stop; /* during construction; or NULL */
  bool open;                         /* the conditions of `resilience` are omitted */
  cube_vec excluded;                 /* regions of parameters that are excluded */
  struct cube naturals;              /* all counters are >= 0 */
  struct cube conserved;             /* equations that hold in every reachable state: conserved sums */
};

/* Returns NULL with the reason in *why. leave_open: omit the conditions of `resilience`. Unfolding ends soon after
 *stop becomes nonzero; stop may be NULL. */
struct counter_graph *counter_graph_unfold(const struct counter_system *, const struct counter_property *,
                                           bool leave_open, const volatile sig_atomic_t *stop, struct text *why);
void counter_graph_free(struct counter_graph *);
uint32_t counter_graph_most_amounts(const struct counter_graph *); /* the maximum over all transitions */
void location_release(struct location *);

/* Excludes a region from the parameters. */
void counter_graph_exclude(struct counter_graph *, const struct cube *region);

/* Restricts the parameters to a region. */
void counter_graph_restrict(struct counter_graph *, const struct cube *region);

/* Merges bisimilar locations, such as those that differ only in values of the control that are never read again. */
void counter_graph_minimise(struct counter_graph *);

/* Acceleration: for every self-loop that changes the counters by constants, adds a transition for its repetitions. This
   is exact: a guard is convex, so it holds at all intermediate states if it holds at both ends. */
void counter_graph_accelerate(struct counter_graph *);

/* The transition that adds `by` to the counters one or more times, each time under the guard (over parameters and
   counters). Sets guard, update and amounts. */
void transition_accelerate(const struct counter_graph *, const struct cube *guard, const int64_t *by,
                           struct counter_transition *, struct arena *);

/* Computes `conserved`. */
void counter_graph_conserve(struct counter_graph *);

/* The graph for the engines: unfolded, minimised, with conserved sums and acceleration. Returns NULL with the reason in
 *why. */
struct counter_graph *counter_graph_new(const struct counter_system *, const struct counter_property *, bool leave_open,
                                        const volatile sig_atomic_t *stop, struct text *why);

#endif
