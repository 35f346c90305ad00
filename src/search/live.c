#include "search/live.h"

#include "search/fair.h"
#include "search/sieve.h"

#include <string.h>

/* A partial component: the nodes on the stack from `number` on, down to the next root. */
struct root {
  uint32_t number;
  uint64_t accepts, marks;         /* of arrows inside it */
  uint64_t arc_accepts, arc_marks; /* of the arrow by which it was entered */
};

struct frame {
  uint32_t node;
  struct arrows left;
};

#define TRANSITIONS_MORE 20000
#define SIEVE_FROM 50000 /* states: fewer are as well kept with their steps */

struct dive { /* depth-first */
  struct live *live;
  struct product product;
  struct assumptions assumptions;
  VEC(struct frame) path;
  VEC(struct root) roots;
  node_vec open; /* nodes of components that are not complete */
  node_vec found;
  uint32_t region, numbers;
  bool eager; /* acceptance of part of a component is enough */
  bool sieves; /* when there are many states */
  bool nothing; /* by the sieve: there is no region */
  bool anywhere; /* runs begin at any of the automaton's states */
  bool all;   /* go on to find every region: they become one */
  uint32_t common;
  uint64_t transitions_most; /* all: then what was found is good enough; so it is after these seconds */
  double seconds_most;
};

void lasso_release(struct lasso *l) {
  memory_free(l->path);
  memory_free(l->wish);
  *l = (struct lasso){0};
}

void live_init(struct live *l, struct space *space, const struct automaton *a, const struct assumptions *assumptions,
               const struct limits *limits) {
  *l = (struct live){.automaton = a, .assumptions = *assumptions};
  graph_init(&l->graph, space, limits);
}

void live_release(struct live *l) {
  lasso_release(&l->lasso);
  graph_release(&l->graph);
}

static bool is_full(const struct dive *d, const struct root *r) {
  return r->accepts == automaton_sets(d->product.automaton) && !(d->assumptions.often & ~r->marks);
}

/* False: a limit was reached, or it has to begin again. */
static bool enter(struct dive *d, uint32_t node, uint64_t accepts, uint64_t marks) {
  struct pair *n = &d->product.nodes.at[node];
  if (!graph_expand(d->product.graph, n->state))
    return false;
  n->number = ++d->numbers;
  vec_push(&d->open, node);
  vec_push(&d->roots, ((struct root){.number = n->number, .arc_accepts = accepts, .arc_marks = marks}));
  vec_push(&d->path, ((struct frame){node, arrows_of(&d->product, node)}));
  d->product.graph->other_memory = product_bytes(&d->product) + d->path.cap * sizeof *d->path.at +
                                   d->roots.cap * sizeof *d->roots.at + d->open.cap * sizeof *d->open.at;
  return true;
}

static void take_from(struct dive *d, uint32_t number, node_vec *to) {
  vec_clear(to);
  while (d->open.n > 0 && d->product.nodes.at[d->open.at[d->open.n - 1]].number >= number)
    vec_push(to, d->open.at[--d->open.n]);
}

/* An arrow back to an open node: everything since then is one component. */
static void close_circle(struct dive *d, const struct pair *to, uint64_t accepts, uint64_t marks) {
  struct root *top = &d->roots.at[d->roots.n - 1];
  while (top->number > to->number) {
    accepts |= top->accepts | top->arc_accepts;
    marks |= top->marks | top->arc_marks;
    d->roots.n--;
    top = &d->roots.at[d->roots.n - 1];
  }
  top->accepts |= accepts;
  top->marks |= marks;
  if (d->eager && is_full(d, top)) {
    take_from(d, top->number, &d->found);
    d->region = ++d->product.regions;
    for (size_t i = 0; i < d->found.n; i++)
      d->product.nodes.at[d->found.at[i]].region = d->region;
  }
}

/* A region of another component joins those found before. */
static void unite(struct dive *d, uint32_t region, const node_vec *nodes) {
  if (!d->common)
    d->common = region;
  for (size_t i = 0; i < nodes->n; i++)
    d->product.nodes.at[nodes->at[i]].region = d->common;
}

static void find_region(struct dive *d, const node_vec *component) {
  node_vec in = {0};
  uint32_t region = fair_region(&d->product, &d->assumptions, component, d->all ? &in : &d->found);
  if (region && d->all)
    unite(d, region, &in);
  else
    d->region = region;
  vec_release(&in);
}

/* All arrows of the node were followed. */
static void leave(struct dive *d) {
  uint32_t node = d->path.at[--d->path.n].node;
  struct root top = d->roots.at[d->roots.n - 1];
  if (d->product.nodes.at[node].number != top.number)
    return;
  node_vec component = {0};
  d->roots.n--;
  take_from(d, top.number, &component);
  if (is_full(d, &top) && !d->eager)
    find_region(d, &component);
  for (size_t i = 0; i < component.n; i++)
    d->product.nodes.at[component.at[i]].number = NUMBER_DONE;
  vec_release(&component);
}

static bool is_enough(const struct dive *d) {
  const struct search_stats *s = &d->product.graph->stats;
  return s->transitions > d->transitions_most || s->seconds > d->seconds_most;
}

/* Of a search that ended in the sieve; nobody knows how deep it went. */
static void tell_sieved(struct live *l) {
  l->sieved = true;
  l->sieved_stats = l->graph.stats;
  l->sieved_stats.transitions = l->graph.beside_transitions;
  l->sieved_stats.depth_unknown = true;
}

/* Once there are many states: is there nothing to be found? False: so it is, or it ended, or has to begin again. */
static bool pass_sieve(struct dive *d) {
  struct live *l = d->live;
  bool rekeyed;
  d->sieves = false;
  l->sieve_tried = true;
  enum sieved says = sieve_run(l, &rekeyed);
  l->graph.space->restart = rekeyed; /* states that were found before have to be found again */
  d->nothing = says == SIEVED_ALL;
  if (says != SIEVED_SOME)
    tell_sieved(l);
  return says == SIEVED_SOME && !rekeyed;
}

/* Until a region is found, or there is nothing more below the node. False: stopped. */
static bool dive_from(struct dive *d, uint32_t start) {
  struct graph *g = d->product.graph;
  if (!enter(d, start, 0, 0))
    return false;
  while (d->path.n > 0 && !d->region) {
    struct arrow a;
    if (!graph_tick(g, 1) || (d->all && is_enough(d)))
      return false;
    if (d->sieves && g->refs.n >= d->live->sieve_from && !pass_sieve(d))
      return false;
    if (!arrows_next(&d->product, &d->path.at[d->path.n - 1].left, &a)) {
      leave(d);
      if (search_limited(g->end))
        return false;
      continue;
    }
    uint64_t marks = g->labels.at[a.label].marks;
    uint32_t to = product_node(&d->product, a.state, a.automaton);
    const struct pair *n = &d->product.nodes.at[to];
    if (n->number == NUMBER_NONE) {
      if (!enter(d, to, a.accepts, marks))
        return false;
    } else if (n->number != NUMBER_DONE) {
      close_circle(d, n, a.accepts, marks);
    }
  }
  return true;
}

static void dive_init(struct dive *d, struct live *l, const struct automaton *a, const struct assumptions *assumptions) {
  *d = (struct dive){.live = l, .assumptions = *assumptions};
  d->eager = !assumptions->fair && !assumptions->finally && !assumptions->coins;
  product_init(&d->product, &l->graph, a);
}

static void dive_release(struct dive *d) {
  product_release(&d->product);
  vec_release(&d->path);
  vec_release(&d->roots);
  vec_release(&d->open);
  vec_release(&d->found);
}

static bool dive(struct dive *d) {
  struct graph *g = d->product.graph;
  bool ok = true;
  for (uint32_t i = 0; i < g->initials && d->product.automaton->nstates > 0 && ok && !d->region; i++) {
    for (uint32_t q = 0; q < (d->anywhere ? d->product.automaton->nstates : 1) && ok && !d->region; q++) {
      uint32_t node = product_node(&d->product, i, q);
      if (d->product.nodes.at[node].number == NUMBER_NONE)
        ok = dive_from(d, node);
    }
  }
  return ok;
}

/* The first region that was found need not be the nearest. Of rounds there are few states: all regions are looked for, as far
   as that takes no more than what was done already, and the shortest way to and in any of them is what is told. */
static void look_for_all(struct dive *d, struct live *l) {
  struct graph *g = &l->graph;
  struct graph before = *g;
  dive_init(d, l, l->automaton, &l->assumptions);
  if (model_steps(g->space->model) || l->assumptions.coins || l->assumptions.fair || g->limits.rounds)
    return;
  d->all = true;
  d->eager = false;
  d->transitions_most = 2 * g->stats.transitions + TRANSITIONS_MORE;
  d->seconds_most = 10 * g->stats.seconds + 10; /* long enough that steps decide, on any machine: the answer is to be the same */
  if (g->limits.seconds > 0 && d->seconds_most > (g->stats.seconds + g->limits.seconds) / 2)
    d->seconds_most = (g->stats.seconds + g->limits.seconds) / 2; /* there must be time to show it */
  dive(d);
  g->end = before.end; /* what it came upon was not asked for */
  g->error = before.error;
  g->error_atom = before.error_atom;
  g->error_from = before.error_from;
}

static void make_shortest(struct live *l, struct dive *first) {
  struct dive all;
  struct lasso shorter = {0};
  look_for_all(&all, l);
  lasso_make(&first->product, &first->assumptions, first->region, &first->found, &l->lasso);
  if (all.common)
    lasso_make(&all.product, &all.assumptions, all.common, NULL, &shorter);
  if (shorter.n > 0 && shorter.n <= l->lasso.n) {
    struct lasso longer = l->lasso;
    l->lasso = shorter;
    shorter = longer;
  }
  lasso_release(&shorter);
  dive_release(&all);
}

/* With coins there are circles everywhere. Where states are counted as they are kept, none may be kept twice. */
static bool is_for_sieve(const struct live *l) {
  const struct graph *g = &l->graph;
  return !l->sieve_tried && !l->assumptions.coins && !g->limits.rounds && !g->space->ops->stored;
}

void live_run(struct live *l) {
  l->sieve_from = l->graph.limits.sieve_from ? l->graph.limits.sieve_from : SIEVE_FROM;
  do {
    struct dive d;
    l->graph.other_memory = 0;
    if (!graph_begin(&l->graph))
      break;
    dive_init(&d, l, l->automaton, &l->assumptions);
    d.sieves = is_for_sieve(l);
    dive(&d);
    if (d.region && !l->graph.space->restart) {
      l->found = true;
      make_shortest(l, &d);
    }
    bool nothing = d.nothing;
    dive_release(&d);
    if (nothing) /* keys of the graph may be old ones: whoever goes on with it sees to that */
      return;
  } while (l->graph.space->restart);
  if (l->found && l->graph.end == SEARCH_EXHAUSTED)
    l->graph.end = SEARCH_DECIDED;
  graph_finish(&l->graph);
}

bool live_accepts_anywhere(struct live *l) {
  struct dive d;
  dive_init(&d, l, l->automaton, &l->assumptions);
  d.anywhere = true;
  dive(&d);
  bool found = d.region != 0;
  dive_release(&d);
  return found;
}

/* What there was to see is told of the first question, and how long it took of all of them. */
static void keep_counts(struct search_stats *now, const struct search_stats *before) {
  now->states = before->states;
  now->transitions = before->transitions;
  now->depth = before->depth;
  now->frontier = before->frontier;
  now->seconds = now->seconds > before->seconds ? now->seconds : before->seconds;
  now->memory = now->memory > before->memory ? now->memory : before->memory;
}

bool live_satisfiable(struct live *l, const struct assumptions *assumptions) {
  struct automaton *all = automaton_of_all();
  struct search_stats before = l->graph.stats;
  bool found = false;
  do {
    struct dive d;
    if (l->graph.space->restart && !graph_begin(&l->graph))
      break;
    dive_init(&d, l, all, assumptions);
    dive(&d);
    found = d.region != 0;
    dive_release(&d);
  } while (l->graph.space->restart);
  keep_counts(&l->graph.stats, &before);
  automaton_free(all);
  return found;
}

struct state *live_error_path(const struct live *l, uint32_t *n, struct goal *goal) {
  const struct graph *g = &l->graph;
  uint32_t *way = graph_way(g, g->error_from, n);
  struct state *path = memory_alloc(*n * sizeof *path);
  for (uint32_t i = 0; i < *n; i++)
    path[i] = graph_state(g, way[i]);
  *goal = (struct goal){.kind = g->error.by_step ? GOAL_ERROR : GOAL_STATE};
  memory_free(way);
  return path;
}
