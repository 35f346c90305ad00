/* Expands many states together, so that common parts of their products are multiplied out once. */
#ifndef RONDO_LOCKSTEP_LAYER_PRODUCT_H
#define RONDO_LOCKSTEP_LAYER_PRODUCT_H

#include "lockstep/lockstep.h"

struct expansion;
struct layer_product;

struct layer_product *layer_product_new(struct lockstep *);
void layer_product_begin(struct layer_product *, emit_from_fn *, void *context); /* starts a new layer */
void layer_product_free(struct layer_product *);
size_t layer_product_bytes(const struct layer_product *);
/* Products that follow belong to this state. */
void layer_product_from(struct layer_product *, const struct unpacked_state *, uint64_t origin, uint32_t fault_cost);
/* Records the product of an expansion's outcome sets as a task instead of multiplying it out. */
bool layer_product_take(struct layer_product *, struct expansion *);
void layer_product_task(struct layer_product *, const struct unpacked_state *, const uint32_t *lists);
bool layer_product_error(struct layer_product *, const struct edge *);
/* Multiplies out all recorded tasks. */
bool layer_product_finish(struct layer_product *);
size_t layer_product_ntasks(const struct layer_product *);

#endif
