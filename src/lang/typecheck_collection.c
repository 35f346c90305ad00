/* Collections and their users: generators, quantifiers, comprehensions. */
#include "lang/foreign.h"
#include "lang/typecheck_expr.h"
#include "lang/typecheck_nodes.h"
#include "lang/typecheck_reach.h"
#include "lang/typecheck_scope.h"
#include "lang/typecheck_types.h"
#include "lang/typechecker.h"

#include <string.h>

/* ---- collections ---- */

static struct node *lower_interval(struct typechecker *c, const struct ast *a) {
  struct node *lo = lower_expr(c, a->kid[0]), *hi = lower_expr(c, a->kid[1]);
  struct node *each[] = {lo, hi};
  for (int i = 0; i < 2; i++) {
    if (node_is_error(each[i]))
      return each[i];
    if (!type_is_number(each[i]->type)) {
      checker_error(c, E0303, each[i]->at, "'..' needs numbers, not %s", type_text(c, each[i]->type));
      return node_error(c, a->at);
    }
  }
  bool bounded = lo->type->kind == TYPE_RANGE && hi->type->kind == TYPE_RANGE && lo->type->lo <= hi->type->hi;
  const struct type *element = bounded ? range_type(c, lo->type->lo, hi->type->hi) : c->integer;
  return node_binary(c, NODE_INTERVAL, a->at, set_type(c, element), lo, hi);
}

static struct node *lower_domain(struct typechecker *c, const struct ast *a, const struct type *type) {
  if (!type || type == c->error)
    return node_error(c, a->at);
  if (type->count > ELEMENTS_MAX) {
    checker_error(c, E0309, a->at, "%s has too many values to go through", type_text(c, type));
    return node_error(c, a->at);
  }
  return node_new(c, NODE_DOMAIN, a->at, set_type(c, type), 0);
}

static struct node *lower_subsets(struct typechecker *c, const struct ast *a) {
  if (a->n != 1) {
    checker_error(c, E0307, a->word, "'subsets' needs one set");
    return node_error(c, a->at);
  }
  struct node *of = lower_collection(c, a->kid[0]);
  if (node_is_error(of))
    return of;
  if (of->type->kind != TYPE_SET || of->op == NODE_INTERVAL || of->op == NODE_SUBSETS) {
    checker_error(c, E0303, a->kid[0]->at, "'subsets' needs a set, not %s", type_text(c, of->type));
    return node_error(c, a->at);
  }
  return node_unary(c, NODE_SUBSETS, a->at, set_type(c, of->type), of);
}

static bool is_collection(const struct type *t) {
  return t->kind == TYPE_SET || t->kind == TYPE_OPTION || t->kind == TYPE_SEQUENCE || t->kind == TYPE_BAG;
}

struct node *lower_collection(struct typechecker *c, const struct ast *a) {
  if (a->kind == AST_INTERVAL)
    return lower_interval(c, a);
  if (a->kind == AST_CALL && strcmp(a->name, "subsets") == 0 && !symbol_find(c, a->name))
    return lower_subsets(c, a);
  struct scope_symbol *s = a->kind == AST_NAME ? symbol_find(c, a->name) : NULL;
  if (s && s->kind == SYMBOL_TYPE) {
    s->used = true;
    return lower_domain(c, a, s->type);
  }
  if (a->kind == AST_NAME && !s && strcmp(a->name, "bool") == 0)
    return lower_domain(c, a, c->boolean);
  struct node *n = lower_expr(c, a);
  if (node_is_error(n) || is_collection(n->type))
    return n;
  checker_error(c, E0313, a->at, "%s is not a collection", type_text(c, n->type));
  if (type_is_number(n->type))
    checker_help(c, "a range is written 'a..b', a set '{a, b}'");
  else
    checker_help(c, "one can go through sets, options, sequences, types, roles, and what was received");
  return node_error(c, a->at);
}

uint64_t bindings_max(struct typechecker *c, const struct generator *gen, uint32_t n) {
  uint64_t most = 1;
  for (uint32_t i = 0; i < n; i++)
    if (__builtin_mul_overflow(most, collection_size_max(c, gen[i].range), &most))
      return UINT64_MAX;
  return most;
}

uint64_t collection_size_max(struct typechecker *c, const struct node *n) {
  uint64_t by_type = n->type->element->count;
  if (n->op == NODE_PENDING)
    return UINT64_MAX;
  if (n->type->kind == TYPE_BAG)
    return c->m->nprocesses;
  if (n->type->kind == TYPE_OPTION)
    return 1;
  if (n->type->kind == TYPE_SEQUENCE)
    return (uint64_t)n->type->hi;
  uint64_t made = UINT64_MAX;
  if (n->op == NODE_SET)
    made = n->n;
  else if (n->op == NODE_SET_OF)
    made = bindings_max(c, n->gen, n->ngen);
  return made < by_type ? made : by_type;
}

/* ---- generators ---- */

static void lower_generator(struct typechecker *c, const struct ast *name, const struct ast *range,
                            struct generator *out) {
  struct node *from = lower_collection(c, range);
  const struct type *type = node_is_error(from) ? c->error : from->type->element;
  if (!node_is_error(from) && !type_is_known(type)) {
    checker_error(c, E0306, range->at, "the type of '%s' is not known here", source_text(c, range->at));
    type = c->error;
  }
  *out = (struct generator){.range = from, .type = type, .name = checker_strdup(c, name->name), .at = name->word};
  out->slot = slot_new(c);
  uint64_t roles = node_is_error(from) ? ROLES_ALL : roles_of(c, from);
  slot_declare(c, out->name, name->word, out->slot, type, roles, from->op == NODE_RECEIVED || from->op == NODE_PENDING);
}

struct generator *lower_generators(struct typechecker *c, const struct ast *a, uint32_t from, uint32_t *n) {
  uint32_t total = 0, at = 0;
  for (uint32_t i = from; i < a->n; i++)
    total += a->kid[i]->kind == AST_GENERATOR ? a->kid[i]->kid[0]->n : 0;
  struct generator *gen = arena_array(&c->m->arena, total, sizeof *gen);
  for (uint32_t i = from; i < a->n; i++) {
    const struct ast *g = a->kid[i], *range = NULL;
    if (g->kind != AST_GENERATOR)
      continue;
    for (uint32_t j = i; j < a->n && !range; j++)
      range = a->kid[j]->kind == AST_GENERATOR ? a->kid[j]->kid[1] : NULL;
    for (uint32_t j = 0; j < g->kid[0]->n; j++) {
      if (!range) {
        checker_error(c, E0313, g->kid[0]->kid[j]->word, "'%s' needs a collection: '%s in ...'",
                      g->kid[0]->kid[j]->name, g->kid[0]->kid[j]->name);
        struct ast nothing = {.kind = AST_ERROR, .at = g->at};
        lower_generator(c, g->kid[0]->kid[j], &nothing, &gen[at++]);
        continue;
      }
      lower_generator(c, g->kid[0]->kid[j], range, &gen[at++]);
    }
    c->in.reach = reach_maybe(c); /* from here on, the code depends on a collection that may be empty */
    if (g->kid[2] && at)
      gen[at - 1].cond = lower_bool(c, g->kid[2], "the condition after 'if'");
  }
  *n = total;
  return gen;
}

static bool generators_bad(const struct generator *gen, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (node_is_error(gen[i].range) || gen[i].type->kind == TYPE_ERROR || (gen[i].cond && node_is_error(gen[i].cond)))
      return true;
  return false;
}

struct scope_position scope_open(const struct typechecker *c) {
  return (struct scope_position){c->locals.n, c->slots, c->in.reach};
}

void scope_close(struct typechecker *c, struct scope_position m) {
  scope_cut(&c->locals, m.locals);
  c->slots = m.slots;
  c->in.reach = m.reach;
}

static struct node *with_generators(struct typechecker *c, enum op op, struct span at, const struct type *type,
                                    struct node *kid, struct generator *gen, uint32_t ngen) {
  if (node_is_error(kid) || generators_bad(gen, ngen))
    return node_error(c, at);
  return node_over(c, op, at, type, kid, gen, ngen);
}

struct node *lower_quantifier(struct typechecker *c, const struct ast *a) {
  struct scope_position mark = scope_open(c);
  uint32_t n;
  struct generator *gen = lower_generators(c, a, 1, &n);
  const char *what = a->number == 0 ? "what 'exists' says" : "what 'forall' says";
  struct node *body = a->kid[0] ? lower_bool(c, a->kid[0], what) : node_constant(c, a->at, c->boolean, 1);
  scope_close(c, mark);
  if (!a->kid[0] && a->number != 0)
    checker_error(c, E0313, a->word, "'forall' says nothing: a condition must follow after ':'");
  return with_generators(c, a->number == 0 ? NODE_EXISTS : NODE_FORALL, a->at, c->boolean, body, gen, n);
}

struct node *lower_set_of(struct typechecker *c, const struct ast *a) {
  struct scope_position mark = scope_open(c);
  uint32_t n;
  struct generator *gen = lower_generators(c, a, 1, &n);
  struct node *element = lower_expr(c, a->kid[0]);
  scope_close(c, mark);
  if (element->type->kind == TYPE_BAG) {
    checker_error(c, E0405, a->kid[0]->at, "what was received cannot be a member of a set");
    return node_error(c, a->at);
  }
  return with_generators(c, NODE_SET_OF, a->at, set_type(c, element->type), element, gen, n);
}

struct node *lower_count(struct typechecker *c, const struct ast *a) {
  struct scope_position mark = scope_open(c);
  uint32_t n;
  struct generator *gen = lower_generators(c, a, 1, &n);
  struct node *cond = lower_bool(c, a->kid[0], "what 'count' counts");
  scope_close(c, mark);
  if (generators_bad(gen, n))
    return node_error(c, a->at);
  uint64_t most = bindings_max(c, gen, n);
  const struct type *type = most <= INT32_MAX ? range_type(c, 0, (int64_t)most) : c->integer;
  return with_generators(c, NODE_COUNT, a->at, type, cond, gen, n);
}

struct node *lower_call_over(struct typechecker *c, const struct ast *a) {
  struct scope_position mark = scope_open(c);
  uint32_t n;
  enum op op = NODE_MIN;
  bool known = is_aggregate(a->name, &op);
  struct generator *gen = lower_generators(c, a, 1, &n);
  struct node *element = lower_expr(c, a->kid[0]);
  scope_close(c, mark);
  if (!known) {
    checker_error(c, E0313, a->word, "'%s' cannot be used with 'for'", a->name);
    const char *foreign = foreign_word_help(a->name, strlen(a->name), FOREIGN_CALL);
    if (foreign)
      checker_help(c, "%s", foreign);
    else if (strcmp(a->name, "count") == 0)
      checker_help(c, "write count(m in %s: ...)", received_name_text(c));
    else
      checker_help(c, "min, max, sum, union, pick, random, mostfrequent and majority can");
    return node_error(c, a->at);
  }
  if (node_is_error(element) || generators_bad(gen, n))
    return node_error(c, a->at);
  return aggregate_over(c, a, op, element, gen, n);
}

/* ---- arrays ---- */

static const struct type *index_type(struct typechecker *c, const struct ast *range, const struct node *from) {
  const struct type *t = from->type->element;
  bool constant = from->op == NODE_INTERVAL && from->kid[0]->type->lo == from->kid[0]->type->hi &&
                  from->kid[1]->type->lo == from->kid[1]->type->hi && t->kind == TYPE_RANGE;
  if (from->op == NODE_DOMAIN || from->op == NODE_ROLE_SET || constant)
    return t;
  checker_error(c, E0314, range->at, "an array is indexed by a type, a role, or a constant range");
  return NULL;
}

struct node *lower_array_of(struct typechecker *c, const struct ast *a) {
  struct scope_position mark = scope_open(c);
  struct ast name = {.kind = AST_NAME, .name = a->name, .word = a->word, .at = a->word};
  struct generator *gen = arena_alloc(&c->m->arena, sizeof *gen);
  lower_generator(c, &name, a->kid[0], gen);
  struct node *element = lower_expr(c, a->kid[1]);
  scope_close(c, mark);
  if (node_is_error(gen->range) || node_is_error(element))
    return node_error(c, a->at);
  const struct type *index = index_type(c, a->kid[0], gen->range);
  if (!index)
    return node_error(c, a->at);
  if (index->count > ELEMENTS_MAX) {
    checker_error(c, E0309, a->kid[0]->at, "%s has too many values to index an array", type_text(c, index));
    return node_error(c, a->at);
  }
  gen->range = node_new(c, NODE_DOMAIN, a->kid[0]->at, set_type(c, index), 0);
  struct type t = {.kind = TYPE_ARRAY, .index = index, .element = element->type};
  return with_generators(c, NODE_ARRAY_OF, a->at, type_intern(c, t), element, gen, 1);
}
