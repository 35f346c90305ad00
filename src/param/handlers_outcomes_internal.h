/* Private to handlers_outcomes.c and handlers_guards.c. */
#ifndef RONDO_PARAM_HANDLERS_OUTCOMES_INTERNAL_H
#define RONDO_PARAM_HANDLERS_OUTCOMES_INTERNAL_H

#include "param/handlers_internal.h"

struct quorum_size { /* the number of messages of a quorum: the row over the parameters, divided by `by`, rounded down
                      */
  int64_t *row;
  int64_t by;
  uint32_t defs; /* that were looked into */
};

struct outcome_search {
  struct handler_builder *h;
  uint32_t local;
  const struct action *action;
  uint32_t index; /* of the action */
  struct quorum_size size;
  uint32_t group[GROUP_MAX], ngroup; /* messages that may be in the quorum */
  uint32_t heard[GROUP_MAX], n;      /* those that are, as places in `group` */
  uint32_t message;                  /* TRIGGER_ONE: the message taken */
  bool reads;                        /* what it does may depend on which messages there are */
  int64_t *params;                   /* by parameter of the model, in the current run */
  struct solver *solver;             /* columns: parameters, then how many of each message of the group */
  VEC(struct sign_decision) path;
  struct action_outcomes *out;
  VEC(struct cube) leaves; /* by leaf: its condition, over the columns of the solver */
  VEC(size_t) leaf_of;     /* by leaf: the outcome */
  struct span failed_at;   /* outcome `failure` of the leaves */
  const char *failure;
  size_t nleaves;
  bool failed;
};
#define LEAF_FAILS SIZE_MAX         /* an error of the model */
#define LEAF_ENABLED (SIZE_MAX - 1) /* there is a quorum */

static inline uint32_t search_nparams(const struct outcome_search *x) { return x->h->b.params.base->nparams; }
static inline uint32_t search_ncolumns(const struct outcome_search *x) { return search_nparams(x) + x->ngroup; }

/* handlers_outcomes.c */
void outcome_refuse(struct outcome_search *, struct span, const char *why);
/* Adds that the number of messages is at least (or exactly) the size of the quorum, over the columns of the search. */
void quorum_size_add(struct outcome_search *, struct cube *);

/* handlers_guards.c: turns the leaves into guards of their outcomes, and forgets them. */
void finish_leaves(struct outcome_search *);

#endif
