/* Values of the model's types as nodes of an expression graph. Numbers, labels and identities are numbers; an option is
   a truth and a value; a set is one truth per possible member; records, arrays and sequences consist of their parts.

   Values live in the arena of the lowering. They are immutable, so they are shared. */
#ifndef RONDO_LOWER_SYM_VALUE_H
#define RONDO_LOWER_SYM_VALUE_H

#include "lower/numbers.h"
#include "model/model.h"

enum sym_value_kind { SYM_BOOLEAN, SYM_NUMBER, SYM_OPTION, SYM_SET, SYM_PARTS, SYM_SEQUENCE };

struct sym_value {
  enum sym_value_kind kind;
  truth truth;             /* BOOLEAN; OPTION: it has a value */
  struct number number;    /* NUMBER; SEQUENCE: its length */
  struct sym_value **part; /* OPTION: one, or NULL if it is always empty; PARTS, SEQUENCE: n; a sequence may have some
                              beyond its length */
  uint32_t n;
  truth *has;                 /* SET: by possible member, n of them */
  int64_t base;               /* SET of numbers, labels, identities, truths: its i-th member is base + i */
  const struct type *element; /* SET of anything else: its i-th member is the i-th value of this type; else NULL */
  const struct type *layout;  /* it is canonical for this type (sym_canonical); NULL: perhaps for none */
};

struct lowering;
struct sym_value *sym_truth(struct lowering *, truth);
struct sym_value *sym_number(struct lowering *, struct number);
struct sym_value *sym_option(struct lowering *, truth there, struct sym_value *element);
struct sym_value *sym_parts(struct lowering *, enum sym_value_kind, uint64_t n); /* the caller fills them in */
struct sym_value *sym_const(struct lowering *, const struct type *, value);
struct sym_value *sym_default(struct lowering *, const struct type *);
struct sym_value *sym_ite(struct lowering *, truth, struct sym_value *, struct sym_value *);
/* Do they consist of the same nodes? */
bool sym_identical(const struct sym_value *, const struct sym_value *);
truth sym_equal(struct lowering *, const struct sym_value *, const struct sym_value *);
truth sym_less(struct lowering *, const struct sym_value *, const struct sym_value *); /* numbers and records of them */
truth sym_fits(struct lowering *, const struct type *, const struct sym_value *);      /* is the value of the type? */
/* The same value, which must be of the type, with the bounds and parts reduced to what the type needs. */
struct sym_value *sym_bounded(struct lowering *, const struct type *, struct sym_value *);
/* The same value, which must be of the type, with all parts that a value of the type can have. Absent elements (of an
   empty option, or beyond the length of a sequence) have the first value of their type, so equal values have equal
   leaves. */
struct sym_value *sym_canonical(struct lowering *, const struct type *, struct sym_value *);

/* The value of a finite type with this index, for enumeration. */
struct sym_value *sym_nth_value(struct lowering *, const struct type *, uint64_t index);
/* The type of the i-th part of a record or array, and how many there are. */
const struct type *part_type(const struct type *, uint32_t i);
uint64_t part_count(const struct type *);

/* Sets. */
struct sym_value *sym_empty(struct lowering *, const struct type *set);
/* An empty set with room for all values of the element type; for unbounded numbers, with room for none. */
struct sym_value *sym_whole_set(struct lowering *, const struct type *element);
struct sym_value *sym_identities(struct lowering *, const truth *has); /* has: one truth per process */
struct sym_value *sym_member(struct lowering *, const struct sym_value *set, uint32_t i);
truth sym_has(struct lowering *, const struct sym_value *set, const struct sym_value *member);
truth sym_has_process(const struct sym_value *set, uint32_t p);
struct sym_value *sym_union(struct lowering *, const struct sym_value *, const struct sym_value *);
struct sym_value *sym_intersect(struct lowering *, const struct sym_value *, const struct sym_value *);
struct sym_value *sym_minus(struct lowering *, const struct sym_value *, const struct sym_value *);
truth sym_subset(struct lowering *, const struct sym_value *, const struct sym_value *);
struct number sym_size(struct lowering *, const struct sym_value *set);
/* The set of the elements whose guard holds. */
struct sym_value *sym_set_of(struct lowering *, const struct type *set, const truth *guard,
                             struct sym_value *const *element, size_t n);

/* All scalar nodes of a value in a fixed order. */
struct leaves {
  VEC(expr_id) at;
};
void sym_leaves(struct lowering *, const struct sym_value *, struct leaves *);

#endif
