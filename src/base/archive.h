/* Checkpoint data, written by one run and read by another run of the same program: a sequence of numbers, bytes and
   intern tables. An archive is either in memory or a file with a checksum. A file is replaced atomically: after a
   crash, either the old or the new version is there. */
#ifndef RONDO_BASE_ARCHIVE_H
#define RONDO_BASE_ARCHIVE_H

#include "base/intern.h"
#include "base/text.h"
#include "base/vec.h"

struct saver {
  int error;          /* errno of the first failure; 0: none */
  VEC(uint8_t) bytes; /* not yet written to the file; in memory: all bytes */
  int fd;             /* -1: in memory */
  uint64_t length;    /* bytes written so far */
  void *sum;
};

void save_bytes(struct saver *, const void *, size_t n);
void save_number(struct saver *, uint64_t);
void save_text(struct saver *, const char *);            /* the text may be NULL */
void save_block(struct saver *, const void *, size_t n); /* n, then the bytes */
void save_intern(struct saver *, const struct intern *);

struct loader {
  const uint8_t *at, *end;
  bool bad; /* the data ended early or was invalid; every later load returns 0 */
};

const void *load_borrowed(struct loader *, size_t n); /* the n bytes in place, not copied; NULL: bad */
void load_bytes(struct loader *, void *, size_t n);
uint64_t load_number(struct loader *);
uint64_t load_below(struct loader *, uint64_t end); /* a number >= end is bad */
const void *load_block(struct loader *, size_t *n); /* in place, not copied; bad: NULL */
char *load_text(struct loader *);                   /* may be NULL; freed with memory_free */
/* Adds the missing vectors, so that each vector has the name it was saved with. Bad if a vector has another name
   already. */
void load_intern(struct loader *, struct intern *);

struct saver saver_in_memory(void);
struct loader loader_of(const struct saver *); /* reads an archive in memory */
void saver_release(struct saver *);

/* Writes a temporary file beside `path` and renames it when it is complete. On failure returns false; the reason is in
   saver->error. */
bool archive_begin(struct saver *, const char *path);
bool archive_end(struct saver *, const char *path);

struct archive {
  void *at;
  size_t size;
  struct loader loader;
};
/* whole: read the whole file and compare the checksum. On failure returns false and describes the problem in *why. */
bool archive_open(struct archive *, const char *path, bool whole, struct text *why);
void archive_close(struct archive *);

#endif
