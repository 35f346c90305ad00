#include "analysis/read_sets.h"

#include "analysis/dataflow.h"
#include "base/memory.h"

#define KNOWN_DEPTH 16

struct read_set_walk {
  const struct model *model;
  struct read_set *reads;
  struct arena *arena;
  bool *assigned; /* by variable: maybe, before the place that is looked at */
  size_t named_cap;
};

/* --- senders that are known before anything is received --- */

static bool is_nonzero_constant(const struct node *n) {
  return (n->op == NODE_CONST || n->op == NODE_PARAM) && n->constant > 0;
}

/* Can the expression be evaluated before the update, with the same value, and without failing? A `from(q)` need not be
   evaluated on every path, so the evaluation of q in advance must not fail. */
static bool known_before(const struct read_set_walk *r, const struct node *n, unsigned depth) {
  if (depth > KNOWN_DEPTH) /* a recursive def, for example */
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
    /* only defs without parameters: an argument would be a slot of the def's own frame */
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
    if (node_same_value(out->named[i], sender, false))
      return;
  out->named = arena_grown(r->arena, out->named, &r->named_cap, out->nnamed, sizeof *out->named);
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
  if (n->op == NODE_CARD && n->kid[0]->op == NODE_HEARD) { /* only the number is read */
    received_as(reads, RECEIVED_CONTENT);
    reads->counts = true;
    return false;
  }
  reads->me |= (traits & TRAIT_SELF) != 0;
  reads->globals |= (traits & TRAIT_SHARED) != 0;
  reads->chooses |= (traits & TRAIT_CHOOSES) != 0;
  reads->phase |= (traits & TRAIT_CLOCK) && n->op != NODE_LOOP; /* a constant of the point */
  if (n->op == NODE_FROM)
    read_from(r, n);
  else if (traits & TRAIT_SENDERS)
    read_senders(reads);
  else if (traits & TRAIT_MESSAGES)
    received_as(reads, RECEIVED_CONTENT);
  return true;
}

/* Statements come in the order of the text: what is marked assigned may have been assigned before what follows. */
static void read_stmt(void *context, const struct stmt *s) {
  struct read_set_walk *r = context;
  stmt_walk_deep(r->model, s, visit_read, r);
  r->reads->chooses |= guard_chooses(&s->guard);
  if (s->kind == STMT_FOREACH) {
    received_as(r->reads, RECEIVED_CONTENT);
    r->reads->counts = true;
    r->reads->chooses = true; /* of an order */
    block_assigns(&s->then, r->assigned, NULL);
  }
  if (s->kind == STMT_ASSIGN && !s->shared)
    r->assigned[s->var] = true;
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
    send_walk_deep(m, &body->sends[i], visit_read, &r);
    reads->chooses |= guard_chooses(&body->sends[i].guard);
    flow_send(&flow, &body->sends[i], reads->vars);
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
  block_visit(&body->update, read_stmt, &r);
  block_visit(&body->finally, read_stmt, &r);
  memory_free(r.assigned);
  return reads;
}
