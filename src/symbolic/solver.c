#include "symbolic/solver.h"

#include "symbolic/solver_watchdog.h"
#include "symbolic/z3_builder.h"

#include <inttypes.h>
#include <stdio.h>

const char *solver_missing(void) { return NULL; }

struct solver {
  struct z3_builder m;
  Z3_solver z3;
  Z3_model model; /* model of the last YES, or NULL */
  VEC(Z3_ast) variables;
  VEC(Z3_ast) literals;
  VEC(Z3_ast) mapped;                /* scratch */
  const volatile sig_atomic_t *stop; /* or NULL */
  struct watchdog *watchdog;         /* or NULL */
  bool failed;                       /* an assertion failed: every further answer is UNKNOWN */
};

struct solver *solver_new(void) {
  struct solver *s = memory_alloc(sizeof *s);
  Z3_config config = Z3_mk_config();
  z3_builder_init(&s->m, config);
  Z3_del_config(config);
  s->z3 = Z3_mk_simple_solver(s->m.z3);
  if (!s->z3) /* it has no memory left */
    memory_resize_array(NULL, SIZE_MAX, 2);
  Z3_solver_inc_ref(s->m.z3, s->z3);
  return s;
}

static void model_drop(struct solver *s) {
  if (s->model)
    Z3_model_dec_ref(s->m.z3, s->model);
  s->model = NULL;
}

void solver_free(struct solver *s) {
  if (!s)
    return;
  watchdog_free(s->watchdog);
  model_drop(s);
  for (size_t i = 0; i < s->variables.n; i++)
    Z3_dec_ref(s->m.z3, s->variables.at[i]);
  for (size_t i = 0; i < s->literals.n; i++)
    Z3_dec_ref(s->m.z3, s->literals.at[i]);
  Z3_solver_dec_ref(s->m.z3, s->z3);
  z3_builder_release(&s->m);
  vec_release(&s->variables);
  vec_release(&s->literals);
  vec_release(&s->mapped);
  memory_free(s);
}

/* ---- variables ---- */

static Z3_ast constant(struct solver *s, char letter, size_t number, Z3_sort sort) {
  char name[32];
  snprintf(name, sizeof name, "%c%zu", letter, number);
  Z3_symbol symbol = Z3_mk_string_symbol(s->m.z3, name);
  Z3_ast term = symbol ? Z3_mk_const(s->m.z3, symbol, sort) : NULL;
  if (!term)
    memory_resize_array(NULL, SIZE_MAX, 2);
  Z3_inc_ref(s->m.z3, term);
  return term;
}

uint32_t solver_variables(struct solver *s, uint32_t n) {
  uint32_t first = (uint32_t)s->variables.n;
  for (uint32_t i = 0; i < n; i++) {
    Z3_ast term = constant(s, 'x', s->variables.n, s->m.integers);
    vec_push(&s->variables, term);
  }
  return first;
}

uint32_t solver_literals(struct solver *s, uint32_t n) {
  uint32_t first = (uint32_t)s->literals.n;
  for (uint32_t i = 0; i < n; i++) {
    Z3_ast term = constant(s, 'p', s->literals.n, s->m.truths);
    vec_push(&s->literals, term);
  }
  return first;
}

static const Z3_ast *mapped(struct solver *s, const uint32_t *map, uint32_t width) {
  if (!map)
    return s->variables.at;
  vec_clear(&s->mapped);
  for (uint32_t i = 0; i + 1 < width; i++)
    vec_push(&s->mapped, s->variables.at[map[i]]);
  return s->mapped.at;
}

/* ---- assertions ---- */

void solver_push(struct solver *s) { Z3_solver_push(s->m.z3, s->z3); }

void solver_pop(struct solver *s) {
  model_drop(s);
  Z3_solver_pop(s->m.z3, s->z3, 1);
}

static void add(struct solver *s, Z3_ast term) {
  Z3_solver_assert(s->m.z3, s->z3, term);
  s->failed |= Z3_get_error_code(s->m.z3) != Z3_OK;
  z3_builder_forget(&s->m);
}

void solver_add_row(struct solver *s, const int64_t *row, uint32_t width, bool equal, const uint32_t *map) {
  add(s, z3_builder_constraint(&s->m, row, width, equal, mapped(s, map, width)));
}

void solver_add_cube(struct solver *s, const struct cube *c, const uint32_t *map) {
  s->failed |= c->overflow;
  add(s, z3_builder_cube(&s->m, c, mapped(s, map, c->width)));
}

void solver_add_any(struct solver *s, const struct cube *cubes, size_t n, const uint32_t *map) {
  VEC(Z3_ast) all = {0};
  for (size_t i = 0; i < n; i++) {
    s->failed |= cubes[i].overflow;
    vec_push(&all, z3_builder_cube(&s->m, &cubes[i], mapped(s, map, cubes[i].width)));
  }
  add(s, z3_builder_or(&s->m, all.at, (uint32_t)n));
  vec_release(&all);
}

void solver_add_value(struct solver *s, uint32_t variable, int64_t x) {
  Z3_ast number = z3_builder_number(&s->m, x);
  add(s, z3_builder_keep(&s->m, Z3_mk_eq(s->m.z3, s->variables.at[variable], number)));
}

void solver_add_at_most(struct solver *s, uint32_t variable, int64_t x) {
  Z3_ast number = z3_builder_number(&s->m, x);
  add(s, z3_builder_keep(&s->m, Z3_mk_le(s->m.z3, s->variables.at[variable], number)));
}

void solver_add_implied(struct solver *s, uint32_t literal, const struct cube *c, const uint32_t *map) {
  s->failed |= c->overflow;
  Z3_ast cube = z3_builder_cube(&s->m, c, mapped(s, map, c->width));
  add(s, z3_builder_keep(&s->m, Z3_mk_implies(s->m.z3, s->literals.at[literal], cube)));
}

void solver_add_excluded(struct solver *s, uint32_t literal, const struct cube *c, const uint32_t *map) {
  s->failed |= c->overflow;
  Z3_ast cube = z3_builder_not(&s->m, z3_builder_cube(&s->m, c, mapped(s, map, c->width)));
  add(s, z3_builder_keep(&s->m, Z3_mk_implies(s->m.z3, s->literals.at[literal], cube)));
}

void solver_add_false(struct solver *s, uint32_t literal) { add(s, z3_builder_not(&s->m, s->literals.at[literal])); }

void solver_add_clause(struct solver *s, const uint32_t *literals, uint32_t n) {
  VEC(Z3_ast) all = {0};
  for (uint32_t i = 0; i < n; i++)
    vec_push(&all, s->literals.at[literals[i]]);
  add(s, z3_builder_or(&s->m, all.at, n));
  vec_release(&all);
}

/* ---- answers ---- */

void solver_limit_time(struct solver *s, unsigned milliseconds) {
  Z3_params params = Z3_mk_params(s->m.z3);
  Z3_params_inc_ref(s->m.z3, params);
  Z3_params_set_uint(s->m.z3, params, Z3_mk_string_symbol(s->m.z3, "timeout"), milliseconds);
  Z3_solver_set_params(s->m.z3, s->z3, params);
  Z3_params_dec_ref(s->m.z3, params);
}

static bool is_stopped(void *context) { return solver_stopped(context); }

void solver_watch(struct solver *s, const volatile sig_atomic_t *stop) {
  watchdog_free(s->watchdog);
  s->watchdog = NULL;
  s->stop = stop;
  z3_disable_ctrl_c(s->m.z3, s->z3);
  if (!stop)
    return;
  s->watchdog = watchdog_new(s->m.z3, is_stopped, s);
  s->failed |= !s->watchdog; /* without a watchdog the query could not be stopped */
}

bool solver_stopped(const struct solver *s) { return s->stop && *s->stop; }

enum answer solver_check(struct solver *s) {
  model_drop(s);
  if (s->failed || solver_stopped(s))
    return ANSWER_UNKNOWN;
  Z3_lbool answer = Z3_solver_check(s->m.z3, s->z3);
  if (Z3_get_error_code(s->m.z3) != Z3_OK || answer == Z3_L_UNDEF)
    return ANSWER_UNKNOWN;
  if (answer == Z3_L_FALSE)
    return ANSWER_NO;
  s->model = Z3_solver_get_model(s->m.z3, s->z3);
  if (!s->model)
    return ANSWER_UNKNOWN;
  Z3_model_inc_ref(s->m.z3, s->model);
  return ANSWER_YES;
}

bool solver_value(struct solver *s, uint32_t variable, int64_t *out) {
  Z3_ast term = NULL;
  if (!s->model || !Z3_model_eval(s->m.z3, s->model, s->variables.at[variable], true, &term) || !term)
    return false;
  z3_builder_keep(&s->m, term);
  bool ok = Z3_get_numeral_int64(s->m.z3, term, out);
  z3_builder_forget(&s->m);
  return ok;
}

bool solver_truth(struct solver *s, uint32_t literal) {
  Z3_ast term = NULL;
  if (!s->model || !Z3_model_eval(s->m.z3, s->model, s->literals.at[literal], true, &term) || !term)
    return false;
  z3_builder_keep(&s->m, term);
  bool truth = Z3_get_bool_value(s->m.z3, term) == Z3_L_TRUE;
  z3_builder_forget(&s->m);
  return truth;
}

/* The library handles SIGINT itself while it runs a script, and this cannot be turned off. The signal is blocked
   meanwhile, so that it reaches the program's own handler afterwards. */
static bool script_is_stopped(void *stop) {
  sigset_t pending;
  return *(const volatile sig_atomic_t *)stop || (sigpending(&pending) == 0 && sigismember(&pending, SIGINT) == 1);
}

bool smtlib_run(const char *script, const volatile sig_atomic_t *stop, struct text *printed) {
  struct z3_builder m;
  sigset_t sigint, before;
  Z3_config config = Z3_mk_config();
  z3_builder_init(&m, config);
  Z3_del_config(config);
  sigemptyset(&sigint);
  sigaddset(&sigint, SIGINT);
  pthread_sigmask(SIG_BLOCK, &sigint, &before);
  struct watchdog *watchdog = stop ? watchdog_new(m.z3, script_is_stopped, (void *)(uintptr_t)stop) : NULL;
  const char *said = !stop || watchdog ? Z3_eval_smtlib2_string(m.z3, script) : NULL;
  watchdog_free(watchdog);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  bool ended = !stop || !*stop;
  if (ended)
    text_add(printed, said ? said : "(error)");
  z3_builder_release(&m);
  return ended;
}

void solver_limit_memory(size_t bytes) {
  char megabytes[32];
  size_t limit = bytes >> 20;
  snprintf(megabytes, sizeof megabytes, "%zu", bytes && !limit ? (size_t)1 : limit);
  Z3_global_param_set("memory_max_size", megabytes);
}
