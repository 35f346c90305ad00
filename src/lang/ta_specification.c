/* From a specification of a threshold automaton to a reachability problem.

   Runs. In an automaton without cycles (rules that change nothing do not count, nor do rules that use up something that
   never grows again) every run changes its state only finitely often, so it ends in a state that is repeated forever.
   On such runs `[]<>f` and `<>[]f` say the same: f holds in the last state, where every `[]` and `<>` can be left out.
   A formula is therefore violated if and only if there is a finite run whose states discharge the obligations of its
   negation, one after the other, and whose last state satisfies what is left of them. The obligations are those of a
   tableau (Gerth, Peled, Vardi, Wolper 1995); they become the control of the counter system, and the run is a run to an
   unsafe state.

   Automata with cycles: only if the negation has no `[]`. Then a finite run that satisfies it is all that is needed.

   The formulas have no next-step operator, so repeating a state makes no difference. This permits moves that only
   change the control: if all cycles among the obligations are loops of length one, rules need to be taken only where
   the obligations stay the same. */
#include "lang/ta_internal.h"

#include <inttypes.h>
#include <string.h>

enum { ATOMS_MAX = 24, ALTERNATIVES_MAX = 256, STAGES_MAX = 48, MOVES_MAX = 50000, FORMULA_SIZE_MAX = 4000 };

typedef uint32_t obligation_set; /* of the temporal subformulas */

struct alternative {
  struct term *now; /* NULL: true */
  obligation_set next;
  bool fulfils; /* something that was to happen eventually happens now */
};
struct alternative_list {
  VEC(struct alternative) at;
};

struct stage {
  obligation_set left;
  struct alternative_list steps;
};

/* How a rule changes a counter. */
struct counter_change {
  uint32_t counter;
  bool added; /* `by`, and not in another way */
  int64_t by;
};
struct rule_effect {
  VEC(struct counter_change) at; /* the counters that it changes */
};

struct ta_tableau {
  struct counter_checker check;
  struct diags *diags;
  const struct threshold_automaton *automaton;
  struct rule_effect *effects; /* by move of the automaton */
  struct arena *arena;
  VEC(const struct ta_formula *) atoms; /* the temporal subformulas, by number */
  VEC(struct stage) stages;
  struct alternative_list start;
  const struct ta_formula *always; /* some `[]` of the negated formula, or NULL */
  bool acyclic;
  size_t size;
  bool too_large;
};

/* ---- normal form ---- */

static struct ta_formula *node(struct ta_tableau *t, enum ta_formula_op op, struct span at, struct ta_formula *a,
                               struct ta_formula *b) {
  struct ta_formula *f = arena_alloc(t->arena, sizeof *f);
  *f = (struct ta_formula){.op = op, .at = at, .kid = {a, b}};
  if (t->size++ > FORMULA_SIZE_MAX)
    t->too_large = true;
  return f;
}

static struct ta_formula *state(struct ta_tableau *t, enum ta_formula_op op, struct span at, struct term *term) {
  struct ta_formula *f = node(t, op, at, NULL, NULL);
  f->term = term;
  return f;
}

static bool is_zero(const struct term *t) { return t->op == TERM_NUMBER && t->number == 0; }

/* ---- conditions that change at most once ---- */

/* Adds the coefficients of the counters in a linear term, times a number. False: it is not understood. */
static bool add_coefficients(const struct term *t, int64_t times, int64_t *out) {
  switch (t->op) {
  case TERM_NUMBER:
  case TERM_PARAM:
    return true;
  case TERM_COUNTER:
    return !__builtin_add_overflow(out[t->index], times, &out[t->index]);
  case TERM_ADD:
    return add_coefficients(t->kid[0], times, out) && add_coefficients(t->kid[1], times, out);
  case TERM_SUB:
    return times != INT64_MIN && add_coefficients(t->kid[0], times, out) && add_coefficients(t->kid[1], -times, out);
  case TERM_TIMES:
    return !__builtin_mul_overflow(times, t->kid[0]->number, &times) && add_coefficients(t->kid[1], times, out);
  case TERM_CONTROL:
  case TERM_AMOUNT:
  case TERM_IF:
  case TERM_NOT:
  case TERM_AND:
  case TERM_OR:
  case TERM_EQ:
  case TERM_LE:
  case TERM_LT:
    break;
  }
  return false;
}

/* How a rule changes a counter: by adding a constant. False: in another way. */
static bool added(const struct counter_move *m, uint32_t counter, int64_t *by) {
  const struct term *t = m->counters[counter];
  *by = 0;
  if (!t || (t->op == TERM_COUNTER && t->index == counter))
    return true;
  if ((t->op != TERM_ADD && t->op != TERM_SUB) || t->kid[0]->op != TERM_COUNTER || t->kid[0]->index != counter ||
      t->kid[1]->op != TERM_NUMBER || t->kid[1]->number == INT64_MIN)
    return false;
  *by = t->op == TERM_ADD ? t->kid[1]->number : -t->kid[1]->number;
  return true;
}

static void find_effects(struct ta_tableau *t) {
  const struct counter_system *s = t->automaton->system;
  t->effects = memory_alloc((s->nmoves + (size_t)1) * sizeof *t->effects);
  for (uint32_t m = 0; m < s->nmoves; m++) {
    struct rule_effect *e = &t->effects[m];
    for (uint32_t i = 0; i < s->ncounters; i++) {
      struct counter_change c = {.counter = i};
      c.added = added(&s->moves[m], i, &c.by);
      if (!c.added || c.by)
        vec_push(&e->at, c);
    }
  }
}

static void release_effects(struct ta_tableau *t) {
  for (uint32_t m = 0; m < t->automaton->system->nmoves; m++)
    vec_release(&t->effects[m].at);
  memory_free(t->effects);
}

/* By how much a rule changes a linear form over the counters. False: not by a constant, or by one that is too large. */
static bool form_change(const struct rule_effect *e, const int64_t *row, int64_t *sum) {
  int64_t part;
  *sum = 0;
  for (size_t i = 0; i < e->at.n; i++) {
    const struct counter_change *c = &e->at.at[i];
    if (row[c->counter] &&
        (!c->added || __builtin_mul_overflow(c->by, row[c->counter], &part) || __builtin_add_overflow(*sum, part, sum)))
      return false;
  }
  return true;
}

/* The coefficients of the counters in `right - left`, to be freed; NULL: they are not understood. */
static int64_t *difference(const struct ta_tableau *t, const struct term *left, const struct term *right) {
  size_t size = (t->automaton->system->ncounters + (size_t)1) * sizeof(int64_t);
  int64_t *row = memory_alloc(size);
  memset(row, 0, size);
  if (add_coefficients(right, 1, row) && add_coefficients(left, -1, row))
    return row;
  memory_free(row);
  return NULL;
}

/* Does no rule make `right - left` smaller (up), or larger? */
static bool goes_one_way(const struct ta_tableau *t, const struct term *left, const struct term *right, bool up) {
  int64_t *row = difference(t, left, right), sum;
  bool ok = row;
  for (uint32_t m = 0; m < t->automaton->system->nmoves && ok; m++)
    ok = form_change(&t->effects[m], row, &sum) && (up ? sum >= 0 : sum <= 0);
  memory_free(row);
  return ok;
}

/* Once true (for good), does it stay true? Or, once false, false? The cautious answer is no. */
static bool keeps(const struct ta_tableau *t, const struct term *of, bool truth) {
  switch (of->op) {
  case TERM_NUMBER:
    return true;
  case TERM_AND:
  case TERM_OR:
    return keeps(t, of->kid[0], truth) && keeps(t, of->kid[1], truth);
  case TERM_NOT:
    return keeps(t, of->kid[0], !truth);
  case TERM_LE:
  case TERM_LT:
    return goes_one_way(t, of->kid[0], of->kid[1], truth);
  case TERM_EQ: /* a sum of counters is zero: that it is at most zero */
    return is_zero(of->kid[1]) && counter_term_is_natural(of->kid[0]) && goes_one_way(t, of->kid[0], of->kid[1], truth);
  case TERM_PARAM:
  case TERM_COUNTER:
  case TERM_CONTROL:
  case TERM_AMOUNT:
  case TERM_ADD:
  case TERM_SUB:
  case TERM_TIMES:
  case TERM_IF:
    break;
  }
  return false;
}

/* `a or b`. Natural numbers of which one is at least one: so is their sum. */
static struct term *disjunction(struct ta_tableau *t, struct span at, struct term *a, struct term *b) {
  struct counter_checker *c = &t->check;
  bool ones = a->op == TERM_LE && b->op == TERM_LE && a->kid[0]->op == TERM_NUMBER && a->kid[0]->number == 1 &&
              b->kid[0]->op == TERM_NUMBER && b->kid[0]->number == 1 && counter_term_is_natural(a->kid[1]) &&
              counter_term_is_natural(b->kid[1]);
  if (!ones)
    return term_or(c, at, a, b);
  return term_relation(c, TERM_LE, at, a->kid[0], term_sum(c, at, a->kid[1], b->kid[1], false));
}

/* ---- normal form, continued ---- */

/* The negation of a condition. Counters are natural numbers, so one that is not zero is at least one. */
static struct term *negation(struct ta_tableau *t, struct term *of) {
  struct counter_checker *c = &t->check;
  switch (of->op) {
  case TERM_NOT:
    return of->kid[0];
  case TERM_AND:
    return disjunction(t, of->at, negation(t, of->kid[0]), negation(t, of->kid[1]));
  case TERM_OR:
    return term_and(c, of->at, negation(t, of->kid[0]), negation(t, of->kid[1]));
  case TERM_LE:
    return term_relation(c, TERM_LT, of->at, of->kid[1], of->kid[0]);
  case TERM_LT:
    return term_relation(c, TERM_LE, of->at, of->kid[1], of->kid[0]);
  case TERM_EQ:
    if (is_zero(of->kid[1]) && counter_term_is_natural(of->kid[0]))
      return term_relation(c, TERM_LE, of->at, term_number(c, of->at, 1), of->kid[0]);
    return term_not(c, of->at, of);
  case TERM_NUMBER:
  case TERM_PARAM:
  case TERM_COUNTER:
  case TERM_CONTROL:
  case TERM_AMOUNT:
  case TERM_ADD:
  case TERM_SUB:
  case TERM_TIMES:
  case TERM_IF:
    break;
  }
  return term_not(c, of->at, of);
}

/* The same condition, with negations at its comparisons. */
static struct term *positive(struct ta_tableau *t, struct term *of) {
  struct counter_checker *c = &t->check;
  if (of->op == TERM_NOT)
    return negation(t, positive(t, of->kid[0]));
  if (of->op == TERM_AND)
    return term_and(c, of->at, positive(t, of->kid[0]), positive(t, of->kid[1]));
  if (of->op == TERM_OR)
    return disjunction(t, of->at, positive(t, of->kid[0]), positive(t, of->kid[1]));
  return of;
}

/* Its value if the present state is repeated forever. */
static struct term *collapse(struct ta_tableau *t, const struct ta_formula *f) {
  switch (f->op) {
  case TA_STATE:
  case TA_FINALLY:
    return f->term;
  case TA_AND:
    return term_and(&t->check, f->at, collapse(t, f->kid[0]), collapse(t, f->kid[1]));
  case TA_OR:
    return term_or(&t->check, f->at, collapse(t, f->kid[0]), collapse(t, f->kid[1]));
  case TA_ALWAYS:
  case TA_EVENTUALLY:
    return collapse(t, f->kid[0]);
  case TA_NOT:
  case TA_IMPLIES:
    break; /* not in a normal form */
  }
  t->too_large = true;
  return term_number(&t->check, f->at, 1);
}

static struct ta_formula *both(struct ta_tableau *t, struct span at, struct ta_formula *a, struct ta_formula *b) {
  if (a->op == b->op && (a->op == TA_STATE || a->op == TA_FINALLY))
    return state(t, a->op, at, term_and(&t->check, at, a->term, b->term));
  return node(t, TA_AND, at, a, b);
}

static struct ta_formula *either(struct ta_tableau *t, struct span at, struct ta_formula *a, struct ta_formula *b) {
  if (a->op == b->op && (a->op == TA_STATE || a->op == TA_FINALLY))
    return state(t, a->op, at, term_or(&t->check, at, a->term, b->term));
  return node(t, TA_OR, at, a, b);
}

/* `[]f` distributes over conjunctions, `<>f` over disjunctions. What is said of the last state can be said anywhere. */
static struct ta_formula *temporal(struct ta_tableau *t, bool always, struct span at, struct ta_formula *f) {
  enum ta_formula_op same = always ? TA_ALWAYS : TA_EVENTUALLY, dual = always ? TA_EVENTUALLY : TA_ALWAYS;
  enum ta_formula_op splits = always ? TA_AND : TA_OR, joins = always ? TA_OR : TA_AND;
  if (f->op == TA_FINALLY || f->op == same || t->too_large)
    return f;
  if (f->op == TA_STATE && t->acyclic && keeps(t, f->term, !always))
    return state(t, TA_FINALLY, at, f->term);
  if (f->op == dual)
    return state(t, TA_FINALLY, at, collapse(t, f));
  if (f->op == splits) {
    struct ta_formula *a = temporal(t, always, at, f->kid[0]), *b = temporal(t, always, at, f->kid[1]);
    return always ? both(t, at, a, b) : either(t, at, a, b);
  }
  for (int i = 0; f->op == joins && i < 2; i++)
    if (f->kid[i]->op == TA_FINALLY) {
      struct ta_formula *rest = temporal(t, always, at, f->kid[1 - i]);
      return always ? either(t, at, f->kid[i], rest) : both(t, at, f->kid[i], rest);
    }
  return node(t, same, at, f, NULL);
}

static struct ta_formula *normal(struct ta_tableau *t, const struct ta_formula *f, bool negated) {
  if (t->too_large)
    return state(t, TA_STATE, f->at, term_number(&t->check, f->at, 1));
  switch (f->op) {
  case TA_STATE:
    return state(t, TA_STATE, f->at, negated ? negation(t, positive(t, f->term)) : positive(t, f->term));
  case TA_FINALLY:
    break; /* not in the text */
  case TA_NOT:
    return normal(t, f->kid[0], !negated);
  case TA_AND:
  case TA_OR:
  case TA_IMPLIES: {
    struct ta_formula *a = normal(t, f->kid[0], f->op == TA_IMPLIES ? !negated : negated);
    struct ta_formula *b = normal(t, f->kid[1], negated);
    return (f->op == TA_AND) != negated ? both(t, f->at, a, b) : either(t, f->at, a, b);
  }
  case TA_ALWAYS:
  case TA_EVENTUALLY:
    return temporal(t, (f->op == TA_ALWAYS) != negated, f->at, normal(t, f->kid[0], negated));
  }
  t->too_large = true;
  return state(t, TA_STATE, f->at, term_number(&t->check, f->at, 1));
}

/* A `[]` of the formula, or of its negation, once negations are moved inwards. */
static const struct ta_formula *find_always(const struct ta_formula *f, bool negated) {
  if (f->op == (negated ? TA_EVENTUALLY : TA_ALWAYS))
    return f;
  bool turns = f->op == TA_NOT || f->op == TA_IMPLIES;
  const struct ta_formula *found = f->kid[0] ? find_always(f->kid[0], turns ? !negated : negated) : NULL;
  return found || !f->kid[1] ? found : find_always(f->kid[1], negated);
}

/* ---- obligations ---- */

static obligation_set atom(struct ta_tableau *t, const struct ta_formula *f) {
  for (size_t i = 0; i < t->atoms.n; i++)
    if (t->atoms.at[i] == f)
      return (obligation_set)1 << i;
  if (t->atoms.n == ATOMS_MAX) {
    t->too_large = true;
    return 0;
  }
  vec_push(&t->atoms, f);
  return (obligation_set)1 << (t->atoms.n - 1);
}

static void add_alternative(struct ta_tableau *t, struct alternative_list *all, struct alternative a) {
  if (a.now && is_zero(a.now))
    return;
  for (size_t i = 0; i < all->at.n; i++)
    if (all->at.at[i].next == a.next && all->at.at[i].now == a.now && all->at.at[i].fulfils == a.fulfils)
      return;
  if (all->at.n == ALTERNATIVES_MAX)
    t->too_large = true;
  else
    vec_push(&all->at, a);
}

static void product(struct ta_tableau *t, struct alternative_list *a, const struct alternative_list *b) {
  struct alternative_list out = {0};
  for (size_t i = 0; i < a->at.n && !t->too_large; i++)
    for (size_t k = 0; k < b->at.n && !t->too_large; k++) {
      const struct alternative *x = &a->at.at[i], *y = &b->at.at[k];
      struct term *now = term_and(&t->check, (struct span){0, 0}, x->now, y->now);
      add_alternative(t, &out, (struct alternative){now, x->next | y->next, x->fulfils || y->fulfils});
    }
  vec_release(&a->at);
  *a = out;
}

/* The ways to satisfy the formula from the present state on. */
static void expand(struct ta_tableau *t, const struct ta_formula *f, struct alternative_list *out) {
  struct alternative_list other = {0};
  if (t->too_large)
    return;
  switch (f->op) {
  case TA_STATE:
    add_alternative(t, out,
                    (struct alternative){f->term->op == TERM_NUMBER && f->term->number ? NULL : f->term, 0, false});
    return;
  case TA_FINALLY:
    add_alternative(t, out, (struct alternative){NULL, atom(t, f), false});
    return;
  case TA_AND:
    expand(t, f->kid[0], out);
    expand(t, f->kid[1], &other);
    product(t, out, &other);
    break;
  case TA_OR:
    expand(t, f->kid[0], out);
    expand(t, f->kid[1], &other);
    for (size_t i = 0; i < other.at.n; i++)
      add_alternative(t, out, other.at.at[i]);
    break;
  case TA_ALWAYS:
    expand(t, f->kid[0], out);
    add_alternative(t, &other, (struct alternative){NULL, atom(t, f), false});
    product(t, out, &other);
    break;
  case TA_EVENTUALLY:
    add_alternative(t, out, (struct alternative){NULL, atom(t, f), false});
    expand(t, f->kid[0], &other);
    for (size_t i = 0; i < other.at.n; i++) {
      other.at.at[i].fulfils = true;
      add_alternative(t, out, other.at.at[i]);
    }
    break;
  case TA_NOT:
  case TA_IMPLIES:
    t->too_large = true; /* not in a normal form */
    break;
  }
  vec_release(&other.at);
}

static uint32_t stage_of(struct ta_tableau *t, obligation_set left) {
  for (uint32_t i = 0; i < t->stages.n; i++)
    if (t->stages.at[i].left == left)
      return i;
  if (t->stages.n == STAGES_MAX) {
    t->too_large = true;
    return 0;
  }
  vec_push(&t->stages, (struct stage){.left = left});
  return (uint32_t)t->stages.n - 1;
}

/* The stages that can be reached. In the beginning nothing needs to be fulfilled: it can be postponed, and the first
   state be repeated. Nor does a step that leaves no obligation: its state satisfies all of them for good. */
static void build(struct ta_tableau *t, const struct ta_formula *root) {
  struct alternative_list all = {0};
  expand(t, root, &all);
  for (size_t i = 0; i < all.at.n && !t->too_large; i++)
    if (!all.at.at[i].fulfils) {
      add_alternative(t, &t->start, all.at.at[i]);
      stage_of(t, all.at.at[i].next);
    }
  vec_release(&all.at);
  for (uint32_t i = 0; i < t->stages.n && !t->too_large; i++) {
    struct alternative_list steps = {0}, one = {0};
    add_alternative(t, &steps, (struct alternative){NULL, 0, false});
    obligation_set left = t->stages.at[i].left;
    for (size_t k = 0; k < t->atoms.n && !t->too_large; k++)
      if (left >> k & 1) {
        expand(t, t->atoms.at[k], &one);
        product(t, &steps, &one);
        vec_release(&one.at);
      }
    for (size_t k = 0; k < steps.at.n && !t->too_large; k++)
      if (steps.at.at[k].next)
        stage_of(t, steps.at.at[k].next);
    t->stages.at[i].steps = steps;
  }
}

/* Are all cycles among the stages loops of length one? */
static bool is_weak(const struct ta_tableau *t) {
  uint32_t before[STAGES_MAX] = {0}; /* stages that have not been removed and lead here */
  bool removed[STAGES_MAX] = {0};
  for (size_t left = t->stages.n; left > 0; left--) {
    memset(before, 0, sizeof before);
    for (uint32_t i = 0; i < t->stages.n; i++)
      for (size_t k = 0; !removed[i] && k < t->stages.at[i].steps.at.n; k++) {
        obligation_set next = t->stages.at[i].steps.at.at[k].next;
        for (uint32_t j = 0; j < t->stages.n; j++)
          before[j] += j != i && next && t->stages.at[j].left == next;
      }
    uint32_t free = UINT32_MAX;
    for (uint32_t i = 0; i < t->stages.n; i++)
      if (!removed[i] && !before[i])
        free = i;
    if (free == UINT32_MAX)
      return false;
    removed[free] = true;
  }
  return true;
}

/* ---- the system ---- */

static struct term *at_stage(struct ta_tableau *t, struct span at, uint32_t stage) {
  if (t->stages.n == 1)
    return term_number(&t->check, at, 1);
  return term_relation(&t->check, TERM_EQ, at, term_leaf(&t->check, TERM_CONTROL, at, 0),
                       term_number(&t->check, at, stage));
}

static struct counter_move copied(struct ta_tableau *t, const struct counter_move *m) {
  struct counter_move out = *m;
  out.controls = arena_array(t->arena, 1, sizeof *out.controls);
  return out;
}

struct move_list {
  VEC(struct counter_move) at;
};

/* A move (a rule, or NULL: only the control changes) at a stage, with the condition `now`, to the next stage. */
static void add_move(struct ta_tableau *t, struct move_list *all, const struct counter_move *rule, struct span at,
                     uint32_t from, const struct alternative *step) {
  struct counter_move m = {.name = "observe", .at = at};
  uint32_t to = stage_of(t, step->next);
  if (rule) {
    m = copied(t, rule);
  } else {
    m.counters = arena_array(t->arena, t->check.s->ncounters + (size_t)1, sizeof *m.counters);
    m.controls = arena_array(t->arena, 1, sizeof *m.controls);
    m.amounts = arena_array(t->arena, 1, sizeof *m.amounts);
    m.guard = NULL;
  }
  struct term *here = at_stage(t, at, from);
  m.guard = term_and(&t->check, at, term_and(&t->check, at, here, m.guard), step->now);
  if (t->stages.n > 1 && to != from)
    m.controls[0] = term_number(&t->check, at, to);
  if (all->at.n == MOVES_MAX)
    t->too_large = true;
  else
    vec_push(&all->at, m);
}

static void make_moves(struct ta_tableau *t, struct span at) {
  struct counter_system *s = t->check.s;
  struct move_list all = {0};
  bool weak = is_weak(t);
  for (uint32_t i = 0; i < t->stages.n; i++) {
    const struct stage *stage = &t->stages.at[i];
    for (size_t k = 0; k < stage->steps.at.n && !t->too_large; k++) {
      const struct alternative *step = &stage->steps.at.at[k];
      bool stays = step->next == stage->left;
      if (!step->next)
        continue;
      if (weak && !stays) {
        add_move(t, &all, NULL, at, i, step);
        continue;
      }
      for (uint32_t m = 0; m < t->automaton->system->nmoves && !t->too_large; m++)
        add_move(t, &all, &t->automaton->system->moves[m], t->automaton->system->moves[m].at, i, step);
    }
  }
  s->moves = arena_copy(t->arena, all.at.at, all.at.n * sizeof *all.at.at);
  s->nmoves = (uint32_t)all.at.n;
  vec_release(&all.at);
}

/* A name that the file does not use. */
static const char *control_name(struct ta_tableau *t) {
  const struct counter_system *s = t->automaton->system;
  const char *name = "stage";
  for (bool used = true; used;) {
    used = false;
    for (uint32_t i = 0; i < s->ncounters; i++)
      used |= !strcmp(s->counters[i].name, name);
    for (uint32_t i = 0; i < s->nparams; i++)
      used |= !strcmp(s->params[i].name, name);
    if (used)
      name = arena_printf(t->arena, "%s_", name);
  }
  return name;
}

static void make_system(struct ta_tableau *t, const struct ta_specification *spec) {
  struct counter_system *s = t->check.s;
  struct counter_checker *c = &t->check;
  struct counter_property *p = arena_alloc(t->arena, sizeof *p);
  *p = (struct counter_property){.name = spec->name, .at = spec->at, .text = spec->text, .run = t->always != NULL};
  p->from = term_number(c, spec->at, 0);
  p->unsafe = term_number(c, spec->at, 0);
  for (size_t i = 0; i < t->start.at.n; i++) {
    const struct alternative *a = &t->start.at.at[i];
    struct term *here = term_and(c, spec->at, at_stage(t, spec->at, stage_of(t, a->next)), a->now);
    p->from = term_or(c, spec->at, p->from, here);
  }
  for (uint32_t i = 0; i < t->stages.n; i++) {
    struct term *here = at_stage(t, spec->at, i);
    for (size_t k = 0; k < t->atoms.n; k++)
      if (t->stages.at[i].left >> k & 1)
        here = term_and(c, spec->at, here, collapse(t, t->atoms.at[k]));
    p->unsafe = term_or(c, spec->at, p->unsafe, here);
  }
  if (t->stages.n > 1) {
    s->ncontrols = 1;
    s->controls[0] = (struct control){control_name(t), spec->at, CONTROL_NUMBERS, 0, (int64_t)t->stages.n - 1, NULL};
    struct term *stage = term_leaf(c, TERM_CONTROL, spec->at, 0);
    struct term *range =
        term_and(c, spec->at, term_relation(c, TERM_LE, spec->at, term_number(c, spec->at, 0), stage),
                 term_relation(c, TERM_LE, spec->at, stage, term_number(c, spec->at, s->controls[0].high)));
    s->start = term_and(c, spec->at, range, s->start);
  }
  s->properties = p;
  s->nproperties = 1;
  make_moves(t, spec->at);
}

/* Does the guard need a quantity that each such step makes smaller, and none of the moves larger? `right - left` is not
   negative whenever the rule is taken. */
static bool uses_up(const struct ta_tableau *t, const struct rule_effect *e, const struct term *guard,
                    const bool *moves) {
  if (guard->op == TERM_AND)
    return uses_up(t, e, guard->kid[0], moves) || uses_up(t, e, guard->kid[1], moves);
  if (guard->op != TERM_LE && guard->op != TERM_LT)
    return false;
  int64_t *row = difference(t, guard->kid[0], guard->kid[1]), sum;
  bool ok = row && form_change(e, row, &sum) && sum < 0;
  for (uint32_t m = 0; m < t->automaton->system->nmoves && ok; m++)
    ok = !moves[m] || (form_change(&t->effects[m], row, &sum) && sum <= 0);
  memory_free(row);
  return ok;
}

/* Keeps the rules that lie on a cycle of kept rules. */
static bool drop_acyclic(const struct threshold_automaton *a, bool *kept) {
  uint32_t n = a->system->ncounters;
  bool *removed = memory_alloc((n + (size_t)1) * sizeof *removed), *seen = memory_alloc((n + (size_t)1) * sizeof *seen);
  for (int way = 0; way < 2; way++) /* removes locations that no other one leads to, then those that lead to none */
    for (bool changed = true; changed;) {
      changed = false;
      memset(seen, 0, n * sizeof *seen);
      for (uint32_t i = 0; i < a->nrules; i++)
        if (kept[i] && !removed[way ? a->rules[i].to : a->rules[i].from])
          seen[way ? a->rules[i].from : a->rules[i].to] = true;
      for (uint32_t i = 0; i < n; i++)
        if (!removed[i] && !seen[i])
          changed = removed[i] = true;
    }
  bool dropped = false;
  for (uint32_t i = 0; i < a->nrules; i++)
    if (kept[i] && (removed[a->rules[i].from] || removed[a->rules[i].to])) {
      kept[i] = false;
      dropped = true;
    }
  memory_free(removed);
  memory_free(seen);
  return dropped;
}

/* A rule that may be taken infinitely often; NULL: there is none, so every run comes to an end. Rules that change
   nothing do not count. A rule cannot be taken infinitely often if it is on no cycle of such rules, or uses something
   up that no such rule restores (`ncrashed < F` in the guard, and it increments ncrashed). */
static const struct ta_rule *lasting_rule(const struct ta_tableau *t) {
  const struct threshold_automaton *a = t->automaton;
  const struct counter_system *s = a->system;
  const struct ta_rule *found = NULL;
  bool *lasting = memory_alloc((a->nrules + (size_t)1) * sizeof *lasting),
       *moves = memory_alloc((s->nmoves + (size_t)1) * sizeof *moves);
  for (uint32_t i = 0; i < a->nrules; i++)
    lasting[i] = !a->rules[i].idle;
  for (bool changed = true; changed;) {
    changed = drop_acyclic(a, lasting);
    for (uint32_t i = 0, move = 0; i < a->nrules; i++)
      if (!a->rules[i].idle)
        moves[move++] = lasting[i];
    for (uint32_t i = 0, move = 0; i < a->nrules; i++) {
      if (a->rules[i].idle)
        continue;
      if (lasting[i] && uses_up(t, &t->effects[move], s->moves[move].guard, moves)) {
        lasting[i] = false;
        changed = true;
      }
      move++;
    }
  }
  for (uint32_t i = 0; i < a->nrules && !found; i++)
    if (lasting[i])
      found = &a->rules[i];
  memory_free(lasting);
  memory_free(moves);
  return found;
}

static void refuse(struct ta_tableau *t, const struct ta_specification *spec, const struct ta_rule *cycle) {
  uint32_t line;
  if (!t->diags)
    return;
  if (!cycle) {
    diag_warning(t->diags, W0109, spec->at, "the specification '%s' is too large", spec->name);
    diag_help(t->diags, "it has too many temporal operators, or too many cases");
    return;
  }
  line = source_line_number(&t->automaton->system->source, cycle->at);
  diag_warning(t->diags, W0109, t->always->at, "'%s' depends on how runs end, and this automaton has a cycle",
               spec->name);
  diag_help(t->diags, "the rule at line %" PRIu32 " lies on it; without cycles every run comes to an end", line);
}

static struct counter_system *system_for(const struct threshold_automaton *a, const struct ta_specification *spec,
                                         const struct ta_formula *formula, bool negated, bool stopping,
                                         struct diags *diags) {
  struct counter_system *s = memory_alloc(sizeof *s);
  struct diags none;
  *s = *a->system;
  arena_init(&s->arena);
  diags_init(&none, &a->system->source);
  struct ta_tableau t = {.check = {.s = s, .diags = &none}, .diags = diags, .automaton = a, .arena = &s->arena};
  s->controls = arena_array(&s->arena, 1, sizeof *s->controls);
  find_effects(&t);
  const struct ta_rule *cycle = lasting_rule(&t);
  t.acyclic = !cycle || stopping;
  t.always = find_always(formula, negated);
  if (!t.always || stopping)
    cycle = NULL;
  if (!cycle) {
    const struct ta_formula *root = normal(&t, formula, negated);
    if (!t.too_large)
      build(&t, root);
  }
  if (!cycle && !t.too_large)
    make_system(&t, spec);
  bool ok = !cycle && !t.too_large && !none.errors;
  if (!ok)
    refuse(&t, spec, cycle);
  for (size_t i = 0; i < t.stages.n; i++)
    vec_release(&t.stages.at[i].steps.at);
  vec_release(&t.stages);
  release_effects(&t);
  vec_release(&t.atoms);
  vec_release(&t.start.at);
  diags_release(&none);
  if (ok)
    return s;
  counter_system_free(s);
  return NULL;
}

struct counter_system *threshold_automaton_specification(const struct threshold_automaton *a, uint32_t index,
                                                         struct diags *diags) {
  const struct ta_specification *spec = &a->specifications[index];
  return system_for(a, spec, spec->formula, true, false, diags);
}

struct counter_system *threshold_automaton_stopping_runs(const struct threshold_automaton *a, uint32_t index) {
  const struct ta_specification *spec = &a->specifications[index];
  return system_for(a, spec, spec->formula, true, true, NULL);
}

/* What must happen for the specification to say anything: of `a -> b`, a and what b needs; of `[]b`, that what b needs
   happens at some time. NULL: only that there is a run. */
static struct ta_formula *premise(struct arena *arena, struct ta_formula *f) {
  struct ta_formula *inner = f->op == TA_IMPLIES  ? premise(arena, f->kid[1])
                             : f->op == TA_ALWAYS ? premise(arena, f->kid[0])
                                                  : NULL;
  if (f->op == TA_IMPLIES && !inner)
    return f->kid[0];
  if (!inner)
    return NULL;
  struct ta_formula *out = arena_alloc(arena, sizeof *out);
  *out = f->op == TA_IMPLIES ? (struct ta_formula){TA_AND, f->at, NULL, {f->kid[0], inner}}
                             : (struct ta_formula){TA_EVENTUALLY, f->at, NULL, {inner, NULL}};
  return out;
}

struct counter_system *threshold_automaton_premise(const struct threshold_automaton *a, uint32_t index, bool any) {
  const struct ta_specification *spec = &a->specifications[index];
  struct ta_formula *f = any ? NULL : premise(&a->system->arena, spec->formula);
  if (!f) {
    struct term *one = arena_alloc(&a->system->arena, sizeof *one);
    *one = (struct term){.op = TERM_NUMBER, .at = spec->at, .number = 1};
    f = arena_alloc(&a->system->arena, sizeof *f);
    *f = (struct ta_formula){.op = TA_STATE, .at = spec->at, .term = one};
  }
  return system_for(a, spec, f, false, false, NULL);
}
