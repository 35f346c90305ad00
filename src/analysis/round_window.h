/* Unbounded round numbers of models of steps (An, Pang 2010, section II, where this is done by hand): may a state store
   them relative to the smallest that is still read, and which of them become obsolete? From the text alone. If rounds
   are only copied, compared with each other and advanced, adding the same amount to all of them changes nothing else. A
   round number in a message expires if it is only compared with variables that never decrease (anchors): once it is
   smaller than all of these, the result of every comparison is known. */
#ifndef RONDO_ANALYSIS_ROUND_WINDOW_H
#define RONDO_ANALYSIS_ROUND_WINDOW_H

#include "analysis/type_usage.h"

struct round_window {
  bool any;            /* some variable or message holds round numbers */
  struct refusal why;  /* why they may not be shifted */
  int64_t modulus;     /* they may be shifted by multiples of this */
  bool **anchor;       /* [role][variable]: a round that never decreases */
  bool *shared_anchor; /* by global: likewise */
  bool **expires;      /* [kind][field]: a round that is compared with anchors only */
  bool ***unread;      /* [kind][expiring field][field]: no longer read once that round has expired */
};

struct round_window *round_window_of(const struct model *, const struct query *, struct arena *);

#endif
