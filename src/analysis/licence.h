/* Licences: which reductions the text of a model allows for a query (an environment and some properties), and
   the line that forbids each of the others. A reduction is applied only with its licence, or when it is forced
   with `name!`, which marks the verdict as unlicensed. */
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

enum request_mode { REQUEST_AUTO, REQUEST_OFF, REQUEST_ON, REQUEST_FORCED };

struct reduction_request {
  enum request_mode reduce[REDUCTIONS];
};

/* "auto", "none", or "symmetry,order", "partition!": false and a message if it cannot be read. */
bool reduction_request_parse(const char *text, struct reduction_request *, struct text *error);

struct licence {
  bool concerns;      /* it is about models of this kind; the others are not shown */
  bool granted;       /* the text allows it */
  bool useful;        /* it could change something in this model */
  bool applied;       /* granted and wished for, or forced */
  bool forced;        /* applied without being granted */
  const char *reason; /* why it is granted or refused, or not applied; never NULL */
  struct span at;     /* the line that forbids it; none: both 0 */
};

/* How much of the identity of a role's processes the text reads: which renamings of them change nothing that processes,
   environment and properties do. Each role for itself: any renaming of one role goes with any of the others. (In models
   of steps a channel has two ends: even where identities are not read, a renaming moves channels along with processes.)
 */
enum identity_use {
  IDENTITY_ANONYMOUS, /* not at all: every permutation, and no value holds an identity of the role */
  IDENTITY_EQUALITY,  /* compared for equality, stored, sent to: every permutation */
  IDENTITY_RING,      /* also `next`: the rotations. Steps only */
  IDENTITY_NUMBERED   /* their numbers: none */
};

struct licences {
  struct licence of[REDUCTIONS];
  enum identity_use *identity;       /* by role: transitions, environment and properties (not initial values) */
  struct span *identity_at;          /* by role: what raised it */
  bool anonymous;                    /* every role is anonymous. Rounds: a state is a bag of local states */
  bool unlicensed;                   /* some reduction was forced */
  uint32_t phase_residue;            /* ROUND_RANK: the phase number is read modulo this; 1: it is not */
  const struct round_window *window; /* ROUND_WINDOW: how rounds are used; NULL: not asked */
  const struct type *value_type; /* PARTITION, ORDER: whose initial values are meant; VALUES: whose values are renamed,
                                    by any permutation; NULL: of none, and none of the three is applied */
};

/* The result lives in the arena. */
struct licences *licences_grant(const struct model *, const struct query *, const struct reduction_request *,
                                struct arena *);

/* May the query be answered by its semantics? Granted if the verdict is that of the plainest one (steps: MP and
   M-MP), with the reason to show; refused with the line that forbids it. Only granted, reason and at are set. */
struct licence semantics_licence(const struct model *, const struct query *, struct arena *);

#endif
