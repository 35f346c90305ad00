/* Canonical forms: the row among all its renamings that comes first when every choice is made by what contents say.
   Points are told apart by refinement (refine.c); where ties remain, one point of a class after the other is singled out,
   each followed to the end, and the least row is taken. Exact, for a branch is left out only if a renaming that leaves
   the row unchanged leads there from one that was followed: points that change places (bundles.c), or two ends that
   turn out the same (McKay 1981, Practical graph isomorphism). */
#include "interleave/canonical.h"

#include <string.h>

#define VALUES_MOST 65536 /* of a type whose values are renamed */
#define NO_LEVEL UINT32_MAX

/* --- which points move --- */

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
      f->column = memory_resize_array(NULL, (size_t)f->count * (2 * k->nprocesses + 3), sizeof *f->column);
      for (uint32_t p = 0; p < f->count; p++)
        f->width = list_column(k, f->first + p, f->column + (size_t)p * f->width);
    }
    if (f->ring) {
      f->turns = memory_resize_array(NULL, f->count, sizeof *f->turns);
      k->rings[k->nrings++] = i;
    }
    k->searches |= !f->plain;
  }
}

static void find_watched(struct canonical *k) {
  for (uint32_t c = 0; c < k->cells->ncells; c++) {
    bool watched = false;
    for (uint32_t f = 0; f < k->nfamilies && !watched; f++)
      watched = !k->families[f].plain && (cell_is_of(k, c, &k->families[f]) || cell_may_mention(k, c, &k->families[f]));
    if (watched)
      k->watched[k->nwatched++] = c;
  }
}

/* --- life --- */

static uint32_t *points_new(const struct canonical *k) { return memory_alloc((k->npoints + 1) * sizeof(uint32_t)); }
static content *row_new(const struct canonical *k) { return memory_alloc((k->cells->ncells + 1) * sizeof(content)); }

struct canonical *canonical_new(struct cells *cells) {
  struct canonical *k = memory_alloc(sizeof *k);
  const struct licences *l = cells->licences;
  k->cells = cells;
  k->model = cells->model;
  k->nprocesses = k->npoints = k->model->nprocesses;
  arena_init(&k->arena);
  k->routes = routes_of(cells->meaning, k->model, cells->question,
                        actions_used(k->model, cells->question, &k->arena), &k->arena);
  if (l->of[REDUCE_VALUES].applied && l->value_type && l->value_type->count <= VALUES_MOST) {
    k->value_type = l->value_type;
    k->npoints += (uint32_t)l->value_type->count;
  }
  uint32_t **by_point[] = {&k->family_of, &k->to, &k->best_to, &k->went, &k->swap, &k->pair, &k->mentioned_first, &k->parent,
                           &k->bundle, &k->bundle_first, &k->bundle_size, &k->heads, &k->members, &k->spare_members, &k->value_map};
  for (size_t i = 0; i < sizeof by_point / sizeof *by_point; i++)
    *by_point[i] = points_new(k);
  k->families = memory_alloc((k->model->nroles + 2) * sizeof *k->families);
  k->rings = memory_alloc((k->model->nroles + 2) * sizeof *k->rings);
  k->path = memory_alloc((k->npoints + k->model->nroles + 2) * sizeof *k->path);
  k->best_path = memory_alloc((k->npoints + k->model->nroles + 2) * sizeof *k->best_path);
  k->feed = memory_alloc((k->npoints + 1) * sizeof *k->feed);
  k->keyed = memory_alloc((k->npoints + 1) * sizeof *k->keyed);
  k->spare = memory_alloc((k->npoints + 1) * sizeof *k->spare);
  k->views = memory_alloc((cells->ntables + 1) * sizeof *k->views);
  k->leaf = row_new(k);
  k->best = row_new(k);
  k->watched = row_new(k);
  k->renamings = intern_new();
  find_families(k);
  find_columns(k);
  find_watched(k);
  return k;
}

static void partition_release(struct partition *p) {
  memory_free(p->at);
  memory_free(p->colour);
  memory_free(p->size);
}

void canonical_free(struct canonical *k) {
  if (!k)
    return;
  for (uint32_t f = 0; f < k->nfamilies; f++) {
    memory_free(k->families[f].column);
    memory_free(k->families[f].turns);
  }
  for (uint32_t t = 0; t < k->cells->ntables; t++)
    memory_free(k->views[t].at);
  for (size_t i = 0; i < k->levels.n; i++)
    partition_release(&k->levels.at[i]);
  void *arrays[] = {k->family_of, k->to,     k->best_to, k->went, k->swap, k->pair, k->mentioned_first, k->parent,
                    k->bundle,    k->bundle_first, k->bundle_size, k->heads, k->members, k->spare_members, k->value_map, k->families, k->rings, k->path,
                    k->best_path, k->feed,   k->keyed,   k->spare, k->views,  k->leaf,            k->best, k->watched};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    memory_free(arrays[i]);
  vec_release(&k->mentions);
  vec_release(&k->parts);
  vec_release(&k->scratch);
  vec_release(&k->packets);
  vec_release(&k->values);
  vec_release(&k->images);
  vec_release(&k->links);
  vec_release(&k->levels);
  vec_release(&k->mentioned_at);
  memo_release(&k->renamed);
  intern_free(k->renamings);
  arena_release(&k->arena);
  memory_free(k);
}

size_t canonical_bytes(const struct canonical *k) {
  size_t bytes = sizeof *k + memo_bytes(&k->renamed) + intern_bytes(k->renamings) +
                 k->mentions.cap * sizeof *k->mentions.at + k->parts.cap * sizeof *k->parts.at +
                 k->links.cap * sizeof *k->links.at + k->levels.n * 3 * k->npoints * sizeof(uint32_t);
  for (uint32_t t = 0; t < k->cells->ntables; t++)
    bytes += k->views[t].n * sizeof *k->views[t].at;
  return bytes;
}

/* --- the search --- */

static int compare_rows(struct canonical *k, const content *a, const content *b) {
  int order = 0;
  for (uint32_t i = 0; i < k->nwatched && !order; i++)
    order = content_compare(k, k->watched[i], a[k->watched[i]], b[k->watched[i]]);
  return order;
}

static void keep_leaf(struct canonical *k, uint32_t depth) {
  content *row = k->best;
  uint32_t *to = k->best_to;
  k->best = k->leaf;
  k->leaf = row;
  k->best_to = k->to;
  k->to = to;
  memcpy(k->best_path, k->path, depth * sizeof *k->path);
  k->any = true;
}

/* Every point has its place. If this gives the best row again, a renaming that leaves the row unchanged takes the one
   way here to the other: where they parted, what this way has still to offer was seen on the other. */
static void leaf(struct canonical *k, const struct partition *p, uint32_t depth) {
  for (uint32_t i = 0; i < k->npoints; i++)
    k->to[p->at[i]] = i;
  for (uint32_t i = 0; i < k->nwatched; i++) {
    uint32_t cell = k->watched[i];
    k->leaf[cell_renamed(k, cell, k->to)] = content_renamed(k, cell, k->row[cell], k->to);
  }
  int order = k->any ? compare_rows(k, k->leaf, k->best) : -1;
  if (order < 0) {
    keep_leaf(k, depth);
    return;
  }
  if (order > 0)
    return;
  for (k->jump = 0; k->path[k->jump] == k->best_path[k->jump];)
    k->jump++;
}

static struct partition *level(struct canonical *k, uint32_t depth) {
  while (k->levels.n <= depth) {
    struct partition p = {.at = points_new(k), .colour = points_new(k), .size = points_new(k)};
    vec_push(&k->levels, p);
  }
  return &k->levels.at[depth];
}

static void explore(struct canonical *k, uint32_t depth);

/* Goes on with `point` told apart; false: nothing more to be found at this level. */
static bool descend(struct canonical *k, uint32_t depth, uint32_t point) {
  k->path[depth] = point;
  explore(k, depth + 1);
  if (k->jump != NO_LEVEL && k->jump < depth)
    return false;
  k->jump = NO_LEVEL;
  return true;
}

static void turn_ring(struct canonical *k, uint32_t depth) {
  struct family *f = &k->families[k->rings[depth]];
  uint32_t n = ring_turns(k, level(k, depth), f);
  for (uint32_t i = 0; i < n; i++) {
    struct partition *inner = level(k, depth + 1);
    partition_copy(k, inner, level(k, depth));
    ring_place(inner, f, f->turns[i]);
    if (!descend(k, depth, f->turns[i]))
      return;
  }
}

/* The smallest class that is open, the first of those. */
static uint32_t choose_class(const struct canonical *k, const struct partition *p) {
  uint32_t best = UINT32_MAX;
  for (uint32_t c = 0; c < k->npoints; c += p->size[c])
    if (p->size[c] > 1 && (best == UINT32_MAX || p->size[c] < p->size[best]))
      best = c;
  return best;
}

static bool tried_before(struct canonical *k, const struct partition *p, uint32_t colour, uint32_t i) {
  for (uint32_t j = 0; j < i; j++)
    if (points_interchangeable(k, &p->at[colour + j], &p->at[colour + i], 1))
      return true;
  return false;
}

static void explore(struct canonical *k, uint32_t depth) {
  if (depth < k->nrings) {
    turn_ring(k, depth);
    return;
  }
  struct partition *p = level(k, depth);
  partition_refine(k, p, depth == k->nrings);
  if (p->open)
    partition_settle(k, p);
  if (!p->open) {
    leaf(k, p, depth);
    return;
  }
  uint32_t colour = choose_class(k, p), size = p->size[colour];
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
  k->row = row;
  k->any = k->indexed = false;
  k->jump = NO_LEVEL;
  links_gather(k);
  partition_begin(k, level(k, 0));
  explore(k, 0);
  for (uint32_t i = 0; i < k->nwatched; i++)
    row[k->watched[i]] = k->best[k->watched[i]];
}

/* --- the whole row --- */

void canonical_form(struct canonical *k, content *row, uint32_t *to, uint32_t *value_to) {
  uint32_t *went = to || value_to ? k->went : NULL;
  if (went)
    for (uint32_t x = 0; x < k->npoints; x++)
      went[x] = x;
  for (uint32_t f = 0; f < k->nfamilies; f++)
    if (k->families[f].plain)
      family_sort(k, &k->families[f], row, went);
  if (k->searches) {
    search(k, row);
    for (uint32_t f = 0; f < k->nfamilies; f++)
      if (went && !k->families[f].plain)
        memcpy(went + k->families[f].first, k->best_to + k->families[f].first, k->families[f].count * sizeof *went);
  }
  if (to)
    memcpy(to, went, k->nprocesses * sizeof *to);
  if (value_to && k->value_type)
    for (uint32_t x = k->nprocesses; x < k->npoints; x++)
      value_to[x - k->nprocesses] = went[x] - k->nprocesses;
}

void canonical_rename(struct canonical *k, content *row, const uint32_t *to, const uint32_t *value_to) {
  memcpy(k->to, to, k->nprocesses * sizeof *to);
  for (uint32_t x = k->nprocesses; x < k->npoints; x++)
    k->to[x] = value_to ? value_to[x - k->nprocesses] + k->nprocesses : x;
  memcpy(k->leaf, row, k->cells->ncells * sizeof *row);
  for (uint32_t c = 0; c < k->cells->ncells; c++)
    row[cell_renamed(k, c, k->to)] = content_renamed(k, c, k->leaf[c], k->to);
}
