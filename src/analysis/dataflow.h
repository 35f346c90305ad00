/* Looking through the text of a model: expressions with the defs that they call, and the flow of values through the
   statements of an update. Shared by the analyses of this folder. */
#ifndef RONDO_ANALYSIS_DATAFLOW_H
#define RONDO_ANALYSIS_DATAFLOW_H

#include "model/node.h"

/* How a backward pass treats what is neither read nor overwritten. */
enum flow_mode {
  FLOW_KEY,     /* what decides about a step: parts assigned and variables assigned in a foreach count as read */
  FLOW_LIVENESS /* what is still of use: assigning a part of a variable nobody reads reads nothing */
};

/* Variables of a role whose value before the block matters, given those that matter after it. Flags are by variable,
   and after these by global if they are followed, too. */
struct flow {
  const struct model *model;
  enum flow_mode mode;
  uint32_t nvars;
  uint32_t nglobals;  /* followed: all of the model's, or 0 */
  const bool *halted; /* what matters of a process that has halted; NULL: nothing */
};

/* Turns what matters after the block into what matters before it. */
void flow_block(const struct flow *, const struct block *, bool *matters);
/* Adds the variables that the expression or guard reads; NULL reads nothing. */
void flow_node(const struct flow *, const struct node *, bool *matters);
void flow_guard(const struct flow *, const struct guard *, bool *matters);
/* Adds the variables that the block may assign; shared: by global, or NULL. */
void block_assigns(const struct block *, bool *vars, bool *shared);

#endif
