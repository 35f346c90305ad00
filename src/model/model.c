#include "model/model.h"

#include "base/memory.h"

uint32_t model_role_of(const struct model *m, value process) {
  uint32_t role = 0;
  while (role + 1 < m->nroles &&
         process >= (value)m->roles[role].first + (value)m->roles[role].count)
    role++;
  return role;
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
    block_walk(&stmt->then, visit, context);
    block_walk(&stmt->other, visit, context);
  }
}

void model_free(struct model *m) {
  if (!m)
    return;
  values_release(&m->values);
  arena_release(&m->arena);
  memory_free(m);
}
