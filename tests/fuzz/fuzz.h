/* Harnesses for libFuzzer. Each takes any bytes; a crash, a sanitizer's report or a failed `must` is a finding. With
   clang and -DRONDO_FUZZ=ON they are linked with libFuzzer (`make fuzz`), elsewhere with standalone.c. */
#ifndef RONDO_TESTS_FUZZ_H
#define RONDO_TESTS_FUZZ_H

#include "rondo.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static inline void fuzz_must(bool holds, const char *what) {
  if (holds)
    return;
  fprintf(stderr, "fuzz: %s\n", what);
  abort();
}

/* Every answer is one of those that are documented, and a fault of rondo is none. */
static inline void fuzz_status(rondo_status status) {
  fuzz_must(status == RONDO_HOLDS || status == RONDO_VIOLATED || status == RONDO_INCONCLUSIVE ||
                status == RONDO_BAD_INPUT,
            "an exit status that means a fault of rondo");
}

#endif
