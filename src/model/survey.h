/* Goes through all the text that a question depends on: what processes start with and do, the environment, the
   properties. Every expression comes with the place where it stands; defs are for the visitor to follow. */
#ifndef RONDO_MODEL_SURVEY_H
#define RONDO_MODEL_SURVEY_H

#include "model/model.h"

enum place {
  PLACE_INITIAL,     /* first values and `where` */
  PLACE_PROCESS,     /* sends, updates, finally; actions, whom a process can send to, first values after a recovery */
  PLACE_ENVIRONMENT, /* clauses that constrain the runs of this question */
  PLACE_PROPERTY
};

struct site {
  enum place place;
  uint32_t role;           /* INITIAL, PROCESS; ROLE_ANY for file-level variables and elsewhere */
  const struct body *body; /* PROCESS, rounds */
  const struct action *action; /* PROCESS, steps; NULL: no action */
};

struct survey {
  const struct model *model;
  const struct question *question;
  void *context;
  void (*node)(void *context, const struct site *, const struct node *);
  /* NULL: the ranges and conditions of guards go to node */
  void (*guard)(void *context, const struct site *, const struct guard *);
  /* An expression becomes the value of something of that type; it goes to node as well. NULL: not asked for. */
  void (*flow)(void *context, const struct site *, const struct node *, const struct type *);
};

void survey_run(const struct survey *);

/* The variables that a block assigns: one of the role's own, or of model->globals. */
const struct type *assigned_type(const struct model *, uint32_t role, const struct stmt *assign);

/* Faults with a limit above 0 */
bool environment_has(const struct model *, const struct question *, enum clause_kind);
/* Messages may arrive that nobody sent: Byzantine processes, corruption. Which clause says so, or NULL. */
const struct clause *environment_forges(const struct model *, const struct question *);
/* Steps: what is said about channels, or NULL. */
const struct clause *question_channels(const struct model *, const struct question *);
/* Steps: processes of the role may come back after a crash, with first values in all that forgets. */
bool role_recovers(const struct model *, const struct question *, uint32_t role);
bool var_forgets(const struct var *);
bool question_is_live(const struct model *, const struct question *);
/* Does the clause say anything about the runs that this question looks at? */
bool clause_counts(const struct model *, const struct question *, const struct clause *);

#endif
