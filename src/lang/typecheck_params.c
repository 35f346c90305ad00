/* Parameters: their values (from the command line, from defaults, or found by search) and the conditions on them. */
#include "lang/typecheck_params.h"

#include "lang/typecheck_constant.h"
#include "lang/typecheck_scope.h"
#include "lang/typechecker.h"

#include <inttypes.h>
#include <string.h>

/* A PARAM node declares a group: `param n, t where ...`. */
void declare_params(struct typechecker *c) {
  VEC(struct param) params = {0};
  for (uint32_t i = 0; i < c->file->n; i++) {
    const struct ast *d = c->file->kid[i];
    if (d->kind == AST_RESILIENCE)
      vec_push(&c->params.conditions, d->kid[0]);
    if (d->kind != AST_PARAM)
      continue;
    const struct ast *names = d->kid[0], *type = d->kid[1];
    for (uint32_t j = 0; j < names->n; j++) {
      const struct ast *name = names->kid[j];
      struct scope_symbol s = {.name = checker_strdup(c, name->name), .kind = SYMBOL_PARAM, .at = name->word};
      s.index = (uint32_t)params.n;
      if (!symbol_declare(c, &c->globals, s))
        continue;
      struct param param = {.name = s.name, .at = name->word};
      struct param_info info = {.ast = d, .is_bool = type && type->kind == AST_TYPE_BOOL};
      vec_push(&params, param);
      vec_push(&c->params.list, info);
    }
    if (type && type->kind != AST_TYPE_BOOL && type->kind != AST_TYPE_INT && type->kind != AST_TYPE_RANGE) {
      checker_error(c, E0704, type->at, "a parameter is a number or a bool");
      checker_help(c, "leave the type out, or write ': bool' or a range");
    }
    if (d->kid[3])
      vec_push(&c->params.conditions, d->kid[3]);
  }
  c->m->nparams = (uint32_t)params.n;
  c->m->params = arena_copy(&c->m->arena, params.at, params.n * sizeof *params.at);
  vec_release(&params);
}

static void unknown_binding(struct typechecker *c, const char *name) {
  VEC(const char *) names = {0};
  struct text list = {0};
  for (uint32_t i = 0; i < c->m->nparams; i++) {
    vec_push(&names, c->m->params[i].name);
    text_addf(&list, "%s%s", i ? ", " : "", c->m->params[i].name);
  }
  checker_error(c, E0702, (struct span){0, 0}, "'%s' has no parameter '%s'", c->m->name, name);
  const char *near = nearest_name(name, names.at, names.n);
  if (names.n == 0)
    checker_help(c, "it has no parameters at all");
  else if (near)
    checker_help(c, "did you mean '%s'? its parameters are: %s", near, text_or_empty(&list));
  else
    checker_help(c, "its parameters are: %s", text_or_empty(&list));
  text_release(&list);
  vec_release(&names);
}

/* The type of a parameter is an additional condition. */
static bool value_in_type(struct typechecker *c, uint32_t i, bool quiet, uint64_t *work) {
  const struct ast *type = c->params.list.at[i].ast->kid[1];
  const struct param *p = &c->m->params[i];
  if (c->params.list.at[i].is_bool) {
    if (!quiet && p->value != 0 && p->value != 1)
      checker_error(c, E0704, p->at, "parameter '%s' is a bool, not %" PRId64, p->name, p->value);
    return p->value == 0 || p->value == 1;
  }
  if (!type || type->kind != AST_TYPE_RANGE)
    return true;
  struct constant_evaluator k = {.c = c, .quiet = quiet};
  struct constant lo, hi;
  bool good = constant_eval(&k, type->kid[0], &lo) && constant_eval(&k, type->kid[1], &hi);
  *work += k.work;
  if (!good)
    return false;
  bool inside = lo.value <= p->value && p->value <= hi.value;
  if (!inside && !quiet)
    checker_error(c, E0704, p->at, "parameter '%s' is %" PRId64 ", outside %" PRId64 "..%" PRId64, p->name, p->value,
                  lo.value, hi.value);
  return inside;
}

const struct param_binding *param_binding_find(const struct param_binding *bindings, size_t n, const char *name) {
  for (size_t i = n; i-- > 0;)
    if (strcmp(bindings[i].name, name) == 0)
      return &bindings[i];
  return NULL;
}

static bool assign_binding(struct typechecker *c, uint32_t i, const struct param_binding *bindings, size_t n) {
  const struct param_binding *given = param_binding_find(bindings, n, c->m->params[i].name);
  if (!given)
    return false;
  c->m->params[i].value = given->value;
  c->params.list.at[i].known = true;
  return true;
}

static void assign_default(struct typechecker *c, uint32_t i) {
  struct param_info *info = &c->params.list.at[i];
  struct constant_evaluator k = {.c = c};
  struct constant v;
  if (!constant_eval(&k, info->ast->kid[2], &v))
    return;
  if (v.is_bool && !info->ast->kid[1])
    info->is_bool = true; /* param nacks = true */
  if (v.is_bool != info->is_bool) {
    checker_error(c, E0704, info->ast->kid[2]->at, "parameter '%s' is a %s, but its default is a %s",
                  c->m->params[i].name, info->is_bool ? "bool" : "number", v.is_bool ? "bool" : "number");
    return;
  }
  c->m->params[i].value = v.value;
  info->known = true;
}

static void add_param_values(struct typechecker *c, const struct ast *a, struct text *out) {
  const struct scope_symbol *s = a->kind == AST_NAME ? scope_find(&c->globals, a->name) : NULL;
  if (s && s->kind == SYMBOL_PARAM && c->params.list.at[s->index].known) {
    const struct param *p = &c->m->params[s->index];
    char *pair = c->params.list.at[s->index].is_bool
                     ? arena_printf(&c->m->arena, "%s = %s", p->name, p->value ? "true" : "false")
                     : arena_printf(&c->m->arena, "%s = %" PRId64, p->name, p->value);
    if (!strstr(text_or_empty(out), pair))
      text_addf(out, "%s%s", out->n ? ", " : "", pair);
  }
  for (uint32_t i = 0; i < a->n; i++)
    if (a->kid[i])
      add_param_values(c, a->kid[i], out);
}

/* Reports the conjuncts that do not hold, each with the values that it reads. */
static void check_condition(struct typechecker *c, const struct ast *a, bool dead) {
  if (a->kind == AST_BINARY && a->op == OP_AND) {
    size_t before = c->diags->errors;
    check_condition(c, a->kid[0], dead);
    check_condition(c, a->kid[1], dead || c->diags->errors > before);
    return;
  }
  struct constant_evaluator k = {.c = c, .dead = dead};
  struct constant v;
  if (!constant_eval(&k, a, &v))
    return;
  if (!v.is_bool)
    checker_error(c, E0704, a->at, "a parameter's condition must be true or false");
  else if (!v.value) {
    struct text values = {0};
    add_param_values(c, a, &values);
    checker_error(c, E0703, a->at, "parameter condition not met: '%s' with %s", source_text(c, a->at),
                  text_or_empty(&values));
    text_release(&values);
  }
}

/* ---- search for small values ---- */

enum { SMALL_VALUE_MAX = 8, SEARCH_WORK_MAX = 50000000 /* about a second */ };

struct param_search {
  const struct param_binding *bindings;
  size_t nbindings;
  uint32_t main; /* the parameter that should be at least 3: probably the number of processes */
  uint64_t work; /* see struct constant_evaluator */
};

/* Is no condition violated yet? Conditions on parameters without a value may still become true. */
static bool conditions_satisfiable(struct typechecker *c, uint64_t *work) {
  for (size_t i = 0; i < c->params.conditions.n; i++) {
    struct constant_evaluator k = {.c = c, .quiet = true};
    struct constant v;
    bool good = constant_eval(&k, c->params.conditions.at[i], &v);
    *work += k.work;
    if (good ? !v.is_bool || !v.value : k.failed || !k.open)
      return false;
  }
  return true;
}

/* The k-th value to try for a parameter; false: there is no further one. */
static bool candidate_value(struct typechecker *c, uint32_t i, uint32_t k, struct param_search *s, int64_t *out) {
  static const int64_t values_for_n[SMALL_VALUE_MAX + 1] = {3, 4, 5, 6, 7, 8, 2, 1, 0};
  static const int64_t values_otherwise[SMALL_VALUE_MAX + 1] = {1, 0, 2, 3, 4, 5, 6, 7, 8};
  const struct ast *fallback = c->params.list.at[i].ast->kid[2];
  bool bound = assign_binding(c, i, s->bindings, s->nbindings);
  if (bound || fallback) {
    struct constant_evaluator evaluator = {.c = c, .quiet = true};
    struct constant v = {.value = c->m->params[i].value};
    bool good = k == 0 && (bound || constant_eval(&evaluator, fallback, &v));
    *out = v.value;
    return good;
  }
  *out = (i == s->main ? values_for_n : values_otherwise)[k <= SMALL_VALUE_MAX ? k : 0];
  return k <= SMALL_VALUE_MAX;
}

/* Depth-first, in the order of declaration. There may be many parameters, so it does not recurse. */
static bool assign_small_values(struct typechecker *c, struct param_search *s) {
  uint32_t *tried = arena_array(&c->m->arena, c->m->nparams + (size_t)1, sizeof *tried), i = 0;
  while (i < c->m->nparams) {
    int64_t next;
    bool more = candidate_value(c, i, tried[i]++, s, &next);
    if (more) {
      c->m->params[i].value = next;
      c->params.list.at[i].known = true;
      if (++s->work < SEARCH_WORK_MAX && value_in_type(c, i, true, &s->work) && conditions_satisfiable(c, &s->work)) {
        tried[++i] = 0;
        continue;
      }
    }
    c->params.list.at[i].known = false;
    if (!more && i == 0)
      return false;
    i -= !more;
  }
  return true;
}

static uint32_t main_param(const struct typechecker *c) {
  for (uint32_t i = 0; i < c->m->nparams; i++)
    if (strcmp(c->m->params[i].name, "n") == 0 || strcmp(c->m->params[i].name, "N") == 0)
      return i;
  return 0;
}

static void complete_params(struct typechecker *c, const struct param_binding *bindings, size_t n) {
  struct param_search s = {bindings, n, main_param(c), 0};
  for (uint32_t i = 0; i < c->m->nparams; i++) {
    const struct ast *fallback = c->params.list.at[i].ast->kid[2];
    if (fallback && !c->params.list.at[i].ast->kid[1])
      c->params.list.at[i].is_bool = fallback->kind == AST_TRUE || fallback->kind == AST_FALSE;
  }
  if (assign_small_values(c, &s))
    return;
  checker_error(c, E0703, c->m->params[0].at, "no small values satisfy the conditions on the parameters");
  checker_help(c, "give them with -D, as in -D %s=3", c->m->params[0].name);
}

/* ---- the usual case ---- */

static void assign_given(struct typechecker *c, const struct param_binding *bindings, size_t n) {
  size_t before = c->diags->errors;
  for (uint32_t i = 0; i < c->m->nparams; i++) {
    struct param_info *info = &c->params.list.at[i];
    const struct ast *fallback = info->ast->kid[2];
    if (fallback && !info->ast->kid[1] && (fallback->kind == AST_TRUE || fallback->kind == AST_FALSE))
      info->is_bool = true;
    if (!assign_binding(c, i, bindings, n) && fallback && c->diags->errors == before)
      assign_default(c, i);
    if (!info->known && !fallback) {
      checker_error(c, E0701, c->m->params[i].at, "parameter '%s' has no value", c->m->params[i].name);
      checker_help(c, "give it one with -D %s=%s", c->m->params[i].name, info->is_bool ? "true" : "3");
    }
  }
  if (c->diags->errors > before)
    return;
  uint64_t work = 0;
  for (uint32_t i = 0; i < c->m->nparams; i++)
    value_in_type(c, i, false, &work);
  for (size_t i = 0; i < c->params.conditions.n; i++)
    check_condition(c, c->params.conditions.at[i], false);
}

void assign_params(struct typechecker *c, const struct param_binding *bindings, size_t n, bool complete) {
  size_t before = c->diags->errors;
  for (size_t i = 0; i < n; i++) {
    const struct scope_symbol *s = scope_find(&c->globals, bindings[i].name);
    if (!s || s->kind != SYMBOL_PARAM)
      unknown_binding(c, bindings[i].name);
  }
  if (c->diags->errors > before)
    return;
  if (complete && c->m->nparams)
    complete_params(c, bindings, n);
  else
    assign_given(c, bindings, n);
  for (uint32_t i = 0; i < c->m->nparams; i++)
    c->m->params[i].truth = c->params.list.at[i].is_bool;
}
