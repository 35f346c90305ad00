#include "symbolic/symbolic_check.h"

#include "symbolic/unrolling.h"

#include <string.h>

/* Moves the refusal of an unrolling to its answer. */
static void refuse(struct unrolling *s) {
  struct symbolic_answer *a = s->answer;
  if (unrolling_stopped(s)) {
    a->end = SYMBOLIC_STOPPED;
    return;
  }
  a->refused = true;
  a->refused_at = s->e.l.refusal.at;
  a->refusal = memory_strdup(s->e.l.refusal.reason);
}

static const struct {
  enum engine_id engine;
  void (*run)(struct unrolling *);
} engines[] = {[SYMBOLIC_BOUNDED] = {ENGINE_BMC, bmc_run},
               [SYMBOLIC_INDUCTION] = {ENGINE_INDUCTION, induction_run},
               [SYMBOLIC_SPACER] = {ENGINE_SPACER, spacer_run}};

static void run_engine(struct unrolling *s) {
  unrolling_check(s, engines[s->options->engine].engine);
  engines[s->options->engine].run(s);
}

void symbolic_check(struct model *m, const struct query *q, const struct symbolic_options *o,
                    struct symbolic_answer *a) {
  struct unrolling *s = memory_alloc(sizeof *s);
  jmp_buf refused;
  *a = (struct symbolic_answer){0};
  a->findings = memory_alloc((q->nproperties + (size_t)1) * sizeof *a->findings);
  a->proved = memory_alloc((q->nproperties + (size_t)1) * sizeof *a->proved);
  unrolling_init(s, m, q, o, a, true);
  s->e.l.refused = &refused;
  if (setjmp(refused))
    refuse(s);
  else
    run_engine(s);
  unrolling_release(s);
  memory_free(s);
}

void symbolic_answer_release(struct symbolic_answer *a, const struct query *q) {
  for (uint32_t i = 0; i < q->nproperties; i++)
    finding_release(&a->findings[i]);
  finding_release(&a->error);
  memory_free(a->findings);
  memory_free(a->proved);
  memory_free(a->why);
  memory_free(a->refusal);
  *a = (struct symbolic_answer){0};
}
