/* The interface of this folder in a build without libz3 (-DRONDO_Z3=OFF): CMake compiles only this file and
   linear_cube.c. Commands that need a solver test solver_missing first and refuse. Any query that still arrives here is
   answered UNKNOWN, never wrongly. */
#include "symbolic/horn_solver.h"
#include "symbolic/symbolic_check.h"

#include "base/memory.h"

#define MISSING "this build of rondo has no solver (z3)"

const char *solver_missing(void) { return MISSING; }

/* ---- models ---- */

void symbolic_check(struct model *m, const struct query *q, const struct symbolic_options *o,
                    struct symbolic_answer *a) {
  *a = (struct symbolic_answer){.refused = true, .refusal = memory_strdup(MISSING)};
  a->findings = memory_alloc((q->nproperties + (size_t)1) * sizeof *a->findings);
  a->proved = memory_alloc((q->nproperties + (size_t)1) * sizeof *a->proved);
}

void symbolic_answer_release(struct symbolic_answer *a, const struct query *q) {
  memory_free(a->findings);
  memory_free(a->proved);
  memory_free(a->refusal);
  *a = (struct symbolic_answer){0};
}

bool symbolic_export(struct model *m, const struct query *q, uint32_t depth, const struct licences *licences,
                     struct text *out, struct span *refused_at, struct text *refusal) {
  text_add(refusal, MISSING);
  return false;
}

/* ---- queries about integers ---- */

struct missing_solver {
  uint32_t variables, literals;
  const volatile sig_atomic_t *stop;
};

static struct missing_solver *missing(const struct solver *s) { return (struct missing_solver *)(uintptr_t)s; }

struct solver *solver_new(void) {
  return memory_alloc(sizeof(struct missing_solver));
}
void solver_free(struct solver *s) { memory_free(s); }

uint32_t solver_variables(struct solver *s, uint32_t n) {
  missing(s)->variables += n;
  return missing(s)->variables - n;
}

uint32_t solver_literals(struct solver *s, uint32_t n) {
  missing(s)->literals += n;
  return missing(s)->literals - n;
}
void solver_push(struct solver *s) {}
void solver_pop(struct solver *s) {}
void solver_add_row(struct solver *s, const int64_t *row, uint32_t width, bool equal, const uint32_t *map) {}
void solver_add_cube(struct solver *s, const struct cube *c, const uint32_t *map) {}
void solver_add_any(struct solver *s, const struct cube *cubes, size_t n, const uint32_t *map) {}
void solver_add_value(struct solver *s, uint32_t variable, int64_t x) {}
void solver_add_at_most(struct solver *s, uint32_t variable, int64_t x) {}
void solver_add_implied(struct solver *s, uint32_t literal, const struct cube *c, const uint32_t *map) {}
void solver_add_excluded(struct solver *s, uint32_t literal, const struct cube *c, const uint32_t *map) {}
void solver_add_false(struct solver *s, uint32_t literal) {}
void solver_add_clause(struct solver *s, const uint32_t *literals, uint32_t n) {}
void solver_limit_time(struct solver *s, unsigned milliseconds) {}
void solver_watch(struct solver *s, const volatile sig_atomic_t *stop) { missing(s)->stop = stop; }
bool solver_stopped(const struct solver *s) { return missing(s)->stop && *missing(s)->stop; }
enum answer solver_check(struct solver *s) { return ANSWER_UNKNOWN; }
bool solver_value(struct solver *s, uint32_t variable, int64_t *out) { return false; }
bool solver_truth(struct solver *s, uint32_t literal) { return false; }

bool smtlib_run(const char *script, const volatile sig_atomic_t *stop, struct text *printed) {
  text_add(printed, "(error \"" MISSING "\")");
  return true;
}
void solver_limit_memory(size_t bytes) {}

/* ---- Horn clauses ---- */

struct horn_system *horn_new(const char *const *names, uint32_t variables, uint32_t predicates) {
  return memory_alloc(1);
}
void horn_watch(struct horn_system *h, const volatile sig_atomic_t *stop) {}
void horn_free(struct horn_system *h) { memory_free(h); }
void horn_assume(struct horn_system *h, const struct cube *cubes, size_t n) {}
void horn_add_start(struct horn_system *h, uint32_t predicate, const struct cube *c) {}
void horn_add_step(struct horn_system *h, uint32_t from, uint32_t to, const struct cube *guard,
                   const int64_t *const *update) {}
void horn_add_goal(struct horn_system *h, uint32_t predicate, const struct cube *c) {}
void horn_on_level(struct horn_system *h, void (*on_level_callback)(void *context, uint32_t level), void *context) {}
enum answer horn_solve(struct horn_system *h) { return ANSWER_UNKNOWN; }
bool horn_invariant(struct horn_system *h, uint32_t predicate, struct text *out) { return false; }
