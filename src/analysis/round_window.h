/* Round numbers that grow without bound, of processes that take steps: may a state keep them relative to the smallest
   that is still read, and which of them only ever fall behind? From the text alone. (An & Pang 2010, section II, where
   both are done by hand.) Rounds that are copied, compared with each other and advanced do not change what can happen
   when all of them are moved by the same amount. A round number in a message may expire: it is only compared with
   variables that never go back, so once it is smaller than all of these it is older than whatever it will be compared
   with, and that is all that counts. */
#ifndef RONDO_ANALYSIS_ROUND_WINDOW_H
#define RONDO_ANALYSIS_ROUND_WINDOW_H

#include "analysis/type_usage.h"

struct round_window {
  bool any;            /* some variable or message holds round numbers */
  struct refusal why;  /* they may not be moved */
  int64_t modulus;     /* they may be moved by multiples of this */
  bool **anchor;       /* [role][variable]: a round that never goes back, with which messages are compared */
  bool *shared_anchor; /* by global: likewise */
  bool **expires;      /* [kind][field]: a round that is compared with anchors only */
  bool ***unread;      /* [kind][expiring field][field]: nobody reads this of a message whose round has expired */
};

struct round_window *round_window_of(const struct model *, const struct query *, struct arena *);

#endif
