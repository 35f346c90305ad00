#include "interp/coverage.h"

#include "base/memory.h"

#include <string.h>

struct coverage *coverage_new(size_t source_length) {
  struct coverage *c = memory_alloc(sizeof *c);
  c->length = source_length + 1;
  c->at = memory_alloc(c->length);
  return c;
}

void coverage_clear(struct coverage *c) { memset((void *)c->at, 0, c->length); }

void coverage_free(struct coverage *c) {
  if (!c)
    return;
  memory_free((void *)c->at);
  memory_free(c);
}
