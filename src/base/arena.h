/* Region allocation: objects are allocated one by one and released all at once. There is one arena per lifetime (source
   file, model, run). */
#ifndef RONDO_BASE_ARENA_H
#define RONDO_BASE_ARENA_H

#include <stddef.h>

struct arena_block;
struct arena {
  struct arena_block *head;
};

void arena_init(struct arena *);
void arena_release(struct arena *);
void arena_clear(struct arena *);               /* keeps the newest block for reuse */
size_t arena_bytes(const struct arena *);       /* of all blocks */
void *arena_alloc(struct arena *, size_t size); /* zeroed, aligned to 16 */
void *arena_array(struct arena *, size_t count, size_t each);
void *arena_copy(struct arena *, const void *from, size_t size);
/* Returns an array of n elements that has room for one more: `at` itself, or a larger copy; *cap is its capacity. */
void *arena_grown(struct arena *, void *at, size_t *cap, size_t n, size_t each);
char *arena_strndup(struct arena *, const char *text, size_t length);
char *arena_printf(struct arena *, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
