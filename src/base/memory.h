/* Allocation that never returns NULL: running out of memory is handled in one place. The command line sets the handler
   once, before any thread starts. The handler must not return. */
#ifndef RONDO_BASE_MEMORY_H
#define RONDO_BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

typedef void memory_exhausted_fn(void *context, size_t wanted);
struct memory_handler {
  memory_exhausted_fn *exhausted; /* NULL: the process is aborted */
  void *context;
};
/* Sets the handler of this thread. A thread that works for another one takes over its handler. */
void memory_on_exhausted(memory_exhausted_fn *, void *context);
struct memory_handler memory_handler(void);

void *memory_alloc(size_t size);                                 /* zeroed */
void *memory_alloc_aligned(size_t alignment, size_t size);       /* zeroed */
void *memory_resize(void *old, size_t size);                     /* new bytes undefined */
void *memory_resize_array(void *old, size_t count, size_t each); /* count * each is checked */
void memory_free(void *);
char *memory_strdup(const char *);

/* A 64-bit number of bytes or elements as a size_t. If it is too large for a size_t, the result is SIZE_MAX, which no
   allocation can satisfy. */
static inline size_t memory_size(uint64_t n) { return n <= SIZE_MAX ? (size_t)n : SIZE_MAX; }

void memory_trim(void);       /* returns freed memory to the system, as far as possible */
size_t memory_resident(void); /* resident bytes of this process, 0 if unknown */

/* The same for frequent calls: a value that is at most a millisecond old. `now` is in seconds. */
struct memory_sample {
  double at;
  size_t resident;
};
size_t memory_resident_recent(struct memory_sample *, double now);

#endif
