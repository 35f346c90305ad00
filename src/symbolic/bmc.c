/* Bounded model checking (Biere, Cimatti, Clarke, Zhu 1999): unrolls round by round and asks the solver for
   violations after each round. */
#include "symbolic/unrolling.h"

static void add_step(struct unrolling *s, struct sym_step *step) {
  s->steps = memory_resize_array(s->steps, s->nsteps + (size_t)1, sizeof *s->steps);
  s->states = memory_resize_array(s->states, s->nsteps + (size_t)2, sizeof *s->states);
  s->steps[s->nsteps++] = step;
  s->states[s->nsteps] = step->after;
}

bool bmc_start(struct unrolling *s) {
  struct symbolic_answer *a = s->answer;
  truth allowed, error;
  struct sym_state *start = encode_start(&s->e, &allowed, &error);
  s->states = memory_alloc(sizeof *s->states);
  s->states[0] = start;
  enum answer fails = unrolling_ask(s, error);
  if (fails == ANSWER_UNKNOWN)
    return false;
  if (fails == ANSWER_YES) {
    a->error = (struct symbolic_finding){.found = true, .at_start = true, .error = true, .property = UINT32_MAX};
    return true;
  }
  unrolling_assert(s, expr_and(&s->e.t.graph, allowed, encode_representative(&s->e, start, s->options->licences)));
  enum answer any = unrolling_ask(s, EXPR_TRUE);
  if (any == ANSWER_NO)
    a->end = SYMBOLIC_EXHAUSTED; /* no initial state */
  if (any != ANSWER_YES)
    return any == ANSWER_NO;
  if (!unrolling_check_layer(s, NULL, start))
    return false;
  a->complete = 1;
  return true;
}

bool bmc_extend(struct unrolling *s, bool *more) {
  struct sym_state *from = s->states[s->nsteps];
  struct symbolic_answer *a = s->answer;
  struct sym_step *step = unrolling_step(s, from);
  *more = false;
  add_step(s, step);
  if (!unrolling_check_errors(s, step))
    return false;
  unrolling_assert(s, step->allowed);
  enum answer any = unrolling_ask(s, EXPR_TRUE);
  if (any == ANSWER_UNKNOWN)
    return false;
  *more = any == ANSWER_YES;
  if (*more && !unrolling_check_layer(s, step, step->after))
    return false;
  if (*more || a->error.found)
    a->complete = s->nsteps + 1;
  a->depth = *more ? s->nsteps : s->nsteps - 1;
  return true;
}

/* Returns whether the query is finished, and sets how it ended. */
static bool over(struct unrolling *s, bool more) {
  struct symbolic_answer *a = s->answer;
  if (a->error.found)
    a->end = SYMBOLIC_MODEL_ERROR;
  else if (unrolling_decided(s))
    a->end = SYMBOLIC_DECIDED;
  else if (!more || s->states[s->nsteps]->point == POINT_END)
    a->end = SYMBOLIC_EXHAUSTED;
  else if (s->nsteps >= s->options->depth)
    a->end = SYMBOLIC_CUT;
  else
    return false;
  return true;
}

bool bmc_until_decided(struct unrolling *s) {
  bool known = bmc_start(s), more = known && s->answer->complete > 0;
  while (known && !over(s, more)) {
    known = bmc_extend(s, &more);
    if (s->options->progress)
      s->options->progress(s->options->context, s->nsteps);
  }
  return known;
}

void bmc_run(struct unrolling *s) {
  if (!bmc_until_decided(s))
    unrolling_give_up(s);
}
