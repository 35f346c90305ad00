/* What properties read of a process at a given program point: `at(p, active) and p.r > q.r` reads p.r only if p is at
   `active`. The program point decides conditions in three-valued logic. */
#include "analysis/action_use.h"

#include "analysis/may_fail.h"
#include "analysis/three_valued.h"
#include "model/node.h"

struct reads_at_walk {
  const struct model *model;
  const struct query *query;
  const struct role *role;
  uint32_t role_index, label;
  uint32_t slot; /* the name of a process of the role that is at the label */
  bool *reads;   /* by variable of the role */
};

static bool is_viewed(const struct reads_at_walk *v, const struct node *n) {
  return n->op == NODE_SLOT && n->index == v->slot;
}

static enum ternary decide_place(const struct reads_at_walk *v, const struct node *n) {
  const struct node *where = n->kid[0], *label = n->kid[1];
  if (where->op != NODE_REMOTE || where->primed || label->op != NODE_CONST || !is_viewed(v, where->kid[0]) ||
      v->role->point_var == NO_VAR || v->model->fields[where->index].var[v->role_index] != v->role->point_var)
    return MAYBE;
  return ternary_of(label->constant == (value)v->label);
}

static enum ternary decide(void *context, const struct node *n) {
  const struct reads_at_walk *v = context;
  switch (op_number(n->op)) {
  case NODE_EQ:
    return decide_place(v, n);
  case NODE_NE:
    return ternary_not(decide_place(v, n));
  case NODE_IN:
    if (is_viewed(v, n->kid[0]) && n->kid[1]->op == NODE_ROLE_SET)
      return ternary_of(n->kid[1]->index == v->role_index || n->kid[1]->index == ROLE_ANY);
    return MAYBE;
  }
  return ternary_connective(n, decide, context);
}

/* Does the program point decide the condition? (Only in the present state: temporal operators refer to others.) */
static bool is_settled(const struct reads_at_walk *v, const struct node *n) {
  return n->type->kind == TYPE_BOOL && decide((void *)v, n) != MAYBE &&
         !node_has_traits_deep(v->model, n, TRAIT_TEMPORAL) && !node_may_fail(v->model, v->query, n, NULL, NULL);
}

static void read_field(const struct reads_at_walk *v, const struct node *n) {
  uint32_t var = v->model->fields[n->index].var[v->role_index];
  if (var != UINT32_MAX)
    v->reads[var] = true;
}

static void read_place(const struct reads_at_walk *v) {
  if (v->role->point_var != NO_VAR)
    v->reads[v->role->point_var] = true;
}

static void read_all(const struct reads_at_walk *v) {
  for (uint32_t i = 0; i < v->role->nvars; i++)
    v->reads[i] = true;
}

static bool visit_any(void *context, const struct node *n) {
  if (n->op == NODE_REMOTE)
    read_field(context, n);
  else if (n->op == NODE_DEADLOCKED)
    read_place(context);
  else if (!op_is_known(n->op))
    read_all(context);
  return true;
}

static void view(const struct reads_at_walk *v, const struct node *n) {
  if (is_settled(v, n))
    return;
  if (n->op == NODE_CALL || !op_is_known(n->op))
    node_walk_deep(v->model, n, visit_any, (void *)v);
  else if (n->op == NODE_REMOTE && (is_viewed(v, n->kid[0]) || n->kid[0]->op != NODE_SLOT || n->primed))
    read_field(v, n);
  else if (n->op == NODE_DEADLOCKED)
    read_place(v);
  for (uint32_t i = 0; i < n->ngen; i++) {
    view(v, n->gen[i].range);
    if (!n->gen[i].cond)
      continue;
    view(v, n->gen[i].cond);
    if (is_settled(v, n->gen[i].cond) && decide((void *)v, n->gen[i].cond) == NO)
      return;
  }
  for (uint32_t i = 0; i < n->n; i++)
    view(v, n->kid[i]);
}

void property_reads_at(const struct model *m, const struct query *q, uint32_t role, uint32_t label, bool *reads) {
  struct reads_at_walk v = {
      .model = m, .query = q, .role = &m->roles[role], .role_index = role, .label = label, .reads = reads};
  for (uint32_t i = 0; i < q->nproperties; i++) {
    const struct property *p = &m->properties[q->properties[i]];
    if (p->step)
      node_walk_deep(m, p->formula, visit_any, &v);
    for (v.slot = 0; v.slot <= m->nslots && !p->step; v.slot++)
      view(&v, p->formula);
  }
  for (uint32_t i = 0; i < q->natoms; i++)
    for (v.slot = 0; v.slot <= m->nslots; v.slot++)
      view(&v, q->atoms[i]);
}
