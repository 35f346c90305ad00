/* Read and write sets of a role's sends and update in one round: the key under which a local step is cached. And the
   live variables of round models (Aho, Lam, Sethi, Ullman 2006, section 9.2.5; for state spaces: Bozga, Fernandez,
   Ghirvu 1999). */
#ifndef RONDO_ANALYSIS_READ_SETS_H
#define RONDO_ANALYSIS_READ_SETS_H

#include "model/model.h"

/* How an update reads the messages that it received. */
enum received_use {
  RECEIVED_UNREAD,  /* not at all */
  RECEIVED_CONTENT, /* the messages, not who sent them */
  RECEIVED_NAMED,   /* also from(q) for senders q that are known before anything is received */
  RECEIVED_SENDERS  /* who sent which */
};

struct read_set {
  bool *vars;   /* by variable of the role: read before being assigned on some path, or assigned in part, or
                   assigned inside a foreach */
  bool *writes; /* by variable: assigned on some path */
  bool me, phase, globals;
  bool chooses; /* makes a free choice: pick, random, a guard that binds, the order of a foreach */
  /* updates only */
  enum received_use received;
  bool counts; /* multiplicities matter: count, |received|, sum, mostfrequent, majority, foreach, uses of senders */
  const struct node **named; /* NAMED: the arguments of from */
  uint32_t nnamed;
};

/* Both follow calls of defs. Results live in the arena. */
struct read_set *read_set_of_sends(const struct model *, uint32_t role, uint32_t point, struct arena *);
struct read_set *read_set_of_update(const struct model *, uint32_t role, uint32_t point,
                                    struct arena *); /* with finally */

/* live[role][point][var]: may the variable's value at the start of that round be read, in this or a later round, or by
   a property (then it is live everywhere)? live[role][npoints] is for POINT_END. idle[role][var]: the same for
   processes that crashed or halted. Oracles are treated as variables that are assigned where they are chosen. */
struct live_variables {
  bool ***live;
  bool **idle;
};
struct live_variables *live_variables_of(const struct model *, const struct query *, struct arena *);

#endif
