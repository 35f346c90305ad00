/* Caches of the moves of a process by local state and message. */
#ifndef RONDO_STEPS_PER_MESSAGE_H
#define RONDO_STEPS_PER_MESSAGE_H

#include "steps/moves.h"

struct step_system;

struct channel_receives;

struct message_moves_row {  /* for a process in some local state */
  struct short_moves **of;  /* [inbound * room + message_id]; NULL: not computed */
  struct short_moves *none; /* moves that take no message; NULL: nothing is computed */
  uint32_t room;
  bool at_once; /* moves cannot be found message by message; look up all together */
};
struct message_moves_channel { /* an inbound channel: its field in keys, and the messages that can be taken from it */
  uint64_t mask;
  const struct channel_receives *receives;
  const struct key_field *field;
  uint32_t word, cell;
  uint8_t shift;
};
struct message_moves { /* for one process */
  bool used;
  uint32_t n;
  struct message_moves_row *rows; /* by local state */
  struct message_moves_channel *in, *end;
  uint64_t mask; /* of its local state in the key */
  uint32_t word;
  uint8_t shift;
};
/* Can all processes use these caches if keys are short? If so, windows are not needed. */
bool message_moves_suit(const struct step_system *);
void message_moves_release(struct step_system *);
void message_moves_clear(struct step_system *); /* after a new key layout */
size_t message_moves_bytes(const struct step_system *);
/* Enabled moves: all moves of a process, or the moves on one message together with the rest of its channel. */
struct enabled_moves {
  struct short_moves *moves;
  const struct key_field *channel; /* NULL: all moves of the process */
  content rest;
};
/* Adds the moves of p in the current state, message by message, to system->enabled_moves. False: they must be looked up
   with moves_of. */
bool message_moves_lookup(struct step_system *, uint32_t p);

#endif
