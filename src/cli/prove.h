/* What the ways to a proof have in common. */
#ifndef RONDO_CLI_PROVE_H
#define RONDO_CLI_PROVE_H

#include "cli/decide.h"
#include "cli/load.h"
#include "report/proof_report.h"

/* One property from its unfolding to the verdict. */
void prove_property(const struct counter_system *, const struct counter_property *,
                    const struct options *, const struct decide_limits *, struct proof *);
struct decide_limits prove_limits(const struct options *);
/* Says what came of them, writes certificates if wanted; the exit status. */
int prove_report(const struct options *, const struct proved *, uint32_t n);

/* prove_rounds.c */
int prove_rounds(const struct syntax *, const struct options *);

#endif
