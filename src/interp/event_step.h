/* One event by plain interpretation: config_step, config_allows and config_successors for models of steps, and the
   functions they share. */
#ifndef RONDO_INTERP_EVENT_STEP_H
#define RONDO_INTERP_EVENT_STEP_H

#include "interp/events.h"

enum step_result event_step(struct interpreter *, uint32_t environment, const struct config *, const struct witness *,
                            struct config *next, struct step_log *, struct model_error *);
bool event_allows(struct interpreter *, uint32_t environment, const struct config *, const struct witness *,
                  const char **why);
bool event_all_steps(struct interpreter *, uint32_t environment, const struct config *, config_step_fn *,
                     void *context);

/* Only the events in which process p takes that action, or crashes in the middle of it. NO_ACTION: p crashes between
   two actions or recovers, or a pending message to p is delivered or lost. */
bool event_steps_of(struct interpreter *, uint32_t environment, const struct config *, uint32_t p, uint32_t action,
                    config_step_fn *, void *context);

/* Applies the event with these choices; the event's own script is ignored. Messages that the process sends go to `out`
   (a crash: all that it would have sent). BAD_WITNESS: the event is impossible here in any environment. */
enum step_result event_apply(struct interpreter *, const struct environment *, const struct config *,
                             const struct event *, struct choices *, struct outbox *out, struct config *next,
                             struct step_log *, struct model_error *);
/* Does the environment allow the event, given its result? next is used only if the result is STEP_OK. */
bool event_allowed(struct interpreter *, const struct environment *, const struct config *, const struct event *,
                   enum step_result, const struct config *next, const char **why);

/* packets.c: pending messages */
#define NO_PACKET UINT32_MAX
/* The oldest packet equal to this one. */
uint32_t packet_find(const struct config *, const struct packet *like);
/* The oldest packet of a FIFO channel, or the oldest in transit; NO_PACKET: there is none. */
uint32_t packet_oldest(const struct config *, uint32_t from, uint32_t to, bool in_transit);
void packet_post(struct interpreter *, struct channels, struct config *, struct packet);
void packet_remove(struct config *, uint32_t i);
void packet_move(struct interpreter *, struct channels, struct config *, uint32_t i, enum packet_place);
/* The packet of a taken message that was not forged. */
struct packet packet_of(const struct taken_message *, uint32_t to, uint32_t kind);
/* Does the action take its messages, or does it only look at them? */
bool action_consumes(const struct action *);

/* Like event_steps_of, in an environment that need not be the model's. */
bool event_steps_in(struct interpreter *, const struct environment *, const struct config *, uint32_t process,
                    uint32_t action, config_step_fn *, void *context);

#endif
