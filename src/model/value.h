/* Values: one 64-bit number each, equal exactly if the numbers are equal. What the number means depends on the
   type:
     BOOL 0 or 1; INT, RANGE, ROUND the number; ENUM the label's position; PROCESS the identity (roles in order of
     declaration, numbered through from 0);
     OPTION: VALUE_NONE, or the element (an inner none is shifted by one for each option around it);
     SET: a bit mask over the element type's indices if type->mask, else the handle of the members, sorted
     (sets of identities: a mask over identities, whatever the role, so sets of one role and of any mix freely);
     RECORD, ARRAY (by index), SEQUENCE: the handle of the parts.
   A handle is the name of an interned vector in the value table. Order (value_compare) goes by content, never
   by handle. */
#ifndef RONDO_MODEL_VALUE_H
#define RONDO_MODEL_VALUE_H

#include "base/intern.h"
#include "base/text.h"
#include "model/type.h"

typedef int64_t value;
#define VALUE_NONE INT64_MIN
#define VALUE_NONE_LAST (INT64_MIN + 64)
/* Larger and smaller numbers encode other things: none, and messages whose parts are not chosen yet. */
#define VALUE_NUMBER_MAX (INT64_MAX - 64)
static inline bool number_fits(int64_t v) { return -VALUE_NUMBER_MAX <= v && v <= VALUE_NUMBER_MAX; }

struct model;

struct values {
  struct intern *vectors;
};

void values_init(struct values *);
void values_release(struct values *);

value value_wrap(value element);  /* T -> T? */
value value_unwrap(value option); /* T? -> T; not for VALUE_NONE */

/* Handles */
value value_vector(struct values *, const value *parts, size_t n);
const value *value_parts(const struct values *, value handle, size_t *n);

/* Sets, whatever their representation */
value set_empty(struct values *, const struct type *);
bool set_contains(const struct values *, const struct type *, value set, value member);
value set_insert(struct values *, const struct type *, value set, value member);
value set_union(struct values *, const struct type *, value a, value b);
value set_intersection(struct values *, const struct type *, value a, value b);
value set_difference(struct values *, const struct type *, value a, value b);
bool set_is_subset(const struct values *, const struct type *, value a, value b);
uint64_t set_size(const struct values *, const struct type *, value set);
/* Members in ascending order: for (i = 0; set_member(..., &i, &v);) */
bool set_member(const struct values *, const struct type *, value set, uint64_t *cursor, value *member);

/* Finite types: 0 .. type->count-1 */
value type_nth(struct values *, const struct type *, uint64_t index);
uint64_t type_index(const struct values *, const struct type *, value v); /* v must be of the type */
bool type_has(const struct values *, const struct type *, value v);       /* in range, recursively */
value type_default(struct values *, const struct type *);                 /* its first value */
/* The same as type_has for numbers that may be anything, and a table that may hold anything. */
bool value_is_sound(const struct values *, const struct type *, value v);
void type_finish(struct type *, const struct model *); /* count, mask, first; parts must be finished */

/* Total order by content: numbers, labels and identities by number; none first; records and sequences by
   their parts; sets by their sorted members. */
int value_compare(const struct values *, const struct type *, value a, value b);

/* By content, so that it is the same in every run. */
uint64_t value_hash(const struct values *, const struct type *, value v);

/* Renaming: every identity p becomes process[p] (if not NULL), every ROUND r becomes rounds[r] (if not NULL) or what
   `shift` says (if not NULL), the i-th value of the type `type` (if not NULL) its to[i]-th one. */
struct round_shift { /* rounds below `from` become `old`, the others move by `by` */
  value from, old, by;
};
struct renaming {
  const uint32_t *process;
  const value *rounds;
  const struct round_shift *shift;
  const struct type *type; /* finite, a range or an enumeration */
  const uint32_t *to;
};
value value_rename(struct values *, const struct type *, value v, const struct renaming *);
/* Does `is` hold of the type, or of a type of its parts or indices? */
typedef bool type_test_fn(const void *context, const struct type *);
bool type_any(const struct type *, type_test_fn *is, const void *context);
uint32_t option_depth_beyond(const struct type *, const struct type *); /* by how many options the first is deeper */
bool type_contains_kind(const struct type *, enum type_kind);           /* PROCESS or ROUND anywhere inside */
bool type_contains(const struct type *, const struct type *inner);      /* inner itself anywhere inside */
/* Is there a value of a leaf type other than `neutral` (VALUE_NONE: any) inside v, or an array that tells indices that
   hold such values apart? */
bool value_holds(const struct values *, const struct type *, value v, type_test_fn *is_leaf, const void *context,
                 value neutral);
typedef void value_round_fn(void *context, value round);
void value_each_round(const struct values *, const struct type *, value v, value_round_fn *visit,
                      void *context); /* inside v */
/* Widens lo..hi (empty at first: lo > hi) to hold the round numbers inside v. */
struct round_span {
  value lo, hi;
};
#define ROUND_SPAN_EMPTY ((struct round_span){INT64_MAX, INT64_MIN})
void value_round_span(const struct values *, const struct type *, value v, struct round_span *);

/* As the source would write it: 3, none, P(2), {1, 2}, (x: 1, vote: none) */
void value_print(const struct values *, const struct model *, const struct type *, value v, struct text *);

#endif
