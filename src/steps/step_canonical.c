/* Canonical forms: the least row among the renamings of a row, where every choice depends on contents only. Colour
   refinement (colour_refinement.c) distinguishes elements. If ties remain, the elements of one class are individualised
   in turn, each branch is followed to a leaf, and the least row is taken. This is exact: a branch is pruned only if an
   automorphism of the row maps an explored branch to it. Automorphisms come from interchangeable elements
   (interchangeable_elements.c) and from leaves with equal rows (McKay 1981, Practical graph isomorphism). */
#include "steps/step_canonical_internal.h"

#include "steps/colour_refinement.h"
#include "steps/column_sort.h"
#include "steps/content_renaming.h"
#include "steps/interchangeable_elements.h"
#include "steps/message_routes.h"
#include "steps/occurrences.h"
#include "steps/ring_rotations.h"
#include "steps/scalarsets.h"

#include <string.h>

#define VALUES_MOST 65536 /* largest number of values of a type that is renamed */
#define NO_LEVEL UINT32_MAX

/* --- lifecycle --- */

static uint32_t *elements_new(struct canonical *k) {
  return arena_array(&k->arena, k->nelements + 1, sizeof(uint32_t));
}
static content *row_new(struct canonical *k) { return arena_array(&k->arena, k->cells->ncells + 1, sizeof(content)); }

static void make_scratch(struct canonical *k) {
  uint32_t **by_element[] = {&k->scalarset_of,         &k->search.to,
                             &k->search.best_to,       &k->search.went,
                             &k->exchange.swap,        &k->exchange.parent,
                             &k->exchange.bundle,      &k->exchange.bundle_first,
                             &k->exchange.bundle_size, &k->exchange.heads,
                             &k->refinement.members,   &k->refinement.spare,
                             &k->renamed.value_map,    &k->exchange.occurs_first};
  for (size_t i = 0; i < sizeof by_element / sizeof *by_element; i++)
    *by_element[i] = elements_new(k);
  size_t deepest = (size_t)k->nelements + k->model->nroles + 2;
  k->search.path = arena_array(&k->arena, deepest, sizeof *k->search.path);
  k->search.best_path = arena_array(&k->arena, deepest, sizeof *k->search.best_path);
  k->refinement.signature = arena_array(&k->arena, k->nelements + 1, sizeof *k->refinement.signature);
  k->search.leaf = row_new(k);
  k->search.best = row_new(k);
}

struct canonical *canonical_new(struct state_cells *cells) {
  struct canonical *k = memory_alloc(sizeof *k);
  const struct licences *l = cells->licences;
  arena_init(&k->arena);
  k->cells = cells;
  k->model = cells->model;
  k->routes = message_routes_of(cells->interp, k->model, action_uses_of(k->model, cells->query, &k->arena), &k->arena);
  k->nprocesses = k->nelements = k->model->nprocesses;
  if (l->of[REDUCE_VALUES].applied && l->value_type && l->value_type->count <= VALUES_MOST) {
    k->value_type = l->value_type;
    k->nelements += (uint32_t)l->value_type->count;
  }
  k->contents.views = arena_array(&k->arena, cells->ntables + 1, sizeof *k->contents.views);
  k->renamed.renamings = intern_new();
  make_scratch(k);
  scalarsets_find(k);
  bare_ring_find(k);
  return k;
}

void canonical_free(struct canonical *k) {
  if (!k)
    return;
  for (uint32_t t = 0; t < k->cells->ntables; t++)
    memory_free(k->contents.views[t].at);
  bare_ring_release(k);
  vec_release(&k->contents.occurrences);
  vec_release(&k->contents.parts);
  vec_release(&k->contents.scratch);
  vec_release(&k->contents.packets);
  vec_release(&k->contents.values);
  vec_release(&k->renamed.images);
  vec_release(&k->refinement.hyperedges);
  vec_release(&k->search.levels);
  vec_release(&k->exchange.occurs_at);
  memo_release(&k->renamed.of);
  intern_free(k->renamed.renamings);
  arena_release(&k->arena);
  memory_free(k);
}

size_t canonical_bytes(const struct canonical *k) {
  size_t bytes = sizeof *k + bare_ring_bytes(k) + memo_bytes(&k->renamed.of) + intern_bytes(k->renamed.renamings) +
                 k->contents.occurrences.cap * sizeof *k->contents.occurrences.at +
                 k->contents.parts.cap * sizeof *k->contents.parts.at +
                 k->refinement.hyperedges.cap * sizeof *k->refinement.hyperedges.at +
                 k->search.levels.n * 4 * k->nelements * sizeof(uint32_t);
  for (uint32_t t = 0; t < k->cells->ntables; t++)
    bytes += k->contents.views[t].n * sizeof *k->contents.views[t].at;
  return bytes;
}

/* --- the search --- */

static int compare_rows(struct canonical *k, const content *a, const content *b) {
  int order = 0;
  for (uint32_t i = 0; i < k->naffected && !order; i++) {
    uint32_t cell = k->affected[i].cell;
    order = content_compare(k, cell, a[cell], b[cell]);
  }
  return order;
}

static void keep_leaf(struct canonical *k, uint32_t depth) {
  content *row = k->search.best;
  uint32_t *to = k->search.best_to;
  k->search.best = k->search.leaf;
  k->search.leaf = row;
  k->search.best_to = k->search.to;
  k->search.to = to;
  memcpy(k->search.best_path, k->search.path, depth * sizeof *k->search.path);
  k->search.any = true;
}

static uint32_t orbit_of(uint32_t *orbit, uint32_t x) {
  while (orbit[x] != x)
    x = orbit[x] = orbit[orbit[x]];
  return x;
}

/* This path and the best path lead to the same row, so an automorphism of the row maps one to the other. Below the
   level where they diverge, the rest of this branch is equivalent to what was explored on the best path. At that level
   and above, only one element of each orbit has to be tried. */
static void record_automorphism(struct canonical *k) {
  uint32_t *at_place = k->exchange.heads;
  for (k->search.jump = 0; k->search.path[k->search.jump] == k->search.best_path[k->search.jump];)
    k->search.jump++;
  for (uint32_t x = 0; x < k->nelements; x++)
    at_place[k->search.best_to[x]] = x;
  for (uint32_t d = k->nrings; d <= k->search.jump; d++) {
    uint32_t *orbit = k->search.levels.at[d].orbit;
    for (uint32_t x = 0; x < k->nelements; x++)
      orbit[orbit_of(orbit, x)] = orbit_of(orbit, at_place[k->search.to[x]]);
  }
}

/* All elements have their final positions. */
static void leaf(struct canonical *k, const struct partition *p, uint32_t depth) {
  for (uint32_t i = 0; i < k->nelements; i++)
    k->search.to[p->at[i]] = i;
  for (const struct affected_cell *w = k->affected, *end = w + k->naffected; w < end; w++) {
    content c = k->search.row[w->cell];
    if (!w->empties || c != 0)
      c = content_renamed(k, w->cell, c, k->search.to);
    k->search.leaf[w->b == NO_ELEMENT ? cell_renamed(k, w->cell, k->search.to)
                                      : k->cells->channel[k->search.to[w->a] * k->nprocesses + k->search.to[w->b]]] = c;
  }
  int order = k->search.any ? compare_rows(k, k->search.leaf, k->search.best) : -1;
  if (order < 0)
    keep_leaf(k, depth);
  else if (order == 0)
    record_automorphism(k);
}

static struct partition *level(struct canonical *k, uint32_t depth) {
  while (k->search.levels.n <= depth) {
    struct partition p = {
        .at = elements_new(k), .colour = elements_new(k), .size = elements_new(k), .orbit = elements_new(k)};
    vec_push(&k->search.levels, p);
  }
  return &k->search.levels.at[depth];
}

static void explore(struct canonical *k, uint32_t depth);

/* Continues with `element` individualised. False: the rest of this level is pruned. */
static bool descend(struct canonical *k, uint32_t depth, uint32_t element) {
  k->search.path[depth] = element;
  explore(k, depth + 1);
  if (k->search.jump != NO_LEVEL && k->search.jump < depth)
    return false;
  k->search.jump = NO_LEVEL;
  return true;
}

static void branch_on_rotations(struct canonical *k, uint32_t depth) {
  struct element_scalarset *f = &k->scalarsets[k->rings[depth]];
  uint32_t n = find_ring_rotations(k, level(k, depth), f);
  for (uint32_t i = 0; i < n; i++) {
    struct partition *inner = level(k, depth + 1);
    partition_copy(k, inner, level(k, depth));
    ring_place(inner, f, f->rotations[i]);
    if (!descend(k, depth, f->rotations[i]))
      return;
  }
}

/* The smallest class with several elements; the first of these if there is a tie. */
static uint32_t choose_class(const struct canonical *k, const struct partition *p) {
  uint32_t best = UINT32_MAX;
  for (uint32_t c = 0; c < k->nelements; c += p->size[c])
    if (p->size[c] > 1 && (best == UINT32_MAX || p->size[c] < p->size[best]))
      best = c;
  return best;
}

/* Was this element, or an equivalent one, tried before? */
static bool tried_before(struct canonical *k, const struct partition *p, uint32_t colour, uint32_t i) {
  for (uint32_t j = 0; j < i; j++)
    if (orbit_of(p->orbit, p->at[colour + j]) == orbit_of(p->orbit, p->at[colour + i]) ||
        elements_interchangeable(k, &p->at[colour + j], &p->at[colour + i], 1))
      return true;
  return false;
}

static void explore(struct canonical *k, uint32_t depth) {
  if (depth < k->nrings) {
    branch_on_rotations(k, depth);
    return;
  }
  struct partition *p = level(k, depth);
  partition_refine(k, p, depth == k->nrings);
  if (p->open)
    partition_cut_interchangeable(k, p);
  if (!p->open) {
    leaf(k, p, depth);
    return;
  }
  uint32_t colour = choose_class(k, p), size = p->size[colour];
  for (uint32_t x = 0; x < k->nelements; x++)
    p->orbit[x] = x;
  for (uint32_t i = 0; i < size; i++) {
    struct partition *inner = level(k, depth + 1);
    p = level(k, depth);
    if (tried_before(k, p, colour, i))
      continue;
    partition_copy(k, inner, p);
    partition_single_out(inner, p->at[colour + i]);
    if (!descend(k, depth, p->at[colour + i]))
      return;
  }
}

static void search(struct canonical *k, content *row) {
  k->search.row = row;
  k->search.any = k->exchange.indexed = false;
  k->search.jump = NO_LEVEL;
  hyperedges_collect(k);
  partition_begin(k, level(k, 0));
  explore(k, 0);
  for (uint32_t i = 0; i < k->naffected; i++)
    row[k->affected[i].cell] = k->search.best[k->affected[i].cell];
}

/* --- the whole row --- */

void canonical_form(struct canonical *k, content *row, uint32_t *to, uint32_t *value_to) {
  uint32_t *went = to || value_to ? k->search.went : NULL;
  if (went)
    for (uint32_t x = 0; x < k->nelements; x++)
      went[x] = x;
  for (uint32_t f = 0; f < k->nscalarsets; f++)
    if (k->scalarsets[f].plain)
      scalarset_sort(k, &k->scalarsets[f], row, went);
  if (k->searches && !(k->bare && bare_ring_form(k, row, went))) {
    search(k, row);
    for (uint32_t f = 0; f < k->nscalarsets; f++)
      if (went && !k->scalarsets[f].plain)
        memcpy(went + k->scalarsets[f].first, k->search.best_to + k->scalarsets[f].first,
               k->scalarsets[f].count * sizeof *went);
  }
  if (to)
    memcpy(to, went, k->nprocesses * sizeof *to);
  if (value_to && k->value_type)
    for (uint32_t x = k->nprocesses; x < k->nelements; x++)
      value_to[x - k->nprocesses] = went[x] - k->nprocesses;
}

void canonical_rename(struct canonical *k, content *row, const uint32_t *to, const uint32_t *value_to) {
  memcpy(k->search.to, to, k->nprocesses * sizeof *to);
  for (uint32_t x = k->nprocesses; x < k->nelements; x++)
    k->search.to[x] = value_to ? value_to[x - k->nprocesses] + k->nprocesses : x;
  memcpy(k->search.leaf, row, k->cells->ncells * sizeof *row);
  for (uint32_t c = 0; c < k->cells->ncells; c++)
    row[cell_renamed(k, c, k->search.to)] = content_renamed(k, c, k->search.leaf[c], k->search.to);
}
