/* Telling points apart by what the row says about them: colours are refined until points of one colour are tied to the
   same number of points of each colour in the same ways. Nothing depends on numbers of points or names of contents. */
#include "interleave/canonical.h"

#include "base/hash.h"

#include <string.h>

/* --- what ties points together in the row --- */

static inline bool is_free(const struct canonical *k, uint32_t point) { return k->is_free[point]; }

/* Links that tie several points together come first. */
static inline void add_link(struct canonical *k, const struct watched *w, uint64_t shape, uint32_t first, uint32_t n,
                            bool part) {
  struct link l = {.shape = shape, .a = w->a, .b = w->b, .first = first, .n = n, .part = part};
  uint32_t tied = w->free;
  for (uint32_t i = 0; i < n && tied < 2; i++) {
    uint32_t x = k->mentions.at[first + i].point;
    tied += x != l.a && x != l.b && is_free(k, x);
  }
  vec_push(&k->links, l);
  if (tied < 2)
    return;
  struct link *front = &k->links.at[k->ntied++];
  k->links.at[k->links.n - 1] = *front;
  *front = l;
}

void links_gather(struct canonical *k) {
  vec_clear(&k->links);
  k->ntied = 0;
  for (const struct watched *w = k->watched, *end = w + k->nwatched; w < end; w++) {
    content c = k->row[w->cell];
    if (c == 0 && w->empties)
      continue;
    const struct view *v = view_at(k, w, c);
    if (w->a == NO_POINT && v->nmentions == 0)
      continue;
    add_link(k, w, v->shape ^ w->site, v->mentions, v->nmentions, false);
    for (uint32_t p = 0; p < v->nparts; p++) {
      const struct part *part = &k->parts.at[v->parts + p];
      add_link(k, w, part->shape ^ ~w->site, part->first, part->n, true);
    }
  }
}

/* --- partitions --- */

void partition_begin(const struct canonical *k, struct partition *p) {
  p->open = 0;
  for (uint32_t x = 0; x < k->npoints; x++) {
    p->at[x] = x;
    p->colour[x] = k->family_of[x] == NO_FAMILY ? x : k->families[k->family_of[x]].first;
    p->size[x] = 1; /* rings and plain families: nothing to split, but nobody is told from another yet */
  }
  for (uint32_t f = 0; f < k->nfamilies; f++)
    if (is_free(k, k->families[f].first)) {
      p->size[k->families[f].first] = k->families[f].count;
      p->open += k->families[f].count;
    }
}

void partition_copy(const struct canonical *k, struct partition *p, const struct partition *from) {
  memcpy(p->at, from->at, k->npoints * sizeof *p->at);
  memcpy(p->colour, from->colour, k->npoints * sizeof *p->colour);
  memcpy(p->size, from->size, k->npoints * sizeof *p->size);
  p->open = from->open;
}

void partition_single_out(struct partition *p, uint32_t point) {
  uint32_t colour = p->colour[point], size = p->size[colour];
  for (uint32_t i = colour; i < colour + size; i++) {
    if (p->at[i] == point) {
      p->at[i] = p->at[colour];
      p->at[colour] = point;
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

#define INSERTION_MOST 16 /* moves for each element, before the rest is merged instead */

static void merge_runs(struct keyed *at, struct keyed *spare, uint32_t n) {
  for (uint32_t width = 1; width < n; width *= 2) {
    for (uint32_t low = 0; low < n; low += 2 * width) {
      uint32_t mid = low + width < n ? low + width : n, high = low + 2 * width < n ? low + 2 * width : n;
      for (uint32_t i = low, j = mid, o = low; o < high; o++)
        spare[o] = j >= high || (i < mid && at[i].key <= at[j].key) ? at[i++] : at[j++];
    }
    memcpy(at, spare, n * sizeof *at);
  }
}

static void keyed_sort(struct keyed *at, struct keyed *spare, uint32_t n) {
  uint64_t moves = 0;
  for (uint32_t i = 1; i < n; i++) {
    struct keyed one = at[i];
    uint32_t j = i;
    for (; j > 0 && at[j - 1].key > one.key; j--)
      at[j] = at[j - 1];
    at[j] = one;
    moves += i - j;
    if (moves > (uint64_t)INSERTION_MOST * n) {
      merge_runs(at, spare, n);
      return;
    }
  }
}

/* Splits the class by what its points were fed; false: they were all fed the same. */
static bool split(struct canonical *k, struct partition *p, uint32_t colour) {
  uint32_t size = p->size[colour], *at = p->at + colour;
  bool differ = false;
  for (uint32_t i = 0; i < size; i++) {
    k->keyed[i] = (struct keyed){k->feed[at[i]], at[i]};
    differ |= k->keyed[i].key != k->keyed[0].key;
  }
  if (!differ)
    return false;
  keyed_sort(k->keyed, k->spare, size);
  for (uint32_t from = 0, to; from < size; from = to) {
    for (to = from; to < size && k->keyed[to].key == k->keyed[from].key; to++) {
      at[to] = k->keyed[to].at;
      p->colour[at[to]] = colour + from;
    }
    p->size[colour + from] = to - from;
    p->open -= to - from == 1;
  }
  return true;
}

static bool split_all(struct canonical *k, struct partition *p) {
  bool any = false;
  for (uint32_t f = 0; f < k->nfamilies; f++) {
    const struct family *family = &k->families[f];
    if (!is_free(k, family->first))
      continue;
    for (uint32_t c = family->first, next; c < family->first + family->count; c = next) {
      next = c + p->size[c];
      if (p->size[c] > 1)
        any |= split(k, p, c);
    }
  }
  return any;
}

/* --- refinement --- */

/* Is it the owner of the cell itself that is spoken of? */
static inline uint64_t oneself(const struct link *l, uint32_t point) {
  return (uint64_t)(point == l->a) << 32 | (uint64_t)(point == l->b) << 33;
}

static void feed_link(struct canonical *k, const struct partition *p, const struct link *l) {
  const struct mention *m = k->mentions.at + l->first;
  uint64_t all = l->shape, sum = 0;
  if (l->a != NO_POINT)
    all = hash_mix(all, p->colour[l->a] + 1);
  if (l->b != NO_POINT)
    all = hash_mix(all, (uint64_t)p->colour[l->b] + 1 + oneself(l, l->b));
  for (uint32_t i = 0; i < l->n; i++)
    sum += stir(m[i].tag, p->colour[m[i].point] + oneself(l, m[i].point));
  if (l->n)
    all = hash_mix(all, sum);
  if (l->a != NO_POINT)
    k->feed[l->a] += stir(all, 41);
  if (l->b != NO_POINT)
    k->feed[l->b] += stir(all, 43);
  for (uint32_t i = 0; i < l->n; i++)
    k->feed[m[i].point] += stir(all, hash_mix(m[i].tag, 47) + oneself(l, m[i].point));
}

void partition_refine(struct canonical *k, struct partition *p, bool fresh) {
  bool split_some = true;
  while (split_some && p->open) {
    memset(k->feed, 0, k->npoints * sizeof *k->feed);
    uint32_t n = fresh ? (uint32_t)k->links.n : k->ntied;
    for (uint32_t i = 0; i < n; i++)
      feed_link(k, p, &k->links.at[i]);
    split_some = split_all(k, p);
    fresh = false;
  }
}
