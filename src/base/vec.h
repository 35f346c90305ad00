/* Growable arrays: VEC(int) numbers = {0}; vec_push(&numbers, 3); ... vec_release(&numbers); */
#ifndef RONDO_BASE_VEC_H
#define RONDO_BASE_VEC_H

#include "base/memory.h"

#include <stddef.h>
#include <stdint.h>

#define VEC(T)                                                                                                         \
  struct {                                                                                                             \
    T *at;                                                                                                             \
    size_t n, cap;                                                                                                     \
  }

__attribute__((cold)) void *vec_grow(void *at, size_t *cap, size_t need, size_t each);

#define vec_reserve(v, need)                                                                                           \
  ((v)->at = (need) > (v)->cap ? vec_grow((v)->at, &(v)->cap, (need), sizeof *(v)->at) : (v)->at)
#define vec_push(v, x) (vec_reserve(v, (v)->n + 1), (void)((v)->at[(v)->n++] = (x)))
#define vec_clear(v) ((void)((v)->n = 0))
#define vec_bytes(v) ((v)->cap * sizeof *(v)->at)
/* Reverses the elements after the first `from`. */
#define vec_reverse(v, from)                                                                                           \
  do {                                                                                                                 \
    for (size_t vec_low = (from), vec_high = (v)->n; vec_low + 1 < vec_high; vec_low++) {                              \
      __typeof__(*(v)->at) vec_swap = (v)->at[vec_low];                                                                \
      (v)->at[vec_low] = (v)->at[--vec_high];                                                                          \
      (v)->at[vec_high] = vec_swap;                                                                                    \
    }                                                                                                                  \
  } while (0)
#define vec_release(v) (memory_free((v)->at), (v)->at = NULL, (v)->n = (v)->cap = 0)

/* Arrays indexed by small integers. Elements are zero (fill 0) or all ones (fill 0xFF) until they are set.
   indexed_reserve(at, n, i, fill) makes room for element i; n is the number of elements. */
__attribute__((cold)) void *indexed_grow(void *at, uint32_t *n, uint32_t index, size_t each, int fill);
#define indexed_reserve(at, n, index, fill)                                                                            \
  ((void)((at) = (index) < (n) ? (at) : indexed_grow(at, &(n), index, sizeof *(at), fill)))

#endif
