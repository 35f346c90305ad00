/* Local steps, each computed once by the interpreter:
     projection: what a local step depends on besides its messages: role, point, and the variables that it reads
     bag: the received messages; (projection, bag) -> updates
     update: what a local step changes; (local state, update) -> local state */
#ifndef RONDO_LOCKSTEP_LOCKSTEP_LOCAL_STEPS_H
#define RONDO_LOCKSTEP_LOCKSTEP_LOCAL_STEPS_H

#include "analysis/read_sets.h"
#include "base/vec.h"
#include "interp/local.h"
#include "lockstep/state_pack.h"
#include "system/memo.h"

struct lockstep;

struct list { /* of ids; immutable */
  uint32_t *at;
  uint32_t n;
};

#define UPDATE_IDLE UINT32_MAX /* no change, except that oracles are reset */
#define UPDATE_CRASH (UINT32_MAX - 1)

/* An error while sending is an alternative of its own: SENDING_ERROR plus the index of the error. */
#define SENDING_ERROR 0x80000000u

struct local_step_tables {
  struct read_set **sends, **updates; /* by role and point */
  struct intern *projections, *bags, *local_updates;
  struct memo projection_of;  /* (local and point, me and phase and globals) -> projection */
  struct memo steps;          /* (projection, bag) -> lists */
  struct memo after;          /* (local and point, update) -> local */
  struct memo round_sends_of; /* projection of sends -> alternatives */
  struct memo named_of;       /* projection -> lists: the senders it names */
  struct memo oracles_of;     /* (local, point) -> lists: the local states after choosing oracles */
  VEC(struct list) lists;
  VEC(struct model_error) errors;
  VEC(struct local_send_list) round_sends; /* one run of the sending code each */
  VEC(struct list) alternatives;           /* of round_sends */
};

void local_step_tables_init(struct local_step_tables *, const struct model *, struct arena *);
void local_step_tables_release(struct local_step_tables *);
size_t local_step_tables_bytes(const struct local_step_tables *);

void *arena_keep_array(struct arena *, const void *from, size_t n, size_t each); /* a copy; never NULL */
uint32_t projection_of(struct lockstep *, local_id, uint32_t point, uint32_t me, value phase, uint32_t globals);
const struct list *step_updates(struct lockstep *, uint32_t context, const value *bag, size_t length);
/* Like step_updates, but computed anew, with the decisions that depend on message counts; returns an index in lists. */
uint32_t step_updates_traced(struct lockstep *, uint32_t context, const value *bag, size_t length, struct decisions *);
const struct list *send_alternatives(struct lockstep *, local_id, uint32_t point, uint32_t me, value phase,
                                     uint32_t globals);
local_id local_after(struct lockstep *, local_id, uint32_t point, uint32_t update);
uint32_t update_error(const struct lockstep *, uint32_t update);
void add_unique(uint32_t **at, size_t *n, size_t *cap, uint32_t x);

#endif
