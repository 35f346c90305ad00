#include "export/print.h"

#include <inttypes.h>
#include <string.h>

void printer_begin(struct printer *p, const struct program *program, const struct syntax *syntax, struct text *out) {
  size_t n = program->circuit.nodes.n + 1;
  *p = (struct printer){.program = program, .syntax = syntax, .out = out, .prefix = "t"};
  p->named = memory_alloc(n * sizeof *p->named);
  p->uses = memory_alloc(n * sizeof *p->uses);
}

void printer_release(struct printer *p) {
  memory_free(p->named);
  memory_free(p->uses);
}

static const struct gate_node *node_at(const struct printer *p, wire w) { return node_of(&p->program->circuit, w); }

void printer_want(struct printer *p, wire w) {
  if (p->uses[w]++)
    return;
  const struct gate_node *n = node_at(p, w);
  for (unsigned i = 0; i < gate_kids(n->gate); i++)
    printer_want(p, n->kid[i]);
}

/* --- names --- */

static bool is_leaf(const struct gate_node *n) { return gate_kids(n->gate) == 0; }

static unsigned size_of(const struct printer *p, wire w) { /* of what is written for it */
  const struct gate_node *n = node_at(p, w);
  unsigned size = 1;
  if (p->named[w])
    return 1;
  for (unsigned i = 0; i < gate_kids(n->gate); i++)
    size += size_of(p, n->kid[i]);
  return size;
}

#define LONG 24 /* leaves and signs in one expression */

static bool worth_a_name(const struct printer *p, wire w) {
  const struct gate_node *n = node_at(p, w);
  if (is_leaf(n) || ((n->gate == GATE_NOT || n->gate == GATE_COUNT) && size_of(p, w) <= 2))
    return false;
  return p->uses[w] > 1 || size_of(p, w) > LONG;
}

static void define_kids(struct printer *p, wire w, define_fn *define, void *context, uint8_t *seen);

static void define_one(struct printer *p, wire w, define_fn *define, void *context, uint8_t *seen) {
  if (seen[w] || p->named[w])
    return;
  seen[w] = 1;
  define_kids(p, w, define, context, seen);
  if (worth_a_name(p, w)) {
    define(p, w, context);
    p->named[w] = ++p->names;
  }
}

static void define_kids(struct printer *p, wire w, define_fn *define, void *context, uint8_t *seen) {
  const struct gate_node *n = node_at(p, w);
  for (unsigned i = 0; i < gate_kids(n->gate); i++)
    define_one(p, n->kid[i], define, context, seen);
}

void printer_define(struct printer *p, wire w, define_fn *define, void *context) {
  uint8_t *seen = memory_alloc(p->program->circuit.nodes.n + 1);
  define_one(p, w, define, context, seen);
  memory_free(seen);
}

void printer_force(struct printer *p, wire w, define_fn *define, void *context) {
  printer_define(p, w, define, context);
  if (p->named[w] || node_at(p, w)->gate == GATE_NUMBER)
    return;
  define(p, w, context);
  p->named[w] = ++p->names;
}

void printer_name(struct printer *p, wire w) { text_addf(p->out, "%s%u", p->prefix, p->named[w]); }

/* --- expressions --- */

static const char *sign_of(const struct syntax *s, enum gate g) {
  switch (g) {
  case GATE_ADD: return s->plus;
  case GATE_SUB: return s->minus;
  case GATE_MUL: return s->times;
  case GATE_DIV: return s->over;
  case GATE_MOD: return s->modulo;
  case GATE_AND: return s->conjunction;
  case GATE_OR: return s->disjunction;
  case GATE_EQ: return s->equal;
  case GATE_LT: return s->less;
  case GATE_LE: return s->at_most;
  case GATE_NUMBER:
  case GATE_CELL:
  case GATE_READ:
  case GATE_PARAM:
  case GATE_NOT:
  case GATE_IF:
  case GATE_COUNT: break;
  }
  return "?"; /* in no language: nobody takes it for something else */
}

static bool chains(enum gate g) { return g == GATE_ADD || g == GATE_AND || g == GATE_OR; }

/* a + b + c needs no parentheses inside. */
static void add_chain(struct printer *p, enum gate gate, wire w) {
  const struct gate_node *n = node_at(p, w);
  if (p->named[w] || n->gate != gate) {
    printer_add(p, w);
    return;
  }
  add_chain(p, gate, n->kid[0]);
  text_addf(p->out, " %s ", sign_of(p->syntax, gate));
  add_chain(p, gate, n->kid[1]);
}

static void add_inner(struct printer *p, wire w) {
  const struct gate_node *n = node_at(p, w);
  const struct syntax *s = p->syntax;
  switch (n->gate) {
  case GATE_NUMBER:
    if (n->truth)
      text_add(p->out, s->truth[n->number]);
    else
      text_addf(p->out, n->number < 0 ? "(%" PRId64 ")" : "%" PRId64, n->number);
    return;
  case GATE_CELL: text_add(p->out, p->program->cells.at[n->index].name); return;
  case GATE_PARAM: text_addf(p->out, "%s%s", p->choice_prefix ? p->choice_prefix : "", p->rule->choices.at[n->index].name); return;
  case GATE_READ:
    if (p->read) {
      p->read(p, n);
      return;
    }
    text_addf(p->out, "%s[", p->program->cells.at[n->index].name);
    printer_add(p, n->kid[0]);
    text_add(p->out, "]");
    return;
  case GATE_NOT: {
    const struct gate_node *k = node_at(p, n->kid[0]);
    if (k->gate == GATE_EQ && !p->named[n->kid[0]] && !node_at(p, k->kid[0])->truth) {
      text_add(p->out, "(");
      printer_add(p, k->kid[0]);
      text_addf(p->out, " %s ", s->differ);
      printer_add(p, k->kid[1]);
      text_add(p->out, ")");
      return;
    }
    text_addf(p->out, "%s", s->negation);
    printer_add(p, n->kid[0]);
    return;
  }
  case GATE_COUNT:
    text_add(p->out, s->count_open);
    printer_add(p, n->kid[0]);
    text_add(p->out, s->count_close);
    return;
  case GATE_IF:
    text_add(p->out, s->if_open);
    printer_add(p, n->kid[0]);
    text_add(p->out, s->if_then);
    printer_add(p, n->kid[1]);
    text_add(p->out, s->if_else);
    printer_add(p, n->kid[2]);
    text_add(p->out, s->if_close);
    return;
  case GATE_ADD:
  case GATE_SUB:
  case GATE_MUL:
  case GATE_DIV:
  case GATE_MOD:
  case GATE_AND:
  case GATE_OR:
  case GATE_EQ:
  case GATE_LT:
  case GATE_LE:
    text_add(p->out, "(");
    if (chains(n->gate)) {
      add_chain(p, n->gate, w);
    } else {
      printer_add(p, n->kid[0]);
      text_addf(p->out, " %s ", sign_of(s, n->gate));
      printer_add(p, n->kid[1]);
    }
    text_add(p->out, ")");
  }
}

void printer_add(struct printer *p, wire w) {
  if (p->named[w])
    printer_name(p, w);
  else
    add_inner(p, w);
}

/* --- comments --- */

/* Nothing in it can end the comment. */
static void add_safe(struct printer *p, const char *text, size_t n) {
  for (size_t i = 0; i < n; i++) {
    unsigned char c = (unsigned char)text[i];
    bool bad = c < 32 || c > 126 || (i + 1 < n && ((c == '*' && (text[i + 1] == '/' || text[i + 1] == ')')) ||
                                                   (c == '(' && text[i + 1] == '*') || (c == '/' && text[i + 1] == '*')));
    text_add_n(p->out, bad ? " " : (const char *)&text[i], 1);
  }
}

void printer_comment(struct printer *p, const char *text) {
  text_add(p->out, p->syntax->comment_open);
  add_safe(p, text, strlen(text));
  text_add(p->out, p->syntax->comment_close);
}

void printer_line(struct printer *p, struct span at) {
  uint32_t line, column;
  size_t n;
  if (!at.to)
    return;
  source_place(&p->program->model->source, at.from, &line, &column);
  const char *text = source_line(&p->program->model->source, line, &n);
  while (n > 0 && (*text == ' ' || *text == '\t'))
    text++, n--;
  for (size_t i = 0; i + 1 < n; i++)
    if (text[i] == '/' && text[i + 1] == '/')
      n = i;
  while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t'))
    n--;
  text_addf(p->out, "%sline %u: ", p->syntax->comment_open, line);
  add_safe(p, text, n > 80 ? 80 : n);
  text_add(p->out, p->syntax->comment_close);
}

void printer_head(struct printer *p, const char *how) {
  const struct model *m = p->program->model;
  struct text line = {0};
  text_addf(&line, "%s, from %s by rondo: environment %s", m->name, m->source.path ? m->source.path : "a model",
            p->program->environment->name);
  for (uint32_t i = 0; i < m->nparams; i++)
    text_addf(&line, ", %s = %" PRId64, m->params[i].name, m->params[i].value);
  printer_comment(p, line.at);
  text_add(p->out, "\n");
  text_release(&line);
  printer_comment(p, "All processes together are one: a rule is a step, and its choices are made first.");
  text_add(p->out, "\n");
  printer_comment(p, how);
  text_add(p->out, "\n");
  for (size_t i = 0; i < p->program->notes.n; i++) {
    printer_comment(p, p->program->notes.at[i]);
    text_add(p->out, "\n");
  }
}

/* --- rules --- */

void printer_turn_to(struct printer *p, const struct rule *r) {
  size_t n = p->program->circuit.nodes.n;
  p->rule = r;
  p->names = 0;
  memset(p->named, 0, n * sizeof *p->named);
  memset(p->uses, 0, n * sizeof *p->uses);
}

typedef void wire_fn(struct printer *, wire, define_fn *, void *context);

static void each_change(struct printer *p, wire_fn *visit, define_fn *define, void *context) {
  for (size_t i = 0; i < p->rule->changes.n; i++) {
    const struct cell_change *c = &p->rule->changes.at[i];
    visit(p, c->index == NO_WIRE ? c->value : c->condition, define, context);
    if (c->index != NO_WIRE)
      visit(p, c->index, define, context);
  }
}

static void each_wire(struct printer *p, wire_fn *visit, define_fn *define, void *context) {
  const struct rule *r = p->rule;
  visit(p, r->possible, define, context);
  for (size_t i = 0; i < r->failures.n; i++)
    visit(p, r->failures.at[i].when, define, context);
  for (size_t i = 0; i < r->steps.n; i++)
    if (r->steps.at[i] != NO_WIRE)
      visit(p, r->steps.at[i], define, context);
  for (size_t i = 0; i < r->meets.n; i++)
    visit(p, r->meets.at[i].when, define, context);
  each_change(p, visit, define, context);
}

static void want(struct printer *p, wire w, define_fn *define, void *context) {
  (void)define;
  (void)context;
  printer_want(p, w);
}

void printer_want_rule(struct printer *p) { each_wire(p, want, NULL, NULL); }

void printer_define_rule(struct printer *p, define_fn *define, void *context) { each_wire(p, printer_define, define, context); }

void printer_force_changes(struct printer *p, define_fn *define, void *context) {
  each_change(p, printer_force, define, context);
}

void printer_add_place(struct printer *p, const struct cell_change *c, const char *assign) {
  const char *name = p->program->cells.at[c->cell].name;
  text_addf(p->out, "%s[", name);
  printer_add(p, c->index);
  text_addf(p->out, "] %s ", assign);
  if (c->absorbed) {
    text_add(p->out, c->by > 0 ? "1" : "0");
    return;
  }
  text_addf(p->out, "%s[", name);
  printer_add(p, c->index);
  text_addf(p->out, "] %c 1", c->by > 0 ? '+' : '-');
}

void printer_end_definition(struct printer *p, wire w) {
  struct span at = node_of(&p->program->circuit, w)->at;
  if (at.to) {
    text_add(p->out, "  ");
    printer_line(p, at);
  }
  text_add(p->out, "\n");
}
