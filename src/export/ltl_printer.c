/* Liveness properties: fully parenthesised LTL formulas; assumptions in words. */
#include "export/expr_printer.h"

/* true until b (eventually) and false release b (always) are printed as unary operators. */
static bool is_alone(const struct ltl_pool *pool, struct ltl_node n) {
  return (n.op == LTL_UNTIL && ltl_at(pool, n.a).op == LTL_TRUE) ||
         (n.op == LTL_RELEASE && ltl_at(pool, n.a).op == LTL_FALSE);
}

bool printer_supports_formula(const struct expr_printer *p, ltl f) {
  const struct ltl_pool *pool = p->program->live.pool;
  struct ltl_node n = ltl_at(pool, f);
  if (n.op != LTL_AND && n.op != LTL_OR && n.op != LTL_UNTIL && n.op != LTL_RELEASE)
    return true;
  const char *sign = n.op == LTL_UNTIL ? p->syntax->until : n.op == LTL_RELEASE ? p->syntax->release : "";
  return (sign || is_alone(pool, n)) && printer_supports_formula(p, n.a) && printer_supports_formula(p, n.b);
}

static void add_joined(struct expr_printer *p, ltl a, const char *sign, ltl b) {
  text_add(p->out, "(");
  printer_add_formula(p, a);
  text_addf(p->out, " %s ", sign);
  printer_add_formula(p, b);
  text_add(p->out, ")");
}

void printer_add_formula(struct expr_printer *p, ltl f) {
  const struct target_syntax *s = p->syntax;
  struct ltl_node n = ltl_at(p->program->live.pool, f);
  switch (n.op) {
  case LTL_FALSE:
    text_add(p->out, s->truth[0]);
    return;
  case LTL_TRUE:
    text_add(p->out, s->truth[1]);
    return;
  case LTL_ATOM:
    text_addf(p->out, "atom_%u", n.a + 1);
    return;
  case LTL_NOT_ATOM:
    text_addf(p->out, "%satom_%u", s->negation, n.a + 1);
    return;
  case LTL_AND:
    add_joined(p, n.a, s->conjunction, n.b);
    return;
  case LTL_OR:
    add_joined(p, n.a, s->disjunction, n.b);
    return;
  case LTL_UNTIL:
  case LTL_RELEASE:
    if (!is_alone(p->program->live.pool, n)) {
      add_joined(p, n.a, n.op == LTL_UNTIL ? s->until : s->release, n.b);
      return;
    }
    text_addf(p->out, "%s (", n.op == LTL_UNTIL ? s->eventually : s->always);
    printer_add_formula(p, n.b);
    text_add(p->out, ")");
  }
}

void printer_assumption(struct expr_printer *p, const struct assumption *a) {
  text_add(p->out, "  ");
  printer_comment(p, a->what);
  if (a->at.to) {
    text_add(p->out, " ");
    printer_line(p, a->at);
  }
  text_add(p->out, "\n");
}
