/* Licences: which reductions the text of a model allows for a question (an environment and some properties), and
   the line that forbids each of the others. A reduction is applied only with its licence, or when it is forced
   with `name!`, which marks the verdict as unlicensed. */
#ifndef RONDO_MODEL_LICENCE_H
#define RONDO_MODEL_LICENCE_H

#include "model/model.h"

enum reduction {
#define REDUCTION(id, name, text) REDUCE_##id,
#include "model/reductions.def"
#undef REDUCTION
  REDUCTIONS
};

const char *reduction_name(enum reduction);
const char *reduction_text(enum reduction);

enum wish { WISH_AUTO, WISH_OFF, WISH_ON, WISH_FORCED };

struct wishes {
  enum wish reduce[REDUCTIONS];
};

/* "auto", "none", or "symmetry,order", "partition!": false and a message if it cannot be read. */
bool wishes_parse(const char *text, struct wishes *, struct text *error);

struct licence {
  bool concerns; /* it is about models of this kind; the others are not shown */
  bool granted; /* the text allows it */
  bool useful;  /* it could change something in this model */
  bool applied; /* granted and wished for, or forced */
  bool forced;  /* applied without being granted */
  const char *reason; /* why it is granted or refused, or not applied; never NULL */
  struct span at;     /* the line that forbids it; none: both 0 */
};

/* How much of the identity of a role's processes the model reads. */
enum identity_use { IDENTITY_ANONYMOUS, IDENTITY_EQUALITY, IDENTITY_NUMBERED };

struct licences {
  struct licence of[REDUCTIONS];
  enum identity_use *identity; /* by role: transitions, environment and properties (not initial values) */
  struct span *identity_at;    /* by role: what raised it */
  bool anonymous;              /* every role is anonymous: a state is a bag of local states */
  bool unlicensed;             /* some reduction was forced */
  const struct type *value_type; /* PARTITION, ORDER: whose initial values are meant */
};

/* The result lives in the arena. */
struct licences *licences_grant(const struct model *, const struct question *, const struct wishes *, struct arena *);

#endif
