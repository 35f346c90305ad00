#include "analysis/value_cutoff.h"

#include "analysis/may_fail.h"
#include "analysis/model_visitor.h"
#include "analysis/scalarset_typing.h"
#include "base/memory.h"
#include "model/node.h"

#include <string.h>

enum { CUTS_MAX = 30 };

struct cutoff_walk {
  const struct model *model;
  const struct query *query;
  struct arena *arena;
  struct scalarset scalarset;
  bool ordered; /* by `min` and `max`, or in the property */
  struct refusal why;
  bool *fixed; /* by slot: the value of a name in the property that one violation binds once */
  bool apart;  /* while an expression of the property is looked at: it tells values apart */
};

static void refuse(struct cutoff_walk *c, struct span at, const char *format, const char *what) {
  if (!c->why.reason)
    c->why = (struct refusal){arena_printf(c->arena, format, what), at};
}

static const char *quote(const struct cutoff_walk *c, const struct node *n) {
  return source_quote(c->model, n->at, c->arena);
}

static bool is_value(const struct cutoff_walk *c, const struct type *t) { return t == c->scalarset.value; }
static bool holds_values(const struct cutoff_walk *c, const struct type *t) {
  return t && scalarset_occurs_in(&c->scalarset, t);
}
static bool has(const struct cutoff_walk *c, const struct node *n) { return holds_values(c, n->type); }

/* ---- operators that commute with every map of the values ----

   For each operator: if the values in its operands are mapped, so are those in its result, and nothing else changes. */

static bool is_leaf(const void *o, const struct type *t) { return t == ((const struct scalarset *)o)->value; }

/* A constant without values, such as `none` or `{}`, and equal to nothing that holds any. */
static bool is_constant_without_values(const struct cutoff_walk *c, const struct node *n) {
  if (n->op == NODE_SET || n->op == NODE_SEQUENCE)
    return n->n == 0 && n->ngen == 0;
  return n->op == NODE_CONST &&
         !value_holds(&c->model->values, n->type, n->constant, is_leaf, &c->scalarset, VALUE_NONE);
}

/* Bindings, or members, that are counted: those of a set that are merged would count once. */
static bool counts_merged(const struct cutoff_walk *c, const struct node *n) {
  for (uint32_t i = 0; i < n->ngen; i++)
    if (n->gen[i].range->type->kind == TYPE_SET && has(c, n->gen[i].range))
      return true;
  return false;
}

static bool any_kid_has(const struct cutoff_walk *c, const struct node *n) {
  for (uint32_t i = 0; i < n->n; i++)
    if (has(c, n->kid[i]))
      return true;
  return false;
}

/* Why it does not commute, as a format for the operator's text; NULL: it does. Arithmetic, literals, conversions and
   sizes of the type are events of scalarset_check. */
static const char *tells_apart(struct cutoff_walk *c, const struct node *n) {
  static const char compares[] = "'%s' tells values apart, which may be equal if there are fewer";
  static const char counts[] = "'%s' counts values, of which there may be fewer";
  static const char all[] = "'%s' goes through all values, those that do not occur included";
  if (!op_is_known(n->op))
    return "'%s' is not understood";
  switch (n->op) {
  case NODE_CONST:
  case NODE_PARAM:
  case NODE_SLOT:
  case NODE_VAR:
  case NODE_GLOBAL:
  case NODE_ME:
  case NODE_LOOP:
  case NODE_PHASE:
  case NODE_ROUND_NUMBER:
  case NODE_RECEIVED:
  case NODE_HEARD:
  case NODE_FROM:
  case NODE_SENDER:
  case NODE_NUMBER_OF:
  case NODE_PROCESS_AT:
  case NODE_NEXT:
  case NODE_NEIGHBOURS:
  case NODE_ROLE_SET:
  case NODE_CORRECT:
  case NODE_FAULTY:
  case NODE_REMOTE:
  case NODE_INITIAL:
  case NODE_ORACLE:
  case NODE_HO:
  case NODE_ADD:
  case NODE_SUB:
  case NODE_MUL:
  case NODE_NEG:
  case NODE_NOT:
  case NODE_AND:
  case NODE_OR:
  case NODE_IMPLIES:
  case NODE_IF:
  case NODE_UNION:
  case NODE_INTERVAL:
  case NODE_SET:
  case NODE_SET_OF:
  case NODE_EXISTS:
  case NODE_FORALL:
  case NODE_UNION_OF:
  case NODE_PICK:
  case NODE_RANDOM:
  case NODE_WRAP:
  case NODE_OTHERWISE:
  case NODE_RECORD:
  case NODE_SELECT:
  case NODE_ARRAY_OF:
  case NODE_INDEX:
  case NODE_SEQUENCE:
  case NODE_APPEND:
  case NODE_FIRST:
  case NODE_LAST:
  case NODE_FRONT:
  case NODE_CALL:
  case NODE_ALWAYS:
  case NODE_EVENTUALLY:
  case NODE_UNTIL:
    return NULL;
  case NODE_DIV:
  case NODE_MOD: /* this model is one instance of many */
    return n->kid[1]->op == NODE_CONST ? NULL : "'%s' may be an error for some parameters";
  case NODE_EQ:
  case NODE_NE:
    return !any_kid_has(c, n) || is_constant_without_values(c, n->kid[0]) || is_constant_without_values(c, n->kid[1])
               ? NULL
               : compares;
  case NODE_IN:
    return !any_kid_has(c, n) || (is_constant_without_values(c, n->kid[0]) && n->kid[1]->op != NODE_DOMAIN) ? NULL
                                                                                                            : compares;
  case NODE_LT:
  case NODE_LE:
  case NODE_GT:
  case NODE_GE:
  case NODE_SUBSET:
  case NODE_INTERSECTION:
  case NODE_DIFFERENCE:
  case NODE_NARROW:
    return any_kid_has(c, n) || has(c, n) ? compares : NULL;
  case NODE_CARD:
    return n->kid[0]->type->kind == TYPE_SET && has(c, n->kid[0]) ? counts : NULL;
  case NODE_COUNT:
  case NODE_SUM:
    return counts_merged(c, n) ? counts : NULL;
  case NODE_MOSTFREQUENT:
  case NODE_MAJORITY:
    return any_kid_has(c, n) || has(c, n) || counts_merged(c, n) ? counts : NULL;
  case NODE_MIN: /* of values themselves: a map that keeps the order takes the least value to the least */
  case NODE_MAX:
    for (uint32_t i = 0; i < n->n; i++)
      if (has(c, n->kid[i]) && !is_value(c, n->kid[i]->type))
        return compares;
    return has(c, n) && !is_value(c, n->type) ? compares : NULL;
  case NODE_DOMAIN:
    return holds_values(c, n->type->element) ? all : NULL;
  case NODE_SUBSETS:
    return has(c, n) || any_kid_has(c, n) ? counts : NULL;
  case NODE_SHO: /* a corrupted value may become equal to the one that was sent */
    return "'%s' compares what is received with what was sent";
  case NODE_QUIESCENT:
  case NODE_DEADLOCKED:
  case NODE_PENDING:
  case NODE_RECEIVER:
    return "'%s' is about messages in flight";
  case NODE_OPS:
    break;
  }
  return "'%s' is not understood";
}

static bool visit_process_node(void *context, const struct node *n) {
  struct cutoff_walk *c = context;
  const char *why = tells_apart(c, n);
  if (why)
    refuse(c, n->at, why, quote(c, n));
  return true;
}

/* Which of several bindings is tried first may be observed if one of them is an error. Maps change the order. */
static void on_order(void *context, const struct node *n) {
  struct cutoff_walk *c = context;
  for (uint32_t i = 0; i < n->ngen; i++)
    if (holds_values(c, n->gen[i].type))
      refuse(c, n->at, "'%s' may fail before it finds what decides it, in the order of values", quote(c, n));
}

static void on_node(void *context, const struct visit_site *site, const struct node *n) {
  struct cutoff_walk *c = context;
  if (site->place == SITE_PROPERTY)
    return;
  node_walk_deep(c->model, n, visit_process_node, c);
  node_may_fail(c->model, c->query, n, on_order, c);
}

static void on_guard(void *context, const struct visit_site *site, const struct guard *g) {
  struct cutoff_walk *c = context;
  (void)site;
  guard_walk_deep(c->model, g, visit_process_node, c);
  bindings_may_fail(c->model, c->query, g->gen, g->ngen, g->cond, on_order, c);
}

static void on_event(void *context, enum scalarset_event e, const struct node *n, bool initial) {
  struct cutoff_walk *c = context;
  (void)initial;
  switch (e) {
  case SCALARSET_ORDER:
    c->ordered = true; /* whether it is `min` or `max` is for tells_apart to say */
    return;
  case SCALARSET_LITERAL:
    refuse(c, n->at, "'%s' is a particular value", quote(c, n));
    return;
  case SCALARSET_MIXED:
    refuse(c, n->at, "'%s' mixes values with others", quote(c, n));
    return;
  case SCALARSET_ARITHMETIC:
  case SCALARSET_RESIDUE:
    refuse(c, n->at, "'%s' computes with values", quote(c, n));
    return;
  case SCALARSET_SIZE:
    refuse(c, n->at, "'%s' depends on how many values there are", quote(c, n));
    return;
  }
  refuse(c, n->at, "'%s' is not understood", quote(c, n));
}

/* ---- declarations ---- */

/* Values that are merged must stay in place: they are no indices, and no sequence demands that they differ. */
static bool keeps_values_apart(const void *context, const struct type *t) {
  const struct scalarset *o = context;
  return (t->kind == TYPE_ARRAY && scalarset_occurs_in(o, t->index)) ||
         (t->kind == TYPE_SEQUENCE && t->distinct && t->hi > 1 && scalarset_occurs_in(o, t->element));
}

static void look_at_types(struct cutoff_walk *c) {
  for (uint32_t i = 0; i < c->model->ntypes; i++) {
    const struct type *t = c->model->types[i];
    if (type_any(t, keeps_values_apart, &c->scalarset))
      refuse(c, t->at, "a type has an entry for each value, or demands that they differ%s", "");
  }
}

static void look_at_var(struct cutoff_walk *c, const struct var *v) {
  if (v->distinct && holds_values(c, v->type))
    refuse(c, v->at, "the values of '%s' are different", v->name);
  if (v->hidden)
    refuse(c, v->at, "'%s' is not in the text", v->name);
}

static void look_at_clauses(struct cutoff_walk *c) {
  const struct environment *env = &c->model->environments[c->query->environment];
  for (uint32_t i = 0; i < env->nclauses; i++)
    if (env->clauses[i].kind == CLAUSE_CORRUPTED) /* whatever its limit is: it may depend on parameters */
      refuse(c, env->clauses[i].at, "a corrupted value may be equal to the one that was sent, if there are fewer%s",
             "");
}

static void look_at_model(struct cutoff_walk *c) {
  const struct model *m = c->model;
  struct model_visitor s = {.model = m, .query = c->query, .context = c, .node = on_node, .guard = on_guard};
  scalarset_check(&c->scalarset);
  model_visit(&s);
  look_at_types(c);
  for (uint32_t i = 0; i < m->nglobals; i++)
    look_at_var(c, &m->globals[i]);
  for (uint32_t r = 0; r < m->nroles; r++)
    for (uint32_t i = 0; i < m->roles[r].nvars; i++)
      look_at_var(c, &m->roles[r].vars[i]);
  look_at_clauses(c);
}

/* ---- the property ----

   `keeps` asks: if the expression is true (or false) in a run, which maps keep it so? The answer is a number of cuts:
   a cut of the ordered values lies between two neighbours, and a map sends what lies between two cuts to one value.
   Without an order, a cut sets one value apart from all others. So a map has one value more than cuts. */

static bool visit_commutes(void *context, const struct node *n) {
  struct cutoff_walk *c = context;
  if (tells_apart(c, n))
    c->apart = true;
  return true;
}

static bool commutes(struct cutoff_walk *c, const struct node *n) {
  c->apart = false;
  node_walk_deep(c->model, n, visit_commutes, c);
  return !c->apart;
}

/* Does it read only names that the violation binds once? Then it has one value. */
struct fixed_walk {
  struct cutoff_walk *c;
  bool *own; /* by slot: bound inside */
  bool fixed;
};

static bool visit_fixed(void *context, const struct node *n) {
  struct fixed_walk *f = context;
  for (uint32_t i = 0; i < n->ngen; i++)
    f->own[n->gen[i].slot] = true; /* parents come first */
  bool name = n->op == NODE_SLOT || n->op == NODE_SENDER || n->op == NODE_RECEIVER;
  if (name && !f->own[n->index] && !f->c->fixed[n->index])
    f->fixed = false;
  return true;
}

static bool is_fixed(struct cutoff_walk *c, const struct node *n) {
  struct fixed_walk f = {c, memory_alloc((c->model->nslots + 1) * sizeof *f.own), true};
  node_walk(n, visit_fixed, &f);
  memory_free(f.own);
  return f.fixed;
}

/* Cuts on both sides of it. */
static uint32_t set_apart(const struct cutoff_walk *c) { return c->ordered ? 2 : 1; }

static bool is_optional_value(const struct cutoff_walk *c, const struct type *t) {
  while (t->kind == TYPE_OPTION)
    t = t->element;
  return is_value(c, t);
}

static bool is_set_of_values(const void *context, const struct type *t) {
  return t->kind == TYPE_SET && scalarset_occurs_in(context, t->element);
}

/* The operands differ. Of composite ones, some part does. */
static uint32_t stays_different(struct cutoff_walk *c, const struct node *n) {
  const struct node *a = n->kid[0], *b = n->kid[1];
  if (!any_kid_has(c, n))
    return 0;
  if (type_any(a->type, is_set_of_values, &c->scalarset) || type_any(b->type, is_set_of_values, &c->scalarset)) {
    refuse(c, n->at, "'%s': sets that differ may become equal", quote(c, n));
    return 0;
  }
  bool fixed_a = is_fixed(c, a), fixed_b = is_fixed(c, b);
  if (fixed_a && fixed_b)
    return 1;
  if ((fixed_a && is_optional_value(c, a->type)) || (fixed_b && is_optional_value(c, b->type)))
    return set_apart(c);
  refuse(c, n->at, "'%s' is about any number of different values", quote(c, n));
  return 0;
}

static uint32_t keeps_order(struct cutoff_walk *c, const struct node *n, bool strict) {
  if (!is_value(c, n->kid[0]->type) || !is_value(c, n->kid[1]->type)) {
    refuse(c, n->at, "'%s' compares more than values", quote(c, n));
    return 0;
  }
  bool fixed_a = is_fixed(c, n->kid[0]), fixed_b = is_fixed(c, n->kid[1]);
  if (!strict || (fixed_a && fixed_b))
    return strict ? 1 : 0;
  if (!fixed_a && !fixed_b)
    refuse(c, n->at, "'%s' is about any number of different values", quote(c, n));
  return set_apart(c);
}

static uint32_t stays_outside(struct cutoff_walk *c, const struct node *n) {
  if (!is_value(c, n->kid[0]->type) || !is_fixed(c, n->kid[0]))
    refuse(c, n->at, "'%s' is about any number of different values", quote(c, n));
  return set_apart(c);
}

static bool operands_commute(struct cutoff_walk *c, const struct node *n) {
  for (uint32_t i = 0; i < n->n; i++)
    if (!commutes(c, n->kid[i])) {
      refuse(c, n->kid[i]->at, "'%s' tells values apart", quote(c, n->kid[i]));
      return false;
    }
  return true;
}

static uint32_t keeps(struct cutoff_walk *, const struct node *, bool truth, bool many);

/* many: for any number of bindings at once, so that it is not known which of the operands decides. */
static uint32_t keeps_both(struct cutoff_walk *c, const struct node *n, bool first, bool second, bool one_decides,
                           bool many) {
  uint32_t a = keeps(c, n->kid[0], first, many), b = keeps(c, n->kid[1], second, many);
  return !one_decides || many ? a + b : a > b ? a : b;
}

static bool all_values(const struct cutoff_walk *c, const struct node *range) {
  return range->op == NODE_DOMAIN && holds_values(c, range->type->element);
}

/* A quantifier that one binding decides, or all of them do. */
static uint32_t keeps_quantified(struct cutoff_walk *c, const struct node *n, bool truth, bool many) {
  bool one = (n->op == NODE_EXISTS) == truth;
  uint32_t cuts = 0;
  for (uint32_t i = 0; i < n->ngen; i++) {
    const struct generator *g = &n->gen[i];
    bool any = one && all_values(c, g->range) && is_value(c, g->range->type->element);
    if (!any && !commutes(c, g->range)) /* what is bound afterwards is the image of what was */
      refuse(c, g->range->at, "'%s' need not consist of the values that occur", quote(c, g->range));
    c->fixed[g->slot] = one && !many;
    if (g->cond)
      cuts += keeps(c, g->cond, one, many || !one);
  }
  if (n->n)
    cuts += keeps(c, n->kid[0], truth, many || !one);
  for (uint32_t i = 0; i < n->ngen; i++)
    c->fixed[n->gen[i].slot] = false;
  return cuts;
}

static uint32_t keeps(struct cutoff_walk *c, const struct node *n, bool truth, bool many) {
  if (c->why.reason || commutes(c, n))
    return 0;
  switch (op_number(n->op)) {
  case NODE_NOT:
    return keeps(c, n->kid[0], !truth, many);
  case NODE_AND:
    return keeps_both(c, n, truth, truth, !truth, many);
  case NODE_OR:
    return keeps_both(c, n, truth, truth, truth, many);
  case NODE_IMPLIES:
    return keeps_both(c, n, !truth, truth, truth, many);
  case NODE_EXISTS:
  case NODE_FORALL:
    return keeps_quantified(c, n, truth, many);
  case NODE_EQ:
  case NODE_NE:
    return operands_commute(c, n) && (n->op == NODE_EQ) != truth ? stays_different(c, n) : 0;
  case NODE_LT:
  case NODE_GT:
    return operands_commute(c, n) ? keeps_order(c, n, truth) : 0;
  case NODE_LE:
  case NODE_GE:
    return operands_commute(c, n) ? keeps_order(c, n, !truth) : 0;
  case NODE_IN:
    return operands_commute(c, n) && !truth ? stays_outside(c, n) : 0;
  case NODE_SUBSET:
    if (operands_commute(c, n) && truth)
      return 0;
    break;
  }
  refuse(c, n->at, "'%s' tells values apart", quote(c, n));
  return 0;
}

static uint32_t look_at_property(struct cutoff_walk *c, const struct property *p) {
  if (p->until)
    refuse(c, p->at, "'%s' ends at different moments if values are merged", p->name);
  if (p->kind == PROPERTY_LIVE && p->almost_surely)
    refuse(c, p->at, "the probabilities of '%s' depend on how many values there are", p->name);
  if (node_may_fail(c->model, c->query, p->formula, NULL, NULL))
    refuse(c, p->at, "the evaluation of '%s' may fail", p->name);
  if (p->kind == PROPERTY_SAFETY)
    return keeps(c, p->formula, false, false);
  if (p->kind == PROPERTY_COVER || !commutes(c, p->formula))
    refuse(c, p->at, "'%s' tells values apart", p->name);
  return 0;
}

/* ---- the two theorems ---- */

const struct type *value_type_named(const struct model *m, const char *name) {
  const struct type *found = NULL;
  for (uint32_t i = 0; i < m->ntypes; i++) {
    const struct type *t = m->types[i];
    if (t->kind != TYPE_RANGE || !t->name || strcmp(t->name, name) != 0)
      continue;
    if (found)
      return NULL;
    found = t;
  }
  return found;
}

struct value_cutoff value_cutoff_by_homomorphism(const struct model *m, const struct query *q, const struct type *type,
                                                 struct arena *arena) {
  struct cutoff_walk c = {.model = m, .query = q, .arena = arena};
  struct value_cutoff out = {.also = UINT32_MAX};
  c.scalarset = (struct scalarset){.model = m, .query = q, .value = type, .context = &c, .raise = on_event};
  c.fixed = memory_alloc((m->nslots + 1) * sizeof *c.fixed);
  if (m->kind != MODEL_ROUNDS)
    refuse(&c, (struct span){0, 0}, "processes take steps%s", "");
  else if (q->nproperties != 1 || q->natoms || q->until || m->properties[q->properties[0]].stability_of)
    refuse(&c, (struct span){0, 0}, "several properties are asked for%s", "");
  else
    look_at_model(&c);
  uint32_t cuts = c.why.reason ? 0 : look_at_property(&c, &m->properties[q->properties[0]]);
  if (cuts > CUTS_MAX)
    refuse(&c, m->properties[q->properties[0]].at, "'%s' compares too many values",
           m->properties[q->properties[0]].name);
  memory_free(c.fixed);
  out.granted = !c.why.reason;
  out.why = c.why;
  out.values = cuts + 1;
  out.by = c.ordered ? "by order" : "by renaming";
  return out;
}

struct value_cutoff value_cutoff_by_occurrence(const struct model *m, const struct query *q, const struct type *type,
                                               struct arena *arena) {
  struct reduction_request none = {0};
  const struct licences *l = licences_grant(m, q, &none, arena);
  struct value_cutoff out = {.by = "one for each process", .also = UINT32_MAX};
  const struct licence *order = &l->of[REDUCE_ORDER];
  const struct environment *env = &m->environments[q->environment];
  for (uint32_t i = 0; i < env->nclauses; i++)
    if (env->clauses[i].kind == CLAUSE_BYZANTINE || env->clauses[i].kind == CLAUSE_CORRUPTED) {
      out.why = (struct refusal){"messages may be forged", env->clauses[i].at}; /* with other limits than here */
      return out;
    }
  if (!order->granted || l->value_type != type) {
    out.why = (struct refusal){order->granted ? "inputs are of another type" : order->reason, order->at};
    return out;
  }
  for (uint32_t r = 0; r < m->nroles; r++)
    out.values += m->roles[r].count; /* each starts with one value at most */
  out.granted = out.values > 0;
  return out;
}
