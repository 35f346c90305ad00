/* What the actions of a model of steps read, write, take and send, from the text alone: the key under which a local
   step is remembered, and what partial order reduction knows about dependence. Defs are followed. */
#ifndef RONDO_MODEL_ACTIONS_H
#define RONDO_MODEL_ACTIONS_H

#include "model/model.h"

enum addressee {
  TO_ROLE,     /* every process of `role` (ROLE_ANY: of all), or all of them but me */
  TO_SENDER,   /* whoever sent the message that is taken */
  TO_NEXT,     /* on the ring */
  TO_SOMEBODY  /* anybody of `role` (ROLE_ANY: of all) */
};

struct send_use {
  uint32_t kind;
  enum addressee to;
  uint32_t role;
  struct span at;
};

struct action_use {
  /* by variable of the role, program point and `once` flag included */
  bool *needs;  /* decides whether it can be taken: match, size, guard, point, once */
  bool *reads;  /* all that it reads, what it needs included */
  bool *writes;
  /* by global */
  bool *needs_shared, *reads_shared, *writes_shared;
  bool me;      /* the text reads me (also as number(me), next, neighbours) */
  bool senders; /* it matters who sent: from, sender(m), heard */
  bool chooses;
  bool visible; /* a property of the question reads something that it writes, or tells steps apart */
  struct send_use *sends;
  uint32_t nsends;
};

struct actions_use {
  struct action_use **of; /* [role][action] */
  bool **property_reads;  /* [role][var]: a property reads it (`initial` aside) */
  bool *property_shared;  /* by global */
};
struct actions_use *actions_used(const struct model *, const struct question *, struct arena *);

/* live[role][label][var]: may the variable's value still be read by an action that can be taken at that program point or
   later (roles without one: label 0), or by a property? idle[role][var]: by a property. Ghosts count where they are read. */
struct step_liveness {
  bool ***live;
  bool **idle;
};
struct step_liveness *step_liveness_of(const struct model *, const struct question *, struct arena *);

#endif
