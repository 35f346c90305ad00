/* Rows as they are stored: rounds are relative, and messages lie where they get to. Message by message, so that no content
   of a channel comes up on the way that is not stored: there would be many more of them. */
#include "interleave/interleave_space.h"

#include "base/hash.h"

#include <string.h>

struct item { /* a message in a channel */
  enum packet_place place;
  letter letter;
};
struct items {
  uint32_t n;
  struct item at[];
};

struct loose { /* a message that was taken out of its channel */
  uint32_t from, to;
  struct item item;
};

struct open_channel {
  bool open, waits;
  letter letter;                      /* waits: one message is to be added, and that is all so far */
  VEC(struct channel_packet) packets; /* what it will hold */
};

struct moved_letters {
  uint64_t how;
  letter *to; /* by letter, NO_NAME_YET: not known */
  uint32_t n;
};

/* What becomes of a content when its rounds are moved, or a message is added, the latest ones: all of them would be many more
   than there are contents. Moved: only where all its messages stay; of the others no name is wanted. */
struct changed_content {
  uint64_t what; /* table and content, and whether a message is ADDED. 0: nothing, which no channel with messages is */
  uint64_t how;  /* see how_moved; the message */
  content to;
};
#define ADDED (UINT64_C(1) << 63)
#define CHANGED_REMEMBERED (1u << 16) /* a power of 2 */

struct settling {
  uint32_t *channels, nchannels;  /* cells */
  uint32_t *others, nothers;
  struct items ***items;          /* [table][content], NULL: not known yet */
  uint32_t *nitems;
  size_t item_bytes;
  VEC(struct moved_letters) moved; /* for each way in which rounds are moved */
  enum packet_place fresh;        /* where a message is that was sent */
  bool appends;                   /* a message that is added is one more in the channel */
  bool keeps_rounds;              /* rounds of messages count for the smallest that is read */
  VEC(struct loose) later, loose;
  struct open_channel *opened;    /* by cell */
  VEC(uint32_t) open, waiting;    /* cells */
  struct changed_content *changed; /* by a hash */
  VEC(struct channel_packet) packets;
  /* of the row at hand */
  content *row;
  struct round_move tidy;         /* what fades, after rounds were moved */
};

void settling_init(struct interleave *s) {
  const struct cells *c = &s->cells;
  if (!s->relays)
    return;
  struct settling *t = s->settling = arena_alloc(&s->arena, sizeof *t);
  t->channels = arena_array(&s->arena, c->ncells + 1, sizeof *t->channels);
  t->others = arena_array(&s->arena, c->ncells + 1, sizeof *t->others);
  t->opened = arena_array(&s->arena, c->ncells + 1, sizeof *t->opened);
  t->items = arena_array(&s->arena, c->ntables + 1, sizeof *t->items);
  t->nitems = arena_array(&s->arena, c->ntables + 1, sizeof *t->nitems);
  t->changed = memory_alloc(CHANGED_REMEMBERED * sizeof *t->changed);
  for (uint32_t i = 0; i < c->ncells; i++)
    if (c->cell[i].kind == CELL_CHANNEL)
      t->channels[t->nchannels++] = i;
    else
      t->others[t->nothers++] = i;
  t->fresh = semantics_delivers(c->question->semantics) ? PACKET_DELIVERED : PACKET_IN_TRANSIT;
  t->appends = c->channels == CHANNEL_BAG && c->bound == 0;
  t->keeps_rounds = s->window && window_keeps_rounds(s->window);
  s->may_settle_later = !t->keeps_rounds && c->bound == 0 && !s->stuck_channels;
}

void settling_release(struct interleave *s) {
  struct settling *t = s->settling;
  if (!t)
    return;
  for (uint32_t i = 0; i < s->cells.ntables; i++) {
    for (uint32_t k = 0; k < t->nitems[i]; k++)
      memory_free(t->items[i][k]);
    memory_free(t->items[i]);
  }
  for (uint32_t i = 0; i < s->cells.ncells; i++)
    vec_release(&t->opened[i].packets);
  for (size_t i = 0; i < t->moved.n; i++)
    memory_free(t->moved.at[i].to);
  vec_release(&t->moved);
  memory_free(t->changed);
  vec_release(&t->packets);
  vec_release(&t->waiting);
  vec_release(&t->later);
  vec_release(&t->loose);
  vec_release(&t->open);
}

size_t settling_bytes(const struct interleave *s) {
  const struct settling *t = s->settling;
  return t ? t->item_bytes + CHANGED_REMEMBERED * sizeof *t->changed : 0;
}

void settling_forget(struct interleave *s) {
  if (s->settling)
    memset(s->settling->changed, 0, CHANGED_REMEMBERED * sizeof *s->settling->changed);
}

/* --- the messages of a content --- */

static struct items *items_make(struct interleave *s, uint32_t cell, content c) {
  struct settling *t = s->settling;
  uint32_t table = s->cells.cell[cell].table, n = channel_decode(&s->cells, cell, c, NULL, 0);
  struct items *items = memory_alloc(sizeof *items + n * sizeof *items->at);
  struct channel_packet *packets = memory_alloc((n + 1) * sizeof *packets);
  channel_decode(&s->cells, cell, c, packets, n);
  items->n = n;
  for (uint32_t i = 0; i < n; i++)
    items->at[i] = (struct item){packets[i].place, letter_put(&s->channels, packets[i].kind, packets[i].message)};
  memory_free(packets);
  if (c >= t->nitems[table]) {
    uint32_t room = 2 * c + 16;
    t->items[table] = memory_resize_array(t->items[table], room, sizeof *t->items[table]);
    memset(t->items[table] + t->nitems[table], 0, (room - t->nitems[table]) * sizeof *t->items[table]);
    t->item_bytes += (room - t->nitems[table]) * sizeof *t->items[table];
    t->nitems[table] = room;
  }
  t->item_bytes += sizeof *items + n * sizeof *items->at;
  return t->items[table][c] = items;
}

static const struct items *items_of(struct interleave *s, uint32_t cell, content c) {
  const struct settling *t = s->settling;
  uint32_t table = s->cells.cell[cell].table;
  return c < t->nitems[table] && t->items[table][c] ? t->items[table][c] : items_make(s, cell, c);
}

static uint64_t how_moved(const struct round_move *m) {
  return (uint64_t)(uint32_t)m->by << 32 | (m->fades == INT64_MAX ? UINT32_MAX : (uint32_t)m->fades);
}

static struct moved_letters *letters_moved(struct settling *t, uint64_t how) {
  for (size_t i = 0; i < t->moved.n; i++) {
    struct moved_letters found = t->moved.at[i];
    if (found.how != how)
      continue;
    if (i == 0)
      return t->moved.at;
    t->moved.at[i] = t->moved.at[i - 1]; /* what is often asked for gets to the front */
    t->moved.at[i - 1] = found;
    return &t->moved.at[i - 1];
  }
  vec_push(&t->moved, ((struct moved_letters){.how = how}));
  return &t->moved.at[t->moved.n - 1];
}

static letter letter_moved(struct interleave *s, letter l, const struct round_move *m) {
  struct settling *t = s->settling;
  if (!s->window)
    return l;
  struct moved_letters *moved = letters_moved(t, how_moved(m));
  if (l < moved->n && moved->to[l] != NO_NAME_YET)
    return moved->to[l];
  if (l >= moved->n) {
    uint32_t room = 2 * l + 16;
    moved->to = memory_resize_array(moved->to, room, sizeof *moved->to);
    memset(moved->to + moved->n, 0xFF, (room - moved->n) * sizeof *moved->to);
    t->item_bytes += (room - moved->n) * sizeof *moved->to;
    moved->n = room;
  }
  uint32_t kind = letter_kind(&s->channels, l);
  return moved->to[l] = letter_put(&s->channels, kind, window_message(s->window, kind, letter_message(&s->channels, l), m));
}

/* --- channels that change --- */

static struct channel_packet item_packet(const struct interleave *s, struct item item) {
  return (struct channel_packet){item.place, letter_kind(&s->channels, item.letter),
                                 letter_message(&s->channels, item.letter)};
}

static void add_packet(struct interleave *s, uint32_t cell, struct item item) {
  vec_push(&s->settling->opened[cell].packets, item_packet(s, item));
}

static struct open_channel *open_channel(struct interleave *s, uint32_t cell) {
  struct settling *t = s->settling;
  t->opened[cell].open = true;
  vec_clear(&t->opened[cell].packets);
  vec_push(&t->open, cell);
  return &t->opened[cell];
}

static struct changed_content *changed_at(const struct settling *t, uint64_t what, uint64_t how) {
  return &t->changed[hash_mix(hash_mix(0, what), how) & (CHANGED_REMEMBERED - 1)];
}

/* The content and one message more. */
static content with_letter(struct interleave *s, uint32_t cell, content c, letter l) {
  struct settling *t = s->settling;
  uint64_t what = ADDED | (uint64_t)s->cells.cell[cell].table << 32 | c, how = l;
  struct changed_content *known = changed_at(t, what, how);
  if (known->what == what && known->how == how)
    return known->to;
  const struct items *items = items_of(s, cell, c);
  vec_clear(&t->packets);
  for (uint32_t i = 0; i < items->n; i++)
    vec_push(&t->packets, item_packet(s, items->at[i]));
  vec_push(&t->packets, item_packet(s, (struct item){t->fresh, l}));
  if (t->packets.n > s->channels.most)
    s->channels.most = (uint32_t)t->packets.n;
  *known = (struct changed_content){what, how, channel_encode(&s->cells, cell, t->packets.at, (uint32_t)t->packets.n)};
  return known->to;
}

static void put_into(struct interleave *s, uint32_t cell, struct item item) {
  struct settling *t = s->settling;
  struct open_channel *o = &t->opened[cell];
  if (!o->open && !o->waits && item.place == t->fresh && t->appends) {
    o->waits = true;
    o->letter = item.letter;
    vec_push(&t->waiting, cell);
    return;
  }
  if (!o->open) {
    const struct items *items = items_of(s, cell, t->row[cell]);
    open_channel(s, cell);
    for (uint32_t i = 0; i < items->n; i++)
      add_packet(s, cell, items->at[i]);
    if (o->waits)
      add_packet(s, cell, (struct item){t->fresh, o->letter});
    o->waits = false;
  }
  add_packet(s, cell, item);
}

static void put_down(struct interleave *s, uint32_t from, uint32_t to, letter l) {
  struct settling *t = s->settling;
  uint32_t cell = s->cells.channel[(size_t)from * s->model->nprocesses + to];
  if (cell != NO_CELL)
    put_into(s, cell, (struct item){t->fresh, letter_moved(s, l, &t->tidy)});
}

static bool all_stay(struct interleave *s, uint32_t cell, const struct items *items) {
  const struct cell *c = &s->cells.cell[cell];
  bool stay = true;
  for (uint32_t i = 0; i < items->n && stay; i++)
    stay = relays_keep(s, s->settling->row, c->a, c->b, items->at[i].letter);
  return stay;
}

/* The content with its rounds moved, if all its messages stay as they are then; else NO_NAME_YET. */
static content moved_and_stays(struct interleave *s, uint32_t cell, content c, const struct items *items,
                               const struct round_move *m) {
  struct settling *t = s->settling;
  const struct cell *at = &s->cells.cell[cell];
  uint64_t what = (uint64_t)at->table << 32 | c, how = how_moved(m);
  struct changed_content *known = changed_at(t, what, how);
  if (known->what == what && known->how == how)
    return all_stay(s, cell, items_of(s, cell, known->to)) ? known->to : NO_NAME_YET;
  vec_clear(&t->packets);
  for (uint32_t i = 0; i < items->n; i++) {
    letter l = letter_moved(s, items->at[i].letter, m);
    if (!relays_keep(s, t->row, at->a, at->b, l))
      return NO_NAME_YET;
    vec_push(&t->packets, item_packet(s, (struct item){items->at[i].place, l}));
  }
  if (items->n > s->channels.most)
    s->channels.most = items->n;
  *known = (struct changed_content){what, how, channel_encode(&s->cells, cell, t->packets.at, items->n)};
  return known->to;
}

static void take_out(struct interleave *s, uint32_t cell, const struct items *items, const struct round_move *m) {
  const struct cell *c = &s->cells.cell[cell];
  open_channel(s, cell);
  for (uint32_t i = 0; i < items->n; i++) {
    struct item item = {items->at[i].place, letter_moved(s, items->at[i].letter, m)};
    vec_push(&s->settling->loose, ((struct loose){c->a, c->b, item}));
  }
}

static void put_back(struct interleave *s) {
  struct settling *t = s->settling;
  for (size_t i = 0; i < t->loose.n; i++) {
    struct loose l = t->loose.at[i];
    if (relays_keep(s, t->row, l.from, l.to, l.item.letter))
      put_into(s, s->cells.channel[(size_t)l.from * s->model->nprocesses + l.to], l.item);
    else
      relays_put(s, t->row, l.from, l.to, l.item.letter, put_down);
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
  for (size_t i = 0; i < t->waiting.n; i++) {
    uint32_t cell = t->waiting.at[i];
    if (t->opened[cell].waits)
      t->row[cell] = with_letter(s, cell, t->row[cell], t->opened[cell].letter);
    t->opened[cell].waits = false;
  }
}

/* --- rows --- */

void settle_later(struct interleave *s, uint32_t from, uint32_t to, letter l) {
  vec_push(&s->settling->later, ((struct loose){from, to, {s->settling->fresh, l}}));
}

bool only_messages_differ(const struct interleave *s, const uint64_t *words, const content *row) {
  const struct settling *t = s->settling;
  for (uint32_t i = 0; i < t->nothers; i++)
    if (row[t->others[i]] != key_get(&s->keys, words, t->others[i]))
      return false;
  return true;
}

/* Everything but what is still to be put down. */
static void unsettle(struct interleave *s, const struct round_move *m) {
  struct settling *t = s->settling;
  for (uint32_t i = 0; i < t->nothers && s->window; i++) {
    uint32_t cell = t->others[i];
    if (window_moves(s->window, cell, t->row[cell], m))
      t->row[cell] = window_moved(s->window, cell, t->row[cell], m);
  }
  for (uint32_t i = 0; i < t->nchannels; i++) {
    uint32_t cell = t->channels[i];
    content c = t->row[cell];
    if (c == 0)
      continue;
    const struct items *items = items_of(s, cell, c);
    bool moves = s->window && window_moves(s->window, cell, c, m);
    content to = moves ? moved_and_stays(s, cell, c, items, m) : all_stay(s, cell, items) ? c : NO_NAME_YET;
    if (to == NO_NAME_YET)
      take_out(s, cell, items, m);
    else
      t->row[cell] = to;
  }
}

uint32_t row_relative(struct interleave *s, content *row) {
  struct settling *t = s->settling;
  struct round_move m = {.fades = INT64_MAX};
  if (!t)
    return s->window ? window_form(s->window, row) : 0;
  t->row = row;
  if (s->window)
    m = window_measure(s->window, row);
  t->tidy = (struct round_move){.fades = m.fades == INT64_MAX ? INT64_MAX : m.fades + m.by};
  if (!s->only_messages)
    unsettle(s, &m);
  for (size_t i = 0; i < t->later.n; i++) {
    struct loose l = t->later.at[i];
    l.item.letter = letter_moved(s, l.item.letter, &m);
    vec_push(&t->loose, l);
  }
  vec_clear(&t->later);
  put_back(s);
  if (t->open.n + t->waiting.n > 0 && t->keeps_rounds) /* the smallest may be another one now */
    window_form(s->window, row);
  vec_clear(&t->open);
  vec_clear(&t->waiting);
  return m.distance;
}
