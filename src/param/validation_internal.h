/* Private to src/param/validation*.c. */
#ifndef RONDO_PARAM_VALIDATION_INTERNAL_H
#define RONDO_PARAM_VALIDATION_INTERNAL_H

#include "base/intern.h"
#include "interp/counter_run.h"
#include "interp/eval.h"
#include "param/counter_graph.h"
#include "param/validation.h"
#include "symbolic/solver.h"

#define NO_LEADER UINT32_MAX
struct phase_state {
  uint32_t leader; /* of the phase; NO_LEADER: none, or between phases */
  value since;     /* the fixed phase, if it has begun; 0: it has not */
};

struct validator {
  const struct derivation *dv;
  const struct counter_system *s;
  const struct round_shape *shape;
  uint32_t environment, property;
  const volatile sig_atomic_t *stop;
  struct counter_graph *graph;
  struct solver *solver;
  struct intern *locations; /* by values of the controls; interned ids are indices of locations */
  VEC(size_t) first;        /* by location: its first entry in `ordered`; one more at the end */
  VEC(size_t) ordered;      /* transitions by location */
  size_t last;              /* the last matching transition, tried first */
  uint32_t violated;        /* the control of a step property; UINT32_MAX: not a step property */
  /* the instance */
  struct interpreter *interp;
  const struct liveness *liveness; /* or NULL */
  const struct model *m;
  uint32_t last_pass;
  int64_t *params;
  struct intern *texts;           /* printed values, as vectors of characters */
  struct intern *locals;          /* point, part, local state of the instance */
  VEC(uint32_t) local_of;         /* by id in `locals`: the derived local state; UINT32_MAX: none */
  VEC(struct config *) configs;   /* reached configurations, processes in any order */
  VEC(uint32_t) states;           /* by configuration: its state of the counter system */
  VEC(struct phase_state) phases; /* by configuration */
  struct intern *known;           /* configurations with sorted processes */
  struct intern *systems;         /* states of the counter system: counters, then controls */
  struct intern *pairs;           /* matched steps: before, after (without the unchanged part), bad */
  VEC(uint32_t) ends;             /* by pair: the successor state */
  struct validation *out;
};

static inline bool validator_stopped(const struct validator *c) { return c->stop && *c->stop; }
static inline size_t validation_state_width(const struct validator *c) {
  return (size_t)c->s->ncounters + c->s->ncontrols;
}

/* ---- validation_state.c: from configurations to counter states ---- */
/* The point of the derivation's model that corresponds to a point of this instance. */
uint32_t validation_point(const struct validator *, uint32_t point);
/* The derived local state of a part of a process; UINT32_MAX: none. */
uint32_t validation_local(struct validator *, uint32_t point, uint32_t part, const value *local);
/* Returns false if some local state was not derived. */
bool validation_state(struct validator *, const struct config *, int64_t *state);
/* Computes all parameters of the system from those of the instance. */
bool validation_params(struct validator *);
void validation_state_print(const struct validator *, const int64_t *state, struct text *);

/* ---- validation_phase.c: who leads, and how old numbers of phases are ---- */
/* Where a configuration is in its phase. */
enum phase_place { PHASE_BETWEEN, PHASE_AGED, PHASE_ELECTED };
/* The configuration with classes in place of coordinators and ages in place of numbers of phases, as the derivation has
   them. beliefs: by process, the coordinator that it believes in; NULL: as in the configuration. */
struct config *validation_view(const struct validator *, const struct config *, struct phase_state, enum phase_place,
                               const value *beliefs);
enum phase_place validation_place(const struct validator *, const struct config *);
/* Is a leader chosen before the next round? Do numbers age? */
bool validation_elects(const struct validator *, const struct config *);
bool validation_ages(const struct validator *, const struct config *);
void validation_beliefs(const struct validator *, const struct config *, const struct witness *, value *beliefs);
uint32_t validation_leader(const struct validator *, const struct config *, const value *beliefs);
/* Of a configuration in that phase, or between it and the next. */
enum fixed_phase validation_fixed(struct phase_state, value phase);
/* Do all watched variables have their first values? */
bool validation_unchanged(struct validator *, const struct config *);
/* The number of values that are less, among all numbers of phases of the configuration. */
value validation_age_rank(const struct validator *, const struct config *, value since, value);
uint32_t validation_value_name(struct validator *, const struct model *, uint32_t i, value); /* validation_state.c */

/* ---- validation_live.c: the stages of a live property, judged by the interpreter ---- */
uint32_t validation_stage(const struct validator *, const int64_t *state); /* 0 if the property is not live */
bool validation_live_begins(struct validator *, const struct config *);    /* is it a start? */
/* FALSE: the product must be unsafe in this state and stage. */
enum verdict3 validation_live_holds(struct validator *, const struct config *, uint32_t stage);
bool validation_live_reaches(struct validator *, const struct config *); /* the goal */
/* May such a round come next in this stage? */
bool validation_live_allows(struct validator *, const struct config *, const int64_t *state,
                            const struct liveness_edge *);

/* ---- validation_match.c: moves between two states ---- */
/* Is there one move of a round, or an election, from `from` to `to`? */
bool validation_round_leads(struct validator *, const int64_t *from, const int64_t *to, bool bad, int64_t *end);
/* Is there a sequence of moves from `from` to the counterpart of `after`? bad: the step violates the property. end: the
   state reached, which is that of `after` except for flags, which are never reset. */
bool validation_match_step(struct validator *, const int64_t *from, const struct config *before,
                           const struct config *after, const int64_t *to, bool bad, int64_t *end);

/* ---- validation_turns.c: a round in turns ---- */
/* Does a sequence of moves, the first of which freezes what is sent, lead from `from` to `to`? The processes that
   change are those of the step. */
bool validation_turns_lead(struct validator *, const int64_t *from, const struct config *before,
                           const struct config *after, const int64_t *to, bool bad, int64_t *end);

/* ---- validation_match.c: single moves ---- */
bool validation_moves(const struct validator *, uint32_t move, const int64_t *from, const int64_t *amounts,
                      int64_t *to);
/* The solver finds the amounts. */
bool validation_leads(struct validator *, const struct counter_transition *, const int64_t *from, const int64_t *to,
                      int64_t *end);
bool validation_same_up_to_violation(const struct validator *, const int64_t *, const int64_t *);
bool validation_violated(const struct validator *, const int64_t *state);

#endif
