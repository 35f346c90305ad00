/* Pending messages: sent, but not yet taken. */
#include "interp/event_step.h"
#include "interp/round_step.h"

struct channels environment_channels(const struct environment *env) {
  const struct clause *c = environment_clause(env, CLAUSE_CHANNELS);
  return c ? (struct channels){c->channel, c->bound} : (struct channels){CHANNEL_BAG, 0};
}

bool semantics_delivers(enum semantics s) { return s != SEMANTICS_M_MP && s != SEMANTICS_MP; }

static int compare(uint32_t a, uint32_t b) { return (a > b) - (a < b); }

static int compare_content(const struct model *m, const struct packet *a, const struct packet *b) {
  int order = compare(a->place, b->place);
  if (!order)
    order = compare(a->kind, b->kind);
  return order ? order : value_compare(&m->values, m->messages[a->kind].type, a->message, b->message);
}

int packet_compare(const struct model *m, const struct packet *a, const struct packet *b) {
  int order = compare(a->to, b->to);
  if (!order)
    order = compare(a->from, b->from);
  return order ? order : compare_content(m, a, b);
}

/* Compares packets by everything except the order of sending. */
static int compare_pending(const struct interpreter *interp, struct channels channels, const struct packet *a,
                           const struct packet *b) {
  int order = compare(a->to, b->to);
  if (order || interp->arrivals)
    return order;
  order = compare(a->from, b->from);
  return order || channels.kind == CHANNEL_FIFO ? order : compare_content(interp->model, a, b);
}

static bool same_message(const struct packet *a, const struct packet *b) {
  return a->from == b->from && a->to == b->to && a->kind == b->kind && a->message == b->message;
}

uint32_t packet_find(const struct config *c, const struct packet *like) {
  for (uint32_t i = 0; i < c->npackets; i++)
    if (same_message(&c->packets[i], like) && c->packets[i].place == like->place)
      return i;
  return NO_PACKET;
}

uint32_t packet_oldest(const struct config *c, uint32_t from, uint32_t to, bool in_transit) {
  for (uint32_t i = 0; i < c->npackets; i++)
    if (c->packets[i].from == from && c->packets[i].to == to &&
        (!in_transit || c->packets[i].place == PACKET_IN_TRANSIT))
      return i;
  return NO_PACKET;
}

static void packet_insert(struct interpreter *interp, struct channels channels, struct config *c, struct packet p) {
  if (c->npackets == c->packets_cap) {
    c->packets_cap = c->packets_cap ? 2 * c->packets_cap : 8;
    c->packets = memory_resize_array(c->packets, c->packets_cap, sizeof *c->packets);
  }
  uint32_t at = c->npackets++;
  for (; at > 0 && compare_pending(interp, channels, &c->packets[at - 1], &p) > 0; at--)
    c->packets[at] = c->packets[at - 1];
  c->packets[at] = p;
}

/* A set holds a message once, whether it is in transit, delivered or seen. */
void packet_post(struct interpreter *interp, struct channels channels, struct config *c, struct packet p) {
  if (c->local[p.to][LOCAL_STATUS] & STATUS_BYZANTINE)
    return;
  for (uint32_t i = 0; channels.kind == CHANNEL_SET && i < c->npackets; i++)
    if (same_message(&c->packets[i], &p))
      return;
  packet_insert(interp, channels, c, p);
}

void packet_remove(struct config *c, uint32_t i) {
  c->npackets--;
  for (; i < c->npackets; i++)
    c->packets[i] = c->packets[i + 1];
}

/* Where the order of sending counts, delivery does not change it. */
void packet_move(struct interpreter *interp, struct channels channels, struct config *c, uint32_t i,
                 enum packet_place place) {
  struct packet p = c->packets[i];
  p.place = place;
  if (interp->arrivals || channels.kind == CHANNEL_FIFO) {
    c->packets[i] = p;
    return;
  }
  packet_remove(c, i);
  packet_insert(interp, channels, c, p);
}

struct packet packet_of(const struct taken_message *t, uint32_t to, uint32_t kind) {
  return (struct packet){t->from, to, kind, t->place, t->message};
}
