/* The result for one property of a counter system. */
#ifndef RONDO_PARAM_PROOF_H
#define RONDO_PARAM_PROOF_H

#include "param/engine.h"

struct engine_report {
  const char *name;
  char *reached; /* in words, owned */
};

struct proof {
  const struct counter_property *property;
  enum engine_verdict kind; /* OPEN: undecided */
  char *by;                 /* SAFE, UNSAFE: the engine; owned */
  char *certificate;        /* SAFE: SMT-LIB, checked; owned */
  uint32_t questions;       /* of the certificate */
  struct counter_run run;   /* UNSAFE: replayed */
  char *limit;              /* OPEN: the limit that ended the search, in words; owned */
  struct engine_report reports[ENGINES];
  uint32_t nreports;
  uint32_t depth; /* depth of the deciding engine */
  double seconds;
  size_t memory;
};

void proof_init(struct proof *, const struct counter_property *);
void proof_release(struct proof *);

/* Prints `all N, t with N > 3 * t`, `after 3 moves, N = 4`, or why it is undecided. */
void proof_summary(const struct proof *, const struct counter_system *, struct text *);

#endif
