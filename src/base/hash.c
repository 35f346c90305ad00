#include "base/hash.h"

#include "base/memory.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t hash_bytes(const void *bytes, size_t n) { return XXH3_64bits(bytes, n); }

uint64_t hash_bytes_seeded(const void *bytes, size_t n, uint64_t seed) { return XXH3_64bits_withSeed(bytes, n, seed); }

void *hash_stream_new(void) {
  XXH3_state_t *state = XXH3_createState();
  if (!state)
    state = memory_alloc(SIZE_MAX / 2); /* calls the out-of-memory handler */
  XXH3_64bits_reset(state);
  return state;
}

void hash_stream_add(void *stream, const void *bytes, size_t n) { XXH3_64bits_update(stream, bytes, n); }

uint64_t hash_stream_end(void *stream) {
  uint64_t sum = XXH3_64bits_digest(stream);
  XXH3_freeState(stream);
  return sum;
}
