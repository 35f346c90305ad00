/* A round in which all processes have the same heard-of set, so that they hear the same numbers of each message. These
   numbers decide which receptions are possible. There is a move for each set of receptions that some numbers make
   possible, and no others: in it, every process has one of these receptions. */
#include "param/derive_round_internal.h"

enum { RECEPTIONS_MAX = 64, MOVES_MAX = 2000 };

struct uniform_builder {
  struct round_builder *r;
  const bool *together;
  move_vec *moves;
  const char *name;
  struct solver *solver;
};

void round_choose_heard(struct round_builder *r) {
  struct derivation_builder *d = r->d;
  struct term *sum = NULL;
  for (uint32_t m = 0; m < r->columns.nm; m++) {
    r->heard[m] = round_amount(r, "heard_%u", m + 1);
    round_require(r, make_relation(d, TERM_LE, r->heard[m], r->may[m]));
    sum = make_sum(d, sum, r->heard[m]);
  }
  for (size_t i = 0; i < d->heard.sizes.n; i++) { /* every process sends, so this is the size of the set */
    const struct heard_size *size = &d->heard.sizes.at[i];
    if (!size_applies(d, size, r->point))
      continue;
    int64_t *row = memory_alloc((d->params.base->nparams + (size_t)1) * sizeof *row);
    if (size->limit)
      node_row(d, size->limit, 1, row);
    if (size->all)
      derive_row_add(d, d->role->at, row, d->params.size, d->params.base->nparams + 1, size->times);
    struct term *heard = make_sum(d, make_times(d, size->times, sum), make_number(d, size->more));
    round_require(r, make_relation(d, size->strict ? TERM_LT : TERM_LE, make_row(d, row), heard));
    memory_free(row);
  }
}

static bool uniform_move(struct uniform_builder *x, uint64_t possible) {
  struct round_builder *r = x->r;
  struct derivation_builder *d = r->d;
  if (x->moves->n >= MOVES_MAX)
    return derive_refuse(d, d->heard.coupling_clause->at, "there are too many things that all may have heard");
  r->move = round_move_new(d, r->point, x->name);
  vec_clear(&r->amounts);
  vec_clear(&r->local_moves);
  round_forget_conditions(r);
  for (uint32_t l = 0; l < d->d->locals.n; l++)
    r->arrivals[l] = NULL;
  round_choose_heard(r);
  r->only = r->certain_receptions = 0;
  for (uint32_t i = 0; i < r->receptions.n; i++)
    if (possible >> i & 1)
      round_require(r, reception_condition(r, i));
  r->only = r->certain_receptions = possible;
  return round_make_joint_move(r, x->together, x->moves);
}

/* Asserts that the cube does not hold: one of its constraints fails. */
static void add_negation(struct solver *s, const struct cube *c) {
  cube_vec any = {0};
  int64_t *row = memory_alloc(c->width * sizeof *row);
  for (uint32_t i = 0; i < c->n; i++)
    for (int sign = -1; sign <= (c->equal.at[i] ? 1 : -1); sign += 2) { /* row < 0; of an equation, also row > 0 */
      struct cube one;
      for (uint32_t k = 0; k < c->width; k++)
        row[k] = sign * cube_row(c, i)[k];
      row[0]--;
      cube_init(&one, c->width - 1);
      cube_add(&one, row, false);
      vec_push(&any, one);
    }
  solver_add_any(s, any.at, any.n, NULL);
  cubes_release(&any);
  memory_free(row);
}

/* Decides about the receptions from `next` on: all sets that the asserted constraints leave possible. */
static bool divide(struct uniform_builder *x, uint32_t next, uint64_t possible) {
  struct round_builder *r = x->r;
  if (derive_stopped(r->d))
    return false;
  if (solver_check(x->solver) == ANSWER_NO)
    return true;
  if (next == r->receptions.n)
    return possible == 0 || uniform_move(x, possible); /* numbers without a reception are none that can be heard */
  const cube_vec *cubes = &r->receptions.at[next].cubes;
  bool ok = true;
  if (!r->receptions.at[next].never) {
    solver_push(x->solver);
    solver_add_any(x->solver, cubes->at, cubes->n, NULL);
    ok = divide(x, next + 1, possible | UINT64_C(1) << next);
    solver_pop(x->solver);
  }
  solver_push(x->solver);
  for (size_t i = 0; i < cubes->n; i++)
    add_negation(x->solver, &cubes->at[i]);
  ok = ok && divide(x, next + 1, possible);
  solver_pop(x->solver);
  return ok;
}

bool round_make_uniform_moves(struct round_builder *r, const bool *together, move_vec *moves) {
  struct derivation_builder *d = r->d;
  const struct schedule_point *at = &d->reached.at[r->point];
  struct uniform_builder x = {r, together, moves, r->move.name, NULL};
  bool ok = true;
  for (size_t i = 0; i < at->locals.n && ok; i++) { /* finds all receptions */
    successor_reason_vec reasons = {0};
    ok = !local_active(d, at->locals.at[i]) || successor_reasons_find(r, at->locals.at[i], &reasons);
    vec_release(&reasons);
  }
  if (ok && r->receptions.n > RECEPTIONS_MAX)
    return derive_refuse(d, d->heard.coupling_clause->at, "there are too many things that all may have heard");
  x.solver = reception_facts(&r->columns);
  ok = ok && divide(&x, 0, 0);
  solver_free(x.solver);
  return ok;
}
