#ifndef RONDO_LOCKSTEP_HEARD_OF_COUNT_H
#define RONDO_LOCKSTEP_HEARD_OF_COUNT_H

#include "lockstep/lockstep.h"

bool heard_of_count(struct lockstep *, struct text *decimal);

#endif
