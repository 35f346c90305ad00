/* Vectors of 64-bit numbers, each stored once and named by a small integer (0, 1, 2, ...).
   Names are private to a run. A name stays valid as long as the table; the vector's address does too.
   Several threads may use a table once it is shared: who finds a vector takes no lock, who adds one does. */
#ifndef RONDO_BASE_INTERN_H
#define RONDO_BASE_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INTERN_NONE UINT32_MAX

struct intern; /* opaque */

struct intern *intern_new(void);
void intern_free(struct intern *);
void intern_share(struct intern *);                                       /* before another thread gets to see it */
uint32_t intern_put(struct intern *, const int64_t *at, size_t n);        /* finds or adds */
uint32_t intern_find(const struct intern *, const int64_t *at, size_t n); /* INTERN_NONE if absent */
/* Where other processes use the same names: before a table names a vector it asks, and has it by intern_put_local when
   the answer is there. NULL: it gives names by itself. */
typedef void intern_resolve_fn(void *context, const int64_t *at, size_t n);
void intern_set_resolver(struct intern *, intern_resolve_fn *, void *context);
uint32_t intern_put_local(struct intern *, const int64_t *at, size_t n); /* like intern_put, but asks nobody */
const int64_t *intern_at(const struct intern *, uint32_t id);
size_t intern_length(const struct intern *, uint32_t id);
uint64_t intern_hash(const struct intern *, uint32_t id); /* of the numbers, as intern_put computed it */
size_t intern_count(const struct intern *);
size_t intern_bytes(const struct intern *);

#endif
