/* Data independence of the input values: are they only compared for equality (`partition`, `values`), only compared by
   order (`order`), or do particular values matter? */
#include "analysis/type_usage.h"

#include "analysis/dataflow.h"
#include "analysis/may_fail.h"
#include "analysis/model_visitor.h"
#include "analysis/range_restriction.h"
#include "analysis/scalarset_typing.h"
#include "base/memory.h"

#include <string.h>

struct value_usage_walk {
  const struct model *model;
  const struct query *query;
  struct arena *arena;
  struct value_usage *out;
  struct refusal *distinguished; /* for values_distinguished: the only result; otherwise NULL */
  struct scalarset scalarset;
  const struct visit_site *site;
  enum slot_knowledge *slots; /* of the current frame */
  bool *seen;                 /* by def: visited from the current expression */
};

static void refuse(struct refusal *r, struct span at, const char *reason) {
  if (!r->reason)
    *r = (struct refusal){reason, at};
}

/* 'text' says TYPE */
static const char *because(struct value_usage_walk *p, const char *what, const char *says) {
  return arena_printf(p->arena, "'%s' %s %s", what, says, p->out->type->name);
}

static void raise_to(struct value_usage_walk *p, enum value_use use, struct span at, const char *what,
                     const char *says) {
  struct refusal *r = use == VALUE_FIXED ? &p->out->fixed : &p->out->ordered;
  if (p->distinguished)
    r = p->distinguished;
  if (use > p->out->use)
    p->out->use = use;
  if (!r->reason)
    refuse(r, at, because(p, what, says));
}

static const char *quote(struct value_usage_walk *p, const struct node *n) {
  return source_quote(p->model, n->at, p->arena);
}

/* --- operators --- */

static void on_event(void *context, enum scalarset_event e, const struct node *n, bool initial) {
  struct value_usage_walk *p = context;
  if (p->distinguished && (initial || e == SCALARSET_SIZE)) /* a permutation keeps the size of the type */
    return;
  switch (e) {
  case SCALARSET_ORDER:
    raise_to(p, VALUE_ORDER, n->at, op_text(n->op), "orders the values of");
    break;
  case SCALARSET_LITERAL:
    raise_to(p, VALUE_FIXED, n->at, quote(p, n), "is a particular value of");
    break;
  case SCALARSET_MIXED:
    raise_to(p, VALUE_FIXED, n->at, quote(p, n), "mixes other numbers with the values of");
    break;
  case SCALARSET_ARITHMETIC:
  case SCALARSET_RESIDUE:
    raise_to(p, VALUE_FIXED, n->at, quote(p, n), "computes with the values of");
    break;
  case SCALARSET_SIZE:
    raise_to(p, VALUE_FIXED, n->at, quote(p, n), "depends on the size of");
    break;
  }
}

/* --- quantifiers over the type --- */

static bool in_process(const struct value_usage_walk *p) {
  return p->site->place == SITE_PROCESS || p->site->place == SITE_INITIAL;
}

static bool goes_through(const struct value_usage_walk *p, const struct node *range) {
  return range->op == NODE_DOMAIN && scalarset_occurs_in(&p->scalarset, range->type->element);
}

/* What the generators' bindings are for. */
struct generator_purpose {
  const struct node *body; /* a condition on the binding, or NULL */
  bool universal;
  bool yields; /* values of the binding are kept */
  struct span at;
  const char *what;
};

static void look_at_generator(struct value_usage_walk *p, const struct generator *gen, uint32_t n, uint32_t which,
                              const struct generator_purpose *purpose) {
  struct range_context q = {&p->scalarset, p->site->place, p->slots};
  if (bindings_may_fail(p->model, p->query, gen, n, purpose->body, NULL, NULL))
    refuse(&p->out->unbounded, purpose->at, because(p, purpose->what, "may fail for some of the values of"));
  if (generator_is_range_restricted(&q, gen, n, which, purpose->body, purpose->universal))
    return;
  refuse(&p->out->unbounded, purpose->at,
         because(p, purpose->what, "looks at more than the values that occur, at all of"));
  if (purpose->yields && in_process(p))
    refuse(&p->out->made_up, purpose->at, because(p, purpose->what, "chooses freely from"));
}

static void look_through(struct value_usage_walk *, const struct node *);

/* Binds the generators in order, and looks at what stands in them. */
static void look_at_generators(struct value_usage_walk *p, const struct generator *gen, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    if (!goes_through(p, gen[i].range))
      look_through(p, gen[i].range);
    struct range_context q = {&p->scalarset, p->site->place, p->slots};
    p->slots[gen[i].slot] = slot_knowledge_of(&q, gen[i].range);
    if (gen[i].cond)
      look_through(p, gen[i].cond);
  }
}

static void look_at_quantified(struct value_usage_walk *p, const struct node *n) {
  struct generator_purpose purpose = {.at = n->at, .what = op_text(n->op)};
  if (n->op == NODE_COUNT) /* SCALARSET_SIZE: it depends on the size of the type */
    return;
  if (n->op == NODE_ARRAY_OF) { /* one entry for each value, whether it occurs or not */
    if (goes_through(p, n->gen[0].range))
      refuse(&p->out->unbounded, n->at, because(p, quote(p, n), "is indexed by the values of"));
    return;
  }
  if (n->op == NODE_EXISTS || n->op == NODE_FORALL) {
    purpose.body = n->n ? n->kid[0] : NULL;
    purpose.universal = n->op == NODE_FORALL;
  } else {
    purpose.yields = true;
  }
  for (uint32_t i = 0; i < n->ngen; i++)
    if (goes_through(p, n->gen[i].range))
      look_at_generator(p, n->gen, n->ngen, i, &purpose);
}

static void look_into_def(struct value_usage_walk *p, const struct node *call) {
  if (p->seen[call->index])
    return;
  p->seen[call->index] = true;
  const struct def *def = &p->model->defs[call->index];
  enum slot_knowledge *outer = p->slots;
  p->slots = memory_alloc((p->model->nslots + 1) * sizeof *p->slots);
  for (uint32_t i = 0; i < def->nargs; i++)
    p->slots[i] = SLOT_ANY;
  look_through(p, def->body);
  memory_free(p->slots);
  p->slots = outer;
}

static void look_through(struct value_usage_walk *p, const struct node *n) {
  bool member_test = n->op == NODE_IN && goes_through(p, n->kid[1]);
  if (goes_through(p, n)) { /* the type as a set, not as the range of a generator */
    refuse(&p->out->unbounded, n->at, because(p, quote(p, n), "is the set of all values of"));
    if (in_process(p))
      refuse(&p->out->made_up, n->at, because(p, quote(p, n), "is the set of all values of"));
  }
  if (scalarset_indexes(&p->scalarset, n->type))
    refuse(&p->out->unbounded, n->at, because(p, quote(p, n), "is indexed by the values of"));
  look_at_generators(p, n->gen, n->ngen);
  look_at_quantified(p, n);
  if (n->op == NODE_CALL)
    look_into_def(p, n);
  for (uint32_t i = 0; i < n->n; i++)
    if (!(member_test && i == 1))
      look_through(p, n->kid[i]);
}

/* Generators enumerate sets and received messages in the order of their values. */
static void on_order(void *context, const struct node *n) {
  struct value_usage_walk *p = context;
  for (uint32_t i = 0; i < n->ngen; i++) {
    if (!scalarset_occurs_in(&p->scalarset, n->gen[i].type))
      continue;
    raise_to(p, VALUE_ORDER, n->at, op_text(n->op),
             "may fail before it finds what decides it, in the order of the values of");
  }
}

static void enter(struct value_usage_walk *p, const struct visit_site *site) {
  p->site = site;
  memset(p->slots, 0, (p->model->nslots + 1) * sizeof *p->slots);
  memset(p->seen, 0, p->model->ndefs + 1);
}

static void on_node(void *context, const struct visit_site *site, const struct node *n) {
  struct value_usage_walk *p = context;
  enter(p, site);
  look_through(p, n);
  node_may_fail(p->model, p->query, n, on_order, p);
}

static bool is_used(const struct guard *g, uint32_t slot) {
  for (uint32_t i = 0; i < g->nused; i++)
    if (g->used[i] == slot)
      return true;
  return false;
}

static void on_guard(void *context, const struct visit_site *site, const struct guard *g) {
  struct value_usage_walk *p = context;
  enter(p, site);
  look_at_generators(p, g->gen, g->ngen);
  if (g->cond)
    look_through(p, g->cond);
  for (uint32_t i = 0; i < g->ngen; i++) {
    if (!goes_through(p, g->gen[i].range))
      continue;
    struct generator_purpose purpose = {.body = g->cond, .at = g->gen[i].at, .what = "exists"};
    purpose.yields = is_used(g, g->gen[i].slot);
    look_at_generator(p, g->gen, g->ngen, i, &purpose);
  }
  bindings_may_fail(p->model, p->query, g->gen, g->ngen, g->cond, on_order, p);
}

/* --- declarations --- */

bool is_value_type(const struct type *t) { return (t->kind == TYPE_RANGE || t->kind == TYPE_ENUM) && t->name; }

static bool is_free(const struct var *v) { return v->kind == VAR_INPUT && !v->init; }

static const struct type *free_value_type(const struct model *m) {
  const struct type *best = NULL;
  for (uint32_t r = 0; r < m->nroles; r++)
    for (uint32_t i = 0; i < m->roles[r].nvars; i++) {
      const struct var *v = &m->roles[r].vars[i];
      if (is_free(v) && is_value_type(v->type) && m->roles[r].count > 0 && (!best || v->type->count > best->count))
        best = v->type;
    }
  return best;
}

static void look_at_var(struct value_usage_walk *p, const struct var *v, bool global) {
  const struct type *t = v->type;
  if (!scalarset_occurs_in(&p->scalarset, t))
    return;
  if (scalarset_indexes(&p->scalarset, t))
    refuse(&p->out->unbounded, v->at, because(p, v->name, "is indexed by the values of"));
  if (v->kind == VAR_ORACLE)
    refuse(&p->out->made_up, v->at, because(p, v->name, "is an oracle's choice from"));
  if (global && v->kind == VAR_INPUT)
    refuse(&p->out->shape, v->at, because(p, v->name, "is an input of the whole file with values of"));
  else if (is_free(v) && t != p->out->type)
    refuse(&p->out->shape, v->at, because(p, v->name, "is an input made of values of"));
}

/* Representatives of the initial states give each process one value of the type. */
static void look_for_second(struct value_usage_walk *p, const struct role *role) {
  const struct var *first = NULL;
  for (uint32_t i = 0; i < role->nvars; i++) {
    const struct var *v = &role->vars[i];
    if (!is_free(v) || v->type != p->out->type)
      continue;
    if (first)
      refuse(&p->out->shape, v->at, because(p, v->name, "is a second input of"));
    first = v;
  }
}

static void look_at_forgeries(struct value_usage_walk *p) {
  const struct model *m = p->model;
  const struct clause *c = environment_forging_clause(m, p->query);
  bool sent = false;
  for (uint32_t r = 0; r < m->nroles; r++)
    for (uint32_t point = 0; point < m->npoints; point++)
      sent |= scalarset_occurs_in(&p->scalarset, m->roles[r].body[point].received);
  for (uint32_t i = 0; i < m->nmessages; i++)
    sent |= scalarset_occurs_in(&p->scalarset, m->messages[i].type);
  if (c && sent)
    refuse(&p->out->made_up, c->at,
           arena_printf(p->arena, "forged messages hold any values of %s", p->out->type->name));
}

struct value_usage *value_usage_of(const struct model *m, const struct query *q, struct arena *arena) {
  struct value_usage_walk p = {.model = m, .query = q, .arena = arena};
  p.out = arena_alloc(arena, sizeof *p.out);
  p.out->type = free_value_type(m);
  if (!p.out->type) {
    p.out->none.reason = "no input of a named type is chosen freely";
    return p.out;
  }
  p.scalarset = (struct scalarset){.model = m, .query = q, .value = p.out->type, .context = &p, .raise = on_event};
  scalarset_check(&p.scalarset);
  p.slots = memory_alloc((m->nslots + 1) * sizeof *p.slots);
  p.seen = memory_alloc(m->ndefs + 1);
  struct model_visitor s = {.model = m, .query = q, .context = &p, .node = on_node, .guard = on_guard};
  model_visit(&s);
  memory_free(p.slots);
  memory_free(p.seen);
  for (uint32_t i = 0; i < m->nglobals; i++)
    look_at_var(&p, &m->globals[i], true);
  for (uint32_t r = 0; r < m->nroles; r++) {
    for (uint32_t i = 0; i < m->roles[r].nvars; i++)
      look_at_var(&p, &m->roles[r].vars[i], false);
    look_for_second(&p, &m->roles[r]);
  }
  look_at_forgeries(&p);
  return p.out;
}

static void on_distinguished(void *context, const struct visit_site *site, const struct node *n) {
  struct value_usage_walk *p = context;
  if (site->place != SITE_INITIAL)
    node_may_fail(p->model, p->query, n, on_order, p);
}

static void on_distinguished_guard(void *context, const struct visit_site *site, const struct guard *g) {
  (void)site;
  struct value_usage_walk *p = context;
  bindings_may_fail(p->model, p->query, g->gen, g->ngen, g->cond, on_order, p);
}

struct refusal values_distinguished(const struct model *m, const struct query *q, const struct type *type,
                                    struct arena *arena) {
  struct value_usage out = {.type = type};
  struct refusal why = {0};
  struct value_usage_walk p = {.model = m, .query = q, .arena = arena, .out = &out, .distinguished = &why};
  p.scalarset = (struct scalarset){.model = m, .query = q, .value = type, .context = &p, .raise = on_event};
  scalarset_check(&p.scalarset);
  struct model_visitor s = {
      .model = m, .query = q, .context = &p, .node = on_distinguished, .guard = on_distinguished_guard};
  model_visit(&s);
  return why;
}
