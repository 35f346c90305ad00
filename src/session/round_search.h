/* Private to src/session: a search for a round with given outcomes.

   A context is what every process sends, who crashes, and the oracle values. Given a context, the outcome of a
   process depends on its own reception alone: whom it hears, which forged messages it receives, and its free
   choices. Receptions are generated lazily, those with few losses first, and kept. A round is a context and a
   reception for each process. The interpreter judges a round as a whole and executes it. */
#ifndef RONDO_SESSION_ROUND_SEARCH_H
#define RONDO_SESSION_ROUND_SEARCH_H

#include "session/round_choices.h"
#include "session/round_pruning.h"

struct process_reception {
  uint64_t heard;
  struct forgery *forged;
  uint32_t nforged;
  struct script script;
  const value *local;  /* the local state after the round; NULL: an error */
  const char *message; /* the error message */
};

/* The outcome that a process must have. */
struct wanted_outcome {
  bool any;
  const value *local; /* NULL: the error */
  const char *message;
};

struct reception_stream {
  bool begun, done;
  uint64_t missed; /* asynchronous rounds: the processes that it cannot hear */
  uint64_t free;   /* the other processes that it need not hear */
  uint64_t lost;   /* the processes that it does not hear now, as a number over the bits of `free` */
  uint32_t nlost;
  uint32_t *digits; /* by sender: 0, or 1 + the forged payload */
  uint64_t forgeable;
  struct choices choices;
  bool choosing; /* there are more scripts of choices for this reception */
  VEC(struct process_reception)
  receptions; /* generated so far: the receptions that fit the target; in the arena of the search */
};

struct round_search {
  struct session *session;
  const struct config *config;
  const struct environment *env;
  uint64_t work, most;
  bool spent; /* the limit was reached, or the stop flag is set */
  struct round_pruning pruning;
  /* the context */
  struct witness *witness;                 /* oracles and scripts are borrowed */
  const struct message_exchange *exchange; /* borrowed */
  struct witness *probe;                   /* a single reception, run to find its outcome */
  struct arena arena;                      /* for the current context */
  struct reception_stream *streams;        /* by process */
  struct wanted_outcome *targets;          /* by process */
  struct config *next;
  struct model_error error;
  struct witness *found;
};

/* The next round of that state. process: the one that ends the round, for asynchronous rounds; otherwise ignored. */
void round_search_init(struct round_search *, struct session *, const struct config *, uint32_t process, uint64_t most);
void round_search_release(struct round_search *);

/* Enumerates the contexts until the callback returns false or the limit is reached; returns false in both cases.
   failed: a process fails while sending (see `error`), so there are no receptions. */
typedef bool round_prefix_fn(struct round_search *, void *context, bool failed);
bool round_prefixes_each(struct round_search *, round_prefix_fn *, void *context);
/* Sets up the streams for the targets; called within a context. */
void round_search_restart(struct round_search *);
/* The i-th reception of process p that fits its target; NULL: there are no more, or the limit is reached. */
const struct process_reception *round_search_reception(struct round_search *, uint32_t p, size_t i);
/* Judges the round made of these receptions, one for each process. Keeps it as `found` if it is allowed and meets the
   targets. */
bool round_search_try(struct round_search *, const struct process_reception *const *receptions);
/* Executes the round made of these receptions, if it is allowed: `witness` is the round, and `next` or `error` its
   result, until round_search_undo. STEP_BAD_WITNESS: it is not allowed. */
enum step_result round_search_step(struct round_search *, const struct process_reception *const *receptions);
void round_search_undo(struct round_search *);
/* Tries all combinations of receptions. False: a round was found, or the limit is reached. */
bool round_search_run(struct round_search *);

bool target_met(const struct round_search *, uint32_t p, enum step_result, const struct config *next,
                const struct model_error *);

#endif
