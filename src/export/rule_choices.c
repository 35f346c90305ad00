/* Nondeterministic choices as parameters of the current rule, and the evaluation that makes them. */
#include "export/lower.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- refusals and errors of the model --- */

void refuse(struct model_lowering *l, struct span at, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(l->base.refusal.reason, sizeof l->base.refusal.reason, format, args);
  va_end(args);
  l->base.refusal.at = at;
  longjmp(*l->base.refused, 1);
}

static void fail(struct scope *s, truth when, struct span at, const char *text) {
  struct model_lowering *l = (struct model_lowering *)s->l;
  struct program *p = l->program;
  if (l->rule)
    vec_push(&l->rule->failures, ((struct rule_failure){when, arena_printf(l->base.arena, "%s", text), at}));
  else
    p->well_defined = expr_and(l->base.graph, p->well_defined, expr_not(l->base.graph, when));
}

fail_fn *collect_failures(struct model_lowering *l) {
  fail_fn *old = l->base.fail;
  l->base.fail = NULL;
  l->scope.error = EXPR_FALSE;
  return old;
}

/* --- choices --- */

void assume(struct model_lowering *l, expr_id w) { l->possible = expr_and(l->base.graph, l->possible, w); }

void assume_evaluated(struct model_lowering *l, expr_id w) {
  expr_id fails = EXPR_FALSE;
  for (size_t i = 0; i < l->rule->failures.n; i++)
    fails = expr_or(l->base.graph, fails, l->rule->failures.at[i].when);
  assume(l, expr_or(l->base.graph, fails, w));
}

static const char *choice_name(struct model_lowering *l, const char *name) {
  bool taken = false;
  for (size_t i = 0; i < l->rule->choices.n && !taken; i++)
    taken = !strcmp(l->rule->choices.at[i].name, name);
  for (size_t i = 0; i < l->program->variables.n && !taken; i++)
    taken = !strcmp(l->program->variables.at[i].name, name);
  return taken ? choice_name(l, arena_printf(l->base.arena, "%s_%zu", name, l->rule->choices.n)) : name;
}

static expr_id choice_new(struct model_lowering *l, const char *name, bool is_truth, int64_t lo, int64_t hi) {
  if (!l->rule)
    refuse(l, (struct span){0, 0}, "a free choice where none can be written");
  struct choice choice = {choice_name(l, plain_name(l, arena_printf(l->base.arena, "any_%s", name))), is_truth, lo, hi};
  vec_push(&l->rule->choices, choice);
  return expr_choice(l->base.graph, (uint32_t)l->rule->choices.n - 1, is_truth, lo, hi);
}

expr_id choice_number(struct model_lowering *l, const char *name, int64_t lo, int64_t hi) {
  return lo == hi ? expr_number(l->base.graph, lo) : choice_new(l, name, false, lo, hi);
}

expr_id choice_truth(struct model_lowering *l, const char *name) { return choice_new(l, name, true, 0, 1); }

/* Where there is nothing to choose, the choice is fixed to its first value, so that no step occurs twice. */
static void choose_one(struct scope *s, const char *name, const truth *possible, size_t n, truth *which) {
  struct model_lowering *l = (struct model_lowering *)s->l;
  struct expr_graph *c = l->base.graph;
  size_t candidates = 0, only = 0;
  truth any = truth_any(c, possible, n);
  for (size_t i = 0; i < n; i++) {
    which[i] = EXPR_FALSE;
    if (possible[i] != EXPR_FALSE) {
      candidates++;
      only = i;
    }
  }
  if (candidates <= 1) {
    if (candidates)
      which[only] = EXPR_TRUE;
    return;
  }
  const char *who = s->me == UINT32_MAX ? "model" : process_name(l, s->me);
  expr_id chosen = choice_number(l, arena_printf(l->base.arena, "%s_%s", who, name), 0, (int64_t)n - 1);
  truth chooses = expr_and(c, s->path, any);
  for (size_t i = 0; i < n; i++) {
    which[i] = expr_equal(c, chosen, expr_number(c, (int64_t)i));
    truth allowed = i == 0 ? expr_implies(c, chooses, possible[i]) : expr_and(c, chooses, possible[i]);
    assume(l, expr_implies(c, which[i], allowed));
  }
}

/* --- evaluation --- */

void model_lowering_init(struct model_lowering *l, struct program *p, struct model *m, uint32_t max_rounds,
                         jmp_buf *refused) {
  *l = (struct model_lowering){.program = p, .max_rounds = max_rounds, .possible = EXPR_TRUE};
  l->base = (struct lowering){.model = m,
                              .graph = &p->expr_graph,
                              .arena = &p->arena,
                              .refused = refused,
                              .refusal_prefix = "cannot be written in this format: ",
                              .fail = fail,
                              .choose = choose_one,
                              .exports = true};
  scope_init(&l->scope, &l->base);
}

void begin_process(struct model_lowering *l, const struct sym_state *s, uint32_t p) {
  scope_of_process(&l->scope, &l->base, s, p);
}

void begin_property(struct model_lowering *l, const struct sym_state *before, const struct sym_state *after) {
  scope_of_formula(&l->scope, &l->base, before, after);
  l->scope.me = UINT32_MAX;
}

expr_id lower_number(struct model_lowering *l, const struct node *n) {
  return number_node(l->base.graph, lower_node(&l->scope, n)->number);
}

struct sym_process process_copy(struct model_lowering *l, uint32_t p, const struct sym_process *s) {
  struct sym_process copy = *s;
  uint32_t n = l->base.model->roles[model_role_of(l->base.model, p)].nvars;
  copy.vars = arena_array(l->base.arena, n + 1, sizeof *copy.vars);
  if (n)
    memcpy(copy.vars, s->vars, n * sizeof *copy.vars);
  return copy;
}

struct sym_process process_after(struct model_lowering *l, const struct sym_process *before) {
  struct sym_process after = *before;
  after.vars = l->scope.vars;
  after.halted = l->scope.halted;
  return after;
}
