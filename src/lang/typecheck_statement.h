/* Statements, blocks and sends. */
#ifndef RONDO_LANG_TYPECHECK_STATEMENT_H
#define RONDO_LANG_TYPECHECK_STATEMENT_H

#include "lang/ast.h"
#include "model/model.h"

struct typechecker;

void check_block(struct typechecker *, const struct ast *, struct block *);
uint64_t check_send(struct typechecker *, const struct ast *, struct send *);   /* the roles that it may reach */
uint64_t check_target(struct typechecker *, const struct ast *, struct send *); /* likewise */

#endif
