/* Canonical forms of rows, private part. Renamings move elements: the processes and, after them, the values of the
   unordered type. A scalarset is a set of elements that renamings permute: arbitrarily, or by rotation only (a ring).
   All other elements are fixed. */
#ifndef RONDO_STEPS_STEP_CANONICAL_INTERNAL_H
#define RONDO_STEPS_STEP_CANONICAL_INTERNAL_H

#include "base/vec.h"
#include "steps/message_routes.h"
#include "steps/state_cells.h"
#include "system/memo.h"

#include <string.h>

#define NO_ELEMENT UINT32_MAX
#define NO_SCALARSET UINT32_MAX

struct element_scalarset {
  uint32_t first, count; /* elements */
  bool ring;             /* only rotations are allowed */
  /* no content mentions its elements, and its cells mention no element that moves: sorting the columns is enough */
  bool plain;
  uint32_t *column, width; /* plain: by member, the cells that move with it, in the same order for each member */
  uint32_t *rotations;     /* ring: members that may be placed first */
};

/* --- occurrences of elements in a content (occurrences.c) --- */

struct occurrence {
  uint32_t element;
  /* if view->interchange_known: the first element that can be exchanged with this one without changing the content */
  uint32_t interchange_class;
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
  bool interchange_known;
};

struct content_views { /* for the contents of one table, by name */
  struct content_view *at;
  uint32_t n;
};

/* --- partitions of the elements (colour_refinement.c) --- */

/* An ordered partition of the elements into classes. The colour of an element is the position where its class begins.
   The only element of a singleton class has its final position. */
struct partition {
  uint32_t *at;     /* by position: the element */
  uint32_t *colour; /* by element */
  uint32_t *size;   /* by colour: the size of the class that begins there */
  uint32_t open;    /* number of elements in classes with several elements */
  /* by element: a link towards another element of its orbit under renamings that leave row and path unchanged */
  uint32_t *orbit;
};

/* A cell's content, or a part of it, with the elements that it relates. */
struct hyperedge {
  uint64_t shape;
  uint32_t a, b;     /* the owners of its cell, or NO_ELEMENT */
  uint32_t first, n; /* occurrences */
  bool part;
};

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

/* A cell that a non-plain scalarset moves, or whose content may mention its elements. */
struct affected_cell {
  uint32_t cell, table;
  uint32_t a, b; /* its owners, or NO_ELEMENT */
  uint32_t free; /* how many of the owners take part in refinement: members of rings do not, they are placed first */
  bool empties;  /* content 0 mentions nothing */
  uint64_t site; /* distinguishes kinds of cells, and cells without an owner */
};

/* Cells of a bare ring (ring_rotations.c) that look the same to a member if they have the same content. */
struct ring_site {
  uint32_t table;
  uint64_t site, a, b;  /* the owners, as seen from the member */
  uint64_t *signatures; /* by content: its contribution to the signature of the member; 0: not computed yet */
  uint32_t n;
};

/* A ring that no content mentions, in a model where nothing else is renamed: a rotation moves contents but changes none
   of them. */
struct bare_ring {
  const struct element_scalarset *scalarset;
  struct ring_site *sites;
  uint32_t nsites;
  uint32_t *site_of, *member; /* by index in canonical.affected */
  uint32_t *to;               /* [rotation * naffected + index in affected]: the cell that it moves to */
  uint64_t *signature;        /* by member, two copies in a row */
};

struct canonical {
  struct state_cells *cells;
  struct model *model;
  struct arena arena;
  const struct message_routes *routes;
  const struct type *value_type; /* NULL: values are not renamed */
  uint32_t nprocesses, nelements;
  uint32_t *scalarset_of; /* by element, or NO_SCALARSET */
  bool *is_free;          /* by element: takes part in refinement. Members of rings do not; they are placed first */
  struct element_scalarset *scalarsets;
  uint32_t nscalarsets;
  uint32_t *rings, nrings; /* indices in scalarsets */
  bool searches;           /* some scalarset is not plain */
  struct affected_cell *affected;
  uint32_t naffected;
  struct bare_ring *bare; /* or NULL */

  struct content_views *content_views; /* by table */
  VEC(struct occurrence) occurrences;
  VEC(struct content_part) parts;
  VEC(struct occurrence) scratch; /* used while a content is analysed */
  VEC(struct channel_packet) packets;
  VEC(value) values;

  struct memo renamed;      /* (table and content, images of its elements) -> content */
  struct intern *renamings; /* for contents with many elements */
  VEC(value) images;
  uint32_t *value_map;

  /* the current row */
  content *row, *leaf, *best;
  bool any; /* best is valid */
  uint32_t *to, *best_to, *went;
  uint32_t *swap, *pair; /* by element: the identity, except while an exchange of elements is tested */
  VEC(struct hyperedge) hyperedges;
  uint32_t nbinding; /* the first nbinding hyperedges relate several elements */
  VEC(struct partition) levels;
  uint32_t *path, *best_path; /* the individualised elements, by level */
  uint32_t jump;       /* the level to return to: deeper branches are equivalent to branches that were tried there */
  uint64_t *signature; /* by element */
  uint32_t *members;
  uint32_t *spare;                                                /* for indices_sort */
  bool indexed;                                                   /* occurs_at is valid for the row */
  uint32_t *occurs_first;                                         /* by element */
  VEC(uint32_t) occurs_at;                                        /* cells */
  uint32_t *parent, *bundle, *bundle_first, *bundle_size, *heads; /* interchangeable_elements.c: all by element */
};

/* scalarsets.c: computed from the licences and the types alone. */
void scalarsets_find(struct canonical *);

/* occurrences.c */
const struct content_view *content_view_make(struct canonical *, uint32_t cell, content);
static inline const struct content_view *content_view_of(struct canonical *k, uint32_t cell, content c) {
  const struct content_views *v = &k->content_views[k->cells->cell[cell].table];
  return c < v->n && v->at[c].key ? &v->at[c] : content_view_make(k, cell, c);
}
static inline const struct content_view *content_view_at(struct canonical *k, const struct affected_cell *w,
                                                         content c) {
  const struct content_views *v = &k->content_views[w->table];
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
/* Does the content stay the same if these two elements of a scalarset are exchanged? */
bool content_interchanges(struct canonical *, uint32_t cell, content, uint32_t x, uint32_t y);
/* The content after renaming its elements by `to`. */
content content_renamed(struct canonical *, uint32_t cell, content, const uint32_t *to);
/* The cell that the cell's content moves to. */
uint32_t cell_renamed(const struct canonical *, uint32_t cell, const uint32_t *to);

/* column_sort.c: sorts the members of a plain scalarset. Records the members that moved in `to` (by element), which may
   be NULL. */
void scalarset_sort(struct canonical *, const struct element_scalarset *, content *row, uint32_t *to);

/* colour_refinement.c */
void hyperedges_collect(struct canonical *);
void partition_begin(const struct canonical *, struct partition *); /* one class for each scalarset */
void partition_copy(const struct canonical *, struct partition *, const struct partition *from);
void partition_single_out(struct partition *, uint32_t element);
/* Splits a class into singletons, in the current order. */
void partition_cut(struct partition *, uint32_t colour);
/* Refines until all elements of a class are related to the classes in the same way. fresh: the elements' own cells have
   not been considered yet either. */
void partition_refine(struct canonical *, struct partition *, bool fresh);

/* ring_rotations.c: finds the members of a ring that may be placed first: those where the lexicographically least
   sequence of signatures begins. Stores them in scalarset->rotations and returns their number. */
uint32_t find_ring_rotations(struct canonical *, const struct partition *, struct element_scalarset *);
void ring_place(struct partition *, const struct element_scalarset *, uint32_t first);

/* Sets canonical->bare if a bare ring is all that is renamed; otherwise leaves it NULL. */
void bare_ring_find(struct canonical *);
void bare_ring_release(struct canonical *);
size_t bare_ring_bytes(const struct canonical *);
/* Computes the form that the search would find, from cached signatures of contents. Records the images of members in
   `to` (by element), which may be NULL. False: several rotations have the same signatures, so the search has to
   decide. */
bool bare_ring_form(struct canonical *, content *row, uint32_t *to);

/* interchangeable_elements.c: splits classes whose elements can be exchanged, alone or together with others, without
   changing the row. Every order of such elements gives the same form. */
void partition_cut_interchangeable(struct canonical *, struct partition *);
/* Does the row stay the same if a[i] and b[i] are exchanged for all i? The 2n elements are distinct. */
bool elements_interchangeable(struct canonical *, const uint32_t *a, const uint32_t *b, uint32_t n);

#endif
