/* What one run writes down for another of the same program: numbers, bytes and tables of names, one after the other. An
   archive is a file that is there as it was before or as it is now, never in between, with a checksum; or it is in
   memory. */
#ifndef RONDO_BASE_ARCHIVE_H
#define RONDO_BASE_ARCHIVE_H

#include "base/intern.h"
#include "base/text.h"
#include "base/vec.h"

struct saver {
  int error;          /* errno of what went wrong first; 0: nothing */
  VEC(uint8_t) bytes; /* those that are not written yet; in memory: all */
  int fd;             /* -1: in memory */
  uint64_t length;    /* written so far */
  void *sum;
};

void save_bytes(struct saver *, const void *, size_t n);
void save_number(struct saver *, uint64_t);
void save_text(struct saver *, const char *);            /* or NULL */
void save_block(struct saver *, const void *, size_t n); /* n, then the bytes */
void save_intern(struct saver *, const struct intern *);

struct loader {
  const uint8_t *at, *end;
  bool bad; /* more was asked for than there is, or it is not what it should be; everything is 0 from there on */
};

const void *load_borrowed(struct loader *, size_t n); /* n bytes as they lie there; NULL: bad */
void load_bytes(struct loader *, void *, size_t n);
uint64_t load_number(struct loader *);
uint64_t load_below(struct loader *, uint64_t end); /* anything else is bad */
const void *load_block(struct loader *, size_t *n); /* as they lie there; bad: none */
char *load_text(struct loader *);                   /* or NULL; for memory_free */
/* Adds what is missing, so that each vector has the name that it had; bad: it has another. */
void load_intern(struct loader *, struct intern *);

struct saver saver_in_memory(void);
struct loader loader_of(const struct saver *); /* in memory */
void saver_release(struct saver *);

/* Into a file beside `path`, which takes its place when it is complete. False: why is in saver->error. */
bool archive_begin(struct saver *, const char *path);
bool archive_end(struct saver *, const char *path);

struct archive {
  void *at;
  size_t size;
  struct loader loader;
};
/* whole: read all of it and compare the checksum. False: *why says what is wrong with it. */
bool archive_open(struct archive *, const char *path, bool whole, struct text *why);
void archive_close(struct archive *);

#endif
