/* What processes do: in rounds, or in steps with kinds of messages, program points and actions. */
#ifndef RONDO_LANG_TYPECHECK_PROCESS_H
#define RONDO_LANG_TYPECHECK_PROCESS_H

#include "base/vec.h"
#include "lang/ast.h"
#include "model/model.h"

struct typechecker;

/* typecheck_schedule.c: the rounds of all roles. */
void check_schedule(struct typechecker *);

/* typecheck_messages.c: kinds of messages, and their senders and receivers. */
struct step_send { /* a send of an action, and the roles that it may reach */
  struct span at;
  uint32_t kind;
  uint64_t reach;
};

struct message_flow {
  VEC(struct step_send) sends;
  uint64_t *senders; /* [kind * nroles + role]: the roles that send such messages to the role, one bit each */
};

void declare_messages(struct typechecker *);
void find_senders(struct typechecker *); /* requires the environments: a Byzantine process sends anything */
uint32_t message_named(struct typechecker *, const char *name, struct span); /* NO_KIND: reported */
void check_step_send(struct typechecker *, const struct ast *, struct stmt *);
void warn_of_messages(struct typechecker *);

/* typecheck_steps.c, typecheck_action.c: processes that take steps. */
uint32_t count_hidden_variables(const struct ast *process); /* upper bound */
/* Declares the program point and `once` flags, after all other variables */
void declare_points(struct typechecker *, uint32_t role);
void check_graphs(struct typechecker *);
void check_steps(struct typechecker *);
/* Sets role->final: where processes may stay forever. */
void find_final_steps(struct typechecker *, uint32_t role);
uint32_t point_find(struct typechecker *, uint32_t role, const char *name); /* NAME_NONE: no such step */
struct node *lower_at(struct typechecker *, const struct ast *);            /* at(p, step) */
void check_goto(struct typechecker *, const struct ast *, struct stmt *);
void check_action(struct typechecker *, const struct ast *trigger, const struct ast *block, struct action *);

#endif
