/* Shared by proofs of counter systems, proofs of models of rounds, and thresholds. */
#ifndef RONDO_DRIVER_PROVE_H
#define RONDO_DRIVER_PROVE_H

#include "analysis/value_cutoff.h"
#include "driver/load.h"
#include "driver/prove_portfolio.h"
#include "lang/typecheck_counters.h"
#include "report/proof_report.h"
#include "report/synthesis_report.h"

/* One property from its unfolding to the verdict. */
void prove_property(const struct counter_system *, const struct counter_property *, const struct command_options *,
                    const struct proof_limits *, struct proof *);
struct proof_limits prove_limits(const struct command_options *);
/* Reports the results and writes the certificates. Returns the exit status. */
int prove_report(const struct command_options *, const struct proof_result *, uint32_t n);

/* prove_automata.c */
int prove_automaton(const struct parsed_file *, const struct command_options *);
/* Does no run satisfy the premise of the specification? Only a proof counts. */
bool specification_is_vacuous(const struct threshold_automaton *, uint32_t specification,
                              const struct command_options *, const struct proof_limits *);

/* threshold_unknowns.c: rondo threshold for automata with unknowns; the exit status */
int threshold_unknowns(const struct parsed_file *, const struct command_options *);

/* Writes what was found, and the certificates; the exit status */
int synthesis_answer(const struct synthesis *, const struct command_options *, const struct text *scripts);

/* threshold_params.c: rondo threshold for a model some of whose parameters have a range in -D; the exit status */
bool threshold_has_ranges(const struct command_options *);
int threshold_params(const struct parsed_file *, const struct command_options *);

/* prove_values.c: how many values of the type are enough for the only property of the query, whatever the number of
   processes */
struct value_cutoff value_cutoff_of(const struct model *, const struct query *, const struct param_type_size *,
                                    const struct ast *file, struct arena *);

/* prove_rounds.c */
int prove_rounds(const struct parsed_file *, const struct command_options *);

/* The counter system of a property of a model of rounds, compared with it for few processes; open:
   with `resilience` left open. NULL: the error was reported, and status is the exit status for it. */
struct derived_system;
struct derived_system *derived_system_open(const struct parsed_file *, const struct command_options *,
                                           const char *property, bool open, int *status);
/* Does the text, with what -D says, leave a parameter free? */
bool rounds_have_free_params(const struct parsed_file *, const struct command_options *);
void derived_system_close(struct derived_system *);
const struct counter_system *derived_system_counters(const struct derived_system *);
/* Does the search find a violation by the algorithm itself, with these parameters, within so many seconds? */
bool derived_system_violated(struct derived_system *, const int64_t *params, double seconds);
/* What that search found, with a run of the algorithm, and the interpreter of its instance; NULL: nothing. Lives until
   the next search. */
const struct property_result *derived_system_found(const struct derived_system *, struct interpreter **);
/* Does the search, within so many seconds, find it violated by few processes where `safe` says that it holds? The
   parameters do not include quotients. */
typedef bool params_safe_fn(void *context, const int64_t *params);
bool derived_system_disagrees(struct derived_system *, double seconds, params_safe_fn *safe, void *context);

#endif
