/* Promela, for Spin. One process, whose options are the rules. An option is atomic: first the choices, then a d_step
   that computes and commits, so that a state consists of the variables only. Values needed only inside the d_step are
   hidden from the state; choices are reset to 0 at the end. */
#include "export/promela.h"
#include "export/export_formats.h"

#include <inttypes.h>
#include <string.h>

static const struct target_syntax promela = {.truth = {"false", "true"},
                                             .negation = "!",
                                             .conjunction = "&&",
                                             .disjunction = "||",
                                             .equal = "==",
                                             .differ = "!=",
                                             .less = "<",
                                             .at_most = "<=",
                                             .plus = "+",
                                             .minus = "-",
                                             .times = "*",
                                             .over = "/",
                                             .modulo = "%",
                                             .if_open = "(",
                                             .if_then = " -> ",
                                             .if_else = " : ",
                                             .if_close = ")",
                                             .eventually = "<>",
                                             .always = "[]",
                                             .until = "U",
                                             .release = "V",
                                             .comment_open = "/* ",
                                             .comment_close = " */"};

static const char *type_of(bool truth, int64_t lo, int64_t hi) {
  return truth ? "bool" : lo >= 0 && hi <= 255 ? "byte" : lo >= -32768 && hi <= 32767 ? "short" : "int";
}

static void declare_variables(struct expr_printer *p) {
  for (size_t i = 0; i < p->program->variables.n; i++) {
    const struct state_variable *c = &p->program->variables.at[i];
    text_addf(p->out, "%s %s", type_of(c->truth, c->lo, c->hi), c->name);
    if (c->length)
      text_addf(p->out, "[%" PRIu32 "]", c->length);
    text_add(p->out, ";");
    if (c->comment) {
      text_add(p->out, "  ");
      printer_comment(p, c->comment);
    }
    text_add(p->out, "\n");
  }
}

static bool declared_before(const struct program *g, size_t rule, size_t choice) {
  const char *name = g->rules.at[rule].choices.at[choice].name;
  for (size_t r = 0; r < rule; r++)
    for (size_t i = 0; i < g->rules.at[r].choices.n; i++)
      if (!strcmp(g->rules.at[r].choices.at[i].name, name))
        return true;
  return false;
}

static void declare_choices(struct expr_printer *p) {
  const struct program *g = p->program;
  for (size_t r = 0; r < g->rules.n; r++)
    for (size_t i = 0; i < g->rules.at[r].choices.n; i++) {
      const struct choice *c = &g->rules.at[r].choices.at[i];
      if (!declared_before(g, r, i)) /* another rule may need a larger range */
        text_addf(p->out, "%s %s;\n", c->truth ? "bool" : "int", c->name);
    }
}

/* --- rules --- */

void promela_define(struct expr_printer *p, expr_id w, void *context) {
  const char *indent = context;
  text_addf(p->out, "%s%s%u = ", indent, p->prefix, p->names + 1);
  printer_add(p, w);
  text_add(p->out, ";");
  printer_end_definition(p, w);
}

/* Prints the conjuncts of the guard that need no choice after the given one. */
static bool add_guards(struct expr_printer *p, int64_t after, const char *between) {
  bool any = false;
  for (size_t i = 0; i < p->rule->guards.n; i++) {
    if ((int64_t)node_of(&p->program->expr_graph, p->rule->guards.at[i])->choices - 1 != after)
      continue;
    text_add(p->out, any ? " && " : between);
    printer_add(p, p->rule->guards.at[i]);
    any = true;
  }
  return any;
}

static void add_choices(struct expr_printer *p, size_t number) {
  for (size_t i = 0; i < p->rule->choices.n; i++) {
    const struct choice *c = &p->rule->choices.at[i];
    if (c->hi - c->lo < 40) {
      text_add(p->out, "    if");
      for (int64_t v = c->lo; v <= c->hi; v++)
        text_addf(p->out, " :: %s = %" PRId64, c->name, v);
      text_add(p->out, " fi;\n");
    } else {
      text_addf(p->out, "    select(%s : %" PRId64 " .. %" PRId64 ");\n", c->name, c->lo, c->hi);
    }
    if (add_guards(p, (int64_t)i, "    if :: "))
      text_addf(p->out, " :: else -> goto done_%zu fi;\n", number);
  }
}

static void add_failures(struct expr_printer *p, const char *indent) {
  const struct rule *r = p->rule;
  if (r->failures.n == 0)
    return;
  for (size_t i = 0; i < r->failures.n; i++) {
    printer_define(p, r->failures.at[i].when, promela_define, (void *)indent);
  }
  for (size_t i = 0; i < r->failures.n; i++) {
    text_add(p->out, indent);
    printer_comment(p, r->failures.at[i].message);
    text_add(p->out, " ");
    printer_line(p, r->failures.at[i].at);
    text_addf(p->out, "\n%sno_error = %s!(", indent, i ? "no_error && " : "");
    printer_add(p, r->failures.at[i].when);
    text_add(p->out, ");\n");
  }
  text_addf(p->out, "%sassert(no_error);\n", indent);
}

static void add_steps(struct expr_printer *p, const char *indent) {
  for (size_t i = 0; i < p->rule->steps.n; i++) {
    if (p->rule->steps.at[i] == NO_EXPR)
      continue;
    const struct property *q = p->program->properties.at[i].property;
    printer_define(p, p->rule->steps.at[i], promela_define, (void *)indent);
    text_addf(p->out, "%s%s = ", indent, p->program->properties.at[i].name);
    printer_add(p, p->rule->steps.at[i]);
    text_addf(p->out, "; assert(%s%s);  ", q->kind == PROPERTY_COVER ? "!" : "", p->program->properties.at[i].name);
    printer_line(p, q->at);
    text_add(p->out, "\n");
  }
}

static void add_changes(struct expr_printer *p, const char *indent) {
  const struct rule *r = p->rule;
  printer_force_changes(p, promela_define, (void *)indent);
  for (size_t i = 0; i < r->changes.n; i++) {
    const struct variable_update *c = &r->changes.at[i];
    if (c->index == NO_EXPR) {
      text_addf(p->out, "%s%s = ", indent, p->program->variables.at[c->cell].name);
      printer_add(p, c->value);
      text_add(p->out, ";\n");
      continue;
    }
    bool always = expr_is_constant(&p->program->expr_graph, c->condition, 1);
    text_add(p->out, indent);
    if (!always) {
      text_add(p->out, "if :: ");
      printer_add(p, c->condition);
      text_add(p->out, " -> ");
    }
    printer_add_place(p, c, "=");
    text_add(p->out, always ? ";\n" : " :: else fi;\n");
  }
}

static void add_rule(struct expr_printer *p, size_t number) {
  const struct rule *r = &p->program->rules.at[number];
  const struct expr_graph *c = &p->program->expr_graph;
  static const char indent[] = "        ";
  printer_begin_rule(p, r);
  text_addf(p->out, "  :: atomic {  /* %s */ ", r->name);
  printer_line(p, r->at);
  text_add(p->out, "\n");
  add_guards(p, -1, promela_live_guard(p));
  text_add(p->out, " ->\n");
  promela_live_attempt(p);
  add_choices(p, number);
  printer_count_rule(p);
  text_add(p->out, "    skip; d_step {\n");
  printer_define(p, r->possible, promela_define, "      ");
  bool always = expr_is_constant(c, r->possible, 1);
  if (!always) {
    text_add(p->out, "      if\n      :: ");
    printer_add(p, r->possible);
    text_add(p->out, " ->\n");
  }
  if (r->failures.n) {
    add_failures(p, indent);
    text_addf(p->out, "%sif :: no_error ->\n", indent);
  }
  add_steps(p, indent);
  promela_live_satisfied(p, indent);
  add_changes(p, indent);
  text_addf(p->out, "%sjudge()%s\n", indent, p->program->live.property ? "; follow()" : "");
  if (r->failures.n)
    text_addf(p->out, "%s:: else fi\n", indent);
  text_add(p->out, always ? "    };\n" : "      :: else\n      fi\n    };\n");
  text_addf(p->out, "done_%zu: skip; d_step { skip", number);
  for (size_t i = 0; i < r->choices.n; i++)
    text_addf(p->out, "; %s = 0", r->choices.at[i].name);
  text_add(p->out, " }\n  }\n");
}

/* --- properties --- */

static void add_properties(struct expr_printer *p) {
  const struct program *g = p->program;
  for (size_t i = 0; i < g->properties.n; i++)
    if (g->properties.at[i].holds != NO_EXPR)
      printer_count_uses(p, g->properties.at[i].holds);
  printer_count_uses(p, g->well_defined);
  promela_live_count_uses(p);
  text_add(p->out, "inline judge() {\n");
  if (!expr_is_constant(&g->expr_graph, g->well_defined, 1)) {
    printer_define(p, g->well_defined, promela_define, "  ");
    text_add(p->out, "  no_error = ");
    printer_add(p, g->well_defined);
    text_add(p->out, "; assert(no_error);\n");
  }
  for (size_t i = 0; i < g->properties.n; i++) {
    const struct property *q = g->properties.at[i].property;
    if (g->properties.at[i].holds == NO_EXPR)
      continue;
    printer_define(p, g->properties.at[i].holds, promela_define, "  ");
    text_addf(p->out, "  %s = ", g->properties.at[i].name);
    printer_add(p, g->properties.at[i].holds);
    text_addf(p->out, "; assert(%s%s);  ", q->kind == PROPERTY_COVER ? "!" : "", g->properties.at[i].name);
    printer_line(p, q->at);
    text_add(p->out, "\n");
  }
  promela_live_evaluate(p);
  text_add(p->out, "  skip\n}\n\n");
}

static void declare_names(struct text *out, const char *prefix, uint32_t n) {
  for (uint32_t i = 1; i <= n; i++)
    text_addf(out, "%s%s%u%s", i % 16 == 1 ? "hidden int " : "", prefix, i, i == n || i % 16 == 0 ? ";\n" : ", ");
}

void export_promela(const struct program *g, struct text *out) {
  struct expr_printer p;
  struct text body = {0};
  printer_begin(&p, g, &promela, out);
  printer_head(&p, "A cover is reached if its assertion fails. One state more than rondo counts: the one before "
                   "'start'; spin -o2 -a counts variables that nobody reads.");
  text_add(out, "\n");
  declare_variables(&p);
  text_add(out, "\n/* choices: 0 but while a rule is taken */\n");
  declare_choices(&p);
  promela_live_declare(&p);
  p.out = &body;
  uint32_t most = 0, judged;
  p.prefix = "j";
  add_properties(&p);
  judged = p.names;
  promela_live_advance(&p);
  p.prefix = "t";
  text_add(&body, "active proctype rules() {\n");
  text_add(&body, "end:\n  do\n");
  for (size_t i = 0; i < g->rules.n; i++) {
    add_rule(&p, i);
    most = p.names > most ? p.names : most;
  }
  promela_live_options(&p);
  text_add(&body, "  od\n}\n");
  promela_live_claim(&p);
  p.out = out;
  text_add(out, "\n/* not part of the state */\nhidden byte no_error;\n");
  for (size_t i = 0; i < g->properties.n; i++)
    text_addf(out, "hidden byte %s;\n", g->properties.at[i].name);
  declare_names(out, "j", judged);
  declare_names(out, "t", most);
  text_add(out, "\n");
  text_add(out, body.at);
  text_release(&body);
  printer_release(&p);
}
