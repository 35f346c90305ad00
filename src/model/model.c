#include "model/model.h"

#include "base/memory.h"

uint32_t model_role_of(const struct model *m, value process) {
  uint32_t role = 0;
  while (role + 1 < m->nroles && process >= (value)m->roles[role].first + (value)m->roles[role].count)
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

uint32_t environment_run_clauses(const struct environment *e, const struct clause **found) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < e->nclauses && n < RUN_CLAUSES_MAX; i++)
    if (clause_is_of_runs(&e->clauses[i])) {
      if (found)
        found[n] = &e->clauses[i];
      n++;
    }
  return n;
}

bool environment_run_clauses_fit(const struct environment *e) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < e->nclauses; i++)
    n += clause_is_of_runs(&e->clauses[i]);
  return n <= RUN_CLAUSES_MAX;
}

const char *op_text(enum op op) {
  static const char *const text[] = {
#define OP(name, text, kids, traits) text,
#include "model/ops.def"
#undef OP
  };
  return op_is_known(op) ? text[op] : "?";
}

enum { /* as ops.def writes them */
       PURE = 0,
       NAME = TRAIT_NAME,
       OWN = TRAIT_OWN,
       SELF = TRAIT_SELF,
       SHARED = TRAIT_SHARED,
       CLOCK = TRAIT_CLOCK,
       MESSAGES = TRAIT_MESSAGES,
       SENDERS = TRAIT_SENDERS,
       PROCESSES = TRAIT_PROCESSES,
       STATUS = TRAIT_STATUS,
       NUMBERED = TRAIT_NUMBERED,
       FIELD = TRAIT_FIELD,
       HEARD_OF = TRAIT_HEARD_OF,
       BINDS = TRAIT_BINDS,
       MULTIPLICITY = TRAIT_MULTIPLICITY,
       ORDERS = TRAIT_ORDERS,
       CHOOSES = TRAIT_CHOOSES,
       FAILS = TRAIT_FAILS,
       CALLS = TRAIT_CALLS,
       TEMPORAL = TRAIT_TEMPORAL,
       FLIGHT = TRAIT_FLIGHT
};

bool op_may_be_empty(enum op op) {
  return op == NODE_MIN || op == NODE_MAX || op == NODE_PICK || op == NODE_RANDOM || op == NODE_MAJORITY ||
         op == NODE_FIRST || op == NODE_LAST;
}

unsigned op_traits(enum op op) {
  static const unsigned traits[] = {
#define OP(name, text, kids, traits) traits,
#include "model/ops.def"
#undef OP
  };
  return op_is_known(op) ? traits[op] : ~0u;
}

static void generators_walk(const struct generator *gen, uint32_t n, node_visit_fn *visit, void *context) {
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

void send_walk(const struct send *send, node_visit_fn *visit, void *context) {
  guard_walk(&send->guard, visit, context);
  node_walk(send->message, visit, context);
  node_walk(send->to, visit, context);
}

void stmt_walk(const struct stmt *stmt, node_visit_fn *visit, void *context) {
  guard_walk(&stmt->guard, visit, context);
  for (uint32_t i = 0; i < stmt->npath; i++)
    node_walk(stmt->path[i].index, visit, context);
  node_walk(stmt->expr, visit, context);
  if (stmt->send)
    send_walk(stmt->send, visit, context);
}

void block_visit(const struct block *block, stmt_visit_fn *visit, void *context) {
  for (uint32_t i = 0; i < block->n; i++) {
    visit(context, block->at[i]);
    block_visit(&block->at[i]->then, visit, context);
    block_visit(&block->at[i]->other, visit, context);
  }
}

struct expression_walk {
  node_visit_fn *visit;
  void *context;
};

static void walk_expressions(void *context, const struct stmt *stmt) {
  const struct expression_walk *w = context;
  stmt_walk(stmt, w->visit, w->context);
}

void block_walk(const struct block *block, node_visit_fn *visit, void *context) {
  block_visit(block, walk_expressions, &(struct expression_walk){visit, context});
}

static void visit_halt(void *halts, const struct stmt *stmt) { *(bool *)halts |= stmt->kind == STMT_HALT; }

bool block_halts(const struct block *b) {
  bool halts = false;
  block_visit(b, visit_halt, &halts);
  return halts;
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
