/* Partial-order reduction by stubborn sets (Valmari). A set of steps is stubborn in a state if
   - for each enabled step in it, it contains all steps that do not commute with that step;
   - for each disabled step in it, it contains a necessary enabling set: steps one of which must be taken before that
     step can become enabled.
   Then on any path from this state, the first step that is in the set can be moved to the front.
   Two kinds of stubborn sets are used:
   - A visible set contains every step that writes a variable that an undecided property reads, and every step that may
     end in an error of the model. Every path to a violation contains a step of the set, and moving that step to the
     front keeps the length of the path. So exploring the set is sufficient, and shortest paths are preserved. If none
     of its steps is enabled, no violation is reachable.
   - An invisible set has no such step among its enabled steps. It is usually smaller. Exploring it changes no property,
     and the rest of the path is still possible afterwards. But the rest could be deferred forever; the engine prevents
     that (`deferred` in system.h).
   Steps are handled in classes: a process, one of its actions and, if the action takes one message, its sender. Steps
   that can never become enabled again are ignored (may_enable.h, and an analysis of the messages that can still be
   sent). */
#ifndef RONDO_STEPS_STUBBORN_SETS_H
#define RONDO_STEPS_STUBBORN_SETS_H

#include "analysis/independence.h"
#include "steps/may_enable.h"

struct stubborn;

/* NULL: the model is too large (processes and actions are bits of a word). */
struct stubborn *stubborn_new(struct state_cells *, const struct action_uses *, struct may_enable *);
void stubborn_free(struct stubborn *);

/* Classes are bits: row p * stubborn_stride + action holds one bit for each sender (for an action that takes one
   message), or bit 0. Two more rows follow the actions of p: its crash and its recovery. */
uint32_t stubborn_stride(const struct stubborn *);
#define STUBBORN_CRASH 0 /* row offset after the actions of the role */
#define STUBBORN_RECOVER 1

/* enabled: the classes with an enabled step. decided: one bit for each property of the query whose verdict is known.
   visible_set receives the enabled classes of a visible set. Returns whether an invisible set is smaller. If so,
   invisible_set receives its enabled classes, and visible_set has to be explored only if that led to no new state. */
bool stubborn_sets(struct stubborn *, const content *row, uint64_t decided, const uint64_t *enabled,
                   uint64_t *visible_set, uint64_t *invisible_set);

#endif
