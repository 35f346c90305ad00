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

static inline bool column_equal(const struct family *f, const content *row, uint32_t x, uint32_t y) {
  const uint32_t *a = f->column + (size_t)x * f->width, *b = f->column + (size_t)y * f->width;
  for (uint32_t i = 0; i < f->width; i++)
    if (row[a[i]] != row[b[i]])
      return false;
  return true;
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
    if (at[i - 1].key != at[i].key || column_equal(f, row, at[i - 1].at, at[i].at))
      continue;
    struct keyed one = at[i];
    uint32_t j = i;
    for (; j > 0 && at[j - 1].key == one.key && column_compare(k, f, row, at[j - 1].at, one.at) > 0; j--)
      at[j] = at[j - 1];
    at[j] = one;
  }
}

static void key_columns(struct canonical *k, const struct family *f, const content *row) {
  for (uint32_t i = 0; i < f->count; i++)
    k->keyed[i] = (struct keyed){0xC01, i};
  for (uint32_t w = 0; w < f->width; w++) {
    const struct views *views = &k->views[k->cells->cell[f->column[w]].table]; /* the same for all members */
    for (uint32_t i = 0; i < f->count; i++) {
      uint32_t cell = f->column[(size_t)i * f->width + w];
      content c = row[cell];
      uint64_t key = c < views->n && views->at[c].key ? views->at[c].key : view_make(k, cell, c)->key;
      k->keyed[i].key = hash_mix(k->keyed[i].key, key);
    }
  }
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
    if (k->keyed[i].at == i)
      continue;
    if (to)
      to[f->first + k->keyed[i].at] = f->first + i;
    for (size_t w = 0; w < width; w++)
      row[f->column[i * width + w]] = kept[i * width + w];
  }
}

void family_sort(struct canonical *k, const struct family *f, content *row, uint32_t *to) {
  bool sorted = true, ties = false;
  key_columns(k, f, row);
  for (uint32_t i = 1; i < f->count; i++) {
    sorted &= k->keyed[i - 1].key <= k->keyed[i].key;
    ties |= k->keyed[i - 1].key == k->keyed[i].key;
  }
  if (!sorted) {
    keyed_sort(k->keyed, k->spare, f->count);
    for (uint32_t i = 1; i < f->count && !ties; i++)
      ties = k->keyed[i - 1].key == k->keyed[i].key;
  }
  if (ties)
    order_equal_keys(k, f, row);
  if (!sorted || ties)
    move_columns(k, f, row, to);
}
