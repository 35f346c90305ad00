/* Private to src/driver/prove_rounds.c and prove_compare.c. */
#ifndef RONDO_DRIVER_PROVE_ROUNDS_H
#define RONDO_DRIVER_PROVE_ROUNDS_H

#include "driver/prove.h"
#include "driver/question.h"
#include "param/compare.h"
#include "param/derive.h"

struct attempt { /* a property in an environment */
  struct counter_system *system;
  struct derivation derivation;
  /* UNSAFE: the instance in which it was looked for */
  struct model *model;
  struct meaning *meaning;
  struct arena arena;
  struct check_result result;
};

struct proving {
  const struct syntax *syntax;
  const struct options *options;
  struct decide_limits limits;
  double deadline;       /* of the property that is being proved, by race_clock */
  struct binding *given; /* by -D */
  struct model *model;   /* some instance */
  struct meaning *meaning;
  VEC(struct proved) proofs;
  VEC(struct attempt *) attempts;
  bool stopped;      /* before there was an instance */
  struct text fault; /* what rondo itself got wrong; empty: nothing */
};

/* An instance with all parameters given: params are those of the system. open: whatever
   `resilience` says. NULL: the conditions do not hold. */
struct model *proving_instance(const struct proving *, const struct counter_system *,
                               const int64_t *params, bool open);
/* Asks the search, in an instance; strictly: only where `resilience` holds, too. NULL: it does not
   find it violated. */
const struct property_result *look_there(struct proving *, struct attempt *, const struct proved *,
                                         const int64_t *params, bool strictly);
void forget_instance(struct attempt *);

/* ---- prove_compare.c: instances with few processes ---- */

/* Smallest first, until it returns false. */
typedef bool small_fn(void *context, const int64_t *params);
void small_instances(const struct counter_system *, const struct round_shape *, small_fn *,
                     void *context);

/* The derived system against the interpreter, for a second at most. False: it was interrupted, they
   differ (proving->fault), or there was nothing to compare. */
bool compare_derived(struct proving *, struct attempt *, const struct round_shape *,
                     const struct question *, struct compared *);
/* What was proved, against the search, for a second at most. False: likewise. */
bool search_small(struct proving *, struct attempt *, const struct round_shape *, struct proved *);
/* Why nothing was compared, where nothing differs. */
const char *not_compared(const struct proving *, const struct compared *);
/* Notes in the certificate what was compared. */
void certify_comparison(struct proved *);

#endif
