/* Live properties as formulas over the counters.

   The assumption: a fair run of a system without cycles comes to a state that it stays in, and there no process can be
   forced to change. A process is forced if messages of correct processes alone enable one of the groups of events to
   which the environment is fair, and no event of the group leaves the process as it is. (Which events can be taken is
   decided with all messages, those of Byzantine and crashed processes included.)

   The property: a quantifier over processes in front of a temporal operator is moved behind it, where that changes
   nothing. The set that it goes through is the same in the whole run. */
#include "param/handlers_internal.h"

#include "base/memory.h"
#include "interp/counter_run.h"
#include "interp/local.h"
#include "model/node.h"

#include <string.h>

static struct handler_formula *make(struct handler_builder *h, enum live_op op, struct span at,
                                    struct handler_formula *a, struct handler_formula *b) {
  struct handler_formula *f = arena_alloc(&h->h->arena, sizeof *f);
  *f = (struct handler_formula){.op = op, .at = at, .kid = {a, b}};
  return f;
}

static struct handler_formula *refuse(struct handler_builder *h, struct span at, const char *why) {
  derive_refuse(&h->b, at, "%s", why);
  return NULL;
}

/* ---- fairness ---- */

/* Adds that some guard holds. */
static struct term *add_guards(struct handler_builder *h, const sent_guard_vec *guards, bool certain,
                               struct term *any) {
  for (size_t i = 0; i < guards->n; i++)
    any = make_or(&h->b, any, guard_term(h, &guards->at[i], certain));
  return any;
}

/* Adds that the rule is enabled by messages that correct processes have sent. A guard that is weaker than what it
   stands for could force processes to change that need not. */
static struct term *add_enabled(struct handler_builder *h, const struct handler_rule *r, uint32_t first,
                                struct term *any) {
  const struct action_outcomes *all = outcomes_of(h, h->h->locations.at[r->from].local, r->action);
  if (!all || all->larger) {
    derive_refuse(&h->b, h->b.role->actions[r->action].at,
                  "when this must be done is known only roughly, so nothing can be said of all fair runs");
    return any;
  }
  if (!all->always)
    return add_guards(h, &r->outcome->guards, true, any);
  for (uint32_t i = first; &h->h->rules.at[i] < r; i++) /* only once for each action */
    if (h->h->rules.at[i].from == r->from && h->h->rules.at[i].action == r->action && !h->h->rules.at[i].crashes)
      return any;
  return add_guards(h, &all->enabled, true, any);
}

static bool same_group(const struct handler_builder *h, const struct handler_rule *a, const struct handler_rule *b) {
  if (h->fair->fair_to == FAIR_PROCESSES)
    return true;
  return a->action == b->action && (h->fair->fair_to == FAIR_ACTIONS || a->message == b->message);
}

/* The group of rule `first` does not force the processes at its location to change. */
static struct term *group_rests(struct handler_builder *h, uint32_t first) {
  struct derivation_builder *d = &h->b;
  const struct handler_rule *g = &h->h->rules.at[first];
  struct term *enabled = make_number(d, 0), *stays = make_number(d, 0);
  for (size_t i = first; i < h->h->rules.n; i++) {
    const struct handler_rule *r = &h->h->rules.at[i];
    if (r->from != g->from || r->crashes || !same_group(h, g, r))
      continue;
    enabled = add_enabled(h, r, first, enabled);
    if (r->to == r->from)
      stays = add_guards(h, &r->outcome->guards, false, stays);
  }
  return make_or(d, make_not(d, enabled), stays);
}

static bool is_first_of_group(const struct handler_builder *h, uint32_t rule) {
  const struct handler_rule *r = &h->h->rules.at[rule];
  for (uint32_t i = 0; i < rule; i++) {
    const struct handler_rule *o = &h->h->rules.at[i];
    if (o->from == r->from && !o->crashes && same_group(h, o, r))
      return false;
  }
  return true;
}

/* Nothing forces the processes at the location to change. A process that is to crash must do so. */
static struct term *rests(struct handler_builder *h, uint32_t location) {
  struct derivation_builder *d = &h->b;
  const struct handler_location *l = &h->h->locations.at[location];
  struct term *all = make_number(d, 1);
  if (l->doomed)
    return make_number(d, (h->h->locals.at[l->local][LOCAL_STATUS] & STATUS_CRASHED) != 0);
  for (uint32_t i = 0; i < h->h->rules.n; i++)
    if (h->h->rules.at[i].from == location && !h->h->rules.at[i].crashes && is_first_of_group(h, i))
      all = make_and(d, all, group_rests(h, i));
  return all;
}

/* A fair run can stay in this state. Classes with the same condition are counted together. */
static struct term *last_state(struct handler_builder *h) {
  struct derivation_builder *d = &h->b;
  uint32_t n = (uint32_t)h->h->members.n;
  struct term **condition = arena_array(&h->h->arena, n + (size_t)1, sizeof *condition), *all = make_number(d, 1);
  for (uint32_t l = 0; l < n; l++)
    condition[l] = rests(h, h->h->members.at[l]);
  for (uint32_t l = 0; l < n && !derive_stopped(d); l++) {
    struct term *sum = NULL;
    bool first = condition[l]->op != TERM_NUMBER || !condition[l]->number;
    for (uint32_t k = 0; k < l && first; k++)
      first = !term_same(condition[k], condition[l]);
    for (uint32_t k = l; k < n && first; k++)
      if (term_same(condition[k], condition[l]))
        sum = make_sum(d, sum, make_leaf(d, TERM_COUNTER, k));
    if (first)
      all = make_and(d, all, make_or(d, make_relation(d, TERM_EQ, sum, make_number(d, 0)), condition[l]));
  }
  return all;
}

/* ---- formulas over states ---- */

static bool is_temporal(const struct handler_builder *h, const struct node *n) {
  return node_has_traits_deep(h->b.m, n, TRAIT_TEMPORAL);
}

struct open_param_search {
  const struct handler_builder *h;
  bool found;
};

static bool find_open_param(void *context, const struct node *n) {
  struct open_param_search *s = context;
  s->found |= n->op == NODE_PARAM && s->h->b.params.open[n->index];
  return !s->found;
}

/* A comparison of linear terms over parameters. */
static struct term *params_compared(struct handler_builder *h, const struct node *n) {
  struct derivation_builder *d = &h->b;
  int64_t *row = memory_alloc((d->params.base->nparams + (size_t)1) * sizeof *row); /* right - left */
  bool turned = n->op == NODE_GT || n->op == NODE_GE;
  bool ok = node_row(d, n->kid[0], turned ? 1 : -1, row) && node_row(d, n->kid[1], turned ? -1 : 1, row);
  struct term *t = ok ? make_row(d, row) : NULL;
  memory_free(row);
  if (!t)
    return NULL;
  struct term *same = make_relation(d, TERM_EQ, t, make_number(d, 0));
  if (n->op == NODE_EQ || n->op == NODE_NE)
    return n->op == NODE_EQ ? same : make_not(d, same);
  bool strict = n->op == NODE_LT || n->op == NODE_GT;
  return make_relation(d, TERM_LE, make_number(d, strict), t);
}

struct term *handler_state_term(struct handler_builder *h, const struct node *n) {
  struct derivation_builder *d = &h->b;
  struct open_param_search s = {h, false};
  node_walk_deep(d->m, n, find_open_param, &s);
  if (!s.found) {
    struct property p = {.formula = (struct node *)n, .at = n->at};
    struct counter_property out = {0};
    return derive_property(d, &p, &out) ? make_not(d, out.unsafe) : NULL;
  }
  bool numbers =
      n->n == 2 && n->kid[0]->type && n->kid[0]->type->kind <= TYPE_RANGE && n->kid[0]->type->kind != TYPE_BOOL;
  struct term *a, *b;
  switch (op_number(n->op)) {
  case NODE_EQ:
  case NODE_NE:
  case NODE_LT:
  case NODE_LE:
  case NODE_GT:
  case NODE_GE:
    if (numbers)
      return params_compared(h, n);
    break;
  case NODE_NOT:
    a = handler_state_term(h, n->kid[0]);
    return a ? make_not(d, a) : NULL;
  case NODE_AND:
  case NODE_OR:
  case NODE_IMPLIES:
    a = handler_state_term(h, n->kid[0]);
    b = a ? handler_state_term(h, n->kid[1]) : NULL;
    if (!b)
      return NULL;
    return n->op == NODE_AND ? make_and(d, a, b) : make_or(d, n->op == NODE_OR ? a : make_not(d, a), b);
  }
  derive_refuse(d, n->at,
                "a property reads a parameter that has no fixed value, other than in a comparison of its own");
  return NULL;
}

static struct handler_formula *state(struct handler_builder *h, const struct node *n) {
  struct handler_formula *f = make(h, LIVE_STATE, n->at, NULL, NULL);
  f->node = n;
  f->term = handler_state_term(h, n);
  return f->term ? f : NULL;
}

static struct node *node_of(struct handler_builder *h, enum op op, const struct node *like, const struct node *a,
                            const struct node *b) {
  struct node *n = arena_copy(&h->h->arena, like, sizeof *n);
  n->kid = arena_array(&h->h->arena, 2, sizeof *n->kid);
  n->op = op;
  n->kid[0] = (struct node *)a;
  n->kid[1] = (struct node *)b;
  n->n = b ? 2 : 1;
  return n;
}

/* ---- quantifiers in front of temporal operators ---- */

static bool binds_process(const struct node *n) {
  for (uint32_t i = 0; i < n->ngen; i++)
    if (type_contains_kind(n->gen[i].type, TYPE_PROCESS))
      return true;
  return false;
}

/* At which locations does it hold of the bound process? False: refused. */
static bool holds_at(struct handler_builder *h, const struct node *quantifier, const struct node *body, bool *at) {
  uint32_t n = (uint32_t)h->h->members.n;
  if (node_has(body, binds_process)) {
    refuse(h, body->at, "what is said of a process over time speaks of other processes, too");
    return false;
  }
  struct node *exists = node_of(h, NODE_EXISTS, quantifier, body, NULL);
  struct term *t = handler_state_term(h, exists);
  int64_t *counters = memory_alloc((n + (size_t)1) * sizeof *counters);
  int64_t *params = memory_alloc((h->b.s->nparams + (size_t)1) * sizeof *params), v = 0;
  bool ok = t != NULL;
  for (uint32_t l = 0; l < n && ok; l++) {
    struct counter_values values = {.params = params, .counters = counters};
    counters[l] = 1;
    ok = term_value(t, &values, &v);
    at[l] = v != 0;
    counters[l] = 0;
  }
  memory_free(counters);
  memory_free(params);
  return ok;
}

/* Once it holds of a process (that the quantifier goes through), does it go on to hold? turned: its negation. */
static bool is_stable(struct handler_builder *h, const struct node *quantifier, const struct node *body, bool turned) {
  uint32_t n = (uint32_t)h->h->members.n;
  bool *at = memory_alloc(n + (size_t)1);
  const struct node *of = turned ? node_of(h, NODE_NOT, body, body, NULL) : body;
  bool ok = holds_at(h, quantifier, of, at);
  for (size_t i = 0; i < h->h->moves.n && ok; i++)
    ok = !at[h->h->moves.at[i].from] || at[h->h->moves.at[i].to];
  memory_free(at);
  return ok;
}

static bool is_fixed_set(const struct node *range) {
  if (range->op == NODE_INTERSECTION)
    return is_fixed_set(range->kid[0]) && is_fixed_set(range->kid[1]);
  return range->op == NODE_ROLE_SET || range->op == NODE_CORRECT;
}

static struct handler_formula *translate(struct handler_builder *h, const struct node *n);

static struct handler_formula *state_of(struct handler_builder *h, const struct node *quantifier,
                                        const struct node *body) {
  return state(h, node_of(h, quantifier->op, quantifier, body, NULL));
}

static const char unstable[] = "what is said of a process over time can become true and false again";

static struct handler_formula *eventually(struct handler_builder *h, const struct node *q, const struct node *body) {
  struct handler_formula *f;
  if (body->op == NODE_ALWAYS && !is_temporal(h, body->kid[0])) {
    f = state_of(h, q, body->kid[0]);
    return f ? make(h, LIVE_EVENTUALLY, q->at, make(h, LIVE_ALWAYS, q->at, f, NULL), NULL) : NULL;
  }
  if (is_temporal(h, body))
    return refuse(h, body->at, "temporal operators are nested below a quantifier over processes");
  if (q->op == NODE_FORALL && !is_stable(h, q, body, false))
    return refuse(h, body->at, unstable);
  f = state_of(h, q, body);
  return f ? make(h, LIVE_EVENTUALLY, q->at, f, NULL) : NULL;
}

static struct handler_formula *always(struct handler_builder *h, const struct node *q, const struct node *body) {
  struct handler_formula *f;
  if (body->op == NODE_EVENTUALLY && !is_temporal(h, body->kid[0])) {
    f = state_of(h, q, body->kid[0]);
    return f ? make(h, LIVE_ALWAYS, q->at, make(h, LIVE_EVENTUALLY, q->at, f, NULL), NULL) : NULL;
  }
  if (is_temporal(h, body))
    return refuse(h, body->at, "temporal operators are nested below a quantifier over processes");
  if (q->op == NODE_EXISTS && !is_stable(h, q, body, true))
    return refuse(h, body->at, unstable);
  f = state_of(h, q, body);
  return f ? make(h, LIVE_ALWAYS, q->at, f, NULL) : NULL;
}

/* c => eventually e, of a c that never changes, is eventually (c => e). */
static struct handler_formula *conditional(struct handler_builder *h, const struct node *q, const struct node *n) {
  const struct node *condition = n->kid[0], *then = n->kid[1];
  if (is_temporal(h, condition) || (then->op != NODE_EVENTUALLY && then->op != NODE_ALWAYS) ||
      is_temporal(h, then->kid[0]))
    return refuse(h, n->at, "temporal operators are nested below a quantifier over processes");
  if (!is_stable(h, q, condition, false) || !is_stable(h, q, condition, true))
    return refuse(h, condition->at, unstable);
  const struct node *both = node_of(h, NODE_IMPLIES, n, condition, then->kid[0]);
  return then->op == NODE_EVENTUALLY ? eventually(h, q, both) : always(h, q, both);
}

static struct handler_formula *split(struct handler_builder *h, const struct node *q, const struct node *body) {
  struct handler_formula *a = translate(h, node_of(h, q->op, q, body->kid[0], NULL));
  struct handler_formula *b = a ? translate(h, node_of(h, q->op, q, body->kid[1], NULL)) : NULL;
  return b ? make(h, q->op == NODE_FORALL ? LIVE_AND : LIVE_OR, q->at, a, b) : NULL;
}

static struct handler_formula *over_processes(struct handler_builder *h, const struct node *q) {
  const struct node *body = q->kid[0];
  if (q->ngen != 1 || q->gen[0].type->kind != TYPE_PROCESS || q->gen[0].cond || !is_fixed_set(q->gen[0].range))
    return refuse(h, q->at,
                  "a quantifier in front of temporal operators is not over one process of a role or 'correct'");
  if (body->op == NODE_EVENTUALLY)
    return eventually(h, q, body->kid[0]);
  if (body->op == NODE_ALWAYS)
    return always(h, q, body->kid[0]);
  if (body->op == (q->op == NODE_FORALL ? NODE_AND : NODE_OR))
    return split(h, q, body);
  if (body->op == NODE_IMPLIES)
    return conditional(h, q, body);
  return refuse(h, body->at, "temporal operators are nested below a quantifier over processes");
}

static struct handler_formula *connective(struct handler_builder *h, enum live_op op, const struct node *n) {
  struct handler_formula *a = translate(h, n->kid[0]);
  struct handler_formula *b = a && n->n > 1 ? translate(h, n->kid[1]) : NULL;
  return a && (b || n->n == 1) ? make(h, op, n->at, a, b) : NULL;
}

static struct handler_formula *translate(struct handler_builder *h, const struct node *n) {
  if (h->b.d->refused)
    return NULL;
  if (!is_temporal(h, n))
    return state(h, n);
  switch (op_number(n->op)) {
  case NODE_NOT:
    return connective(h, LIVE_NOT, n);
  case NODE_AND:
    return connective(h, LIVE_AND, n);
  case NODE_OR:
    return connective(h, LIVE_OR, n);
  case NODE_IMPLIES:
    return connective(h, LIVE_IMPLIES, n);
  case NODE_ALWAYS:
    return connective(h, LIVE_ALWAYS, n);
  case NODE_EVENTUALLY:
    return connective(h, LIVE_EVENTUALLY, n);
  case NODE_FORALL:
  case NODE_EXISTS:
    return over_processes(h, n);
  }
  return refuse(h, n->at, "this temporal operator is not supported for all n");
}

/* ---- the formula ---- */

bool handlers_fairness(struct handler_builder *h) {
  const struct property *p = &h->b.m->properties[h->b.q->properties[0]];
  struct handler_formula *goal = translate(h, p->formula);
  if (!goal)
    return derive_refuse(&h->b, p->at, "this property is not supported for all n");
  h->h->last = last_state(h);
  struct handler_formula *last = make(h, LIVE_STATE, p->at, NULL, NULL);
  last->term = h->h->last;
  struct handler_formula *fair = make(h, LIVE_EVENTUALLY, p->at, make(h, LIVE_ALWAYS, p->at, last, NULL), NULL);
  h->h->live = make(h, LIVE_IMPLIES, p->at, fair, goal);
  return !h->b.d->refused;
}
