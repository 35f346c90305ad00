#include "export/counter_export.h"

#include "export/reserved_words.h"

#include <inttypes.h>
#include <string.h>

struct smv_printer {
  const struct counter_system *s;
  struct text *out;
  uint32_t move;
};

/* Reserved words of nuXmv that are valid names in rondo, including the single letters of its logics. */
static bool is_reserved_word(const char *name) {
  static const char words[] =
      "A E F G H O S T U V X Y Z next init case esac mod in union self of array integer real word boolean "
      "process count bool toint max min abs floor signed unsigned extend resize sizeof xor xnor move time "
      "clock TRUE FALSE MODULE VAR IVAR INIT TRANS EX AX EF AF EG AG BU EBF ABF EBG ABG wtypeof typeof "
      "uwconst swconst word1 noncontinuous at last MIN MAX LTLSPEC CTLSPEC SPEC DEFINE FUN";
  return is_one_of_words(words, name);
}

static void add_name(struct smv_printer *p, const char *name) {
  text_addf(p->out, is_reserved_word(name) ? "%s_rondo" : "%s", name);
}

static void add_amount(struct smv_printer *p, uint32_t i) {
  text_addf(p->out, "%s_%" PRIu32 "_%s", p->s->moves[p->move].name, p->move + 1, p->s->moves[p->move].amounts[i].name);
}

static void add_truth(struct smv_printer *p, const struct term *t);

/* Prints a control's value as a number: labels count from 0. */
static void add_value(struct smv_printer *p, const struct term *t);

static void add_pair(struct smv_printer *p, const struct term *t, const char *sign,
                     void (*add)(struct smv_printer *, const struct term *)) {
  text_add(p->out, "(");
  add(p, t->kid[0]);
  text_addf(p->out, " %s ", sign);
  add(p, t->kid[1]);
  text_add(p->out, ")");
}

static void add_control_number(struct smv_printer *p, const struct control *c) {
  if (c->kind == CONTROL_NUMBERS) {
    add_name(p, c->name);
    return;
  }
  text_add(p->out, "(case ");
  for (int64_t v = c->low; v < c->high; v++) {
    if (c->kind == CONTROL_TRUTH) {
      text_add(p->out, "!");
      add_name(p, c->name);
    } else {
      add_name(p, c->name);
      text_add(p->out, " = ");
      add_name(p, c->labels[v]);
    }
    text_addf(p->out, ": %" PRId64 "; ", v);
  }
  text_addf(p->out, "TRUE: %" PRId64 "; esac)", c->high);
}

static void add_value(struct smv_printer *p, const struct term *t) {
  switch (t->op) {
  case TERM_NUMBER:
    text_addf(p->out, t->number < 0 ? "(%" PRId64 ")" : "%" PRId64, t->number);
    return;
  case TERM_PARAM:
    add_name(p, p->s->params[t->index].name);
    return;
  case TERM_COUNTER:
    add_name(p, p->s->counters[t->index].name);
    return;
  case TERM_CONTROL:
    add_control_number(p, &p->s->controls[t->index]);
    return;
  case TERM_AMOUNT:
    add_amount(p, t->index);
    return;
  case TERM_ADD:
    add_pair(p, t, "+", add_value);
    return;
  case TERM_SUB:
    add_pair(p, t, "-", add_value);
    return;
  case TERM_TIMES:
    add_pair(p, t, "*", add_value);
    return;
  case TERM_IF:
    text_add(p->out, "(");
    add_truth(p, t->kid[0]);
    text_add(p->out, " ? ");
    add_value(p, t->kid[1]);
    text_add(p->out, " : ");
    add_value(p, t->kid[2]);
    text_add(p->out, ")");
    return;
  case TERM_NOT:
  case TERM_AND:
  case TERM_OR:
  case TERM_EQ:
  case TERM_LE:
  case TERM_LT:
    text_add(p->out, "(");
    add_truth(p, t);
    text_add(p->out, " ? 1 : 0)");
    return;
  }
  text_add(p->out, "?"); /* valid in no language, so it cannot be misread */
}

/* Prints a comparison of a control with one of its values as a comparison of symbols. */
static bool add_symbols(struct smv_printer *p, const struct term *t) {
  const struct term *control = t->kid[0]->op == TERM_CONTROL ? t->kid[0] : t->kid[1];
  const struct term *number = control == t->kid[0] ? t->kid[1] : t->kid[0];
  if (control->op != TERM_CONTROL || p->s->controls[control->index].kind != CONTROL_LABELS)
    return false;
  const struct control *c = &p->s->controls[control->index];
  bool other = number->op == TERM_CONTROL && p->s->controls[number->index].labels == c->labels;
  if (!other && (number->op != TERM_NUMBER || number->number < c->low || number->number > c->high))
    return false;
  text_add(p->out, "(");
  add_name(p, c->name);
  text_add(p->out, " = ");
  add_name(p, other ? p->s->controls[number->index].name : c->labels[number->number]);
  text_add(p->out, ")");
  return true;
}

static void add_truth(struct smv_printer *p, const struct term *t) {
  switch (t->op) {
  case TERM_NUMBER:
    text_add(p->out, t->number ? "TRUE" : "FALSE");
    return;
  case TERM_CONTROL:
    add_name(p, p->s->controls[t->index].name);
    return;
  case TERM_NOT:
    text_add(p->out, "!");
    text_add(p->out, "(");
    add_truth(p, t->kid[0]);
    text_add(p->out, ")");
    return;
  case TERM_AND:
    add_pair(p, t, "&", add_truth);
    return;
  case TERM_OR:
    add_pair(p, t, "|", add_truth);
    return;
  case TERM_EQ:
    if (!add_symbols(p, t))
      add_pair(p, t, "=", add_value);
    return;
  case TERM_LE:
    add_pair(p, t, "<=", add_value);
    return;
  case TERM_LT:
    add_pair(p, t, "<", add_value);
    return;
  case TERM_PARAM:
  case TERM_COUNTER:
  case TERM_AMOUNT:
  case TERM_ADD:
  case TERM_SUB:
  case TERM_TIMES:
  case TERM_IF:
    break;
  }
  text_add(p->out, "?"); /* not a truth value */
}

/* ---- declarations ---- */

static void declare_control(struct smv_printer *p, const struct control *c) {
  text_add(p->out, "VAR ");
  add_name(p, c->name);
  if (c->kind == CONTROL_TRUTH)
    text_add(p->out, " : boolean;\n");
  else if (c->kind == CONTROL_NUMBERS)
    text_addf(p->out, " : %" PRId64 "..%" PRId64 ";\n", c->low, c->high);
  else {
    text_add(p->out, " : {");
    for (int64_t v = c->low; v <= c->high; v++) {
      text_add(p->out, v ? ", " : "");
      add_name(p, c->labels[v]);
    }
    text_add(p->out, "};\n");
  }
}

static void declare_all(struct smv_printer *p) {
  for (uint32_t i = 0; i < p->s->nparams; i++)
    if (!p->s->params[i].is) {
      text_add(p->out, "FROZENVAR ");
      add_name(p, p->s->params[i].name);
      text_add(p->out, " : integer;\n");
    }
  for (uint32_t i = 0; i < p->s->ncounters; i++) {
    text_add(p->out, "VAR ");
    add_name(p, p->s->counters[i].name);
    text_add(p->out, " : integer;\n");
  }
  for (uint32_t i = 0; i < p->s->ncontrols; i++)
    declare_control(p, &p->s->controls[i]);
  for (p->move = 0; p->move < p->s->nmoves; p->move++)
    for (uint32_t i = 0; i < p->s->moves[p->move].namounts; i++) {
      text_add(p->out, "IVAR ");
      add_amount(p, i);
      text_add(p->out, " : integer;\n");
    }
}

/* ---- moves ---- */

/* Prints the next value of a control as one of its symbols. */
static void add_new_control(struct smv_printer *p, const struct control *c, const struct term *t) {
  if (c->kind == CONTROL_NUMBERS) {
    add_value(p, t);
  } else if (t->op == TERM_NUMBER && c->kind == CONTROL_TRUTH) {
    text_add(p->out, t->number ? "TRUE" : "FALSE");
  } else if (t->op == TERM_NUMBER) {
    add_name(p, c->labels[t->number]);
  } else if (t->op == TERM_CONTROL) {
    add_name(p, p->s->controls[t->index].name);
  } else {
    text_add(p->out, "(");
    add_truth(p, t->kid[0]);
    text_add(p->out, " ? ");
    add_new_control(p, c, t->kid[1]);
    text_add(p->out, " : ");
    add_new_control(p, c, t->kid[2]);
    text_add(p->out, ")");
  }
}

static void add_move(struct smv_printer *p) {
  const struct counter_move *m = &p->s->moves[p->move];
  text_addf(p->out, "%s -- %s\n  (", p->move ? "\n |" : "\n  ", m->name);
  add_truth(p, m->guard);
  for (uint32_t i = 0; i < p->s->ncounters; i++) {
    text_add(p->out, " & next(");
    add_name(p, p->s->counters[i].name);
    text_add(p->out, ") = ");
    if (m->counters[i])
      add_value(p, m->counters[i]);
    else
      add_name(p, p->s->counters[i].name);
  }
  for (uint32_t i = 0; i < p->s->ncontrols; i++) {
    const struct control *c = &p->s->controls[i];
    text_add(p->out, " & next(");
    add_name(p, c->name);
    text_add(p->out, ") = ");
    if (m->controls[i])
      add_new_control(p, c, m->controls[i]);
    else
      add_name(p, c->name);
  }
  text_add(p->out, ")");
}

/* nuXmv requires a total transition relation: a stutter step is always possible, which does not affect invariants. */
static void add_nothing(struct smv_printer *p) {
  text_add(p->out, p->s->nmoves ? "\n | -- nothing\n  (TRUE" : "\n  (TRUE");
  for (uint32_t i = 0; i < p->s->ncounters + p->s->ncontrols; i++) {
    const char *name = i < p->s->ncounters ? p->s->counters[i].name : p->s->controls[i - p->s->ncounters].name;
    text_add(p->out, " & next(");
    add_name(p, name);
    text_add(p->out, ") = ");
    add_name(p, name);
  }
  text_add(p->out, ")");
}

void export_smv(const struct counter_system *s, const struct counter_property *property, struct text *out) {
  struct smv_printer p = {.s = s, .out = out};
  text_addf(out, "-- %s, '%s'\nMODULE main\n", s->name, property->name);
  declare_all(&p);
  for (uint32_t i = 0; i < s->nconditions; i++) {
    text_add(out, "INIT ");
    add_truth(&p, s->conditions[i].term);
    text_add(out, ";\n");
  }
  text_add(out, "INIT ");
  add_truth(&p, s->start);
  text_add(out, ";\nINIT ");
  add_truth(&p, property->from);
  text_add(out, ";\nTRANS");
  for (p.move = 0; p.move < s->nmoves; p.move++)
    add_move(&p);
  add_nothing(&p);
  text_addf(out, ";\nINVARSPEC NAME %s_never := !(", property->name);
  add_truth(&p, property->unsafe);
  text_add(out, ");\n");
}
