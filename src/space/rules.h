/* What an environment demands of one round, sorted into kinds that have a product of their own. */
#ifndef RONDO_SPACE_RULES_H
#define RONDO_SPACE_RULES_H

#include "model/model.h"
#include "sem/config.h"

enum coupling {
  COUPLED_NOT,    /* every process hears whom it hears */
  COUPLED_KERNEL, /* somebody is heard by all */
  COUPLED_UNIFORM, /* all hear the same */
  COUPLED_NOSPLIT /* any two hear somebody in common */
};

/* forall p in role: a condition on |HO[p]| and on whether p hears itself */
struct size_rule {
  uint32_t role;
  bool *ok; /* [2 * size + hears itself] */
};

struct rules {
  const char *plain;       /* not NULL: nothing better than plain enumeration, and why */
  enum coupling coupling;
  bool *uniform_size;      /* UNIFORM: by |S|, NULL: any */
  struct size_rule *sizes;
  uint32_t nsizes;
  bool sizes_grow;         /* every size rule that holds for a set holds for larger ones */
  bool heard_matters;      /* HO itself is spoken of: processes that send nothing count too */
  bool delivers, lossy, crashes;
  bool corrupts;
  int64_t corrupt_each;    /* at most so many for each receiver */
  bool corrupt_total;      /* and a limit on all of them together */
  bool corrupt_charged;    /* each is a fault, as a lost message is */
  bool oracles_common;     /* all processes have the same oracle value */
  const struct clause **oracle_clauses; /* other clauses about oracles alone */
  uint32_t noracle_clauses;
};

/* The rules of the environment for the round at `point`, the (rounds+1)-th. Lives in the arena. */
struct rules *rules_of(struct meaning *, uint32_t environment, uint32_t point, uint32_t rounds, struct arena *);

#endif
