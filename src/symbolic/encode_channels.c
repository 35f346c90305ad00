/* Messages of step models under semantics m: a sent message stays in its channel until it is received or lost. The
   encoding keeps every message sent so far, each with the condition that it is still pending. It therefore needs runs
   that start in an initial state. */
#include "symbolic/encode.h"

#include <string.h>

static const struct clause *channels_of(const struct encoder *e) {
  return clause_of_kind(&e->l.model->environments[e->environment], CLAUSE_CHANNELS);
}

static bool is_fifo(const struct encoder *e) {
  const struct clause *c = channels_of(e);
  return c && c->channel == CHANNEL_FIFO;
}

/* ---- receivable messages ---- */

/* A message that can be received: a packet, or one forged by a Byzantine sender (packet: NO_PACKET_HERE). */
struct receivable_message {
  truth there;
  uint32_t packet;
  struct sym_value *message;
};
#define NO_PACKET_HERE UINT32_MAX

struct receivable_messages {
  VEC(struct receivable_message) all;
};

/* FIFO: only the oldest pending packet of a channel can be received. */
static truth oldest(struct encoder *e, const struct sym_state *s, uint32_t i) {
  truth none = EXPR_TRUE;
  const struct sym_packet *p = &s->packets[i];
  for (uint32_t k = 0; k < i; k++)
    if (s->packets[k].from == p->from && s->packets[k].to == p->to)
      none = expr_and(&e->t.graph, none, expr_not(&e->t.graph, s->packets[k].pending));
  return none;
}

/* Does the topology have a channel between the two processes? Needed only for forged messages; all others have a
 * packet. */
static truth channel_exists(struct encoder *e, const struct sym_state *s, uint32_t from, uint32_t to) {
  struct scope scope;
  scope_of_process(&scope, &e->l, s, from);
  const struct role *role = &e->l.model->roles[scope.role];
  if (role->ring)
    return expr_truth(to == role->first + (from - role->first + 1) % role->count);
  if (!role->graph)
    return EXPR_TRUE;
  struct sym_value *reachable = lower_neighbours(&scope);
  return expr_and(&e->t.graph, expr_not(&e->t.graph, scope.error), sym_has_process(reachable, to));
}

static struct receivable_messages receivable_from(struct encoder *e, const struct sym_state *s, uint32_t from,
                                                  uint32_t to, uint32_t kind) {
  struct receivable_messages o = {0};
  for (uint32_t i = 0; i < s->npackets; i++) {
    const struct sym_packet *p = &s->packets[i];
    if (p->from != from || p->to != to || p->kind != kind || p->pending == EXPR_FALSE)
      continue;
    truth there = is_fifo(e) ? expr_and(&e->t.graph, p->pending, oldest(e, s, i)) : p->pending;
    arena_push(&e->arena, &o.all, ((struct receivable_message){there, i, p->message}));
  }
  if (s->of[from].byzantine != EXPR_FALSE) {
    const struct type *t = e->l.model->messages[kind].type;
    if (t->count == UINT64_MAX)
      lower_refuse(&e->l, e->l.model->messages[kind].at, "forged messages with too many values to choose from");
    truth there = expr_and(&e->t.graph, s->of[from].byzantine, channel_exists(e, s, from, to));
    if (there != EXPR_FALSE)
      arena_push(&e->arena, &o.all, ((struct receivable_message){there, NO_PACKET_HERE, sym_new(e, t, "forged")}));
  }
  return o;
}

/* ---- receiving ---- */

static void bind_message(struct scope *s, const struct action *a, struct sym_value *message, struct number from) {
  s->slot[a->slot] = message;
  s->slot_sender[a->slot] = from;
  if (a->from_slot != NO_SLOT)
    s->slot[a->from_slot] = sym_number(s->l, from);
  for (uint32_t i = 0; i < a->nparts; i++)
    s->slot[a->parts[i].slot] = message->part[a->parts[i].field];
}

/* Does the message match the action's pattern? Evaluated under the condition that it is there. */
static truth matches(struct scope *s, const struct action *a, truth there) {
  if (!a->match)
    return EXPR_TRUE;
  truth old = scope_narrow(s, there);
  truth fits = lower_truth(s, a->match);
  s->path = old;
  return fits;
}

/* A received message is no longer pending, unless it is duplicated. */
static void consume(struct scope *s, struct sym_taken *sym_taken, const struct receivable_message *o, truth taken) {
  struct encoder *e = encoder_of(s);
  const struct environment *env = &e->l.model->environments[e->environment];
  const struct clause *again = clause_of_kind(env, CLAUSE_DUPLICATED);
  truth kept = EXPR_FALSE;
  if (o->packet == NO_PACKET_HERE || taken == EXPR_FALSE)
    return;
  if (again && again->limit > 0) {
    kept = truth_new(&e->t, "kept");
    sym_taken->kept =
        lower_sum(&e->l, sym_taken->kept, number_count(&e->t.graph, (truth[]){expr_and(&e->t.graph, taken, kept)}, 1));
  }
  struct sym_packet *p = &sym_taken->packets[o->packet];
  p->pending = expr_and(&e->t.graph, p->pending,
                        expr_not(&e->t.graph, expr_and(&e->t.graph, taken, expr_not(&e->t.graph, kept))));
}

static truth take_one(struct scope *s, const struct sym_state *state, const struct action *a,
                      struct sym_taken *sym_taken) {
  struct encoder *e = encoder_of(s);
  VEC(struct receivable_message) all = {0};
  VEC(truth) there = {0};
  VEC(uint32_t) from = {0};
  for (uint32_t q = 0; q < e->l.model->nprocesses; q++) {
    struct receivable_messages o = receivable_from(e, state, q, s->me, a->kind);
    for (size_t i = 0; i < o.all.n; i++) {
      arena_push(&e->arena, &all, o.all.at[i]);
      arena_push(&e->arena, &there, o.all.at[i].there);
      arena_push(&e->arena, &from, q);
    }
  }
  truth any = truth_any(&e->t.graph, there.at, there.n);
  if (any == EXPR_FALSE)
    return any;
  struct number sender = number_of(0);
  truth *which = arena_array(&e->arena, there.n, sizeof *which);
  e->l.choose(s, "message", there.at, there.n, which);
  struct sym_value *message = NULL;
  for (size_t i = 0; i < all.n; i++) {
    truth it = which[i];
    if (it == EXPR_FALSE)
      continue;
    sender = message ? number_if(&e->t.graph, it, number_of(from.at[i]), sender) : number_of(from.at[i]);
    message = message ? sym_ite(&e->l, it, all.at[i].message, message) : all.at[i].message;
    consume(s, sym_taken, &all.at[i], expr_and(&e->t.graph, any, it));
  }
  bind_message(s, a, message, sender);
  return expr_and(&e->t.graph, any, matches(s, a, any));
}

/* ---- quorums ---- */

/* Chooses one message of this sender or none, fills in the entry, and consumes the message if the action does. */
static void choose_from_sender(struct scope *s, const struct sym_state *state, const struct action *a, uint32_t q,
                               struct sym_taken *sym_taken, struct sym_received *entry) {
  struct encoder *e = encoder_of(s);
  struct receivable_messages o = receivable_from(e, state, q, s->me, a->kind);
  truth *fits = arena_array(&e->arena, o.all.n + 1, sizeof *fits);
  entry->there = EXPR_FALSE;
  entry->sender = number_of(q);
  for (size_t i = 0; i < o.all.n; i++) {
    bind_message(s, a, o.all.at[i].message, number_of(q));
    fits[i] = expr_and(&e->t.graph, o.all.at[i].there, matches(s, a, o.all.at[i].there));
  }
  truth any = truth_any(&e->t.graph, fits, o.all.n);
  if (any == EXPR_FALSE)
    return;
  truth *which = arena_array(&e->arena, o.all.n, sizeof *which);
  e->l.choose(s, "message", fits, o.all.n, which);
  s->chose = true;
  entry->there = expr_and(&e->t.graph, any, truth_new(&e->t, "looks"));
  for (size_t i = 0; i < o.all.n; i++) {
    truth it = which[i];
    if (it == EXPR_FALSE)
      continue;
    entry->message = entry->message ? sym_ite(&e->l, it, o.all.at[i].message, entry->message) : o.all.at[i].message;
    if (a->taken)
      consume(s, sym_taken, &o.all.at[i], expr_and(&e->t.graph, entry->there, it));
  }
}

/* All messages of the quorum agree on the parts that must be equal. These parts take the value of the first message. */
static truth parts_equal(struct scope *s, const struct action *a, const struct sym_received *entries, uint32_t n) {
  struct encoder *e = encoder_of(s);
  truth agree = EXPR_TRUE, any = EXPR_FALSE;
  struct sym_value *first = NULL;
  for (uint32_t i = n; i-- > 0;) {
    first = first ? sym_ite(&e->l, entries[i].there, entries[i].message, first) : entries[i].message;
    any = expr_or(&e->t.graph, any, entries[i].there);
  }
  if (a->nparts == 0)
    return agree;
  if (!first)
    return EXPR_FALSE;
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < a->nparts; k++)
      agree = expr_and(
          &e->t.graph, agree,
          expr_implies(&e->t.graph, entries[i].there,
                       sym_equal(&e->l, entries[i].message->part[a->parts[k].field], first->part[a->parts[k].field])));
  bind_message(s, a, first, number_of(0));
  return expr_and(&e->t.graph, any, agree);
}

static truth take_quorum(struct scope *s, const struct sym_state *state, const struct action *a,
                         struct sym_taken *sym_taken) {
  struct encoder *e = encoder_of(s);
  uint32_t n = 0;
  struct sym_received *entries = arena_array(&e->arena, e->l.model->nprocesses + (size_t)1, sizeof *entries);
  truth *there = arena_array(&e->arena, e->l.model->nprocesses + (size_t)1, sizeof *there);
  for (uint32_t q = 0; q < e->l.model->nprocesses; q++) {
    choose_from_sender(s, state, a, q, sym_taken, &entries[n]);
    if (entries[n].there != EXPR_FALSE)
      there[n] = entries[n].there, n++;
    else
      entries[n] = (struct sym_received){0};
  }
  struct number size = lower_node(s, a->size)->number, count = number_count(&e->t.graph, there, n);
  truth enough = a->exactly ? number_same(&e->t.graph, count, size) : number_at_most(&e->t.graph, size, count);
  s->received = entries;
  s->nreceived = n;
  return expr_and(&e->t.graph, enough, parts_equal(s, a, entries, n));
}

truth encode_receive(struct scope *s, const struct sym_state *state, const struct action *a,
                     struct sym_taken *sym_taken) {
  struct encoder *e = encoder_of(s);
  sym_taken->kept = number_of(0);
  sym_taken->packets = arena_array(&e->arena, state->npackets + (size_t)1, sizeof *sym_taken->packets);
  if (state->npackets)
    memcpy(sym_taken->packets, state->packets, state->npackets * sizeof *sym_taken->packets);
  switch (a->trigger) {
  case TRIGGER_ONE:
    return take_one(s, state, a, sym_taken);
  case TRIGGER_QUORUM:
    return take_quorum(s, state, a, sym_taken);
  case TRIGGER_NONE:
    return EXPR_TRUE;
  }
  lower_refuse(&e->l, a->at, "what this waits for is not encoded");
}

/* ---- sending ---- */

/* A set channel holds a message at most once. */
static truth absorbed(struct encoder *e, const struct sym_state *s, const struct sym_packet *p) {
  truth there = EXPR_FALSE;
  for (uint32_t i = 0; i < s->npackets; i++) {
    const struct sym_packet *o = &s->packets[i];
    if (o->from == p->from && o->to == p->to && o->kind == p->kind && o->pending != EXPR_FALSE)
      there = expr_or(&e->t.graph, there, expr_and(&e->t.graph, o->pending, sym_equal(&e->l, o->message, p->message)));
  }
  return there;
}

void encode_sends(struct encoder *e, struct sym_state *next, const struct scope *from, truth it, const truth *out) {
  const struct clause *c = channels_of(e);
  bool set = c && c->channel == CHANNEL_SET;
  struct sym_packet *all = arena_array(&e->arena, next->npackets + from->posted.n + 1, sizeof *all);
  if (next->npackets)
    memcpy(all, next->packets, next->npackets * sizeof *all);
  next->packets = all;
  for (size_t i = 0; i < from->posted.n; i++) {
    const struct sym_sent *posted = &from->posted.at[i];
    struct sym_packet p = {from->me, posted->to, posted->kind, EXPR_FALSE, posted->message};
    p.pending = truth_all(
        &e->t.graph,
        (truth[]){it, posted->when, out ? out[i] : EXPR_TRUE, expr_not(&e->t.graph, next->of[posted->to].byzantine)},
        4);
    if (set)
      p.pending = expr_and(&e->t.graph, p.pending, expr_not(&e->t.graph, absorbed(e, next, &p)));
    if (p.pending != EXPR_FALSE)
      all[next->npackets++] = p;
  }
}

/* ---- channels as part of a state ---- */

#define PACKETS_MOST 2048

/* Does the block send messages of the kind to that process? */
static bool block_sends(const struct model *m, const struct block *b, uint32_t kind, uint32_t to) {
  for (uint32_t i = 0; i < b->n; i++) {
    const struct stmt *s = b->at[i];
    const struct send *send = s->kind == STMT_SEND && s->send->kind == kind ? s->send : NULL;
    if (send && (send->target != TARGET_SET || send->to_role == ROLE_ANY || send->to_role == model_role_of(m, to)))
      return true;
    if (block_sends(m, &s->then, kind, to) || block_sends(m, &s->other, kind, to))
      return true;
  }
  return false;
}

static bool may_send(const struct model *m, uint32_t from, uint32_t to, uint32_t kind) {
  const struct role *role = &m->roles[model_role_of(m, from)];
  if (role->ring && to != role->first + (from - role->first + 1) % role->count)
    return false;
  for (uint32_t i = 0; i < role->nactions; i++)
    if (block_sends(m, &role->actions[i].body, kind, to))
      return true;
  return false;
}

/* Lists all possible packets, none of them pending. */
static void list_packets(struct encoder *e, struct sym_state *s) {
  const struct model *m = e->l.model;
  VEC(struct sym_packet) all = {0};
  for (uint32_t from = 0; from < m->nprocesses; from++)
    for (uint32_t to = 0; to < m->nprocesses; to++)
      for (uint32_t kind = 0; kind < m->nmessages; kind++) {
        const struct type *t = m->messages[kind].type;
        if (!may_send(m, from, to, kind))
          continue;
        if (t->count > PACKETS_MOST || all.n + t->count > PACKETS_MOST)
          lower_refuse(&e->l, m->messages[kind].at, "more than %d messages that may be on their way; bmc can",
                       PACKETS_MOST);
        for (uint64_t i = 0; i < t->count; i++)
          arena_push(&e->arena, &all, ((struct sym_packet){from, to, kind, EXPR_FALSE, sym_nth_value(&e->l, t, i)}));
      }
  s->packets = all.at;
  s->npackets = (uint32_t)all.n;
}

void encode_any_packets(struct encoder *e, struct sym_state *s) {
  const struct clause *c = channels_of(e);
  if (e->l.model->kind != MODEL_MESSAGES)
    return;
  if (!c || c->channel != CHANNEL_SET)
    lower_refuse(
        &e->l, c ? c->at : e->l.model->messages[0].at,
        "messages on their way, of which there may be any number; bmc can, and so it goes with 'channels set'");
  list_packets(e, s);
  for (uint32_t i = 0; i < s->npackets; i++)
    s->packets[i].pending = truth_new(&e->t, e->l.model->messages[s->packets[i].kind].name);
}

void normalise_packets(struct encoder *e, struct sym_state *s) {
  struct sym_state settled = *s;
  list_packets(e, &settled);
  for (uint32_t i = 0; i < settled.npackets; i++)
    settled.packets[i].pending = absorbed(e, s, &settled.packets[i]);
  s->packets = settled.packets;
  s->npackets = settled.npackets;
}

truth channels_bounded(struct encoder *e, const struct sym_state *s) {
  const struct clause *c = channels_of(e);
  uint32_t n = e->l.model->nprocesses;
  truth ok = EXPR_TRUE;
  truth *pending = arena_array(&e->arena, s->npackets + (size_t)1, sizeof *pending);
  for (uint32_t pair = 0; c && c->bound > 0 && pair < n * n; pair++) {
    uint32_t held = 0;
    for (uint32_t i = 0; i < s->npackets; i++)
      if (s->packets[i].from == pair / n && s->packets[i].to == pair % n)
        pending[held++] = s->packets[i].pending;
    ok = expr_and(&e->t.graph, ok,
                  number_at_most(&e->t.graph, number_count(&e->t.graph, pending, held), number_of(c->bound)));
  }
  return ok;
}
