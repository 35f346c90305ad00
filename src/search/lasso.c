/* From a region in which a run can go round for ever to one such run: breadth-first to the region, then round in it. Without
   fairness the shortest way there and round; with it, round by the nearest arrow that adds something which is still missing,
   and back. */
#include "search/loop.h"

#include <string.h>

struct link { /* how a node was reached */
  uint32_t from, label;
};

struct lassoing {
  struct product *product;
  const struct assumptions *assumptions;
  uint32_t region;
  struct link *links; /* by node */
  uint32_t *reached;  /* by node: in which search */
  uint32_t searches;
  node_vec queue;
  struct entry *reached_by;  /* by place in the queue of stems */
  VEC(const struct entry *) entries; /* those in the region, nearest first */
  VEC(struct walk) walk;
  uint64_t accepts, often; /* still missing */
  VEC(bool) missing;       /* by group */
  uint32_t groups_missing;
};

/* --- what is asked for --- */

static bool groups_matter(const struct lassoing *l) {
  return l->assumptions->fair && l->product->graph->space->ops->enabled;
}

static void want_group(void *context, uint32_t group) {
  struct lassoing *l = context;
  while (l->missing.n <= group)
    vec_push(&l->missing, false);
  l->groups_missing += !l->missing.at[group];
  l->missing.at[group] = true;
}

static void got_group(struct lassoing *l, uint32_t group) {
  if (group < l->missing.n && l->missing.at[group]) {
    l->missing.at[group] = false;
    l->groups_missing--;
  }
}

struct impossible { /* weak fairness: which missing groups are not possible in a node */
  struct lassoing *lassoing;
  VEC(uint32_t) possible;
};

static void note_possible(void *context, uint32_t group) {
  struct impossible *i = context;
  if (group < i->lassoing->missing.n && i->lassoing->missing.at[group])
    vec_push(&i->possible, group);
}

/* Is some missing group satisfied by being impossible here? take: then they are missing no more. */
static bool rests(struct lassoing *l, uint32_t node, bool take) {
  if (!groups_matter(l) || l->assumptions->strong || l->groups_missing == 0)
    return false;
  struct impossible i = {.lassoing = l};
  const struct graph *g = l->product->graph;
  struct state at = graph_state(g, l->product->nodes.at[node].state);
  g->space->ops->enabled(g->space, &at, note_possible, &i);
  bool some = i.possible.n < l->groups_missing;
  if (some && take) {
    memset(l->missing.at, 0, l->missing.n * sizeof *l->missing.at);
    l->groups_missing = 0;
    for (size_t k = 0; k < i.possible.n; k++)
      want_group(l, i.possible.at[k]);
  }
  vec_release(&i.possible);
  return some;
}

static bool adds(struct lassoing *l, const struct arrow *a, uint32_t to) {
  const struct label *label = &l->product->graph->labels.at[a->label];
  return (a->accepts & l->accepts) || (label->marks & l->often) ||
         (label->group < l->missing.n && l->missing.at[label->group]) || rests(l, to, false);
}

static void take(struct lassoing *l, uint64_t accepts, uint32_t label, uint32_t to) {
  const struct label *of = &l->product->graph->labels.at[label];
  l->accepts &= ~accepts;
  l->often &= ~of->marks;
  got_group(l, of->group);
  rests(l, to, true);
}

static bool complete(const struct lassoing *l) { return !l->accepts && !l->often && !l->groups_missing; }

/* --- searches --- */

static void reach(struct lassoing *l, uint32_t node, uint32_t from, uint32_t label) {
  l->reached[node] = l->searches;
  l->links[node] = (struct link){from, label};
  vec_push(&l->queue, node);
}

/* Appends the way to a node, from where the last search began (links lead there). */
static void append_way(struct lassoing *l, uint32_t node, uint32_t begin) {
  size_t at = l->walk.n;
  for (uint32_t n = node; n != begin; n = l->links[n].from)
    vec_push(&l->walk, ((struct walk){n, l->links[n].label}));
  for (size_t end = l->walk.n; at + 1 < end; at++, end--) {
    struct walk swap = l->walk.at[at];
    l->walk.at[at] = l->walk.at[end - 1];
    l->walk.at[end - 1] = swap;
  }
}

/* Breadth-first, from where runs begin. */
static void find_stems(struct lassoing *l) {
  struct product *p = l->product;
  uint32_t *place = memory_alloc((p->nodes.n + 1) * sizeof *place); /* by node, in the queue */
  l->searches++;
  l->reached_by = memory_alloc((p->nodes.n + 1) * sizeof *l->reached_by);
  for (uint32_t i = 0; i < p->graph->initials; i++) {
    uint32_t node = product_find(p, i, 0);
    if (node != UINT32_MAX)
      reach(l, node, UINT32_MAX, LABEL_STAYS);
  }
  for (size_t k = 0; k < l->queue.n; k++) {
    uint32_t node = l->queue.at[k], from = l->links[node].from;
    const struct entry *before = from == UINT32_MAX ? NULL : &l->reached_by[place[from]];
    place[node] = (uint32_t)k;
    l->reached_by[k] = (struct entry){node, before ? before->distance + 1 : 0, before};
    if (p->nodes.at[node].region == l->region)
      vec_push(&l->entries, &l->reached_by[k]);
    struct arrows left = arrows_of(p, node);
    struct arrow a;
    while (arrows_next(p, &left, &a)) {
      uint32_t to = product_find(p, a.state, a.automaton);
      if (to != UINT32_MAX && l->reached[to] != l->searches)
        reach(l, to, node, a.label);
    }
  }
  memory_free(place);
}

/* From `from`, inside the region: to the nearest arrow that adds something, or (goal) that leads there. Takes it along;
   returns where it ends. */
static uint32_t go_on(struct lassoing *l, uint32_t from, uint32_t goal) {
  struct product *p = l->product;
  l->searches++;
  vec_clear(&l->queue);
  reach(l, from, UINT32_MAX, LABEL_STAYS);
  for (size_t k = 0; k < l->queue.n; k++) {
    uint32_t node = l->queue.at[k];
    struct arrows left = arrows_of(p, node);
    struct arrow a;
    while (arrows_next(p, &left, &a)) {
      uint32_t to = arrow_inside(p, l->assumptions, node, &a, l->region);
      if (to == UINT32_MAX)
        continue;
      if (goal == UINT32_MAX ? adds(l, &a, to) : to == goal) {
        append_way(l, node, from);
        vec_push(&l->walk, ((struct walk){to, a.label}));
        take(l, a.accepts, a.label, to);
        return to;
      }
      if (l->reached[to] != l->searches)
        reach(l, to, node, a.label);
    }
  }
  return UINT32_MAX; /* cannot be: the region is strongly connected, and has it all */
}

/* --- the lasso --- */

/* Strong fairness: whatever is possible somewhere in the region is taken. Weak: taken, or impossible somewhere. */
static void ask_for_all(struct lassoing *l, const node_vec *in) {
  struct graph *g = l->product->graph;
  l->accepts = automaton_sets(l->product->automaton);
  l->often = l->assumptions->often;
  for (size_t i = 0; i < in->n && groups_matter(l); i++) {
    struct state at = graph_state(g, l->product->nodes.at[in->at[i]].state);
    g->space->ops->enabled(g->space, &at, want_group, l);
  }
}

static void go_round(struct lassoing *l, const node_vec *in, uint32_t entry) {
  size_t stem = l->walk.n;
  uint32_t at = entry;
  ask_for_all(l, in);
  rests(l, entry, true);
  while (!complete(l) && at != UINT32_MAX)
    at = go_on(l, at, UINT32_MAX);
  if (at != UINT32_MAX && (at != entry || l->walk.n == stem))
    go_on(l, at, entry);
}

/* Steps that are none are left out: they only repeat a state. */
static void tell(struct lassoing *l, uint32_t start, size_t stem, struct lasso *out) {
  const struct product *p = l->product;
  const struct graph *g = p->graph;
  out->path = memory_alloc((l->walk.n + 1) * sizeof *out->path);
  out->wish = memory_alloc((l->walk.n + 1) * sizeof *out->wish);
  out->path[out->n++] = graph_state(g, p->nodes.at[start].state);
  for (size_t i = 0; i < l->walk.n; i++) {
    const struct label *label = &g->labels.at[l->walk.at[i].label];
    if (i == stem)
      out->loop = out->n - 1;
    if (l->walk.at[i].label == LABEL_STAYS)
      continue;
    bool loops = i >= stem;
    out->wish[out->n - 1] = (struct step_wish){loops ? label->marks & (l->assumptions->often | l->assumptions->finally) : 0,
                                               loops ? label->group : NO_GROUP};
    out->path[out->n++] = graph_state(g, p->nodes.at[l->walk.at[i].node].state);
  }
}

static bool same_state(const struct state *a, const struct state *b) {
  return a->length == b->length && !memcmp(a->bytes, b->bytes, a->length);
}

/* A stem that ends like the loop: the loop begins earlier. (The automaton was not ready for it yet.) */
static void shorten_stem(struct lasso *l) {
  while (l->loop > 0 && l->loop < l->n - 1 && same_state(&l->path[l->loop - 1], &l->path[l->n - 2])) {
    l->wish[l->loop - 1] = l->wish[l->n - 2];
    l->loop--;
    l->n--;
  }
}

static void make(struct lassoing *l, const node_vec *in, uint32_t entry, const struct walk *loop, uint32_t length,
                 struct lasso *out) {
  uint32_t start = entry;
  while (l->links[start].from != UINT32_MAX)
    start = l->links[start].from;
  append_way(l, entry, start);
  size_t stem = l->walk.n;
  for (uint32_t i = 0; i < length; i++)
    vec_push(&l->walk, loop[i]);
  if (!loop)
    go_round(l, in, entry);
  tell(l, start, stem, out);
  shorten_stem(out);
}

void lasso_make(struct product *p, const struct assumptions *assumptions, uint32_t region, const node_vec *in,
                struct lasso *out) {
  struct lassoing l = {.product = p, .assumptions = assumptions, .region = region};
  l.links = memory_alloc((p->nodes.n + 1) * sizeof *l.links);
  l.reached = memory_alloc((p->nodes.n + 1) * sizeof *l.reached);
  find_stems(&l);
  const struct entry *nearest = l.entries.at[0];
  uint32_t length = 0;
  struct walk *loop = groups_matter(&l) ? NULL
                                        : shortest_loop(p, assumptions, region, l.entries.at, l.entries.n, &nearest, &length);
  if (loop || in)
    make(&l, in, nearest->node, loop, length, out);
  memory_free(loop);
  memory_free(l.links);
  memory_free(l.reached);
  vec_release(&l.queue);
  vec_release(&l.entries);
  memory_free(l.reached_by);
  vec_release(&l.walk);
  vec_release(&l.missing);
}
