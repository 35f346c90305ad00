/* Private to src/driver/prove_rounds.c, prove_liveness.c and prove_small_instances.c. */
#ifndef RONDO_DRIVER_PROVE_ROUNDS_H
#define RONDO_DRIVER_PROVE_ROUNDS_H

#include "driver/prove.h"
#include "driver/query.h"
#include "param/derive.h"
#include "param/handlers.h"
#include "param/validation.h"

struct proof_attempt { /* a property in an environment */
  struct counter_system *system;
  struct derivation derivation;
  /* a live property: the product, and the model that was prepared for it; request: NULL, or while it is compared */
  const struct liveness_request *request;
  struct liveness liveness;
  struct model *product_model;
  struct interpreter *product_interp;
  struct handler_system *handlers; /* of a model of message handlers; or NULL */
  struct counter_system *runs;     /* of a live property: what is proved instead of `system`; or NULL */
  struct counter_system *premise;  /* its unsafe states are reachable if some run satisfies the premise; or NULL */
  /* UNSAFE: the instance in which it was looked for */
  struct model *model;
  struct interpreter *interp;
  struct arena arena;
  struct check_result result;
};

struct rounds_proof {
  const struct parsed_file *parsed;
  const struct command_options *options;
  struct proof_limits limits;
  double deadline;             /* of the property that is being proved, or of what comes before, by clock_seconds */
  struct param_binding *given; /* by -D */
  struct model *model;         /* some instance, of what is derived */
  struct parsed_file view;     /* the file as it is derived (lang/coordinator_view.h); tree NULL: as it is */
  struct arena view_arena;
  struct interpreter *interp;
  VEC(struct proof_result) proofs;
  VEC(struct proof_attempt *) attempts;
  char *why_not; /* why a parameter that decides about a type needs a value; or NULL */
  bool stopped;  /* before there was an instance */
  bool quiet;    /* no values satisfy the conditions: this is not reported, but */
  bool impossible;
  struct text fault; /* a fault of rondo; empty: none */
};

/* A property in one of its environments. */
struct proof_choice {
  uint32_t property, environment;
};
struct proof_choices {
  VEC(struct proof_choice) of;
};

/* The parameters that -D gives, and a first instance. False: reported, or stopped. */
bool rounds_proof_begin(struct rounds_proof *);
void rounds_proof_end(struct rounds_proof *);
/* What is asked for. False: reported. */
bool choose_proofs(const struct rounds_proof *, struct proof_choices *);
/* Adds its result. */
void prove_choice(struct rounds_proof *, struct proof_choice);
/* The only parameter without a value that decides about a type; NULL: there is none, or there are several. */
const char *param_of_types(const struct rounds_proof *, const struct counter_system *);
bool rounds_shape(const struct rounds_proof *, struct round_shape *, bool say);

/* ---- prove_values.c: all numbers of values ---- */

/* The file leaves open how many values a type has, and nothing else depends on that. Otherwise false, and why_not may
   say more. */
bool prove_any_values(struct rounds_proof *, int *status);

/* An instance with all parameters given: params are those of the system. open: whatever
   `resilience` says. NULL: the conditions do not hold. */
struct model *rounds_proof_instance(const struct rounds_proof *, const struct counter_system *, const int64_t *params,
                                    bool open);
/* Searches an instance; strictly: only if `resilience` holds, too. NULL: no violation was found within that time. */
const struct property_result *search_instance(struct rounds_proof *, struct proof_attempt *,
                                              const struct proof_result *, const int64_t *params, bool strictly,
                                              double seconds);
void attempt_drop_instance(struct proof_attempt *);
/* Of the run that the search has found: a live property has a model, and an interpreter, of its own. */
struct interpreter *interpreter_of_found(const struct proof_attempt *);
/* The shape's system has the parameters only. open: with `resilience` left open. */
struct proof_attempt *attempt_new(const struct rounds_proof *, struct round_shape *, bool open);
void attempt_free(struct proof_attempt *);
/* Another model of the instance from which systems are derived. NULL: it cannot be read again. */
struct model *rounds_proof_copy(const struct rounds_proof *);
/* Why there is no counter system, with the line. */
void refusal_print(const struct rounds_proof *, const struct proof_attempt *, struct text *);
/* A proof is reported only if the derivation passes the comparison; else the result is undecided. */
void cross_check(struct rounds_proof *, struct proof_attempt *, const struct round_shape *, const struct query *,
                 struct proof_result *);

/* ---- prove_liveness.c ---- */
void prove_live(struct rounds_proof *, uint32_t property, uint32_t environment);

/* ---- prove_handlers.c: models of message handlers ---- */

/* handlers_derive; and for a live property the system of its violating runs. */
bool derive_handlers(const struct rounds_proof *, struct proof_attempt *, const struct round_shape *,
                     const struct query *);
/* Does no fair run satisfy what the property assumes? Only a proof counts. */
bool attempt_is_vacuous(const struct proof_attempt *, const struct command_options *, const struct proof_limits *);

/* ---- prove_small_instances.c: instances with few processes ---- */

/* Smallest first, until it returns false. */
typedef bool small_instance_fn(void *context, const int64_t *params);
void small_instances(const struct counter_system *, const struct round_shape *, small_instance_fn *, void *context);

/* The derived system against the interpreter, for a second at most. False: it was interrupted, they
   differ (rounds_proof.fault), or there was nothing to compare. */
bool compare_derived(struct rounds_proof *, struct proof_attempt *, const struct round_shape *, const struct query *,
                     struct validation *);
/* What was proved, against the search, for a second at most. False: likewise. */
bool search_small(struct rounds_proof *, struct proof_attempt *, const struct round_shape *, struct proof_result *);
struct small_verdicts { /* numbers of instances in which the property holds; in which it does so vacuously */
  uint32_t holds, vacuous;
};
/* The instance in which the search finds a violation, which goes to the result; NULL: it found none within that time.
 */
struct proof_attempt *search_violation(struct rounds_proof *, struct proof_result *, double seconds,
                                       struct small_verdicts *);
/* Why nothing was compared, where nothing differs. */
const char *comparison_failure(const struct rounds_proof *, const struct validation *);
/* Notes in the certificate what was compared. */
void certificate_note_comparison(struct proof_result *);

#endif
