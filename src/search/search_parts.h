/* Parts of the state of a search (search/bfs.h), by concern. */
#ifndef RONDO_SEARCH_SEARCH_PARTS_H
#define RONDO_SEARCH_SEARCH_PARTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct search_threads {
  struct worker_pool *pool; /* the other workers, or NULL */
  bool single;              /* several threads cannot be used */
  uint32_t from;            /* the depth of the layer in which several threads started; UINT32_MAX: never */
};

/* Checkpoints (search/search_checkpoint.h). */
struct search_saving {
  uint32_t number;       /* of its file */
  uint64_t generation;   /* with several ranks: the generation of the valid files; 0: none */
  uint32_t written_by;   /* how many ranks wrote that generation */
  uint32_t resumed_from; /* the depth of the layer in which it was resumed; UINT32_MAX: not resumed */
  _Atomic int ending;    /* a search_end: end after the checkpoint; EXHAUSTED: continue */
  double due;            /* the next checkpoint, in seconds of search time */
  atomic_bool wanted;    /* the workers are suspended to write one; states on disk: perhaps for another reason */
  char **texts;          /* texts of errors that were found before it was resumed */
  uint32_t ntexts;
};

/* States on disk (search/spill.h). */
struct search_disk {
  const char *folder;  /* where states go when memory is full; NULL: the search ends then */
  struct spill *spill; /* NULL: all states are in memory */
  atomic_bool full;    /* the workers are suspended because memory is full */
  char *error_text;
};

/* What several ranks have found (search/ranks.h). */
struct search_across {
  struct { /* totals of the other ranks at the last exchange; memory: only of those on this machine */
    uint64_t states, transitions;
    size_t memory;
  } others;
  char *error_text; /* of an error that another rank found */
  /* To the findings, by property, then to the error: their states are spread over several ranks. */
  struct rank_path *paths;
};

/* The clock of a search or of one of its workers. Limits are checked only every so many ticks. */
struct search_clock {
  double started, last_progress;
  uint32_t ticks, looks;
};

#endif
