/* The interpreter: expressions and statements of the typed model, evaluated for one process, or for a property or
   an environment clause. The only place where the language's operators get their interp.

   Free choice: an evaluation asks `choose` for each of its free choices and is run again with every script of
   answers (script_next), so what looks deterministic here has a set of results.
   Errors of the model unwind to the entry point by longjmp; everything allocated on the way is in the scratch arena. */
#ifndef RONDO_INTERP_EVAL_H
#define RONDO_INTERP_EVAL_H

#include "base/vec.h"
#include "interp/config.h"

#include <setjmp.h>

#define NO_SENDER UINT32_MAX

/* What a process received: messages with their number; the sender is kept where somebody may ask for it. A message
   that an adversary may choose can be left open (lazy): its parts are chosen when they are read. */
struct received_entry {
  value message;
  uint32_t sender; /* NO_SENDER: nobody asks */
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

/* Following how an evaluation depends on how many of each message were received: every decision that it takes by
   counts is the sign of a linear form over them; and, if wanted, over parameters that have no fixed value. */
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
  bool lost;           /* something depends on counts in a way that cannot be followed */
  struct span lost_at; /* a parameter whose value mattered otherwise; {0,0}: something else */
  uint32_t entry;      /* of the innermost generator over `received`, UINT32_MAX: none */
  const int64_t
      *params; /* by parameter: its value in this run, where `open` says that it has none of its own; NULL: all have */
  const bool *open;
};

struct choices {
  VEC(uint32_t) taken;
  VEC(uint32_t) arity;
  size_t given; /* how many of taken were given from outside */
  size_t at;
  bool bad;       /* a given answer does not fit */
  uint64_t coins; /* bit i: the i-th choice is a coin's (`random`), not an adversary's */
};
void choices_release(struct choices *);
void choices_clear(struct choices *);
void choices_give(struct choices *, const struct script *); /* nothing but these */
bool choices_next(struct choices *);                        /* the next script, or false: all were tried */

struct eval {
  struct interpreter *interp;
  const struct model *model;
  struct values *values;
  struct arena *scratch;
  value *slot;
  uint32_t *slot_sender; /* for slots bound by a generator over `received` */
  /* one process */
  uint32_t role, me, point;
  value phase;
  value *local;
  const struct received *received;
  const struct type *received_type;
  const value *globals;
  value *shared;            /* an action: the working copy of globals, which assignments change; globals is the same */
  struct outbox *outbox;    /* an action: where `send` puts messages; NULL: nobody may send */
  struct span *assigned_at; /* by variable: last assignment in this run, {0,0} if none; or NULL */
  struct span *shared_at;   /* likewise, by global */
  bool *assigned;           /* by variable, or NULL */
  bool *reads;              /* by variable: its value before this run was asked for; NULL: nobody wants to know */
  struct lazy lazy[LAZY_MAX];
  uint32_t nlazy;
  bool order_mattered;
  /* properties and environments */
  const struct config *before, *after;
  uint8_t *const *heard;       /* heard[p][q] */
  uint8_t *const *corrupt;     /* corrupt[p][q]: heard but forged */
  value *const *oracles;       /* by process: oracle values in order; NULL: in the local state */
  struct decisions *decisions; /* NULL: nobody asks how counts matter */
  /* control */
  struct choices *choices;
  jmp_buf *failure;
  struct model_error error;
  unsigned depth;
  const volatile sig_atomic_t *stop; /* once it is not 0, what may take long ends as if it failed: for whoever looks at
                                        it afterwards; NULL: nobody does */
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
  bool *reads;            /* what evaluations note in eval->reads; or NULL */
  const char *coins_lost; /* why coins could not be told from an adversary's choices, or NULL */
  bool order_mattered;    /* steps: some action had a `foreach` that gave different results for different orders */
};

/* eval_begin sets everything to "nothing known"; the caller fills in what the expression may read. */
void eval_begin(struct eval *, struct interpreter *);
value eval_node(struct eval *, const struct node *);
bool eval_true(struct eval *, const struct node *);
/* MIN MAX PICK RANDOM MAJORITY FIRST LAST or an option: false if there is nothing. */
bool eval_maybe(struct eval *, const struct node *, value *);
void eval_block(struct eval *, const struct block *);
/* Picks a witness of the guard by free choice and leaves it in the slots; false: there is none. */
bool eval_guard(struct eval *, const struct guard *);
uint32_t eval_choose(struct eval *, uint64_t arity);
uint32_t eval_coin(struct eval *, uint64_t arity); /* the same, by a coin */
_Noreturn void eval_fail(struct eval *, struct span, const char *format, ...) __attribute__((format(printf, 3, 4)));
uint32_t role_next(const struct role *, uint32_t me);     /* on its ring */
value eval_forced(struct eval *, value);                  /* a lazy message with all its parts chosen */
value lazy_completed(struct eval *, const struct lazy *); /* parts never read get the type's first value */
void check_in_type(struct eval *, const struct type *, value, struct span, const char *what);

/* Generators: visit is called for each binding of the slots, with how many equal messages it stands for; false
   stops. */
typedef bool binding_fn(struct eval *, void *context, uint64_t weight);
bool eval_bindings(struct eval *, const struct generator *, uint32_t n, binding_fn *, void *context);

#endif
