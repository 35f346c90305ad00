#include "model/node.h"

#include "base/memory.h"

/* --- expressions with what they call --- */

struct deep_walk {
  const struct model *model;
  node_visit_fn *visit;
  void *context;
  bool *seen; /* by def: visited, or being visited (defs may call themselves) */
};

static bool visit_deep(void *context, const struct node *n) {
  struct deep_walk *d = context;
  if (!d->visit(d->context, n))
    return false;
  if (n->op == NODE_CALL && !d->seen[n->index]) {
    d->seen[n->index] = true;
    node_walk(d->model->defs[n->index].body, visit_deep, d);
  }
  return true;
}

static struct deep_walk deep_walk_init(const struct model *m, node_visit_fn *visit, void *context) {
  return (struct deep_walk){m, visit, context, memory_alloc(m->ndefs + 1)};
}

void node_walk_deep(const struct model *m, const struct node *n, node_visit_fn *visit, void *context) {
  struct deep_walk d = deep_walk_init(m, visit, context);
  node_walk(n, visit_deep, &d);
  memory_free(d.seen);
}

void guard_walk_deep(const struct model *m, const struct guard *g, node_visit_fn *visit, void *context) {
  struct deep_walk d = deep_walk_init(m, visit, context);
  guard_walk(g, visit_deep, &d);
  memory_free(d.seen);
}

void send_walk_deep(const struct model *m, const struct send *s, node_visit_fn *visit, void *context) {
  struct deep_walk d = deep_walk_init(m, visit, context);
  send_walk(s, visit_deep, &d);
  memory_free(d.seen);
}

void stmt_walk_deep(const struct model *m, const struct stmt *s, node_visit_fn *visit, void *context) {
  struct deep_walk d = deep_walk_init(m, visit, context);
  stmt_walk(s, visit_deep, &d);
  memory_free(d.seen);
}

/* --- what an expression contains --- */

struct node_search {
  unsigned traits;
  enum op op;
  bool (*is)(const struct node *);
  bool found;
};

static bool search_traits(void *context, const struct node *n) {
  struct node_search *s = context;
  s->found |= (op_traits(n->op) & s->traits) != 0;
  return !s->found;
}

static bool search_op(void *context, const struct node *n) {
  struct node_search *s = context;
  s->found |= n->op == s->op || !op_is_known(n->op);
  return !s->found;
}

static bool search_if(void *context, const struct node *n) {
  struct node_search *s = context;
  s->found |= !op_is_known(n->op) || s->is(n);
  return !s->found;
}

bool node_has_op(const struct node *n, enum op op) {
  struct node_search s = {.op = op};
  node_walk(n, search_op, &s);
  return s.found;
}

bool node_has_traits(const struct node *n, unsigned traits) {
  struct node_search s = {.traits = traits};
  node_walk(n, search_traits, &s);
  return s.found;
}

bool node_has(const struct node *n, bool (*is)(const struct node *)) {
  struct node_search s = {.is = is};
  node_walk(n, search_if, &s);
  return s.found;
}

bool node_has_op_deep(const struct model *m, const struct node *n, enum op op) {
  struct node_search s = {.op = op};
  node_walk_deep(m, n, search_op, &s);
  return s.found;
}

bool node_has_traits_deep(const struct model *m, const struct node *n, unsigned traits) {
  struct node_search s = {.traits = traits};
  node_walk_deep(m, n, search_traits, &s);
  return s.found;
}

/* --- comparing, making --- */

const struct type *otherwise_found(const struct node *otherwise) {
  const struct node *left = otherwise->kid[0];
  return op_may_be_empty(left->op) || left->type->kind != TYPE_OPTION ? left->type : left->type->element;
}

uint32_t otherwise_wraps(const struct node *otherwise) {
  return option_depth_beyond(otherwise->type, otherwise_found(otherwise));
}

bool node_equal(const struct node *a, const struct node *b) {
  if (!a || !b)
    return a == b;
  if (!op_is_known(a->op) || a->op != b->op || a->index != b->index || a->constant != b->constant || a->n != b->n ||
      a->ngen != b->ngen || a->type != b->type || a->primed != b->primed)
    return false;
  for (uint32_t i = 0; i < a->ngen; i++)
    if (a->gen[i].slot != b->gen[i].slot || a->gen[i].type != b->gen[i].type ||
        !node_equal(a->gen[i].range, b->gen[i].range) || !node_equal(a->gen[i].cond, b->gen[i].cond))
      return false;
  for (uint32_t i = 0; i < a->n; i++)
    if (!node_equal(a->kid[i], b->kid[i]))
      return false;
  return true;
}

bool node_same_value(const struct node *a, const struct node *b, bool across_step) {
  if (!op_is_known(a->op) || a->op != b->op || a->index != b->index || a->constant != b->constant || a->n != b->n ||
      a->ngen || b->ngen || (a->primed != b->primed && !across_step))
    return false;
  if (a->op == NODE_DOMAIN && a->type->element != b->type->element)
    return false;
  for (uint32_t i = 0; i < a->n; i++)
    if (!node_same_value(a->kid[i], b->kid[i], across_step))
      return false;
  return true;
}

struct node *node_make(struct arena *arena, enum op op, struct span at, const struct type *type, uint32_t n) {
  struct node *made = arena_alloc(arena, sizeof *made);
  *made = (struct node){.op = op, .at = at, .type = type, .n = n, .kid = arena_array(arena, n + 1, sizeof *made->kid)};
  return made;
}
