/* TLA+, for TLC and Apalache. The initial states are the results of 'start', so there is no state before it. For a
   liveness property, `met` records which assumptions the last step satisfied. `flip` changes in every step, so that a
   step without other changes is not a stuttering step of TLA+. */
#include "export/export_formats.h"
#include "export/expr_printer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct target_syntax tla = {.truth = {"FALSE", "TRUE"},
                                         .negation = "~",
                                         .conjunction = "/\\",
                                         .disjunction = "\\/",
                                         .equal = "=",
                                         .differ = "#",
                                         .less = "<",
                                         .at_most = "<=",
                                         .plus = "+",
                                         .minus = "-",
                                         .times = "*",
                                         .over = "\\div",
                                         .modulo = "%",
                                         .if_open = "(IF ",
                                         .if_then = " THEN ",
                                         .if_else = " ELSE ",
                                         .if_close = ")",
                                         .eventually = "<>",
                                         .always = "[]",
                                         .comment_open = "(* ",
                                         .comment_close = " *)"};

static bool is_state(const struct program *g, size_t cell) { return cell != g->started; }

static void add_range(struct text *out, bool truth, int64_t lo, int64_t hi) {
  if (truth)
    text_add(out, "BOOLEAN");
  else
    text_addf(out, lo < 0 ? "(%" PRId64 ")..%" PRId64 : "%" PRId64 "..%" PRId64, lo, hi);
}

/* The liveness property, if there is one. */
static const struct program_live *live_of(const struct expr_printer *p) {
  const struct program_live *live = &p->program->live;
  return live->property && printer_supports_formula(p, live->violated) ? live : NULL;
}

static void declare_variables(struct expr_printer *p) {
  const struct program_live *live = live_of(p);
  text_add(p->out, "VARIABLES\n");
  for (size_t i = 0; i < p->program->variables.n; i++) {
    const struct state_variable *c = &p->program->variables.at[i];
    if (!is_state(p->program, i))
      continue;
    bool last = i + 1 == p->program->variables.n;
    text_addf(p->out, "  %s%s", c->name, last && !live ? "" : ",");
    if (c->comment) {
      text_add(p->out, "  ");
      printer_comment(p, c->comment);
    }
    text_add(p->out, "\n");
  }
  if (live)
    text_add(p->out,
             "  met,  (* which assumptions the last step has met *)\n  flip  (* another one after every step *)\n");
  text_add(p->out, "\nvars == <<");
  for (size_t i = 0, n = 0; i < p->program->variables.n; i++)
    if (is_state(p->program, i))
      text_addf(p->out, "%s%s", n++ ? ", " : "", p->program->variables.at[i].name);
  text_addf(p->out, "%s>>\n\nTypeOK ==\n", live ? ", met, flip" : "");
  for (size_t i = 0; i < p->program->variables.n; i++) {
    const struct state_variable *c = &p->program->variables.at[i];
    if (!is_state(p->program, i))
      continue;
    text_addf(p->out, "  /\\ %s \\in ", c->name);
    if (c->length)
      text_addf(p->out, "[0..%" PRIu32 " -> ", c->length - 1);
    add_range(p->out, c->truth, c->lo, c->hi);
    text_add(p->out, c->length ? "]\n" : "\n");
  }
  if (live)
    text_addf(p->out,
              "  /\\ met \\in SUBSET (1..%zu)\n  /\\ flip \\in BOOLEAN\n\nstarted == TRUE  (* in every state *)\n",
              live->assumptions.n);
  text_add(p->out, "\n");
}

/* --- rules --- */

static void define(struct expr_printer *p, expr_id w, void *context) {
  bool *any = context;
  text_addf(p->out, "%s%s%u == ", *any ? "        " : "    LET ", p->prefix, p->names + 1);
  *any = true;
  printer_add(p, w);
  printer_end_definition(p, w);
}

/* The array after the first n updates of the rule, as nested EXCEPTs. */
static void add_array(struct expr_printer *p, uint32_t cell, size_t n) {
  const char *name = p->program->variables.at[cell].name;
  while (n > 0 && p->rule->changes.at[n - 1].cell != cell)
    n--;
  if (n == 0) {
    text_add(p->out, name);
    return;
  }
  const struct variable_update *c = &p->rule->changes.at[n - 1];
  bool always = expr_is_constant(&p->program->expr_graph, c->condition, 1);
  text_add(p->out, "[");
  add_array(p, cell, n - 1);
  text_add(p->out, " EXCEPT ![");
  printer_add(p, c->index);
  text_add(p->out, "] = ");
  if (!always) {
    text_add(p->out, "IF ");
    printer_add(p, c->condition);
    text_add(p->out, " THEN ");
  }
  text_add(p->out, c->absorbed ? c->by > 0 ? "1" : "0" : c->by > 0 ? "@ + 1" : "@ - 1");
  text_addf(p->out, "%s]", always ? "" : " ELSE @");
}

static void add_changes(struct expr_printer *p, bool initial) {
  const struct program *g = p->program;
  const char *prime = initial ? "" : "'";
  bool *changed = memory_alloc((g->variables.n + 1) * sizeof *changed);
  for (size_t i = 0; i < p->rule->changes.n; i++) {
    const struct variable_update *c = &p->rule->changes.at[i];
    if (changed[c->cell] || !is_state(g, c->cell))
      continue;
    changed[c->cell] = true;
    text_addf(p->out, "       /\\ %s%s = ", g->variables.at[c->cell].name, prime);
    if (c->index == NO_EXPR)
      printer_add(p, c->value);
    else
      add_array(p, c->cell, p->rule->changes.n);
    text_add(p->out, "\n");
  }
  for (size_t i = 0, n = 0; i < g->variables.n; i++) {
    const struct state_variable *c = &g->variables.at[i];
    if (changed[i] || !is_state(g, i))
      continue;
    if (initial && c->length)
      text_addf(p->out, "       /\\ %s = [i \\in 0..%" PRIu32 " |-> %" PRId64 "]\n", c->name, c->length - 1, c->lo);
    else if (initial && c->truth)
      text_addf(p->out, "       /\\ %s = FALSE\n", c->name);
    else if (initial)
      text_addf(p->out, "       /\\ %s = %" PRId64 "\n", c->name, c->lo);
    else
      text_addf(p->out, "%s%s", n++ ? ", " : "       /\\ UNCHANGED <<", c->name);
    if (!initial) {
      bool more = false;
      for (size_t k = i + 1; k < g->variables.n; k++)
        more |= !changed[k] && is_state(g, k);
      text_add(p->out, more ? "" : ">>\n");
    }
  }
  memory_free(changed);
}

static void add_satisfied(struct expr_printer *p, bool initial) {
  const struct rule *r = p->rule;
  if (!live_of(p))
    return;
  if (initial) {
    text_add(p->out, "       /\\ met = {}\n       /\\ flip = FALSE\n");
    return;
  }
  text_add(p->out, "       /\\ met' = {");
  for (size_t i = 0, n = 0; i < r->satisfies.n; i++)
    if (expr_is_constant(&p->program->expr_graph, r->satisfies.at[i].when, 1))
      text_addf(p->out, "%s%u", n++ ? ", " : "", r->satisfies.at[i].assumption + 1);
  text_add(p->out, "}");
  for (size_t i = 0; i < r->satisfies.n; i++)
    if (!expr_is_constant(&p->program->expr_graph, r->satisfies.at[i].when, 1)) {
      text_add(p->out, " \\cup (IF ");
      printer_add(p, r->satisfies.at[i].when);
      text_addf(p->out, " THEN {%u} ELSE {})", r->satisfies.at[i].assumption + 1);
    }
  text_add(p->out, "\n       /\\ flip' = ~flip\n");
}

static void add_rule(struct expr_printer *p, size_t number) {
  const struct program *g = p->program;
  const struct rule *r = &g->rules.at[number];
  bool any = false;
  printer_begin_rule(p, r);
  printer_line(p, r->at);
  text_addf(p->out, "\n%s ==\n", number ? r->name : "Init");
  for (size_t i = 0; i < r->choices.n; i++) {
    text_addf(p->out, "  \\E %s \\in ", r->choices.at[i].name);
    add_range(p->out, r->choices.at[i].truth, r->choices.at[i].lo, r->choices.at[i].hi);
    text_add(p->out, " :\n");
  }
  printer_count_rule(p);
  printer_define_rule(p, define, &any);
  if (any)
    text_add(p->out, "    IN\n");
  for (size_t i = 0; i < r->guards.n; i++) {
    const struct expr_node *n = node_of(&g->expr_graph, r->guards.at[i]);
    if (i == 0 &&
        (n->expr_kind == EXPR_VARIABLE || n->expr_kind == EXPR_NOT)) /* `started` or its negation: always true */
      continue;
    text_add(p->out, "       /\\ ");
    printer_add(p, r->guards.at[i]);
    text_add(p->out, "\n");
  }
  if (!expr_is_constant(&g->expr_graph, r->possible, 1)) {
    text_add(p->out, "       /\\ ");
    printer_add(p, r->possible);
    text_add(p->out, "\n");
  }
  for (size_t i = 0; i < r->failures.n; i++) {
    text_add(p->out, "       /\\ Assert(~(");
    printer_add(p, r->failures.at[i].when);
    text_add(p->out, "), \"");
    for (const char *s = r->failures.at[i].message; *s; s++)
      text_addf(p->out, "%c", *s == '"' || *s == '\\' ? '\'' : *s);
    text_add(p->out, "\")  ");
    printer_line(p, r->failures.at[i].at);
    text_add(p->out, "\n");
  }
  for (size_t i = 0; i < r->steps.n; i++)
    if (r->steps.at[i] != NO_EXPR) {
      text_add(p->out, "       /\\ Assert(");
      printer_add(p, r->steps.at[i]);
      text_addf(p->out, ", \"%s\")  ", g->properties.at[i].name);
      printer_line(p, g->properties.at[i].property->at);
      text_add(p->out, "\n");
    }
  add_changes(p, number == 0);
  add_satisfied(p, number == 0);
  text_add(p->out, "\n");
}

/* --- properties --- */

static void add_property(struct expr_printer *p, const char *name, bool cover, expr_id w, struct span at) {
  bool any = false;
  printer_begin_rule(p, NULL);
  printer_count_uses(p, w);
  printer_line(p, at);
  text_addf(p->out, "\n%s ==\n", name);
  printer_define(p, w, define, &any);
  text_addf(p->out, "    %s%s", any ? "IN " : "", cover ? "~" : "");
  printer_add(p, w);
  text_add(p->out, "\n\n");
}

static void add_numbered(struct expr_printer *p, const char *name, size_t number, expr_id w) {
  char numbered[32];
  snprintf(numbered, sizeof numbered, "%s_%zu", name, number);
  add_property(p, numbered, false, w, (struct span){0, 0});
}

/* `met` is evaluated in the successor state of the step. */
static void add_assumption(struct expr_printer *p, const struct assumption *a, size_t number) {
  static const char *const forms[] = {[ASSUME_AGAIN] = "([]<>idle_%zu \\/ []<><<%zu \\in met'>>_flip)",
                                      [ASSUME_STRONG] = "(<>[]idle_%zu \\/ []<><<%zu \\in met'>>_flip)",
                                      [ASSUME_FINALLY] = "<>[][idle_%zu' \\/ %zu \\in met']_flip",
                                      [ASSUME_ONCE] = "([]<>idle_%zu \\/ <>(%zu \\in met))"};
  text_add(p->out, number > 1 ? "   /\\ " : "  (/\\ ");
  text_addf(p->out, forms[a->kind], number, number);
  printer_assumption(p, a);
}

static void add_live(struct expr_printer *p) {
  const struct program_live *live = live_of(p);
  if (!live)
    return;
  for (size_t i = 0; i < live->atoms.n; i++)
    add_numbered(p, "atom", i + 1, live->atoms.at[i]);
  for (size_t i = 0; i < live->assumptions.n; i++)
    add_numbered(p, "idle", i + 1, live->assumptions.at[i].idle);
  printer_comment(p, "No run of which all is assumed violates the property.");
  text_add(p->out, " ");
  printer_line(p, live->property->at);
  text_addf(p->out, "\n%s ==\n", live->name);
  for (size_t i = 0; i < live->assumptions.n; i++)
    add_assumption(p, &live->assumptions.at[i], i + 1);
  text_add(p->out, "  ) => ~(");
  printer_add_formula(p, live->violated);
  text_add(p->out, ")\n\n");
}

static void add_module_name(struct text *out, const char *name) { text_addf(out, "---- MODULE %s ----\n", name); }

void export_tla(const struct program *g, struct text *out) {
  struct expr_printer p;
  printer_begin(&p, g, &tla, out);
  add_module_name(out, g->model->name);
  printer_head(&p, live_of(&p) ? "Check with SPECIFICATION Spec, without deadlocks, and the PROPERTY at the end; "
                                 "no_error, if it is there, as an invariant. "
                                 "Errors of the model are assertions."
                               : "Check with SPECIFICATION Spec, without deadlocks, and the invariants below. A cover "
                                 "is reached if its invariant is "
                                 "violated; step properties and errors of the model are assertions.");
  if (g->live.property && !live_of(&p)) {
    struct text why = {0};
    text_addf(&why, "left out: '%s', which needs 'until' between formulas, and TLA+ has none", g->live.property->name);
    printer_comment(&p, why.at);
    text_add(out, "\n");
    text_release(&why);
  }
  text_add(out, "EXTENDS Integers, TLC\n\n");
  declare_variables(&p);
  for (size_t i = 0; i < g->rules.n; i++)
    add_rule(&p, i);
  text_add(out, "Next ==\n");
  for (size_t i = 1; i < g->rules.n; i++)
    text_addf(out, "  \\/ %s\n", g->rules.at[i].name);
  if (g->rules.n == 1)
    text_add(out, "  FALSE\n");
  text_add(out, "\nSpec == Init /\\ [][Next]_vars\n\n");
  if (!expr_is_constant(&g->expr_graph, g->well_defined, 1))
    add_property(&p, "no_error", false, g->well_defined, (struct span){0, 0});
  for (size_t i = 0; i < g->properties.n; i++) {
    const struct property *q = g->properties.at[i].property;
    if (g->properties.at[i].holds != NO_EXPR)
      add_property(&p, g->properties.at[i].name, q->kind == PROPERTY_COVER, g->properties.at[i].holds, q->at);
  }
  add_live(&p);
  text_add(out, "====\n");
  printer_release(&p);
}
