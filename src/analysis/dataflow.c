#include "analysis/dataflow.h"

#include "base/memory.h"

#include <string.h>

/* --- variables --- */

struct flow_reader {
  const struct flow *flow;
  bool *matters;
};

static bool visit_var(void *context, const struct node *n) {
  const struct flow_reader *r = context;
  if (n->op == NODE_VAR)
    r->matters[n->index] = true;
  else if (n->op == NODE_GLOBAL && r->flow->nglobals)
    r->matters[r->flow->nvars + n->index] = true;
  else if (!op_is_known(n->op)) /* it may read all of them */
    memset(r->matters, true, r->flow->nvars + r->flow->nglobals);
  return true;
}

void flow_node(const struct flow *f, const struct node *n, bool *matters) {
  struct flow_reader r = {f, matters};
  node_walk_deep(f->model, n, visit_var, &r);
}

void flow_guard(const struct flow *f, const struct guard *g, bool *matters) {
  for (uint32_t i = 0; i < g->ngen; i++) {
    flow_node(f, g->gen[i].range, matters);
    flow_node(f, g->gen[i].cond, matters);
  }
  flow_node(f, g->cond, matters);
}

void block_assigns(const struct block *b, bool *vars, bool *shared) {
  for (uint32_t i = 0; i < b->n; i++) {
    const struct stmt *s = b->at[i];
    bool *assigned = s->shared ? shared : vars;
    if (s->kind == STMT_ASSIGN && assigned)
      assigned[s->var] = true;
    block_assigns(&s->then, vars, shared);
    block_assigns(&s->other, vars, shared);
  }
}

static uint32_t flags(const struct flow *f) { return f->nvars + f->nglobals; }

static bool *copied(const struct flow *f, const bool *vars) {
  bool *copy = memory_alloc(flags(f) + 1);
  memcpy(copy, vars, flags(f));
  return copy;
}

static bool add_all(const struct flow *f, bool *to, const bool *from) {
  bool grew = false;
  for (uint32_t i = 0; i < flags(f); i++) {
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
    block_assigns(&s->then, matters, f->nglobals ? matters + f->nvars : NULL);
}

static void flow_assign(const struct flow *f, const struct stmt *s, bool *matters) {
  bool *var = !s->shared ? &matters[s->var] : f->nglobals ? &matters[f->nvars + s->var] : NULL;
  if (var && s->npath == 0)
    *var = false;
  else if (var && f->mode == FLOW_KEY)
    *var = true;
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
    memset(matters, 0, flags(f));
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
