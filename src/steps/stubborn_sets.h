/* Partial order reduction by stubborn sets (Valmari). A set of steps is stubborn in a state if
   - for a step in it that can be taken now, it holds all steps that do not commute with it;
   - for a step in it that cannot be taken now, it holds some steps without one of which it never will be.
   Then the first step of the set on any way from here can as well come first. Two kinds of them are used.
   A set that aims holds every step that writes what an undecided property reads, and every step that may end in an
   error of the model. Every way to what is asked for has a step of it, and with that step first it is as long as
   before: exploring the set is enough. If none of its steps can be taken, nothing that is asked for lies ahead. A set
   that prepares has no such step among those that can be taken now. Exploring it changes nothing that is asked for, and
   the rest of the way is still there afterwards; but it might be put off for ever, so the engine sees to it that it is
   not (system.h, others). Preparing sets are smaller. Steps are handled in classes: a process, one of its actions, and
   for an action that takes one message its sender. Steps that may never be taken again (may_enable.h, and who can still
   send what to whom) are left out of account. */
#ifndef RONDO_STEPS_STUBBORN_SETS_H
#define RONDO_STEPS_STUBBORN_SETS_H

#include "analysis/independence.h"
#include "steps/may_enable.h"

struct stubborn;

/* NULL: this model is too large for it (processes and actions are bits). */
struct stubborn *stubborn_new(struct state_cells *, const struct action_uses *, struct may_enable *);
void stubborn_free(struct stubborn *);

/* Classes, as bits: row p * stubborn_stride + action, in it the senders (an action that takes one message), or bit 0.
   After the actions of p come two more rows: its crash, its recovery. */
uint32_t stubborn_stride(const struct stubborn *);
#define STUBBORN_CRASH 0 /* at nactions of the role + this */
#define STUBBORN_RECOVER 1

/* enabled: the classes with a step that can be taken now; decided: properties of the query about which nothing is to be
   found any more, a bit each. visible_set gets those of the enabled classes that are in a set that aims. Returns
   whether a set that prepares is smaller: then invisible_set gets it, and visible_set is what must be explored if that
   led to nothing new. */
bool stubborn_sets(struct stubborn *, const content *row, uint64_t decided, const uint64_t *enabled,
                   uint64_t *visible_set, uint64_t *invisible_set);

#endif
