#include "base/arena.h"

#include "base/memory.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

enum { ARENA_ALIGN = 16, ARENA_FIRST = 1 << 12, ARENA_LARGEST = 1 << 20 };

struct arena_block {
  struct arena_block *next; /* the next older block */
  size_t used, size;
  _Alignas(ARENA_ALIGN) unsigned char bytes[];
};

void arena_init(struct arena *a) { a->head = NULL; }

static void arena_release_from(struct arena_block *block) {
  while (block) {
    struct arena_block *older = block->next;
    memory_free(block);
    block = older;
  }
}

void arena_release(struct arena *a) {
  arena_release_from(a->head);
  a->head = NULL;
}

void arena_clear(struct arena *a) {
  if (!a->head)
    return;
  arena_release_from(a->head->next);
  a->head->next = NULL;
  a->head->used = 0;
}

size_t arena_bytes(const struct arena *a) {
  size_t bytes = 0;
  for (const struct arena_block *block = a->head; block; block = block->next)
    bytes += sizeof *block + block->size;
  return bytes;
}

/* Each block is twice as large as the last: a long-lived arena needs few calls, a short-lived one little memory. */
static struct arena_block *arena_grow(struct arena *a, size_t need) {
  size_t size = a->head ? a->head->size * 2 : ARENA_FIRST;
  if (size > ARENA_LARGEST)
    size = ARENA_LARGEST;
  if (size < need)
    size = need;
  size_t whole;
  if (__builtin_add_overflow(size, sizeof(struct arena_block), &whole))
    whole = SIZE_MAX; /* too large: the allocator refuses it, which reports the failure in one place */
  struct arena_block *block = memory_resize(NULL, whole);
  *block = (struct arena_block){.next = a->head, .used = 0, .size = size};
  a->head = block;
  return block;
}

void *arena_alloc(struct arena *a, size_t size) {
  size_t need = size ? size : 1;
  if (__builtin_add_overflow(need, (size_t)(ARENA_ALIGN - 1), &need))
    need = SIZE_MAX;
  need &= ~(size_t)(ARENA_ALIGN - 1);
  struct arena_block *block = a->head;
  if (!block || block->size - block->used < need)
    block = arena_grow(a, need);
  void *at = block->bytes + block->used;
  block->used += need;
  return memset(at, 0, need);
}

void *arena_array(struct arena *a, size_t count, size_t each) {
  size_t size;
  if (__builtin_mul_overflow(count, each, &size))
    size = SIZE_MAX;
  return arena_alloc(a, size);
}

void *arena_copy(struct arena *a, const void *from, size_t size) {
  void *at = arena_alloc(a, size);
  if (size)
    memcpy(at, from, size);
  return at;
}

void *arena_grown(struct arena *a, void *at, size_t *cap, size_t n, size_t each) {
  if (n < *cap)
    return at;
  *cap = *cap ? 2 * *cap : 8;
  void *grown = arena_array(a, *cap, each);
  if (n)
    memcpy(grown, at, n * each);
  return grown;
}

char *arena_strndup(struct arena *a, const char *text, size_t length) {
  char *at = arena_alloc(a, length + 1);
  if (length)
    memcpy(at, text, length);
  return at;
}

char *arena_printf(struct arena *a, const char *format, ...) {
  struct text text = {0};
  va_list args;
  va_start(args, format);
  text_addv(&text, format, args);
  va_end(args);
  char *at = arena_strndup(a, text_or_empty(&text), text.n);
  text_release(&text);
  return at;
}
