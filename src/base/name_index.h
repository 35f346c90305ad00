/* Names numbered 0, 1, 2, ... in the order of addition, and found by hashing. A name may be added several times. The
   last names can be removed again, as at the end of a scope. */
#ifndef RONDO_BASE_NAME_INDEX_H
#define RONDO_BASE_NAME_INDEX_H

#include "base/vec.h"

#define NAME_NONE UINT32_MAX

struct name_entry {
  const char *name; /* borrowed */
  uint32_t hash;
  uint32_t before; /* 1 + the entry before it in the same bucket; 0: none */
};

struct name_index { /* {0} is empty */
  VEC(struct name_entry) entries;
  uint32_t *buckets; /* 1 + the last entry; 0: none */
  uint32_t nbuckets; /* a power of two */
};

uint32_t name_index_add(struct name_index *, const char *name); /* its number */
/* The number of the last entry with this name; NAME_NONE: there is none. */
uint32_t name_index_find(const struct name_index *, const char *name);
uint32_t name_index_before(const struct name_index *, uint32_t number); /* the entry before it with the same name */
void name_index_cut(struct name_index *, size_t n);                     /* keeps the first n */
void name_index_release(struct name_index *);

#endif
