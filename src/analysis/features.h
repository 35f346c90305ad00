/* What a model and a query need of an engine: constructs of the language, of the environment and of properties. An
   engine asks before it starts, and refuses what it does not support (features.def). */
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

const char *feature_text(enum feature);
bool engine_supports(enum engine_id, enum feature);

/* Does the query need something that the engine does not support? Then sets which, and its first place in the source
   ({0, 0}: nowhere in particular). */
bool features_refused(const struct model *, const struct query *, enum engine_id, enum feature *which, struct span *at);

#endif
