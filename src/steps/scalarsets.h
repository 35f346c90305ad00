/* Elements are the processes and, after them, the values of the unordered type. A scalarset is a set of elements that
   renamings permute: arbitrarily, or by rotation only (a ring). All other elements are fixed. */
#ifndef RONDO_STEPS_SCALARSETS_H
#define RONDO_STEPS_SCALARSETS_H

#include "steps/state_cells.h"

struct canonical;

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

/* A cell that a non-plain scalarset moves, or whose content may mention its elements. */
struct affected_cell {
  uint32_t cell, table;
  uint32_t a, b; /* its owners, or NO_ELEMENT */
  uint32_t free; /* how many of the owners take part in refinement: members of rings do not, they are placed first */
  bool empties;  /* content 0 mentions nothing */
  uint64_t site; /* distinguishes kinds of cells, and cells without an owner */
};

/* Computed from the licences and the types alone. */
void scalarsets_find(struct canonical *);

#endif
