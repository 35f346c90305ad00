/* Scalarsets that no content mentions: a member is determined by the cells that move with it, its column. The canonical
   form has sorted columns. This is exact, because every permutation of the columns is a renaming. */
#include "steps/column_sort.h"

#include "steps/indices_sort.h"
#include "steps/occurrences.h"
#include "steps/scalarsets.h"
#include "steps/step_canonical_internal.h"

struct column_order {
  struct canonical *k;
  const struct element_scalarset *scalarset;
  const content *row;
};

static inline bool column_after(void *context, uint32_t x, uint32_t y) {
  const struct column_order *o = context;
  const struct element_scalarset *f = o->scalarset;
  const uint32_t *a = f->column + (size_t)x * f->width, *b = f->column + (size_t)y * f->width;
  for (uint32_t i = 0; i < f->width; i++)
    if (o->row[a[i]] != o->row[b[i]])
      return content_compare(o->k, a[i], o->row[a[i]], o->row[b[i]]) > 0;
  return false;
}

/* Moves the columns to their final positions, and records these positions. */
static void move_columns(struct canonical *k, const struct element_scalarset *f, content *row, uint32_t *to) {
  size_t width = f->width;
  content *kept = k->search.leaf;
  for (uint32_t i = 0; i < f->count; i++)
    if (k->refinement.members[i] != i)
      for (size_t w = 0; w < width; w++)
        kept[i * width + w] = row[f->column[k->refinement.members[i] * width + w]];
  for (uint32_t i = 0; i < f->count; i++) {
    if (k->refinement.members[i] == i)
      continue;
    if (to)
      to[f->first + k->refinement.members[i]] = f->first + i;
    for (size_t w = 0; w < width; w++)
      row[f->column[i * width + w]] = kept[i * width + w];
  }
}

void scalarset_sort(struct canonical *k, const struct element_scalarset *f, content *row, uint32_t *to) {
  struct column_order order = {k, f, row};
  for (uint32_t i = 0; i < f->count; i++)
    k->refinement.members[i] = i;
  if (indices_sort(k->refinement.members, k->refinement.spare, f->count, column_after, &order))
    move_columns(k, f, row, to);
}
