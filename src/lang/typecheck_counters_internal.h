/* Private to the checker of counter systems (typecheck_counters*.c). */
#ifndef RONDO_LANG_TYPECHECK_COUNTERS_INTERNAL_H
#define RONDO_LANG_TYPECHECK_COUNTERS_INTERNAL_H

#include "base/vec.h"
#include "lang/typecheck_counters.h"

enum term_sort { SORT_ERROR, SORT_NUMBER, SORT_TRUTH, SORT_LABEL };

struct control_type { /* the value type of a control */
  const char *name;   /* or NULL */
  enum control_kind kind;
  int64_t low, high;
  const char **labels; /* LABELS */
};

struct typed_term {
  struct term *term; /* NULL only if the sort is ERROR, which was reported */
  enum term_sort sort;
  const struct control_type *type; /* LABEL: its type */
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
  uint32_t index;                  /* index of the parameter, counter, control or amount; LABEL: its number */
  const struct control_type *type; /* TYPE, LABEL, CONTROL */
  const struct ast *def;           /* DEF */
  struct typed_term value;         /* ARGUMENT */
};

enum { READS_STATE = 1, READS_AMOUNTS = 2 }; /* parameters can always be read */

struct counter_condition_list;
struct counter_checker {
  struct counter_system *s;
  const struct ast *file;
  struct diags *diags;
  VEC(struct counter_entry) names;
  unsigned reads;
  const char *where;   /* the construct being checked, for messages: "a condition on the parameters" */
  uint32_t params_set; /* the parameters before this one have their definitions */
  size_t arguments;    /* index of the first name that belongs to the def being expanded */
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
const char *counter_strdup(struct counter_checker *, const char *);
const char *counter_source_text(struct counter_checker *, struct span); /* the source on one line */
struct counter_entry *counter_entry_find(struct counter_checker *, const char *name);
bool counter_entry_declare(struct counter_checker *, struct counter_entry);
const char *counter_entry_kind_text(enum counter_entry_kind);

/* A new parameter equal to floor(number / by), with the conditions that define it; NULL: reported. */
struct term *counter_quotient_param(struct counter_checker *, struct span, struct term *number, int64_t by);

/* typecheck_counters_term.c */
struct typed_term lower_counter_expr(struct counter_checker *, const struct ast *);
/* A TERM of that sort. After an error, which was reported, a harmless constant. */
struct term *lower_counter_number(struct counter_checker *, const struct ast *);
struct term *lower_counter_condition(struct counter_checker *, const struct ast *);
/* A value that can be assigned to a control of that type, as a number. */
struct term *lower_control_value(struct counter_checker *, const struct ast *, const struct control_type *);
struct term *term_number(struct counter_checker *, struct span, int64_t);
struct term *term_leaf(struct counter_checker *, enum term_op, struct span, uint32_t index);
/* One of the factors must be a number */
struct term *term_times(struct counter_checker *, struct span, struct term *, struct term *);
struct term *term_sum(struct counter_checker *, struct span, struct term *, struct term *, bool minus);
struct term *term_relation(struct counter_checker *, enum term_op, struct span, struct term *, struct term *);
struct term *term_and(struct counter_checker *, struct span, struct term *, struct term *); /* NULL means true */

#endif
