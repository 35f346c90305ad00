/* Defs: checked at their first use, each in its own frame. */
#ifndef RONDO_LANG_TYPECHECK_DEF_H
#define RONDO_LANG_TYPECHECK_DEF_H

#include "base/vec.h"
#include "lang/ast.h"
#include "model/model.h"

struct typechecker;

enum def_state { DEF_NEW, DEF_OPEN, DEF_DONE };

struct def_info {
  const struct ast *ast;
  enum def_state state;
  uint32_t role; /* ROLE_ANY: file level */
  const struct type **args;
  const struct type *type; /* NULL: not known yet */
  bool reads_processes;    /* reads variables of processes from outside, so processes may not use it */
  bool chooses;            /* contains pick or random, so only processes may use it */
  bool reads_shared;       /* reads shared variables, so initial values may not use it */
  bool reads_ghost;        /* reads a file-level ghost, so only ghosts and properties may use it */
};

struct def_table {
  VEC(struct def) list;
  VEC(struct def_info) info; /* in the same order */
  struct def_info *current;  /* the def whose body is being checked, or NULL */
  unsigned depth;            /* nesting depth of defs being checked */
};

void declare_defs(struct typechecker *, uint32_t role); /* ROLE_ANY: the defs of the file */
void check_defs(struct typechecker *, uint32_t role);
const struct def_info *def_typecheck(struct typechecker *, uint32_t index, struct span use); /* NULL: reported */

#endif
