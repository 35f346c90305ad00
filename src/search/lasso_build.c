/* Builds a lasso from an scc in which a run can stay forever: breadth-first to the scc, then a loop in it. Stem and
   loop together are shortest (shortest_loop.c, fair_loop.c). If that takes too long, the loop repeatedly goes to the
   nearest edge that satisfies a missing condition, and finally back. */
#include "search/shortest_loop.h"

#include <string.h>

struct lasso_link { /* how a node was reached */
  uint32_t from, label;
};

struct lasso_builder {
  struct product *product;
  const struct assumptions *assumptions;
  uint32_t scc;
  struct lasso_link *links; /* by node */
  uint32_t *reached;        /* by node: number of the search that reached it */
  uint32_t searches;
  node_vec queue;
  struct scc_entry *reached_by; /* by position in the queue of stems */
  size_t nreached;
  VEC(const struct scc_entry *) entries; /* the nodes in the scc, nearest first */
  VEC(struct lasso_step) walk;
  uint64_t accepts, often; /* still missing */
  VEC(bool) missing;       /* by group */
  uint32_t groups_missing;
};

/* --- conditions on the loop --- */

static bool groups_matter(const struct lasso_builder *l) {
  return l->assumptions->fair && l->product->graph->space->ops->liveness.enabled;
}

static void want_group(void *context, uint32_t group) {
  struct lasso_builder *l = context;
  while (l->missing.n <= group)
    vec_push(&l->missing, false);
  l->groups_missing += !l->missing.at[group];
  l->missing.at[group] = true;
}

static void got_group(struct lasso_builder *l, uint32_t group) {
  if (group < l->missing.n && l->missing.at[group]) {
    l->missing.at[group] = false;
    l->groups_missing--;
  }
}

struct enabled_groups { /* weak fairness: which missing groups are disabled in a node */
  struct lasso_builder *lasso_builder;
  VEC(uint32_t) possible;
};

static void note_possible(void *context, uint32_t group) {
  struct enabled_groups *i = context;
  if (group < i->lasso_builder->missing.n && i->lasso_builder->missing.at[group])
    vec_push(&i->possible, group);
}

/* Is some missing group satisfied by being disabled here? take: removes these groups from the missing ones. */
static bool satisfied_by_disabled(struct lasso_builder *l, uint32_t node, bool take) {
  if (!groups_matter(l) || l->assumptions->strong || l->groups_missing == 0)
    return false;
  struct enabled_groups i = {.lasso_builder = l};
  const struct liveness_graph *g = l->product->graph;
  struct state at = liveness_graph_state(g, l->product->nodes.at[node].state);
  g->space->ops->liveness.enabled(g->space, &at, note_possible, &i);
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

static bool adds(struct lasso_builder *l, const struct product_edge *a, uint32_t to) {
  const struct edge_label *label = &l->product->graph->labels.at[a->label];
  return (a->accepts & l->accepts) || (label->marks & l->often) ||
         (label->group < l->missing.n && l->missing.at[label->group]) || satisfied_by_disabled(l, to, false);
}

static void take(struct lasso_builder *l, uint64_t accepts, uint32_t label, uint32_t to) {
  const struct edge_label *of = &l->product->graph->labels.at[label];
  l->accepts &= ~accepts;
  l->often &= ~of->marks;
  got_group(l, of->group);
  satisfied_by_disabled(l, to, true);
}

static bool complete(const struct lasso_builder *l) { return !l->accepts && !l->often && !l->groups_missing; }

/* --- searches --- */

static void reach(struct lasso_builder *l, uint32_t node, uint32_t from, uint32_t label) {
  l->reached[node] = l->searches;
  l->links[node] = (struct lasso_link){from, label};
  vec_push(&l->queue, node);
}

/* Appends the path to a node from the start of the last search, following the links. */
static void append_way(struct lasso_builder *l, uint32_t node, uint32_t begin) {
  size_t at = l->walk.n;
  for (uint32_t n = node; n != begin; n = l->links[n].from)
    vec_push(&l->walk, ((struct lasso_step){n, l->links[n].label}));
  vec_reverse(&l->walk, at);
}

/* Breadth-first search from the initial nodes. */
static void find_stems(struct lasso_builder *l) {
  struct product *p = l->product;
  uint32_t *place = memory_alloc((p->nodes.n + 1) * sizeof *place); /* by node: its position in the queue */
  l->searches++;
  l->reached_by = memory_alloc((p->nodes.n + 1) * sizeof *l->reached_by);
  for (uint32_t i = 0; i < p->graph->initials; i++) {
    uint32_t node = product_find(p, i, 0);
    if (node != UINT32_MAX)
      reach(l, node, UINT32_MAX, LABEL_STAYS);
  }
  for (size_t k = 0; k < l->queue.n; k++) {
    uint32_t node = l->queue.at[k], from = l->links[node].from;
    const struct scc_entry *before = from == UINT32_MAX ? NULL : &l->reached_by[place[from]];
    place[node] = (uint32_t)k;
    l->reached_by[k] = (struct scc_entry){node, before ? before->distance + 1 : 0, before};
    if (p->nodes.at[node].scc == l->scc)
      vec_push(&l->entries, &l->reached_by[k]);
    struct product_edges left = product_edges_of(p, node);
    struct product_edge a;
    while (product_edges_next(p, &left, &a)) {
      uint32_t to = product_find(p, a.state, a.automaton);
      if (to != UINT32_MAX && l->reached[to] != l->searches)
        reach(l, to, node, a.label);
    }
  }
  l->nreached = l->queue.n;
  memory_free(place);
}

/* Searches from `from` inside the scc for the nearest edge that satisfies a missing condition or, with a goal, that
   leads to the goal. Appends the path and returns its end. */
static uint32_t go_on(struct lasso_builder *l, uint32_t from, uint32_t goal) {
  struct product *p = l->product;
  l->searches++;
  vec_clear(&l->queue);
  reach(l, from, UINT32_MAX, LABEL_STAYS);
  for (size_t k = 0; k < l->queue.n; k++) {
    uint32_t node = l->queue.at[k];
    struct product_edges left = product_edges_of(p, node);
    struct product_edge a;
    while (product_edges_next(p, &left, &a)) {
      uint32_t to = edge_inside_scc(p, l->assumptions, node, &a, l->scc);
      if (to == UINT32_MAX)
        continue;
      if (goal == UINT32_MAX ? adds(l, &a, to) : to == goal) {
        append_way(l, node, from);
        vec_push(&l->walk, ((struct lasso_step){to, a.label}));
        take(l, a.accepts, a.label, to);
        return to;
      }
      if (l->reached[to] != l->searches)
        reach(l, to, node, a.label);
    }
  }
  return UINT32_MAX; /* unreachable: the scc is strongly connected and satisfies all conditions */
}

/* --- the lasso --- */

/* Strong fairness: every group that is enabled somewhere in the scc must be taken. Weak: or disabled somewhere. */
static void ask_for_all(struct lasso_builder *l, const node_vec *in) {
  struct liveness_graph *g = l->product->graph;
  l->accepts = automaton_sets(l->product->automaton);
  l->often = l->assumptions->often;
  for (size_t i = 0; i < in->n && groups_matter(l); i++) {
    struct state at = liveness_graph_state(g, l->product->nodes.at[in->at[i]].state);
    g->space->ops->liveness.enabled(g->space, &at, want_group, l);
  }
}

static void go_round(struct lasso_builder *l, const node_vec *in, uint32_t entry) {
  size_t stem = l->walk.n;
  uint32_t at = entry;
  ask_for_all(l, in);
  satisfied_by_disabled(l, entry, true);
  while (!complete(l) && at != UINT32_MAX)
    at = go_on(l, at, UINT32_MAX);
  if (at != UINT32_MAX && (at != entry || l->walk.n == stem))
    go_on(l, at, entry);
}

/* Stuttering steps are left out: they only repeat a state. */
static void write_lasso(struct lasso_builder *l, uint32_t start, size_t stem, struct state_lasso *out) {
  const struct product *p = l->product;
  const struct liveness_graph *g = p->graph;
  out->path = memory_alloc((l->walk.n + 1) * sizeof *out->path);
  out->wish = memory_alloc((l->walk.n + 1) * sizeof *out->wish);
  out->path[out->n++] = liveness_graph_state(g, p->nodes.at[start].state);
  for (size_t i = 0; i < l->walk.n; i++) {
    const struct edge_label *label = &g->labels.at[l->walk.at[i].label];
    if (i == stem)
      out->loop = out->n - 1;
    if (l->walk.at[i].label == LABEL_STAYS)
      continue;
    bool loops = i >= stem;
    out->wish[out->n - 1] = (struct step_requirement){
        loops ? label->marks & (l->assumptions->often | l->assumptions->finally) : 0, loops ? label->group : NO_GROUP};
    out->path[out->n++] = liveness_graph_state(g, p->nodes.at[l->walk.at[i].node].state);
  }
}

static bool same_state(const struct state *a, const struct state *b) {
  return a->length == b->length && !memcmp(a->bytes, b->bytes, a->length);
}

/* If the stem ends like the loop, the loop can begin earlier. (The automaton reached its accepting component only
   later.) */
static void shorten_stem(struct state_lasso *l) {
  while (l->loop > 0 && l->loop < l->n - 1 && same_state(&l->path[l->loop - 1], &l->path[l->n - 2])) {
    l->wish[l->loop - 1] = l->wish[l->n - 2];
    l->loop--;
    l->n--;
  }
}

static void make(struct lasso_builder *l, const node_vec *in, uint32_t entry, const struct lasso_step *loop,
                 uint32_t length, struct state_lasso *out) {
  uint32_t start = entry;
  while (l->links[start].from != UINT32_MAX)
    start = l->links[start].from;
  append_way(l, entry, start);
  size_t stem = l->walk.n;
  for (uint32_t i = 0; i < length; i++)
    vec_push(&l->walk, loop[i]);
  if (!loop)
    go_round(l, in, entry);
  write_lasso(l, start, stem, out);
  shorten_stem(out);
}

/* --- is it the shortest? --- */

#define BOUND_EDGES_MOST 4000000

/* The scc, with nodes that differ only in the state of the automaton as one. */
struct projected_scc {
  const struct lasso_builder *of;
  uint32_t nstates;
  uint32_t *distance;     /* by state: of the nearest node, in the scc or not */
  uint32_t *first, *next; /* the nodes of a state in the scc: 1 + the first one, by state; 1 + the next one, by node */
  uint32_t *reached;      /* by state: number of the search that reached it */
  node_vec queue;
  uint64_t edges;
};

static void projected_init(struct projected_scc *j, const struct lasso_builder *l) {
  const struct product *p = l->product;
  *j = (struct projected_scc){.of = l};
  for (size_t i = 0; i < p->nodes.n; i++)
    j->nstates = p->nodes.at[i].state >= j->nstates ? p->nodes.at[i].state + 1 : j->nstates;
  j->distance = memory_alloc((j->nstates + (size_t)1) * sizeof *j->distance);
  j->first = memory_alloc((j->nstates + (size_t)1) * sizeof *j->first);
  j->reached = memory_alloc((j->nstates + (size_t)1) * sizeof *j->reached);
  j->next = memory_alloc((p->nodes.n + 1) * sizeof *j->next);
  memset(j->distance, 0xFF, j->nstates * sizeof *j->distance);
  for (size_t k = 0; k < l->nreached; k++) {
    const struct scc_entry *e = &l->reached_by[k];
    uint32_t state = p->nodes.at[e->node].state;
    if (e->distance < j->distance[state])
      j->distance[state] = e->distance;
    if (p->nodes.at[e->node].scc == l->scc) {
      j->next[e->node] = j->first[state];
      j->first[state] = e->node + 1;
    }
  }
}

static void projected_release(struct projected_scc *j) {
  memory_free(j->distance);
  memory_free(j->first);
  memory_free(j->next);
  memory_free(j->reached);
  vec_release(&j->queue);
}

/* Is there a way from the state back to it in fewer than `most` steps? A step that stays there is none. */
static bool returns_within(struct projected_scc *j, uint32_t begin, uint32_t most) {
  const struct lasso_builder *l = j->of;
  vec_clear(&j->queue);
  vec_push(&j->queue, begin);
  for (size_t k = 0, layer_end = 1, steps = 1; k < j->queue.n && steps <= most; k++) {
    for (uint32_t node = j->first[j->queue.at[k]]; node; node = j->next[node - 1]) {
      struct product_edges left = product_edges_of(l->product, node - 1);
      struct product_edge a;
      while (product_edges_next(l->product, &left, &a)) {
        j->edges++;
        if (edge_inside_scc(l->product, l->assumptions, node - 1, &a, l->scc) == UINT32_MAX)
          continue;
        if (a.state == begin && (steps < most || (a.label == LABEL_STAYS && k == 0)))
          return true;
        if (j->reached[a.state] == begin + 1)
          continue;
        j->reached[a.state] = begin + 1;
        vec_push(&j->queue, a.state);
      }
    }
    if (k + 1 == layer_end) {
      layer_end = j->queue.n;
      steps++;
    }
  }
  return false;
}

/* The automaton may notice only on the way round that a run is accepted, so that a lasso that is the shortest in the
   product need not be the shortest run. A run needs a way to a state of the scc, and one from there back to it: if none
   are shorter together, it is. False: it is not known. */
static bool none_is_shorter(const struct lasso_builder *l, uint32_t length) {
  struct projected_scc j;
  bool shorter = false;
  projected_init(&j, l);
  for (uint32_t s = 0; s < j.nstates && !shorter && j.edges < BOUND_EDGES_MOST; s++)
    if (j.first[s] && j.distance[s] < length)
      shorter = returns_within(&j, s, length - j.distance[s]);
  bool none = !shorter && j.edges < BOUND_EDGES_MOST;
  projected_release(&j);
  return none;
}

void state_lasso_make(struct product *p, const struct assumptions *assumptions, uint32_t scc, const node_vec *in,
                      struct state_lasso *out) {
  struct lasso_builder l = {.product = p, .assumptions = assumptions, .scc = scc};
  l.links = memory_alloc((p->nodes.n + 1) * sizeof *l.links);
  l.reached = memory_alloc((p->nodes.n + 1) * sizeof *l.reached);
  find_stems(&l);
  const struct scc_entry *nearest = l.entries.at[0];
  uint32_t length = 0;
  struct lasso_step *loop;
  if (!groups_matter(&l))
    loop = shortest_loop(p, assumptions, scc, l.entries.at, l.entries.n, &nearest, &length, &out->shortest);
  else
    loop = assumptions->coins
               ? NULL
               : fair_loop(p, assumptions, scc, l.entries.at, l.entries.n, &nearest, &length, &out->shortest);
  if (loop || in)
    make(&l, in, nearest->node, loop, length, out);
  if (out->shortest && !groups_matter(&l))
    out->shortest = out->n > 0 && none_is_shorter(&l, out->n - 1);
  memory_free(loop);
  memory_free(l.links);
  memory_free(l.reached);
  vec_release(&l.queue);
  vec_release(&l.entries);
  memory_free(l.reached_by);
  vec_release(&l.walk);
  vec_release(&l.missing);
}
