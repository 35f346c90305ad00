/* What a process can do.
   move   an outcome applied to a state: new contents of cells, and messages to send
   moves  everything that a process can do, given the state that it sees: its local state, its inbound channels,
          and globals */
#ifndef RONDO_STEPS_MOVES_H
#define RONDO_STEPS_MOVES_H

#include "interp/event_step.h"
#include "steps/channel_contents.h"
#include "steps/packed_keys.h"

struct model_error;

struct patch {
  uint32_t cell;
  content to;
};

struct dead_message_cache { /* for one message from one process to another; by local state of the receiver: 0: not
                               computed, 1: live, 2: dead */
  uint8_t *of;
  uint32_t n;
  uint32_t from, to;
  message_id message_id;
};

struct channel_send {
  uint32_t cell, to;
  struct append_table *append;
  struct dead_message_cache *dead; /* NULL: the message is never dead */
};
struct channel_sends {
  struct channel_send *at;
  uint32_t n;
};

struct move {
  enum event_kind kind;
  uint32_t action; /* ACTION: the action; CRASH: the interrupted action, or NO_ACTION */
  uint32_t sender; /* for an action that takes one message */
  const struct patch *patches;
  uint32_t npatches;
  bool writes;                       /* some global changes */
  bool special;                      /* more than patches and sends */
  bool lie;                          /* ACTION that takes a message forged by a Byzantine process */
  bool optional;                     /* liveness queries: a run may end while this move is enabled */
  const struct channel_sends *sends; /* or NULL */
  uint32_t sent;                     /* ACTION: all messages sent, in steps->sends */
  uint32_t whole; /* CRASH in an action: 1 + index of that action among the moves, which must be enabled too */
  uint16_t lost, duplicated, became_faulty;
  uint64_t broken;           /* step properties about a single process that this move violates */
  uint32_t group;            /* ACTION: its fairness group, or NO_GROUP */
  uint32_t adversary_choice; /* almost-sure properties: equal for all results of the same adversary choices */
  bool used_coin;            /* almost-sure properties: it depends on a coin */
  const struct model_error *error;
};

/* A move that consists of patches and sends only, compiled for keys of up to SHORT_KEY_WORDS words. Without short
   moves, Paxos takes 7 % more instructions. */
struct short_send {
  uint64_t mask; /* of the field of its channel, shifted to bit 0 */
  struct append_table *append;
  struct dead_message_cache *dead; /* NULL: the message is never dead */
  uint32_t to;
  uint8_t word, shift;
};
struct short_move {
  const struct short_send *sends;
  uint32_t nsends;
  bool invisible;   /* no state property reads what it changes */
  uint64_t masks[]; /* the bits to keep, then the bits to set: 2 or 4 words each */
};
struct moves;
struct short_moves { /* the moves of a process: the most frequently read data, in one block */
  struct moves *of;
  uint32_t n;
  bool short_keyed; /* the moves are compiled into `at`; otherwise they are only in `of` */
  uint64_t at[];    /* short_keyed: records of struct short_move, short_move_size bytes each */
};
static inline uint32_t short_key_words(const struct keys *k) { return k->nwords <= 2 ? 2 : SHORT_KEY_WORDS; }
static inline size_t short_move_size(uint32_t words) {
  return sizeof(struct short_move) + 2 * words * sizeof(uint64_t);
}

struct moves {
  struct move *at;
  uint32_t n;
  const uint32_t *groups; /* fairness: the enabled groups of the process, without forged messages */
  uint32_t ngroups;
  uint32_t process;
  content local; /* the local state of the process */
  bool cached;
  bool short_only;                 /* no move is special */
  uint32_t layout;                 /* the key layout that `short_keyed` was compiled for; 0: none */
  struct short_moves *short_keyed; /* cached, for the current key layout */
};

struct inbound {
  uint32_t from, cell;
};

#endif
