/* A round in turns. The first move freezes what is sent: the numbers of messages go into counters of their own, as do
   the processes that have not changed yet (pools). Then one local state changes after the other, one successor in a
   move: as many as the amount says, under the condition on the frozen numbers, and the last successor takes the rest.
   So the conditions of different successors are not multiplied with each other, as they are in the joint move.

   A whole sequence has the effect of the joint move with these amounts: heard-of sets of different processes depend on
   each other only through numbers that are frozen (UNIFORM) or through the set of receptions that the first move
   chooses (NOSPLIT). */
#include "param/derive_round_internal.h"

#include "base/memory.h"

/* Does the term read an amount, a counter ... with an index in first..last? */
static bool reads(const struct term *t, enum term_op op, uint32_t first, uint32_t last) {
  return t && ((t->op == op && t->index >= first && t->index <= last) || reads(t->kid[0], op, first, last) ||
               reads(t->kid[1], op, first, last) || reads(t->kid[2], op, first, last));
}

/* ---- frozen numbers ---- */

static struct term *freeze(struct round_builder *r, uint32_t slot, const char *name, uint32_t message,
                           struct term *is) {
  struct derivation_builder *d = r->d;
  uint32_t *counter = &d->turns.frozen[slot];
  if (!is || is->op == TERM_NUMBER)
    return is;
  if (*counter == NO_COUNTER)
    *counter = derive_counter_new(d, arena_printf(&d->s->arena, "%s_%u", name, message + 1));
  vec_push(&r->frozen, ((struct frozen_number){*counter, is}));
  return make_leaf(d, TERM_COUNTER, *counter);
}

static bool byzantine_stay(struct round_builder *r) {
  bool stay = true;
  for (uint32_t l = 0; l < r->d->d->locals.n; l++)
    stay &= !local_has(r->d, l, STATUS_BYZANTINE) || local_unchanged_after(r->d, l, r->point, 0) == l;
  return stay;
}

void round_freeze(struct round_builder *r) {
  r->in_turns = true;
  for (uint32_t m = 0; m < r->columns.nm; m++) {
    bool same = term_same(r->may[m], r->must[m]);
    r->may[m] = freeze(r, m, "sent", m, r->may[m]);
    r->must[m] = same ? r->may[m] : freeze(r, MESSAGES_MAX + m, "delivered", m, r->must[m]);
    r->heard[m] = freeze(r, 2 * MESSAGES_MAX + m, "heard", m, r->heard[m]);
  }
  if (!byzantine_stay(r)) /* as they always do */
    r->byzantine = freeze(r, 3 * MESSAGES_MAX, "forging", 0, r->byzantine);
}

void round_unfreeze(struct round_builder *r, struct term **must, struct term *byzantine) {
  memcpy(r->may, r->sent, r->columns.nm * sizeof *r->may);
  memcpy(r->must, must, r->columns.nm * sizeof *r->must);
  r->byzantine = byzantine;
  for (uint32_t l = 0; l < r->d->d->locals.n; l++)
    r->pool[l] = NULL;
  round_forget_conditions(r);
}

/* ---- classes ---- */

/* Local states with the same successors under the same conditions. Their processes are interchangeable. */
struct turn_class {
  VEC(uint32_t) members;
  local_successor_vec successors; /* one that is always possible comes last */
  struct term *pool;              /* NULL: there is only one successor */
  uint32_t pool_counter;
};

struct turn_builder {
  struct round_builder *r;
  move_vec *moves;
  VEC(struct turn_class) classes;
  uint32_t npools;
  uint32_t left; /* moves that are still to come */
};

static uint32_t pool_take(struct turn_builder *x) {
  struct derivation_builder *d = x->r->d;
  if (x->npools == d->turns.pools.n) {
    uint32_t counter = derive_counter_new(d, arena_printf(&d->s->arena, "unchanged_%u", x->npools + 1));
    vec_push(&d->turns.pools, counter);
  }
  return d->turns.pools.at[x->npools++];
}

static bool same_successors(const local_successor_vec *a, const local_successor_vec *b) {
  bool same = a->n == b->n;
  for (size_t i = 0; i < a->n && same; i++)
    same = same_successor(&a->at[i], successor_to(b, a->at[i].target));
  return same;
}

static void certain_last(local_successor_vec *v) {
  for (size_t i = 0; i + 1 < v->n; i++)
    if (v->at[i].always) {
      struct local_successor last = v->at[v->n - 1];
      v->at[v->n - 1] = v->at[i];
      v->at[i] = last;
    }
}

/* apart: local states are not joined, since others depend on how many there are. */
static bool classes_find(struct turn_builder *x, uint32_t part, bool apart) {
  struct round_builder *r = x->r;
  struct derivation_builder *d = r->d;
  const struct schedule_point *at = &d->reached.at[r->point];
  for (size_t i = 0; i < at->locals.n; i++) {
    uint32_t l = at->locals.at[i];
    local_successor_vec successors = {0};
    if (!local_active(d, l) || d->d->parts.at[l] != part)
      continue;
    if (!successors_find(r, l, &successors)) {
      vec_release(&successors);
      return false;
    }
    size_t k = 0;
    while (k < x->classes.n &&
           (apart || part_has_step_property(d, part) || !same_successors(&x->classes.at[k].successors, &successors)))
      k++;
    if (k == x->classes.n) {
      certain_last(&successors);
      vec_push(&x->classes, ((struct turn_class){.successors = successors}));
    } else {
      vec_release(&successors);
    }
    vec_push(&x->classes.at[k].members, l);
  }
  return true;
}

/* ---- moves ---- */

static void push_moves(struct round_builder *r, struct turn_move turn, bool last, move_vec *moves) {
  struct derivation_builder *d = r->d;
  round_move_finish(r);
  if (last)
    round_add_onward(r, moves);
  else
    vec_push(moves, r->move);
  while (d->d->turns.n < moves->n)
    vec_push(&d->d->turns, turn);
}

static void set_turn(struct round_builder *r, uint32_t from, uint32_t to) {
  struct derivation_builder *d = r->d;
  struct term *turn = make_leaf(d, TERM_CONTROL, d->d->turn);
  r->move.guard = make_and(d, make_relation(d, TERM_EQ, turn, make_number(d, from)), r->move.guard);
  r->move.controls[d->d->turn] = make_number(d, to);
  d->turns.most = to > d->turns.most ? to : d->turns.most;
}

/* For each amount of the first move: the local state that crashes, or the number of messages that bounds it. */
static struct turn_move beginning(struct round_builder *r) {
  struct derivation_builder *d = r->d;
  struct arena *arena = &d->d->arena;
  uint32_t n = (uint32_t)r->amounts.n, *locals = arena_array(arena, n + (size_t)1, sizeof *locals);
  struct term **limit = arena_array(arena, n + (size_t)1, sizeof *limit);
  for (uint32_t i = 0; i < n; i++)
    locals[i] = UINT32_MAX;
  for (uint32_t l = 0; l < d->d->locals.n; l++)
    if (r->crashing[l])
      locals[r->crashing[l]->index] = l;
  for (size_t i = 0; i < r->frozen.n; i++)
    if (r->frozen.at[i].is->op == TERM_AMOUNT)
      for (uint32_t m = 0; m < r->columns.nm; m++)
        if (r->frozen.at[i].counter == d->turns.frozen[2 * MESSAGES_MAX + m])
          limit[r->frozen.at[i].is->index] = r->sent[m];
  return (struct turn_move){.kind = TURN_BEGIN, .point = r->point, .nlocals = n, .locals = locals, .limit = limit};
}

/* All processes of the class that do not crash. */
static struct term *class_count(struct round_builder *r, const struct turn_class *c) {
  struct term *sum = NULL;
  for (size_t i = 0; i < c->members.n; i++)
    sum = make_sum(r->d, sum, remaining_count(r, c->members.at[i]));
  return sum;
}

/* Freezes what is sent. Processes with only one successor change here, the others go into pools. */
static bool make_beginning(struct turn_builder *x, const bool *together) {
  struct round_builder *r = x->r;
  struct derivation_builder *d = r->d;
  for (size_t i = 0; i < x->classes.n; i++) {
    const struct turn_class *c = &x->classes.at[i];
    struct term *count = class_count(r, c);
    if (c->successors.n == 0) { /* these receptions leave nothing for it to hear */
      round_require(r, make_relation(d, TERM_LE, count, NULL));
    } else if (c->pool) {
      r->move.guard = make_and(d, r->move.guard, make_relation(d, TERM_EQ, c->pool, NULL));
      r->move.counters[c->pool_counter] = count;
    } else {
      uint32_t to = c->successors.at[0].target;
      r->arrivals[to] = make_sum(d, r->arrivals[to], count);
      for (size_t k = 0; k < c->members.n; k++)
        vec_push(&r->local_moves, ((struct local_move){remaining_count(r, c->members.at[k]), c->members.at[k], to}));
    }
  }
  for (size_t i = 0; i < r->frozen.n; i++)
    r->move.counters[r->frozen.at[i].counter] = r->frozen.at[i].is;
  round_update_counters(r, together);
  set_turn(r, 0, ++r->turn);
  bool ok = round_mark_violations(r, &r->move);
  push_moves(r, beginning(r), false, x->moves);
  return ok;
}

/* The numbers heard are amounts of the move where they cannot be projected away, so such conditions belong to one
   move. */
static bool conditions_anew(struct turn_builder *x, struct turn_class *c, uint32_t target,
                            struct local_successor *out) {
  struct round_builder *r = x->r;
  local_successor_vec successors = {0};
  if (!reads(out->can, TERM_AMOUNT, 0, UINT32_MAX))
    return true;
  round_forget_conditions(r);
  bool ok = successors_find(r, c->members.at[0], &successors);
  const struct local_successor *found = successor_to(&successors, target);
  if (ok && found)
    *out = *found;
  vec_release(&successors);
  return ok && (found || derive_refuse(r->d, r->d->role->at, "internal error: a successor was not found again"));
}

static bool make_change(struct turn_builder *x, struct turn_class *c, size_t which) {
  struct round_builder *r = x->r;
  struct derivation_builder *d = r->d;
  bool rest = which + 1 == c->successors.n, last = x->left == 1;
  struct local_successor to = c->successors.at[which];
  const char *name = local_label(d, to.target);
  r->move = round_move_new(d, r->point, arena_printf(&d->s->arena, "to_%s", name));
  vec_clear(&r->amounts);
  vec_clear(&r->local_moves);
  set_turn(r, r->turn, last ? 0 : r->turn + 1);
  r->turn++;
  struct term *amount = rest ? c->pool : round_amount(r, "d");
  if (!to.always && !conditions_anew(x, c, to.target, &to))
    return false;
  if (!rest)
    round_require(r, make_relation(d, TERM_LE, amount, c->pool));
  if (!to.always)
    round_require(r, make_or(d, amount_none(r, amount), to.can));
  move_set_count(d, &r->move, to.target, make_sum(d, local_count(d, to.target), amount));
  r->move.counters[c->pool_counter] = rest ? make_number(d, 0) : make_difference(d, c->pool, amount);
  if (c->members.n == 1)
    vec_push(&r->local_moves, ((struct local_move){amount, c->members.at[0], to.target}));
  for (size_t i = 0; i < r->frozen.n && last; i++)
    r->move.counters[r->frozen.at[i].counter] = make_number(d, 0);
  if (!round_mark_violations(r, &r->move))
    return false;
  const uint32_t *locals = arena_copy(&d->d->arena, c->members.at, c->members.n * sizeof *locals);
  push_moves(r,
             (struct turn_move){.kind = TURN_CHANGE,
                                .point = r->point,
                                .nlocals = (uint32_t)c->members.n,
                                .locals = locals,
                                .to = to.target,
                                .chosen = !rest},
             last, x->moves);
  x->left--;
  return !derive_stopped(d);
}

/* Nothing is left to choose: the beginning is all of the round. */
static bool make_only_move(struct turn_builder *x, const bool *together) {
  struct round_builder *r = x->r;
  struct derivation_builder *d = r->d;
  for (size_t i = 0; i < x->classes.n; i++) {
    const struct turn_class *c = &x->classes.at[i];
    struct term *count = class_count(r, c);
    if (c->successors.n == 0) {
      round_require(r, make_relation(d, TERM_LE, count, NULL));
      continue;
    }
    uint32_t to = c->successors.at[0].target;
    r->arrivals[to] = make_sum(d, r->arrivals[to], count);
    for (size_t k = 0; k < c->members.n; k++)
      vec_push(&r->local_moves, ((struct local_move){remaining_count(r, c->members.at[k]), c->members.at[k], to}));
  }
  round_update_counters(r, together);
  set_turn(r, 0, 0);
  bool ok = round_mark_violations(r, &r->move);
  push_moves(r, beginning(r), true, x->moves);
  return ok;
}

static void pools_assign(struct turn_builder *x) {
  struct round_builder *r = x->r;
  for (size_t i = 0; i < x->classes.n; i++) {
    struct turn_class *c = &x->classes.at[i];
    c->pool = r->pool[c->members.at[0]];
    if (!c->pool && c->successors.n > 1)
      c->pool = make_leaf(r->d, TERM_COUNTER, pool_take(x));
    if (c->pool)
      c->pool_counter = c->pool->index;
    if (c->pool)
      x->left += (uint32_t)c->successors.n;
  }
}

static bool find_all_classes(struct turn_builder *x, const bool *together) {
  struct round_builder *r = x->r;
  struct derivation_builder *d = r->d;
  const struct schedule_point *at = &d->reached.at[r->point];
  uint32_t pools = (uint32_t)d->turns.pools.n, counters = d->s->ncounters;
  bool ok = true, apart = false;
  /* Other parts may depend on how many processes are in which deciding local state, so these change last, and each has
     a pool of its own. */
  for (size_t i = 0; i < at->locals.n; i++)
    if (local_active(d, at->locals.at[i]) && d->d->parts.at[at->locals.at[i]] == at->updates)
      r->pool[at->locals.at[i]] = make_leaf(d, TERM_COUNTER, pool_take(x));
  for (uint32_t part = 0; part < d->d->nparts && ok; part++)
    ok = !together[part] || part == at->updates || classes_find(x, part, false);
  for (size_t i = 0; i < at->locals.n; i++)
    for (size_t k = 0; k < x->classes.n && r->pool[at->locals.at[i]]; k++)
      for (size_t j = 0; j < x->classes.at[k].successors.n; j++) {
        uint32_t pool = r->pool[at->locals.at[i]]->index;
        apart |= reads(x->classes.at[k].successors.at[j].can, TERM_COUNTER, pool, pool);
      }
  if (!apart) {
    x->npools = 0;
    d->turns.pools.n = pools;
    d->s->ncounters = counters;
    for (uint32_t l = 0; l < d->d->locals.n; l++)
      r->pool[l] = NULL;
  }
  ok = ok && (!together[at->updates] || classes_find(x, at->updates, apart));
  if (ok)
    pools_assign(x);
  return ok;
}

bool round_make_turns(struct round_builder *r, const bool *together, move_vec *moves) {
  struct derivation_builder *d = r->d;
  struct turn_builder x = {.r = r, .moves = moves};
  struct counter_move begin = r->move;
  size_t amounts = r->amounts.n;
  if (d->d->turn == UINT32_MAX)
    d->d->turn = derive_control_new(d, "turn", CONTROL_NUMBERS, 0);
  bool ok = find_all_classes(&x, together);
  r->move = begin; /* amounts of these conditions belong to later moves */
  r->amounts.n = amounts;
  if (ok)
    ok = x.left ? make_beginning(&x, together) : make_only_move(&x, together);
  for (size_t i = 0; i < x.classes.n && ok; i++)
    for (size_t k = 0; k < x.classes.at[i].successors.n && x.classes.at[i].pool && ok; k++)
      ok = make_change(&x, &x.classes.at[i], k);
  for (size_t i = 0; i < x.classes.n; i++) {
    vec_release(&x.classes.at[i].members);
    vec_release(&x.classes.at[i].successors);
  }
  vec_release(&x.classes);
  return ok;
}

/* ---- between rounds ---- */

struct term *turns_between(struct derivation_builder *d) {
  if (d->d->turn == UINT32_MAX)
    return NULL;
  struct term *between = make_relation(d, TERM_EQ, make_leaf(d, TERM_CONTROL, d->d->turn), NULL);
  for (size_t i = 0; i < d->turns.pools.n; i++)
    between = make_and(d, between, make_relation(d, TERM_EQ, make_leaf(d, TERM_COUNTER, d->turns.pools.at[i]), NULL));
  return between;
}

void turns_finish(struct derivation_builder *d) {
  if (d->d->turn == UINT32_MAX)
    return;
  d->s->controls[d->d->turn].high = d->turns.most;
  struct term *zero = make_relation(d, TERM_EQ, make_leaf(d, TERM_CONTROL, d->d->turn), NULL);
  for (uint32_t i = 0; i < d->s->nmoves; i++)
    if (d->d->turns.at[i].kind == TURN_NONE)
      d->s->moves[i].guard = make_and(d, zero, d->s->moves[i].guard);
}
