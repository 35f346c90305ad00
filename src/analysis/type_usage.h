/* How identities, input values and round numbers are used in all text that a query depends on: processes, environment,
   properties. Each use has a level, and the highest one counts, with the place that raised it. Uses that only compare
   for equality, or by order, are the data independence of Wolper 1986 and Lazic 1999. */
#ifndef RONDO_ANALYSIS_TYPE_USAGE_H
#define RONDO_ANALYSIS_TYPE_USAGE_H

#include "analysis/licence.h"

/* Why something is refused, and where; reason is NULL if it is not. Strings live in the arena. */
struct refusal {
  const char *reason;
  struct span at;
};

/* Identities of the processes of one role: how they are used, and why. */
struct identity_usage {
  enum identity_use use;
  struct refusal why;
};
struct identity_usage *identity_usage_of(const struct model *, const struct query *, struct arena *);
/* The same without `send x to others`. */
struct identity_usage *identity_usage_besides_others(const struct model *, const struct query *, struct arena *);

enum value_use { VALUE_EQUALITY, VALUE_ORDER, VALUE_FIXED };

/* The type from which inputs are chosen freely: of several named ranges and enumerations, the largest. */
struct value_usage {
  const struct type *type; /* NULL: no input has such a type; `none` says so */
  struct refusal none;
  enum value_use use;
  struct refusal ordered;   /* use >= ORDER: the first that compares by order */
  struct refusal fixed;     /* use == FIXED: the first that depends on particular values */
  struct refusal made_up;   /* values occur that no process started with */
  struct refusal unbounded; /* a quantifier is not restricted to values that occur, so their order is not enough */
  struct refusal shape;     /* inputs are not simply one value of that type for each process */
};
struct value_usage *value_usage_of(const struct model *, const struct query *, struct arena *);

/* Why the values of a type may not be permuted in a state: something other than first values orders them, computes with
   them, or depends on a particular one. */
struct refusal values_distinguished(const struct model *, const struct query *, const struct type *, struct arena *);
/* Named ranges and enumerations of several values. */
bool is_value_type(const struct type *);

enum round_use { ROUND_COMPARE, ROUND_ADVANCE, ROUND_RESIDUE };
struct round_usage {
  bool read;        /* the phase number is read */
  uint32_t residue; /* the phase number itself (no copy of it) is read modulo this; 1: it is not */
  enum round_use use;
  struct refusal why;
};
struct round_usage *round_usage_of(const struct model *, const struct query *, struct arena *);

/* The source text of a construct on one line, shortened; lives in the arena. */
const char *source_quote(const struct model *, struct span, struct arena *);

#endif
