/* All that a process can do, by what it sees: remembered. */
#include "interleave/interleave_space.h"

#include "base/hash.h"
#include "sem/local.h"

#include <string.h>

#define MOVES_MOST ((size_t)256 << 20) /* bytes; beyond that moves are put together anew each time */

void mover_init(struct interleave *s) {
  struct mover *v = &s->mover;
  uint32_t n = s->model->nprocesses;
  arena_init(&v->arena);
  arena_init(&v->brief);
  arena_init(&v->passing);
  v->deadness_of = intern_new();
  v->inbound = arena_array(&s->arena, n + 1, sizeof *v->inbound);
  v->ninbound = arena_array(&s->arena, n + 1, sizeof *v->ninbound);
  v->sights = arena_array(&s->arena, n + 1, sizeof *v->sights);
  v->glances = arena_array(&s->arena, n + 1, sizeof *v->glances);
  v->nothing = arena_alloc(&s->arena, sizeof *v->nothing);
  *v->nothing = (struct brief_moves){.brief = true, .of = arena_array(&s->arena, 1, sizeof *v->nothing->of)};
  v->letters = arena_array(&s->arena, n + 1, sizeof *v->letters);
  outlooks_init(s);
  v->parties = arena_array(&s->arena, n + 1, sizeof *v->parties);
  v->inbox = arena_array(&s->arena, n + 1, sizeof *v->inbox);
  v->after = arena_array(&s->arena, n + 1, sizeof *v->after);
  for (uint32_t p = 0; p < n; p++) {
    v->inbound[p] = arena_array(&s->arena, n + 1, sizeof **v->inbound);
    v->sights[p].seen = intern_new();
    for (uint32_t q = 0; q < n; q++)
      if (s->cells.channel[(size_t)q * n + p] != NO_CELL)
        v->inbound[p][v->ninbound[p]++] = (struct inbound){q, s->cells.channel[(size_t)q * n + p]};
  }
}

void mover_release(struct interleave *s) {
  struct mover *v = &s->mover;
  for (uint32_t p = 0; p < s->model->nprocesses; p++) {
    intern_free(v->sights[p].seen);
    vec_release(&v->sights[p].moves);
  }
  glances_release(s);
  outlooks_release(s);
  letters_release(s);
  for (size_t i = 0; i < v->deadness.n; i++)
    memory_free(v->deadness.at[i]->of);
  vec_release(&v->deadness);
  vec_release(&v->compiled);
  vec_release(&v->making);
  intern_free(v->deadness_of);
  memo_release(&v->posts_of);
  arena_release(&v->arena);
  arena_release(&v->brief);
  arena_release(&v->passing);
}

size_t mover_bytes(const struct interleave *s) {
  const struct mover *v = &s->mover;
  size_t bytes = v->move_bytes + v->brief_bytes + memo_bytes(&v->posts_of) + outlooks_bytes(s) + letters_bytes(s);
  for (uint32_t p = 0; p < s->model->nprocesses; p++)
    bytes += intern_bytes(v->sights[p].seen);
  return bytes;
}

/* --- sending --- */

static struct deadness *deadness_of(struct interleave *s, uint32_t from, uint32_t to, letter l) {
  struct mover *v = &s->mover;
  if (!s->forgets_messages && !s->byzantine)
    return NULL;
  uint32_t id = intern_put(v->deadness_of, (value[]){from, to, l}, 3);
  if (id == v->deadness.n) {
    struct deadness *d = arena_alloc(&v->arena, sizeof *d);
    *d = (struct deadness){.from = from, .to = to, .letter = l};
    vec_push(&v->deadness, d);
  }
  return v->deadness.at[id];
}

bool deadness_known(struct interleave *s, struct deadness *d, content local) {
  if (local >= d->n) {
    uint32_t room = 2 * local + 16;
    d->of = memory_resize(d->of, room);
    memset(d->of + d->n, 0, room - d->n);
    d->n = room;
  }
  if (!d->of[local])
    d->of[local] = message_is_dead(s, d->to, local, d->from, d->letter) ? 2 : 1;
  return d->of[local] == 2;
}

/* Where each message goes. Those that no channel is kept for are nobody's concern. */
static const struct posts *posts_of(struct interleave *s, uint32_t p, uint32_t id) {
  struct mover *v = &s->mover;
  uint32_t known;
  if (memo_find(&v->posts_of, id, p, &known))
    return v->compiled.at[known];
  size_t n = intern_length(s->steps.posts, id) / 3;
  const value *at = intern_at(s->steps.posts, id);
  struct posts *posts = arena_alloc(&v->arena, sizeof *posts);
  posts->at = arena_array(&v->arena, n + 1, sizeof *posts->at);
  for (size_t i = 0; i < n; i++) {
    uint32_t to = (uint32_t)at[3 * i], cell = s->cells.channel[(size_t)p * s->model->nprocesses + to];
    if (cell == NO_CELL)
      continue;
    letter l = letter_put(&s->channels, (uint32_t)at[3 * i + 1], at[3 * i + 2]);
    posts->at[posts->n++] = (struct post){cell, to, appending_of(&s->channels, cell, l), deadness_of(s, p, to, l)};
  }
  vec_push(&v->compiled, posts);
  memo_add(&v->posts_of, id, p, (uint32_t)v->compiled.n - 1);
  return posts;
}

/* --- one move --- */

struct making {
  struct interleave *space;
  const struct sight *at;
  struct arena *arena;
  content *after;      /* the inbox as the move being made leaves it */
  uint32_t unseen;     /* MP: messages that an action must not leave out */
  const struct inbox_entry *in; /* the one message that actions are made for, or NULL */
};

static void making_reset(struct making *k) {
  uint32_t n = k->space->mover.ninbound[k->at->process];
  if (n)
    memcpy(k->after, k->at->inbox, n * sizeof *k->after);
}

/* The cells that it changes: the local state, the channels into it, globals. */
static void set_patches(struct making *k, struct move *m, content next, uint32_t writes) {
  struct interleave *s = k->space;
  const struct sight *at = k->at;
  uint32_t p = at->process, nin = s->mover.ninbound[p];
  size_t nwrites = intern_length(s->steps.writes, writes) / 2;
  const value *written = intern_at(s->steps.writes, writes);
  struct patch *patches = arena_array(k->arena, 1 + nin + nwrites, sizeof *patches);
  uint32_t n = 0;
  if (s->frozen)
    next = forget_unread(s, p, next, globals_after(s, at->role, at->globals, writes));
  if (next != at->local)
    patches[n++] = (struct patch){p, next};
  for (uint32_t i = 0; i < nin && s->forgets_messages; i++)
    k->after[i] = forget_messages(s, p, next, s->mover.inbound[p][i].from, k->after[i]);
  for (uint32_t i = 0; i < nin; i++)
    if (k->after[i] != at->inbox[i])
      patches[n++] = (struct patch){s->mover.inbound[p][i].cell, k->after[i]};
  for (size_t i = 0; i < nwrites; i++)
    patches[n++] = (struct patch){s->cells.global[written[2 * i]], (content)written[2 * i + 1]};
  m->patches = patches;
  m->npatches = n;
  m->writes = nwrites > 0;
}

static struct move *add_move(struct making *k, enum event_kind kind, uint32_t action) {
  struct mover *v = &k->space->mover;
  vec_push(&v->making, ((struct move){.kind = kind, .action = action, .sender = NO_SENDER, .group = NO_GROUP}));
  return &v->making.at[v->making.n - 1];
}

static const struct model_error *error_of(struct making *k, uint32_t number) {
  struct model_error *error = arena_copy(k->arena, &k->space->steps.errors.at[number - 1], sizeof *error);
  error->process = k->at->process; /* another one of the role may have been asked */
  return error;
}

/* Almost surely: a number for all that an adversary chose, within a state. */
static uint32_t lottery_of(struct making *k, const struct move *m, uint32_t ticket) {
  struct interleave *s = k->space;
  letter l = k->in && !k->in->forged ? letter_put(&s->channels, k->in->kind, k->in->message) : UINT32_MAX;
  value alone = m->kind == EVENT_ACTION || m->kind == EVENT_RECOVER ? -1 : (value)s->mover.making.n;
  value place = k->in ? k->in->place : 0;
  return intern_put(s->lottery_names,
                    (value[]){k->at->process, m->kind, m->action, m->sender, m->duplicated, l, place, ticket, alone}, 9);
}

/* An action with the inbox as k->after has it. */
static void add_action(struct making *k, const struct outcome *o, uint32_t sender, uint32_t duplicated) {
  struct interleave *s = k->space;
  struct move *m = add_move(k, EVENT_ACTION, o->action);
  m->sender = sender;
  m->duplicated = (uint16_t)duplicated;
  m->group = s->fair ? group_of_action(s, k->at->process, o->action, k->in) : NO_GROUP;
  m->lie = k->in && k->in->forged;
  m->tossed = o->tossed;
  if (s->base.lotteries)
    m->lottery = lottery_of(k, m, o->ticket);
  if (o->error) {
    m->error = error_of(k, o->error);
    return;
  }
  set_patches(k, m, o->next, o->writes);
  m->posts = o->posts ? posts_of(s, k->at->process, o->posts) : NULL;
  m->sent = o->posts;
  m->broken = steps_broken_by_local(s, k->at->process, k->at->local, o->next);
}

static void add_actions(struct making *k, struct outcomes list, uint32_t sender) {
  for (uint32_t i = 0; i < list.n; i++) {
    making_reset(k);
    add_action(k, &list.at[i], sender, 0);
  }
}

/* --- actions on messages --- */

static uint32_t inbound_from(const struct mover *v, uint32_t p, uint32_t from) {
  uint32_t i = 0;
  while (v->inbound[p][i].from != from)
    i++;
  return i;
}

static const struct offered *offered_of(struct making *k, uint32_t in, letter l, uint32_t place) {
  struct interleave *s = k->space;
  const struct channel_view *v =
      channel_view(&s->channels, s->mover.inbound[k->at->process][in].cell, k->at->inbox[in]);
  for (uint32_t i = 0; i < v->noffered; i++)
    if (v->offered[i].letter == l && v->offered[i].place == place)
      return &v->offered[i];
  return NULL;
}

/* What stays of a message: nothing if it is gone; under MP it has been seen. */
static void leave(struct making *k, uint32_t in, const struct offered *o, bool gone) {
  if (gone)
    k->after[in] = o->taken;
  else if (k->space->meaning->semantics == SEMANTICS_MP)
    k->after[in] = o->seen;
}

static void moves_on_one(struct making *k) {
  struct interleave *s = k->space;
  uint32_t p = k->at->process;
  for (uint32_t in = 0; in < s->mover.ninbound[p]; in++) {
    const struct inbound *from = &s->mover.inbound[p][in];
    if (k->at->inbox[in] == 0)
      continue;
    const struct channel_view *v = channel_view(&s->channels, from->cell, k->at->inbox[in]);
    for (uint32_t i = 0; i < v->noffered; i++) {
      const struct offered *o = &v->offered[i];
      if (k->unseen > (o->place == PACKET_DELIVERED))
        continue;
      struct outcomes list = steps_one(s, k->at, from->from, o->letter);
      const struct inbox_entry message = {from->from, letter_kind(&s->channels, o->letter),
                                          letter_message(&s->channels, o->letter), o->place, false};
      k->in = &message;
      for (uint32_t j = 0; j < list.n; j++)
        for (uint32_t kept = 0; kept <= s->duplicates; kept++) {
          making_reset(k);
          leave(k, in, o, !kept);
          add_action(k, &list.at[j], from->from, kept);
        }
      k->in = NULL;
    }
  }
}

/* A quorum that is taken: any part of it may stay, if messages can be duplicated. */
static void add_quorum(struct making *k, const struct quorum_outcome *q, bool taken) {
  struct interleave *s = k->space;
  uint64_t parts = 1;
  for (uint32_t i = 0; i < q->nchosen && taken && s->duplicates; i++)
    parts <<= !q->chosen[i].forged;
  for (uint64_t part = 0; part < parts; part++) {
    uint64_t kept = part;
    making_reset(k);
    for (uint32_t i = 0; i < q->nchosen; i++) {
      const struct chosen *c = &q->chosen[i];
      if (c->forged)
        continue;
      uint32_t in = inbound_from(&s->mover, k->at->process, c->from);
      leave(k, in, offered_of(k, in, c->letter, c->place), taken && !(kept & 1));
      kept >>= 1;
    }
    add_action(k, &q->outcome, NO_SENDER, (uint32_t)__builtin_popcountll(part));
  }
}

static bool sees_all(const struct making *k, const struct quorum_outcome *q) {
  uint32_t seen = 0;
  for (uint32_t i = 0; i < q->nchosen; i++)
    seen += !q->chosen[i].forged && q->chosen[i].place == PACKET_DELIVERED;
  return k->unseen == seen;
}

static void moves_on_quorums(struct making *k) {
  struct interleave *s = k->space;
  const struct role *role = &s->model->roles[k->at->role];
  for (uint32_t a = 0; a < role->nactions; a++) {
    if (role->actions[a].trigger != TRIGGER_QUORUM)
      continue;
    struct quorum_outcomes list = steps_quorum(s, k->at, a);
    for (uint32_t i = 0; i < list.n; i++)
      if (s->meaning->semantics != SEMANTICS_MP || sees_all(k, &list.at[i]))
        add_quorum(k, &list.at[i], role->actions[a].taken);
  }
}

static void moves_on_lies(struct making *k) {
  struct interleave *s = k->space;
  size_t n = intern_length(s->vectors, k->at->byzantine);
  const value *liars = intern_at(s->vectors, k->at->byzantine);
  const struct inbox_entry lie = {.forged = true};
  k->in = &lie;
  steps_unfold(s, k->at);
  for (size_t i = 0; i < n && k->unseen == 0; i++)
    if (channel_exists(s->meaning, s->steps.globals, (uint32_t)liars[i], k->at->process))
      add_actions(k, steps_forged(s, k->at, (uint32_t)liars[i]), (uint32_t)liars[i]);
  k->in = NULL;
}

/* --- faults --- */

static content with_status(struct interleave *s, const struct sight *at, value clear, value set) {
  uint32_t n;
  const value *v = content_values(&s->cells, at->process, at->local, &n);
  value *copy = memory_alloc(n * sizeof *copy);
  memcpy(copy, v, n * sizeof *v);
  copy[LOCAL_STATUS] = (copy[LOCAL_STATUS] & ~clear) | set;
  forget_variables(s, at->role, copy);
  content name = content_put(&s->cells, at->process, copy, n);
  memory_free(copy);
  return name;
}

static struct move *add_crash(struct making *k, content crashed, uint32_t action) {
  struct interleave *s = k->space;
  uint32_t n;
  value status = content_values(&s->cells, k->at->process, k->at->local, &n)[LOCAL_STATUS];
  struct move *m = add_move(k, EVENT_CRASH, action);
  making_reset(k);
  set_patches(k, m, crashed, 0);
  m->lottery = s->base.lotteries ? lottery_of(k, m, 0) : 0;
  m->became_faulty = !(status & STATUS_RECOVERED);
  m->broken = steps_broken_by_local(s, k->at->process, k->at->local, crashed);
  return m;
}

static uint32_t part_of_posts(struct interleave *s, uint32_t id, const bool *out) {
  size_t n = intern_length(s->steps.posts, id) / 3, kept = 0;
  value *v = memory_alloc((3 * n + 1) * sizeof *v);
  for (size_t i = 0; i < n; i++)
    if (out[i])
      memcpy(v + 3 * kept++, intern_at(s->steps.posts, id) + 3 * i, 3 * sizeof *v);
  uint32_t part = intern_put(s->steps.posts, v, 3 * kept);
  memory_free(v);
  return part;
}

static void add_crash_with(struct making *k, content crashed, uint32_t action, uint32_t posts, uint32_t whole) {
  struct move *m = add_crash(k, crashed, action);
  m->posts = posts_of(k->space, k->at->process, posts);
  m->whole = 1 + whole;
}

/* In the middle of an action: any part of what it sends is out. */
static void crash_in(struct making *k, content crashed, uint32_t move) {
  struct interleave *s = k->space;
  uint32_t id = s->mover.making.at[move].sent, action = s->mover.making.at[move].action;
  if (s->mover.making.at[move].tossed)
    s->base.coins_lost = "a process may crash in the middle of an action in which it tosses a coin";
  if (!s->parts) {
    add_crash_with(k, crashed, action, id, move);
    return;
  }
  size_t n = intern_length(s->steps.posts, id) / 3;
  bool *out = memory_alloc(n + 1);
  while (true) {
    size_t i = 0;
    while (i < n && out[i])
      out[i++] = false;
    if (i == n)
      break;
    out[i] = true;
    add_crash_with(k, crashed, action, part_of_posts(s, id, out), move);
  }
  memory_free(out);
}

/* Who has crashed takes no more steps; whoever need not take any does not have to crash. If nobody can see that a process
   has crashed, nor what it would have done besides sending, the crash adds nothing to the action, or to no action. */
bool crash_matters(const struct interleave *s, uint32_t role, uint32_t action) {
  if (!s->silent)
    return true;
  if (action == NO_ACTION)
    return false;
  const struct action_use *use = &s->use->of[role][action];
  bool shared = false;
  for (uint32_t g = 0; g < s->model->nglobals; g++)
    shared |= use->writes_shared[g];
  return use->visible || shared;
}

static void moves_to_crash(struct making *k, uint32_t nactions) {
  struct interleave *s = k->space;
  content crashed = with_status(s, k->at, STATUS_RECOVERED, STATUS_CRASHED);
  for (uint32_t i = 0; i < nactions; i++) {
    const struct move *m = &s->mover.making.at[i];
    bool known = m->error || !m->sent || m->duplicated || !crash_matters(s, k->at->role, m->action);
    for (uint32_t j = 0; j < i && !known && s->cells.bound == 0; j++) /* which action it was does not show */
      known = !s->mover.making.at[j].error && !s->mover.making.at[j].duplicated &&
              s->mover.making.at[j].sent == m->sent && crash_matters(s, k->at->role, s->mover.making.at[j].action);
    if (!known)
      crash_in(k, crashed, i);
  }
  if (crash_matters(s, k->at->role, NO_ACTION))
    add_crash(k, crashed, NO_ACTION);
}

static void moves_to_recover(struct making *k) {
  struct interleave *s = k->space;
  struct outcomes list = steps_recover(s, k->at);
  for (uint32_t i = 0; i < list.n; i++) {
    struct move *m = add_move(k, EVENT_RECOVER, NO_ACTION);
    if (list.at[i].error) {
      m->error = error_of(k, list.at[i].error);
      continue;
    }
    making_reset(k);
    for (uint32_t in = 0; in < s->mover.ninbound[k->at->process] && s->meaning->semantics == SEMANTICS_MP; in++)
      k->after[in] = channel_seen(&s->channels, s->mover.inbound[k->at->process][in].cell, k->after[in]);
    set_patches(k, m, list.at[i].next, 0);
    m->lottery = s->base.lotteries ? lottery_of(k, m, list.at[i].ticket) : 0;
    m->broken = steps_broken_by_local(s, k->at->process, k->at->local, list.at[i].next);
  }
}

/* --- messages on their way --- */

static void moves_of_messages(struct making *k, bool active) {
  struct interleave *s = k->space;
  uint32_t p = k->at->process;
  for (uint32_t in = 0; in < s->mover.ninbound[p]; in++) {
    const struct channel_view *v = channel_view(&s->channels, s->mover.inbound[p][in].cell, k->at->inbox[in]);
    for (uint32_t i = 0; i < v->ndelivered; i++) {
      making_reset(k);
      k->after[in] = v->delivered[i];
      struct move *m = add_move(k, EVENT_DELIVER, NO_ACTION);
      m->sender = s->mover.inbound[p][in].from;
      set_patches(k, m, k->at->local, 0);
      m->lottery = s->base.lotteries ? lottery_of(k, m, 0) : 0;
    }
    for (uint32_t i = 0; i < v->nlost && s->loses && active; i++) {
      making_reset(k);
      k->after[in] = v->lost[i];
      struct move *m = add_move(k, EVENT_LOSE, NO_ACTION);
      m->sender = s->mover.inbound[p][in].from;
      m->lost = 1;
      set_patches(k, m, k->at->local, 0);
      m->lottery = s->base.lotteries ? lottery_of(k, m, 0) : 0;
    }
  }
}

/* --- what fairness speaks of --- */

typedef VEC(uint32_t) group_vec;

static void add_group(group_vec *groups, uint32_t group) {
  for (size_t i = 0; i < groups->n; i++)
    if (groups->at[i] == group)
      return;
  vec_push(groups, group);
}

/* Quorums that need nobody's lie. */
static bool quorum_possible(struct making *k, uint32_t action) {
  struct sight honest = *k->at;
  honest.byzantine = 0;
  return steps_quorum(k->space, &honest, action).n > 0;
}

/* Faults, and what only lies make possible: a run may stop where there is nothing else. */
static bool is_optional(struct making *k, const struct move *m) {
  struct interleave *s = k->space;
  if (!question_live(s->model, s->base.question))
    return false;
  if (m->kind != EVENT_ACTION)
    return m->kind != EVENT_DELIVER;
  bool quorum = s->model->roles[k->at->role].actions[m->action].trigger == TRIGGER_QUORUM;
  return m->lie || (quorum && k->at->byzantine && !quorum_possible(k, m->action));
}

static void find_groups(struct making *k, struct moves *moves) {
  struct interleave *s = k->space;
  const struct role *role = &s->model->roles[k->at->role];
  group_vec groups = {0};
  for (uint32_t i = 0; i < moves->n; i++) {
    const struct move *m = &moves->at[i];
    if (m->kind == EVENT_ACTION && m->group != NO_GROUP && !m->lie && role->actions[m->action].trigger != TRIGGER_QUORUM)
      add_group(&groups, m->group);
  }
  for (uint32_t a = 0; a < role->nactions; a++)
    if (role->actions[a].trigger == TRIGGER_QUORUM && quorum_possible(k, a))
      add_group(&groups, group_of_action(s, k->at->process, a, NULL));
  moves->groups = arena_copy(k->arena, groups.at, groups.n * sizeof *groups.at);
  moves->ngroups = (uint32_t)groups.n;
  vec_release(&groups);
}

/* --- all of them --- */

static uint32_t unseen(struct interleave *s, const struct sight *at) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < s->mover.ninbound[at->process] && s->meaning->semantics == SEMANTICS_MP; i++)
    n += channel_view(&s->channels, s->mover.inbound[at->process][i].cell, at->inbox[i])->fresh;
  return n;
}

/* Those that have been added, as they are kept. */
static struct moves *moves_made(struct making *k) {
  struct interleave *s = k->space;
  struct mover *v = &s->mover;
  struct moves *moves = arena_alloc(k->arena, sizeof *moves);
  *moves = (struct moves){.n = (uint32_t)v->making.n, .process = k->at->process, .local = k->at->local, .brief_only = true};
  moves->at = arena_array(k->arena, moves->n + 1, sizeof *moves->at);
  for (uint32_t i = 0; i < moves->n; i++) {
    struct move *m = &moves->at[i];
    *m = v->making.at[i];
    m->optional = is_optional(k, m);
    m->special = m->error || m->broken || m->lost || m->duplicated || (m->writes && s->frozen) ||
                 m->kind == EVENT_CRASH || m->kind == EVENT_RECOVER || m->group != NO_GROUP || s->base.lotteries || m->optional;
    moves->brief_only &= !m->special;
  }
  return moves;
}

static struct moves *moves_make(struct interleave *s, const struct sight *at, struct arena *arena) {
  struct mover *v = &s->mover;
  struct making k = {s, at, arena, v->after, unseen(s, at), NULL};
  uint32_t n;
  value status = content_values(&s->cells, at->process, at->local, &n)[LOCAL_STATUS];
  vec_clear(&v->making);
  if (process_active(status)) {
    if (k.unseen == 0)
      add_actions(&k, steps_none(s, at), NO_SENDER);
    moves_on_one(&k);
    if (s->byzantine)
      moves_on_lies(&k);
    moves_on_quorums(&k);
    if (s->crashes)
      moves_to_crash(&k, (uint32_t)v->making.n);
  }
  if ((status & STATUS_CRASHED) && s->recovers)
    moves_to_recover(&k);
  moves_of_messages(&k, process_active(status));
  struct moves *moves = moves_made(&k);
  if (s->fair && process_active(status))
    find_groups(&k, moves);
  return moves;
}

/* All patches at once. False: too narrow. */
static bool brief_patches(const struct keys *k, const struct move *m, struct brief_move *brief) {
  uint64_t zeros[BRIEF_WORDS] = {0}, ones[BRIEF_WORDS];
  uint32_t words = brief_words(k);
  bool fits = true;
  memset(ones, 0xFF, sizeof ones);
  for (uint32_t i = 0; i < m->npatches; i++) {
    fits &= key_set(k, zeros, m->patches[i].cell, m->patches[i].to);
    fits &= key_set(k, ones, m->patches[i].cell, m->patches[i].to);
  }
  for (uint32_t w = 0; w < words; w++) {
    brief->masks[w] = zeros[w] ^ ones[w];
    brief->masks[words + w] = zeros[w];
  }
  return fits;
}

static void brief_posts(struct interleave *s, const struct posts *posts, struct brief_move *brief) {
  struct brief_post *at = arena_array(&s->mover.brief, posts->n, sizeof *at);
  for (uint32_t i = 0; i < posts->n; i++) {
    const struct post *t = &posts->at[i];
    const struct key_field *f = &s->keys.field[t->cell];
    at[i] = (struct brief_post){(UINT64_C(1) << f->width) - 1, t->append, t->dead, t->to, (uint8_t)f->word, f->shift};
  }
  brief->posts = at;
  brief->nposts = posts->n;
}

/* Makes moves->brief for the keys as they are. */
static void make_brief(struct interleave *s, struct moves *moves) {
  bool brief = moves->brief_only && s->short_ways;
  size_t size = brief ? brief_size(brief_words(&s->keys)) : 0;
  moves->layout = s->keys.layouts;
  if (moves->n == 0) {
    moves->brief = s->mover.nothing;
    return;
  }
  moves->brief = arena_alloc(&s->mover.brief, sizeof *moves->brief + moves->n * size);
  *moves->brief = (struct brief_moves){.of = moves, .n = moves->n, .brief = brief};
  s->mover.brief_bytes += sizeof *moves->brief + moves->n * size;
  char *at = (char *)moves->brief->at;
  for (uint32_t i = 0; i < moves->n && moves->brief->brief; i++, at += size) {
    struct brief_move *move = (struct brief_move *)at;
    *move = (struct brief_move){.quiet = move_is_quiet(s, moves->process, moves->local, &moves->at[i])};
    moves->brief->brief = brief_patches(&s->keys, &moves->at[i], move);
    if (moves->at[i].posts)
      brief_posts(s, moves->at[i].posts, move);
  }
}

static size_t moves_bytes(const struct moves *moves) {
  return sizeof *moves + moves->n * (sizeof *moves->at + 4 * sizeof(struct patch));
}

struct brief_moves *moves_on_letter(struct interleave *s, uint32_t p, content local, uint32_t in, letter l) {
  struct mover *v = &s->mover;
  uint32_t role = s->role_of[p], n;
  for (uint32_t i = 0; i < v->ninbound[p]; i++)
    v->inbox[i] = 0;
  struct sight at = {p, role, local, sight_globals(s, s->words, role, 0), 0, v->inbox};
  struct making k = {s, &at, &v->arena, v->after, 0, NULL};
  vec_clear(&v->making);
  if (v->move_bytes + v->brief_bytes >= MOVES_MOST)
    return NULL;
  if (process_active(content_values(&s->cells, p, local, &n)[LOCAL_STATUS]))
    add_actions(&k, l == NO_LETTER ? steps_none(s, &at) : steps_one(s, &at, v->inbound[p][in].from, l), NO_SENDER);
  struct moves *moves = moves_made(&k);
  make_brief(s, moves);
  v->move_bytes += moves_bytes(moves);
  bool whole = !s->meaning->stop || !*s->meaning->stop; /* else it may have been cut short */
  return whole && (moves->n == 0 || moves->brief->brief) ? moves->brief : NULL;
}

static struct moves *moves_remembered(struct interleave *s, const struct sight *at) {
  struct mover *v = &s->mover;
  struct sights *sights = &v->sights[at->process];
  uint32_t nin = v->ninbound[at->process], n = 0;
  value small[67], *key = nin + 3 <= 67 ? small : memory_alloc((nin + 3) * sizeof *key);
  key[n++] = at->local;
  key[n++] = at->globals;
  key[n++] = at->byzantine;
  for (uint32_t i = 0; i < nin; i++)
    key[n++] = at->inbox[i];
  bool room = v->move_bytes + v->brief_bytes < MOVES_MOST;
  uint32_t id = room ? intern_put(sights->seen, key, n) : intern_find(sights->seen, key, n);
  if (key != small)
    memory_free(key);
  if (id == INTERN_NONE) {
    s->base.unsteady = true; /* they are emitted before those that are remembered */
    arena_clear(&v->passing);
    return moves_make(s, at, &v->passing);
  }
  while (sights->moves.n <= id)
    vec_push(&sights->moves, NULL);
  struct moves *moves = sights->moves.at[id];
  if (!moves) {
    moves = moves_make(s, at, &v->arena);
    v->move_bytes += n * sizeof *key + moves_bytes(moves);
    if (!s->meaning->stop || !*s->meaning->stop) { /* else it may have been cut short */
      sights->moves.at[id] = moves;
      moves->remembered = true;
    }
  }
  return moves;
}

struct moves *moves_of(struct interleave *s, uint32_t p, uint32_t byzantine) {
  struct mover *v = &s->mover;
  const uint64_t *words = s->words;
  uint32_t role = s->role_of[p];
  struct glance *g = &v->glances[p];
  content local = key_get(&s->keys, words, p);
  struct outlook outlook = outlook_of(s, p, local);
  make_shortcuts(s, p);
  for (uint32_t i = 0; i < v->ninbound[p]; i++)
    v->inbox[i] = outlook.hears ? key_get(&s->keys, words, v->inbound[p][i].cell) : 0;
  uint32_t globals = sight_globals(s, words, role, outlook.uses);
  struct sight at = {p, role, local, globals, byzantine, v->inbox};
  struct moves *moves = moves_remembered(s, &at);
  if (!moves->remembered)
    return moves;
  if (moves->layout != s->keys.layouts)
    make_brief(s, moves);
  overlooked_note(s, p, local, &outlook);
  if (g->direct) {
    *direct_at(s, g) = moves->brief;
  } else if (g->cache) {
    uint64_t memory, window = glance_at(s, g, words, &memory);
    *cached_at(g, window, memory, byzantine) = (struct cached_sight){window, memory, moves->brief, byzantine};
  }
  return moves;
}
