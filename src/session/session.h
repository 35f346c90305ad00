/* Interactive sessions on the reference interpreter: a run that the user makes step by step, playing the adversary.

   A session holds a model, one of its environments and a semantics, and a path: an initial state and the steps taken
   since. States are concrete configurations of the interpreter (interp/config.h), never reduced or permuted, and the
   interpreter is the only judge of what can happen, what is allowed and what comes of it.

   Indices are stable: initial states and choices are numbered in the interpreter's own plain order, which depends on
   the model, the environment and the state alone. So a path is an initial index and a list of choice indices, and
   taking them again leads through the same states.

   Errors: a function that returns false has changed nothing; session_error says why. Everything that may take long ends
   early once the flag of session_watch is not 0, and says so.

   Texts and arrays of a result live until it is released; names of the model live as long as the model. One thread at a
   time may use a session; sessions of one model share its table of values, so neither may two threads use two of them.
 */
#ifndef RONDO_SESSION_SESSION_H
#define RONDO_SESSION_SESSION_H

#include "base/arena.h"
#include "model/model.h"

#include <signal.h>

struct session;

#define SESSION_NONE UINT64_MAX /* no index, or one that is not known */
#define SESSION_NO_PROCESS UINT32_MAX
#define SESSION_NO_CLAUSE UINT32_MAX
#define SESSION_ROUND_PROCESSES 64 /* at most so many processes in a model of rounds: heard-of sets are 64 bits */

/* NULL: *why (for memory_free) says what does not fit: fine rounds, a semantics of another kind of model, ... The model
   is borrowed and must outlive the session. */
struct session *session_new(struct model *, uint32_t environment, enum semantics, char **why);
void session_free(struct session *);
/* Whatever takes long ends early once *stop is not 0; NULL: never. */
void session_watch(struct session *, const volatile sig_atomic_t *stop);
/* Why the last function that returned false did so; "" if none did. */
const char *session_error(const struct session *);
/* The last function that failed or gave an incomplete answer did so because of the stop flag. */
bool session_interrupted(const struct session *);

/* --- states --- */

struct session_value {
  uint32_t process; /* SESSION_NO_PROCESS: a variable of the file */
  const char *name; /* "at": the program point of a process */
  const char *text; /* as the language writes it */
  bool changed;     /* by the step to this state */
  struct span at;   /* its declaration */
};
struct session_process {
  const char *name;   /* "P(2)" */
  const char *status; /* "", or "crashed", "byzantine", ...: several are joined by commas */
  bool active;        /* takes part in rounds, takes steps */
  bool changed;       /* its status was, by the step to this state */
};
struct session_message { /* on its way */
  uint32_t from, to;
  const char *kind, *text; /* "promise", "promise(b: 1)" */
  const char *place;       /* "in_transit", "delivered" or "seen" */
  bool added;              /* by the step to this state */
};
struct session_state {
  struct session_process *processes;
  uint32_t nprocesses;
  struct session_value *values; /* the file's first, then process by process; a Byzantine process has none */
  size_t nvalues;
  struct session_message *messages;
  size_t nmessages;
  bool ended;                          /* rounds: the algorithm is over */
  uint32_t rounds;                     /* done so far */
  const char *round;                   /* rounds: the name of the round to come, or NULL */
  int64_t phase;                       /* rounds: number of the current phase; 0: none */
  int64_t lost, corrupted, duplicated; /* charged to the environment's limits so far */
  struct arena arena;
};

/* The state after so many steps of the path. */
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
  bool more; /* there are further ones */
  struct arena arena;
};
/* Those from `offset` on, at most `max`. False: the model has an error in a first value, or it was stopped. */
bool session_initials(struct session *, uint64_t offset, size_t max, struct session_initials *);
void session_initials_release(struct session_initials *);
/* How many there are: counts up to `most`; *exact: these are all. */
bool session_count_initials(struct session *, uint64_t most, uint64_t *n, bool *exact);
/* Starts anew from that one: the path is empty. */
bool session_start(struct session *, uint64_t index);

/* --- choices --- */

enum session_choice_kind {
  SESSION_ROUND, /* rounds: all of one round */
  SESSION_ACTION,
  SESSION_DELIVER,
  SESSION_LOSE,
  SESSION_CRASH,
  SESSION_CRASH_IN_ACTION, /* some of its messages were sent already */
  SESSION_RECOVER
};
struct session_taken {
  uint32_t from;
  const char *kind, *text;
  bool forged;     /* made up by a Byzantine process */
  bool duplicated; /* taken, and a copy of it stays */
};
struct session_choice {
  uint64_t index; /* among the allowed ones; of a forbidden one: among those */
  bool allowed;
  const char *why; /* forbidden: in words, else NULL */
  uint32_t clause; /* forbidden: by this clause of the environment; SESSION_NO_CLAUSE: by the semantics, or by no clause
                      alone */
  struct span clause_at;
  enum session_choice_kind kind;
  uint32_t process;            /* SESSION_NO_PROCESS: a round */
  const char *action;          /* the step's or handler's name; NULL: none */
  struct span at;              /* where it stands; {0, 0}: nowhere */
  struct session_taken *taken; /* the messages it takes or looks at; DELIVER, LOSE: the one */
  uint32_t ntaken;
  const uint32_t *picks; /* the free choices made in it, as the interpreter asks for them */
  uint32_t npicks;
  const char *error; /* the step ends in this error of the model, and the run with it; NULL: it does not */
  const char *text;  /* all of it on one line */
};
struct session_choices {
  struct session_choice *at;
  size_t n;
  bool more;
  struct arena arena;
};
/* What can happen in the current state, from the offset-th on, at most `max`. Rounds: every round, in the plain order;
   there may be 2^(n*n) of them, so ask for pages and use the structured choices below. */
bool session_choices(struct session *, uint64_t offset, size_t max, struct session_choices *);
/* Steps: what could happen but for a limit or a rule of the environment, or the semantics. They cannot be taken. Only
   kinds of faults that the environment has are listed; crashes only between two actions. */
bool session_forbidden(struct session *, uint64_t offset, size_t max, struct session_choices *);
void session_choices_release(struct session_choices *);
bool session_count_choices(struct session *, uint64_t most, uint64_t *n, bool *exact);

/* --- rounds, by structure --- */

struct session_forgery {
  uint32_t sender;
  uint64_t payload; /* its number among the values of the messages that the receiver can get */
};
struct session_part { /* what one process chooses, or has chosen for it */
  uint64_t heard;     /* bit q: it hears process q, whether or not that one sends */
  bool crashes;
  uint64_t *oracles;
  uint32_t noracles;       /* numbers of values, in the order of declaration; those that are not chosen in this round
                              are ignored */
  uint32_t *sends, nsends; /* free choices of its sends; missing ones are 0 */
  uint32_t *updates, nupdates; /* free choices of its update, coins included */
  struct session_forgery *forged;
  uint32_t nforged; /* messages that it receives instead of what was sent */
};
struct session_round {
  struct session_part *parts; /* by process */
  uint32_t nparts;
  struct arena arena; /* owns the arrays of a round that a session made; a caller's own round may have them anywhere */
};
/* A round in which everybody hears everybody and nothing else happens, to be changed. */
bool session_round_init(struct session *, struct session_round *);
/* The index-th of the plain order, and the one that the path took at that step. */
bool session_round_nth(struct session *, uint64_t index, struct session_round *);
bool session_round_taken(struct session *, size_t step, struct session_round *);
void session_round_release(struct session_round *);

struct session_oracle {
  const char *name;
  uint64_t nvalues;
  bool chosen; /* in this round */
};
struct session_sender { /* what p can hear from it */
  bool must;            /* the environment delivers whatever it sends to p, losses within limits aside */
  bool byzantine;
  bool sends;       /* a message to p, if oracles and free choices of sends are as in the round that is asked about */
  const char *text; /* of the message, or NULL */
};
struct session_candidate {
  bool active;
  bool may_crash; /* the environment has crashes, and it is active */
  bool may_forge; /* it can receive something else than was sent, from a Byzantine process or on a corrupted channel */
  uint64_t npayloads; /* how many different messages it could receive; 0: none */
  struct session_oracle *oracles;
  uint32_t noracles;
  struct session_sender *senders; /* by process */
  uint32_t *send_picks,
      nsend_picks; /* how many alternatives each of its free choices has, in the round that is asked about */
  uint32_t *update_picks, nupdate_picks;
  uint64_t update_coins; /* bit i: the i-th is a coin's */
};
struct session_candidates {
  struct session_candidate *at; /* by process */
  uint32_t n;
  struct arena arena;
};
/* What each process has to choose from. NULL: as seen from session_round_init's round. */
bool session_candidates(struct session *, const struct session_round *, struct session_candidates *);
void session_candidates_release(struct session_candidates *);
/* The text of an oracle's value, of a payload; for memory_free. NULL: there is no such value. */
char *session_oracle_text(struct session *, uint32_t process, uint32_t oracle, uint64_t number);
char *session_payload_text(struct session *, uint32_t process, uint64_t number);

struct session_judgement {
  bool possible;   /* the algorithm has these choices */
  bool allowed;    /* and the environment allows it */
  const char *why; /* else: in words */
  uint32_t clause; /* and by which clause; SESSION_NO_CLAUSE: by none alone */
  struct span clause_at;
  const char *error; /* possible and allowed, but it ends in this error of the model */
};
/* The interpreter's verdict on a round. False: the round is malformed (an index out of range). Texts live until the
 * next call. */
bool session_judge(struct session *, const struct session_round *, struct session_judgement *);

/* --- rounds, by outcome --- */

enum session_search { SESSION_FOUND, SESSION_IMPOSSIBLE, SESSION_GAVE_UP /* at the limit, or stopped */ };

struct session_outcome {      /* one local state that a process can be in after the round */
  enum session_search search; /* is there an allowed round that leads there? */
  const char *text;           /* "x = 1, decided = 1"; a status comes first; of an error: its message */
  bool crashed, halted, error;
  bool changed;               /* not what the process is now */
  struct session_round round; /* FOUND: one that leads there; released with the outcomes */
};
struct session_outcomes {
  struct session_outcome *at;
  size_t n;
  bool complete; /* there are no others: every way to hear, to choose and to be lied to was tried */
  uint64_t work; /* rounds judged and updates run */
  struct arena arena;
};
/* The distinct outcomes of one process, with a round for each. `most` bounds the work; 0: a million. */
bool session_outcomes(struct session *, uint32_t process, uint64_t most, struct session_outcomes *);
void session_outcomes_release(struct session_outcomes *);
/* A round in which each process has the outcome that it has in wanted[p] (a round of session_outcomes or any other),
   all at once; NULL: any outcome. False: a round is malformed or cannot be taken. */
bool session_find_round(struct session *, const struct session_round *const *wanted, uint64_t most,
                        enum session_search *, struct session_round *found);

/* --- the path --- */

bool session_started(const struct session *);
/* How many steps it has. A step that ends in an error of the model is the last one, and has no state. */
size_t session_length(const struct session *);
bool session_failed(const struct session *, const char **error, struct span *at);
/* The current state is where choices are taken: the last of the path. */
bool session_take(struct session *, uint64_t index);
bool session_take_round(struct session *, const struct session_round *); /* refused unless it is allowed */
bool session_back(struct session *, size_t steps);
/* The index of the initial state, and of a step's choice. They are looked up where they are not known (a round taken by
   structure, a trace that was loaded), which may take long. False: stopped, or more than `most` choices were looked at.
 */
bool session_initial_index(struct session *, uint64_t most, uint64_t *index);
bool session_step_index(struct session *, size_t step, uint64_t most, uint64_t *index);
/* What happened in a step, as session_choices tells it; its index is SESSION_NONE while it is not known. */
bool session_taken(struct session *, size_t step, struct session_choices *);
/* From that initial state, these choices one after the other. False: session_error names the step; the path is as it
 * was. */
bool session_replay(struct session *, uint64_t initial, const uint64_t *choices, size_t n);

/* --- expressions and properties --- */

struct session_result {
  bool ok;
  bool is_bool, truth;   /* is_bool: the value is true or false */
  char *text;            /* the value, or the errors as people read them, with a line for each place */
  char *type;            /* NULL: not ok */
  struct diags *diags;   /* errors of the expression, with places in its text; empty if they come from evaluating it */
  struct source *source; /* the expression, for the diags */
};
/* An expression as a property would say it, in the state after so many steps. step: about the step to that state, with
   primed variables for the state itself. False: there is no such state or step; errors in the text are in the result.
 */
bool session_evaluate(struct session *, size_t position, const char *text, bool step, struct session_result *);
void session_result_release(struct session_result *);

enum session_verdict {
  SESSION_TRUE,
  SESSION_FALSE,
  SESSION_ERROR,    /* it has no value there: an error of the model */
  SESSION_NOT_ASKED /* a step property at the start, a live property; a safety property whose `until` held before */
};
struct session_property {
  const char *name;
  enum property_kind kind;
  bool step;
  bool applies; /* it is checked in the session's environment */
  struct span at;
  enum session_verdict verdict;
  bool shown;        /* safety: violated here; cover: reached here */
  const char *error; /* ERROR, or why it is NOT_ASKED */
  const char **bindings;
  uint32_t nbindings; /* "p = P(1)": what makes a false 'forall' false, or a true 'exists' true */
  const char **reads;
  uint32_t nreads; /* "P(1).decided = 2": what its innermost part reads */
};
struct session_properties {
  struct session_property *at; /* by property of the model */
  size_t n;
  struct arena arena;
};
bool session_properties(struct session *, size_t position, struct session_properties *);
void session_properties_release(struct session_properties *);

/* --- traces --- */

/* The path as a trace (docs/json.md) that `rondo replay` accepts, for memory_free. property: the index of one that is
   shown at the end of it, or UINT32_MAX. NULL: it is not, or nothing was started. */
char *session_save(struct session *, uint32_t property);
/* A trace as the path, checked by the interpreter; it must be of the same model, parameters, environment and semantics.
 */
bool session_load(struct session *, const char *json, size_t length);

/* --- looking ahead --- */

enum session_reach { SESSION_REACHABLE, SESSION_UNREACHABLE, SESSION_UNKNOWN };
struct session_goal { /* what is looked for */
  uint32_t property;  /* a violation of a safety property, or a state that a cover property asks for; UINT32_MAX: an
                         error of the  model in a step */
};
struct session_limits { /* 0: none, but states: a million */
  uint64_t states, steps;
};
struct session_ahead {
  enum session_reach reach;
  uint64_t steps;    /* REACHABLE: within so many from the current state, and not fewer; UNKNOWN: none within so many */
  uint64_t *choices; /* REACHABLE: indices of the choices on the way, `steps` of them; for memory_free */
  uint64_t states;   /* visited */
  bool errors;       /* some step ended in an error of the model, or the property had no value in some state */
  const char *why;   /* UNKNOWN: which limit */
};
/* Breadth-first search from the current state, or from what the choice leads to (SESSION_NONE: the former). */
bool session_ahead(struct session *, uint64_t choice, const struct session_goal *, const struct session_limits *,
                   struct session_ahead *);
void session_ahead_release(struct session_ahead *);

#endif
