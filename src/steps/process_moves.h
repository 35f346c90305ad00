/* The moves of processes, computed from the outcomes of their actions. */
#ifndef RONDO_STEPS_PROCESS_MOVES_H
#define RONDO_STEPS_PROCESS_MOVES_H

#include "steps/moves.h"
#include "system/memo.h"

struct dead_message_cache;
struct joint_cache;
struct message_moves;
struct move_cache;
struct process_relevant_fields;
struct step_system;

struct move_tables {   /* for one process */
  struct intern *seen; /* [local, globals, byzantine, inbox...] */
  VEC(struct moves *) moves;
};

struct moves_store {
  struct arena arena;
  struct arena short_keyed; /* short moves, stored contiguously because they are read very often */
  struct arena transient;   /* moves that are not cached, because there are too many */
  struct inbound **inbound; /* by process */
  uint32_t *ninbound;
  struct move_tables *move_tables;                         /* by process */
  VEC(struct process_relevant_fields) * relevant_by_state; /* by role: by local state */
  uint64_t *memory_used;                                   /* by role: the bits of shared memory that it uses */
  uint64_t always_used;                                    /* globals that matter in every local state */
  size_t enabled_most; /* upper bound on the entries of enabled_moves when moves are looked up by message */
  struct message_moves *per_message; /* by process */
  struct move_cache *move_caches;
  struct joint_cache *joint_caches;
  uint32_t njoint_caches;
  struct memo sends_of; /* (sends, process) -> compiled_sends */
  VEC(struct channel_sends *) compiled_sends;
  struct intern *dead_message_cache_of;
  VEC(struct dead_message_cache *) dead_messages;
  size_t move_bytes, short_bytes;
  content *inbox, *after; /* scratch */
  VEC(struct move) new_moves;
  struct short_moves *nothing; /* shared by all processes without a move */
};

void moves_store_init(struct step_system *);
void moves_store_release(struct step_system *);
size_t moves_store_bytes(const struct step_system *);
/* All moves of process p in the state in system->words. Valid until the next call. */
struct moves *moves_of(struct step_system *, uint32_t p, uint32_t byzantine);
/* All moves that take one message (NO_MESSAGE_ID: none), as short moves without the change to its channel. NULL: some
   of them are not short. */
struct short_moves *moves_on_message(struct step_system *, uint32_t p, content local, uint32_t in, message_id);
/* Must a crash in the middle of that action (NO_ACTION: between two actions) be explored? */
bool crash_matters(const struct step_system *, uint32_t role, uint32_t action);
/* Is the message dead for a receiver in that local state? Cached. */
__attribute__((cold)) bool dead_message_lookup(struct step_system *, struct dead_message_cache *, content local);

#endif
