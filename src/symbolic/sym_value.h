/* Private to src/symbolic: values of the model's types as terms. Numbers, labels and identities are numbers; an option
   is a truth and a value; a set is one truth per possible member; records, arrays and sequences consist of their parts.

   Values live in the arena of the encoder. They are immutable, so they are shared. */
#ifndef RONDO_SYMBOLIC_SYM_VALUE_H
#define RONDO_SYMBOLIC_SYM_VALUE_H

#include "model/model.h"
#include "symbolic/terms.h"

#include <setjmp.h>
#include <signal.h>

enum sym_value_kind { SYM_BOOLEAN, SYM_NUMBER, SYM_OPTION, SYM_SET, SYM_PARTS, SYM_SEQUENCE };

struct sym_value {
  enum sym_value_kind kind;
  truth truth;             /* TRUTH; OPTION: it has a value */
  struct number number;    /* NUMBER; SEQUENCE: its length */
  struct sym_value **part; /* OPTION: one, or NULL if it is always empty; PARTS, SEQUENCE: n; a sequence may have some
                              beyond its length */
  uint32_t n;
  truth *has;                 /* SET: by possible member, n of them */
  int64_t base;               /* SET of numbers, labels, identities, truths: its i-th member is base + i */
  const struct type *element; /* SET of anything else: its i-th member is the i-th value of this type; else NULL */
};

/* Why a model cannot be encoded in SMT, or not in reasonable size. */
struct encoding_refusal {
  struct span at; /* {0, 0}: no particular place */
  char reason[200];
};

struct encoder {
  struct terms t;
  struct arena arena;
  struct model *model;
  uint32_t environment;
  enum semantics semantics;
  jmp_buf *refused; /* target of the longjmp of a refusal */
  struct encoding_refusal refusal;
  struct span at;                    /* place of the current expression, for refusals */
  bool prefix;                       /* runs start in an initial state, so round numbers are bounded */
  bool keeps_initials;               /* the query reads initial(p.x) */
  const volatile sig_atomic_t *stop; /* nonzero: the query is to stop */
  bool counts_rounds, counts_phases; /* the query reads them */
};

_Noreturn void encode_refuse(struct encoder *, struct span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The default cases of switches over operators and over kinds of types: they have no encoding. */
_Noreturn void refuse_unknown_operator(struct encoder *, const struct node *);
_Noreturn void refuse_unknown_type(struct encoder *);

struct sym_value *sym_truth(struct encoder *, truth);
struct sym_value *sym_number(struct encoder *, struct number);
struct sym_value *sym_const(struct encoder *, const struct type *, value);
struct sym_value *sym_default(struct encoder *, const struct type *);
/* A fresh value of the type, constrained by facts. */
struct sym_value *sym_new(struct encoder *, const struct type *, const char *name);
struct sym_value *sym_ite(struct encoder *, truth, struct sym_value *, struct sym_value *);
truth sym_equal(struct encoder *, const struct sym_value *, const struct sym_value *);
truth sym_less(struct encoder *, const struct sym_value *, const struct sym_value *); /* numbers and records of them */
truth sym_fits(struct encoder *, const struct type *, const struct sym_value *);      /* is the value of the type? */
/* The same value, which must be of the type, with the bits and parts reduced to what the type needs. */
struct sym_value *sym_bounded(struct encoder *, const struct type *, struct sym_value *);

/* The value of a finite type with this index, for enumeration. */
struct sym_value *sym_nth_value(struct encoder *, const struct type *, uint64_t index);

/* Sets. */
struct sym_value *sym_empty(struct encoder *, const struct type *set);
struct sym_value *sym_identities(struct encoder *, const truth *has); /* has: one truth per process */
struct sym_value *sym_member(struct encoder *, const struct sym_value *set, uint32_t i);
truth sym_has(struct encoder *, const struct sym_value *set, const struct sym_value *member);
struct sym_value *sym_union(struct encoder *, const struct sym_value *, const struct sym_value *);
struct sym_value *sym_intersect(struct encoder *, const struct sym_value *, const struct sym_value *);
struct sym_value *sym_minus(struct encoder *, const struct sym_value *, const struct sym_value *);
truth sym_subset(struct encoder *, const struct sym_value *, const struct sym_value *);
struct number sym_size(struct encoder *, const struct sym_value *set);
/* The set of the elements whose guard holds. */
struct sym_value *sym_set_of(struct encoder *, const struct type *set, const truth *guard,
                             struct sym_value *const *element, size_t n);

/* The concrete value in a model of the solver. */
value sym_extract(struct encoder *, Z3_model, const struct type *, const struct sym_value *);
bool truth_value(struct encoder *, Z3_model, truth);
int64_t number_value(struct encoder *, Z3_model, struct number);

/* All scalar nodes of a value in a fixed order: the arguments of predicates over states. */
struct leaves {
  VEC(expr_id) at;
};
void sym_leaves(struct encoder *, const struct sym_value *, struct leaves *);

#endif
