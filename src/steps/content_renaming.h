/* Contents and cells under a renaming of elements. */
#ifndef RONDO_STEPS_CONTENT_RENAMING_H
#define RONDO_STEPS_CONTENT_RENAMING_H

#include "steps/state_cells.h"

struct canonical;

/* The content after renaming its elements by `to`. */
content content_renamed(struct canonical *, uint32_t cell, content, const uint32_t *to);
/* The cell that the cell's content moves to. */
uint32_t cell_renamed(const struct canonical *, uint32_t cell, const uint32_t *to);

#endif
