/* Process symmetry (Ip, Dill 1996): which permutations of the processes of a role leave transitions, environment and
   properties unchanged? First values do not count, unless a recovery computes them again: the set of initial states
   need not be symmetric. */
#include "analysis/type_usage.h"

#include "analysis/dataflow.h"
#include "analysis/may_fail.h"
#include "analysis/model_visitor.h"
#include "analysis/read_sets.h"
#include "base/memory.h"

struct identity_usage_walk {
  const struct model *model;
  const struct query *query;
  struct arena *arena;
  struct identity_usage *of; /* by role */
  const struct visit_site *site;
};

/* The reason: what (NULL: the source at that place), what it does, to processes of which role. */
static void raise_role(struct identity_usage_walk *p, uint32_t r, enum identity_use use, struct span at,
                       const char *what, const char *does) {
  struct identity_usage *u = &p->of[r];
  if (use <= u->use)
    return;
  u->use = use;
  u->why.at = at;
  u->why.reason = arena_printf(p->arena, "'%s' %s %s", what ? what : source_quote(p->model, at, p->arena), does,
                               p->model->roles[r].name);
}

static bool is_process_of(const void *role, const struct type *t) {
  return t->kind == TYPE_PROCESS && (t->role == ROLE_ANY || t->role == *(const uint32_t *)role);
}

static bool type_names(const struct type *t, uint32_t role) { return type_any(t, is_process_of, &role); }

static void raise_type(struct identity_usage_walk *p, const struct type *t, enum identity_use use, struct span at,
                       const char *what, const char *does) {
  for (uint32_t r = 0; r < p->model->nroles; r++)
    if (type_names(t, r))
      raise_role(p, r, use, at, what, does);
}

static bool is_identity(const void *context, const struct type *t) {
  (void)context;
  return t->kind == TYPE_PROCESS;
}

/* --- operators --- */

/* A set that every permutation maps to itself. */
static bool is_whole(const struct node *n) {
  return n->op == NODE_HEARD || n->op == NODE_ROLE_SET || n->op == NODE_CORRECT || n->op == NODE_FAULTY;
}

static void raise_all(struct identity_usage_walk *p, enum identity_use use, struct span at, const char *does) {
  for (uint32_t r = 0; r < p->model->nroles; r++)
    raise_role(p, r, use, at, NULL, does);
}

static void look_numbered(struct identity_usage_walk *p, const struct node *n) {
  unsigned traits = op_traits(n->op);
  if (n->op == NODE_CONST || n->op == NODE_PARAM) {
    if (value_holds(&p->model->values, n->type, n->constant, is_identity, NULL, VALUE_NONE))
      raise_type(p, n->type, IDENTITY_NUMBERED, n->at, NULL, "names a process of");
  } else if (n->op == NODE_NUMBER_OF) {
    raise_type(p, n->kid[0]->type, IDENTITY_NUMBERED, n->at, NULL, "depends on the numbering of");
  } else if (n->op == NODE_PROCESS_AT) {
    raise_role(p, n->index, IDENTITY_NUMBERED, n->at, NULL, "depends on the numbering of");
  } else if (!op_is_known(n->op) || ((traits & TRAIT_NUMBERED) && n->op != NODE_NEXT)) { /* for NEXT see below */
    raise_all(p, IDENTITY_NUMBERED, n->at, "may depend on the numbering of");
  } else if (traits & TRAIT_ORDERS) {
    raise_type(p, n->kid[0]->type, IDENTITY_NUMBERED, n->at, NULL, "orders the processes of");
  }
}

/* Canonical states of round models do not support rotations. */
static enum identity_use on_ring(const struct identity_usage_walk *p) {
  return model_steps(p->model) ? IDENTITY_RING : IDENTITY_NUMBERED;
}

static bool visit_node(void *context, const struct node *n) {
  struct identity_usage_walk *p = context;
  look_numbered(p, n);
  if (n->op == NODE_CARD && is_whole(n->kid[0]))
    return false; /* only the number is read */
  if (p->site->place != SITE_PROCESS)
    return true; /* environments and properties name processes only by quantifiers */
  if (n->op == NODE_ME)
    raise_role(p, p->site->role, IDENTITY_EQUALITY, n->at, "me", "is read by processes of");
  else if (n->op == NODE_NEXT)
    raise_role(p, p->site->role, on_ring(p), n->at, "next", "follows the ring of");
  else if (n->op == NODE_SENDER || n->op == NODE_FROM || n->op == NODE_HEARD)
    raise_type(p, n->op == NODE_FROM ? n->kid[0]->type : n->type, IDENTITY_EQUALITY, n->at, NULL,
               "tells apart senders of");
  else
    raise_type(p, n->type, IDENTITY_EQUALITY, n->at, NULL, "tells apart processes of");
  return true;
}

/* Generators enumerate received messages in the order of the senders, and sets of processes in the order of identities.
 */
static void on_order(void *context, const struct node *n) {
  struct identity_usage_walk *p = context;
  for (uint32_t i = 0; i < n->ngen; i++)
    for (uint32_t r = 0; r < p->model->nroles; r++)
      if (n->gen[i].range->op == NODE_RECEIVED || n->gen[i].range->op == NODE_PENDING || type_names(n->gen[i].type, r))
        raise_role(p, r, IDENTITY_NUMBERED, n->at, op_text(n->op),
                   "may fail before it finds what decides it, in the order of the processes of");
}

static void on_node(void *context, const struct visit_site *site, const struct node *n) {
  struct identity_usage_walk *p = context;
  if (site->place == SITE_INITIAL)
    return;
  p->site = site;
  node_walk_deep(p->model, n, visit_node, p);
  node_may_fail(p->model, p->query, n, on_order, p);
}

static void on_guard(void *context, const struct visit_site *site, const struct guard *g) {
  struct identity_usage_walk *p = context;
  p->site = site;
  guard_walk_deep(p->model, g, visit_node, p);
  bindings_may_fail(p->model, p->query, g->gen, g->ngen, g->cond, on_order, p);
}

/* --- declarations --- */

static void look_at_vars(struct identity_usage_walk *p, const struct var *vars, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (model_steps(p->model) || !vars[i].followed)
      raise_type(p, vars[i].type, IDENTITY_EQUALITY, vars[i].at, vars[i].name, "holds identities of");
}

static void look_at_messages(struct identity_usage_walk *p) {
  for (uint32_t i = 0; i < p->model->nmessages; i++) {
    const struct message_kind *k = &p->model->messages[i];
    raise_type(p, k->type, IDENTITY_EQUALITY, k->at, k->name, "holds identities of");
  }
}

struct send_check {
  struct identity_usage_walk *walk;
  uint32_t role;
};

static void look_at_send(const struct send_check *c, const struct send *send) {
  if (send->target == TARGET_OTHERS)
    raise_role(c->walk, c->role, IDENTITY_EQUALITY, send->at, "others", "leaves out the sender, a process of");
}

static void visit_send(void *context, const struct stmt *s) {
  if (s->kind == STMT_SEND)
    look_at_send(context, s->send);
}

static void look_at_sends(struct identity_usage_walk *p, uint32_t r) {
  const struct role *role = &p->model->roles[r];
  struct send_check c = {p, r};
  for (uint32_t i = 0; i < role->nactions; i++)
    block_visit(&role->actions[i].body, visit_send, &c);
  for (uint32_t point = 0; point < p->model->npoints; point++)
    for (uint32_t i = 0; i < role->body[point].nsends; i++)
      look_at_send(&c, &role->body[point].sends[i]);
}

/* An oracle that is not in use has the first value of its type: a particular process. That is harmless unless the
   oracle is read then. */
static void look_at_oracles(struct identity_usage_walk *p) {
  struct arena scratch;
  arena_init(&scratch);
  struct live_variables *live = live_variables_of(p->model, p->query, &scratch);
  for (uint32_t r = 0; r < p->model->nroles; r++)
    for (uint32_t i = 0; i < p->model->roles[r].nvars; i++) {
      const struct var *v = &p->model->roles[r].vars[i];
      if (v->kind == VAR_ORACLE && live->idle[r][i])
        raise_type(p, v->type, IDENTITY_NUMBERED, v->at, v->name,
                   "is an oracle that is read where it names the first process of");
    }
  arena_release(&scratch);
}

static struct identity_usage *usage_of(const struct model *m, const struct query *q, struct arena *arena, bool others) {
  struct identity_usage_walk p = {.model = m, .query = q, .arena = arena};
  p.of = arena_array(arena, m->nroles + 1, sizeof *p.of);
  struct model_visitor s = {.model = m, .query = q, .context = &p, .node = on_node, .guard = on_guard};
  model_visit(&s);
  look_at_vars(&p, m->globals, m->nglobals);
  look_at_messages(&p);
  for (uint32_t r = 0; r < m->nroles; r++) {
    look_at_vars(&p, m->roles[r].vars, m->roles[r].nvars);
    if (others)
      look_at_sends(&p, r);
    if (m->roles[r].ring)
      raise_role(&p, r, on_ring(&p), m->roles[r].at, "ring", "orders the processes of");
  }
  if (!model_steps(m))
    look_at_oracles(&p);
  return p.of;
}

struct identity_usage *identity_usage_of(const struct model *m, const struct query *q, struct arena *arena) {
  return usage_of(m, q, arena, true);
}

struct identity_usage *identity_usage_besides_others(const struct model *m, const struct query *q,
                                                     struct arena *arena) {
  return usage_of(m, q, arena, false);
}
