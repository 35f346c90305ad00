/* One property of a counter system: engines run at the same time, and the first answer that passes its check decides.
 */
#ifndef RONDO_DRIVER_PROVE_PORTFOLIO_H
#define RONDO_DRIVER_PROVE_PORTFOLIO_H

#include "param/proof.h"

#include <signal.h>

struct proof_limits {
  double seconds; /* 0: none */
  double asked;   /* the limit as the user gave it, for reports; 0: seconds */
  size_t memory;
  struct rondo *rondo;
  const volatile sig_atomic_t *interrupt; /* its stop */
};

/* Why there is neither a proof nor a counterexample: late (the limit was reached), interrupted, or, if neither, every
   engine gave up. For memory_free. */
char *proof_undecided(const struct proof_limits *, bool late, bool interrupted, const char *where);

/* only: an engine's name, or NULL for all. */
void portfolio_run(struct counter_graph *, const char *only, const struct proof_limits *, struct proof *);

#endif
