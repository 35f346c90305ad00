/* Scalarsets that no content mentions: a member is no more than the cells that move with it, its column, and the
   canonical form has the columns in order. Exact, since any order of the columns is a renaming. */
#include "steps/step_canonical_internal.h"

#include <string.h>

#define INSERTION_MOST 16 /* moves for each member, before the rest is merged instead */

static inline int column_compare(struct canonical *k, const struct element_scalarset *f, const content *row, uint32_t x,
                                 uint32_t y) {
  const uint32_t *a = f->column + (size_t)x * f->width, *b = f->column + (size_t)y * f->width;
  for (uint32_t i = 0; i < f->width; i++)
    if (row[a[i]] != row[b[i]])
      return content_compare(k, a[i], row[a[i]], row[b[i]]);
  return 0;
}

static void merge_columns(struct canonical *k, const struct element_scalarset *f, const content *row) {
  uint32_t n = f->count, *at = k->members, *spare = k->spare_members;
  for (uint32_t width = 1; width < n; width *= 2) {
    for (uint32_t low = 0; low < n; low += 2 * width) {
      uint32_t mid = low + width < n ? low + width : n, high = low + 2 * width < n ? low + 2 * width : n;
      for (uint32_t i = low, j = mid, o = low; o < high; o++)
        spare[o] = j >= high || (i < mid && column_compare(k, f, row, at[i], at[j]) <= 0) ? at[i++] : at[j++];
    }
    memcpy(at, spare, n * sizeof *at);
  }
}

/* What comes out of a step is nearly in order: one or two members have changed. False: nobody moves. */
static bool order_columns(struct canonical *k, const struct element_scalarset *f, const content *row) {
  uint32_t *at = k->members;
  uint64_t moves = 0;
  for (uint32_t i = 0; i < f->count; i++)
    at[i] = i;
  for (uint32_t i = 1; i < f->count; i++) {
    uint32_t j = i;
    for (; j > 0 && column_compare(k, f, row, at[j - 1], i) > 0; j--)
      at[j] = at[j - 1];
    at[j] = i;
    moves += i - j;
    if (moves > (uint64_t)INSERTION_MOST * f->count) {
      merge_columns(k, f, row);
      return true;
    }
  }
  return moves > 0;
}

/* Puts the columns where they belong, and says where each went. */
static void move_columns(struct canonical *k, const struct element_scalarset *f, content *row, uint32_t *to) {
  size_t width = f->width;
  content *kept = k->leaf;
  for (uint32_t i = 0; i < f->count; i++)
    if (k->members[i] != i)
      for (size_t w = 0; w < width; w++)
        kept[i * width + w] = row[f->column[k->members[i] * width + w]];
  for (uint32_t i = 0; i < f->count; i++) {
    if (k->members[i] == i)
      continue;
    if (to)
      to[f->first + k->members[i]] = f->first + i;
    for (size_t w = 0; w < width; w++)
      row[f->column[i * width + w]] = kept[i * width + w];
  }
}

void scalarset_sort(struct canonical *k, const struct element_scalarset *f, content *row, uint32_t *to) {
  if (order_columns(k, f, row))
    move_columns(k, f, row, to);
}
