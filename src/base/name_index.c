#include "base/name_index.h"

#include "base/hash.h"

#include <string.h>

static void link_entry(struct name_index *x, uint32_t number) {
  struct name_entry *e = &x->entries.at[number];
  uint32_t *bucket = &x->buckets[e->hash & (x->nbuckets - 1)];
  e->before = *bucket;
  *bucket = number + 1;
}

static void grow(struct name_index *x) {
  x->nbuckets = x->nbuckets ? 2 * x->nbuckets : 16;
  memory_free(x->buckets);
  x->buckets = memory_alloc(x->nbuckets * sizeof *x->buckets);
  for (uint32_t i = 0; i < x->entries.n; i++)
    link_entry(x, i);
}

uint32_t name_index_add(struct name_index *x, const char *name) {
  if (x->entries.n == x->nbuckets)
    grow(x);
  vec_push(&x->entries, ((struct name_entry){name, (uint32_t)hash_bytes(name, strlen(name)), 0}));
  link_entry(x, (uint32_t)x->entries.n - 1);
  return (uint32_t)x->entries.n - 1;
}

/* The entry with this name in a chain that starts at `link`. */
static uint32_t chain_find(const struct name_index *x, uint32_t link, uint32_t hash, const char *name) {
  for (; link; link = x->entries.at[link - 1].before)
    if (x->entries.at[link - 1].hash == hash && strcmp(x->entries.at[link - 1].name, name) == 0)
      return link - 1;
  return NAME_NONE;
}

uint32_t name_index_find(const struct name_index *x, const char *name) {
  if (x->entries.n == 0)
    return NAME_NONE;
  uint32_t hash = (uint32_t)hash_bytes(name, strlen(name));
  return chain_find(x, x->buckets[hash & (x->nbuckets - 1)], hash, name);
}

uint32_t name_index_before(const struct name_index *x, uint32_t number) {
  const struct name_entry *e = &x->entries.at[number];
  return chain_find(x, e->before, e->hash, e->name);
}

/* The last entry is always the first of its chain. */
void name_index_cut(struct name_index *x, size_t n) {
  while (x->entries.n > n) {
    const struct name_entry *e = &x->entries.at[--x->entries.n];
    x->buckets[e->hash & (x->nbuckets - 1)] = e->before;
  }
}

void name_index_release(struct name_index *x) {
  vec_release(&x->entries);
  memory_free(x->buckets);
  *x = (struct name_index){0};
}
