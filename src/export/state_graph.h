/* All states of a program, one after the other: for pictures of small ones. */
#ifndef RONDO_EXPORT_STATE_GRAPH_H
#define RONDO_EXPORT_STATE_GRAPH_H

#include "export/program.h"

struct state_graph_edge {
  uint32_t from, to; /* states, numbered as they are found; 0: the one before the start */
  uint32_t rule;
  bool fails; /* an error of the model: there is no `to` */
};

struct state_graph {
  const struct program *program;
  uint32_t width;  /* numbers in a state: cells in order, arrays element by element */
  uint32_t *first; /* by variable: its place in a state */
  uint32_t nstates;
  VEC(struct state_graph_edge) edges; /* each once */
  struct intern *states;
};

/* False: there are more states than that. */
bool state_graph_build(struct state_graph *, const struct program *, uint64_t most);
const int64_t *state_graph_state(const struct state_graph *, uint32_t state);
/* The value of an expr_id that needs no choices. */
int64_t state_graph_eval(const struct state_graph *, uint32_t state, expr_id);
void state_graph_release(struct state_graph *);

#endif
