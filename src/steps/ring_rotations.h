/* Rotations of rings. */
#ifndef RONDO_STEPS_RING_ROTATIONS_H
#define RONDO_STEPS_RING_ROTATIONS_H

#include "steps/scalarsets.h"

struct canonical;

struct partition;

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

/* Finds the members of a ring that may be placed first: those where the lexicographically least
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

#endif
