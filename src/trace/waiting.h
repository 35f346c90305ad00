/* Who waits for what in a state in which nothing can happen any more. */
#ifndef RONDO_TRACE_WAITING_H
#define RONDO_TRACE_WAITING_H

#include "interp/config.h"

/* A process that has not stopped, and what it waits for: the actions that it could take at its place. */
struct waiting_process {
  uint32_t process;
  enum waiting how;            /* WAITING_NOT: it may stay there forever */
  const char *place;           /* NULL: its role has no steps */
  bool at_end;                 /* the place is `end` */
  uint32_t *actions, nactions; /* of its role; none: what could be done there is `once`, and has been done */
};
struct waiting_list {
  struct waiting_process *at; /* those in the middle of something first; without others that wait for nothing */
  uint32_t n, nmiddle;
};

/* False: something can happen, so there is no list. */
bool waiting_list_make(struct waiting_list *, struct interpreter *, uint32_t environment, const struct config *);
void waiting_list_release(struct waiting_list *);

/* "when not taken[other]  (line 14)": what an action waits for, on one line. */
void waiting_print_action(const struct model *, const struct role *, uint32_t action, struct text *);

/* Does the formula ask whether anything can happen? */
bool formula_asks_quiescence(const struct node *);

#endif
