/* What a machine can do at best: a table of so many keys, into which keys are put that are new or not in the proportion
   of a model's states to its transitions. Keys come from a counter by mixing, and are compared whole; the table is as
   large as needed from the beginning, and lies on huge pages if there are any. usage: insert STATES TRANSITIONS 8|16
   (bytes a key) */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static inline uint64_t mix(uint64_t x) { /* splitmix64: a bijection, so that different numbers are different keys */
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/* The w words of a key, at the first place from its hash on that is free or holds it. Is it new? */
static inline int insert(uint64_t *table, uint64_t mask, const uint64_t *key, unsigned w) {
  for (uint64_t at = key[0] & mask;; at = (at + 1) & mask) {
    uint64_t *slot = table + at * w;
    if (!slot[0]) {
      memcpy(slot, key, w * sizeof *key);
      return 1;
    }
    if (slot[0] == key[0] && slot[w - 1] == key[w - 1])
      return 0;
  }
}

static uint64_t fill(uint64_t *table, uint64_t mask, uint64_t states, uint64_t transitions, unsigned w) {
  uint64_t stored = 0, begun = 0, due = 0;
  for (uint64_t i = 0; i < transitions; i++) {
    due += states;
    uint64_t name = begun;
    if (due >= transitions || !begun) {
      due -= due >= transitions ? transitions : due;
      begun++;
    } else
      name = (uint64_t)((unsigned __int128)mix(i) * begun >> 64); /* one of those before */
    uint64_t key[2] = {mix(name), mix(~name)}; /* no name is mixed to 0, but one that is never reached */
    stored += (uint64_t)insert(table, mask, key, w);
  }
  return stored;
}

int main(int argc, char **argv) {
  if (argc != 4)
    return 3;
  uint64_t states = strtoull(argv[1], NULL, 10), transitions = strtoull(argv[2], NULL, 10), slots = 1024;
  unsigned w = strtoul(argv[3], NULL, 10) == 16 ? 2 : 1;
  while (slots * 3 < states * 4)
    slots *= 2;
  size_t bytes = slots * w * sizeof(uint64_t);
  uint64_t *table = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (table == MAP_FAILED)
    return 2;
  (void)madvise(table, bytes, MADV_HUGEPAGE);
  uint64_t stored =
      w == 2 ? fill(table, slots - 1, states, transitions, 2) : fill(table, slots - 1, states, transitions, 1);
  printf("%llu\n", (unsigned long long)stored);
  return 0;
}
