/* Partition refinement: locations stay in one class while they have the same unsafe cubes and the same transitions into
   the same classes. Cubes are compared syntactically. Equal cubes usually have equal rows, because they are built the
   same way; otherwise the quotient only has more locations than necessary. */
#include "param/counter_graph.h"

#include "base/memory.h"

#include <string.h>

static bool cubes_equal(const struct cube *a, const struct cube *b) {
  return a->width == b->width && a->n == b->n && a->empty == b->empty && a->overflow == b->overflow &&
         (a->n == 0 || (memcmp(a->cells.at, b->cells.at, a->cells.n * sizeof *a->cells.at) == 0 &&
                        memcmp(a->equal.at, b->equal.at, a->equal.n * sizeof *a->equal.at) == 0));
}

static bool same_unsafe(const struct location *a, const struct location *b) {
  if (a->unsafe.n != b->unsafe.n)
    return false;
  for (size_t i = 0; i < a->unsafe.n; i++)
    if (!cubes_equal(&a->unsafe.at[i], &b->unsafe.at[i]))
      return false;
  return true;
}

static bool same_label(const struct counter_graph *g, const struct counter_transition *a,
                       const struct counter_transition *b) {
  if (a->move != b->move || !cubes_equal(&a->guard, &b->guard))
    return false;
  for (uint32_t i = 0; i < g->ncounters; i++)
    if (memcmp(a->update[i], b->update[i], a->guard.width * sizeof **a->update) != 0)
      return false;
  return true;
}

struct partition_refinement {
  struct counter_graph *g;
  uint32_t *class;
  size_t *first; /* by location: its first transition; those of one location are contiguous */
};

/* Every transition of a has a counterpart in b. */
static bool is_simulated(const struct partition_refinement *m, uint32_t a, uint32_t b) {
  const struct counter_transition *t = m->g->transitions.at;
  for (size_t i = m->first[a]; i < m->first[a + 1]; i++) {
    bool found = false;
    for (size_t k = m->first[b]; k < m->first[b + 1] && !found; k++)
      found = m->class[t[i].to] == m->class[t[k].to] && same_label(m->g, &t[i], &t[k]);
    if (!found)
      return false;
  }
  return true;
}

/* One round of refinement. Returns the number of classes. */
static uint32_t refine(struct partition_refinement *m) {
  uint32_t n = (uint32_t)m->g->locations.n, classes = 0;
  uint32_t *next = memory_alloc((n + (size_t)1) * sizeof *next);
  for (uint32_t i = 0; i < n; i++) {
    if (m->g->stop && *m->g->stop) { /* the caller discards the result */
      memory_free(next);
      return n;
    }
    next[i] = UINT32_MAX;
    for (uint32_t k = 0; k < i && next[i] == UINT32_MAX; k++)
      if (m->class[i] == m->class[k] && is_simulated(m, i, k) && is_simulated(m, k, i))
        next[i] = next[k];
    if (next[i] == UINT32_MAX)
      next[i] = classes++;
  }
  memcpy(m->class, next, n * sizeof *next);
  memory_free(next);
  return classes;
}

static void location_join(struct location *to, struct location *from) {
  for (size_t i = 0; i < from->controls.n; i++)
    vec_push(&to->controls, from->controls.at[i]);
  for (size_t i = 0; i < from->start.n; i++) {
    vec_push(&to->start, from->start.at[i]);
    vec_push(&to->started, from->started.at[i]);
  }
  from->start.n = 0;
  location_release(from);
}

/* Keeps the first location of each class. */
static void build_quotient(struct partition_refinement *m, uint32_t classes) {
  struct counter_graph *g = m->g;
  uint32_t done = 0;
  size_t kept = 0;
  uint32_t *representative = memory_alloc((classes + (size_t)1) * sizeof *representative);
  for (uint32_t i = 0; i < g->locations.n; i++)
    if (m->class[i] == done) {
      representative[done] = i;
      g->locations.at[done++] = g->locations.at[i];
    } else {
      location_join(&g->locations.at[m->class[i]], &g->locations.at[i]);
    }
  for (size_t i = 0; i < g->transitions.n; i++) {
    struct counter_transition t = g->transitions.at[i];
    if (representative[m->class[t.from]] != t.from) {
      cube_release(&t.guard);
      continue;
    }
    t.from = m->class[t.from];
    t.to = m->class[t.to];
    g->transitions.at[kept++] = t;
  }
  g->locations.n = classes;
  g->transitions.n = kept;
  memory_free(representative);
}

void counter_graph_minimise(struct counter_graph *g) {
  uint32_t n = (uint32_t)g->locations.n, classes = 0, before;
  struct partition_refinement m = {g, memory_alloc((n + (size_t)1) * sizeof *m.class),
                                   memory_alloc((n + (size_t)2) * sizeof *m.first)};
  for (size_t i = 0; i < g->transitions.n; i++)
    m.first[g->transitions.at[i].from + 1] = i + 1;
  for (uint32_t i = 0; i < n; i++) {
    if (m.first[i + 1] < m.first[i]) /* a location without transitions */
      m.first[i + 1] = m.first[i];
    m.class[i] = UINT32_MAX;
    for (uint32_t k = 0; k < i && m.class[i] == UINT32_MAX; k++)
      if (same_unsafe(&g->locations.at[i], &g->locations.at[k]))
        m.class[i] = m.class[k];
    if (m.class[i] == UINT32_MAX)
      m.class[i] = classes++;
  }
  do {
    before = classes;
    classes = refine(&m);
  } while (classes > before);
  if (classes < n)
    build_quotient(&m, classes);
  memory_free(m.class);
  memory_free(m.first);
}
