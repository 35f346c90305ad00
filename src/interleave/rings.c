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

/* --- bare rings --- */

static bool is_bare(const struct canonical *k) {
  bool bare = k->nfamilies == 1 && k->families[0].ring;
  for (uint32_t i = 0; i < k->nwatched && bare; i++) {
    const struct watched *w = &k->watched[i];
    bare = !cell_may_mention(k, w->cell, &k->families[0]) &&
           (on_ring(&k->families[0], w->a) || on_ring(&k->families[0], w->b));
  }
  return bare;
}

static uint32_t site_of(struct canonical *k, const struct partition *p, const struct watched *w, uint32_t member) {
  struct bare_ring *bare = k->bare;
  struct ring_site site = {.table = w->table, .site = w->site};
  site.a = w->a == NO_POINT ? UINT64_MAX : seen(p, bare->family, member, w->a);
  site.b = w->b == NO_POINT ? UINT64_MAX : seen(p, bare->family, member, w->b);
  for (uint32_t i = 0; i < bare->nsites; i++) {
    const struct ring_site *other = &bare->sites[i];
    if (other->table == site.table && other->site == site.site && other->a == site.a && other->b == site.b)
      return i;
  }
  bare->sites[bare->nsites] = site;
  return bare->nsites++;
}

static void find_turns(struct canonical *k) {
  const struct family *f = k->bare->family;
  uint32_t *to = k->to;
  for (uint32_t x = 0; x < k->npoints; x++)
    to[x] = x;
  for (uint32_t turn = 0; turn < f->count; turn++) {
    for (uint32_t i = 0; i < f->count; i++)
      to[f->first + (turn + i) % f->count] = f->first + i;
    for (uint32_t i = 0; i < k->nwatched; i++)
      k->bare->to[turn * k->nwatched + i] = cell_renamed(k, k->watched[i].cell, to);
  }
}

void bare_ring_find(struct canonical *k) {
  struct partition p = {.at = k->members, .colour = k->spare_members, .size = k->heads};
  if (!is_bare(k))
    return;
  struct bare_ring *bare = k->bare = arena_alloc(&k->arena, sizeof *bare);
  const struct family *f = bare->family = &k->families[0];
  bare->sites = arena_array(&k->arena, k->nwatched + 1, sizeof *bare->sites);
  bare->site_of = arena_array(&k->arena, k->nwatched + 1, sizeof *bare->site_of);
  bare->member = arena_array(&k->arena, k->nwatched + 1, sizeof *bare->member);
  bare->to = arena_array(&k->arena, (size_t)f->count * k->nwatched + 1, sizeof *bare->to);
  bare->feed = arena_array(&k->arena, 2 * (size_t)f->count, sizeof *bare->feed);
  partition_begin(k, &p);
  for (uint32_t i = 0; i < k->nwatched; i++) {
    const struct watched *w = &k->watched[i];
    uint32_t member = on_ring(f, w->a) ? w->a : w->b;
    bare->member[i] = member - f->first;
    bare->site_of[i] = site_of(k, &p, w, member);
  }
  find_turns(k);
}

void bare_ring_release(struct canonical *k) {
  for (uint32_t i = 0; k->bare && i < k->bare->nsites; i++)
    memory_free(k->bare->sites[i].fed);
}

size_t bare_ring_bytes(const struct canonical *k) {
  size_t bytes = 0;
  for (uint32_t i = 0; k->bare && i < k->bare->nsites; i++)
    bytes += k->bare->sites[i].n * sizeof *k->bare->sites[i].fed;
  return bytes;
}

/* As feed_ring does. */
static uint64_t fed_make(struct canonical *k, struct ring_site *site, const struct watched *w, content c) {
  uint64_t all = view_at(k, w, c)->shape ^ w->site;
  if (site->a != UINT64_MAX)
    all = hash_mix(all, site->a);
  if (site->b != UINT64_MAX)
    all = hash_mix(all, site->b);
  if (c >= site->n) {
    uint32_t room = 2 * c + 16;
    site->fed = memory_resize_array(site->fed, room, sizeof *site->fed);
    memset(site->fed + site->n, 0, (room - site->n) * sizeof *site->fed);
    site->n = room;
  }
  return site->fed[c] = stir(hash_mix(all, 0), 53);
}

static void feed_members(struct canonical *k, const content *row) {
  struct bare_ring *bare = k->bare;
  uint32_t n = bare->family->count;
  memset(bare->feed, 0, n * sizeof *bare->feed);
  for (uint32_t i = 0; i < k->nwatched; i++) {
    const struct watched *w = &k->watched[i];
    struct ring_site *site = &bare->sites[bare->site_of[i]];
    content c = row[w->cell];
    if (c == 0 && w->empties)
      continue;
    uint64_t fed = c < site->n ? site->fed[c] : 0;
    bare->feed[bare->member[i]] += fed ? fed : fed_make(k, site, w, c);
  }
  memcpy(bare->feed + n, bare->feed, n * sizeof *bare->feed);
}

/* The turn that comes first; false: it is not the only one. */
static bool first_turn(const struct bare_ring *bare, uint32_t *turn) {
  const uint64_t *feed = bare->feed;
  uint32_t n = bare->family->count, best = 0;
  bool alone = true;
  for (uint32_t i = 1; i < n; i++) {
    uint32_t k = 0;
    while (k < n && feed[i + k] == feed[best + k])
      k++;
    if (k == n)
      alone = false;
    else if (feed[i + k] < feed[best + k]) {
      best = i;
      alone = true;
    }
  }
  *turn = best;
  return alone;
}

bool bare_ring_form(struct canonical *k, content *row, uint32_t *to) {
  const struct bare_ring *bare = k->bare;
  const struct family *f = bare->family;
  uint32_t turn;
  feed_members(k, row);
  if (!first_turn(bare, &turn))
    return false;
  for (uint32_t i = 0; i < f->count && to; i++)
    to[f->first + (turn + i) % f->count] = f->first + i;
  if (turn == 0)
    return true;
  const uint32_t *goes = bare->to + (size_t)turn * k->nwatched;
  for (uint32_t i = 0; i < k->nwatched; i++)
    k->leaf[goes[i]] = row[k->watched[i].cell];
  for (uint32_t i = 0; i < k->nwatched; i++)
    row[k->watched[i].cell] = k->leaf[k->watched[i].cell];
  return true;
}
