#include "symbolic/z3_terms.h"

/* The default handler ends the program; errors are read where they matter. */
static void keep_going(Z3_context z3, Z3_error_code code) {
  (void)z3;
  (void)code;
}

void maker_init(struct z3_maker *m, Z3_config config) {
  m->z3 = Z3_mk_context_rc(config);
  Z3_set_error_handler(m->z3, keep_going);
  m->trail.at = NULL;
  m->trail.n = m->trail.cap = 0;
  m->integers = Z3_mk_int_sort(m->z3);
  Z3_inc_ref(m->z3, Z3_sort_to_ast(m->z3, m->integers));
  m->truths = Z3_mk_bool_sort(m->z3);
  Z3_inc_ref(m->z3, Z3_sort_to_ast(m->z3, m->truths));
}

void maker_release(struct z3_maker *m) {
  maker_forget(m);
  vec_release(&m->trail);
  Z3_dec_ref(m->z3, Z3_sort_to_ast(m->z3, m->integers));
  Z3_dec_ref(m->z3, Z3_sort_to_ast(m->z3, m->truths));
  Z3_del_context(m->z3);
}

Z3_ast maker_keep(struct z3_maker *m, Z3_ast term) {
  if (term) {
    Z3_inc_ref(m->z3, term);
    vec_push(&m->trail, term);
  }
  return term;
}

void maker_forget(struct z3_maker *m) {
  for (size_t i = m->trail.n; i-- > 0;)
    Z3_dec_ref(m->z3, m->trail.at[i]);
  vec_clear(&m->trail);
}

Z3_ast maker_number(struct z3_maker *m, int64_t x) {
  return maker_keep(m, Z3_mk_int64(m->z3, x, m->integers));
}

Z3_ast maker_and(struct z3_maker *m, const Z3_ast *terms, uint32_t n) {
  if (n == 1)
    return terms[0];
  return maker_keep(m, n ? Z3_mk_and(m->z3, n, terms) : Z3_mk_true(m->z3));
}

Z3_ast maker_or(struct z3_maker *m, const Z3_ast *terms, uint32_t n) {
  if (n == 1)
    return terms[0];
  return maker_keep(m, n ? Z3_mk_or(m->z3, n, terms) : Z3_mk_false(m->z3));
}

Z3_ast maker_not(struct z3_maker *m, Z3_ast term) { return maker_keep(m, Z3_mk_not(m->z3, term)); }

Z3_ast maker_sum(struct z3_maker *m, const int64_t *row, uint32_t width, const Z3_ast *variables) {
  VEC(Z3_ast) parts = {0};
  for (uint32_t i = 1; i < width; i++) {
    if (row[i] == 0)
      continue;
    Z3_ast product[2] = {NULL, variables[i - 1]};
    if (row[i] != 1) {
      product[0] = maker_number(m, row[i]);
      product[1] = maker_keep(m, Z3_mk_mul(m->z3, 2, product));
    }
    vec_push(&parts, product[1]);
  }
  if (row[0] || parts.n == 0)
    vec_push(&parts, maker_number(m, row[0]));
  Z3_ast sum =
      parts.n == 1 ? parts.at[0] : maker_keep(m, Z3_mk_add(m->z3, (unsigned)parts.n, parts.at));
  vec_release(&parts);
  return sum;
}

Z3_ast maker_constraint(struct z3_maker *m, const int64_t *row, uint32_t width, bool equal,
                        const Z3_ast *variables) {
  Z3_ast sum = maker_sum(m, row, width, variables), zero = maker_number(m, 0);
  return maker_keep(m, equal ? Z3_mk_eq(m->z3, sum, zero) : Z3_mk_ge(m->z3, sum, zero));
}

Z3_ast maker_cube(struct z3_maker *m, const struct cube *c, const Z3_ast *variables) {
  VEC(Z3_ast) all = {0};
  if (c->empty)
    return maker_keep(m, Z3_mk_false(m->z3));
  for (uint32_t i = 0; i < c->n; i++)
    vec_push(&all, maker_constraint(m, cube_row(c, i), c->width, c->equal.at[i], variables));
  Z3_ast term = maker_and(m, all.at, (uint32_t)all.n);
  vec_release(&all);
  return term;
}
