/* Operations on channel contents. Each operation on each content is computed once and cached. */
#ifndef RONDO_STEPS_CHANNEL_CONTENTS_H
#define RONDO_STEPS_CHANNEL_CONTENTS_H

#include "base/vec.h"
#include "steps/state_cells.h"

typedef uint32_t message_id; /* an interned message, including its kind */

#define CHANNEL_FULL (UINT32_MAX - 1) /* not a content: the channel would exceed its bound */

/* A message that can be taken or read; one entry for each occurrence in the channel. */
struct channel_receivable {
  message_id message_id;
  enum packet_place place;
  content taken; /* the content without it */
  content seen;  /* MP: the content with it marked SEEN */
};

struct channel_view { /* everything that can happen to a content */
  struct channel_receivable *receivable;
  uint32_t nreceivable;
  content *delivered; /* MP, M-MP: after one message in transit has arrived */
  uint32_t ndelivered;
  content *lost; /* after one message was lost */
  uint32_t nlost;
  uint32_t fresh; /* messages that are DELIVERED but not SEEN */
  uint32_t held;
};

struct channel_receive { /* one of the messages that can be taken */
  message_id message_id; /* NO_MESSAGE_ID: no more */
  content rest;          /* the content without it */
};
#define NO_MESSAGE_ID UINT32_MAX
struct channel_receives {      /* for the contents of one table */
  struct channel_receive **of; /* NULL: not computed yet */
  uint32_t n;
};

struct append_table { /* appending one message to the channels of one table */
  message_id message_id;
  uint32_t table;
  uint32_t cell; /* any channel of that table */
  content *to;   /* by content: the resulting content, or NOT_COMPUTED */
  uint32_t n;
};

struct channel_ops {
  struct state_cells *cells;
  struct arena arena;
  struct intern *message_ids;  /* [kind, message] */
  struct channel_view ***view; /* [table][content], NULL: not computed yet */
  uint32_t *nview;
  struct channel_receives *receives; /* by table */
  size_t receive_bytes;
  VEC(struct append_table *) append_tables;
  struct intern *append_table_of; /* [table, message_id] -> index in append_tables */
  VEC(struct channel_packet) packets;
  uint32_t most; /* the largest number of messages in a channel after a send, so far */
};

void channel_ops_init(struct channel_ops *, struct state_cells *);
void channel_ops_release(struct channel_ops *);
size_t channel_ops_bytes(const struct channel_ops *);

message_id message_id_put(struct channel_ops *, uint32_t kind, value message);
uint32_t message_id_kind(const struct channel_ops *, message_id);
value message_id_value(const struct channel_ops *, message_id);

const struct channel_view *channel_view_make(struct channel_ops *, uint32_t cell, content);
static inline const struct channel_view *channel_view(struct channel_ops *o, uint32_t cell, content c) {
  uint32_t table = o->cells->cell[cell].table;
  return c < o->nview[table] && o->view[table][c] ? o->view[table][c] : channel_view_make(o, cell, c);
}

/* Semantics M: the messages that can be taken, each listed once, in the order of the view. */
const struct channel_receive *channel_receives_of(struct channel_ops *, uint32_t cell, content);

struct append_table *append_table_of(struct channel_ops *, uint32_t cell, message_id);
__attribute__((cold)) content append_table_fill(struct channel_ops *, struct append_table *, content);
/* The content after the message is sent, or CHANNEL_FULL. */
static inline content channel_append(struct channel_ops *o, struct append_table *a, content c) {
  return c < a->n && a->to[c] != NOT_COMPUTED ? a->to[c] : append_table_fill(o, a, c);
}

/* Marks all delivered messages as SEEN. */
content channel_seen(struct channel_ops *, uint32_t cell, content);

#endif
