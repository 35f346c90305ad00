/* Step models: shared by lower_channels.c and lower_steps.c. Private to src/export. */
#ifndef RONDO_EXPORT_LOWER_STEPS_H
#define RONDO_EXPORT_LOWER_STEPS_H

#include "export/lower.h"

struct route { /* messages of one kind from q to p; FIFO: one route for all kinds, with kind 0 */
  bool exists;
  uint32_t cell; /* the array; FIFO: the first variable of the queue */
};

struct channel_layout {
  struct model_lowering *l;
  uint32_t n;
  enum channel channel;
  uint32_t length;      /* FIFO: of a queue */
  bool overflows;       /* FIFO: unbounded in the model, bounded here, so it may overflow */
  struct route *routes; /* by kind, q, p */
  bool *carried;        /* by q, p, kind */
  uint64_t *codes;      /* by kind: number of different messages */
};

struct message_taking { /* a message that a process consumes or reads in a step */
  uint32_t sender;
  expr_id when, code, forged, kept;
};

struct action_lowering {
  struct channel_layout *s;
  uint32_t p;
  const struct action *action;
  struct message_taking *taken;
  uint32_t ntaken;
  struct sym_process after;
  struct sym_value **globals;
  /* channel contents, updated in order */
  expr_id *row; /* FIFO: new value by cell; NO_EXPR: unchanged */
};

struct route *route_of(struct channel_layout *, uint32_t kind, uint32_t q, uint32_t p);
const char *route_name(struct channel_layout *, uint32_t kind, uint32_t q, uint32_t p);
bool consumes(const struct action *);
/* Is a message with this code from q to p pending and receivable? */
expr_id pending(struct channel_layout *, uint32_t kind, uint32_t q, uint32_t p, expr_id code);
expr_id row_at(struct channel_layout *, const struct route *, uint32_t i); /* FIFO */
void counter_add(struct model_lowering *, uint32_t cell, expr_id when, expr_id index, int64_t by,
                 bool absorbed); /* bags and sets */

/* The effects of an action on channels, to be called in this order. out: by message in the outbox, whether it
   is sent. */
void consume(struct action_lowering *);
void require_channel_bound(struct action_lowering *, const expr_id *out);
void fail_on_overflow(struct action_lowering *, const expr_id *out);
void post_all(struct action_lowering *, const expr_id *out);
void change_rows(struct action_lowering *);

#endif
