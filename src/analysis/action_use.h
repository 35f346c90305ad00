/* Read and write sets of the actions of a model of steps, and what they take and send, from the text alone. They are
   the key under which a local step is cached, and the basis of partial-order reduction (stubborn sets: Valmari 1990).
   Calls of defs are followed. */
#ifndef RONDO_ANALYSIS_ACTION_USE_H
#define RONDO_ANALYSIS_ACTION_USE_H

#include "model/model.h"

enum addressee {
  TO_ROLE,    /* every process of `role` (ROLE_ANY: of all), or all of them but me */
  TO_SENDER,  /* whoever sent the message that is taken */
  TO_NEXT,    /* on the ring */
  TO_SOMEBODY /* anybody of `role` (ROLE_ANY: of all) */
};

struct send_use {
  uint32_t kind;
  enum addressee to;
  uint32_t role;
  struct span at;
};

/* Given the same values of what it reads, the same messages (and senders, and me, if these are read) and the same
   choices, an action assigns the same values to the same variables and sends the same. */
struct action_use {
  /* by variable of the role, program point and `once` flag included */
  bool *needs;  /* decides whether it can be taken: match, size, guard, point, once */
  bool *reads;  /* all that it reads before it assigns it, or assigns in part; what it needs included */
  bool *writes; /* assigns on some path */
  /* by global */
  bool *needs_shared, *reads_shared, *writes_shared;
  bool me;      /* it reads its own identity: me, number(me), next, neighbours, others */
  bool senders; /* it reads the senders of messages: from, sender(m) */
  bool chooses;
  bool halts;   /* on some path */
  bool visible; /* it may change something that a property reads; or it changes anything, and a step property is not
                   stutter invariant */
  struct send_use *sends;
  uint32_t nsends;
};

struct action_uses {
  struct action_use **of; /* [role][action] */
  bool **property_reads;  /* [role][var]: a property reads it (`initial` aside) */
  bool *property_shared;  /* by global */
  bool crash_visible;     /* to crash is a step that a property may see: `correct`, `faulty` */
  bool *recovery_visible; /* by role: likewise to recover */
};
struct action_uses *action_uses_of(const struct model *, const struct query *, struct arena *);
/* Does a step property surely hold of every step that changes nothing that it reads (stuttering: Lamport 1983)? */
bool property_is_stutter_invariant(const struct property *);
/* May a step that changes nothing that a step property reads violate the property, or be an error? */
bool property_observes_stuttering(const struct model *, const struct query *, const struct property *);

/* Transition fusion: does the action take a message, read no variable but the program point, and only send? */
bool action_can_fuse(const struct model *, const struct action_uses *, uint32_t role, uint32_t action);

/* Adds the variables that a property or atom may read of a process of that role at that program point. */
void property_reads_at(const struct model *, const struct query *, uint32_t role, uint32_t label, bool *reads);

/* Live variables. live[role][label][var]: may the variable's value at that program point (roles without one: label 0)
   be read by an action that is taken there or later, or by a property? idle[role][var]: the same for processes that
   crashed or halted: by a property, or after a recovery. The program point is live, except of processes that never act
   again. */
struct step_live_variables {
  bool ***live;
  bool **idle;
};
struct step_live_variables *step_live_variables_of(const struct model *, const struct query *, struct arena *);

/* The labels of a role's program point; 1 for roles without one. */
uint32_t role_npoints(const struct role *);
/* Is there a `start`? Its label is 0. */
bool role_starts(const struct role *);
/* Can the action be taken at that point, as far as the point is concerned? */
bool action_at_point(const struct role *, const struct action *, uint32_t label);
/* Adds the labels at which a process may be after the action, taken at that point. */
void action_next_points(const struct role *, const struct action *, uint32_t label, bool *labels);

#endif
