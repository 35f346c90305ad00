/* One property of a counter system: the engines race, what they say is checked, the first that
   stands the check decides. */
#ifndef RONDO_DRIVER_PROVE_PORTFOLIO_H
#define RONDO_DRIVER_PROVE_PORTFOLIO_H

#include "param/proof.h"

#include <signal.h>

struct proof_limits {
  double seconds; /* 0: none */
  double asked;   /* what the user said of all of it, to be told; 0: seconds */
  size_t memory;
  struct rondo *rondo;
  const volatile sig_atomic_t *interrupt; /* its stop */
};

/* only: an engine's name, or NULL for all. */
void portfolio_run(struct counter_graph *, const char *only, const struct proof_limits *, struct proof *);

#endif
