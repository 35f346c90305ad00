/* librondo: a model checker for fault-tolerant algorithms, as a library.

   Everything goes through a context. Two contexts know nothing of each other; a context is used by one thread at a
   time, but rondo_interrupt may be called from any thread and from a signal handler. The library does not print, does
   not exit, installs no signal handlers and reads no environment variables: what a host does not offer in its
   rondo_host is left out.

   Strings that the library returns belong to the object that they were asked of, and live as long as it does.
   docs/embedding.md has an example. */
#ifndef RONDO_H
#define RONDO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) && !defined(RONDO_STATIC)
#define RONDO_PUBLIC __attribute__((visibility("default")))
#else
#define RONDO_PUBLIC
#endif

typedef struct rondo rondo;                 /* a context */
typedef struct rondo_model rondo_model;     /* the text of a model, with values for its parameters */
typedef struct rondo_options rondo_options; /* options by the names that the command line has for them */
typedef struct rondo_result rondo_result;   /* what a command answered */
typedef struct rondo_session rondo_session; /* a run that is made step by step */

RONDO_PUBLIC const char *rondo_version(void);

/* ---- verdicts: the exit statuses of the command line ---- */

typedef enum rondo_status {
  RONDO_HOLDS = 0, /* or done, for commands that judge nothing */
  RONDO_VIOLATED = 1,
  RONDO_INCONCLUSIVE = 2, /* a limit was reached, or it was interrupted */
  RONDO_BAD_INPUT = 3,    /* the diagnostics say what is wrong */
  RONDO_FAULT = 4         /* a fault of rondo itself */
} rondo_status;

typedef enum rondo_kind { RONDO_SAFETY, RONDO_COVER, RONDO_LIVE, RONDO_NO_ERROR } rondo_kind;

typedef struct rondo_verdict {
  const char *property, *environment;
  rondo_kind kind;
  rondo_status status; /* RONDO_HOLDS, RONDO_VIOLATED or RONDO_INCONCLUSIVE */
  const char *proved;  /* what was shown, such as "every run, n = 4" or "after 3 rounds" */
  bool has_trace;
} rondo_verdict;

/* ---- the host ---- */

typedef enum rondo_severity { RONDO_ERROR, RONDO_WARNING, RONDO_NOTE } rondo_severity;

typedef struct rondo_diagnostic {
  rondo_severity severity;
  const char *code;                            /* such as "E0201"; stable: docs/errors.md has them all */
  const char *message;                         /* one line */
  const char *help;                            /* or NULL */
  const char *path;                            /* NULL: it is not about a place in a file; then what follows is 0 */
  size_t from, to;                             /* bytes of the text, [from, to) */
  unsigned line, column, end_line, end_column; /* from 1; columns in characters */
  const char *text; /* all of it as a terminal shows it, with the source line; ends with a newline */
} rondo_diagnostic;

typedef struct rondo_process { /* see rondo_host.start_process */
  long id;
  int wire; /* a file descriptor to read from */
} rondo_process;

/* Several processes, each with a context and this transport, that run the same command with the same arguments: the
   ranks of one search. Rank 0 has the answer; the others help, say nothing, have no verdicts, and get its status.
   `check` and `resume` are for several ranks. Each rank needs a rondo_host.transport of its own, with the same size.
   No callback may be NULL. None may block for long but send, receive and fail.

   Messages: at most 2^30 bytes each, in order between two ranks. Ranks other than 0 send to rank 0 only, and it to
   them. Collective operations: all ranks begin the same ones in the same order, and one is over before the next is
   begun. Buffers belong to the transport from begin_... until test says true. */
typedef struct rondo_transport {
  void *context;
  uint32_t rank, size;
  const uint32_t *machine; /* by rank: a number of the machine it runs on; NULL: all run on one */

  void (*send)(void *context, uint32_t to, const void *bytes, size_t n);
  /* Has a message arrived? Then its sender and its length. */
  bool (*poll)(void *context, uint32_t *from, size_t *n);
  void (*receive)(void *context, uint32_t from, void *bytes, size_t n); /* the one that poll has announced */

  void (*begin_barrier)(void *context); /* over when all ranks have begun it */
  /* all: the n numbers of each rank, rank by rank. */
  void (*begin_gather)(void *context, const uint64_t *mine, size_t n, uint64_t *all);
  void (*begin_broadcast)(void *context, uint32_t from, void *bytes, size_t n); /* n: at most 2^30 */
  /* For each rank i: out_n[i] bytes go there and in_n[i] come from there. `out` and `in` hold them rank by rank, at
     most 2^30 bytes each. */
  void (*begin_exchange)(void *context, const void *out, const size_t *out_n, void *in, const size_t *in_n);
  bool (*test)(void *context); /* is the operation over? */

  void (*fail)(void *context, const char *why); /* ends all ranks; must not return */
} rondo_transport;

/* What `rondo explore` asks its host to show; see rondo_host.explore. Strings live until it returns. */
typedef struct rondo_exploration {
  const char *path;           /* of the model, which can be opened */
  const char *const *defines; /* "n=4", as -D gives them */
  size_t ndefines;
  const char *environment, *semantics; /* NULL: the default */
  const char *trace;                   /* the path of a trace to begin with, or NULL */
  unsigned port;                       /* 0: any */
  bool no_browser;                     /* say where the page is, but do not open it */
  uint64_t memory;                     /* bytes that all of it may take; 0: the default */
} rondo_exploration;

/* What the library asks of its host. Every callback may be NULL. They are called from the thread that called the
   library, except for overdue. */
typedef struct rondo_host {
  void *context;
  /* The text of an answer, as it comes. False: it could not be written. */
  bool (*write)(void *context, const char *text, size_t length);
  /* Errors and warnings, as they come. Without it they are kept: rondo_diagnostics. */
  void (*diagnostic)(void *context, const rondo_diagnostic *);
  /* How far it is, a line of text without a newline; NULL: it is done. */
  void (*progress)(void *context, const char *line);
  /* A verdict of a check, when it is known. final: it is the one in the result. Before that, a violation or a reached
     cover is told when it is found, if the search goes on for other properties; it was not replayed yet, and its run
     may become shorter. Strings live until it returns. Not for tables, nor with the option audit before its end. */
  void (*verdict)(void *context, const rondo_verdict *, bool final);
  /* From here on rondo_interrupt is noticed by what runs now: the time to install signal handlers. */
  void (*listen)(void *context);
  /* Memory has run out. It must not return; without it, or if it does, the process is aborted. */
  void (*out_of_memory)(void *context, size_t wanted);
  /* A time limit or rondo_interrupt came in the middle of a step that does not notice it, about a second ago. A program
     writes the answer (as far as it is known; may be ""), then the message, and ends with the status. Called from
     another thread, which may call nothing of the library; what runs then ends when it can. */
  void (*overdue)(void *context, rondo_status status, const char *answer, const char *message);
  /* Provers race, each in a process of its own, so that whatever one of them does it can be ended. start_process runs
     work(argument, wire) in a copy of this process and ends the copy afterwards; what is written to wire can be read
     from process->wire. False: there is no process. end_process ends it if it still runs, and waits for it. Without
     them provers run one after another in this process. */
  bool (*start_process)(void *context, void (*work)(void *argument, int wire), void *argument, rondo_process *process);
  void (*end_process)(void *context, const rondo_process *process);
  /* `check --watch`: sleeps for so long, or until a signal comes. False: it is time to end. Without it files are not
     watched. */
  bool (*wait)(void *context, double seconds);
  /* The command `explore`: shows the model to a user until that user is done. NULL: the command is refused. */
  rondo_status (*explore)(void *context, const rondo_exploration *);
  bool colour, colour_diagnostics; /* text has colours, as terminals want them */
  unsigned width;                  /* of the text, in columns; 0: 96 */
  const char *models; /* the folder of the models that come with rondo; NULL: "models" in the working directory */
  const rondo_transport *transport; /* to the other ranks; lives as long as the context. NULL: there are none */
} rondo_host;

RONDO_PUBLIC rondo *rondo_new(const rondo_host *); /* NULL: offers nothing */
RONDO_PUBLIC void rondo_free(rondo *);             /* after all that was made with it */

/* What runs now ends soon, and says that it was interrupted; so does everything after it, until rondo_resume. What is
   done in a moment does not look (see listen in rondo_host). */
RONDO_PUBLIC void rondo_interrupt(rondo *);
RONDO_PUBLIC void rondo_resume(rondo *);

/* Diagnostics since the last call of rondo_clear_diagnostics; kept only if the host has no callback for them. */
RONDO_PUBLIC size_t rondo_diagnostics(const rondo *);
RONDO_PUBLIC const rondo_diagnostic *rondo_diagnostic_at(const rondo *, size_t i);
RONDO_PUBLIC void rondo_clear_diagnostics(rondo *);

/* ---- models ---- */

/* NULL: the diagnostics say why. "-" is standard input. */
RONDO_PUBLIC rondo_model *rondo_open(rondo *, const char *path);
/* path: what diagnostics call it. */
RONDO_PUBLIC rondo_model *rondo_open_text(rondo *, const char *path, const char *text, size_t length);
RONDO_PUBLIC void rondo_close(rondo_model *);
RONDO_PUBLIC rondo *rondo_of(const rondo_model *); /* its context */

/* A value for a parameter: a number, true or false, or LOW..HIGH where a command makes a table. False: it is none.
   Whether the model has such a parameter is said by what uses it. */
RONDO_PUBLIC bool rondo_set(rondo_model *, const char *param, const char *value);

/* ---- commands ---- */

/* Options have the names and values of the command line, without dashes: "max-time", "10s". Those without an argument
   take NULL. False: the diagnostics say why. */
RONDO_PUBLIC rondo_options *rondo_options_new(rondo *);
RONDO_PUBLIC bool rondo_option(rondo_options *, const char *name, const char *value);
RONDO_PUBLIC void rondo_options_free(rondo_options *);

/* Each of them: options may be NULL. Never NULL; the status says what came of it. */
RONDO_PUBLIC rondo_result *rondo_check(rondo_model *, const rondo_options *);
RONDO_PUBLIC rondo_result *rondo_prove(rondo_model *, const rondo_options *);
RONDO_PUBLIC rondo_result *rondo_threshold(rondo_model *, const char *property, const rondo_options *);
RONDO_PUBLIC rondo_result *rondo_compare(rondo_model *, const rondo_options *);
RONDO_PUBLIC rondo_result *rondo_lint(rondo_model *, const rondo_options *);
RONDO_PUBLIC rondo_result *rondo_format(rondo_model *);
RONDO_PUBLIC rondo_result *rondo_export(rondo_model *, const char *format, const rondo_options *);
RONDO_PUBLIC rondo_result *rondo_run(rondo_model *, const rondo_options *); /* a random run */
RONDO_PUBLIC rondo_result *rondo_replay(rondo_model *, const char *trace_path, const rondo_options *);
RONDO_PUBLIC void rondo_result_free(rondo_result *); /* before its model is closed */

RONDO_PUBLIC rondo_status rondo_result_status(const rondo_result *);
/* What the command line would print; with the option "json", JSON (docs/json.md). Not kept if the host has a callback
 * for it. */
RONDO_PUBLIC const char *rondo_result_text(const rondo_result *);

/* ---- results of rondo_check ---- */

RONDO_PUBLIC size_t rondo_result_verdicts(const rondo_result *);
RONDO_PUBLIC rondo_verdict rondo_result_verdict(const rondo_result *, size_t i);
RONDO_PUBLIC uint64_t rondo_result_states(const rondo_result *);

/* The run of a verdict: state 0 is the initial one, step i leads from state i - 1 to state i. -1 in loop: it does not
 * come back. */
typedef struct rondo_trace_info {
  size_t steps;
  long loop; /* the state that the last one is equal to */
} rondo_trace_info;

RONDO_PUBLIC rondo_trace_info rondo_result_trace(const rondo_result *, size_t verdict);
/* What happens in a step, and what the state after it is, as text; for memory that is yours: rondo_string_free. */
RONDO_PUBLIC char *rondo_result_trace_json(const rondo_result *, size_t verdict); /* as --trace-out writes it */
RONDO_PUBLIC char *rondo_result_trace_text(const rondo_result *, size_t verdict);
RONDO_PUBLIC void rondo_string_free(char *);

/* ---- sessions ---- */

/* A session is a run that the caller makes step by step, choosing what the processes, the network and the faults do. It
   has a path: an initial state and the steps taken since. Positions are numbers of steps: 0 is the initial state,
   rondo_session_length the current one.

   Initial states and choices are numbered from 0. The numbers depend on the model, its parameters, the environment, the
   semantics and the state alone, so a path can be stored as numbers and replayed. Processes are numbered from 0 in the
   order of rondo_session_info.

   Functions that return a char * return JSON (docs/json.md), or the plain text that is mentioned, for
   rondo_string_free. NULL and false mean failure: rondo_session_error says why, and the path is as it was. Everything
   that may take long ends soon after rondo_interrupt. Lists have at most 10000 entries. */

/* environment: NULL is the first of the model. semantics: NULL is the default of its kind. In "fine" rounds a step is
   one process ending its round; the first one to end a round fixes what happens to everybody in it. The parameters are
   those of rondo_set; later changes are not seen. NULL: the diagnostics say why. The model must stay open while the
   session is used. */
RONDO_PUBLIC rondo_session *rondo_session_new(rondo_model *, const char *environment, const char *semantics);
RONDO_PUBLIC void rondo_session_free(rondo_session *);
/* Why the last call failed. Lives until the next one. */
RONDO_PUBLIC const char *rondo_session_error(const rondo_session *);
/* Whether the last call failed, or gave an incomplete answer, because of rondo_interrupt. */
RONDO_PUBLIC bool rondo_session_interrupted(const rondo_session *);
/* The model, its environments, processes and properties; the length of the path. */
RONDO_PUBLIC char *rondo_session_info(rondo_session *);

RONDO_PUBLIC char *rondo_session_initials(rondo_session *, uint64_t offset, size_t max);
/* Counts up to most; *exact: there are no more. */
RONDO_PUBLIC bool rondo_session_count_initials(rondo_session *, uint64_t most, uint64_t *n, bool *exact);
/* Starts a new path from an initial state. */
RONDO_PUBLIC bool rondo_session_start(rondo_session *, uint64_t index);

/* What can happen in the current state, from the number offset on. In fine rounds the choices of process p among n have
   the numbers p, p + n, p + 2n, ..., so not every number is a choice. */
RONDO_PUBLIC char *rondo_session_choices(rondo_session *, uint64_t offset, size_t max);
RONDO_PUBLIC bool rondo_session_count_choices(rondo_session *, uint64_t most, uint64_t *n, bool *exact);
/* Models of messages and of shared memory: steps that the environment or the semantics forbids, and why. Fine rounds:
   the processes that have to wait, and why. */
RONDO_PUBLIC char *rondo_session_forbidden(rondo_session *, uint64_t offset, size_t max);
RONDO_PUBLIC bool rondo_session_take(rondo_session *, uint64_t index);

RONDO_PUBLIC bool rondo_session_started(const rondo_session *);
RONDO_PUBLIC size_t rondo_session_length(const rondo_session *); /* in steps */
/* The last step ended in an error of the model: there is no state after it, and nothing to do but go back. */
RONDO_PUBLIC bool rondo_session_failed(const rondo_session *);
RONDO_PUBLIC bool rondo_session_back(rondo_session *, size_t steps);
/* A new path. If it fails the old one stays. */
RONDO_PUBLIC bool rondo_session_replay(rondo_session *, uint64_t initial, const uint64_t *choices, size_t n);
/* The run goes on from its end as from the state after `position` steps, again and again; position = the length: it
   stays as it is. False: it does not. Traces and diagrams show the loop, and live properties are evaluated on it, until
   the path changes or the loop is opened. Not for fine rounds. */
RONDO_PUBLIC bool rondo_session_close_loop(rondo_session *, size_t position);
RONDO_PUBLIC void rondo_session_open_loop(rondo_session *);
/* Looks for a loop that can be closed, the shortest one first. */
RONDO_PUBLIC bool rondo_session_find_loop(rondo_session *, size_t *position);
/* The path as numbers for rondo_session_replay. Rounds that were taken as JSON and traces that were loaded have to be
   looked up; most limits the choices that are looked at for each step, 0: a million. */
RONDO_PUBLIC char *rondo_session_path(rondo_session *, uint64_t most);
/* The choice taken at a step, the first being 0. */
RONDO_PUBLIC char *rondo_session_taken(rondo_session *, size_t step);

RONDO_PUBLIC char *rondo_session_state(rondo_session *, size_t position);
RONDO_PUBLIC char *rondo_session_properties(rondo_session *, size_t position);
/* An expression, as a property would have it. step: about the step to that state; primed variables are those of the
   state. Errors in the text are part of the answer. */
RONDO_PUBLIC char *rondo_session_evaluate(rondo_session *, size_t position, const char *text, bool step);

/* The path as a trace that `rondo replay` accepts. property: the name of one that the end of the path violates (cover:
   reaches), or NULL. */
RONDO_PUBLIC char *rondo_session_save(rondo_session *, const char *property);
/* A space-time diagram of the path, as SVG that a page can contain (docs/pictures.md). options: NULL, or a JSON object
   with any of: "from", "to": only the steps between these positions (fine rounds: rounds), at most 500; by default the
   last 100. "property": one to emphasise the witnesses of, if the end of the path violates (cover: reaches) it and is
   drawn. "fold": draw identical processes as one line if there are more than six (true). "caption": with the model and
   the property above (false). */
RONDO_PUBLIC char *rondo_session_svg(rondo_session *, const char *options);
/* The path as a file of that format: "trace" (as rondo_session_save), "itf", or "html" (a page, as --html writes it).
 */
RONDO_PUBLIC char *rondo_session_export(rondo_session *, const char *format, const char *property);
/* What a step did, the first being 0: its entry in the trace, with what was sent, received and changed, and the lines.
   Fine rounds: a round. */
RONDO_PUBLIC char *rondo_session_step(rondo_session *, size_t step);
/* The run of a trace becomes the path, with its loop. The model, its parameters, the environment and the semantics must
 * be those of the session. */
RONDO_PUBLIC bool rondo_session_load(rondo_session *, const char *json, size_t length);

/* Models of rounds: a round as JSON, with whom each process hears and what it chooses. */
RONDO_PUBLIC char *rondo_session_full_round(rondo_session *); /* everybody hears everybody, and nothing else happens */
RONDO_PUBLIC char *rondo_session_round(rondo_session *, uint64_t index); /* of a choice */
RONDO_PUBLIC char *rondo_session_round_taken(rondo_session *, size_t step);
/* What each process can choose if the others do as in the round; NULL: as in the full round. */
RONDO_PUBLIC char *rondo_session_candidates(rondo_session *, const char *round);
/* Whether the round is possible and allowed, and why not. */
RONDO_PUBLIC char *rondo_session_judge(rondo_session *, const char *round);
RONDO_PUBLIC bool rondo_session_take_round(rondo_session *, const char *round);
/* The states that a process can be in after the round, with a round for each. most limits the work, 0: a million. */
RONDO_PUBLIC char *rondo_session_outcomes(rondo_session *, uint32_t process, uint64_t most);
/* A round in which every process has the outcome that it has in its own entry of a JSON array of rounds; null: any
 * outcome. */
RONDO_PUBLIC char *rondo_session_find_round(rondo_session *, const char *rounds, uint64_t most);
/* Values of an oracle, and messages that a process can receive, by number: plain text. */
RONDO_PUBLIC char *rondo_session_oracle_text(rondo_session *, uint32_t process, uint32_t oracle, uint64_t number);
RONDO_PUBLIC char *rondo_session_payload_text(rondo_session *, uint32_t process, uint64_t number);

#define RONDO_CURRENT UINT64_MAX /* the current state, not what a choice leads to */
/* Searches, breadth first, for a violation of a safety property or a state that a cover property asks for (NULL: for an
   error of the model), from the current state on (RONDO_CURRENT) or with that choice as the first step. Limits: 0 is a
   million states and any number of steps. */
RONDO_PUBLIC char *rondo_session_ahead(rondo_session *, const char *property, uint64_t choice, uint64_t states,
                                       uint64_t steps);
/* Searches, breadth first, from the state after so many steps of the path on, for all safety and cover properties at
   once (but those with 'until') and for errors of the model. graph: the answer also has the graph of the states, or of
   classes of states in which the projection, an expression, has the same value; NULL: every state is a class. Limits as
   above. A search that is interrupted answers with what it knows. Ways to what was found are choices, or for
   models of rounds, rounds. Not for fine rounds. */
RONDO_PUBLIC char *rondo_session_survey(rondo_session *, size_t position, bool graph, const char *projection,
                                        uint64_t states, uint64_t steps);

/* ---- the command line ---- */

/* argv[0] is the name of a command. Answers and diagnostics go to the host. */
RONDO_PUBLIC rondo_status rondo_command(rondo *, int argc, char **argv);
/* For tests of rondo itself: settings that are usually decided by size or time. False: there is no such setting. */
RONDO_PUBLIC bool rondo_for_tests(rondo *, const char *name, const char *value);

#ifdef __cplusplus
}
#endif

#endif
