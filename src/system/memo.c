#include "system/memo.h"

#include "base/hash.h"
#include "base/memory.h"

#include <string.h>

static size_t memo_start(const struct memo *m, uint64_t a, uint64_t b) {
  uint64_t h = hash_mix(hash_mix(0x51ED270B, a), b);
  return (size_t)(h ^ (h >> 29)) & (m->capacity - 1);
}

static void memo_put(struct memo *m, uint64_t a, uint64_t b, uint32_t result) {
  size_t i = memo_start(m, a, b);
  while (m->slot[i].used)
    i = (i + 1) & (m->capacity - 1);
  m->slot[i] = (struct memo_slot){a, b, result, 1};
}

bool memo_find(const struct memo *m, uint64_t a, uint64_t b, uint32_t *result) {
  if (!m->capacity)
    return false;
  for (size_t i = memo_start(m, a, b); m->slot[i].used; i = (i + 1) & (m->capacity - 1))
    if (m->slot[i].a == a && m->slot[i].b == b) {
      *result = m->slot[i].result;
      return true;
    }
  return false;
}

void memo_add(struct memo *m, uint64_t a, uint64_t b, uint32_t result) {
  if ((m->count + 1) * 2 > m->capacity) {
    struct memo_slot *old = m->slot;
    size_t n = m->capacity;
    m->capacity = n ? 2 * n : 1024;
    m->slot = memory_alloc(m->capacity * sizeof *m->slot);
    for (size_t i = 0; i < n; i++)
      if (old[i].used)
        memo_put(m, old[i].a, old[i].b, old[i].result);
    memory_free(old);
  }
  memo_put(m, a, b, result);
  m->count++;
}

void memo_release(struct memo *m) {
  memory_free(m->slot);
  memset(m, 0, sizeof *m);
}

size_t memo_bytes(const struct memo *m) { return m->capacity * sizeof *m->slot; }
