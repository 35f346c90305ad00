/* Partial results of a product: words (what is done, what is left) with the cheapest way to each. */
#ifndef RONDO_SPACE_PARTIALS_H
#define RONDO_SPACE_PARTIALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct way { /* how a partial result came about */
  uint64_t origin;
  uint32_t charge;    /* of the origin and of this step so far, as the search compares them */
  uint32_t cost;      /* lost messages so far, as far as they are limited: in this round or in the whole run */
  uint32_t lost;      /* of them, in this step */
  uint32_t processes; /* that became faulty in this step */
};

struct partial {
  size_t at; /* in words */
  uint32_t length;
  struct way way;
};

struct partials {
  uint32_t *words;
  size_t nwords, words_cap;
  struct partial *items;
  size_t n, cap;
  uint32_t *index; /* 1 + item, open addressing */
  size_t index_cap;
};

void partials_clear(struct partials *);
void partials_release(struct partials *);
/* Adds, or keeps the cheaper of two ways to the same words. */
void partials_append(struct partials *, const uint32_t *words, uint32_t length, const struct way *); /* unchecked */
void partials_add(struct partials *, const uint32_t *words, uint32_t length, const struct way *);

#endif
