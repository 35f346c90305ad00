/* From a model and the options to verdicts: which properties are asked in which environment, and
   each question from licences to counterexamples. */
#ifndef RONDO_DRIVER_QUESTION_H
#define RONDO_DRIVER_QUESTION_H

#include "driver/load.h"
#include "report/result.h"

#define MOST_TOGETHER                                                                              \
  64 /* properties in one question: an edge has so many bits for broken steps                      \
      */

struct inquiry { /* one environment, and what is asked in it */
  uint32_t environment;
  VEC(uint32_t) properties;
  bool alone; /* nothing else is asked with it */
};

struct inquiry_live { /* a question of its own */
  uint32_t property, environment;
};

struct inquiries { /* one of both is not empty */
  VEC(struct inquiry) at;
  VEC(struct inquiry_live) live;
};

struct asked { /* about what */
  const struct syntax *syntax; /* a live property needs a model of its own, made from the same text */
  const struct binding *bindings;
  size_t nbindings;
  struct model *model;
  struct meaning *meaning;
  struct arena *arena; /* results live there */
  const struct options *options;
  enum semantics semantics;
  bool unsaid; /* nobody insists on that semantics */
  bool quiet;  /* what an engine refuses is not said, only told in *refused */
};

/* Properties of the same environment go together. False: said why. */
bool inquiries_make(struct inquiries *, const struct model *, const struct options *);
void inquiries_release(struct inquiries *);

/* Asks all of them. False: a fault of rondo, in *fault; or the engine cannot do it, and said why: in *refused. */
bool inquiries_answer(const struct inquiries *, const struct asked *, struct check_result *, struct text *refused,
                      struct text *fault);

/* One of them. */
bool question_answer(const struct asked *, const struct question *, struct run_result *, struct text *refused,
                     struct text *fault);

/* Is all that the question needs something that the search has heard of? False: said why. */
bool question_suits(struct rondo *, const struct model *, const struct question *, struct text *refused);

/* driver/locality.c: the question, with what has to be followed beside it to know whether whole rounds are enough; the licences
   that come of it; and, after the last run of the result, what is asked again because they are not. */
struct question question_for(const struct asked *, uint32_t environment, const uint32_t *properties, uint32_t n);
void rounds_licences(const struct asked *, const struct question *, const struct search *, struct run_result *);
bool rounds_answer(const struct asked *, const struct question *, struct check_result *, struct text *refused,
                   struct text *fault);

/* The space of a question, with what may be reduced in it. */
struct space *question_space(const struct asked *, const struct question *, const struct wishes *,
                             const struct licences **);
/* driver/locality.c: may what whole rounds say of a live property be said of rounds of one's own? If these were asked for and it may
   not, nothing is known. */
void live_rounds_licence(const struct asked *, const struct inquiry_live *, struct run_result *);
/* driver/live.c: likewise, of a live property. */
bool live_answer(const struct asked *, const struct inquiry_live *, struct run_result *, struct text *fault);

#endif
