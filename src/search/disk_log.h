/* States on disk in order of discovery: records as in the visited set (visited_set.h), consecutively in an unnamed
   file, which therefore disappears however the process ends. A state's reference is its offset in the file. The file is
   appended to and read sequentially; disk_log_flush writes buffered records. */
#ifndef RONDO_SEARCH_DISK_LOG_H
#define RONDO_SEARCH_DISK_LOG_H

#include "base/archive.h"
#include "base/vec.h"
#include "search/visited_set.h"

#include <pthread.h>

typedef VEC(uint8_t) disk_log_bytes;

struct disk_log;

struct disk_log *disk_log_new(const char *folder, int *error); /* NULL: error is errno */
void disk_log_free(struct disk_log *);

/* Append and flush return false if the file cannot be written or read; this is permanent, and disk_log_error returns
   errno. The parent given to disk_log_append replaces the one in the record. */
bool disk_log_append(struct disk_log *, const uint8_t *record, size_t size, state_ref parent);
bool disk_log_flush(struct disk_log *);
int disk_log_error(const struct disk_log *);
state_ref disk_log_end(const struct disk_log *); /* references start at 0 */

/* For checkpoints: the bytes of all records. Appended again, they keep their references. */
void disk_log_save(struct disk_log *, struct saver *);
bool disk_log_append_bytes(struct disk_log *, const uint8_t *bytes, size_t n);

/* Reads one state; any thread may call it. Its bytes are in `into`. On an error, its length is 0. */
struct stored disk_log_get(struct disk_log *, state_ref, disk_log_bytes *into);

/* Sequential reading: disk_log_fill reads as much as fits into the buffer, disk_log_read advances through it. Records
   may be modified there (but not their length); `changed` must be set then. */
struct disk_log_reader {
  struct disk_log *disk_log;
  state_ref next, end; /* the rest of the range */
  bool changed;
  /* The current record: */
  state_ref ref;
  uint8_t *record;
  struct stored stored; /* 16 bytes after the key are readable */
  /* The buffer: */
  uint8_t *buffer;
  size_t capacity, n, at;
};
struct disk_log_reader disk_log_reader(struct disk_log *, state_ref from, state_ref end);
void disk_log_reader_release(struct disk_log_reader *);
bool disk_log_fill(struct disk_log_reader *); /* false: the end, or an error */
bool disk_log_read(struct disk_log_reader *); /* false: call disk_log_fill first */

#endif
