#ifndef RONDO_SPACE_COUNT_H
#define RONDO_SPACE_COUNT_H

#include "space/round_space.h"

bool count_assignments(struct round_space *, struct text *decimal);

#endif
