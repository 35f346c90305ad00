#include "export/expr_printer.h"

#include <inttypes.h>
#include <string.h>

void printer_begin(struct expr_printer *p, const struct program *program, const struct target_syntax *syntax,
                   struct text *out) {
  size_t n = program->expr_graph.nodes.n + 1;
  *p = (struct expr_printer){.program = program, .syntax = syntax, .out = out, .prefix = "t"};
  p->named = memory_alloc(n * sizeof *p->named);
  p->uses = memory_alloc(n * sizeof *p->uses);
  p->seen = memory_alloc(n * sizeof *p->seen);
}

void printer_release(struct expr_printer *p) {
  memory_free(p->named);
  memory_free(p->uses);
  memory_free(p->seen);
  vec_release(&p->touched);
}

static const struct expr_node *node_at(const struct expr_printer *p, expr_id w) {
  return node_of(&p->program->expr_graph, w);
}

void printer_count_uses(struct expr_printer *p, expr_id w) {
  if (p->uses[w]++)
    return;
  vec_push(&p->touched, w);
  const struct expr_node *n = node_at(p, w);
  for (unsigned i = 0; i < expr_kids(n->expr_kind); i++)
    printer_count_uses(p, n->kid[i]);
}

/* --- names --- */

static bool is_leaf(const struct expr_node *n) { return expr_kids(n->expr_kind) == 0; }

static unsigned size_of(const struct expr_printer *p, expr_id w) { /* size of the printed expression */
  const struct expr_node *n = node_at(p, w);
  unsigned size = 1;
  if (p->named[w])
    return 1;
  for (unsigned i = 0; i < expr_kids(n->expr_kind); i++)
    size += size_of(p, n->kid[i]);
  return size;
}

#define LONG 24 /* leaves and operators in one expression */

static bool worth_a_name(const struct expr_printer *p, expr_id w) {
  const struct expr_node *n = node_at(p, w);
  if (is_leaf(n) || (n->expr_kind == EXPR_NOT && size_of(p, w) <= 2))
    return false;
  return p->uses[w] > 1 || size_of(p, w) > LONG;
}

static void define_one(struct expr_printer *p, expr_id w, define_fn *define, void *context) {
  if (p->seen[w] == p->pass || p->named[w])
    return;
  if (!p->uses[w])
    vec_push(&p->touched, w);
  p->seen[w] = p->pass;
  const struct expr_node *n = node_at(p, w);
  for (unsigned i = 0; i < expr_kids(n->expr_kind); i++)
    define_one(p, n->kid[i], define, context);
  if (worth_a_name(p, w)) {
    define(p, w, context);
    p->named[w] = ++p->names;
  }
}

void printer_define(struct expr_printer *p, expr_id w, define_fn *define, void *context) {
  p->pass++;
  define_one(p, w, define, context);
}

/* also names w itself, unless it is a constant */
static void printer_define_always(struct expr_printer *p, expr_id w, define_fn *define, void *context) {
  printer_define(p, w, define, context);
  if (p->named[w] || node_at(p, w)->expr_kind == EXPR_NUMBER)
    return;
  define(p, w, context);
  p->named[w] = ++p->names;
}

/* w must have a name */
static void printer_name(struct expr_printer *p, expr_id w) { text_addf(p->out, "%s%u", p->prefix, p->named[w]); }

/* --- expressions --- */

static const char *sign_of(const struct target_syntax *s, enum expr_kind g) {
  switch (g) {
  case EXPR_ADD:
    return s->plus;
  case EXPR_SUB:
    return s->minus;
  case EXPR_MUL:
    return s->times;
  case EXPR_DIV:
    return s->over;
  case EXPR_MOD:
    return s->modulo;
  case EXPR_AND:
    return s->conjunction;
  case EXPR_OR:
    return s->disjunction;
  case EXPR_EQ:
    return s->equal;
  case EXPR_LT:
    return s->less;
  case EXPR_LE:
    return s->at_most;
  case EXPR_NUMBER:
  case EXPR_VARIABLE:
  case EXPR_ARRAY_READ:
  case EXPR_CHOICE:
  case EXPR_NOT:
  case EXPR_ITE:
  case EXPR_BOUNDED:
    break;
  }
  return "?"; /* valid in no language, so it cannot be misread */
}

static bool chains(enum expr_kind g) { return g == EXPR_ADD || g == EXPR_AND || g == EXPR_OR; }

/* Prints an associative chain such as a + b + c without inner parentheses. */
static void add_chain(struct expr_printer *p, enum expr_kind expr_kind, expr_id w) {
  const struct expr_node *n = node_at(p, w);
  if (p->named[w] || n->expr_kind != expr_kind) {
    printer_add(p, w);
    return;
  }
  add_chain(p, expr_kind, n->kid[0]);
  text_addf(p->out, " %s ", sign_of(p->syntax, expr_kind));
  add_chain(p, expr_kind, n->kid[1]);
}

static void add_inner(struct expr_printer *p, expr_id w) {
  const struct expr_node *n = node_at(p, w);
  const struct target_syntax *s = p->syntax;
  switch (n->expr_kind) {
  case EXPR_NUMBER:
    if (n->truth)
      text_add(p->out, s->truth[n->number]);
    else
      text_addf(p->out, n->number < 0 ? "(%" PRId64 ")" : "%" PRId64, n->number);
    return;
  case EXPR_VARIABLE:
    text_add(p->out, p->program->variables.at[n->index].name);
    return;
  case EXPR_CHOICE:
    text_addf(p->out, "%s%s", p->choice_prefix ? p->choice_prefix : "", p->rule->choices.at[n->index].name);
    return;
  case EXPR_ARRAY_READ:
    if (p->read) {
      p->read(p, n);
      return;
    }
    text_addf(p->out, "%s[", p->program->variables.at[n->index].name);
    printer_add(p, n->kid[0]);
    text_add(p->out, "]");
    return;
  case EXPR_NOT: {
    const struct expr_node *k = node_at(p, n->kid[0]);
    if (k->expr_kind == EXPR_EQ && !p->named[n->kid[0]] && !node_at(p, k->kid[0])->truth) {
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
  case EXPR_BOUNDED:
    printer_add(p, n->kid[0]);
    return;
  case EXPR_ITE:
    text_add(p->out, s->if_open);
    printer_add(p, n->kid[0]);
    text_add(p->out, s->if_then);
    printer_add(p, n->kid[1]);
    text_add(p->out, s->if_else);
    printer_add(p, n->kid[2]);
    text_add(p->out, s->if_close);
    return;
  case EXPR_ADD:
  case EXPR_SUB:
  case EXPR_MUL:
  case EXPR_DIV:
  case EXPR_MOD:
  case EXPR_AND:
  case EXPR_OR:
  case EXPR_EQ:
  case EXPR_LT:
  case EXPR_LE:
    text_add(p->out, "(");
    if (chains(n->expr_kind)) {
      add_chain(p, n->expr_kind, w);
    } else {
      printer_add(p, n->kid[0]);
      text_addf(p->out, " %s ", sign_of(s, n->expr_kind));
      printer_add(p, n->kid[1]);
    }
    text_add(p->out, ")");
  }
}

void printer_add(struct expr_printer *p, expr_id w) {
  if (p->named[w])
    printer_name(p, w);
  else
    add_inner(p, w);
}

/* --- comments --- */

/* Prints text inside a comment such that it cannot end the comment. */
static void add_safe(struct expr_printer *p, const char *text, size_t n) {
  for (size_t i = 0; i < n; i++) {
    unsigned char c = (unsigned char)text[i];
    bool bad = c < 32 || c > 126 ||
               (i + 1 < n && ((c == '*' && (text[i + 1] == '/' || text[i + 1] == ')')) ||
                              (c == '(' && text[i + 1] == '*') || (c == '/' && text[i + 1] == '*')));
    text_add_n(p->out, bad ? " " : (const char *)&text[i], 1);
  }
}

void printer_comment(struct expr_printer *p, const char *text) {
  text_add(p->out, p->syntax->comment_open);
  add_safe(p, text, strlen(text));
  text_add(p->out, p->syntax->comment_close);
}

void printer_line(struct expr_printer *p, struct span at) {
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

void printer_head(struct expr_printer *p, const char *how) {
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

void printer_begin_rule(struct expr_printer *p, const struct rule *r) {
  p->rule = r;
  p->names = 0;
  for (size_t i = 0; i < p->touched.n; i++)
    p->named[p->touched.at[i]] = p->uses[p->touched.at[i]] = 0;
  vec_clear(&p->touched);
}

typedef void expr_visit(struct expr_printer *, expr_id, define_fn *, void *context);

static void each_change(struct expr_printer *p, expr_visit *visit, define_fn *define, void *context) {
  for (size_t i = 0; i < p->rule->changes.n; i++) {
    const struct variable_update *c = &p->rule->changes.at[i];
    visit(p, c->index == NO_EXPR ? c->value : c->condition, define, context);
    if (c->index != NO_EXPR)
      visit(p, c->index, define, context);
  }
}

static void each_expr(struct expr_printer *p, expr_visit *visit, define_fn *define, void *context) {
  const struct rule *r = p->rule;
  visit(p, r->possible, define, context);
  for (size_t i = 0; i < r->failures.n; i++)
    visit(p, r->failures.at[i].when, define, context);
  for (size_t i = 0; i < r->steps.n; i++)
    if (r->steps.at[i] != NO_EXPR)
      visit(p, r->steps.at[i], define, context);
  for (size_t i = 0; i < r->satisfies.n; i++)
    visit(p, r->satisfies.at[i].when, define, context);
  each_change(p, visit, define, context);
}

static void want(struct expr_printer *p, expr_id w, define_fn *define, void *context) {
  (void)define;
  (void)context;
  printer_count_uses(p, w);
}

void printer_count_rule(struct expr_printer *p) { each_expr(p, want, NULL, NULL); }

void printer_define_rule(struct expr_printer *p, define_fn *define, void *context) {
  each_expr(p, printer_define, define, context);
}

void printer_force_changes(struct expr_printer *p, define_fn *define, void *context) {
  each_change(p, printer_define_always, define, context);
}

void printer_add_place(struct expr_printer *p, const struct variable_update *c, const char *assign) {
  const char *name = p->program->variables.at[c->cell].name;
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

void printer_end_definition(struct expr_printer *p, expr_id w) {
  struct span at = node_of(&p->program->expr_graph, w)->at;
  if (at.to) {
    text_add(p->out, "  ");
    printer_line(p, at);
  }
  text_add(p->out, "\n");
}
