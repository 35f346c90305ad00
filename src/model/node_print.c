/* The typed model as text: types, values, expressions. Statements and the rest are in
 * model_print.c. */
#include "model/model_print.h"

#include <inttypes.h>

static void print_record_type(const struct model *m, const struct type *t, struct text *out) {
  text_add(out, "(");
  for (uint32_t i = 0; i < t->size; i++) {
    text_addf(out, "%s%s: ", i ? ", " : "", t->fields[i].name);
    type_print(m, t->fields[i].type, out);
  }
  text_add(out, ")");
}

static void print_sequence_type(const struct model *m, const struct type *t, struct text *out) {
  text_add(out, "seq of ");
  type_print(m, t->element, out);
  text_addf(out, " up to %" PRId64 "%s", t->hi, t->distinct ? " distinct" : "");
}

static void print_enum_type(const struct type *t, struct text *out) {
  text_add(out, "{");
  for (uint32_t i = 0; i < t->size; i++)
    text_addf(out, "%s%s", i ? ", " : "", t->labels[i]);
  text_add(out, "}");
}

void type_print(const struct model *m, const struct type *t, struct text *out) {
  if (t->name) {
    text_add(out, t->name);
    return;
  }
  switch (t->kind) {
  case TYPE_BOOL:
    text_add(out, "bool");
    return;
  case TYPE_INT:
    text_add(out, "int");
    return;
  case TYPE_RANGE:
    text_addf(out, "%" PRId64 "..%" PRId64, t->lo, t->hi);
    return;
  case TYPE_ENUM:
    print_enum_type(t, out);
    return;
  case TYPE_PROCESS:
    text_add(out, t->role == ROLE_ANY ? "process" : m->roles[t->role].name);
    return;
  case TYPE_ROUND:
    text_add(out, "round");
    return;
  case TYPE_OPTION:
    type_print(m, t->element, out);
    text_add(out, "?");
    return;
  case TYPE_SET:
  case TYPE_BAG:
    text_add(out, t->kind == TYPE_SET ? "set of " : "messages of type ");
    type_print(m, t->element, out);
    return;
  case TYPE_RECORD:
    print_record_type(m, t, out);
    return;
  case TYPE_ARRAY:
    text_add(out, "[");
    type_print(m, t->index, out);
    text_add(out, "] ");
    type_print(m, t->element, out);
    return;
  case TYPE_SEQUENCE:
    print_sequence_type(m, t, out);
    return;
  case TYPE_ERROR:
    text_add(out, "?");
    return;
  }
}

static void print_parts(const struct values *values, const struct model *m, const struct type *t, value v,
                        const char *open, const char *shut, struct text *out) {
  size_t n;
  const value *part = value_parts(values, v, &n);
  text_add(out, open);
  for (size_t i = 0; i < n; i++) {
    const struct type *each = t->kind == TYPE_RECORD ? t->fields[i].type : t->element;
    text_add(out, i ? ", " : "");
    if (t->kind == TYPE_RECORD && t->fields[i].name[0] != '_')
      text_addf(out, "%s: ", t->fields[i].name);
    value_print(values, m, each, part[i], out);
  }
  text_add(out, shut);
}

static void print_set(const struct values *values, const struct model *m, const struct type *t, value v,
                      struct text *out) {
  value member;
  const char *between = "";
  text_add(out, "{");
  for (uint64_t cursor = 0; set_member(values, t, v, &cursor, &member); between = ", ") {
    text_add(out, between);
    value_print(values, m, t->element, member, out);
  }
  text_add(out, "}");
}

void value_print(const struct values *values, const struct model *m, const struct type *t, value v, struct text *out) {
  switch (t->kind) {
  case TYPE_BOOL:
    text_add(out, v ? "true" : "false");
    return;
  case TYPE_ENUM:
    text_add(out, v >= 0 && v < (value)t->size ? t->labels[v] : "?");
    return;
  case TYPE_PROCESS: {
    const struct role *role = &m->roles[model_role_of(m, v)];
    text_addf(out, "%s(%" PRId64 ")", role->name, v - (value)role->first + 1);
    return;
  }
  case TYPE_OPTION:
    if (v == VALUE_NONE)
      text_add(out, "none");
    else
      value_print(values, m, t->element, value_unwrap(v), out);
    return;
  case TYPE_SET:
    print_set(values, m, t, v, out);
    return;
  case TYPE_RECORD:
    print_parts(values, m, t, v, "(", ")", out);
    return;
  case TYPE_ARRAY:
  case TYPE_SEQUENCE:
  case TYPE_BAG:
    print_parts(values, m, t, v, "[", "]", out);
    return;
  case TYPE_INT:
  case TYPE_RANGE:
  case TYPE_ROUND:
  case TYPE_ERROR:
    text_addf(out, "%" PRId64, v);
    return;
  }
}

static void print_kids(const struct model *m, const struct node *n, const char *open, const char *shut,
                       struct text *out) {
  text_add(out, open);
  for (uint32_t i = 0; i < n->n; i++) {
    text_add(out, i ? ", " : "");
    node_print(m, n->kid[i], out);
  }
  text_add(out, shut);
}

static void print_generators(const struct model *m, const struct node *n, struct text *out) {
  for (uint32_t i = 0; i < n->ngen; i++) {
    text_addf(out, "%s%s#%u in ", i ? ", " : "", n->gen[i].name, n->gen[i].slot);
    node_print(m, n->gen[i].range, out);
    if (n->gen[i].cond) {
      text_add(out, " if ");
      node_print(m, n->gen[i].cond, out);
    }
  }
}

/* name(element for generators) */
static void print_over(const struct model *m, const struct node *n, const char *open, const char *shut,
                       struct text *out) {
  text_add(out, open);
  node_print(m, n->kid[0], out);
  text_add(out, " for ");
  print_generators(m, n, out);
  text_add(out, shut);
}

static void print_infix(const struct model *m, const struct node *n, struct text *out) {
  text_add(out, "(");
  node_print(m, n->kid[0], out);
  text_addf(out, " %s ", op_text(n->op));
  node_print(m, n->kid[1], out);
  text_add(out, ")");
}

static void print_quantifier(const struct model *m, const struct node *n, struct text *out) {
  text_addf(out, n->op == NODE_COUNT ? "%s(" : "(%s ", op_text(n->op));
  print_generators(m, n, out);
  text_add(out, ": ");
  node_print(m, n->kid[0], out);
  text_add(out, ")");
}

static void print_heard_of(const struct model *m, const struct node *n, struct text *out) {
  text_addf(out, "%s[", op_text(n->op));
  node_print(m, n->kid[0], out);
  text_addf(out, n->index == NO_NAME ? "]" : ", %s]", n->index == NO_NAME ? "" : m->round_names[n->index]);
}

static void print_field_of(const struct model *m, const struct node *n, struct text *out) {
  const char *name = m->fields[n->index].name;
  if (n->op == NODE_INITIAL)
    text_add(out, "initial(");
  if (n->op == NODE_ORACLE)
    text_addf(out, "%s[", name);
  node_print(m, n->kid[0], out);
  if (n->op == NODE_ORACLE)
    text_add(out, "]");
  else
    text_addf(out, ".%s%s%s", name, n->primed ? "'" : "", n->op == NODE_INITIAL ? ")" : "");
}

static void print_call(const struct model *m, const struct node *n, const char *name, struct text *out) {
  text_add(out, name);
  print_kids(m, n, "(", ")", out);
}

void node_print(const struct model *m, const struct node *n, struct text *out) {
  if (!n) {
    text_add(out, "true");
    return;
  }
  switch (op_number(n->op)) {
  case NODE_CONST:
    value_print(&m->values, m, n->type, n->constant, out);
    return;
  case NODE_PARAM:
    text_add(out, m->params[n->index].name);
    return;
  case NODE_SLOT:
    text_addf(out, "#%u", n->index);
    return;
  case NODE_VAR:
    text_addf(out, "var%u", n->index);
    return;
  case NODE_GLOBAL:
    text_addf(out, "%s%s", m->globals[n->index].name, n->primed ? "'" : "");
    return;
  case NODE_SENDER:
    text_addf(out, "sender(#%u)", n->index);
    return;
  case NODE_ROLE_SET:
    text_add(out, n->index == ROLE_ANY ? "all" : m->roles[n->index].name);
    return;
  case NODE_PROCESS_AT:
    print_call(m, n, m->roles[n->index].name, out);
    return;
  case NODE_CALL:
    print_call(m, n, m->defs[n->index].name, out);
    return;
  case NODE_DOMAIN:
    type_print(m, n->type->element, out);
    return;
  case NODE_REMOTE:
  case NODE_INITIAL:
  case NODE_ORACLE:
    print_field_of(m, n, out);
    return;
  case NODE_HO:
  case NODE_SHO:
    print_heard_of(m, n, out);
    return;
  case NODE_CARD:
    print_kids(m, n, "|", "|", out);
    return;
  case NODE_SET:
    print_kids(m, n, "{", "}", out);
    return;
  case NODE_SEQUENCE:
    print_kids(m, n, "[", "]", out);
    return;
  case NODE_RECORD:
    print_kids(m, n, "(", ")", out);
    return;
  case NODE_SET_OF:
    print_over(m, n, "{", "}", out);
    return;
  case NODE_ARRAY_OF:
    print_over(m, n, "[", "]", out);
    return;
  case NODE_EXISTS:
  case NODE_FORALL:
  case NODE_COUNT:
    print_quantifier(m, n, out);
    return;
  case NODE_SELECT:
    node_print(m, n->kid[0], out);
    text_addf(out, ".%s", n->kid[0]->type->fields[n->index].name);
    return;
  case NODE_INDEX:
    node_print(m, n->kid[0], out);
    text_add(out, "[");
    node_print(m, n->kid[1], out);
    text_add(out, "]");
    return;
  case NODE_NEG:
    text_add(out, "-");
    node_print(m, n->kid[0], out);
    return;
  case NODE_IF:
    print_kids(m, n, "if(", ")", out);
    return;
  }
  if (n->ngen) {
    text_add(out, op_text(n->op));
    print_over(m, n, "(", ")", out);
  } else if (n->n == 2)
    print_infix(m, n, out);
  else if (n->n)
    print_call(m, n, op_text(n->op), out);
  else
    text_add(out, op_text(n->op));
}
