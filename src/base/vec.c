#include "base/vec.h"

#include <stdint.h>

void *vec_grow(void *at, size_t *cap, size_t need, size_t each) {
  size_t larger = *cap < 8 ? 8 : *cap > SIZE_MAX / 2 ? SIZE_MAX : *cap * 2;
  if (larger < need)
    larger = need;
  at = memory_resize_array(at, larger, each);
  *cap = larger;
  return at;
}
