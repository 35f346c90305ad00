/* Liveness of a round model for all n, reduced to safety.

   The environment promises good rounds: `infinitely often`, `eventually always`, `eventually`. A run that violates
   `eventually goal` never reaches the goal, and has good rounds without end. So if no run has so many good rounds
   before it reaches the goal, the property holds. That is safety of a product with a control, the stage, which counts
   the good rounds of runs in which the goal is not reached. The number of good rounds is a guess: with too few the
   product is unsafe, which says nothing about the property.

   The reduction assumes less than the environment promises wherever that is simpler (clauses can be ignored), and
   strengthens the property: `forall p: eventually g(p)` becomes `eventually forall p: g(p)`, and `correct`, which means
   "never faulty in the run", becomes "not faulty so far" where that is stronger. Both are sound. */
#ifndef RONDO_PARAM_LIVENESS_H
#define RONDO_PARAM_LIVENESS_H

#include "base/vec.h"
#include "model/model.h"

/* EVENTUALLY: from initial states that satisfy `from`, the goal is reached. LEADS_TO: also from every later state that
   satisfies `trigger`. SETTLES: `eventually always goal`. */
enum liveness_kind { LIVENESS_EVENTUALLY, LIVENESS_LEADS_TO, LIVENESS_SETTLES };

#define NO_STAGE UINT32_MAX

/* What coins show in rounds that count (`almost surely`). If from every reachable state some values of the coins of the
   next so many rounds lead to the goal, whatever is heard, then that happens with a probability that has a lower bound
   for given parameters, since each round has boundedly many coins of finitely many values. So the runs that miss the
   goal again and again have probability 0. The values may depend on the state before the round, which the adversary
   knows, too. This assumes that no clause lets the adversary choose which rounds count after it has seen the coins:
   clauses `infinitely often` are not used then. (Bertrand, Konnov, Lazic, Widder 2019, for round-rigid adversaries;
   here every adversary is one, as whole rounds are.) */
enum liveness_coins {
  COINS_FREE,  /* whatever is worst */
  COINS_ECHO,  /* the first of their values that is part of a message sent in the round; the first one if there is none
                */
  COINS_FIRST, /* the first of their values; FIRST + 1: the second; ... */
};
enum { COIN_VALUES_MAX = 4 };

struct liveness_formula {
  enum liveness_kind kind;
  struct node *from, *trigger, *goal; /* about states; from, trigger: NULL is true */
  const char *refused;                /* NULL: success */
  struct span at;                     /* of the obstacle */
};

/* What a good round must satisfy, besides the clauses of the environment. */
struct liveness_predicate {
  struct node *pred;
  uint32_t name_id; /* in rounds of that name only; NO_NAME: in every round */
  uint32_t ordinal; /* of its clause, see liveness_clause */
  const struct clause *of;
};

struct liveness_rules {
  struct liveness_predicate *predicates; /* none: any round that the environment allows */
  uint32_t n;
  uint32_t environment; /* in which every round is such a round */
};

/* Rounds of one kind that lead from a stage to a stage. */
struct liveness_edge {
  uint32_t from, to, rules;
  uint32_t name_id;           /* only rounds of that name; NO_NAME: all */
  int phase_start, phase_end; /* 1: only the first, the last round of a phase; 0: only other rounds; -1: any */
  bool missed;                /* only if the goal is not reached in the state before */
  bool triggered;             /* only if the trigger holds there */
  uint32_t coin;              /* what coins show in these rounds, counted from 1; 0: they are free */
  bool exact;                 /* these rounds count; of other rounds more may be derived than the algorithm does */
};

struct liveness_clause {
  uint32_t ordinal; /* among the clauses about runs; those for each process count once */
  struct span at;
  const char *why;
};

struct liveness {
  struct liveness_formula formula;
  uint32_t property, environment;
  enum liveness_coins coins;
  struct liveness_rules *rules;
  uint32_t nrules;
  struct liveness_edge *edges;
  uint32_t nedges, nstages;
  uint32_t start;  /* the first stage */
  uint32_t before; /* the stage in which nothing is required yet; NO_STAGE: there is none */
  uint32_t last;   /* enough good rounds have been seen; NO_STAGE: every run ends, and nothing else counts */
  uint32_t events; /* how many that is */
  struct liveness_clause *ignored; /* clauses that are not used */
  uint32_t nignored;
};

struct liveness_request {
  uint32_t property, environment;
  uint32_t times; /* how often each kind of good round must have been seen; at least 1 */
  enum liveness_coins coins;
  uint64_t ignored;  /* by ordinal: clauses about runs that are not to be used */
  bool promise_only; /* instead of the property: no run has so many good rounds, or ends */
};

enum { LIVENESS_CLAUSES_MAX = 64 };

/* Prepares a model for the product: the live property becomes a safety property of states, which is false if the goal
   is missed (`from`, then `trigger`, then `goal`, joined by implications); environments are added, one for each kind of
   round. Everything is in the model's arena. The same request has the same effect on all instances of a model. Returns
   false if refused: formula.refused says why. */
bool liveness_prepare(struct liveness *, struct model *, const struct liveness_request *);

/* Are there coins in this round? Their values, as they are written, go to `values` (at most COIN_VALUES_MAX; NULL
   beyond), in the model's arena. Only the first coin counts. */
bool liveness_coin_values(struct model *, uint32_t point, const char *values[COIN_VALUES_MAX]);

/* liveness_formula.c */
void liveness_formula_of(struct liveness_formula *, struct model *, const struct property *, uint32_t environment);

/* Does every run of the algorithm end? Then nothing is promised about what follows. */
bool liveness_runs_end(const struct model *);
bool liveness_edge_applies(const struct model *, const struct liveness_edge *, uint32_t point);
bool liveness_predicate_applies(const struct model *, const struct liveness_predicate *, uint32_t point);

#endif
