/* The moves of a process, cached by the state that it sees. */
#include "steps/process_moves.h"

#include "analysis/action_use.h"
#include "base/hash.h"
#include "interp/local.h"
#include "steps/constant_memory.h"
#include "steps/dead_data.h"
#include "steps/move_caches.h"
#include "steps/per_message.h"
#include "steps/relevant_fields.h"
#include "steps/step_fairness.h"
#include "steps/step_properties.h"
#include "steps/step_system_internal.h"

#include <string.h>

#define MOVES_BYTES_MAX ((size_t)256 << 20) /* bytes; beyond that, moves are computed each time */

void moves_store_init(struct step_system *s) {
  struct moves_store *v = &s->moves_store;
  uint32_t n = s->model->nprocesses;
  arena_init(&v->arena);
  arena_init(&v->short_keyed);
  arena_init(&v->transient);
  v->dead_message_cache_of = intern_new();
  v->inbound = arena_array(&s->arena, n + 1, sizeof *v->inbound);
  v->ninbound = arena_array(&s->arena, n + 1, sizeof *v->ninbound);
  v->move_tables = arena_array(&s->arena, n + 1, sizeof *v->move_tables);
  v->move_caches = arena_array(&s->arena, n + 1, sizeof *v->move_caches);
  v->nothing = arena_alloc(&s->arena, sizeof *v->nothing);
  *v->nothing = (struct short_moves){.short_keyed = true, .of = arena_array(&s->arena, 1, sizeof *v->nothing->of)};
  v->per_message = arena_array(&s->arena, n + 1, sizeof *v->per_message);
  relevant_fields_init(s);
  v->joint_caches = arena_array(&s->arena, n + 1, sizeof *v->joint_caches);
  v->inbox = arena_array(&s->arena, n + 1, sizeof *v->inbox);
  v->after = arena_array(&s->arena, n + 1, sizeof *v->after);
  for (uint32_t p = 0; p < n; p++) {
    v->inbound[p] = arena_array(&s->arena, n + 1, sizeof **v->inbound);
    v->move_tables[p].seen = intern_new();
    for (uint32_t q = 0; q < n; q++)
      if (s->cells.channel[(size_t)q * n + p] != NO_CELL)
        v->inbound[p][v->ninbound[p]++] = (struct inbound){q, s->cells.channel[(size_t)q * n + p]};
  }
}

void moves_store_release(struct step_system *s) {
  struct moves_store *v = &s->moves_store;
  for (uint32_t p = 0; p < s->model->nprocesses; p++) {
    intern_free(v->move_tables[p].seen);
    vec_release(&v->move_tables[p].moves);
  }
  move_caches_release(s);
  relevant_fields_release(s);
  message_moves_release(s);
  for (size_t i = 0; i < v->dead_messages.n; i++)
    memory_free(v->dead_messages.at[i]->of);
  vec_release(&v->dead_messages);
  vec_release(&v->compiled_sends);
  vec_release(&v->new_moves);
  intern_free(v->dead_message_cache_of);
  memo_release(&v->sends_of);
  arena_release(&v->arena);
  arena_release(&v->short_keyed);
  arena_release(&v->transient);
}

size_t moves_store_bytes(const struct step_system *s) {
  const struct moves_store *v = &s->moves_store;
  size_t bytes =
      v->move_bytes + v->short_bytes + memo_bytes(&v->sends_of) + relevant_fields_bytes(s) + message_moves_bytes(s);
  for (uint32_t p = 0; p < s->model->nprocesses; p++)
    bytes += intern_bytes(v->move_tables[p].seen);
  return bytes;
}

/* --- sending --- */

static struct dead_message_cache *dead_message_cache_of(struct step_system *s, uint32_t from, uint32_t to,
                                                        message_id l) {
  struct moves_store *v = &s->moves_store;
  if (!s->dead.drops_dead_messages && !s->faults.byzantine)
    return NULL;
  uint32_t id = intern_put(v->dead_message_cache_of, (value[]){from, to, l}, 3);
  if (id == v->dead_messages.n) {
    struct dead_message_cache *d = arena_alloc(&v->arena, sizeof *d);
    *d = (struct dead_message_cache){.from = from, .to = to, .message_id = l};
    vec_push(&v->dead_messages, d);
  }
  return v->dead_messages.at[id];
}

bool dead_message_lookup(struct step_system *s, struct dead_message_cache *d, content local) {
  indexed_reserve(d->of, d->n, local, 0);
  if (!d->of[local])
    d->of[local] = message_is_dead(s, d->to, local, d->from, d->message_id) ? 2 : 1;
  return d->of[local] == 2;
}

/* The channel of each message. Messages without a channel are never read and are omitted. */
static const struct channel_sends *sends_of(struct step_system *s, uint32_t p, uint32_t id) {
  struct moves_store *v = &s->moves_store;
  uint32_t known;
  if (memo_find(&v->sends_of, id, p, &known))
    return v->compiled_sends.at[known];
  size_t n = intern_length(s->steps.sends, id) / 3;
  const value *at = intern_at(s->steps.sends, id);
  struct channel_sends *sends = arena_alloc(&v->arena, sizeof *sends);
  sends->at = arena_array(&v->arena, n + 1, sizeof *sends->at);
  for (size_t i = 0; i < n; i++) {
    uint32_t to = (uint32_t)at[3 * i], cell = s->cells.channel[(size_t)p * s->model->nprocesses + to];
    if (cell == NO_CELL)
      continue;
    message_id l = message_id_put(&s->channels, (uint32_t)at[3 * i + 1], at[3 * i + 2]);
    sends->at[sends->n++] =
        (struct channel_send){cell, to, append_table_of(&s->channels, cell, l), dead_message_cache_of(s, p, to, l)};
  }
  vec_push(&v->compiled_sends, sends);
  memo_add(&v->sends_of, id, p, (uint32_t)v->compiled_sends.n - 1);
  return sends;
}

/* --- one move --- */

struct move_builder {
  struct step_system *system;
  const struct visible_state *at;
  struct arena *arena;
  content *after;               /* the inbox after the move */
  uint32_t unseen;              /* MP: number of delivered messages, all of which an action must take or read */
  const struct inbox_entry *in; /* the one message that the actions take, or NULL */
};

static void move_builder_reset(struct move_builder *k) {
  uint32_t n = k->system->moves_store.ninbound[k->at->process];
  if (n)
    memcpy(k->after, k->at->inbox, n * sizeof *k->after);
}

/* Sets the cells that the move changes: the local state, the inbound channels, globals. */
static void set_patches(struct move_builder *k, struct move *m, content next, uint32_t writes) {
  struct step_system *s = k->system;
  const struct visible_state *at = k->at;
  uint32_t p = at->process, nin = s->moves_store.ninbound[p];
  size_t nwrites = intern_length(s->steps.writes, writes) / 2;
  const value *written = intern_at(s->steps.writes, writes);
  struct patch *patches = arena_array(k->arena, 1 + nin + nwrites, sizeof *patches);
  uint32_t n = 0;
  if (s->dead.constant_memory)
    next = clear_unread_variables(s, p, next, globals_after(s, at->role, at->globals, writes));
  if (next != at->local)
    patches[n++] = (struct patch){p, next};
  for (uint32_t i = 0; i < nin && s->dead.drops_dead_messages; i++)
    k->after[i] = drop_dead_messages(s, p, next, s->moves_store.inbound[p][i].from, k->after[i]);
  for (uint32_t i = 0; i < nin; i++)
    if (k->after[i] != at->inbox[i])
      patches[n++] = (struct patch){s->moves_store.inbound[p][i].cell, k->after[i]};
  for (size_t i = 0; i < nwrites; i++)
    patches[n++] = (struct patch){s->cells.global[written[2 * i]], (content)written[2 * i + 1]};
  m->patches = patches;
  m->npatches = n;
  m->writes = nwrites > 0;
}

static struct move *add_move(struct move_builder *k, enum event_kind kind, uint32_t action) {
  struct moves_store *v = &k->system->moves_store;
  vec_push(&v->new_moves, ((struct move){.kind = kind, .action = action, .sender = NO_SENDER, .group = NO_GROUP}));
  return &v->new_moves.at[v->new_moves.n - 1];
}

static const struct model_error *error_of(struct move_builder *k, uint32_t number) {
  struct model_error *error = arena_copy(k->arena, &k->system->steps.errors.at[number - 1], sizeof *error);
  error->process = k->at->process; /* the outcome may have been computed for another process of the role */
  return error;
}

/* Almost-sure properties: a number that identifies the choices of the adversary in a state. */
static uint32_t adversary_choice_of(struct move_builder *k, const struct move *m, uint32_t free_choices) {
  struct step_system *s = k->system;
  message_id l = k->in && !k->in->forged ? message_id_put(&s->channels, k->in->kind, k->in->message) : UINT32_MAX;
  value alone = m->kind == EVENT_ACTION || m->kind == EVENT_RECOVER ? -1 : (value)s->moves_store.new_moves.n;
  value place = k->in ? k->in->place : 0;
  return intern_put(
      s->liveness.adversary_choice_names,
      (value[]){k->at->process, m->kind, m->action, m->sender, m->duplicated, l, place, free_choices, alone}, 9);
}

/* Adds an action after which the inbox is k->after. */
static void add_action(struct move_builder *k, const struct step_outcome *o, uint32_t sender, uint32_t duplicated) {
  struct step_system *s = k->system;
  struct move *m = add_move(k, EVENT_ACTION, o->action);
  m->sender = sender;
  m->duplicated = (uint16_t)duplicated;
  m->group = s->liveness.fair ? group_of_action(s, k->at->process, o->action, k->in) : NO_GROUP;
  m->lie = k->in && k->in->forged;
  m->used_coin = o->used_coin;
  if (s->base.probabilistic)
    m->adversary_choice = adversary_choice_of(k, m, o->free_choices);
  if (o->error) {
    m->error = error_of(k, o->error);
    return;
  }
  set_patches(k, m, o->next, o->writes);
  m->sends = o->sends ? sends_of(s, k->at->process, o->sends) : NULL;
  m->sent = o->sends;
  m->broken = step_properties_broken_by_process(s, k->at->process, k->at->local, o->next);
}

static void add_actions(struct move_builder *k, struct step_outcomes list, uint32_t sender) {
  for (uint32_t i = 0; i < list.n; i++) {
    move_builder_reset(k);
    add_action(k, &list.at[i], sender, 0);
  }
}

/* --- actions on messages --- */

static uint32_t inbound_from(const struct moves_store *v, uint32_t p, uint32_t from) {
  uint32_t i = 0;
  while (v->inbound[p][i].from != from)
    i++;
  return i;
}

static const struct channel_receivable *receivable_of(struct move_builder *k, uint32_t in, message_id l,
                                                      uint32_t place) {
  struct step_system *s = k->system;
  const struct channel_view *v =
      channel_view(&s->channels, s->moves_store.inbound[k->at->process][in].cell, k->at->inbox[in]);
  for (uint32_t i = 0; i < v->nreceivable; i++)
    if (v->receivable[i].message_id == l && v->receivable[i].place == place)
      return &v->receivable[i];
  return NULL;
}

/* Removes a message if it is taken; otherwise, under MP, marks it as seen. */
static void leave(struct move_builder *k, uint32_t in, const struct channel_receivable *o, bool gone) {
  if (gone)
    k->after[in] = o->taken;
  else if (k->system->interp->semantics == SEMANTICS_MP)
    k->after[in] = o->seen;
}

static void moves_on_messages(struct move_builder *k) {
  struct step_system *s = k->system;
  uint32_t p = k->at->process;
  for (uint32_t in = 0; in < s->moves_store.ninbound[p]; in++) {
    const struct inbound *from = &s->moves_store.inbound[p][in];
    if (k->at->inbox[in] == 0)
      continue;
    const struct channel_view *v = channel_view(&s->channels, from->cell, k->at->inbox[in]);
    for (uint32_t i = 0; i < v->nreceivable; i++) {
      const struct channel_receivable *o = &v->receivable[i];
      if (k->unseen > (o->place == PACKET_DELIVERED))
        continue;
      struct step_outcomes list = local_steps_on_message(s, k->at, from->from, o->message_id);
      const struct inbox_entry message = {from->from, message_id_kind(&s->channels, o->message_id),
                                          message_id_value(&s->channels, o->message_id), o->place, false};
      k->in = &message;
      for (uint32_t j = 0; j < list.n; j++)
        for (uint32_t kept = 0; kept <= s->faults.duplicates; kept++) {
          move_builder_reset(k);
          leave(k, in, o, !kept);
          add_action(k, &list.at[j], from->from, kept);
        }
      k->in = NULL;
    }
  }
}

/* A quorum that is taken: each of its messages may stay, within the limits on duplication. This is still undecided for
   the first i messages; `kept` holds the decisions for the others. */
static void add_quorum_kept(struct move_builder *k, const struct quorum_outcome *q, bool taken, bool *kept, uint32_t i,
                            uint32_t nkept) {
  struct step_system *s = k->system;
  if (step_system_interrupted(s))
    return;
  if (i > 0) {
    bool may_stay =
        taken && s->faults.duplicates && !q->chosen[i - 1].forged && duplication_allowed(s->env, 0, nkept + 1);
    for (uint32_t stays = 0; stays <= may_stay; stays++) {
      kept[i - 1] = stays;
      add_quorum_kept(k, q, taken, kept, i - 1, nkept + stays);
    }
    return;
  }
  move_builder_reset(k);
  for (uint32_t j = 0; j < q->nchosen; j++) {
    const struct quorum_message *c = &q->chosen[j];
    if (c->forged)
      continue;
    uint32_t in = inbound_from(&s->moves_store, k->at->process, c->from);
    leave(k, in, receivable_of(k, in, c->message_id, c->place), taken && !kept[j]);
  }
  add_action(k, &q->outcome, NO_SENDER, nkept);
}

static void add_quorum(struct move_builder *k, const struct quorum_outcome *q, bool taken) {
  bool *kept = memory_alloc(q->nchosen + 1);
  add_quorum_kept(k, q, taken, kept, q->nchosen, 0);
  memory_free(kept);
}

static bool sees_all(const struct move_builder *k, const struct quorum_outcome *q) {
  uint32_t seen = 0;
  for (uint32_t i = 0; i < q->nchosen; i++)
    seen += !q->chosen[i].forged && q->chosen[i].place == PACKET_DELIVERED;
  return k->unseen == seen;
}

static void moves_on_quorums(struct move_builder *k) {
  struct step_system *s = k->system;
  const struct role *role = &s->model->roles[k->at->role];
  for (uint32_t a = 0; a < role->nactions; a++) {
    if (role->actions[a].trigger != TRIGGER_QUORUM)
      continue;
    struct quorum_outcomes list = local_steps_on_quorum(s, k->at, a);
    for (uint32_t i = 0; i < list.n; i++)
      if (s->interp->semantics != SEMANTICS_MP || sees_all(k, &list.at[i]))
        add_quorum(k, &list.at[i], role->actions[a].taken);
  }
}

static void moves_on_forged(struct move_builder *k) {
  struct step_system *s = k->system;
  size_t n = intern_length(s->vectors, k->at->byzantine);
  const value *liars = intern_at(s->vectors, k->at->byzantine);
  const struct inbox_entry lie = {.forged = true};
  k->in = &lie;
  local_steps_load(s, k->at);
  for (size_t i = 0; i < n && k->unseen == 0; i++)
    if (channel_exists(s->interp, s->steps.globals, (uint32_t)liars[i], k->at->process))
      add_actions(k, local_steps_on_forged(s, k->at, (uint32_t)liars[i]), (uint32_t)liars[i]);
  k->in = NULL;
}

/* --- faults --- */

static content with_status(struct step_system *s, const struct visible_state *at, value clear, value set) {
  uint32_t n;
  const value *v = content_values(&s->cells, at->process, at->local, &n);
  vec_reserve(&s->steps.scratch, n);
  value *copy = s->steps.scratch.at;
  memcpy(copy, v, n * sizeof *v);
  copy[LOCAL_STATUS] = (copy[LOCAL_STATUS] & ~clear) | set;
  clear_dead_variables(s, at->role, copy);
  return content_put(&s->cells, at->process, copy, n);
}

static struct move *add_crash(struct move_builder *k, content crashed, uint32_t action) {
  struct step_system *s = k->system;
  uint32_t n;
  value status = content_values(&s->cells, k->at->process, k->at->local, &n)[LOCAL_STATUS];
  struct move *m = add_move(k, EVENT_CRASH, action);
  move_builder_reset(k);
  set_patches(k, m, crashed, 0);
  m->adversary_choice = s->base.probabilistic ? adversary_choice_of(k, m, 0) : 0;
  m->became_faulty = !(status & STATUS_RECOVERED);
  m->broken = step_properties_broken_by_process(s, k->at->process, k->at->local, crashed);
  return m;
}

static uint32_t part_of_sends(struct step_system *s, uint32_t id, const bool *out) {
  struct local_steps *t = &s->steps;
  size_t n = intern_length(t->sends, id);
  vec_clear(&t->scratch);
  for (size_t i = 0; i < n; i++)
    if (out[i / 3])
      vec_push(&t->scratch, intern_at(t->sends, id)[i]);
  return intern_put(t->sends, t->scratch.at, t->scratch.n);
}

static void add_crash_with(struct move_builder *k, content crashed, uint32_t action, uint32_t sends, uint32_t whole) {
  struct move *m = add_crash(k, crashed, action);
  m->sends = sends_of(k->system, k->at->process, sends);
  m->whole = 1 + whole;
}

/* A crash in the middle of an action: any non-empty subset of its messages is sent. */
static void crash_in(struct move_builder *k, content crashed, uint32_t move) {
  struct step_system *s = k->system;
  uint32_t id = s->moves_store.new_moves.at[move].sent, action = s->moves_store.new_moves.at[move].action;
  if (s->moves_store.new_moves.at[move].used_coin)
    s->base.coins_lost = "a process may crash in the middle of an action in which it tosses a coin";
  if (!s->faults.parts) {
    add_crash_with(k, crashed, action, id, move);
    return;
  }
  size_t n = intern_length(s->steps.sends, id) / 3;
  bool *out = memory_alloc(n + 1);
  while (!step_system_interrupted(s)) {
    size_t i = 0;
    while (i < n && out[i])
      out[i++] = false;
    if (i == n)
      break;
    out[i] = true;
    add_crash_with(k, crashed, action, part_of_sends(s, id, out), move);
  }
  memory_free(out);
}

/* A crashed process takes no more steps, and no process is obliged to take steps. So if neither the crash nor the
   effect of the action apart from its sends is visible, the crash adds nothing to taking the action, or to taking
   none. */
bool crash_matters(const struct step_system *s, uint32_t role, uint32_t action) {
  if (!s->faults.crash_invisible)
    return true;
  if (action == NO_ACTION)
    return false;
  const struct action_use *use = &s->use->of[role][action];
  bool shared = false;
  for (uint32_t g = 0; g < s->model->nglobals; g++)
    shared |= use->writes_shared[g];
  return use->visible || shared;
}

static void moves_to_crash(struct move_builder *k, uint32_t nactions) {
  struct step_system *s = k->system;
  content crashed = with_status(s, k->at, STATUS_RECOVERED, STATUS_CRASHED);
  for (uint32_t i = 0; i < nactions; i++) {
    const struct move *m = &s->moves_store.new_moves.at[i];
    bool known = m->error || !m->sent || m->duplicated || !crash_matters(s, k->at->role, m->action);
    for (uint32_t j = 0; j < i && !known && s->cells.bound == 0; j++) /* the interrupted action is not visible */
      known = !s->moves_store.new_moves.at[j].error && !s->moves_store.new_moves.at[j].duplicated &&
              s->moves_store.new_moves.at[j].sent == m->sent &&
              crash_matters(s, k->at->role, s->moves_store.new_moves.at[j].action);
    if (!known)
      crash_in(k, crashed, i);
  }
  if (crash_matters(s, k->at->role, NO_ACTION))
    add_crash(k, crashed, NO_ACTION);
}

static void moves_to_recover(struct move_builder *k) {
  struct step_system *s = k->system;
  struct step_outcomes list = local_steps_of_recovery(s, k->at);
  for (uint32_t i = 0; i < list.n; i++) {
    struct move *m = add_move(k, EVENT_RECOVER, NO_ACTION);
    if (list.at[i].error) {
      m->error = error_of(k, list.at[i].error);
      continue;
    }
    move_builder_reset(k);
    for (uint32_t in = 0; in < s->moves_store.ninbound[k->at->process] && s->interp->semantics == SEMANTICS_MP; in++)
      k->after[in] = channel_seen(&s->channels, s->moves_store.inbound[k->at->process][in].cell, k->after[in]);
    set_patches(k, m, list.at[i].next, 0);
    m->adversary_choice = s->base.probabilistic ? adversary_choice_of(k, m, list.at[i].free_choices) : 0;
    m->broken = step_properties_broken_by_process(s, k->at->process, k->at->local, list.at[i].next);
  }
}

/* --- delivery and loss --- */

static void moves_of_messages(struct move_builder *k) {
  struct step_system *s = k->system;
  uint32_t p = k->at->process;
  for (uint32_t in = 0; in < s->moves_store.ninbound[p]; in++) {
    const struct channel_view *v = channel_view(&s->channels, s->moves_store.inbound[p][in].cell, k->at->inbox[in]);
    for (uint32_t i = 0; i < v->ndelivered; i++) {
      move_builder_reset(k);
      k->after[in] = v->delivered[i];
      struct move *m = add_move(k, EVENT_DELIVER, NO_ACTION);
      m->sender = s->moves_store.inbound[p][in].from;
      set_patches(k, m, k->at->local, 0);
      m->adversary_choice = s->base.probabilistic ? adversary_choice_of(k, m, 0) : 0;
    }
    for (uint32_t i = 0; i < v->nlost && s->faults.loses; i++) {
      move_builder_reset(k);
      k->after[in] = v->lost[i];
      struct move *m = add_move(k, EVENT_LOSE, NO_ACTION);
      m->sender = s->moves_store.inbound[p][in].from;
      m->lost = 1;
      set_patches(k, m, k->at->local, 0);
      m->adversary_choice = s->base.probabilistic ? adversary_choice_of(k, m, 0) : 0;
    }
  }
}

/* --- fairness groups --- */

typedef VEC(uint32_t) group_vec;

static void add_group(group_vec *groups, uint32_t group) {
  for (size_t i = 0; i < groups->n; i++)
    if (groups->at[i] == group)
      return;
  vec_push(groups, group);
}

/* Is there a quorum without forged messages? */
static bool quorum_possible(struct move_builder *k, uint32_t action) {
  struct visible_state honest = *k->at;
  honest.byzantine = 0;
  return local_steps_on_quorum(k->system, &honest, action).n > 0;
}

/* Faults, and actions that only forged messages enable: a run may end in a state where nothing else is enabled. */
static bool is_optional(struct move_builder *k, const struct move *m) {
  struct step_system *s = k->system;
  if (!query_is_live(s->model, s->base.query))
    return false;
  if (m->kind != EVENT_ACTION)
    return m->kind != EVENT_DELIVER;
  bool quorum = s->model->roles[k->at->role].actions[m->action].trigger == TRIGGER_QUORUM;
  return m->lie || (quorum && k->at->byzantine && !quorum_possible(k, m->action));
}

static void find_groups(struct move_builder *k, struct moves *moves) {
  struct step_system *s = k->system;
  const struct role *role = &s->model->roles[k->at->role];
  group_vec groups = {0};
  for (uint32_t i = 0; i < moves->n; i++) {
    const struct move *m = &moves->at[i];
    if (m->kind == EVENT_ACTION && m->group != NO_GROUP && !m->lie &&
        role->actions[m->action].trigger != TRIGGER_QUORUM)
      add_group(&groups, m->group);
  }
  for (uint32_t a = 0; a < role->nactions; a++)
    if (role->actions[a].trigger == TRIGGER_QUORUM && quorum_possible(k, a))
      add_group(&groups, group_of_action(s, k->at->process, a, NULL));
  moves->groups = arena_copy(k->arena, groups.at, groups.n * sizeof *groups.at);
  moves->ngroups = (uint32_t)groups.n;
  vec_release(&groups);
}

/* --- all moves --- */

static uint32_t unseen(struct step_system *s, const struct visible_state *at) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < s->moves_store.ninbound[at->process] && s->interp->semantics == SEMANTICS_MP; i++)
    n += channel_view(&s->channels, s->moves_store.inbound[at->process][i].cell, at->inbox[i])->fresh;
  return n;
}

/* Converts the added moves to their final form. */
static struct moves *moves_finish(struct move_builder *k) {
  struct step_system *s = k->system;
  struct moves_store *v = &s->moves_store;
  struct moves *moves = arena_alloc(k->arena, sizeof *moves);
  *moves = (struct moves){
      .n = (uint32_t)v->new_moves.n, .process = k->at->process, .local = k->at->local, .short_only = true};
  moves->at = arena_array(k->arena, moves->n + 1, sizeof *moves->at);
  for (uint32_t i = 0; i < moves->n; i++) {
    struct move *m = &moves->at[i];
    *m = v->new_moves.at[i];
    m->optional = is_optional(k, m);
    m->special = m->error || m->broken || m->lost || m->duplicated || (m->writes && s->dead.constant_memory) ||
                 m->kind == EVENT_CRASH || m->kind == EVENT_RECOVER || m->group != NO_GROUP || s->base.probabilistic ||
                 m->optional;
    moves->short_only &= !m->special;
  }
  return moves;
}

static struct moves *moves_make(struct step_system *s, const struct visible_state *at, struct arena *arena) {
  struct moves_store *v = &s->moves_store;
  struct move_builder k = {s, at, arena, v->after, unseen(s, at), NULL};
  uint32_t n;
  value status = content_values(&s->cells, at->process, at->local, &n)[LOCAL_STATUS];
  vec_clear(&v->new_moves);
  if (process_active(status)) {
    if (k.unseen == 0)
      add_actions(&k, local_steps_spontaneous(s, at), NO_SENDER);
    moves_on_messages(&k);
    if (s->faults.byzantine)
      moves_on_forged(&k);
    moves_on_quorums(&k);
    if (s->faults.crashes)
      moves_to_crash(&k, (uint32_t)v->new_moves.n);
  }
  if ((status & STATUS_CRASHED) && s->faults.recovers)
    moves_to_recover(&k);
  moves_of_messages(&k);
  struct moves *moves = moves_finish(&k);
  if (s->liveness.fair && process_active(status))
    find_groups(&k, moves);
  return moves;
}

/* Compiles all patches into one mask. False: the keys are too narrow. */
static bool make_short_patches(const struct keys *k, const struct move *m, struct short_move *short_keyed) {
  uint64_t zeros[SHORT_KEY_WORDS] = {0}, ones[SHORT_KEY_WORDS];
  uint32_t words = short_key_words(k);
  bool fits = true;
  memset(ones, 0xFF, sizeof ones);
  for (uint32_t i = 0; i < m->npatches; i++) {
    fits &= key_set(k, zeros, m->patches[i].cell, m->patches[i].to);
    fits &= key_set(k, ones, m->patches[i].cell, m->patches[i].to);
  }
  for (uint32_t w = 0; w < words; w++) {
    short_keyed->masks[w] = zeros[w] ^ ones[w];
    short_keyed->masks[words + w] = zeros[w];
  }
  return fits;
}

static void make_short_sends(struct step_system *s, const struct channel_sends *sends, struct short_move *short_keyed) {
  struct short_send *at = arena_array(&s->moves_store.short_keyed, sends->n, sizeof *at);
  for (uint32_t i = 0; i < sends->n; i++) {
    const struct channel_send *t = &sends->at[i];
    const struct key_field *f = &s->keys.field[t->cell];
    at[i] = (struct short_send){(UINT64_C(1) << f->width) - 1, t->append, t->dead, t->to, (uint8_t)f->word, f->shift};
  }
  short_keyed->sends = at;
  short_keyed->nsends = sends->n;
}

/* Compiles moves->short_keyed for the current key layout. */
static void make_short_moves(struct step_system *s, struct moves *moves) {
  bool short_keyed = moves->short_only && s->layout.short_keys;
  size_t size = short_keyed ? short_move_size(short_key_words(&s->keys)) : 0;
  moves->layout = s->keys.layouts;
  if (moves->n == 0) {
    moves->short_keyed = s->moves_store.nothing;
    return;
  }
  moves->short_keyed = arena_alloc(&s->moves_store.short_keyed, sizeof *moves->short_keyed + moves->n * size);
  *moves->short_keyed = (struct short_moves){.of = moves, .n = moves->n, .short_keyed = short_keyed};
  s->moves_store.short_bytes += sizeof *moves->short_keyed + moves->n * size;
  char *at = (char *)moves->short_keyed->at;
  for (uint32_t i = 0; i < moves->n && moves->short_keyed->short_keyed; i++, at += size) {
    struct short_move *move = (struct short_move *)at;
    *move = (struct short_move){.invisible = move_is_invisible(s, moves->process, moves->local, &moves->at[i])};
    moves->short_keyed->short_keyed = make_short_patches(&s->keys, &moves->at[i], move);
    if (moves->at[i].sends)
      make_short_sends(s, moves->at[i].sends, move);
  }
}

static size_t moves_bytes(const struct moves *moves) {
  return sizeof *moves + moves->n * (sizeof *moves->at + 4 * sizeof(struct patch));
}

struct short_moves *moves_on_message(struct step_system *s, uint32_t p, content local, uint32_t in, message_id l) {
  struct moves_store *v = &s->moves_store;
  uint32_t role = s->role_of[p], n;
  for (uint32_t i = 0; i < v->ninbound[p]; i++)
    v->inbox[i] = 0;
  struct visible_state at = {p, role, local, visible_globals(s, s->words, role, 0), 0, v->inbox};
  struct move_builder k = {s, &at, &v->arena, v->after, 0, NULL};
  vec_clear(&v->new_moves);
  if (v->move_bytes + v->short_bytes >= MOVES_BYTES_MAX)
    return NULL;
  if (process_active(content_values(&s->cells, p, local, &n)[LOCAL_STATUS]))
    add_actions(&k,
                l == NO_MESSAGE_ID ? local_steps_spontaneous(s, &at)
                                   : local_steps_on_message(s, &at, v->inbound[p][in].from, l),
                NO_SENDER);
  struct moves *moves = moves_finish(&k);
  make_short_moves(s, moves);
  v->move_bytes += moves_bytes(moves);
  bool whole = !step_system_interrupted(s); /* otherwise the list may be incomplete */
  return whole && (moves->n == 0 || moves->short_keyed->short_keyed) ? moves->short_keyed : NULL;
}

static struct moves *moves_cached(struct step_system *s, const struct visible_state *at) {
  struct moves_store *v = &s->moves_store;
  struct move_tables *move_tables = &v->move_tables[at->process];
  uint32_t n = 3 + v->ninbound[at->process];
  vec_reserve(&s->steps.scratch, n);
  value *key = s->steps.scratch.at;
  key[0] = at->local;
  key[1] = at->globals;
  key[2] = at->byzantine;
  for (uint32_t i = 3; i < n; i++)
    key[i] = at->inbox[i - 3];
  bool room = v->move_bytes + v->short_bytes < MOVES_BYTES_MAX;
  uint32_t id = room ? intern_put(move_tables->seen, key, n) : intern_find(move_tables->seen, key, n);
  if (id == INTERN_NONE) {
    s->base.order_unstable = true; /* uncached moves are emitted before cached ones */
    arena_clear(&v->transient);
    return moves_make(s, at, &v->transient);
  }
  while (move_tables->moves.n <= id)
    vec_push(&move_tables->moves, NULL);
  struct moves *moves = move_tables->moves.at[id];
  if (!moves) {
    moves = moves_make(s, at, &v->arena);
    v->move_bytes += n * sizeof(value) + moves_bytes(moves);
    if (!step_system_interrupted(s)) { /* otherwise the list may be incomplete */
      move_tables->moves.at[id] = moves;
      moves->cached = true;
    }
  }
  return moves;
}

struct moves *moves_of(struct step_system *s, uint32_t p, uint32_t byzantine) {
  struct moves_store *v = &s->moves_store;
  const uint64_t *words = s->words;
  uint32_t role = s->role_of[p];
  struct move_cache *g = &v->move_caches[p];
  content local = key_get(&s->keys, words, p);
  struct process_relevant_fields relevant_fields = relevant_fields_of(s, p, local);
  move_cache_grow(s, p);
  for (uint32_t i = 0; i < v->ninbound[p]; i++)
    v->inbox[i] = relevant_fields.reads_channels ? key_get(&s->keys, words, v->inbound[p][i].cell) : 0;
  uint32_t globals = visible_globals(s, words, role, relevant_fields.uses);
  struct visible_state at = {p, role, local, globals, byzantine, v->inbox};
  struct moves *moves = moves_cached(s, &at);
  if (!moves->cached)
    return moves;
  if (moves->layout != s->keys.layouts)
    make_short_moves(s, moves);
  if (g->direct) {
    *move_cache_direct_slot(s, g) = moves->short_keyed;
  } else if (g->cache) {
    uint64_t memory = s->scratch.memory[g->role], window = key_window(&g->window, words);
    *move_cache_slot(g, window, memory, byzantine) =
        (struct move_cache_entry){window, memory, moves->short_keyed, byzantine};
  }
  return moves;
}
