/* A coordinator for each phase: the leader. It is one of the processes, so its local state is counted like all others,
   but apart: a class says what a process has to do with the leader (enum leader_class). An election before the first
   round of a phase moves one process into the class of the leader; at the end of the phase it returns.

   If processes may believe in different coordinators, the leader is the one that most processes believe in, if there is
   one that believes in itself and takes part. So of every other coordinator, at most half of all processes believe in
   it, and what it hears is limited by that. Nothing else is known of these: they may hear anything that is sent to any
   of them, which is an overapproximation. */
#include "param/derive_round_internal.h"

#include "analysis/dataflow.h"
#include "analysis/type_usage.h"
#include "base/memory.h"

/* ---- classes ---- */

value local_class(const struct derivation_builder *d, const value *local) {
  return d->d->leader == UINT32_MAX ? LEADER_FOLLOWS : local[LOCAL_VAR(d->d->leader)];
}

value leader_identity(const struct derivation_builder *d, value class) {
  value me = d->role->first;
  switch ((enum leader_class) class) {
  case LEADER_LEADS:
  case LEADER_RIVAL:
    return me;
  case LEADER_FOLLOWS:
    return me + 1;
  case LEADER_OTHER:
    return me + 2;
  case LEADER_CLASSES:
    break;
  }
  return me + 2;
}

uint32_t leader_sender(const struct derivation_builder *d, value class, unsigned kind) {
  if (!(kind & MESSAGE_FROM_LEADER))
    return NO_SENDER;
  return d->role->first + (class == LEADER_LEADS ? 0 : 1);
}

bool leader_hears(value class, unsigned kind) {
  return !(kind & (class == LEADER_LEADS ? MESSAGE_TO_RIVAL : MESSAGE_TO_LEADER));
}

bool tells_class(const struct derivation *dv, uint32_t part) {
  return dv->leader != UINT32_MAX && dv->tells_class[part];
}

value derived_class(const struct derivation *dv, uint32_t part, value class) {
  if (!dv->tells_class[part])
    return LEADER_FOLLOWS;
  if (dv->tells_self[part])
    return class;
  return class == LEADER_LEADS ? LEADER_FOLLOWS : class == LEADER_RIVAL ? LEADER_OTHER : class;
}

bool derived_leads(const struct derivation *dv, uint32_t local) {
  return dv->leader != UINT32_MAX && dv->locals.at[local][LOCAL_VAR(dv->leader)] == LEADER_LEADS;
}

bool locals_agree(const struct derivation_builder *d, uint32_t a, uint32_t b) {
  const value *one = d->d->locals.at[a], *other = d->d->locals.at[b];
  uint32_t part = d->d->parts.at[a], with = d->d->parts.at[b];
  return one[LOCAL_STATUS] == other[LOCAL_STATUS] &&
         (d->d->leader == UINT32_MAX || derived_class(d->d, with, derived_class(d->d, part, local_class(d, other))) ==
                                            derived_class(d->d, part, derived_class(d->d, with, local_class(d, one))));
}

bool leader_begins_at(const struct derivation_builder *d, uint32_t point) {
  return d->d->leader != UINT32_MAX && d->m->points[point].phase_start && d->d->leader_matters[point];
}

/* Heard-of sets contain processes whatever they send, so a condition on all of these sets says something about counts
   only where everybody sends to all. Elsewhere it is left out, which allows more. */
enum coupling_kind leader_coupling(const struct derivation_builder *d, uint32_t point) {
  return d->reached.at[point].knows_leader ? HEARD_FREELY : d->heard.coupling;
}

/* ---- licence ---- */

struct identity_search {
  const struct derivation_builder *d;
  struct span at;
};

static bool is_leader(const struct derivation_builder *d, const struct node *n) {
  return n->op == NODE_VAR && n->index == d->d->leader;
}

static bool is_me(const struct derivation_builder *d, const struct node *n) {
  return n->op == NODE_ME || is_leader(d, n);
}

/* Identities may be read to compare oneself with the coordinator, and to ask for its message. */
static bool find_other_identity(void *context, const struct node *n) {
  struct identity_search *s = context;
  const struct derivation_builder *d = s->d;
  if (s->at.to || ((n->op == NODE_EQ || n->op == NODE_NE) && is_me(d, n->kid[0]) && is_me(d, n->kid[1])) ||
      (n->op == NODE_FROM && is_leader(d, n->kid[0])))
    return false;
  bool reads = n->op == NODE_ME || n->op == NODE_NUMBER_OF || n->op == NODE_NEXT || n->op == NODE_NEIGHBOURS ||
               n->op == NODE_PROCESS_AT || n->op == NODE_HEARD || n->op == NODE_SENDER || n->op == NODE_FROM ||
               (n->type && type_contains_kind(n->type, TYPE_PROCESS));
  for (uint32_t i = 0; i < n->ngen; i++)
    reads |= type_contains_kind(n->gen[i].type, TYPE_PROCESS);
  if (reads)
    s->at = n->at;
  return !reads;
}

static void find_in_stmt(void *context, const struct stmt *stmt) {
  struct identity_search *s = context;
  stmt_walk_deep(s->d->m, stmt, find_other_identity, s);
}

static bool check_identities(struct derivation_builder *d) {
  struct identity_search s = {d, {0, 0}};
  for (uint32_t p = 0; p < d->m->npoints; p++) {
    const struct body *b = &d->role->body[p];
    block_visit(&b->update, find_in_stmt, &s);
    block_visit(&b->finally, find_in_stmt, &s);
    for (uint32_t i = 0; i < b->nsends && !s.at.to; i++) {
      node_walk_deep(d->m, b->sends[i].message, find_other_identity, &s);
      guard_walk_deep(d->m, &b->sends[i].guard, find_other_identity, &s);
      if (b->sends[i].target != TARGET_SET && (b->sends[i].target != TARGET_ONE || !is_leader(d, b->sends[i].to)))
        return derive_refuse(d, b->sends[i].at, "a message goes neither to all nor to the coordinator of the phase");
    }
  }
  if (s.at.to)
    return derive_refuse(d, s.at, "identities are read other than that of the coordinator of the phase");
  const struct identity_usage *ids = identity_usage_of(d->m, d->q, &d->d->arena);
  return ids[0].use <= IDENTITY_EQUALITY ||
         derive_refuse(d, ids[0].why.at, "%s", ids[0].why.reason ? ids[0].why.reason : "identities are read");
}

static bool is_belief(const struct derivation_builder *d, const struct node *n, uint32_t slot) {
  return n->op == NODE_ORACLE && d->m->fields[n->index].var[0] == d->d->leader && n->kid[0]->op == NODE_SLOT &&
         n->kid[0]->index == slot;
}

static bool is_every(const struct generator *g) { return g->range->op == NODE_ROLE_SET && !g->cond; }

/* forall p, q in P: c[p] == c[q], or exists q in P: forall p in P: c[p] == q */
bool leader_is_clause(const struct derivation_builder *d, const struct node *n) {
  if (d->d->leader == UINT32_MAX)
    return false;
  if (n->op == NODE_FORALL && n->ngen == 2 && is_every(&n->gen[0]) && is_every(&n->gen[1]) &&
      n->kid[0]->op == NODE_EQ) {
    const struct node *a = n->kid[0]->kid[0], *b = n->kid[0]->kid[1];
    return (is_belief(d, a, n->gen[0].slot) && is_belief(d, b, n->gen[1].slot)) ||
           (is_belief(d, a, n->gen[1].slot) && is_belief(d, b, n->gen[0].slot));
  }
  if (n->op != NODE_EXISTS || n->ngen != 1 || !is_every(&n->gen[0]) || n->n != 1)
    return false;
  const struct node *all = n->kid[0];
  if (all->op != NODE_FORALL || all->ngen != 1 || !is_every(&all->gen[0]) || all->kid[0]->op != NODE_EQ)
    return false;
  const struct node *a = all->kid[0]->kid[0], *b = all->kid[0]->kid[1];
  return is_belief(d, a, all->gen[0].slot) && b->op == NODE_SLOT && b->index == n->gen[0].slot;
}

bool leader_licensed(struct derivation_builder *d) {
  for (uint32_t i = 0; i < d->role->nvars; i++) {
    const struct var *v = &d->role->vars[i];
    if (v->kind != VAR_ORACLE)
      continue;
    if (v->type->kind != TYPE_PROCESS || v->type->role != 0 || v->each != EACH_PHASE)
      return derive_refuse(d, v->at, "this oracle does not name a coordinator for each phase");
    if (d->d->leader != UINT32_MAX)
      return derive_refuse(d, v->at, "there is more than one oracle");
    d->d->leader = i;
  }
  if (d->d->leader == UINT32_MAX)
    return true;
  struct span at = d->role->vars[d->d->leader].at;
  if (d->liveness)
    return derive_refuse(d, at, "liveness is not proved of models with a coordinator");
  d->d->rivals = true;
  for (uint32_t i = 0; i < d->env->nclauses; i++) {
    const struct clause *c = &d->env->clauses[i];
    if (c->kind == CLAUSE_EVERY && c->name_id == NO_NAME && leader_is_clause(d, c->pred))
      d->d->rivals = false;
    if (c->kind == CLAUSE_OMIT || c->kind == CLAUSE_BYZANTINE || c->kind == CLAUSE_CORRUPTED)
      return derive_refuse(d, c->at, "with a coordinator, processes may crash only, and messages be lost");
  }
  if (d->role->count < (d->d->rivals ? 3 : 2))
    return derive_refuse(d, d->role->at, "there are too few processes for a coordinator and others");
  return check_identities(d);
}

/* ---- rounds ---- */

void leader_find_rounds(struct derivation_builder *d) {
  uint32_t n = d->m->npoints, leader = d->d->leader;
  bool *matters = arena_array(&d->d->arena, n + (size_t)1, sizeof *matters);
  d->d->leader_matters = matters;
  for (uint32_t p = n; p-- > 0 && leader != UINT32_MAX;) { /* the rounds of a phase follow each other */
    struct schedule_point *at = &d->reached.at[p];
    at->knows_leader = at->reads->vars[leader] || read_set_of_sends(d->m, 0, p, &d->d->arena)->vars[leader];
    at->by_class = at->knows_leader;
    for (uint32_t v = 0; v < d->role->nvars; v++)
      at->by_class &= v == leader || !at->reads->vars[v];
    matters[p] = at->knows_leader || (!d->m->points[p].phase_end && p + 1 < n && matters[p + 1]);
  }
}

/* ---- what depends on being one's own coordinator ---- */

struct self_search {
  struct derivation_builder *d;
  bool *slots; /* by slot: its value depends on it */
  bool *vars;  /* by variable: what is assigned depends on it */
  bool found;
};

static bool find_self(void *context, const struct node *n) {
  struct self_search *s = context;
  s->found |= n->op == NODE_ME || n->op == NODE_RECEIVED || n->op == NODE_HEARD || n->op == NODE_CALL ||
              (n->op == NODE_SLOT && s->slots[n->index]);
  return !s->found;
}

/* A process is its own coordinator, or hears what is sent to coordinators only. */
static bool reads_self(struct self_search *s, const struct node *n) {
  s->found = false;
  if (n)
    node_walk_deep(s->d->m, n, find_self, s);
  return s->found;
}

static bool guard_reads_self(struct self_search *s, const struct guard *g) {
  s->found = false;
  guard_walk_deep(s->d->m, g, find_self, s);
  return s->found;
}

static void depend_all(struct self_search *s) {
  for (uint32_t v = 0; v < s->d->role->nvars; v++)
    s->vars[v] = true;
}

static void block_depends(struct self_search *s, const struct block *b, bool depends) {
  for (uint32_t i = 0; i < b->n; i++) {
    const struct stmt *x = b->at[i];
    bool inside;
    switch (x->kind) {
    case STMT_IF:
      for (uint32_t k = 0; k < x->guard.ngen; k++)
        s->slots[x->guard.gen[k].slot] = reads_self(s, x->guard.gen[k].range);
      inside = depends || guard_reads_self(s, &x->guard);
      block_depends(s, &x->then, inside);
      block_depends(s, &x->other, inside);
      break;
    case STMT_LET:
      s->slots[x->slot] = reads_self(s, x->expr);
      break;
    case STMT_ASSIGN:
      inside = depends || reads_self(s, x->expr);
      for (uint32_t k = 0; k < x->npath; k++)
        inside |= reads_self(s, x->path[k].index);
      s->vars[x->var] |= inside;
      break;
    case STMT_FOREACH:
    case STMT_HALT:
    case STMT_SEND:
      depend_all(s);
      break;
    }
  }
}

void leader_find_selves(struct derivation_builder *d, const uint32_t *part, bool *selves) {
  uint32_t n = d->role->nvars;
  struct self_search s = {.d = d};
  for (uint32_t p = 0; p < d->m->npoints; p++) {
    const struct schedule_point *at = &d->reached.at[p];
    const struct body *b = &d->role->body[p];
    if (!at->knows_leader)
      continue;
    s.vars = memory_alloc(n + (size_t)1);
    s.slots = memory_alloc(d->m->nslots + (size_t)1);
    block_depends(&s, &b->update, false);
    block_depends(&s, &b->finally, false);
    for (uint32_t v = 0; v < n; v++)
      if (s.vars[v]) {
        selves[d->d->part_of ? part[v] : 0] = true;
        selves[at->updates] |= !at->by_class; /* it decides for other parts */
      }
    for (uint32_t i = 0; i < b->nsends; i++)
      selves[at->sends] |= at->reads->received >= RECEIVED_NAMED || reads_self(&s, b->sends[i].message) ||
                           guard_reads_self(&s, &b->sends[i].guard);
    memory_free(s.vars);
    memory_free(s.slots);
  }
}

/* ---- elections ---- */

static struct term *idle_count(struct derivation_builder *d, uint32_t point, uint32_t part) {
  const struct schedule_point *at = &d->reached.at[point];
  struct term *sum = NULL;
  for (size_t i = 0; i < at->locals.n; i++)
    if (!local_active(d, at->locals.at[i]) && d->d->parts.at[at->locals.at[i]] == part)
      sum = make_sum(d, sum, local_count(d, at->locals.at[i]));
  return sum;
}

/* The processes of a part that change into a class: amounts, and their sum. */
static bool elect_part(struct round_builder *r, uint32_t part, bool nobody, struct term **sums) {
  static const char *const names[] = {"believe", "lead", "stray", "rise"};
  struct derivation_builder *d = r->d;
  const struct schedule_point *at = &d->reached.at[r->point];
  for (size_t i = 0; i < at->locals.n; i++) {
    uint32_t l = at->locals.at[i];
    struct term *gone = NULL;
    if (!local_active(d, l) || d->d->parts.at[l] != part || local_class(d, d->d->locals.at[l]) != LEADER_FOLLOWS)
      continue;
    for (value class = LEADER_LEADS; class < (d->d->rivals ? LEADER_CLASSES : LEADER_OTHER); class ++) {
      if ((nobody && class == LEADER_LEADS) || derived_class(d->d, part, class) != class)
        continue;
      uint32_t to = leader_local(d, l, r->point, class);
      if (to == UINT32_MAX)
        return false;
      struct term *amount = round_amount(r, "%s_%s", names[class], local_label(d, l));
      sums[class] = make_sum(d, sums[class], amount);
      move_set_count(d, &r->move, to, amount); /* nobody was in that class between phases */
      gone = make_sum(d, gone, amount);
    }
    if (gone) {
      move_set_count(d, &r->move, l, make_difference(d, local_count(d, l), gone));
      /* without a leader, nobody believes in it */
      round_require(r, make_relation(d, nobody ? TERM_EQ : TERM_LE, gone, local_count(d, l)));
    }
  }
  return true;
}

/* The same processes in each part that tells the class. nobody: no process leads. */
static bool add_election(struct derivation_builder *d, uint32_t point, bool nobody, move_vec *moves) {
  struct round_builder r = {.d = d, .point = point};
  struct term *astray = NULL, *rivals = NULL;
  bool ok = true;
  r.move = round_move_new(d, point, nobody ? "nobody_leads" : "elect");
  r.move.guard = make_relation(d, TERM_EQ, make_leaf(d, TERM_CONTROL, d->d->elected), NULL);
  if (d->d->where != UINT32_MAX)
    round_require(&r, make_relation(d, TERM_EQ, make_leaf(d, TERM_CONTROL, d->d->where), round_term(d, point)));
  if (d->d->ages)
    round_require(&r, make_leaf(d, TERM_CONTROL, d->d->aged));
  r.move.controls[d->d->elected] = make_number(d, 1);
  for (uint32_t part = 0; part < d->d->nparts && ok; part++) {
    struct term *sums[LEADER_CLASSES] = {0};
    if (!part_exists(d->d, part) || !tells_class(d->d, part))
      continue;
    if (nobody && !d->d->rivals)
      round_require(&r, amount_some(&r, idle_count(d, point, part)));
    ok = elect_part(&r, part, nobody, sums);
    if (ok && !nobody && d->d->tells_self[part])
      round_require(&r, make_relation(d, TERM_EQ, sums[LEADER_LEADS], make_number(d, 1)));
    if (!ok || !d->d->rivals)
      continue;
    struct term *strays = make_sum(d, sums[LEADER_OTHER], sums[LEADER_RIVAL]); /* as many in each part */
    if (astray)
      round_require(&r, make_relation(d, TERM_EQ, strays, astray));
    astray = strays;
    if (rivals && d->d->tells_self[part])
      round_require(&r, make_relation(d, TERM_EQ, sums[LEADER_RIVAL], rivals));
    rivals = d->d->tells_self[part] ? sums[LEADER_RIVAL] : rivals;
  }
  round_move_finish(&r);
  vec_push(moves, r.move);
  vec_push(&d->d->is_part_move, false);
  vec_push(&d->d->turns, (struct turn_move){0});
  vec_release(&r.amounts);
  return ok && !d->d->refused;
}

bool leader_elections(struct derivation_builder *d, uint32_t point, move_vec *moves) {
  bool idle = false;
  for (size_t i = 0; i < d->reached.at[point].locals.n; i++)
    idle |= !local_active(d, d->reached.at[point].locals.at[i]);
  return add_election(d, point, false, moves) && ((!d->d->rivals && !idle) || add_election(d, point, true, moves));
}

void leader_crashes_together(struct round_builder *r, const bool *together) {
  struct derivation_builder *d = r->d;
  struct term *all = NULL, *leaders = NULL;
  bool first = true;
  for (uint32_t part = 0; part < d->d->nparts; part++) {
    struct term *sum = NULL, *leads = NULL;
    if (!together[part])
      continue;
    for (uint32_t l = 0; l < d->d->locals.n; l++)
      if (d->d->parts.at[l] == part && r->crashing[l]) {
        sum = make_sum(d, sum, r->crashing[l]);
        if (local_class(d, d->d->locals.at[l]) == LEADER_LEADS)
          leads = make_sum(d, leads, r->crashing[l]);
      }
    if (!first)
      round_require(r, make_relation(d, TERM_EQ, sum, all));
    if (leads && leaders)
      round_require(r, make_relation(d, TERM_EQ, leads, leaders));
    leaders = leads ? leads : leaders;
    all = sum;
    first = false;
  }
}

/* ---- the leader's choice ---- */

struct leader_choices {
  struct round_builder *r;
  const bool *together;
  move_vec *moves;
  struct counter_move begin; /* of the move, before any choice */
  size_t amounts, local_moves;
  struct term **arrivals;
};

static void begin_again(struct leader_choices *x) {
  struct round_builder *r = x->r;
  struct derivation_builder *d = r->d;
  struct arena *arena = &d->s->arena;
  r->move = x->begin;
  r->move.counters = arena_copy(arena, x->begin.counters, d->counters_max * sizeof *r->move.counters);
  r->move.controls = arena_copy(arena, x->begin.controls, d->controls_max * sizeof *r->move.controls);
  r->amounts.n = x->amounts;
  r->local_moves.n = x->local_moves;
  memcpy(r->arrivals, x->arrivals, d->d->locals.n * sizeof *r->arrivals);
  round_forget_conditions(r);
}

static struct term *is_there(struct derivation_builder *d, uint32_t local) {
  return make_leaf(d, TERM_CONTROL, d->d->flag.at[local]);
}

/* The leader is in this local state: one move for each successor. */
static bool add_choices(struct leader_choices *x, uint32_t local) {
  struct round_builder *r = x->r;
  struct derivation_builder *d = r->d;
  VEC(uint32_t) targets = {0};
  local_successor_vec options = {0};
  begin_again(x);
  bool ok = successors_find(r, local, &options);
  for (size_t i = 0; i < options.n; i++)
    vec_push(&targets, options.at[i].target);
  for (size_t i = 0; i < targets.n && ok; i++) {
    local_successor_vec anew = {0}; /* conditions may need amounts of the move that they belong to */
    begin_again(x);
    ok = successors_find(r, local, &anew);
    const struct local_successor *to = ok ? successor_to(&anew, targets.at[i]) : NULL;
    if (to) {
      round_require(r, is_there(d, local));
      round_require(r, to->always ? make_number(d, 1) : make_or(d, amount_none(r, remaining_count(r, local)), to->can));
      r->leads = local;
      r->leads_to = to->target;
      ok = round_make_one_joint_move(r, x->together, x->moves);
    }
    vec_release(&anew);
  }
  vec_release(&options);
  vec_release(&targets);
  return ok;
}

bool leader_joint_moves(struct round_builder *r, const bool *together, move_vec *moves) {
  struct derivation_builder *d = r->d;
  const struct schedule_point *at = &d->reached.at[r->point];
  struct leader_choices x = {.r = r,
                             .together = together,
                             .moves = moves,
                             .begin = r->move,
                             .amounts = r->amounts.n,
                             .local_moves = r->local_moves.n};
  uint32_t part = UINT32_MAX; /* of the first such local state; what other parts choose is an amount */
  bool ok = true;
  x.arrivals = arena_copy(&d->d->arena, r->arrivals, (d->d->locals.n + (size_t)1) * sizeof *x.arrivals);
  r->chooses = arena_array(&d->d->arena, d->d->locals.n + (size_t)1, sizeof *r->chooses);
  r->leads = UINT32_MAX;
  for (size_t i = 0; i < at->locals.n && ok; i++) {
    uint32_t l = at->locals.at[i];
    local_successor_vec options = {0};
    if (!derived_leads(d->d, l) || !local_active(d, l) || !together[d->d->parts.at[l]] ||
        (part != UINT32_MAX && d->d->parts.at[l] != part))
      continue;
    begin_again(&x);
    ok = successors_find(r, l, &options);
    r->chooses[l] = options.n > 1;
    part = options.n > 1 ? d->d->parts.at[l] : part;
    vec_release(&options);
  }
  for (size_t i = 0; i < at->locals.n && ok; i++)
    if (r->chooses[at->locals.at[i]])
      ok = add_choices(&x, at->locals.at[i]);
  begin_again(&x);
  r->leads = UINT32_MAX;
  for (size_t i = 0; i < at->locals.n; i++)
    if (r->chooses[at->locals.at[i]])
      round_require(r, make_not(d, is_there(d, at->locals.at[i])));
  ok = ok && round_make_one_joint_move(r, together, moves);
  r->chooses = NULL;
  return ok && !d->d->refused;
}
