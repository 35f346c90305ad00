/* What an environment demands of one round, sorted into kinds that have a product of their own. */
#ifndef RONDO_LOCKSTEP_ROUND_RULES_H
#define RONDO_LOCKSTEP_ROUND_RULES_H

#include "interp/config.h"
#include "model/model.h"

enum coupling {
  COUPLED_NOT,     /* every process hears whom it hears */
  COUPLED_KERNEL,  /* somebody is heard by all */
  COUPLED_UNIFORM, /* all hear the same */
  COUPLED_NOSPLIT  /* any two hear somebody in common */
};

/* forall p in role: a condition on |HO[p]| and on whether p hears itself; or of one process */
struct size_rule {
  uint32_t role;
  uint32_t followed; /* not 0: only of the process that the query follows, 1 + its hidden input */
  bool *ok;          /* [2 * size + hears itself] */
};

/* A condition with values for the names that it does not bind itself. */
struct bound_condition {
  const struct clause *clause; /* whose witness is bound */
  const value *bound;          /* its values, or NULL */
  const struct node *pred;
};

/* A condition on whom one process hears, or on its oracles: forall p in role: pred; or of a single process. */
struct filter {
  struct bound_condition of;
  const struct node *whole;   /* with its quantifier */
  uint32_t slot;              /* that is p in pred; NO_SLOT: of the single process */
  uint32_t role;              /* slot: the role, ROLE_ANY: all */
  const struct node *range;   /* slot: a set that p is in; NULL: those of the role that take part */
  uint32_t process;           /* the single one */
  uint32_t followed;          /* not 0: the single one is the process that the query follows, 1 + its hidden input */
  bool oracle, status, round; /* what else it reads: oracles of p; correct, faulty; the number of the round */
};

/* A clause about whole runs that is to hold in a round. */
struct demand {
  const struct clause *clause;
  bool parts; /* only the parts that are asked of this round, with `bound`; else pred, as a whole */
  const value *bound;
};

struct rules {
  const char *plain; /* not NULL: nothing better than plain enumeration, and why */
  enum coupling coupling;
  bool nosplit;       /* any two hear somebody in common, whatever else couples them */
  bool *uniform_size; /* UNIFORM: by |S|, NULL: any */
  struct size_rule *sizes;
  uint32_t nsizes;
  bool sizes_grow;    /* every size rule that holds for a set holds for larger ones */
  bool heard_matters; /* HO itself is spoken of: processes that send nothing count too */
  bool delivers, lossy, crashes;
  bool corrupts;
  int64_t corrupt_each;                   /* at most so many for each receiver */
  bool corrupt_total;                     /* and a limit on all of them together */
  bool corrupt_charged;                   /* each is a fault, as a lost message is */
  bool oracles_common;                    /* all processes have the same oracle value */
  struct bound_condition *oracle_clauses; /* other conditions on oracles alone */
  uint32_t noracle_clauses;
  struct filter *oracle_filters; /* on the oracles of one process each */
  uint32_t noracle_filters;
  struct filter *filters; /* on heard-of sets; sizes are checked along with these */
  uint32_t nfilters;
};
#define FILTER_PROCESSES 12 /* most processes: all sets of them are gone through */

/* The rules of the environment for the round at `point`, the (rounds+1)-th, with what is demanded in addition. Lives in
   the arena; demands and their values must live as long. */
struct rules *rules_of(struct interpreter *, uint32_t environment, uint32_t point, uint32_t rounds,
                       const struct demand *, uint32_t ndemands, struct arena *);
/* Is the condition of a kind that has rules of its own, once its witness is left to choose? */
bool rules_known(struct interpreter *, uint32_t environment, uint32_t point, uint32_t rounds, const struct clause *);

/* Losses are charged, and conditions say how many are heard: then the number matters even to who does not count. */
static inline bool losses_by_size(const struct rules *r) { return r->lossy && r->nsizes > 0; }

#endif
