/* A memo table: a pair of 64-bit keys -> a 32-bit result. Insert-only. */
#ifndef RONDO_SYSTEM_MEMO_H
#define RONDO_SYSTEM_MEMO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memo_slot {
  uint64_t a, b;
  uint32_t result;
  uint32_t used;
};

struct memo {
  struct memo_slot *slot;
  size_t capacity, count;
};

void memo_release(struct memo *);
bool memo_find(const struct memo *, uint64_t a, uint64_t b, uint32_t *result);
void memo_add(struct memo *, uint64_t a, uint64_t b, uint32_t result); /* (a, b) must be absent */
size_t memo_bytes(const struct memo *);

#endif
