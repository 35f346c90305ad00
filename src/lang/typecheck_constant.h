/* Private to the checker: constant expressions on the syntax tree. */
#ifndef RONDO_LANG_TYPECHECK_CONSTANT_H
#define RONDO_LANG_TYPECHECK_CONSTANT_H

#include "lang/typecheck_internal.h"

enum { CONSTANT_WORK_MAX = 5000000 }; /* some tens of milliseconds */

struct constant {
  int64_t value;
  bool is_bool;
};

struct constant_evaluator {
  struct typechecker *c;
  bool quiet;  /* report nothing */
  bool dead;   /* the value is not used: values may be wrong, names may not */
  bool open;   /* out: it needs a parameter that has no value yet */
  bool failed; /* out: it is wrong whatever the parameters are given later */
  unsigned depth;
  uint64_t work; /* out: nodes evaluated, and declarations searched for defs */
};

bool constant_eval(struct constant_evaluator *, const struct ast *, struct constant *);

#endif
