/* k-induction (Sheeran, Singh, Stalmarck 2000): a property that holds in k consecutive states also holds in
   the next one. BMC covers the base case. The induction step is checked from every point of the schedule, for states
   that are constrained only by their types, by the limits on faults, and by being pairwise different. */
#include "symbolic/unrolling.h"

#include <string.h>

/* The claims of one joint induction: each may assume all of them. */
struct claims {
  bool *property; /* by property of the query */
  bool errors;    /* that there are no errors */
};

/* A path of k steps from an arbitrary state at a point. */
struct induction_window {
  struct unrolling s;
  const struct claims *claims;
  uint32_t k;
};

/* The condition that the last state, or the step to it, violates (or reaches) the i-th property, or that evaluating it
 * fails. */
static truth goal_of(struct induction_window *w, uint32_t i, const struct sym_state *before,
                     const struct sym_state *after) {
  struct verdict_terms goal = unrolling_goal(&w->s, i, before, after);
  return expr_or(&w->s.e.t.graph, goal.holds, goal.error);
}

static truth assume_claims(struct induction_window *w, const struct sym_state *before, const struct sym_state *after) {
  truth all = EXPR_TRUE;
  for (uint32_t i = 0; i < w->s.query->nproperties; i++)
    if (w->claims->property[i] || w->s.answer->proved[i])
      all = expr_and(&w->s.e.t.graph, all, expr_not(&w->s.e.t.graph, goal_of(w, i, before, after)));
  return all;
}

/* Only loop-free paths need to be considered: a run that returns to a state can be shortened. */
static void assert_different(struct unrolling *s, struct sym_state **states, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (states[i]->point == states[n]->point)
      unrolling_assert(s, expr_not(&s->e.t.graph, states_equal(&s->e, states[i], states[n])));
}

/* Drops the claims that do not follow. Returns false if the solver answers unknown. */
static bool check_last(struct induction_window *w, const struct sym_step *last, struct claims *left) {
  struct unrolling *s = &w->s;
  enum answer a = unrolling_ask(s, last->fails);
  if (a == ANSWER_UNKNOWN)
    return false;
  left->errors &= a == ANSWER_NO;
  unrolling_assert(s, last->allowed);
  for (uint32_t i = 0; i < s->query->nproperties; i++) {
    if (!left->property[i])
      continue;
    a = unrolling_ask(s, goal_of(w, i, last->before, last->after));
    if (a == ANSWER_UNKNOWN)
      return false;
    left->property[i] = a == ANSWER_NO;
  }
  return true;
}

static bool check_window(struct induction_window *w, uint32_t point, struct claims *left) {
  struct unrolling *s = &w->s;
  s->states = memory_alloc((w->k + (size_t)1) * sizeof *s->states);
  s->states[0] = encode_any_state(&s->e, point);
  unrolling_assert(s,
                   expr_and(&s->e.t.graph, state_invariant(&s->e, s->states[0]), assume_claims(w, NULL, s->states[0])));
  for (uint32_t i = 0; i < w->k; i++) {
    if (s->states[i]->point == POINT_END)
      return true; /* the run ends before k steps */
    struct sym_step *step = unrolling_step(s, s->states[i]);
    s->states[i + 1] = step->after;
    if (i + 1 == w->k)
      return check_last(w, step, left);
    unrolling_assert(s, expr_and(&s->e.t.graph, step->allowed, assume_claims(w, step->before, step->after)));
    assert_different(s, s->states, i + 1);
  }
  return true;
}

/* Checks the induction step from one point of the schedule. */
static bool check_point(struct unrolling *main, uint32_t k, uint32_t point, const struct claims *claims,
                        struct claims *left) {
  struct induction_window *w = memory_alloc(sizeof *w);
  jmp_buf refused;
  bool known;
  *w = (struct induction_window){.claims = claims, .k = k};
  unrolling_init(&w->s, main->model, main->query, main->options, main->answer, false);
  w->s.e.l.refused = &refused;
  if (setjmp(refused)) {
    main->e.l.refusal = w->s.e.l.refusal;
    unrolling_release(&w->s);
    memory_free(w);
    longjmp(*main->e.l.refused, 1);
  }
  known = check_window(w, point, left);
  unrolling_release(&w->s);
  memory_free(w);
  return known;
}

/* The largest subset of the claims that is inductive: drops claims that do not follow until the rest does (Houdini). */
static bool largest_inductive_subset(struct unrolling *s, uint32_t k, struct claims *claims) {
  uint32_t n = s->query->nproperties;
  size_t size = (n + (size_t)1) * sizeof(bool);
  struct claims left = {arena_array(&s->e.arena, n + (size_t)1, sizeof(bool)), claims->errors};
  uint32_t points = model_steps(s->model) ? 1 : s->model->npoints;
  bool known = true, shrunk = true;
  while (known && shrunk && claims->errors) {
    memcpy(left.property, claims->property, size);
    for (uint32_t point = 0; point < points && known; point++)
      known = check_point(s, k, point, claims, &left);
    shrunk = memcmp(left.property, claims->property, size) != 0;
    memcpy(claims->property, left.property, size);
    claims->errors = left.errors;
  }
  return known;
}

static bool try_step(struct unrolling *s, uint32_t k) {
  struct symbolic_answer *a = s->answer;
  uint32_t n = s->query->nproperties;
  struct claims claims = {arena_array(&s->e.arena, n + (size_t)1, sizeof(bool)), true};
  for (uint32_t i = 0; i < n; i++)
    claims.property[i] = !a->findings[i].found && !a->proved[i];
  if (!largest_inductive_subset(s, k, &claims))
    return false;
  for (uint32_t i = 0; i < n && claims.errors; i++)
    a->proved[i] |= claims.property[i];
  s->no_errors |= claims.errors;
  return true;
}

/* Returns whether the query is finished, and sets how it ended. */
static bool over(struct unrolling *s, bool more) {
  struct symbolic_answer *a = s->answer;
  if (a->error.found)
    a->end = SYMBOLIC_MODEL_ERROR;
  else if (!more || s->states[s->nsteps]->point == POINT_END)
    a->end = SYMBOLIC_EXHAUSTED;
  else if (unrolling_decided(s) || (s->query->nproperties == 0 && s->no_errors))
    a->end = s->query->nproperties ? SYMBOLIC_DECIDED : SYMBOLIC_EXHAUSTED;
  else
    return false;
  return true;
}

void induction_run(struct unrolling *s) {
  struct symbolic_answer *a = s->answer;
  bool known = bmc_start(s), more = known && a->complete > 0;
  for (uint32_t k = 1; known && !over(s, more); k++) {
    if (k > s->options->depth) {
      struct text why = {0};
      text_addf(&why, "not %u-inductive", s->options->depth);
      a->end = SYMBOLIC_GAVE_UP;
      a->why = memory_strdup(why.at);
      text_release(&why);
      return;
    }
    known = bmc_extend(s, &more);
    if (known && !over(s, more))
      known = try_step(s, k);
    if (s->options->progress)
      s->options->progress(s->options->context, k);
  }
  if (!known)
    unrolling_give_up(s);
}
