/* Construction of the moves of a round: shared by derive_round.c, derive_successors.c, derive_distribution.c,
   derive_part_moves.c and derive_nosplit.c. Private to src/param. */
#ifndef RONDO_PARAM_DERIVE_ROUND_INTERNAL_H
#define RONDO_PARAM_DERIVE_ROUND_INTERNAL_H

#include "param/derive_internal.h"

#include <string.h>

/* A possible successor of a local state, with its condition `can`. */
struct local_successor {
  uint32_t target;
  struct term *can;
  bool always;
};
typedef VEC(struct local_successor) local_successor_vec;

/* A reception (index `chance`) that leads to the target. there: the condition that a part in the deciding local state
   exists; NULL: the local state decides itself. */
struct successor_reason {
  uint32_t target, chance;
  struct term *there;
};
typedef VEC(struct successor_reason) successor_reason_vec;

typedef VEC(uint32_t) reception_set;
struct reception_union { /* a disjunction of receptions */
  reception_set of;
  struct term *can;
  bool always;
};

struct frozen_number { /* a number that does not change during a round in turns */
  uint32_t counter;
  struct term *is; /* when the round begins */
};

struct round_builder {
  struct reception_columns columns;
  struct derivation_builder *d;
  uint32_t point;
  struct counter_move move; /* the joint move of the round */
  VEC(struct counter_name) amounts;
  VEC(struct reception) receptions;
  VEC(struct reception_union) unions;
  uint64_t only;               /* 0: all receptions; NOSPLIT, UNIFORM: those of the current move */
  uint64_t certain_receptions; /* NOSPLIT, UNIFORM: receptions that are always possible in the current move */
  struct term **may, **must;   /* by message: how many may be heard, must be heard */
  struct term **sent;          /* by message: how many may be heard, when the round begins */
  struct term **heard;         /* UNIFORM: by message: how many every process hears */
  struct term *byzantine;
  bool in_turns;
  VEC(struct frozen_number) frozen;
  struct term **pool;     /* in turns: by local state, the processes that have not changed yet; NULL: not separate */
  uint32_t turn;          /* in turns: the last value of the control that is used */
  bool *chooses;          /* by local state of the leader: it has several successors; NULL: not asked */
  uint32_t leads;         /* of these, the one that the leader is in; UINT32_MAX: none */
  uint32_t leads_to;      /* and the next one */
  struct term **arrivals; /* by local state: how many processes enter it */
  struct term **crashing; /* by local state: how many crash in this round; NULL: none */
  VEC(struct local_move) local_moves;
};

/* ---- the joint move of the round (derive_round.c) ---- */
struct term *round_amount(struct round_builder *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void round_require(struct round_builder *, struct term *condition);
struct term *amount_none(struct round_builder *, struct term *amount);
struct term *amount_some(struct round_builder *, struct term *amount);
struct counter_move round_move_new(struct derivation_builder *, uint32_t point, const char *name);
void round_move_finish(struct round_builder *); /* the amounts of the move */
/* Adds a copy of the move for each possible next round. */
void round_add_onward(struct round_builder *, move_vec *);
void round_forget_conditions(struct round_builder *); /* computed for other numbers of messages, or another move */
/* Sets the control of a violated step property if a local move that it forbids has a nonzero amount. It is
   never reset. */
bool round_mark_violations(struct round_builder *, struct counter_move *);
/* The joint move of the round, for the parts in `together`. */
bool round_make_joint_move(struct round_builder *, const bool *together, move_vec *);
bool round_make_one_joint_move(struct round_builder *, const bool *together, move_vec *);

/* ---- coordinators (derive_leader.c) ---- */
/* A joint move for each choice of the leader, instead of an amount: its local state is control. */
bool leader_joint_moves(struct round_builder *, const bool *together, move_vec *);
/* In each part, as many processes of a class crash. */
void leader_crashes_together(struct round_builder *, const bool *together);

/* ---- conditions (derive_successors.c) ---- */
bool successor_reasons_find(struct round_builder *, uint32_t local, successor_reason_vec *);
bool successors_find(struct round_builder *, uint32_t local, local_successor_vec *);
struct term *reception_condition(struct round_builder *, uint32_t reception);
const struct local_successor *successor_to(const local_successor_vec *, uint32_t target); /* NULL: none */

/* ---- in turns (derive_turns.c) ---- */
/* From now on, conditions are about numbers that do not change during the round. */
void round_freeze(struct round_builder *);
void round_unfreeze(struct round_builder *, struct term **must, struct term *byzantine); /* back to these */
/* The move of the round begins it; these are the moves that follow. */
bool round_make_turns(struct round_builder *, const bool *together, move_vec *);

/* ---- parts that change in the joint move (derive_distribution.c) ---- */
bool part_has_step_property(const struct derivation_builder *, uint32_t part);
bool same_successor(const struct local_successor *, const struct local_successor *);
/* How many processes there are in this local state that do not crash in this round. */
struct term *remaining_count(struct round_builder *, uint32_t local);
bool round_distribute(struct round_builder *, uint32_t part);
void round_arrive(struct round_builder *, uint32_t local, uint32_t to); /* all that do not crash */
/* The arrivals replace the old counts. Processes that do not take part in the round stay. */
void round_update_counters(struct round_builder *, const bool *together);

/* ---- parts that change before the joint move, one after the other (derive_part_moves.c) ---- */
bool round_add_part_moves(struct round_builder *, uint32_t part, move_vec *);

/* ---- no two processes hear disjoint sets (derive_nosplit.c) ---- */
bool round_make_nosplit_moves(struct round_builder *, const bool *together, move_vec *);

/* ---- all processes hear the same set (derive_uniform.c) ---- */
/* Amounts for the numbers that they all hear. */
void round_choose_heard(struct round_builder *);
bool round_make_uniform_moves(struct round_builder *, const bool *together, move_vec *);

#endif
