/* Liveness queries: which clauses about whole runs (OFTEN, FINALLY, ONCE) a round can be made to satisfy. Each way
   to take a round, with some of them demanded, is a variant: a round of an environment in which they are said of every
   round, with the rules that go with that.

   Not every set of marks is a variant. Of two steps between the same states, one with this mark and one with that, a
   run that takes both again and again has both marks again and again: so one OFTEN mark at a time is enough, alone and
   together with all FINALLY ones. All at once are tried as well, so that counterexamples need not take one after the
   other.

   What a clause says of a phase is hoped for when the phase begins, and has to come true: a state in the middle of a
   phase has a obligation, the marks that are under way with their witnesses. A obligation that cannot come true is a
   dead end. FINALLY clauses with a witness for ever (`for some`) are hoped for once, and from then on.

   A obligation is a vector: [which, the ONCE clauses that have come true, values of witnesses ...]; which:
   OBLIGATION_FINALLY, OBLIGATION_PHASE (a phase is under way), and 1 + the OFTEN or ONCE clause, by its mark, that is
   under way. Values: of the FINALLY clauses in order, then of that one. 0, the empty vector: nothing is hoped for. */
#ifndef RONDO_LOCKSTEP_ACCEPTANCE_MARKS_H
#define RONDO_LOCKSTEP_ACCEPTANCE_MARKS_H

#include "lockstep/round_rules.h"
#include "lockstep/state_pack.h"

struct round_variant {
  uint64_t marks;
  uint32_t demanded; /* names its demands, for the rules; 0: none */
  const struct demand *demands;
  uint32_t ndemands;
  uint32_t obligation; /* of the states that it leads to */
  bool optional;       /* not needed: left out where it would have to be made the plain way */
};

struct round_variants {
  struct round_variant *at;
  size_t n, cap;
};

struct lockstep;

/* All variants of the next round of a state; those that demand nothing first. */
void variants_of(struct lockstep *, const struct unpacked_state *, struct round_variants *);

#endif
