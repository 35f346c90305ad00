/* One process's step: which actions it can take, with which messages, and what comes of each. The reference
   (interp/event_step.c) and the caches of src/steps both call this, and nothing else runs actions. */
#ifndef RONDO_INTERP_ACTION_H
#define RONDO_INTERP_ACTION_H

#include "interp/eval.h"

/* A message as it leaves: one for each receiver, receivers in ascending order, in the order of the sends. Those to
   Byzantine receivers are among them. */
struct outgoing_message {
  uint32_t to, kind;
  value message;
  struct span at;
};
struct outbox {
  struct outgoing_message *at;
  size_t n, cap;
};
void outbox_release(struct outbox *);

/* A message that a process can take or look at. What an action does depends on sender, kind and content alone; the rest
   comes back to whoever asked for quorums. */
struct inbox_entry {
  uint32_t from, kind;
  value message;
  enum packet_place place;
  bool forged;
};
struct inbox {
  const struct inbox_entry *at; /* sorted by sender; equal ones adjacent */
  uint32_t n;
};

/* Can `me`, in that local state, be asked at all: right program point, `once` not used up, not crashed, halted or
   Byzantine? Messages and guard aside. */
bool action_open(const struct model *, uint32_t role, const value *local, uint32_t action);

/* Does this message match the action's pattern (kind and match)? Errors: *failed is set, and the answer is false. */
bool action_matches(struct interpreter *, uint32_t action, uint32_t me, const value *local, const value *globals,
                    const struct inbox_entry *, bool *failed, struct model_error *error);

/* The smallest number of messages that a quorum needs. False: an error of the model. */
bool action_size(struct interpreter *, uint32_t action, uint32_t me, const value *local, const value *globals,
                 int64_t *size, struct model_error *error);

enum action_result {
  ACTION_REFUSED, /* messages do not fit together, or the guard does not hold */
  ACTION_DONE,
  ACTION_ERROR,
  ACTION_BAD_SCRIPT
};

/* Where the last assignment to each variable of the process, and to each global, stands; {0, 0}: there was none.
   Either may be NULL. */
struct assigned_places {
  struct span *local, *shared;
};

/* Takes the action, if it is `open`, with exactly these messages (none, one, or a quorum: ascending by sender, one from
   each at most; all of them match, and they are as many as it needs), with the free choices of `choices`. local and
   globals are changed in place (they are undefined unless DONE), what is sent goes to the outbox, which is emptied
   first. In this order: the guard; then the program point and `once` advance; then the body, whose `goto` comes last.
 */
enum action_result action_take(struct interpreter *, uint32_t action, uint32_t me, value *local, value *globals,
                               const struct inbox_entry *messages, uint32_t n, struct choices *, struct outbox *,
                               const struct assigned_places *, struct model_error *error);

/* All quorums that fit, out of messages that all match: every set of at least `size` of them (`exactly`: just so many)
   with at most one from each sender and equal `same` parts, ascending by sender; equal messages count once. The empty
   one is among them if no more are needed and nothing is asked to be the same. The guard is not looked at. False: the
   callback stopped, or interp->stop did. */
typedef bool quorum_fn(void *context, const struct inbox_entry *messages, uint32_t n);
bool action_quorums(struct interpreter *, uint32_t role, uint32_t action, int64_t size, const struct inbox *matching,
                    quorum_fn *, void *context);

/* What a crashed process becomes when it recovers, in place: variables that are not stable have first values again
   (computed anew, from what is stable and from the globals as they are), and it is at its first program point after
   `start`. False: an error of the model. */
bool action_recover(struct interpreter *, uint32_t me, value *local, const value *globals, struct choices *,
                    struct model_error *error);

#endif
