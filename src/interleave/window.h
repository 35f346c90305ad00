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

/* In place. Returns how far the rounds that processes hold lie apart. */
uint32_t window_form(struct window *, content *row);

#endif
