/* Private to src/session: a search for a round with given outcomes.

   Contexts are what everybody sends, who crashes, and oracles; given these, what becomes of a process depends on its
   own reception alone: whom it hears, what forged messages it gets, and its free choices. Rows are made one by one,
   those with few losses first, and kept. A round is a context and a reception for each process; the interpreter judges
   it as a whole, and takes it. */
#ifndef RONDO_SESSION_ROUND_SEARCH_H
#define RONDO_SESSION_ROUND_SEARCH_H

#include "session/round_choices.h"

struct process_reception {
  uint64_t heard;
  struct forgery *forged;
  uint32_t nforged;
  struct script script;
  const value *local;  /* what the process becomes; NULL: it ends in an error */
  const char *message; /* of the error */
};

/* What a process is to become. */
struct wanted_outcome {
  bool any;
  const value *local; /* or NULL: that error */
  const char *message;
};

struct reception_stream {
  bool begun, done;
  uint64_t free; /* whom it may not hear, if it comes to that */
  uint64_t lost; /* whom it does not hear now, as a number over the free ones */
  uint32_t nlost;
  uint32_t *digits; /* by sender: 0, or 1 + the payload that is forged */
  uint64_t forgeable;
  struct choices choices;
  bool choosing;                            /* the choices have further scripts for this reception */
  VEC(struct process_reception) receptions; /* so far: those that fit the target; in the arena of the search */
};

struct local_clause { /* a clause 'forall p: ...' that speaks of the reception of p alone */
  const struct clause *clause;
  uint32_t slot;
};

struct round_search {
  struct session *session;
  const struct config *config;
  const struct environment *env;
  uint64_t work, most;
  bool spent; /* the limit was reached, or the flag is up */
  bool heard_of_read;
  VEC(struct local_clause) local_clauses;
  /* the context */
  struct witness *witness; /* scripts are borrowed */
  struct message_exchange exchange;
  struct witness *probe;            /* one reception, to see what comes of it */
  struct arena arena;               /* of the context */
  struct reception_stream *streams; /* by process */
  struct wanted_outcome *targets;   /* by process */
  struct config *next;
  struct model_error error;
  struct witness *found;
};

void round_search_init(struct round_search *, struct session *, uint64_t most);
void round_search_release(struct round_search *);
bool round_search_spend(struct round_search *); /* false: no more */

/* Every context, until the callback returns false or the work is spent; false then. failed: somebody fails to send,
   error says who; there are no receptions then. */
typedef bool round_prefix_fn(struct round_search *, void *context, bool failed);
bool round_prefixes_each(struct round_search *, round_prefix_fn *, void *context);
/* Sets up the streams for the targets; to be called in a context. */
void round_search_restart(struct round_search *);
/* The i-th reception of process p that fits its target; NULL: there are no more (or the work is spent). */
const struct process_reception *round_search_reception(struct round_search *, uint32_t p, size_t i);
/* Judges the round made of these receptions, one for each process, and keeps it as `found` if it is allowed and meets
 * the targets. */
bool round_search_try(struct round_search *, const struct process_reception *const *receptions);
/* All combinations of receptions; false: a round was found, or the work is spent. */
bool round_search_run(struct round_search *);

bool target_met(const struct round_search *, uint32_t p, enum step_result, const struct config *next,
                const struct model_error *);

#endif
