#include "steps/message_routes.h"

#include "analysis/dataflow.h"

struct routing {
  struct interpreter *interp;
  const struct model *model;
  const struct action_uses *use;
  struct message_routes *routes;
  bool *by_globals; /* by role: the receivers of its messages depend on globals */
  bool changed;
};

static void add_route(struct routing *g, uint32_t from, uint32_t to, uint32_t kind) {
  const struct role *role = &g->model->roles[model_role_of(g->model, from)];
  bool *may = &g->routes->may[((size_t)from * g->routes->nprocesses + to) * g->routes->nkinds + kind];
  if (*may || ((role->ring || role->graph) && !g->by_globals[role - g->model->roles] &&
               !channel_exists(g->interp, NULL, from, to)))
    return;
  *may = g->changed = true;
}

static const struct send_use *use_of(const struct action_use *use, const struct send *s) {
  for (uint32_t i = 0; i < use->nsends; i++)
    if (use->sends[i].at.from == s->at.from && use->sends[i].at.to == s->at.to && use->sends[i].kind == s->kind)
      return &use->sends[i];
  return NULL;
}

static void route_send(struct routing *g, uint32_t from, const struct action *a, const struct action_use *use,
                       const struct send *s) {
  const struct model *m = g->model;
  const struct send_use *u = use_of(use, s);
  for (uint32_t to = 0; to < m->nprocesses; to++) {
    uint32_t role = s->target == TARGET_SET ? s->to_role : u ? u->role : ROLE_ANY;
    bool hit = role == ROLE_ANY || role == model_role_of(m, to);
    if (s->target == TARGET_OTHERS)
      hit = to != from;
    else if (s->target != TARGET_SET && u && u->to == TO_SENDER)
      hit = a->trigger != TRIGGER_NONE && message_route_carries(g->routes, to, from, a->kind);
    if (hit)
      add_route(g, from, to, s->kind);
  }
}

static void route_block(struct routing *g, uint32_t from, const struct action *a, const struct action_use *use,
                        const struct block *b) {
  for (uint32_t i = 0; i < b->n; i++) {
    if (b->at[i]->kind == STMT_SEND)
      route_send(g, from, a, use, b->at[i]->send);
    route_block(g, from, a, use, &b->at[i]->then);
    route_block(g, from, a, use, &b->at[i]->other);
  }
}

struct message_routes *message_routes_of(struct interpreter *interp, const struct model *m,
                                         const struct action_uses *use, struct arena *arena) {
  struct message_routes *r = arena_alloc(arena, sizeof *r);
  r->nprocesses = m->nprocesses;
  r->nkinds = m->nmessages;
  r->may = arena_array(arena, (size_t)m->nprocesses * m->nprocesses * m->nmessages + 1, sizeof *r->may);
  struct routing g = {interp, m, use, r, arena_array(arena, m->nroles + 1, sizeof(bool)), true};
  for (uint32_t i = 0; i < m->nroles; i++)
    g.by_globals[i] = m->roles[i].graph && node_has_traits_deep(m, m->roles[i].graph, TRAIT_SHARED);
  while (g.changed) { /* fixpoint: a reply goes to every process that a request can come from */
    g.changed = false;
    for (uint32_t p = 0; p < m->nprocesses; p++) {
      uint32_t role = model_role_of(m, p);
      for (uint32_t a = 0; a < m->roles[role].nactions; a++)
        route_block(&g, p, &m->roles[role].actions[a], &use->of[role][a], &m->roles[role].actions[a].body);
    }
  }
  return r;
}

static bool role_takes(const struct model *m, uint32_t role, uint32_t kind) {
  for (uint32_t a = 0; a < m->roles[role].nactions; a++)
    if (m->roles[role].actions[a].trigger != TRIGGER_NONE && m->roles[role].actions[a].kind == kind)
      return true;
  return false;
}

bool message_route_is_read(const struct model *m, const struct message_routes *r, uint32_t from, uint32_t to) {
  for (uint32_t k = 0; k < r->nkinds; k++)
    if (message_route_carries(r, from, to, k) && role_takes(m, model_role_of(m, to), k))
      return true;
  return false;
}
