/* Constants: expressions over parameters, evaluated on the syntax tree before types are known. */
#include "lang/typecheck_constant.h"

#include "lang/typecheck_scope.h"
#include "lang/typechecker.h"

#include <string.h>

/* All failures go through here, so that the search for parameter values can be silent. */
static bool constant_error(struct constant_evaluator *k, struct span at, const char *message) {
  if (!k->quiet)
    checker_error(k->c, E0311, at, "%s", message);
  k->failed = true;
  return false;
}

/* The same for errors that depend on values: not an error where the value is unused. */
static bool value_error(struct constant_evaluator *k, struct span at, const char *message) {
  return k->dead ? false : constant_error(k, at, message);
}

/* A def is evaluated again at each use, so a few defs can take exponential time. */
static bool takes_too_long(struct constant_evaluator *k, struct span at) {
  if (++k->work <= CONSTANT_WORK_MAX)
    return false;
  constant_error(k, at, "this takes too long to compute");
  k->quiet = true; /* report it only once */
  return true;
}

static bool number(struct constant_evaluator *k, const struct ast *a, int64_t *out) {
  struct constant v;
  if (!constant_eval(k, a, &v))
    return false;
  if (v.is_bool)
    return constant_error(k, a->at, "expected a number, not a truth value");
  *out = v.value;
  return true;
}

static bool truth(struct constant_evaluator *k, const struct ast *a, bool *out) {
  struct constant v;
  if (!constant_eval(k, a, &v))
    return false;
  if (!v.is_bool)
    return constant_error(k, a->at, "expected a condition, not a number");
  *out = v.value != 0;
  return true;
}

void collect_constant_defs(struct typechecker *c) {
  for (uint32_t i = 0; i < c->file->n; i++) {
    const struct ast *d = c->file->kid[i];
    if (d->kind != AST_DEF || d->kid[0] || name_index_find(&c->constants.names, d->name) != NAME_NONE)
      continue;
    name_index_add(&c->constants.names, d->name);
    vec_push(&c->constants.list, d);
  }
}

static bool definition(struct constant_evaluator *k, const struct ast *a, struct constant *out) {
  uint32_t def = name_index_find(&k->c->constants.names, a->name);
  if (def != NAME_NONE) {
    if (k->depth > 50)
      return constant_error(k, a->word, "a def that needs itself is not a constant");
    k->depth++;
    bool good = constant_eval(k, k->c->constants.list.at[def]->kid[2], out);
    k->depth--;
    return good;
  }
  if (k->quiet)
    return constant_error(k, a->word, "");
  k->failed = true;
  struct scope_symbol *s = symbol_find(k->c, a->name);
  if (s) {
    checker_error(k->c, E0311, a->word, "the %s '%s' is not a constant", symbol_kind_text(s->kind), a->name);
    checker_help(k->c, "only numbers and parameters can be used here");
  } else
    unknown_name(k->c, E0201, a->name, a->word, "parameter");
  return false;
}

static bool name(struct constant_evaluator *k, const struct ast *a, struct constant *out) {
  const struct scope_symbol *s = scope_find(&k->c->globals, a->name);
  if (!s || s->kind != SYMBOL_PARAM)
    return definition(k, a, out);
  if (!k->c->params.list.at[s->index].known) {
    k->open = true;
    if (!k->quiet) {
      checker_error(k->c, E0701, a->word, "parameter '%s' has no value yet", a->name);
      checker_help(k->c, "a default may use the parameters declared before it");
    }
    return false;
  }
  *out = (struct constant){k->c->m->params[s->index].value, k->c->params.list.at[s->index].is_bool};
  return true;
}

const char *constant_arithmetic(enum ast_op op, int64_t x, int64_t y, int64_t *out) {
  bool over = true;
  switch (ast_op_among(op)) {
  case OP_ADD:
    over = __builtin_add_overflow(x, y, out);
    break;
  case OP_SUB:
    over = __builtin_sub_overflow(x, y, out);
    break;
  case OP_MUL:
    over = __builtin_mul_overflow(x, y, out);
    break;
  case OP_DIV:
  case OP_MOD:
    if (y == 0)
      return "division by zero";
    if (y == -1) { /* the only quotient that may overflow */
      *out = 0;
      over = op == OP_DIV && __builtin_sub_overflow((int64_t)0, x, out);
      break;
    }
    int64_t quotient = x / y - (x % y != 0 && (x < 0) != (y < 0)), rest = x - y * quotient;
    *out = op == OP_DIV ? quotient : rest < 0 ? rest - y : rest;
    return NULL;
  }
  return over ? "a number beyond 64 bits" : NULL;
}

static bool arithmetic(struct constant_evaluator *k, const struct ast *a, struct constant *out) {
  int64_t x, y;
  if (!number(k, a->kid[0], &x) || !number(k, a->kid[1], &y))
    return false;
  out->is_bool = false;
  const char *wrong = constant_arithmetic(a->op, x, y, &out->value);
  return wrong ? value_error(k, a->word, wrong) : true;
}

/* Evaluates both operands, so that an unknown name on the right is found whatever the value on the left. */
static bool logic(struct constant_evaluator *k, const struct ast *a, struct constant *out) {
  bool x, y = false, dead = k->dead;
  if (!truth(k, a->kid[0], &x))
    return false;
  bool decided = x == (a->op == OP_OR);
  k->dead |= decided;
  bool good = truth(k, a->kid[1], &y);
  k->dead = dead;
  if (!good && (!decided || k->failed))
    return false;
  *out = (struct constant){a->op == OP_OR ? x || y : a->op == OP_AND ? x && y : !x || y, true};
  return true;
}

static bool binary(struct constant_evaluator *k, const struct ast *a, struct constant *out) {
  switch (ast_op_among(a->op)) {
  case OP_ADD:
  case OP_SUB:
  case OP_MUL:
  case OP_DIV:
  case OP_MOD:
    return arithmetic(k, a, out);
  case OP_OR:
  case OP_AND:
  case OP_IMPLIES:
    return logic(k, a, out);
  }
  return constant_error(k, a->word, "only numbers and parameters can be used here");
}

static bool relation(struct constant_evaluator *k, const struct ast *a, struct constant *out) {
  if ((a->op == OP_IN || a->op == OP_NOT_IN) && a->kid[1]->kind == AST_INTERVAL) {
    int64_t x, lo, hi;
    if (!number(k, a->kid[0], &x) || !number(k, a->kid[1]->kid[0], &lo) || !number(k, a->kid[1]->kid[1], &hi))
      return false;
    *out = (struct constant){(lo <= x && x <= hi) == (a->op == OP_IN), true};
    return true;
  }
  struct constant x, y;
  if (!constant_eval(k, a->kid[0], &x) || !constant_eval(k, a->kid[1], &y))
    return false;
  if (x.is_bool != y.is_bool)
    return constant_error(k, a->word, "a number is compared with a truth value");
  *out = (struct constant){.is_bool = true};
  switch (ast_op_among(a->op)) {
  case OP_EQ:
    out->value = x.value == y.value;
    return true;
  case OP_NE:
    out->value = x.value != y.value;
    return true;
  case OP_LE:
    out->value = x.value <= y.value;
    return true;
  case OP_GE:
    out->value = x.value >= y.value;
    return true;
  case OP_LT:
    out->value = x.value < y.value;
    return true;
  case OP_GT:
    out->value = x.value > y.value;
    return true;
  }
  return constant_error(k, a->word, "only numbers and parameters can be used here");
}

static bool unary(struct constant_evaluator *k, const struct ast *a, struct constant *out) {
  if (a->op == OP_NOT) {
    bool x;
    if (!truth(k, a->kid[0], &x))
      return false;
    *out = (struct constant){!x, true};
    return true;
  }
  if (a->op != OP_NEG)
    return constant_error(k, a->word, "only numbers and parameters can be used here");
  int64_t x;
  if (!number(k, a->kid[0], &x))
    return false;
  out->is_bool = false;
  const char *wrong = constant_arithmetic(OP_SUB, 0, x, &out->value);
  return wrong ? value_error(k, a->word, wrong) : true;
}

/* min(a, b), max(a, b) */
static bool min_or_max(struct constant_evaluator *k, const struct ast *a, struct constant *out) {
  bool largest = strcmp(a->name, "max") == 0;
  if ((!largest && strcmp(a->name, "min") != 0) || a->n == 0)
    return constant_error(k, a->word, "only numbers and parameters can be used here");
  for (uint32_t i = 0; i < a->n; i++) {
    int64_t x;
    if (!number(k, a->kid[i], &x))
      return false;
    if (i == 0 || (largest ? x > out->value : x < out->value))
      *out = (struct constant){x, false};
  }
  return true;
}

bool constant_eval(struct constant_evaluator *k, const struct ast *a, struct constant *out) {
  if (takes_too_long(k, a->at))
    return false;
  switch (ast_kind_among(a->kind)) {
  case AST_NUMBER:
    *out = (struct constant){a->number, false};
    return true;
  case AST_TRUE:
  case AST_FALSE:
    *out = (struct constant){a->kind == AST_TRUE, true};
    return true;
  case AST_NAME:
    return name(k, a, out);
  case AST_BINARY:
    return binary(k, a, out);
  case AST_RELATION:
    return relation(k, a, out);
  case AST_UNARY:
    return unary(k, a, out);
  case AST_CALL:
    return min_or_max(k, a, out);
  case AST_CONDITIONAL: {
    bool which;
    return truth(k, a->kid[0], &which) && constant_eval(k, a->kid[which ? 1 : 2], out);
  }
  case AST_ERROR: /* already reported */
    k->failed = true;
    return false;
  }
  return constant_error(k, a->at, "only numbers and parameters can be used here");
}

bool constant_number(struct typechecker *c, const struct ast *a, const char *what, int64_t *out) {
  struct constant_evaluator k = {.c = c};
  struct constant v;
  if (!constant_eval(&k, a, &v))
    return false;
  *out = v.value;
  if (v.is_bool)
    checker_error(c, E0301, a->at, "%s must be a number, not a truth value", what);
  return !v.is_bool;
}
