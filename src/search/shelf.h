/* States on disk, in the order in which they were found: records as the store has them (store.h), one behind the other in a file that
   has no name, so that nothing is left of it whatever happens. A state's reference is its place in the file. It is written at its end,
   and read in order; what is on the way to it is in the file after shelf_settle. */
#ifndef RONDO_SEARCH_SHELF_H
#define RONDO_SEARCH_SHELF_H

#include "base/vec.h"
#include "search/store.h"

#include <pthread.h>

typedef VEC(uint8_t) shelf_bytes;

struct shelf;

struct shelf *shelf_new(const char *folder, int *error); /* NULL: error is errno */
void shelf_free(struct shelf *);

/* False: it cannot be written or read, from now on; shelf_error says why (errno). */
bool shelf_add(struct shelf *, const uint8_t *record, size_t size, state_ref parent); /* which is another than the record says */
bool shelf_settle(struct shelf *);
int shelf_error(const struct shelf *);
state_ref shelf_first(void);
state_ref shelf_end(const struct shelf *);

/* One of them, for any thread; its bytes are in `into`. On an error: length 0. */
struct stored shelf_at(struct shelf *, state_ref, shelf_bytes *into);

/* Reading in order: shelf_fill reads as much as fits into memory, shelf_read goes from one to the next of that. Records
   may be changed there (not in length), and `changed` set. */
struct shelf_reader {
  struct shelf *shelf;
  state_ref next, end; /* what is left */
  bool changed;
  /* What was read last: */
  state_ref ref;
  uint8_t *record;
  struct stored stored; /* 16 bytes behind the key can be read */
  /* What is in memory: */
  uint8_t *buffer;
  size_t capacity, n, at;
};
struct shelf_reader shelf_reader(struct shelf *, state_ref from, state_ref end);
void shelf_reader_release(struct shelf_reader *);
bool shelf_fill(struct shelf_reader *); /* false: that was all, or an error */
bool shelf_read(struct shelf_reader *); /* false: fill first */

#endif
