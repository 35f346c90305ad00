/* A run that was replayed, step by step, on the reference: what is shown to people is only what the
   reference confirms. */
#ifndef RONDO_TRACE_TRACE_H
#define RONDO_TRACE_TRACE_H

#include "system/system.h"

#define NO_PROPERTY UINT32_MAX

/* What a run is said to show. */
struct claim {
  uint32_t environment;
  enum semantics semantics; /* the interp must follow it */
  uint32_t property;        /* the model's; NO_PROPERTY: only an error, or nothing */
  bool error;               /* it ends in an error: of its last step, or of evaluating the property after it */
  bool lasso;               /* it goes on for ever: a live property... */
  uint32_t loop;            /* ...from after so many steps again and again; the number of steps: it stays as it is */
  const struct node *text;  /* LASSO: the formula that is false of it; ERROR: that has no value. NULL: the property's */
};

struct trace {
  struct model *model; /* borrowed, as is everything that values name */
  struct claim claim;
  struct run run;          /* owned */
  struct config **configs; /* nconfigs of them: initial, then after each step that has a result */
  uint32_t nconfigs;       /* nsteps + 1, or nsteps if the last step is the error */
  struct step_log *logs;   /* by step */
  uint32_t *done; /* fine rounds: by process, how many rounds it has ended; run and configs are whole rounds, of
                     which only so much has happened. Else NULL */
  struct config *cut, *cut_before; /* fine rounds: all processes as they are at the end, and before the last of the
                                      order (NULL: there is none) */
  struct model_error error;
  bool exact; /* LASSO: it comes back to exactly the same, not only but for round numbers */
  bool piles; /* LASSO: and but for messages that nobody takes, ever more of them */
};

enum replay {
  REPLAY_CONFIRMED, /* a run of the model in its environment, and it shows what it claims */
  REPLAY_NOT_SHOWN, /* a run, but the claim is not true of it */
  REPLAY_NOT_A_RUN
};

/* Takes the run. *why says what differs, unless it is confirmed; the trace holds as much as could
 * be replayed. */
enum replay trace_replay(struct trace *, struct interpreter *, struct model *, const struct claim *, struct run *,
                         struct text *why);
/* For what was found: the trace, owned, or NULL if the reference does not confirm it. */
struct trace *trace_confirmed(struct interpreter *, struct model *, const struct claim *, struct run *,
                              struct text *why);
void trace_release(struct trace *);
void trace_free(struct trace *); /* or NULL; of trace_confirmed */

/* Does the last step itself end in an error? */
bool trace_fails_in_step(const struct trace *);
/* The state at the end, and the one before the last step: NULL if there is none. */
const struct config *trace_last(const struct trace *);
const struct config *trace_before_last(const struct trace *);
/* Fine rounds: has the process begun, ended the (step + 1)-th round? Else all have. */
bool trace_has_begun(const struct trace *, uint32_t process, uint32_t step);
bool trace_has_ended(const struct trace *, uint32_t process, uint32_t step);
/* Rounds: does the process receive and update in that step? */
bool trace_takes_part(const struct trace *, uint32_t process, uint32_t step);
bool trace_halts(const struct trace *, uint32_t process, uint32_t step); /* by that step */
/* Equal messages that a process sends in one go: those from the i-th on. Returns where the next ones are; members: the
   receivers, *n of them. */
size_t sent_together(const struct trace *, const struct step_log *, size_t i, uint8_t *members, uint32_t *n);

/* A property after a step (before: where it was taken) or at the start (NULL): a step property says nothing there. */
enum verdict3 property_evaluate(struct interpreter *, const struct property *, const struct config *before,
                                const struct config *at, struct model_error *);
/* The verdict that shows the claim. */
enum verdict3 claim_verdict(const struct model *, const struct claim *);

const char *step_word(const struct model *); /* "round" or "step" */

const struct role *process_role(const struct model *, uint32_t process);
void process_print(const struct model *, uint32_t process, struct text *);     /* P(1) */
void message_print(const struct model *, uint32_t kind, value, struct text *); /* promise(b: 1, v: none) */

/* Variables that the model's text does not have: where a process stands, which `once` actions it took, what a live
   property speaks of. */
bool var_is_hidden(const struct var *);
const struct var *change_var(const struct model *, const struct change *);

#endif
