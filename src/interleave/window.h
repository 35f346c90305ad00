/* Rows with their rounds made relative: moved so that the smallest that is still read is 1, or as near to it as residues
   allow; what has faded is 0. (model/round_window.h says what may be moved and what fades.) */
#ifndef RONDO_INTERLEAVE_WINDOW_H
#define RONDO_INTERLEAVE_WINDOW_H

#include "interleave/cells.h"

#define ROUND_FADED 0 /* in a row whose rounds are relative */

struct window;

struct window *window_new(struct cells *);
void window_free(struct window *);
size_t window_bytes(const struct window *);

struct round_move { /* what makes a row's rounds relative */
  value by;          /* added to every round */
  value fades;       /* those of fields that may fade do if they are smaller than this; INT64_MAX: all of them */
  uint32_t distance; /* how far the rounds that processes hold lie apart */
};
/* Do rounds of messages count for the smallest that is read? */
bool window_keeps_rounds(const struct window *);
struct round_move window_measure(struct window *, const content *row);
/* Does that content change? What it becomes; what a message becomes. */
bool window_moves(struct window *, uint32_t cell, content, const struct round_move *);
content window_moved(struct window *, uint32_t cell, content, const struct round_move *);
value window_message(struct window *, uint32_t kind, value message, const struct round_move *);

/* In place. Returns how far the rounds that processes hold lie apart. */
uint32_t window_form(struct window *, content *row);

#endif
