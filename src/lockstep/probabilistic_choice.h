/* Probabilistic choice: the choices of an adversary; each is a set of updates among which coins decide. */
#ifndef RONDO_LOCKSTEP_PROBABILISTIC_CHOICE_H
#define RONDO_LOCKSTEP_PROBABILISTIC_CHOICE_H

#include "lockstep/state_pack.h"

struct lockstep;

struct lockstep_successor;

#define COIN_RESULT_ERROR 0x80000000u

struct coin_tables {
  bool used;                              /* almost surely: coins are distinguished from choices of the adversary */
  uint32_t adversary_choice;              /* the last number assigned to one, in the current state */
  struct intern *plain_adversary_choices; /* of the current state */
  struct memo results_of;                 /* results of coins, in vectors -> 1 + index in lists */
};

struct update_run {      /* one run of the update code */
  const uint32_t *taken; /* the choices it made */
  size_t n;
  uint64_t coins;
  uint32_t update;
};
/* Adds one update for each choice of the adversary. A choice with several updates gets an update that stands for the
   set. */
void probabilistic_updates(struct lockstep *, const struct update_run *, size_t n, uint32_t **found, size_t *nfound,
                           size_t *cap);
bool update_is_probabilistic(const struct lockstep *, uint32_t update);
void successor_of_coins(struct lockstep *, local_id, uint32_t point, uint32_t update, struct lockstep_successor *);
/* Plain enumeration: a number for everything that was chosen, except by coins. */
uint32_t plain_adversary_choice(struct lockstep *, const struct config *, const struct witness *);

#endif
