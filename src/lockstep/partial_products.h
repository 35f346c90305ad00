/* Partial results of a product: words (what is done, what is left) with the cheapest path to each. */
#ifndef RONDO_LOCKSTEP_PARTIAL_PRODUCTS_H
#define RONDO_LOCKSTEP_PARTIAL_PRODUCTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct path_cost { /* how a partial result came about */
  uint64_t origin;
  uint32_t fault_cost; /* of the origin and of this step so far, as the search compares them */
  uint32_t cost;       /* lost messages so far, as far as they are limited: in this round or in the whole run */
  uint32_t lost;       /* of them, in this step */
  uint32_t processes;  /* that became faulty in this step */
};

struct partial_product {
  size_t at; /* in words */
  uint32_t length;
  struct path_cost path;
};

struct partial_products {
  uint32_t *words;
  size_t nwords, words_cap;
  struct partial_product *items;
  size_t n, cap;
  uint32_t *index; /* 1 + item, open addressing */
  size_t index_cap;
};

void partial_products_clear(struct partial_products *);
void partial_products_release(struct partial_products *);
/* Adds, or keeps the cheaper of two ways to the same words. */
void partial_products_append(struct partial_products *, const uint32_t *words, uint32_t length,
                             const struct path_cost *); /* unchecked */
void partial_products_add(struct partial_products *, const uint32_t *words, uint32_t length, const struct path_cost *);

#endif
