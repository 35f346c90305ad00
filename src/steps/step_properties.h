/* Cached values of properties. */
#ifndef RONDO_STEPS_STEP_PROPERTIES_H
#define RONDO_STEPS_STEP_PROPERTIES_H

#include "steps/moves.h"

struct step_system;

struct step_property_memo;
void properties_init(struct step_system *);
void properties_release(struct step_system *);
enum verdict3 step_system_holds(struct step_system *, uint32_t i, const struct state *, struct model_error *);
enum verdict3 step_system_atom(struct step_system *, uint32_t i, const struct state *, struct model_error *);
/* Does the move, taken in that local state, change nothing that a state property reads? */
bool move_is_invisible(struct step_system *, uint32_t p, content local, const struct move *);
/* The violated step properties of the form `forall p in R: ...` that concern p alone. */
uint64_t step_properties_broken_by_process(struct step_system *, uint32_t p, content before, content after);
/* The other violated step properties, evaluated on whole states. */
uint64_t step_properties_broken_by_step(struct step_system *, const uint64_t *before, const uint64_t *after);

#endif
