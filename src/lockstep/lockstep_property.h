/* Cached property values, and step properties. */
#ifndef RONDO_LOCKSTEP_LOCKSTEP_PROPERTY_H
#define RONDO_LOCKSTEP_LOCKSTEP_PROPERTY_H

#include "lockstep/state_pack.h"

struct lockstep;

struct step_check {
  bool step;     /* it is a step property */
  bool local;    /* forall p in R: something about p and p' alone */
  uint32_t role; /* ROLE_ANY: all */
};

struct property_tables {
  struct lockstep_property_cache *caches;
  struct step_check *step_checks; /* by property of the query */
  uint32_t nglobal_steps;         /* step properties that are not about a single process */
  struct memo steps_broken;       /* (local, local) -> bits */
};

enum verdict3 formula_holds(struct lockstep *, uint32_t i, const struct state *,
                            struct model_error *); /* query_formula */
uint64_t steps_broken_by(struct lockstep *, local_id before, local_id after);
void step_checks_prepare(struct lockstep *);
void property_tables_release(struct lockstep *);
size_t property_tables_bytes(const struct lockstep *);

#endif
