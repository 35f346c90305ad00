/* The product of a derived system with the stages of a live property: for each kind of round and each stage from which
   such a round leads on, moves of their own. */
#include "param/derive_internal.h"

#include "analysis/dataflow.h"
#include "base/memory.h"

#include <ctype.h>
#include <string.h>

static struct term *at_stage(struct derivation_builder *d, uint32_t stage) {
  return make_relation(d, TERM_EQ, make_leaf(d, TERM_CONTROL, d->d->stage), make_number(d, stage));
}

/* The predicates of the rules that apply to the round; for memory_free. */
static struct liveness_predicate *predicates_at(const struct derivation_builder *d, const struct liveness_rules *r,
                                                uint32_t point, uint32_t *n) {
  struct liveness_predicate *all = memory_alloc((r->n + (size_t)1) * sizeof *all);
  *n = 0;
  for (uint32_t i = 0; i < r->n; i++)
    if (liveness_predicate_applies(d->m, &r->predicates[i], point))
      all[(*n)++] = r->predicates[i];
  return all;
}

/* A kind of round: the rules, or NO_RULES for rounds without further conditions. Good rounds, and rounds that count,
   are exact: all parts of a process change in one move. In other rounds some parts may change in moves of their own, or
   not at all, as in proofs of safety. */
#define NO_RULES UINT32_MAX
struct round_kind {
  uint32_t rules, coin; /* coin: as interpreter.fixed_coin */
  bool exact;
};

static struct round_kind kind_of(const struct derivation_builder *d, const struct liveness_edge *e, uint32_t point) {
  uint32_t n;
  const char *values[COIN_VALUES_MAX];
  bool coins = e->coin && liveness_coin_values(d->interp->model, point, values);
  memory_free(predicates_at(d, &d->liveness->rules[e->rules], point, &n));
  return (struct round_kind){n ? e->rules : NO_RULES, coins ? e->coin : 0, n || e->exact};
}

static bool same_kind(struct round_kind a, struct round_kind b) {
  return a.rules == b.rules && a.coin == b.coin && a.exact == b.exact;
}

/* ---- conditions on states ---- */

struct state_conditions { /* NULL: true */
  struct term *trigger, *missed;
};

struct parts_read {
  const struct derivation_builder *d;
  const struct schedule_point *at;
  bool changing, changed;
};

static bool find_part_read(void *context, const struct node *n) {
  struct parts_read *r = context;
  for (uint32_t i = 0; i < n->ngen; i++) {
    if (n->gen[i].type->kind != TYPE_PROCESS)
      continue;
    uint32_t part = part_of_name(r->d, &n->gen[i]);
    bool together = !r->d->d->part_of || part == r->at->sends || part == r->at->updates || derive_moves_jointly(r->d);
    r->changing |= together;
    r->changed |= !together;
  }
  return true;
}

/* Does it read parts of processes that change in the move of the round, and others, which changed before? */
static void find_parts_read(const struct derivation_builder *d, const struct node *n, uint32_t point, bool *changing,
                            bool *changed) {
  struct parts_read r = {.d = d, .at = &d->reached.at[point]};
  node_walk_deep(d->m, n, find_part_read, &r);
  *changing |= r.changing;
  *changed |= r.changed;
}

static bool find_conditions(struct derivation_builder *d, struct state_conditions *out) {
  const struct liveness_formula *f = &d->liveness->formula;
  struct term *goal = derive_condition(d, f->goal);
  *out = (struct state_conditions){0};
  if (!goal)
    return false;
  out->missed = make_not(d, goal);
  return !f->trigger || (out->trigger = derive_condition(d, f->trigger)) != NULL;
}

/* ---- coins ---- */

/* Is it a word of the text? */
static bool has_word(const char *text, const char *word) {
  size_t n = strlen(word);
  for (const char *at = text; n > 0 && (at = strstr(at, word)) != NULL; at++)
    if ((at == text || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[n]))
      return true;
  return false;
}

/* The number of processes whose message has this value in it. Any number would do: it only chooses what coins show. */
static struct term *senders_of(struct derivation_builder *d, uint32_t point, const char *value_of) {
  const struct schedule_point *at = &d->reached.at[point];
  const struct type *type = d->role->body[point].received;
  struct term *sum = NULL;
  for (size_t i = 0; i < at->locals.n && type; i++) {
    uint32_t l = at->locals.at[i];
    struct text t = {0};
    value message;
    unsigned kind;
    if (d->d->parts.at[l] != at->sends || !local_active(d, l) || !local_message(d, l, point, &message, &kind))
      continue;
    value_print(&d->m->values, d->m, type, message, &t);
    if (has_word(text_or_empty(&t), value_of))
      sum = make_sum(d, sum, local_count(d, l));
    text_release(&t);
  }
  return sum;
}

/* The first value that is sent, else the first value. Exactly one of these conditions holds in a state. */
static void find_echoes(struct derivation_builder *d, uint32_t point) {
  const char *values[COIN_VALUES_MAX];
  if (!d->d->echo)
    d->d->echo = arena_array(&d->s->arena, (size_t)d->m->npoints * COIN_VALUES_MAX, sizeof *d->d->echo);
  if (!liveness_coin_values(d->interp->model, point, values))
    return;
  struct term **echo = d->d->echo + (size_t)point * COIN_VALUES_MAX, *none = make_number(d, 1);
  for (uint32_t i = 0; i < COIN_VALUES_MAX; i++) {
    struct term *sum = values[i] ? senders_of(d, point, values[i]) : NULL;
    struct term *sent = make_relation(d, TERM_LE, make_number(d, 1), sum);
    echo[i] = make_and(d, none, sent);
    none = make_and(d, none, make_not(d, sent));
  }
  echo[0] = make_or(d, echo[0], none);
}

/* NULL: in every state. */
static struct term *echo_of(const struct derivation_builder *d, uint32_t point, uint32_t coin) {
  return d->liveness->coins == COINS_ECHO ? d->d->echo[(size_t)point * COIN_VALUES_MAX + coin - 1] : NULL;
}

/* ---- moves ---- */

/* The stage between the moves of a round in turns: the edge is known by it. */
static uint32_t within(const struct derivation_builder *d, const struct liveness_edge *e) {
  return d->liveness->nstages + (uint32_t)(e - d->liveness->edges);
}

static struct counter_move move_along(struct derivation_builder *d, const struct counter_move *move,
                                      enum turn_kind turn, const struct liveness_edge *e,
                                      const struct state_conditions *c, struct term *echo) {
  struct counter_move m = *move;
  bool first = turn != TURN_CHANGE;
  const struct term *next = d->d->turn == UINT32_MAX ? NULL : m.controls[d->d->turn];
  uint32_t to = turn == TURN_NONE || (next && next->number == 0) ? e->to : within(d, e);
  struct term *guard = at_stage(d, first ? e->from : within(d, e));
  if (first)
    guard = make_and(d, guard, echo);
  if (e->triggered && first)
    guard = make_and(d, guard, c->trigger);
  if (e->missed && first)
    guard = make_and(d, guard, c->missed);
  m.guard = make_and(d, guard, m.guard);
  m.controls = arena_copy(&d->s->arena, m.controls, d->controls_max * sizeof *m.controls);
  m.controls[d->d->stage] = make_number(d, to);
  return m;
}

static bool same_edge(const struct liveness_edge *a, const struct liveness_edge *b) {
  return a->from == b->from && a->to == b->to && a->missed == b->missed && a->triggered == b->triggered;
}

/* Has an earlier edge the same moves in this round? */
static bool is_repeated(const struct derivation_builder *d, uint32_t edge, uint32_t point) {
  const struct liveness_edge *e = &d->liveness->edges[edge];
  for (uint32_t i = 0; i < edge; i++) {
    const struct liveness_edge *o = &d->liveness->edges[i];
    if (same_edge(o, e) && liveness_edge_applies(d->m, o, point) &&
        same_kind(kind_of(d, o, point), kind_of(d, e, point)))
      return true;
  }
  return false;
}

/* A part changes before the move of the round, at any stage that such a round may leave. */
static struct counter_move part_move_at(struct derivation_builder *d, const struct counter_move *move,
                                        struct term *stages) {
  struct counter_move m = *move;
  m.guard = make_and(d, stages, m.guard);
  return m;
}

/* The moves of a round of this kind. */
static bool round_by(struct derivation_builder *d, struct round_kind kind, uint32_t point, move_vec *out) {
  static const struct liveness_rules none = {NULL, 0, 0};
  uint32_t n;
  struct liveness_predicate *all =
      predicates_at(d, kind.rules == NO_RULES ? &none : &d->liveness->rules[kind.rules], point, &n);
  struct heard_rules before;
  d->jointly = kind.exact;
  d->interp->fixed_coin = kind.coin;
  bool ok = n == 0 || heard_rules_extend(d, all, n, &before);
  ok = ok && derive_round(d, point, out);
  d->interp->fixed_coin = 0;
  if (n)
    heard_rules_restore(d, &before);
  if (!ok && n)
    d->d->refused_clause = all[n - 1].ordinal;
  memory_free(all);
  return ok;
}

/* Conditions on the state before the round, for its move. What parts that have changed by then have to say is not known
   of that state; a goal that only they have is missed after the round, too. Without a condition there are more runs. */
static struct state_conditions conditions_before(const struct derivation_builder *d, const struct state_conditions *all,
                                                 uint32_t point) {
  const struct liveness_formula *f = &d->liveness->formula;
  struct state_conditions c = *all;
  bool changing = false, changed = false;
  find_parts_read(d, f->goal, point, &changing, &changed);
  if (changing && changed)
    c.missed = NULL;
  changed = false;
  if (f->trigger)
    find_parts_read(d, f->trigger, point, &changing, &changed);
  if (changed)
    c.trigger = NULL;
  return c;
}

struct made_move {
  struct counter_move move;
  struct turn_move turn;
  bool of_part;
};

static void push_made(struct derivation_builder *d, struct counter_move m, const struct made_move *of,
                      move_vec *moves) {
  vec_push(moves, m);
  vec_push(&d->d->is_part_move, of->of_part);
  vec_push(&d->d->turns, of->turn);
}

/* All edges with rounds of this kind. */
static bool rounds_of_kind(struct derivation_builder *d, struct round_kind kind, uint32_t point,
                           const struct state_conditions *all, move_vec *moves) {
  VEC(struct made_move) made = {0};
  size_t first = moves->n; /* they are made there, and replaced by those of the edges */
  bool ok = round_by(d, kind, point, moves);
  for (size_t k = first; k < moves->n && ok; k++) {
    struct made_move one = {moves->at[k], d->d->turns.at[k], d->d->is_part_move.at[k]};
    vec_push(&made, one);
  }
  moves->n = d->d->is_part_move.n = d->d->turns.n = first;
  struct state_conditions c = conditions_before(d, all, point);
  struct term *stages = make_number(d, 0);
  for (uint32_t i = 0; i < d->liveness->nedges && ok; i++) {
    const struct liveness_edge *e = &d->liveness->edges[i];
    if (!liveness_edge_applies(d->m, e, point) || !same_kind(kind_of(d, e, point), kind) || is_repeated(d, i, point))
      continue;
    stages = make_or(d, stages, at_stage(d, e->from));
    struct term *echo = kind.coin ? echo_of(d, point, kind.coin) : NULL;
    for (size_t k = 0; k < made.n; k++)
      if (!made.at[k].of_part)
        push_made(d, move_along(d, &made.at[k].move, made.at[k].turn.kind, e, &c, echo), &made.at[k], moves);
  }
  for (size_t k = 0; k < made.n && ok; k++)
    if (made.at[k].of_part)
      push_made(d, part_move_at(d, &made.at[k].move, stages), &made.at[k], moves);
  d->jointly = false;
  vec_release(&made);
  return ok;
}

bool liveness_rounds(struct derivation_builder *d, uint32_t point, move_vec *moves) {
  struct state_conditions c;
  bool ok = find_conditions(d, &c);
  if (d->liveness->coins == COINS_ECHO)
    find_echoes(d, point);
  VEC(struct round_kind) kinds = {0};
  for (uint32_t i = 0; i < d->liveness->nedges && ok; i++) {
    const struct liveness_edge *e = &d->liveness->edges[i];
    if (!liveness_edge_applies(d->m, e, point))
      continue;
    struct round_kind kind = kind_of(d, e, point);
    size_t k = 0;
    while (k < kinds.n && !same_kind(kinds.at[k], kind))
      k++;
    if (k < kinds.n)
      continue;
    vec_push(&kinds, kind);
    ok = rounds_of_kind(d, kind, point, &c, moves);
  }
  vec_release(&kinds);
  return ok && !d->d->refused;
}

/* ---- the property ---- */

struct term *liveness_start(struct derivation_builder *d) {
  return at_stage(d, d->liveness->start);
}

/* Unsafe: the goal is missed after enough good rounds, or when the algorithm has ended, after which the last state is
   repeated forever. */
bool liveness_property(struct derivation_builder *d, struct counter_property *out) {
  const struct liveness *l = d->liveness;
  struct state_conditions c;
  if (!find_conditions(d, &c))
    return false;
  if (l->formula.from && !(out->from = derive_condition(d, l->formula.from)))
    return false;
  out->unsafe = l->last == NO_STAGE ? make_number(d, 0) : make_and(d, at_stage(d, l->last), c.missed);
  if (liveness_runs_end(d->m)) {
    struct term *ended = make_relation(d, TERM_EQ, make_leaf(d, TERM_CONTROL, d->d->where), round_term(d, POINT_END));
    struct term *asked = make_number(d, 1);
    if (l->before != NO_STAGE && c.trigger)
      asked = make_or(d, make_not(d, at_stage(d, l->before)), c.trigger);
    out->unsafe = make_or(d, out->unsafe, make_and(d, make_and(d, ended, asked), c.missed));
  }
  return true;
}
