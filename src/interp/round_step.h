/* The parts of a plain round, shared by the reference step and by the check whether the environment allows it. */
#ifndef RONDO_INTERP_ROUND_STEP_H
#define RONDO_INTERP_ROUND_STEP_H

#include "interp/local.h"

void script_keep(struct script *, const struct choices *); /* keeps the choices that were taken */
/* A process's local state with the oracles chosen in this round; to be freed with memory_free. */
value *local_with_oracles(const struct model *, const struct config *, const struct witness *, uint32_t process);

/* The first half of a round: oracles are chosen and messages computed. */
struct message_exchange {
  struct interpreter *interp;
  const struct config *config;
  value **local;                 /* by process: with the oracles chosen in this round; owned */
  struct local_send_list *sends; /* by process */
};

/* STEP_ERROR: a send fails, or a process sends two messages to one receiver; then all oracles are chosen, but not all
   messages computed. */
enum step_result exchange_begin(struct message_exchange *, struct interpreter *, const struct config *,
                                const struct witness *, struct model_error *);
void exchange_release(struct message_exchange *);

/* The only message from q to p, or NULL. Two messages are an error (false). */
bool exchange_message(const struct message_exchange *, uint32_t q, uint32_t p, const struct local_send **,
                      struct model_error *);

/* The messages that p receives, by sender; the array needs room for all processes. False: a forged message is not
   of the type that p receives. */
bool exchange_receive(const struct message_exchange *, const struct witness *, uint32_t p, struct received_entry *,
                      struct received *, struct step_log *);
/* The second half of the round. */
enum step_result exchange_step(const struct message_exchange *, uint32_t environment, const struct witness *,
                               struct config *next, struct step_log *, struct model_error *);
/* Are the numbers of lost and corrupted messages within the limits of the environment? */
bool exchange_within_budget(const struct message_exchange *, const struct environment *, const struct witness *);
/* config_allows, if no send failed. */
bool exchange_allowed(const struct message_exchange *, uint32_t environment, const struct witness *, const char **why);

/* The numbers of messages that the environment charges as lost and as corrupted in this round. */
void exchange_faults(const struct message_exchange *, const struct environment *, const struct witness *, int64_t *lost,
                     int64_t *corrupted);

const struct forgery *witness_forgery(const struct witness *, uint32_t receiver, uint32_t sender);
uint8_t **witness_corrupt(const struct witness *); /* [p][q]: what p heard from q was forged; one allocation */
const struct clause *environment_clause(const struct environment *, enum clause_kind);
/* One round: config_step, config_allows and config_successors for models of rounds. */
enum step_result round_step(struct interpreter *, uint32_t environment, const struct config *, const struct witness *,
                            struct config *next, struct step_log *, struct model_error *);
bool round_allows(struct interpreter *, uint32_t environment, const struct config *, const struct witness *,
                  const char **why);
bool round_all_steps(struct interpreter *, uint32_t environment, const struct config *, config_step_fn *,
                     void *context);

/* Restricts the enumeration of rounds, for callers that need only some of them. Functions may be NULL. The rounds that
   are left keep their order if last_row is the last process. */
enum round_part { ROUND_KEEP, ROUND_SKIP, ROUND_STOP /* ends the enumeration */ };
struct round_filter {
  void *context;
  uint32_t last_row; /* the process whose heard-of set varies fastest */
  /* Is it possible that these processes crash? p is the last one of them. */
  bool (*crash)(void *context, const struct witness *, uint32_t p);
  /* All messages are computed (STEP_OK), or a process fails while sending (STEP_ERROR). The function may use the
     heard-of sets of the witness as scratch space. */
  enum round_part (*sent)(void *context, struct witness *, const struct message_exchange *, enum step_result,
                          const struct model_error *);
  /* It was decided whether p hears q, or which forged message it receives from q. The later pairs are heard, and
     nothing is forged in them. False: no such round is needed. */
  bool (*pair)(void *context, const struct witness *, const struct message_exchange *, uint32_t p, uint32_t q,
               bool forged);
};
bool round_some_steps(struct interpreter *, uint32_t environment, const struct config *, const struct round_filter *,
                      config_step_fn *, void *context);
/* Can a round be allowed in which p does not hear q? `reads`: some clause reads heard-of sets
   (environment_reads_heard_of); then the heard-of set of a process matters even if it does not update. */
bool exchange_may_miss(const struct message_exchange *, const struct environment *, const struct witness *, bool reads,
                       uint32_t p, uint32_t q);
bool environment_reads_heard_of(const struct environment *);

/* Losses are bounded: a message arrives unless a fault removes it. */
bool environment_delivers(const struct environment *);
/* Must p hear q in this round, if no message is lost? (Not if one of them is faulty.) */
bool must_hear(const struct message_exchange *, const struct witness *, uint32_t p, uint32_t q);
bool environment_corrupts(const struct environment *);

/* Is it a clause about single rounds that applies to the next round? */
bool clause_applies(const struct model *, const struct clause *, const struct config *);

/* Is the number of faulty processes of a kind within the limits, given the number for each role? Those beyond a role's
   own limit count against the clauses for all processes. */
bool faults_within(const struct model *, const struct environment *, enum clause_kind, const int64_t *faulty);
/* Do the inputs differ where they must, and are the faults that are fixed at the start within their limits? */
bool initial_allowed(const struct model *, uint32_t environment, const value *const *local);
/* Are these possible values of the file-level inputs? (`where` holds, and given inputs have their value.) */
bool globals_chosen(struct interpreter *, const value *globals);
/* All choices of file-level inputs; the callback returns false to stop. */
typedef bool globals_fn(void *context, const value *globals);
bool globals_each(struct interpreter *, globals_fn *, void *context, struct model_error *);
/* Likewise, but inputs that stand for processes (var.followed) stay 0: the caller chooses them. */
bool globals_each_but_followed(struct interpreter *, globals_fn *, void *context, struct model_error *);

#endif
