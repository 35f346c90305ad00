#include "search/liveness_search.h"

#include "search/fair_scc.h"
#include "search/scc_precheck.h"
#include "search/scc_stack.h"

#include <string.h>

#define TRANSITIONS_MORE 20000
#define PRECHECK_MIN_STATES 50000 /* with fewer states, storing the edges is no problem */

struct scc_search { /* depth-first search for SCCs */
  struct liveness_search *live;
  struct product product;
  struct assumptions assumptions;
  struct scc_stack stack;
  node_vec found;
  uint32_t scc;
  bool eager;     /* judge partial components, too */
  bool prechecks; /* run the pre-check when there are many states */
  bool nothing;   /* the pre-check showed that there is no fair scc */
  bool anywhere;  /* runs begin in any state of the automaton */
  bool all;       /* find every scc, and merge them into one */
  uint32_t common;
  uint64_t transitions_most; /* all: stop after so many transitions, or after so many seconds */
  double seconds_most;
};

static void state_lasso_release(struct state_lasso *l) {
  memory_free(l->path);
  memory_free(l->wish);
  *l = (struct state_lasso){0};
}

void liveness_search_init(struct liveness_search *l, struct system *space, const struct automaton *a,
                          const struct assumptions *assumptions, const struct limits *limits) {
  *l = (struct liveness_search){.automaton = a, .assumptions = *assumptions};
  liveness_graph_init(&l->graph, space, limits);
}

void liveness_search_release(struct liveness_search *l) {
  state_lasso_release(&l->lasso);
  liveness_graph_release(&l->graph);
}

static bool is_full(const struct scc_search *d, const struct scc_root *r) {
  return r->accepts == automaton_sets(d->product.automaton) && !(d->assumptions.often & ~r->marks);
}

/* False: a limit was reached, or the search must restart. */
static bool enter(struct scc_search *d, uint32_t node, uint64_t accepts, uint64_t marks) {
  if (!liveness_graph_expand(d->product.graph, d->product.nodes.at[node].state))
    return false;
  scc_stack_enter(&d->stack, &d->product, node, accepts, marks);
  d->product.graph->product_memory = product_bytes(&d->product) + scc_stack_bytes(&d->stack);
  return true;
}

/* An edge back to an open node. */
static void merge_components(struct scc_search *d, const struct product_state *to, uint64_t accepts, uint64_t marks) {
  const struct scc_root *top = scc_roots_merge(&d->stack.roots, to->number, accepts, marks);
  if (d->eager && is_full(d, top)) {
    scc_stack_take(&d->stack, &d->product, top->number, &d->found);
    d->scc = ++d->product.sccs;
    for (size_t i = 0; i < d->found.n; i++)
      d->product.nodes.at[d->found.at[i]].scc = d->scc;
  }
}

/* Merges the scc of another component into the common one. */
static void merge_sccs(struct scc_search *d, uint32_t scc, const node_vec *nodes) {
  if (!d->common)
    d->common = scc;
  for (size_t i = 0; i < nodes->n; i++)
    d->product.nodes.at[nodes->at[i]].scc = d->common;
}

static void find_fair_scc(struct scc_search *d, const node_vec *component) {
  node_vec in = {0};
  uint32_t scc = fair_scc_find(&d->product, &d->assumptions, component, d->all ? &in : &d->found);
  if (scc && d->all)
    merge_sccs(d, scc, &in);
  else
    d->scc = scc;
  vec_release(&in);
}

/* All edges of the node have been followed. */
static void leave(struct scc_search *d) {
  struct scc_root root;
  node_vec component = {0};
  if (!scc_stack_leave(&d->stack, &d->product, &root, &component))
    return;
  if (is_full(d, &root) && !d->eager)
    find_fair_scc(d, &component);
  for (size_t i = 0; i < component.n; i++)
    d->product.nodes.at[component.at[i]].number = SCC_COMPLETE;
  vec_release(&component);
}

static bool is_enough(const struct scc_search *d) {
  const struct search_stats *s = &d->product.graph->stats;
  return s->transitions > d->transitions_most || s->seconds > d->seconds_most;
}

/* For a search that ended in the pre-check; the depth is unknown. */
static void note_precheck_stats(struct liveness_search *l) {
  l->prechecked = true;
  l->precheck_stats = l->graph.stats;
  l->precheck_stats.transitions = l->graph.precheck.transitions;
  l->precheck_stats.depth_unknown = true;
}

/* Once there are many states, checks whether the product is certainly empty. False: it is, or a limit was reached, or
   the search must restart. */
static bool run_precheck(struct scc_search *d) {
  struct liveness_search *l = d->live;
  bool rekeyed;
  d->prechecks = false;
  l->precheck_tried = true;
  enum precheck_result says = scc_precheck_run(l, &rekeyed);
  l->graph.space->restart = rekeyed; /* the states found before must be found again */
  d->nothing = says == PRECHECK_EMPTY;
  if (says != PRECHECK_UNDECIDED)
    note_precheck_stats(l);
  return says == PRECHECK_UNDECIDED && !rekeyed;
}

/* Stops when an scc is found or all nodes reachable from the start are explored. False: stopped. */
static bool scc_search_from(struct scc_search *d, uint32_t start) {
  struct liveness_graph *g = d->product.graph;
  if (!enter(d, start, 0, 0))
    return false;
  while (d->stack.path.n > 0 && !d->scc) {
    struct product_edge a;
    if (!liveness_graph_tick(g, 1) || (d->all && is_enough(d)))
      return false;
    if (d->prechecks && g->refs.n >= d->live->precheck_from && !run_precheck(d))
      return false;
    if (!product_edges_next(&d->product, &d->stack.path.at[d->stack.path.n - 1].left, &a)) {
      leave(d);
      if (search_limited(g->end))
        return false;
      continue;
    }
    uint64_t marks = g->labels.at[a.label].marks;
    uint32_t to = product_node(&d->product, a.state, a.automaton);
    const struct product_state *n = &d->product.nodes.at[to];
    if (n->number == SCC_UNVISITED) {
      if (!enter(d, to, a.accepts, marks))
        return false;
    } else if (n->number != SCC_COMPLETE) {
      merge_components(d, n, a.accepts, marks);
    }
  }
  return true;
}

static void scc_search_init(struct scc_search *d, struct liveness_search *l, const struct automaton *a,
                            const struct assumptions *assumptions) {
  *d = (struct scc_search){.live = l, .assumptions = *assumptions};
  d->eager = !assumptions->fair && !assumptions->finally && !assumptions->coins;
  product_init(&d->product, &l->graph, a);
}

static void scc_search_release(struct scc_search *d) {
  product_release(&d->product);
  scc_stack_release(&d->stack);
  vec_release(&d->found);
}

static bool scc_search(struct scc_search *d) {
  struct liveness_graph *g = d->product.graph;
  bool ok = true;
  for (uint32_t i = 0; i < g->initials && d->product.automaton->nstates > 0 && ok && !d->scc; i++) {
    for (uint32_t q = 0; q < (d->anywhere ? d->product.automaton->nstates : 1) && ok && !d->scc; q++) {
      uint32_t node = product_node(&d->product, i, q);
      if (d->product.nodes.at[node].number == SCC_UNVISITED)
        ok = scc_search_from(d, node);
    }
  }
  return ok;
}

/* The first scc found need not be the nearest. This looks for all sccs, as long as that takes not much more than the
   search so far; the shortest lasso to any of them is reported. True: there are no others. Where a component is split,
   only one part of it is found. */
static bool find_all_sccs(struct scc_search *d, struct liveness_search *l) {
  struct liveness_graph *g = &l->graph;
  struct liveness_graph before = *g;
  scc_search_init(d, l, l->automaton, &l->assumptions);
  if (l->assumptions.coins)
    return false;
  d->all = true;
  d->eager = false;
  d->transitions_most = 2 * g->stats.transitions + TRANSITIONS_MORE;
  /* Long enough that the limit on transitions decides on any machine, for reproducible results. */
  d->seconds_most = 10 * g->stats.seconds + 10;
  if (g->limits.seconds > 0 && d->seconds_most > (g->stats.seconds + g->limits.seconds) / 2)
    d->seconds_most = (g->stats.seconds + g->limits.seconds) / 2; /* leaves time to build the trace */
  bool all = scc_search(d) && !l->assumptions.strong && !l->assumptions.finally && !g->cut;
  g->cut = before.cut;
  g->end = before.end; /* limits and errors in this second search do not count */
  g->error = before.error;
  g->error_at = before.error_at;
  return all;
}

static void make_shortest(struct liveness_search *l, struct scc_search *first) {
  struct scc_search all;
  struct state_lasso shorter = {0};
  /* First, because the search for all may change the meaning of keys. */
  state_lasso_make(&first->product, &first->assumptions, first->scc, &first->found, &l->lasso);
  bool complete = find_all_sccs(&all, l);
  if (all.common && !l->graph.space->restart)
    state_lasso_make(&all.product, &all.assumptions, all.common, NULL, &shorter);
  if (shorter.n > 0 && shorter.n <= l->lasso.n) {
    struct state_lasso longer = l->lasso;
    l->lasso = shorter;
    shorter = longer;
    l->shortest = complete && l->lasso.shortest;
  }
  state_lasso_release(&shorter);
  scc_search_release(&all);
}

/* With coins almost every component has a cycle, so the pre-check would hardly help. If the transition system counts
   stored states, no state may be stored twice. */
static bool suits_precheck(const struct liveness_search *l) {
  const struct liveness_graph *g = &l->graph;
  return !l->precheck_tried && !l->assumptions.coins && !g->limits.rounds && !g->space->ops->statistics.stored;
}

void liveness_search_run(struct liveness_search *l) {
  l->precheck_from = l->graph.limits.precheck_from ? l->graph.limits.precheck_from : PRECHECK_MIN_STATES;
  do {
    struct scc_search d;
    l->graph.product_memory = 0;
    if (!liveness_graph_begin(&l->graph))
      break;
    scc_search_init(&d, l, l->automaton, &l->assumptions);
    d.prechecks = suits_precheck(l);
    scc_search(&d);
    if (d.scc && !l->graph.space->restart) {
      l->found = true;
      make_shortest(l, &d);
      if (l->graph.space->restart) { /* the keys in the lasso have changed their meaning */
        l->found = false;
        state_lasso_release(&l->lasso);
      }
    }
    bool nothing = d.nothing;
    scc_search_release(&d);
    if (nothing) /* the graph may hold outdated keys; if it is used again, it is rebuilt */
      return;
  } while (l->graph.space->restart);
  if (l->found && l->graph.end == SEARCH_EXHAUSTED)
    l->graph.end = SEARCH_DECIDED;
  liveness_graph_finish(&l->graph);
}

bool liveness_search_accepts_anywhere(struct liveness_search *l) {
  struct scc_search d;
  scc_search_init(&d, l, l->automaton, &l->assumptions);
  d.anywhere = true;
  scc_search(&d);
  bool found = d.scc != 0;
  scc_search_release(&d);
  return found;
}

/* Counts are those of the first query; time and memory are the maximum. */
static void keep_counts(struct search_stats *now, const struct search_stats *before) {
  now->states = before->states;
  now->transitions = before->transitions;
  now->depth = before->depth;
  now->frontier = before->frontier;
  now->seconds = now->seconds > before->seconds ? now->seconds : before->seconds;
  now->memory = now->memory > before->memory ? now->memory : before->memory;
}

bool liveness_search_satisfiable(struct liveness_search *l, const struct assumptions *assumptions) {
  struct automaton *all = automaton_universal();
  struct search_stats before = l->graph.stats;
  bool found = false;
  do {
    struct scc_search d;
    if (l->graph.space->restart && !liveness_graph_begin(&l->graph))
      break;
    scc_search_init(&d, l, all, assumptions);
    scc_search(&d);
    found = d.scc != 0;
    scc_search_release(&d);
  } while (l->graph.space->restart);
  keep_counts(&l->graph.stats, &before);
  automaton_free(all);
  return found;
}

struct state *liveness_search_error_path(const struct liveness_search *l, uint32_t *n, struct path_goal *goal) {
  const struct liveness_graph *g = &l->graph;
  uint32_t *way = liveness_graph_path(g, g->error_at.from, n);
  struct state *path = memory_alloc(*n * sizeof *path);
  for (uint32_t i = 0; i < *n; i++)
    path[i] = liveness_graph_state(g, way[i]);
  *goal = (struct path_goal){.kind = g->error.by_step ? GOAL_ERROR : GOAL_STATE};
  memory_free(way);
  return path;
}
