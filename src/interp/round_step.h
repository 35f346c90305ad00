/* The pieces of a plain round, shared by the reference step and by the environment's judgement of it. */
#ifndef RONDO_INTERP_ROUND_STEP_H
#define RONDO_INTERP_ROUND_STEP_H

#include "interp/local.h"

void script_keep(struct script *, const struct choices *); /* those that were taken */
/* A process's local state with the oracles that are chosen in this round, for memory_free. */
value *local_with_oracles(const struct model *, const struct config *, const struct witness *, uint32_t process);

/* A round half done: oracles chosen, messages computed. */
struct message_exchange {
  struct interpreter *interp;
  const struct config *config;
  value **local;                 /* by process: with the oracles chosen in this step; owned */
  struct local_send_list *sends; /* by process */
};

/* STEP_ERROR: somebody fails to send, or sends two messages to one receiver; then all oracles are chosen, but not all
   messages computed. */
enum step_result exchange_begin(struct message_exchange *, struct interpreter *, const struct config *,
                                const struct witness *, struct model_error *);
void exchange_release(struct message_exchange *);

/* The one message from q to p, or NULL. Two of them are an error (false). */
bool exchange_message(const struct message_exchange *, uint32_t q, uint32_t p, const struct local_send **,
                      struct model_error *);

/* What p receives, sender by sender: room for all processes. False: a forged message that nobody could have sent. */
bool exchange_receive(const struct message_exchange *, const struct witness *, uint32_t p, struct received_entry *,
                      struct received *, struct step_log *);
/* The rest of the round. */
enum step_result exchange_step(const struct message_exchange *, uint32_t environment, const struct witness *,
                               struct config *next, struct step_log *, struct model_error *);
/* config_allows, once nobody failed to send. */
bool exchange_allowed(const struct message_exchange *, uint32_t environment, const struct witness *, const char **why);

/* How many messages the environment charges as lost, as corrupted, in this step. */
void exchange_faults(const struct message_exchange *, const struct environment *, const struct witness *, int64_t *lost,
                     int64_t *corrupted);

const struct forgery *witness_forgery(const struct witness *, uint32_t receiver, uint32_t sender);
uint8_t **witness_corrupt(const struct witness *); /* [p][q]: what p heard from q was forged; one piece of memory */
const struct clause *environment_clause(const struct environment *, enum clause_kind);
/* One round: what config_step, config_allows and config_successors are for rounds. */
enum step_result round_step(struct interpreter *, uint32_t environment, const struct config *, const struct witness *,
                            struct config *next, struct step_log *, struct model_error *);
bool round_allows(struct interpreter *, uint32_t environment, const struct config *, const struct witness *,
                  const char **why);
bool round_all_steps(struct interpreter *, uint32_t environment, const struct config *, config_step_fn *,
                     void *context);

/* Losses are bounded: whatever no fault takes away arrives. */
bool environment_delivers(const struct environment *);
/* Must p hear q in this round, if messages are not lost? (Not while one of them is at fault.) */
bool must_hear(const struct message_exchange *, const struct witness *, uint32_t p, uint32_t q);
bool environment_corrupts(const struct environment *);

/* Is it a clause about single rounds that is asked of the round to come? */
bool clause_applies(const struct model *, const struct clause *, const struct config *);
/* A clause that does not speak of HO, on the configuration as it is. */
bool clause_holds_without_messages(struct interpreter *, const struct clause *, const struct config *);

/* At most so many faulty processes of a kind, given how many there are of each role: those of a role beyond the role's
   own limit count against the clauses for all processes. */
bool faults_within(const struct model *, const struct environment *, enum clause_kind, const int64_t *faulty);
/* Do the inputs differ where they must, and are faults fixed at the start within their limits? */
bool initial_allowed(const struct model *, uint32_t environment, const value *const *local);
/* Could these be the file-level inputs? (`where` holds, given ones have their value.) */
bool globals_chosen(struct interpreter *, const value *globals);
/* All choices of file-level inputs; false stops. */
typedef bool globals_fn(void *context, const value *globals);
bool globals_each(struct interpreter *, globals_fn *, void *context, struct model_error *);
/* Those that stand for processes (var.followed) are left at 0: somebody else chooses them. */
bool globals_each_but_followed(struct interpreter *, globals_fn *, void *context, struct model_error *);

#endif
