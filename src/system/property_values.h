/* Values of properties. A formula reads a state only through some variables, the globals and the set of faulty
   processes. Its value is cached by these: a local state is replaced by its class, which is the part of it that the
   formula reads, and the classes and whatever else the formula reads of a state (or of the two states of a step) form a
   view. */
#ifndef RONDO_SYSTEM_PROPERTY_VALUES_H
#define RONDO_SYSTEM_PROPERTY_VALUES_H

#include "analysis/formula_reads.h"
#include "base/intern.h"
#include "base/vec.h"
#include "interp/eval.h"

struct property_cache {
  const struct node *formula;
  struct formula_reads reads;
  struct intern *classes; /* no class has number 0 */
  struct intern *views;
  VEC(uint32_t) verdicts; /* by view: 1 + verdict, errors from 1 + V_ERROR on; 0: not computed */
  VEC(struct model_error) errors;
};

/* The arena keeps what the analysis of the formula returns. */
void property_cache_init(struct property_cache *, const struct model *, const struct node *formula, struct arena *);
void property_cache_release(struct property_cache *);
size_t property_cache_bytes(const struct property_cache *);

/* The class of a local state. Status bits above those of enum status belong to it. */
uint32_t property_class(struct property_cache *, const struct model *, uint32_t role, const value *local);
/* The slot for the verdict on a view: 1 + verdict, or 0. Valid until the next call. */
uint32_t *property_verdict_slot(struct property_cache *, const value *view, size_t n);
/* The number of a verdict: below V_ERROR the verdict itself, otherwise V_ERROR plus the index of the error, which is
   kept. */
uint32_t property_verdict_number(struct property_cache *, enum verdict3, const struct model_error *);
static inline enum verdict3 property_verdict(const struct property_cache *c, uint32_t number,
                                             struct model_error *error) {
  if (number < V_ERROR)
    return (enum verdict3)number;
  *error = c->errors.at[number - V_ERROR];
  return V_ERROR;
}

/* A copy of a model and of its interpreter with other numbers of processes, for formulas that are about one process, or
   that cannot count processes. */
struct reduced_model {
  struct model model;
  struct interpreter interp;
  struct role *roles;
};

void reduced_model_init(struct reduced_model *, const struct interpreter *); /* without processes */
void reduced_model_number(struct reduced_model *);                           /* after the counts of roles were set */
/* The interpreter's arenas may have grown while the copy was used. */
void reduced_model_release(struct reduced_model *, struct interpreter *);

/* A step property of the form `forall p in R: ...` that speaks of p alone: does the step of a process of that role
   from the one local state to the other satisfy it? */
bool one_process_step_holds(struct interpreter *, const struct node *formula, uint32_t role, const value *before,
                            const value *after);

/* The step properties among those of `which` that the step violates: bits by property of the query. */
uint64_t broken_step_properties(struct interpreter *, const struct query *, uint64_t which, const struct config *before,
                                const struct config *after);

#endif
