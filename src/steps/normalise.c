/* Normalises rows before they are stored: rounds become relative, and forwarded messages are moved to where they end
   up. This is done message by message, so that only contents that are stored get names. There are many more
   intermediate contents. */
#include "steps/normalise.h"

#include "base/hash.h"
#include "steps/relative_rounds.h"
#include "steps/step_system_internal.h"
#include "steps/transition_fusion.h"

#include <string.h>

struct channel_message { /* a message in a channel */
  enum packet_place place;
  message_id message_id;
};
struct channel_messages {
  uint32_t n;
  struct channel_message at[];
};

struct loose_message { /* a message removed from its channel */
  uint32_t from, to;
  struct channel_message channel_message;
};

struct open_channel {
  bool open, has_pending;
  message_id message_id;              /* has_pending: the only change so far is that this message is to be added */
  VEC(struct channel_packet) packets; /* its new packets */
};

struct shifted_messages {
  uint64_t how;
  message_id *to; /* by message_id; NOT_COMPUTED: unknown */
  uint32_t n;
};

/* A cache of content changes: shifting its rounds, or adding a message. It is small, because there are many more
   changes than contents. A shifted content is cached only if all its messages stay in the channel; otherwise it gets no
   name. */
struct content_change {
  uint64_t what; /* table and content, with ADDED if a message is added. 0: empty (content 0 is not cached) */
  uint64_t how;  /* round_normalisation_key, or the message */
  content to;
};
#define ADDED (UINT64_C(1) << 63)
#define CHANGED_REMEMBERED (1u << 16) /* a power of 2 */

struct normaliser {
  uint32_t *channels, nchannels; /* cells */
  uint32_t *others, nothers;
  struct channel_messages ***channel_messages; /* [table][content]; NULL: not computed */
  uint32_t *nchannel_messages;
  size_t message_bytes;
  VEC(struct shifted_messages) moved; /* one for each shift of rounds */
  enum packet_place fresh;            /* the place of a message that was just sent */
  bool appends;                       /* adding a message always makes the content longer */
  bool keeps_rounds;                  /* rounds in messages are included in the smallest round */
  VEC(struct loose_message) deferred, loose;
  struct open_channel *opened;    /* by cell */
  VEC(uint32_t) open, pending;    /* cells */
  struct content_change *changed; /* hash table */
  VEC(struct channel_packet) packets;
  /* for the row being normalised */
  content *row;
  struct round_normalisation tidy; /* expires fields after the rounds were shifted */
};

void normaliser_init(struct step_system *s) {
  const struct state_cells *c = &s->cells;
  if (!s->form.transition_fusion)
    return;
  struct normaliser *t = s->form.normaliser = arena_alloc(&s->arena, sizeof *t);
  t->channels = arena_array(&s->arena, c->ncells + 1, sizeof *t->channels);
  t->others = arena_array(&s->arena, c->ncells + 1, sizeof *t->others);
  t->opened = arena_array(&s->arena, c->ncells + 1, sizeof *t->opened);
  t->channel_messages = arena_array(&s->arena, c->ntables + 1, sizeof *t->channel_messages);
  t->nchannel_messages = arena_array(&s->arena, c->ntables + 1, sizeof *t->nchannel_messages);
  t->changed = memory_alloc(CHANGED_REMEMBERED * sizeof *t->changed);
  for (uint32_t i = 0; i < c->ncells; i++)
    if (c->cell[i].kind == CELL_CHANNEL)
      t->channels[t->nchannels++] = i;
    else
      t->others[t->nothers++] = i;
  t->fresh = semantics_delivers(c->query->semantics) ? PACKET_DELIVERED : PACKET_IN_TRANSIT;
  t->appends = c->channels == CHANNEL_BAG && c->bound == 0;
  t->keeps_rounds = s->form.window && relative_rounds_of_messages(s->form.window);
  s->form.may_defer_sends = !t->keeps_rounds && c->bound == 0 && !s->dead.drops_blocked_messages;
}

void normaliser_release(struct step_system *s) {
  struct normaliser *t = s->form.normaliser;
  if (!t)
    return;
  for (uint32_t i = 0; i < s->cells.ntables; i++) {
    for (uint32_t k = 0; k < t->nchannel_messages[i]; k++)
      memory_free(t->channel_messages[i][k]);
    memory_free(t->channel_messages[i]);
  }
  for (uint32_t i = 0; i < s->cells.ncells; i++)
    vec_release(&t->opened[i].packets);
  for (size_t i = 0; i < t->moved.n; i++)
    memory_free(t->moved.at[i].to);
  vec_release(&t->moved);
  memory_free(t->changed);
  vec_release(&t->packets);
  vec_release(&t->pending);
  vec_release(&t->deferred);
  vec_release(&t->loose);
  vec_release(&t->open);
}

size_t normaliser_bytes(const struct step_system *s) {
  const struct normaliser *t = s->form.normaliser;
  return t ? t->message_bytes + CHANGED_REMEMBERED * sizeof *t->changed : 0;
}

void normaliser_clear_cache(struct step_system *s) {
  if (s->form.normaliser)
    memset(s->form.normaliser->changed, 0, CHANGED_REMEMBERED * sizeof *s->form.normaliser->changed);
}

/* --- the messages of a content --- */

static struct channel_messages *channel_messages_make(struct step_system *s, uint32_t cell, content c) {
  struct normaliser *t = s->form.normaliser;
  uint32_t table = s->cells.cell[cell].table, n = channel_decode(&s->cells, cell, c, NULL, 0);
  struct channel_messages *channel_messages = memory_alloc(sizeof *channel_messages + n * sizeof *channel_messages->at);
  struct channel_packet *packets = memory_alloc((n + 1) * sizeof *packets);
  channel_decode(&s->cells, cell, c, packets, n);
  channel_messages->n = n;
  for (uint32_t i = 0; i < n; i++)
    channel_messages->at[i] =
        (struct channel_message){packets[i].place, message_id_put(&s->channels, packets[i].kind, packets[i].message)};
  memory_free(packets);
  uint32_t before = t->nchannel_messages[table];
  indexed_reserve(t->channel_messages[table], t->nchannel_messages[table], c, 0);
  t->message_bytes += (t->nchannel_messages[table] - before) * sizeof *t->channel_messages[table];
  t->message_bytes += sizeof *channel_messages + n * sizeof *channel_messages->at;
  return t->channel_messages[table][c] = channel_messages;
}

static const struct channel_messages *channel_messages_of(struct step_system *s, uint32_t cell, content c) {
  const struct normaliser *t = s->form.normaliser;
  uint32_t table = s->cells.cell[cell].table;
  return c < t->nchannel_messages[table] && t->channel_messages[table][c] ? t->channel_messages[table][c]
                                                                          : channel_messages_make(s, cell, c);
}

static struct shifted_messages *shifted_messages_for(struct normaliser *t, uint64_t how) {
  for (size_t i = 0; i < t->moved.n; i++) {
    struct shifted_messages found = t->moved.at[i];
    if (found.how != how)
      continue;
    if (i == 0)
      return t->moved.at;
    t->moved.at[i] = t->moved.at[i - 1]; /* move-to-front */
    t->moved.at[i - 1] = found;
    return &t->moved.at[i - 1];
  }
  vec_push(&t->moved, ((struct shifted_messages){.how = how}));
  return &t->moved.at[t->moved.n - 1];
}

static message_id shift_message(struct step_system *s, message_id l, const struct round_normalisation *m) {
  uint32_t kind = message_id_kind(&s->channels, l);
  return message_id_put(&s->channels, kind,
                        relative_rounds_message(s->form.window, kind, message_id_value(&s->channels, l), m));
}

static message_id shifted_message(struct step_system *s, message_id l, const struct round_normalisation *m) {
  struct normaliser *t = s->form.normaliser;
  uint64_t how;
  if (!s->form.window)
    return l;
  if (!round_normalisation_key(m, &how))
    return shift_message(s, l, m);
  struct shifted_messages *moved = shifted_messages_for(t, how);
  if (l < moved->n && moved->to[l] != NOT_COMPUTED)
    return moved->to[l];
  uint32_t before = moved->n;
  indexed_reserve(moved->to, moved->n, l, 0xFF);
  t->message_bytes += (moved->n - before) * sizeof *moved->to;
  return moved->to[l] = shift_message(s, l, m);
}

/* --- changed channels --- */

static struct channel_packet channel_message_packet(const struct step_system *s,
                                                    struct channel_message channel_message) {
  return (struct channel_packet){channel_message.place, message_id_kind(&s->channels, channel_message.message_id),
                                 message_id_value(&s->channels, channel_message.message_id)};
}

static void add_packet(struct step_system *s, uint32_t cell, struct channel_message channel_message) {
  vec_push(&s->form.normaliser->opened[cell].packets, channel_message_packet(s, channel_message));
}

static struct open_channel *open_channel(struct step_system *s, uint32_t cell) {
  struct normaliser *t = s->form.normaliser;
  t->opened[cell].open = true;
  vec_clear(&t->opened[cell].packets);
  vec_push(&t->open, cell);
  return &t->opened[cell];
}

static struct content_change *content_change_at(const struct normaliser *t, uint64_t what, uint64_t how) {
  return &t->changed[hash_mix(hash_mix(0, what), how) & (CHANGED_REMEMBERED - 1)];
}

/* The content with the message added. */
static content with_message(struct step_system *s, uint32_t cell, content c, message_id l) {
  struct normaliser *t = s->form.normaliser;
  uint64_t what = ADDED | (uint64_t)s->cells.cell[cell].table << 32 | c, how = l;
  struct content_change *known = content_change_at(t, what, how);
  if (known->what == what && known->how == how)
    return known->to;
  const struct channel_messages *channel_messages = channel_messages_of(s, cell, c);
  vec_clear(&t->packets);
  for (uint32_t i = 0; i < channel_messages->n; i++)
    vec_push(&t->packets, channel_message_packet(s, channel_messages->at[i]));
  vec_push(&t->packets, channel_message_packet(s, (struct channel_message){t->fresh, l}));
  if (t->packets.n > s->channels.most)
    s->channels.most = (uint32_t)t->packets.n;
  *known = (struct content_change){what, how, channel_encode(&s->cells, cell, t->packets.at, (uint32_t)t->packets.n)};
  return known->to;
}

static void put_into(struct step_system *s, uint32_t cell, struct channel_message channel_message) {
  struct normaliser *t = s->form.normaliser;
  struct open_channel *o = &t->opened[cell];
  if (!o->open && !o->has_pending && channel_message.place == t->fresh && t->appends) {
    o->has_pending = true;
    o->message_id = channel_message.message_id;
    vec_push(&t->pending, cell);
    return;
  }
  if (!o->open) {
    const struct channel_messages *channel_messages = channel_messages_of(s, cell, t->row[cell]);
    open_channel(s, cell);
    for (uint32_t i = 0; i < channel_messages->n; i++)
      add_packet(s, cell, channel_messages->at[i]);
    if (o->has_pending)
      add_packet(s, cell, (struct channel_message){t->fresh, o->message_id});
    o->has_pending = false;
  }
  add_packet(s, cell, channel_message);
}

static void place_message(struct step_system *s, uint32_t from, uint32_t to, message_id l) {
  struct normaliser *t = s->form.normaliser;
  uint32_t cell = s->cells.channel[(size_t)from * s->model->nprocesses + to];
  if (cell != NO_CELL)
    put_into(s, cell, (struct channel_message){t->fresh, shifted_message(s, l, &t->tidy)});
}

static bool all_stay(struct step_system *s, uint32_t cell, const struct channel_messages *channel_messages) {
  const struct state_cell *c = &s->cells.cell[cell];
  bool stay = true;
  for (uint32_t i = 0; i < channel_messages->n && stay; i++)
    stay = transition_fusion_keeps(s, s->form.normaliser->row, c->a, c->b, channel_messages->at[i].message_id);
  return stay;
}

/* The content with its rounds shifted if all its messages stay in the channel; otherwise NOT_COMPUTED. */
static content shifted_if_kept(struct step_system *s, uint32_t cell, content c,
                               const struct channel_messages *channel_messages, const struct round_normalisation *m) {
  struct normaliser *t = s->form.normaliser;
  const struct state_cell *at = &s->cells.cell[cell];
  uint64_t what = (uint64_t)at->table << 32 | c, how;
  bool cached = round_normalisation_key(m, &how);
  struct content_change *known = content_change_at(t, what, how);
  if (cached && known->what == what && known->how == how)
    return all_stay(s, cell, channel_messages_of(s, cell, known->to)) ? known->to : NOT_COMPUTED;
  vec_clear(&t->packets);
  for (uint32_t i = 0; i < channel_messages->n; i++) {
    message_id l = shifted_message(s, channel_messages->at[i].message_id, m);
    if (!transition_fusion_keeps(s, t->row, at->a, at->b, l))
      return NOT_COMPUTED;
    vec_push(&t->packets, channel_message_packet(s, (struct channel_message){channel_messages->at[i].place, l}));
  }
  if (channel_messages->n > s->channels.most)
    s->channels.most = channel_messages->n;
  content to = channel_encode(&s->cells, cell, t->packets.at, channel_messages->n);
  if (cached)
    *known = (struct content_change){what, how, to};
  return to;
}

static void take_out(struct step_system *s, uint32_t cell, const struct channel_messages *channel_messages,
                     const struct round_normalisation *m) {
  const struct state_cell *c = &s->cells.cell[cell];
  open_channel(s, cell);
  for (uint32_t i = 0; i < channel_messages->n; i++) {
    struct channel_message channel_message = {channel_messages->at[i].place,
                                              shifted_message(s, channel_messages->at[i].message_id, m)};
    vec_push(&s->form.normaliser->loose, ((struct loose_message){c->a, c->b, channel_message}));
  }
}

static void put_back(struct step_system *s) {
  struct normaliser *t = s->form.normaliser;
  for (size_t i = 0; i < t->loose.n; i++) {
    struct loose_message l = t->loose.at[i];
    if (transition_fusion_keeps(s, t->row, l.from, l.to, l.channel_message.message_id))
      put_into(s, s->cells.channel[(size_t)l.from * s->model->nprocesses + l.to], l.channel_message);
    else
      transition_fusion_place(s, t->row, l.from, l.to, l.channel_message.message_id, place_message);
  }
  vec_clear(&t->loose);
  for (size_t i = 0; i < t->open.n; i++) {
    uint32_t cell = t->open.at[i];
    struct open_channel *o = &t->opened[cell];
    t->row[cell] = o->packets.n ? channel_encode(&s->cells, cell, o->packets.at, (uint32_t)o->packets.n) : 0;
    if (o->packets.n > s->channels.most)
      s->channels.most = (uint32_t)o->packets.n;
    o->open = false;
  }
  for (size_t i = 0; i < t->pending.n; i++) {
    uint32_t cell = t->pending.at[i];
    if (t->opened[cell].has_pending)
      t->row[cell] = with_message(s, cell, t->row[cell], t->opened[cell].message_id);
    t->opened[cell].has_pending = false;
  }
}

/* --- rows --- */

void normalise_deferred_send(struct step_system *s, uint32_t from, uint32_t to, message_id l) {
  vec_push(&s->form.normaliser->deferred, ((struct loose_message){from, to, {s->form.normaliser->fresh, l}}));
}

void normalise_drop_deferred(struct step_system *s) {
  if (s->form.normaliser)
    vec_clear(&s->form.normaliser->deferred);
}

bool only_messages_differ(const struct step_system *s, const uint64_t *words, const content *row) {
  const struct normaliser *t = s->form.normaliser;
  for (uint32_t i = 0; i < t->nothers; i++)
    if (row[t->others[i]] != key_get(&s->keys, words, t->others[i]))
      return false;
  return true;
}

/* Normalises everything except the deferred messages. */
static void normalise_stored(struct step_system *s, const struct round_normalisation *m) {
  struct normaliser *t = s->form.normaliser;
  for (uint32_t i = 0; i < t->nothers && s->form.window; i++) {
    uint32_t cell = t->others[i];
    if (relative_rounds_change(s->form.window, cell, t->row[cell], m))
      t->row[cell] = relative_rounds_shifted(s->form.window, cell, t->row[cell], m);
  }
  for (uint32_t i = 0; i < t->nchannels; i++) {
    uint32_t cell = t->channels[i];
    content c = t->row[cell];
    if (c == 0)
      continue;
    const struct channel_messages *channel_messages = channel_messages_of(s, cell, c);
    bool moves = s->form.window && relative_rounds_change(s->form.window, cell, c, m);
    content to = moves                                 ? shifted_if_kept(s, cell, c, channel_messages, m)
                 : all_stay(s, cell, channel_messages) ? c
                                                       : NOT_COMPUTED;
    if (to == NOT_COMPUTED)
      take_out(s, cell, channel_messages, m);
    else
      t->row[cell] = to;
  }
}

uint32_t row_normalise(struct step_system *s, content *row) {
  struct normaliser *t = s->form.normaliser;
  struct round_normalisation m = {.expires = INT64_MAX};
  if (!t)
    return s->form.window ? relative_rounds_normalise(s->form.window, row) : 0;
  t->row = row;
  if (s->form.window)
    m = relative_rounds_measure(s->form.window, row);
  t->tidy = (struct round_normalisation){.expires = m.expires == INT64_MAX ? INT64_MAX : m.expires + m.by};
  if (!s->form.only_messages)
    normalise_stored(s, &m);
  for (size_t i = 0; i < t->deferred.n; i++) {
    struct loose_message l = t->deferred.at[i];
    l.channel_message.message_id = shifted_message(s, l.channel_message.message_id, &m);
    vec_push(&t->loose, l);
  }
  vec_clear(&t->deferred);
  put_back(s);
  if (t->open.n + t->pending.n > 0 && t->keeps_rounds) /* the smallest round may have changed */
    relative_rounds_normalise(s->form.window, row);
  vec_clear(&t->open);
  vec_clear(&t->pending);
  return m.distance;
}
