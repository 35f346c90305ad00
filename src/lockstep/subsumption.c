#include "lockstep/subsumption.h"

#include "base/vec.h"

#include <string.h>

#define OLD_MOST 4096 /* bags are compared one by one: with more of them it does not pay off */
#define OLD_MOST_TREE 2000000

struct subsumption_node {
  uint32_t word;
  uint32_t child, sibling; /* 0: none */
  uint32_t item;           /* at a leaf: 1 + earlier task */
};

void subsumption_release(struct subsumption *c) {
  partial_products_release(&c->old);
  memory_free(c->layer);
  memory_free(c->node);
}

size_t subsumption_bytes(const struct subsumption *c) {
  return partial_products_bytes(&c->old) + c->layer_cap * sizeof *c->layer + c->node_cap * sizeof *c->node;
}

/* Is every element of a in b, at no higher cost? */
static bool list_within(const struct subsumption *c, uint32_t a, uint32_t b) {
  int64_t single[2] = {a, 0};
  const int64_t *pa = a & LIST ? intern_at(c->lists, a & ~LIST) : single;
  size_t na = a & LIST ? intern_length(c->lists, a & ~LIST) : 2;
  const int64_t *pb = intern_at(c->lists, b & ~LIST);
  size_t nb = intern_length(c->lists, b & ~LIST), k = 0;
  for (size_t i = 0; i < na; i += 2) {
    while (k < nb && pb[k] < pa[i])
      k += 2;
    if (k >= nb || pb[k] != pa[i] || pb[k + 1] > pa[i + 1])
      return false;
  }
  return true;
}

static bool word_within(const struct subsumption *c, uint32_t a, uint32_t b) {
  return a == b || ((b & LIST) && list_within(c, a, b));
}

/* Greedy search for an assignment of the processes of a to those of b; it may fail although one exists. */
static bool bag_within(struct subsumption *c, const uint32_t *a, uint32_t na, const uint32_t *b, uint32_t nb) {
  uint32_t left[64];
  uint32_t pairs = (nb - 1) / 2;
  if (pairs > 64)
    return false;
  for (uint32_t k = 0; k < pairs; k++)
    left[k] = b[2 + 2 * k];
  for (int exact = 1; exact >= 0; exact--)
    for (uint32_t i = 1; i < na; i += 2) {
      uint32_t need = a[i + 1];
      for (uint32_t k = 0; k < pairs && exact; k++)
        if (b[1 + 2 * k] == a[i]) {
          left[k] -= need < left[k] ? need : left[k];
        }
      if (exact)
        continue;
      for (uint32_t k = 0; k < pairs; k++)
        if (b[1 + 2 * k] == a[i])
          need -= need < b[2 + 2 * k] ? need : b[2 + 2 * k];
      for (uint32_t k = 0; k < pairs && need; k++)
        if (left[k] && b[1 + 2 * k] != a[i] && word_within(c, a[i], b[1 + 2 * k])) {
          uint32_t take = need < left[k] ? need : left[k];
          left[k] -= take;
          need -= take;
        }
      if (need)
        return false;
    }
  return true;
}

static bool is_cheaper(const struct subsumption *c, size_t old, const struct path_cost *path, uint32_t layer) {
  const struct path_cost *o = &c->old.items[old].path;
  return o->cost <= path->cost && (c->layer[old] < layer || o->fault_cost <= path->fault_cost);
}

/* --- vectors --- */

static bool tree_subsumes(struct subsumption *c, uint32_t node, const uint32_t *words, uint32_t length, uint32_t i,
                          const struct path_cost *path, uint32_t layer) {
  if (i == length)
    return is_cheaper(c, c->node[node].item - 1, path, layer);
  for (uint32_t child = c->node[node].child; child; child = c->node[child].sibling)
    if ((i == 0 ? c->node[child].word == words[0] : word_within(c, words[i], c->node[child].word)) &&
        tree_subsumes(c, child, words, length, i + 1, path, layer))
      return true;
  return false;
}

static uint32_t node_new(struct subsumption *c, uint32_t word, uint32_t sibling) {
  if (c->nodes == c->node_cap)
    c->node = vec_grow(c->node, &c->node_cap, c->nodes + 1, sizeof *c->node);
  c->node[c->nodes] = (struct subsumption_node){.word = word, .sibling = sibling};
  return (uint32_t)c->nodes++;
}

static void tree_add(struct subsumption *c, const uint32_t *words, uint32_t length, uint32_t item) {
  uint32_t node = 0;
  for (uint32_t i = 0; i < length; i++) {
    uint32_t child = c->node[node].child;
    while (child && c->node[child].word != words[i])
      child = c->node[child].sibling;
    if (!child) {
      child = node_new(c, words[i], c->node[node].child);
      c->node[node].child = child;
    }
    node = child;
  }
  c->node[node].item = item + 1;
}

/* --- vectors and bags --- */

static void old_add(struct subsumption *c, const uint32_t *words, uint32_t length, const struct path_cost *path,
                    uint32_t layer) {
  if (c->old.n >= c->layer_cap)
    c->layer = vec_grow(c->layer, &c->layer_cap, c->old.n + 1, sizeof *c->layer);
  c->layer[c->old.n] = layer;
  partial_products_append(&c->old, words, length, path);
}

static bool bag_subsumed(struct subsumption *c, const uint32_t *words, uint32_t length, const struct path_cost *path,
                         uint32_t layer) {
  for (size_t i = 0; i < c->old.n; i++) {
    const struct partial_product *p = &c->old.items[i];
    const uint32_t *old = c->old.words + p->at;
    if (old[0] == words[0] && is_cheaper(c, i, path, layer) && bag_within(c, words, length, old, p->length))
      return true;
  }
  return false;
}

bool subsumed_or_add(struct subsumption *c, const uint32_t *words, uint32_t length, const struct path_cost *path,
                     uint32_t layer) {
  if (c->bag) {
    if (bag_subsumed(c, words, length, path, layer))
      return true;
    if (c->old.n < OLD_MOST)
      old_add(c, words, length, path, layer);
    return false;
  }
  if (c->nodes == 0)
    node_new(c, 0, 0);
  if (tree_subsumes(c, 0, words, length, 0, path, layer))
    return true;
  if (c->old.n < OLD_MOST_TREE) {
    old_add(c, words, length, path, layer);
    tree_add(c, words, length, (uint32_t)c->old.n - 1);
  }
  return false;
}
