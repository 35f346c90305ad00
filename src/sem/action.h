/* One process's step: which actions it can take, with which messages, and what comes of each. The reference
   (sem/events.c) and the tables of the fast space (src/interleave) both call this, and nothing else runs actions. */
#ifndef RONDO_SEM_ACTION_H
#define RONDO_SEM_ACTION_H

#include "sem/eval.h"

/* A message as it leaves: one for each receiver, receivers in ascending order, in the order of the sends. */
struct posted {
  uint32_t to, kind;
  value message;
  struct span at;
};
struct outbox {
  struct posted *at;
  size_t n, cap;
};
void outbox_release(struct outbox *);

/* A message that a process can take or look at. */
struct inbox_entry {
  uint32_t from, kind;
  value message;
};
struct inbox {
  const struct inbox_entry *at; /* sorted by sender, then kind, then content; equal ones adjacent */
  uint32_t n;
};

/* Can `me`, in that local state, be asked at all: right program point, `once` not used up, not crashed, halted or
   Byzantine? Messages and guard aside. */
bool action_open(const struct model *, uint32_t role, const value *local, uint32_t action);

/* Does this message match the action's pattern (kind and match)? Errors: in *error, and *failed is set. */
bool action_matches(struct meaning *, uint32_t action, uint32_t me, const value *local, const value *globals,
                    const struct inbox_entry *, bool *failed, struct model_error *error);

/* The smallest number of messages that a quorum needs. */
bool action_size(struct meaning *, uint32_t action, uint32_t me, const value *local, const value *globals,
                 int64_t *size, struct model_error *error);

enum action_result {
  ACTION_REFUSED, /* messages do not fit together, or the guard does not hold */
  ACTION_DONE,
  ACTION_ERROR,
  ACTION_BAD_SCRIPT
};

/* Takes the action with exactly these messages (none, one, or a quorum: at most one from each sender; all of them match,
   and if it is `open`), with the free choices of `choices`. local and globals are changed in place (they are undefined
   unless DONE), what is sent goes to the outbox. assigned_at: by variable, or NULL. */
enum action_result action_take(struct meaning *, uint32_t action, uint32_t me, value *local, value *globals,
                               const struct inbox_entry *messages, uint32_t n, struct choices *, struct outbox *,
                               struct span *assigned_at, struct model_error *error);

/* All quorums that fit, from what is there: every set of at least `size` matching messages with at most one from each sender and equal `same`
   parts. The guard is not looked at. False: the callback stopped. */
typedef bool quorum_fn(void *context, const struct inbox_entry *messages, uint32_t n);
bool action_quorums(struct meaning *, uint32_t action, uint32_t me, const value *local, const value *globals,
                    const struct inbox *, quorum_fn *, void *context, struct model_error *error);

/* What a process of the role becomes when it recovers: variables that are not stable have first values again, and it is
   at its first program point after `start`. */
bool action_recover(struct meaning *, uint32_t me, value *local, const value *globals, struct choices *,
                    struct model_error *error);

#endif
