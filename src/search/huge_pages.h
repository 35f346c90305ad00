/* Large allocations. Half the cost of a random look-up is address translation, so these request huge pages. */
#ifndef RONDO_SEARCH_HUGE_PAGES_H
#define RONDO_SEARCH_HUGE_PAGES_H

#include <stddef.h>

#define HUGE_PAGE ((size_t)1 << 21)

/* Zeroed. A size of HUGE_PAGE or more must be a multiple of it. */
void *pages_alloc(size_t size);
void pages_free(void *, size_t size);
/* Enlarges an allocation; both sizes must be HUGE_PAGE or more. Contents are not copied, but the address may change.
   The added memory is zeroed. */
void *pages_grow(void *, size_t size, size_t to);
/* Zeroed; for memory of which most is never touched. */
void *sparse_alloc(size_t size);
void sparse_free(void *, size_t size);

#endif
