/* Concrete global states and the plain interp of a round, or of a step: the reference against which everything faster
   is tested, and on which every counterexample is replayed. */
#ifndef RONDO_INTERP_CONFIG_H
#define RONDO_INTERP_CONFIG_H

#include "model/model.h"

#include <signal.h>

/* A local state is a vector: status, the role's variables, then the first values of its inputs (in order of
   declaration), which only `initial` reads. */
enum status {
  STATUS_HALTED = 1,
  STATUS_CRASHED = 2,
  STATUS_OMITS_SEND = 4,
  STATUS_OMITS_RECEIVE = 8,
  STATUS_BYZANTINE = 16,
  STATUS_RECOVERED = 32 /* crashed at some time, and is back */
};
#define STATUS_FAULTY (STATUS_CRASHED | STATUS_RECOVERED | STATUS_OMITS_SEND | STATUS_OMITS_RECEIVE | STATUS_BYZANTINE)
#define LOCAL_STATUS 0
#define LOCAL_VAR(i) ((i) + 1)

uint32_t role_ninputs(const struct role *);
uint32_t role_local_length(const struct role *);             /* 1 + nvars + inputs */
uint32_t role_initial_at(const struct role *, uint32_t var); /* where the first value of input var is kept */

/* Steps: a message on its way. Under M all are DELIVERED. SEEN (MP only): since it was delivered, its receiver has
   taken a step that looked at it without taking it, or has recovered from a crash. */
enum packet_place { PACKET_IN_TRANSIT, PACKET_DELIVERED, PACKET_SEEN };
struct packet {
  uint32_t from, to, kind;
  enum packet_place place;
  value message;
};

struct config {
  uint32_t point;                      /* rounds: the round to come, or POINT_END */
  uint32_t rounds;                     /* done so far; steps: 0, nobody counts them */
  value phase;                         /* number of the current endless phase, from 1 */
  int64_t lost, corrupted, duplicated; /* charged to a budget for the whole run, so far */
  uint32_t nprocesses;
  value *globals;
  value **local; /* by process */
  /* Steps: what is pending. Sorted by receiver, sender, and then by place, kind and content (packet_compare); FIFO
     channels: by receiver and sender, then in the order of sending; interp->arrivals: by receiver, then in the order of
     sending. Where equal ones lie at several positions, the oldest goes first. */
  struct packet *packets;
  uint32_t npackets, packets_cap;
};

struct config *config_new(const struct model *);
struct config *config_copy(const struct model *, const struct config *);
void config_assign(const struct model *, struct config *to, const struct config *from);
void config_free(struct config *);
bool config_equal(const struct model *, const struct config *, const struct config *);

/* Everything that was chosen freely in one step. */
struct forgery { /* receiver got this from sender, whatever sender sent: Byzantine or corrupted */
  uint32_t receiver, sender;
  value message;
};

struct script { /* free choices of one process in the order in which the interpreter asked for them */
  uint32_t n;
  uint32_t *at;
};

/* Steps: what happens in one. */
enum event_kind {
  EVENT_ACTION,  /* process takes an action */
  EVENT_DELIVER, /* M-MP, MP: a message in transit reaches process */
  EVENT_LOSE,    /* a pending message to process is lost */
  EVENT_CRASH,   /* process crashes: between two actions, or in the middle of one */
  EVENT_RECOVER
};
struct taken_message {
  uint32_t from;
  enum packet_place place; /* where it was; meaningless if forged */
  bool forged;             /* from a Byzantine process: made up on the spot, never pending */
  bool kept;               /* duplicated: it was to be taken, and a copy of it stays */
  value message;
};
#define NO_ACTION UINT32_MAX
struct event {
  enum event_kind kind;
  uint32_t process;
  uint32_t action;       /* ACTION; CRASH: in the middle of it, or NO_ACTION */
  uint32_t message_kind; /* DELIVER, LOSE */
  struct taken_message
      *taken; /* ACTION, CRASH: what it takes or looks at, ascending by sender; DELIVER, LOSE: the one */
  uint32_t ntaken;
  struct script script; /* the free choices of the action (RECOVER: of the first values) */
  uint32_t *out; /* CRASH in an action: which of the messages that it sends, numbered in the order of sending (one
                    for each receiver, receivers in order), were out already; ascending */
  uint32_t nout;
};

struct witness {
  struct event *event; /* steps: this and nothing below (nprocesses is 0); rounds: NULL */
  uint32_t nprocesses;
  value **oracles; /* by process: values of its oracle variables chosen in this step, in order; NULL: none */
  bool *crashes;   /* crashes in this step */
  uint8_t **heard; /* heard[p][q]: p hears q (whether or not q sends to p) */
  struct forgery *forged;
  uint32_t nforged;
  struct script *sends, *updates; /* by process */
};

struct witness *witness_new(const struct model *); /* nothing happens; steps: an event to be filled in */
struct witness *witness_copy(const struct model *, const struct witness *);
void witness_free(struct witness *);
/* Steps: an event of process p that takes nothing so far; `action`: NO_ACTION unless it is, or is in the middle of,
 * one. */
struct witness *witness_of_event(const struct model *, enum event_kind, uint32_t process, uint32_t action);
void event_add_taken(struct event *, struct taken_message); /* keeps them ascending by sender */
void event_add_out(struct event *, uint32_t number);        /* in ascending order */
void event_set_script(struct event *, const uint32_t *choices, size_t n);

/* What happened in a step, for showing it. */
struct sent {
  uint32_t from, to;
  value message;
  const struct type *type;
  struct span at;
  uint32_t kind;
}; /* steps: kind */
/* Steps: what an action took (gone) or looked at. */
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
#define PROCESS_SHARED UINT32_MAX /* of a change: var is one of model->globals */
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

struct model_error {   /* a model that reads or computes what it must not */
  const char *message; /* lives as long as the interp */
  struct span at;
  uint32_t process; /* UINT32_MAX: in a property */
};

struct interpreter; /* the interpreter with its tables: interp/eval.h */

struct interpreter *interpreter_new(struct model *);
void interpreter_free(struct interpreter *);
/* Enumerations that can take ages without finding anything end early (as if their callback had stopped them) once
 *stop is not 0; NULL: never. */
void interpreter_watch(struct interpreter *, const volatile sig_atomic_t *stop);
sig_atomic_t interpreter_stopped(const struct interpreter *); /* 0: go on */
/* Steps: which semantics the functions below follow (at first M, or INTERLEAVING), and whether configurations remember
   the order in which messages were sent to a process (at first not). The order is only remembered: what can be taken
   does not depend on it. */
void interpreter_follow(struct interpreter *, enum semantics, bool arrivals);

enum step_result { STEP_OK, STEP_ERROR, STEP_BAD_WITNESS };

/* One round, or one event, as the witness says. BAD_WITNESS: a script is too short or out of range, a heard process
   index is wrong, and the like. log may be NULL. error is set on STEP_ERROR, and of next only what is charged. */
enum step_result config_step(struct interpreter *, uint32_t environment, const struct config *, const struct witness *,
                             struct config *next, struct step_log *log, struct model_error *error);

/* Does the environment allow this witness here? If not, *why names the clause (borrowed). */
bool config_allows(struct interpreter *, uint32_t environment, const struct config *, const struct witness *,
                   const char **why);
/* Is this an initial configuration of the model in that environment? */
bool config_is_initial(struct interpreter *, uint32_t environment, const struct config *, const char **why);

enum verdict3 { V_FALSE, V_TRUE, V_ERROR };
/* Steps: no variable of a process, no status and no global changes (messages may). */
bool config_stutters(const struct model *, const struct config *before, const struct config *after);
/* The formula on a state (after NULL) or on a step. Models of steps: a step that stutters is not judged, the answer is
   V_TRUE. */
enum verdict3 config_holds(struct interpreter *, const struct node *formula, const struct config *before,
                           const struct config *after, struct model_error *error);

/* All initial configurations and all steps, the slow and obvious way: every heard-of assignment, every choice.
   The callback's pointers are valid during the call only; false stops. */
typedef bool config_initial_fn(void *context, const struct config *);
typedef bool config_step_fn(void *context, const struct witness *, enum step_result, const struct config *next,
                            const struct model_error *);
/* An error in a first value ends it, too: error->message is not NULL then. */
bool config_initials(struct interpreter *, uint32_t environment, config_initial_fn *, void *context,
                     struct model_error *error);
bool config_successors(struct interpreter *, uint32_t environment, const struct config *, config_step_fn *,
                       void *context);

/* --- fairness, of models of steps (struct clause, enum fairness) --- */

/* What fairness speaks of. Parts that the environment's fairness does not tell apart are NO_PART, the message 0.
   Messages that differ only in round numbers are one: their rounds are 0. */
#define NO_PART UINT32_MAX
struct fair_group {
  uint32_t process, action, sender;
  value message;
};
/* What the event is a taking of; false: of nothing. The environment must have a fairness clause, here and below. */
bool event_fair_group(struct interpreter *, uint32_t environment, const struct event *, struct fair_group *);
/* Each group that can be taken in the configuration, at least once. A message can be taken wherever it lies, in transit
   or delivered; what a Byzantine process may send it need not send, so nothing is possible by that. */
typedef void fair_group_fn(void *context, const struct fair_group *);
void config_groups(struct interpreter *, uint32_t environment, const struct config *, fair_group_fn *, void *context);

#endif
