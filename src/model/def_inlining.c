#include "model/def_inlining.h"

#include <string.h>

#define DEPTH_MAX 32 /* of calls within calls: beyond it, or when it goes round in circles, a call stays a call */

struct inline_context {
  struct model *model;
  uint32_t base;  /* added to the slots of the body being copied */
  uint32_t nargs; /* its first slots are these arguments */
  struct node **args;
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
  struct inline_context inner = {.model = m, .base = m->nslots, .nargs = def->nargs, .depth = in->depth + 1};
  inner.args = arena_array(&m->arena, def->nargs + 1, sizeof *inner.args);
  for (uint32_t i = 0; i < call->n; i++)
    inner.args[i] = copy_node(in, call->kid[i]);
  uint32_t slots = 0;
  node_walk(def->body, largest_slot, &slots);
  m->nslots += slots;
  return copy_node(&inner, def->body);
}

static struct node *copy_node(const struct inline_context *in, const struct node *n) {
  struct model *m = in->model;
  if (!n)
    return NULL;
  if (n->op == NODE_SLOT && n->index < in->nargs)
    return in->args[n->index];
  if (n->op == NODE_CALL && in->depth < DEPTH_MAX)
    return expand_call(in, n);
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

struct call_cycle_search {
  const struct model *model;
  const uint32_t sought;
  bool *seen;
  bool found;
};

static bool look_calls(void *context, const struct node *n) {
  struct call_cycle_search *c = context;
  if (n->op != NODE_CALL || c->found)
    return !c->found;
  if (n->index == c->sought)
    c->found = true;
  if (!c->seen[n->index]) {
    c->seen[n->index] = true;
    node_walk(c->model->defs[n->index].body, look_calls, c);
  }
  return true;
}

static bool look_any_cycle(void *context, const struct node *n) {
  struct call_cycle_search *c = context;
  if (n->op != NODE_CALL)
    return true;
  for (uint32_t d = 0; d < c->model->ndefs && !c->found; d++) {
    bool *seen = c->seen;
    memset(seen, 0, c->model->ndefs * sizeof *seen);
    struct call_cycle_search inner = {c->model, d, seen, false};
    node_walk(c->model->defs[d].body, look_calls, &inner);
    c->found |= inner.found;
  }
  return !c->found;
}

struct node *node_inlined(struct model *m, struct node *n) {
  bool calls = false;
  struct call_cycle_search c = {m, UINT32_MAX, arena_array(&m->arena, m->ndefs + 1, sizeof(bool)), false};
  if (!n || m->ndefs == 0)
    return n;
  node_walk(n, look_any_cycle, &c);
  calls = c.found;
  if (calls) /* some def goes round in circles: everything stays as it is */
    return n;
  struct inline_context in = {.model = m};
  return copy_node(&in, n);
}
