/* Steps: what lower_channels.c and lower_steps.c share. Internal to src/export. */
#ifndef RONDO_EXPORT_LOWER_STEPS_H
#define RONDO_EXPORT_LOWER_STEPS_H

#include "export/lower.h"

struct route { /* messages of a kind from q to p; FIFO: kind is 0, and all kinds share one */
  bool exists;
  uint32_t cell; /* of the array, or the first of the row */
};

struct steps {
  struct lowering *l;
  uint32_t n;
  enum channel channel;
  uint32_t length;       /* FIFO: of a row */
  bool overflows;        /* FIFO: because we said so */
  struct route *routes;  /* by kind, q, p */
  bool *carried;         /* by q, p, kind */
  uint64_t *codes;       /* by kind: how many messages */
};

struct taking { /* what a process takes or looks at in a step */
  uint32_t sender;
  wire when, code, forged, kept;
};

struct acting {
  struct steps *s;
  uint32_t p;
  const struct action *action;
  struct taking *taken;
  uint32_t ntaken;
  struct local_state after;
  struct symbol *globals;
  /* messages, changed in order */
  wire *row;           /* FIFO: by cell, what it has become; NO_WIRE: as it was */
};

struct route *route_of(struct steps *, uint32_t kind, uint32_t q, uint32_t p);
const char *route_name(struct steps *, uint32_t kind, uint32_t q, uint32_t p);
bool consumes(const struct action *);
/* Under way from q to p: is there a message with this code that may be taken? */
wire pending(struct steps *, uint32_t kind, uint32_t q, uint32_t p, wire code);
wire row_at(struct steps *, const struct route *, uint32_t i); /* FIFO */
void bump(struct lowering *, uint32_t cell, wire when, wire index, int64_t by, bool absorbed); /* bags and sets */

/* What an action does to channels, in this order. out: by message in the outbox, whether it is sent. */
void consume(struct acting *);
void keep_bound(struct acting *, const wire *out);
void check_room(struct acting *, const wire *out);
void post_all(struct acting *, const wire *out);
void change_rows(struct acting *);

#endif
