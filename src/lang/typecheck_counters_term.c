/* Terms of counter systems. Every term is linear. Constants are folded during lowering, so that an expression over
   parameters with values counts as a number. */
#include "lang/typecheck_counters_internal.h"

#include "lang/typecheck_constant.h"

#include <string.h>

enum { TERMS_MAX = 200000, DEFS_DEEP = 50 };

static const struct type no_type = {.kind = TYPE_ERROR}, number_type = {.kind = TYPE_INT},
                         truth_type = {.kind = TYPE_BOOL};
static const struct typed_term error = {NULL, &no_type};

static bool is_error(struct typed_term t) { return t.type->kind == TYPE_ERROR; }

/* ---- terms ---- */

static struct term *term_new(struct counter_checker *c, enum term_op op, struct span at) {
  struct term *t = arena_alloc(&c->s->arena, sizeof *t);
  t->op = op;
  t->at = at;
  if (c->terms++ == TERMS_MAX) {
    diag_error(c->diags, E0606, at, "the terms of this file grow too large");
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

static struct term *folded(struct counter_checker *c, enum ast_op op, struct span at, const struct term *a,
                           const struct term *b) {
  int64_t result = 0;
  const char *wrong = constant_arithmetic(op, a->number, b->number, &result);
  if (wrong && !c->dead)
    diag_error(c->diags, b->number == 0 && op != OP_ADD && op != OP_SUB && op != OP_MUL ? E0310 : E0606, at, "%s",
               wrong);
  return term_number(c, at, wrong ? 0 : result);
}

struct term *term_sum(struct counter_checker *c, struct span at, struct term *a, struct term *b, bool minus) {
  if (is_constant(a) && is_constant(b))
    return folded(c, minus ? OP_SUB : OP_ADD, at, a, b);
  if (is_constant(b) && b->number == 0)
    return a;
  if (is_constant(a) && a->number == 0 && !minus)
    return b;
  return term_pair(c, minus ? TERM_SUB : TERM_ADD, at, a, b);
}

struct term *term_times(struct counter_checker *c, struct span at, struct term *a, struct term *b) {
  if (is_constant(a) && is_constant(b))
    return folded(c, OP_MUL, at, a, b);
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

struct term *term_not(struct counter_checker *c, struct span at, struct term *a) {
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

struct term *term_or(struct counter_checker *c, struct span at, struct term *a, struct term *b) {
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

/* The type of the terms that can be compared with values of a control's type. */
static const struct type *sort_of(const struct type *t) {
  return t->kind == TYPE_BOOL ? &truth_type : t->kind == TYPE_RANGE ? &number_type : t;
}

/* ---- names ---- */

static void unknown(struct counter_checker *c, const struct ast *a) {
  const struct symbol_scope *scopes[] = {&c->globals, &c->locals};
  struct nearest near;
  diag_error(c->diags, E0201, a->word, "unknown name '%s'", a->name);
  if (!diag_may_search(c->diags, c->globals.n + c->locals.n))
    return;
  nearest_init(&near, a->name);
  for (size_t i = 0; i < 2; i++)
    for (size_t k = 0; k < scopes[i]->n; k++)
      nearest_offer(&near, scopes[i]->at[k].name);
  if (near.found)
    diag_help(c->diags, "did you mean the %s '%s'?", counter_symbol_text(counter_symbol_find(c, near.found)),
              near.found);
  else
    diag_help(c->diags, "declare it with 'counter %s', or 'param %s' if it never changes", a->name, a->name);
}

static struct typed_term unreadable_here(struct counter_checker *c, const struct ast *a, const struct scope_symbol *e) {
  diag_error(c->diags, E0607, a->word, "%s reads the %s '%s'", c->where, counter_symbol_text(e), a->name);
  diag_help(c->diags,
            c->reads & READS_STATE ? "only a move has amounts" : "only numbers and parameters can be used here");
  return error;
}

static struct typed_term number(struct term *t) { return (struct typed_term){t, &number_type}; }
static struct typed_term truth(struct term *t) { return (struct typed_term){t, &truth_type}; }

static struct typed_term read_param(struct counter_checker *c, const struct ast *a, uint32_t index) {
  const struct counter_param *p = &c->s->params[index];
  if (index >= c->params_set) {
    diag_error(c->diags, E0701, a->word, "parameter '%s' has no value yet", a->name);
    diag_help(c->diags, "a definition may use the parameters declared before it");
    return error;
  }
  return number(p->is ? p->is : term_leaf(c, TERM_PARAM, a->word, index));
}

/* Values of ranges are numbers like all others. */
static struct typed_term read_control(struct counter_checker *c, const struct ast *a, const struct scope_symbol *e) {
  struct term *t = term_leaf(c, TERM_CONTROL, a->word, e->index);
  return (struct typed_term){t, sort_of(e->type)};
}

static struct typed_term inline_def(struct counter_checker *c, const struct ast *use, const struct ast *def,
                                    const struct typed_term *arguments, uint32_t n);

static struct typed_term lower_name(struct counter_checker *c, const struct ast *a) {
  const struct scope_symbol *e = counter_symbol_find(c, a->name);
  if (!e) {
    unknown(c, a);
    return error;
  }
  bool amount = e->kind == SYMBOL_AMOUNT, state = e->kind == SYMBOL_COUNTER || e->kind == SYMBOL_CONTROL;
  if ((state && !(c->reads & READS_STATE)) || (amount && !(c->reads & READS_AMOUNTS)))
    return unreadable_here(c, a, e);
  switch (symbol_among(e->kind)) {
  case SYMBOL_PARAM:
    return read_param(c, a, e->index);
  case SYMBOL_LABEL:
    return (struct typed_term){term_number(c, a->word, e->index), e->type};
  case SYMBOL_COUNTER:
    return number(term_leaf(c, TERM_COUNTER, a->word, e->index));
  case SYMBOL_CONTROL:
    return read_control(c, a, e);
  case SYMBOL_AMOUNT:
    return number(term_leaf(c, TERM_AMOUNT, a->word, e->index));
  case SYMBOL_ARGUMENT:
    return c->arguments.at[e->index];
  case SYMBOL_DEF:
    return inline_def(c, a, c->file->kid[e->index], NULL, 0);
  }
  diag_error(c->diags, E0209, a->word, "'%s' is a type, not a value", a->name);
  return error;
}

/* ---- defs ---- */

/* Expands the body of a def with its parameters replaced by the arguments. Only file-level names are in scope. */
static struct typed_term inline_def(struct counter_checker *c, const struct ast *use, const struct ast *def,
                                    const struct typed_term *arguments, uint32_t n) {
  uint32_t wanted = def->kid[0] ? def->kid[0]->n : 0;
  if (n != wanted) {
    diag_error(c->diags, E0307, use->word, "'%s' takes %u argument%s, not %u", def->name, wanted,
               wanted == 1 ? "" : "s", n);
    return error;
  }
  if (c->depth >= DEFS_DEEP) {
    diag_error(c->diags, E0210, use->word, "the def '%s' needs itself", def->name);
    return error;
  }
  struct symbol_scope outer = c->locals;
  size_t before = c->arguments.n;
  c->locals = (struct symbol_scope){0};
  for (uint32_t i = 0; i < n; i++) {
    const struct ast *field = def->kid[0]->kid[i];
    scope_add(&c->locals,
              (struct scope_symbol){
                  .name = field->name, .kind = SYMBOL_ARGUMENT, .at = field->word, .index = (uint32_t)c->arguments.n});
    vec_push(&c->arguments, arguments[i]);
  }
  c->depth++;
  struct typed_term result = lower_counter_expr(c, def->kid[2]);
  c->depth--;
  scope_release(&c->locals);
  c->locals = outer;
  c->arguments.n = before;
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
  const struct scope_symbol *e = counter_symbol_find(c, a->name);
  if (!e && (!strcmp(a->name, "min") || !strcmp(a->name, "max")) && a->n > 0)
    return lower_extreme(c, a);
  if (!e || e->kind != SYMBOL_DEF) {
    diag_error(c->diags, E0209, a->word, "'%s' is not a def", a->name);
    diag_help(c->diags, "counter systems have numbers, conditions, 'min', 'max' and defs");
    return error;
  }
  const struct ast *def = c->file->kid[e->index];
  struct typed_term *arguments = arena_array(&c->s->arena, a->n + (size_t)1, sizeof *arguments);
  for (uint32_t i = 0; i < a->n; i++) {
    arguments[i] = lower_counter_expr(c, a->kid[i]->kind == AST_ITEM ? a->kid[i]->kid[0] : a->kid[i]);
    if (is_error(arguments[i]))
      return error;
  }
  return inline_def(c, a, def, arguments, a->n);
}

/* ---- operators ---- */

static struct typed_term nonlinear_error(struct counter_checker *c, const struct ast *a) {
  if (a->op == OP_MUL) {
    diag_error(c->diags, E0602, a->word, "'%s' is not linear", counter_source_text(c, a->at));
    diag_help(c->diags, "one side of '*' must be a number, or a parameter that has a value (-D)");
  } else {
    diag_error(c->diags, E0602, a->word, "'%s' of something that varies is not linear", ast_op_text(a->op));
    diag_help(c->diags, "multiply it out: '3 * t < N', not 't < N / 3'");
  }
  return error;
}

static struct typed_term lower_arithmetic(struct counter_checker *c, const struct ast *a) {
  struct term *x = lower_counter_number(c, a->kid[0]), *y = lower_counter_number(c, a->kid[1]);
  if (a->op == OP_ADD || a->op == OP_SUB)
    return number(term_sum(c, a->at, x, y, a->op == OP_SUB));
  if (a->op == OP_MUL)
    return is_constant(x) || is_constant(y) ? number(term_times(c, a->at, x, y)) : nonlinear_error(c, a);
  if (is_constant(x) && is_constant(y)) {
    struct term *result = folded(c, a->op, a->word, x, y);
    return y->number == 0 && !c->dead ? error : number(result);
  }
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
  diag_error(c->diags, E0601, a->word, "'%s' has no meaning in a counter system", ast_op_text(a->op));
  return error;
}

static const char *sort_text(struct counter_checker *c, const struct type *t) {
  if (t->kind == TYPE_ENUM && t->name)
    return arena_printf(&c->s->arena, "a value of '%s'", t->name);
  return t->kind == TYPE_INT ? "a number" : t->kind == TYPE_BOOL ? "a condition" : "a label";
}

static bool comparable(struct counter_checker *c, const struct ast *a, struct typed_term x, struct typed_term y) {
  if (is_error(x) || is_error(y))
    return false;
  if (x.type == y.type)
    return true;
  diag_error(c->diags, E0304, a->word, "%s is compared with %s", sort_text(c, x.type), sort_text(c, y.type));
  return false;
}

static struct term *equal(struct counter_checker *c, struct span at, struct typed_term x, struct typed_term y) {
  if (x.type->kind != TYPE_BOOL)
    return term_relation(c, TERM_EQ, at, x.term, y.term);
  struct term *both = term_and(c, at, x.term, y.term);
  return term_or(c, at, both, term_and(c, at, term_not(c, at, x.term), term_not(c, at, y.term)));
}

/* x in {a, b}, x in a..b */
static struct typed_term lower_in(struct counter_checker *c, const struct ast *a) {
  const struct ast *set = a->kid[1];
  struct typed_term x = lower_counter_expr(c, a->kid[0]);
  struct term *found = NULL;
  if (is_error(x))
    return error;
  if (set->kind == AST_INTERVAL) {
    struct term *low = lower_counter_number(c, set->kid[0]), *high = lower_counter_number(c, set->kid[1]);
    if (x.type->kind != TYPE_INT) {
      diag_error(c->diags, E0304, a->word, "%s is no number, to be in a range", sort_text(c, x.type));
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
    diag_error(c->diags, E0601, set->at, "'in' wants '{a, b}' or 'a..b' here");
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
  if (x.type->kind != TYPE_INT) {
    diag_error(c->diags, E0304, a->word, "%s has no order", sort_text(c, x.type));
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
  if (x.type->kind != TYPE_BOOL)
    return (struct typed_term){term_if(c, a->at, condition, x.term, y.term), x.type};
  struct term *first = term_and(c, a->at, condition, x.term);
  return truth(term_or(c, a->at, first, term_and(c, a->at, term_not(c, a->at, condition), y.term)));
}

static struct typed_term lower_unary(struct counter_checker *c, const struct ast *a) {
  if (a->op == OP_NOT)
    return truth(term_not(c, a->at, lower_counter_condition(c, a->kid[0])));
  if (a->op == OP_NEG)
    return number(term_sum(c, a->at, term_number(c, a->at, 0), lower_counter_number(c, a->kid[0]), true));
  diag_error(c->diags, E0601, a->word, "'%s' has no meaning in a counter system", ast_op_text(a->op));
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
  diag_error(c->diags, E0601, a->at, "this has no meaning in a counter system");
  diag_help(c->diags, "it has numbers, conditions and labels");
  return error;
}

/* ---- expected sorts ---- */

struct term *lower_counter_number(struct counter_checker *c, const struct ast *a) {
  struct typed_term t = lower_counter_expr(c, a);
  if (t.type->kind == TYPE_INT)
    return t.term;
  if (!is_error(t))
    diag_error(c->diags, E0301, a->at, "expected a number, not %s", sort_text(c, t.type));
  return term_number(c, a->at, 1); /* a constant is linear in every context */
}

struct term *lower_counter_condition(struct counter_checker *c, const struct ast *a) {
  struct typed_term t = lower_counter_expr(c, a);
  if (t.type->kind == TYPE_BOOL)
    return t.term;
  if (!is_error(t))
    diag_error(c->diags, E0301, a->at, "expected a condition, not %s", sort_text(c, t.type));
  return term_number(c, a->at, 1);
}

struct term *lower_control_value(struct counter_checker *c, const struct ast *a, const struct type *type) {
  struct typed_term t = lower_counter_expr(c, a);
  const struct type *wanted = sort_of(type);
  if (!is_error(t) && t.type != wanted)
    diag_error(c->diags, E0301, a->at, "expected %s, not %s", sort_text(c, wanted), sort_text(c, t.type));
  if (t.type != wanted)
    return term_number(c, a->at, type->lo);
  if (wanted->kind != TYPE_BOOL || t.term->op == TERM_NUMBER || t.term->op == TERM_CONTROL)
    return t.term;
  return term_if(c, a->at, t.term, term_number(c, a->at, 1), term_number(c, a->at, 0));
}
