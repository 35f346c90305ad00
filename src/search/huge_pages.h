/* Memory in large pieces: at random places, half of what a look-up costs is address translation, so these ask for huge
 * pages. */
#ifndef RONDO_SEARCH_HUGE_PAGES_H
#define RONDO_SEARCH_HUGE_PAGES_H

#include <stddef.h>

#define HUGE_PAGE ((size_t)1 << 21)

/* Zeros. Of HUGE_PAGE or more, a multiple of it. */
void *pages_alloc(size_t size);
void pages_free(void *, size_t size);
/* More of the same, both of HUGE_PAGE or more; nothing is copied, but it may lie elsewhere then. What was there stays,
 * zeros behind it. */
void *pages_grow(void *, size_t size, size_t to);
/* Zeros, of which most are never touched. */
void *sparse_alloc(size_t size);
void sparse_free(void *, size_t size);

#endif
