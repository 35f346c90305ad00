/* Compares a derived counter system with its model, on instances with few processes.

   Every state and step of the interpreter (interp/config.h) must have a counterpart in the counter system, as executed
   on plain integers by interp/counter_run.h: an initial state is a start, a step is one or more moves, and a violation
   of the property is unsafe. A derivation that misses behaviour is therefore detected if few processes suffice to show
   it. */
#ifndef RONDO_PARAM_VALIDATION_H
#define RONDO_PARAM_VALIDATION_H

#include "param/derive.h"

struct validation {
  uint32_t instances;
  uint64_t states, steps; /* of the interpreter, over all instances */
  uint32_t processes;     /* of the largest instance */
  bool cut;               /* the comparison is incomplete */
  struct text difference; /* empty: none found */
};
void validation_release(struct validation *);

struct validator;
/* The derivation must outlive the validator. Returns NULL if the system is too large to unfold, or when stopped. */
struct validator *validator_new(const struct derivation *, const struct round_shape *, const struct query *,
                                const volatile sig_atomic_t *stop);
void validator_free(struct validator *);

/* Compares with an instance of the same model whose parameters satisfy the conditions. live: for a live property, what
   the same request made of the instance (liveness_prepare); else NULL. Ends early (cut) soon after
 *stop becomes nonzero. Returns false if there is a difference. */
bool validate_instance(struct validator *, struct interpreter *, const struct liveness *live, struct validation *);

#endif
