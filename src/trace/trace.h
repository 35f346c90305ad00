/* A run that the reference interpreter has replayed step by step: only confirmed runs are shown to the user. */
#ifndef RONDO_TRACE_TRACE_H
#define RONDO_TRACE_TRACE_H

#include "system/system.h"

#define NO_PROPERTY UINT32_MAX

/* What a run is claimed to show. */
struct claim {
  uint32_t environment;
  enum semantics semantics; /* the interpreter must use it */
  uint32_t property;        /* index in the model; NO_PROPERTY: only an error, or nothing */
  bool error;               /* it ends in an error: in its last step, or in evaluating the property after it */
  bool lasso;               /* it is a lasso, for a live property */
  uint32_t loop;            /* LASSO: number of steps before the loop; all of them: the run stays in its last state */
  /* LASSO: the formula that it violates; ERROR: the formula that has no value. NULL: the property's. */
  const struct node *text;
};

struct trace {
  struct model *model; /* borrowed, as is everything that values refer to */
  struct claim claim;
  struct run run;          /* owned */
  struct config **configs; /* nconfigs of them: the initial one, then one after each step that has a result */
  uint32_t nconfigs;       /* nsteps + 1, or nsteps if the last step is the error */
  struct step_log *logs;   /* by step */
  uint32_t before;         /* the trace is a part of a longer run (trace_window): the number of steps before it */
  uint32_t *done; /* asynchronous rounds (SEMANTICS_FINE): by process, how many rounds it has ended, `before` included;
                     run and configs are whole rounds, of which only this much has happened. Otherwise NULL */
  struct config *cut, *cut_before; /* asynchronous rounds: the states of all processes at the end, and before the last
                                      step of the order (NULL: there is none) */
  bool over;                       /* the scope of the claim's property ended before the last state */
  struct model_error error;
  bool exact; /* LASSO: the configuration recurs exactly, not only up to round numbers */
  bool piles; /* LASSO: it recurs only up to messages that are never received and accumulate */
};

enum replay {
  REPLAY_CONFIRMED, /* it is a run of the model in its environment and shows its claim */
  REPLAY_NOT_SHOWN, /* it is a run, but does not show its claim */
  REPLAY_NOT_A_RUN
};

/* Takes ownership of the run. Unless the run is confirmed, *why gives the difference, and the trace holds as much as
   could be replayed. */
enum replay trace_replay(struct trace *, struct interpreter *, struct model *, const struct claim *, struct run *,
                         struct text *why);
/* For findings: returns the trace, owned by the caller, or NULL if the interpreter does not confirm it. */
struct trace *trace_confirmed(struct interpreter *, struct model *, const struct claim *, struct run *,
                              struct text *why);
/* A part of a run: takes these steps from the state that `before` steps have led to, and claims nothing unless the
   caller adds it. Takes ownership of the run, whose `initial` is that state. done: asynchronous rounds, as in struct
   trace, copied; otherwise NULL. The steps were allowed when they were taken; false: one of them cannot be taken, and
   the trace holds those before it. */
bool trace_window(struct trace *, struct interpreter *, struct model *, const struct claim *, struct run *,
                  uint32_t before, const uint32_t *done);
void trace_release(struct trace *);
void trace_free(struct trace *); /* of trace_confirmed; may be NULL */

const struct property *trace_property(const struct trace *); /* of the claim; NULL: none */
bool trace_is_good(const struct trace *);                    /* nothing fails: it reaches a cover, or claims nothing */
bool trace_stays(const struct trace *);                      /* LASSO: nothing happens after the last step */
/* Does the last step itself end in an error? */
bool trace_fails_in_step(const struct trace *);
/* The last state, and the one before the last step: NULL if there is none. */
const struct config *trace_last(const struct trace *);
const struct config *trace_before_last(const struct trace *);
/* Asynchronous rounds: has the process begun, or ended, round step + 1? In other semantics always true. */
bool trace_has_begun(const struct trace *, uint32_t process, uint32_t step);
bool trace_has_ended(const struct trace *, uint32_t process, uint32_t step);
/* Rounds: does the process receive and update in that step? */
bool trace_takes_part(const struct trace *, uint32_t process, uint32_t step);
bool trace_halts(const struct trace *, uint32_t process, uint32_t step); /* in that step or before */
/* Rounds: heard[p * n + q]: a message of q reached p in that step; missed[p * n + q]: one was sent to p, which takes
   part, and did not reach it. Returns heard, for memory_free; missed points into it. */
uint8_t *trace_heard_of(const struct trace *, uint32_t step, uint8_t **missed);
/* Groups equal messages that a process sends at once, starting with the i-th. Returns the index after the group;
   members: the receivers, *n of them. */
size_t sent_together(const struct trace *, const struct step_log *, size_t i, uint8_t *members, uint32_t *n);

/* Evaluates a property after a step from `before`, or at the start (NULL), where a step property says nothing. */
enum verdict3 property_evaluate(struct interpreter *, const struct property *, const struct config *before,
                                const struct config *at, struct model_error *);
/* Does the scope of the property end in this state? Its `until` holds there, so later states do not matter. */
bool property_ends(struct interpreter *, const struct property *, const struct config *);
/* The value of the property that shows the claim. */
enum verdict3 claim_verdict(const struct model *, const struct claim *);

const char *step_word(const struct model *); /* "round" or "step" */

const struct role *process_role(const struct model *, uint32_t process);
uint32_t role_find_var(const struct role *, const char *name);                 /* NO_VAR: none */
void process_print(const struct model *, uint32_t process, struct text *);     /* P(1) */
void message_print(const struct model *, uint32_t kind, value, struct text *); /* promise(b: 1, v: none) */

/* Variables that do not occur in the model's source: program points, which `once` actions were taken, and the auxiliary
   variables of live properties. */
bool var_is_hidden(const struct var *);
const struct var *change_var(const struct model *, const struct change *);

#endif
