/* A threshold automaton in ByMC's format: names, terms and formulas, rules. Definitions of the file are written out,
   and parameters with a value are replaced by it. */
#include "export/counter_automaton.h"

#include "base/memory.h"

#include <inttypes.h>
#include <string.h>

struct ta_printer {
  const struct threshold_automaton *a;
  const struct counter_system *s;
  struct text *out;
  struct diags *diags;
  struct arena arena;
  const char **params, **counters; /* their names in the format */
  bool failed;
};

/* ---- names ---- */

/* Words of the format; as names they could be misread. */
static bool is_word_of_format(const char *name) {
  static const char *const words[] = {
      "thresholdAutomaton", "threshAuto",  "skel",      "TA",    "ta",    "local", "shared", "parameters",
      "unknowns",           "define",      "assume",    "inits", "rules", "when",  "do",     "reset",
      "unchanged",          "assumptions", "locations", "true",  "false", "spec",  "macro",  "ltl",
      "specifications",     "proctype"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (!strcmp(words[i], name))
      return true;
  return false;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

static bool is_used(const struct ta_printer *p, const char *name) {
  for (uint32_t i = 0; i < p->s->nparams; i++)
    if (p->params[i] && !strcmp(p->params[i], name))
      return true;
  for (uint32_t i = 0; i < p->s->ncounters; i++)
    if (p->counters[i] && !strcmp(p->counters[i], name))
      return true;
  return false;
}

/* A name of the format, and of nothing else. */
static const char *ta_name(struct ta_printer *p, const char *name) {
  struct text t = {0};
  if (!is_letter(*name))
    text_add(&t, "x");
  for (; *name; name++)
    text_addf(&t, "%c", is_letter(*name) || (*name >= '0' && *name <= '9') ? *name : '_');
  const char *out = arena_strndup(&p->arena, t.at, t.n);
  text_release(&t);
  while (is_word_of_format(out) || is_used(p, out))
    out = arena_printf(&p->arena, "%s_", out);
  return out;
}

static void name_all(struct ta_printer *p) {
  p->params = arena_array(&p->arena, p->s->nparams + (size_t)1, sizeof *p->params);
  p->counters = arena_array(&p->arena, p->s->ncounters + (size_t)1, sizeof *p->counters);
  for (uint32_t i = 0; i < p->s->nparams; i++)
    p->params[i] = ta_name(p, p->s->params[i].name);
  for (uint32_t i = 0; i < p->s->ncounters; i++)
    p->counters[i] = ta_name(p, p->s->counters[i].name);
}

/* ---- terms ---- */

static void refuse_term(struct ta_printer *p, const struct term *t, const char *what) {
  if (!p->failed)
    diag_error(p->diags, E0903, t->at, "%s cannot be written as a threshold automaton", what);
  p->failed = true;
}

static bool reads_counters(const struct term *t) {
  if (!t)
    return false;
  return t->op == TERM_COUNTER || reads_counters(t->kid[0]) || reads_counters(t->kid[1]) || reads_counters(t->kid[2]);
}

static void add_condition(struct ta_printer *p, const struct term *t);

static void add_number(struct ta_printer *p, const struct term *t, bool inner) {
  switch (t->op) {
  case TERM_NUMBER:
    if (t->number == INT64_MIN)
      refuse_term(p, t, "so small a number");
    else
      text_addf(p->out, t->number < 0 ? "(-%" PRId64 ")" : "%" PRId64, t->number < 0 ? -t->number : t->number);
    return;
  case TERM_PARAM:
    text_add(p->out, p->params[t->index]);
    return;
  case TERM_COUNTER:
    text_add(p->out, p->counters[t->index]);
    return;
  case TERM_ADD:
  case TERM_SUB:
    text_add(p->out, inner ? "(" : "");
    add_number(p, t->kid[0], false);
    text_add(p->out, t->op == TERM_ADD ? " + " : " - ");
    add_number(p, t->kid[1], true);
    text_add(p->out, inner ? ")" : "");
    return;
  case TERM_TIMES:
    add_number(p, t->kid[0], true);
    text_add(p->out, " * ");
    add_number(p, t->kid[1], true);
    return;
  case TERM_CONTROL:
    refuse_term(p, t, "a control");
    return;
  case TERM_AMOUNT:
    refuse_term(p, t, "a move of any number of processes at once");
    return;
  case TERM_IF:
    refuse_term(p, t, "a number that depends on a condition");
    return;
  case TERM_NOT:
  case TERM_AND:
  case TERM_OR:
  case TERM_EQ:
  case TERM_LE:
  case TERM_LT:
    refuse_term(p, t, "a condition that is used as a number");
  }
}

/* What reads counters stands on the left, as in `sent >= T + 1`; so do parameters before numbers. */
static void add_relation(struct ta_printer *p, const struct term *t, const char *sign, const char *mirrored) {
  bool turn = (!reads_counters(t->kid[0]) && reads_counters(t->kid[1])) ||
              (t->kid[0]->op == TERM_NUMBER && t->kid[1]->op != TERM_NUMBER);
  add_number(p, t->kid[turn], false);
  text_addf(p->out, " %s ", turn ? mirrored : sign);
  add_number(p, t->kid[!turn], false);
}

static void add_inner_condition(struct ta_printer *p, const struct term *t) {
  bool number = t->op == TERM_NUMBER;
  text_add(p->out, number ? "" : "(");
  add_condition(p, t);
  text_add(p->out, number ? "" : ")");
}

static void add_condition(struct ta_printer *p, const struct term *t) {
  switch (t->op) {
  case TERM_NUMBER:
    text_add(p->out, t->number ? "true" : "false");
    return;
  case TERM_NOT:
    if (t->kid[0]->op == TERM_EQ) {
      add_relation(p, t->kid[0], "!=", "!=");
      return;
    }
    text_add(p->out, "!");
    add_inner_condition(p, t->kid[0]);
    return;
  case TERM_AND:
  case TERM_OR:
    for (int i = 0; i < 2; i++) {
      if (t->kid[i]->op == t->op || (t->op == TERM_AND && t->kid[i]->op != TERM_OR && t->kid[i]->op != TERM_NOT))
        add_condition(p, t->kid[i]);
      else
        add_inner_condition(p, t->kid[i]);
      text_add(p->out, i ? "" : t->op == TERM_AND ? " && " : " || ");
    }
    return;
  case TERM_EQ:
    add_relation(p, t, "==", "==");
    return;
  case TERM_LE:
    add_relation(p, t, "<=", ">=");
    return;
  case TERM_LT:
    add_relation(p, t, "<", ">");
    return;
  case TERM_CONTROL:
    refuse_term(p, t, "a control");
    return;
  case TERM_PARAM:
  case TERM_COUNTER:
  case TERM_AMOUNT:
  case TERM_ADD:
  case TERM_SUB:
  case TERM_TIMES:
  case TERM_IF:
    refuse_term(p, t, "a number that is used as a condition");
  }
}

static void add_formula(struct ta_printer *p, const struct ta_formula *f) {
  const char *sign = "";
  switch (f->op) {
  case TA_STATE:
    add_inner_condition(p, f->term);
    return;
  case TA_NOT:
  case TA_ALWAYS:
  case TA_EVENTUALLY:
    text_add(p->out, f->op == TA_NOT ? "!" : f->op == TA_ALWAYS ? "[]" : "<>");
    add_formula(p, f->kid[0]);
    return;
  case TA_AND:
    sign = "&&";
    break;
  case TA_OR:
    sign = "||";
    break;
  case TA_IMPLIES:
    sign = "->";
    break;
  case TA_FINALLY: /* only in normal forms */
    p->failed = true;
    return;
  }
  text_add(p->out, "(");
  add_formula(p, f->kid[0]);
  text_addf(p->out, " %s ", sign);
  add_formula(p, f->kid[1]);
  text_add(p->out, ")");
}

/* ---- sections ---- */

static void add_names(struct ta_printer *p, const char *word, const char **names, const bool *wanted, uint32_t n) {
  const char *between = "";
  for (uint32_t i = 0; i < n; i++)
    if (wanted[i]) {
      text_addf(p->out, "%s%s", *between ? between : word, names[i]);
      between = ", ";
    }
  text_add(p->out, *between ? ";\n" : "");
}

static void add_declarations(struct ta_printer *p) {
  bool *wanted = memory_alloc(p->s->nparams + (size_t)p->s->ncounters + 1);
  for (uint32_t i = 0; i < p->s->ncounters; i++)
    wanted[i] = !p->a->is_location[i];
  add_names(p, "  shared ", p->counters, wanted, p->s->ncounters);
  for (uint32_t i = 0; i < p->s->nparams; i++)
    wanted[i] = !p->s->params[i].is;
  add_names(p, "  parameters ", p->params, wanted, p->s->nparams);
  memory_free(wanted);
  for (uint32_t i = 0; i < p->s->nparams; i++) {
    if (p->s->params[i].is && p->s->params[i].is->op == TERM_NUMBER)
      text_addf(p->out, "  /* %s = %" PRId64 " */\n", p->s->params[i].name, p->s->params[i].is->number);
    else if (strcmp(p->params[i], p->s->params[i].name) != 0 && !p->s->params[i].is)
      text_addf(p->out, "  /* %s: %s */\n", p->params[i], p->s->params[i].name);
  }
  for (uint32_t i = 0; i < p->s->ncounters; i++)
    if (strcmp(p->counters[i], p->s->counters[i].name) != 0)
      text_addf(p->out, "  /* %s: %s */\n", p->counters[i], p->s->counters[i].name);
}

/* `0 <= p`: that it is a natural number goes without saying. */
static bool is_natural(const struct term *t, enum term_op op) {
  return t->op == TERM_LE && t->kid[0]->op == TERM_NUMBER && t->kid[0]->number == 0 && t->kid[1]->op == op;
}

static void add_conjuncts(struct ta_printer *p, const struct term *t) {
  if (t->op == TERM_AND) {
    add_conjuncts(p, t->kid[0]);
    add_conjuncts(p, t->kid[1]);
  } else if (!is_natural(t, TERM_COUNTER) && !is_natural(t, TERM_PARAM) && !(t->op == TERM_NUMBER && t->number)) {
    text_add(p->out, "    ");
    add_condition(p, t);
    text_add(p->out, ";\n");
  }
}

static void add_conditions(struct ta_printer *p) {
  text_add(p->out, "\n  assumptions (0) {\n");
  for (uint32_t i = 0; i < p->s->nconditions; i++)
    add_conjuncts(p, p->s->conditions[i].term);
  text_add(p->out, "  }\n\n  locations (0) {\n");
  for (uint32_t i = 0, n = 0; i < p->s->ncounters; i++)
    if (p->a->is_location[i])
      text_addf(p->out, "    %s: [%" PRIu32 "];\n", p->counters[i], n++);
  text_add(p->out, "  }\n\n  inits (0) {\n");
  add_conjuncts(p, p->s->start);
  text_add(p->out, "  }\n");
}

/* Does the condition say that there is a process at the location, in one of the ways in which it is written? */
static bool is_source_guard(const struct term *t, uint32_t source) {
  if (t->op != TERM_LE || t->kid[0]->op != TERM_NUMBER)
    return false;
  const struct term *right = t->kid[1];
  if (t->kid[0]->number == 1)
    return right->op == TERM_COUNTER && right->index == source;
  return t->kid[0]->number == 0 && right->op == TERM_SUB && right->kid[0]->op == TERM_COUNTER &&
         right->kid[0]->index == source && right->kid[1]->op == TERM_NUMBER && right->kid[1]->number == 1;
}

/* The conjuncts of the guard but those that every rule implies. */
static void add_guard(struct ta_printer *p, const struct term *t, uint32_t source, bool *some) {
  if (t->op == TERM_AND) {
    add_guard(p, t->kid[0], source, some);
    add_guard(p, t->kid[1], source, some);
    return;
  }
  if (is_source_guard(t, source) || (t->op == TERM_NUMBER && t->number) || is_natural(t, TERM_COUNTER))
    return;
  text_add(p->out, *some ? " && " : "");
  if (t->op == TERM_OR || t->op == TERM_NOT)
    add_inner_condition(p, t);
  else
    add_condition(p, t);
  *some = true;
}

static void add_actions(struct ta_printer *p, const struct counter_move *m) {
  for (uint32_t i = 0; i < p->s->ncounters; i++) {
    if (p->a->is_location[i])
      continue;
    const struct term *next = m->counters[i];
    if (!next)
      text_addf(p->out, " unchanged(%s);", p->counters[i]);
    else {
      text_addf(p->out, " %s' == ", p->counters[i]);
      add_number(p, next, false);
      text_add(p->out, ";");
    }
  }
}

static void add_rules(struct ta_printer *p) {
  uint32_t move = 0;
  text_add(p->out, "\n  rules (0) {\n");
  for (uint32_t i = 0; i < p->a->nrules && !p->failed; i++) {
    const struct ta_rule *r = &p->a->rules[i];
    const struct counter_move *m = r->idle ? NULL : &p->s->moves[move++];
    bool some = false;
    text_addf(p->out, "  %" PRIu32 ": %s -> %s", i, p->counters[r->from], p->counters[r->to]);
    if (r->at.to)
      text_addf(p->out, " /* line %" PRIu32 " */", source_line_number(&p->s->source, r->at));
    text_add(p->out, "\n      when (");
    if (m)
      add_guard(p, m->guard, r->from, &some);
    text_add(p->out, some ? ")\n      do {" : "true)\n      do {");
    if (m)
      add_actions(p, m);
    text_add(p->out, " };\n");
  }
  text_add(p->out, "  }\n");
}

bool export_ta(const struct threshold_automaton *a, const bool *chosen, struct text *out, struct diags *diags) {
  struct ta_printer p = {.a = a, .s = a->system, .out = out, .diags = diags};
  arena_init(&p.arena);
  name_all(&p);
  text_addf(out, "/* %s, written by rondo */\nthresholdAutomaton %s {\n", a->system->name,
            is_word_of_format(a->system->name) ? "Proc" : a->system->name);
  add_declarations(&p);
  add_conditions(&p);
  add_rules(&p);
  text_add(out, "\n  specifications (0) {\n");
  for (uint32_t i = 0; i < a->nspecifications && !p.failed; i++)
    if (!chosen || chosen[i]) {
      text_addf(out, "    %s: ", a->specifications[i].name);
      add_formula(&p, a->specifications[i].formula);
      text_add(out, ";\n");
    }
  text_add(out, "  }\n}\n");
  arena_release(&p.arena);
  return !p.failed;
}
