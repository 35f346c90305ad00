#include "analysis/read_sets.h"

#include "analysis/dataflow.h"
#include "base/memory.h"

#include <string.h>

#define KNOWN_DEPTH 16

struct read_set_walk {
  const struct model *model;
  struct read_set *reads;
  struct arena *arena;
  bool *assigned; /* by variable: maybe, before the place that is looked at */
  uint32_t named_cap;
};

/* --- senders that are known before anything is received --- */

static bool same_node(const struct node *a, const struct node *b) {
  if (!op_is_known(a->op) || a->op != b->op || a->index != b->index || a->constant != b->constant ||
      a->primed != b->primed || a->n != b->n || a->ngen || b->ngen)
    return false;
  for (uint32_t i = 0; i < a->n; i++)
    if (!same_node(a->kid[i], b->kid[i]))
      return false;
  return true;
}

static bool is_nonzero_constant(const struct node *n) {
  return (n->op == NODE_CONST || n->op == NODE_PARAM) && n->constant > 0;
}

/* Can the expression be evaluated before the update, with the same value, and without failing?
   `from(q)` may stand where it is not always reached, so an argument that can fail is not for
   evaluating in advance. */
static bool known_before(const struct read_set_walk *r, const struct node *n, unsigned depth) {
  if (depth > KNOWN_DEPTH) /* a def that calls itself, for one */
    return false;
  bool parts = false; /* known if its parts are */
  switch (op_number(n->op)) {
  case NODE_CONST:
  case NODE_PARAM:
  case NODE_GLOBAL:
  case NODE_ME:
  case NODE_LOOP:
  case NODE_PHASE:
    return true;
  case NODE_VAR:
    return !r->assigned[n->index];
  case NODE_CALL:
    /* only names for something known: an argument would be a slot of the def's own frame */
    return n->n == 0 && known_before(r, r->model->defs[n->index].body, depth + 1);
  case NODE_DIV:
  case NODE_MOD:
    parts = is_nonzero_constant(n->kid[1]);
    break;
  case NODE_ADD:
  case NODE_SUB:
    parts = n->type->kind != TYPE_INT; /* which may leave 64 bits */
    break;
  case NODE_OTHERWISE:
    parts = n->kid[0]->op == NODE_VAR || n->kid[0]->op == NODE_GLOBAL;
    break;
  case NODE_NUMBER_OF:
  case NODE_PROCESS_AT:
  case NODE_SELECT:
  case NODE_WRAP:
  case NODE_EQ:
  case NODE_NE:
  case NODE_NOT:
  case NODE_AND:
  case NODE_OR:
  case NODE_IF:
    parts = true;
    break;
  }
  for (uint32_t i = 0; i < n->n && parts; i++)
    parts = known_before(r, n->kid[i], depth + 1);
  return parts;
}

static void add_named(struct read_set_walk *r, const struct node *sender) {
  struct read_set *out = r->reads;
  for (uint32_t i = 0; i < out->nnamed; i++)
    if (same_node(out->named[i], sender))
      return;
  if (out->nnamed == r->named_cap) {
    uint32_t cap = r->named_cap ? 2 * r->named_cap : 4;
    const struct node **grown = arena_array(r->arena, cap, sizeof *grown);
    if (out->nnamed)
      memcpy(grown, out->named, out->nnamed * sizeof *grown);
    out->named = grown;
    r->named_cap = cap;
  }
  out->named[out->nnamed++] = sender;
}

/* --- what an expression reads --- */

static void received_as(struct read_set *reads, enum received_use use) {
  if (reads->received < use)
    reads->received = use;
}

static bool is_received(const struct node *n) { return n->op == NODE_RECEIVED; }

static void look_at_received(struct read_set *reads, const struct node *n) {
  for (uint32_t i = 0; i < n->ngen; i++)
    if (is_received(n->gen[i].range) && (op_traits(n->op) & TRAIT_MULTIPLICITY))
      reads->counts = true;
  for (uint32_t i = 0; i < n->n; i++)
    if (is_received(n->kid[i]) && n->op != NODE_IN)
      reads->counts = true;
}

static void read_senders(struct read_set *reads) {
  received_as(reads, RECEIVED_SENDERS);
  reads->counts = true;
}

static void read_from(struct read_set_walk *r, const struct node *n) {
  if (known_before(r, n->kid[0], 0)) {
    add_named(r, n->kid[0]);
    received_as(r->reads, RECEIVED_NAMED);
    r->reads->counts = true;
  } else {
    read_senders(r->reads);
  }
}

static bool visit_read(void *context, const struct node *n) {
  struct read_set_walk *r = context;
  struct read_set *reads = r->reads;
  unsigned traits = op_traits(n->op);
  look_at_received(reads, n);
  if (n->op == NODE_CARD && n->kid[0]->op == NODE_HEARD) { /* how many, not who */
    received_as(reads, RECEIVED_CONTENT);
    reads->counts = true;
    return false;
  }
  reads->me |= (traits & TRAIT_SELF) != 0;
  reads->globals |= (traits & TRAIT_SHARED) != 0;
  reads->chooses |= (traits & TRAIT_CHOOSES) != 0;
  reads->phase |= (traits & TRAIT_CLOCK) && n->op != NODE_LOOP; /* which is the same whenever the round comes */
  if (n->op == NODE_FROM)
    read_from(r, n);
  else if (traits & TRAIT_SENDERS)
    read_senders(reads);
  else if (traits & TRAIT_MESSAGES)
    received_as(reads, RECEIVED_CONTENT);
  return true;
}

static void read_node(struct read_set_walk *r, const struct node *n) {
  if (n)
    node_walk_deep(r->model, n, visit_read, r);
}

static void read_guard(struct read_set_walk *r, const struct guard *g) {
  for (uint32_t i = 0; i < g->ngen; i++) {
    read_node(r, g->gen[i].range);
    read_node(r, g->gen[i].cond);
    if (g->nused && g->gen[i].range->type->kind != TYPE_OPTION) /* there may be several */
      r->reads->chooses = true;
  }
  read_node(r, g->cond);
}

/* In the order of the text: what is marked assigned may have been assigned before what follows. */
static void read_block(struct read_set_walk *r, const struct block *b) {
  for (uint32_t i = 0; i < b->n; i++) {
    const struct stmt *s = b->at[i];
    read_guard(r, &s->guard);
    read_node(r, s->expr);
    for (uint32_t k = 0; k < s->npath; k++)
      read_node(r, s->path[k].index);
    if (s->kind == STMT_FOREACH) {
      received_as(r->reads, RECEIVED_CONTENT);
      r->reads->counts = true;
      r->reads->chooses = true; /* of an order */
      block_assigns(&s->then, r->assigned, NULL);
    }
    if (s->kind == STMT_ASSIGN && !s->shared)
      r->assigned[s->var] = true;
    read_block(r, &s->then);
    read_block(r, &s->other);
  }
}

static struct read_set *reads_new(const struct role *role, struct arena *arena) {
  struct read_set *reads = arena_alloc(arena, sizeof *reads);
  reads->vars = arena_array(arena, role->nvars + 1, sizeof *reads->vars);
  reads->writes = arena_array(arena, role->nvars + 1, sizeof *reads->writes);
  return reads;
}

struct read_set *read_set_of_sends(const struct model *m, uint32_t role, uint32_t point, struct arena *arena) {
  const struct role *who = &m->roles[role];
  const struct body *body = &who->body[point];
  struct read_set *reads = reads_new(who, arena);
  struct flow flow = {.model = m, .mode = FLOW_KEY, .nvars = who->nvars};
  struct read_set_walk r = {.model = m, .reads = reads, .arena = arena};
  r.assigned = memory_alloc(who->nvars + 1);
  for (uint32_t i = 0; i < body->nsends; i++) {
    const struct send *s = &body->sends[i];
    read_guard(&r, &s->guard);
    read_node(&r, s->message);
    read_node(&r, s->to);
    flow_guard(&flow, &s->guard, reads->vars);
    flow_node(&flow, s->message, reads->vars);
    flow_node(&flow, s->to, reads->vars);
  }
  memory_free(r.assigned);
  return reads;
}

struct read_set *read_set_of_update(const struct model *m, uint32_t role, uint32_t point, struct arena *arena) {
  const struct role *who = &m->roles[role];
  const struct body *body = &who->body[point];
  struct read_set *reads = reads_new(who, arena);
  struct flow flow = {.model = m, .mode = FLOW_KEY, .nvars = who->nvars};
  flow_block(&flow, &body->finally, reads->vars);
  flow_block(&flow, &body->update, reads->vars);
  block_assigns(&body->update, reads->writes, NULL);
  block_assigns(&body->finally, reads->writes, NULL);
  struct read_set_walk r = {.model = m, .reads = reads, .arena = arena};
  r.assigned = memory_alloc(who->nvars + 1);
  read_block(&r, &body->update);
  read_block(&r, &body->finally);
  memory_free(r.assigned);
  return reads;
}
