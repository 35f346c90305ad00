/* Lockstep rounds. Successors are combined from local steps (lockstep_local_steps.h), each computed once, by way of
   outcome sets (outcome_set.h). */
#ifndef RONDO_LOCKSTEP_LOCKSTEP_H
#define RONDO_LOCKSTEP_LOCKSTEP_H

#include "lockstep/acceptance_marks.h"
#include "lockstep/lockstep_local_steps.h"
#include "lockstep/lockstep_property.h"
#include "lockstep/outcome_set.h"
#include "lockstep/probabilistic_choice.h"
#include "lockstep/round_rules.h"
#include "lockstep/state_pack.h"

struct demands {
  const struct demand *at;
  uint32_t n;
};

/* The rules of rounds, and what follows from them. */
struct rule_tables {
  struct rules **at; /* by point and round; those with demands come after the others */
  uint32_t n;
  struct intern *keys;    /* rules with demands: [index of those without, demands] */
  struct memo demands_of; /* demands as numbers, in pack.vectors -> 1 + index in demands */
  VEC(struct demands) demands;
  struct memo opened; /* (mark, point) -> must a value for its witness be chosen? */
  /* what determines the heard-of sets allowed to a process, in vectors -> the allowed sets, in vectors */
  struct memo allowed_of;
};

/* How rounds are expanded. */
struct expansion_form {
  bool plain;
  bool group;             /* equal messages are counted; their senders are not distinguished */
  bool explicit_senders;  /* no-split with counting updates: all senders are distinguished */
  bool all_costs;         /* every cost is kept, not only the lowest */
  bool *same_receivables; /* by point: every message reaches all processes of a role, which cannot distinguish its
                             sender */
};

struct lockstep {
  struct system base;
  struct pack pack;
  struct interpreter *interp;
  bool owns_interp; /* made for another thread */
  struct system_options made_with;
  struct model *model;
  const struct environment *env;
  struct arena arena;     /* all cached data */
  struct intern *vectors; /* of numbers: causes of outcomes, sets of heard-of sets, results of coins */
  struct expansion_form form;
  struct rule_tables rules;
  struct local_step_tables local;
  struct outcome_tables outcomes;
  struct coin_tables coins;
  struct property_tables properties;
  struct layer_product *layerwise; /* or NULL */
  struct memo fast_path_lists;     /* (local and point, receivable) -> lists, where nothing else matters */
  bool *fast_path;                 /* by point: see fast_path.c */
  VEC(uint64_t) stored_at;         /* by rules index: states stored */
  uint64_t initial_states;         /* emitted so far */
  uint8_t *buffer;
  size_t buffer_capacity;
  struct unpacked_state *scratch;
  struct eval eval;
};

/* The search was interrupted, or its time limit was reached: computations may be abandoned, and their results are then
   not cached. */
static inline bool lockstep_stopped(const struct lockstep *s) { return s->interp->stop && *s->interp->stop; }

/* See system_ops. */
void lockstep_save(struct system *, struct saver *);
void lockstep_load(struct system *, struct loader *);

const struct rules *lockstep_rules(struct lockstep *, uint32_t point, uint32_t rounds, const struct round_variant *,
                                   uint32_t *index);
bool demands_hold(struct interpreter *, const struct round_variant *, const struct config *, const struct witness *);
uint32_t global_rounds(const struct lockstep *,
                       const struct unpacked_state *); /* completed rounds, as far as the rules depend on them */

#endif
