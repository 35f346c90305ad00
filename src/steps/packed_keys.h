/* Rows packed into bits, without loss. Each cell has as many bits as the names of its table need at the time of the
   layout. When a table outgrows its bits, the keys are too narrow: either all states get wider keys, or the search
   restarts (the tables are kept). The local state of a process is adjacent to its inbound channels, so that the part of
   the key that determines its steps is one short number. */
#ifndef RONDO_STEPS_PACKED_KEYS_H
#define RONDO_STEPS_PACKED_KEYS_H

#include "steps/state_cells.h"

#include <string.h>

struct key_field {
  uint32_t word;
  uint8_t shift, width; /* a field never crosses a word boundary */
};

struct key_window { /* the fields of one process: its local state and its inbound channels */
  uint64_t mask;
  uint32_t word;
  uint8_t shift, width;
  bool fits; /* into 64 bits */
};

/* If neither windows nor shared memory are needed, fields may be placed anywhere. */
enum key_scatter {
  SCATTER_NEVER,
  SCATTER_TO_SHORTEN, /* if that makes the keys short */
  SCATTER_ALWAYS      /* if that makes the keys short or keeps them short; for tests */
};

struct keys {
  const struct state_cells *cells;
  struct key_field *field;   /* by cell */
  struct key_window *window; /* by process */
  struct key_window memory;  /* the globals */
  uint8_t *width;            /* by table */
  uint32_t nwords, nbytes;
  enum key_scatter scatter;
  bool narrow;      /* for tests: start with 0 bits and add one whenever the keys are too narrow */
  uint32_t layouts; /* number of layouts so far */
  uint8_t grown;    /* number of layouts made because keys were too narrow (saturating) */
};

void keys_init(struct keys *, const struct state_cells *);
void keys_release(struct keys *);
#define SHORT_KEY_WORDS 4 /* longest keys for which there are short moves */
enum key_layout {
  KEYS_WIDE,    /* with room for names that will be assigned later */
  KEYS_TIGHT,   /* for the existing names and a few more */
  KEYS_WIDENED, /* the current layout, with more room for tables that have outgrown theirs; states are rewritten */
  KEYS_GROWN    /* the same for a search that has to restart: with more room, because restarts must be rare */
};
void keys_lay_out(struct keys *, enum key_layout);
void keys_lay_out_like(struct keys *, const uint8_t *width); /* by table */
void keys_remember(struct keys *,
                   const struct keys *); /* copies the current layout, for keys_unpack, keys_load and keys_release */

static inline content key_get(const struct keys *k, const uint64_t *words, uint32_t cell) {
  const struct key_field *f = &k->field[cell];
  return (content)(words[f->word] >> f->shift & ((UINT64_C(1) << f->width) - 1));
}

/* False: the key is too narrow. */
static inline bool key_set(const struct keys *k, uint64_t *words, uint32_t cell, content to) {
  const struct key_field *f = &k->field[cell];
  uint64_t mask = (UINT64_C(1) << f->width) - 1;
  words[f->word] = (words[f->word] & ~(mask << f->shift)) | (uint64_t)to << f->shift;
  return (to & ~mask) == 0;
}

/* Requires w->fits. The word after the last one must be readable. */
static inline uint64_t key_window(const struct key_window *w, const uint64_t *words) {
  return (words[w->word] >> w->shift | words[w->word + 1] << 1 << (63 - w->shift)) & w->mask;
}

bool keys_pack(const struct keys *, const content *row, uint64_t *words); /* false: too narrow */
void keys_unpack(const struct keys *, const uint64_t *words, content *row);

/* `words` has room for two words more than a key. The first extra word is set to 0 (for keys of one or two words: the
   second word of `words`). */
static inline void keys_load(const struct keys *k, const struct state *state, uint64_t *words) {
  if (k->nbytes > 16) {
    words[k->nwords - 1] = words[k->nwords] = 0;
    memcpy(words, state->bytes, k->nbytes);
    return;
  }
  uint32_t n = k->nbytes;
  words[0] = words[1] = 0;
  if (n >= 8) { /* two overlapping 8-byte loads instead of a call of memcpy */
    uint64_t last;
    memcpy(words, state->bytes, 8);
    memcpy(&last, state->bytes + n - 8, 8);
    if (n > 8)
      words[1] = last >> 8 * (16 - n);
    return;
  }
  if (n >= 4) { /* likewise with 4 bytes */
    uint32_t first, last;
    memcpy(&first, state->bytes, 4);
    memcpy(&last, state->bytes + n - 4, 4);
    words[0] = first | (uint64_t)last << 8 * (n - 4);
    return;
  }
  for (uint32_t i = 0; i < n; i++)
    words[0] |= (uint64_t)state->bytes[i] << 8 * i;
}
static inline struct state keys_state(const struct keys *k, const uint64_t *words) {
  return (struct state){(const uint8_t *)words, k->nbytes};
}

#endif
