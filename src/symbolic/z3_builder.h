/* Private to src/symbolic: rows and cubes as terms of libz3, and the lifetime of terms.

   Contexts count references. The trail of a builder holds a reference to every term made here, until the caller clears
   the trail. By then every term that must survive has to be referenced by an assertion, a rule or the caller. */
#ifndef RONDO_SYMBOLIC_Z3_BUILDER_H
#define RONDO_SYMBOLIC_Z3_BUILDER_H

#include "symbolic/linear_cube.h"

#include <z3.h>

struct z3_builder {
  Z3_context z3;
  Z3_sort integers, truths;
  VEC(Z3_ast) trail;
};

void z3_builder_init(struct z3_builder *, Z3_config);
void z3_builder_release(struct z3_builder *);
Z3_ast z3_builder_keep(struct z3_builder *, Z3_ast); /* adds the term to the trail */
void z3_builder_forget(struct z3_builder *);         /* clears the trail */

Z3_ast z3_builder_number(struct z3_builder *, int64_t);
Z3_ast z3_builder_sum(struct z3_builder *, const int64_t *row, uint32_t width, const Z3_ast *variables);
Z3_ast z3_builder_constraint(struct z3_builder *, const int64_t *row, uint32_t width, bool equal,
                             const Z3_ast *variables);
Z3_ast z3_builder_cube(struct z3_builder *, const struct cube *, const Z3_ast *variables);
Z3_ast z3_builder_and(struct z3_builder *, const Z3_ast *, uint32_t n);
Z3_ast z3_builder_or(struct z3_builder *, const Z3_ast *, uint32_t n);
Z3_ast z3_builder_not(struct z3_builder *, Z3_ast);

/* Keeps the library from handling Ctrl-C itself during a check. (The option takes effect only on solvers that have an
   assertion.) */
void z3_disable_ctrl_c(Z3_context, Z3_solver);

/* Spacer, configured so that its invariant covers every predicate. */
Z3_fixedpoint z3_builder_fixedpoint(struct z3_builder *);
/* A relation over the sorts of these terms, in the trail. */
Z3_func_decl z3_builder_relation(struct z3_builder *, const char *name, const Z3_ast *over, uint32_t n);
/* body => head, for all values of the n variables. */
Z3_ast z3_builder_clause(struct z3_builder *, Z3_ast body, Z3_ast head, const Z3_ast *variables, uint32_t n);

/* The definition of a predicate in Spacer's answer (a conjunction of definitions), over these variables; NULL: none. */
Z3_ast z3_builder_definition(struct z3_builder *, Z3_ast answer, Z3_func_decl predicate, const Z3_ast *variables,
                             uint32_t n);

#endif
