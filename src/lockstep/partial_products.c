#include "lockstep/partial_products.h"

#include "base/hash.h"
#include "base/vec.h"

#include <string.h>

void partial_products_clear(struct partial_products *p) {
  p->nwords = p->n = 0;
  if (p->index)
    memset(p->index, 0, p->index_cap * sizeof *p->index);
}

void partial_products_release(struct partial_products *p) {
  memory_free(p->words);
  memory_free(p->items);
  memory_free(p->index);
  memset(p, 0, sizeof *p);
}

size_t partial_products_bytes(const struct partial_products *p) {
  return p->words_cap * sizeof *p->words + p->cap * sizeof *p->items + p->index_cap * sizeof *p->index;
}

static size_t partial_products_slot(const struct partial_products *p, const uint32_t *words, uint32_t length) {
  size_t i = hash_bytes(words, length * sizeof *words) & (p->index_cap - 1);
  while (p->index[i]) {
    const struct partial_product *old = &p->items[p->index[i] - 1];
    if (old->length == length && !memcmp(p->words + old->at, words, length * sizeof *words))
      break;
    i = (i + 1) & (p->index_cap - 1);
  }
  return i;
}

static void partial_products_grow(struct partial_products *p) {
  p->index_cap = p->index_cap ? 2 * p->index_cap : 1024;
  memory_free(p->index);
  p->index = memory_alloc(p->index_cap * sizeof *p->index);
  for (size_t i = 0; i < p->n; i++)
    p->index[partial_products_slot(p, p->words + p->items[i].at, p->items[i].length)] = (uint32_t)i + 1;
}

void partial_products_append(struct partial_products *p, const uint32_t *words, uint32_t length,
                             const struct path_cost *path) {
  if (p->nwords + length > p->words_cap)
    p->words = vec_grow(p->words, &p->words_cap, p->nwords + length, sizeof *p->words);
  if (p->n == p->cap)
    p->items = vec_grow(p->items, &p->cap, p->n + 1, sizeof *p->items);
  memcpy(p->words + p->nwords, words, length * sizeof *words);
  p->items[p->n++] = (struct partial_product){p->nwords, length, *path};
  p->nwords += length;
}

void partial_products_add(struct partial_products *p, const uint32_t *words, uint32_t length,
                          const struct path_cost *path) {
  if ((p->n + 1) * 2 > p->index_cap)
    partial_products_grow(p);
  size_t slot = partial_products_slot(p, words, length);
  if (p->index[slot]) {
    struct path_cost *old = &p->items[p->index[slot] - 1].path;
    if (path->cost < old->cost || (path->cost == old->cost && path->fault_cost < old->fault_cost))
      *old = *path;
    return;
  }
  partial_products_append(p, words, length, path);
  p->index[slot] = (uint32_t)p->n;
}
