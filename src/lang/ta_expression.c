/* Numbers, conditions and temporal formulas of threshold automata.

   In the grammars of other tools '||' and '->' have different precedence. A formula with both in a row is therefore
   refused: it needs parentheses. */
#include "lang/ta_internal.h"

#include <inttypes.h>
#include <string.h>

/* ---- tokens ---- */

void ta_advance(struct ta_reader *r) {
  r->last = r->token.at.to;
  if (r->failed || diags_stopped(r->diags))
    r->token = (struct ta_token){.kind = TA_TOKEN_END, .at = r->token.at};
  else
    r->token = ta_token_at(r->source, r->token.at.to, r->diags);
  if (r->token.kind == TA_TOKEN_ERROR) {
    r->failed = true;
    r->token.kind = TA_TOKEN_END;
  }
}

void ta_syntax_error(struct ta_reader *r, const char *expected) {
  const struct ta_token *t = &r->token;
  if (!r->failed && t->kind == TA_TOKEN_END)
    diag_error(r->diags, E0106, t->at, "expected %s, not the end of the file", expected);
  else if (!r->failed)
    diag_error(r->diags, E0106, t->at, "expected %s, not '%.*s'", expected,
               t->at.to - t->at.from > 40 ? 40 : (int)(t->at.to - t->at.from), r->source->text + t->at.from);
  r->failed = true;
  r->token.kind = TA_TOKEN_END;
}

bool ta_is_sign(const struct ta_reader *r, int sign) { return r->token.kind == TA_TOKEN_SIGN && r->token.sign == sign; }

bool ta_is_word(const struct ta_reader *r, const char *word) {
  size_t n = strlen(word);
  return r->token.kind == TA_TOKEN_NAME && r->token.at.to - r->token.at.from == n &&
         !memcmp(r->source->text + r->token.at.from, word, n);
}

bool ta_take_sign(struct ta_reader *r, int sign, const char *expected) {
  if (!ta_is_sign(r, sign)) {
    ta_syntax_error(r, expected);
    return false;
  }
  ta_advance(r);
  return true;
}

static const char *token_text(struct ta_reader *r) {
  return arena_strndup(r->arena, r->source->text + r->token.at.from, r->token.at.to - r->token.at.from);
}

const char *ta_take_name(struct ta_reader *r, struct span *at) {
  if (r->token.kind != TA_TOKEN_NAME) {
    ta_syntax_error(r, "a name");
    return NULL;
  }
  const char *name = token_text(r);
  *at = r->token.at;
  ta_advance(r);
  return name;
}

/* ---- values ---- */

static struct ta_value number_value(struct ta_reader *r, struct span at, struct term *t) {
  (void)r;
  return (struct ta_value){.term = t, .at = at, .height = 1, .size = 1};
}

static struct ta_formula *formula_new(struct ta_reader *r, enum ta_formula_op op, struct span at) {
  struct ta_formula *f = arena_alloc(r->arena, sizeof *f);
  f->op = op;
  f->at = at;
  return f;
}

static struct ta_value state_value(struct ta_reader *r, struct span at, struct term *t) {
  struct ta_value v = {.formula = formula_new(r, TA_STATE, at), .at = at, .height = 1, .size = 1};
  v.formula->term = t;
  return v;
}

/* The size of what is made of two values; a value that is too large is reported, and replaced by a constant. */
static struct ta_value sized(struct ta_reader *r, struct ta_value v, const struct ta_value *a,
                             const struct ta_value *b) {
  v.height = 1 + (a->height > b->height ? a->height : b->height);
  v.size = 1 + a->size + b->size;
  v.literal = false;
  v.nameless = a->nameless && b->nameless;
  if (v.height <= TA_HEIGHT_MAX && v.size <= TA_SIZE_MAX)
    return v;
  if (!r->failed) {
    diag_error(r->diags, E0606, v.at, "this is too large, with its definitions written out");
    r->failed = true;
    r->token.kind = TA_TOKEN_END;
  }
  return v.term ? number_value(r, v.at, term_number(&r->check, v.at, 0))
                : state_value(r, v.at, term_number(&r->check, v.at, 1));
}

static struct span joined(struct span a, struct span b) { return (struct span){a.from, b.to}; }

static struct term *as_number(struct ta_reader *r, const struct ta_value *v) {
  if (v->term && !v->divisor)
    return v->term;
  if (!r->failed && v->term) {
    diag_error(r->diags, E0602, v->at, "this quotient need not be a whole number");
    diag_help(r->diags, "quotients can be compared, and whole numbers added to them; '2 * x >= N' needs none");
  } else if (!r->failed) {
    diag_error(r->diags, E0301, v->at, "expected a number, not a condition");
  }
  return term_number(&r->check, v->at, 0);
}

static struct ta_formula *as_formula(struct ta_reader *r, const struct ta_value *v) {
  if (v->formula)
    return v->formula;
  bool truth = v->literal && v->term && v->term->op == TERM_NUMBER && (v->term->number == 0 || v->term->number == 1);
  if (!truth && !r->failed)
    diag_error(r->diags, E0301, v->at, "expected a condition, not a number");
  return state_value(r, v->at, term_number(&r->check, v->at, truth ? v->term->number : 1)).formula;
}

/* ---- names ---- */

static const char *symbol_text(const struct ta_reader *r, const struct scope_symbol *s) {
  return s->kind == SYMBOL_PARAM       ? "parameter"
         : s->kind == SYMBOL_DEF       ? "definition"
         : r->is_location.at[s->index] ? "location"
                                       : "shared variable";
}

static struct ta_value read_name(struct ta_reader *r, const char *name, struct span at) {
  const struct scope_symbol *s = scope_find(&r->check.globals, name);
  struct ta_value zero = number_value(r, at, term_number(&r->check, at, 0));
  if (!s) {
    diag_error(r->diags, E0201, at, "unknown name '%s'", name);
    struct nearest near;
    nearest_init(&near, name);
    if (diag_may_search(r->diags, r->check.globals.n))
      for (size_t i = 0; i < r->check.globals.n; i++)
        nearest_offer(&near, r->check.globals.at[i].name);
    if (near.found)
      diag_help(r->diags, "did you mean '%s'?", near.found);
    return zero;
  }
  if (s->kind == SYMBOL_DEF) {
    struct ta_value v = r->definitions.at[s->index].value;
    v.at = at;
    v.literal = false;
    return v;
  }
  if (s->kind == SYMBOL_PARAM) {
    struct term *is = r->params.at[s->index].is;
    return number_value(r, at, is ? is : term_leaf(&r->check, TERM_PARAM, at, s->index));
  }
  if (!r->reads) {
    diag_error(r->diags, E0607, at, "%s reads the %s '%s'", r->where, symbol_text(r, s), name);
    diag_help(r->diags, "only numbers and parameters can be used here");
    return zero;
  }
  return number_value(r, at, term_leaf(&r->check, TERM_COUNTER, at, s->index));
}

/* ---- expressions ---- */

static struct ta_value read_implication(struct ta_reader *r);

static struct term *multiple(struct ta_reader *r, struct span at, int64_t times, struct term *of) {
  return times ? term_times(&r->check, at, term_number(&r->check, at, times), of) : of;
}

static enum ta_rounding opposite(enum ta_rounding r) { return r == TA_EXACT ? r : r == TA_DOWN ? TA_UP : TA_DOWN; }

/* A whole number is added to a quotient by adding a multiple to what is divided: floor(x / 2) + y = floor((x + 2 * y) /
   2), and y - floor(x / 2) = ceil((2 * y - x) / 2). */
static struct ta_value sum(struct ta_reader *r, const struct ta_value *a, const struct ta_value *b, bool minus) {
  struct span at = joined(a->at, b->at);
  struct term *x = a->term, *y = b->term;
  struct ta_value v = {0};
  if (x && y && a->divisor && b->divisor && a->rounding == TA_EXACT && b->rounding == TA_EXACT &&
      !__builtin_mul_overflow(a->divisor, b->divisor, &v.divisor)) {
    x = multiple(r, at, b->divisor, x);
    y = multiple(r, at, a->divisor, y);
  } else if (!x || !y || (a->divisor && b->divisor)) {
    v.divisor = 0;
    x = as_number(r, a);
    y = as_number(r, b);
  } else if (a->divisor) {
    v.divisor = a->divisor;
    v.rounding = a->rounding;
    y = multiple(r, at, v.divisor, y);
  } else if (b->divisor) {
    v.divisor = b->divisor;
    v.rounding = minus ? opposite(b->rounding) : b->rounding;
    x = multiple(r, at, v.divisor, x);
  }
  v.term = term_sum(&r->check, at, x, y, minus);
  v.at = at;
  return sized(r, v, a, b);
}

/* atom = NUMBER | NAME | "true" | "false" | "-" atom | "(" implication ")" */
static struct ta_value read_atom(struct ta_reader *r) {
  struct span at = r->token.at;
  struct ta_value zero = number_value(r, at, term_number(&r->check, at, 0));
  if (r->nesting >= TA_HEIGHT_MAX) {
    ta_syntax_error(r, "fewer parentheses and signs within each other");
    return zero;
  }
  if (r->token.kind == TA_TOKEN_NUMBER) {
    struct ta_value v = number_value(r, at, term_number(&r->check, at, r->token.number));
    v.literal = v.nameless = true;
    ta_advance(r);
    return v;
  }
  if (ta_is_word(r, "true") || ta_is_word(r, "false")) {
    struct ta_value v = state_value(r, at, term_number(&r->check, at, ta_is_word(r, "true")));
    ta_advance(r);
    return v;
  }
  if (r->token.kind == TA_TOKEN_NAME) {
    const char *name = ta_take_name(r, &at);
    return read_name(r, name, at);
  }
  r->nesting++;
  struct ta_value v = zero;
  zero.nameless = true;
  if (ta_is_sign(r, '-')) {
    ta_advance(r);
    struct ta_value of = read_atom(r);
    v = sum(r, &zero, &of, true);
    v.at = joined(at, of.at);
  } else if (ta_is_sign(r, '(')) {
    ta_advance(r);
    v = read_implication(r);
    v.at = joined(at, r->token.at);
    ta_take_sign(r, ')', "')'");
  } else {
    ta_syntax_error(r, "a number or a condition");
  }
  r->nesting--;
  return v;
}

/* Does the term read an unknown that is left open? */
static bool reads_unknown(const struct ta_reader *r, const struct term *t) {
  bool found = false;
  for (size_t i = 0; t && t->op == TERM_PARAM && i < r->unknowns.n; i++)
    found |= r->unknowns.at[i] == t->index;
  for (int i = 0; t && i < 3 && !found; i++)
    found = reads_unknown(r, t->kid[i]);
  return found;
}

static struct ta_value not_linear(struct ta_reader *r, struct span at) {
  if (!r->failed) {
    diag_error(r->diags, E0602, at, "this product is not linear");
    diag_help(r->diags, "one factor must be a number, or a parameter that has a value (-D)");
  }
  return number_value(r, at, term_number(&r->check, at, 0));
}

static struct ta_value multiply(struct ta_reader *r, const struct ta_value *a, const struct ta_value *b) {
  struct span at = joined(a->at, b->at);
  struct ta_value v = {.at = at};
  const struct ta_value *quotient = a->divisor ? a : b->divisor ? b : NULL;
  if (quotient && quotient->rounding == TA_EXACT && a->term && b->term && !(a->divisor && b->divisor)) {
    v.divisor = quotient->divisor; /* a fraction of numbers: 2 / 3 * N is 2 * N / 3 */
    v.rounding = TA_EXACT;
  } else if (quotient) {
    (void)as_number(r, quotient);
    return number_value(r, at, term_number(&r->check, at, 0));
  }
  struct term *x = v.divisor ? a->term : as_number(r, a), *y = v.divisor ? b->term : as_number(r, b);
  if (x->op != TERM_NUMBER && y->op != TERM_NUMBER && !reads_unknown(r, x) && !reads_unknown(r, y))
    return not_linear(r, at);
  v.term = term_times(&r->check, at, x, y);
  return sized(r, v, a, b);
}

/* A quotient of numbers is a fraction; others are rounded down, also if the parameters have values. */
static struct ta_value divide(struct ta_reader *r, const struct ta_value *a, const struct ta_value *b) {
  struct span at = joined(a->at, b->at);
  struct ta_value v = {.term = a->term ? a->term : as_number(r, a), .at = at};
  struct term *by = as_number(r, b);
  bool number = v.term->op == TERM_NUMBER && !a->divisor;
  int64_t n = v.term->number, d = by->number;
  if (by->op != TERM_NUMBER || d <= 0 || (a->divisor && a->rounding == TA_UP)) {
    if (!r->failed) {
      diag_error(r->diags, E0602, at, "this division is not by a positive number");
      diag_help(r->diags, "multiply it out: '2 * x >= N', not 'x >= N / 2'");
    }
    return number_value(r, at, term_number(&r->check, at, 0));
  }
  if (number && n % d == 0)
    return sized(r, number_value(r, at, term_number(&r->check, at, n / d)), a, b);
  if (d == 1) {
    v = *a;
    v.at = at;
    return sized(r, v, a, b);
  }
  v.rounding = a->divisor ? a->rounding : a->nameless ? TA_EXACT : TA_DOWN;
  if (v.rounding == TA_DOWN && !r->failed && !r->rounded) {
    diag_warning(r->diags, W0112, at, "this quotient is rounded down");
    diag_help(r->diags, "tools differ in what becomes of a remainder; '2 * x >= N' leaves none");
    r->rounded = true;
  }
  if (number && v.rounding == TA_DOWN)
    return sized(r, number_value(r, at, term_number(&r->check, at, n / d - (n % d < 0))), a, b);
  if (__builtin_mul_overflow(d, a->divisor ? a->divisor : 1, &v.divisor)) {
    diag_error(r->diags, E0606, at, "this number needs more than 64 bits");
    v.divisor = d;
  }
  return sized(r, v, a, b);
}

/* product = atom { ("*" | "/") atom } */
static struct ta_value read_product(struct ta_reader *r) {
  struct ta_value v = read_atom(r);
  while (ta_is_sign(r, '*') || ta_is_sign(r, '/')) {
    bool quotient = ta_is_sign(r, '/');
    ta_advance(r);
    struct ta_value next = read_atom(r);
    v = quotient ? divide(r, &v, &next) : multiply(r, &v, &next);
  }
  return v;
}

/* sum = product { ("+" | "-") product } */
static struct ta_value read_sum(struct ta_reader *r) {
  struct ta_value v = read_product(r);
  while (ta_is_sign(r, '+') || ta_is_sign(r, '-')) {
    bool minus = ta_is_sign(r, '-');
    ta_advance(r);
    struct ta_value next = read_product(r);
    v = sum(r, &v, &next, minus);
  }
  return v;
}

static struct term *relation(struct ta_reader *r, int sign, struct span at, struct term *a, struct term *b) {
  struct counter_checker *c = &r->check;
  switch (sign) {
  case TA_SIGN_EQ:
    return term_relation(c, TERM_EQ, at, a, b);
  case TA_SIGN_NE:
    return term_not(c, at, term_relation(c, TERM_EQ, at, a, b));
  case TA_SIGN_LE:
    return term_relation(c, TERM_LE, at, a, b);
  case TA_SIGN_GE:
    return term_relation(c, TERM_LE, at, b, a);
  case '<':
    return term_relation(c, TERM_LT, at, a, b);
  case '>':
    return term_relation(c, TERM_LT, at, b, a);
  }
  return NULL;
}

/* A quotient compared with 0. */
static struct term *quotient_relation(struct ta_reader *r, int sign, struct span at, const struct ta_value *v) {
  struct counter_checker *c = &r->check;
  struct term *zero = term_number(c, at, 0), *t = v->term;
  struct term *by = term_number(c, at, v->divisor), *less = term_number(c, at, -v->divisor);
  if (v->rounding == TA_EXACT)
    return relation(r, sign, at, t, zero);
  bool down = v->rounding == TA_DOWN;
  switch (sign) {
  case TA_SIGN_EQ:
    return term_and(c, at, quotient_relation(r, TA_SIGN_LE, at, v), quotient_relation(r, TA_SIGN_GE, at, v));
  case TA_SIGN_NE:
    return term_not(c, at, quotient_relation(r, TA_SIGN_EQ, at, v));
  case TA_SIGN_LE:
    return down ? relation(r, '<', at, t, by) : relation(r, TA_SIGN_LE, at, t, zero);
  case TA_SIGN_GE:
    return down ? relation(r, TA_SIGN_GE, at, t, zero) : relation(r, '>', at, t, less);
  case '<':
    return down ? relation(r, '<', at, t, zero) : relation(r, TA_SIGN_LE, at, t, less);
  case '>':
    return down ? relation(r, TA_SIGN_GE, at, t, by) : relation(r, '>', at, t, zero);
  }
  return NULL;
}

static struct ta_value compare(struct ta_reader *r, int sign, const struct ta_value *a, const struct ta_value *b) {
  struct span at = joined(a->at, b->at);
  struct term *t;
  if (a->term && b->term && (a->divisor || b->divisor)) {
    struct ta_value difference = sum(r, a, b, true);
    t = quotient_relation(r, sign, at, &difference);
  } else {
    t = relation(r, sign, at, as_number(r, a), as_number(r, b));
  }
  return sized(r, state_value(r, at, t), a, b);
}

static bool is_relation(const struct ta_reader *r) {
  return ta_is_sign(r, TA_SIGN_EQ) || ta_is_sign(r, TA_SIGN_NE) || ta_is_sign(r, TA_SIGN_LE) ||
         ta_is_sign(r, TA_SIGN_GE) || ta_is_sign(r, '<') || ta_is_sign(r, '>');
}

static struct ta_value connect(struct ta_reader *r, enum ta_formula_op op, struct span at, const struct ta_value *a,
                               const struct ta_value *b) {
  struct ta_formula *x = as_formula(r, a), *y = b ? as_formula(r, b) : NULL;
  struct counter_checker *c = &r->check;
  bool states = x->op == TA_STATE && (!y || y->op == TA_STATE);
  struct ta_value v = {.at = at};
  if (states && op == TA_NOT)
    v = state_value(r, at, term_not(c, at, x->term));
  else if (states && op == TA_AND)
    v = state_value(r, at, term_and(c, at, x->term, y->term));
  else if (states && op == TA_OR)
    v = state_value(r, at, term_or(c, at, x->term, y->term));
  else if (states && op == TA_IMPLIES)
    v = state_value(r, at, term_or(c, at, term_not(c, at, x->term), y->term));
  else {
    v.formula = formula_new(r, op, at);
    v.formula->kid[0] = x;
    v.formula->kid[1] = y;
  }
  return sized(r, v, a, b ? b : a);
}

/* comparison = ("!" | "[]" | "<>") comparison | sum [relation sum] */
static struct ta_value read_comparison(struct ta_reader *r) {
  struct span at = r->token.at;
  bool not = ta_is_sign(r, '!'), always = ta_is_sign(r, TA_SIGN_ALWAYS), eventually = ta_is_sign(r, TA_SIGN_EVENTUALLY);
  if (not || always || eventually) {
    if (!not &&!r->formula) {
      diag_error(r->diags, E0601, at, "%s uses '%s'", r->where, always ? "[]" : "<>");
      diag_help(r->diags, "only specifications speak of runs");
    }
    if (r->nesting >= TA_HEIGHT_MAX) {
      ta_syntax_error(r, "fewer parentheses and signs within each other");
      return state_value(r, at, term_number(&r->check, at, 1));
    }
    r->nesting++;
    ta_advance(r);
    struct ta_value of = read_comparison(r);
    r->nesting--;
    return connect(r, not ? TA_NOT : always ? TA_ALWAYS : TA_EVENTUALLY, joined(at, of.at), &of, NULL);
  }
  struct ta_value v = read_sum(r);
  if (!is_relation(r))
    return v;
  int sign = r->token.sign;
  ta_advance(r);
  struct ta_value other = read_sum(r);
  return compare(r, sign, &v, &other);
}

/* conjunction = comparison { "&&" comparison } */
static struct ta_value read_conjunction(struct ta_reader *r) {
  struct ta_value v = read_comparison(r);
  while (ta_is_sign(r, TA_SIGN_AND)) {
    ta_advance(r);
    struct ta_value next = read_comparison(r);
    v = connect(r, TA_AND, joined(v.at, next.at), &v, &next);
  }
  return v;
}

static void refuse_mixture(struct ta_reader *r) {
  if (r->failed)
    return;
  diag_error(r->diags, E0106, r->token.at, "'||' and '->' in a row need parentheses");
  diag_help(r->diags, "tools differ in which of them binds more tightly");
  r->failed = true;
  r->token.kind = TA_TOKEN_END;
}

/* disjunction = conjunction { "||" conjunction }; *several: it has more than one side */
static struct ta_value read_disjunction(struct ta_reader *r, bool *several) {
  struct ta_value v = read_conjunction(r);
  *several = ta_is_sign(r, TA_SIGN_OR);
  while (ta_is_sign(r, TA_SIGN_OR)) {
    ta_advance(r);
    struct ta_value next = read_conjunction(r);
    v = connect(r, TA_OR, joined(v.at, next.at), &v, &next);
  }
  return v;
}

/* implication = disjunction | conjunction "->" implication. `a -> b || c` says the same whichever binds more tightly.
 */
static struct ta_value read_implication(struct ta_reader *r) {
  VEC(struct ta_value) sides = {0};
  bool several;
  struct ta_value v = read_disjunction(r, &several);
  vec_push(&sides, v);
  while (ta_is_sign(r, TA_SIGN_ARROW)) {
    if (several)
      refuse_mixture(r);
    ta_advance(r);
    v = read_disjunction(r, &several);
    vec_push(&sides, v);
  }
  for (size_t i = sides.n - 1; i-- > 0;)
    v = connect(r, TA_IMPLIES, joined(sides.at[i].at, v.at), &sides.at[i], &v);
  vec_release(&sides);
  return v;
}

/* ---- entry points ---- */

static struct ta_value read_value(struct ta_reader *r, bool number) {
  struct ta_value v = number ? read_sum(r) : read_implication(r);
  r->sizes += v.size;
  if (r->sizes > TA_SIZES_MAX && !r->failed) {
    diag_error(r->diags, E0606, v.at, "the expressions of this file are too large, with their definitions written out");
    r->failed = true;
    r->token.kind = TA_TOKEN_END;
  }
  return v;
}

struct term *ta_read_number(struct ta_reader *r, struct span *at) {
  struct ta_value v = read_value(r, true);
  *at = v.at;
  return as_number(r, &v);
}

struct ta_formula *ta_read_formula(struct ta_reader *r, struct span *at) {
  r->formula = true;
  struct ta_value v = read_value(r, false);
  r->formula = false;
  *at = v.at;
  return as_formula(r, &v);
}

struct term *ta_read_condition(struct ta_reader *r, struct span *at) {
  struct ta_value v = read_value(r, false);
  struct ta_formula *f = as_formula(r, &v);
  *at = v.at;
  return f->op == TA_STATE ? f->term : term_number(&r->check, v.at, 1); /* reported with the operator */
}

struct ta_value ta_read_definition(struct ta_reader *r) {
  struct ta_value v = read_value(r, true);
  if (!v.term)
    v = number_value(r, v.at, as_number(r, &v));
  return v;
}
