/* Liveness queries: the sets of clauses about whole runs (OFTEN, FINALLY, ONCE) that a round can satisfy. A variant of
   a round demands some of these clauses: it is a round of an environment in which they are required of every round,
   with the rules that follow from that.

   Not every set of marks is a variant. Take two steps between the same states, each with a mark of its own. A run that
   takes both infinitely often has both marks infinitely often. So it suffices to demand one OFTEN mark at a time, alone
   and together with all FINALLY marks. All marks at once are tried as well, because that gives shorter counterexamples.

   A clause about a phase is guessed when the phase begins, and the guess has to come true: a state in the middle of a
   phase carries an obligation, the guessed marks with the values of their witnesses. A state whose obligation cannot be
   met is a dead end. A FINALLY clause with one witness for the rest of the run (`for some`) is guessed once and holds
   from then on.

   An obligation is a vector: [which, the ONCE clauses that have come true, values of witnesses ...]. `which` combines
   OBLIGATION_FINALLY, OBLIGATION_PHASE (a phase has begun), and 1 + the mark of the guessed OFTEN or ONCE clause. The
   values are those of the FINALLY clauses in order, then those of that clause. 0, the empty vector: no obligation. */
#ifndef RONDO_LOCKSTEP_ACCEPTANCE_MARKS_H
#define RONDO_LOCKSTEP_ACCEPTANCE_MARKS_H

#include "lockstep/round_rules.h"
#include "lockstep/state_pack.h"

struct round_variant {
  uint64_t marks;
  uint32_t demanded; /* identifies its demands, for the rules; 0: none */
  const struct demand *demands;
  uint32_t ndemands;
  uint32_t obligation; /* of the target states */
  bool optional;       /* not needed for soundness: left out if it would need plain enumeration */
};

struct round_variants {
  struct round_variant *at;
  size_t n, cap;
};

struct lockstep;

/* All variants of the next round of a state; those without demands come first. */
void variants_of(struct lockstep *, const struct unpacked_state *, struct round_variants *);

#endif
