/* The declarations of a counter system. Everything with a name is declared before any term is checked, so declarations
   may be in any order. Only definitions of parameters must be in order. */
#include "lang/typecheck_counters_internal.h"

#include "lang/typecheck_params.h"
#include "lang/typechecker.h"

#include <inttypes.h>
#include <string.h>

enum { CONTROL_VALUES_MAX = 1000 };

static const char *counter_strdup(struct counter_checker *c, const char *text) {
  return arena_strndup(&c->s->arena, text, strlen(text));
}

const char *counter_source_text(struct counter_checker *c, struct span at) {
  return source_text_in(&c->s->arena, &c->s->source, at);
}

const char *counter_symbol_text(const struct scope_symbol *s) {
  return s->kind == SYMBOL_LABEL ? "label" : symbol_kind_text(s->kind);
}

const struct scope_symbol *counter_symbol_find(const struct counter_checker *c, const char *name) {
  const struct scope_symbol *s = scope_find(&c->locals, name);
  return s ? s : scope_find(&c->globals, name);
}

static bool counter_declare(struct counter_checker *c, struct symbol_scope *scope, struct scope_symbol s) {
  const struct scope_symbol *other = counter_symbol_find(c, s.name);
  if (!other) {
    scope_add(scope, s);
    return true;
  }
  diag_error(c->diags, E0207, s.at, "'%s' is already declared", s.name);
  if (diag_may_search(c->diags, 0))
    diag_help(c->diags, "the %s '%s' is declared at line %" PRIu32 "; choose another name", counter_symbol_text(other),
              s.name, source_line_number(&c->s->source, other->at));
  return false;
}

static struct scope_symbol counter_symbol(struct counter_checker *c, const struct ast *name, enum symbol_kind kind,
                                          size_t index) {
  return (struct scope_symbol){
      .name = counter_strdup(c, name->name), .kind = kind, .at = name->word, .index = (uint32_t)index};
}

/* ---- parameters ---- */

static void declare_counter_params(struct counter_checker *c) {
  VEC(struct counter_param) params = {0};
  for (uint32_t i = 0; i < c->file->n; i++) {
    const struct ast *d = c->file->kid[i];
    for (uint32_t k = 0; d->kind == AST_PARAM && k < d->kid[0]->n; k++) {
      const struct ast *name = d->kid[0]->kid[k];
      struct scope_symbol e = counter_symbol(c, name, SYMBOL_PARAM, params.n);
      if (counter_declare(c, &c->globals, e))
        vec_push(&params, ((struct counter_param){.name = e.name, .at = e.at}));
    }
  }
  c->s->nparams = (uint32_t)params.n;
  c->s->params = arena_array(&c->s->arena, params.n + QUOTIENTS_MAX, sizeof *params.at);
  if (params.n)
    memcpy(c->s->params, params.at, params.n * sizeof *params.at);
  vec_release(&params);
}

struct term *counter_quotient_param(struct counter_checker *c, struct span at, struct term *number, int64_t by) {
  if (c->quotients == QUOTIENTS_MAX) {
    diag_error(c->diags, E0606, at, "too many divisions");
    return NULL;
  }
  uint32_t index = c->s->nparams + c->quotients++;
  const char *text = counter_source_text(c, at);
  c->s->params[index] = (struct counter_param){
      .name = arena_printf(&c->s->arena, "quotient%" PRIu32, c->quotients), .at = at, .of = number};
  struct term *quotient = term_leaf(c, TERM_PARAM, at, index);
  struct term *rest = term_sum(c, at, number, term_times(c, at, term_number(c, at, by), quotient), true);
  struct term *low = term_relation(c, TERM_LE, at, term_number(c, at, 0), rest);
  struct term *high = term_relation(c, TERM_LT, at, rest, term_number(c, at, by));
  vec_push(&c->conditions->at, ((struct counter_condition){low, text, c->open, true}));
  vec_push(&c->conditions->at, ((struct counter_condition){high, text, c->open, true}));
  return quotient;
}

void counter_unknown_bindings(struct counter_checker *c, const struct param_binding *b, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const struct scope_symbol *e = scope_find(&c->globals, b[i].name);
    if (e && e->kind == SYMBOL_PARAM)
      continue;
    struct nearest near;
    nearest_init(&near, b[i].name);
    for (uint32_t k = 0; k < c->s->nparams; k++)
      nearest_offer(&near, c->s->params[k].name);
    diag_error(c->diags, E0702, (struct span){0, 0}, "'%s' has no parameter '%s'", c->s->name, b[i].name);
    struct text list = {0};
    for (uint32_t k = 0; k < c->s->nparams; k++)
      text_addf(&list, "%s%s", k ? ", " : "", c->s->params[k].name);
    if (near.found)
      diag_help(c->diags, "did you mean '%s'? its parameters are: %s", near.found, text_or_empty(&list));
    else if (list.n)
      diag_help(c->diags, "its parameters are: %s", list.at);
    text_release(&list);
  }
}

/* The value comes from the command line or from the definition; parameters with neither are free. */
static void define_params(struct counter_checker *c, const struct param_binding *b, size_t n) {
  c->where = "the definition of a parameter";
  for (uint32_t i = 0; i < c->file->n; i++) {
    const struct ast *d = c->file->kid[i];
    for (uint32_t k = 0; d->kind == AST_PARAM && k < d->kid[0]->n; k++) {
      const struct scope_symbol *e = scope_find(&c->globals, d->kid[0]->kid[k]->name);
      if (!e || e->kind != SYMBOL_PARAM || e->at.from != d->kid[0]->kid[k]->word.from)
        continue;
      struct counter_param *p = &c->s->params[e->index];
      const struct param_binding *given = param_binding_find(b, n, p->name);
      bool truth = d->kid[2] && (d->kid[2]->kind == AST_TRUE || d->kid[2]->kind == AST_FALSE);
      if (given)
        p->is = term_number(c, p->at, given->value);
      else if (d->kid[2] && c->rounds && truth)
        p->is = lower_counter_condition(c, d->kid[2]);
      else if (d->kid[2])
        p->is = lower_counter_number(c, d->kid[2]);
      else if (c->rounds && d->kid[1] && d->kid[1]->kind == AST_TYPE_BOOL) {
        diag_error(c->diags, E0701, p->at, "parameter '%s' has no value", p->name);
        diag_help(c->diags, "it is a bool: give it one with -D %s=true", p->name);
      }
      c->params_set = e->index + 1;
    }
  }
  c->params_set = c->s->nparams;
}

static bool needs_parentheses(const struct ast *a) { /* binds more weakly than `and` */
  return (a->kind == AST_BINARY && (a->op == OP_OR || a->op == OP_IMPLIES)) || a->kind == AST_CONDITIONAL;
}

static void add_condition(struct counter_checker *c, struct counter_condition_list *all, struct term *term,
                          const char *text, struct span at, bool resilience) {
  if (term->op == TERM_NUMBER && !term->number) {
    diag_error(c->diags, E0703, at, "parameter condition not met: '%s'", text);
    diag_help(c->diags, "with the parameters that have values (-D, '='), it is false");
  }
  vec_push(&all->at, ((struct counter_condition){term, text, resilience, false}));
}

/* Adds the conjuncts separately, so that each can be reported. */
static void add_conditions(struct counter_checker *c, struct counter_condition_list *all, const struct ast *a,
                           bool resilience) {
  if (a->kind == AST_BINARY && a->op == OP_AND) {
    add_conditions(c, all, a->kid[0], resilience);
    add_conditions(c, all, a->kid[1], resilience);
    return;
  }
  const char *text = counter_source_text(c, a->at);
  if (needs_parentheses(a))
    text = arena_printf(&c->s->arena, "(%s)", text);
  add_condition(c, all, lower_counter_condition(c, a), text, a->at, resilience);
}

static void add_range(struct counter_checker *c, struct counter_condition_list *all, const struct ast *param) {
  const struct ast *type = param->kid[1];
  if (!type || type->kind == AST_TYPE_INT || (c->rounds && type->kind == AST_TYPE_BOOL))
    return;
  if (type->kind != AST_TYPE_RANGE) {
    diag_error(c->diags, E0704, type->at, "a parameter of a counter system is a number");
    diag_help(c->diags, "leave the type out, or write a range");
    return;
  }
  struct term *low = lower_counter_number(c, type->kid[0]), *high = lower_counter_number(c, type->kid[1]);
  for (uint32_t k = 0; k < param->kid[0]->n; k++) {
    const struct ast *name = param->kid[0]->kid[k];
    struct term *next = lower_counter_number(c, name);
    struct term *inside = term_and(c, type->at, term_relation(c, TERM_LE, type->at, low, next),
                                   term_relation(c, TERM_LE, type->at, next, high));
    const char *text = arena_printf(&c->s->arena, "%s in %s", name->name, counter_source_text(c, type->at));
    add_condition(c, all, inside, text, type->at, false);
  }
}

/* Definitions and conditions of the parameters. Quotients in them become additional parameters. */
static void check_params(struct counter_checker *c, const struct param_binding *bindings, size_t n) {
  struct counter_condition_list all = {0};
  c->conditions = &all;
  define_params(c, bindings, n);
  c->where = "a condition on the parameters";
  for (uint32_t i = 0; i < c->file->n; i++) {
    const struct ast *d = c->file->kid[i];
    c->open = d->kind == AST_RESILIENCE;
    if (c->open)
      add_conditions(c, &all, d->kid[0], true);
    if (d->kind != AST_PARAM)
      continue;
    add_range(c, &all, d);
    if (d->kid[3])
      add_conditions(c, &all, d->kid[3], false);
  }
  c->conditions = NULL;
  c->s->nparams += c->quotients;
  c->params_set = c->s->nparams;
  c->s->nconditions = (uint32_t)all.at.n;
  c->s->conditions = arena_copy(&c->s->arena, all.at.at, all.at.n * sizeof *all.at.at);
  vec_release(&all.at);
}

/* ---- types and controls ---- */

static void declare_labels(struct counter_checker *c, const struct ast *a, struct type *t) {
  t->labels = arena_array(&c->s->arena, a->n + (size_t)1, sizeof *t->labels);
  t->size = a->n;
  t->hi = (int64_t)a->n - 1;
  for (uint32_t i = 0; i < a->n; i++) {
    struct scope_symbol e = counter_symbol(c, a->kid[i], SYMBOL_LABEL, i);
    t->labels[i] = e.name;
    e.type = t;
    counter_declare(c, &c->globals, e);
  }
}

static void range_of(struct counter_checker *c, const struct ast *a, struct type *t) {
  struct term *low = lower_counter_number(c, a->kid[0]), *high = lower_counter_number(c, a->kid[1]);
  if (low->op != TERM_NUMBER || high->op != TERM_NUMBER) {
    diag_error(c->diags, E0603, a->at, "the bounds of a control must be numbers");
    diag_help(c->diags, "what has no fixed bound is a counter");
  } else if (low->number > high->number) {
    diag_error(c->diags, E0308, a->at, "the range is empty");
  } else if ((uint64_t)high->number - (uint64_t)low->number >= CONTROL_VALUES_MAX) {
    diag_error(c->diags, E0603, a->at, "a control has at most %d values", CONTROL_VALUES_MAX);
    diag_help(c->diags, "make it a counter");
  } else {
    t->lo = low->number;
    t->hi = high->number;
  }
}

/* NULL: reported. Named types must be declared already. */
static const struct type *type_of(struct counter_checker *c, const struct ast *a, const char *name) {
  if (a->kind == AST_TYPE_NAME) {
    const struct scope_symbol *e = scope_find(&c->globals, a->name);
    if (!e || e->kind != SYMBOL_TYPE)
      diag_error(c->diags, E0202, a->at, "unknown type '%s'", a->name);
    return e && e->kind == SYMBOL_TYPE ? e->type : NULL;
  }
  struct type *t = arena_alloc(&c->s->arena, sizeof *t);
  t->name = name;
  if (a->kind == AST_TYPE_BOOL) {
    t->kind = TYPE_BOOL;
    t->hi = 1;
  } else if (a->kind == AST_TYPE_ENUM) {
    t->kind = TYPE_ENUM;
    declare_labels(c, a, t);
  } else if (a->kind == AST_TYPE_RANGE) {
    t->kind = TYPE_RANGE;
    range_of(c, a, t);
  } else {
    diag_error(c->diags, E0603, a->at, "a control is a bool, a range or one of '{some, labels}'");
    return NULL;
  }
  return t;
}

static void declare_control_types(struct counter_checker *c) {
  c->where = "a type";
  for (uint32_t i = 0; i < c->file->n; i++) {
    const struct ast *d = c->file->kid[i];
    if (d->kind != AST_TYPEDEF)
      continue;
    struct scope_symbol e = counter_symbol(c, d, SYMBOL_TYPE, i);
    if (counter_declare(c, &c->globals, e)) {
      const struct type *t = type_of(c, d->kid[0], e.name);
      scope_find(&c->globals, e.name)->type = t;
    }
  }
}

static enum control_kind control_kind_of(const struct type *t) {
  return t->kind == TYPE_BOOL ? CONTROL_TRUTH : t->kind == TYPE_ENUM ? CONTROL_LABELS : CONTROL_NUMBERS;
}

static void declare_controls(struct counter_checker *c) {
  VEC(struct control) controls = {0};
  for (uint32_t i = 0; i < c->file->n; i++) {
    const struct ast *d = c->file->kid[i];
    const struct type *t = d->kind == AST_CONTROL ? type_of(c, d->kid[1], NULL) : NULL;
    for (uint32_t k = 0; t && k < d->kid[0]->n; k++) {
      struct scope_symbol e = counter_symbol(c, d->kid[0]->kid[k], SYMBOL_CONTROL, controls.n);
      e.type = t;
      if (counter_declare(c, &c->globals, e))
        vec_push(&controls, ((struct control){e.name, e.at, control_kind_of(t), t->lo, t->hi, t->labels}));
    }
  }
  c->s->ncontrols = (uint32_t)controls.n;
  c->s->controls = arena_copy(&c->s->arena, controls.at, controls.n * sizeof *controls.at);
  vec_release(&controls);
}

/* ---- counters and defs ---- */

static void declare_counters(struct counter_checker *c) {
  VEC(struct counter_name) counters = {0};
  for (uint32_t i = 0; i < c->file->n; i++) {
    const struct ast *d = c->file->kid[i];
    for (uint32_t k = 0; d->kind == AST_COUNTER && k < d->n; k++) {
      struct scope_symbol e = counter_symbol(c, d->kid[k], SYMBOL_COUNTER, counters.n);
      if (counter_declare(c, &c->globals, e))
        vec_push(&counters, ((struct counter_name){e.name, e.at}));
    }
    if (d->kind == AST_DEF)
      counter_declare(c, &c->globals, counter_symbol(c, d, SYMBOL_DEF, i));
  }
  c->s->ncounters = (uint32_t)counters.n;
  c->s->counters = arena_copy(&c->s->arena, counters.at, counters.n * sizeof *counters.at);
  vec_release(&counters);
}

static void refuse_algorithm_declarations(struct counter_checker *c) {
  for (uint32_t i = 0; i < c->file->n; i++) {
    const struct ast *d = c->file->kid[i];
    const char *what = d->kind == AST_PROCESS       ? "process"
                       : d->kind == AST_ENVIRONMENT ? "environment"
                       : d->kind == AST_PROPERTY    ? "property"
                       : d->kind == AST_MESSAGES    ? "message"
                       : d->kind == AST_STORE       ? "variable"
                                                    : NULL;
    if (!what)
      continue;
    diag_error(c->diags, E0601, d->word.to > d->word.from ? d->word : d->at, "a counter system has no %s", what);
    diag_help(c->diags, d->kind == AST_PROPERTY ? "what must not be reached is written 'unsafe NAME: CONDITION'"
                                                : "it has 'param', 'counter', 'control', 'start', 'move' and 'unsafe'");
  }
}

/* ---- start ---- */

static struct term *natural(struct counter_checker *c, struct span at, struct term *t) {
  return term_relation(c, TERM_LE, at, term_number(c, at, 0), t);
}

static struct term *in_range(struct counter_checker *c, struct span at, struct term *t, int64_t low, int64_t high) {
  return term_and(c, at, term_relation(c, TERM_LE, at, term_number(c, at, low), t),
                  term_relation(c, TERM_LE, at, t, term_number(c, at, high)));
}

static void check_start(struct counter_checker *c) {
  struct counter_system *s = c->s;
  s->start = term_number(c, c->file->word, 1);
  c->reads = READS_STATE;
  c->where = "the start";
  for (uint32_t i = 0; i < s->ncounters; i++)
    s->start = term_and(c, s->counters[i].at, s->start,
                        natural(c, s->counters[i].at, term_leaf(c, TERM_COUNTER, s->counters[i].at, i)));
  for (uint32_t i = 0; i < s->ncontrols; i++) {
    const struct control *k = &s->controls[i];
    s->start = term_and(c, k->at, s->start, in_range(c, k->at, term_leaf(c, TERM_CONTROL, k->at, i), k->low, k->high));
  }
  for (uint32_t i = 0; i < c->file->n; i++) {
    const struct ast *d = c->file->kid[i];
    if (d->kind == AST_COUNTER_START)
      s->start = term_and(c, d->at, s->start, lower_counter_condition(c, d->kid[0]));
    for (uint32_t k = 0; d->kind == AST_CONTROL && d->kid[2] && k < d->kid[0]->n; k++) {
      const struct scope_symbol *e = scope_find(&c->globals, d->kid[0]->kid[k]->name);
      if (!e || e->kind != SYMBOL_CONTROL)
        continue;
      struct term *next = lower_control_value(c, d->kid[2], e->type);
      s->start = term_and(c, d->at, s->start,
                          term_relation(c, TERM_EQ, d->at, term_leaf(c, TERM_CONTROL, d->at, e->index), next));
    }
  }
}

/* ---- moves ---- */

/* Sums of counters and amounts are non-negative by construction. */
bool counter_term_is_natural(const struct term *t) {
  switch (t->op) {
  case TERM_NUMBER:
    return t->number >= 0;
  case TERM_COUNTER:
  case TERM_AMOUNT:
    return true;
  case TERM_ADD:
    return counter_term_is_natural(t->kid[0]) && counter_term_is_natural(t->kid[1]);
  case TERM_TIMES:
    return t->kid[0]->number >= 0 && counter_term_is_natural(t->kid[1]);
  case TERM_IF:
    return counter_term_is_natural(t->kid[1]) && counter_term_is_natural(t->kid[2]);
  case TERM_PARAM:
  case TERM_CONTROL:
  case TERM_SUB:
  case TERM_NOT:
  case TERM_AND:
  case TERM_OR:
  case TERM_EQ:
  case TERM_LE:
  case TERM_LT:
    break;
  }
  return false;
}

static bool keeps_range(const struct term *t, int64_t low, int64_t high) {
  if (t->op == TERM_NUMBER)
    return low <= t->number && t->number <= high;
  return t->op == TERM_IF && keeps_range(t->kid[1], low, high) && keeps_range(t->kid[2], low, high);
}

struct counter_effects {   /* for one move, while it is read */
  struct term **out, **in; /* by counter: the sums of outgoing and incoming amounts */
  bool *assigned;
};

static const struct scope_symbol *counter_named(struct counter_checker *c, const struct ast *name) {
  const struct scope_symbol *e = counter_symbol_find(c, name->name);
  if (e && e->kind == SYMBOL_COUNTER)
    return e;
  if (e)
    diag_error(c->diags, E0209, name->word, "the %s '%s' is not a counter", counter_symbol_text(e), name->name);
  else
    diag_error(c->diags, E0201, name->word, "unknown counter '%s'", name->name);
  struct nearest near;
  nearest_init(&near, name->name);
  for (uint32_t i = 0; i < c->s->ncounters && diag_may_search(c->diags, 1); i++)
    nearest_offer(&near, c->s->counters[i].name);
  if (near.found)
    diag_help(c->diags, "did you mean '%s'?", near.found);
  return NULL;
}

static void check_flow(struct counter_checker *c, const struct ast *a, struct counter_move *m,
                       struct counter_effects *f) {
  struct term *amount = lower_counter_number(c, a->kid[0]);
  const struct scope_symbol *from = counter_named(c, a->kid[1]), *to = counter_named(c, a->kid[2]);
  if (!from || !to)
    return;
  if (from == to) {
    diag_error(c->diags, E0604, a->kid[2]->word, "'%s' goes to itself", from->name);
    return;
  }
  if (!counter_term_is_natural(amount))
    m->guard = term_and(c, a->at, m->guard, natural(c, a->at, amount));
  struct term **out = &f->out[from->index], **in = &f->in[to->index];
  *out = *out ? term_sum(c, a->at, *out, amount, false) : amount;
  *in = *in ? term_sum(c, a->at, *in, amount, false) : amount;
}

static bool assigned_twice(struct counter_checker *c, const struct ast *a, bool twice) {
  if (twice) {
    diag_error(c->diags, E0604, a->word, "'%s' is changed twice in one move", a->name);
    diag_help(c->diags, "all effects of a move happen at once, from the old values");
  }
  return twice;
}

static void check_assignment(struct counter_checker *c, const struct ast *a, struct counter_move *m,
                             struct counter_effects *f) {
  const struct scope_symbol *e = counter_symbol_find(c, a->name);
  if (e && e->kind == SYMBOL_CONTROL) {
    const struct control *k = &c->s->controls[e->index];
    if (assigned_twice(c, a, m->controls[e->index] != NULL))
      return;
    struct term *next = lower_control_value(c, a->kid[0], e->type);
    m->controls[e->index] = next;
    if (k->kind == CONTROL_NUMBERS && !keeps_range(next, k->low, k->high))
      m->guard = term_and(c, a->at, m->guard, in_range(c, a->at, next, k->low, k->high));
    return;
  }
  if (e && e->kind == SYMBOL_PARAM) {
    diag_error(c->diags, E0402, a->word, "the parameter '%s' never changes", a->name);
    diag_help(c->diags, "make it a counter");
    lower_counter_number(c, a->kid[0]);
    return;
  }
  struct ast name = {.kind = AST_NAME, .name = a->name, .word = a->word, .at = a->word};
  struct term *next = lower_counter_number(c, a->kid[0]);
  e = counter_named(c, &name);
  if (!e || assigned_twice(c, a, f->assigned[e->index]))
    return;
  f->assigned[e->index] = true;
  m->counters[e->index] = next;
  if (!counter_term_is_natural(next))
    m->guard = term_and(c, a->at, m->guard, natural(c, a->at, next));
}

/* Turns the flows into new values. A counter must contain at least what leaves it. */
static void apply_flows(struct counter_checker *c, const struct ast *a, struct counter_move *m,
                        struct counter_effects *f) {
  for (uint32_t i = 0; i < c->s->ncounters; i++) {
    if (!f->out[i] && !f->in[i])
      continue;
    if (f->assigned[i]) {
      diag_error(c->diags, E0604, a->word, "the move '%s' assigns '%s' and moves some of it, too", m->name,
                 c->s->counters[i].name);
      continue;
    }
    struct term *next = term_leaf(c, TERM_COUNTER, a->word, i);
    if (f->out[i]) {
      m->guard = term_and(c, a->at, m->guard, term_relation(c, TERM_LE, a->at, f->out[i], next));
      next = term_sum(c, a->at, next, f->out[i], true);
    }
    m->counters[i] = f->in[i] ? term_sum(c, a->at, next, f->in[i], false) : next;
  }
}

static void declare_amounts(struct counter_checker *c, const struct ast *a, struct counter_move *m) {
  uint32_t n = a->kid[0] ? a->kid[0]->n : 0;
  struct counter_name *amounts = arena_array(&c->s->arena, n + (size_t)1, sizeof *amounts);
  for (uint32_t i = 0; i < n; i++) {
    struct scope_symbol e = counter_symbol(c, a->kid[0]->kid[i], SYMBOL_AMOUNT, i);
    amounts[i] = (struct counter_name){e.name, e.at};
    counter_declare(c, &c->locals, e);
    m->guard = term_and(c, e.at, m->guard, natural(c, e.at, term_leaf(c, TERM_AMOUNT, e.at, i)));
  }
  m->amounts = amounts;
  m->namounts = n;
}

static void check_move(struct counter_checker *c, const struct ast *a, struct counter_move *m) {
  struct counter_system *s = c->s;
  struct counter_effects f = {arena_array(&s->arena, s->ncounters + (size_t)1, sizeof *f.out),
                              arena_array(&s->arena, s->ncounters + (size_t)1, sizeof *f.in),
                              arena_array(&s->arena, s->ncounters + (size_t)1, sizeof *f.assigned)};
  *m = (struct counter_move){.name = counter_strdup(c, a->name), .at = a->word};
  m->counters = arena_array(&s->arena, s->ncounters + (size_t)1, sizeof *m->counters);
  m->controls = arena_array(&s->arena, s->ncontrols + (size_t)1, sizeof *m->controls);
  m->guard = term_number(c, a->word, 1);
  c->where = "a move";
  declare_amounts(c, a, m);
  if (a->kid[1])
    m->guard = term_and(c, a->kid[1]->at, m->guard, lower_counter_condition(c, a->kid[1]));
  for (uint32_t i = 2; i < a->n; i++)
    if (a->kid[i]->kind == AST_EFFECT_MOVE)
      check_flow(c, a->kid[i], m, &f);
    else if (a->kid[i]->kind == AST_EFFECT_ASSIGN)
      check_assignment(c, a->kid[i], m, &f);
  apply_flows(c, a, m, &f);
  scope_cut(&c->locals, 0);
}

/* Moves may share a name: they are the cases of one move. */
static void check_moves(struct counter_checker *c) {
  VEC(struct counter_move) moves = {0};
  c->reads = READS_STATE | READS_AMOUNTS;
  for (uint32_t i = 0; i < c->file->n; i++)
    if (c->file->kid[i]->kind == AST_MOVE) {
      struct counter_move m;
      check_move(c, c->file->kid[i], &m);
      vec_push(&moves, m);
    }
  c->s->nmoves = (uint32_t)moves.n;
  c->s->moves = arena_copy(&c->s->arena, moves.at, moves.n * sizeof *moves.at);
  vec_release(&moves);
}

/* ---- unsafe states ---- */

static void check_unsafe(struct counter_checker *c) {
  VEC(struct counter_property) all = {0};
  struct name_index names = {0};
  c->reads = READS_STATE;
  for (uint32_t i = 0; i < c->file->n; i++) {
    const struct ast *a = c->file->kid[i];
    if (a->kind != AST_UNSAFE)
      continue;
    struct counter_property p = {.name = counter_strdup(c, a->name), .at = a->word};
    if (name_index_find(&names, p.name) != NAME_NONE)
      diag_error(c->diags, E0207, a->word, "'%s' is already declared", p.name);
    name_index_add(&names, p.name);
    c->where = "the start of a property";
    p.from = a->kid[0] ? lower_counter_condition(c, a->kid[0]) : term_number(c, a->at, 1);
    c->where = "a property";
    p.unsafe = lower_counter_condition(c, a->kid[1]);
    p.text = counter_source_text(c, a->kid[1]->at);
    vec_push(&all, p);
  }
  name_index_release(&names);
  if (all.n == 0) {
    diag_error(c->diags, E0605, c->file->word, "'%s' says nothing of what must not be", c->s->name);
    diag_help(c->diags, "add 'unsafe NAME: CONDITION'");
  }
  c->s->nproperties = (uint32_t)all.n;
  c->s->properties = arena_copy(&c->s->arena, all.at, all.n * sizeof *all.at);
  vec_release(&all);
}

static struct counter_system *system_new(const struct ast *file, const struct source *source) {
  struct counter_system *s = memory_alloc(sizeof *s);
  arena_init(&s->arena);
  s->source = source_copy(&s->arena, source);
  const char *name = file->name ? file->name : "?";
  s->name = arena_strndup(&s->arena, name, strlen(name));
  return s;
}

static void counter_checker_release(struct counter_checker *c) {
  scope_release(&c->globals);
  scope_release(&c->locals);
  vec_release(&c->arguments);
}

struct counter_system *counters_typecheck(const struct ast *file, const struct source *source,
                                          const struct param_binding *bindings, size_t nbindings, struct diags *diags) {
  struct counter_checker c = {.s = system_new(file, source), .file = file, .diags = diags};
  size_t before = diags->errors;
  refuse_algorithm_declarations(&c);
  declare_counter_params(&c);
  declare_counters(&c);
  counter_unknown_bindings(&c, bindings, nbindings);
  check_params(&c, bindings, nbindings);
  declare_control_types(&c);
  declare_controls(&c);
  check_start(&c);
  check_moves(&c);
  check_unsafe(&c);
  counter_checker_release(&c);
  if (diags->errors == before)
    return c.s;
  counter_system_free(c.s);
  return NULL;
}

static uint32_t rounds_in(const struct ast *segment) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < segment->n; i++)
    n += segment->kid[i] && segment->kid[i]->kind == AST_ROUND;
  return segment->kind == AST_ROUND ? 1 : n;
}

/* Finds the `repeat` whose number of iterations is not fixed; at most one is allowed. */
static void find_repeat(struct counter_checker *c, const struct ast *process, struct round_shape *out) {
  int64_t before = 0;
  c->where = "how often a 'repeat' goes";
  for (uint32_t i = 0; i < process->n; i++) {
    const struct ast *a = process->kid[i];
    if (!a || (a->kind != AST_ROUND && a->kind != AST_ONCE && a->kind != AST_REPEAT))
      continue;
    struct term *count = a->kind == AST_REPEAT ? lower_counter_number(c, a->kid[0]) : NULL;
    if (!count || count->op == TERM_NUMBER) {
      int64_t passes = count ? count->number : 1;
      if (__builtin_mul_overflow(passes, (int64_t)rounds_in(a), &passes) ||
          __builtin_add_overflow(before, passes, &before) || before > UINT32_MAX || before < 0)
        return; /* reported when the model itself is type-checked */
      continue;
    }
    if (out->passes) {
      diag_error(c->diags, E0605, a->word, "a second 'repeat' whose number of passes is not fixed");
      diag_help(c->diags, "give one of them a value with -D");
      return;
    }
    out->passes = count;
    out->first = (uint32_t)before;
    out->rounds = rounds_in(a);
    out->at = a->word;
  }
}

/* A role has at least one member. */
static void assume_member(struct counter_checker *c, struct span at, struct term *size) {
  uint32_t n = c->s->nconditions;
  if (!size || size->op == TERM_NUMBER)
    return;
  struct counter_condition *all = arena_array(&c->s->arena, n + (size_t)1, sizeof *all);
  if (n)
    memcpy(all, c->s->conditions, n * sizeof *all);
  all[n] = (struct counter_condition){term_relation(c, TERM_LE, at, term_number(c, at, 1), size), "", false, true};
  c->s->conditions = all;
  c->s->nconditions = n + 1;
}

bool rounds_param_system(const struct ast *file, const struct source *source, const struct param_binding *bindings,
                         size_t nbindings, struct round_shape *out, struct diags *diags) {
  struct counter_checker c = {.s = system_new(file, source), .file = file, .diags = diags, .rounds = true};
  size_t before = diags->errors;
  *out = (struct round_shape){.system = c.s};
  declare_counter_params(&c);
  declare_counters(&c); /* there are no counters, but this also declares the defs */
  counter_unknown_bindings(&c, bindings, nbindings);
  check_params(&c, bindings, nbindings);
  c.where = "the number of processes";
  for (uint32_t i = 0; i < file->n && diags->errors == before; i++)
    if (file->kid[i]->kind == AST_PROCESS && !out->size) {
      out->size = lower_counter_number(&c, file->kid[i]->kid[0]);
      assume_member(&c, file->kid[i]->at, out->size);
      find_repeat(&c, file->kid[i], out);
    }
  counter_checker_release(&c);
  if (diags->errors == before && out->size)
    return true;
  counter_system_free(c.s);
  *out = (struct round_shape){0};
  return false;
}
