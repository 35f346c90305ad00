/* What a model and a query ask of whoever answers: the features of language and environment that they use, each with
   the first place in the source that uses it; and which engine supports which (features.def). An engine asks before it
   starts, and refuses what it does not declare. */
#ifndef RONDO_ANALYSIS_FEATURES_H
#define RONDO_ANALYSIS_FEATURES_H

#include "model/model.h"

enum feature {
#define FEATURE(id, engines, text) FEATURE_##id,
#include "analysis/features.def"
#undef FEATURE
  FEATURES
};

enum engine_id {
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

/* Of all that the query depends on, and of what the environment says besides. */
struct features features_used(const struct model *, const struct query *);
const char *feature_text(enum feature);
bool engine_supports(enum engine_id, enum feature);

/* Something that the query needs and the engine does not declare, the first in the source: true, which it is, and
 * where. */
bool features_refused(const struct model *, const struct query *, enum engine_id, enum feature *, struct span *);

#endif
