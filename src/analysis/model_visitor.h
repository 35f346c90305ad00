/* Goes through all the text that a query depends on: what processes start with and do, the environment, the
   properties. Every expression comes with the place where it stands; defs are for the visitor to follow. */
#ifndef RONDO_ANALYSIS_MODEL_VISITOR_H
#define RONDO_ANALYSIS_MODEL_VISITOR_H

#include "model/model.h"

enum site_kind {
  SITE_INITIAL,     /* first values and `where` */
  SITE_PROCESS,     /* sends, updates, finally; actions, whom a process can send to, first values after a recovery */
  SITE_ENVIRONMENT, /* clauses that constrain the runs of this query */
  SITE_PROPERTY
};

struct visit_site {
  enum site_kind place;
  uint32_t role;               /* INITIAL, PROCESS; ROLE_ANY for file-level variables and elsewhere */
  const struct body *body;     /* PROCESS, rounds */
  const struct action *action; /* PROCESS, steps; NULL: no action */
};

struct model_visitor {
  const struct model *model;
  const struct query *query;
  void *context;
  void (*node)(void *context, const struct visit_site *, const struct node *);
  /* NULL: the ranges and conditions of guards go to node */
  void (*guard)(void *context, const struct visit_site *, const struct guard *);
  /* An expression becomes the value of something of that type; it goes to node as well. NULL: not asked for. */
  void (*flow)(void *context, const struct visit_site *, const struct node *, const struct type *);
};

void model_visit(const struct model_visitor *);

/* The variables that a block assigns: one of the role's own, or of model->globals. */
const struct type *assigned_type(const struct model *, uint32_t role, const struct stmt *assign);

/* Faults with a limit above 0 */
bool environment_has_fault(const struct model *, const struct query *, enum clause_kind);
/* Messages may arrive that nobody sent: Byzantine processes, corruption. Which clause says so, or NULL. */
const struct clause *environment_forging_clause(const struct model *, const struct query *);
/* Steps: what is said about channels, or NULL. */
const struct clause *query_channels(const struct model *, const struct query *);
/* Steps: processes of the role may come back after a crash, with first values in all that forgets. */
bool role_recovers(const struct model *, const struct query *, uint32_t role);
bool var_is_volatile(const struct var *);
bool query_has_live_property(const struct model *, const struct query *);
/* Does the clause say anything about the runs that this query looks at? */
bool clause_is_relevant(const struct model *, const struct query *, const struct clause *);

#endif
