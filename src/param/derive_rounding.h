/* The moves of a round, while they are made: what derive_round.c, derive_options.c, derive_spread.c, derive_flow.c and
   derive_nosplit.c share. Internal to src/param. */
#ifndef RONDO_PARAM_DERIVE_ROUNDING_H
#define RONDO_PARAM_DERIVE_ROUNDING_H

#include "param/derive_internal.h"

#include <string.h>

/* What may become of a local state. */
struct option {
  uint32_t target;
  struct term *can;
  bool always;
};
typedef VEC(struct option) option_vec;

/* A way to become that; there: condition that somebody decides so, NULL: it is itself. */
struct reason {
  uint32_t target, chance;
  struct term *there;
};
typedef VEC(struct reason) reason_vec;

typedef VEC(uint32_t) chance_vec;
struct joint { /* any of several chances */
  chance_vec of;
  struct term *can;
  bool always;
};

struct rounding {
  struct listening ear;
  struct deriving *d;
  uint32_t point;
  struct counter_move move; /* of the whole round */
  VEC(struct counter_name) amounts;
  VEC(struct chance) chances;
  VEC(struct joint) joints;
  uint64_t only; /* 0: all chances; NOSPLIT: those that go together */
  uint64_t sure; /* NOSPLIT: those that are always possible in this case */
  struct term **may, **must; /* by message: how many may be heard, must be */
  struct term **heard;       /* UNIFORM: by message: how many are, by everybody */
  struct term *byzantine;
  struct term **arrivals; /* by local state: how many come */
  struct term **crashing; /* by local state: how many crash in this round, NULL: none */
  VEC(struct moved) moved;
};

/* ---- the move of the whole round (derive_round.c) ---- */
struct term *round_amount(struct rounding *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void round_require(struct rounding *, struct term *condition);
struct term *amount_none(struct rounding *, struct term *amount);
struct term *amount_some(struct rounding *, struct term *amount);
struct counter_move round_move_new(struct deriving *, uint32_t point, const char *name);
/* A step property is broken for good once some of these processes do what it forbids. */
bool round_note_broken(struct rounding *, struct counter_move *);
/* The move of the whole round, of these parts. */
bool round_make_whole(struct rounding *, const bool *together, move_vec *);

/* ---- conditions (derive_options.c) ---- */
bool reasons_find(struct rounding *, uint32_t local, reason_vec *);
bool options_find(struct rounding *, uint32_t local, option_vec *);
const struct option *options_to(const option_vec *, uint32_t target); /* NULL: there is none */

/* ---- a part that changes as a whole (derive_spread.c) ---- */
bool round_spread(struct rounding *, uint32_t part);
/* What comes replaces what was there; who takes no part stays. */
void round_settle(struct rounding *, const bool *together);

/* ---- a part that changes before that, one after the other (derive_flow.c) ---- */
bool round_change_part(struct rounding *, uint32_t part, move_vec *);

/* ---- no two processes hear disjoint sets (derive_nosplit.c) ---- */
bool round_make_nosplit(struct rounding *, const bool *together, move_vec *);

#endif
