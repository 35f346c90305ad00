/* Canonical forms of rows, private part: what their steps share. */
#ifndef RONDO_STEPS_STEP_CANONICAL_INTERNAL_H
#define RONDO_STEPS_STEP_CANONICAL_INTERNAL_H

#include "base/vec.h"
#include "steps/scalarsets.h"
#include "steps/state_cells.h"
#include "system/memo.h"

struct bare_ring;
struct content_part;
struct content_views;
struct hyperedge;
struct message_routes;
struct occurrence;
struct partition;

/* Occurrences of elements in contents (occurrences.h). */
struct occurrence_tables {
  struct content_views *views; /* by table */
  VEC(struct occurrence) occurrences;
  VEC(struct content_part) parts;
  VEC(struct occurrence) scratch; /* used while a content is analysed */
  VEC(struct channel_packet) packets;
  VEC(value) values;
};

struct renamed_contents {
  struct memo of;           /* (table and content, images of its elements) -> content */
  struct intern *renamings; /* for contents with many elements */
  VEC(value) images;
  uint32_t *value_map;
};

/* The search for the least row among all renamings of the current row. */
struct row_search {
  content *row, *leaf, *best;
  bool any; /* best is valid */
  uint32_t *to, *best_to, *went;
  VEC(struct partition) levels;
  uint32_t *path, *best_path; /* the individualised elements, by level */
  uint32_t jump; /* the level to return to: deeper branches are equivalent to branches that were tried there */
};

/* Refinement of a partition of the elements, by the cells of the current row. */
struct refinement {
  VEC(struct hyperedge) hyperedges;
  uint32_t nbinding;   /* the first nbinding hyperedges relate several elements */
  uint64_t *signature; /* by element */
  uint32_t *members;
  uint32_t *spare; /* for indices_sort */
};

/* Exchanges of elements that may leave the current row unchanged. */
struct element_exchanges {
  uint32_t *swap;                                                 /* by element: the identity, except during a test */
  bool indexed;                                                   /* occurs_at is valid for the row */
  uint32_t *occurs_first;                                         /* by element */
  VEC(uint32_t) occurs_at;                                        /* cells */
  uint32_t *parent, *bundle, *bundle_first, *bundle_size, *heads; /* by element */
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
  struct occurrence_tables contents;
  struct renamed_contents renamed;
  struct row_search search;
  struct refinement refinement;
  struct element_exchanges exchange;
};

#endif
