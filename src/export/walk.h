/* All states of a program, one after the other: for pictures of small ones. */
#ifndef RONDO_EXPORT_WALK_H
#define RONDO_EXPORT_WALK_H

#include "export/program.h"

struct walk_edge {
  uint32_t from, to; /* states, numbered as they are found; 0: the one before the start */
  uint32_t rule;
  bool fails;        /* an error of the model: there is no `to` */
};

struct walk {
  const struct program *program;
  uint32_t width;          /* numbers in a state: cells in order, arrays element by element */
  uint32_t *first;         /* by cell: where it is */
  uint32_t nstates;
  VEC(struct walk_edge) edges; /* each once */
  struct intern *states;
};

/* False: there are more states than that. */
bool walk_all(struct walk *, const struct program *, uint64_t most);
const int64_t *walk_state(const struct walk *, uint32_t state);
/* The value of a wire that needs no choices. */
int64_t walk_value(const struct walk *, uint32_t state, wire);
void walk_release(struct walk *);

#endif
