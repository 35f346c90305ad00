/* Comparisons with quotients, such as `|received| > n / 2`, as decisions about linear forms. `/` rounds down, so
   a + b / c = floor((c * a + b) / c), whose sign follows from the signs of c * a + b and c * a + b - c. */
#include "interp/eval_internal.h"

/* form + sign * floor(over / by); sign 0: without a quotient. */
struct rounded {
  struct form form, over;
  int64_t by;
  int sign;
  value base, dividend; /* the values of form and over */
};

static value floor_quotient(value a, value by) { return a / by - (a % by < 0); }

static value rounded_value(const struct rounded *r) {
  return r->base + (r->sign ? r->sign * floor_quotient(r->dividend, r->by) : 0);
}

/* Numbers stay far from 64 bits, so that the sums below do not overflow. */
static bool is_small(value v) { return v > -((value)1 << 30) && v < (value)1 << 30; }

static bool has_quotient(const struct node *n) {
  if (n->op == NODE_DIV)
    return n->kid[1]->op == NODE_CONST && n->kid[1]->constant > 0 && is_small(n->kid[1]->constant);
  return (n->op == NODE_ADD || n->op == NODE_SUB) && (has_quotient(n->kid[0]) || has_quotient(n->kid[1]));
}

static void eval_rounded(struct eval *e, const struct node *n, struct rounded *out) {
  *out = (struct rounded){.by = 1};
  if (!e->decisions || !has_quotient(n)) {
    out->base = eval_linear(e, n, &out->form);
    return;
  }
  if (n->op == NODE_DIV) {
    out->by = n->kid[1]->constant;
    out->sign = 1;
    out->dividend = eval_linear(e, n->kid[0], &out->over);
    if (form_is_constant(&out->over)) {
      out->base = floor_quotient(out->dividend, out->by);
      out->form.constant = out->base;
      out->sign = 0;
    }
    return;
  }
  struct rounded right;
  int times = n->op == NODE_SUB ? -1 : 1;
  eval_rounded(e, n->kid[0], out);
  eval_rounded(e, n->kid[1], &right);
  if ((out->sign && right.sign) || !is_small(out->base) || !is_small(right.base) || !is_small(right.dividend)) {
    decide_lost(e, n->at); /* the sum of two quotients is not the quotient of a sum */
    return;
  }
  out->form = form_minus(e, &out->form, &right.form, -times);
  out->base += times * right.base;
  if (out->sign)
    return;
  out->over = right.over;
  out->by = right.by;
  out->sign = times * right.sign;
  out->dividend = right.dividend;
}

/* The sign of form + sign * floor(over / by): of floor(g / by) or, negated, with g = over + sign * by * form. */
static void decide_rounded(struct eval *e, const struct rounded *r, struct span at) {
  if (!is_small(r->base) || !is_small(r->dividend)) {
    decide_lost(e, at);
    return;
  }
  struct form g = form_minus(e, &r->over, &r->form, -r->sign * r->by), by = {.constant = r->by};
  int64_t v = r->dividend + r->sign * r->by * r->base;
  decide(e, &g, v);
  g = form_minus(e, &g, &by, 1);
  decide(e, &g, v - r->by);
}

void decide_order(struct eval *e, const struct node *n, value *left, value *right) {
  struct rounded a, b;
  eval_rounded(e, n->kid[0], &a);
  eval_rounded(e, n->kid[1], &b);
  *left = rounded_value(&a);
  *right = rounded_value(&b);
  if (!a.sign && !b.sign) {
    struct form f = form_minus(e, &a.form, &b.form, 1);
    decide(e, &f, *left < *right ? -1 : *left > *right);
    return;
  }
  if (a.sign && b.sign) {
    decide_lost(e, n->at);
    return;
  }
  struct rounded difference = a.sign ? a : b;
  difference.form = form_minus(e, &a.form, &b.form, 1);
  difference.base = a.base - b.base;
  difference.sign = a.sign ? a.sign : -b.sign;
  decide_rounded(e, &difference, n->at);
}
