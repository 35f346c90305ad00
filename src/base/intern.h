/* Hash-consing of vectors of 64-bit numbers: each vector is stored once and named by a small integer (0, 1, 2, ...).
   Names are private to a run. Names and addresses of vectors stay valid as long as the table exists. Several threads
   may use a table once it is shared: look-ups take no lock, insertions do. */
#ifndef RONDO_BASE_INTERN_H
#define RONDO_BASE_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INTERN_NONE UINT32_MAX

struct intern; /* opaque */

struct intern *intern_new(void);
void intern_free(struct intern *);
void intern_share(struct intern *);                                /* call before another thread sees the table */
uint32_t intern_put(struct intern *, const int64_t *at, size_t n); /* finds or adds */
uint32_t intern_find(const struct intern *, const int64_t *at, size_t n); /* INTERN_NONE if absent */
/* For names shared with other processes: before a table assigns a name to a vector it calls the resolver, which adds
   the vector with intern_put_local. NULL: the table assigns names itself. */
typedef void intern_resolve_fn(void *context, const int64_t *at, size_t n);
void intern_set_resolver(struct intern *, intern_resolve_fn *, void *context);
uint32_t intern_put_local(struct intern *, const int64_t *at, size_t n); /* like intern_put, but without the resolver */
const int64_t *intern_at(const struct intern *, uint32_t id);
size_t intern_length(const struct intern *, uint32_t id);
uint64_t intern_hash(const struct intern *, uint32_t id); /* of the vector, as computed by intern_put */
size_t intern_count(const struct intern *);
size_t intern_bytes(const struct intern *);

#endif
