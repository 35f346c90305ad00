/* Linear temporal logic without next, over numbered atoms, in negation normal form. Formulas are hash-consed in a pool.
   Constructors apply simplifying equivalences. */
#ifndef RONDO_LOGIC_LTL_H
#define RONDO_LOGIC_LTL_H

#include <stdbool.h>
#include <stdint.h>

#define LTL_ATOMS_MOST 64 /* the values of all atoms fit into one 64-bit word */

enum ltl_op { LTL_FALSE, LTL_TRUE, LTL_ATOM, LTL_NOT_ATOM, LTL_AND, LTL_OR, LTL_UNTIL, LTL_RELEASE };

typedef uint32_t ltl; /* a formula of a pool */

struct ltl_node {
  enum ltl_op op;
  /* ATOM, NOT_ATOM: a is the number of the atom. UNTIL: a until b. RELEASE: b holds up to and including the first
     moment of a, or forever. */
  ltl a, b;
};

struct ltl_pool; /* opaque */

struct ltl_pool *ltl_pool_new(void);
void ltl_pool_free(struct ltl_pool *);
struct ltl_node ltl_at(const struct ltl_pool *, ltl);
uint32_t ltl_count(const struct ltl_pool *); /* formulas are 0 .. count - 1 */

ltl ltl_truth(struct ltl_pool *, bool);
ltl ltl_atom(struct ltl_pool *, uint32_t atom);
ltl ltl_not(struct ltl_pool *, ltl);
ltl ltl_and(struct ltl_pool *, ltl, ltl);
ltl ltl_or(struct ltl_pool *, ltl, ltl);
ltl ltl_until(struct ltl_pool *, ltl, ltl);
ltl ltl_release(struct ltl_pool *, ltl, ltl);
ltl ltl_eventually(struct ltl_pool *, ltl);
ltl ltl_always(struct ltl_pool *, ltl);

#endif
