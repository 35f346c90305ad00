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
  else if (!op_is_known(n->op)) /* it may read everything */
    memset(r->matters, true, r->flow->nvars + r->flow->nglobals);
  return true;
}

void flow_node(const struct flow *f, const struct node *n, bool *matters) {
  struct flow_reader r = {f, matters};
  node_walk_deep(f->model, n, visit_var, &r);
}

void flow_guard(const struct flow *f, const struct guard *g, bool *matters) {
  struct flow_reader r = {f, matters};
  guard_walk_deep(f->model, g, visit_var, &r);
}

void flow_send(const struct flow *f, const struct send *s, bool *matters) {
  struct flow_reader r = {f, matters};
  send_walk_deep(f->model, s, visit_var, &r);
}

bool guard_chooses(const struct guard *g) {
  for (uint32_t i = 0; i < g->ngen && g->nused; i++)
    if (g->gen[i].range->type->kind != TYPE_OPTION) /* an option gives one binding at most */
      return true;
  return false;
}

struct assigned_flags {
  bool *vars, *shared;
};

static void visit_assign(void *context, const struct stmt *s) {
  const struct assigned_flags *a = context;
  bool *assigned = s->shared ? a->shared : a->vars;
  if (s->kind == STMT_ASSIGN && assigned)
    assigned[s->var] = true;
}

void block_assigns(const struct block *b, bool *vars, bool *shared) {
  block_visit(b, visit_assign, &(struct assigned_flags){vars, shared});
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

/* The body is executed any number of times: a fixed point. */
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

static void flow_reads(const struct flow *f, const struct stmt *s, bool *matters) {
  struct flow_reader r = {f, matters};
  stmt_walk_deep(f->model, s, visit_var, &r);
}

static void flow_assign(const struct flow *f, const struct stmt *s, bool *matters) {
  bool *var = !s->shared ? &matters[s->var] : f->nglobals ? &matters[f->nvars + s->var] : NULL;
  if (var && s->npath == 0)
    *var = false;
  else if (var && f->mode == FLOW_KEY)
    *var = true;
  flow_reads(f, s, matters);
}

static void flow_stmt(const struct flow *f, const struct stmt *s, bool *matters) {
  switch (s->kind) {
  case STMT_IF:
    flow_if(f, s, matters);
    break;
  case STMT_LET:
  case STMT_SEND:
    flow_reads(f, s, matters);
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
  }
}

void flow_block(const struct flow *f, const struct block *b, bool *matters) {
  for (uint32_t i = b->n; i-- > 0;)
    flow_stmt(f, b->at[i], matters);
}
