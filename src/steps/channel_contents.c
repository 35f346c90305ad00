#include "steps/channel_contents.h"

#include "interp/events.h"

#include <string.h>

void channel_ops_init(struct channel_ops *o, struct state_cells *c) {
  *o = (struct channel_ops){.cells = c};
  arena_init(&o->arena);
  o->message_ids = intern_new();
  o->append_table_of = intern_new();
  o->view = memory_alloc((c->ntables + 1) * sizeof *o->view);
  o->nview = memory_alloc((c->ntables + 1) * sizeof *o->nview);
  o->receives = memory_alloc((c->ntables + 1) * sizeof *o->receives);
}

void channel_ops_release(struct channel_ops *o) {
  for (uint32_t t = 0; t < o->cells->ntables; t++) {
    memory_free(o->view[t]);
    memory_free(o->receives[t].of);
  }
  for (size_t i = 0; i < o->append_tables.n; i++)
    memory_free(o->append_tables.at[i]->to);
  memory_free(o->view);
  memory_free(o->nview);
  memory_free(o->receives);
  vec_release(&o->append_tables);
  vec_release(&o->packets);
  intern_free(o->message_ids);
  intern_free(o->append_table_of);
  arena_release(&o->arena);
}

size_t channel_ops_bytes(const struct channel_ops *o) {
  size_t bytes = intern_bytes(o->message_ids) + intern_bytes(o->append_table_of) + o->receive_bytes;
  for (size_t i = 0; i < o->append_tables.n; i++)
    bytes += o->append_tables.at[i]->n * sizeof(content);
  for (uint32_t t = 0; t < o->cells->ntables; t++)
    bytes +=
        o->nview[t] * (sizeof **o->view + sizeof(struct channel_view)) + o->receives[t].n * sizeof *o->receives[t].of;
  return bytes;
}

message_id message_id_put(struct channel_ops *o, uint32_t kind, value message) {
  return intern_put(o->message_ids, (value[]){kind, message}, 2);
}

uint32_t message_id_kind(const struct channel_ops *o, message_id l) {
  return (uint32_t)intern_at(o->message_ids, l)[0];
}

value message_id_value(const struct channel_ops *o, message_id l) { return intern_at(o->message_ids, l)[1]; }

/* --- views of a content --- */

static uint32_t decode(struct channel_ops *o, uint32_t cell, content c) {
  uint32_t n = channel_decode(o->cells, cell, c, NULL, 0);
  vec_reserve(&o->packets, 2 * (size_t)n + 2); /* the other half is for modified copies */
  return channel_decode(o->cells, cell, c, o->packets.at, n);
}

static bool same_packet(const struct channel_packet *a, const struct channel_packet *b) {
  return a->place == b->place && a->kind == b->kind && a->message == b->message;
}

static content encode_without(struct channel_ops *o, uint32_t cell, uint32_t n, uint32_t i) {
  struct channel_packet *copy = o->packets.at + n;
  memcpy(copy, o->packets.at, i * sizeof *copy);
  memcpy(copy + i, o->packets.at + i + 1, (n - i - 1) * sizeof *copy);
  return channel_encode(o->cells, cell, copy, n - 1);
}

static content encode_moved(struct channel_ops *o, uint32_t cell, uint32_t n, uint32_t i, enum packet_place to) {
  struct channel_packet *copy = o->packets.at + n;
  memcpy(copy, o->packets.at, n * sizeof *copy);
  copy[i].place = to;
  return channel_encode(o->cells, cell, copy, n);
}

content channel_seen(struct channel_ops *o, uint32_t cell, content c) {
  uint32_t n = decode(o, cell, c);
  for (uint32_t i = 0; i < n; i++)
    if (o->packets.at[i].place == PACKET_DELIVERED)
      o->packets.at[i].place = PACKET_SEEN;
  return channel_encode(o->cells, cell, o->packets.at, n);
}

/* Is there an equal packet before this one? If so, the earlier one represents both. */
static bool repeats(const struct channel_ops *o, uint32_t i) {
  for (uint32_t k = 0; k < i; k++)
    if (same_packet(&o->packets.at[k], &o->packets.at[i]))
      return true;
  return false;
}

/* FIFO: only the oldest message can be taken or read, and only the oldest in transit can arrive. */
static bool is_receivable(const struct channel_ops *o, uint32_t i) {
  return o->packets.at[i].place != PACKET_IN_TRANSIT && (o->cells->channels != CHANNEL_FIFO || i == 0);
}

static bool arrives(const struct channel_ops *o, uint32_t i) {
  if (o->packets.at[i].place != PACKET_IN_TRANSIT)
    return false;
  for (uint32_t k = 0; k < i && o->cells->channels == CHANNEL_FIFO; k++)
    if (o->packets.at[k].place == PACKET_IN_TRANSIT)
      return false;
  return true;
}

const struct channel_view *channel_view_make(struct channel_ops *o, uint32_t cell, content c) {
  uint32_t table = o->cells->cell[cell].table, n = decode(o, cell, c);
  bool looks = o->cells->query->semantics == SEMANTICS_MP; /* under other semantics reading changes nothing */
  struct channel_view *v = arena_alloc(&o->arena, sizeof *v);
  v->receivable = arena_array(&o->arena, n + 1, sizeof *v->receivable);
  v->delivered = arena_array(&o->arena, n + 1, sizeof *v->delivered);
  v->lost = arena_array(&o->arena, n + 1, sizeof *v->lost);
  v->held = n;
  for (uint32_t i = 0; i < n; i++) {
    struct channel_packet p = o->packets.at[i];
    v->fresh += p.place == PACKET_DELIVERED;
    if (repeats(o, i))
      continue;
    content without = encode_without(o, cell, n, i);
    v->lost[v->nlost++] = without;
    if (is_receivable(o, i))
      v->receivable[v->nreceivable++] = (struct channel_receivable){
          message_id_put(o, p.kind, p.message), p.place, without, looks ? encode_moved(o, cell, n, i, PACKET_SEEN) : c};
    if (arrives(o, i))
      v->delivered[v->ndelivered++] = encode_moved(o, cell, n, i, PACKET_DELIVERED);
  }
  indexed_reserve(o->view[table], o->nview[table], c, 0);
  o->view[table][c] = v;
  return v;
}

const struct channel_receive *channel_receives_of(struct channel_ops *o, uint32_t cell, content c) {
  struct channel_receives *all = &o->receives[o->cells->cell[cell].table];
  uint32_t n = decode(o, cell, c), found = 0;
  struct channel_receive *at = memory_alloc((n + 1) * sizeof *at);
  for (uint32_t i = 0; i < n; i++) {
    struct channel_packet p = o->packets.at[i];
    if (!repeats(o, i) && is_receivable(o, i))
      at[found++] = (struct channel_receive){message_id_put(o, p.kind, p.message), encode_without(o, cell, n, i)};
  }
  at[found++] = (struct channel_receive){.message_id = NO_MESSAGE_ID};
  indexed_reserve(all->of, all->n, c, 0);
  all->of[c] = arena_copy(&o->arena, at, found * sizeof *at);
  o->receive_bytes += found * sizeof *at;
  memory_free(at);
  return all->of[c];
}

/* --- sending --- */

struct append_table *append_table_of(struct channel_ops *o, uint32_t cell, message_id l) {
  uint32_t table = o->cells->cell[cell].table;
  uint32_t id = intern_put(o->append_table_of, (value[]){table, l}, 2);
  if (id == o->append_tables.n) {
    struct append_table *a = arena_alloc(&o->arena, sizeof *a);
    *a = (struct append_table){.message_id = l, .table = table, .cell = cell};
    vec_push(&o->append_tables, a);
  }
  return o->append_tables.at[id];
}

content append_table_fill(struct channel_ops *o, struct append_table *a, content c) {
  uint32_t n = decode(o, a->cell, c);
  struct channel_packet p = {semantics_delivers(o->cells->query->semantics) ? PACKET_DELIVERED : PACKET_IN_TRANSIT,
                             message_id_kind(o, a->message_id), message_id_value(o, a->message_id)};
  content to = c;
  bool absorbed = false;
  for (uint32_t i = 0; i < n && o->cells->channels == CHANNEL_SET; i++)
    absorbed |= o->packets.at[i].kind == p.kind && o->packets.at[i].message == p.message;
  o->packets.at[n] = p;
  if (!absorbed)
    to = o->cells->bound > 0 && n >= o->cells->bound ? CHANNEL_FULL
                                                     : channel_encode(o->cells, a->cell, o->packets.at, n + 1);
  if (to != CHANNEL_FULL && !absorbed && n + 1 > o->most)
    o->most = n + 1;
  indexed_reserve(a->to, a->n, c, 0xFF);
  a->to[c] = to;
  return to;
}
