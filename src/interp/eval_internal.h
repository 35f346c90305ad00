/* Between the files of the interpreter: eval.c (operators), eval_generators.c (generators), eval_aggregate.c, exec.c
   (statements), exec_foreach.c. */
#ifndef RONDO_INTERP_EVAL_INTERNAL_H
#define RONDO_INTERP_EVAL_INTERNAL_H

#include "interp/eval.h"

/* eval_generators.c */
bool is_lazy(value);
struct lazy *lazy_of(struct eval *, value);
value lazy_part(struct eval *, struct lazy *, uint64_t i); /* chosen now if it was open */
value lazy_message(struct eval *, const struct received_entry *);
/* The value of a node, open messages left open: for what reads one part of it. */
value eval_open(struct eval *, const struct node *);
bool process_in(struct eval *, enum op correct_or_faulty, uint32_t p);
/* In a property, a role is its processes that are not Byzantine: those have no variables. In an environment's clause it
   is all of them as a set (whoever may be heard), but quantifiers range over those that take part. */
bool role_member(struct eval *, uint32_t p);

/* eval_aggregate.c */
value eval_aggregate(struct eval *, const struct node *);
/* A number together with the form it has over the counts; where the shape is not linear, the number itself decides. */
value eval_linear(struct eval *, const struct node *, struct form *);
/* The value of the form is `v` here, and what follows depends on its sign; or on the value itself. */
void decide(struct eval *, const struct form *, int64_t v);
void decide_exactly(struct eval *, struct form, int64_t v);
struct form form_minus(struct eval *, const struct form *, const struct form *, int64_t times); /* a - times * b */

/* The variable's value is asked for: that from before the run, unless it has been assigned since. */
static inline void note_read(struct eval *e, uint32_t var) {
  if (!e->assigned_at || !e->assigned_at[var].to)
    e->reads[var] = true;
}

/* eval.c */
value eval_from(struct eval *, const struct node *);
/* Whom the graph of my role lets me send to. */
value eval_neighbours(struct eval *);

/* exec_foreach.c */
void exec_foreach(struct eval *, const struct stmt *);

#endif
