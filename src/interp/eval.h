/* The interpreter: evaluates expressions and statements of the typed model for one process, for a property or for an
   environment clause. Only this code defines the meaning of the language's operators.

   Free choice: an evaluation calls `eval_choose` for each of its free choices and is repeated with every script of
   answers (choices_next). So a deterministic evaluation yields a set of results. Model errors unwind to the entry point
   by longjmp; everything allocated on the way is in the scratch arena. */
#ifndef RONDO_INTERP_EVAL_H
#define RONDO_INTERP_EVAL_H

#include "base/vec.h"
#include "interp/config.h"
#include "interp/coverage.h"

#include <setjmp.h>

#define NO_SENDER UINT32_MAX

/* The messages that a process received, with their counts; the sender is kept where it can be observed. A message that
   an adversary may choose can be left open (lazy): its parts are chosen when they are read. */
struct received_entry {
  value message;
  uint32_t sender; /* NO_SENDER: not observable */
  uint32_t count;
  bool lazy;
};
struct received {
  const struct received_entry *at;
  uint32_t n;
};

#define LAZY_MAX 62
#define LAZY_FIRST (INT64_MAX - LAZY_MAX)

struct lazy {
  const struct type *type;
  value *part; /* by field or array index; PART_OPEN until read */
};

/* Traces how an evaluation depends on the number of each message received: each of its decisions is the sign of a
   linear form over these counts and, if requested, over parameters without a fixed value. */
#define FORM_MAX 16
#define FORM_PARAMS 8
struct form {
  int64_t constant;
  int64_t of[FORM_MAX];       /* by entry of `received` */
  int64_t param[FORM_PARAMS]; /* by parameter of the model */
};
struct sign_decision {
  struct form form;
  int sign;
};
struct decisions {
  VEC(struct sign_decision) taken;
  bool lost;             /* something depends on counts in a way that is not linear */
  struct span lost_at;   /* a parameter that was used in another way; {0,0}: another reason */
  uint32_t entry;        /* of the innermost generator over `received`; UINT32_MAX: none */
  const int64_t *params; /* by parameter: its value in this run, for parameters that are `open`, that is, without a
                            fixed value; NULL: none is open */
  const bool *open;
  const uint32_t *quorum; /* steps: by message of a quorum, how many equal ones it stands for; NULL: one each */
};

struct choices {
  VEC(uint32_t) taken;
  VEC(uint32_t) arity;
  size_t given; /* the number of entries of taken that are given by the caller */
  size_t at;
  bool bad;       /* a given answer is out of range */
  uint64_t coins; /* bit i: the i-th choice is a coin (`random`), not a choice of the adversary */
};
void choices_release(struct choices *);
void choices_clear(struct choices *);
void choices_give(struct choices *, const struct script *); /* only the choices of the script */
bool choices_next(struct choices *);                        /* advances to the next script; false: all were tried */

/* What an evaluation records about itself. NULL: not recorded. */
struct eval_record {
  struct span *assigned_at; /* by variable: the last assignment in this run, {0,0} if none */
  struct span *shared_at;   /* likewise, by global */
  bool *assigned;           /* by variable */
  bool *reads;              /* by variable: its value from before this run was read */
};

/* What the adversary chose in the round that a clause is about. All NULL: the evaluation is not about a round. */
struct adversary_round {
  uint8_t *const
      *heard; /* heard[p][q]; heard[p] is NULL: not chosen yet, and an expression that reads it has no value */
  uint8_t *const *corrupt; /* corrupt[p][q]: heard but forged */
  value *const *oracles;   /* by process: oracle values in order; NULL: in the local state */
};

struct eval {
  struct interpreter *interp;
  const struct model *model;
  struct values *values;
  struct arena *scratch;
  value *slot;
  uint32_t *slot_sender;   /* for slots bound by a generator over `received` or `pending` */
  uint32_t *slot_receiver; /* for slots bound by a generator over `pending` */
  /* one process */
  uint32_t role, me, point;
  value phase;
  value *local;
  const struct received *received;
  const struct type *received_type;
  const value *globals;
  value *shared; /* in an action: the working copy of globals, which assignments change; globals points to the same
                    array */
  struct outbox *outbox; /* in an action: where `send` puts messages; NULL: sending is not allowed */
  struct eval_record record;
  struct lazy lazy[LAZY_MAX];
  bool order_mattered;
  /* properties and environments */
  const struct config *before, *after;
  const struct quiescence *quiescence; /* of the state before; NULL: not known, and what reads it fails */
  struct adversary_round round;
  struct decisions *decisions; /* NULL: dependence on counts is not traced */
  /* control */
  struct choices *choices;
  jmp_buf *failure;
  struct model_error error;
  unsigned depth;
  const volatile sig_atomic_t *
      stop; /* once it is not 0, long evaluations end as if they failed; the caller checks it afterwards. NULL: never */
};

struct interpreter {
  struct model *model;
  struct arena strings; /* error messages */
  struct arena scratch;
  uint32_t max_local, max_vars;
  uint64_t interpreted;              /* runs of the interpreter, for statistics */
  const volatile sig_atomic_t *stop; /* or NULL */
  enum semantics semantics;          /* steps */
  bool arrivals;
  bool *reads;                 /* where evaluations record reads (eval->record.reads); or NULL */
  uint32_t fixed_coin;         /* 0: coins are free; else all show this one of their values, from 1, or the last */
  const char *coins_lost;      /* why coins could not be separated from choices of the adversary, or NULL */
  struct coverage *coverage;   /* where evaluations record what they execute; or NULL; borrowed */
  struct decisions *decisions; /* steps: where actions record their decisions; or NULL; borrowed */
  bool order_mattered;         /* steps: some `foreach` of an action gave different results for different orders */
  uint32_t environment;        /* steps: in which properties ask what can happen; NO_ENVIRONMENT: they cannot */
};
#define NO_ENVIRONMENT UINT32_MAX

/* Steps: can anything happen, and if not, is somebody in the middle of something? */
struct quiescence {
  bool quiescent, deadlocked;
};
/* The quiescence of the configuration, if the formula reads it and the environment is known. To be called before the
   evaluation of the formula begins. False: not computed. */
bool quiescence_of(struct interpreter *, const struct node *formula, const struct config *, struct quiescence *);

/* eval_begin clears everything; the caller sets what the expression may read. */
void eval_begin(struct eval *, struct interpreter *);
value eval_node(struct eval *, const struct node *);
bool eval_true(struct eval *, const struct node *);
/* For MIN MAX PICK RANDOM MAJORITY FIRST LAST and options: false if there is no value. */
bool eval_maybe(struct eval *, const struct node *, value *);
void eval_block(struct eval *, const struct block *);
/* Picks a witness of the guard by free choice and stores it in the slots; false: there is none. */
bool eval_guard(struct eval *, const struct guard *);
uint32_t eval_choose(struct eval *, uint64_t arity);
uint32_t eval_coin(struct eval *, uint64_t arity); /* the same, by a coin */
_Noreturn void eval_fail(struct eval *, struct span, const char *format, ...) __attribute__((format(printf, 3, 4)));
uint32_t role_next(const struct role *, uint32_t me);     /* the next process on its ring */
value eval_forced(struct eval *, value);                  /* a lazy message with all parts chosen */
value lazy_completed(struct eval *, const struct lazy *); /* parts that were never read get the type's first value */
void check_in_type(struct eval *, const struct type *, value, struct span, const char *what);

/* Generators: visit is called for each binding of the slots, with the number of equal messages that it stands for; it
   returns false to stop. */
typedef bool binding_fn(struct eval *, void *context, uint64_t weight);
bool eval_bindings(struct eval *, const struct generator *, uint32_t n, binding_fn *, void *context);

#endif
