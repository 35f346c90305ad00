#include "base/archive.h"

#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "rondo\r\n\032" /* not text; a transfer in text mode damages it and is thus detected */
#define VERSION 4
#define BUFFER ((size_t)1 << 16)

struct archive_header {
  char magic[8];
  uint64_t version, length, sum; /* of the bytes after the header */
};

/* --- saving --- */

static void write_all(struct saver *s, const void *bytes, size_t n) {
  const uint8_t *at = bytes;
  while (n > 0 && !s->error) {
    ssize_t done = write(s->fd, at, n);
    if (done > 0) {
      at += done;
      n -= (size_t)done;
    } else if (done == 0 || errno != EINTR) {
      s->error = done == 0 ? EIO : errno;
    }
  }
}

static void write_summed(struct saver *s, const void *bytes, size_t n) {
  if (!s->error)
    hash_stream_add(s->sum, bytes, n);
  s->length += n;
  write_all(s, bytes, n);
}

static void flush(struct saver *s) {
  write_summed(s, s->bytes.at, s->bytes.n);
  vec_clear(&s->bytes);
}

void save_bytes(struct saver *s, const void *bytes, size_t n) {
  if (s->fd >= 0 && s->bytes.n + n > BUFFER)
    flush(s);
  if (s->fd >= 0 && n > BUFFER) {
    write_summed(s, bytes, n);
    return;
  }
  vec_reserve(&s->bytes, s->bytes.n + n);
  if (n > 0)
    memcpy(s->bytes.at + s->bytes.n, bytes, n);
  s->bytes.n += n;
}

void save_number(struct saver *s, uint64_t x) { save_bytes(s, &x, sizeof x); }

void save_text(struct saver *s, const char *text) {
  size_t n = text ? strlen(text) + 1 : 0;
  save_number(s, n);
  save_bytes(s, text, n);
}

void save_block(struct saver *s, const void *bytes, size_t n) {
  save_number(s, n);
  save_bytes(s, bytes, n);
}

void save_intern(struct saver *s, const struct intern *t) {
  size_t n = intern_count(t);
  save_number(s, n);
  for (uint32_t i = 0; i < n; i++) {
    size_t length = intern_length(t, i);
    save_number(s, length);
    save_bytes(s, intern_at(t, i), length * sizeof(int64_t));
  }
}

/* --- loading --- */

const void *load_borrowed(struct loader *l, size_t n) {
  if (l->bad || (size_t)(l->end - l->at) < n) {
    l->bad = true;
    return NULL;
  }
  const void *at = l->at;
  l->at += n;
  return at;
}

void load_bytes(struct loader *l, void *to, size_t n) {
  const void *from = load_borrowed(l, n);
  if (from && n > 0)
    memcpy(to, from, n);
  else if (n > 0)
    memset(to, 0, n);
}

uint64_t load_number(struct loader *l) {
  uint64_t x;
  load_bytes(l, &x, sizeof x);
  return x;
}

uint64_t load_below(struct loader *l, uint64_t end) {
  uint64_t x = load_number(l);
  l->bad |= x >= end;
  return l->bad ? 0 : x;
}

const void *load_block(struct loader *l, size_t *n) {
  *n = memory_size(load_number(l));
  const void *at = load_borrowed(l, *n);
  if (!at)
    *n = 0;
  return at;
}

char *load_text(struct loader *l) {
  size_t n = memory_size(load_number(l));
  const char *at = load_borrowed(l, n);
  l->bad |= n > 0 && at && at[n - 1] != '\0';
  return n > 0 && !l->bad ? memory_strdup(at) : NULL;
}

void load_intern(struct loader *l, struct intern *t) {
  uint64_t n = load_number(l);
  int64_t *aligned = NULL;
  size_t room = 0;
  for (uint64_t i = 0; i < n && !l->bad; i++) {
    size_t length = memory_size(load_number(l));
    const void *at = length <= SIZE_MAX / sizeof *aligned ? load_borrowed(l, length * sizeof *aligned) : NULL;
    l->bad |= !at;
    if (l->bad)
      break;
    if (length > room)
      aligned = memory_resize_array(aligned, room = length, sizeof *aligned);
    if (length > 0)
      memcpy(aligned, at, length * sizeof *aligned);
    l->bad = intern_put(t, aligned, length) != i;
  }
  memory_free(aligned);
}

/* --- in memory --- */

struct saver saver_in_memory(void) {
  return (struct saver){.fd = -1};
}
struct loader loader_of(const struct saver *s) {
  return (struct loader){s->bytes.at, s->bytes.at + s->bytes.n, false};
}
void saver_release(struct saver *s) { vec_release(&s->bytes); }

/* --- files --- */

static char *temporary_path(const char *path) {
  struct text t = {0};
  text_addf(&t, "%s.new", path);
  return t.at;
}

bool archive_begin(struct saver *s, const char *path) {
  char *fresh = temporary_path(path);
  struct archive_header empty = {0};
  unlink(fresh); /* of a process that was killed; a link is not followed */
  *s = (struct saver){.fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666)};
  memory_free(fresh);
  if (s->fd < 0) {
    s->error = errno;
    return false;
  }
  s->sum = hash_stream_new();
  write_all(s, &empty, sizeof empty);
  return true;
}

/* Makes the rename durable: without it, a crash of the machine could undo it. */
static void sync_folder(const char *path) {
  struct text folder = {0};
  const char *slash = strrchr(path, '/');
  text_add_n(&folder, slash ? path : ".", slash ? (size_t)(slash - path) + 1 : 1);
  int fd = open(folder.at, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) {
    fsync(fd);
    close(fd);
  }
  text_release(&folder);
}

bool archive_end(struct saver *s, const char *path) {
  char *fresh = temporary_path(path);
  flush(s);
  struct archive_header header = {
      .magic = MAGIC, .version = VERSION, .length = s->length, .sum = hash_stream_end(s->sum)};
  s->sum = NULL;
  if (!s->error && lseek(s->fd, 0, SEEK_SET) != 0)
    s->error = EIO;
  write_all(s, &header, sizeof header);
  if (!s->error && fsync(s->fd) != 0)
    s->error = errno;
  if (close(s->fd) != 0 && !s->error)
    s->error = errno;
  if (!s->error && rename(fresh, path) != 0)
    s->error = errno;
  if (s->error)
    unlink(fresh);
  else
    sync_folder(path);
  memory_free(fresh);
  saver_release(s);
  return !s->error;
}

static bool header_is_valid(const struct archive *a, bool whole, struct text *why) {
  struct archive_header header;
  memcpy(&header, a->at, sizeof header);
  if (memcmp(header.magic, MAGIC, sizeof header.magic) != 0)
    text_add(why, "is not one of rondo's");
  else if (header.version != VERSION)
    text_addf(why, "is of version %llu, and this rondo reads version %d", (unsigned long long)header.version, VERSION);
  else if (header.length != a->size - sizeof header)
    text_add(why, "is not complete");
  else if (whole && hash_bytes((const uint8_t *)a->at + sizeof header, a->size - sizeof header) != header.sum)
    text_add(why, "is damaged");
  else
    return true;
  return false;
}

bool archive_open(struct archive *a, const char *path, bool whole, struct text *why) {
  struct stat st;
  *a = (struct archive){0};
  int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &st) != 0) {
    text_addf(why, "cannot be opened: %s", strerror(errno));
    if (fd >= 0)
      close(fd);
    return false;
  }
  if (!S_ISREG(st.st_mode) || (size_t)st.st_size < sizeof(struct archive_header)) {
    text_add(why, S_ISREG(st.st_mode) ? "is not complete" : "is not a file");
    close(fd);
    return false;
  }
  a->size = (size_t)st.st_size;
  a->at = mmap(NULL, a->size, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (a->at == MAP_FAILED) {
    text_addf(why, "cannot be read: %s", strerror(errno));
    *a = (struct archive){0};
    return false;
  }
  if (!header_is_valid(a, whole, why)) {
    archive_close(a);
    return false;
  }
  a->loader =
      (struct loader){(const uint8_t *)a->at + sizeof(struct archive_header), (const uint8_t *)a->at + a->size, false};
  return true;
}

void archive_close(struct archive *a) {
  if (a->at)
    munmap(a->at, a->size);
  *a = (struct archive){0};
}
