#include "space/partials.h"

#include "base/hash.h"
#include "base/vec.h"

#include <string.h>

void partials_clear(struct partials *p) {
  p->nwords = p->n = 0;
  if (p->index)
    memset(p->index, 0, p->index_cap * sizeof *p->index);
}

void partials_release(struct partials *p) {
  memory_free(p->words);
  memory_free(p->items);
  memory_free(p->index);
  memset(p, 0, sizeof *p);
}

static size_t partials_slot(const struct partials *p, const uint32_t *words, uint32_t length) {
  size_t i = hash_bytes(words, length * sizeof *words) & (p->index_cap - 1);
  while (p->index[i]) {
    const struct partial *old = &p->items[p->index[i] - 1];
    if (old->length == length && !memcmp(p->words + old->at, words, length * sizeof *words))
      break;
    i = (i + 1) & (p->index_cap - 1);
  }
  return i;
}

static void partials_grow(struct partials *p) {
  p->index_cap = p->index_cap ? 2 * p->index_cap : 1024;
  memory_free(p->index);
  p->index = memory_alloc(p->index_cap * sizeof *p->index);
  for (size_t i = 0; i < p->n; i++)
    p->index[partials_slot(p, p->words + p->items[i].at, p->items[i].length)] = (uint32_t)i + 1;
}

void partials_append(struct partials *p, const uint32_t *words, uint32_t length, const struct way *way) {
  if (p->nwords + length > p->words_cap)
    p->words = vec_grown(p->words, &p->words_cap, p->nwords + length, sizeof *p->words);
  if (p->n == p->cap)
    p->items = vec_grown(p->items, &p->cap, p->n + 1, sizeof *p->items);
  memcpy(p->words + p->nwords, words, length * sizeof *words);
  p->items[p->n++] = (struct partial){p->nwords, length, *way};
  p->nwords += length;
}

void partials_add(struct partials *p, const uint32_t *words, uint32_t length, const struct way *way) {
  if ((p->n + 1) * 2 > p->index_cap)
    partials_grow(p);
  size_t slot = partials_slot(p, words, length);
  if (p->index[slot]) {
    struct way *old = &p->items[p->index[slot] - 1].way;
    if (way->cost < old->cost || (way->cost == old->cost && way->charge < old->charge))
      *old = *way;
    return;
  }
  partials_append(p, words, length, way);
  p->index[slot] = (uint32_t)p->n;
}
