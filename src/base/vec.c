#include "base/vec.h"

#include <string.h>

void *vec_grow(void *at, size_t *cap, size_t need, size_t each) {
  size_t larger = *cap < 8 ? 8 : *cap > SIZE_MAX / 2 ? SIZE_MAX : *cap * 2;
  if (larger < need)
    larger = need;
  at = memory_resize_array(at, larger, each);
  *cap = larger;
  return at;
}

void *indexed_grow(void *at, uint32_t *n, uint32_t index, size_t each, int fill) {
  uint32_t larger = index < UINT32_MAX / 2 - 16 ? 2 * index + 16 : UINT32_MAX;
  at = memory_resize_array(at, larger, each);
  memset((char *)at + *n * each, fill, (larger - *n) * each);
  *n = larger;
  return at;
}
