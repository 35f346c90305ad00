/* Determines the elements that the licences allow to rename, and the cells that are affected. */
#include "steps/scalarsets.h"

#include "steps/content_renaming.h"
#include "steps/indices_sort.h"
#include "steps/occurrences.h"
#include "steps/step_canonical_internal.h"

/* Does this renaming move every cell to a cell of its kind? */
static bool cells_move(const struct canonical *k, const uint32_t *to) {
  const struct state_cells *cells = k->cells;
  for (uint32_t c = 0; c < cells->ncells; c++) {
    uint32_t other = cell_renamed(k, c, to);
    if (other == NO_CELL || cells->cell[other].table != cells->cell[c].table)
      return false;
  }
  return true;
}

static void swap_elements(uint32_t *to, uint32_t a, uint32_t b) {
  uint32_t kept = to[a];
  to[a] = to[b];
  to[b] = kept;
}

/* Do the cells of a role admit its renamings? They may not if a licence is forced against the program text. */
static bool role_moves(struct canonical *k, const struct role *role, bool ring) {
  uint32_t last = role->first + role->count - 1, *to = k->exchange.swap;
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
    swap_elements(to, p, p + 1);
    moves = cells_move(k, to);
    swap_elements(to, p, p + 1);
  }
  return moves;
}

static void add_scalarset(struct canonical *k, uint32_t first, uint32_t count, bool ring) {
  for (uint32_t x = first; x < first + count; x++)
    k->scalarset_of[x] = k->nscalarsets;
  k->scalarsets[k->nscalarsets++] = (struct element_scalarset){.first = first, .count = count, .ring = ring};
}

static void find_scalarsets(struct canonical *k) {
  const struct licences *l = k->cells->licences;
  const struct model *m = k->model;
  k->scalarsets = arena_array(&k->arena, m->nroles + 1, sizeof *k->scalarsets);
  k->rings = arena_array(&k->arena, m->nroles + 1, sizeof *k->rings);
  for (uint32_t x = 0; x < k->nelements; x++) {
    k->scalarset_of[x] = NO_SCALARSET;
    k->exchange.swap[x] = x;
  }
  for (uint32_t r = 0; r < m->nroles && l->of[REDUCE_SYMMETRY].applied; r++) {
    bool ring = m->roles[r].ring || l->identity[r] == IDENTITY_RING;
    if (m->roles[r].count > 1 && l->identity[r] != IDENTITY_NUMBERED && role_moves(k, &m->roles[r], ring))
      add_scalarset(k, m->roles[r].first, m->roles[r].count, ring);
  }
  if (k->nelements - k->nprocesses > 1)
    add_scalarset(k, k->nprocesses, k->nelements - k->nprocesses, false);
}

/* --- plain scalarsets --- */

static bool cell_is_of(const struct canonical *k, uint32_t cell, const struct element_scalarset *f) {
  const struct state_cell *c = &k->cells->cell[cell];
  bool a = c->kind == CELL_LOCAL || c->kind == CELL_CHANNEL || c->kind == CELL_ORDER;
  return (a && c->a - f->first < f->count) || (c->kind == CELL_CHANNEL && c->b - f->first < f->count);
}

/* Is the cell a channel between two processes that both move? */
static bool cell_is_between(const struct canonical *k, uint32_t cell) {
  const struct state_cell *c = &k->cells->cell[cell];
  return c->kind == CELL_CHANNEL && c->a != c->b && k->scalarset_of[c->a] != NO_SCALARSET &&
         k->scalarset_of[c->b] != NO_SCALARSET;
}

static bool cell_may_move(const struct canonical *k, uint32_t cell) {
  for (uint32_t f = 0; f < k->nscalarsets; f++)
    if (cell_may_contain(k, cell, &k->scalarsets[f]))
      return true;
  return false;
}

static bool scalarset_is_plain(const struct canonical *k, const struct element_scalarset *f) {
  if (f->ring || f->first >= k->nprocesses)
    return false;
  for (uint32_t c = 0; c < k->cells->ncells; c++) {
    bool own = cell_is_of(k, c, f);
    if (own ? cell_may_move(k, c) || cell_is_between(k, c) : cell_may_contain(k, c, f))
      return false;
  }
  return true;
}

static uint32_t list_column(const struct canonical *k, uint32_t process, uint32_t *to) {
  const struct state_cells *cells = k->cells;
  uint32_t n = 0, all = k->nprocesses;
  to[n++] = process;
  if (cells->arrivals && cells->order[process] != NO_CELL)
    to[n++] = cells->order[process];
  if (cells->channel[process * all + process] != NO_CELL)
    to[n++] = cells->channel[process * all + process];
  for (uint32_t q = 0; q < all; q++) {
    if (k->scalarset_of[q] != NO_SCALARSET)
      continue;
    if (cells->channel[process * all + q] != NO_CELL)
      to[n++] = cells->channel[process * all + q];
    if (cells->channel[q * all + process] != NO_CELL)
      to[n++] = cells->channel[q * all + process];
  }
  return n;
}

static void find_columns(struct canonical *k) {
  for (uint32_t i = 0; i < k->nscalarsets; i++) {
    struct element_scalarset *f = &k->scalarsets[i];
    f->plain = scalarset_is_plain(k, f);
    if (f->plain) {
      f->column = arena_array(&k->arena, (size_t)f->count * (2 * k->nprocesses + 3), sizeof *f->column);
      for (uint32_t p = 0; p < f->count; p++)
        f->width = list_column(k, f->first + p, f->column + (size_t)p * f->width);
    }
    if (f->ring) {
      f->rotations = arena_array(&k->arena, f->count, sizeof *f->rotations);
      k->rings[k->nrings++] = i;
    }
    k->searches |= !f->plain;
  }
}

static void watch(struct canonical *k, uint32_t cell) {
  const struct state_cell *c = &k->cells->cell[cell];
  bool owned = c->kind == CELL_LOCAL || c->kind == CELL_CHANNEL || c->kind == CELL_ORDER;
  struct affected_cell w = {.cell = cell,
                            .table = c->table,
                            .a = owned ? c->a : NO_ELEMENT,
                            .b = c->kind == CELL_CHANNEL ? c->b : NO_ELEMENT,
                            .empties = c->kind == CELL_CHANNEL || c->kind == CELL_ORDER};
  w.free += w.a != NO_ELEMENT && k->is_free[w.a];
  w.free += w.b != NO_ELEMENT && w.b != w.a && k->is_free[w.b];
  w.site = hash_scramble(c->kind + 1, owned ? 0 : c->a + 1);
  k->affected[k->naffected++] = w;
}

static void find_affected(struct canonical *k) {
  k->affected = arena_array(&k->arena, k->cells->ncells + 1, sizeof *k->affected);
  k->is_free = arena_array(&k->arena, k->nelements + 1, sizeof *k->is_free);
  for (uint32_t x = 0; x < k->nelements; x++) {
    const struct element_scalarset *f = k->scalarset_of[x] == NO_SCALARSET ? NULL : &k->scalarsets[k->scalarset_of[x]];
    k->is_free[x] = f && !f->ring && !f->plain;
  }
  for (uint32_t c = 0; c < k->cells->ncells; c++) {
    bool affected = false;
    for (uint32_t f = 0; f < k->nscalarsets && !affected; f++)
      affected =
          !k->scalarsets[f].plain && (cell_is_of(k, c, &k->scalarsets[f]) || cell_may_contain(k, c, &k->scalarsets[f]));
    if (affected)
      watch(k, c);
  }
}

void scalarsets_find(struct canonical *k) {
  find_scalarsets(k);
  find_columns(k);
  find_affected(k);
}
