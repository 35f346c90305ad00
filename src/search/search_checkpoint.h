/* Searches written down while they run, so that another process can go on with them. The searches of a command come in
   an order that is always the same; each has a file, by its number, which is replaced from time to time. It holds the
   names of the space, the visited set, the layers, and how far the layer at hand has come. */
#ifndef RONDO_SEARCH_SEARCH_CHECKPOINT_H
#define RONDO_SEARCH_SEARCH_CHECKPOINT_H

#include "base/archive.h"

#include <stdbool.h>
#include <stdint.h>

typedef void checkpoint_say_fn(void *context, const char *message);

struct checkpoints { /* of one command */
  const char *folder;
  uint64_t command;       /* a fingerprint of all that decides the answer */
  double seconds;         /* from one to the next, at least */
  checkpoint_say_fn *say; /* what went wrong, and what is resumed */
  void *say_context;
  bool resumed;      /* what there is in the folder counts */
  uint32_t last;     /* resumed: there are none from this number on */
  uint32_t searches; /* begun so far */
  bool unfinished;   /* a limit ended one of them */
};

/* The file of a search; for text_release. */
struct text checkpoint_path(const struct checkpoints *, uint32_t number);
/* Several ranks have a file each. Those of a generation count when the file of the search names it: that is written
   when all of them are there, and the generation before is removed after that. */
struct text checkpoint_part(const struct checkpoints *, uint32_t number, uint32_t rank, uint64_t generation);
/* From the beginning of each of these files: whose command, and which generation; 0: one process's. */
bool checkpoint_is_of(struct loader *, const struct checkpoints *, uint64_t *generation);

/* How often, if nobody says. */
#define CHECKPOINT_SECONDS 120.0

#endif
