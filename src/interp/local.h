/* One process's part of a round: its sends and its update. */
#ifndef RONDO_INTERP_LOCAL_H
#define RONDO_INTERP_LOCAL_H

#include "interp/eval.h"

struct local_send {
  enum target_kind target;
  uint32_t to_role; /* SET */
  value to;         /* ONE: an identity; EXPR: a set of identities */
  value message;
  const struct type *type;
  struct span at;
};

struct local_send_list {
  struct local_send *at;
  size_t n, cap;
};

bool process_active(value status); /* takes part in rounds or takes steps: not crashed, halted or Byzantine */
bool local_send_lists_equal(const struct local_send_list *,
                            const struct local_send_list *); /* source positions are ignored */
bool round_send_reaches(const struct model *, const struct local_send *, uint32_t from, uint32_t to);

/* Prepares an evaluation for process `me` in local state `local`, which an update changes in place. */
void local_begin(struct eval *, struct interpreter *, uint32_t me, uint32_t point, value phase, value *local,
                 const value *globals);
/* One run with the script in e->choices. False: a model error, in e->error. */
bool local_sends(struct eval *, struct local_send_list *);
bool local_update(struct eval *, const struct received *);

/* An oracle chosen at this point can take any value of its type; at other points it keeps its value. */
bool oracle_chosen_at(const struct model *, const struct var *, uint32_t point);
/* The value that the process chooses in this round for its variable number `var`. NULL: it chooses none. */
const value *oracle_choice(const struct model *, const struct config *, const struct witness *, uint32_t process,
                           uint32_t var);
/* After the round at `point`: oracles that expire, and all oracles of a process that crashed or halted, get their
   type's first value. */
void local_reset_oracles(struct interpreter *, uint32_t role, uint32_t point, value *local);
uint32_t role_noracles(const struct role *);

/* Gives variable number i of e->local its first value; the variables before it must have theirs. */
void local_first_value(struct eval *, uint32_t i);
/* All local states in which process p can start, including the Byzantine and omission faults of the environment (the
   caller checks their limits). Each has length role_local_length. */
struct locals {
  value *at;
  size_t n, cap, length;
};
bool local_initials(struct interpreter *, uint32_t environment, uint32_t p, const value *globals, struct locals *,
                    struct model_error *);
void locals_release(struct locals *);

#endif
