/* A derived counter system against the algorithm it was derived from, on instances with few
   processes.

   Every state and step of the plain interpreter (interp/config.h) is looked for in the counter system,
   by its interp in plain integers (interp/counter_run.h): an initial state must be a start, a step one
   or more moves, and what violates the property must be unsafe. So a derivation that leaves
   something out is found wherever few processes are enough to show it. */
#ifndef RONDO_PARAM_VALIDATION_H
#define RONDO_PARAM_VALIDATION_H

#include "param/derive.h"

struct validation {
  uint32_t instances;
  uint64_t states, steps; /* of the interpreter, all instances together */
  uint32_t processes;     /* of the largest instance */
  bool cut;               /* not everything was looked at */
  struct text difference; /* empty: there is none */
};
void validation_release(struct validation *);

struct validator;
/* The derivation must outlive it. NULL: the system is too large to unfold, or it was stopped. */
struct validator *validator_new(const struct derivation *, const struct round_shape *, const struct query *,
                                const volatile sig_atomic_t *stop);
void validator_free(struct validator *);

/* With an instance of the same text, in which the conditions on the parameters hold. It ends early
   (cut) soon after *stop is not 0. False: there is a difference. */
bool validate_instance(struct validator *, struct interpreter *, struct validation *);

#endif
