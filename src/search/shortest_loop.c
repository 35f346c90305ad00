/* The shortest loop that satisfies all conditions: breadth-first search over pairs of a node and the set of conditions
   met. */
#include "search/shortest_loop.h"

#include <string.h>

#define NEEDS_MOST 12        /* acceptance sets and marks; each doubles the search space */
#define PLACES_MOST 4000000  /* pairs of a node and the conditions met */
#define ARROWS_MOST 20000000 /* edges followed before the best loop so far is accepted */

struct loop_link { /* how a pair was reached */
  uint32_t from, label;
};

struct loop_search {
  const struct product *product;
  const struct assumptions *assumptions;
  uint32_t scc, needs;
  uint64_t accepts[NEEDS_MOST], marks[NEEDS_MOST]; /* each has one bit set */
  struct loop_link *links;                         /* by pair: node << needs | conditions met */
  uint32_t *reached;                               /* by pair: number of the search that reached it */
  uint32_t searches;
  uint64_t arrows;
  node_vec queue;
};

static bool needs_of(struct loop_search *r) {
  uint64_t accepts = automaton_sets(r->product->automaton), often = r->assumptions->often;
  for (uint64_t left = accepts; left; left &= left - 1) {
    if (r->needs == NEEDS_MOST)
      return false;
    r->accepts[r->needs++] = left & -left;
  }
  for (uint64_t left = often; left; left &= left - 1) {
    if (r->needs == NEEDS_MOST)
      return false;
    r->marks[r->needs++] = left & -left;
  }
  return r->product->nodes.n << r->needs <= PLACES_MOST;
}

static uint32_t met_by(const struct loop_search *r, const struct product_edge *a) {
  uint64_t marks = r->product->graph->labels.at[a->label].marks;
  uint32_t met = 0;
  for (uint32_t i = 0; i < r->needs; i++)
    met |= (uint32_t)((a->accepts & r->accepts[i]) || (marks & r->marks[i])) << i;
  return met;
}

static void reach(struct loop_search *r, uint32_t place, uint32_t from, uint32_t label) {
  if (r->reached[place] == r->searches)
    return;
  r->reached[place] = r->searches;
  r->links[place] = (struct loop_link){from, label};
  vec_push(&r->queue, place);
}

/* Searches for a path from a node back to it in fewer than `most` steps. Returns the last pair; UINT32_MAX: there is
   none. */
static uint32_t round_from(struct loop_search *r, uint32_t node, uint32_t most, uint32_t *length) {
  uint32_t all = (UINT32_C(1) << r->needs) - 1, begin = node << r->needs;
  r->searches++;
  vec_clear(&r->queue);
  vec_push(&r->queue, begin); /* not marked as reached, because the path must end there, too */
  for (size_t k = 0, layer_end = 1, steps = 1; k < r->queue.n && steps < most && r->arrows < ARROWS_MOST; k++) {
    uint32_t place = r->queue.at[k];
    struct product_edges left = product_edges_of(r->product, place >> r->needs);
    struct product_edge a;
    while (product_edges_next(r->product, &left, &a)) {
      r->arrows++;
      uint32_t to = edge_inside_scc(r->product, r->assumptions, place >> r->needs, &a, r->scc);
      if (to == UINT32_MAX)
        continue;
      uint32_t met = (place & all) | met_by(r, &a);
      reach(r, to << r->needs | met, place, a.label);
      if (to == node && met == all) {
        *length = (uint32_t)steps;
        return to << r->needs | met;
      }
    }
    if (k + 1 == layer_end) {
      layer_end = r->queue.n;
      steps++;
    }
  }
  return UINT32_MAX;
}

static struct lasso_step *walk_of(const struct loop_search *r, uint32_t last, uint32_t length) {
  struct lasso_step *w = memory_alloc(length * sizeof *w);
  uint32_t place = last;
  for (uint32_t i = length; i-- > 0; place = r->links[place].from)
    w[i] = (struct lasso_step){place >> r->needs, r->links[place].label};
  return w;
}

/* Among lassos of equal length, one whose stem ends like its loop is effectively shorter: the automaton only reached
   its accepting component later. */
static uint32_t overlap_of(const struct product *p, const struct scc_entry *e, const struct lasso_step *loop,
                           uint32_t length) {
  uint32_t overlap = 0;
  for (const struct scc_entry *at = e; at->before; at = at->before, overlap++) {
    uint32_t same = (2 * length - 2 - overlap % length) % length; /* index of the preceding node in the loop */
    if (p->nodes.at[at->before->node].state != p->nodes.at[loop[same].node].state)
      break;
  }
  return overlap;
}

struct lasso_step *shortest_loop(const struct product *p, const struct assumptions *assumptions, uint32_t scc,
                                 const struct scc_entry *const *entries, size_t n, const struct scc_entry **entry,
                                 uint32_t *length, bool *shortest) {
  struct loop_search r = {.product = p, .assumptions = assumptions, .scc = scc};
  struct lasso_step *best = NULL;
  uint32_t least = UINT32_MAX - 1, shown = UINT32_MAX; /* stem and loop together; and without their overlap */
  if (!needs_of(&r))
    return NULL;
  r.links = memory_alloc((p->nodes.n << r.needs) * sizeof *r.links);
  r.reached = memory_alloc((p->nodes.n << r.needs) * sizeof *r.reached);
  for (size_t i = 0; i < n && entries[i]->distance < least && r.arrows < ARROWS_MOST; i++) {
    uint32_t steps, last = round_from(&r, entries[i]->node, least - entries[i]->distance + 1, &steps);
    if (last == UINT32_MAX)
      continue;
    struct lasso_step *loop = walk_of(&r, last, steps);
    uint32_t all = entries[i]->distance + steps, shown_length = all - overlap_of(p, entries[i], loop, steps);
    if (shown_length < shown) {
      memory_free(best);
      best = loop;
      *entry = entries[i];
      *length = steps;
      shown = shown_length;
    } else {
      memory_free(loop);
    }
    if (all < least)
      least = all;
  }
  *shortest = best && r.arrows < ARROWS_MOST;
  memory_free(r.links);
  memory_free(r.reached);
  vec_release(&r.queue);
  return best;
}
