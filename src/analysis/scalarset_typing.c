#include "analysis/scalarset_typing.h"

#include "analysis/dataflow.h"
#include "analysis/model_visitor.h"

/* --- where a type contains the scalarset --- */

static bool is_leaf(const struct scalarset *o, const struct type *t) {
  return o->value ? t == o->value : t->kind == TYPE_ROUND;
}

static bool is_scalarset(const void *o, const struct type *t) { return is_leaf(o, t); }
static bool is_indexed(const void *o, const struct type *t) { return scalarset_occurs_in(o, t->index); }

bool scalarset_occurs_in(const struct scalarset *o, const struct type *t) { return type_any(t, is_scalarset, o); }
bool scalarset_indexes(const struct scalarset *o, const struct type *t) { return type_any(t, is_indexed, o); }

/* Does the scalarset occur at the same places in both? The type of `none` and `{}` agrees with every type. */
static bool agree(const struct scalarset *o, const struct type *a, const struct type *b) {
  if (!a || !b || a == b || a->kind == TYPE_ERROR || b->kind == TYPE_ERROR)
    return true;
  if (!scalarset_occurs_in(o, a) && !scalarset_occurs_in(o, b))
    return true;
  if (is_leaf(o, a) || is_leaf(o, b))
    return is_leaf(o, a) && is_leaf(o, b);
  if (a->kind != b->kind)
    return false;
  if (!agree(o, a->element, b->element) || !agree(o, a->index, b->index))
    return false;
  if (a->kind == TYPE_RECORD) {
    if (a->size != b->size)
      return false;
    for (uint32_t i = 0; i < a->size; i++)
      if (!agree(o, a->fields[i].type, b->fields[i].type))
        return false;
  }
  return true;
}

/* A constant that a renaming of the values would change. Of rounds, 0 is older than all others and stays. */
static bool is_particular(const struct scalarset *o, const struct node *n) {
  return value_holds(&o->model->values, n->type, n->constant, is_scalarset, o, o->value ? VALUE_NONE : 0);
}

/* --- one operator --- */

struct scalarset_walk {
  const struct scalarset *o;
  const struct visit_site *site;
};

static void event(const struct scalarset_walk *l, enum scalarset_event e, const struct node *n) {
  l->o->raise(l->o->context, e, n, l->site->place == SITE_INITIAL);
}

static void same(const struct scalarset_walk *l, const struct node *n, const struct type *a, const struct type *b) {
  if (!agree(l->o, a, b))
    event(l, SCALARSET_MIXED, n);
}

static bool has(const struct scalarset_walk *l, const struct node *n) { return scalarset_occurs_in(l->o, n->type); }

static bool any_kid_has(const struct scalarset_walk *l, const struct node *n) {
  for (uint32_t i = 0; i < n->n; i++)
    if (has(l, n->kid[i]))
      return true;
  return false;
}

static void kids_are(const struct scalarset_walk *l, const struct node *n, const struct type *t) {
  for (uint32_t i = 0; i < n->n; i++)
    same(l, n->kid[i], n->kid[i]->type, t);
}

static void look_otherwise(const struct scalarset_walk *l, const struct node *n) {
  const struct type *found = n->type;
  for (uint32_t i = otherwise_wraps(n); i > 0; i--)
    found = found->element;
  same(l, n, otherwise_found(n), found);
  same(l, n, n->kid[1]->type, n->type);
}

static void look_field(const struct scalarset_walk *l, const struct node *n) {
  const struct model *m = l->o->model;
  const struct field *field = &m->fields[n->index];
  same(l, n, n->type, field->type);
  for (uint32_t r = 0; r < m->nroles; r++)
    if (field->var[r] != UINT32_MAX)
      same(l, n, field->type, m->roles[r].vars[field->var[r]].type);
}

struct argument_check {
  const struct scalarset_walk *look;
  const struct node *call;
};

static bool visit_argument(void *context, const struct node *n) {
  struct argument_check *a = context;
  if (n->op == NODE_SLOT && n->index < a->call->n)
    same(a->look, a->call, a->call->kid[n->index]->type, n->type);
  return true;
}

static void look_call(const struct scalarset_walk *l, const struct node *n) {
  const struct def *def = &l->o->model->defs[n->index];
  struct argument_check a = {l, n};
  node_walk(def->body, visit_argument, &a);
  same(l, n, n->type, def->type);
  same(l, n, def->body->type, def->type);
}

/* Operators on collections, records, arrays and sequences; false: it is none of these. */
static bool look_structure(const struct scalarset_walk *l, const struct node *n) {
  const struct type *t = n->type;
  switch (op_number(n->op)) {
  case NODE_SET:
  case NODE_SEQUENCE:
  case NODE_SET_OF:
  case NODE_MOSTFREQUENT:
  case NODE_ARRAY_OF:
  case NODE_WRAP:
    kids_are(l, n, t->element);
    if (n->op == NODE_ARRAY_OF)
      same(l, n, n->gen[0].type, t->index);
    return true;
  case NODE_UNION_OF:
  case NODE_PICK:
  case NODE_RANDOM:
  case NODE_MAJORITY:
  case NODE_NARROW:
  case NODE_UNION:
  case NODE_INTERSECTION:
  case NODE_DIFFERENCE:
  case NODE_APPEND:
  case NODE_FRONT:
    kids_are(l, n, t);
    return true;
  case NODE_RECORD:
    for (uint32_t i = 0; i < n->n; i++)
      same(l, n->kid[i], n->kid[i]->type, t->fields[i].type);
    return true;
  case NODE_SELECT:
    same(l, n, t, n->kid[0]->type->fields[n->index].type);
    return true;
  case NODE_INDEX:
    same(l, n, n->kid[1]->type, n->kid[0]->type->index);
    same(l, n, t, n->kid[0]->type->element);
    return true;
  case NODE_FIRST:
  case NODE_LAST:
    same(l, n, t, n->kid[0]->type->element);
    return true;
  case NODE_SUBSETS:
    same(l, n, n->kid[0]->type, t->element);
    return true;
  }
  return false;
}

static bool look_comparison(const struct scalarset_walk *l, const struct node *n) {
  switch (op_number(n->op)) {
  case NODE_EQ:
  case NODE_NE:
  case NODE_SUBSET:
    same(l, n, n->kid[0]->type, n->kid[1]->type);
    return true;
  case NODE_LT:
  case NODE_LE:
  case NODE_GT:
  case NODE_GE:
    same(l, n, n->kid[0]->type, n->kid[1]->type);
    if (any_kid_has(l, n))
      event(l, SCALARSET_ORDER, n);
    return true;
  case NODE_MIN:
  case NODE_MAX:
    kids_are(l, n, n->type);
    if (any_kid_has(l, n))
      event(l, SCALARSET_ORDER, n);
    return true;
  case NODE_IN:
    same(l, n, n->kid[0]->type, n->kid[1]->type->element);
    return true;
  }
  return false;
}

static bool domain_has(const struct scalarset_walk *l, const struct node *n) {
  return n->op == NODE_DOMAIN && scalarset_occurs_in(l->o, n->type->element);
}

static bool look_number(const struct scalarset_walk *l, const struct node *n) {
  switch (op_number(n->op)) {
  case NODE_CONST:
  case NODE_PARAM:
    if (is_particular(l->o, n))
      event(l, SCALARSET_LITERAL, n);
    return true;
  case NODE_ADD:
  case NODE_SUB:
  case NODE_MUL:
  case NODE_DIV:
  case NODE_NEG:
  case NODE_SUM:
  case NODE_INTERVAL:
    if (any_kid_has(l, n) || has(l, n))
      event(l, SCALARSET_ARITHMETIC, n);
    return true;
  case NODE_MOD:
  case NODE_PROCESS_AT:
    if (any_kid_has(l, n))
      event(l, SCALARSET_RESIDUE, n);
    return true;
  case NODE_CARD:
    if (domain_has(l, n->kid[0]))
      event(l, SCALARSET_SIZE, n);
    return true;
  case NODE_COUNT:
    for (uint32_t i = 0; i < n->ngen; i++)
      if (domain_has(l, n->gen[i].range))
        event(l, SCALARSET_SIZE, n);
    return true;
  }
  return false;
}

static bool takes_truth(enum op op) {
  return op == NODE_NOT || op == NODE_AND || op == NODE_OR || op == NODE_IMPLIES || op == NODE_EXISTS ||
         op == NODE_FORALL || op == NODE_ALWAYS || op == NODE_EVENTUALLY || op == NODE_UNTIL;
}

static void look_other(const struct scalarset_walk *l, const struct node *n) {
  switch (op_number(n->op)) {
  case NODE_OTHERWISE:
    look_otherwise(l, n);
    return;
  case NODE_IF:
    same(l, n->kid[1], n->kid[1]->type, n->type);
    same(l, n->kid[2], n->kid[2]->type, n->type);
    return;
  case NODE_CALL:
    look_call(l, n);
    return;
  case NODE_REMOTE:
  case NODE_INITIAL:
  case NODE_ORACLE:
    look_field(l, n);
    return;
  case NODE_RECEIVED:
  case NODE_FROM:
    if (l->site->body)
      same(l, n, n->type->element, l->site->body->received);
    if (l->site->action)
      same(l, n, n->type->element, l->o->model->messages[l->site->action->kind].type);
    return;
  }
  /* no other operator may have an operand with such values */
  if ((any_kid_has(l, n) && !takes_truth(n->op)) || !op_is_known(n->op))
    event(l, SCALARSET_MIXED, n);
}

static bool visit_node(void *context, const struct node *n) {
  const struct scalarset_walk *l = context;
  for (uint32_t i = 0; i < n->ngen; i++)
    same(l, n, n->gen[i].type, n->gen[i].range->type->element);
  if (!look_structure(l, n) && !look_comparison(l, n) && !look_number(l, n))
    look_other(l, n);
  return true;
}

/* --- all of the text --- */

static void on_node(void *context, const struct visit_site *site, const struct node *n) {
  struct scalarset_walk l = {context, site};
  node_walk_deep(l.o->model, n, visit_node, &l);
}

static void on_guard(void *context, const struct visit_site *site, const struct guard *g) {
  struct scalarset_walk l = {context, site};
  for (uint32_t i = 0; i < g->ngen; i++) {
    same(&l, g->gen[i].range, g->gen[i].type, g->gen[i].range->type->element);
    on_node(context, site, g->gen[i].range);
    if (g->gen[i].cond)
      on_node(context, site, g->gen[i].cond);
  }
  if (g->cond)
    on_node(context, site, g->cond);
}

static void on_flow(void *context, const struct visit_site *site, const struct node *n, const struct type *to) {
  struct scalarset_walk l = {context, site};
  same(&l, n, n->type, to);
}

void scalarset_check(const struct scalarset *o) {
  struct model_visitor s = {
      .model = o->model, .query = o->query, .context = (void *)o, .node = on_node, .guard = on_guard, .flow = on_flow};
  model_visit(&s);
}
