/* What a model and a question ask of whoever answers: the features of language and environment that they use, each with the first
   place in the source that uses it; and which engine supports which (features.def). An engine asks before it starts, and refuses what it
   does not declare. */
#ifndef RONDO_MODEL_FEATURES_H
#define RONDO_MODEL_FEATURES_H

#include "model/model.h"

enum feature {
#define FEATURE(id, engines, text) FEATURE_##id,
#include "model/features.def"
#undef FEATURE
  FEATURES
};

enum engine {
  ENGINE_SEARCH,
  ENGINE_BMC,
  ENGINE_INDUCTION,
  ENGINE_SPACER,
  ENGINE_SMTLIB,
  ENGINE_PROMELA,
  ENGINE_MURPHI,
  ENGINE_TLA,
  ENGINE_SMV,
  ENGINE_DOT,
  ENGINES
};

struct features {
  bool used[FEATURES];
  struct span at[FEATURES]; /* the first in the source; {0, 0}: nowhere in particular */
};

/* Of all that the question depends on, and of what the environment says besides. */
struct features features_used(const struct model *, const struct question *);
const char *feature_text(enum feature);
bool engine_supports(enum engine, enum feature);

/* Something that the question needs and the engine does not declare, the first in the source: true, which it is, and where. */
bool features_refused(const struct model *, const struct question *, enum engine, enum feature *, struct span *);

#endif
