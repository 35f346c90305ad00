/* Outcomes of actions, computed once by the interpreter.
   message_id  an interned message, including its kind
   projection  what the actions of a process depend on besides messages: its identity (only if the program text uses
               it), its local state, and the globals that its role uses
   outcome     a result of an action; (projection, messages) -> outcomes */
#ifndef RONDO_STEPS_ACTION_OUTCOMES_H
#define RONDO_STEPS_ACTION_OUTCOMES_H

#include "interp/event_step.h"
#include "steps/channel_contents.h"
#include "system/memo.h"

struct step_system;

struct step_outcome {
  uint32_t action;
  content next;          /* the local state after it, with dead variables cleared */
  uint32_t sends;        /* the messages sent, in steps->sends: to, kind, message for each */
  uint32_t writes;       /* the globals written, in steps->writes: global, content for each */
  uint32_t error;        /* 1 + index in steps->errors, then the other fields are undefined; 0: none */
  uint32_t free_choices; /* almost-sure properties: the adversary's choices in it, in steps->free_choice_lists */
  bool used_coin;        /* almost-sure properties: it depends on a coin */
};

struct quorum_message { /* a message that a quorum takes or reads */
  uint32_t from;
  message_id message_id;
  uint32_t place;
  uint32_t forged;
};

struct quorum_outcome {
  struct step_outcome outcome;
  const struct quorum_message *chosen; /* only if it matters which messages were chosen */
  uint32_t nchosen;
};

struct step_outcomes {
  struct step_outcome *at;
  uint32_t n;
};
struct quorum_outcomes {
  struct quorum_outcome *at;
  uint32_t n;
};

struct local_steps {
  struct arena arena;
  struct intern *projections; /* [process or role, local, globals] */
  struct intern *global_sets; /* contents of the globals that a role uses */
  struct intern *sends, *writes, *quorum_keys, *message_lists;
  struct intern *free_choice_lists;
  value forged_index; /* a further choice of the adversary: which message was forged */
  struct memo none, one, forged, quorum;
  VEC(struct step_outcomes) lists;
  VEC(struct quorum_outcomes) quorum_lists;
  VEC(struct model_error) errors;
  struct outbox outbox;
  value *local, *globals; /* scratch */
  VEC(value) scratch;     /* a key under construction, before it is interned */
  bool *uses_identity;    /* by role: the text of some action uses the identity of the process */
  bool **used;            /* [role][global]: read or written by some action */
  bool *uses;             /* by role: uses some global */
  bool uses_any;
};

/* The part of the state that a process sees. */
struct visible_state {
  uint32_t process, role;
  content local;
  uint32_t globals;     /* contents of the globals of its role, in steps->global_sets */
  uint32_t byzantine;   /* the set of Byzantine processes, in system->vectors */
  const content *inbox; /* by inbound channel */
};

void local_steps_init(struct step_system *);
void local_steps_release(struct step_system *);
size_t local_steps_bytes(const struct step_system *);
/* Stores the variables and globals in steps->local and steps->globals, in the interpreter's format. */
void local_steps_load(struct step_system *, const struct visible_state *);
struct step_outcomes local_steps_spontaneous(struct step_system *, const struct visible_state *);
struct step_outcomes local_steps_on_message(struct step_system *, const struct visible_state *, uint32_t from,
                                            message_id);
struct step_outcomes local_steps_on_forged(struct step_system *, const struct visible_state *, uint32_t from);
struct quorum_outcomes local_steps_on_quorum(struct step_system *, const struct visible_state *, uint32_t action);
struct step_outcomes local_steps_of_recovery(struct step_system *, const struct visible_state *);

#endif
