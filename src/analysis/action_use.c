#include "analysis/action_use.h"

#include "analysis/dataflow.h"
#include "analysis/formula_reads.h"
#include "analysis/model_visitor.h"
#include "base/memory.h"

#include <string.h>

/* --- program points --- */

uint32_t role_npoints(const struct role *role) {
  return role->point_var == NO_VAR ? 1 : role->vars[role->point_var].type->size;
}

bool role_starts(const struct role *role) {
  return role->point_var != NO_VAR && strcmp(role->vars[role->point_var].type->labels[0], "start") == 0;
}

bool action_at_point(const struct role *role, const struct action *a, uint32_t label) {
  if (a->point == ANY_POINT)
    return !(role_starts(role) && label == 0);
  return a->point == label;
}

static bool is_goto(const struct role *role, const struct stmt *s) {
  return s->kind == STMT_ASSIGN && !s->shared && s->var == role->point_var;
}

struct goto_search {
  const struct role *role;
  bool *labels;
};

static void visit_goto(void *context, const struct stmt *s) {
  const struct goto_search *g = context;
  if (!is_goto(g->role, s))
    return;
  if (s->expr->op == NODE_CONST)
    g->labels[s->expr->constant] = true;
  else
    memset(g->labels, true, role_npoints(g->role));
}

/* Does every path through the block end with a `goto`? (A process that halts is at the point that follows the action.)
 */
static bool always_goes(const struct role *role, const struct block *b) {
  const struct stmt *last = b->n ? b->at[b->n - 1] : NULL;
  for (uint32_t i = 0; i + 1 < b->n; i++)
    if (b->at[i]->kind == STMT_HALT || block_halts(&b->at[i]->then) || block_halts(&b->at[i]->other))
      return false;
  return last && (is_goto(role, last) ||
                  (last->kind == STMT_IF && always_goes(role, &last->then) && always_goes(role, &last->other)));
}

void action_next_points(const struct role *role, const struct action *a, uint32_t label, bool *labels) {
  if (role->point_var == NO_VAR || !always_goes(role, &a->body))
    labels[a->next == ANY_POINT ? label : a->next] = true;
  if (role->point_var != NO_VAR)
    block_visit(&a->body, visit_goto, &(struct goto_search){role, labels});
}

/* --- what one action reads and does --- */

struct action_use_builder {
  const struct model *model;
  const struct role *role;
  const struct action *action;
  struct action_use *use;
  struct arena *arena;
  size_t sends_cap;
};

static bool visit_use(void *context, const struct node *n) {
  struct action_use_builder *u = context;
  unsigned traits = op_traits(n->op);
  u->use->me |= (traits & TRAIT_SELF) != 0;
  u->use->senders |= (traits & TRAIT_SENDERS) != 0;
  u->use->chooses |= (traits & TRAIT_CHOOSES) != 0;
  if (n->op == NODE_NEIGHBOURS)
    node_walk_deep(u->model, u->role->graph, visit_use, u);
  return true;
}

static void use_node(struct action_use_builder *u, const struct node *n) { node_walk_deep(u->model, n, visit_use, u); }

/* --- whom it sends to --- */

static bool is_sender(const struct action_use_builder *u, const struct node *to) {
  const struct action *a = u->action;
  if (a->trigger != TRIGGER_ONE)
    return false;
  return (to->op == NODE_SLOT && a->from_slot != NO_SLOT && to->index == a->from_slot) ||
         (to->op == NODE_SENDER && to->index == a->slot);
}

static enum addressee addressee_of(const struct action_use_builder *u, const struct send *s, uint32_t *role) {
  const struct type *t = s->to ? s->to->type : NULL;
  *role = ROLE_ANY;
  switch (s->target) {
  case TARGET_SET:
    *role = s->to_role;
    return TO_ROLE;
  case TARGET_OTHERS:
    return TO_ROLE;
  case TARGET_ONE:
    *role = t->role;
    return s->to->op == NODE_NEXT ? TO_NEXT : is_sender(u, s->to) ? TO_SENDER : TO_SOMEBODY;
  case TARGET_EXPR:
    if (t->element && t->element->kind == TYPE_PROCESS)
      *role = t->element->role;
    if (s->to->op != NODE_ROLE_SET)
      return TO_SOMEBODY;
    *role = s->to->index;
    return TO_ROLE;
  }
  return TO_SOMEBODY;
}

static void use_send(struct action_use_builder *u, const struct send *s) {
  struct action_use *use = u->use;
  struct send_use send = {.kind = s->kind, .at = s->at};
  use->me |= s->target == TARGET_OTHERS;
  if (u->role->graph) { /* whether there is a channel is checked for each message */
    use->me = true;
    use_node(u, u->role->graph);
  }
  send.to = addressee_of(u, s, &send.role);
  use->sends = arena_grown(u->arena, use->sends, &u->sends_cap, use->nsends, sizeof *use->sends);
  use->sends[use->nsends++] = send;
}

static void use_stmt(void *context, const struct stmt *s) {
  struct action_use_builder *u = context;
  stmt_walk_deep(u->model, s, visit_use, u);
  if (s->kind == STMT_SEND)
    use_send(u, s->send);
  u->use->chooses |= guard_chooses(&s->guard) || s->kind == STMT_FOREACH; /* of a witness; of an order */
  u->use->halts |= s->kind == STMT_HALT;
}

/* --- variables --- */

static void split(const struct action_use_builder *u, const bool *flags, bool *vars, bool *shared) {
  for (uint32_t i = 0; i < u->role->nvars; i++)
    vars[i] |= flags[i];
  for (uint32_t i = 0; i < u->model->nglobals; i++)
    shared[i] |= flags[u->role->nvars + i];
}

static void find_needs(struct action_use_builder *u, const struct flow *flow, bool *flags) {
  const struct action *a = u->action;
  flow_node(flow, a->match, flags);
  flow_node(flow, a->size, flags);
  flow_guard(flow, &a->guard, flags);
  if (u->role->point_var != NO_VAR && (a->point != ANY_POINT || role_starts(u->role)))
    flags[u->role->point_var] = true;
  if (a->once != NO_SLOT)
    flags[a->once] = true;
}

static void find_variables(struct action_use_builder *u) {
  const struct action *a = u->action;
  struct action_use *use = u->use;
  struct flow flow = {.model = u->model, .mode = FLOW_KEY, .nvars = u->role->nvars};
  flow.nglobals = u->model->nglobals;
  bool *flags = memory_alloc(flow.nvars + flow.nglobals + 1);
  find_needs(u, &flow, flags);
  split(u, flags, use->needs, use->needs_shared);
  memset(flags, 0, flow.nvars + flow.nglobals);
  flow_block(&flow, &a->body, flags);
  if (u->role->graph) /* it reads only file-level inputs */
    flow_node(&flow, u->role->graph, flags);
  find_needs(u, &flow, flags);
  split(u, flags, use->reads, use->reads_shared);
  memory_free(flags);
  block_assigns(&a->body, use->writes, use->writes_shared);
  if (a->once != NO_SLOT)
    use->writes[a->once] = true;
  if (u->role->point_var != NO_VAR && a->next != ANY_POINT)
    use->writes[u->role->point_var] = true;
}

static void use_action(const struct model *m, uint32_t r, const struct action *a, struct action_use *use,
                       struct arena *arena) {
  const struct role *role = &m->roles[r];
  struct action_use_builder u = {.model = m, .role = role, .action = a, .use = use, .arena = arena};
  use->needs = arena_array(arena, role->nvars + 1, sizeof(bool));
  use->reads = arena_array(arena, role->nvars + 1, sizeof(bool));
  use->writes = arena_array(arena, role->nvars + 1, sizeof(bool));
  use->needs_shared = arena_array(arena, m->nglobals + 1, sizeof(bool));
  use->reads_shared = arena_array(arena, m->nglobals + 1, sizeof(bool));
  use->writes_shared = arena_array(arena, m->nglobals + 1, sizeof(bool));
  use_node(&u, a->match);
  use_node(&u, a->size);
  guard_walk_deep(m, &a->guard, visit_use, &u);
  use->chooses |= guard_chooses(&a->guard);
  block_visit(&a->body, use_stmt, &u);
  use->senders |= a->from_slot != NO_SLOT;
  find_variables(&u);
}

/* --- receivers of answers --- */

static bool role_sends(const struct model *m, const struct action_uses *out, uint32_t r, uint32_t kind) {
  for (uint32_t i = 0; i < m->roles[r].nactions; i++)
    for (uint32_t k = 0; k < out->of[r][i].nsends; k++)
      if (out->of[r][i].sends[k].kind == kind)
        return true;
  return false;
}

/* An answer goes to a role that sends such messages. (Messages to a Byzantine process, which may send anything, are
   removed at once.) */
static void narrow_answers(const struct model *m, const struct action_uses *out, uint32_t r, uint32_t action) {
  struct action_use *use = &out->of[r][action];
  uint32_t senders = 0, only = ROLE_ANY;
  for (uint32_t s = 0; s < m->nroles; s++)
    if (m->roles[r].actions[action].trigger == TRIGGER_ONE && role_sends(m, out, s, m->roles[r].actions[action].kind)) {
      senders++;
      only = s;
    }
  for (uint32_t k = 0; k < use->nsends && senders == 1; k++)
    if (use->sends[k].to == TO_SENDER && use->sends[k].role == ROLE_ANY)
      use->sends[k].role = only;
}

/* --- visible actions --- */

static void see(const struct model *m, const struct node *formula, struct action_uses *out, struct arena *arena) {
  struct formula_reads seen = formula_reads_of(m, formula, arena);
  for (uint32_t r = 0; r < m->nroles; r++)
    for (uint32_t i = 0; i < m->roles[r].nvars; i++)
      out->property_reads[r][i] |= seen.vars[r][i];
  for (uint32_t i = 0; i < m->nglobals; i++)
    out->property_shared[i] |= seen.globals[i];
  out->crash_visible |= seen.status;
}

static bool any(const bool *flags, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (flags[i])
      return true;
  return false;
}

static bool both(const bool *a, const bool *b, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (a[i] && b[i])
      return true;
  return false;
}

static void find_visible(const struct model *m, const struct query *q, struct action_uses *out, struct arena *arena) {
  bool every = false; /* some step property can be violated by a step that changes nothing that it reads */
  for (uint32_t i = 0; i < q->nproperties; i++) {
    const struct property *p = &m->properties[q->properties[i]];
    see(m, p->formula, out, arena);
    every |= property_observes_stuttering(m, q, p);
  }
  out->crash_visible |= every;
  for (uint32_t r = 0; r < m->nroles; r++) {
    const struct role *role = &m->roles[r];
    out->recovery_visible[r] = every;
    for (uint32_t v = 0; v < role->nvars; v++)
      out->recovery_visible[r] |= var_is_volatile(&role->vars[v]) && out->property_reads[r][v];
    for (uint32_t i = 0; i < role->nactions; i++) {
      struct action_use *use = &out->of[r][i];
      use->visible = both(use->writes, out->property_reads[r], role->nvars) ||
                     both(use->writes_shared, out->property_shared, m->nglobals) ||
                     (every && (any(use->writes, role->nvars) || use->halts || any(use->writes_shared, m->nglobals)));
    }
  }
}

struct action_uses *action_uses_of(const struct model *m, const struct query *q, struct arena *arena) {
  struct action_uses *out = arena_alloc(arena, sizeof *out);
  out->of = arena_array(arena, m->nroles + 1, sizeof *out->of);
  out->property_reads = arena_array(arena, m->nroles + 1, sizeof *out->property_reads);
  out->property_shared = arena_array(arena, m->nglobals + 1, sizeof *out->property_shared);
  out->recovery_visible = arena_array(arena, m->nroles + 1, sizeof *out->recovery_visible);
  for (uint32_t r = 0; r < m->nroles; r++) {
    const struct role *role = &m->roles[r];
    out->property_reads[r] = arena_array(arena, role->nvars + 1, sizeof(bool));
    out->of[r] = arena_array(arena, role->nactions + 1, sizeof **out->of);
    for (uint32_t i = 0; i < role->nactions; i++)
      use_action(m, r, &role->actions[i], &out->of[r][i], arena);
  }
  for (uint32_t r = 0; r < m->nroles; r++)
    for (uint32_t i = 0; i < m->roles[r].nactions; i++)
      narrow_answers(m, out, r, i);
  find_visible(m, q, out, arena);
  return out;
}

bool action_can_fuse(const struct model *m, const struct action_uses *all, uint32_t r, uint32_t action) {
  const struct role *role = &m->roles[r];
  const struct action_use *use = &all->of[r][action];
  if (role->actions[action].trigger != TRIGGER_ONE || use->halts || use->nsends == 0)
    return false;
  for (uint32_t i = 0; i < role->nvars; i++)
    if (i != role->point_var && (use->reads[i] || use->writes[i]))
      return false;
  for (uint32_t g = 0; g < m->nglobals; g++)
    if (use->reads_shared[g] || use->writes_shared[g])
      return false;
  return true;
}
