/* Shared by the files of the interpreter: eval.c (operators), eval_generators.c (generators), eval_aggregate.c, exec.c
   (statements), exec_foreach.c. */
#ifndef RONDO_INTERP_EVAL_INTERNAL_H
#define RONDO_INTERP_EVAL_INTERNAL_H

#include "interp/eval.h"

/* eval_generators.c */
bool is_lazy(value);
struct lazy *lazy_of(struct eval *, value);
value lazy_part(struct eval *, struct lazy *, uint64_t i); /* chosen now if it was still open */
value lazy_message(struct eval *, const struct received_entry *);
/* The value of a node, with lazy messages left open: for callers that read only one part of it. */
value eval_open(struct eval *, const struct node *);
bool process_in(struct eval *, enum op correct_or_faulty, uint32_t p);
/* In a property, a role denotes its processes that are not Byzantine, because those have no variables. In an
   environment clause, a role used as a set denotes all of its processes (all that may be heard), but quantifiers range
   over the active ones. */
bool role_member(struct eval *, uint32_t p);

/* eval_aggregate.c */
value eval_aggregate(struct eval *, const struct node *);
/* A number together with its linear form over the counts; where the expression is not linear, the exact number is
   recorded as a decision. */
value eval_linear(struct eval *, const struct node *, struct form *);
/* Records that the evaluation depends on the sign of the form, whose value is `v`; decide_exactly: on the value itself.
 */
void decide(struct eval *, const struct form *, int64_t v);
void decide_exactly(struct eval *, struct form, int64_t v);
void decide_lost(struct eval *, struct span); /* it depends on a parameter in another way */
/* eval_division.c: evaluates the sides of a comparison of numbers, and records how their order depends on counts. Each
   side, or one of them, may have a quotient of a linear form by a number. */
void decide_order(struct eval *, const struct node *, value *left, value *right);
bool form_is_constant(const struct form *);
struct form form_minus(struct eval *, const struct form *, const struct form *, int64_t times); /* a - times * b */

/* Records a read of the variable's value from before the run, unless it was assigned since. */
static inline void note_read(struct eval *e, uint32_t var) {
  if (!e->record.assigned_at || !e->record.assigned_at[var].to)
    e->record.reads[var] = true;
}

/* eval.c */
value eval_from(struct eval *, const struct node *);
/* The processes that the graph of my role lets me send to. */
value eval_neighbours(struct eval *);

/* exec_foreach.c */
void exec_foreach(struct eval *, const struct stmt *);

#endif
