/* Private to the checker of counter systems (typecheck_counters*.c). */
#ifndef RONDO_LANG_TYPECHECK_COUNTERS_INTERNAL_H
#define RONDO_LANG_TYPECHECK_COUNTERS_INTERNAL_H

#include "base/vec.h"
#include "lang/typecheck_counters.h"

enum term_sort { SORT_ERROR, SORT_NUMBER, SORT_TRUTH, SORT_LABEL };

struct control_type { /* the values of a control */
  const char *name;   /* or NULL */
  enum control_kind kind;
  int64_t low, high;
  const char **labels; /* LABELS */
};

struct typed_term {
  struct term *term; /* NULL only if the sort is ERROR: it was reported */
  enum term_sort sort;
  const struct control_type *type; /* LABEL: whose */
};

enum counter_entry_kind {
  NAME_PARAM,
  NAME_TYPE,
  NAME_LABEL,
  NAME_COUNTER,
  NAME_CONTROL,
  NAME_DEF,
  NAME_AMOUNT,
  NAME_ARGUMENT
};

struct counter_entry {
  const char *name;
  enum counter_entry_kind kind;
  struct span at;
  uint32_t index;                  /* parameter, counter, control, amount; LABEL: its number */
  const struct control_type *type; /* TYPE, LABEL, CONTROL */
  const struct ast *def;           /* DEF */
  struct typed_term value;         /* ARGUMENT */
};

enum { READS_STATE = 1, READS_AMOUNTS = 2 }; /* parameters are always there */

struct counter_condition_list;
struct counter_checker {
  struct counter_system *s;
  const struct ast *file;
  struct diags *diags;
  VEC(struct counter_entry) names;
  unsigned reads;
  const char *where;                         /* what is being read, for messages: "a condition on the parameters" */
  uint32_t params_set;                       /* those before it have their definitions */
  size_t arguments;                          /* names from here on are those of the def that is looked at */
  unsigned depth;                            /* of defs in defs */
  size_t terms;                              /* made so far */
  struct counter_condition_list *conditions; /* while those of the parameters are read, quotients included; else NULL */
  uint32_t quotients;
  bool dead;   /* in a branch that is never taken: a quotient or product may have no value */
  bool rounds; /* only the parameters of a model of rounds are looked at */
  bool open;   /* reading `resilience`: quotients in it may be left open with it */
};

enum { QUOTIENTS_MAX = 16 };
struct counter_condition_list {
  VEC(struct counter_condition) at;
};

/* typecheck_counters.c */
const char *counter_strdup(struct counter_checker *, const char *);
const char *counter_source_text(struct counter_checker *, struct span); /* the source on one line */
struct counter_entry *counter_entry_find(struct counter_checker *, const char *name);
bool counter_entry_declare(struct counter_checker *, struct counter_entry);
const char *counter_entry_kind_text(enum counter_entry_kind);

/* A new parameter that is floor(number / by), with the conditions that make it so; NULL: reported.
 */
struct term *counter_quotient_param(struct counter_checker *, struct span, struct term *number, int64_t by);

/* typecheck_counters_term.c */
struct typed_term lower_counter_expr(struct counter_checker *, const struct ast *);
/* TERM of that sort, or an error that was reported: then a constant that is harmless. */
struct term *lower_counter_number(struct counter_checker *, const struct ast *);
struct term *lower_counter_condition(struct counter_checker *, const struct ast *);
/* What may be given to a control of that type: a number. */
struct term *lower_control_value(struct counter_checker *, const struct ast *, const struct control_type *);
struct term *term_number(struct counter_checker *, struct span, int64_t);
struct term *term_leaf(struct counter_checker *, enum term_op, struct span, uint32_t index);
struct term *term_times(struct counter_checker *, struct span, struct term *, struct term *); /* one of them a number */
struct term *term_sum(struct counter_checker *, struct span, struct term *, struct term *, bool minus);
struct term *term_relation(struct counter_checker *, enum term_op, struct span, struct term *, struct term *);
struct term *term_and(struct counter_checker *, struct span, struct term *,
                      struct term *); /* either may be NULL: true */

#endif
