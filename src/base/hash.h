/* Hashing, on xxHash. */
#ifndef RONDO_BASE_HASH_H
#define RONDO_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash_bytes(const void *bytes, size_t n);
uint64_t hash_bytes_seeded(const void *bytes, size_t n, uint64_t seed); /* different seeds give independent functions */
/* The same hash, computed piece by piece. */
void *hash_stream_new(void);
void hash_stream_add(void *, const void *bytes, size_t n);
uint64_t hash_stream_end(void *);

static inline uint64_t hash_mix(uint64_t h, uint64_t x) {
  h = (h ^ x) * 0x9E3779B97F4A7C15u;
  return h ^ (h >> 32);
}

#endif
