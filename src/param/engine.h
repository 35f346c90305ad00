/* The interface of the engines. Each takes a graph and tries to decide its property. Their results are always checked:
   an invariant as a certificate (param/certificate.h), a run by replay (interp/counter_run.h). */
#ifndef RONDO_PARAM_ENGINE_H
#define RONDO_PARAM_ENGINE_H

#include "interp/counter_run.h"
#include "param/counter_graph.h"

#include <signal.h>

enum engine_verdict { ENGINE_UNDECIDED, ENGINE_SAFE, ENGINE_UNSAFE };

struct engine_result {
  enum engine_verdict kind;
  struct arena arena;
  const char **invariant; /* SAFE: by location, an SMT-LIB condition on parameters and counters; */
  const char *script;     /* or, if it is NULL, a script whose questions are all answered "unsat" if it is safe */
  uint32_t questions;     /* of the script */
  struct counter_run run; /* UNSAFE */
  struct text reached;    /* how far it got: "no counterexample within 7 steps" */
  uint32_t depth;         /* steps explored */
};
void engine_result_init(struct engine_result *);
void engine_result_release(struct engine_result *);

/* progress is called now and then with a description of how far the engine got. */
struct engine_watch {
  void (*progress)(void *context, const char *reached);
  void *context;
  const volatile sig_atomic_t *stop; /* nonzero: the current query ends soon with UNKNOWN; may be NULL */
};
void engine_progress(struct engine_result *, const struct engine_watch *, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Searches runs of 0, 1, 2 ... moves for an unsafe state. The run found has the fewest moves, and small parameters
   among those runs. most: maximal number of moves; 0: no limit. */
void engine_bounded(const struct counter_graph *, uint32_t most, const struct engine_watch *, struct engine_result *);

/* Horn clauses for Spacer, one predicate per location. */
void engine_horn(const struct counter_graph *, const struct engine_watch *, struct engine_result *);

/* Backward reachability from the unsafe states, with cubes, until a fixpoint. */
void engine_backward(const struct counter_graph *, const struct engine_watch *, struct engine_result *);

/* Threshold automata: all runs as one query. */
void engine_contexts(const struct counter_graph *, const struct engine_watch *, struct engine_result *);

/* Small instances, state by state; it finds violations only. */
void engine_explicit(const struct counter_graph *, const struct engine_watch *, struct engine_result *);
/* The same with at most so many states. */
void engine_explicit_within(const struct counter_graph *, uint64_t states, const struct engine_watch *,
                            struct engine_result *);

/* Backward search over sets described by comparisons of guards and lower bounds of counters. */
void engine_guards(const struct counter_graph *, const struct engine_watch *, struct engine_result *);

#define ENGINES 6
extern const struct engine {
  const char *name;
  void (*run)(const struct counter_graph *, const struct engine_watch *, struct engine_result *);
  int niceness; /* those that end soon, or decide all systems of their kind, get more of a processor that is shared */
} engines[ENGINES];

/* A valid SMT-LIB symbol for the name; in the arena. */
const char *smt_name(struct arena *, const char *);
/* Names of parameters and counters in SMT-LIB, by column of the graph; in the arena. */
const char **counter_graph_names(const struct counter_graph *, struct arena *);
/* The same, followed by names for the maximal number of amounts of a transition: the prefix and a number from 1. */
const char **counter_graph_names_with_amounts(const struct counter_graph *, const char *prefix, uint32_t *most,
                                              struct arena *);

#endif
