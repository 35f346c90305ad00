/* Visits all text that a query depends on: first values, what processes do, the environment, the properties. Every
   expression comes with the kind of its place. Defs are for the callback to follow. */
#ifndef RONDO_ANALYSIS_MODEL_VISITOR_H
#define RONDO_ANALYSIS_MODEL_VISITOR_H

#include "model/model.h"

enum site_kind {
  SITE_INITIAL,     /* first values and `where` */
  SITE_PROCESS,     /* sends, updates, finally; actions, whom a process can send to, first values after a recovery */
  SITE_ENVIRONMENT, /* clauses that are relevant to the query */
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
  /* The value of the expression is stored in something of that type. The expression is passed to node as well. May be
     NULL. */
  void (*flow)(void *context, const struct visit_site *, const struct node *, const struct type *);
};

void model_visit(const struct model_visitor *);

/* The type of the assigned variable: one of the role's own, or of model->globals. */
const struct type *assigned_type(const struct model *, uint32_t role, const struct stmt *assign);

/* Faults with a limit above 0 */
bool environment_has_fault(const struct model *, const struct query *, enum clause_kind);
/* A clause that allows messages that were not sent: Byzantine processes, corruption. Or NULL. */
const struct clause *environment_forging_clause(const struct model *, const struct query *);
/* Steps: the clause about channels, or NULL. */
const struct clause *query_channels(const struct model *, const struct query *);
/* Steps: processes of the role may recover after a crash. Their volatile variables then have first values. */
bool role_recovers(const struct model *, const struct query *, uint32_t role);
bool var_is_volatile(const struct var *);
/* Clauses about whole runs are relevant to live properties only. */
bool clause_is_relevant(const struct model *, const struct query *, const struct clause *);

#endif
