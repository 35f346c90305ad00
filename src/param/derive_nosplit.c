/* A round in which no two processes hear disjoint sets. Senders of the same message are interchangeable, so two
   processes that hear the same message may have heard the same sender: their heard-of sets intersect if they have a
   message in common. The moves distinguish cases by the messages sent; in each case, every maximal set of pairwise
   compatible receptions gives a move. */
#include "param/derive_round_internal.h"

static bool receptions_compatible(const struct guarded_update *a, const struct guarded_update *b, uint32_t there) {
  for (size_t i = 0; i < a->message_sets.n; i++)
    for (size_t k = 0; k < b->message_sets.n; k++) {
      uint32_t one = a->message_sets.at[i], other = b->message_sets.at[k];
      if (((one | other) & ~there) == 0 && (one & other))
        return true;
    }
  return false;
}

enum { MOVES_MAX = 2000 };

struct nosplit_builder {
  struct round_builder *r;
  const bool *together;
  move_vec *moves;
  uint32_t there;          /* the messages sent in this case, as a bit set */
  uint64_t compatible[64]; /* by reception: the receptions compatible with it */
  const char *name;
};

static bool nosplit_move(struct nosplit_builder *x, uint64_t chances) {
  struct round_builder *r = x->r;
  struct derivation_builder *d = r->d;
  r->move = round_move_new(d, r->point, x->name);
  r->only = chances;
  vec_clear(&r->amounts);
  vec_clear(&r->local_moves);
  round_forget_conditions(r);
  for (uint32_t l = 0; l < d->d->locals.n; l++)
    r->arrivals[l] = NULL;
  for (uint32_t m = 0; m < r->columns.nm; m++)
    round_require(r, x->there >> m & 1 ? amount_some(r, make_sum(d, r->sent[m], NULL)) : amount_none(r, r->sent[m]));
  return r->in_turns ? round_make_turns(r, x->together, x->moves) : round_make_joint_move(r, x->together, x->moves);
}

static int members(uint64_t set) { return __builtin_popcountll(set); }

/* The candidate or already tried reception that is compatible with the most candidates. */
static uint32_t pivot(const struct nosplit_builder *x, uint64_t may, uint64_t done) {
  uint32_t best = 0;
  int most = -1;
  for (uint32_t i = 0; i < 64; i++)
    if ((may | done) >> i & 1 && members(may & x->compatible[i]) > most) {
      best = i;
      most = members(may & x->compatible[i]);
    }
  return best;
}

/* Bron & Kerbosch 1973, with pivots: the maximal sets of pairwise compatible receptions.
   Neighbours of the pivot need not be tried: they occur in a clique with the pivot or with another candidate that is
   tried. */
static bool cliques(struct nosplit_builder *x, uint64_t in, uint64_t may, uint64_t done) {
  struct derivation_builder *d = x->r->d;
  if (derive_stopped(d))
    return false;
  if (!may && !done)
    return x->moves->n < MOVES_MAX ? nosplit_move(x, in)
                                   : derive_refuse(d, d->heard.coupling_clause->at,
                                                   "there are too many ways for all to have heard something in common");
  uint64_t tried = may ? may & ~x->compatible[pivot(x, may, done)] : 0;
  for (uint32_t i = 0; i < 64; i++) {
    uint64_t one = (uint64_t)1 << i;
    if (!(tried & one))
      continue;
    if (!cliques(x, in | one, may & x->compatible[i], done & x->compatible[i]))
      return false;
    may &= ~one;
    done |= one;
  }
  return true;
}

/* The receptions that are possible when exactly these messages are sent. */
static uint64_t receptions_possible(struct nosplit_builder *x) {
  struct round_builder *r = x->r;
  const struct reception_columns *columns = &r->columns;
  uint64_t found = 0;
  struct solver *s = reception_facts(columns);
  for (uint32_t m = 0; m < columns->nm; m++) {
    uint32_t column = column_may(columns, m);
    int64_t one[2] = {-1, 1};
    if (x->there >> m & 1)
      solver_add_row(s, one, 2, false, &column);
    else
      solver_add_value(s, column, 0);
  }
  r->certain_receptions = 0;
  for (uint32_t i = 0; i < r->receptions.n && !derive_stopped(r->d) && solver_check(s) != ANSWER_NO; i++) {
    const struct reception *c = &r->receptions.at[i];
    bool possible = false;
    for (size_t k = 0; k < c->cubes.n && !possible && !derive_stopped(r->d); k++) {
      solver_push(s);
      solver_add_cube(s, &c->cubes.at[k], NULL);
      possible = solver_check(s) != ANSWER_NO;
      solver_pop(s);
    }
    found |= (uint64_t)possible << i;
    r->certain_receptions |= (uint64_t)(!c->witness && cubes_cover(s, &c->cubes)) << i;
  }
  solver_free(s);
  return found;
}

bool round_make_nosplit_moves(struct round_builder *r, const bool *together, move_vec *moves) {
  struct derivation_builder *d = r->d;
  const struct schedule_point *at = &d->reached.at[r->point];
  struct nosplit_builder x = {r, together, moves, 0, {0}, r->move.name};
  bool ok = true;
  for (size_t i = 0; i < at->locals.n && ok; i++) { /* finds all receptions */
    successor_reason_vec reasons = {0};
    ok = !local_active(d, at->locals.at[i]) || successor_reasons_find(r, at->locals.at[i], &reasons);
    vec_release(&reasons);
  }
  if (ok && r->receptions.n > 64)
    return derive_refuse(d, d->heard.coupling_clause->at, "there are too many things to have heard in common");
  for (x.there = 1; ok && x.there < (uint32_t)1 << r->columns.nm; x.there++) {
    uint64_t all = receptions_possible(&x), candidates = 0;
    for (uint32_t i = 0; i < r->receptions.n; i++) {
      const struct reception *a = &r->receptions.at[i];
      const struct guarded_update *way = &a->outcomes->cases.at[a->way];
      x.compatible[i] = 0;
      if (!(all >> i & 1) || !receptions_compatible(way, way, x.there))
        continue;
      candidates |= (uint64_t)1 << i;
      for (uint32_t k = 0; k < r->receptions.n; k++) {
        const struct reception *b = &r->receptions.at[k];
        if (k != i && all >> k & 1 && receptions_compatible(way, &b->outcomes->cases.at[b->way], x.there))
          x.compatible[i] |= (uint64_t)1 << k;
      }
    }
    ok = !derive_stopped(d) && (!candidates || cliques(&x, 0, candidates, 0));
  }
  return ok;
}
