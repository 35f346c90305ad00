/* What the engines have in common. Each takes a graph and tries to decide its property; none is
   believed: an invariant is checked as a certificate (param/certificate.h), a run is replayed
   (sem/counters.h). */
#ifndef RONDO_PARAM_ENGINE_H
#define RONDO_PARAM_ENGINE_H

#include "param/graph.h"
#include "sem/counters.h"

#include <signal.h>

enum outcome_kind { OUTCOME_OPEN, OUTCOME_SAFE, OUTCOME_UNSAFE };

struct outcome {
  enum outcome_kind kind;
  struct arena arena;
  const char **invariant; /* SAFE: by location, an SMT-LIB condition on parameters and counters */
  struct counter_run run; /* UNSAFE */
  struct text reached;    /* how far it got: "no counterexample within 7 steps" */
  uint32_t depth;         /* steps it has looked at */
};
void outcome_init(struct outcome *);
void outcome_release(struct outcome *);

/* Is told now and then how far an engine got. */
struct watch {
  void (*told)(void *context, const char *reached);
  void *context;
  const volatile sig_atomic_t *stop; /* not 0: what is being asked ends soon, and is unknown; NULL: never */
};
void outcome_tell(struct outcome *, const struct watch *, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Runs of 0, 1, 2 ... moves, until one is unsafe; the first one found has the fewest moves, and
   among those parameters that are small. most: how many moves; 0: no limit. */
void engine_bounded(const struct graph *, uint32_t most, const struct watch *, struct outcome *);

/* Horn clauses on Spacer, a predicate for each location. */
void engine_horn(const struct graph *, const struct watch *, struct outcome *);

/* Backwards from the unsafe states by cubes, until nothing new comes up. */
void engine_backward(const struct graph *, const struct watch *, struct outcome *);

#define ENGINES 3
extern const struct engine {
  const char *name;
  void (*run)(const struct graph *, const struct watch *, struct outcome *);
} engines[ENGINES];

/* A name as SMT-LIB takes it; in the arena. */
const char *smt_name(struct arena *, const char *);
/* Names of parameters and counters in SMT-LIB, by column of the graph; in the arena. */
const char **graph_names(const struct graph *, struct arena *);
/* The same, and then as many amounts as a transition has at most: the prefix and a number from 1. */
const char **graph_names_with_amounts(const struct graph *, const char *prefix, uint32_t *most, struct arena *);

#endif
