/* Partial results of a product: words (local states chosen so far, then the remaining lists) with the cheapest path to
   each. */
#ifndef RONDO_LOCKSTEP_PARTIAL_PRODUCTS_H
#define RONDO_LOCKSTEP_PARTIAL_PRODUCTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct path_cost { /* the path to a partial result */
  uint64_t origin;
  uint32_t fault_cost; /* of the origin and of this step so far, in the search's order */
  uint32_t cost;       /* lost messages so far that count against a limit, for this round or for the whole run */
  uint32_t lost;       /* those lost in this step */
  uint32_t processes;  /* processes that became faulty in this step */
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
size_t partial_products_bytes(const struct partial_products *);
/* append: does not look for equal words. add: keeps the cheaper of two paths to the same words. */
void partial_products_append(struct partial_products *, const uint32_t *words, uint32_t length,
                             const struct path_cost *);
void partial_products_add(struct partial_products *, const uint32_t *words, uint32_t length, const struct path_cost *);

#endif
