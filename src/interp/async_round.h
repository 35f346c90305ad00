/* Asynchronous (fine-grained) rounds: sending, receiving and updating are separate steps, and each process is in a
   round of its own (Chaouch-Saad, Charron-Bost, Merz 2009, section 2.1).

   Rounds are communication-closed: the state of a process after a round depends only on its state at the start of the
   round and on messages of that round. So an asynchronous run is a run of lockstep rounds, which determines who hears
   whom in each round, together with the order in which processes go through them. No process receives a message before
   it is sent. The environment allows an asynchronous run if it allows some lockstep rounds that correspond to it.

   A process sends as soon as it enters a round, and receives just before it updates: no other order of these steps can
   be distinguished. So an order lists the process that ends its round next, by its update or by a crash. */
#ifndef RONDO_INTERP_ASYNC_ROUND_H
#define RONDO_INTERP_ASYNC_ROUND_H

#include "base/vec.h"
#include "interp/config.h"

/* The elementary steps. */
enum async_event_kind { ASYNC_SEND, ASYNC_RECEIVE, ASYNC_UPDATE /* or crash */ };
struct async_event {
  enum async_event_kind kind;
  uint32_t process;
  uint32_t from; /* RECEIVE */
};

/* The progress of each process in a run of lockstep rounds. */
struct async_run {
  struct interpreter *interp;
  VEC(const struct config *)
  at; /* before each round, and after the last: nrounds + 1, or nrounds if the last round ends in an error;
         borrowed */
  uint32_t nrounds; /* lockstep rounds */
  uint32_t n;       /* processes */
  uint32_t *done;   /* by process: the number of rounds it has ended */
  bool *sent;       /* by process: has it sent in its current round? */
  uint8_t *got;     /* got[p * n + q]: p has received q's message of that round */
  VEC(uint64_t)
  messages; /* by round and receiver: the senders whose messages it receives; at most 64 processes */
};

#define ASYNC_RUN_PROCESSES_MAX 64

/* A run of these lockstep rounds, which no process has begun. There are nrounds + 1 states; the last one is NULL if the
   last round ends in an error. */
void async_run_init(struct async_run *, struct interpreter *, struct config *const *at, struct witness *const *rounds,
                    uint32_t nrounds);
void async_run_release(struct async_run *);
/* Appends a lockstep round; `after` is NULL if it ends in an error. */
void async_run_add_round(struct async_run *, const struct witness *, const struct config *after);
/* Likewise, given what round_messages says of it. */
void async_run_add_messages(struct async_run *, const uint64_t *by_receiver, const struct config *after);
void async_run_drop_round(struct async_run *); /* the last one, which no process has ended */

/* The senders whose messages each process receives in the round at `c` according to the witness, as bits by sender.
   Forged messages are left out, because they need not have been sent. */
void round_messages(struct interpreter *, const struct config *c, const struct witness *, uint64_t *by_receiver);

/* Is the event possible now? If not, *why says what is missing (borrowed). */
bool async_run_possible(const struct async_run *, const struct async_event *, const char **why);
void async_run_take(struct async_run *, const struct async_event *); /* the event must be possible */
/* p ends its round, after every process that can send has sent and p has received its messages. */
bool async_run_end_round(struct async_run *, uint32_t p, const char **why);
/* Takes back the last async_run_end_round of p, after which nothing but async_run_end_round was called. */
void async_run_undo(struct async_run *, uint32_t p);

/* All processes, each as it is in its own round. `rounds` is the round of the last active process; if none is active,
   that of the process that was the last to stop. */
void async_run_view(const struct async_run *, struct config *);

#endif
