/* The explicit state graph of a small program, for drawing. */
#ifndef RONDO_EXPORT_STATE_GRAPH_H
#define RONDO_EXPORT_STATE_GRAPH_H

#include "export/program.h"

struct state_graph_edge {
  uint32_t from, to; /* states, numbered in order of discovery; 0: the state before the start */
  uint32_t rule;
  bool fails; /* an error of the model: `to` is not set */
};

struct state_graph {
  const struct program *program;
  uint32_t width;  /* numbers per state: variables in order, arrays element by element */
  uint32_t *first; /* by variable: its offset in a state */
  uint32_t nstates;
  VEC(struct state_graph_edge) edges; /* without duplicates */
  struct intern *states;
};

/* Returns false if there are more than `most` states. */
bool state_graph_build(struct state_graph *, const struct program *, uint64_t most);
const int64_t *state_graph_state(const struct state_graph *, uint32_t state);
/* The value of an expression without choices. */
int64_t state_graph_eval(const struct state_graph *, uint32_t state, expr_id);
void state_graph_release(struct state_graph *);

#endif
