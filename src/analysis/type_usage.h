/* How the types of a model are used, as far as a query depends on it: the join over everything that processes,
   environment and properties do with their values. Each raise remembers the place that made it. */
#ifndef RONDO_ANALYSIS_TYPE_USAGE_H
#define RONDO_ANALYSIS_TYPE_USAGE_H

#include "analysis/licence.h"

/* Something that forbids: reason is NULL if nothing does. Strings live in the arena. */
struct refusal {
  const char *reason;
  struct span at;
};

/* Identities, by role. Raises use and the refusal that says why. */
struct identity_usage {
  enum identity_use use;
  struct refusal why;
};
struct identity_usage *identity_usage_of(const struct model *, const struct query *, struct arena *);

enum value_use { VALUE_EQUALITY, VALUE_ORDER, VALUE_FIXED };

/* The type whose values are chosen freely at the start: the named range or enum of most values. */
struct value_usage {
  const struct type *type; /* NULL: no input of such a type is free, then none says so */
  struct refusal none;
  enum value_use use;
  struct refusal ordered;   /* use >= ORDER: the first that compares by order */
  struct refusal fixed;     /* use == FIXED: the first that tells particular values */
  struct refusal made_up;   /* values appear that no process started with */
  struct refusal unbounded; /* a quantifier goes beyond the values that occur, so their order is not enough */
  struct refusal shape;     /* the initial values are not simply of that type */
};
struct value_usage *value_usage_of(const struct model *, const struct query *, struct arena *);

/* What forbids that the values of a type trade places in a state: something other than first values that orders them,
   computes with them, or tells a particular one. */
struct refusal values_distinguished(const struct model *, const struct query *, const struct type *, struct arena *);
/* Named ranges and enumerations of several values. */
bool is_value_type(const struct type *);

enum round_use { ROUND_COMPARE, ROUND_ADVANCE, ROUND_RESIDUE };
struct round_usage {
  bool read;        /* somebody reads the phase number */
  uint32_t residue; /* the phase number itself (no copy of it) is read modulo this; 1: it is not */
  enum round_use use;
  struct refusal why;
};
struct round_usage *round_usage_of(const struct model *, const struct query *, struct arena *);

/* The source text of a construct on one line, shortened; lives in the arena. */
const char *source_quote(const struct model *, struct span, struct arena *);

#endif
