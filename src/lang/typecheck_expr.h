/* Expressions: names, calls, collections and everything else. */
#ifndef RONDO_LANG_TYPECHECK_EXPR_H
#define RONDO_LANG_TYPECHECK_EXPR_H

#include "lang/ast.h"
#include "lang/typecheck_reach.h"
#include "model/model.h"

struct typechecker;

/* typecheck_expr.c */
struct node *lower_expr(struct typechecker *, const struct ast *);
struct node *lower_bool(struct typechecker *, const struct ast *, const char *what);

/* typecheck_name.c */
struct node *lower_name(struct typechecker *, const struct ast *);
struct node *lower_select(struct typechecker *, const struct ast *);
struct node *lower_primed(struct typechecker *, const struct ast *);
struct node *lower_index(struct typechecker *, const struct ast *);
struct node *lower_initial(struct typechecker *, const struct ast *);
bool may_read_flight(struct typechecker *, const struct ast *); /* false: reported */
bool may_read_received(struct typechecker *, const struct ast *, const char *what);
const struct type *sender_type(struct typechecker *);
bool in_process(const struct typechecker *);
/* Properties and environments may read the variables of all processes, and so may defs that only they call. */
bool may_observe_processes(struct typechecker *);
const char *received_name_text(const struct typechecker *);   /* the name of `received` in this context */
uint64_t roles_of(struct typechecker *, const struct node *); /* the roles whose identities it can yield */

/* typecheck_collection.c */
struct node *lower_collection(struct typechecker *,
                              const struct ast *); /* the range of a generator, or the right operand of `in` */
/* At the end of a scope, bound names are removed and their slots are reused. */
struct scope_position {
  size_t locals;
  uint32_t slots;
  enum reach reach;
};
struct scope_position scope_open(const struct typechecker *);
void scope_close(struct typechecker *, struct scope_position);
/* Lowers the generators in kid[from..], sets n to their number, and leaves their names in scope. The reach is then that
   of the generated expression. */
struct generator *lower_generators(struct typechecker *, const struct ast *, uint32_t from, uint32_t *n);
struct node *lower_quantifier(struct typechecker *, const struct ast *);
struct node *lower_set_of(struct typechecker *, const struct ast *);
struct node *lower_count(struct typechecker *, const struct ast *);
struct node *lower_array_of(struct typechecker *, const struct ast *);
struct node *lower_call_over(struct typechecker *, const struct ast *);
uint64_t collection_size_max(struct typechecker *, const struct node *); /* upper bound on its size */
/* Upper bound on the number of bindings */
uint64_t bindings_max(struct typechecker *, const struct generator *, uint32_t n);

/* typecheck_call.c */
struct node *lower_call(struct typechecker *, const struct ast *);
bool is_aggregate(const char *name, enum op *);
struct node *aggregate_over(struct typechecker *, const struct ast *call, enum op, struct node *element,
                            struct generator *, uint32_t ngen);

#endif
