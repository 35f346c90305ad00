/* Checks whether counters can express a round model at all. Each refusal names its place. */
#include "param/derive_internal.h"

#include "analysis/dataflow.h"
#include "analysis/formula_reads.h"
#include "analysis/type_usage.h"
#include "base/memory.h"

#include <string.h>

struct open_param_use {
  const struct derivation_builder *d;
  struct span at;
};

static bool find_open_param(void *context, const struct node *n) {
  struct open_param_use *o = context;
  if (n->op == NODE_PARAM && o->d->params.open[n->index] && !o->at.to)
    o->at = n->at;
  return !o->at.to;
}

/* Only updates may read parameters without a constant value, because only there they are followed symbolically. */
static bool has_no_open_param(struct derivation_builder *d, const struct node *n, const char *where) {
  struct open_param_use o = {d, {0, 0}};
  if (n)
    node_walk_deep(d->m, n, find_open_param, &o);
  return !o.at.to || derive_refuse(d, o.at, "%s reads a parameter that has no fixed value", where);
}

struct identity_site {
  struct span at;
};

static bool find_identity(void *context, const struct node *n) {
  struct identity_site *x = context;
  if (!x->at.to && (n->op == NODE_ME || n->op == NODE_NUMBER_OF || n->op == NODE_NEXT || n->op == NODE_NEIGHBOURS ||
                    n->op == NODE_PROCESS_AT || (n->type && type_contains_kind(n->type, TYPE_PROCESS))))
    x->at = n->at;
  return !x->at.to;
}

/* All processes must have the same initial states, so initial values must not read identities. */
static bool is_identity_free(struct derivation_builder *d, const struct node *n) {
  struct identity_site x = {{0, 0}};
  if (n)
    node_walk_deep(d->m, n, find_identity, &x);
  return !x.at.to || derive_refuse(d, x.at,
                                   "processes begin differently: a first value depends on who "
                                   "the process is");
}

static bool check_kind(struct derivation_builder *d, const struct var *v) {
  switch (v->kind) {
  case VAR_INPUT:
  case VAR_PLAIN:
  case VAR_GHOST:
    return true;
  case VAR_ORACLE: /* leader_licensed */
    return true;
  case VAR_STABLE:
  case VAR_SHARED:
  case VAR_POINT:
  case VAR_ONCE:
    break;
  }
  return derive_refuse(d, v->at, "the variable '%s' cannot be expressed by counters", v->name);
}

static bool check_vars(struct derivation_builder *d) {
  for (uint32_t i = 0; i < d->role->nvars; i++) {
    const struct var *v = &d->role->vars[i];
    if (!check_kind(d, v))
      return false;
    if (i == d->d->leader)
      continue;
    if (!is_identity_free(d, v->init) || !is_identity_free(d, v->where))
      return false;
    if (v->hidden || v->followed || type_contains_kind(v->type, TYPE_PROCESS) ||
        type_contains_kind(v->type, TYPE_ROUND))
      return derive_refuse(d, v->at, "the variable '%s' holds processes or numbers of rounds", v->name);
    if (v->distinct)
      return derive_refuse(d, v->at, "inputs are distinct, so processes are not alike");
    if (v->type->count == UINT64_MAX)
      return derive_refuse(d, v->at, "the variable '%s' has too many values", v->name);
  }
  return true;
}

static bool check_role(struct derivation_builder *d) {
  const struct model *m = d->m;
  if (m->nroles != 1)
    return derive_refuse(d, m->roles[1].at, "there is more than one role");
  if (m->nglobals)
    return derive_refuse(d, m->globals[0].at, "there is an input of the whole file");
  if (m->npoints == 0)
    return derive_refuse(d, d->role->at, "there are no rounds");
  if (!leader_licensed(d) || !ages_licensed(d))
    return false;
  for (uint32_t p = 0; p < m->npoints; p++)
    for (uint32_t i = 0; i < d->role->body[p].nsends; i++) {
      const struct send *send = &d->role->body[p].sends[i];
      if (send->target == TARGET_OTHERS && d->d->leader != UINT32_MAX)
        return derive_refuse(d, send->at, "a message goes to all others, where there is a coordinator");
      if (send->target != TARGET_SET && send->target != TARGET_OTHERS && d->d->leader == UINT32_MAX)
        return derive_refuse(d, send->at, "a message does not go to all");
      if (!has_no_open_param(d, send->message, "a message") ||
          !has_no_open_param(d, send->guard.cond, "a condition to send"))
        return false;
    }
  return check_vars(d);
}

/* ---- the environment ---- */

static bool is_slot(const struct node *n, uint32_t slot) { return n->op == NODE_SLOT && n->index == slot; }

static bool is_heard_of(const struct node *n, uint32_t slot) {
  return n->op == NODE_HO && is_slot(n->kid[0], slot); /* callers see to it that the round has the name it may have */
}

static bool is_empty_set(const struct node *n) { return n->op == NODE_SET && n->n == 0; }

/* forall p in P: body. */
static bool is_forall(const struct node *n, uint32_t processes) {
  bool ok = n->op == NODE_FORALL && n->ngen == processes && n->n == 1;
  for (uint32_t i = 0; ok && i < processes; i++)
    ok = n->gen[i].range->op == NODE_ROLE_SET && !n->gen[i].cond;
  return ok;
}

/* |x| >= limit, c * |x| > limit, |x| == limit: x; or NULL. */
static const struct node *large_set(const struct node *n, struct heard_size *out) {
  const struct node *size = n->op == NODE_GE || n->op == NODE_GT ? n->kid[0] : NULL;
  *out = (struct heard_size){.times = 1, .limit = size ? n->kid[1] : NULL, .strict = n->op == NODE_GT};
  if (n->op == NODE_EQ && n->kid[0]->op == NODE_CARD && n->kid[1]->op != NODE_DIV) {
    *out = (struct heard_size){.times = 1, .limit = n->kid[1], .exact = true};
    return n->kid[0]->kid[0];
  }
  if (size && size->op == NODE_MUL && size->kid[0]->op == NODE_CONST && size->kid[0]->constant > 0 &&
      size->kid[0]->constant < INT32_MAX) {
    out->times = size->kid[0]->constant;
    size = size->kid[1];
  }
  heard_size_without_quotient(out);
  return size && size->op == NODE_CARD ? size->kid[0] : NULL;
}

/* forall p in P: |HO[p]| >= limit, HO[p] != {}, or HO[p] == P */
static bool is_size_clause(const struct node *n, struct heard_size *out) {
  if (!is_forall(n, 1))
    return false;
  const struct node *set = large_set(n->kid[0], out);
  if (!set && n->kid[0]->op == NODE_NE && is_empty_set(n->kid[0]->kid[1])) {
    *out = (struct heard_size){.times = 1, .strict = true};
    set = n->kid[0]->kid[0];
  }
  if (!set && n->kid[0]->op == NODE_EQ && n->kid[0]->kid[1]->op == NODE_ROLE_SET) {
    *out = (struct heard_size){.times = 1, .all = true};
    set = n->kid[0]->kid[0];
  }
  return set && is_heard_of(set, n->gen[0].slot);
}

/* forall p, q in P: HO[p] & HO[q] != {} */
static bool is_nosplit(const struct node *n) {
  if (!is_forall(n, 2) || n->kid[0]->op != NODE_NE || !is_empty_set(n->kid[0]->kid[1]))
    return false;
  const struct node *meet = n->kid[0]->kid[0];
  return meet->op == NODE_INTERSECTION &&
         ((is_heard_of(meet->kid[0], n->gen[0].slot) && is_heard_of(meet->kid[1], n->gen[1].slot)) ||
          (is_heard_of(meet->kid[0], n->gen[1].slot) && is_heard_of(meet->kid[1], n->gen[0].slot)));
}

/* forall p, q in P: HO[p] == HO[q] */
static bool is_same_for_all(const struct node *n) {
  if (!is_forall(n, 2) || n->kid[0]->op != NODE_EQ)
    return false;
  const struct node *a = n->kid[0]->kid[0], *b = n->kid[0]->kid[1];
  return (is_heard_of(a, n->gen[0].slot) && is_heard_of(b, n->gen[1].slot)) ||
         (is_heard_of(a, n->gen[1].slot) && is_heard_of(b, n->gen[0].slot));
}

/* exists S in subsets(P): S != {} and forall p in P: HO[p] == S; or with |S| >= limit, or without: *any. */
static bool is_uniform(const struct node *n, struct heard_size *out, bool *any) {
  *any = is_same_for_all(n);
  if (*any)
    return true;
  if (n->op != NODE_EXISTS || n->ngen != 1 || n->gen[0].range->op != NODE_SUBSETS ||
      n->gen[0].range->kid[0]->op != NODE_ROLE_SET || n->gen[0].cond || n->n != 1)
    return false;
  uint32_t slot = n->gen[0].slot;
  const struct node *all = n->kid[0], *size = NULL;
  if (all->op == NODE_AND) {
    size = all->kid[0];
    all = all->kid[1];
  }
  if (!is_forall(all, 1) || all->kid[0]->op != NODE_EQ || !is_heard_of(all->kid[0]->kid[0], all->gen[0].slot) ||
      !is_slot(all->kid[0]->kid[1], slot))
    return false;
  *any = !size;
  *out = (struct heard_size){.times = 1, .strict = true};
  if (!size || (size->op == NODE_NE && is_slot(size->kid[0], slot) && is_empty_set(size->kid[1])))
    return true;
  const struct node *set = large_set(size, out);
  return set && is_slot(set, slot);
}

static bool add_size(struct derivation_builder *d, struct heard_size size, const struct clause *c) {
  uint32_t capped = size.capped;
  size.of = c;
  for (size_t i = 0; i < d->heard.sizes.n; i++)
    capped += d->heard.sizes.at[i].capped;
  if (capped > CAPPED_MAX)
    return derive_refuse(d, c->at, "more than %d clauses have a limit that depends on how many take part", CAPPED_MAX);
  int64_t *row = memory_alloc((d->params.base->nparams + (size_t)1) * sizeof *row);
  bool ok = !size.limit || node_row(d, size.limit, 1, row);
  memory_free(row);
  vec_push(&d->heard.sizes, size);
  return ok;
}

/* A condition of a clause on heard-of sets. A second one about all of them together is a condition on sizes: sets that
   are equal meet if they are not empty. */
static bool check_heard(struct derivation_builder *d, const struct node *pred, const struct clause *c) {
  const struct heard_size some = {.times = 1, .strict = true};
  struct heard_size size = some;
  bool any = false;
  if (is_size_clause(pred, &size) || is_active_size_clause(pred, &size))
    return add_size(d, size, c);
  bool meet = is_nosplit(pred), same = !meet && is_uniform(pred, &size, &any);
  if (!meet && !same)
    return false;
  enum coupling_kind before = d->heard.coupling;
  d->heard.coupling = same || before == HEARD_UNIFORM ? HEARD_UNIFORM : HEARD_NOSPLIT;
  d->heard.coupling_clause = c;
  if (d->heard.coupling == HEARD_NOSPLIT)
    return true;
  return ((before != HEARD_NOSPLIT && !meet) || add_size(d, some, c)) && (meet || any || add_size(d, size, c));
}

static bool is_of_heard(const struct node *pred) {
  struct heard_size size;
  bool any;
  return is_size_clause(pred, &size) || is_active_size_clause(pred, &size) || is_nosplit(pred) ||
         is_uniform(pred, &size, &any);
}

bool size_applies(const struct derivation_builder *d, const struct heard_size *size, uint32_t point) {
  uint32_t name = size->of->name_id;
  return name == NO_NAME || d->m->points[point].name_id == name;
}

static bool check_every(struct derivation_builder *d, const struct clause *c) {
  if (leader_is_clause(d, c->pred))
    return true;
  struct heard_size size;
  if (c->unit != EACH_PHASE && c->name_id != NO_NAME &&
      (is_size_clause(c->pred, &size) || is_active_size_clause(c->pred, &size)))
    return add_size(d, size, c);
  if ((d->d->leader != UINT32_MAX || d->d->ages) &&
      (c->name_id != NO_NAME || c->unit == EACH_PHASE || !is_of_heard(c->pred)))
    return true; /* left out: that allows more */
  if (c->name_id != NO_NAME || c->unit == EACH_PHASE)
    return derive_refuse(d, c->at, "this clause speaks of some rounds only");
  return check_heard(d, c->pred, c);
}

static bool check_clause(struct derivation_builder *d, const struct clause *c) {
  int64_t *row = memory_alloc((d->params.base->nparams + (size_t)1) * sizeof *row);
  bool ok = false, limited = false;
  switch (c->kind) {
  case CLAUSE_SYNCHRONOUS:
    d->heard.delivers = ok = true;
    break;
  case CLAUSE_OFTEN:
  case CLAUSE_FINALLY:
  case CLAUSE_ONCE:
  case CLAUSE_FAIR: /* no constraint on finite runs */
    ok = true;
    break;
  case CLAUSE_LOST: /* unlimited loss: overapproximated, since here a process may also miss its own message */
    ok = c->limit == INT64_MAX;
    break;
  case CLAUSE_CRASH:
    ok = !c->recovers;
    d->heard.crashes = limited = true;
    break;
  case CLAUSE_OMIT:
    ok = limited = true;
    break;
  case CLAUSE_BYZANTINE:
    d->heard.byzantine = c;
    d->heard.forges = limited = ok = true;
    break;
  case CLAUSE_CORRUPTED:
    ok = !d->heard.corrupted && c->per == PER_RECEIVER;
    d->heard.corrupted = c;
    d->heard.forges = limited = true;
    break;
  case CLAUSE_EVERY:
    ok = check_every(d, c);
    break;
  case CLAUSE_FROM_ROUND:
  case CLAUSE_DUPLICATED:
  case CLAUSE_CHANNELS:
    break;
  }
  if (ok && limited)
    ok = c->limit_node ? node_row(d, c->limit_node, 1, row)
                       : derive_refuse(d, c->at, "any number may be faulty: say how many");
  memory_free(row);
  return ok ||
         derive_refuse(d, c->at, "this clause relates processes to each other, or cannot be expressed by counters");
}

/* Heard-of sets may contain processes that send nothing, and counts of messages cannot say which. */
static bool check_coupling(struct derivation_builder *d) {
  if (d->heard.coupling == HEARD_FREELY)
    return true;
  if (d->heard.delivers || d->heard.crashes || d->heard.forges ||
      (d->heard.sizes.n && d->heard.coupling == HEARD_NOSPLIT))
    return derive_refuse(d, d->heard.coupling_clause->at,
                         "this clause cannot be combined with another clause about heard-of sets or faults");
  for (size_t i = 0; i < d->heard.sizes.n; i++)
    if (d->heard.sizes.at[i].exact || d->heard.sizes.at[i].active)
      return derive_refuse(d, d->heard.sizes.at[i].of->at,
                           "this clause cannot be combined with one that relates heard-of sets to each other");
  for (uint32_t i = 0; i < d->env->nclauses; i++)
    if (d->env->clauses[i].kind == CLAUSE_OMIT)
      return derive_refuse(d, d->heard.coupling_clause->at,
                           "this clause cannot be combined with another clause about heard-of sets or faults");
  return true;
}

/* ---- good rounds ---- */

static bool check_conjuncts(struct derivation_builder *d, const struct node *pred, const struct clause *c) {
  if (pred->op == NODE_AND)
    return check_conjuncts(d, pred->kid[0], c) && check_conjuncts(d, pred->kid[1], c);
  return check_heard(d, pred, c);
}

bool heard_rules_extend(struct derivation_builder *d, const struct liveness_predicate *predicates, uint32_t n,
                        struct heard_rules *before) {
  *before = d->heard;
  memset(&d->heard.sizes, 0, sizeof d->heard.sizes);
  for (size_t i = 0; i < before->sizes.n; i++)
    vec_push(&d->heard.sizes, before->sizes.at[i]);
  for (uint32_t i = 0; i < n; i++)
    if (!check_conjuncts(d, predicates[i].pred, predicates[i].of))
      return derive_refuse(d, predicates[i].of->at, "what this clause says of a round cannot be expressed by counters");
  if (d->heard.byzantine && d->heard.sizes.n)
    return derive_refuse(d, predicates[n - 1].of->at,
                         "sizes of heard-of sets cannot be combined with Byzantine processes");
  return check_coupling(d);
}

void heard_rules_restore(struct derivation_builder *d, const struct heard_rules *before) {
  vec_release(&d->heard.sizes);
  d->heard = *before;
}

static bool check_environment(struct derivation_builder *d) {
  for (uint32_t i = 0; i < d->env->nclauses; i++)
    if (!check_clause(d, &d->env->clauses[i]))
      return false;
  for (uint32_t i = 0; i < d->env->nclauses; i++)
    if (d->env->clauses[i].kind == CLAUSE_LOST)
      d->heard.delivers = false;
  if (d->heard.corrupted && (d->heard.delivers || d->heard.byzantine))
    return derive_refuse(d, d->heard.corrupted->at,
                         "corrupted messages go only with losses, and without Byzantine processes");
  return check_coupling(d);
}

/* ---- the query ---- */

static bool check_properties(struct derivation_builder *d) {
  if (d->q->nproperties > 1)
    return derive_refuse(d, d->role->at, "there is more than one property at a time");
  for (uint32_t i = 0; i < d->q->nproperties; i++) {
    const struct property *p = &d->m->properties[d->q->properties[i]];
    if (p->kind != PROPERTY_SAFETY)
      return derive_refuse(d, p->at, "only safety and live properties can be proved");
    if (p->until)
      return derive_refuse(d, p->at, "a property that is asked only of part of a run");
    if (p->step && !derive_step_licensed(d, p))
      return false;
    if (!has_no_open_param(d, p->formula, "a property"))
      return false;
  }
  return true;
}

static bool check_symmetry(struct derivation_builder *d) {
  const struct identity_usage *ids = identity_usage_besides_others(d->m, d->q, &d->d->arena);
  if (ids[0].use != IDENTITY_ANONYMOUS && d->d->leader == UINT32_MAX) /* else leader_licensed */
    return derive_refuse(d, ids[0].why.at, "%s", ids[0].why.reason ? ids[0].why.reason : "identities are read");
  const struct round_usage *rounds = round_usage_of(d->m, d->q, &d->d->arena);
  return !rounds->read || derive_refuse(d, rounds->why.at, "the number of the phase is read");
}

static bool find_loop_index(void *context, const struct node *n) {
  struct span *at = context;
  if (n->op == NODE_LOOP)
    *at = n->at;
  return !at->to;
}

static void guard_loop_index(const struct guard *g, struct span *at) { guard_walk(g, find_loop_index, at); }

/* All passes of a `repeat` without constant length must be alike. */
static bool check_loop(struct derivation_builder *d) {
  struct span at = {0, 0};
  const struct round_shape *shape = d->shape;
  for (uint32_t p = shape->first; shape->passes && p < shape->first + shape->rounds; p++) {
    const struct body *b = &d->role->body[p];
    block_walk(&b->update, find_loop_index, &at);
    for (uint32_t i = 0; i < b->nsends; i++) {
      node_walk(b->sends[i].message, find_loop_index, &at);
      guard_loop_index(&b->sends[i].guard, &at);
    }
  }
  return !at.to || derive_refuse(d, at, "the number of the pass is read, and there is no fixed number of them");
}

bool derive_licensed(struct derivation_builder *d) {
  return check_role(d) && check_environment(d) && check_properties(d) && check_symmetry(d) && check_loop(d);
}
