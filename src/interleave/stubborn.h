/* Partial order reduction by stubborn sets that aim at what is asked (Valmari's stubborn sets, with a goal instead of
   visibility). In a state, a set of steps is enough to explore if
   - nothing that the properties still ask for can come about without one of its steps: it holds every step that writes what
     an undecided property reads, and every step that may end in an error of the model;
   - for a step in it that can be taken now, it holds all steps that do not commute with it;
   - for a step in it that cannot be taken now, it holds some steps without one of which it never will be.
   Then on any way to what is asked for, the first step of the set can come first: the same end is reached from its
   successor by one step less. So shortest counterexamples stay, whatever is left out, and no step is put off for ever. If
   no step of the set can be taken, nothing that is asked for lies ahead, and the state is left as it is.
   Steps are handled in classes: a process, one of its actions, and for an action that takes one message its sender.
   Steps that may never be taken again (hopes.h, and who can still send what to whom) are left out of account. */
#ifndef RONDO_INTERLEAVE_STUBBORN_H
#define RONDO_INTERLEAVE_STUBBORN_H

#include "interleave/hopes.h"
#include "model/accord.h"

struct stubborn;

/* NULL: this model is too large for it (processes and actions are bits). */
struct stubborn *stubborn_new(struct cells *, const struct actions_use *, struct hopes *);
void stubborn_free(struct stubborn *);

/* Classes, as bits: row p * stubborn_stride + action, in it the senders (an action that takes one message), or bit 0. After
   the actions of p come two more rows: its crash, its recovery. */
uint32_t stubborn_stride(const struct stubborn *);
#define STUBBORN_CRASH 0   /* at nactions of the role + this */
#define STUBBORN_RECOVER 1

/* enabled: the classes with a step that can be taken now. chosen gets those of them that must be explored; decided: properties
   of the question about which nothing is to be found any more, a bit each. */
void stubborn_set(struct stubborn *, const content *row, uint64_t decided, const uint64_t *enabled, uint64_t *chosen);

#endif
