#include "steps/stubborn_sets.h"

#include "analysis/dataflow.h"
#include "analysis/formula_reads.h"
#include "base/memory.h"
#include "interp/local.h"

#include <string.h>

#define PROCESSES_MOST 64
#define IN_VAIN_MOST 6

typedef uint64_t senders; /* for an action that takes one message: a set of processes; for others: bit 0 */

struct step_class {
  uint32_t process, action;
  uint32_t sender;
};

/* Which properties may be affected by a step: bits by property of the query. */
struct step_visibility {
  uint64_t **of_action;  /* [role][action]: the properties that read what the action writes */
  uint64_t of_crash;     /* the properties that read who is faulty */
  uint64_t *of_recovery; /* by role: the properties that read what a recovery changes */
};

/* What the text says about pairs of actions. Actions of a role are bits; of all roles, the rows of an action are one
   for each role. */
struct action_relations {
  uint64_t **dependent;       /* [role][action]: actions of the same process that are not independent of it */
  uint64_t **writers;         /* [role][action]: actions of the same process that may change a condition of it */
  uint64_t ***shares;         /* [role][action][other role]: actions that share memory with it; NULL: there is none */
  uint64_t ***writers_shared; /* likewise: actions that may change a condition of it through shared memory */
  uint64_t *movers;           /* by role: actions that move a process to another point */
};

/* The current state. */
struct stubborn_state {
  const content *row;
  const uint64_t *enabled;
  uint64_t byzantine;
  senders *can;                 /* classes that may become enabled, now or later */
  uint64_t *sendable;           /* [process * kinds + kind]: the processes that may still send it such a message */
  uint64_t *possible, *not_now; /* by process: may_enable */
  uint64_t *pending; /* [process * stride + action]: the senders of pending messages that the action may take */
};

/* A set under construction. */
struct stubborn_set {
  senders *in;
  uint64_t *whole;       /* by process: actions of which all classes that can happen were added */
  uint64_t *all_of_role; /* by role: actions of which they were added for all processes of the role */
  struct step_class *work;
  uint32_t nwork, work_cap;
  struct step_class *deferred; /* quorums that wait for senders; the senders are chosen as late as possible */
  uint32_t ndeferred, deferred_cap;
};

struct stubborn {
  struct state_cells *cells;
  const struct model *model;
  const struct action_uses *use;
  const struct independence *independence;
  struct may_enable *may_enable;
  uint32_t n, stride;
  uint32_t *role; /* by process */
  bool crashes, recovers, crash_limited, set_channels, fifo;
  int64_t **size; /* [role][action]: the number of messages that a quorum needs; 0: it depends on the state */
  uint32_t properties;
  struct step_visibility visible;
  struct action_relations relations;
  struct stubborn_state state;
  struct stubborn_set set;
  uint32_t turn; /* the process to prefer in case of a tie */
};

uint32_t stubborn_stride(const struct stubborn *s) { return s->stride; }

static uint32_t role_of(const struct stubborn *s, uint32_t p) { return s->role[p]; }
static const struct role *role_at(const struct stubborn *s, uint32_t p) { return &s->model->roles[role_of(s, p)]; }

/* --- visibility --- */

static bool meets(const bool *a, const bool *b, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (a[i] && b[i])
      return true;
  return false;
}

static void find_visible_to(struct stubborn *s, uint32_t i, struct arena *arena) {
  const struct model *m = s->model;
  const struct property *property = &m->properties[s->cells->query->properties[i]];
  struct formula_reads reads = formula_reads_of(m, property->formula, arena);
  uint64_t bit = UINT64_C(1) << i;
  /* such a step property may be violated by a step that does not change what it reads */
  bool every = property_observes_stuttering(m, s->cells->query, property);
  for (uint32_t r = 0; r < m->nroles; r++) {
    const struct role *role = &m->roles[r];
    for (uint32_t a = 0; a < role->nactions; a++) {
      const struct action_use *use = &s->use->of[r][a];
      if (every || meets(use->writes, reads.vars[r], role->nvars) ||
          meets(use->writes_shared, reads.globals, m->nglobals))
        s->visible.of_action[r][a] |= bit;
    }
    for (uint32_t var = 0; var < role->nvars; var++)
      if (reads.vars[r][var])
        s->visible.of_recovery[r] |= bit;
    if (every || reads.status)
      s->visible.of_recovery[r] |= bit;
  }
  if (every || reads.status)
    s->visible.of_crash |= bit;
}

/* --- lifecycle --- */

#define VARIES                                                                                                         \
  (TRAIT_OWN | TRAIT_SHARED | TRAIT_SELF | TRAIT_CLOCK | TRAIT_MESSAGES | TRAIT_STATUS | TRAIT_FIELD |                 \
   TRAIT_HEARD_OF | TRAIT_CHOOSES)

static int64_t quorum_size(const struct stubborn *s, uint32_t r, uint32_t a) {
  const struct action *action = &s->model->roles[r].actions[a];
  struct model_error error;
  int64_t size = 0;
  if (action->trigger != TRIGGER_QUORUM)
    return 0;
  bool known = !node_has_traits_deep(s->model, action->size, VARIES) &&
               action_size(s->cells->interp, a, s->model->roles[r].first, NULL, NULL, &size, &error);
  return known ? size : 0;
}

static void read_environment(struct stubborn *s) {
  const struct environment *env = &s->model->environments[s->cells->query->environment];
  for (uint32_t i = 0; i < env->nclauses; i++) {
    const struct clause *c = &env->clauses[i];
    if (c->kind == CLAUSE_CRASH && c->limit > 0) {
      s->crashes = true;
      s->recovers |= c->recovers;
      s->crash_limited |= c->limit < (int64_t)s->n;
    }
    if (c->kind == CLAUSE_CHANNELS) {
      s->set_channels |= c->channel == CHANNEL_SET;
      s->fifo |= c->channel == CHANNEL_FIFO;
    }
  }
}

static bool share(const struct stubborn *s, const struct action_use *a, const struct action_use *b) {
  uint32_t n = s->model->nglobals;
  return meets(a->writes_shared, b->reads_shared, n) || meets(a->writes_shared, b->writes_shared, n) ||
         meets(b->writes_shared, a->reads_shared, n);
}

/* The actions of each role that are related to this one through shared memory; NULL: none is. */
static uint64_t *related_by_memory(const struct stubborn *s, const struct action_use *use, bool by_conditions,
                                   struct arena *arena) {
  const struct model *m = s->model;
  uint64_t *rows = arena_alloc(arena, (m->nroles + 1) * sizeof *rows), any = 0;
  for (uint32_t r = 0; r < m->nroles; r++)
    for (uint32_t a = 0; a < m->roles[r].nactions; a++) {
      const struct action_use *other = &s->use->of[r][a];
      bool related = by_conditions ? meets(other->writes_shared, use->needs_shared, m->nglobals) : share(s, use, other);
      rows[r] |= (uint64_t)related << a;
      any |= rows[r];
    }
  return any ? rows : NULL;
}

static void relate_actions(struct stubborn *s, struct arena *arena) {
  const struct model *m = s->model;
  struct action_relations *to = &s->relations;
  to->dependent = arena_alloc(arena, (m->nroles + 1) * sizeof *to->dependent);
  to->writers = arena_alloc(arena, (m->nroles + 1) * sizeof *to->writers);
  to->shares = arena_alloc(arena, (m->nroles + 1) * sizeof *to->shares);
  to->writers_shared = arena_alloc(arena, (m->nroles + 1) * sizeof *to->writers_shared);
  to->movers = arena_alloc(arena, (m->nroles + 1) * sizeof *to->movers);
  for (uint32_t r = 0; r < m->nroles; r++) {
    const struct role *role = &m->roles[r];
    to->dependent[r] = arena_alloc(arena, (role->nactions + 1) * sizeof **to->dependent);
    to->writers[r] = arena_alloc(arena, (role->nactions + 1) * sizeof **to->writers);
    to->shares[r] = arena_alloc(arena, (role->nactions + 1) * sizeof **to->shares);
    to->writers_shared[r] = arena_alloc(arena, (role->nactions + 1) * sizeof **to->writers_shared);
    for (uint32_t a = 0; a < role->nactions; a++) {
      const struct action_use *use = &s->use->of[r][a];
      for (uint32_t i = 0; i < role->nactions; i++) {
        to->dependent[r][a] |= (uint64_t)!s->independence->of[r][a * role->nactions + i] << i;
        to->writers[r][a] |= (uint64_t)meets(s->use->of[r][i].writes, use->needs, role->nvars) << i;
      }
      to->shares[r][a] = related_by_memory(s, use, false, arena);
      to->writers_shared[r][a] = related_by_memory(s, use, true, arena);
      if (role->point_var != NO_VAR && use->writes[role->point_var])
        to->movers[r] |= UINT64_C(1) << a;
    }
  }
}

struct stubborn *stubborn_new(struct state_cells *c, const struct action_uses *use, struct may_enable *may_enable) {
  const struct model *m = c->model;
  if (!may_enable || m->nprocesses > PROCESSES_MOST || c->query->nproperties > 63)
    return NULL;
  struct stubborn *s = memory_alloc(sizeof *s);
  s->cells = c;
  s->model = m;
  s->use = use;
  s->independence = independence_of(m, c->query, use, &c->arena);
  s->may_enable = may_enable;
  s->n = m->nprocesses;
  s->role = arena_alloc(&c->arena, (s->n + 1) * sizeof *s->role);
  for (uint32_t p = 0; p < s->n; p++)
    s->role[p] = model_role_of(m, p);
  s->visible.of_action = arena_alloc(&c->arena, (m->nroles + 1) * sizeof *s->visible.of_action);
  s->size = arena_alloc(&c->arena, (m->nroles + 1) * sizeof *s->size);
  s->visible.of_recovery = arena_alloc(&c->arena, (m->nroles + 1) * sizeof *s->visible.of_recovery);
  for (uint32_t r = 0; r < m->nroles; r++) {
    s->visible.of_action[r] = arena_alloc(&c->arena, (m->roles[r].nactions + 1) * sizeof **s->visible.of_action);
    s->size[r] = arena_alloc(&c->arena, (m->roles[r].nactions + 1) * sizeof **s->size);
    for (uint32_t a = 0; a < m->roles[r].nactions; a++)
      s->size[r][a] = quorum_size(s, r, a);
    if (m->roles[r].nactions + 2 > s->stride)
      s->stride = m->roles[r].nactions + 2;
  }
  s->properties = c->query->nproperties;
  for (uint32_t i = 0; i < s->properties; i++)
    find_visible_to(s, i, &c->arena);
  read_environment(s);
  relate_actions(s, &c->arena);
  size_t classes = (size_t)s->n * s->stride + 1;
  s->state.can = memory_alloc(classes * sizeof *s->state.can);
  s->set.in = memory_alloc(classes * sizeof *s->set.in);
  s->set.whole = memory_alloc((s->n + 1) * sizeof *s->set.whole);
  s->set.all_of_role = memory_alloc((m->nroles + 1) * sizeof *s->set.all_of_role);
  s->state.pending = memory_alloc(classes * sizeof *s->state.pending);
  s->state.sendable = memory_alloc(((size_t)s->n * m->nmessages + 1) * sizeof *s->state.sendable);
  s->state.possible = memory_alloc((s->n + 1) * sizeof *s->state.possible);
  s->state.not_now = memory_alloc((s->n + 1) * sizeof *s->state.not_now);
  return s;
}

void stubborn_free(struct stubborn *s) {
  if (!s)
    return;
  memory_free(s->state.can);
  memory_free(s->set.in);
  memory_free(s->set.whole);
  memory_free(s->set.all_of_role);
  memory_free(s->state.pending);
  memory_free(s->state.sendable);
  memory_free(s->state.possible);
  memory_free(s->state.not_now);
  memory_free(s->set.work);
  memory_free(s->set.deferred);
  memory_free(s);
}

/* --- what may happen from the current state on --- */

static uint64_t bit(uint32_t i) { return UINT64_C(1) << i; }

static uint64_t role_bits(const struct stubborn *s, uint32_t r) {
  if (r == ROLE_ANY)
    return s->n == 64 ? UINT64_MAX : bit(s->n) - 1;
  const struct role *role = &s->model->roles[r];
  return (role->count == 64 ? UINT64_MAX : bit(role->count) - 1) << role->first;
}

/* The processes that a send of p may reach, if p takes messages from these senders. */
static uint64_t reached(const struct stubborn *s, uint32_t p, const struct send_use *send, senders from) {
  switch (send->to) {
  case TO_SENDER:
    return from;
  case TO_NEXT: {
    const struct role *role = role_at(s, p);
    return bit(role->first + (p - role->first + 1) % role->count);
  }
  case TO_ROLE:
  case TO_SOMEBODY:
    break;
  }
  return role_bits(s, send->role);
}

static senders may_take(const struct stubborn *s, uint32_t p, uint32_t a) {
  const struct action *action = &role_at(s, p)->actions[a];
  size_t class = (size_t)p * s->stride + a;
  if (!(s->state.possible[p] >> a & 1))
    return 0;
  if (action->trigger == TRIGGER_NONE)
    return 1;
  senders from =
      s->state.pending[class] | s->state.sendable[(size_t)p * s->model->nmessages + action->kind] | s->state.byzantine;
  if (action->trigger == TRIGGER_ONE)
    return from;
  return __builtin_popcountll(from) >= s->size[role_of(s, p)][a];
}

/* True: a possible sender was found that was not known before. */
static bool spread_sends(struct stubborn *s, uint32_t p, uint32_t a, senders from) {
  const struct action_use *use = &s->use->of[role_of(s, p)][a];
  bool grew = false;
  for (uint32_t i = 0; i < use->nsends; i++)
    for (uint64_t to = reached(s, p, &use->sends[i], from); to; to &= to - 1) {
      uint32_t q = (uint32_t)__builtin_ctzll(to);
      uint64_t *known = &s->state.sendable[(size_t)q * s->model->nmessages + use->sends[i].kind];
      if (s->cells->channel[p * s->n + q] != NO_CELL && !(*known & bit(p))) {
        *known |= bit(p);
        grew = true;
      }
    }
  return grew;
}

static void find_possible(struct stubborn *s) {
  const struct model *m = s->model;
  memset(s->state.sendable, 0, (size_t)s->n * m->nmessages * sizeof *s->state.sendable);
  memset(s->state.can, 0, (size_t)s->n * s->stride * sizeof *s->state.can);
  s->state.byzantine = 0;
  for (uint32_t p = 0; p < s->n; p++) {
    uint32_t length;
    if (content_values(s->cells, p, s->state.row[p], &length)[LOCAL_STATUS] & STATUS_BYZANTINE)
      s->state.byzantine |= bit(p);
  }
  for (uint32_t p = 0; p < s->n; p++) {
    const struct role *role = role_at(s, p);
    s->state.possible[p] = may_enable_of_local(s->may_enable, p, s->state.row[p]);
    s->state.not_now[p] = disabled_now_of_local(s->may_enable, p, s->state.row[p]);
    for (uint32_t a = 0; a < role->nactions; a++)
      s->state.pending[(size_t)p * s->stride + a] = 0;
    for (uint32_t x = 0; x < s->n && m->nmessages; x++) {
      uint32_t cell = s->cells->channel[x * s->n + p];
      if (cell == NO_CELL || s->state.row[cell] == 0)
        continue;
      for (uint64_t by = may_enable_of_channel(s->may_enable, p, s->state.row[p], x, s->state.row[cell]); by;
           by &= by - 1)
        s->state.pending[(size_t)p * s->stride + (uint32_t)__builtin_ctzll(by)] |= bit(x);
    }
  }
  for (bool grew = true; grew;) {
    grew = false;
    for (uint32_t p = 0; p < s->n; p++)
      for (uint32_t a = 0; a < role_at(s, p)->nactions; a++) {
        senders now = may_take(s, p, a), *can = &s->state.can[(size_t)p * s->stride + a];
        if (now & ~*can) {
          *can |= now;
          grew |= spread_sends(s, p, a, now);
        }
      }
  }
  for (uint32_t p = 0; p < s->n && s->crashes; p++) { /* whether it is enabled now is decided by `enabled` */
    uint32_t length;
    value status = content_values(s->cells, p, s->state.row[p], &length)[LOCAL_STATUS];
    senders *can = &s->state.can[(size_t)p * s->stride + role_at(s, p)->nactions];
    can[STUBBORN_CRASH] = s->recovers || process_active(status);
    can[STUBBORN_RECOVER] = s->recovers;
  }
}

/* --- the closure --- */

static void push(struct step_class **list, uint32_t *n, uint32_t *cap, struct step_class c) {
  if (*n == *cap) {
    *cap = *cap ? 2 * *cap : 64;
    *list = memory_resize_array(*list, *cap, sizeof **list);
  }
  (*list)[(*n)++] = c;
}

static void add(struct stubborn *s, uint32_t p, uint32_t a, senders which) {
  size_t at = (size_t)p * s->stride + a;
  for (senders more = which & s->state.can[at] & ~s->set.in[at]; more; more &= more - 1) {
    uint32_t x = (uint32_t)__builtin_ctzll(more);
    s->set.in[at] |= bit(x);
    push(&s->set.work, &s->set.nwork, &s->set.work_cap, (struct step_class){p, a, x});
  }
}

/* All classes of these actions of a process. */
static void add_actions(struct stubborn *s, uint32_t p, uint64_t actions) {
  actions &= ~s->set.whole[p];
  s->set.whole[p] |= actions;
  for (; actions; actions &= actions - 1)
    add(s, p, (uint32_t)__builtin_ctzll(actions), UINT64_MAX);
}

/* rows: by role, actions; of all processes of the role. */
static void add_of_all(struct stubborn *s, const uint64_t *rows) {
  for (uint32_t r = 0; rows && r < s->model->nroles; r++) {
    const struct role *role = &s->model->roles[r];
    uint64_t more = rows[r] & ~s->set.all_of_role[r];
    s->set.all_of_role[r] |= more;
    for (; more; more &= more - 1)
      for (uint32_t i = 0; i < role->count; i++)
        add_actions(s, role->first + i, more & -more);
  }
}

/* Can this action of x send such a message to p? *by: the classes of the action that may. */
static bool sends_to(const struct stubborn *s, uint32_t x, uint32_t a, uint32_t kind, uint32_t p, senders *by) {
  const struct action_use *use = &s->use->of[role_of(s, x)][a];
  bool any = false;
  *by = 0;
  for (uint32_t i = 0; i < use->nsends; i++) {
    if (use->sends[i].kind != kind)
      continue;
    if (use->sends[i].to == TO_SENDER) {
      *by |= bit(p);
      any = true;
    } else if (reached(s, x, &use->sends[i], 0) & bit(p)) {
      *by = UINT64_MAX;
      any = true;
    }
  }
  return any;
}

static void add_senders(struct stubborn *s, uint32_t x, uint32_t kind, uint32_t p) {
  senders by;
  for (uint32_t a = 0; a < role_at(s, x)->nactions; a++)
    if (sends_to(s, x, a, kind, p, &by))
      add(s, x, a, by);
}

/* The number of classes that add_senders would add. */
static uint32_t senders_missing(const struct stubborn *s, uint32_t x, uint32_t kind, uint32_t p) {
  uint32_t missing = 0;
  senders by;
  for (uint32_t a = 0; a < role_at(s, x)->nactions; a++)
    if (sends_to(s, x, a, kind, p, &by)) {
      size_t at = (size_t)x * s->stride + a;
      missing += (uint32_t)__builtin_popcountll(by & s->state.can[at] & ~s->set.in[at]);
    }
  return missing;
}

static uint64_t may_send(const struct stubborn *s, uint32_t p, uint32_t kind) {
  return s->state.sendable[(size_t)p * s->model->nmessages + kind];
}

static void add_crash(struct stubborn *s, uint32_t p) {
  uint32_t a = role_at(s, p)->nactions;
  add(s, p, a + STUBBORN_CRASH, 1);
  add(s, p, a + STUBBORN_RECOVER, 1);
}

/* Adds every class that may change a condition of the action. */
static void add_writers(struct stubborn *s, uint32_t p, uint32_t a) {
  uint32_t r = role_of(s, p);
  add_actions(s, p, s->relations.writers[r][a]);
  if (s->recovers)
    add_crash(s, p);
  add_of_all(s, s->relations.writers_shared[r][a]);
}

/* If channels are sets, a message that is already pending is absorbed, so sending it does not commute with taking
   it. */
static void add_takers(struct stubborn *s, uint32_t p, const struct action_use *use, senders from) {
  for (uint32_t i = 0; i < use->nsends; i++)
    for (uint64_t to = reached(s, p, &use->sends[i], from); to; to &= to - 1) {
      uint32_t q = (uint32_t)__builtin_ctzll(to);
      const struct role *role = role_at(s, q);
      for (uint32_t a = 0; a < role->nactions; a++)
        if (role->actions[a].trigger != TRIGGER_NONE && role->actions[a].kind == use->sends[i].kind)
          add(s, q, a, role->actions[a].trigger == TRIGGER_ONE ? bit(p) : 1);
    }
}

static void close_enabled(struct stubborn *s, const struct step_class *c) {
  uint32_t p = c->process, r = role_of(s, p);
  const struct role *role = &s->model->roles[r];
  const struct action *action = &role->actions[c->action];
  const struct action_use *use = &s->use->of[r][c->action];
  add_actions(s, p, s->relations.dependent[r][c->action]);
  add_crash(s, p);
  add_of_all(s, s->relations.shares[r][c->action]); /* within one process they do not commute either */
  if (s->set_channels)
    add_takers(s, p, use, action->trigger == TRIGGER_ONE ? bit(c->sender) : 0);
  /* its classes for messages that are not pending yet */
  if (action->trigger == TRIGGER_ONE) {
    if (may_send(s, p, action->kind) & bit(c->sender))
      add_senders(s, c->sender, action->kind, p);
  } else if (action->trigger == TRIGGER_QUORUM) {
    for (uint64_t from = may_send(s, p, action->kind); from; from &= from - 1)
      add_senders(s, (uint32_t)__builtin_ctzll(from), action->kind, p);
  }
}

static void close_disabled_one(struct stubborn *s, const struct step_class *c, const struct action *action) {
  uint32_t p = c->process;
  bool there =
      s->state.pending[(size_t)p * s->stride + c->action] & bit(c->sender) || s->state.byzantine & bit(c->sender);
  if (there) {
    add_writers(s, p, c->action);
    for (uint32_t a = 0; s->fifo && a < role_at(s, p)->nactions; a++) /* FIFO: the messages in front of it */
      add(s, p, a, role_at(s, p)->actions[a].trigger == TRIGGER_ONE ? bit(c->sender) : 1);
  }
  if (may_send(s, p, action->kind) & bit(c->sender))
    add_senders(s, c->sender, action->kind, p);
}

/* The number of senders that are still missing, and the processes that may still send (in *who). */
static int64_t quorum_missing(const struct stubborn *s, const struct step_class *c, const struct action *action,
                              uint64_t *who) {
  size_t at = (size_t)c->process * s->stride + c->action;
  uint64_t there = s->state.pending[at] | s->state.byzantine;
  *who = may_send(s, c->process, action->kind) & ~there;
  return s->size[role_of(s, c->process)][c->action] - __builtin_popcountll(there);
}

static void close_disabled_quorum(struct stubborn *s, const struct step_class *c, const struct action *action) {
  uint64_t who;
  if (quorum_missing(s, c, action, &who) > 0) {
    push(&s->set.deferred, &s->set.ndeferred, &s->set.deferred_cap, *c);
    return;
  }
  add_writers(s, c->process, c->action);
  for (uint64_t from = may_send(s, c->process, action->kind); from; from &= from - 1)
    add_senders(s, (uint32_t)__builtin_ctzll(from), action->kind, c->process);
  for (uint32_t a = 0; s->fifo && a < role_at(s, c->process)->nactions; a++)
    add(s, c->process, a, UINT64_MAX);
}

/* At another program point the action waits for its process to arrive there, whatever else it needs. */
static bool is_elsewhere(const struct stubborn *s, uint32_t p, const struct action *action) {
  const struct role *role = role_at(s, p);
  uint32_t length;
  return action->point != ANY_POINT && role->point_var != NO_VAR &&
         content_values(s->cells, p, s->state.row[p], &length)[LOCAL_VAR(role->point_var)] != (value)action->point;
}

static void add_movers(struct stubborn *s, uint32_t p) {
  add_actions(s, p, s->relations.movers[role_of(s, p)]);
  if (s->recovers)
    add_crash(s, p);
}

static void close_disabled(struct stubborn *s, const struct step_class *c) {
  const struct action *action = &role_at(s, c->process)->actions[c->action];
  if (is_elsewhere(s, c->process, action))
    add_movers(s, c->process);
  else if (s->state.not_now[c->process] >> c->action & 1)
    add_writers(s, c->process, c->action);
  else if (action->trigger == TRIGGER_ONE)
    close_disabled_one(s, c, action);
  else if (action->trigger == TRIGGER_QUORUM)
    close_disabled_quorum(s, c, action);
  else
    add_writers(s, c->process, c->action);
}

/* A crash disables all steps of its process. If crashes are limited, one crash may disable another. */
static void close_fault(struct stubborn *s, const struct step_class *c) {
  for (uint32_t a = 0; a < role_at(s, c->process)->nactions; a++)
    add(s, c->process, a, UINT64_MAX);
  add_crash(s, c->process);
  for (uint32_t q = 0; q < s->n && (s->crash_limited || s->recovers); q++)
    add_crash(s, q);
}

/* A quorum needs `missing` of the processes that may still send. If all but missing - 1 of them never send, it is never
   complete, so it is enough to add the senders of that many processes. The cheapest ones are chosen. */
static void choose_senders(struct stubborn *s, const struct step_class *c) {
  const struct action *action = &role_at(s, c->process)->actions[c->action];
  uint64_t who;
  int64_t missing = quorum_missing(s, c, action, &who);
  for (int64_t wanted = __builtin_popcountll(who) - missing + 1; wanted > 0; wanted--) {
    uint32_t best = UINT32_MAX, least = UINT32_MAX;
    for (uint32_t i = 0; i < s->n; i++) {
      uint32_t x = (i + s->turn) % s->n;
      uint32_t cost = who >> x & 1 ? senders_missing(s, x, action->kind, c->process) : UINT32_MAX;
      if (cost < least) {
        best = x;
        least = cost;
      }
    }
    who &= ~bit(best);
    add_senders(s, best, action->kind, c->process);
  }
}

static void close_set(struct stubborn *s) {
  while (s->set.nwork || s->set.ndeferred) {
    if (!s->set.nwork) {
      struct step_class c = s->set.deferred[--s->set.ndeferred];
      choose_senders(s, &c);
      continue;
    }
    struct step_class c = s->set.work[--s->set.nwork];
    if (c.action >= role_at(s, c.process)->nactions)
      close_fault(s, &c);
    else if (s->state.enabled[(size_t)c.process * s->stride + c.action] & bit(c.sender))
      close_enabled(s, &c);
    else
      close_disabled(s, &c);
  }
}

static bool is_goal(const struct stubborn *s, uint32_t p, uint32_t a, uint64_t undecided) {
  uint32_t r = role_of(s, p);
  if (a >= s->model->roles[r].nactions)
    return undecided &
           (a == s->model->roles[r].nactions + STUBBORN_CRASH ? s->visible.of_crash : s->visible.of_recovery[r]);
  return s->visible.of_action[r][a] & undecided || s->independence->fails[r][a];
}

static void add_goals(struct stubborn *s, uint64_t undecided) {
  for (uint32_t p = 0; p < s->n; p++)
    for (uint32_t a = 0; a < role_at(s, p)->nactions + 2; a++)
      if (is_goal(s, p, a, undecided))
        add(s, p, a, UINT64_MAX);
}

static uint32_t count_enabled(const struct stubborn *s) {
  uint32_t count = 0;
  for (size_t i = 0; i < (size_t)s->n * s->stride; i++)
    if (s->set.in[i] & s->state.enabled[i]) /* counting bits is slow on old processors */
      count += (uint32_t)__builtin_popcountll(s->set.in[i] & s->state.enabled[i]);
  return count;
}

static void keep_enabled(const struct stubborn *s, uint64_t *to) {
  for (size_t i = 0; i < (size_t)s->n * s->stride; i++)
    to[i] = s->set.in[i] & s->state.enabled[i];
}

static void begin_set(struct stubborn *s, uint32_t turn) {
  s->turn = turn;
  memset(s->set.all_of_role, 0, s->model->nroles * sizeof *s->set.all_of_role);
  memset(s->set.whole, 0, s->n * sizeof *s->set.whole);
  memset(s->set.in, 0, (size_t)s->n * s->stride * sizeof *s->set.in);
  s->set.nwork = s->set.ndeferred = 0;
}

/* Returns the number of enabled classes in the set. */
static uint32_t find_visible_set(struct stubborn *s, uint64_t undecided, uint64_t *visible_set) {
  begin_set(s, 0);
  add_goals(s, undecided);
  close_set(s);
  keep_enabled(s, visible_set);
  return count_enabled(s);
}

static bool has_goal(const struct stubborn *s, uint64_t undecided) {
  for (uint32_t p = 0; p < s->n; p++)
    for (uint32_t a = 0; a < role_at(s, p)->nactions + 2; a++) {
      size_t at = (size_t)p * s->stride + a;
      if (s->set.in[at] & s->state.enabled[at] && is_goal(s, p, a, undecided))
        return true;
    }
  return false;
}

/* Without messages, processes of a role in the same local state give equivalent sets, so one start is enough. */
static bool seen_before(const struct stubborn *s, uint32_t p) {
  const struct role *role = role_at(s, p);
  for (uint32_t q = role->first; q < p && s->model->nmessages == 0; q++)
    if (s->state.row[q] == s->state.row[p])
      return true;
  return false;
}

/* Starts from each class in turn, but gives up after several unsuccessful attempts. */
static uint32_t find_invisible_set(struct stubborn *s, uint64_t undecided, uint32_t least, uint64_t *invisible_set) {
  uint32_t in_vain = 0;
  for (uint32_t p = 0; p < s->n && least > 1; p++)
    for (uint32_t a = 0; a < role_at(s, p)->nactions && least > 1; a++)
      for (senders from = s->state.enabled[(size_t)p * s->stride + a]; from && least > 1; from &= from - 1) {
        if (in_vain == IN_VAIN_MOST)
          return least;
        if (is_goal(s, p, a, undecided) || seen_before(s, p))
          break;
        begin_set(s, p);
        add(s, p, a, from & -from);
        close_set(s);
        uint32_t count = count_enabled(s);
        if (count > 0 && count < least && !has_goal(s, undecided)) {
          least = count;
          in_vain = 0;
          keep_enabled(s, invisible_set);
        } else {
          in_vain++;
        }
      }
  return least;
}

bool stubborn_sets(struct stubborn *s, const content *row, uint64_t decided, const uint64_t *enabled,
                   uint64_t *visible_set, uint64_t *invisible_set) {
  uint64_t undecided = ~decided & (s->properties ? bit(s->properties) - 1 : 0);
  s->state.row = row;
  s->state.enabled = enabled;
  find_possible(s);
  uint32_t least = find_visible_set(s, undecided, visible_set);
  return least > 1 && find_invisible_set(s, undecided, least, invisible_set) < least;
}
