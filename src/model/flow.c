#include "model/flow.h"

#include "base/memory.h"

#include <string.h>

/* --- expressions with what they call --- */

struct deep {
  const struct model *model;
  node_visit_fn *visit;
  void *context;
  bool *seen; /* by def: gone through, or being gone through (defs may call themselves) */
};

static bool visit_deep(void *context, const struct node *n) {
  struct deep *d = context;
  if (!d->visit(d->context, n))
    return false;
  if (n->op == NODE_CALL && !d->seen[n->index]) {
    d->seen[n->index] = true;
    node_walk(d->model->defs[n->index].body, visit_deep, d);
  }
  return true;
}

void node_walk_deep(const struct model *m, const struct node *n, node_visit_fn *visit,
                    void *context) {
  struct deep d = {m, visit, context, memory_alloc(m->ndefs + 1)};
  node_walk(n, visit_deep, &d);
  memory_free(d.seen);
}

/* --- variables --- */

static bool visit_var(void *context, const struct node *n) {
  bool *matters = context;
  if (n->op == NODE_VAR)
    matters[n->index] = true;
  return true;
}

void flow_node(const struct flow *f, const struct node *n, bool *matters) {
  node_walk_deep(f->model, n, visit_var, matters);
}

void flow_guard(const struct flow *f, const struct guard *g, bool *matters) {
  for (uint32_t i = 0; i < g->ngen; i++) {
    flow_node(f, g->gen[i].range, matters);
    flow_node(f, g->gen[i].cond, matters);
  }
  flow_node(f, g->cond, matters);
}

void block_assigns(const struct block *b, bool *vars) {
  for (uint32_t i = 0; i < b->n; i++) {
    const struct stmt *s = b->at[i];
    if (s->kind == STMT_ASSIGN)
      vars[s->var] = true;
    block_assigns(&s->then, vars);
    block_assigns(&s->other, vars);
  }
}

static bool *copied(const struct flow *f, const bool *vars) {
  bool *copy = memory_alloc(f->nvars + 1);
  memcpy(copy, vars, f->nvars);
  return copy;
}

static bool add_all(const struct flow *f, bool *to, const bool *from) {
  bool grew = false;
  for (uint32_t i = 0; i < f->nvars; i++) {
    grew |= from[i] && !to[i];
    to[i] |= from[i];
  }
  return grew;
}

static void flow_if(const struct flow *f, const struct stmt *s, bool *matters) {
  bool *other = copied(f, matters);
  flow_block(f, &s->then, matters);
  flow_block(f, &s->other, other);
  add_all(f, matters, other);
  flow_guard(f, &s->guard, matters);
  memory_free(other);
}

/* The body runs any number of times, so what matters before it matters after it, too. */
static void flow_foreach(const struct flow *f, const struct stmt *s, bool *matters) {
  bool *body;
  bool grew;
  do {
    body = copied(f, matters);
    flow_block(f, &s->then, body);
    grew = add_all(f, matters, body);
    memory_free(body);
  } while (grew);
  if (f->mode == FLOW_KEY)
    block_assigns(&s->then, matters);
}

static void flow_assign(const struct flow *f, const struct stmt *s, bool *matters) {
  if (s->npath == 0)
    matters[s->var] = false;
  else if (f->mode == FLOW_KEY)
    matters[s->var] = true;
  for (uint32_t i = 0; i < s->npath; i++)
    flow_node(f, s->path[i].index, matters);
  flow_node(f, s->expr, matters);
}

static void flow_stmt(const struct flow *f, const struct stmt *s, bool *matters) {
  switch (s->kind) {
  case STMT_IF:
    flow_if(f, s, matters);
    break;
  case STMT_LET:
    flow_node(f, s->expr, matters);
    break;
  case STMT_ASSIGN:
    flow_assign(f, s, matters);
    break;
  case STMT_FOREACH:
    flow_foreach(f, s, matters);
    break;
  case STMT_HALT: /* nothing after it happens */
    memset(matters, 0, f->nvars);
    if (f->halted)
      add_all(f, matters, f->halted);
    break;
  case STMT_SEND:
    flow_node(f, s->send->message, matters);
    flow_node(f, s->send->to, matters);
    break;
  }
}

void flow_block(const struct flow *f, const struct block *b, bool *matters) {
  for (uint32_t i = b->n; i-- > 0;)
    flow_stmt(f, b->at[i], matters);
}
