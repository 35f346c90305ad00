/* From a model of rounds to its counter system: how many processes are in which local state.

   It is for algorithms with one role of identical processes that have finitely many local states,
   whose updates look at what they received through counts that they compare with linear terms over
   parameters. What a process can become, and what it must have heard for it, is found by running
   the interpreter and following its decisions (interp/eval.h): the interp stays where it is. A round
   is one move: so many of each local state become this or that, if somebody can have heard what it
   takes.

   What does not fit is refused, with the place that forbids it. */
#ifndef RONDO_PARAM_DERIVE_H
#define RONDO_PARAM_DERIVE_H

#include "base/vec.h"
#include "interp/config.h"
#include "model/counter_system.h"

/* WHOLE: as exact as counts can be. COUNTED: variables that nothing reads together are counted apart,
   as if each process were several; those that decide neither what is sent nor what becomes of
   others change one after the other before the round ends. Far fewer local states, and a little too
   much can happen. FLAGS: likewise, and of those of which only matters whether there is one, only
   that is kept: whether there ever was one. What too much can do wrong does not count; what even it
   cannot do wrong, nobody can. */
enum derive_mode { DERIVE_FLAGS, DERIVE_COUNTED, DERIVE_WHOLE };

#define NO_COUNTER UINT32_MAX

struct derivation {
  struct counter_system *system; /* borrowed; filled in */
  const char *refused;           /* NULL: derived. In the system's arena */
  bool stopped;                  /* refused because it had to stop */
  struct span at;
  struct arena arena;
  /* what is counted: local states of processes, or of parts of them */
  VEC(value *) locals;
  VEC(uint32_t) parts;     /* by local state: of which part; 0 if there is only one */
  VEC(uint32_t) counter;   /* by local state: its counter, NO_COUNTER: */
  VEC(uint32_t) flag;      /* the control that says whether there is one */
  const uint32_t *part_of; /* by variable, then one for all first values; NULL: only one part */
  const bool *part_used;   /* by part; NULL likewise */
  uint32_t nparts;
  VEC(bool) is_part_move;       /* by move: part of a process changes by itself, before the round's move */
  uint32_t violated;            /* the control that a step property is violated; UINT32_MAX: it is none */
  uint32_t where;               /* the control that says which round comes next, UINT32_MAX: always the first */
  uint32_t skip_after, skipped; /* rounds of the instance that have no number of their own */
  uint32_t passes;              /* the counter of passes done, NO_COUNTER: none */
  uint32_t length;
  struct live_variables *live;
  const struct model *model;
  bool keeps_initial; /* first values of inputs are part of it */
  bool loops;         /* some `repeat` is not fixed: what is read again is not known round by round */
};

/* The model is an instance: its parameters satisfy the conditions, and every clause of the
   environment allows some fault; of a `repeat` that is not fixed it has at least two passes. The
   property of the query (only one) becomes that of the system. stop: it ends soon after
   *stop is not 0; NULL: never. False: refused. */
bool derive(struct derivation *, const struct round_shape *, struct interpreter *, const struct query *,
            enum derive_mode, const volatile sig_atomic_t *stop);
void derivation_release(struct derivation *);

/* The local state (of a part of it) as it is counted at the start of a round; UINT32_MAX: it is
 * none of these. */
uint32_t derived_local(const struct derivation *, uint32_t point, uint32_t part, const value *local);
/* The control's value for a round of the instance; of a `repeat` that is not fixed, one of the first
 * or the last pass. */
uint32_t derived_round(const struct derivation *, uint32_t point);
bool part_exists(const struct derivation *, uint32_t part);
/* Is what stands at i (1 and beyond) of a local state part of what is counted there? If not, it is
   as if it had its default. */
bool derived_keeps(const struct derivation *, uint32_t point, uint32_t part, value status, uint32_t i);
value derived_default(const struct derivation *, uint32_t i);

#endif
