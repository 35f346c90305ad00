/* The environment's conditions on one round, classified by the product that handles them. */
#ifndef RONDO_LOCKSTEP_ROUND_RULES_H
#define RONDO_LOCKSTEP_ROUND_RULES_H

#include "interp/config.h"
#include "model/model.h"

enum coupling {
  COUPLED_NOT,     /* heard-of sets are independent */
  COUPLED_KERNEL,  /* some process is heard by all */
  COUPLED_UNIFORM, /* all hear the same set */
  COUPLED_NOSPLIT  /* any two hear some process in common */
};

/* forall p in role: a condition on |HO[p]| and on whether p hears itself; or such a condition on one process */
struct size_rule {
  uint32_t role;
  uint32_t followed; /* not 0: applies only to the process that the query follows; 1 + its hidden input */
  bool *ok;          /* [2 * size + hears itself] */
};

/* A condition together with values for its free names. */
struct bound_condition {
  const struct clause *clause; /* the clause whose witness is bound */
  const value *bound;          /* its values, or NULL */
  const struct node *pred;
};

/* A condition on the heard-of set or the oracles of one process: forall p in role: pred; or a condition on a single
   process. */
struct filter {
  struct bound_condition of;
  const struct node *whole;   /* including its quantifier */
  uint32_t slot;              /* the slot of p in pred; NO_SLOT: a condition on a single process */
  uint32_t role;              /* slot: the role, ROLE_ANY: all */
  const struct node *range;   /* with a slot: the set that p ranges over; NULL: the active processes of the role */
  uint32_t process;           /* without a slot: the single process */
  uint32_t followed;          /* not 0: the single process is the one that the query follows; 1 + its hidden input */
  bool oracle, status, round; /* what else pred reads: oracles of p; correct or faulty; the round number */
};

/* A clause about whole runs that must hold in a round. */
struct demand {
  const struct clause *clause;
  bool parts; /* only the parts that apply to this round, with `bound`; else the whole pred */
  const value *bound;
};

struct rules {
  const char *plain; /* not NULL: only plain enumeration handles these conditions, and why */
  enum coupling coupling;
  bool nosplit;       /* any two hear some process in common, in addition to `coupling` */
  bool *uniform_size; /* UNIFORM: by |S|, NULL: any */
  struct size_rule *sizes;
  uint32_t nsizes;
  bool sizes_grow;    /* size rules are monotone: if they hold for a set, they hold for larger ones */
  bool heard_matters; /* conditions read HO, so processes that send nothing count too */
  bool delivers, lossy, crashes;
  bool corrupts;
  int64_t corrupt_each;                   /* at most this many for each receiver */
  bool corrupt_total;                     /* there is also a limit for all receivers together */
  bool corrupt_charged;                   /* each corrupted message counts as a fault, like a lost message */
  bool oracles_common;                    /* all processes have the same oracle value */
  struct bound_condition *oracle_clauses; /* other conditions on oracles only */
  uint32_t noracle_clauses;
  struct filter *oracle_filters; /* conditions on the oracles of one process each */
  uint32_t noracle_filters;
  struct filter *filters; /* conditions on heard-of sets; size rules are checked together with them */
  uint32_t nfilters;
};
#define FILTER_PROCESSES 12 /* largest number of processes: all sets of processes are enumerated */

/* The rules of the environment for the round at `point`, after `rounds` completed rounds, with additional demands. They
   live in the arena; demands and their values must live as long. */
struct rules *rules_of(struct interpreter *, uint32_t environment, uint32_t point, uint32_t rounds,
                       const struct demand *, uint32_t ndemands, struct arena *);
/* Do the rules handle this condition, once a value for its witness is chosen? */
bool rules_known(struct interpreter *, uint32_t environment, uint32_t point, uint32_t rounds, const struct clause *);

/* Lost messages are charged, and conditions restrict how many are heard. Then the number matters even to processes that
   do not count. */
static inline bool losses_by_size(const struct rules *r) { return r->lossy && r->nsizes > 0; }

#endif
