/* Sorting and hashing for canonical forms. */
#ifndef RONDO_STEPS_INDICES_SORT_H
#define RONDO_STEPS_INDICES_SORT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* A hash whose values may be summed: unlike hash_mix, no bit of it is nearly linear. */
static inline uint64_t hash_scramble(uint64_t h, uint64_t x) {
  h = (h ^ x) * 0x9E3779B97F4A7C15u;
  h = (h ^ h >> 32) * 0xD6E8FEB86659FD93u;
  return h ^ h >> 29;
}

/* Stable sort of indices. The successor of a sorted row is nearly sorted, so it starts as an insertion sort and
   switches to merge sort after INSERTIONS_MAX moves per index on average. False: nothing was moved. Inlined together
   with its comparison. */
#define INSERTIONS_MAX 16
__attribute__((always_inline)) static inline bool
indices_sort(uint32_t *at, uint32_t *spare, uint32_t n, bool (*after)(void *, uint32_t, uint32_t), void *context) {
  uint64_t moves = 0;
  for (uint32_t i = 1; i < n && moves <= (uint64_t)INSERTIONS_MAX * n; i++) {
    uint32_t one = at[i], j = i;
    for (; j > 0 && after(context, at[j - 1], one); j--)
      at[j] = at[j - 1];
    at[j] = one;
    moves += i - j;
  }
  for (uint32_t width = 1; width < n && moves > (uint64_t)INSERTIONS_MAX * n; width *= 2) {
    for (uint32_t low = 0; low < n; low += 2 * width) {
      uint32_t mid = low + width < n ? low + width : n, high = low + 2 * width < n ? low + 2 * width : n;
      for (uint32_t i = low, j = mid, o = low; o < high; o++)
        spare[o] = j >= high || (i < mid && !after(context, at[i], at[j])) ? at[i++] : at[j++];
    }
    memcpy(at, spare, n * sizeof *at);
  }
  return moves > 0;
}

#endif
