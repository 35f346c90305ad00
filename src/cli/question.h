/* From a model and the options to verdicts: which properties are asked in which environment, and
   each question from licences to counterexamples. */
#ifndef RONDO_CLI_QUESTION_H
#define RONDO_CLI_QUESTION_H

#include "cli/options.h"
#include "report/result.h"

#define MOST_TOGETHER                                                                              \
  64 /* properties in one question: an edge has so many bits for broken steps                      \
      */

struct inquiry { /* one environment, and what is asked in it */
  uint32_t environment;
  VEC(uint32_t) properties;
};

struct unchecked {
  uint32_t property, environment;
};

struct inquiries {
  VEC(struct inquiry) at; /* never empty */
  VEC(struct unchecked) live;
};

/* Properties of the same environment go together. False: said why. */
bool inquiries_make(struct inquiries *, const struct model *, const struct options *);
void inquiries_release(struct inquiries *);

/* Asks all of them. False: a fault of rondo, in *fault; or the engine cannot do it, and said why: in *refused. */
bool inquiries_answer(const struct inquiries *, struct model *, struct meaning *, struct arena *,
                      const struct options *, enum semantics, struct check_result *,
                      struct text *refused, struct text *fault);

#endif
