/* Rows with relative rounds: all rounds are shifted so that the smallest round that is still read becomes 1, or as
   close to 1 as residues allow. Obsolete rounds become 0. analysis/round_window.h defines which values may be shifted
   and which expire. */
#ifndef RONDO_STEPS_RELATIVE_ROUNDS_H
#define RONDO_STEPS_RELATIVE_ROUNDS_H

#include "steps/state_cells.h"

#define ROUND_OBSOLETE 0 /* in a row whose rounds are relative */

struct relative_rounds;

struct relative_rounds *relative_rounds_new(struct state_cells *);
void relative_rounds_free(struct relative_rounds *);
size_t relative_rounds_bytes(const struct relative_rounds *);

struct round_normalisation { /* how to make the rounds of a row relative */
  value by;                  /* added to every round */
  value expires;             /* fields that may expire do so if they are below this; INT64_MAX: all of them */
  uint32_t distance;         /* largest difference between rounds held by processes; UINT32_MAX: at least that */
};
/* `by` and `expires` as one number, for caches. False: they do not fit, so the result must not be cached. */
static inline bool round_normalisation_key(const struct round_normalisation *m, uint64_t *key) {
  *key = (uint64_t)(uint32_t)m->by << 32 | (m->expires == INT64_MAX ? UINT32_MAX : (uint32_t)m->expires);
  return m->by == (int32_t)m->by && (m->expires == INT64_MAX || (m->expires >= 0 && m->expires < UINT32_MAX));
}
/* Are rounds in messages included in the smallest round that is read? */
bool relative_rounds_of_messages(const struct relative_rounds *);
struct round_normalisation relative_rounds_measure(struct relative_rounds *, const content *row);
/* Whether the content changes; the content after the change; a message after the change. */
bool relative_rounds_change(struct relative_rounds *, uint32_t cell, content, const struct round_normalisation *);
content relative_rounds_shifted(struct relative_rounds *, uint32_t cell, content, const struct round_normalisation *);
value relative_rounds_message(struct relative_rounds *, uint32_t kind, value message,
                              const struct round_normalisation *);

/* In place. Returns the largest difference between rounds held by processes. */
uint32_t relative_rounds_normalise(struct relative_rounds *, content *row);

#endif
