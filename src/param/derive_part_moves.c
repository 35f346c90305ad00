/* Parts of a process that decide neither what is sent nor what becomes of other parts. They change before the joint
   move of the round, with one move per change of local state. */
#include "param/derive_round_internal.h"

/* A move in which some processes change from one local state to another. */
static bool add_part_move(struct round_builder *r, uint32_t from, uint32_t to, struct term *can, struct term *limit,
                          move_vec *moves) {
  struct derivation_builder *d = r->d;
  const uint32_t *counter = d->d->counter.at, *flag = d->d->flag.at;
  struct counter_move m = round_move_new(d, r->point, NULL);
  struct term *amount = make_number(d, 1);
  if (counter[from] == NO_COUNTER) {
    m.name = d->s->controls[flag[to]].name;
    m.controls[flag[to]] = make_number(d, 1);
  } else {
    struct counter_name *amounts = arena_alloc(&d->s->arena, sizeof *amounts);
    amount = make_leaf(d, TERM_AMOUNT, 0);
    amounts[0] = (struct counter_name){"d", {0, 0}};
    m.name =
        arena_printf(&d->s->arena, "%s_to_%s", d->s->counters[counter[from]].name, d->s->counters[counter[to]].name);
    m.amounts = amounts;
    m.namounts = 1;
    m.counters[counter[from]] = make_difference(d, local_count(d, from), amount);
    m.counters[counter[to]] = make_sum(d, local_count(d, to), amount);
    m.guard = make_and(d, m.guard, amount_some(r, amount));
    m.guard = make_and(d, m.guard, make_relation(d, TERM_LE, amount, local_count(d, from)));
  }
  if (limit)
    m.guard = make_and(d, m.guard, make_relation(d, TERM_LE, amount, limit));
  m.guard = make_and(d, m.guard, can);
  if (counter[from] == NO_COUNTER) /* merge_flag_moves expects it as the left operand */
    m.guard = make_pair_and(d, make_leaf(d, TERM_CONTROL, flag[from]), m.guard);
  vec_clear(&r->local_moves);
  vec_push(&r->local_moves, ((struct local_move){amount, from, to}));
  bool ok = round_mark_violations(r, &m);
  vec_push(moves, m);
  return ok;
}

static bool add_crash_move(struct round_builder *r, uint32_t l, move_vec *moves) {
  struct derivation_builder *d = r->d;
  struct term *left = limit_term(d, CLAUSE_CRASH);
  uint32_t after = local_unchanged_after(d, l, r->point, STATUS_CRASHED);
  for (uint32_t i = 0; i < d->d->locals.n; i++)
    if (local_has(d, i, STATUS_CRASHED) && d->d->parts.at[i] == d->d->parts.at[l] && d->d->counter.at[i] != NO_COUNTER)
      left = make_difference(d, left, local_count(d, i));
  return after != UINT32_MAX && add_part_move(r, l, after, make_number(d, 1), left, moves);
}

/* For a part with flags: merges the moves into the same local state under the same condition. Moves that differ for a
   step property have different controls and stay separate. */
static void merge_flag_moves(struct round_builder *r, move_vec *moves, size_t first) {
  struct derivation_builder *d = r->d;
  for (size_t i = first; i < moves->n; i++)
    for (size_t k = i + 1; k < moves->n;) {
      struct counter_move *a = &moves->at[i], *b = &moves->at[k];
      bool same = a->name == b->name && term_same(a->guard->kid[1], b->guard->kid[1]);
      for (uint32_t c = 0; c < d->s->ncontrols && same; c++)
        same = term_same(a->controls[c], b->controls[c]);
      if (!same) {
        k++;
        continue;
      }
      a->guard = make_pair_and(d, make_or(d, a->guard->kid[0], b->guard->kid[0]), a->guard->kid[1]);
      moves->at[k] = moves->at[--moves->n];
    }
}

bool round_add_part_moves(struct round_builder *r, uint32_t part, move_vec *moves) {
  struct derivation_builder *d = r->d;
  const struct schedule_point *at = &d->reached.at[r->point];
  size_t first = moves->n;
  bool ok = true;
  for (size_t i = 0; i < at->locals.n && ok; i++) {
    uint32_t l = at->locals.at[i];
    local_successor_vec options = {0};
    if (!local_active(d, l) || d->d->parts.at[l] != part)
      continue;
    ok = successors_find(r, l, &options);
    uint32_t stays = local_unchanged_after(d, l, r->point, 0);
    for (size_t k = 0; k < options.n && ok; k++)
      if (options.at[k].target != l && options.at[k].target != stays)
        ok = add_part_move(r, l, options.at[k].target, options.at[k].can, NULL, moves);
    if (ok && d->heard.crashes)
      ok = add_crash_move(r, l, moves);
    vec_release(&options);
  }
  if (ok && !d->parts.counted[part])
    merge_flag_moves(r, moves, first);
  return ok;
}
