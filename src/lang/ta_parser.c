/* The declarations of a threshold automaton. They are in the order of their use, so one pass reads them. */
#include "lang/ta_internal.h"

#include "lang/typecheck_params.h"
#include "lang/typechecker.h"

#include <inttypes.h>
#include <string.h>

static const char *const automaton_words[] = {"thresholdAutomaton", "threshAuto", "TA", "ta", "skel"};

static bool ends_with(const char *text, const char *end) {
  size_t n = strlen(text), k = strlen(end);
  return n > k && !strcmp(text + n - k, end);
}

bool source_is_threshold_automaton(const struct source *s) {
  struct diags none;
  bool found = ends_with(s->path, ".ta") || ends_with(s->path, ".eta");
  if (found || s->length >= UINT32_MAX)
    return found;
  diags_init(&none, s);
  struct ta_token t = ta_token_at(s, 0, &none);
  for (size_t i = 0; t.kind == TA_TOKEN_NAME && i < sizeof automaton_words / sizeof *automaton_words; i++)
    found |= strlen(automaton_words[i]) == t.at.to - t.at.from &&
             !memcmp(automaton_words[i], s->text + t.at.from, t.at.to - t.at.from);
  diags_release(&none);
  return found;
}

/* ---- names ---- */

static bool declare(struct ta_reader *r, const char *name, struct span at, enum symbol_kind kind, size_t index) {
  const struct scope_symbol *other = scope_find(&r->check.globals, name);
  if (!other) {
    scope_add(&r->check.globals, (struct scope_symbol){.name = name, .kind = kind, .at = at, .index = (uint32_t)index});
    return true;
  }
  diag_error(r->diags, E0207, at, "'%s' is already declared", name);
  if (diag_may_search(r->diags, 0))
    diag_help(r->diags, "at line %" PRIu32 "; choose another name", source_line_number(r->source, other->at));
  return false;
}

static bool too_many(struct ta_reader *r, struct span at, size_t n, size_t most, const char *what) {
  if (n < most)
    return false;
  if (!r->failed)
    diag_error(r->diags, E0606, at, "more than %zu %s", most, what);
  r->failed = true;
  r->token.kind = TA_TOKEN_END;
  return true;
}

static void declare_counter(struct ta_reader *r, const char *name, struct span at, bool location) {
  if (r->rules_read) {
    diag_error(r->diags, E0106, at, "'%s' is declared after the rules", name);
    return;
  }
  if (too_many(r, at, r->counters.n, TA_COUNTERS_MAX, "locations and shared variables") ||
      !declare(r, name, at, SYMBOL_COUNTER, r->counters.n))
    return;
  vec_push(&r->counters, ((struct counter_name){name, at}));
  vec_push(&r->is_location, location);
}

static const struct scope_symbol *counter_named(struct ta_reader *r, const char *name, struct span at, bool location) {
  const struct scope_symbol *s = scope_find(&r->check.globals, name);
  if (s && s->kind == SYMBOL_COUNTER && r->is_location.at[s->index] == location)
    return s;
  diag_error(r->diags, s ? E0209 : E0201, at, s ? "'%s' is not a %s" : "unknown name '%s'%s", name,
             s ? location ? "location" : "shared variable" : "");
  return NULL;
}

/* ---- parameters ---- */

static void declare_param(struct ta_reader *r, const char *name, struct span at, bool unknown,
                          const struct param_binding *bindings, size_t n) {
  const struct param_binding *given = param_binding_find(bindings, n, name);
  if (too_many(r, at, r->params.n, TA_PARAMS_MAX, "parameters") || !declare(r, name, at, SYMBOL_PARAM, r->params.n))
    return;
  struct counter_param p = {.name = name, .at = at};
  if (given)
    p.is = term_number(&r->check, at, given->value);
  if (unknown && !given && r->open) {
    vec_push(&r->unknowns, (uint32_t)r->params.n);
  } else if (unknown && !given) {
    diag_error(r->diags, E0701, at, "the unknown '%s' has no value", name);
    diag_help(r->diags, "give it one: -D %s=1, or find values for all unknowns: rondo threshold FILE", name);
    p.is = term_number(&r->check, at, 1);
  } else if (!unknown && given && given->value < 0) {
    diag_error(r->diags, E0703, at, "parameter condition not met: '%s' is a natural number", name);
  } else if (!unknown && !given) {
    struct term *natural = term_relation(&r->check, TERM_LE, at, term_number(&r->check, at, 0),
                                         term_leaf(&r->check, TERM_PARAM, at, (uint32_t)r->params.n));
    vec_push(&r->conditions, ((struct counter_condition){natural, name, false, true}));
  }
  vec_push(&r->params, p);
}

/* "local" | "shared" | "parameters" | "unknowns" names ";" */
static void read_names(struct ta_reader *r, const struct param_binding *bindings, size_t n) {
  bool shared = ta_is_word(r, "shared"), params = ta_is_word(r, "parameters"), unknowns = ta_is_word(r, "unknowns");
  do {
    struct span at;
    ta_advance(r);
    const char *name = ta_take_name(r, &at);
    if (name && shared)
      declare_counter(r, name, at, false);
    else if (name && (params || unknowns))
      declare_param(r, name, at, unknowns, bindings, n);
  } while (ta_is_sign(r, ','));
  ta_take_sign(r, ';', "',' or ';'");
}

/* "define" NAME "==" number ";" */
static void read_definition(struct ta_reader *r) {
  struct span at;
  ta_advance(r);
  const char *name = ta_take_name(r, &at);
  ta_take_sign(r, TA_SIGN_EQ, "'=='");
  r->reads = true;
  r->where = "a definition";
  struct ta_value meaning = ta_read_definition(r);
  if (name && declare(r, name, at, SYMBOL_DEF, r->definitions.n))
    vec_push(&r->definitions, ((struct ta_definition){name, meaning}));
  ta_take_sign(r, ';', "';'");
}

/* ---- sections ---- */

/* WORD ["(" NUMBER ")"] "{" */
static bool open_section(struct ta_reader *r) {
  ta_advance(r);
  if (ta_is_sign(r, '(')) {
    ta_advance(r);
    if (r->token.kind != TA_TOKEN_NUMBER)
      ta_syntax_error(r, "a number");
    ta_advance(r);
    ta_take_sign(r, ')', "')'");
  }
  return ta_take_sign(r, '{', "'{'");
}

/* { condition ";" } "}" */
static void read_conditions(struct ta_reader *r, bool assumptions) {
  r->reads = !assumptions;
  r->where = assumptions ? "an assumption" : "an initial condition";
  if (!open_section(r))
    return;
  while (!r->failed && !ta_is_sign(r, '}')) {
    struct span at;
    struct term *t = ta_read_condition(r, &at);
    if (!assumptions) {
      r->start = term_and(&r->check, at, r->start, t);
    } else {
      const char *text = ta_text(r->source, at, r->arena);
      bool simple = t->op == TERM_EQ || t->op == TERM_LE || t->op == TERM_LT || text[0] == '(';
      if (t->op == TERM_NUMBER && !t->number && !r->failed) {
        diag_error(r->diags, E0703, at, "parameter condition not met: '%s'", text);
        diag_help(r->diags, "with the parameters that have values (-D), it is false");
      }
      if (!simple)
        text = arena_printf(r->arena, "(%s)", text);
      vec_push(&r->conditions, ((struct counter_condition){t, text, false, false}));
    }
    too_many(r, at, r->sizes, TA_SIZES_MAX, "conditions");
    if (!ta_is_sign(r, '}'))
      ta_take_sign(r, ';', "';'");
  }
  ta_take_sign(r, '}', "'}'");
}

/* { NAME ":" "[" NUMBER { ";" NUMBER } "]" ";" } "}" */
static void read_locations(struct ta_reader *r) {
  if (!open_section(r))
    return;
  while (!r->failed && !ta_is_sign(r, '}')) {
    struct span at;
    const char *name = ta_take_name(r, &at);
    ta_take_sign(r, ':', "':'");
    if (!ta_is_sign(r, '['))
      ta_syntax_error(r, "'['");
    do {
      ta_advance(r);
      if (r->token.kind != TA_TOKEN_NUMBER)
        ta_syntax_error(r, "a number");
      ta_advance(r);
    } while (ta_is_sign(r, ';'));
    ta_take_sign(r, ']', "']'");
    ta_take_sign(r, ';', "';'");
    if (name)
      declare_counter(r, name, at, true);
  }
  ta_take_sign(r, '}', "'}'");
}

/* ---- rules ---- */

/* `next` is NULL: it is unchanged, which says nothing of a variable that the rule changes, as in ByMC and TACO. */
static void assign(struct ta_reader *r, struct counter_move *m, const char *name, struct span at, struct term *next,
                   bool *seen) {
  const struct scope_symbol *s = counter_named(r, name, at, false);
  if (!s || !next)
    return;
  if (seen[s->index]) {
    diag_error(r->diags, E0604, at, "'%s' is changed twice in one rule", name);
    return;
  }
  seen[s->index] = true;
  if (next->op == TERM_COUNTER && next->index == s->index)
    return;
  m->counters[s->index] = next;
  if (!counter_term_is_natural(next))
    m->guard =
        term_and(&r->check, at, m->guard, term_relation(&r->check, TERM_LE, at, term_number(&r->check, at, 0), next));
}

/* actions = { ("unchanged" | "reset") "(" names ")" ";" | NAME "'" ("==" | ":=") number ";" } "}" */
static void read_actions(struct ta_reader *r, struct counter_move *m) {
  bool *seen = memory_alloc((r->counters.n + 1) * sizeof *seen);
  memset(seen, 0, (r->counters.n + 1) * sizeof *seen);
  while (!r->failed && !ta_is_sign(r, '}')) {
    struct span at, value_at;
    bool reset = ta_is_word(r, "reset");
    bool list = reset || ta_is_word(r, "unchanged");
    const char *name = ta_take_name(r, &at);
    if (list && ta_is_sign(r, '(')) {
      do {
        ta_advance(r);
        name = ta_take_name(r, &at);
        if (name)
          assign(r, m, name, at, reset ? term_number(&r->check, at, 0) : NULL, seen);
      } while (ta_is_sign(r, ','));
      ta_take_sign(r, ')', "',' or ')'");
    } else {
      ta_take_sign(r, '\'', "\"'\"");
      if (!ta_is_sign(r, TA_SIGN_EQ) && !ta_is_sign(r, TA_SIGN_ASSIGN))
        ta_syntax_error(r, "'=='");
      ta_advance(r);
      struct term *next = ta_read_number(r, &value_at);
      if (name)
        assign(r, m, name, at, next, seen);
    }
    if (!ta_is_sign(r, '}'))
      ta_take_sign(r, ';', "';'");
  }
  memory_free(seen);
}

static void move_process(struct ta_reader *r, struct counter_move *m, struct span at, uint32_t from, uint32_t to) {
  struct counter_checker *c = &r->check;
  struct term *one = term_number(c, at, 1), *source = term_leaf(c, TERM_COUNTER, at, from);
  m->guard = term_and(c, at, term_relation(c, TERM_LE, at, one, source), m->guard);
  if (from == to)
    return;
  m->counters[from] = term_sum(c, at, source, one, true);
  m->counters[to] = term_sum(c, at, term_leaf(c, TERM_COUNTER, at, to), one, false);
}

/* rule = NUMBER ":" NAME "->" NAME "when" condition "do" "{" actions ";" */
static void read_rule(struct ta_reader *r) {
  struct span at = r->token.at, from_at = at, to_at = at, guard_at;
  struct counter_move m = {.at = at};
  if (r->token.kind != TA_TOKEN_NUMBER) {
    ta_syntax_error(r, "the number of a rule, or '}'");
    return;
  }
  m.name = arena_printf(r->arena, "r%" PRId64, r->token.number);
  ta_advance(r);
  ta_take_sign(r, ':', "':'");
  const char *from = ta_take_name(r, &from_at);
  ta_take_sign(r, TA_SIGN_ARROW, "'->'");
  const char *to = ta_take_name(r, &to_at);
  if (!ta_is_word(r, "when"))
    ta_syntax_error(r, "'when'");
  ta_advance(r);
  r->where = "a guard";
  m.guard = ta_read_condition(r, &guard_at);
  if (!ta_is_word(r, "do"))
    ta_syntax_error(r, "'do'");
  ta_advance(r);
  ta_take_sign(r, '{', "'{'");
  r->where = "an action";
  m.counters = arena_array(r->arena, r->counters.n + (size_t)1, sizeof *m.counters);
  m.amounts = arena_array(r->arena, 1, sizeof *m.amounts);
  m.controls = arena_array(r->arena, 1, sizeof *m.controls);
  read_actions(r, &m);
  ta_take_sign(r, '}', "'}'");
  ta_take_sign(r, ';', "';'");
  if (r->failed || !from || !to)
    return;
  const struct scope_symbol *source = counter_named(r, from, from_at, true);
  const struct scope_symbol *target = counter_named(r, to, to_at, true);
  if (!source || !target || too_many(r, at, r->rules.n, TA_RULES_MAX, "rules"))
    return;
  struct ta_rule rule = {source->index, target->index, source == target, at};
  for (size_t i = 0; i < r->counters.n; i++)
    rule.idle = rule.idle && !m.counters[i];
  move_process(r, &m, at, source->index, target->index);
  vec_push(&r->rules, rule);
  if (!rule.idle)
    vec_push(&r->moves, m);
}

static void read_rules(struct ta_reader *r) {
  if (!open_section(r))
    return;
  r->reads = true;
  r->rules_read = true;
  while (!r->failed && !ta_is_sign(r, '}'))
    read_rule(r);
  ta_take_sign(r, '}', "'}'");
}

/* ---- specifications ---- */

/* { NAME ":" formula ";" } "}" */
static void read_specifications(struct ta_reader *r) {
  if (!open_section(r))
    return;
  r->reads = true;
  r->where = "a specification";
  while (!r->failed && !ta_is_sign(r, '}')) {
    struct ta_specification s = {0};
    struct span at;
    s.name = ta_take_name(r, &s.at);
    ta_take_sign(r, ':', "':'");
    s.formula = ta_read_formula(r, &at);
    s.text = ta_text(r->source, at, r->arena);
    for (size_t i = 0; !r->failed && i < r->specifications.n; i++)
      if (!strcmp(r->specifications.at[i].name, s.name))
        diag_error(r->diags, E0207, s.at, "'%s' is already declared", s.name);
    if (!r->failed && !too_many(r, s.at, r->specifications.n, TA_SPECIFICATIONS_MAX, "specifications"))
      vec_push(&r->specifications, s);
    if (!ta_is_sign(r, '}'))
      ta_take_sign(r, ';', "';'");
  }
  ta_take_sign(r, '}', "'}'");
}

/* ---- the file ---- */

static void read_declaration(struct ta_reader *r, const struct param_binding *bindings, size_t n) {
  if (ta_is_word(r, "local") || ta_is_word(r, "shared") || ta_is_word(r, "parameters") || ta_is_word(r, "unknowns"))
    read_names(r, bindings, n);
  else if (ta_is_word(r, "define"))
    read_definition(r);
  else if (ta_is_word(r, "assumptions") || ta_is_word(r, "assume"))
    read_conditions(r, true);
  else if (ta_is_word(r, "locations"))
    read_locations(r);
  else if (ta_is_word(r, "inits"))
    read_conditions(r, false);
  else if (ta_is_word(r, "rules"))
    read_rules(r);
  else if (ta_is_word(r, "specifications") || ta_is_word(r, "spec"))
    read_specifications(r);
  else
    ta_syntax_error(r, "a declaration, such as 'shared', 'parameters', 'locations', 'rules' or 'specifications'");
}

static void read_file(struct ta_reader *r, const struct param_binding *bindings, size_t n) {
  struct span at;
  bool found = false;
  r->token = ta_token_at(r->source, 0, r->diags);
  if (r->token.kind == TA_TOKEN_ERROR) {
    r->failed = true;
    return;
  }
  for (size_t i = 0; i < sizeof automaton_words / sizeof *automaton_words; i++)
    found |= ta_is_word(r, automaton_words[i]);
  if (!found)
    ta_syntax_error(r, "'thresholdAutomaton' or 'skel'");
  ta_advance(r);
  const char *name = ta_take_name(r, &at);
  r->check.s->name = name ? name : "?";
  ta_take_sign(r, '{', "'{'");
  while (!r->failed && !ta_is_sign(r, '}'))
    read_declaration(r, bindings, n);
  ta_take_sign(r, '}', "'}'");
  if (!r->failed && r->token.kind != TA_TOKEN_END)
    ta_syntax_error(r, "the end of the file");
}

/* The counters are natural numbers. */
static void complete(struct ta_reader *r, struct threshold_automaton *a) {
  struct counter_system *s = a->system;
  struct counter_checker *c = &r->check;
  for (size_t i = r->counters.n; i-- > 0;) {
    struct span at = r->counters.at[i].at;
    struct term *natural =
        term_relation(c, TERM_LE, at, term_number(c, at, 0), term_leaf(c, TERM_COUNTER, at, (uint32_t)i));
    r->start = term_and(c, at, natural, r->start);
  }
  s->start = r->start ? r->start : term_number(c, (struct span){0, 0}, 1);
#define TAKE(list, count, from)                                                                                        \
  (list = arena_copy(&a->system->arena, (from).at, (from).n * sizeof *(from).at), count = (uint32_t)(from).n)
  TAKE(s->params, s->nparams, r->params);
  TAKE(s->conditions, s->nconditions, r->conditions);
  TAKE(s->counters, s->ncounters, r->counters);
  TAKE(s->moves, s->nmoves, r->moves);
  TAKE(a->rules, a->nrules, r->rules);
  TAKE(a->specifications, a->nspecifications, r->specifications);
  TAKE(a->unknowns, a->nunknowns, r->unknowns);
#undef TAKE
  a->is_location = arena_copy(&s->arena, r->is_location.at, r->is_location.n * sizeof *r->is_location.at);
  s->controls = arena_array(&s->arena, 1, sizeof *s->controls);
  s->properties = arena_array(&s->arena, 1, sizeof *s->properties);
}

static struct threshold_automaton *read_automaton(const struct source *source, const struct param_binding *bindings,
                                                  size_t n, bool open, struct diags *diags) {
  struct threshold_automaton *a = memory_alloc(sizeof *a);
  struct ta_reader r = {.source = source, .diags = diags, .open = open};
  size_t before = diags->errors;
  *a = (struct threshold_automaton){.system = memory_alloc(sizeof *a->system)};
  *a->system = (struct counter_system){0};
  arena_init(&a->system->arena);
  a->system->source = source_copy(&a->system->arena, source);
  r.arena = &a->system->arena;
  r.check = (struct counter_checker){.s = a->system, .diags = diags};
  read_file(&r, bindings, n);
  complete(&r, a);
  if (!r.failed) {
    r.check.s->nparams = (uint32_t)r.params.n;
    counter_unknown_bindings(&r.check, bindings, n);
  }
  if (!r.failed && !r.specifications.n && diags->errors == before) {
    diag_error(diags, E0605, (struct span){0, 0}, "'%s' has no specifications", a->system->name);
    diag_help(diags, "add 'specifications (1) { NAME: FORMULA; }'");
  }
  scope_release(&r.check.globals);
  vec_release(&r.definitions);
  vec_release(&r.params);
  vec_release(&r.unknowns);
  vec_release(&r.conditions);
  vec_release(&r.counters);
  vec_release(&r.is_location);
  vec_release(&r.moves);
  vec_release(&r.rules);
  vec_release(&r.specifications);
  if (diags->errors == before && !diags->stopped && !r.failed)
    return a;
  threshold_automaton_free(a);
  return NULL;
}

struct threshold_automaton *threshold_automaton_read(const struct source *source, const struct param_binding *bindings,
                                                     size_t n, struct diags *diags) {
  return read_automaton(source, bindings, n, false, diags);
}

struct threshold_automaton *threshold_automaton_read_open(const struct source *source,
                                                          const struct param_binding *bindings, size_t n,
                                                          struct diags *diags) {
  return read_automaton(source, bindings, n, true, diags);
}

void threshold_automaton_free(struct threshold_automaton *a) {
  if (!a)
    return;
  counter_system_free(a->system);
  memory_free(a);
}
