#include "search/disk_log.h"

#include "base/text.h"
#include "search/visited_records.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define BLOCK ((size_t)1 << 20) /* read or written at once */
#define SLACK 64                /* readable bytes after the buffer */
#define RECORD_LIKELY 256       /* most records are not longer */

struct disk_log {
  int file;
  _Atomic int error;
  state_ref written;   /* size of the part in the file */
  disk_log_bytes tail; /* the records after that, not written yet */
};

struct disk_log *disk_log_new(const char *folder, int *error) {
  struct text path = {0};
  text_addf(&path, "%s/rondo-XXXXXX", folder);
  int file = mkostemp(path.at, O_CLOEXEC);
  *error = errno;
  if (file >= 0)
    unlink(path.at);
  text_release(&path);
  if (file < 0)
    return NULL;
  struct disk_log *s = memory_alloc(sizeof *s);
  s->file = file;
  vec_reserve(&s->tail, BLOCK);
  return s;
}

void disk_log_free(struct disk_log *s) {
  if (!s)
    return;
  close(s->file);
  vec_release(&s->tail);
  memory_free(s);
}

state_ref disk_log_end(const struct disk_log *s) { return s->written + s->tail.n; }
int disk_log_error(const struct disk_log *s) { return s->error; }

static bool write_at(struct disk_log *s, const uint8_t *bytes, size_t size, state_ref at) {
  while (size > 0 && !s->error) {
    ssize_t n = pwrite(s->file, bytes, size, (off_t)at);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0) {
      s->error = n < 0 ? errno : ENOSPC;
      break;
    }
    bytes += n;
    size -= (size_t)n;
    at += (size_t)n;
  }
  return !s->error;
}

/* Returns how many bytes were read, at most size. */
static size_t read_at(struct disk_log *s, uint8_t *into, size_t size, state_ref at) {
  size_t have = 0;
  while (have < size && !s->error) {
    ssize_t n = pread(s->file, into + have, size - have, (off_t)(at + have));
    if (n < 0 && errno != EINTR)
      s->error = errno;
    if (n == 0)
      break;
    have += n > 0 ? (size_t)n : 0;
  }
  return have;
}

bool disk_log_flush(struct disk_log *s) {
  if (s->tail.n == 0 || !write_at(s, s->tail.at, s->tail.n, s->written))
    return !s->error;
  s->written += s->tail.n;
  vec_clear(&s->tail);
  return true;
}

bool disk_log_append(struct disk_log *s, const uint8_t *record, size_t size, state_ref parent) {
  if (s->tail.n + size > BLOCK && !disk_log_flush(s))
    return false;
  vec_reserve(&s->tail, s->tail.n + size);
  memcpy(s->tail.at + s->tail.n, record, size);
  memcpy(s->tail.at + s->tail.n, &parent, PARENT_BYTES);
  s->tail.n += size;
  if (disk_log_end(s) >= STATE_REF_NONE)
    s->error = EFBIG;
  return !s->error;
}

void disk_log_save(struct disk_log *s, struct saver *to) {
  uint8_t *block = memory_alloc(BLOCK);
  disk_log_flush(s);
  for (state_ref at = 0; at < s->written && !s->error;) {
    size_t n = s->written - at < BLOCK ? (size_t)(s->written - at) : BLOCK;
    if (read_at(s, block, n, at) != n && !s->error)
      s->error = EIO;
    save_bytes(to, block, n);
    at += n;
  }
  memory_free(block);
  if (s->error && !to->error)
    to->error = s->error;
}

bool disk_log_append_bytes(struct disk_log *s, const uint8_t *bytes, size_t n) {
  bool ok = disk_log_flush(s) && write_at(s, bytes, n, s->written);
  s->written += ok ? n : 0;
  return ok;
}

/* The size of the record at the start of a buffer that is padded with zeros. If it exceeds the bytes available, the
   record is incomplete. */
static size_t record_size(const uint8_t *record, struct stored *stored) {
  stored->bytes = plain_key(record, &stored->length, &stored->fault_cost);
  return (size_t)(stored->bytes - record) + stored->length;
}

static state_ref parent_of(const uint8_t *record) {
  state_ref parent = 0;
  memcpy(&parent, record, PARENT_BYTES);
  return parent;
}

struct stored disk_log_get(struct disk_log *s, state_ref ref, disk_log_bytes *into) {
  struct stored stored = {0};
  for (size_t size = RECORD_LIKELY, wanted;; size = wanted) {
    vec_reserve(into, size + SLACK);
    into->n = read_at(s, into->at, size, ref);
    memset(into->at + into->n, 0, SLACK);
    wanted = record_size(into->at, &stored);
    if (wanted <= into->n)
      break;
    if (into->n < size || s->error) { /* the file has been truncated */
      s->error = s->error ? s->error : EIO;
      return (struct stored){.parent = STATE_REF_NONE};
    }
  }
  stored.parent = parent_of(into->at);
  return stored;
}

struct disk_log_reader disk_log_reader(struct disk_log *s, state_ref from, state_ref end) {
  return (struct disk_log_reader){.disk_log = s, .next = from, .end = end};
}

/* Writes modified records back. */
static void put_back(struct disk_log_reader *r) {
  if (r->changed)
    write_at(r->disk_log, r->buffer, r->n, r->next - r->at);
  r->changed = false;
}

void disk_log_reader_release(struct disk_log_reader *r) {
  if (r->buffer)
    put_back(r);
  memory_free(r->buffer);
  r->buffer = NULL;
}

bool disk_log_fill(struct disk_log_reader *r) {
  if (r->next >= r->end || r->disk_log->error)
    return false;
  if (r->buffer)
    put_back(r);
  size_t left = r->n - r->at;
  if (!r->buffer || left == r->capacity) { /* the record is longer than the buffer */
    r->capacity = r->capacity ? 2 * r->capacity : BLOCK;
    r->buffer = memory_resize(r->buffer, r->capacity + SLACK);
  }
  memmove(r->buffer, r->buffer + r->at, left);
  size_t most = r->capacity - left;
  if (most > r->end - r->next - left)
    most = (size_t)(r->end - r->next - left);
  size_t more = read_at(r->disk_log, r->buffer + left, most, r->next + left);
  if (more < most && !r->disk_log->error)
    r->disk_log->error = EIO;
  r->at = 0;
  r->n = left + more;
  memset(r->buffer + r->n, 0, SLACK);
  return !r->disk_log->error;
}

bool disk_log_read(struct disk_log_reader *r) {
  size_t left = r->n - r->at;
  if (left == 0)
    return false;
  uint8_t *record = r->buffer + r->at;
  size_t size = record_size(record, &r->stored);
  if (size > left)
    return false;
  r->stored.parent = parent_of(record);
  r->record = record;
  r->ref = r->next;
  r->at += size;
  r->next += size;
  return true;
}
