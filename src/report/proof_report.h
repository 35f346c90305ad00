/* The results of `rondo prove`, as text and JSON. */
#ifndef RONDO_REPORT_PROOF_REPORT_H
#define RONDO_REPORT_PROOF_REPORT_H

#include "param/proof.h"
#include "param/validation.h"
#include "report/check_result.h"
#include "report/layout.h"

#include <jansson.h>

#define PROVE_SCHEMA "rondo-prove/1"
#define COUNTER_TRACE_SCHEMA "rondo-counter-trace/1"

/* A property and its result. */
struct proof_result {
  struct proof proof;
  const char *name;
  const struct counter_system *system;
  bool vacuous; /* SAFE: no run satisfies the premise of the property; of a live property of rounds, the promise of
                   the environment */
  bool runless; /* and vacuous: there is no run at all */
  bool vacuous_for_few; /* SAFE: so it is in all instances that were searched */
  bool live;            /* of a model of rounds */
  const char *cutoff;   /* a parameter, the number of values of a type: with this value it was proved; NULL: none */
  int64_t cutoff_value;
  const char *cutoff_by; /* why that is enough for all of its values */
  /* only for a system derived from a round model, else NULL */
  const char *environment;
  const struct property_result
      *concrete; /* UNSAFE: the result of the search with the parameters of the run; its trace is authoritative */
  struct interpreter *interp;
  bool is_compared; /* SAFE: the derivation was compared with the interpreter, the verdict with the search */
  struct validation compared;
  uint32_t searched; /* number of instances in which the search confirmed the property */
};

enum verdict proof_results_verdict(const struct proof_result *, uint32_t n); /* the worst verdict */

void proof_results_text(const struct proof_result *, uint32_t n, const struct style *, struct text *);
/* A run in words, from its start to the unsafe state. */
void counter_run_text(const struct counter_system *, const struct counter_property *, const struct counter_run *,
                      const struct style *, struct text *);
json_t *counter_run_json(const struct counter_system *, const struct counter_property *, const struct counter_run *);
json_t *counter_model_json(const struct counter_system *);

json_t *proof_results_json(const struct proof_result *, uint32_t n);

#endif
