/* States of step models, as vectors of small integers. A state is a row of cells: one for the local state of each
   process, one for each channel that can ever hold a message, one for each global, and a few more. A cell holds the
   name of its interned content. Names are private to a run; two names of a table are equal exactly if the contents are.
   Processes of one role share a table, and so do channels that renamings may exchange. */
#ifndef RONDO_STEPS_STATE_CELLS_H
#define RONDO_STEPS_STATE_CELLS_H

#include "base/intern.h"
#include "interp/action.h"
#include "system/initial_set.h"
#include "system/local_state.h"
#include "system/query_formulas.h"
#include "system/system.h"

typedef uint32_t content; /* the name of an interned content */

enum cell_kind {
  /* of process a: status, variables, then the initial values if cells->initials is INITIALS_EACH, else zeros */
  CELL_LOCAL,
  CELL_CHANNEL,  /* from process a to process b: a sequence of packets */
  CELL_GLOBAL,   /* model->globals[a]: inputs, shared variables, ghosts */
  CELL_BUDGET,   /* lost, duplicated: faults charged so far, if a clause limits them for the whole run */
  CELL_INITIALS, /* INITIALS_SET: the set of initial values of processes (system/initial_set.h) */
  CELL_ORDER     /* message-order off: the senders of the messages pending at process a, in the order of sending, as
                    identities. Channels are then kept in the order of sending */
};

struct state_cell {
  enum cell_kind kind;
  uint32_t a, b;
  uint32_t table; /* the one of cells->tables that holds its contents */
};

#define NO_CELL UINT32_MAX
#define NOT_COMPUTED UINT32_MAX

struct state_cells {
  struct interpreter *interp;
  struct model *model;
  const struct query *query;
  const struct licences *licences;
  struct arena arena;
  struct state_cell *cell;
  uint32_t ncells;       /* processes come first: cell p is the local state of process p */
  uint32_t *channel;     /* [from * nprocesses + to]: its cell; NO_CELL: nothing is ever sent there */
  uint32_t *global;      /* by global: its cell */
  uint32_t budget;       /* or NO_CELL */
  uint32_t initials_set; /* or NO_CELL */
  uint32_t *order;       /* by process: its CELL_ORDER, or NO_CELL */
  enum initials_kept initials;
  enum channel channels;
  int64_t bound;                   /* maximum number of pending messages in a channel; 0: unbounded */
  bool in_order;                   /* channels are kept in the order of sending: FIFO, or message-order off */
  bool arrivals;                   /* message-order off */
  bool keep_lost, keep_duplicated; /* whether the budget includes them */
  struct intern **tables;
  uint32_t ntables;
  bool borrowed; /* the tables are shared with and owned by another thread */
};

/* A decoded channel content: sorted as in struct config (packet_compare), or in the order of sending if in_order. */
struct channel_packet {
  enum packet_place place;
  uint32_t kind;
  value message;
};

void state_cells_init(struct state_cells *, struct interpreter *, struct model *, const struct query *,
                      const struct licences *);
void state_cells_share(struct state_cells *, struct state_cells *first); /* uses the tables of `first` */
void state_cells_release(struct state_cells *);
size_t state_cells_bytes(const struct state_cells *);

/* Contents. CELL_LOCAL and CELL_GLOBAL: value vectors as in a config (globals: one value), except that a dead variable
   of a local state may be VALUE_DONT_CARE, which no renaming changes. CELL_CHANNEL: place, kind and message of each
   packet. Content 0 of a channel or an order is the empty one. */
const value *content_values(const struct state_cells *, uint32_t cell, content, uint32_t *n);
content content_put(struct state_cells *, uint32_t cell, const value *, uint32_t n);
uint32_t channel_decode(const struct state_cells *, uint32_t cell, content, struct channel_packet *, uint32_t room);
/* sorts; removes duplicates where channels are sets */
content channel_encode(struct state_cells *, uint32_t cell, struct channel_packet *, uint32_t n);

/* For tables and rows that come from outside. Are all contents of the tables what they should be? Then: is the row a
   state? Its names must be those of contents. */
bool state_cells_are_sound(const struct state_cells *);
bool row_is_sound(const struct state_cells *, const content *row);

content budget_put(struct state_cells *, int64_t lost, int64_t duplicated);

void state_cells_from_config(struct state_cells *, const struct config *, content *row);
struct config *state_cells_to_config(struct state_cells *, const content *row);

/* step_canonical.c: replaces the row by the least row among all renamings that the licences allow (processes of
   symmetric roles, rotations of rings, values of the unordered type). The form is exact: two rows have the same
   canonical form exactly if such a renaming maps one to the other. `to` (by process) and `value_to` (by index in
   licences->value_type) receive the renaming; both may be NULL. */
struct canonical;
struct canonical *canonical_new(struct state_cells *);
void canonical_free(struct canonical *);
void canonical_form(struct canonical *, content *row, uint32_t *to, uint32_t *value_to);
/* Applies the same renaming to any row. */
void canonical_rename(struct canonical *, content *row, const uint32_t *to, const uint32_t *value_to);
size_t canonical_bytes(const struct canonical *);

#endif
