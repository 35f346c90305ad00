#include "model/def_inlining.h"

#include "base/vec.h"
#include "model/node.h"

/* A call stays a call if its def can call itself, if an error of an argument would be lost, and beyond these limits. */
#define DEPTH_MAX 32     /* calls within calls */
#define NODES_MAX 100000 /* in the expression, arguments counted wherever they stand */

enum def_recursion { RECURSION_UNKNOWN, NOT_RECURSIVE, RECURSIVE };

struct inline_budget {
  uint64_t nodes;                /* so far */
  enum def_recursion *recursion; /* by def: can it call itself, directly or not? */
  uint32_t *seen;                /* by def: the last search that came to it */
  uint32_t search;               /* number of searches so far */
  VEC(uint32_t) todo;            /* defs that the current search has still to visit */
};

struct inline_context {
  struct model *model;
  struct inline_budget *budget;
  uint32_t base;  /* added to the slots of the body being copied */
  uint32_t nargs; /* its first slots are these arguments */
  struct node **args;
  uint64_t *arg_nodes; /* how many each of them has */
  bool *arg_fails;     /* whether each of them may fail */
  unsigned depth;
};

static struct node *copy_node(const struct inline_context *, const struct node *);

/* --- arguments are evaluated before the body --- */

static bool may_be_byzantine(const struct model *m) {
  for (uint32_t i = 0; i < m->nenvironments; i++)
    for (uint32_t k = 0; k < m->environments[i].nclauses; k++)
      if (m->environments[i].clauses[k].kind == CLAUSE_BYZANTINE)
        return true;
  return false;
}

static bool field_may_be_missing(const struct model *m, const struct node *n) {
  const struct type *process = n->kid[0]->type;
  const uint32_t *var = m->fields[n->index].var;
  for (uint32_t r = 0; r < m->nroles; r++)
    if (var[r] == UINT32_MAX && (process->role == ROLE_ANY || process->role == r))
      return true;
  return may_be_byzantine(m);
}

/* Cautious: an operator with TRAIT_FAILS may fail, except arithmetic with bounds and fields that every process has. */
static bool argument_may_fail(const struct inline_context *in, const struct node *n) {
  if (n->op == NODE_SLOT && n->index < in->nargs)
    return in->arg_fails[n->index];
  if (op_traits(n->op) & (TRAIT_FAILS | TRAIT_UNKNOWN)) {
    bool bounded = (n->op == NODE_ADD || n->op == NODE_SUB || n->op == NODE_MUL || n->op == NODE_NEG) &&
                   n->type->kind == TYPE_RANGE;
    bool field = n->op == NODE_REMOTE || n->op == NODE_INITIAL || n->op == NODE_ORACLE;
    if (!bounded && !(field && !field_may_be_missing(in->model, n)))
      return true;
  }
  for (uint32_t i = 0; i < n->n; i++)
    if (n->kid[i] && argument_may_fail(in, n->kid[i]))
      return true;
  for (uint32_t i = 0; i < n->ngen; i++)
    if (argument_may_fail(in, n->gen[i].range) || (n->gen[i].cond && argument_may_fail(in, n->gen[i].cond)))
      return true;
  return false;
}

/* Is the local name evaluated whenever the expression is? False if in doubt. */
static bool always_evaluates(const struct node *n, uint32_t slot) {
  uint32_t strict = 0; /* the first `strict` operands are always evaluated */
  switch ((unsigned)n->op) {
  case NODE_SLOT:
    return n->index == slot;
  case NODE_EQ:
  case NODE_NE:
  case NODE_LT:
  case NODE_LE:
  case NODE_GT:
  case NODE_GE:
  case NODE_ADD:
  case NODE_SUB:
  case NODE_MUL:
  case NODE_DIV:
  case NODE_MOD:
  case NODE_NEG:
  case NODE_NOT:
  case NODE_CARD:
  case NODE_REMOTE:
  case NODE_SELECT:
  case NODE_WRAP:
  case NODE_NARROW:
  case NODE_RECORD:
  case NODE_CALL:
    strict = n->n;
    break;
  case NODE_AND:
  case NODE_OR:
  case NODE_IMPLIES:
  case NODE_OTHERWISE:
    strict = 1;
    break;
  case NODE_IF:
    if (always_evaluates(n->kid[1], slot) && always_evaluates(n->kid[2], slot))
      return true;
    strict = 1;
    break;
  }
  for (uint32_t i = 0; i < strict; i++)
    if (always_evaluates(n->kid[i], slot))
      return true;
  return n->ngen && always_evaluates(n->gen[0].range, slot);
}

/* Written out, an argument is evaluated where the body reads it. An error in one that the body does not always read
   would be lost, so such a call stays a call. */
static bool keeps_errors(const struct inline_context *in, const struct node *call) {
  const struct model *m = in->model;
  for (uint32_t i = 0; i < call->n; i++)
    if (argument_may_fail(in, call->kid[i]) && !always_evaluates(m->defs[call->index].body, i))
      return false;
  return true;
}

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
  inner.arg_fails = arena_array(&m->arena, def->nargs + 1, sizeof *inner.arg_fails);
  for (uint32_t i = 0; i < call->n; i++) {
    uint64_t before = in->budget->nodes;
    inner.args[i] = copy_node(in, call->kid[i]);
    inner.arg_nodes[i] = in->budget->nodes - before;
    inner.arg_fails[i] = argument_may_fail(in, call->kid[i]);
  }
  uint32_t slots = 0;
  node_walk(def->body, largest_slot, &slots);
  m->nslots += slots;
  return copy_node(&inner, def->body);
}

/* --- defs that call themselves --- */

static bool visit_calls(void *context, const struct node *n) {
  struct inline_budget *b = context;
  if (n->op == NODE_CALL && b->seen[n->index] != b->search) {
    b->seen[n->index] = b->search;
    vec_push(&b->todo, n->index);
  }
  return true;
}

/* Can the def come to call itself? */
static bool is_recursive(const struct model *m, struct inline_budget *b, uint32_t def) {
  if (b->recursion[def] == RECURSION_UNKNOWN) {
    b->search++;
    node_walk(m->defs[def].body, visit_calls, b);
    while (b->todo.n)
      node_walk(m->defs[b->todo.at[--b->todo.n]].body, visit_calls, b);
    b->recursion[def] = b->seen[def] == b->search ? RECURSIVE : NOT_RECURSIVE;
  }
  return b->recursion[def] == RECURSIVE;
}

static struct node *copy_node(const struct inline_context *in, const struct node *n) {
  struct model *m = in->model;
  if (!n)
    return NULL;
  if (n->op == NODE_SLOT && n->index < in->nargs) {
    in->budget->nodes += in->arg_nodes[n->index];
    return in->args[n->index];
  }
  if (n->op == NODE_CALL && in->depth < DEPTH_MAX && in->budget->nodes < NODES_MAX &&
      !is_recursive(m, in->budget, n->index) && keeps_errors(in, n))
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

struct node *node_inlined(struct model *m, struct node *n) {
  struct arena scratch;
  if (!n || !node_has_op(n, NODE_CALL))
    return n;
  arena_init(&scratch);
  struct inline_budget budget = {.recursion = arena_array(&scratch, m->ndefs, sizeof *budget.recursion),
                                 .seen = arena_array(&scratch, m->ndefs, sizeof *budget.seen)};
  struct inline_context in = {.model = m, .budget = &budget};
  n = copy_node(&in, n);
  vec_release(&budget.todo);
  arena_release(&scratch);
  return n;
}
