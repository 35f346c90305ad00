/* Models of message handlers, for all values of their parameters: what is derived from them is a threshold automaton.
   A live property becomes a specification of it. */
#include "driver/prove_rounds.h"

#include "driver/context.h"
#include "lang/threshold_automaton.h"

#include <string.h>

/* Seconds for the question whether a property that holds says anything at all. */
static const double premise_seconds = 5;

static struct ta_formula *formula_of(struct arena *arena, const struct handler_formula *f) {
  static const enum ta_formula_op ops[] = {[LIVE_STATE] = TA_STATE,
                                           [LIVE_NOT] = TA_NOT,
                                           [LIVE_AND] = TA_AND,
                                           [LIVE_OR] = TA_OR,
                                           [LIVE_IMPLIES] = TA_IMPLIES,
                                           [LIVE_ALWAYS] = TA_ALWAYS,
                                           [LIVE_EVENTUALLY] = TA_EVENTUALLY};
  struct ta_formula *t = arena_alloc(arena, sizeof *t);
  *t = (struct ta_formula){.op = ops[f->op], .at = f->at, .term = f->term};
  for (int i = 0; i < 2; i++)
    t->kid[i] = f->kid[i] ? formula_of(arena, f->kid[i]) : NULL;
  return t;
}

/* The runs that violate the live property, and those that satisfy what it assumes. */
static bool make_runs(struct proof_attempt *a, const struct property *p) {
  struct counter_system *s = a->system;
  struct arena *arena = &s->arena;
  struct ta_specification spec = {.name = arena_strndup(arena, p->name, strlen(p->name)), .at = p->at, .text = ""};
  struct threshold_automaton automaton = {
      .system = s, .nrules = s->nmoves, .specifications = &spec, .nspecifications = 1};
  const struct handler_move *moves = handlers_moves(a->handlers);
  struct diags diags;
  spec.formula = formula_of(arena, handlers_live(a->handlers));
  automaton.is_location = arena_array(arena, s->ncounters + (size_t)1, sizeof *automaton.is_location);
  memset(automaton.is_location, 1, s->ncounters);
  automaton.rules = arena_array(arena, s->nmoves + (size_t)1, sizeof *automaton.rules);
  for (uint32_t i = 0; i < s->nmoves; i++)
    automaton.rules[i] = (struct ta_rule){moves[i].from, moves[i].to, false, s->moves[i].at};
  diags_init(&diags, &s->source);
  a->runs = threshold_automaton_specification(&automaton, 0, &diags);
  if (a->runs)
    a->premise = threshold_automaton_premise(&automaton, 0, false);
  if (!a->runs && diags.n)
    a->derivation.refused = arena_strndup(arena, diags.at[0].message, strlen(diags.at[0].message));
  a->derivation.at = a->runs ? (struct span){0, 0} : p->at;
  diags_release(&diags);
  return a->runs != NULL;
}

bool derive_handlers(const struct rounds_proof *p, struct proof_attempt *a, const struct round_shape *shape,
                     const struct query *q) {
  return handlers_derive(&a->derivation, &a->handlers, shape, p->interp, q, p->limits.interrupt) &&
         (!handlers_live(a->handlers) || make_runs(a, &p->model->properties[q->properties[0]]));
}

bool attempt_is_vacuous(const struct proof_attempt *a, const struct command_options *o,
                        const struct proof_limits *limits) {
  struct proof_limits left = *limits;
  struct proof proof;
  if (left.seconds > premise_seconds)
    left.seconds = premise_seconds;
  prove_property(a->premise, &a->premise->properties[0], o, &left, &proof);
  bool vacuous = proof.kind == ENGINE_SAFE;
  proof_release(&proof);
  return vacuous;
}
