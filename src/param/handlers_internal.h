/* Private to src/param/handlers_*.c. */
#ifndef RONDO_PARAM_HANDLERS_INTERNAL_H
#define RONDO_PARAM_HANDLERS_INTERNAL_H

#include "param/derive_internal.h"
#include "param/handlers.h"

enum {
  LOCATIONS_MAX = 400,
  CONTENTS_MAX = 24, /* different messages */
  GROUP_MAX = 5,     /* messages among which a quorum is chosen */
  GROUP_SETS = (1 << GROUP_MAX) - 1,
  RULES_MAX = 8000,
  KINDS_MAX = 32
};

/* Sets of messages, as bits of their indices. */
typedef uint32_t content_set;

struct message_content {
  uint32_t kind;
  value message;
};

struct handler_location {
  uint32_t local;     /* index of `locals` */
  content_set sent;   /* what it has sent to all */
  content_set partly; /* what it was sending when it crashed: who gets it is open */
  uint32_t taken;     /* kinds of which it has taken a message, as bits */
  bool doomed;        /* it crashes in this run; live properties only */
  bool begins;
};

/* A condition on parameters and on how many processes have sent something: a cube whose columns are the parameters, the
   number of Byzantine processes, and for each set of messages how many others have sent one of them. */
struct sent_guard {
  struct cube cube;
  uint32_t nsets;
  content_set sets[GROUP_SETS];
};

/* What an action does in a local state, under a condition. */
typedef VEC(struct sent_guard) sent_guard_vec;
struct action_outcome {
  uint32_t after; /* index of `locals` */
  content_set sent;
  uint32_t message; /* TRIGGER_ONE: the message that is taken; else UINT32_MAX */
  sent_guard_vec guards;
};
struct action_outcomes {
  uint32_t local, action;
  VEC(struct action_outcome) at;
  bool always;            /* a quorum that is large enough enables the action, whatever is in it: `enabled` */
  sent_guard_vec enabled; /* says when there is one */
  bool larger;            /* guards of `enabled`, or without it those of `at`, are weaker than what they stand for */
};

struct sender_count { /* terms are shared */
  content_set set;
  bool certain;
  struct term *term;
};

struct handler_rule {
  uint32_t from, to;
  uint32_t action;  /* NO_ACTION: it crashes between two actions */
  uint32_t message; /* as above */
  bool crashes;
  const struct action_outcome *outcome; /* NULL: no condition */
};

struct handler_system {
  struct arena arena;
  VEC(value *) locals;
  VEC(struct message_content) contents;
  VEC(struct handler_location) locations;
  VEC(struct handler_rule) rules;
  VEC(uint32_t) class_of; /* by location: the counter, of all locations of its class */
  VEC(uint32_t) members;  /* by class: one of its locations */
  VEC(struct action_outcomes *) outcomes;
  VEC(struct handler_move) moves;
  VEC(struct sender_count) senders;
  uint32_t byzantine; /* the location of Byzantine processes; UINT32_MAX: there is none */
  bool keeps_initial; /* local states include the first values of inputs */
  bool sends;         /* there are new messages: start again with them */
  struct handler_formula *live;
  struct term *last; /* live: a fair run can stay here */
};

struct handler_builder {
  struct derivation_builder b; /* parameters, terms, refusals, properties */
  struct handler_system *h;
  const struct clause *crashes, *byzantine, *fair; /* of the environment; or NULL */
  bool live;
  uint32_t length; /* of a local state */
};

/* handlers_licence.c */
bool handlers_licensed(struct handler_builder *);

/* Does any process ever wait for such messages? Others are not counted. */
bool kind_is_read(const struct role *, uint32_t kind);

/* handlers_outcomes.c: all that an action can do in a local state. NULL: refused. */
const struct action_outcomes *outcomes_of(struct handler_builder *, uint32_t local, uint32_t action);
void outcomes_release(struct action_outcomes *);
uint32_t content_find(const struct handler_system *, uint32_t kind, value message);

/* handlers_locations.c: all reachable locations, and the rules between them. */
bool handlers_locations(struct handler_builder *);
uint32_t handler_local_put(struct handler_builder *, const value *);

/* handlers_quotient.c: which locations are counted together. */
bool handlers_quotient(struct handler_builder *);

/* handlers_system.c: counters, start, moves, property. */
bool handlers_system(struct handler_builder *);
/* The guard as a term. certain: counts only messages that correct processes have sent to all. */
struct term *guard_term(struct handler_builder *, const struct sent_guard *, bool certain);

/* handlers_live.c: a formula about states as a condition on counters. NULL: refused. */
struct term *handler_state_term(struct handler_builder *, const struct node *);
bool handlers_fairness(struct handler_builder *);

#endif
