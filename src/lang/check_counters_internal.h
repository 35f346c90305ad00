/* Private to the checker of counter systems (lang/check_counters*.c). */
#ifndef RONDO_LANG_CHECK_COUNTERS_INTERNAL_H
#define RONDO_LANG_CHECK_COUNTERS_INTERNAL_H

#include "base/vec.h"
#include "lang/check_counters.h"

enum sort { SORT_ERROR, SORT_NUMBER, SORT_TRUTH, SORT_LABEL };

struct control_type { /* the values of a control */
  const char *name;   /* or NULL */
  enum control_kind kind;
  int64_t low, high;
  const char **labels; /* LABELS */
};

struct typed {
  struct term *term; /* NULL only if the sort is ERROR: it was reported */
  enum sort sort;
  const struct control_type *type; /* LABEL: whose */
};

enum counter_symbol {
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
  enum counter_symbol kind;
  struct span at;
  uint32_t index;                  /* parameter, counter, control, amount; LABEL: its number */
  const struct control_type *type; /* TYPE, LABEL, CONTROL */
  const struct ast *def;           /* DEF */
  struct typed value;              /* ARGUMENT */
};

enum { READS_STATE = 1, READS_AMOUNTS = 2 }; /* parameters are always there */

struct conditions;
struct counting {
  struct counter_system *s;
  const struct ast *file;
  struct diags *diags;
  VEC(struct counter_entry) names;
  unsigned reads;
  const char *where;   /* what is being read, for messages: "a condition on the parameters" */
  uint32_t params_set; /* those before it have their definitions */
  size_t arguments;    /* names from here on are those of the def that is looked at */
  unsigned depth;      /* of defs in defs */
  size_t terms;        /* made so far */
  struct conditions
      *conditions; /* while those of the parameters are read, quotients included; else NULL */
  uint32_t quotients;
  bool rounds; /* only the parameters of a model of rounds are looked at */
  bool open;   /* reading `resilience`: quotients in it may be left open with it */
};

enum { QUOTIENTS_MAX = 16 };
struct conditions {
  VEC(struct counter_condition) at;
};

/* check_counters.c */
const char *counting_keep(struct counting *, const char *);
const char *counting_quoted(struct counting *, struct span); /* the source on one line */
struct counter_entry *counting_find(struct counting *, const char *name);
bool counting_declare(struct counting *, struct counter_entry);
const char *counter_symbol_text(enum counter_symbol);

/* A new parameter that is floor(number / by), with the conditions that make it so; NULL: reported.
 */
struct term *counting_quotient(struct counting *, struct span, struct term *number, int64_t by);

/* check_counters_term.c */
struct typed counting_lower(struct counting *, const struct ast *);
/* TERM of that sort, or an error that was reported: then a constant that is harmless. */
struct term *counting_number(struct counting *, const struct ast *);
struct term *counting_truth(struct counting *, const struct ast *);
/* What may be given to a control of that type: a number. */
struct term *counting_value(struct counting *, const struct ast *, const struct control_type *);
struct term *term_number(struct counting *, struct span, int64_t);
struct term *term_leaf(struct counting *, enum term_op, struct span, uint32_t index);
struct term *term_times(struct counting *, struct span, struct term *,
                        struct term *); /* one of them a number */
struct term *term_sum(struct counting *, struct span, struct term *, struct term *, bool minus);
struct term *term_relation(struct counting *, enum term_op, struct span, struct term *,
                           struct term *);
struct term *term_and(struct counting *, struct span, struct term *,
                      struct term *); /* either may be NULL: true */

#endif
