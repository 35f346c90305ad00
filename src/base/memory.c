#include "base/memory.h"

#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Allocation can fail anywhere, so the handler is not passed as a parameter. Each thread has its own. */
static _Thread_local struct memory_handler handler;

void memory_on_exhausted(memory_exhausted_fn *exhausted, void *context) {
  handler = (struct memory_handler){exhausted, context};
}

struct memory_handler memory_handler(void) {
  return handler;
}

_Noreturn static void memory_give_up(size_t wanted) {
  if (handler.exhausted)
    handler.exhausted(handler.context, wanted);
  __builtin_trap(); /* the handler must not return */
}

void *memory_alloc(size_t size) {
  void *at = calloc(1, size ? size : 1);
  if (!at)
    memory_give_up(size);
  return at;
}

void *memory_alloc_aligned(size_t alignment, size_t size) {
  void *at = aligned_alloc(alignment, size);
  if (!at)
    memory_give_up(size);
  return memset(at, 0, size);
}

void *memory_resize(void *old, size_t size) {
  void *at = realloc(old, size ? size : 1);
  if (!at)
    memory_give_up(size);
  return at;
}

void *memory_resize_array(void *old, size_t count, size_t each) {
  size_t size;
  if (__builtin_mul_overflow(count, each, &size))
    memory_give_up(SIZE_MAX);
  return memory_resize(old, size);
}

void memory_free(void *at) { free(at); }

char *memory_strdup(const char *string) {
  size_t size = strlen(string) + 1;
  char *copy = memory_resize(NULL, size);
  memcpy(copy, string, size);
  return copy;
}

void memory_trim(void) {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

#ifdef __EMSCRIPTEN__ /* in WebAssembly, memory begins at 0 and the part behind the heap is free */
size_t memory_resident(void) { return (size_t)(uintptr_t)sbrk(0); }
#else
size_t memory_resident(void) {
  char text[128];
  int statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  ssize_t n = statm < 0 ? -1 : read(statm, text, sizeof text - 1);
  if (statm >= 0)
    close(statm);
  if (n <= 0)
    return 0;
  text[n] = 0;
  const char *second = strchr(text, ' ');
  long page = sysconf(_SC_PAGESIZE);
  return second && page > 0 ? (size_t)strtoul(second, NULL, 10) * (size_t)page : 0;
}
#endif

size_t memory_resident_recent(struct memory_sample *l, double now) {
  bool lately = l->at <= now && now < l->at + 1e-3;
  if (!lately || l->resident == 0)
    *l = (struct memory_sample){.at = now, .resident = memory_resident()};
  return l->resident;
}
