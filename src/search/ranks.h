/* Several processes at one search, perhaps on several machines: ranks, as MPI calls them. Each has a space of the same
   query, and the states whose hash is its own. All have the same names for the same contents, so that keys mean the
   same everywhere: whoever needs a new name asks rank 0, and gets with the answer all that were given since it last
   heard of any. What follows a state is sent to its owner, in batches; everybody meets to exchange them. A layer is
   over when all ranks are through with their part of it and nothing is under way. */
#ifndef RONDO_SEARCH_RANKS_H
#define RONDO_SEARCH_RANKS_H

#include "rondo.h"

#include "base/vec.h"
#include "search/bfs.h"

typedef VEC(uint8_t) bytes;

struct dictionary_entry { /* a name that was given */
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
  /* Rank 0 has ended, with that status: nothing more is searched for. */
  bool ended;
  int status;
  /* shared_dictionary.c: */
  struct shared_table *tables;
  uint32_t ntables;
  VEC(struct dictionary_entry) given; /* rank 0: all, in order */
  uint64_t known;                     /* so many of them are in the tables */
  bytes request, reply;
  /* While others are waited for: */
  const volatile sig_atomic_t *interrupt; /* or NULL */
  void (*lost)(void *context);            /* or NULL; called once if they do not answer after it was set */
  void *lost_context;
  enum search_end
      broken; /* a search that ended before names were common, and why: none can follow. EXHAUSTED: there was none */
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

/* --- ranks_transport.c: all but serve and ask are for all ranks at once, in the same order --- */

void ranks_barrier(struct ranks *); /* returns when all are here; meanwhile rank 0 serves */
void ranks_serve(struct ranks *);   /* rank 0 answers what it was asked (dictionary_answer) */
void ranks_ask(struct ranks *, const bytes *request, bytes *reply);
void ranks_allgather(struct ranks *, const uint64_t *mine, uint32_t n, uint64_t *all); /* all: rank by rank */
void ranks_broadcast(struct ranks *, uint32_t from, void *at, size_t n);
/* out: one for each rank. in: what each of them had for this one, from first[k] to first[k + 1]. */
void ranks_exchange(struct ranks *, const bytes *out, bytes *in, size_t *first);
void ranks_fail(struct ranks *, const char *why); /* ends all of them */
/* Before anything else that ranks do together. False: rank 0 has ended instead; see `ended`. */
bool ranks_next_search(struct ranks *);
/* The last word of a command: rank 0 says with which status it ends. Returns that. */
int ranks_finish(struct ranks *, int status);

/* --- shared_dictionary.c --- */

/* Before a space is made: other ranks learn what rank 0 has added to the model's values by itself. False: rank 0 has
   ended. */
bool ranks_ready(struct ranks *, struct intern *values);
bool ranks_agree(struct ranks *, uint64_t mine); /* is it the same number everywhere? */
/* Is everybody content? If not, *why is what the first one says that is not. */
bool ranks_all_ok(struct ranks *, bool mine, struct text *why);
/* From here on the tables of the space, and the model's values, are common; they must be the same by now. */
void dictionary_share(struct ranks *, struct system *);
void dictionary_unshare(struct ranks *);
/* Everybody gets to know all names. behind: how many the last one knows. Nobody asks meanwhile. */
void dictionary_catch_up(struct ranks *, uint64_t behind, uint64_t given);
void dictionary_synchronise(struct ranks *); /* all barrier, and know all names afterwards */
void dictionary_answer(struct ranks *, const uint8_t *request, size_t n, bytes *reply);

#endif
