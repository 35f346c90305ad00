/* What the ways to a proof have in common. */
#ifndef RONDO_DRIVER_PROVE_H
#define RONDO_DRIVER_PROVE_H

#include "driver/decide.h"
#include "driver/load.h"
#include "report/proof_report.h"

/* One property from its unfolding to the verdict. */
void prove_property(const struct counter_system *, const struct counter_property *,
                    const struct options *, const struct decide_limits *, struct proof *);
struct decide_limits prove_limits(const struct options *);
/* Says what came of them, writes certificates if wanted; the exit status. */
int prove_report(const struct options *, const struct proved *, uint32_t n);

/* prove_rounds.c */
int prove_rounds(const struct syntax *, const struct options *);

/* The counter system of a property of a model of rounds, compared with it for few processes; open:
   with `resilience` left open. NULL: said why, and status is the exit status for it. */
struct rounds;
struct rounds *rounds_open(const struct syntax *, const struct options *, const char *property,
                           bool open, int *status);
/* Does the text, with what -D says, leave a parameter free? */
bool rounds_leave_params_free(const struct syntax *, const struct options *);
void rounds_close(struct rounds *);
const struct counter_system *rounds_system(const struct rounds *);
/* Does the search find the algorithm itself violate it, with these parameters? */
bool rounds_violate(struct rounds *, const int64_t *params);
/* Does the search, for a second at most, find it violated by few processes where `safe` says that
   it holds? The parameters do not include quotients. */
typedef bool rounds_safe_fn(void *context, const int64_t *params);
bool rounds_disagree(struct rounds *, rounds_safe_fn *safe, void *context);

#endif
