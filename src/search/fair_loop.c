/* The shortest loop that satisfies all conditions, fairness included: breadth-first search over nodes with what the
   loop has met so far. Weak fairness: the groups that were enabled all the time and not taken. Strong fairness: those
   that were enabled at some time, and those that were taken. */
#include "search/shortest_loop.h"

#include "base/intern.h"

#include <string.h>

#define GROUPS_MOST 64
#define PLACES_MOST 1000000  /* nodes with what was met, of one search */
#define ARROWS_MOST 10000000 /* edges followed before the best loop so far is accepted */

struct fair_place {
  uint32_t node;
  uint64_t accepts, marks; /* met */
  uint64_t enabled, taken; /* weak: `enabled` are those that the loop still owes, and `taken` is empty */
};

struct fair_search {
  const struct product *product;
  const struct assumptions *assumptions;
  uint32_t scc;
  VEC(uint8_t) index;            /* by group: 1 + its bit; 0: none yet */
  uint32_t groups;               /* that have a bit */
  uint64_t *enabled;             /* by node */
  bool *known;                   /* by node: `enabled` is */
  struct intern *names;          /* of places */
  VEC(struct fair_place) places; /* by name */
  VEC(struct lasso_step) links;  /* by name: `node` is the place before */
  uint64_t arrows;
  uint64_t collected; /* while the groups of a node are listed */
  bool gave_up;
};

static uint64_t group_bit(struct fair_search *f, uint32_t group) {
  if (group == NO_GROUP)
    return 0;
  while (f->index.n <= group)
    vec_push(&f->index, (uint8_t)0);
  if (f->index.at[group] == 0 && f->groups == GROUPS_MOST) {
    f->gave_up = true;
    return 0;
  }
  if (f->index.at[group] == 0)
    f->index.at[group] = (uint8_t)++f->groups;
  return UINT64_C(1) << (f->index.at[group] - 1);
}

static void collect(void *context, uint32_t group) {
  struct fair_search *f = context;
  f->collected |= group_bit(f, group);
}

static uint64_t enabled_in(struct fair_search *f, uint32_t node) {
  if (!f->known[node]) {
    const struct liveness_graph *g = f->product->graph;
    struct state at = liveness_graph_state(g, f->product->nodes.at[node].state);
    f->collected = 0;
    g->space->ops->liveness.enabled(g->space, &at, collect, f);
    f->enabled[node] = f->collected;
    f->known[node] = true;
  }
  return f->enabled[node];
}

static bool is_fair(const struct fair_search *f, const struct fair_place *p) {
  return p->accepts == automaton_sets(f->product->automaton) && !(f->assumptions->often & ~p->marks) &&
         !(p->enabled & ~p->taken);
}

static struct fair_place after(struct fair_search *f, const struct fair_place *p, const struct product_edge *e,
                               uint32_t to) {
  const struct edge_label *label = &f->product->graph->labels.at[e->label];
  uint64_t taken = group_bit(f, label->group), enabled = enabled_in(f, to);
  struct fair_place next = {.node = to,
                            .accepts = p->accepts | (e->accepts & automaton_sets(f->product->automaton)),
                            .marks = p->marks | (label->marks & f->assumptions->often)};
  if (f->assumptions->strong) {
    next.enabled = p->enabled | enabled;
    next.taken = p->taken | taken;
  } else {
    next.enabled = p->enabled & enabled & ~taken;
  }
  return next;
}

/* True: it is new. */
static bool reach(struct fair_search *f, const struct fair_place *p, uint32_t from, uint32_t label) {
  int64_t key[] = {p->node, (int64_t)p->accepts, (int64_t)p->marks, (int64_t)p->enabled, (int64_t)p->taken};
  if (intern_put(f->names, key, sizeof key / sizeof *key) < f->places.n)
    return false;
  vec_push(&f->places, *p);
  vec_push(&f->links, ((struct lasso_step){from, label}));
  return true;
}

/* A loop through the node in fewer than `most` steps. Returns the place before its last step; UINT32_MAX: there is
   none, or it gave up. */
static uint32_t loop_from(struct fair_search *f, uint32_t node, uint32_t most, uint32_t *length, uint32_t *label) {
  struct fair_place begin = {.node = node, .enabled = enabled_in(f, node)};
  intern_free(f->names);
  f->names = intern_new();
  vec_clear(&f->places);
  vec_clear(&f->links);
  reach(f, &begin, UINT32_MAX, LABEL_STAYS);
  for (size_t k = 0, layer_end = 1, steps = 1; k < f->places.n && steps < most && !f->gave_up; k++) {
    struct fair_place at = f->places.at[k];
    struct product_edges left = product_edges_of(f->product, at.node);
    struct product_edge e;
    while (product_edges_next(f->product, &left, &e) && !f->gave_up) {
      uint32_t to = edge_inside_scc(f->product, f->assumptions, at.node, &e, f->scc);
      f->gave_up |= ++f->arrows >= ARROWS_MOST || f->places.n >= PLACES_MOST;
      if (to == UINT32_MAX)
        continue;
      struct fair_place next = after(f, &at, &e, to);
      if (to == node && is_fair(f, &next)) {
        *length = (uint32_t)steps;
        *label = e.label;
        return (uint32_t)k;
      }
      reach(f, &next, (uint32_t)k, e.label);
    }
    if (k + 1 == layer_end) {
      layer_end = f->places.n;
      steps++;
    }
  }
  return UINT32_MAX;
}

static struct lasso_step *walk_of(const struct fair_search *f, uint32_t node, uint32_t last, uint32_t label,
                                  uint32_t length) {
  struct lasso_step *w = memory_alloc(length * sizeof *w);
  w[length - 1] = (struct lasso_step){node, label};
  for (uint32_t i = length - 1; i-- > 0; last = f->links.at[last].node)
    w[i] = (struct lasso_step){f->places.at[last].node, f->links.at[last].label};
  return w;
}

struct lasso_step *fair_loop(const struct product *p, const struct assumptions *assumptions, uint32_t scc,
                             const struct scc_entry *const *entries, size_t n, const struct scc_entry **entry,
                             uint32_t *length, bool *shortest) {
  struct fair_search f = {.product = p, .assumptions = assumptions, .scc = scc};
  struct lasso_step *best = NULL;
  uint32_t least = UINT32_MAX - 1; /* stem and loop together */
  f.enabled = memory_alloc((p->nodes.n + 1) * sizeof *f.enabled);
  f.known = memory_alloc(p->nodes.n + 1);
  for (size_t i = 0; i < n && entries[i]->distance + 1 < least && !f.gave_up; i++) {
    uint32_t steps, label;
    uint32_t last = loop_from(&f, entries[i]->node, least - entries[i]->distance, &steps, &label);
    if (last == UINT32_MAX)
      continue;
    memory_free(best);
    best = walk_of(&f, entries[i]->node, last, label, steps);
    *entry = entries[i];
    *length = steps;
    least = entries[i]->distance + steps;
  }
  *shortest = best && !f.gave_up;
  intern_free(f.names);
  memory_free(f.enabled);
  memory_free(f.known);
  vec_release(&f.index);
  vec_release(&f.places);
  vec_release(&f.links);
  return best;
}
