#include "symbolic/z3_builder.h"

/* The default handler exits. Callers read the error codes where they matter. */
static void ignore_z3_error(Z3_context z3, Z3_error_code code) {
  (void)z3;
  (void)code;
}

/* The solver could not even make a term: it has no memory left, and nothing can go on without the term. */
static void give_up(void) { memory_resize_array(NULL, SIZE_MAX, 2); /* reports out of memory */ }

void z3_builder_init(struct z3_builder *m, Z3_config config) {
  m->z3 = config ? Z3_mk_context_rc(config) : NULL;
  if (!m->z3)
    give_up();
  Z3_set_error_handler(m->z3, ignore_z3_error);
  m->trail.at = NULL;
  m->trail.n = m->trail.cap = 0;
  m->integers = Z3_mk_int_sort(m->z3);
  if (!m->integers)
    give_up();
  Z3_inc_ref(m->z3, Z3_sort_to_ast(m->z3, m->integers));
  m->truths = Z3_mk_bool_sort(m->z3);
  if (!m->truths)
    give_up();
  Z3_inc_ref(m->z3, Z3_sort_to_ast(m->z3, m->truths));
}

void z3_builder_release(struct z3_builder *m) {
  z3_builder_forget(m);
  vec_release(&m->trail);
  Z3_dec_ref(m->z3, Z3_sort_to_ast(m->z3, m->integers));
  Z3_dec_ref(m->z3, Z3_sort_to_ast(m->z3, m->truths));
  Z3_del_context(m->z3);
}

Z3_ast z3_builder_keep(struct z3_builder *m, Z3_ast term) {
  if (!term)
    give_up();
  Z3_inc_ref(m->z3, term);
  vec_push(&m->trail, term);
  return term;
}

void z3_builder_forget(struct z3_builder *m) {
  for (size_t i = m->trail.n; i-- > 0;)
    Z3_dec_ref(m->z3, m->trail.at[i]);
  vec_clear(&m->trail);
}

Z3_ast z3_builder_number(struct z3_builder *m, int64_t x) {
  return z3_builder_keep(m, Z3_mk_int64(m->z3, x, m->integers));
}

Z3_ast z3_builder_and(struct z3_builder *m, const Z3_ast *terms, uint32_t n) {
  if (n == 1)
    return terms[0];
  return z3_builder_keep(m, n ? Z3_mk_and(m->z3, n, terms) : Z3_mk_true(m->z3));
}

Z3_ast z3_builder_or(struct z3_builder *m, const Z3_ast *terms, uint32_t n) {
  if (n == 1)
    return terms[0];
  return z3_builder_keep(m, n ? Z3_mk_or(m->z3, n, terms) : Z3_mk_false(m->z3));
}

Z3_ast z3_builder_not(struct z3_builder *m, Z3_ast term) { return z3_builder_keep(m, Z3_mk_not(m->z3, term)); }

Z3_ast z3_builder_sum(struct z3_builder *m, const int64_t *row, uint32_t width, const Z3_ast *variables) {
  VEC(Z3_ast) parts = {0};
  for (uint32_t i = 1; i < width; i++) {
    if (row[i] == 0)
      continue;
    Z3_ast product[2] = {NULL, variables[i - 1]};
    if (row[i] != 1) {
      product[0] = z3_builder_number(m, row[i]);
      product[1] = z3_builder_keep(m, Z3_mk_mul(m->z3, 2, product));
    }
    vec_push(&parts, product[1]);
  }
  if (row[0] || parts.n == 0)
    vec_push(&parts, z3_builder_number(m, row[0]));
  Z3_ast sum = parts.n == 1 ? parts.at[0] : z3_builder_keep(m, Z3_mk_add(m->z3, (unsigned)parts.n, parts.at));
  vec_release(&parts);
  return sum;
}

Z3_ast z3_builder_constraint(struct z3_builder *m, const int64_t *row, uint32_t width, bool equal,
                             const Z3_ast *variables) {
  Z3_ast sum = z3_builder_sum(m, row, width, variables), zero = z3_builder_number(m, 0);
  return z3_builder_keep(m, equal ? Z3_mk_eq(m->z3, sum, zero) : Z3_mk_ge(m->z3, sum, zero));
}

Z3_ast z3_builder_cube(struct z3_builder *m, const struct cube *c, const Z3_ast *variables) {
  VEC(Z3_ast) all = {0};
  if (c->empty)
    return z3_builder_keep(m, Z3_mk_false(m->z3));
  for (uint32_t i = 0; i < c->n; i++)
    vec_push(&all, z3_builder_constraint(m, cube_row(c, i), c->width, c->equal.at[i], variables));
  Z3_ast term = z3_builder_and(m, all.at, (uint32_t)all.n);
  vec_release(&all);
  return term;
}

void z3_disable_ctrl_c(Z3_context z3, Z3_solver solver) {
  Z3_params params = Z3_mk_params(z3);
  Z3_params_inc_ref(z3, params);
  Z3_params_set_bool(z3, params, Z3_mk_string_symbol(z3, "ctrl_c"), false);
  Z3_solver_set_params(z3, solver, params);
  Z3_params_dec_ref(z3, params);
}

/* ---- Spacer ---- */

Z3_fixedpoint z3_builder_fixedpoint(struct z3_builder *m) {
  static const char *const off[] = {"xform.slice", "xform.inline_eager", "xform.inline_linear"};
  Z3_fixedpoint f = Z3_mk_fixedpoint(m->z3);
  Z3_fixedpoint_inc_ref(m->z3, f);
  Z3_params params = Z3_mk_params(m->z3);
  Z3_params_inc_ref(m->z3, params);
  Z3_params_set_symbol(m->z3, params, Z3_mk_string_symbol(m->z3, "engine"), Z3_mk_string_symbol(m->z3, "spacer"));
  for (size_t i = 0; i < sizeof off / sizeof *off; i++)
    Z3_params_set_bool(m->z3, params, Z3_mk_string_symbol(m->z3, off[i]), false);
  Z3_fixedpoint_set_params(m->z3, f, params);
  Z3_params_dec_ref(m->z3, params);
  return f;
}

Z3_func_decl z3_builder_relation(struct z3_builder *m, const char *name, const Z3_ast *over, uint32_t n) {
  VEC(Z3_sort) sorts = {0};
  for (uint32_t i = 0; i < n; i++)
    vec_push(&sorts, Z3_get_sort(m->z3, over[i]));
  Z3_func_decl f = Z3_mk_func_decl(m->z3, Z3_mk_string_symbol(m->z3, name), n, sorts.at, m->truths);
  z3_builder_keep(m, Z3_func_decl_to_ast(m->z3, f));
  vec_release(&sorts);
  return f;
}

Z3_ast z3_builder_clause(struct z3_builder *m, Z3_ast body, Z3_ast head, const Z3_ast *variables, uint32_t n) {
  VEC(Z3_app) bound = {0};
  Z3_ast clause = z3_builder_keep(m, Z3_mk_implies(m->z3, body, head));
  for (uint32_t i = 0; i < n; i++)
    vec_push(&bound, Z3_to_app(m->z3, variables[i]));
  if (n > 0)
    clause = z3_builder_keep(m, Z3_mk_forall_const(m->z3, 0, n, bound.at, 0, NULL, clause));
  vec_release(&bound);
  return clause;
}

static bool is_app(struct z3_builder *m, Z3_ast term, Z3_decl_kind kind) {
  return Z3_get_ast_kind(m->z3, term) == Z3_APP_AST &&
         Z3_get_decl_kind(m->z3, Z3_get_app_decl(m->z3, Z3_to_app(m->z3, term))) == kind;
}

static Z3_ast argument(struct z3_builder *m, Z3_ast term, unsigned i) {
  return z3_builder_keep(m, Z3_get_app_arg(m->z3, Z3_to_app(m->z3, term), i));
}

/* forall x. P(x) == body, or P == body for a predicate without arguments. The arguments are distinct bound variables in
   some order; `variables` replace them. */
static Z3_ast one_definition(struct z3_builder *m, Z3_ast term, Z3_func_decl predicate, const Z3_ast *variables,
                             uint32_t n) {
  bool bound = Z3_get_ast_kind(m->z3, term) == Z3_QUANTIFIER_AST;
  Z3_ast body = bound ? z3_builder_keep(m, Z3_get_quantifier_body(m->z3, term)) : term;
  if (!is_app(m, body, Z3_OP_EQ) && !is_app(m, body, Z3_OP_IFF) && !is_app(m, body, Z3_OP_IMPLIES))
    return NULL;
  Z3_ast left = argument(m, body, 0), right = argument(m, body, 1);
  if (Z3_get_ast_kind(m->z3, left) != Z3_APP_AST ||
      !Z3_is_eq_func_decl(m->z3, Z3_get_app_decl(m->z3, Z3_to_app(m->z3, left)), predicate))
    return NULL;
  if (!bound || n == 0)
    return right;
  unsigned nbound = Z3_get_quantifier_num_bound(m->z3, term);
  VEC(Z3_ast) ours = {0};
  for (unsigned i = 0; i < nbound; i++)
    vec_push(&ours, variables[0]);
  bool known = nbound <= n;
  for (uint32_t i = 0; i < n && known; i++) {
    Z3_ast place = argument(m, left, i);
    known = Z3_get_ast_kind(m->z3, place) == Z3_VAR_AST && Z3_get_index_value(m->z3, place) < nbound;
    if (known)
      ours.at[Z3_get_index_value(m->z3, place)] = variables[i];
  }
  Z3_ast found = known ? z3_builder_keep(m, Z3_substitute_vars(m->z3, right, nbound, ours.at)) : NULL;
  vec_release(&ours);
  return found;
}

Z3_ast z3_builder_definition(struct z3_builder *m, Z3_ast answer, Z3_func_decl predicate, const Z3_ast *variables,
                             uint32_t n) {
  if (!is_app(m, answer, Z3_OP_AND))
    return one_definition(m, answer, predicate, variables, n);
  unsigned parts = Z3_get_app_num_args(m->z3, Z3_to_app(m->z3, answer));
  Z3_ast found = NULL;
  for (unsigned i = 0; i < parts && !found; i++)
    found = z3_builder_definition(m, argument(m, answer, i), predicate, variables, n);
  return found;
}
