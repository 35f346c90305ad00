/* Scratch for the parts of one vector while it is made: on the stack while it is short. Private to src/model. */
#ifndef RONDO_MODEL_PARTS_BUFFER_H
#define RONDO_MODEL_PARTS_BUFFER_H

#include "base/memory.h"
#include "model/value.h"

struct parts_buffer {
  value few[32];
  value *at;
};

/* Room for n parts. */
static inline value *parts_init(struct parts_buffer *p, uint64_t n) {
  p->at = n <= sizeof p->few / sizeof *p->few ? p->few : memory_resize_array(NULL, memory_size(n), sizeof *p->at);
  return p->at;
}

/* The vector of the first n parts. The buffer is released. */
static inline value parts_finish(struct parts_buffer *p, struct values *values, size_t n) {
  value v = value_vector(values, p->at, n);
  if (p->at != p->few)
    memory_free(p->at);
  return v;
}

#endif
