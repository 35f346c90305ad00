/* Fine-grained rounds: sending, receiving and updating are steps of their own, and each process is in a round of its
   own (Chaouch-Saad, Charron-Bost, Merz 2009, section 2.1).

   Rounds are communication-closed: what a process becomes in a round depends on its state at the start of it and on
   messages of that round alone. So a fine run is a run of whole rounds, which says who hears whom in each, together
   with the order in which processes go through it; nobody takes a message before it was sent. What the environment
   allows is what it allows of whole rounds: a fine run is one of its runs if whole rounds that it allows can be found
   for it.

   A process sends as soon as it is in a round, and receives just before it updates: whatever else it might do in
   between nobody can see. So an order lists who ends its round next, by its update or by crashing in it. */
#ifndef RONDO_INTERP_ASYNC_ROUND_H
#define RONDO_INTERP_ASYNC_ROUND_H

#include "interp/config.h"

/* The elementary steps, for those who want them one by one. */
enum async_event_kind { ASYNC_SEND, ASYNC_RECEIVE, ASYNC_UPDATE /* or crash */ };
struct async_event {
  enum async_event_kind kind;
  uint32_t process;
  uint32_t from; /* RECEIVE */
};

/* How far each process has come in a run of whole rounds. */
struct async_run {
  struct interpreter *interp;
  struct config *const *at; /* before each round, and after the last: nrounds + 1, or nrounds if the last round ends
                               in an error; borrowed, as is the next */
  struct witness *const *rounds;
  uint32_t nrounds;
  uint32_t n;         /* processes */
  uint32_t *done;     /* by process: rounds that it has ended */
  bool *sent;         /* by process: in the round it is in */
  uint8_t *got;       /* got[p * n + q]: p has received q's message of that round */
  uint64_t *messages; /* by round and receiver: whose messages it is to receive; at most 64 processes */
};

#define ASYNC_RUN_PROCESSES_MAX 64

void async_run_init(struct async_run *, struct interpreter *, struct config *const *at, struct witness *const *rounds,
                    uint32_t nrounds);
void async_run_release(struct async_run *);

/* Whose messages each process receives in the round at `c` as the witness says: bits by sender, liars' messages left
   out (nobody need have sent them). */
void round_messages(struct interpreter *, const struct config *c, const struct witness *, uint64_t *by_receiver);

/* Can it happen now? If not, *why says what is missing (borrowed). */
bool async_run_possible(const struct async_run *, const struct async_event *, const char **why);
void async_run_take(struct async_run *, const struct async_event *); /* which is possible */
/* p ends its round, after everybody has sent that can and p has received what it is to. */
bool async_run_end_round(struct async_run *, uint32_t p, const char **why);

/* All processes, each as it is in its own round. `rounds` is that of the last one that takes part; if none does, of the
   one that was the last to stop. */
void async_run_view(const struct async_run *, struct config *);

#endif
