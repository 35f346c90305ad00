/* From a counter system to a threshold automaton of the same runs.

   Which counters are locations is found from the moves: a counter that a move takes one process from is one, and so is
   the counter that gets it. If several counters get one, those that are known to be locations decide; if none is, the
   first one is taken: every choice that fits all moves describes the same system. */
#include "export/counter_automaton.h"

#include "base/memory.h"
#include "param/counter_graph.h"
#include "symbolic/solver.h"

#include <string.h>

#define NO_COUNTER UINT32_MAX

struct automaton_maker {
  const struct counter_system *s;
  struct threshold_automaton *a;
  struct diags *diags;
  struct arena *arena;
};

/* A counter that the move changes by one: by +1 or by -1. */
static bool changes_by_one(const struct counter_move *m, uint32_t counter, bool adds) {
  const struct term *t = m->counters[counter];
  if (!t || (t->op != TERM_ADD && t->op != TERM_SUB))
    return false;
  bool first = t->kid[0]->op == TERM_COUNTER && t->kid[0]->index == counter && t->kid[1]->op == TERM_NUMBER;
  bool second =
      t->op == TERM_ADD && t->kid[1]->op == TERM_COUNTER && t->kid[1]->index == counter && t->kid[0]->op == TERM_NUMBER;
  if (!first && !second)
    return false;
  int64_t by = t->kid[first]->number;
  return by == ((t->op == TERM_ADD) == adds ? 1 : -1);
}

/* Does every move leave the counter as it is, or change it by one? */
static bool can_be_location(const struct automaton_maker *m, uint32_t counter) {
  for (uint32_t k = 0; k < m->s->nmoves; k++) {
    const struct counter_move *move = &m->s->moves[k];
    if (move->counters[counter] && !changes_by_one(move, counter, true) && !changes_by_one(move, counter, false))
      return false;
  }
  return true;
}

/* How many counters that can be locations (known: are) take or get a process by this move, and the first of them. */
static uint32_t count_ends(const struct automaton_maker *m, const struct counter_move *move, bool adds, bool known,
                           uint32_t *first) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < m->s->ncounters; i++)
    if (changes_by_one(move, i, adds) && (known ? m->a->is_location[i] : can_be_location(m, i)) && !n++)
      *first = i;
  return n;
}

/* Marks one end of the move, if none is marked yet and there is only one choice (any: the first one). */
static bool mark_end(struct automaton_maker *m, const struct counter_move *move, bool adds, bool any) {
  uint32_t end = NO_COUNTER;
  if (count_ends(m, move, adds, true, &end) > 0 || count_ends(m, move, !adds, false, &end) == 0)
    return false;
  uint32_t n = count_ends(m, move, adds, false, &end);
  if (n == 0 || (n > 1 && !any))
    return false;
  return m->a->is_location[end] = true;
}

static void find_locations(struct automaton_maker *m) {
  for (bool changed = true; changed;) {
    changed = false;
    for (int any = 0; any < 2 && !changed; any++)
      for (uint32_t k = 0; k < m->s->nmoves && !(any && changed); k++)
        for (int adds = 0; adds < 2; adds++)
          changed |= mark_end(m, &m->s->moves[k], adds, any);
  }
}

/* A location at which the guard wants a process. */
static uint32_t wanted_location(const struct automaton_maker *m, const struct term *t) {
  if (t->op == TERM_AND) {
    uint32_t found = wanted_location(m, t->kid[0]);
    return found == NO_COUNTER ? wanted_location(m, t->kid[1]) : found;
  }
  bool less = t->op == TERM_LT, number = t->kid[0] && t->kid[0]->op == TERM_NUMBER;
  if ((t->op != TERM_LE && !less) || !number || t->kid[0]->number != (less ? 0 : 1) || t->kid[1]->op != TERM_COUNTER)
    return NO_COUNTER;
  return m->a->is_location[t->kid[1]->index] ? t->kid[1]->index : NO_COUNTER;
}

static bool refuse_move(struct automaton_maker *m, const struct counter_move *move, const char *why) {
  diag_error(m->diags, E0903, move->at, "the move '%s' is no rule of a threshold automaton: %s", move->name, why);
  return false;
}

static bool make_rule(struct automaton_maker *m, const struct counter_move *move, struct ta_rule *r) {
  if (move->namounts > 0)
    return refuse_move(m, move, "it takes any number of processes at once");
  *r = (struct ta_rule){NO_COUNTER, NO_COUNTER, false, move->at};
  for (uint32_t i = 0; i < m->s->ncounters; i++) {
    if (!m->a->is_location[i] || !move->counters[i])
      continue;
    if (changes_by_one(move, i, false) && r->from == NO_COUNTER)
      r->from = i;
    else if (changes_by_one(move, i, true) && r->to == NO_COUNTER)
      r->to = i;
    else
      return refuse_move(m, move, "it takes more than one process");
  }
  if (r->from == NO_COUNTER && r->to == NO_COUNTER)
    r->from = r->to = wanted_location(m, move->guard);
  if (r->from == NO_COUNTER || r->to == NO_COUNTER)
    return refuse_move(m, move, "it does not move a process from one place to another");
  return true;
}

static struct ta_formula *formula(struct automaton_maker *m, enum ta_formula_op op, struct term *t,
                                  struct ta_formula *a, struct ta_formula *b) {
  struct ta_formula *f = arena_alloc(m->arena, sizeof *f);
  *f = (struct ta_formula){.op = op, .term = t, .kid = {a, b}};
  return f;
}

/* `unsafe p from a: b` is a -> []!b. */
static void add_specification(struct automaton_maker *m, const struct counter_property *p) {
  struct ta_formula *never =
      formula(m, TA_ALWAYS, NULL, formula(m, TA_NOT, NULL, formula(m, TA_STATE, p->unsafe, NULL, NULL), NULL), NULL);
  bool from = p->from && !(p->from->op == TERM_NUMBER && p->from->number);
  struct ta_specification *spec = &m->a->specifications[m->a->nspecifications++];
  *spec = (struct ta_specification){.name = p->name, .at = p->at, .text = p->text, .formula = never};
  if (from)
    spec->formula = formula(m, TA_IMPLIES, NULL, formula(m, TA_STATE, p->from, NULL, NULL), never);
}

/* Parameters of an automaton are natural numbers. Can one of them be negative here? */
static bool params_are_natural(struct automaton_maker *m, const volatile sig_atomic_t *stop) {
  struct text why = {0};
  const struct counter_property *any = &m->s->properties[0];
  struct counter_graph *g = counter_graph_unfold(m->s, any, false, stop, &why);
  bool ok = g != NULL;
  if (!ok)
    diag_error(m->diags, E1003, any->at, "too large to unfold: %s", text_or_empty(&why));
  text_release(&why);
  for (uint32_t i = 0; ok && i < g->nparams; i++) {
    struct solver *s = solver_new();
    solver_watch(s, stop);
    solver_variables(s, g->nvars);
    solver_add_any(s, g->conditions.at, g->conditions.n, NULL);
    solver_add_at_most(s, i, -1);
    ok = solver_check(s) == ANSWER_NO;
    if (!ok) {
      const struct counter_param *p = &m->s->params[g->param[i]];
      diag_error(m->diags, E0903, p->at,
                 "'%s' may be negative, and parameters of threshold automata are natural numbers", p->name);
      diag_help(m->diags, "say so: where %s >= 0", p->name);
    }
    solver_free(s);
  }
  counter_graph_free(g);
  return ok;
}

struct threshold_automaton *automaton_of_counters(const struct counter_system *s, const struct counter_property *only,
                                                  const volatile sig_atomic_t *stop, struct diags *diags) {
  struct counter_system *copy = memory_alloc(sizeof *copy);
  *copy = *s;
  arena_init(&copy->arena);
  struct threshold_automaton *a = arena_alloc(&copy->arena, sizeof *a);
  *a = (struct threshold_automaton){.system = copy};
  struct automaton_maker m = {.s = s, .a = a, .diags = diags, .arena = &copy->arena};
  a->is_location = arena_array(m.arena, s->ncounters + (size_t)1, sizeof *a->is_location);
  a->rules = arena_array(m.arena, s->nmoves + (size_t)1, sizeof *a->rules);
  a->specifications = arena_array(m.arena, s->nproperties + (size_t)1, sizeof *a->specifications);
  bool ok = s->ncontrols == 0;
  if (!ok) {
    diag_error(diags, E0903, s->controls[0].at, "the control '%s' cannot be written as a threshold automaton",
               s->controls[0].name);
    diag_help(diags, "--to horn, mcmt and smv can express it");
  }
  if (ok)
    find_locations(&m);
  for (uint32_t i = 0; i < s->nmoves && ok; i++)
    ok = make_rule(&m, &s->moves[i], &a->rules[a->nrules++]);
  for (uint32_t i = 0; i < s->nproperties && ok; i++) {
    if (only && only != &s->properties[i])
      continue;
    ok = !s->properties[i].run;
    if (ok)
      add_specification(&m, &s->properties[i]);
    else
      diag_error(diags, E0903, s->properties[i].at, "'%s' is about how runs end, which is not written",
                 s->properties[i].name);
  }
  ok = ok && params_are_natural(&m, stop);
  if (ok)
    return a;
  automaton_of_counters_free(a);
  return NULL;
}

void automaton_of_counters_free(struct threshold_automaton *a) {
  if (a)
    counter_system_free(a->system);
}
