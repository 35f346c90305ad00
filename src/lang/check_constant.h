/* Private to the checker: constant expressions on the syntax tree. */
#ifndef RONDO_LANG_CHECK_CONSTANT_H
#define RONDO_LANG_CHECK_CONSTANT_H

#include "lang/check_internal.h"

struct constant {
  int64_t value;
  bool is_bool;
};

struct constants {
  struct checker *c;
  bool quiet;  /* report nothing */
  bool open;   /* out: it needs a parameter that has no value yet */
  bool failed; /* out: it is wrong whatever the parameters are given later */
  unsigned depth;
};

bool constant_eval(struct constants *, const struct ast *, struct constant *);

#endif
