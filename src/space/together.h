/* Many states expanded together: what they have in common is multiplied out once. */
#ifndef RONDO_SPACE_TOGETHER_H
#define RONDO_SPACE_TOGETHER_H

#include "space/round_space.h"

struct together;

struct together *together_new(struct round_space *);
void together_begin(struct together *, emit_from_fn *, void *context); /* a new layer */
void together_free(struct together *);
/* From now on products belong to this state. */
void together_from(struct together *, const struct global *, uint64_t origin, uint32_t charge);
/* Takes the product of an expansion's menus as a task instead of multiplying it out. */
bool together_take(struct together *, struct expansion *);
void together_task(struct together *, const struct global *, const uint32_t *lists);
bool together_error(struct together *, const struct edge *);
/* Multiplies out all tasks so far. */
bool together_finish(struct together *);
size_t together_tasks(const struct together *);

#endif
