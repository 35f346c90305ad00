/* Rows with relative rounds: shifted so that the smallest round that is still read is 1, or as near to it as residues
   allow; obsolete rounds are 0. (analysis/round_window.h says what may be shifted and what expires.) */
#ifndef RONDO_STEPS_RELATIVE_ROUNDS_H
#define RONDO_STEPS_RELATIVE_ROUNDS_H

#include "steps/state_cells.h"

#define ROUND_OBSOLETE 0 /* in a row whose rounds are relative */

struct relative_rounds;

struct relative_rounds *relative_rounds_new(struct state_cells *);
void relative_rounds_free(struct relative_rounds *);
size_t relative_rounds_bytes(const struct relative_rounds *);

struct round_normalisation { /* what makes a row's rounds relative */
  value by;                  /* added to every round */
  value expires;             /* fields that may expire do so if they are smaller than this; INT64_MAX: all of them */
  uint32_t distance;         /* how far the rounds that processes hold lie apart; UINT32_MAX: as far, or farther */
};
/* `by` and `expires` as one number, for caches. False: they do not fit, and nothing may be cached. */
static inline bool round_normalisation_key(const struct round_normalisation *m, uint64_t *key) {
  *key = (uint64_t)(uint32_t)m->by << 32 | (m->expires == INT64_MAX ? UINT32_MAX : (uint32_t)m->expires);
  return m->by == (int32_t)m->by && (m->expires == INT64_MAX || (m->expires >= 0 && m->expires < UINT32_MAX));
}
/* Do rounds of messages count for the smallest that is read? */
bool relative_rounds_of_messages(const struct relative_rounds *);
struct round_normalisation relative_rounds_measure(struct relative_rounds *, const content *row);
/* Does that content change? What it becomes; what a message becomes. */
bool relative_rounds_change(struct relative_rounds *, uint32_t cell, content, const struct round_normalisation *);
content relative_rounds_shifted(struct relative_rounds *, uint32_t cell, content, const struct round_normalisation *);
value relative_rounds_message(struct relative_rounds *, uint32_t kind, value message,
                              const struct round_normalisation *);

/* In place. Returns how far the rounds that processes hold lie apart. */
uint32_t relative_rounds_normalise(struct relative_rounds *, content *row);

#endif
