/* Elements that can be exchanged without changing the row. Most ties that remain after refinement are of this kind:
   processes in equal states, or processes together with the values that belong to them. Every split made here has been
   verified on the row, so the candidates may be guessed heuristically. */
#include "steps/interchangeable_elements.h"

#include "steps/colour_refinement.h"
#include "steps/content_renaming.h"
#include "steps/occurrences.h"
#include "steps/scalarsets.h"
#include "steps/step_canonical_internal.h"

#include <string.h>

#define OCCURRENCES_MAX 16 /* contents with more occurrences are not used to guess bundles */

/* --- testing an exchange --- */

/* For each element, the cells that mention it. */
static void index_occurrences(struct canonical *k) {
  uint32_t *first = k->exchange.occurs_first, all = 0;
  const struct affected_cell *end = k->affected + k->naffected;
  memset(first, 0, (k->nelements + 1) * sizeof *first);
  for (const struct affected_cell *w = k->affected; w < end; w++) {
    const struct content_view *v = content_view_at(k, w, k->search.row[w->cell]);
    for (uint32_t j = 0; j < v->noccurrences; j++)
      first[k->contents.occurrences.at[v->occurrences + j].element]++;
  }
  for (uint32_t x = 0; x <= k->nelements; x++) {
    all += first[x];
    first[x] = all;
  }
  vec_reserve(&k->exchange.occurs_at, all + 1);
  for (const struct affected_cell *w = k->affected; w < end && all; w++) {
    const struct content_view *v = content_view_at(k, w, k->search.row[w->cell]);
    for (uint32_t j = 0; j < v->noccurrences; j++)
      k->exchange.occurs_at.at[--first[k->contents.occurrences.at[v->occurrences + j].element]] = w->cell;
  }
  k->exchange.indexed = true;
}

/* Does the cell's content stay in the row under exchange.swap? */
static bool cell_stays(struct canonical *k, uint32_t cell) {
  if (cell == NO_CELL)
    return true;
  uint32_t to = cell_renamed(k, cell, k->exchange.swap);
  return content_renamed(k, cell, k->search.row[cell], k->exchange.swap) == k->search.row[to];
}

static bool own_cells_stay(struct canonical *k, uint32_t process) {
  const struct state_cells *cells = k->cells;
  uint32_t n = k->nprocesses;
  if (!cell_stays(k, process) || (cells->arrivals && !cell_stays(k, cells->order[process])))
    return false;
  for (uint32_t q = 0; q < n && k->model->nmessages; q++)
    if (!cell_stays(k, cells->channel[process * n + q]) || !cell_stays(k, cells->channel[q * n + process]))
      return false;
  return true;
}

static bool occurrences_stay(struct canonical *k, uint32_t element) {
  for (uint32_t i = k->exchange.occurs_first[element]; i < k->exchange.occurs_first[element + 1]; i++)
    if (!cell_stays(k, k->exchange.occurs_at.at[i]))
      return false;
  return true;
}

bool elements_interchangeable(struct canonical *k, const uint32_t *a, const uint32_t *b, uint32_t n) {
  if (!k->exchange.indexed)
    index_occurrences(k);
  for (uint32_t i = 0; i < n; i++) {
    k->exchange.swap[a[i]] = b[i];
    k->exchange.swap[b[i]] = a[i];
  }
  bool same = true;
  for (uint32_t i = 0; i < n && same; i++)
    same = (a[i] >= k->nprocesses || own_cells_stay(k, a[i])) && occurrences_stay(k, a[i]) && occurrences_stay(k, b[i]);
  for (uint32_t i = 0; i < n; i++) {
    k->exchange.swap[a[i]] = a[i];
    k->exchange.swap[b[i]] = b[i];
  }
  return same;
}

/* --- single elements --- */

/* Tests neighbours only: if they can be exchanged, so can any two elements. */
static bool class_is_interchangeable(struct canonical *k, const struct partition *p, uint32_t colour) {
  for (uint32_t i = colour; i + 1 < colour + p->size[colour]; i++)
    if (!elements_interchangeable(k, &p->at[i], &p->at[i + 1], 1))
      return false;
  return true;
}

/* --- bundles of elements: guessed from the contents that mention them together --- */

static uint32_t bundle_of(struct canonical *k, uint32_t x) {
  while (k->exchange.parent[x] != x)
    x = k->exchange.parent[x] = k->exchange.parent[k->exchange.parent[x]];
  return x;
}

static void bind(struct canonical *k, uint32_t x, uint32_t y) { k->exchange.parent[bundle_of(k, x)] = bundle_of(k, y); }

static bool is_open(const struct partition *p, uint32_t x) { return x != NO_ELEMENT && p->size[p->colour[x]] > 1; }

/* A content that mentions a whole class, or all of it but one element, relates no particular elements. */
static bool occurs_in_whole_class(const struct canonical *k, const struct partition *p, const struct hyperedge *l,
                                  uint32_t which) {
  const struct occurrence *m = l->n > 0 ? k->contents.occurrences.at + l->first : NULL;
  uint32_t said = 0, colour = p->colour[m[which].element];
  for (uint32_t i = 0; i < l->n; i++)
    said += p->colour[m[i].element] == colour && m[i].tag == m[which].tag;
  return said > 1 && said + 1 >= p->size[colour];
}

static void bind_hyperedge(struct canonical *k, const struct partition *p, const struct hyperedge *l) {
  const struct occurrence *m = l->n > 0 ? k->contents.occurrences.at + l->first : NULL;
  uint32_t owner = is_open(p, l->a) ? l->a : is_open(p, l->b) ? l->b : NO_ELEMENT;
  if (l->n > OCCURRENCES_MAX || (owner == NO_ELEMENT && !l->part))
    return;
  for (uint32_t i = 0; i < l->n; i++) {
    if (!is_open(p, m[i].element) || occurs_in_whole_class(k, p, l, i))
      continue;
    if (owner == NO_ELEMENT)
      owner = m[i].element;
    bind(k, owner, m[i].element);
  }
}

/* k->bundle: the elements of open classes, bundle by bundle, each bundle ordered by colour. */
static void list_bundles(struct canonical *k, const struct partition *p) {
  uint32_t all = 0;
  memset(k->exchange.bundle_size, 0, k->nelements * sizeof *k->exchange.bundle_size);
  for (uint32_t i = 0; i < k->nelements; i++)
    if (is_open(p, p->at[i]))
      k->exchange.bundle_size[bundle_of(k, p->at[i])]++;
  for (uint32_t x = 0; x < k->nelements; x++) {
    k->exchange.bundle_first[x] = all;
    all += k->exchange.bundle_size[x];
    k->exchange.bundle_size[x] = 0;
  }
  for (uint32_t i = 0; i < k->nelements; i++)
    if (is_open(p, p->at[i])) {
      uint32_t b = bundle_of(k, p->at[i]);
      k->exchange.bundle[k->exchange.bundle_first[b] + k->exchange.bundle_size[b]++] = p->at[i];
    }
}

/* The number of elements at the front of the list that have the same colour. */
static uint32_t run_of(const struct partition *p, const uint32_t *x, uint32_t n) {
  uint32_t run = 1;
  while (run < n && p->colour[x[run]] == p->colour[x[0]])
    run++;
  return run;
}

/* Elements of one colour within a bundle must be interchangeable, because their order is not determined. The bundles
   must cover their classes: each has the same number of elements of each colour, and no other element has these
   colours. */
static bool bundle_fits(struct canonical *k, const struct partition *p, const uint32_t *x, uint32_t n,
                        uint32_t bundles) {
  for (uint32_t j = 0, run; j < n; j += run) {
    run = run_of(p, x + j, n - j);
    if (p->size[p->colour[x[j]]] != run * bundles)
      return false;
    for (uint32_t i = j; i + 1 < j + run; i++)
      if (!elements_interchangeable(k, &x[i], &x[i + 1], 1))
        return false;
  }
  return true;
}

static const uint32_t *bundle_at(struct canonical *k, const struct partition *p, uint32_t place) {
  return k->exchange.bundle + k->exchange.bundle_first[bundle_of(k, p->at[place])];
}

/* The elements of the class at `colour` must be in bundles with the same colours. Each bundle is listed at its first
   element of that class; k->heads receives these positions. 0: the bundles differ. */
static uint32_t list_heads(struct canonical *k, const struct partition *p, uint32_t colour) {
  const uint32_t *one = bundle_at(k, p, colour);
  uint32_t n = k->exchange.bundle_size[bundle_of(k, p->at[colour])], heads = 0;
  for (uint32_t i = colour; i < colour + p->size[colour]; i++) {
    uint32_t bundle = bundle_of(k, p->at[i]);
    const uint32_t *x = k->exchange.bundle + k->exchange.bundle_first[bundle];
    if (k->exchange.bundle_size[bundle] != n)
      return 0;
    uint32_t first = 0;
    while (p->colour[x[first]] != colour)
      first++;
    if (x[first] != p->at[i])
      continue;
    for (uint32_t j = 0; j < n; j++)
      if (p->colour[x[j]] != p->colour[one[j]])
        return 0;
    k->exchange.heads[heads++] = i;
  }
  return heads;
}

static void cut_bundles(struct canonical *k, struct partition *p, uint32_t colour) {
  const uint32_t *one = bundle_at(k, p, colour);
  uint32_t n = k->exchange.bundle_size[bundle_of(k, p->at[colour])], heads = list_heads(k, p, colour);
  if (n < 2 || heads == 0 || !bundle_fits(k, p, one, n, heads))
    return;
  for (uint32_t i = 0; i + 1 < heads; i++)
    if (!elements_interchangeable(k, bundle_at(k, p, k->exchange.heads[i]), bundle_at(k, p, k->exchange.heads[i + 1]),
                                  n))
      return;
  /* order every class by bundle */
  for (uint32_t i = 0; i < heads; i++)
    k->exchange.heads[i] = bundle_of(k, p->at[k->exchange.heads[i]]);
  for (uint32_t i = 0; i < heads; i++) {
    const uint32_t *x = k->exchange.bundle + k->exchange.bundle_first[k->exchange.heads[i]];
    for (uint32_t j = 0, run; j < n; j += run) {
      run = run_of(p, x + j, n - j);
      memcpy(p->at + p->colour[x[j]] + i * run, x + j, run * sizeof *x);
    }
  }
  for (uint32_t j = 0; j < n; j++)
    if (p->size[p->colour[one[j]]] > 1)
      partition_cut(p, p->colour[one[j]]);
}

void partition_cut_interchangeable(struct canonical *k, struct partition *p) {
  for (uint32_t c = 0; c < k->nelements; c += p->size[c])
    if (p->size[c] > 1 && class_is_interchangeable(k, p, c))
      partition_cut(p, c);
  if (!p->open)
    return;
  for (uint32_t x = 0; x < k->nelements; x++)
    k->exchange.parent[x] = x;
  for (uint32_t i = 0; i < k->refinement.nbinding; i++)
    bind_hyperedge(k, p, &k->refinement.hyperedges.at[i]);
  list_bundles(k, p);
  for (uint32_t c = 0; c < k->nelements; c += p->size[c])
    if (p->size[c] > 1)
      cut_bundles(k, p, c);
}
