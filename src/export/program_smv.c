/* SMV, for NuSMV and nuXmv. The rule and its choices are inputs; computed values are definitions. Errors of the
   model and violated step properties are recorded in variables, since invariants cannot refer to inputs. For a liveness
   property, the assumptions that the last step satisfied are recorded too. A rule that is not enabled is a stutter step
   that satisfies no assumption; the first assumption is that runs make progress. */
#include "export/export_formats.h"
#include "export/expr_printer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct target_syntax smv = {.truth = {"FALSE", "TRUE"},
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
                                         .modulo = "mod",
                                         .if_open = "(",
                                         .if_then = " ? ",
                                         .if_else = " : ",
                                         .if_close = ")",
                                         .eventually = "F",
                                         .always = "G",
                                         .until = "U",
                                         .release = "V",
                                         .comment_open = "-- ",
                                         .comment_close = ""};

static void add_type(struct text *out, bool truth, int64_t lo, int64_t hi) {
  if (truth)
    text_add(out, "boolean;");
  else
    text_addf(out, "%" PRId64 "..%" PRId64 ";", lo, hi);
}

static void declare_variables(struct expr_printer *p) {
  const struct program *g = p->program;
  text_add(p->out, "VAR\n");
  for (size_t i = 0; i < g->variables.n; i++) {
    const struct state_variable *c = &g->variables.at[i];
    for (uint32_t k = 0; k < (c->length ? c->length : 1); k++) {
      text_addf(p->out, "  %s", c->name);
      if (c->length)
        text_addf(p->out, "_at_%" PRIu32, k);
      text_add(p->out, " : ");
      add_type(p->out, c->truth, c->lo, c->hi);
      if (c->comment && k == 0) {
        text_add(p->out, "  ");
        printer_comment(p, c->comment);
      }
      text_add(p->out, "\n");
    }
  }
  text_add(p->out, "  error_happened : boolean;\n");
  for (size_t i = 0; i < g->properties.n; i++)
    if (g->properties.at[i].holds == NO_EXPR)
      text_addf(p->out, "  %s_broken : boolean;\n", g->properties.at[i].name);
  for (size_t i = 0; i < g->live.assumptions.n; i++) {
    text_addf(p->out, "  met_%zu : boolean;  ", i + 1);
    printer_comment(p, g->live.assumptions.at[i].what);
    text_add(p->out, "\n");
  }
  text_addf(p->out, "IVAR\n  rule : 0..%zu;\n", g->rules.n - 1);
  for (size_t r = 0; r < g->rules.n; r++)
    for (size_t i = 0; i < g->rules.at[r].choices.n; i++) {
      const struct choice *c = &g->rules.at[r].choices.at[i];
      text_addf(p->out, "  r%zu_%s : ", r, c->name);
      add_type(p->out, c->truth, c->lo, c->hi);
      text_add(p->out, "\n");
    }
}

static void add_read(struct expr_printer *p, const struct expr_node *n) {
  const struct state_variable *c = &p->program->variables.at[n->index];
  text_add(p->out, "(case ");
  for (uint32_t k = 0; k + 1 < c->length; k++) {
    printer_add(p, n->kid[0]);
    text_addf(p->out, " = %" PRIu32 " : %s_at_%" PRIu32 "; ", k, c->name, k);
  }
  text_addf(p->out, "TRUE : %s_at_%" PRIu32 "; esac)", c->name, c->length - 1);
}

static void define(struct expr_printer *p, expr_id w, void *context) {
  (void)context;
  text_addf(p->out, "DEFINE %s%u := ", p->prefix, p->names + 1);
  printer_add(p, w);
  text_add(p->out, ";");
  printer_end_definition(p, w);
}

static void define_named(struct expr_printer *p, size_t rule, const char *name, expr_id w) {
  printer_define(p, w, define, NULL);
  text_addf(p->out, "DEFINE r%zu_%s := ", rule, name);
  printer_add(p, w);
  text_add(p->out, ";\n");
}

static void add_rule(struct expr_printer *p, size_t number) {
  const struct program *g = p->program;
  const struct rule *r = &g->rules.at[number];
  char prefix[32], name[32];
  snprintf(prefix, sizeof prefix, "r%zu_t", number);
  p->prefix = prefix;
  snprintf(name, sizeof name, "r%zu_", number);
  p->choice_prefix = name;
  printer_begin_rule(p, r);
  text_addf(p->out, "\n-- rule %zu: %s ", number, r->name);
  printer_line(p, r->at);
  text_add(p->out, "\n");
  for (size_t i = 0; i < r->guards.n; i++)
    printer_count_uses(p, r->guards.at[i]);
  printer_count_rule(p);
  for (size_t i = 0; i < r->guards.n; i++)
    printer_define(p, r->guards.at[i], define, NULL);
  printer_define(p, r->possible, define, NULL);
  text_addf(p->out, "DEFINE r%zu_possible := rule = %zu", number, number);
  for (size_t i = 0; i < r->guards.n; i++) {
    text_add(p->out, " & ");
    printer_add(p, r->guards.at[i]);
  }
  text_add(p->out, " & ");
  printer_add(p, r->possible);
  text_add(p->out, ";\n");
  for (size_t i = 0; i < r->failures.n; i++)
    printer_define(p, r->failures.at[i].when, define, NULL);
  text_addf(p->out, "DEFINE r%zu_fails := FALSE", number);
  for (size_t i = 0; i < r->failures.n; i++) {
    text_add(p->out, " | ");
    printer_add(p, r->failures.at[i].when);
  }
  text_addf(p->out, ";\nDEFINE r%zu_happens := r%zu_possible & !r%zu_fails;\n", number, number, number);
  for (size_t i = 0; i < r->steps.n; i++)
    if (r->steps.at[i] != NO_EXPR)
      define_named(p, number, g->properties.at[i].name, r->steps.at[i]);
  for (size_t i = 0; i < r->satisfies.n; i++) {
    char what[32];
    snprintf(what, sizeof what, "met_%u", r->satisfies.at[i].assumption + 1);
    define_named(p, number, what, r->satisfies.at[i].when);
  }
  for (size_t i = 0; i < r->changes.n; i++) {
    const struct variable_update *c = &r->changes.at[i];
    snprintf(name, sizeof name, "r%zu_", number);
    char what[48];
    snprintf(what, sizeof what, "when_%zu", i);
    if (c->index == NO_EXPR) {
      snprintf(what, sizeof what, "change_%zu", i);
      define_named(p, number, what, c->value);
    } else {
      define_named(p, number, what, c->condition);
      snprintf(what, sizeof what, "index_%zu", i);
      define_named(p, number, what, c->index);
    }
  }
}

/* Prints the value of a variable, or of element k of an array, after a rule. */
static void add_after(struct expr_printer *p, size_t rule, uint32_t cell, uint32_t k, size_t n) {
  const struct rule *r = &p->program->rules.at[rule];
  const struct state_variable *of = &p->program->variables.at[cell];
  while (n > 0 && r->changes.at[n - 1].cell != cell)
    n--;
  if (n == 0) {
    text_addf(p->out, of->length ? "%s_at_%" PRIu32 : "%s", of->name, k);
    return;
  }
  const struct variable_update *c = &r->changes.at[n - 1];
  if (!of->length) {
    text_addf(p->out, "r%zu_change_%zu", rule, n - 1);
    return;
  }
  text_addf(p->out,
            c->absorbed ? "(r%zu_when_%zu & r%zu_index_%zu = %" PRIu32 " ? %s : "
                        : "((r%zu_when_%zu & r%zu_index_%zu = %" PRIu32 " ? %s : 0) + ",
            rule, n - 1, rule, n - 1, k,
            c->by > 0     ? "1"
            : c->absorbed ? "0"
                          : "(-1)");
  add_after(p, rule, cell, k, n - 1);
  text_add(p->out, ")");
}

static bool changes(const struct rule *r, size_t cell) {
  for (size_t i = 0; i < r->changes.n; i++)
    if (r->changes.at[i].cell == cell)
      return true;
  return false;
}

static void add_transitions(struct expr_printer *p) {
  const struct program *g = p->program;
  text_add(p->out, "\n");
  for (uint32_t i = 0; i < g->variables.n; i++) {
    const struct state_variable *c = &g->variables.at[i];
    for (uint32_t k = 0; k < (c->length ? c->length : 1); k++) {
      char name[300];
      snprintf(name, sizeof name, c->length ? "%s_at_%" PRIu32 : "%s", c->name, k);
      if (c->truth)
        text_addf(p->out, "INIT !%s;\n", name);
      else
        text_addf(p->out, "INIT %s = %" PRId64 ";\n", name, c->lo);
      text_addf(p->out, "TRANS next(%s) = (case ", name);
      for (size_t r = 0; r < g->rules.n; r++)
        if (changes(&g->rules.at[r], i)) {
          text_addf(p->out, "r%zu_happens : ", r);
          add_after(p, r, i, k, g->rules.at[r].changes.n);
          text_add(p->out, "; ");
        }
      text_addf(p->out, "TRUE : %s; esac);\n", name);
    }
  }
  text_add(p->out, "INIT !error_happened;\nTRANS next(error_happened) = (error_happened");
  for (size_t r = 0; r < g->rules.n; r++)
    text_addf(p->out, " | (r%zu_possible & r%zu_fails)", r, r);
  text_add(p->out, ");\n");
  for (size_t i = 0; i < g->properties.n; i++) {
    const char *name = g->properties.at[i].name;
    if (g->properties.at[i].holds != NO_EXPR)
      continue;
    text_addf(p->out, "INIT !%s_broken;\nTRANS next(%s_broken) = (%s_broken", name, name, name);
    for (size_t r = 1; r < g->rules.n; r++)
      text_addf(p->out, " | (r%zu_happens & !r%zu_%s)", r, r, name);
    text_add(p->out, ");\n");
  }
}

/* --- liveness --- */

static void add_satisfied(struct expr_printer *p) {
  const struct program *g = p->program;
  for (uint32_t i = 0; i < g->live.assumptions.n; i++) {
    text_addf(p->out, "INIT !met_%u;\nTRANS next(met_%u) = (FALSE", i + 1, i + 1);
    for (size_t r = 0; r < g->rules.n; r++)
      for (size_t k = 0; k < g->rules.at[r].satisfies.n; k++)
        if (g->rules.at[r].satisfies.at[k].assumption == i)
          text_addf(p->out, " | (r%zu_happens & r%zu_met_%u)", r, r, i + 1);
    text_add(p->out, ");\n");
  }
}

static void count_live_uses(struct expr_printer *p) {
  const struct program_live *live = &p->program->live;
  for (size_t i = 0; i < live->atoms.n; i++)
    printer_count_uses(p, live->atoms.at[i]);
  for (size_t i = 0; i < live->assumptions.n; i++)
    printer_count_uses(p, live->assumptions.at[i].idle);
}

static void define_numbered(struct expr_printer *p, const char *name, size_t number, expr_id w) {
  printer_define(p, w, define, NULL);
  text_addf(p->out, "DEFINE %s_%zu := ", name, number);
  printer_add(p, w);
  text_add(p->out, ";\n");
}

/* met_1 ... are evaluated in the successor state of the step. met_1 is true after every real step, so !met_1 marks a
   stutter step. */
static void add_assumption(struct expr_printer *p, size_t number) {
  static const char *const forms[] = {[ASSUME_AGAIN] = "(G F (met_%zu | idle_%zu))",
                                      [ASSUME_STRONG] = "((G F met_%zu) | (F G idle_%zu))",
                                      [ASSUME_FINALLY] = "(F G (met_%zu | idle_%zu | !met_1))",
                                      [ASSUME_ONCE] = "((F met_%zu) | (G F idle_%zu))"};
  const struct assumption *a = &p->program->live.assumptions.at[number - 1];
  text_add(p->out, number > 1 ? "   & " : "  (");
  text_addf(p->out, forms[a->kind], number, number);
  printer_assumption(p, a);
}

static void add_live(struct expr_printer *p) {
  const struct program_live *live = &p->program->live;
  if (!live->property)
    return;
  text_add(p->out, "\n");
  printer_comment(p, "what the property speaks of, and where what is assumed of runs asks for nothing");
  text_add(p->out, "\n");
  for (size_t i = 0; i < live->atoms.n; i++)
    define_numbered(p, "atom", i + 1, live->atoms.at[i]);
  for (size_t i = 0; i < live->assumptions.n; i++)
    define_numbered(p, "idle", i + 1, live->assumptions.at[i].idle);
  text_add(p->out, "\n");
  printer_comment(p, "No run of which all is assumed violates the property from the start on.");
  text_add(p->out, "\n");
  printer_line(p, live->property->at);
  text_addf(p->out, "\nLTLSPEC NAME %s :=\n", live->name);
  for (size_t i = 0; i < live->assumptions.n; i++)
    add_assumption(p, i + 1);
  text_add(p->out, "  ) -> !((!started) U (started & (");
  printer_add_formula(p, live->violated);
  text_add(p->out, ")));\n");
}

void export_program_smv(const struct program *g, struct text *out) {
  struct expr_printer p;
  printer_begin(&p, g, &smv, out);
  printer_head(
      &p, "A cover is reached if its invariant is violated. One state more than rondo counts: the one before 'start'.");
  text_add(out, "MODULE main\n");
  p.read = add_read;
  declare_variables(&p);
  for (size_t i = 0; i < g->rules.n; i++)
    add_rule(&p, i);
  add_transitions(&p);
  add_satisfied(&p);
  printer_begin_rule(&p, NULL);
  p.prefix = "holds_t";
  printer_count_uses(&p, g->well_defined);
  for (size_t i = 0; i < g->properties.n; i++)
    if (g->properties.at[i].holds != NO_EXPR)
      printer_count_uses(&p, g->properties.at[i].holds);
  count_live_uses(&p);
  printer_define(&p, g->well_defined, define, NULL);
  text_add(out, "\nINVARSPEC NAME no_error := !error_happened & (!started | ");
  printer_add(&p, g->well_defined);
  text_add(out, ");\n");
  for (size_t i = 0; i < g->properties.n; i++) {
    const struct property *q = g->properties.at[i].property;
    expr_id w = g->properties.at[i].holds;
    if (w != NO_EXPR)
      printer_define(&p, w, define, NULL);
    printer_line(&p, q->at);
    text_addf(out, "\nINVARSPEC NAME %s := ", g->properties.at[i].name);
    if (w == NO_EXPR) {
      text_addf(out, "!%s_broken", g->properties.at[i].name);
    } else {
      text_addf(out, "!started | %s", q->kind == PROPERTY_COVER ? "!" : "");
      printer_add(&p, w);
    }
    text_add(out, ";\n");
  }
  add_live(&p);
  printer_release(&p);
}
