/* Checking models with a solver instead of a search: bounded, by induction, and by Spacer. What is found comes as
   concrete states and what was chosen between them; whoever shows it replays it on the reference first. */
#ifndef RONDO_SYMBOLIC_SYMBOLIC_CHECK_H
#define RONDO_SYMBOLIC_SYMBOLIC_CHECK_H

#include "analysis/licence.h"
#include "interp/config.h"

enum symbolic_engine {
  SYMBOLIC_BOUNDED,   /* every run up to a length */
  SYMBOLIC_INDUCTION, /* that, and whether a property that held for some rounds must go on to hold */
  SYMBOLIC_SPACER     /* inductive invariants */
};

/* One step of a run that was found. */
struct symbolic_step {
  struct witness *witness;  /* rounds: all but the scripts; steps: NULL, the states around it tell the rest */
  uint32_t process, action; /* steps: who does which; NO_ACTION: something else happens */
  bool *sent;               /* rounds: by sender * processes + receiver */
  value *message;           /* likewise */
};

struct symbolic_finding {
  bool found;
  bool at_start;     /* an error in the choice of initial states: there is no run */
  bool error;        /* it ends in an error: of its last step (there is no state after it), or of the property */
  uint32_t property; /* of the query; UINT32_MAX: an error of a step */
  uint32_t rounds;
  uint32_t faulty, harmed; /* processes; messages that the environment charges */
  struct config **states;  /* nstates of them */
  uint32_t nstates;
  struct symbolic_step *steps; /* rounds of them */
};

enum symbolic_end {
  SYMBOLIC_EXHAUSTED,   /* there are no longer runs, or all is proved */
  SYMBOLIC_CUT,         /* as far as was asked for */
  SYMBOLIC_DECIDED,     /* every property is decided */
  SYMBOLIC_MODEL_ERROR, /* the model does what it must not */
  SYMBOLIC_STOPPED,     /* time, memory, Ctrl-C: the caller knows which */
  SYMBOLIC_GAVE_UP      /* the solver does not know; or induction goes no further */
};

struct symbolic_answer {
  enum symbolic_end end;
  struct symbolic_finding *findings; /* by property of the query */
  struct symbolic_finding error;
  bool *proved;       /* by property: it is never violated, or never reached */
  uint32_t complete;  /* nothing else is found within complete - 1 rounds */
  uint32_t depth;     /* longest runs that were looked at */
  uint64_t variables; /* free ones */
  char *why;          /* GAVE_UP: what the solver, or the engine, says; owned */
  bool refused;       /* the model cannot be put to a solver: */
  struct span refused_at;
  char *refusal; /* owned */
};

struct symbolic_options {
  enum symbolic_engine engine;
  uint32_t depth; /* rounds, or steps; of induction: how many it may assume. UINT32_MAX: no limit */
  const struct licences *licences;
  const volatile sig_atomic_t *interrupt;          /* not 0: stop */
  size_t memory;                                   /* of this process; 0: no limit */
  void (*progress)(void *context, uint32_t depth); /* or NULL */
  void *context;
};

void symbolic_check(struct model *, const struct query *, const struct symbolic_options *, struct symbolic_answer *);
void symbolic_answer_release(struct symbolic_answer *, const struct query *);

/* The runs of up to so many rounds that show the property violated, or reached, as SMT-LIB: sat if there is one. False:
   the refusal says why not. */
struct text;
bool symbolic_export(struct model *, const struct query *, uint32_t depth, const struct licences *, struct text *out,
                     struct span *refused_at, struct text *refusal);

#endif
