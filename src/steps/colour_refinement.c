/* Colour refinement: elements are distinguished by the contents of the row that mention them. Colours are refined until
   elements of one colour are related in the same ways to the same number of elements of each colour. The result depends
   neither on the numbers of elements nor on the names of contents. */
#include "steps/colour_refinement.h"

#include "base/hash.h"
#include "steps/indices_sort.h"
#include "steps/occurrences.h"
#include "steps/scalarsets.h"
#include "steps/step_canonical_internal.h"

#include <string.h>

/* --- the hyperedges of a row --- */

static inline bool is_free(const struct canonical *k, uint32_t element) { return k->is_free[element]; }

/* Hyperedges that relate several elements come first. */
static inline void add_hyperedge(struct canonical *k, const struct affected_cell *w, uint64_t shape, uint32_t first,
                                 uint32_t n, bool part) {
  struct hyperedge l = {.shape = shape, .a = w->a, .b = w->b, .first = first, .n = n, .part = part};
  uint32_t tied = w->free;
  for (uint32_t i = 0; i < n && tied < 2; i++) {
    uint32_t x = k->contents.occurrences.at[first + i].element;
    tied += x != l.a && x != l.b && is_free(k, x);
  }
  vec_push(&k->refinement.hyperedges, l);
  if (tied < 2)
    return;
  struct hyperedge *front = &k->refinement.hyperedges.at[k->refinement.nbinding++];
  k->refinement.hyperedges.at[k->refinement.hyperedges.n - 1] = *front;
  *front = l;
}

void hyperedges_collect(struct canonical *k) {
  vec_clear(&k->refinement.hyperedges);
  k->refinement.nbinding = 0;
  for (const struct affected_cell *w = k->affected, *end = w + k->naffected; w < end; w++) {
    content c = k->search.row[w->cell];
    if (c == 0 && w->empties)
      continue;
    const struct content_view *v = content_view_at(k, w, c);
    if (w->a == NO_ELEMENT && v->noccurrences == 0)
      continue;
    add_hyperedge(k, w, v->shape ^ w->site, v->occurrences, v->noccurrences, false);
    for (uint32_t p = 0; p < v->nparts; p++) {
      const struct content_part *part = &k->contents.parts.at[v->parts + p];
      add_hyperedge(k, w, part->shape ^ ~w->site, part->first, part->n, true);
    }
  }
}

/* --- partitions --- */

void partition_begin(const struct canonical *k, struct partition *p) {
  p->open = 0;
  for (uint32_t x = 0; x < k->nelements; x++) {
    p->at[x] = x;
    p->colour[x] = k->scalarset_of[x] == NO_SCALARSET ? x : k->scalarsets[k->scalarset_of[x]].first;
    p->size[x] = 1; /* rings and plain scalarsets are not refined, but their members still share a colour */
  }
  for (uint32_t f = 0; f < k->nscalarsets; f++)
    if (is_free(k, k->scalarsets[f].first)) {
      p->size[k->scalarsets[f].first] = k->scalarsets[f].count;
      p->open += k->scalarsets[f].count;
    }
}

void partition_copy(const struct canonical *k, struct partition *p, const struct partition *from) {
  memcpy(p->at, from->at, k->nelements * sizeof *p->at);
  memcpy(p->colour, from->colour, k->nelements * sizeof *p->colour);
  memcpy(p->size, from->size, k->nelements * sizeof *p->size);
  p->open = from->open;
}

void partition_single_out(struct partition *p, uint32_t element) {
  uint32_t colour = p->colour[element], size = p->size[colour];
  for (uint32_t i = colour; i < colour + size; i++) {
    if (p->at[i] == element) {
      p->at[i] = p->at[colour];
      p->at[colour] = element;
    }
  }
  for (uint32_t i = colour + 1; i < colour + size; i++)
    p->colour[p->at[i]] = colour + 1;
  p->size[colour] = 1;
  p->size[colour + 1] = size - 1;
  p->open -= size == 2 ? 2 : 1;
}

void partition_cut(struct partition *p, uint32_t colour) {
  uint32_t size = p->size[colour];
  for (uint32_t i = colour; i < colour + size; i++) {
    p->colour[p->at[i]] = i;
    p->size[i] = 1;
  }
  p->open -= size;
}

static inline bool signature_after(void *context, uint32_t x, uint32_t y) {
  const uint64_t *signature = context;
  return signature[x] > signature[y];
}

/* Splits the class by the signatures of its elements. False: they are all equal. */
static bool split(struct canonical *k, struct partition *p, uint32_t colour) {
  uint32_t size = p->size[colour], *at = p->at + colour;
  bool differ = false;
  for (uint32_t i = 1; i < size; i++)
    differ |= k->refinement.signature[at[i]] != k->refinement.signature[at[0]];
  if (!differ)
    return false;
  indices_sort(at, k->refinement.spare, size, signature_after, k->refinement.signature);
  for (uint32_t from = 0, to; from < size; from = to) {
    for (to = from; to < size && k->refinement.signature[at[to]] == k->refinement.signature[at[from]]; to++)
      p->colour[at[to]] = colour + from;
    p->size[colour + from] = to - from;
    p->open -= to - from == 1;
  }
  return true;
}

static bool split_all(struct canonical *k, struct partition *p) {
  bool any = false;
  for (uint32_t f = 0; f < k->nscalarsets; f++) {
    const struct element_scalarset *scalarset = &k->scalarsets[f];
    if (!is_free(k, scalarset->first))
      continue;
    for (uint32_t c = scalarset->first, next; c < scalarset->first + scalarset->count; c = next) {
      next = c + p->size[c];
      if (p->size[c] > 1)
        any |= split(k, p, c);
    }
  }
  return any;
}

/* --- refinement --- */

/* Is the element one of the owners of the cell? */
static inline uint64_t owner_bits(const struct hyperedge *l, uint32_t element) {
  return (uint64_t)(element == l->a) << 32 | (uint64_t)(element == l->b) << 33;
}

static void hash_hyperedge(struct canonical *k, const struct partition *p, const struct hyperedge *l) {
  const struct occurrence *m = l->n > 0 ? k->contents.occurrences.at + l->first : NULL;
  uint64_t all = l->shape, sum = 0;
  if (l->a != NO_ELEMENT)
    all = hash_mix(all, p->colour[l->a] + 1);
  if (l->b != NO_ELEMENT)
    all = hash_mix(all, (uint64_t)p->colour[l->b] + 1 + owner_bits(l, l->b));
  for (uint32_t i = 0; i < l->n; i++)
    sum += hash_scramble(m[i].tag, p->colour[m[i].element] + owner_bits(l, m[i].element));
  if (l->n)
    all = hash_mix(all, sum);
  if (l->a != NO_ELEMENT)
    k->refinement.signature[l->a] += hash_scramble(all, 41);
  if (l->b != NO_ELEMENT)
    k->refinement.signature[l->b] += hash_scramble(all, 43);
  for (uint32_t i = 0; i < l->n; i++)
    k->refinement.signature[m[i].element] += hash_scramble(all, hash_mix(m[i].tag, 47) + owner_bits(l, m[i].element));
}

void partition_refine(struct canonical *k, struct partition *p, bool fresh) {
  bool split_some = true;
  while (split_some && p->open) {
    memset(k->refinement.signature, 0, k->nelements * sizeof *k->refinement.signature);
    uint32_t n = fresh ? (uint32_t)k->refinement.hyperedges.n : k->refinement.nbinding;
    for (uint32_t i = 0; i < n; i++)
      hash_hyperedge(k, p, &k->refinement.hyperedges.at[i]);
    split_some = split_all(k, p);
    fresh = false;
  }
}
