/* Model checking with a solver instead of a search: BMC, k-induction and Spacer. A finding consists of concrete states
   and of the choices between them. The caller must replay it with the reference interpreter before reporting it. */
#ifndef RONDO_SYMBOLIC_SYMBOLIC_CHECK_H
#define RONDO_SYMBOLIC_SYMBOLIC_CHECK_H

#include "analysis/licence.h"
#include "interp/config.h"

enum symbolic_engine {
  SYMBOLIC_BOUNDED,   /* BMC: all runs up to a length */
  SYMBOLIC_INDUCTION, /* BMC and k-induction: proves runs of any length */
  SYMBOLIC_SPACER     /* Spacer: inductive invariants */
};

/* One step of a finding's run. */
struct symbolic_step {
  struct witness *witness;  /* round models: all but the choice scripts; step models: NULL, the states around it
                               determine the rest */
  uint32_t process, action; /* step models; NO_ACTION: an event that is no action */
  bool *sent;               /* round models: by sender * processes + receiver */
  value *message;           /* likewise */
};

struct symbolic_finding {
  bool found;
  bool at_start;     /* an error in evaluating the initial states: there is no run */
  bool error;        /* the run ends in an error of its last step (which has no state after it) or of the property */
  uint32_t property; /* index in the query; UINT32_MAX: an error of a step */
  uint32_t rounds;
  uint32_t faulty, harmed; /* faulty processes; messages counted against the environment's budgets */
  struct config **states;  /* nstates states */
  uint32_t nstates;
  struct symbolic_step *steps; /* one per round */
};

enum symbolic_end {
  SYMBOLIC_EXHAUSTED,   /* no longer runs exist, or everything is proved */
  SYMBOLIC_CUT,         /* the requested depth was reached */
  SYMBOLIC_DECIDED,     /* every property is decided */
  SYMBOLIC_MODEL_ERROR, /* a run has an error of the model */
  SYMBOLIC_STOPPED,     /* time, memory or Ctrl-C: the caller knows which */
  SYMBOLIC_GAVE_UP      /* the solver answered unknown, or induction did not succeed */
};

struct symbolic_answer {
  enum symbolic_end end;
  struct symbolic_finding *findings; /* by property of the query */
  struct symbolic_finding error;
  bool *proved;       /* by property: never violated, or never reached */
  uint32_t complete;  /* all findings within complete - 1 rounds are known */
  uint32_t depth;     /* length of the longest runs checked */
  uint64_t variables; /* fresh variables of the encoding */
  char *why;          /* GAVE_UP: the reason from the solver or the engine; owned */
  bool refused;       /* the model cannot be encoded: */
  struct span refused_at;
  char *refusal; /* owned */
};

struct symbolic_options {
  enum symbolic_engine engine;
  uint32_t depth; /* in rounds or steps; for induction, the largest k. UINT32_MAX: no limit */
  const struct licences *licences;
  const volatile sig_atomic_t *interrupt;          /* nonzero: stop */
  size_t memory;                                   /* limit for this process in bytes; 0: none */
  void (*progress)(void *context, uint32_t depth); /* may be NULL */
  void *context;
};

void symbolic_check(struct model *, const struct query *, const struct symbolic_options *, struct symbolic_answer *);
void symbolic_answer_release(struct symbolic_answer *, const struct query *);

/* Prints an SMT-LIB script that is satisfiable exactly if a run of at most `depth` rounds violates, or reaches, the
   property. Returns false with the reason in refusal. */
struct text;
bool symbolic_export(struct model *, const struct query *, uint32_t depth, const struct licences *, struct text *out,
                     struct span *refused_at, struct text *refusal);

#endif
