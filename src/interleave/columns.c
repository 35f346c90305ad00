/* Families of which no content speaks: a member is no more than the cells that move with it, its column, and the
   canonical form has the columns in order. Exact, since any order of the columns is a renaming. */
#include "interleave/canonical.h"

#include "base/hash.h"

#include <string.h>

#define INSERTION_MOST 16 /* moves for each element, before the rest is merged instead */

static void merge_runs(struct keyed *at, struct keyed *spare, uint32_t n) {
  for (uint32_t width = 1; width < n; width *= 2) {
    for (uint32_t low = 0; low < n; low += 2 * width) {
      uint32_t mid = low + width < n ? low + width : n, high = low + 2 * width < n ? low + 2 * width : n;
      for (uint32_t i = low, j = mid, o = low; o < high; o++)
        spare[o] = j >= high || (i < mid && at[i].key <= at[j].key) ? at[i++] : at[j++];
    }
    memcpy(at, spare, n * sizeof *at);
  }
}

/* What comes out of a step is nearly in order: one or two members have moved. Equal keys keep their order. */
void keyed_sort(struct keyed *at, struct keyed *spare, uint32_t n) {
  uint64_t moves = 0;
  for (uint32_t i = 1; i < n; i++) {
    struct keyed one = at[i];
    uint32_t j = i;
    for (; j > 0 && at[j - 1].key > one.key; j--)
      at[j] = at[j - 1];
    at[j] = one;
    moves += i - j;
    if (moves > (uint64_t)INSERTION_MOST * n) {
      merge_runs(at, spare, n);
      return;
    }
  }
}

static int column_compare(struct canonical *k, const struct family *f, const content *row, uint32_t x, uint32_t y) {
  const uint32_t *a = f->column + (size_t)x * f->width, *b = f->column + (size_t)y * f->width;
  int order = 0;
  for (uint32_t i = 0; i < f->width && !order; i++)
    order = content_compare(k, a[i], row[a[i]], row[b[i]]);
  return order;
}

/* Equal keys nearly always mean equal columns. */
static void order_equal_keys(struct canonical *k, const struct family *f, const content *row) {
  struct keyed *at = k->keyed;
  for (uint32_t i = 1; i < f->count; i++) {
    struct keyed one = at[i];
    uint32_t j = i;
    for (; j > 0 && at[j - 1].key == one.key && column_compare(k, f, row, at[j - 1].at, one.at) > 0; j--)
      at[j] = at[j - 1];
    at[j] = one;
  }
}

static uint64_t column_key(struct canonical *k, const struct family *f, const content *row, uint32_t member) {
  const uint32_t *cell = f->column + (size_t)member * f->width;
  uint64_t key = 0xC01;
  for (uint32_t i = 0; i < f->width; i++)
    key = hash_mix(key, view_of(k, cell[i], row[cell[i]])->key);
  return key;
}

/* Puts the columns where they belong, and says where each went. */
static void move_columns(struct canonical *k, const struct family *f, content *row, uint32_t *to) {
  size_t width = f->width;
  content *kept = k->leaf;
  for (uint32_t i = 0; i < f->count; i++)
    if (k->keyed[i].at != i)
      for (size_t w = 0; w < width; w++)
        kept[i * width + w] = row[f->column[k->keyed[i].at * width + w]];
  for (uint32_t i = 0; i < f->count; i++) {
    to[f->first + k->keyed[i].at] = f->first + i;
    if (k->keyed[i].at != i)
      for (size_t w = 0; w < width; w++)
        row[f->column[i * width + w]] = kept[i * width + w];
  }
}

void family_sort(struct canonical *k, struct family *f, content *row, uint32_t *to) {
  bool sorted = true, ties = false;
  for (uint32_t i = 0; i < f->count; i++) {
    k->keyed[i] = (struct keyed){column_key(k, f, row, i), i};
    sorted &= i == 0 || k->keyed[i - 1].key < k->keyed[i].key;
  }
  if (!sorted) {
    keyed_sort(k->keyed, k->spare, f->count);
    for (uint32_t i = 1; i < f->count; i++)
      ties |= k->keyed[i - 1].key == k->keyed[i].key;
    if (ties)
      order_equal_keys(k, f, row);
  }
  move_columns(k, f, row, to);
}
