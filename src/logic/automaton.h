/* Generalised Büchi automata with acceptance on transitions, made from formulas: tableau (Couvreur 1999), then
   reduction by simulation. A run reads the letters of a word one by one; it accepts if it takes transitions of each
   acceptance set again and again. */
#ifndef RONDO_LOGIC_AUTOMATON_H
#define RONDO_LOGIC_AUTOMATON_H

#include "logic/ltl.h"

struct automaton_transition {
  uint64_t when, unless; /* atoms that are true, that are false, in the letter that it reads */
  uint64_t accepts;      /* bit i: it belongs to acceptance set i */
  uint32_t to;
};
static inline bool automaton_transition_reads(const struct automaton_transition *t, uint64_t letter) {
  return (letter & t->when) == t->when && !(letter & t->unless);
}

struct automaton {
  uint32_t nstates; /* the first is initial; none: nothing is accepted */
  uint32_t *first;  /* by state, and one more: transitions first[q] .. first[q + 1] - 1 are its own */
  struct automaton_transition *transitions;
  uint32_t nsets;
};
static inline uint64_t automaton_sets(const struct automaton *a) { /* all of them */
  return a->nsets == 64 ? UINT64_MAX : (UINT64_C(1) << a->nsets) - 1;
}

/* Accepts exactly the words of which the formula is true. NULL: it would become too large. */
struct automaton *automaton_of(struct ltl_pool *, ltl);
struct automaton *automaton_universal(void); /* accepts every word */
void automaton_free(struct automaton *);

/* Makes it smaller, or leaves it: states from which nothing is accepted, states and transitions that others stand for,
   sets that others imply. */
void automaton_reduce(struct automaton *);

#endif
