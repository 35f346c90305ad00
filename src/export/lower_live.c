/* A liveness property: the formula of the violating runs (analysis/live_formula.h), and the assumptions about runs.
   Every assumption is satisfied by steps. A target format therefore needs no notion of fairness: a variable that counts
   through the satisfied assumptions is enough. */
#include "analysis/live_formula.h"
#include "export/lower.h"

#include <inttypes.h>
#include <string.h>

#define ASSUMPTIONS_MOST 200
#define NODES_MOST 2000000 /* limit for the expr_graph when choices are expanded */
#define MOVES 0            /* the first assumption: a run continues while a step is possible */

static uint32_t assumption_of(struct model_lowering *l, enum assumption_kind kind, const char *what, struct span at) {
  struct program_live *live = &l->program->live;
  for (size_t i = 0; i < live->assumptions.n; i++)
    if (!strcmp(live->assumptions.at[i].what, what))
      return (uint32_t)i;
  if (live->assumptions.n == ASSUMPTIONS_MOST)
    refuse(l, live->property->at, "its environment is fair to more than %d things: that is too much to write",
           ASSUMPTIONS_MOST);
  struct assumption a = {kind, what, at, EXPR_FALSE};
  vec_push(&live->assumptions, a);
  return (uint32_t)live->assumptions.n - 1;
}

void live_begin(struct model_lowering *l, uint32_t property, uint32_t environment) {
  struct program_live *live = &l->program->live;
  const struct property *p = &l->base.model->properties[property];
  struct live_formula form;
  if (l->max_rounds)
    refuse(l, p->at, "'%s' speaks of infinite runs, and --max-rounds ends them", p->name);
  if (p->almost_surely)
    refuse(l, p->at, "'almost surely' cannot be written in this format");
  live->property = p;
  live->name = property_name(l, p->name);
  live_formula_init(&form, l->base.model, property, environment);
  live->pool = form.pool;
  live->violated = form.violated;
  if (form.refused)
    refuse(l, p->at, "%s", form.refused);
  for (uint32_t i = 0; i < form.natoms; i++)
    vec_push(&live->atoms, NO_EXPR);
  l->live_atoms = form.atoms;
  assumption_of(l, ASSUME_AGAIN, model_steps(l->base.model) ? "a step is taken, if one can be" : "rounds go on",
                (struct span){0, 0});
}

/* --- steps --- */

/* Is the rule enabled for some choices? */
static expr_id for_some_choices(struct model_lowering *l, expr_id can) {
  struct expr_graph *c = l->base.graph;
  for (size_t i = l->rule->choices.n; i-- > 0;) {
    expr_id any = EXPR_FALSE;
    for (int64_t v = l->rule->choices.at[i].lo; v <= l->rule->choices.at[i].hi; v++) {
      any = expr_or(c, any, expr_substitute_choice(c, can, (uint32_t)i, v));
      if (c->nodes.n > NODES_MOST)
        refuse(l, l->rule->at, "whether this can be taken depends on too many choices to be written out");
    }
    can = any;
  }
  return can;
}

static void meet(struct model_lowering *l, uint32_t assumption, expr_id when) {
  if (!expr_is_constant(l->base.graph, when, 0))
    vec_push(&l->rule->satisfies, ((struct satisfied_assumption){assumption, when}));
}

/* Adds states in which the assumption is not idle. Until live_end, `idle` holds the negation of its final value. */
static void asked_where(struct model_lowering *l, uint32_t assumption, expr_id can) {
  struct assumption *a = &l->program->live.assumptions.at[assumption];
  a->idle = expr_or(l->base.graph, a->idle, can);
}

/* who: description of the process and the action. */
static void fair_to_messages(struct model_lowering *l, enum assumption_kind kind, const char *who,
                             const struct action *a, uint32_t sender, expr_id code, expr_id can, expr_id forged) {
  struct expr_graph *c = l->base.graph;
  const struct expr_node taken = *node_of(c, code);
  for (int64_t v = 0; v <= taken.hi; v++) {
    expr_id here = taken.expr_kind == EXPR_CHOICE ? for_some_choices(l, expr_substitute_choice(c, can, taken.index, v))
                                                  : for_some_choices(l, can);
    if (expr_is_constant(c, here, 0))
      continue;
    const char *what = arena_printf(l->base.arena, "%s takes %s %" PRId64 " from %s", who,
                                    l->base.model->messages[a->kind].name, v, process_name(l, sender));
    uint32_t k = assumption_of(l, kind, what, a->at);
    asked_where(l, k, here);
    meet(l, k, expr_and(c, expr_equal(c, code, expr_number(c, v)), expr_not(c, forged)));
  }
}

void live_action(struct model_lowering *l, uint32_t p, const struct action *a, uint32_t sender, expr_id code,
                 expr_id forged) {
  struct expr_graph *c = l->base.graph;
  const struct clause *fair = environment_fairness(l->program->environment);
  expr_id can = expr_and(c, l->possible, expr_not(c, forged));
  for (size_t i = 0; i < l->rule->guards.n; i++)
    can = expr_and(c, can, l->rule->guards.at[i]);
  expr_id here = for_some_choices(l, can);
  asked_where(l, MOVES, here);
  if (!fair)
    return;
  enum assumption_kind kind = fair->strong ? ASSUME_STRONG : ASSUME_AGAIN;
  const struct role *role = &l->base.model->roles[model_role_of(l->base.model, p)];
  const char *who = process_name(l, p);
  if (fair->fair_to != FAIR_PROCESSES) /* actions may have the same name */
    who = arena_printf(l->base.arena, "%s, action %td, %s", who, a - role->actions + 1, a->name);
  if (fair->fair_to == FAIR_MESSAGES && a->trigger == TRIGGER_ONE) {
    fair_to_messages(l, kind, who, a, sender, code, can, forged);
    return;
  }
  uint32_t k = assumption_of(l, kind, who, fair->fair_to == FAIR_PROCESSES ? fair->at : a->at);
  asked_where(l, k, here);
  meet(l, k, EXPR_TRUE);
}

/* --- rounds --- */

void live_clause(struct model_lowering *l, const struct clause *k, expr_id when) {
  const struct environment *env = l->program->environment;
  if (k->unit == EACH_PHASE || k->nrigid)
    refuse(l, k->at, "what is said of whole phases, or 'for some' process forever, cannot be written in this format");
  uint32_t number = (uint32_t)(k - env->clauses) + 1;
  enum assumption_kind kind = k->kind == CLAUSE_FINALLY ? ASSUME_FINALLY
                              : k->kind == CLAUSE_ONCE  ? ASSUME_ONCE
                                                        : ASSUME_AGAIN;
  meet(l, assumption_of(l, kind, arena_printf(l->base.arena, "clause %u of the environment", number), k->at), when);
}

/* --- begin and end --- */

void live_rule(struct model_lowering *l) { meet(l, MOVES, EXPR_TRUE); }

void live_end(struct model_lowering *l) {
  struct program_live *live = &l->program->live;
  struct expr_graph *c = l->base.graph;
  expr_id ended = EXPR_FALSE;
  if (!model_steps(l->base.model) && l->point_variable != UINT32_MAX)
    ended = expr_equal(c, variable_expr(l, l->point_variable), expr_number(c, l->base.model->npoints));
  for (size_t i = 0; i < live->assumptions.n; i++) {
    struct assumption *a = &live->assumptions.at[i];
    a->idle = model_steps(l->base.model) ? expr_not(c, a->idle) : ended;
  }
  for (size_t i = 0; i < live->atoms.n; i++) {
    begin_property(l, &l->now, NULL);
    live->atoms.at[i] = lower_truth(&l->scope, l->live_atoms[i]);
  }
}
