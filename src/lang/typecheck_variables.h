/* Roles and their variables, and the variables of the file. */
#ifndef RONDO_LANG_TYPECHECK_VARIABLES_H
#define RONDO_LANG_TYPECHECK_VARIABLES_H

#include "model/model.h"

struct typechecker;

void declare_roles(struct typechecker *);
void check_stores(struct typechecker *);
/* Is the variable of that kind in one of the roles; in all of them? */
bool field_has_kind(const struct typechecker *, uint32_t field, uint64_t roles, enum var_kind);
void mark_read(struct typechecker *, uint32_t field); /* records that such a variable is read */
uint32_t field_find(struct typechecker *, const char *name, uint64_t roles, struct span); /* UINT32_MAX: reported */
void enter_role(struct typechecker *, uint32_t role);
void leave_role(struct typechecker *);

#endif
