/* Murphi, for Rumur. The choices of a rule are the parameters of its ruleset. Intermediate values are local variables
   of the rule, which are not part of the state. */
#include "export/export_formats.h"
#include "export/expr_printer.h"

#include <inttypes.h>
#include <string.h>

static const struct target_syntax murphi = {.truth = {"false", "true"},
                                            .negation = "!",
                                            .conjunction = "&",
                                            .disjunction = "|",
                                            .equal = "=",
                                            .differ = "!=",
                                            .less = "<",
                                            .at_most = "<=",
                                            .plus = "+",
                                            .minus = "-",
                                            .times = "*",
                                            .over = "/",
                                            .modulo = "%",
                                            .if_open = "(",
                                            .if_then = " ? ",
                                            .if_else = " : ",
                                            .if_close = ")",
                                            .comment_open = "/* ",
                                            .comment_close = " */"};

static void add_type(struct text *out, bool truth, int64_t lo, int64_t hi) {
  if (truth)
    text_add(out, "boolean");
  else
    text_addf(out, "%" PRId64 " .. %" PRId64, lo, hi);
}

static void declare_variables(struct expr_printer *p) {
  text_add(p->out, "type\n  Number: -1000000000 .. 1000000000;\nvar\n");
  for (size_t i = 0; i < p->program->variables.n; i++) {
    const struct state_variable *c = &p->program->variables.at[i];
    text_addf(p->out, "  %s: ", c->name);
    if (c->length)
      text_addf(p->out, "array [0 .. %" PRIu32 "] of ", c->length - 1);
    add_type(p->out, c->truth, c->lo, c->hi);
    text_add(p->out, ";");
    if (c->comment) {
      text_add(p->out, "  ");
      printer_comment(p, c->comment);
    }
    text_add(p->out, "\n");
  }
}

static void add_startstate(struct expr_printer *p) {
  text_add(p->out, "\nstartstate \"nothing yet\" begin\n");
  for (size_t i = 0; i < p->program->variables.n; i++) {
    const struct state_variable *c = &p->program->variables.at[i];
    if (c->length)
      text_addf(p->out, "  for i: 0 .. %" PRIu32 " do %s[i] := %" PRId64 "; end;\n", c->length - 1, c->name, c->lo);
    else if (c->truth)
      text_addf(p->out, "  %s := false;\n", c->name);
    else
      text_addf(p->out, "  %s := %" PRId64 ";\n", c->name, c->lo);
  }
  text_add(p->out, "end;\n\n");
}

/* --- rules --- */

struct statements { /* statements, and the local variables they need */
  struct text declarations;
  const char *indent;
};

static void define(struct expr_printer *p, expr_id w, void *context) {
  struct statements *b = context;
  const struct expr_node *n = node_of(&p->program->expr_graph, w);
  text_addf(&b->declarations, "    %s%u: %s;\n", p->prefix, p->names + 1, n->truth ? "boolean" : "Number");
  text_addf(p->out, "%s%s%u := ", b->indent, p->prefix, p->names + 1);
  printer_add(p, w);
  text_add(p->out, ";");
  printer_end_definition(p, w);
}

static void add_failures(struct expr_printer *p, struct statements *b) {
  for (size_t i = 0; i < p->rule->failures.n; i++) {
    const struct rule_failure *f = &p->rule->failures.at[i];
    printer_define(p, f->when, define, b);
    text_addf(p->out, "%sif ", b->indent);
    printer_add(p, f->when);
    text_add(p->out, " then error \"no_error: ");
    for (const char *s = f->message; *s; s++)
      text_addf(p->out, "%c", *s == '"' ? '\'' : *s);
    text_add(p->out, "\"; end;  ");
    printer_line(p, f->at);
    text_add(p->out, "\n");
  }
}

static void add_steps(struct expr_printer *p, struct statements *b) {
  for (size_t i = 0; i < p->rule->steps.n; i++) {
    if (p->rule->steps.at[i] == NO_EXPR)
      continue;
    const struct property *q = p->program->properties.at[i].property;
    printer_define(p, p->rule->steps.at[i], define, b);
    text_addf(p->out, "%s%s \"%s\" ", b->indent, q->kind == PROPERTY_COVER ? "cover" : "assert",
              p->program->properties.at[i].name);
    printer_add(p, p->rule->steps.at[i]);
    text_add(p->out, ";  ");
    printer_line(p, q->at);
    text_add(p->out, "\n");
  }
}

static void add_changes(struct expr_printer *p, struct statements *b) {
  const struct rule *r = p->rule;
  printer_force_changes(p, define, b);
  for (size_t i = 0; i < r->changes.n; i++) {
    const struct variable_update *c = &r->changes.at[i];
    if (c->index == NO_EXPR) {
      text_addf(p->out, "%s%s := ", b->indent, p->program->variables.at[c->cell].name);
      printer_add(p, c->value);
      text_add(p->out, ";\n");
      continue;
    }
    bool always = expr_is_constant(&p->program->expr_graph, c->condition, 1);
    text_add(p->out, b->indent);
    if (!always) {
      text_add(p->out, "if ");
      printer_add(p, c->condition);
      text_add(p->out, " then ");
    }
    printer_add_place(p, c, ":=");
    text_add(p->out, always ? ";\n" : "; end;\n");
  }
}

static void add_rule(struct expr_printer *p, size_t number) {
  const struct rule *r = &p->program->rules.at[number];
  struct text *out = p->out, inside = {0};
  struct statements b = {.indent = "    "};
  printer_begin_rule(p, r);
  if (r->choices.n) {
    text_add(out, "ruleset");
    for (size_t i = 0; i < r->choices.n; i++) {
      text_addf(out, "%s %s: ", i ? ";" : "", r->choices.at[i].name);
      add_type(out, r->choices.at[i].truth, r->choices.at[i].lo, r->choices.at[i].hi);
    }
    text_add(out, " do\n");
  }
  text_addf(out, "  rule \"%s\" ", r->name);
  printer_line(p, r->at);
  text_add(out, "\n    ");
  for (size_t i = 0; i < r->guards.n; i++) {
    text_add(out, i ? " & " : "");
    printer_add(p, r->guards.at[i]);
  }
  text_add(out, " ==>\n");
  printer_count_rule(p);
  p->out = &inside;
  printer_define(p, r->possible, define, &b);
  bool always = expr_is_constant(&p->program->expr_graph, r->possible, 1);
  if (!always) {
    text_add(&inside, "    if ");
    printer_add(p, r->possible);
    text_add(&inside, " then\n");
    b.indent = "      ";
  }
  add_failures(p, &b);
  add_steps(p, &b);
  add_changes(p, &b);
  p->out = out;
  if (b.declarations.n)
    text_addf(out, "  var\n%s", b.declarations.at);
  text_addf(out, "  begin\n%s%s  end;\n%s\n", text_or_empty(&inside), always ? "" : "    end;\n",
            r->choices.n ? "end;\n" : "");
  text_release(&inside);
  text_release(&b.declarations);
}

/* --- properties --- */

/* Prints a property, with a function if it needs intermediate values. */
static void add_property(struct expr_printer *p, const char *kind, const char *name, expr_id w, struct span at) {
  struct text *out = p->out, inside = {0};
  struct statements b = {.indent = "  "};
  printer_begin_rule(p, NULL);
  printer_count_uses(p, w);
  p->out = &inside;
  printer_define(p, w, define, &b);
  p->out = out;
  if (b.declarations.n) {
    text_addf(out, "function is_%s(): boolean;\n  var\n%sbegin\n%s  return ", name, b.declarations.at, inside.at);
    printer_add(p, w);
    text_add(out, ";\nend;\n");
  }
  printer_line(p, at);
  text_addf(out, "\n%s \"%s\" %s ", kind, name, strcmp(kind, "cover") ? "started ->" : "started &");
  if (b.declarations.n)
    text_addf(out, "is_%s()", name);
  else
    printer_add(p, w);
  text_add(out, ";\n\n");
  text_release(&inside);
  text_release(&b.declarations);
}

void export_murphi(const struct program *g, struct text *out) {
  struct expr_printer p;
  printer_begin(&p, g, &murphi, out);
  printer_head(&p, "One state more than rondo counts: the one before 'start'.");
  text_add(out, "\n");
  declare_variables(&p);
  add_startstate(&p);
  for (size_t i = 0; i < g->rules.n; i++)
    add_rule(&p, i);
  if (!expr_is_constant(&g->expr_graph, g->well_defined, 1))
    add_property(&p, "invariant", "no_error", g->well_defined, (struct span){0, 0});
  for (size_t i = 0; i < g->properties.n; i++) {
    const struct property *q = g->properties.at[i].property;
    if (g->properties.at[i].holds != NO_EXPR)
      add_property(&p, q->kind == PROPERTY_COVER ? "cover" : "invariant", g->properties.at[i].name,
                   g->properties.at[i].holds, q->at);
  }
  printer_release(&p);
}
