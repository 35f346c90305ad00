/* Terms of counter systems. Every term is linear. Constants are folded during lowering, so that an expression over
   parameters with values counts as a number. */
#include "lang/typecheck_counters_internal.h"

#include <string.h>

enum { TERMS_MAX = 200000, DEFS_DEEP = 50 };

static const struct typed_term error = {NULL, SORT_ERROR, NULL};

/* ---- terms ---- */

static struct term *term_new(struct counter_checker *c, enum term_op op, struct span at) {
  struct term *t = arena_alloc(&c->s->arena, sizeof *t);
  t->op = op;
  t->at = at;
  if (c->terms++ == TERMS_MAX) {
    diag_error(c->diags, at, "the terms of this file grow too large");
    diag_help(c->diags, "defs are written out wherever they are used");
  }
  return t;
}

static bool too_large(const struct counter_checker *c) { return c->terms > TERMS_MAX; }

struct term *term_number(struct counter_checker *c, struct span at, int64_t number) {
  struct term *t = term_new(c, TERM_NUMBER, at);
  t->number = number;
  return t;
}

struct term *term_leaf(struct counter_checker *c, enum term_op op, struct span at, uint32_t index) {
  struct term *t = term_new(c, op, at);
  t->index = index;
  return t;
}

static struct term *term_pair(struct counter_checker *c, enum term_op op, struct span at, struct term *a,
                              struct term *b) {
  struct term *t = term_new(c, op, at);
  t->kid[0] = a;
  t->kid[1] = b;
  return t;
}

static bool is_constant(const struct term *t) { return t->op == TERM_NUMBER; }

static struct term *overflow_error(struct counter_checker *c, struct span at) {
  if (!c->dead)
    diag_error(c->diags, at, "a number beyond 64 bits");
  return term_number(c, at, 0);
}

struct term *term_sum(struct counter_checker *c, struct span at, struct term *a, struct term *b, bool minus) {
  int64_t sum;
  if (is_constant(a) && is_constant(b)) {
    bool over =
        minus ? __builtin_sub_overflow(a->number, b->number, &sum) : __builtin_add_overflow(a->number, b->number, &sum);
    return over ? overflow_error(c, at) : term_number(c, at, sum);
  }
  if (is_constant(b) && b->number == 0)
    return a;
  if (is_constant(a) && a->number == 0 && !minus)
    return b;
  return term_pair(c, minus ? TERM_SUB : TERM_ADD, at, a, b);
}

struct term *term_times(struct counter_checker *c, struct span at, struct term *a, struct term *b) {
  int64_t product;
  if (is_constant(a) && is_constant(b))
    return __builtin_mul_overflow(a->number, b->number, &product) ? overflow_error(c, at) : term_number(c, at, product);
  return is_constant(a) ? term_pair(c, TERM_TIMES, at, a, b) : term_pair(c, TERM_TIMES, at, b, a);
}

struct term *term_relation(struct counter_checker *c, enum term_op op, struct span at, struct term *a, struct term *b) {
  if (is_constant(a) && is_constant(b))
    return term_number(c, at,
                       op == TERM_EQ   ? a->number == b->number
                       : op == TERM_LE ? a->number <= b->number
                                       : a->number < b->number);
  return term_pair(c, op, at, a, b);
}

static struct term *term_not(struct counter_checker *c, struct span at, struct term *a) {
  if (is_constant(a))
    return term_number(c, at, !a->number);
  return term_pair(c, TERM_NOT, at, a, NULL);
}

struct term *term_and(struct counter_checker *c, struct span at, struct term *a, struct term *b) {
  if (!a || !b)
    return a ? a : b;
  if (is_constant(a))
    return a->number ? b : a;
  if (is_constant(b))
    return b->number ? a : b;
  return term_pair(c, TERM_AND, at, a, b);
}

static struct term *term_or(struct counter_checker *c, struct span at, struct term *a, struct term *b) {
  if (is_constant(a))
    return a->number ? a : b;
  if (is_constant(b))
    return b->number ? b : a;
  return term_pair(c, TERM_OR, at, a, b);
}

static struct term *term_if(struct counter_checker *c, struct span at, struct term *condition, struct term *then,
                            struct term *other) {
  if (is_constant(condition))
    return condition->number ? then : other;
  struct term *t = term_pair(c, TERM_IF, at, condition, then);
  t->kid[2] = other;
  return t;
}

/* ---- names ---- */

static void unknown(struct counter_checker *c, const struct ast *a) {
  VEC(const char *) names = {0};
  for (size_t i = 0; i < c->names.n; i++)
    if (counter_entry_find(c, c->names.at[i].name))
      vec_push(&names, c->names.at[i].name);
  diag_error(c->diags, a->word, "unknown name '%s'", a->name);
  const char *near = nearest_name(a->name, names.at, names.n);
  if (near) {
    const struct counter_entry *e = counter_entry_find(c, near);
    diag_help(c->diags, "did you mean the %s '%s'?", counter_entry_kind_text(e->kind), near);
  } else {
    diag_help(c->diags, "declare it with 'counter %s', or 'param %s' if it never changes", a->name, a->name);
  }
  vec_release(&names);
}

static struct typed_term unreadable_here(struct counter_checker *c, const struct ast *a,
                                         const struct counter_entry *e) {
  diag_error(c->diags, a->word, "%s reads the %s '%s'", c->where, counter_entry_kind_text(e->kind), a->name);
  diag_help(c->diags,
            c->reads & READS_STATE ? "only a move has amounts" : "only numbers and parameters can be used here");
  return error;
}

static struct typed_term number(struct term *t) { return (struct typed_term){t, SORT_NUMBER, NULL}; }
static struct typed_term truth(struct term *t) { return (struct typed_term){t, SORT_TRUTH, NULL}; }

static struct typed_term read_param(struct counter_checker *c, const struct ast *a, uint32_t index) {
  const struct counter_param *p = &c->s->params[index];
  if (index >= c->params_set) {
    diag_error(c->diags, a->word, "parameter '%s' has no value yet", a->name);
    diag_help(c->diags, "a definition may use the parameters declared before it");
    return error;
  }
  return number(p->is ? p->is : term_leaf(c, TERM_PARAM, a->word, index));
}

static struct typed_term read_control(struct counter_checker *c, const struct ast *a, const struct counter_entry *e) {
  struct term *t = term_leaf(c, TERM_CONTROL, a->word, e->index);
  return e->type->kind == CONTROL_TRUTH     ? truth(t)
         : e->type->kind == CONTROL_NUMBERS ? number(t)
                                            : (struct typed_term){t, SORT_LABEL, e->type};
}

static struct typed_term inline_def(struct counter_checker *c, const struct ast *use, const struct ast *def,
                                    const struct typed_term *arguments, uint32_t n);

static struct typed_term lower_name(struct counter_checker *c, const struct ast *a) {
  const struct counter_entry *e = counter_entry_find(c, a->name);
  if (!e) {
    unknown(c, a);
    return error;
  }
  switch (e->kind) {
  case NAME_PARAM:
    return read_param(c, a, e->index);
  case NAME_LABEL:
    return (struct typed_term){term_number(c, a->word, e->index), SORT_LABEL, e->type};
  case NAME_COUNTER:
    return c->reads & READS_STATE ? number(term_leaf(c, TERM_COUNTER, a->word, e->index)) : unreadable_here(c, a, e);
  case NAME_CONTROL:
    return c->reads & READS_STATE ? read_control(c, a, e) : unreadable_here(c, a, e);
  case NAME_AMOUNT:
    return c->reads & READS_AMOUNTS ? number(term_leaf(c, TERM_AMOUNT, a->word, e->index)) : unreadable_here(c, a, e);
  case NAME_ARGUMENT:
    return e->value;
  case NAME_DEF:
    return inline_def(c, a, e->def, NULL, 0);
  case NAME_TYPE:
    diag_error(c->diags, a->word, "'%s' is a type, not a value", a->name);
    return error;
  }
  return error;
}

/* ---- defs ---- */

/* Expands the body of a def with its parameters replaced by the arguments. Only file-level names are in scope. */
static struct typed_term inline_def(struct counter_checker *c, const struct ast *use, const struct ast *def,
                                    const struct typed_term *arguments, uint32_t n) {
  uint32_t wanted = def->kid[0] ? def->kid[0]->n : 0;
  if (n != wanted) {
    diag_error(c->diags, use->word, "'%s' takes %u argument%s, not %u", def->name, wanted, wanted == 1 ? "" : "s", n);
    return error;
  }
  if (c->depth >= DEFS_DEEP) {
    diag_error(c->diags, use->word, "the def '%s' needs itself", def->name);
    return error;
  }
  size_t scope = c->names.n, outer = c->arguments;
  c->arguments = scope;
  for (uint32_t i = 0; i < n; i++) {
    const struct ast *field = def->kid[0]->kid[i];
    vec_push(&c->names, ((struct counter_entry){
                            .name = field->name, .kind = NAME_ARGUMENT, .at = field->word, .value = arguments[i]}));
  }
  c->depth++;
  struct typed_term result = lower_counter_expr(c, def->kid[2]);
  c->depth--;
  c->names.n = scope;
  c->arguments = outer;
  return result;
}

static struct typed_term lower_extreme(struct counter_checker *c, const struct ast *a) {
  struct term *best = NULL;
  bool largest = strcmp(a->name, "max") == 0;
  for (uint32_t i = 0; i < a->n; i++) {
    struct term *next = lower_counter_number(c, a->kid[i]);
    if (!best)
      best = next;
    else
      best =
          term_if(c, a->at, term_relation(c, TERM_LE, a->at, largest ? next : best, largest ? best : next), best, next);
  }
  return best ? number(best) : error;
}

static struct typed_term lower_call(struct counter_checker *c, const struct ast *a) {
  const struct counter_entry *e = counter_entry_find(c, a->name);
  if (!e && (!strcmp(a->name, "min") || !strcmp(a->name, "max")) && a->n > 0)
    return lower_extreme(c, a);
  if (!e || e->kind != NAME_DEF) {
    diag_error(c->diags, a->word, "'%s' is not a def", a->name);
    diag_help(c->diags, "counter systems have numbers, conditions, 'min', 'max' and defs");
    return error;
  }
  const struct ast *def = e->def;
  struct typed_term *arguments = arena_array(&c->s->arena, a->n + (size_t)1, sizeof *arguments);
  for (uint32_t i = 0; i < a->n; i++) {
    arguments[i] = lower_counter_expr(c, a->kid[i]->kind == AST_ITEM ? a->kid[i]->kid[0] : a->kid[i]);
    if (arguments[i].sort == SORT_ERROR)
      return error;
  }
  return inline_def(c, a, def, arguments, a->n);
}

/* ---- operators ---- */

static struct typed_term nonlinear_error(struct counter_checker *c, const struct ast *a) {
  if (a->op == OP_MUL) {
    diag_error(c->diags, a->word, "'%s' is not linear", counter_source_text(c, a->at));
    diag_help(c->diags, "one side of '*' must be a number, or a parameter that has a value (-D)");
  } else {
    diag_error(c->diags, a->word, "'%s' of something that varies is not linear", ast_op_text(a->op));
    diag_help(c->diags, "multiply it out: '3 * t < N', not 't < N / 3'");
  }
  return error;
}

static struct typed_term divide(struct counter_checker *c, const struct ast *a, int64_t x, int64_t y) {
  if (y == 0 || (y == -1 && x == INT64_MIN)) {
    if (c->dead)
      return number(term_number(c, a->at, 0));
    diag_error(c->diags, a->word, y ? "a number beyond 64 bits" : "division by zero");
    return error;
  }
  int64_t quotient = x / y - (x % y != 0 && (x < 0) != (y < 0)), rest = x - y * quotient;
  return number(term_number(c, a->at, a->op == OP_DIV ? quotient : rest < 0 ? rest - y : rest));
}

static struct typed_term lower_arithmetic(struct counter_checker *c, const struct ast *a) {
  struct term *x = lower_counter_number(c, a->kid[0]), *y = lower_counter_number(c, a->kid[1]);
  if (a->op == OP_ADD || a->op == OP_SUB)
    return number(term_sum(c, a->at, x, y, a->op == OP_SUB));
  if (a->op == OP_MUL)
    return is_constant(x) || is_constant(y) ? number(term_times(c, a->at, x, y)) : nonlinear_error(c, a);
  if (is_constant(x) && is_constant(y))
    return divide(c, a, x->number, y->number);
  if (is_constant(y) && y->number > 0 && c->conditions) {
    struct term *quotient = counter_quotient_param(c, a->at, x, y->number);
    if (!quotient || a->op == OP_DIV)
      return quotient ? number(quotient) : error;
    return number(term_sum(c, a->at, x, term_times(c, a->at, y, quotient), true));
  }
  return nonlinear_error(c, a);
}

static struct typed_term lower_binary(struct counter_checker *c, const struct ast *a) {
  switch (ast_op_among(a->op)) {
  case OP_ADD:
  case OP_SUB:
  case OP_MUL:
  case OP_DIV:
  case OP_MOD:
    return lower_arithmetic(c, a);
  case OP_AND:
  case OP_OR:
  case OP_IMPLIES: {
    struct term *x = lower_counter_condition(c, a->kid[0]);
    bool dead = c->dead;
    c->dead |= is_constant(x) && (x->number != 0) == (a->op == OP_OR);
    struct term *y = lower_counter_condition(c, a->kid[1]);
    c->dead = dead;
    if (a->op == OP_AND)
      return truth(term_and(c, a->at, x, y));
    return truth(term_or(c, a->at, a->op == OP_IMPLIES ? term_not(c, a->at, x) : x, y));
  }
  }
  diag_error(c->diags, a->word, "'%s' has no meaning in a counter system", ast_op_text(a->op));
  return error;
}

static const char *sort_text(struct counter_checker *c, struct typed_term t) {
  if (t.sort == SORT_LABEL && t.type->name)
    return arena_printf(&c->s->arena, "a value of '%s'", t.type->name);
  return t.sort == SORT_NUMBER ? "a number" : t.sort == SORT_TRUTH ? "a condition" : "a label";
}

static bool comparable(struct counter_checker *c, const struct ast *a, struct typed_term x, struct typed_term y) {
  if (x.sort == SORT_ERROR || y.sort == SORT_ERROR)
    return false;
  if (x.sort == y.sort && x.type == y.type)
    return true;
  diag_error(c->diags, a->word, "%s is compared with %s", sort_text(c, x),
             x.type && x.type == y.type ? "another" : sort_text(c, y));
  return false;
}

static struct term *equal(struct counter_checker *c, struct span at, struct typed_term x, struct typed_term y) {
  if (x.sort != SORT_TRUTH)
    return term_relation(c, TERM_EQ, at, x.term, y.term);
  struct term *both = term_and(c, at, x.term, y.term);
  return term_or(c, at, both, term_and(c, at, term_not(c, at, x.term), term_not(c, at, y.term)));
}

/* x in {a, b}, x in a..b */
static struct typed_term lower_in(struct counter_checker *c, const struct ast *a) {
  const struct ast *set = a->kid[1];
  struct typed_term x = lower_counter_expr(c, a->kid[0]);
  struct term *found = NULL;
  if (x.sort == SORT_ERROR)
    return error;
  if (set->kind == AST_INTERVAL) {
    struct term *low = lower_counter_number(c, set->kid[0]), *high = lower_counter_number(c, set->kid[1]);
    if (x.sort != SORT_NUMBER) {
      diag_error(c->diags, a->word, "%s is no number, to be in a range", sort_text(c, x));
      return error;
    }
    found = term_and(c, a->at, term_relation(c, TERM_LE, a->at, low, x.term),
                     term_relation(c, TERM_LE, a->at, x.term, high));
  } else if (set->kind == AST_SET) {
    found = term_number(c, a->at, 0);
    for (uint32_t i = 0; i < set->n; i++) {
      struct typed_term y = lower_counter_expr(c, set->kid[i]);
      if (!comparable(c, a, x, y))
        return error;
      found = term_or(c, a->at, found, equal(c, a->at, x, y));
    }
  } else {
    diag_error(c->diags, set->at, "'in' wants '{a, b}' or 'a..b' here");
    return error;
  }
  return truth(a->op == OP_IN ? found : term_not(c, a->at, found));
}

static struct typed_term lower_relation(struct counter_checker *c, const struct ast *a) {
  if (a->op == OP_IN || a->op == OP_NOT_IN)
    return lower_in(c, a);
  struct typed_term x = lower_counter_expr(c, a->kid[0]), y = lower_counter_expr(c, a->kid[1]);
  if (!comparable(c, a, x, y))
    return error;
  if (a->op == OP_EQ || a->op == OP_NE) {
    struct term *same = equal(c, a->at, x, y);
    return truth(a->op == OP_EQ ? same : term_not(c, a->at, same));
  }
  if (x.sort != SORT_NUMBER) {
    diag_error(c->diags, a->word, "%s has no order", sort_text(c, x));
    diag_help(c->diags, "compare with '==', '!=' or 'in {a, b}'");
    return error;
  }
  bool strict = a->op == OP_LT || a->op == OP_GT, turned = a->op == OP_GE || a->op == OP_GT;
  return truth(term_relation(c, strict ? TERM_LT : TERM_LE, a->at, turned ? y.term : x.term, turned ? x.term : y.term));
}

static struct typed_term lower_conditional(struct counter_checker *c, const struct ast *a) {
  struct term *condition = lower_counter_condition(c, a->kid[0]);
  bool dead = c->dead;
  c->dead = dead || (is_constant(condition) && !condition->number);
  struct typed_term x = lower_counter_expr(c, a->kid[1]);
  c->dead = dead || (is_constant(condition) && condition->number);
  struct typed_term y = lower_counter_expr(c, a->kid[2]);
  c->dead = dead;
  if (!comparable(c, a, x, y))
    return error;
  if (x.sort != SORT_TRUTH)
    return (struct typed_term){term_if(c, a->at, condition, x.term, y.term), x.sort, x.type};
  struct term *first = term_and(c, a->at, condition, x.term);
  return truth(term_or(c, a->at, first, term_and(c, a->at, term_not(c, a->at, condition), y.term)));
}

static struct typed_term lower_unary(struct counter_checker *c, const struct ast *a) {
  if (a->op == OP_NOT)
    return truth(term_not(c, a->at, lower_counter_condition(c, a->kid[0])));
  if (a->op == OP_NEG)
    return number(term_sum(c, a->at, term_number(c, a->at, 0), lower_counter_number(c, a->kid[0]), true));
  diag_error(c->diags, a->word, "'%s' has no meaning in a counter system", ast_op_text(a->op));
  return error;
}

struct typed_term lower_counter_expr(struct counter_checker *c, const struct ast *a) {
  if (too_large(c))
    return error;
  switch (ast_kind_among(a->kind)) {
  case AST_NUMBER:
    return number(term_number(c, a->at, a->number));
  case AST_TRUE:
  case AST_FALSE:
    return truth(term_number(c, a->at, a->kind == AST_TRUE));
  case AST_NAME:
    return lower_name(c, a);
  case AST_BINARY:
    return lower_binary(c, a);
  case AST_UNARY:
    return lower_unary(c, a);
  case AST_RELATION:
    return lower_relation(c, a);
  case AST_CONDITIONAL:
    return lower_conditional(c, a);
  case AST_CALL:
    return lower_call(c, a);
  case AST_ERROR:
    return error;
  }
  diag_error(c->diags, a->at, "this has no meaning in a counter system");
  diag_help(c->diags, "it has numbers, conditions and labels");
  return error;
}

/* ---- expected sorts ---- */

struct term *lower_counter_number(struct counter_checker *c, const struct ast *a) {
  struct typed_term t = lower_counter_expr(c, a);
  if (t.sort == SORT_NUMBER)
    return t.term;
  if (t.sort != SORT_ERROR)
    diag_error(c->diags, a->at, "expected a number, not %s", sort_text(c, t));
  return term_number(c, a->at, 1); /* a constant is linear in every context */
}

struct term *lower_counter_condition(struct counter_checker *c, const struct ast *a) {
  struct typed_term t = lower_counter_expr(c, a);
  if (t.sort == SORT_TRUTH)
    return t.term;
  if (t.sort != SORT_ERROR)
    diag_error(c->diags, a->at, "expected a condition, not %s", sort_text(c, t));
  return term_number(c, a->at, 1);
}

struct term *lower_control_value(struct counter_checker *c, const struct ast *a, const struct control_type *type) {
  struct typed_term t = lower_counter_expr(c, a);
  enum term_sort wanted = type->kind == CONTROL_LABELS  ? SORT_LABEL
                          : type->kind == CONTROL_TRUTH ? SORT_TRUTH
                                                        : SORT_NUMBER;
  if (t.sort == SORT_ERROR)
    return term_number(c, a->at, type->low);
  if (t.sort != wanted || (wanted == SORT_LABEL && t.type != type)) {
    struct typed_term expected = {NULL, wanted, type};
    diag_error(c->diags, a->at, "expected %s, not %s", sort_text(c, expected), sort_text(c, t));
    return term_number(c, a->at, type->low);
  }
  if (wanted != SORT_TRUTH || t.term->op == TERM_NUMBER || t.term->op == TERM_CONTROL)
    return t.term;
  return term_if(c, a->at, t.term, term_number(c, a->at, 1), term_number(c, a->at, 0));
}
