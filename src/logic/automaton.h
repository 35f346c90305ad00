/* Generalised Büchi automata with acceptance on transitions. They are built from formulas by a tableau (Couvreur 1999)
   and then reduced by simulation. A run reads a word letter by letter. It accepts if it takes transitions of each
   acceptance set infinitely often. */
#ifndef RONDO_LOGIC_AUTOMATON_H
#define RONDO_LOGIC_AUTOMATON_H

#include "logic/ltl.h"

struct automaton_transition {
  uint64_t when, unless; /* atoms that must be true, and atoms that must be false, in the letter that is read */
  uint64_t accepts;      /* bit i: the transition belongs to acceptance set i */
  uint32_t to;
};
static inline bool automaton_transition_reads(const struct automaton_transition *t, uint64_t letter) {
  return (letter & t->when) == t->when && !(letter & t->unless);
}

struct automaton {
  uint32_t nstates; /* state 0 is initial; no states: the language is empty */
  uint32_t *first;  /* by state, with one extra entry: the transitions of q are first[q] .. first[q + 1] - 1 */
  struct automaton_transition *transitions;
  uint32_t nsets;
};
static inline uint64_t automaton_sets(const struct automaton *a) { /* all acceptance sets */
  return a->nsets == 64 ? UINT64_MAX : (UINT64_C(1) << a->nsets) - 1;
}

/* Accepts exactly the words that satisfy the formula. NULL: the automaton would be too large. */
struct automaton *automaton_of(struct ltl_pool *, ltl);
struct automaton *automaton_universal(void); /* accepts every word */
void automaton_free(struct automaton *);

/* Reduces the automaton without changing its language: removes states with an empty language, simulated states and
   transitions, and implied acceptance sets. */
void automaton_reduce(struct automaton *);

/* Strongly connected components (SCCs), numbered such that transitions lead to lower or equal numbers. */
struct automaton_components {
  uint32_t *of;    /* by state: its SCC */
  bool *accepting; /* by SCC: a run that stays in it can accept */
  uint32_t n;
};
void automaton_components_find(struct automaton_components *, const struct automaton *);
void automaton_components_release(struct automaton_components *);

/* Can the automaton be used with coins? It must be deterministic in its accepting components (Courcoubetis & Yannakakis
   1995). */
bool automaton_is_limit_deterministic(const struct automaton *);
/* By transition: whether it can recur in a run that is accepting. For memory_free. */
bool *automaton_recurrent(const struct automaton *);

#endif
