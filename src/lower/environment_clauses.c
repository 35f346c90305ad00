#include "lower/environment_clauses.h"

#include "model/node.h"

const struct clause *clause_of_kind(const struct environment *env, enum clause_kind kind) {
  for (uint32_t i = 0; i < env->nclauses; i++)
    if (env->clauses[i].kind == kind)
      return &env->clauses[i];
  return NULL;
}

const struct clause *environment_unknown_clause(const struct environment *env) {
  for (uint32_t i = 0; i < env->nclauses; i++) {
    switch (env->clauses[i].kind) {
    case CLAUSE_CRASH:
    case CLAUSE_OMIT:
    case CLAUSE_BYZANTINE:
    case CLAUSE_LOST:
    case CLAUSE_CORRUPTED:
    case CLAUSE_EVERY:
    case CLAUSE_FROM_ROUND:
    case CLAUSE_SYNCHRONOUS:
    case CLAUSE_DUPLICATED:
    case CLAUSE_CHANNELS:
      continue;
    case CLAUSE_OFTEN: /* liveness: no constraint on finite runs */
    case CLAUSE_FINALLY:
    case CLAUSE_ONCE:
    case CLAUSE_FAIR:
      continue;
    }
    return &env->clauses[i];
  }
  return NULL;
}

int64_t fault_limit(const struct environment *env, enum clause_kind kind, uint32_t role, bool recovering,
                    int64_t most) {
  int64_t left = most;
  for (uint32_t i = 0; i < env->nclauses; i++) {
    const struct clause *c = &env->clauses[i];
    if (c->kind == kind && c->role == role && (!recovering || c->recovers))
      left -= c->limit < left ? c->limit : left;
  }
  return most - left;
}

bool clause_is_about_round(const struct model *m, const struct clause *c, uint32_t point) {
  return (c->kind == CLAUSE_EVERY || c->kind == CLAUSE_FROM_ROUND) &&
         (c->name_id == NO_NAME || m->points[point].name_id == c->name_id);
}

bool clause_reads_heard_of(const struct model *m, const struct clause *c) {
  return contains_op(m, c->pred, NODE_HO) || contains_op(m, c->pred, NODE_SHO);
}

bool environment_may_corrupt(const struct model *m, const struct environment *env) {
  bool found = clause_of_kind(env, CLAUSE_CORRUPTED) != NULL;
  for (uint32_t i = 0; i < env->nclauses; i++)
    if (env->clauses[i].kind == CLAUSE_EVERY || env->clauses[i].kind == CLAUSE_FROM_ROUND)
      found |= contains_op(m, env->clauses[i].pred, NODE_SHO);
  return found;
}

/* ---- operators in the text ---- */

struct op_search {
  const struct model *model;
  enum op op;
  bool found;
};

static bool find_op(void *context, const struct node *n) {
  struct op_search *k = context;
  k->found |= n->op == k->op || !op_is_known(n->op);
  return !k->found;
}

static bool find_op_deep(void *context, const struct node *n) {
  struct op_search *k = context;
  if (!k->found)
    node_walk_deep(k->model, n, find_op, k);
  return false; /* its subexpressions were visited already */
}

bool contains_op(const struct model *m, const struct node *n, enum op op) {
  struct op_search k = {m, op, false};
  node_walk(n, find_op_deep, &k);
  return k.found;
}

bool rounds_contain_op(const struct model *m, enum op op) {
  struct op_search k = {m, op, false};
  for (uint32_t r = 0; r < m->nroles; r++)
    for (uint32_t p = 0; p < m->npoints && !k.found; p++) {
      const struct body *b = &m->roles[r].body[p];
      for (uint32_t i = 0; i < b->nsends; i++) {
        guard_walk(&b->sends[i].guard, find_op_deep, &k);
        node_walk(b->sends[i].message, find_op_deep, &k);
        node_walk(b->sends[i].to, find_op_deep, &k);
      }
      block_walk(&b->update, find_op_deep, &k);
      block_walk(&b->finally, find_op_deep, &k);
    }
  return k.found;
}
