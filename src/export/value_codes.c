/* Values of finite types as single numbers: how choices, messages and channels of a program represent them. */
#include "export/lower.h"

static uint64_t checked(struct model_lowering *l, __uint128_t n, struct span at) {
  if (n > (uint64_t)1 << 20)
    refuse(l, at, "this has more than a million values, too many to number");
  return (uint64_t)n;
}

uint64_t code_count(struct model_lowering *l, const struct type *t, struct span at) {
  __uint128_t n = 1;
  switch (t->kind) {
  case TYPE_OPTION:
    return checked(l, (__uint128_t)code_count(l, t->element, at) + 1, at);
  case TYPE_SET:
    if (t->element->count > 20)
      refuse(l, at, "this has more than a million values, too many to number");
    return (uint64_t)1 << t->element->count;
  case TYPE_RECORD:
  case TYPE_ARRAY:
    for (uint32_t i = 0; i < part_count(t); i++)
      n = checked(l, n * code_count(l, part_type(t, i), at), at);
    return (uint64_t)n;
  case TYPE_SEQUENCE:
    refuse(l, at, "a sequence in a message cannot be written in this format");
  case TYPE_INT:
  case TYPE_ROUND:
    refuse(l, at, "a number without bound in a message cannot be written in this format");
  case TYPE_BOOL:
  case TYPE_RANGE:
  case TYPE_ENUM:
  case TYPE_PROCESS:
    return checked(l, t->count, at);
  case TYPE_BAG:
  case TYPE_ERROR:
    break;
  }
  refuse_unknown_type(&l->base);
}

static int64_t first_number(const struct type *t) {
  return t->kind == TYPE_RANGE ? t->lo : t->kind == TYPE_PROCESS ? t->first : 0;
}

expr_id code_of_value(struct model_lowering *l, const struct type *t, const struct sym_value *v) {
  struct expr_graph *c = l->base.graph;
  expr_id code = expr_number(c, 0);
  switch (t->kind) {
  case TYPE_BOOL:
    return expr_bool_to_int(c, v->truth);
  case TYPE_OPTION: {
    if (!v->part[0])
      return code;
    expr_id inner = expr_arithmetic(c, EXPR_ADD, code_of_value(l, t->element, v->part[0]), expr_number(c, 1));
    return expr_ite(c, v->truth, inner, code);
  }
  case TYPE_SET:
    for (uint32_t i = 0; i < t->element->count; i++) {
      expr_id in = expr_bool_to_int(c, sym_has(&l->base, v, sym_nth_value(&l->base, t->element, i)));
      code = expr_arithmetic(c, EXPR_ADD, code, expr_arithmetic(c, EXPR_MUL, expr_number(c, (int64_t)1 << i), in));
    }
    return code;
  case TYPE_RECORD:
  case TYPE_ARRAY:
    for (uint32_t i = 0; i < part_count(t); i++) {
      expr_id each = expr_number(c, (int64_t)code_count(l, part_type(t, i), (struct span){0, 0}));
      expr_id part = code_of_value(l, part_type(t, i), v->part[i]);
      code = expr_arithmetic(c, EXPR_ADD, expr_arithmetic(c, EXPR_MUL, code, each), part);
    }
    return code;
  case TYPE_RANGE:
  case TYPE_ENUM:
  case TYPE_PROCESS:
    return expr_arithmetic(c, EXPR_SUB, number_node(c, v->number), expr_number(c, first_number(t)));
  case TYPE_INT: /* code_count refuses these */
  case TYPE_ROUND:
  case TYPE_SEQUENCE:
  case TYPE_BAG:
  case TYPE_ERROR:
    break;
  }
  refuse_unknown_type(&l->base);
}

static expr_id digit(struct model_lowering *l, expr_id code, uint64_t stride, uint64_t count) {
  struct expr_graph *c = l->base.graph;
  expr_id w = expr_arithmetic(c, EXPR_DIV, code, expr_number(c, (int64_t)stride));
  return expr_arithmetic(c, EXPR_MOD, w, expr_number(c, (int64_t)count));
}

static struct sym_value *option_of_code(struct model_lowering *l, const struct type *t, expr_id code) {
  struct expr_graph *c = l->base.graph;
  expr_id there = expr_less(c, expr_number(c, 0), code);
  expr_id inner = expr_ite(c, there, expr_arithmetic(c, EXPR_SUB, code, expr_number(c, 1)), expr_number(c, 0));
  expr_assert_bounds(c, inner, 0, (int64_t)code_count(l, t->element, (struct span){0, 0}) - 1);
  return sym_option(&l->base, there, value_of_code(l, t->element, inner));
}

/* Canonical, because the first value of a type has code 0. */
struct sym_value *value_of_code(struct model_lowering *l, const struct type *t, expr_id code) {
  struct expr_graph *c = l->base.graph;
  struct sym_value *v = NULL;
  uint64_t stride = 1;
  switch (t->kind) {
  case TYPE_BOOL:
    return sym_truth(&l->base, expr_equal(c, code, expr_number(c, 1)));
  case TYPE_OPTION:
    v = option_of_code(l, t, code);
    break;
  case TYPE_SET:
    v = sym_whole_set(&l->base, t->element);
    for (uint32_t i = 0; i < t->element->count; i++) {
      uint32_t at = t->element->kind == TYPE_PROCESS ? (uint32_t)t->element->first + i : i;
      v->has[at] = expr_equal(c, digit(l, code, (uint64_t)1 << i, 2), expr_number(c, 1));
    }
    break;
  case TYPE_RECORD:
  case TYPE_ARRAY:
    v = sym_parts(&l->base, SYM_PARTS, part_count(t));
    for (uint32_t i = v->n; i-- > 0;) {
      uint64_t count = code_count(l, part_type(t, i), (struct span){0, 0});
      v->part[i] = value_of_code(l, part_type(t, i), digit(l, code, stride, count));
      stride *= count;
    }
    break;
  case TYPE_RANGE:
  case TYPE_ENUM:
  case TYPE_PROCESS:
    code = expr_arithmetic(c, EXPR_ADD, code, expr_number(c, first_number(t)));
    return sym_number(&l->base, number_at(c, code));
  case TYPE_INT: /* code_count refuses these */
  case TYPE_ROUND:
  case TYPE_SEQUENCE:
  case TYPE_BAG:
  case TYPE_ERROR:
    break;
  }
  if (!v)
    refuse_unknown_type(&l->base);
  v->layout = t;
  return v;
}
