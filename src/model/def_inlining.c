#include "model/def_inlining.h"

/* A call stays a call if its def can call itself, and beyond these limits. */
#define DEPTH_MAX 32     /* calls within calls */
#define NODES_MAX 100000 /* in the expression, arguments counted wherever they stand */

struct inline_budget {
  const bool *recursive; /* by def: it can come to call itself */
  uint64_t nodes;        /* so far */
};

struct inline_context {
  struct model *model;
  struct inline_budget *budget;
  uint32_t base;  /* added to the slots of the body being copied */
  uint32_t nargs; /* its first slots are these arguments */
  struct node **args;
  uint64_t *arg_nodes; /* how many each of them has */
  unsigned depth;
};

static struct node *copy_node(const struct inline_context *, const struct node *);

static bool largest_slot(void *context, const struct node *n) {
  uint32_t *largest = context;
  if ((n->op == NODE_SLOT || n->op == NODE_SENDER) && n->index + 1 > *largest)
    *largest = n->index + 1;
  for (uint32_t i = 0; i < n->ngen; i++)
    if (n->gen[i].slot + 1 > *largest)
      *largest = n->gen[i].slot + 1;
  return true;
}

static struct node *expand_call(const struct inline_context *in, const struct node *call) {
  struct model *m = in->model;
  const struct def *def = &m->defs[call->index];
  struct inline_context inner = {
      .model = m, .budget = in->budget, .base = m->nslots, .nargs = def->nargs, .depth = in->depth + 1};
  inner.args = arena_array(&m->arena, def->nargs + 1, sizeof *inner.args);
  inner.arg_nodes = arena_array(&m->arena, def->nargs + 1, sizeof *inner.arg_nodes);
  for (uint32_t i = 0; i < call->n; i++) {
    uint64_t before = in->budget->nodes;
    inner.args[i] = copy_node(in, call->kid[i]);
    inner.arg_nodes[i] = in->budget->nodes - before;
  }
  uint32_t slots = 0;
  node_walk(def->body, largest_slot, &slots);
  m->nslots += slots;
  return copy_node(&inner, def->body);
}

static struct node *copy_node(const struct inline_context *in, const struct node *n) {
  struct model *m = in->model;
  if (!n)
    return NULL;
  if (n->op == NODE_SLOT && n->index < in->nargs) {
    in->budget->nodes += in->arg_nodes[n->index];
    return in->args[n->index];
  }
  if (n->op == NODE_CALL && in->depth < DEPTH_MAX && in->budget->nodes < NODES_MAX && !in->budget->recursive[n->index])
    return expand_call(in, n);
  in->budget->nodes++;
  struct node *c = arena_copy(&m->arena, n, sizeof *n);
  if (n->op == NODE_SLOT || n->op == NODE_SENDER)
    c->index += in->base;
  c->kid = arena_array(&m->arena, n->n + 1, sizeof *c->kid);
  for (uint32_t i = 0; i < n->n; i++)
    c->kid[i] = copy_node(in, n->kid[i]);
  c->gen = arena_array(&m->arena, n->ngen + 1, sizeof *c->gen);
  for (uint32_t i = 0; i < n->ngen; i++) {
    c->gen[i] = n->gen[i];
    c->gen[i].slot += in->base;
    c->gen[i].range = copy_node(in, n->gen[i].range);
    c->gen[i].cond = copy_node(in, n->gen[i].cond);
  }
  return c;
}

/* --- defs that call themselves --- */

struct reachable_defs {
  const struct model *model;
  bool *seen; /* by def: the expression calls it, or what it calls does */
};

static bool visit_calls(void *context, const struct node *n) {
  struct reachable_defs *r = context;
  if (n->op == NODE_CALL && !r->seen[n->index]) {
    r->seen[n->index] = true;
    node_walk(r->model->defs[n->index].body, visit_calls, r);
  }
  return true;
}

struct node *node_inlined(struct model *m, struct node *n) {
  struct arena scratch;
  if (!n || m->ndefs == 0)
    return n;
  arena_init(&scratch);
  bool *recursive = arena_array(&scratch, m->ndefs, sizeof *recursive);
  for (uint32_t d = 0; d < m->ndefs; d++) {
    struct reachable_defs called = {m, arena_array(&scratch, m->ndefs, sizeof *called.seen)};
    node_walk(m->defs[d].body, visit_calls, &called);
    recursive[d] = called.seen[d];
  }
  struct inline_budget budget = {.recursive = recursive};
  struct inline_context in = {.model = m, .budget = &budget};
  n = copy_node(&in, n);
  arena_release(&scratch);
  return n;
}
