/* Loaded with LD_PRELOAD: makes the n-th allocation, write, fsync or rename of a program fail, and all others succeed.
     FAULT_KIND  malloc, write, fsync or rename
     FAULT_AT    n, from 1; 0: none, only count
     FAULT_COUNT a file that gets the number of calls at the end */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum kind { KIND_NONE, KIND_MALLOC, KIND_WRITE, KIND_FSYNC, KIND_RENAME };

static atomic_long calls;
static long fault_at;
static enum kind kind;
static const char *count_file;
static atomic_bool ready;

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);

__attribute__((constructor)) static void begin(void) {
  const char *wanted = getenv("FAULT_KIND"), *at = getenv("FAULT_AT");
  kind = !wanted                     ? KIND_NONE
         : !strcmp(wanted, "malloc") ? KIND_MALLOC
         : !strcmp(wanted, "write")  ? KIND_WRITE
         : !strcmp(wanted, "fsync")  ? KIND_FSYNC
         : !strcmp(wanted, "rename") ? KIND_RENAME
                                     : KIND_NONE;
  fault_at = at ? atol(at) : 0;
  count_file = getenv("FAULT_COUNT");
  ready = true;
}

__attribute__((destructor)) static void end(void) {
  char text[64];
  ready = false;
  int fd = count_file ? open(count_file, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
  int n = snprintf(text, sizeof text, "%ld\n", atomic_load(&calls));
  if (fd >= 0 && write(fd, text, (size_t)n) == n)
    close(fd);
}

static int fails(enum kind what) { return ready && kind == what && atomic_fetch_add(&calls, 1) + 1 == fault_at; }

static int alloc_fails(void) { return fails(KIND_MALLOC); }

static void *no_memory(void) {
  errno = ENOMEM;
  return NULL;
}

void *malloc(size_t n) { return alloc_fails() ? no_memory() : __libc_malloc(n); }
void *calloc(size_t n, size_t each) { return alloc_fails() ? no_memory() : __libc_calloc(n, each); }
void *realloc(void *at, size_t n) { return alloc_fails() ? no_memory() : __libc_realloc(at, n); }
void *aligned_alloc(size_t alignment, size_t n) { return alloc_fails() ? no_memory() : __libc_memalign(alignment, n); }

static int failed(int error) {
  errno = error;
  return -1;
}

ssize_t write(int fd, const void *bytes, size_t n) {
  static ssize_t (*next)(int, const void *, size_t);
  if (!next)
    *(void **)&next = dlsym(RTLD_NEXT, "write");
  return fd > 2 && fails(KIND_WRITE) ? failed(ENOSPC) : next(fd, bytes, n);
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at) {
  static ssize_t (*next)(int, const void *, size_t, off_t);
  if (!next)
    *(void **)&next = dlsym(RTLD_NEXT, "pwrite");
  return fails(KIND_WRITE) ? failed(ENOSPC) : next(fd, bytes, n, at);
}

int fsync(int fd) {
  static int (*next)(int);
  if (!next)
    *(void **)&next = dlsym(RTLD_NEXT, "fsync");
  return fails(KIND_FSYNC) ? failed(EIO) : next(fd);
}

int rename(const char *from, const char *to) {
  static int (*next)(const char *, const char *);
  if (!next)
    *(void **)&next = dlsym(RTLD_NEXT, "rename");
  return fails(KIND_RENAME) ? failed(EACCES) : next(from, to);
}
