/* What can be done to the contents of channels: each operation on each content is computed once. */
#ifndef RONDO_INTERLEAVE_CHANNELS_H
#define RONDO_INTERLEAVE_CHANNELS_H

#include "base/vec.h"
#include "interleave/cells.h"

typedef uint32_t letter; /* a message with its kind, interned */

#define CHANNEL_FULL (UINT32_MAX - 1) /* not a content: it would hold more than the bound allows */

/* A message that can be taken or looked at, each once for every place it is in. */
struct offered {
  letter letter;
  enum packet_place place;
  content taken; /* what is left without it */
  content seen;  /* MP: the same with it SEEN */
};

struct channel_view { /* a content, looked at */
  struct offered *offered;
  uint32_t noffered;
  content *delivered; /* MP, M-MP: after one message in transit has arrived */
  uint32_t ndelivered;
  content *lost;      /* after one was lost */
  uint32_t nlost;
  uint32_t fresh;     /* messages DELIVERED and not SEEN */
  uint32_t held;
};

struct taking { /* one of the messages that can be taken, as the place DELIVERED has them */
  letter letter; /* NO_LETTER: no more */
  content rest;  /* what is left without it */
};
#define NO_LETTER UINT32_MAX
struct takings { /* of the contents of one table */
  struct taking **of; /* NULL: not looked at yet */
  uint32_t n;
};

struct appending { /* one message put into channels of one table */
  letter letter;
  uint32_t table;
  uint32_t cell;     /* any of that table */
  content *to;       /* by content: what becomes of it, NO_NAME_YET: not known */
  uint32_t n;
};

struct channel_ops {
  struct cells *cells;
  struct arena arena;
  struct intern *letters;      /* [kind, message] */
  struct channel_view ***view; /* [table][content], NULL: not looked at yet */
  uint32_t *nview;
  struct takings *takings;     /* by table */
  size_t taking_bytes;
  VEC(struct appending *) appendings;
  struct intern *appending_of; /* [table, letter] -> place in appendings */
  VEC(struct channel_packet) packets;
  uint32_t most;               /* messages that there were in a channel after one was sent */
};

void channel_ops_init(struct channel_ops *, struct cells *);
void channel_ops_release(struct channel_ops *);
size_t channel_ops_bytes(const struct channel_ops *);

letter letter_put(struct channel_ops *, uint32_t kind, value message);
uint32_t letter_kind(const struct channel_ops *, letter);
value letter_message(const struct channel_ops *, letter);

const struct channel_view *channel_view_make(struct channel_ops *, uint32_t cell, content);
static inline const struct channel_view *channel_view(struct channel_ops *o, uint32_t cell, content c) {
  uint32_t table = o->cells->cell[cell].table;
  return c < o->nview[table] && o->view[table][c] ? o->view[table][c] : channel_view_make(o, cell, c);
}

/* Where messages are only ever taken (M): which, each once, in the order in which a view offers them. */
const struct taking *channel_takings(struct channel_ops *, uint32_t cell, content);

struct appending *appending_of(struct channel_ops *, uint32_t cell, letter);
__attribute__((cold)) content appending_make(struct channel_ops *, struct appending *, content);
/* The content after the message was sent, or CHANNEL_FULL. */
static inline content channel_append(struct channel_ops *o, struct appending *a, content c) {
  return c < a->n && a->to[c] != NO_NAME_YET ? a->to[c] : appending_make(o, a, c);
}

/* All that was delivered is SEEN. */
content channel_seen(struct channel_ops *, uint32_t cell, content);
/* Content without its i-th packet. */
content channel_without(struct channel_ops *, uint32_t cell, content, uint32_t i);

#endif
