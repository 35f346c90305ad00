/* A counter system (Alberti, Ghilardi, Orsini, Pagani 2016): parameters that may have any values within their
   conditions, counters (natural numbers), a finite control, and guarded moves with free amounts. It is the typed form
   (lang/typecheck_counters.c) of a file that starts with `counters`. The interpreter, the engines, the certificates and
   the exporters read nothing else. It is immutable once built, and lives in its own arena.

   Everything that the language implies is explicit: guards also require that amounts are not negative, that no counter
   becomes negative and that no control leaves its range; `start` also requires that counters are natural numbers. All
   terms are linear: TIMES has a number on its left. Parameters with a value or a definition do not occur in terms; they
   are replaced by it. */
#ifndef RONDO_MODEL_COUNTER_SYSTEM_H
#define RONDO_MODEL_COUNTER_SYSTEM_H

#include "base/arena.h"
#include "base/diag.h"

enum term_op {
  TERM_NUMBER,  /* also truth: 0, 1 */
  TERM_PARAM,   /* index */
  TERM_COUNTER, /* index */
  TERM_CONTROL, /* index; its value as a number, a bool's as truth */
  TERM_AMOUNT,  /* index, of the move it stands in */
  TERM_ADD,
  TERM_SUB,
  TERM_TIMES, /* kid 0 is a NUMBER */
  TERM_IF,    /* condition, then, else: numbers */
  TERM_NOT,
  TERM_AND,
  TERM_OR,
  TERM_EQ, /* of numbers */
  TERM_LE,
  TERM_LT
};

struct term {
  enum term_op op;
  uint32_t index;
  int64_t number;
  struct span at;
  struct term *kid[3];
};

struct counter_param {
  const char *name;
  struct span at;
  struct term *is; /* its value or definition, over free parameters; NULL: free */
  struct term *of; /* the dividend, if the parameter stands for a quotient such as `N / 2`: conditions define it, and it
                      is not shown; or NULL */
};

struct counter_condition { /* on the free parameters */
  struct term *term;
  const char *text; /* as written, on one line */
  bool resilience;  /* `threshold` may leave it open */
  bool hidden;      /* defines a quotient, or says that a role has a member: not shown */
};

struct counter_name {
  const char *name;
  struct span at;
};

enum control_kind { CONTROL_LABELS, CONTROL_TRUTH, CONTROL_NUMBERS };

struct control {
  const char *name;
  struct span at;
  enum control_kind kind;
  int64_t low, high;         /* its values; labels and truths count from 0 */
  const char *const *labels; /* LABELS */
};

struct counter_move {
  const char *name;
  struct span at;
  const struct counter_name *amounts;
  uint32_t namounts;
  struct term *guard;
  struct term **counters; /* by counter: its new value, NULL: unchanged. All from the old state */
  struct term **controls; /* by control: likewise; a number */
};

struct counter_property {
  const char *name;
  struct span at;
  struct term *from;   /* a further condition on the start */
  struct term *unsafe; /* must not be reached */
  const char *text;    /* of unsafe, as written */
  bool run;            /* a property of runs: it is violated if the run stops in an unsafe state for good */
};

struct counter_system {
  struct arena arena;
  struct source source; /* a copy */
  const char *name;
  struct counter_param *params;
  struct counter_condition *conditions;
  struct counter_name *counters;
  struct control *controls;
  struct counter_move *moves;
  struct counter_property *properties;
  uint32_t nparams, nconditions, ncounters, ncontrols, nmoves, nproperties;
  struct term *start;
};

void counter_system_free(struct counter_system *);

/* How a model of rounds depends on its parameters. */
struct round_shape {
  struct counter_system *system; /* only the parameters, with their conditions: those that are given have a value,
                                    others a definition, or are free */
  struct term *size;             /* the number of processes of the only role */
  struct term *passes;           /* of the `repeat` whose number of passes is not constant; NULL: there is none */
  uint32_t first, rounds;        /* its first round, counted from 0, and the number of rounds of a pass */
  struct span at;                /* of the `repeat` */
  bool open;                     /* conditions of `resilience` are left out */
};

/* A control's value as it is written: a label, true, 3. */
void control_value_print(const struct control *, int64_t value, struct text *);

/* `N, t` of the parameters without a value; "" if there are none. */
void counter_params_print(const struct counter_system *, struct text *);
/* `N > 3 * t and t >= 0`: the conditions as written; without those of `resilience` unless asked
 * for. */
void counter_conditions_print(const struct counter_system *, bool resilience, struct text *);

#endif
