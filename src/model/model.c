#include "model/model.h"

#include "base/memory.h"

uint32_t model_role_of(const struct model *m, value process) {
  uint32_t role = 0;
  while (role + 1 < m->nroles &&
         process >= (value)m->roles[role].first + (value)m->roles[role].count)
    role++;
  return role;
}

const char *semantics_name(enum semantics s) {
  static const char *const name[] = {"coarse", "fine", "m", "m-mp", "mp", "interleaving"};
  return name[s];
}

const struct clause *environment_fairness(const struct environment *e) {
  for (uint32_t i = 0; i < e->nclauses; i++)
    if (e->clauses[i].kind == CLAUSE_FAIR)
      return &e->clauses[i];
  return NULL;
}

uint32_t environment_marks(const struct environment *e, const struct clause **marks) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < e->nclauses && n < MARKS_MOST; i++)
    if (clause_of_runs(&e->clauses[i])) {
      if (marks)
        marks[n] = &e->clauses[i];
      n++;
    }
  return n;
}

bool environment_has_all_marks(const struct environment *e) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < e->nclauses; i++)
    n += clause_of_runs(&e->clauses[i]);
  return n <= MARKS_MOST;
}

const char *op_text(enum op op) {
  static const char *const text[] = {
#define OP(name, text, kids) text,
#include "model/ops.def"
#undef OP
  };
  return op < NODE_OPS ? text[op] : "?";
}

static void generators_walk(const struct generator *gen, uint32_t n, node_visit_fn *visit,
                            void *context) {
  for (uint32_t i = 0; i < n; i++) {
    node_walk(gen[i].range, visit, context);
    node_walk(gen[i].cond, visit, context);
  }
}

void node_walk(const struct node *node, node_visit_fn *visit, void *context) {
  if (!node || !visit(context, node))
    return;
  generators_walk(node->gen, node->ngen, visit, context);
  for (uint32_t i = 0; i < node->n; i++)
    node_walk(node->kid[i], visit, context);
}

void guard_walk(const struct guard *guard, node_visit_fn *visit, void *context) {
  generators_walk(guard->gen, guard->ngen, visit, context);
  node_walk(guard->cond, visit, context);
}

void block_walk(const struct block *block, node_visit_fn *visit, void *context) {
  for (uint32_t i = 0; i < block->n; i++) {
    const struct stmt *stmt = block->at[i];
    guard_walk(&stmt->guard, visit, context);
    for (uint32_t j = 0; j < stmt->npath; j++)
      node_walk(stmt->path[j].index, visit, context);
    node_walk(stmt->expr, visit, context);
    if (stmt->send) {
      node_walk(stmt->send->message, visit, context);
      node_walk(stmt->send->to, visit, context);
    }
    block_walk(&stmt->then, visit, context);
    block_walk(&stmt->other, visit, context);
  }
}

static bool block_halts(const struct block *b) {
  for (uint32_t i = 0; i < b->n; i++)
    if (b->at[i]->kind == STMT_HALT || block_halts(&b->at[i]->then) || block_halts(&b->at[i]->other))
      return true;
  return false;
}

bool role_halts(const struct model *m, const struct role *role) {
  for (uint32_t p = 0; p < m->npoints && role->body; p++)
    if (block_halts(&role->body[p].update) || block_halts(&role->body[p].finally))
      return true;
  for (uint32_t i = 0; i < role->nactions; i++)
    if (block_halts(&role->actions[i].body))
      return true;
  return false;
}

void model_free(struct model *m) {
  if (!m)
    return;
  values_release(&m->values);
  arena_release(&m->arena);
  memory_free(m);
}

/* --- step properties --- */

struct one_process {
  uint32_t slot;
  bool other; /* something else is looked at */
};

static bool look_at_one(void *context, const struct node *n) {
  struct one_process *l = context;
  switch (n->op) {
  case NODE_REMOTE:
  case NODE_INITIAL:
    if (n->kid[0]->op == NODE_SLOT && n->kid[0]->index == l->slot)
      return false;
    l->other = true;
    return true;
  case NODE_ROLE_SET:
  case NODE_CORRECT:
  case NODE_FAULTY:
  case NODE_ROUND_NUMBER:
  case NODE_PHASE:
  case NODE_GLOBAL:
  case NODE_PROCESS_AT:
  case NODE_NUMBER_OF:
  case NODE_CALL: /* of a def that calls itself; others were written out */
    l->other = true;
    return true;
  default:
    return true;
  }
}

bool property_step_of_one(const struct property *p) {
  const struct node *f = p->formula;
  if (!p->step || f->op != NODE_FORALL || f->ngen != 1 || f->gen[0].range->op != NODE_ROLE_SET || f->gen[0].cond ||
      f->n != 1)
    return false;
  struct one_process l = {f->gen[0].slot, false};
  node_walk(f->kid[0], look_at_one, &l);
  return !l.other;
}
