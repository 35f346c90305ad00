/* Rings: only the rotations are renamings, so one member's place says where all the others go. */
#include "interleave/canonical.h"

#include "base/hash.h"

#include <string.h>

void ring_place(struct partition *p, const struct family *f, uint32_t first) {
  for (uint32_t i = 0; i < f->count; i++) {
    uint32_t x = f->first + (first - f->first + i) % f->count;
    p->at[f->first + i] = x;
    p->colour[x] = f->first + i;
  }
}

static bool on_ring(const struct family *f, uint32_t point) {
  return point != NO_POINT && point >= f->first && point < f->first + f->count;
}

/* A point as `from`, a member of the ring, sees it: how far on, or of which colour. */
static uint64_t seen(const struct partition *p, const struct family *f, uint32_t from, uint32_t point) {
  if (!on_ring(f, point))
    return p->colour[point] + (UINT64_C(1) << 32);
  return from == NO_POINT ? 0 : 1 + (point + f->count - from) % f->count;
}

/* Feeds what the link says to the member whose cell it is in; if it is nobody's, to the members that it speaks of. */
static void feed_ring(struct canonical *k, const struct partition *p, const struct family *f, const struct link *l) {
  const struct mention *m = k->mentions.at + l->first;
  uint32_t from = on_ring(f, l->a) ? l->a : on_ring(f, l->b) ? l->b : NO_POINT;
  uint64_t all = l->shape, sum = 0;
  if (l->a != NO_POINT)
    all = hash_mix(all, seen(p, f, from, l->a));
  if (l->b != NO_POINT)
    all = hash_mix(all, seen(p, f, from, l->b));
  for (uint32_t i = 0; i < l->n; i++)
    sum += stir(m[i].tag, seen(p, f, from, m[i].point));
  all = hash_mix(all, sum);
  if (from != NO_POINT)
    k->feed[from] += stir(all, 53);
  for (uint32_t i = 0; i < l->n && from == NO_POINT; i++)
    if (on_ring(f, m[i].point))
      k->feed[m[i].point] += stir(all, m[i].tag);
}

static int compare_turns(const struct canonical *k, const struct family *f, uint32_t a, uint32_t b) {
  for (uint32_t i = 0; i < f->count; i++) {
    uint64_t x = k->feed[f->first + (a + i) % f->count], y = k->feed[f->first + (b + i) % f->count];
    if (x != y)
      return x < y ? -1 : 1;
  }
  return 0;
}

uint32_t ring_turns(struct canonical *k, const struct partition *p, struct family *f) {
  memset(k->feed + f->first, 0, f->count * sizeof *k->feed);
  for (size_t i = 0; i < k->links.n; i++)
    feed_ring(k, p, f, &k->links.at[i]);
  uint32_t n = 1;
  f->turns[0] = f->first;
  for (uint32_t i = 1; i < f->count; i++) {
    int order = compare_turns(k, f, i, f->turns[0] - f->first);
    if (order < 0)
      n = 0;
    if (order <= 0)
      f->turns[n++] = f->first + i;
  }
  return n;
}
