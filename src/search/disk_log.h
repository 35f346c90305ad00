/* States on disk, in the order in which they were found: records as the visited set has them (visited_set.h), one
   behind the other in a file that has no name, so that nothing is left of it whatever happens. A state's reference is
   its place in the file. It is written at its end, and read in order; what is on the way to it is in the file after
   disk_log_flush. */
#ifndef RONDO_SEARCH_DISK_LOG_H
#define RONDO_SEARCH_DISK_LOG_H

#include "base/vec.h"
#include "search/visited_set.h"

#include <pthread.h>

typedef VEC(uint8_t) disk_log_bytes;

struct disk_log;

struct disk_log *disk_log_new(const char *folder, int *error); /* NULL: error is errno */
void disk_log_free(struct disk_log *);

/* False: it cannot be written or read, from now on; disk_log_error says why (errno). */
bool disk_log_append(struct disk_log *, const uint8_t *record, size_t size,
                     state_ref parent); /* which is another than the record says */
bool disk_log_flush(struct disk_log *);
int disk_log_error(const struct disk_log *);
state_ref disk_log_end(const struct disk_log *); /* references begin with 0 */

/* One of them, for any thread; its bytes are in `into`. On an error: length 0. */
struct stored disk_log_get(struct disk_log *, state_ref, disk_log_bytes *into);

/* Reading in order: disk_log_fill reads as much as fits into memory, disk_log_read goes from one to the next of that.
   Records may be changed there (not in length), and `changed` set. */
struct disk_log_reader {
  struct disk_log *disk_log;
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
struct disk_log_reader disk_log_reader(struct disk_log *, state_ref from, state_ref end);
void disk_log_reader_release(struct disk_log_reader *);
bool disk_log_fill(struct disk_log_reader *); /* false: that was all, or an error */
bool disk_log_read(struct disk_log_reader *); /* false: fill first */

#endif
