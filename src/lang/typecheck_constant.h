/* Constant expressions, evaluated on the syntax tree before types are known. */
#ifndef RONDO_LANG_TYPECHECK_CONSTANT_H
#define RONDO_LANG_TYPECHECK_CONSTANT_H

#include "base/name_index.h"
#include "lang/ast.h"

struct typechecker;

struct constant_defs { /* the file's defs without arguments; only the first of each name */
  struct name_index names;
  VEC(const struct ast *) list;
};

enum { CONSTANT_WORK_MAX = 5000000 }; /* tens of milliseconds */

struct constant {
  int64_t value;
  bool is_bool;
};

struct constant_evaluator {
  struct typechecker *c;
  bool quiet;  /* report nothing */
  bool dead;   /* the value is not used: undefined values are accepted, unknown names are not */
  bool open;   /* out: it depends on a parameter without a value */
  bool failed; /* out: it is wrong for all values of the remaining parameters */
  unsigned depth;
  uint64_t work; /* out: number of evaluated nodes */
};

void collect_constant_defs(struct typechecker *); /* before the first evaluation */
bool constant_eval(struct constant_evaluator *, const struct ast *, struct constant *);
/* x + y, x - y, x * y, x / y, x mod y. NULL: *out is the value; otherwise, why there is none. */
const char *constant_arithmetic(enum ast_op, int64_t x, int64_t y, int64_t *out);
/* The constant value of an expression over parameters. False: reported. */
bool constant_number(struct typechecker *, const struct ast *, const char *what, int64_t *out);

#endif
