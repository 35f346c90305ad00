#include "symbolic/horn_solver.h"

#include "symbolic/solver_watchdog.h"
#include "symbolic/z3_builder.h"

#include <stdio.h>
#include <string.h>

struct horn_system {
  struct z3_builder m;
  Z3_fixedpoint fixedpoint;
  struct watchdog *watchdog; /* or NULL */
  uint32_t nvariables, npredicates;
  VEC(Z3_ast) variables; /* the variables, then the amounts needed so far */
  Z3_func_decl *predicates;
  Z3_func_decl goal;
  VEC(Z3_ast) assumed;
  Z3_ast *invariants; /* by predicate, over the variables; NULL: not known */
  uint32_t rules, level;
  void (*on_level_callback)(void *, uint32_t);
  void *context;
  bool failed;
};

static void add_constant(struct horn_system *h, const char *name) {
  Z3_ast term = Z3_mk_const(h->m.z3, Z3_mk_string_symbol(h->m.z3, name), h->m.integers);
  Z3_inc_ref(h->m.z3, term);
  vec_push(&h->variables, term);
}

static Z3_func_decl relation(struct horn_system *h, const char *name, uint32_t arity) {
  Z3_func_decl f = z3_builder_relation(&h->m, name, h->variables.at, arity);
  Z3_inc_ref(h->m.z3, Z3_func_decl_to_ast(h->m.z3, f));
  Z3_fixedpoint_register_relation(h->m.z3, h->fixedpoint, f);
  return f;
}

struct horn_system *horn_new(const char *const *names, uint32_t variables, uint32_t predicates) {
  struct horn_system *h = memory_alloc(sizeof *h);
  Z3_config config = Z3_mk_config();
  z3_builder_init(&h->m, config);
  Z3_del_config(config);
  h->fixedpoint = z3_builder_fixedpoint(&h->m);
  h->nvariables = variables;
  h->npredicates = predicates;
  for (uint32_t i = 0; i < variables; i++)
    add_constant(h, names[i]);
  h->predicates = memory_alloc((predicates + (size_t)1) * sizeof *h->predicates);
  h->invariants = memory_alloc((predicates + (size_t)1) * sizeof *h->invariants);
  for (uint32_t i = 0; i < predicates; i++) {
    char name[32];
    snprintf(name, sizeof name, "P%u", i);
    h->predicates[i] = relation(h, name, variables);
  }
  h->goal = relation(h, "Goal", 0);
  return h;
}

void horn_free(struct horn_system *h) {
  if (!h)
    return;
  watchdog_free(h->watchdog);
  for (size_t i = 0; i < h->variables.n; i++)
    Z3_dec_ref(h->m.z3, h->variables.at[i]);
  for (size_t i = 0; i < h->assumed.n; i++)
    Z3_dec_ref(h->m.z3, h->assumed.at[i]);
  for (uint32_t i = 0; i < h->npredicates; i++) {
    Z3_dec_ref(h->m.z3, Z3_func_decl_to_ast(h->m.z3, h->predicates[i]));
    if (h->invariants[i])
      Z3_dec_ref(h->m.z3, h->invariants[i]);
  }
  Z3_dec_ref(h->m.z3, Z3_func_decl_to_ast(h->m.z3, h->goal));
  Z3_fixedpoint_dec_ref(h->m.z3, h->fixedpoint);
  z3_builder_release(&h->m);
  vec_release(&h->variables);
  vec_release(&h->assumed);
  memory_free(h->predicates);
  memory_free(h->invariants);
  memory_free(h);
}

void horn_assume(struct horn_system *h, const struct cube *cubes, size_t n) {
  VEC(Z3_ast) all = {0};
  for (size_t i = 0; i < n; i++)
    vec_push(&all, z3_builder_cube(&h->m, &cubes[i], h->variables.at));
  Z3_ast term = z3_builder_or(&h->m, all.at, (uint32_t)n);
  Z3_inc_ref(h->m.z3, term);
  vec_push(&h->assumed, term);
  vec_release(&all);
  z3_builder_forget(&h->m);
}

/* ---- clauses ---- */

/* body => head, for all values of the first `bound` variables. */
static void add_rule(struct horn_system *h, Z3_ast *body, uint32_t n, Z3_ast head, uint32_t bound) {
  VEC(Z3_ast) all = {0};
  for (size_t i = 0; i < h->assumed.n; i++)
    vec_push(&all, h->assumed.at[i]);
  for (uint32_t i = 0; i < n; i++)
    vec_push(&all, body[i]);
  Z3_ast rule = z3_builder_and(&h->m, all.at, (uint32_t)all.n);
  rule = z3_builder_clause(&h->m, rule, head, h->variables.at, bound);
  char name[32];
  snprintf(name, sizeof name, "r%u", h->rules++);
  Z3_fixedpoint_add_rule(h->m.z3, h->fixedpoint, rule, Z3_mk_string_symbol(h->m.z3, name));
  h->failed |= Z3_get_error_code(h->m.z3) != Z3_OK;
  vec_release(&all);
  z3_builder_forget(&h->m);
}

static Z3_ast applied(struct horn_system *h, uint32_t predicate, const Z3_ast *to) {
  return z3_builder_keep(&h->m, Z3_mk_app(h->m.z3, h->predicates[predicate], h->nvariables, to));
}

void horn_add_start(struct horn_system *h, uint32_t predicate, const struct cube *c) {
  h->failed |= c->overflow;
  Z3_ast body = z3_builder_cube(&h->m, c, h->variables.at);
  add_rule(h, &body, 1, applied(h, predicate, h->variables.at), h->nvariables);
}

void horn_add_goal(struct horn_system *h, uint32_t predicate, const struct cube *c) {
  h->failed |= c->overflow;
  Z3_ast body[2] = {applied(h, predicate, h->variables.at), z3_builder_cube(&h->m, c, h->variables.at)};
  Z3_ast head = z3_builder_keep(&h->m, Z3_mk_app(h->m.z3, h->goal, 0, NULL));
  add_rule(h, body, 2, head, h->nvariables);
}

void horn_add_step(struct horn_system *h, uint32_t from, uint32_t to, const struct cube *guard,
                   const int64_t *const *update) {
  VEC(Z3_ast) next = {0};
  while (h->variables.n + 1 < guard->width) {
    char name[32];
    snprintf(name, sizeof name, "amount!%zu", h->variables.n - h->nvariables);
    add_constant(h, name);
  }
  h->failed |= guard->overflow;
  Z3_ast body[2] = {applied(h, from, h->variables.at), z3_builder_cube(&h->m, guard, h->variables.at)};
  for (uint32_t i = 0; i < h->nvariables; i++)
    vec_push(&next, update[i] ? z3_builder_sum(&h->m, update[i], guard->width, h->variables.at) : h->variables.at[i]);
  add_rule(h, body, 2, applied(h, to, next.at), guard->width - 1);
  vec_release(&next);
}

/* ---- answers ---- */

static void on_level(void *state) {
  struct horn_system *h = state;
  h->level++;
  if (h->on_level_callback)
    h->on_level_callback(h->context, h->level);
}

static void on_lemma(void *state, Z3_ast lemma, unsigned level) {
  (void)state;
  (void)lemma;
  (void)level;
}

static void on_predecessor(void *state) { (void)state; }

void horn_on_level(struct horn_system *h, void (*on_level_callback)(void *, uint32_t), void *context) {
  h->on_level_callback = on_level_callback;
  h->context = context;
  Z3_fixedpoint_add_callback(h->m.z3, h->fixedpoint, h, on_lemma, on_predecessor, on_level);
}

static bool is_stopped(void *stop) { return *(const volatile sig_atomic_t *)stop; }

void horn_watch(struct horn_system *h, const volatile sig_atomic_t *stop) {
  watchdog_free(h->watchdog);
  h->watchdog = stop ? watchdog_new(h->m.z3, is_stopped, (void *)stop) : NULL;
  h->failed |= stop && !h->watchdog; /* without a watchdog the query could not be stopped */
}

enum answer horn_solve(struct horn_system *h) {
  if (h->failed)
    return ANSWER_UNKNOWN;
  Z3_lbool answer = Z3_fixedpoint_query_relations(h->m.z3, h->fixedpoint, 1, &h->goal);
  if (Z3_get_error_code(h->m.z3) != Z3_OK || answer == Z3_L_UNDEF)
    return ANSWER_UNKNOWN;
  if (answer == Z3_L_TRUE)
    return ANSWER_YES;
  Z3_ast found = Z3_fixedpoint_get_answer(h->m.z3, h->fixedpoint);
  if (found && Z3_get_error_code(h->m.z3) == Z3_OK) {
    z3_builder_keep(&h->m, found);
    for (uint32_t i = 0; i < h->npredicates; i++) {
      h->invariants[i] = z3_builder_definition(&h->m, found, h->predicates[i], h->variables.at, h->nvariables);
      if (h->invariants[i])
        Z3_inc_ref(h->m.z3, h->invariants[i]);
    }
  }
  z3_builder_forget(&h->m);
  return ANSWER_NO;
}

bool horn_invariant(struct horn_system *h, uint32_t predicate, struct text *out) {
  if (!h->invariants[predicate])
    return false;
  Z3_set_ast_print_mode(h->m.z3, Z3_PRINT_SMTLIB2_COMPLIANT);
  const char *said = Z3_ast_to_string(h->m.z3, h->invariants[predicate]);
  if (said)
    text_add(out, said);
  return said != NULL;
}
