/* Backward data-flow analysis of the statements of an update or action (Aho, Lam, Sethi, Ullman 2006, section 9.2): the
   variables whose values matter before a block. Calls of defs are followed. */
#ifndef RONDO_ANALYSIS_DATAFLOW_H
#define RONDO_ANALYSIS_DATAFLOW_H

#include "model/node.h"

/* How the pass treats variables that are assigned in part, or in a loop. */
enum flow_mode {
  FLOW_KEY,     /* what the result of the block depends on: variables assigned in part or in a foreach count as read */
  FLOW_LIVENESS /* what is read later: assigning a part of a dead variable reads nothing of it */
};

/* Sets of variables of a role, as flags: first by variable, then by global if globals are included. */
struct flow {
  const struct model *model;
  enum flow_mode mode;
  uint32_t nvars;
  uint32_t nglobals;  /* all globals of the model are included; 0: none */
  const bool *halted; /* what matters of a process that has halted; NULL: nothing */
};

/* From the variables that matter after the block to those that matter before it. */
void flow_block(const struct flow *, const struct block *, bool *matters);
/* Adds the variables that the expression (NULL: none), guard or send reads. */
void flow_node(const struct flow *, const struct node *, bool *matters);
void flow_guard(const struct flow *, const struct guard *, bool *matters);
void flow_send(const struct flow *, const struct send *, bool *matters);
/* May there be several witnesses that the guarded block can tell apart? Then one is chosen freely. */
bool guard_chooses(const struct guard *);
/* Adds the variables that the block may assign; shared: by global, or NULL. */
void block_assigns(const struct block *, bool *vars, bool *shared);

#endif
