/* Which points move, by licence, and which cells that concerns. */
#include "interleave/canonical.h"

/* Every cell goes to one of its kind under this renaming. */
static bool cells_move(const struct canonical *k, const uint32_t *to) {
  const struct cells *cells = k->cells;
  for (uint32_t c = 0; c < cells->ncells; c++) {
    uint32_t other = cell_renamed(k, c, to);
    if (other == NO_CELL || cells->cell[other].table != cells->cell[c].table)
      return false;
  }
  return true;
}

static void swap_points(uint32_t *to, uint32_t a, uint32_t b) {
  uint32_t kept = to[a];
  to[a] = to[b];
  to[b] = kept;
}

/* Do the cells of a role allow its renamings? Where a licence is forced against the text they may not. */
static bool role_moves(struct canonical *k, const struct role *role, bool ring) {
  uint32_t last = role->first + role->count - 1, *to = k->swap;
  bool moves = true;
  if (ring) {
    for (uint32_t p = role->first; p <= last; p++)
      to[p] = p < last ? p + 1 : role->first;
    moves = cells_move(k, to);
    for (uint32_t p = role->first; p <= last; p++)
      to[p] = p;
    return moves;
  }
  for (uint32_t p = role->first; p < last && moves; p++) {
    swap_points(to, p, p + 1);
    moves = cells_move(k, to);
    swap_points(to, p, p + 1);
  }
  return moves;
}

static void add_family(struct canonical *k, uint32_t first, uint32_t count, bool ring) {
  for (uint32_t x = first; x < first + count; x++)
    k->family_of[x] = k->nfamilies;
  k->families[k->nfamilies++] = (struct family){.first = first, .count = count, .ring = ring};
}

static void find_families(struct canonical *k) {
  const struct licences *l = k->cells->licences;
  const struct model *m = k->model;
  k->families = arena_array(&k->arena, m->nroles + 1, sizeof *k->families);
  k->rings = arena_array(&k->arena, m->nroles + 1, sizeof *k->rings);
  for (uint32_t x = 0; x < k->npoints; x++) {
    k->family_of[x] = NO_FAMILY;
    k->swap[x] = k->pair[x] = x;
  }
  for (uint32_t r = 0; r < m->nroles && l->of[REDUCE_SYMMETRY].applied; r++) {
    bool ring = m->roles[r].ring || l->identity[r] == IDENTITY_RING;
    if (m->roles[r].count > 1 && l->identity[r] != IDENTITY_NUMBERED && role_moves(k, &m->roles[r], ring))
      add_family(k, m->roles[r].first, m->roles[r].count, ring);
  }
  if (k->npoints - k->nprocesses > 1)
    add_family(k, k->nprocesses, k->npoints - k->nprocesses, false);
}

/* --- plain families --- */

static bool cell_is_of(const struct canonical *k, uint32_t cell, const struct family *f) {
  const struct cell *c = &k->cells->cell[cell];
  bool a = c->kind == CELL_LOCAL || c->kind == CELL_CHANNEL || c->kind == CELL_ORDER;
  return (a && c->a - f->first < f->count) || (c->kind == CELL_CHANNEL && c->b - f->first < f->count);
}

/* Does the cell lie between two processes that move on their own? */
static bool cell_is_between(const struct canonical *k, uint32_t cell) {
  const struct cell *c = &k->cells->cell[cell];
  return c->kind == CELL_CHANNEL && c->a != c->b && k->family_of[c->a] != NO_FAMILY && k->family_of[c->b] != NO_FAMILY;
}

static bool cell_may_move(const struct canonical *k, uint32_t cell) {
  for (uint32_t f = 0; f < k->nfamilies; f++)
    if (cell_may_mention(k, cell, &k->families[f]))
      return true;
  return false;
}

static bool family_is_plain(const struct canonical *k, const struct family *f) {
  if (f->ring || f->first >= k->nprocesses)
    return false;
  for (uint32_t c = 0; c < k->cells->ncells; c++) {
    bool own = cell_is_of(k, c, f);
    if (own ? cell_may_move(k, c) || cell_is_between(k, c) : cell_may_mention(k, c, f))
      return false;
  }
  return true;
}

static uint32_t list_column(const struct canonical *k, uint32_t process, uint32_t *to) {
  const struct cells *cells = k->cells;
  uint32_t n = 0, all = k->nprocesses;
  to[n++] = process;
  if (cells->arrivals && cells->order[process] != NO_CELL)
    to[n++] = cells->order[process];
  if (cells->channel[process * all + process] != NO_CELL)
    to[n++] = cells->channel[process * all + process];
  for (uint32_t q = 0; q < all; q++) {
    if (k->family_of[q] != NO_FAMILY)
      continue;
    if (cells->channel[process * all + q] != NO_CELL)
      to[n++] = cells->channel[process * all + q];
    if (cells->channel[q * all + process] != NO_CELL)
      to[n++] = cells->channel[q * all + process];
  }
  return n;
}

static void find_columns(struct canonical *k) {
  for (uint32_t i = 0; i < k->nfamilies; i++) {
    struct family *f = &k->families[i];
    f->plain = family_is_plain(k, f);
    if (f->plain) {
      f->column = arena_array(&k->arena, (size_t)f->count * (2 * k->nprocesses + 3), sizeof *f->column);
      for (uint32_t p = 0; p < f->count; p++)
        f->width = list_column(k, f->first + p, f->column + (size_t)p * f->width);
    }
    if (f->ring) {
      f->turns = arena_array(&k->arena, f->count, sizeof *f->turns);
      k->rings[k->nrings++] = i;
    }
    k->searches |= !f->plain;
  }
}

static void watch(struct canonical *k, uint32_t cell) {
  const struct cell *c = &k->cells->cell[cell];
  bool owned = c->kind == CELL_LOCAL || c->kind == CELL_CHANNEL || c->kind == CELL_ORDER;
  struct watched w = {.cell = cell, .table = c->table, .a = owned ? c->a : NO_POINT,
                      .b = c->kind == CELL_CHANNEL ? c->b : NO_POINT,
                      .empties = c->kind == CELL_CHANNEL || c->kind == CELL_ORDER};
  w.free += w.a != NO_POINT && k->is_free[w.a];
  w.free += w.b != NO_POINT && w.b != w.a && k->is_free[w.b];
  w.site = stir(c->kind + 1, owned ? 0 : c->a + 1);
  k->watched[k->nwatched++] = w;
}

static void find_watched(struct canonical *k) {
  k->watched = arena_array(&k->arena, k->cells->ncells + 1, sizeof *k->watched);
  k->is_free = arena_array(&k->arena, k->npoints + 1, sizeof *k->is_free);
  for (uint32_t x = 0; x < k->npoints; x++) {
    const struct family *f = k->family_of[x] == NO_FAMILY ? NULL : &k->families[k->family_of[x]];
    k->is_free[x] = f && !f->ring && !f->plain;
  }
  for (uint32_t c = 0; c < k->cells->ncells; c++) {
    bool watched = false;
    for (uint32_t f = 0; f < k->nfamilies && !watched; f++)
      watched = !k->families[f].plain && (cell_is_of(k, c, &k->families[f]) || cell_may_mention(k, c, &k->families[f]));
    if (watched)
      watch(k, c);
  }
}

void families_find(struct canonical *k) {
  find_families(k);
  find_columns(k);
  find_watched(k);
}
