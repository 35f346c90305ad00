/* A file in which coordinators that take turns are chosen freely, and numbers of phases are ages. */
#ifndef RONDO_LANG_COORDINATOR_VIEW_H
#define RONDO_LANG_COORDINATOR_VIEW_H

#include "lang/ast.h"
#include "model/ages.h"

/* `P(ph)`, where ph is the number of the phase or of the pass of a `repeat`, becomes an oracle `each phase`, the last
   variable of the role, and every environment says that all agree on it. This allows more runs, because coordinators
   need not take turns.

   A variable of type `round` gets the type AGE_TYPE, and the number of the phase becomes AGE_THIS_PHASE, if it is only
   assigned and compared by == and !=. What the other values mean, and what may be done with them, is up to the reader
   (param/derive_ages.c).

   NULL: there is nothing to rewrite. Names in parentheses cannot be written in a file, so they never clash. */
#define COORDINATOR_ORACLE "(coordinator)"
struct ast *coordinator_view(const struct ast *file, struct arena *);

#endif
