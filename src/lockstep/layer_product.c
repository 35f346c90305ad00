/* A product of outcome sets is a task: for each process, the list of its possible next local states. Equal tasks of
   different states are merged, and so are partial results: after the first p processes have chosen, only their new
   local states and the lists of the others matter. So a layer is multiplied out process by process; equal partial
   results are merged, and the cheapest path is kept. This finds every reachable state and the cheapest path to each,
   but not every edge.

   Words of a partial result: the header; then, for vectors, one word for each process (a local state, or LIST + list);
   for bags, the sorted pairs (local state, count) of processes that have chosen, and the sorted pairs (LIST + list,
   count) of those that have not. */
#include "lockstep/layer_product.h"

#include "lockstep/bag_distribution.h"
#include "lockstep/expansion.h"
#include "lockstep/lockstep_local_steps.h"
#include "lockstep/outcome_product.h"
#include "lockstep/partial_products.h"
#include "lockstep/subsumption.h"

#include <stdlib.h>

#include <string.h>

#define STAGE_MOST 300000 /* partial results collected at a stage before they are processed */

struct layer_product {
  struct lockstep *system;
  emit_from_fn *emit;
  void *context;
  struct intern *headers;
  struct intern *lists; /* borrowed from the system */
  uint32_t header;
  struct path_cost from;
  struct partial_products tasks;
  struct partial_products *stages;
  uint32_t nstages;
  VEC(uint32_t) words;
  struct unpacked_state *next;
  int64_t limit; /* on cost */
  struct subsumption subsumed;
  uint32_t layer;
};

void layer_product_begin(struct layer_product *t, emit_from_fn *emit, void *context) {
  t->emit = emit;
  t->context = context;
  t->layer++;
}

struct layer_product *layer_product_new(struct lockstep *s) {
  struct layer_product *t = memory_alloc(sizeof *t);
  t->system = s;
  t->subsumed = (struct subsumption){.lists = s->outcomes.next_lists, .bag = s->pack.bag};
  t->headers = intern_new();
  t->lists = s->outcomes.next_lists;
  t->next = global_new(&s->pack);
  t->limit = INT64_MAX;
  for (uint32_t i = 0; i < s->env->nclauses; i++)
    if (s->env->clauses[i].kind == CLAUSE_LOST)
      t->limit = s->env->clauses[i].limit;
  return t;
}

void layer_product_free(struct layer_product *t) {
  if (!t)
    return;
  subsumption_release(&t->subsumed);
  intern_free(t->headers);
  partial_products_release(&t->tasks);
  for (uint32_t i = 0; i < t->nstages; i++)
    partial_products_release(&t->stages[i]);
  memory_free(t->stages);
  vec_release(&t->words);
  global_free(t->next);
  memory_free(t);
}

size_t layer_product_bytes(const struct layer_product *t) {
  size_t bytes = subsumption_bytes(&t->subsumed) + intern_bytes(t->headers) + partial_products_bytes(&t->tasks) +
                 t->nstages * sizeof *t->stages + vec_bytes(&t->words);
  for (uint32_t i = 0; i < t->nstages; i++)
    bytes += partial_products_bytes(&t->stages[i]);
  return bytes;
}

size_t layer_product_ntasks(const struct layer_product *t) { return t->tasks.n; }

void layer_product_from(struct layer_product *t, const struct unpacked_state *g, uint64_t origin, uint32_t fault_cost) {
  value header[] = {g->point, g->rounds, g->phase, g->globals, g->inits};
  t->header = intern_put(t->headers, header, sizeof header / sizeof *header);
  t->from = (struct path_cost){.origin = origin, .fault_cost = fault_cost, .cost = (uint32_t)g->lost};
}

bool layer_product_error(struct layer_product *t, const struct edge *edge) {
  return t->emit(t->context, t->from.origin, NULL, edge);
}

/* --- results --- */

static void unfold_header(struct layer_product *t, uint32_t header, uint32_t cost) {
  const struct lockstep *s = t->system;
  const value *h = intern_at(t->headers, header);
  const struct point *point = &s->model->points[h[0]];
  struct unpacked_state *g = t->next;
  g->point = point->next;
  g->rounds = (uint32_t)h[1] + (s->pack.kept.rounds && h[1] < (value)s->pack.kept.rounds_cap);
  g->phase = s->pack.kept.phase ? h[2] + (point->phase_end && point->endless) : 1;
  g->lost = s->pack.kept.lost ? cost : 0;
  g->corrupted = 0;
  g->globals = (uint32_t)h[3];
  g->inits = (uint32_t)h[4];
}

static bool emit_next(struct layer_product *t, const struct path_cost *path, uint64_t broken) {
  struct lockstep *s = t->system;
  struct edge edge = {.processes = path->processes, .faults = path->lost, .broken = broken};
  global_canonical(&s->pack, t->next, NULL);
  struct state state;
  global_encode(&s->pack, t->next, &s->buffer, &s->buffer_capacity, &state);
  return t->emit(t->context, path->origin, &state, &edge);
}

/* --- tasks --- */

static uint32_t list_of(struct layer_product *t, struct expansion *x, const struct actor *a) {
  struct lockstep_successors *known = a->local_successors;
  VEC(value) v = {0};
  known->special = false;
  for (uint32_t k = 0; k < a->local_successors->n; k++) {
    const struct lockstep_successor *o = &a->local_successors->at[k];
    known->special |= o->error || o->broken;
    if (o->error || !in_clique(x, a, o))
      continue;
    if (v.n && v.at[v.n - 2] == (value)o->next) {
      if ((value)o->cost < v.at[v.n - 1])
        v.at[v.n - 1] = o->cost;
      continue;
    }
    vec_push(&v, (value)o->next);
    vec_push(&v, (value)o->cost);
  }
  uint32_t id = intern_put(t->lists, v.at, v.n);
  vec_release(&v);
  return id;
}

/* The cheapest successor of actor j in the clique, including errors if `failing`; NULL: there is none. */
static const struct lockstep_successor *cheapest_successor(const struct expansion *x, uint32_t j, bool failing) {
  const struct actor *a = &x->actors.at[j];
  const struct lockstep_successor *best = NULL;
  for (uint32_t k = 0; k < a->local_successors->n; k++) {
    const struct lockstep_successor *o = &a->local_successors->at[k];
    if ((!o->error || failing) && (!best || o->cost < best->cost) && in_clique(x, a, o))
      best = o;
  }
  return best;
}

/* An error or a broken step property belongs to the successor of one process: emit an edge for each, if the other
   processes can take some step as well. */
static bool report_successor(struct layer_product *t, struct expansion *x, uint32_t i,
                             const struct lockstep_successor *o) {
  struct lockstep *s = t->system;
  const struct actor *a = &x->actors.at[i];
  uint64_t cost = o->cost;
  struct unpacked_state *g = t->next;
  uint32_t n = 0;
  for (uint32_t j = 0; j < x->actors.n; j++) {
    uint32_t others = x->actors.at[j].count - (j == i);
    if (!others)
      continue;
    const struct lockstep_successor *best = cheapest_successor(x, j, o->error);
    if (!best)
      return true;
    cost += (uint64_t)best->cost * others;
    if (s->pack.bag)
      g->at[n++] = (struct member){best->next, others};
    else
      g->at[x->actors.at[j].process] = (struct member){best->next, 1};
  }
  struct edge edge = {.processes = x->new_crashes, .faults = (uint32_t)cost};
  if ((int64_t)(cost + t->from.cost) > t->limit)
    return true;
  if (o->error) {
    edge.error = &s->local.errors.at[o->error - 1];
    return layer_product_error(t, &edge);
  }
  if (s->pack.bag)
    g->at[n++] = (struct member){o->next, 1};
  else
    g->at[a->process] = (struct member){o->next, 1};
  g->n = s->pack.bag ? n : s->model->nprocesses;
  struct path_cost path = t->from;
  path.processes = x->new_crashes;
  path.cost += (uint32_t)cost;
  path.lost = (uint32_t)cost;
  unfold_header(t, t->header, path.cost);
  return emit_next(t, &path, o->broken);
}

static bool report_successors(struct layer_product *t, struct expansion *x) {
  for (uint32_t i = 0; i < x->actors.n; i++) {
    const struct actor *a = &x->actors.at[i];
    for (uint32_t k = 0; k < a->local_successors->n; k++) {
      const struct lockstep_successor *o = &a->local_successors->at[k];
      if ((o->error || o->broken) && in_clique(x, a, o) && !report_successor(t, x, i, o))
        return false;
    }
  }
  return true;
}

static void add_pair(uint32_t *pairs, uint32_t *n, uint32_t what, uint32_t count) {
  uint32_t at = 0;
  while (at < *n && pairs[2 * at] < what)
    at++;
  if (at < *n && pairs[2 * at] == what) {
    pairs[2 * at + 1] += count;
    return;
  }
  memmove(pairs + 2 * at + 2, pairs + 2 * at, 2 * (size_t)(*n - at) * sizeof *pairs);
  pairs[2 * at] = what;
  pairs[2 * at + 1] = count;
  ++*n;
}

/* Adds a task given by its lists, one for each member. */
void layer_product_task(struct layer_product *t, const struct unpacked_state *g, const uint32_t *lists) {
  struct lockstep *s = t->system;
  uint32_t pairs = 0;
  vec_reserve(&t->words, 2 * (size_t)g->n + 3);
  t->words.at[0] = t->header;
  for (uint32_t i = 0; i < g->n; i++) {
    const value *list = intern_at(t->lists, lists[i]);
    uint32_t word = intern_length(t->lists, lists[i]) == 2 ? (uint32_t)list[0] : LIST | lists[i];
    if (s->pack.bag)
      add_pair(t->words.at + 1, &pairs, word, g->at[i].count);
    else
      t->words.at[1 + i] = word;
  }
  partial_products_add(&t->tasks, t->words.at, 1 + (s->pack.bag ? 2 * pairs : g->n), &t->from);
}

bool layer_product_take(struct layer_product *t, struct expansion *x) {
  struct lockstep *s = t->system;
  uint32_t n = s->model->nprocesses, pairs = 0;
  uint32_t *lists = memory_alloc((x->actors.n + 1) * sizeof *lists);
  bool empty = false, special = false;
  uint64_t least = t->from.cost;
  vec_clear(&t->words);
  vec_reserve(&t->words, 2 * (size_t)(n > x->actors.n ? n : x->actors.n) + 3);
  t->words.at[0] = t->header;
  for (uint32_t i = 0; i < x->actors.n; i++) {
    const struct actor *a = &x->actors.at[i];
    lists[i] = list_of(t, x, a);
    size_t length = intern_length(t->lists, lists[i]);
    special |= a->local_successors->special;
    if (x->fast_path && !a->idle && !a->local_successors->special)
      fast_path_remember(s, a, x->from->point, lists[i]);
    empty |= length == 0;
    if (length == 0)
      continue;
    const value *list = intern_at(t->lists, lists[i]);
    uint32_t word = length == 2 && list[1] == 0 ? (uint32_t)list[0] : LIST | lists[i];
    uint64_t cheapest = (uint64_t)list[1];
    for (size_t k = 1; k < length; k += 2)
      cheapest = (uint64_t)list[k] < cheapest ? (uint64_t)list[k] : cheapest;
    least += cheapest * a->count;
    if (s->pack.bag)
      add_pair(t->words.at + 1, &pairs, word, a->count);
    else
      t->words.at[1 + a->process] = word;
  }
  bool more = !special || report_successors(t, x);
  memory_free(lists);
  if (more && !empty && (int64_t)least <= t->limit) {
    struct path_cost path = t->from;
    path.processes = x->new_crashes;
    path.fault_cost += x->new_crashes << 16;
    partial_products_add(&t->tasks, t->words.at, 1 + (s->pack.bag ? 2 * pairs : n), &path);
  }
  return more;
}

/* --- multiplying out --- */

static struct partial_products *stage_at(struct layer_product *t, uint32_t stage) {
  if (stage >= t->nstages) {
    t->stages = memory_resize_array(t->stages, stage + 1, sizeof *t->stages);
    memset(t->stages + t->nstages, 0, (stage + 1 - t->nstages) * sizeof *t->stages);
    t->nstages = stage + 1;
  }
  return &t->stages[stage];
}

static bool run_stage(struct layer_product *, uint32_t stage);

/* Multiplying out can take long and use much memory before anything is emitted. */

static bool emit_words(struct layer_product *t, const uint32_t *words, uint32_t length, const struct path_cost *path) {
  struct lockstep *s = t->system;
  struct unpacked_state *g = t->next;
  g->n = 0;
  for (uint32_t i = 1; i < length; i += s->pack.bag ? 2 : 1)
    g->at[g->n++] = (struct member){words[i], s->pack.bag ? words[i + 1] : 1};
  unfold_header(t, words[0], path->cost);
  return emit_next(t, path, 0);
}

static bool next_stage(struct layer_product *t, uint32_t stage, const uint32_t *words, uint32_t length,
                       const struct path_cost *path, bool complete) {
  if (complete)
    return emit_words(t, words, length, path);
  if (lockstep_stopped(t->system))
    return false;
  struct partial_products *next = stage_at(t, stage + 1);
  partial_products_add(next, words, length, path);
  return next->n < STAGE_MOST || run_stage(t, stage + 1);
}

static bool vector_step(struct layer_product *t, uint32_t stage, uint32_t *words, uint32_t length,
                        const struct path_cost *path) {
  uint32_t i = 1, later;
  while (i < length && !(words[i] & LIST))
    i++;
  if (i == length)
    return emit_words(t, words, length, path);
  for (later = i + 1; later < length && !(words[later] & LIST);)
    later++;
  uint32_t list = words[i] & ~LIST;
  size_t n = intern_length(t->lists, list);
  bool more = true;
  for (size_t k = 0; k < n && more; k += 2) {
    const value *entry = intern_at(t->lists, list) + k;
    struct path_cost w = *path;
    w.cost += (uint32_t)entry[1];
    w.lost += (uint32_t)entry[1];
    w.fault_cost += (uint32_t)entry[1];
    if ((int64_t)w.cost > t->limit)
      continue;
    words[i] = (uint32_t)entry[0];
    more = next_stage(t, stage, words, length, &w, later == length);
  }
  words[i] = LIST | list;
  return more;
}

/* Distributes the processes of the last list over its entries from k on. */
static bool distribute_list(struct layer_product *t, uint32_t stage, uint32_t *done, uint32_t ndone,
                            const uint32_t *rest, uint32_t nrest, uint32_t list, size_t k, uint32_t left,
                            const struct path_cost *path) {
  if (left == 0) {
    uint32_t length = 1 + 2 * ndone + 2 * nrest;
    uint32_t small[128], *words = length <= 128 ? small : memory_alloc(length * sizeof *words);
    memcpy(words, done, (1 + 2 * (size_t)ndone) * sizeof *words);
    memcpy(words + 1 + 2 * ndone, rest, 2 * (size_t)nrest * sizeof *words);
    bool more = next_stage(t, stage, words, length, path, nrest == 0);
    if (words != small)
      memory_free(words);
    return more;
  }
  if (k >= intern_length(t->lists, list))
    return true;
  bool last = k + 2 >= intern_length(t->lists, list);
  const value *entry = intern_at(t->lists, list) + k;
  uint32_t next = (uint32_t)entry[0];
  uint64_t price = (uint64_t)entry[1];
  size_t room = 1 + 2 * (size_t)(ndone + 1);
  uint32_t small[128], *more_done = room <= 128 ? small : memory_alloc(room * sizeof *more_done);
  bool more = true;
  for (uint32_t take = left; more; take--) {
    struct path_cost w = *path;
    uint64_t cost = w.cost + price * take;
    if (cost <= (uint64_t)t->limit) {
      w.cost = (uint32_t)cost;
      w.lost += (uint32_t)(price * take);
      w.fault_cost += (uint32_t)(price * take);
      uint32_t n = ndone;
      memcpy(more_done, done, (1 + 2 * (size_t)ndone) * sizeof *done);
      if (take)
        add_pair(more_done + 1, &n, next, take);
      more = distribute_list(t, stage, more_done, n, rest, nrest, list, k + 2, left - take, &w);
    }
    if (take == 0 || last)
      break;
  }
  if (more_done != small)
    memory_free(more_done);
  return more;
}

struct distribution_context {
  struct layer_product *product;
  uint32_t header;
  const struct path_cost *path;
};

static bool emit_distribution(void *context, const uint32_t *next, const uint32_t *counts, uint32_t n) {
  struct distribution_context *c = context;
  struct unpacked_state *g = c->product->next;
  g->n = 0;
  for (uint32_t i = 0; i < n; i++)
    if (counts[i])
      g->at[g->n++] = (struct member){next[i], counts[i]};
  unfold_header(c->product, c->header, c->path->cost);
  return emit_next(c->product, c->path, 0);
}

static bool bag_step(struct layer_product *t, uint32_t stage, const uint32_t *words, uint32_t length,
                     const struct path_cost *path) {
  struct distribution_context context = {t, words[0], path};
  bool distributed, more = bag_distribute(t->lists, words + 1, length - 1, &distributed, emit_distribution, &context);
  if (distributed)
    return more;
  uint32_t i = 1;
  while (i < length && !(words[i] & LIST))
    i += 2;
  if (i == length)
    return emit_words(t, words, length, path);
  uint32_t room[128], *done = i <= 128 ? room : memory_alloc(i * sizeof *done);
  memcpy(done, words, i * sizeof *done);
  more = distribute_list(t, stage, done, (i - 1) / 2, words + i + 2, (length - i - 2) / 2, words[i] & ~LIST, 0,
                         words[i + 1], path);
  if (done != room)
    memory_free(done);
  return more;
}

static bool step_all(struct layer_product *t, uint32_t stage, struct partial_products *from) {
  bool more = true;
  VEC(uint32_t) words = {0};
  for (size_t i = 0; i < from->n && more; i++) {
    const struct partial_product p = from->items[i];
    vec_reserve(&words, p.length + 1);
    memcpy(words.at, from->words + p.at, p.length * sizeof *words.at);
    more = t->system->pack.bag ? bag_step(t, stage, words.at, p.length, &p.path)
                               : vector_step(t, stage, words.at, p.length, &p.path);
  }
  vec_release(&words);
  return more;
}

/* Advances all partial results of a stage by one process; t->stages may be reallocated meanwhile. */
static bool run_stage(struct layer_product *t, uint32_t stage) {
  struct partial_products here = *stage_at(t, stage);
  memset(&t->stages[stage], 0, sizeof here);
  bool more =
      step_all(t, stage, &here) && (stage + 1 >= t->nstages || t->stages[stage + 1].n == 0 || run_stage(t, stage + 1));
  partial_products_clear(&here);
  if (t->stages[stage].n == 0) {
    partial_products_release(&t->stages[stage]);
    t->stages[stage] = here;
  } else {
    partial_products_release(&here);
  }
  return more;
}

/* Tasks with many results come first, because they subsume others. */
struct sized_task {
  double size;
  size_t item;
};

static int compare_sizes(const void *a, const void *b) {
  const struct sized_task *x = a, *y = b;
  if (x->size != y->size)
    return x->size > y->size ? -1 : 1;
  return (x->item > y->item) - (x->item < y->item);
}

static double task_size(const struct layer_product *t, const struct partial_product *p) {
  const uint32_t *words = t->tasks.words + p->at;
  double size = 1;
  for (uint32_t i = 1; i < p->length; i += t->system->pack.bag ? 2 : 1)
    if (words[i] & LIST) {
      double n = (double)intern_length(t->lists, words[i] & ~LIST) / 2;
      size *= t->system->pack.bag ? n * words[i + 1] : n;
    }
  return size;
}

bool layer_product_finish(struct layer_product *t) {
  size_t n = t->tasks.n;
  struct sized_task *order = memory_alloc((n + 1) * sizeof *order);
  struct partial_products kept = {0};
  for (size_t i = 0; i < n && !lockstep_stopped(t->system); i++)
    order[i] = (struct sized_task){task_size(t, &t->tasks.items[i]), i};
  if (!lockstep_stopped(t->system))
    qsort(order, n, sizeof *order, compare_sizes);
  for (size_t i = 0; i < n && !lockstep_stopped(t->system); i++) {
    const struct partial_product *p = &t->tasks.items[order[i].item];
    const uint32_t *words = t->tasks.words + p->at;
    if (!subsumed_or_add(&t->subsumed, words, p->length, &p->path, t->layer))
      partial_products_append(&kept, words, p->length, &p->path);
  }
  memory_free(order);
  partial_products_clear(&t->tasks);
  bool more = !lockstep_stopped(t->system) && step_all(t, 0, &kept);
  for (uint32_t stage = 1; stage < t->nstages && more; stage++)
    if (t->stages[stage].n)
      more = run_stage(t, stage);
  partial_products_release(&kept);
  return more;
}
