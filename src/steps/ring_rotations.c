/* Rings: rotations are the only renamings, so the position of one member determines the positions of all. */
#include "steps/ring_rotations.h"

#include "base/hash.h"
#include "steps/colour_refinement.h"
#include "steps/content_renaming.h"
#include "steps/indices_sort.h"
#include "steps/occurrences.h"
#include "steps/scalarsets.h"
#include "steps/step_canonical_internal.h"

#include <string.h>

void ring_place(struct partition *p, const struct element_scalarset *f, uint32_t first) {
  for (uint32_t i = 0; i < f->count; i++) {
    uint32_t x = f->first + (first - f->first + i) % f->count;
    p->at[f->first + i] = x;
    p->colour[x] = f->first + i;
  }
}

static bool on_ring(const struct element_scalarset *f, uint32_t element) {
  return element != NO_ELEMENT && element >= f->first && element < f->first + f->count;
}

/* An element as seen from `from`, a member of the ring: its distance along the ring, or its colour. */
static uint64_t seen(const struct partition *p, const struct element_scalarset *f, uint32_t from, uint32_t element) {
  if (!on_ring(f, element))
    return p->colour[element] + (UINT64_C(1) << 32);
  return from == NO_ELEMENT ? 0 : 1 + (element + f->count - from) % f->count;
}

/* Adds the hyperedge to the signature of the member that owns its cell. If no member owns it, adds it to the signatures
   of the members that it mentions. */
static void hash_ring(struct canonical *k, const struct partition *p, const struct element_scalarset *f,
                      const struct hyperedge *l) {
  const struct occurrence *m = l->n > 0 ? k->contents.occurrences.at + l->first : NULL;
  uint32_t from = on_ring(f, l->a) ? l->a : on_ring(f, l->b) ? l->b : NO_ELEMENT;
  uint64_t all = l->shape, sum = 0;
  if (l->a != NO_ELEMENT)
    all = hash_mix(all, seen(p, f, from, l->a));
  if (l->b != NO_ELEMENT)
    all = hash_mix(all, seen(p, f, from, l->b));
  for (uint32_t i = 0; i < l->n; i++)
    sum += hash_scramble(m[i].tag, seen(p, f, from, m[i].element));
  all = hash_mix(all, sum);
  if (from != NO_ELEMENT)
    k->refinement.signature[from] += hash_scramble(all, 53);
  for (uint32_t i = 0; i < l->n && from == NO_ELEMENT; i++)
    if (on_ring(f, m[i].element))
      k->refinement.signature[m[i].element] += hash_scramble(all, m[i].tag);
}

static int compare_rotations(const struct canonical *k, const struct element_scalarset *f, uint32_t a, uint32_t b) {
  for (uint32_t i = 0; i < f->count; i++) {
    uint64_t x = k->refinement.signature[f->first + (a + i) % f->count],
             y = k->refinement.signature[f->first + (b + i) % f->count];
    if (x != y)
      return x < y ? -1 : 1;
  }
  return 0;
}

uint32_t find_ring_rotations(struct canonical *k, const struct partition *p, struct element_scalarset *f) {
  memset(k->refinement.signature + f->first, 0, f->count * sizeof *k->refinement.signature);
  for (size_t i = 0; i < k->refinement.hyperedges.n; i++)
    hash_ring(k, p, f, &k->refinement.hyperedges.at[i]);
  uint32_t n = 1;
  f->rotations[0] = f->first;
  for (uint32_t i = 1; i < f->count; i++) {
    int order = compare_rotations(k, f, i, f->rotations[0] - f->first);
    if (order < 0)
      n = 0;
    if (order <= 0)
      f->rotations[n++] = f->first + i;
  }
  return n;
}

/* --- bare rings --- */

static bool is_bare(const struct canonical *k) {
  bool bare = k->nscalarsets == 1 && k->scalarsets[0].ring;
  for (uint32_t i = 0; i < k->naffected && bare; i++) {
    const struct affected_cell *w = &k->affected[i];
    bare = !cell_may_contain(k, w->cell, &k->scalarsets[0]) &&
           (on_ring(&k->scalarsets[0], w->a) || on_ring(&k->scalarsets[0], w->b));
  }
  return bare;
}

static uint32_t site_of(struct canonical *k, const struct partition *p, const struct affected_cell *w,
                        uint32_t member) {
  struct bare_ring *bare = k->bare;
  struct ring_site site = {.table = w->table, .site = w->site};
  site.a = w->a == NO_ELEMENT ? UINT64_MAX : seen(p, bare->scalarset, member, w->a);
  site.b = w->b == NO_ELEMENT ? UINT64_MAX : seen(p, bare->scalarset, member, w->b);
  for (uint32_t i = 0; i < bare->nsites; i++) {
    const struct ring_site *other = &bare->sites[i];
    if (other->table == site.table && other->site == site.site && other->a == site.a && other->b == site.b)
      return i;
  }
  bare->sites[bare->nsites] = site;
  return bare->nsites++;
}

static void find_rotation_targets(struct canonical *k) {
  const struct element_scalarset *f = k->bare->scalarset;
  uint32_t *to = k->search.to;
  for (uint32_t x = 0; x < k->nelements; x++)
    to[x] = x;
  for (uint32_t rotation = 0; rotation < f->count; rotation++) {
    for (uint32_t i = 0; i < f->count; i++)
      to[f->first + (rotation + i) % f->count] = f->first + i;
    for (uint32_t i = 0; i < k->naffected; i++)
      k->bare->to[rotation * k->naffected + i] = cell_renamed(k, k->affected[i].cell, to);
  }
}

void bare_ring_find(struct canonical *k) {
  struct partition p = {.at = k->refinement.members, .colour = k->refinement.spare, .size = k->exchange.heads};
  if (!is_bare(k))
    return;
  struct bare_ring *bare = k->bare = arena_alloc(&k->arena, sizeof *bare);
  const struct element_scalarset *f = bare->scalarset = &k->scalarsets[0];
  bare->sites = arena_array(&k->arena, k->naffected + 1, sizeof *bare->sites);
  bare->site_of = arena_array(&k->arena, k->naffected + 1, sizeof *bare->site_of);
  bare->member = arena_array(&k->arena, k->naffected + 1, sizeof *bare->member);
  bare->to = arena_array(&k->arena, (size_t)f->count * k->naffected + 1, sizeof *bare->to);
  bare->signature = arena_array(&k->arena, 2 * (size_t)f->count, sizeof *bare->signature);
  partition_begin(k, &p);
  for (uint32_t i = 0; i < k->naffected; i++) {
    const struct affected_cell *w = &k->affected[i];
    uint32_t member = on_ring(f, w->a) ? w->a : w->b;
    bare->member[i] = member - f->first;
    bare->site_of[i] = site_of(k, &p, w, member);
  }
  find_rotation_targets(k);
}

void bare_ring_release(struct canonical *k) {
  for (uint32_t i = 0; k->bare && i < k->bare->nsites; i++)
    memory_free(k->bare->sites[i].signatures);
}

size_t bare_ring_bytes(const struct canonical *k) {
  size_t bytes = 0;
  for (uint32_t i = 0; k->bare && i < k->bare->nsites; i++)
    bytes += k->bare->sites[i].n * sizeof *k->bare->sites[i].signatures;
  return bytes;
}

/* Computes the same value as hash_ring. */
static uint64_t ring_signature_make(struct canonical *k, struct ring_site *site, const struct affected_cell *w,
                                    content c) {
  uint64_t all = content_view_at(k, w, c)->shape ^ w->site;
  if (site->a != UINT64_MAX)
    all = hash_mix(all, site->a);
  if (site->b != UINT64_MAX)
    all = hash_mix(all, site->b);
  indexed_reserve(site->signatures, site->n, c, 0);
  return site->signatures[c] = hash_scramble(hash_mix(all, 0), 53);
}

static void hash_members(struct canonical *k, const content *row) {
  struct bare_ring *bare = k->bare;
  uint32_t n = bare->scalarset->count;
  memset(bare->signature, 0, n * sizeof *bare->signature);
  for (uint32_t i = 0; i < k->naffected; i++) {
    const struct affected_cell *w = &k->affected[i];
    struct ring_site *site = &bare->sites[bare->site_of[i]];
    content c = row[w->cell];
    if (c == 0 && w->empties)
      continue;
    uint64_t signatures = c < site->n ? site->signatures[c] : 0;
    bare->signature[bare->member[i]] += signatures ? signatures : ring_signature_make(k, site, w, c);
  }
  memcpy(bare->signature + n, bare->signature, n * sizeof *bare->signature);
}

/* Finds the least rotation. False: it is not unique. */
static bool least_rotation(const struct bare_ring *bare, uint32_t *rotation) {
  const uint64_t *signature = bare->signature;
  uint32_t n = bare->scalarset->count, best = 0;
  bool alone = true;
  for (uint32_t i = 1; i < n; i++) {
    uint32_t k = 0;
    while (k < n && signature[i + k] == signature[best + k])
      k++;
    if (k == n)
      alone = false;
    else if (signature[i + k] < signature[best + k]) {
      best = i;
      alone = true;
    }
  }
  *rotation = best;
  return alone;
}

bool bare_ring_form(struct canonical *k, content *row, uint32_t *to) {
  const struct bare_ring *bare = k->bare;
  const struct element_scalarset *f = bare->scalarset;
  uint32_t rotation;
  hash_members(k, row);
  if (!least_rotation(bare, &rotation))
    return false;
  for (uint32_t i = 0; i < f->count && to; i++)
    to[f->first + (rotation + i) % f->count] = f->first + i;
  if (rotation == 0)
    return true;
  const uint32_t *goes = bare->to + (size_t)rotation * k->naffected;
  for (uint32_t i = 0; i < k->naffected; i++)
    k->search.leaf[goes[i]] = row[k->affected[i].cell];
  for (uint32_t i = 0; i < k->naffected; i++)
    row[k->affected[i].cell] = k->search.leaf[k->affected[i].cell];
  return true;
}
