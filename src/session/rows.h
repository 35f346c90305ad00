/* Private to src/session: a search for a round with given outcomes.

   Contexts are what everybody sends, who crashes, and oracles; given these, what becomes of a process depends on its own row alone:
   whom it hears, what forged messages it gets, and its free choices. Rows are made one by one, those with few losses first, and kept.
   A round is a context and a row for each process; the interpreter judges it as a whole, and takes it. */
#ifndef RONDO_SESSION_ROWS_H
#define RONDO_SESSION_ROWS_H

#include "session/round.h"

struct row {
  uint64_t heard;
  struct forgery *forged;
  uint32_t nforged;
  struct script script;
  const value *local;  /* what the process becomes; NULL: it ends in an error */
  const char *message; /* of the error */
};

/* What a process is to become. */
struct target {
  bool any;
  const value *local;  /* or NULL: that error */
  const char *message;
};

struct row_stream {
  bool begun, done;
  uint64_t free;     /* whom it may not hear, if it comes to that */
  uint64_t lost;     /* whom it does not hear now, as a number over the free ones */
  uint32_t nlost;
  uint32_t *digits;  /* by sender: 0, or 1 + the payload that is forged */
  uint64_t forgeable;
  struct choices choices;
  bool choosing;     /* the choices have further scripts for this row */
  VEC(struct row) rows; /* so far: those that fit the target; in the arena of the hunt */
};

struct separable { /* a clause 'forall p: ...' that speaks of the row of p alone */
  const struct clause *clause;
  uint32_t slot;
};

struct hunt {
  struct session *session;
  const struct config *config;
  const struct environment *env;
  uint64_t work, most;
  bool spent;              /* the limit was reached, or the flag is up */
  bool heard_matters;
  VEC(struct separable) separable;
  /* the context */
  struct witness *witness; /* scripts are borrowed */
  struct exchange exchange;
  struct witness *probe;   /* one row, to see what comes of it */
  struct arena arena;      /* of the context */
  struct row_stream *streams; /* by process */
  struct target *targets;     /* by process */
  struct config *next;
  struct model_error error;
  uint64_t leaves;         /* that may still be judged in this attempt */
  struct witness *found;
};

void hunt_init(struct hunt *, struct session *, uint64_t most);
void hunt_release(struct hunt *);
bool hunt_spend(struct hunt *); /* false: no more */

/* Every context, until the callback returns false or the work is spent; false then. failed: somebody fails to send, hunt->error says
   who; there are no rows then. */
typedef bool context_fn(struct hunt *, void *context, bool failed);
bool hunt_contexts(struct hunt *, context_fn *, void *context);
/* Sets up the streams for the targets; to be called in a context. */
void hunt_begin_rows(struct hunt *);
/* The i-th row of process p that fits its target; NULL: there are no more (or the work is spent). */
const struct row *hunt_row(struct hunt *, uint32_t p, size_t i);
/* Judges the round made of these rows (NULL: of the p-th, everybody hears all) and keeps it if it is allowed and meets the targets. */
bool hunt_try(struct hunt *, const struct row *const *rows);
/* All combinations of rows, at most hunt->leaves of them; false: the round was found, or the work is spent. */
bool hunt_combine(struct hunt *);

bool target_met(const struct hunt *, uint32_t p, enum step_result, const struct config *next, const struct model_error *);

#endif
