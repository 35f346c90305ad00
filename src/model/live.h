/* A live property as a question of its own: which runs violate it, in temporal logic over closed formulas about states.

   Of the property's negation, processes (and other values) that are said to exist become hidden inputs: one for all, chosen
   at the start. So `forall p in P: eventually p.decided` asks for a run in which the hidden p never decides, and a renaming
   of processes renames p, too. Quantifiers that cannot be moved to the front are multiplied out.

   `correct` means: never faulty in this run. Where processes can crash that is not a matter of the state, so that it becomes
   `always (p in correct)`, or a hidden input that is compared with who has crashed. */
#ifndef RONDO_MODEL_LIVE_H
#define RONDO_MODEL_LIVE_H

#include "logic/ltl.h"
#include "model/model.h"

struct live_form {
  struct node *text;   /* the property as it stands */
  struct ltl_pool *pool;
  ltl violated;        /* holds of the runs that violate it */
  struct node **atoms; /* in the model's arena, as are all nodes */
  uint32_t natoms;
  const char *refused; /* not NULL: it is too much to ask, and why */
};

/* Changes the model, which must be there for this question alone: hidden inputs are added, and the property's formula
   becomes its atoms, for the analyses to read. */
void live_form_make(struct live_form *, struct model *, uint32_t property, uint32_t environment);
void live_form_release(struct live_form *);

/* Ranges of quantifiers that have temporal operators below: the same in every state. */
bool range_is_fixed(const struct node *);
bool node_is_temporal(const struct node *); /* it, or something below it, is */

#endif
