#include "search/fair_scc.h"

#include "search/scc_stack.h"

#include <string.h>

/* Marks and acceptance sets of the edges of an scc and, for each group, in how many nodes it is enabled and whether it
   is taken. */
struct group_count {
  uint32_t nodes; /* number of nodes in which the group is enabled */
  bool taken;
};

struct scc_checker {
  struct product *product;
  const struct assumptions *assumptions;
  VEC(struct group_count) groups;
  VEC(uint32_t) touched; /* groups with a nonzero count */
  uint64_t accepts, marks;
  VEC(node_vec) waiting; /* parts still to be judged; each is strongly connected and has its own scc number */
};

static uint32_t node_inside(const struct product *p, uint32_t state, uint32_t automaton, uint32_t scc) {
  uint32_t to = product_find(p, state, automaton);
  return to != UINT32_MAX && p->nodes.at[to].scc == scc ? to : UINT32_MAX;
}

static bool choice_inside_scc(const struct product *p, const struct assumptions *a, uint32_t node,
                              const struct product_edge *arrow, uint32_t scc) {
  uint32_t n, adversary_choice = p->graph->labels.at[arrow->label].adversary_choice;
  const struct liveness_graph_edge *steps = liveness_graph_edges(p->graph, p->nodes.at[node].state, &n);
  for (uint32_t i = 0; i < n; i++)
    if (p->graph->labels.at[steps[i].label].adversary_choice == adversary_choice &&
        (!finally_allows(p, a, steps[i].label) || node_inside(p, steps[i].to, arrow->automaton, scc) == UINT32_MAX))
      return false;
  return true;
}

uint32_t edge_inside_scc(const struct product *p, const struct assumptions *a, uint32_t node,
                         const struct product_edge *arrow, uint32_t scc) {
  if (!finally_allows(p, a, arrow->label))
    return UINT32_MAX;
  uint32_t to = node_inside(p, arrow->state, arrow->automaton, scc);
  if (to == UINT32_MAX || !a->coins || !p->graph->space->probabilistic || choice_inside_scc(p, a, node, arrow, scc))
    return to;
  return UINT32_MAX;
}

static struct group_count *count_of(struct scc_checker *j, uint32_t group) {
  while (j->groups.n <= group)
    vec_push(&j->groups, ((struct group_count){0}));
  struct group_count *c = &j->groups.at[group];
  if (c->nodes == 0 && !c->taken)
    vec_push(&j->touched, group);
  return c;
}

static void count_possible(void *context, uint32_t group) { count_of(context, group)->nodes++; }

static void count_all(struct scc_checker *j, const node_vec *part, uint32_t scc) {
  struct product *p = j->product;
  struct system *space = p->graph->space;
  for (size_t i = 0; i < j->touched.n; i++)
    j->groups.at[j->touched.at[i]] = (struct group_count){0};
  vec_clear(&j->touched);
  j->accepts = j->marks = 0;
  for (size_t i = 0; i < part->n && liveness_graph_tick(p->graph, 4); i++) {
    struct product_edges left = product_edges_of(p, part->at[i]);
    struct product_edge a;
    while (product_edges_next(p, &left, &a))
      if (edge_inside_scc(p, j->assumptions, part->at[i], &a, scc) != UINT32_MAX) {
        const struct edge_label *label = &p->graph->labels.at[a.label];
        j->accepts |= a.accepts;
        j->marks |= label->marks;
        if (j->assumptions->fair && label->group != NO_GROUP)
          count_of(j, label->group)->taken = true;
      }
    if (j->assumptions->fair && space->ops->liveness.enabled) {
      struct state at = liveness_graph_state(p->graph, p->nodes.at[part->at[i]].state);
      space->ops->liveness.enabled(space, &at, count_possible, j);
    }
  }
}

struct enabled_check {
  struct scc_checker *judging;
  bool untaken;
};

static void notice_untaken(void *context, uint32_t group) {
  struct enabled_check *p = context;
  p->untaken |= !p->judging->groups.at[group].taken;
}

/* --- strongly connected parts --- */

/* A completed part leaves the scc. It is judged later, unless no run can stay in it. */
static void part_complete(struct scc_checker *j, const struct scc_root *root, node_vec part) {
  uint32_t scc = root->cyclic ? ++j->product->sccs : 0;
  for (size_t i = 0; i < part.n; i++) {
    j->product->nodes.at[part.at[i]].number = SCC_COMPLETE;
    j->product->nodes.at[part.at[i]].scc = scc;
  }
  if (root->cyclic)
    vec_push(&j->waiting, part);
  else
    vec_release(&part);
}

/* Splits the nodes of the scc into strongly connected parts. */
static void split(struct scc_checker *j, const node_vec *nodes, uint32_t scc) {
  struct product *p = j->product;
  struct scc_stack s = {0};
  for (size_t i = 0; i < nodes->n; i++)
    p->nodes.at[nodes->at[i]].number = SCC_UNVISITED;
  for (size_t i = 0; i < nodes->n; i++) {
    if (p->nodes.at[nodes->at[i]].scc != scc || p->nodes.at[nodes->at[i]].number != SCC_UNVISITED)
      continue;
    scc_stack_enter(&s, p, nodes->at[i], 0, 0);
    while (s.path.n > 0 && liveness_graph_tick(p->graph, 1)) {
      struct scc_frame *f = &s.path.at[s.path.n - 1];
      struct product_edge a;
      if (!product_edges_next(p, &f->left, &a)) {
        struct scc_root root;
        node_vec part = {0};
        if (scc_stack_leave(&s, p, &root, &part))
          part_complete(j, &root, part);
        continue;
      }
      uint32_t to = edge_inside_scc(p, j->assumptions, f->node, &a, scc);
      if (to == UINT32_MAX)
        continue;
      if (p->nodes.at[to].number == SCC_UNVISITED)
        scc_stack_enter(&s, p, to, 0, 0);
      else
        scc_roots_merge(&s.roots, p->nodes.at[to].number, 0, 0);
    }
    if (s.path.n > 0)
      break; /* a limit was reached */
  }
  scc_stack_release(&s);
}

/* --- judgement --- */

/* Some group is enabled everywhere and never taken. Then the same holds for every part of the scc. */
static bool starves(const struct scc_checker *j, size_t nodes) {
  for (size_t i = 0; i < j->touched.n; i++) {
    const struct group_count *c = &j->groups.at[j->touched.at[i]];
    if (!c->taken && c->nodes == nodes)
      return true;
  }
  return false;
}

/* Strong fairness: a node in which a group is enabled that is never taken cannot be visited infinitely often. Removes
   these nodes from the scc and returns whether there are any. */
static bool remove_unfair(struct scc_checker *j, const node_vec *part) {
  struct product *p = j->product;
  struct system *space = p->graph->space;
  bool any = false;
  for (size_t i = 0; i < part->n; i++) {
    struct enabled_check possible = {j, false};
    struct state at = liveness_graph_state(p->graph, p->nodes.at[part->at[i]].state);
    space->ops->liveness.enabled(space, &at, notice_untaken, &possible);
    if (possible.untaken)
      p->nodes.at[part->at[i]].scc = 0;
    any |= possible.untaken;
  }
  return any;
}

/* With coins: a part may be smaller than the set it was split from, so that some results of probabilistic choices leave
   it. True: splitting again removes nothing, and *scc is the part's new number. Otherwise the pieces are added to
   `waiting`. */
static bool is_closed(struct scc_checker *j, const node_vec *part, uint32_t *scc) {
  size_t waiting = j->waiting.n;
  split(j, part, *scc);
  if (j->waiting.n != waiting + 1 || j->waiting.at[waiting].n != part->n)
    return false;
  j->waiting.n--;
  vec_release(&j->waiting.at[waiting]);
  *scc = j->product->nodes.at[part->at[0]].scc;
  return true;
}

/* True: the part satisfies all assumptions. Otherwise the rest of it, if any, is added to `waiting`. */
static bool check_scc(struct scc_checker *j, const node_vec *part, uint32_t *settled) {
  if (j->assumptions->coins && !is_closed(j, part, settled))
    return false;
  uint32_t scc = *settled;
  count_all(j, part, scc);
  if (search_limited(j->product->graph->end))
    return false;
  if (j->accepts != automaton_sets(j->product->automaton) || (j->assumptions->often & ~j->marks))
    return false;
  if (!j->assumptions->fair || !j->product->graph->space->ops->liveness.enabled)
    return true;
  if (starves(j, part->n))
    return false;
  if (!j->assumptions->strong || !remove_unfair(j, part))
    return true;
  split(j, part, scc);
  return false;
}

uint32_t fair_scc_find(struct product *p, const struct assumptions *assumptions, const node_vec *component,
                       node_vec *in) {
  struct scc_checker j = {.product = p, .assumptions = assumptions};
  uint32_t whole = ++p->sccs, found = 0;
  for (size_t i = 0; i < component->n; i++)
    p->nodes.at[component->at[i]].scc = whole;
  split(&j, component, whole); /* `finally` may split it into parts */
  while (j.waiting.n > 0) {
    node_vec part = j.waiting.at[--j.waiting.n];
    uint32_t scc = p->nodes.at[part.at[0]].scc;
    if (!found && !search_limited(p->graph->end) && check_scc(&j, &part, &scc)) {
      found = scc;
      vec_clear(in);
      for (size_t i = 0; i < part.n; i++)
        vec_push(in, part.at[i]);
    }
    vec_release(&part);
  }
  vec_release(&j.groups);
  vec_release(&j.touched);
  vec_release(&j.waiting);
  return found;
}
