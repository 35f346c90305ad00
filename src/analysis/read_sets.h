/* What a role's sends and update read in one round: the key under which a local step is remembered. */
#ifndef RONDO_ANALYSIS_READ_SETS_H
#define RONDO_ANALYSIS_READ_SETS_H

#include "model/model.h"

/* How an update looks at what it received. */
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
  bool chooses; /* has a free choice: pick, random, a guard that binds */
  /* updates only */
  enum received_use received;
  bool counts; /* multiplicities matter: count, |received|, sum, mostfrequent, majority, foreach, sender-aware use */
  const struct node **named; /* NAMED: the arguments of from */
  uint32_t nnamed;
};

/* Both follow calls of defs. Results live in the arena. */
struct read_set *read_set_of_sends(const struct model *, uint32_t role, uint32_t point, struct arena *);
struct read_set *read_set_of_update(const struct model *, uint32_t role, uint32_t point,
                                    struct arena *); /* with finally */

/* live[role][point][var]: may the variable's value at the start of that round still be read, by a later round or by
   one of the properties (then always)? live[role][npoints] is for POINT_END. A variable that is not live can be
   forgotten. idle[role][var]: the same for processes that crashed or halted: read by a property. Oracles are handled
   like variables that are assigned where they are chosen. */
struct live_variables {
  bool ***live;
  bool **idle;
};
struct live_variables *live_variables_of(const struct model *, const struct query *, struct arena *);

#endif
