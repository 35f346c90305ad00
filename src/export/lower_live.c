/* A live property: which runs violate it (model/live.h), and what is assumed of runs. Every assumption is something that steps
   meet, so that a format needs no fairness of its own: a variable that counts them off is enough. */
#include "export/lower.h"
#include "model/live.h"

#include <inttypes.h>
#include <string.h>

#define ASSUMPTIONS_MOST 200
#define NODES_MOST 2000000 /* of the circuit, when choices are multiplied out */
#define MOVES 0            /* the first assumption: runs go on where they can */

static uint32_t assumption_of(struct lowering *l, enum assumption_kind kind, const char *what, struct span at) {
  struct program_live *live = &l->program->live;
  for (size_t i = 0; i < live->assumptions.n; i++)
    if (!strcmp(live->assumptions.at[i].what, what))
      return (uint32_t)i;
  if (live->assumptions.n == ASSUMPTIONS_MOST)
    refuse(l, live->property->at, "its environment is fair to more than %d things: that is too much to write", ASSUMPTIONS_MOST);
  struct assumption a = {kind, what, at, circuit_truth(l->circuit, false)};
  vec_push(&live->assumptions, a);
  return (uint32_t)live->assumptions.n - 1;
}

void live_begin(struct lowering *l, uint32_t property, uint32_t environment) {
  struct program_live *live = &l->program->live;
  const struct property *p = &l->model->properties[property];
  struct live_form form;
  if (l->max_rounds)
    refuse(l, p->at, "'%s' speaks of infinite runs, and --max-rounds ends them", p->name);
  if (p->almost_surely)
    refuse(l, p->at, "'almost surely' cannot be written in this format");
  live->property = p;
  live->name = property_name(l, p->name);
  live_form_make(&form, l->model, property, environment);
  live->pool = form.pool;
  live->violated = form.violated;
  if (form.refused)
    refuse(l, p->at, "%s", form.refused);
  for (uint32_t i = 0; i < form.natoms; i++)
    vec_push(&live->atoms, NO_WIRE);
  l->live_atoms = form.atoms;
  assumption_of(l, ASSUME_AGAIN, model_steps(l->model) ? "a step is taken, if one can be" : "rounds go on", (struct span){0, 0});
}

/* --- steps --- */

/* Can the rule be taken in a state, for some choices? */
static wire for_some_choices(struct lowering *l, wire can) {
  struct circuit *c = l->circuit;
  for (size_t i = l->rule->choices.n; i-- > 0;) {
    wire any = circuit_truth(c, false);
    for (int64_t v = l->rule->choices.at[i].lo; v <= l->rule->choices.at[i].hi; v++) {
      any = circuit_or(c, any, circuit_chosen(c, can, (uint32_t)i, v));
      if (c->nodes.n > NODES_MOST)
        refuse(l, l->rule->at, "whether this can be taken depends on too many choices to be written out");
    }
    can = any;
  }
  return can;
}

static void meet(struct lowering *l, uint32_t assumption, wire when) {
  if (!circuit_is(l->circuit, when, 0))
    vec_push(&l->rule->meets, ((struct meeting){assumption, when}));
}

/* Until live_end, `idle` is where it is not. */
static void asked_where(struct lowering *l, uint32_t assumption, wire can) {
  struct assumption *a = &l->program->live.assumptions.at[assumption];
  a->idle = circuit_or(l->circuit, a->idle, can);
}

/* who: the process and the action. */
static void fair_to_messages(struct lowering *l, enum assumption_kind kind, const char *who, const struct action *a, uint32_t sender,
                             wire code, wire can, wire forged) {
  struct circuit *c = l->circuit;
  const struct gate_node taken = *node_of(c, code);
  for (int64_t v = 0; v <= taken.hi; v++) {
    wire here = taken.gate == GATE_PARAM ? for_some_choices(l, circuit_chosen(c, can, taken.index, v)) : for_some_choices(l, can);
    if (circuit_is(c, here, 0))
      continue;
    const char *what = arena_printf(l->arena, "%s takes %s %" PRId64 " from %s", who, l->model->messages[a->kind].name, v,
                                    process_name(l, sender));
    uint32_t k = assumption_of(l, kind, what, a->at);
    asked_where(l, k, here);
    meet(l, k, circuit_and(c, circuit_equal(c, code, circuit_number(c, v)), circuit_not(c, forged)));
  }
}

void live_action(struct lowering *l, uint32_t p, const struct action *a, uint32_t sender, wire code, wire forged) {
  struct circuit *c = l->circuit;
  const struct clause *fair = environment_fairness(l->program->environment);
  wire can = circuit_and(c, l->possible, circuit_not(c, forged));
  for (size_t i = 0; i < l->rule->guards.n; i++)
    can = circuit_and(c, can, l->rule->guards.at[i]);
  wire here = for_some_choices(l, can);
  asked_where(l, MOVES, here);
  if (!fair)
    return;
  enum assumption_kind kind = fair->strong ? ASSUME_STRONG : ASSUME_AGAIN;
  const struct role *role = &l->model->roles[model_role_of(l->model, p)];
  const char *who = process_name(l, p);
  if (fair->fair_to != FAIR_PROCESSES) /* actions may have the same name */
    who = arena_printf(l->arena, "%s, action %td, %s", who, a - role->actions + 1, a->name);
  if (fair->fair_to == FAIR_MESSAGES && a->trigger == TRIGGER_ONE) {
    fair_to_messages(l, kind, who, a, sender, code, can, forged);
    return;
  }
  uint32_t k = assumption_of(l, kind, who, fair->fair_to == FAIR_PROCESSES ? fair->at : a->at);
  asked_where(l, k, here);
  meet(l, k, circuit_truth(c, true));
}

/* --- rounds --- */

void live_clause(struct lowering *l, const struct clause *k, wire when) {
  const struct environment *env = l->program->environment;
  if (k->unit == EACH_PHASE || k->nrigid)
    refuse(l, k->at, "what is said of whole phases, or 'for some' process for ever, cannot be written in this format");
  uint32_t number = (uint32_t)(k - env->clauses) + 1;
  enum assumption_kind kind = k->kind == CLAUSE_FINALLY ? ASSUME_FINALLY : k->kind == CLAUSE_ONCE ? ASSUME_ONCE : ASSUME_AGAIN;
  meet(l, assumption_of(l, kind, arena_printf(l->arena, "clause %u of the environment", number), k->at), when);
}

/* --- all of it --- */

void live_rule(struct lowering *l) { meet(l, MOVES, circuit_truth(l->circuit, true)); }

void live_end(struct lowering *l) {
  struct program_live *live = &l->program->live;
  struct circuit *c = l->circuit;
  wire ended = circuit_truth(c, false);
  if (!model_steps(l->model) && l->point_cell != UINT32_MAX)
    ended = circuit_equal(c, cell_wire(l, l->point_cell), circuit_number(c, l->model->npoints));
  for (size_t i = 0; i < live->assumptions.n; i++) {
    struct assumption *a = &live->assumptions.at[i];
    a->idle = model_steps(l->model) ? circuit_not(c, a->idle) : ended;
  }
  for (size_t i = 0; i < live->atoms.n; i++) {
    begin_property(l, &l->now, NULL);
    live->atoms.at[i] = lower_truth(l, l->live_atoms[i]);
  }
}
