/* One process's step: which actions it can take, with which messages, and with what result. The reference
   (interp/event_step.c) and the caches of src/steps both call these functions, and no other code runs actions. */
#ifndef RONDO_INTERP_ACTION_H
#define RONDO_INTERP_ACTION_H

#include "interp/eval.h"

/* Sent messages, one entry for each receiver: in the order of the sends, receivers ascending. Messages to Byzantine
   receivers are included. */
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

/* A message that a process can take or look at. The effect of an action depends on sender, kind and content only; the
   other fields are returned to the caller of action_quorums. */
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

/* Is the action enabled, apart from messages and guard: is `me` at the right program point, is `once` not used up, and
   is it not crashed, halted or Byzantine? */
bool action_open(const struct model *, uint32_t role, const value *local, uint32_t action);

/* Does this message match the action's pattern (kind and match)? On an error, *failed is set, and the result is false.
 */
bool action_matches(struct interpreter *, uint32_t action, uint32_t me, const value *local, const value *globals,
                    const struct inbox_entry *, bool *failed, struct model_error *error);

/* The smallest number of messages that a quorum needs. False: a model error. */
bool action_size(struct interpreter *, uint32_t action, uint32_t me, const value *local, const value *globals,
                 int64_t *size, struct model_error *error);

enum action_result {
  ACTION_REFUSED, /* the messages do not match, or the guard does not hold */
  ACTION_DONE,
  ACTION_ERROR,
  ACTION_BAD_SCRIPT
};

/* The source position of the last assignment to each variable of the process, and to each global; {0, 0}: there was
   none. Either may be NULL. */
struct assigned_places {
  struct span *local, *shared;
};

/* Takes the action with exactly these messages and with the free choices of `choices`. The action must be open
   (action_open). The messages are none, one, or a quorum: ascending by sender, at most one from each; all of them
   match, and there are as many as it needs. local and globals are changed in place (they are undefined unless the
   result is DONE). Sent messages go to the outbox, which is cleared first. The order is: the guard; then the program
   point and `once` advance; then the body, whose `goto` comes last. */
enum action_result action_take(struct interpreter *, uint32_t action, uint32_t me, value *local, value *globals,
                               const struct inbox_entry *messages, uint32_t n, struct choices *, struct outbox *,
                               const struct assigned_places *, struct model_error *error);

/* All quorums out of messages that all match: every set of at least `size` of them (`exactly`: of exactly that size)
   with at most one from each sender and equal `same` parts, ascending by sender; equal messages count once. The empty
   set is included if no message is needed and there is no `same` part. The guard is not evaluated. False: the callback
   or interp->stop stopped it. */
typedef bool quorum_fn(void *context, const struct inbox_entry *messages, uint32_t n);
bool action_quorums(struct interpreter *, uint32_t role, uint32_t action, int64_t size, const struct inbox *matching,
                    quorum_fn *, void *context);

/* Recovery of a crashed process, in place: variables that are not stable get their first values again (recomputed from
   the stable variables and the current globals), and the process is at its first program point after `start`. False: a
   model error. */
bool action_recover(struct interpreter *, uint32_t me, value *local, const value *globals, struct choices *,
                    struct model_error *error);

#endif
