/* Private to src/session: visited states of a lookahead as vectors. They leave out what neither the model, the
   environment nor the properties in question read, so that the search of an algorithm that does not terminate can be
   exhaustive. */
#ifndef RONDO_SESSION_STATE_KEYS_H
#define RONDO_SESSION_STATE_KEYS_H

#include "session/session_internal.h"

struct future_fields {
  bool rounds;          /* the model reads the number of completed rounds */
  uint32_t rounds_most; /* otherwise rounds are counted up to this number, for clauses 'from round' */
  bool phase;
  bool lost, corrupted, duplicated; /* a limit holds for the whole run */
};

/* read: formulas and expressions that states are asked for; NULL entries are ignored. */
struct future_fields future_fields_of(const struct session *, const struct node *const *read, uint32_t nread);

typedef VEC(int64_t) key_vec;

void local_key(const struct model *, const struct config *, uint32_t process, key_vec *); /* appends */
void config_key(const struct session *, const struct future_fields *, const struct config *, key_vec *);

#endif
