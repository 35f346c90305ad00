/* Concrete global states and the reference semantics of a round or a step. All faster implementations are tested
   against it, and every counterexample is replayed on it. */
#ifndef RONDO_INTERP_CONFIG_H
#define RONDO_INTERP_CONFIG_H

#include "model/model.h"

#include <signal.h>

/* A local state is a vector: the status, the role's variables, then the first values of its inputs (in order of
   declaration), which only `initial` reads. */
enum status {
  STATUS_HALTED = 1,
  STATUS_CRASHED = 2,
  STATUS_OMITS_SEND = 4,
  STATUS_OMITS_RECEIVE = 8,
  STATUS_BYZANTINE = 16,
  STATUS_RECOVERED = 32 /* crashed earlier and has recovered */
};
#define STATUS_FAULTY (STATUS_CRASHED | STATUS_RECOVERED | STATUS_OMITS_SEND | STATUS_OMITS_RECEIVE | STATUS_BYZANTINE)
#define LOCAL_STATUS 0
#define LOCAL_VAR(i) ((i) + 1)

uint32_t role_ninputs(const struct role *);
uint32_t role_local_length(const struct role *);             /* 1 + nvars + inputs */
uint32_t role_initial_at(const struct role *, uint32_t var); /* index of the first value of input var */

/* Steps: a pending message. Under M all are DELIVERED. SEEN (MP only): since the message was delivered, its receiver
   has taken a step that looked at it without taking it, or has recovered from a crash. */
enum packet_place { PACKET_IN_TRANSIT, PACKET_DELIVERED, PACKET_SEEN };
struct packet {
  uint32_t from, to, kind;
  enum packet_place place;
  value message;
};

struct config {
  uint32_t point;                      /* rounds: the next round, or POINT_END */
  uint32_t rounds;                     /* completed so far; steps: always 0 */
  value phase;                         /* number of the current phase of an endless loop, from 1 */
  int64_t lost, corrupted, duplicated; /* charged so far to a budget for the whole run */
  uint32_t nprocesses;
  value *globals;
  value **local; /* by process */
  /* Steps: the pending messages. Sorted by receiver, sender, place, kind and content (packet_compare). FIFO channels:
     by receiver and sender, then in the order of sending. interp->arrivals: by receiver, then in the order of sending.
     Where equal packets have several positions, the oldest is used first. */
  struct packet *packets;
  uint32_t npackets, packets_cap;
};

struct config *config_new(const struct model *);
struct config *config_copy(const struct model *, const struct config *);
void config_assign(const struct model *, struct config *to, const struct config *from);
void config_free(struct config *);
bool config_equal(const struct model *, const struct config *, const struct config *);

/* Everything that was chosen freely in one step. */
struct forgery { /* the receiver got this message from the sender, whatever the sender sent: Byzantine or corrupted */
  uint32_t receiver, sender;
  value message;
};

struct script { /* the free choices of one process, in the order in which the interpreter made them */
  uint32_t n;
  uint32_t *at;
};

/* Steps: the event of one step. */
enum event_kind {
  EVENT_ACTION,  /* process takes an action */
  EVENT_DELIVER, /* M-MP, MP: a message in transit is delivered to process */
  EVENT_LOSE,    /* a pending message to process is lost */
  EVENT_CRASH,   /* process crashes: between two actions, or in the middle of one */
  EVENT_RECOVER
};
struct taken_message {
  uint32_t from;
  enum packet_place place; /* where it was before; meaningless if forged */
  bool forged;             /* from a Byzantine process: it was never pending */
  bool kept;               /* duplicated: it was taken, and a copy of it stays */
  value message;
};
#define NO_ACTION UINT32_MAX
struct event {
  enum event_kind kind;
  uint32_t process;
  uint32_t action;       /* ACTION; CRASH: the action in the middle of which it crashes, or NO_ACTION */
  uint32_t message_kind; /* DELIVER, LOSE */
  struct taken_message *
      taken; /* ACTION, CRASH: the messages it takes or looks at, ascending by sender; DELIVER, LOSE: the one message */
  uint32_t ntaken;
  struct script script; /* the free choices of the action (RECOVER: those of the first values) */
  uint32_t *out; /* CRASH in an action: the messages that were sent before the crash, ascending; the messages of the
                    action are numbered in the order of sending (one for each receiver, receivers in order) */
  uint32_t nout;
};

struct witness {
  struct event *event; /* steps: only this field is used (nprocesses is 0); rounds: NULL */
  uint32_t nprocesses;
  value *
      *oracles;  /* by process: the values of its oracle variables that are chosen in this step, in order; NULL: none */
  bool *crashes; /* by process: it crashes in this step */
  uint8_t **heard; /* heard[p][q]: p hears q (whether or not q sends to p) */
  struct forgery *forged;
  uint32_t nforged;
  struct script *sends, *updates; /* by process */
};

struct witness *witness_new(const struct model *); /* an empty step; steps: an event to be filled in */
struct witness *witness_copy(const struct model *, const struct witness *);
void witness_free(struct witness *);
void event_add_taken(struct event *, struct taken_message); /* keeps the messages ascending by sender */
void event_add_out(struct event *, uint32_t number);        /* call in ascending order */
void event_set_script(struct event *, const uint32_t *choices, size_t n);
const struct action *event_action(const struct model *, const struct event *); /* NULL: none */
uint32_t event_message_kind(const struct model *, const struct event *);       /* of the messages in `taken` */

/* What happened in a step, for display. */
struct sent {
  uint32_t from, to;
  value message;
  const struct type *type;
  struct span at;
  uint32_t kind;
}; /* kind: steps only */
/* Steps: a message that an action took (gone) or looked at. */
struct arrival {
  uint32_t to, from;
  value message;
  const struct type *type;
  bool forged;
  uint32_t kind;
  bool gone;
};
struct change {
  uint32_t process, var;
  value before, after;
  struct span at;
};                                /* at: the last assignment */
#define PROCESS_SHARED UINT32_MAX /* process of a change to a global: var is an index in model->globals */
struct step_log {
  struct sent *sent;
  size_t nsent, sent_cap;
  struct arrival *arrivals;
  size_t narrivals, arrivals_cap;
  struct change *changes;
  size_t nchanges, changes_cap;
};
void step_log_release(struct step_log *);
void step_log_sent(struct step_log *, struct sent); /* log may be NULL, here and below */
void step_log_arrival(struct step_log *, struct arrival);
void step_log_change(struct step_log *, struct change);

struct model_error {   /* a run-time error of the model */
  const char *message; /* lives as long as the interpreter */
  struct span at;
  uint32_t process; /* UINT32_MAX: in a property */
};

struct interpreter; /* defined in interp/eval.h */

struct interpreter *interpreter_new(struct model *);
void interpreter_free(struct interpreter *);
/* Long enumerations end early (as if their callback had stopped them) once *stop is not 0; NULL: never. */
void interpreter_watch(struct interpreter *, const volatile sig_atomic_t *stop);
sig_atomic_t interpreter_stopped(const struct interpreter *); /* 0: not stopped */
/* Steps: the semantics that the functions below follow (initially M, or INTERLEAVING), and whether configurations keep
   the order in which messages were sent to a process (initially not). The order is only kept: it does not restrict
   which messages can be taken. */
void interpreter_follow(struct interpreter *, enum semantics, bool arrivals);

enum step_result { STEP_OK, STEP_ERROR, STEP_BAD_WITNESS };

/* One round or one event, as given by the witness. BAD_WITNESS: a script is too short or out of range, a process index
   is wrong, or the like. log may be NULL. On STEP_ERROR, error is set, and only the charged faults of next are. */
enum step_result config_step(struct interpreter *, uint32_t environment, const struct config *, const struct witness *,
                             struct config *next, struct step_log *log, struct model_error *error);

/* Does the environment allow this witness here? If not, *why names the clause (borrowed). */
bool config_allows(struct interpreter *, uint32_t environment, const struct config *, const struct witness *,
                   const char **why);
/* Is this an initial configuration of the model in that environment? */
bool config_is_initial(struct interpreter *, uint32_t environment, const struct config *, const char **why);

/* Steps: is the message one of `pending(kind)`? Messages that the receiver's role never waits for are not. */
bool packet_is_pending(const struct model *, const struct packet *, uint32_t kind);
/* Steps: no process can take an action. All pending messages count as delivered; forged messages and faults do not
   count. */
bool config_quiescent(struct interpreter *, uint32_t environment, const struct config *);
/* Steps, in a quiescent configuration: is the process in the middle of something, and what does it wait for? */
enum waiting {
  WAITING_NOT,    /* it has stopped, or may stay where it is */
  WAITING_MIDDLE, /* its place is not final */
  WAITING_ROOM    /* it could take an action if channels had no bound */
};
enum waiting config_waits(struct interpreter *, uint32_t environment, const struct config *, uint32_t process);
/* The environment in which `quiescent` and `deadlocked` are evaluated; initially none, and they fail. */
void interpreter_observe(struct interpreter *, uint32_t environment);

enum verdict3 { V_FALSE, V_TRUE, V_ERROR };
/* Steps: true if no variable of a process, no status and no global changes (messages may). */
bool config_stutters(const struct model *, const struct config *before, const struct config *after);
/* Evaluates the formula on a state (after is NULL) or on a step. Models of steps: a stuttering step satisfies every
   step formula (V_TRUE). */
enum verdict3 config_holds(struct interpreter *, const struct node *formula, const struct config *before,
                           const struct config *after, struct model_error *error);

/* All initial configurations and all steps, by plain enumeration of every heard-of assignment and every choice. The
   callback's pointers are valid during the call only; it returns false to stop. */
typedef bool config_initial_fn(void *context, const struct config *);
typedef bool config_step_fn(void *context, const struct witness *, enum step_result, const struct config *next,
                            const struct model_error *);
/* An error in a first value ends the enumeration as well: then error->message is not NULL. */
bool config_initials(struct interpreter *, uint32_t environment, config_initial_fn *, void *context,
                     struct model_error *error);
bool config_successors(struct interpreter *, uint32_t environment, const struct config *, config_step_fn *,
                       void *context);

/* --- fairness in models of steps (struct clause, enum fairness) --- */

/* A fairness group: the events that a fairness clause treats as one. Parts that the environment's fairness does not
   distinguish are NO_PART, and the message is 0. Messages that differ only in round numbers are equal: their round
   numbers are set to 0. */
#define NO_PART UINT32_MAX
struct fair_group {
  uint32_t process, action, sender;
  value message;
};
/* The group of an event; false: it is in none. The environment must have a fairness clause, here and below. */
bool event_fair_group(struct interpreter *, uint32_t environment, const struct event *, struct fair_group *);
/* Each group that is enabled in the configuration, at least once. A pending message can be taken whether it is in
   transit or delivered. A message that a Byzantine process may forge enables nothing, because it need not be sent. */
typedef void fair_group_fn(void *context, const struct fair_group *);
void config_groups(struct interpreter *, uint32_t environment, const struct config *, fair_group_fn *, void *context);

#endif
