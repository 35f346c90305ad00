/* Private to the checker of counter systems (typecheck_counters*.c). */
#ifndef RONDO_LANG_TYPECHECK_COUNTERS_INTERNAL_H
#define RONDO_LANG_TYPECHECK_COUNTERS_INTERNAL_H

#include "lang/typecheck_counters.h"
#include "lang/typecheck_scope.h"

struct typed_term {
  struct term *term;
  const struct type *type; /* int, bool or an enum; error: it was reported, and the term is NULL */
};

enum { READS_STATE = 1, READS_AMOUNTS = 2 }; /* parameters can always be read */

struct counter_condition_list;
struct counter_checker {
  struct counter_system *s;
  const struct ast *file;
  struct diags *diags;
  struct symbol_scope globals;      /* the index of a DEF is that of its declaration in the file */
  struct symbol_scope locals;       /* the amounts of the move, or the arguments of the def being expanded */
  VEC(struct typed_term) arguments; /* of the defs being expanded; ARGUMENT: its index here */
  unsigned reads;
  const char *where;   /* the construct being checked, for messages: "a condition on the parameters" */
  uint32_t params_set; /* the parameters before this one have their definitions */
  unsigned depth;      /* nesting depth of defs */
  size_t terms;        /* number of terms made so far */
  /* while conditions on the parameters are read, including those for quotients; else NULL */
  struct counter_condition_list *conditions;
  uint32_t quotients;
  bool dead;   /* in a branch that is never taken: quotients and products may be undefined */
  bool rounds; /* only the parameters of a model of rounds are checked */
  bool open;   /* while `resilience` is read: its quotients may remain open together with it */
};

enum { QUOTIENTS_MAX = 16 };
struct counter_condition_list {
  VEC(struct counter_condition) at;
};

/* typecheck_counters.c */
const char *counter_source_text(struct counter_checker *, struct span); /* the source on one line */
const struct scope_symbol *counter_symbol_find(const struct counter_checker *, const char *name);
const char *counter_symbol_text(const struct scope_symbol *); /* the kind of symbol */

/* A new parameter equal to floor(number / by), with the conditions that define it; NULL: reported. */
struct term *counter_quotient_param(struct counter_checker *, struct span, struct term *number, int64_t by);

/* Reports bindings of parameters that there are not. */
void counter_unknown_bindings(struct counter_checker *, const struct param_binding *, size_t n);
/* Can the term, over counters and amounts, never be negative? */
bool counter_term_is_natural(const struct term *);

/* typecheck_counters_term.c */
struct typed_term lower_counter_expr(struct counter_checker *, const struct ast *);
/* A TERM of that sort. After an error, which was reported, a harmless constant. */
struct term *lower_counter_number(struct counter_checker *, const struct ast *);
struct term *lower_counter_condition(struct counter_checker *, const struct ast *);
/* A value that can be assigned to a control of that type, as a number. */
struct term *lower_control_value(struct counter_checker *, const struct ast *, const struct type *);
struct term *term_number(struct counter_checker *, struct span, int64_t);
struct term *term_leaf(struct counter_checker *, enum term_op, struct span, uint32_t index);
/* One of the factors must be a number */
struct term *term_times(struct counter_checker *, struct span, struct term *, struct term *);
struct term *term_sum(struct counter_checker *, struct span, struct term *, struct term *, bool minus);
struct term *term_relation(struct counter_checker *, enum term_op, struct span, struct term *, struct term *);
struct term *term_and(struct counter_checker *, struct span, struct term *, struct term *); /* NULL means true */
struct term *term_or(struct counter_checker *, struct span, struct term *, struct term *);
struct term *term_not(struct counter_checker *, struct span, struct term *);

#endif
