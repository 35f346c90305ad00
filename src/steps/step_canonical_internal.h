/* Canonical forms of rows, from the inside. What a renaming moves are elements: the processes and, behind them, the
   values of the unordered type. A scalarset is a set of elements that renamings permute among themselves: in any way,
   or round a ring. All other elements stay where they are. */
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
  bool ring;             /* only round */
  bool plain; /* no content speaks of its elements, and its cells speak of no element that moves: columns are sorted */
  uint32_t *column, width; /* plain: by member, the cells that move with it, each member's in the same order */
  uint32_t *rotations;     /* ring: members that may come first */
};

/* --- what a content says about elements (occurrences.c) --- */

struct occurrence {
  uint32_t element;
  uint32_t interchange_class; /* view->interchange_known: the first element in its place of which the content would say
                                 the same */
  uint64_t tag;               /* where it stands: the same in every renaming of the content */
};

/* A part of a content that speaks of several elements at once: an element of a set or array, one of many messages. */
struct content_part {
  uint64_t shape;
  uint32_t first, n; /* its occurrences */
};

struct content_view {
  uint64_t key;         /* of the content; 0: not looked at yet */
  uint64_t shape;       /* the same in every renaming of the content */
  uint32_t occurrences; /* where its occurrences begin: one for each element that moves and stands in it, ascending */
  uint32_t parts;
  uint32_t noccurrences;
  uint16_t nparts;
  bool interchange_known;
};

struct content_views { /* of one table's contents, by name */
  struct content_view *at;
  uint32_t n;
};

/* --- partitions of the elements (colour_refinement.c) --- */

/* The elements in an order, cut into classes. An element's colour is the place where its class begins. A class of one
   element has its final place. */
struct partition {
  uint32_t *at;     /* by place: the element */
  uint32_t *colour; /* by element */
  uint32_t *size;   /* by colour: of the class that begins there */
  uint32_t open;    /* elements in classes of several */
  uint32_t *orbit; /* by element: leads to another that some renaming takes it to which leaves row and path unchanged */
};

/* A cell's content or a part of it, with the elements it ties together. */
struct hyperedge {
  uint64_t shape;
  uint32_t a, b;     /* whose cell it is in, or NO_ELEMENT */
  uint32_t first, n; /* occurrences */
  bool part;
};

/* Sums are taken of these: unlike hash_mix, no bit of it is nearly linear. */
static inline uint64_t hash_scramble(uint64_t h, uint64_t x) {
  h = (h ^ x) * 0x9E3779B97F4A7C15u;
  h = (h ^ h >> 32) * 0xD6E8FEB86659FD93u;
  return h ^ h >> 29;
}

/* Sorts indices, keeping the order of equal ones. What comes out of a step is nearly in order, so they are inserted one
   by one, and merged only after INSERTIONS_MAX moves for each. False: none has moved. Inlined with its comparison. */
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

/* A cell that is moved by a scalarset that is not plain, or that may speak of its elements. */
struct affected_cell {
  uint32_t cell, table;
  uint32_t a, b; /* whose it is, or NO_ELEMENT */
  uint32_t free; /* how many of these can be told apart: not those of rings, which are placed first */
  bool empties;  /* content 0 says nothing */
  uint64_t site; /* tells cells of several kinds apart, and those that are nobody's */
};

/* Cells of a bare ring (ring_rotations.c) of which a member sees the same when they hold the same. */
struct ring_site {
  uint32_t table;
  uint64_t site, a, b;  /* as it sees the elements whose they are */
  uint64_t *signatures; /* by content: what that adds to what lies at the member; 0: not known yet */
  uint32_t n;
};

/* A ring that no content speaks of, and nothing else is renamed: turning it moves contents and changes none. */
struct bare_ring {
  const struct element_scalarset *scalarset;
  struct ring_site *sites;
  uint32_t nsites;
  uint32_t *site_of, *member; /* by place in canonical.affected */
  uint32_t *to;               /* [turn * naffected + place in affected]: the cell where it goes */
  uint64_t *signature;        /* by member, twice round */
};

struct canonical {
  struct state_cells *cells;
  struct model *model;
  struct arena arena;
  const struct message_routes *routes;
  const struct type *value_type; /* NULL: values stay as they are */
  uint32_t nprocesses, nelements;
  uint32_t *scalarset_of; /* by element, or NO_SCALARSET */
  bool *is_free;          /* by element: to be told apart. Members of rings are placed before that */
  struct element_scalarset *scalarsets;
  uint32_t nscalarsets;
  uint32_t *rings, nrings; /* among them */
  bool searches;           /* some scalarset is not plain */
  struct affected_cell *affected;
  uint32_t naffected;
  struct bare_ring *bare; /* or NULL */

  struct content_views *content_views; /* by table */
  VEC(struct occurrence) occurrences;
  VEC(struct content_part) parts;
  VEC(struct occurrence) scratch; /* while a content is looked at */
  VEC(struct channel_packet) packets;
  VEC(value) values;

  struct memo renamed;      /* (table and content, where its elements go) -> content */
  struct intern *renamings; /* of contents with many elements */
  VEC(value) images;
  uint32_t *value_map;

  /* the row at hand */
  content *row, *leaf, *best;
  bool any; /* best is set */
  uint32_t *to, *best_to, *went;
  uint32_t *swap, *pair; /* by element: itself, but while elements are tried in each other's place */
  VEC(struct hyperedge) hyperedges;
  uint32_t nbinding; /* the first of them tie several elements together */
  VEC(struct partition) levels;
  uint32_t *path, *best_path; /* the elements that were told apart on the way, by level */
  uint32_t jump;              /* a level: what is deeper is as what was tried there before */
  uint64_t *signature;        /* by element */
  uint32_t *members;
  uint32_t *spare;                                                /* for indices_sort */
  bool indexed;                                                   /* occurs_at is that of the row */
  uint32_t *occurs_first;                                         /* by element */
  VEC(uint32_t) occurs_at;                                        /* cells */
  uint32_t *parent, *bundle, *bundle_first, *bundle_size, *heads; /* interchangeable_elements.c: all by element */
};

/* scalarsets.c: from the licences and the types alone. */
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
                      const struct element_scalarset *); /* from the types alone */
/* Order by content, never by name: the same in every run. */
int content_compare_deeply(struct canonical *, uint32_t cell, content, content);
static inline int content_compare(struct canonical *k, uint32_t cell, content x, content y) {
  if (x == y)
    return 0;
  uint64_t kx = content_view_of(k, cell, x)->key, ky = content_view_of(k, cell, y)->key;
  return kx < ky ? -1 : kx > ky ? 1 : content_compare_deeply(k, cell, x, y);
}
/* Would the content be the same if these two elements of a scalarset changed places? */
bool content_interchanges(struct canonical *, uint32_t cell, content, uint32_t x, uint32_t y);
/* The content after its elements went where `to` says. */
content content_renamed(struct canonical *, uint32_t cell, content, const uint32_t *to);
/* Where the cell's content goes. */
uint32_t cell_renamed(const struct canonical *, uint32_t cell, const uint32_t *to);

/* column_sort.c: sorts the members of a plain scalarset. to, by element: those that moved are entered; may be NULL. */
void scalarset_sort(struct canonical *, const struct element_scalarset *, content *row, uint32_t *to);

/* colour_refinement.c */
void hyperedges_collect(struct canonical *);
void partition_begin(const struct canonical *, struct partition *); /* a class for each scalarset */
void partition_copy(const struct canonical *, struct partition *, const struct partition *from);
void partition_single_out(struct partition *, uint32_t element);
/* Cuts a class into single elements, in the order in which they stand. */
void partition_cut(struct partition *, uint32_t colour);
/* Splits classes until all elements of a class are tied in the same way to the classes. fresh: what lies in an
   element's own cells has not been looked at either. */
void partition_refine(struct canonical *, struct partition *, bool fresh);

/* ring_rotations.c: which members of a ring may come first? Those that begin the least sequence of what lies at each:
   into scalarset->rotations, and how many. */
uint32_t find_ring_rotations(struct canonical *, const struct partition *, struct element_scalarset *);
void ring_place(struct partition *, const struct element_scalarset *, uint32_t first);

/* Is that all there is to be renamed? Leaves canonical->bare NULL if not. */
void bare_ring_find(struct canonical *);
void bare_ring_release(struct canonical *);
size_t bare_ring_bytes(const struct canonical *);
/* The same form as the search would find, from what is remembered of contents. to, by element: where members went; may
   be NULL. False: several rotations look the same, the search has to decide. */
bool bare_ring_form(struct canonical *, content *row, uint32_t *to);

/* interchangeable_elements.c: classes whose elements can change places, alone or together with others, without changing
   the row, are cut: all their orders are as good. */
void partition_cut_interchangeable(struct canonical *, struct partition *);
/* Is the row as it was if a[i] and b[i] change places, for all i? They are 2n different elements. */
bool elements_interchangeable(struct canonical *, const uint32_t *a, const uint32_t *b, uint32_t n);

#endif
