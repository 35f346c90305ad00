/* Occurrences of elements in a content. */
#ifndef RONDO_STEPS_OCCURRENCES_H
#define RONDO_STEPS_OCCURRENCES_H

#include "steps/step_canonical_internal.h"

struct occurrence {
  uint32_t element;
  uint64_t tag; /* its position in the content: invariant under renaming */
};

/* A part of a content that mentions several elements together: an element of a set or array, or one of several
   messages. */
struct content_part {
  uint64_t shape;
  uint32_t first, n; /* its occurrences */
};

struct content_view {
  uint64_t key;   /* a sort key of the content; 0: not computed yet */
  uint64_t shape; /* invariant under renaming of the content */
  /* index of its first occurrence; there is one for each movable element in the content, ascending */
  uint32_t occurrences;
  uint32_t parts;
  uint32_t noccurrences;
  uint16_t nparts;
};

struct content_views { /* for the contents of one table, by name */
  struct content_view *at;
  uint32_t n;
};

const struct content_view *content_view_make(struct canonical *, uint32_t cell, content);
static inline const struct content_view *content_view_of(struct canonical *k, uint32_t cell, content c) {
  const struct content_views *v = &k->contents.views[k->cells->cell[cell].table];
  return c < v->n && v->at[c].key ? &v->at[c] : content_view_make(k, cell, c);
}
static inline const struct content_view *content_view_at(struct canonical *k, const struct affected_cell *w,
                                                         content c) {
  const struct content_views *v = &k->contents.views[w->table];
  return c < v->n && v->at[c].key ? &v->at[c] : content_view_make(k, w->cell, c);
}
bool cell_may_contain(const struct canonical *, uint32_t cell,
                      const struct element_scalarset *); /* judged by the types alone */
/* Compares contents, not names, so the order is the same in every run. */
int content_compare_deeply(struct canonical *, uint32_t cell, content, content);
static inline int content_compare(struct canonical *k, uint32_t cell, content x, content y) {
  if (x == y)
    return 0;
  uint64_t kx = content_view_of(k, cell, x)->key, ky = content_view_of(k, cell, y)->key;
  return kx < ky ? -1 : kx > ky ? 1 : content_compare_deeply(k, cell, x, y);
}

#endif
