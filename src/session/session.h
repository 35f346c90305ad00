/* Interactive sessions on the reference interpreter: the user builds a run step by step, playing the adversary.

   A session holds a model, one of its environments, a semantics and a path: an initial state and the steps taken since.
   States are concrete configurations of the interpreter (interp/config.h), never reduced or permuted. The interpreter
   alone decides what can happen, what is allowed and what the result is.

   Indices are stable: initial states and choices are numbered in the interpreter's plain order, which depends only on
   the model, the environment and the state. A path is therefore an initial index and a list of choice indices, and
   replaying them leads through the same states.

   In asynchronous rounds a step is one process ending its round, or crashing in it (interp/async_round.h). The first
   process to end a round fixes what happens to all processes in it; the others then go through it one by one. States
   show each process in its own round. The index of a choice modulo the number of processes is the process, so not every
   number is the index of a choice.

   Errors: a function that returns false has changed nothing; session_error gives the reason. Long-running functions end
   early once the flag of session_watch is not 0, and report that.

   Texts and arrays of a result are valid until the result is released; names of the model are valid as long as the
   model. A session may be used by one thread at a time. Sessions of one model share its table of values, so two threads
   may not use two of them at the same time either. */
#ifndef RONDO_SESSION_SESSION_H
#define RONDO_SESSION_SESSION_H

#include "base/arena.h"
#include "model/model.h"

#include <signal.h>

struct session;

#define SESSION_NONE UINT64_MAX /* no index, or an unknown one */
#define SESSION_NO_PROCESS UINT32_MAX
#define SESSION_NO_CLAUSE UINT32_MAX
#define SESSION_ROUND_PROCESSES 64 /* maximum number of processes in a model of rounds: heard-of sets have 64 bits */

#define SESSION_PROCESSES 10000 /* maximum number of processes of any model */

/* NULL: unsupported; *why (freed with memory_free) gives the reason: a semantics of another kind of model, ... The
 * model is borrowed and must outlive the session. */
struct session *session_new(struct model *, uint32_t environment, enum semantics, char **why);
void session_free(struct session *);
/* Long-running functions end early once *stop is not 0. NULL: never. */
void session_watch(struct session *, const volatile sig_atomic_t *stop);
/* The reason why the last failed function returned false; "" if none failed. */
const char *session_error(const struct session *);
/* Was the last failure or incomplete answer caused by the stop flag? */
bool session_interrupted(const struct session *);

/* --- states --- */

struct session_value {
  uint32_t process; /* SESSION_NO_PROCESS: a file-level variable */
  const char *name; /* "at" for the program point of a process */
  const char *text; /* in the syntax of the language */
  bool changed;     /* changed by the step to this state */
  struct span at;   /* its declaration */
};
struct session_process {
  const char *name;   /* "P(2)" */
  const char *status; /* "", "crashed", "byzantine", ...; several are separated by commas */
  bool active;        /* takes part in rounds, or can take steps */
  bool changed;       /* the status changed in the step to this state */
  uint32_t rounds;    /* asynchronous rounds: how many rounds it has ended */
};
struct session_message { /* a pending message */
  uint32_t from, to;
  const char *kind, *text; /* "promise", "promise(b: 1)" */
  const char *place;       /* "in_transit", "delivered" or "seen" */
  bool added;              /* added by the step to this state */
};
struct session_state {
  struct session_process *processes;
  uint32_t nprocesses;
  struct session_value *values; /* file-level variables first, then process by process; a Byzantine process has none */
  size_t nvalues;
  struct session_message *messages;
  size_t nmessages;
  bool ended;                          /* rounds: the algorithm has terminated */
  bool async;                          /* asynchronous rounds: what follows is of the last process */
  uint32_t rounds;                     /* number of completed rounds */
  const char *round;                   /* rounds: the name of the next round, or NULL */
  int64_t phase;                       /* rounds: number of the current phase; 0: none */
  int64_t lost, corrupted, duplicated; /* faults counted against the limits of the environment so far */
  struct arena arena;
};

/* The state after `position` steps of the path. */
bool session_state(struct session *, size_t position, struct session_state *);
void session_state_release(struct session_state *);

/* --- initial states --- */

struct session_initial {
  uint64_t index;
  const char *text; /* all values on one line */
};
struct session_initials {
  struct session_initial *at;
  size_t n;
  bool more; /* there are more */
  struct arena arena;
};
/* The initial states from `offset` on, at most `max`. False: an initial value causes an error of the model, or the call
   was stopped. */
bool session_initials(struct session *, uint64_t offset, size_t max, struct session_initials *);
void session_initials_release(struct session_initials *);
/* Counts the initial states up to `most`. *exact: there are no more. */
bool session_count_initials(struct session *, uint64_t most, uint64_t *n, bool *exact);
/* Restarts from that initial state, with an empty path. */
bool session_start(struct session *, uint64_t index);

/* --- choices --- */

enum session_choice_kind {
  SESSION_ROUND,     /* a complete round */
  SESSION_END_ROUND, /* asynchronous rounds: a process ends its round, or crashes in it */
  SESSION_ACTION,
  SESSION_DELIVER,
  SESSION_LOSE,
  SESSION_CRASH,
  SESSION_CRASH_IN_ACTION, /* after some of its messages were sent */
  SESSION_RECOVER
};
struct session_taken {
  uint32_t from;
  const char *kind, *text;
  bool forged;     /* forged by a Byzantine process */
  bool duplicated; /* taken, and a copy of it stays */
};
struct session_choice {
  uint64_t index; /* among the allowed choices, or among the forbidden ones */
  bool allowed;
  const char *why; /* forbidden: the reason in words; else NULL */
  /* forbidden: the clause of the environment that forbids it; SESSION_NO_CLAUSE: the semantics, or no single clause */
  uint32_t clause;
  struct span clause_at;
  enum session_choice_kind kind;
  uint32_t process;            /* SESSION_NO_PROCESS: a round */
  const char *action;          /* the name of the step or handler, or NULL */
  struct span at;              /* its place in the source; {0, 0}: none */
  struct session_taken *taken; /* the messages that it takes or reads; DELIVER, LOSE: the one message */
  uint32_t ntaken;
  const uint32_t *picks; /* its free choices, in the order in which the interpreter requests them */
  uint32_t npicks;
  const char *error; /* the error of the model in which the step, and thus the run, ends; NULL: none */
  const char *text;  /* the choice on one line */
};
struct session_choices {
  struct session_choice *at;
  size_t n;
  bool more;
  struct arena arena;
};
/* The choices of the current state from index `offset` on, at most `max`, in ascending order. Rounds: every round, in
   the plain order. There may be 2^(n*n) of them, so request pages, and use the structured choices below. */
bool session_choices(struct session *, uint64_t offset, size_t max, struct session_choices *);
/* Steps: events that only a clause of the environment or the semantics forbids. They cannot be taken. Lists only kinds
   of faults that the environment has, and crashes only between two actions. Asynchronous rounds: the processes that
   have to wait. */
bool session_forbidden(struct session *, uint64_t offset, size_t max, struct session_choices *);
void session_choices_release(struct session_choices *);
bool session_count_choices(struct session *, uint64_t most, uint64_t *n, bool *exact);

/* --- structured rounds --- */

struct session_forgery {
  uint32_t sender;
  uint64_t payload; /* its index among the messages that the receiver can get */
};
struct session_part { /* the choices that concern one process, its own and the adversary's */
  uint64_t heard;     /* bit q: it hears process q, whether or not q sends */
  bool crashes;
  /* indices of values, in the order of declaration; oracles that are not chosen in this round are ignored */
  uint64_t *oracles;
  uint32_t noracles;
  uint32_t *sends, nsends;     /* free choices of its sends; missing ones default to 0 */
  uint32_t *updates, nupdates; /* free choices of its update, coins included */
  struct session_forgery *forged;
  uint32_t nforged; /* messages that replace what was sent to it */
};
struct session_round {
  struct session_part *parts; /* by process */
  uint32_t nparts;
  uint32_t process;   /* asynchronous rounds: the process that ends it; otherwise ignored */
  struct arena arena; /* owns the arrays of a round made by a session; a caller's own round may store them anywhere */
};
/* The round in which all processes hear each other and nothing else happens, as a starting point for changes.
   Asynchronous rounds: here and below, the first round that is not fixed, or that of the process that ends it. */
bool session_round_init(struct session *, struct session_round *);
/* The round with that index in the plain order; the round that the path took at that step. */
bool session_round_nth(struct session *, uint64_t index, struct session_round *);
bool session_round_taken(struct session *, size_t step, struct session_round *);
void session_round_release(struct session_round *);

struct session_oracle {
  const char *name;
  uint64_t nvalues;
  bool chosen; /* in this round */
};
struct session_sender { /* what p can hear from one sender */
  bool must;            /* the environment guarantees delivery of its messages to p, except for losses within limits */
  bool byzantine;
  bool sends;       /* it sends a message to p, given the oracles and free send choices of the round in question */
  const char *text; /* the message, or NULL */
};
struct session_candidate {
  bool active;
  bool may_crash; /* the environment has crashes, and the process is active */
  /* it can receive something other than what was sent, from a Byzantine process or on a corrupted channel */
  bool may_forge;
  uint64_t npayloads; /* number of different messages that it could receive; 0: none */
  struct session_oracle *oracles;
  uint32_t noracles;
  struct session_sender *senders;    /* by process */
  uint32_t *send_picks, nsend_picks; /* number of alternatives of each of its free choices, in the round in question */
  uint32_t *update_picks, nupdate_picks;
  uint64_t update_coins; /* bit i: choice i is a coin */
};
struct session_candidates {
  struct session_candidate *at; /* by process */
  uint32_t n;
  struct arena arena;
};
/* What can be chosen for each process. NULL: relative to the round of session_round_init. */
bool session_candidates(struct session *, const struct session_round *, struct session_candidates *);
void session_candidates_release(struct session_candidates *);
/* The text of an oracle value or a payload; freed with memory_free. NULL: there is no such value. */
char *session_oracle_text(struct session *, uint32_t process, uint32_t oracle, uint64_t number);
char *session_payload_text(struct session *, uint32_t process, uint64_t number);

struct session_judgement {
  bool possible;   /* the algorithm admits these choices */
  bool allowed;    /* possible, and the environment allows it */
  const char *why; /* otherwise the reason in words */
  uint32_t clause; /* and the clause; SESSION_NO_CLAUSE: no single clause */
  struct span clause_at;
  const char *error; /* possible and allowed, but ends in this error of the model */
};
/* The interpreter's verdict on a round. False: the round is malformed (an index out of range). The texts are valid
   until the next call. */
bool session_judge(struct session *, const struct session_round *, struct session_judgement *);

/* --- rounds by outcome --- */

enum session_search { SESSION_FOUND, SESSION_IMPOSSIBLE, SESSION_GAVE_UP /* limit reached, or stopped */ };

struct session_outcome {      /* a local state that a process can have after the round */
  enum session_search search; /* is there an allowed round that leads there? */
  const char *text;           /* "x = 1, decided = 1", preceded by a status; for an error, its message */
  bool crashed, halted, error;
  bool changed;               /* differs from the current local state */
  struct session_round round; /* FOUND: a round with this outcome; released with the outcomes */
};
struct session_outcomes {
  struct session_outcome *at;
  size_t n;
  bool complete; /* there are no other outcomes: all heard-of sets, choices and forged messages were tried */
  uint64_t work; /* number of rounds judged and updates run */
  struct arena arena;
};
/* The distinct outcomes of one process, with a round for each. `most` bounds the work; 0: one million. */
bool session_outcomes(struct session *, uint32_t process, uint64_t most, struct session_outcomes *);
void session_outcomes_release(struct session_outcomes *);
/* Finds a round in which every process p has the outcome that it has in wanted[p] (a round of session_outcomes or any
   other). NULL: any outcome. False: a round is malformed or cannot be taken. Asynchronous rounds: the process that ends
   it is that of the first wanted round. */
bool session_find_round(struct session *, const struct session_round *const *wanted, uint64_t most,
                        enum session_search *, struct session_round *found);

/* --- the path --- */

bool session_started(const struct session *);
/* Number of steps. A step that ends in an error of the model is the last one and has no state after it. */
size_t session_length(const struct session *);
bool session_failed(const struct session *, const char **error, struct span *at);
/* Takes a choice in the current state, which is the last state of the path. */
bool session_take(struct session *, uint64_t index);
bool session_take_round(struct session *, const struct session_round *); /* fails unless the round is allowed */
bool session_back(struct session *, size_t steps);
/* The index of the initial state, and of the choice of a step. If the index is unknown (a structured round, a loaded
   trace), it is found by enumeration, which may take long. False: stopped, or more than `most` choices were
   examined. */
bool session_initial_index(struct session *, uint64_t most, uint64_t *index);
bool session_step_index(struct session *, size_t step, uint64_t most, uint64_t *index);
/* The choice taken in a step, as session_choices describes it. Its index is SESSION_NONE while it is unknown. */
bool session_taken(struct session *, size_t step, struct session_choices *);
/* Replays these choices from that initial state. False: session_error names the step, and the path is unchanged. */
bool session_replay(struct session *, uint64_t initial, const uint64_t *choices, size_t n);

/* --- loops --- */

/* Declares that the run goes on from its end as from the state after `position` steps, again and again; position = the
   length: that it stays as it is, since nothing can happen any more. The interpreter must confirm that. The loop is
   part of the path until the path changes: traces and diagrams show it, and live properties are evaluated on it. Not
   for asynchronous rounds. */
bool session_close_loop(struct session *, size_t position);
void session_open_loop(struct session *);                    /* the run ends again */
bool session_loop(const struct session *, size_t *position); /* is there one? */
/* Looks for a loop that can be closed, the shortest one first. False: none was found, which is no error. */
bool session_find_loop(struct session *, size_t *position);

/* --- expressions and properties --- */

struct session_result {
  bool ok;
  bool is_bool, truth; /* is_bool: the value is true or false */
  char *text;          /* the value, or the errors as printed for users, with the source lines */
  char *type;          /* NULL: not ok */
  /* errors of the expression, with places in its text; empty if the errors come from its evaluation */
  struct diags *diags;
  struct source *source; /* the expression, for the diags */
};
/* Evaluates an expression, as in a property, in the state after `position` steps. step: evaluates it on the step to
   that state, where primed variables refer to that state. False: there is no such state or step. Errors in the text are
   part of the result. */
bool session_evaluate(struct session *, size_t position, const char *text, bool step, struct session_result *);
void session_result_release(struct session_result *);

enum session_verdict {
  SESSION_TRUE,
  SESSION_FALSE,
  SESSION_ERROR,    /* it has no value there: an error of the model */
  SESSION_NOT_ASKED /* not evaluated: a step property at the start; a live property without a loop; a safety property
                       whose `until` held earlier */
};
struct session_property {
  const char *name;
  enum property_kind kind;
  bool step;
  bool applies; /* it is checked in the session's environment */
  struct span at;
  enum session_verdict verdict;
  bool shown;        /* safety: violated here; cover: reached here; live: violated by the loop */
  const char *error; /* ERROR: the error; NOT_ASKED: the reason */
  const char **bindings;
  uint32_t nbindings; /* "p = P(1)": the witness of a false 'forall' or a true 'exists' */
  const char **reads;
  uint32_t nreads; /* "P(1).decided = 2": the variables that its innermost part reads */
};
struct session_properties {
  struct session_property *at; /* by property of the model */
  size_t n;
  struct arena arena;
};
bool session_properties(struct session *, size_t position, struct session_properties *);
void session_properties_release(struct session_properties *);

/* --- traces --- */

/* The path as a trace (docs/json.md) that `rondo replay` accepts; freed with memory_free. property: index of a property
   that is shown at the end (live: by its loop), or UINT32_MAX. NULL: it is not shown there, or the session has not
   started. */
char *session_save(struct session *, uint32_t property);
/* The steps from .. to - 1 of the path, for trace_release; asynchronous rounds: its rounds, see session_rounds. The
   time depends on their number alone. property: one that the end of the path violates (cover: reaches), if it is among
   the steps; otherwise ignored. */
struct trace;
bool session_window(struct session *, size_t from, size_t to, uint32_t property, struct trace *);
/* The end of the path as a number for session_window: its length; asynchronous rounds: the rounds that someone has
   ended. */
size_t session_rounds(struct session *);
struct interpreter *session_interpreter(struct session *); /* that of the traces */
/* Makes a trace the path, with its loop, checked by the interpreter. It must have the same model, parameters,
   environment and semantics. */
bool session_load(struct session *, const char *json, size_t length);

/* --- lookahead --- */

enum session_reach { SESSION_REACHABLE, SESSION_UNREACHABLE, SESSION_UNKNOWN };
struct session_goal { /* the target of the search */
  /* a violation of a safety property, or a state of a cover property; UINT32_MAX: an error of the model in a step */
  uint32_t property;
};
struct session_limits { /* 0: the default, which is one million states and no limit on steps */
  uint64_t states, steps;
};
struct session_ahead {
  enum session_reach reach;
  /* REACHABLE: the shortest distance from the current state; UNKNOWN: not reachable within this many steps */
  uint64_t steps;
  uint64_t *choices; /* REACHABLE: the choice indices of the path, `steps` of them; freed with memory_free */
  uint64_t states;   /* number of visited states */
  bool errors;       /* some step ended in an error of the model, or the property had no value in some state */
  const char *why;   /* UNKNOWN: the limit that was reached */
};
/* Breadth-first search from the current state, or from the successor by `choice` (SESSION_NONE: from the current
   state). */
bool session_ahead(struct session *, uint64_t choice, const struct session_goal *, const struct session_limits *,
                   struct session_ahead *);
void session_ahead_release(struct session_ahead *);

/* --- reachable states --- */

struct session_survey_request {
  size_t position; /* the search begins in the state after so many steps of the path */
  struct session_limits limits;
  bool graph; /* classes and the edges between them, not only the targets */
  /* graph: states in which this expression has the same value are one class. NULL or "": each state is its own. */
  const char *projection;
  /* Rounds: goes through every round. Otherwise through the combinations of what can become of each process, where the
     environment does not forbid any of them. */
  bool every_round;
};
struct session_target { /* what the search found about one property */
  uint32_t property;    /* UINT32_MAX: an error of the model in a step */
  enum session_reach reach;
  uint64_t steps; /* as in struct session_ahead */
  /* REACHABLE: the choices that lead there from the start, `steps` of them; rounds: NULL, and the rounds */
  const uint64_t *choices;
  struct session_round *rounds;
};
struct session_class {
  const char *text; /* the value of the projection, or the state on one line */
  uint64_t states;  /* number of states */
  uint64_t depth;   /* of the first of them */
  bool final;       /* in some state of it nothing can happen */
  uint64_t shown;   /* bit i: property i is violated (cover: reached) in some state of it; properties below 64 */
};
struct session_class_edge {
  uint32_t from, to; /* classes */
  uint64_t choice;   /* the first choice that leads there, in the first state that has one; rounds: SESSION_NONE */
};
struct session_survey {
  bool complete;   /* every reachable state was visited */
  const char *why; /* otherwise the limit that was reached */
  uint64_t states, depth, errors /* steps that end in an error of the model */;
  /* States in which nothing can happen, and the distance of the first one: of the first in which a process is in the
     middle of something, if there is one. */
  uint64_t final, final_steps;
  const uint64_t *final_choices;
  struct session_round *final_rounds;
  bool final_ended;               /* in all of them the algorithm has ended as it should */
  struct session_target *targets; /* the safety and cover properties of the environment, then errors of the model */
  uint32_t ntargets;
  const uint64_t *layers; /* number of states by distance, depth + 1 of them */
  struct session_class *classes;
  uint32_t nclasses;
  struct session_class_edge *edges;
  size_t nedges;
  uint32_t *path; /* the class of each state of the path from `position` on; UINT32_MAX: none */
  size_t npath;
  struct arena arena;
};
/* Breadth-first search from a state of the path, for all properties at once. Properties with 'until' are not among the
   targets: session_ahead searches for them one by one. A search that is stopped is incomplete, but not a failure.
   Not for asynchronous rounds. False: an error in the projection, ... */
bool session_survey(struct session *, const struct session_survey_request *, struct session_survey *);
void session_survey_release(struct session_survey *);

#endif
