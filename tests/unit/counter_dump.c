#include "counter_dump.h"

#include "base/text.h"

#include <inttypes.h>

struct counter_printer {
  const struct counter_system *s;
  const struct counter_move *move; /* whose amounts are meant, or NULL */
  struct text *out;
};

static void add_term(const struct counter_printer *p, const struct term *t);

static void add_infix(const struct counter_printer *p, const struct term *t, const char *sign) {
  text_add(p->out, "(");
  add_term(p, t->kid[0]);
  text_add(p->out, sign);
  add_term(p, t->kid[1]);
  text_add(p->out, ")");
}

/* a and (b and c) needs no brackets inside. */
static void add_chain(const struct counter_printer *p, const struct term *t, enum term_op op, const char *sign) {
  if (t->op != op) {
    add_term(p, t);
    return;
  }
  add_chain(p, t->kid[0], op, sign);
  text_add(p->out, sign);
  add_chain(p, t->kid[1], op, sign);
}

/* A condition that is compared with a number: it, or its negation. */
static bool add_truth_is(const struct counter_printer *p, const struct term *t) {
  const struct term *control = t->kid[0], *is = t->kid[1];
  if (t->op != TERM_EQ || control->op != TERM_CONTROL || is->op != TERM_NUMBER ||
      p->s->controls[control->index].kind == CONTROL_NUMBERS)
    return false;
  if (p->s->controls[control->index].kind == CONTROL_TRUTH) {
    text_addf(p->out, is->number ? "%s" : "(not %s)", p->s->controls[control->index].name);
  } else {
    text_addf(p->out, "(%s == ", p->s->controls[control->index].name);
    control_value_print(&p->s->controls[control->index], is->number, p->out);
    text_add(p->out, ")");
  }
  return true;
}

static void add_term(const struct counter_printer *p, const struct term *t) {
  static const char *const signs[] = {
      [TERM_SUB] = " - ", [TERM_TIMES] = " * ", [TERM_EQ] = " == ", [TERM_LE] = " <= ", [TERM_LT] = " < "};
  switch (t->op) {
  case TERM_NUMBER:
    text_addf(p->out, t->number < 0 ? "(%" PRId64 ")" : "%" PRId64, t->number);
    break;
  case TERM_PARAM:
    text_add(p->out, p->s->params[t->index].name);
    break;
  case TERM_COUNTER:
    text_add(p->out, p->s->counters[t->index].name);
    break;
  case TERM_CONTROL:
    text_add(p->out, p->s->controls[t->index].name);
    break;
  case TERM_AMOUNT:
    text_add(p->out, p->move->amounts[t->index].name);
    break;
  case TERM_IF:
    text_add(p->out, "(if ");
    add_term(p, t->kid[0]);
    text_add(p->out, " then ");
    add_term(p, t->kid[1]);
    text_add(p->out, " else ");
    add_term(p, t->kid[2]);
    text_add(p->out, ")");
    break;
  case TERM_NOT:
    text_add(p->out, "(not ");
    add_term(p, t->kid[0]);
    text_add(p->out, ")");
    break;
  case TERM_ADD:
  case TERM_AND:
  case TERM_OR:
    text_add(p->out, "(");
    add_chain(p, t, t->op, t->op == TERM_ADD ? " + " : t->op == TERM_AND ? " and " : " or ");
    text_add(p->out, ")");
    break;
  case TERM_SUB:
  case TERM_TIMES:
  case TERM_EQ:
  case TERM_LE:
  case TERM_LT:
    if (!add_truth_is(p, t))
      add_infix(p, t, signs[t->op]);
    break;
  }
}

/* A condition: also of numbers, which stand for true and false. */
static void add_condition(const struct counter_printer *p, const struct term *t) {
  if (t->op == TERM_NUMBER)
    text_add(p->out, t->number ? "0 == 0" : "0 == 1");
  else
    add_term(p, t);
}

/* What a control becomes: where a condition is wanted, numbers are its values. */
static void add_new_control(const struct counter_printer *p, uint32_t control, const struct term *t) {
  const struct control *c = &p->s->controls[control];
  if (t->op == TERM_IF && c->kind == CONTROL_TRUTH) {
    text_add(p->out, "(");
    add_term(p, t->kid[0]);
    text_add(p->out, " and ");
    add_new_control(p, control, t->kid[1]);
    text_add(p->out, " or not ");
    add_term(p, t->kid[0]);
    text_add(p->out, " and ");
    add_new_control(p, control, t->kid[2]);
    text_add(p->out, ")");
  } else if (t->op == TERM_NUMBER) {
    control_value_print(c, t->number, p->out);
  } else {
    add_term(p, t);
  }
}

static void print_params(const struct counter_printer *p) {
  const struct counter_system *s = p->s;
  for (uint32_t i = 0; i < s->nparams; i++) {
    text_addf(p->out, "param %s", s->params[i].name);
    if (s->params[i].is) {
      text_add(p->out, " = ");
      add_term(p, s->params[i].is);
    }
    text_add(p->out, "\n");
  }
  for (uint32_t i = 0; i < s->nconditions; i++) {
    if (s->conditions[i].resilience)
      text_add(p->out, "resilience ");
    else
      text_addf(p->out, "param condition%" PRIu32 " = 0 where ", i + 1);
    add_condition(p, s->conditions[i].term);
    text_add(p->out, "\n");
  }
}

static void print_state(const struct counter_printer *p) {
  const struct counter_system *s = p->s;
  for (uint32_t i = 0; i < s->ncounters; i++)
    text_addf(p->out, "%s%s", i ? ", " : "counter ", s->counters[i].name);
  text_add(p->out, s->ncounters ? "\n" : "");
  for (uint32_t i = 0; i < s->ncontrols; i++) {
    const struct control *c = &s->controls[i];
    text_addf(p->out, "control %s: ", c->name);
    if (c->kind == CONTROL_TRUTH)
      text_add(p->out, "bool\n");
    else if (c->kind == CONTROL_NUMBERS)
      text_addf(p->out, "%" PRId64 "..%" PRId64 "\n", c->low, c->high);
    for (int64_t v = c->low; c->kind == CONTROL_LABELS && v <= c->high; v++) {
      text_add(p->out, v == c->low ? "{" : ", ");
      control_value_print(c, v, p->out);
      text_add(p->out, v == c->high ? "}\n" : "");
    }
  }
  text_add(p->out, "start ");
  add_condition(p, s->start);
  text_add(p->out, "\n");
}

static void print_move(struct counter_printer *p, const struct counter_move *m) {
  const struct counter_system *s = p->s;
  const char *between = " ";
  p->move = m;
  text_addf(p->out, "\nmove %s", m->name);
  for (uint32_t i = 0; i < m->namounts; i++)
    text_addf(p->out, "%s%s", i ? ", " : " any ", m->amounts[i].name);
  text_add(p->out, ":");
  for (uint32_t i = 0; i < s->ncounters; i++)
    if (m->counters[i]) {
      text_addf(p->out, "%s%s := ", between, s->counters[i].name);
      add_term(p, m->counters[i]);
      between = ", ";
    }
  for (uint32_t i = 0; i < s->ncontrols; i++)
    if (m->controls[i]) {
      text_addf(p->out, "%s%s := ", between, s->controls[i].name);
      add_new_control(p, i, m->controls[i]);
      between = ", ";
    }
  text_add(p->out, "\n  when ");
  add_condition(p, m->guard);
  text_add(p->out, "\n");
  p->move = NULL;
}

void counter_system_print(const struct counter_system *s, struct text *out) {
  struct counter_printer p = {.s = s, .out = out};
  text_addf(out, "counters %s\n", s->name);
  print_params(&p);
  print_state(&p);
  for (uint32_t i = 0; i < s->nmoves; i++)
    print_move(&p, &s->moves[i]);
  for (uint32_t i = 0; i < s->nproperties; i++) {
    text_addf(out, "\nunsafe %s from ", s->properties[i].name);
    add_condition(&p, s->properties[i].from);
    text_add(out, ": ");
    add_condition(&p, s->properties[i].unsafe);
    text_add(out, "\n");
  }
}
