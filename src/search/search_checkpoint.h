/* Checkpoints of running searches, from which another process can resume. A command always runs its searches in the
   same order; each has a file, named by its number, which is replaced from time to time. The file contains the
   transition system's names, the visited set, the layers, and how far the current layer has come. */
#ifndef RONDO_SEARCH_SEARCH_CHECKPOINT_H
#define RONDO_SEARCH_SEARCH_CHECKPOINT_H

#include "base/archive.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef void checkpoint_say_fn(void *context, const char *message);

struct checkpoints { /* of one command */
  const char *folder;
  uint64_t command;       /* a fingerprint of everything that determines the result */
  double seconds;         /* least time between two checkpoints */
  checkpoint_say_fn *say; /* reports errors, and what is resumed */
  void *say_context;
  bool resumed;        /* use the files in the folder */
  uint32_t last;       /* resumed: no files exist from this number on */
  uint32_t searches;   /* started so far */
  bool unfinished;     /* one of them ended at a limit */
  atomic_bool writing; /* a file is being written */
};

/* The file of a search; release it with text_release. */
struct text checkpoint_path(const struct checkpoints *, uint32_t number);
/* With several ranks, each has its own file. A generation of these files is valid if the file of the search names it:
   that file is written when all of them are complete, and then the previous generation is removed. */
struct text checkpoint_part(const struct checkpoints *, uint32_t number, uint32_t rank, uint64_t generation);
/* Who wrote a file, as its beginning says. */
struct checkpoint_origin {
  uint64_t generation; /* of the files of the ranks; 0: there are none */
  uint32_t ranks;      /* how many ranks wrote it; 0: a single process */
};
/* Reads the beginning of such a file: whether it belongs to this command, and its origin. */
bool checkpoint_is_of(struct loader *, const struct checkpoints *, struct checkpoint_origin *);

/* The default interval. */
#define CHECKPOINT_SECONDS 120.0

#endif
