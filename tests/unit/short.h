/* Less of the same, for every day: `tests/run-unit --short` sets RONDO_TEST_SHORT. A sanitized build is slow, and looks
   for mistakes that show in the first few trials: it does still less then. */
#ifndef RONDO_TESTS_SHORT_H
#define RONDO_TESTS_SHORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

static inline bool is_short(void) { return getenv("RONDO_TEST_SHORT") != NULL; }

static inline bool is_sanitized(void) {
#ifdef __SANITIZE_ADDRESS__
  return true;
#else
  return false;
#endif
}

/* How many, where `full` are tried in the long version. */
static inline uint32_t trials(uint32_t full) {
  return !is_short() ? full : is_sanitized() ? full / 16 + 1 : full / 4 + 1;
}

/* Of pairs, one in so many. */
static inline uint32_t one_in(void) { return is_short() && is_sanitized() ? 3 : 1; }

#endif
