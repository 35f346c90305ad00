/* Licences: which reductions are sound for a query (an environment and some properties) according to the text of the
   model, and the line that rules out each of the others. A reduction is applied only with its licence, or if it is
   forced with `name!`, which marks the verdict as unlicensed. */
#ifndef RONDO_ANALYSIS_LICENCE_H
#define RONDO_ANALYSIS_LICENCE_H

#include "model/model.h"

struct round_window;

enum reduction {
#define REDUCTION(id, name, text) REDUCE_##id,
#include "analysis/reductions.def"
#undef REDUCTION
  REDUCTIONS
};

const char *reduction_name(enum reduction);
const char *reduction_text(enum reduction);

/* IDLE: as OFF, because it was seen to leave out too little. */
enum request_mode { REQUEST_AUTO, REQUEST_OFF, REQUEST_IDLE, REQUEST_ON, REQUEST_FORCED };

struct reduction_request {
  enum request_mode reduce[REDUCTIONS];
};

/* "auto", "none", or "symmetry,order", "partition!": false and a message if it cannot be read. */
bool reduction_request_parse(const char *text, struct reduction_request *, struct text *error);

struct licence {
  bool concerns;      /* it is for models of this kind; others are not shown */
  bool granted;       /* it is sound */
  bool useful;        /* it may have an effect on this model */
  bool applied;       /* granted and requested, or forced */
  bool forced;        /* applied without being granted */
  const char *reason; /* why it is granted or refused, or not applied; never NULL */
  struct span at;     /* the line that forbids it; none: both 0 */
};

/* How identities of a role's processes are used, and so which permutations of them are automorphisms of the transition
   system and keep the properties. Permutations of different roles can be combined freely. (In models of steps, a
   permutation moves channels along with processes, even where identities are not read.) */
enum identity_use {
  IDENTITY_ANONYMOUS, /* not at all: all permutations; no value holds an identity of the role */
  IDENTITY_EQUALITY,  /* compared for equality, stored, sent to: all permutations */
  IDENTITY_RING,      /* also `next`: rotations. Steps only */
  IDENTITY_NUMBERED   /* by number: no permutation */
};

struct licences {
  struct licence of[REDUCTIONS];
  enum identity_use *identity;       /* by role: transitions, environment and properties (not initial values) */
  struct span *identity_at;          /* by role: the place of that use */
  bool anonymous;                    /* every role is anonymous. Rounds: a state is a bag of local states */
  bool unlicensed;                   /* some reduction was forced */
  uint32_t phase_residue;            /* ROUND_RANK: the phase number is read modulo this; 1: it is not */
  const struct round_window *window; /* ROUND_WINDOW: how rounds are used; NULL: rounds */
  const struct type *value_type; /* PARTITION, ORDER: the type of the initial values; VALUES: the type whose values are
                                    permuted; NULL: none, and none of the three is applied */
};

/* The result lives in the arena. */
struct licences *licences_grant(const struct model *, const struct query *, const struct reduction_request *,
                                struct arena *);

/* May the semantics of the query be used in place of the finest one (rounds: fine; steps: M-MP and MP)? Granted if the
   verdicts are equal, with the reason to show; refused with the line that rules it out. */
struct licence semantics_licence(const struct model *, const struct query *, struct arena *);

#endif
