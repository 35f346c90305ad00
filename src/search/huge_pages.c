#include "search/huge_pages.h"

#include "base/memory.h"

#ifdef __linux__
#include <stdint.h>
#include <sys/mman.h>

/* Calls the handler for running out of memory. */
static void *out_of_memory(void) { return memory_alloc(SIZE_MAX / 2); }

void *pages_alloc(size_t size) {
  if (size < HUGE_PAGE)
    return memory_alloc(size);
  uint8_t *at = mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED)
    return out_of_memory();
  size_t before = (HUGE_PAGE - (uintptr_t)at % HUGE_PAGE) % HUGE_PAGE;
  if (before)
    munmap(at, before);
  munmap(at + before + size, HUGE_PAGE - before);
  madvise(at + before, size, MADV_HUGEPAGE);
  return at + before;
}

void pages_free(void *at, size_t size) {
  if (size < HUGE_PAGE)
    memory_free(at);
  else
    munmap(at, size);
}

/* Keeps the alignment to huge pages, so that they need not be split. */
void *pages_grow(void *at, size_t size, size_t to) {
  void *more = pages_alloc(to);
  void *moved = mremap(at, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, more);
  return moved != MAP_FAILED ? moved : out_of_memory(); /* the mapping at `more` may be gone already */
}

void *sparse_alloc(size_t size) {
  void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at != MAP_FAILED ? at : out_of_memory();
}

void sparse_free(void *at, size_t size) { munmap(at, size); }

#else /* pages cannot be moved, so the contents are copied */
#include <string.h>

void *pages_alloc(size_t size) { return memory_alloc(size); }

void pages_free(void *at, size_t size) {
  (void)size;
  memory_free(at);
}

void *pages_grow(void *at, size_t size, size_t to) {
  char *more = memory_resize(at, to);
  memset(more + size, 0, to - size);
  return more;
}

void *sparse_alloc(size_t size) { return memory_alloc_aligned(64, (size + 63) / 64 * 64); }

void sparse_free(void *at, size_t size) { pages_free(at, size); }
#endif
