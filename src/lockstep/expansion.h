/* The expansion of one state: shared by receivable.c and outcome_product.c. */
#ifndef RONDO_LOCKSTEP_EXPANSION_H
#define RONDO_LOCKSTEP_EXPANSION_H

#include "lockstep/lockstep.h"
#include "lockstep/outcome_product.h"

struct expansion {
  struct lockstep *system;
  const struct unpacked_state *from;
  const struct round_variant *variant; /* demands on the round; NULL: none */
  const struct rules *rules;
  uint32_t rules_index;
  emit_fn *emit;
  round_derivation_fn *on_derivation;
  bool fast_path;                  /* store the successor lists for fast_path.c */
  struct layer_product *layerwise; /* not NULL: collects the products instead of multiplying them out */
  void *context;
  VEC(struct actor) actors;
  int64_t *crashed; /* by role */
  uint32_t new_crashes;
  VEC(struct pick) picks;
  struct unpacked_state *next;
  int64_t cost_left; /* messages that may still be lost in this round */
  uint32_t kernel;
  uint32_t *uniform;
  const bool *clique;        /* no-split: by set of senders (see mask_sets): is it allowed? Else NULL */
  uint32_t common;           /* the oracle value that all processes share, once chosen */
  bool failed;               /* an error was reported */
  uint64_t least_fault_cost; /* of the errors reported */
  const struct model_error *send_error;
  bool impossible;       /* some process has no heard-of set that satisfies the conditions */
  struct config *config; /* `from` as a configuration, built when a condition first needs it */
};

/* May the receiver miss the sender's message because one of them is faulty? */
bool actor_excused(const struct lockstep *, const struct actor *sender, const struct actor *receiver);
bool sends_agree(struct expansion *); /* if not, x->send_error says why */
bool receivable_make(struct expansion *, uint32_t receiver, uint32_t kernel, const uint32_t *uniform);
void receivable_release(struct round_receivable *);
/* The heard-of sets that the filters of the rules allow a process: 1 + a bit vector, one bit for each set; 0: all sets.
 */
uint32_t allowed_sets(struct expansion *, const struct actor *);
/* Is the actor the process that this hidden input names? */
bool actor_followed(const struct expansion *, const struct actor *, uint32_t input);
bool some_set_allowed(const struct lockstep *, uint32_t allowed);
/* Do the conditions on single processes allow the oracles of this process? */
bool oracles_admitted(struct expansion *, const struct actor *);
bool nosplit_rounds(struct expansion *, bool (*product)(struct expansion *));
void fast_path_remember(struct lockstep *, const struct actor *, uint32_t point, uint32_t list);
bool in_clique(const struct expansion *, const struct actor *, const struct lockstep_successor *);
uint64_t steps_broken_globally(struct lockstep *, const struct expansion *);

#endif
