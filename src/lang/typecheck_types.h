/* Types: one for each shape, from the syntax tree or made by the checker. */
#ifndef RONDO_LANG_TYPECHECK_TYPES_H
#define RONDO_LANG_TYPECHECK_TYPES_H

#include "base/vec.h"
#include "lang/ast.h"
#include "model/model.h"

struct typechecker;

enum {
  TYPE_BUCKETS = 4096,
  ELEMENTS_MAX = 10000000, /* largest size of a type that a generator ranges over or that indexes an array */
};

struct type_table { /* a hash table */
  VEC(struct type *) list;
  VEC(uint32_t) next;           /* by type: 1 + the next type with the same hash; 0: none */
  uint32_t first[TYPE_BUCKETS]; /* by hash: 1 + the first type; 0: none */
};

const struct type *type_intern(struct typechecker *, struct type); /* the unique type of that shape */
const struct type *type_of_ast(struct typechecker *, const struct ast *);
const struct type *range_type(struct typechecker *, int64_t lo, int64_t hi);
const struct type *option_type(struct typechecker *, const struct type *);
const struct type *set_type(struct typechecker *, const struct type *);
const struct type *process_type(struct typechecker *, uint32_t role);
const struct type *message_type(struct typechecker *, const struct ast *signature);
void declare_types(struct typechecker *);
bool type_is_number(const struct type *);
bool type_is_known(const struct type *); /* has no unknown or error part */
uint64_t roles_of_type(const struct typechecker *, const struct type *);
/* An identity of any role; if there is only one role, of that role */
const struct type *any_process_type(struct typechecker *);

#endif
