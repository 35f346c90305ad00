/* Several processes at one search, perhaps on several machines: ranks, as in MPI. Each has a transition system for the
   same query and owns the states that their hash assigns to it. All ranks use the same names for the same contents, so
   keys mean the same everywhere: a rank that needs a new name asks rank 0, and the reply contains all names assigned
   since its last update. Successors are sent to their owners in batches, which all ranks exchange together. A layer is
   complete when all ranks have finished their part and no messages are in transit. */
#ifndef RONDO_SEARCH_RANKS_H
#define RONDO_SEARCH_RANKS_H

#include "rondo.h"

#include "base/vec.h"
#include "search/bfs.h"

typedef VEC(uint8_t) bytes;

struct dictionary_entry { /* an assigned name */
  uint32_t table, name;
};
struct shared_table {
  struct ranks *ranks;
  struct intern *table;
  uint32_t number;
};

struct ranks {
  const rondo_transport *transport;
  uint32_t rank, n;
  /* Rank 0 has ended with this status: there are no more searches. */
  bool ended;
  int status;
  /* shared_dictionary.c: */
  struct shared_table *tables;
  uint32_t ntables;
  VEC(struct dictionary_entry) given; /* rank 0: all assigned names, in order */
  uint64_t known;                     /* how many of them are in this rank's tables */
  bytes request, reply;
  /* While waiting for other ranks: */
  const volatile sig_atomic_t *interrupt; /* or NULL */
  void (*lost)(void *context);            /* or NULL; called once if they do not respond after an interrupt */
  void *lost_context;
  enum search_end broken; /* why a search ended before the names were shared, after which no other can follow;
                             EXHAUSTED: none did */
};

void ranks_init(struct ranks *, const rondo_transport *);
void ranks_release(struct ranks *);
static inline bool ranks_share_machine(const struct ranks *r, uint32_t a, uint32_t b) {
  return !r->transport->machine || r->transport->machine[a] == r->transport->machine[b];
}
static inline void ranks_watch(struct ranks *r, const volatile sig_atomic_t *interrupt, void (*lost)(void *),
                               void *context) {
  r->interrupt = interrupt;
  r->lost = lost;
  r->lost_context = context;
}

/* --- ranks_transport.c: collective operations, called by all ranks in the same order, except serve and ask --- */

void ranks_barrier(struct ranks *); /* returns when all ranks have called it; meanwhile rank 0 answers requests */
void ranks_serve(struct ranks *);   /* rank 0 answers pending requests (dictionary_answer) */
void ranks_ask(struct ranks *, const bytes *request, bytes *reply);
void ranks_allgather(struct ranks *, const uint64_t *mine, uint32_t n, uint64_t *all); /* all: in order of rank */
void ranks_broadcast(struct ranks *, uint32_t from, void *at, size_t n);
/* out: one buffer for each rank. in: the data from rank k is between first[k] and first[k + 1]. */
void ranks_exchange(struct ranks *, const bytes *out, bytes *in, size_t *first);
void ranks_fail(struct ranks *, const char *why); /* aborts all ranks */
/* Call before the collective operations of a search. False: rank 0 has ended; see `ended`. */
bool ranks_next_search(struct ranks *);
/* Ends a command: rank 0 broadcasts its exit status, which is returned. */
int ranks_finish(struct ranks *, int status);

/* --- shared_dictionary.c --- */

/* Call before a transition system is created: the other ranks receive the model values that rank 0 has added on its
   own. False: rank 0 has ended. */
bool ranks_ready(struct ranks *, struct intern *values);
bool ranks_agree(struct ranks *, uint64_t mine); /* is it the same number on all ranks? */
/* Is `mine` true on all ranks? If not, *why is the reason given by the first rank where it is false. */
bool ranks_all_ok(struct ranks *, bool mine, struct text *why);
/* From here on the tables of the transition system and the model's values are shared; they must be identical at this
   point. */
void dictionary_share(struct ranks *, struct system *);
void dictionary_unshare(struct ranks *);
/* All ranks learn all names. behind: how many the least informed rank knows. No rank may ask meanwhile. */
void dictionary_catch_up(struct ranks *, uint64_t behind, uint64_t given);
void dictionary_synchronise(struct ranks *); /* barrier; afterwards all ranks know all names */
void dictionary_answer(struct ranks *, const uint8_t *request, size_t n, bytes *reply);

#endif
