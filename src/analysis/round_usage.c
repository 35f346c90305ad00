/* Are round numbers only copies of the current phase number that are compared with each other (`round-rank`)? */
#include "analysis/type_usage.h"

#include "analysis/dataflow.h"
#include "analysis/model_visitor.h"
#include "analysis/scalarset_typing.h"

struct round_usage_walk {
  const struct model *model;
  const struct query *query;
  struct arena *arena;
  struct round_usage *out;
};

static void raise_rounds(struct round_usage_walk *p, enum round_use use, struct span at, const char *reason) {
  if (p->out->why.reason && use <= p->out->use)
    return;
  p->out->use = use;
  p->out->why = (struct refusal){reason, at};
}

#define RESIDUE_MOST 64

/* The residue of the phase number itself, as in P(ph), modulo a small number: it is stored beside the order. */
static bool keeps_residue(struct round_usage_walk *p, const struct node *n) {
  int64_t k = n->op == NODE_PROCESS_AT                                     ? (int64_t)p->model->roles[n->index].count
              : n->kid[1]->op == NODE_CONST || n->kid[1]->op == NODE_PARAM ? n->kid[1]->constant
                                                                           : 0;
  if (n->kid[0]->op != NODE_PHASE || k < 1)
    return false;
  int64_t common = p->out->residue;
  while (common % k != 0)
    common += p->out->residue;
  if (common > RESIDUE_MOST)
    return false;
  p->out->residue = (uint32_t)common;
  return true;
}

static void on_event(void *context, enum scalarset_event e, const struct node *n, bool initial) {
  struct round_usage_walk *p = context;
  if (e == SCALARSET_ORDER || (e == SCALARSET_RESIDUE && keeps_residue(p, n)))
    return;
  /* the first phase has number 1, so a first value of 1 is a copy of it */
  if (e == SCALARSET_LITERAL && initial && n->type->kind == TYPE_ROUND && n->constant == 1)
    return;
  const char *quote = source_quote(p->model, n->at, p->arena);
  const char *says = "makes round numbers of something else, or the other way round";
  if (e == SCALARSET_LITERAL)
    says = "is a particular round number";
  else if (e == SCALARSET_ARITHMETIC)
    says = "computes with round numbers";
  else if (e == SCALARSET_RESIDUE)
    says = "reads the residue of a round number";
  else if (e == SCALARSET_SIZE)
    says = "goes through round numbers";
  raise_rounds(p, e == SCALARSET_RESIDUE ? ROUND_RESIDUE : ROUND_ADVANCE, n->at,
               arena_printf(p->arena, "'%s' %s", quote, says));
}

static bool visit_node(void *context, const struct node *n) {
  struct round_usage_walk *p = context;
  p->out->read |= n->op == NODE_PHASE || !op_is_known(n->op);
  if (n->op == NODE_DOMAIN && type_contains_kind(n->type->element, TYPE_ROUND))
    on_event(p, SCALARSET_SIZE, n, false);
  return true;
}

static void on_node(void *context, const struct visit_site *site, const struct node *n) {
  (void)site;
  struct round_usage_walk *p = context;
  node_walk_deep(p->model, n, visit_node, p);
}

/* Round numbers that are not copies of the phase number: inputs, oracles, indices. */
static void look_at_vars(struct round_usage_walk *p, const struct scalarset *o, const struct var *vars, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    const struct var *v = &vars[i];
    if (!type_contains_kind(v->type, TYPE_ROUND))
      continue;
    const char *says = NULL;
    if (v->kind == VAR_ORACLE)
      says = "is a round number that the environment makes up";
    else if (v->kind == VAR_INPUT && !v->init)
      says = "is a round number that is chosen freely";
    else if (scalarset_indexes(o, v->type))
      says = "is indexed by round numbers";
    if (says)
      raise_rounds(p, ROUND_ADVANCE, v->at, arena_printf(p->arena, "'%s' %s", v->name, says));
  }
}

static void look_at_forgeries(struct round_usage_walk *p) {
  const struct model *m = p->model;
  const struct clause *c = environment_forging_clause(m, p->query);
  for (uint32_t r = 0; r < m->nroles && c; r++)
    for (uint32_t point = 0; point < m->npoints; point++)
      if (m->roles[r].body[point].received && type_contains_kind(m->roles[r].body[point].received, TYPE_ROUND))
        raise_rounds(p, ROUND_ADVANCE, c->at, "forged messages hold round numbers that never were");
}

struct round_usage *round_usage_of(const struct model *m, const struct query *q, struct arena *arena) {
  struct round_usage_walk p = {.model = m, .query = q, .arena = arena};
  p.out = arena_alloc(arena, sizeof *p.out);
  p.out->residue = 1;
  struct model_visitor s = {.model = m, .query = q, .context = &p, .node = on_node};
  model_visit(&s);
  struct scalarset o = {.model = m, .query = q, .context = &p, .raise = on_event};
  scalarset_check(&o);
  look_at_vars(&p, &o, m->globals, m->nglobals);
  for (uint32_t r = 0; r < m->nroles; r++)
    look_at_vars(&p, &o, m->roles[r].vars, m->roles[r].nvars);
  look_at_forgeries(&p);
  return p.out;
}
