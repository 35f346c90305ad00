#include "search/rank_paths.h"

#include <string.h>

/* A state on any rank. */
struct located_state {
  bytes key;
  state_ref parent;
  fault_cost fault_cost;
  uint32_t layer;
};

struct successor_check { /* does a step lead to the target? */
  const struct located_state *target;
  fault_cost from;
  bool found;
};

static bool is_target(void *context, const struct state *state, const struct edge *edge) {
  struct successor_check *l = context;
  const struct located_state *t = l->target;
  l->found = !edge->error && fault_cost_add(l->from, edge->processes, edge->faults) <= t->fault_cost &&
             state->length == t->key.n && memcmp(state->bytes, t->key.at, t->key.n) == 0;
  return !l->found;
}

static bool leads_to(struct message_batches *x, const struct stored *at, const struct located_state *p) {
  struct state state = {at->bytes, at->length};
  struct successor_check l = {.target = p, .from = at->fault_cost};
  system_all_successors(x->worker->space, &state, is_target, &l);
  return l.found;
}

/* With another number of ranks than now, references were others. A state of the layer before that leads to p. */
static state_ref search_parent(struct message_batches *x, const struct located_state *p) {
  const struct search *s = x->worker->search;
  state_ref from = visited_from(s->visited_set, x->layers.at[p->layer - 1]);
  struct visited_reader at = visited_reader(s->visited_set, from, x->layers.at[p->layer]);
  while (!(s->limits.interrupt && *s->limits.interrupt) && visited_read(&at)) {
    batches_serve(x); /* names that others ask for */
    if (at.stored.fault_cost <= p->fault_cost && leads_to(x, &at.stored, p))
      return at.ref;
  }
  return STATE_REF_NONE;
}

/* The parent of p, if this rank has it; else STATE_REF_NONE. */
static state_ref parent_here(struct message_batches *x, const struct located_state *p) {
  const struct visited_set *visited_set = x->worker->search->visited_set;
  state_ref ref = p->parent;
  if (p->layer == 0 || p->layer >= x->layers.n) /* only if a checkpoint was forged */
    return STATE_REF_NONE;
  if (ref == STATE_REF_FORGOTTEN)
    return search_parent(x, p);
  if (ref < x->layers.at[p->layer - 1] || ref >= x->layers.at[p->layer] || !visited_has(visited_set, ref))
    return STATE_REF_NONE;
  struct stored at = visited_get(visited_set, ref);
  return leads_to(x, &at, p) ? ref : STATE_REF_NONE;
}

/* Broadcasts what one rank has stored under a reference. */
static void broadcast_state(struct message_batches *x, uint32_t from, state_ref ref, uint32_t layer,
                            struct located_state *p) {
  struct ranks *r = x->ranks;
  struct stored at = {0};
  if (r->rank == from)
    at = visited_get(x->worker->search->visited_set, ref);
  uint64_t head[3] = {at.length, at.parent, at.fault_cost};
  ranks_broadcast(r, from, head, sizeof head);
  *p = (struct located_state){.parent = head[1], .fault_cost = (fault_cost)head[2], .layer = layer};
  p->key.n = (size_t)head[0];
  vec_reserve(&p->key, p->key.n + KEY_SHORT_BYTES);
  memset(p->key.at, 0, p->key.n + KEY_SHORT_BYTES);
  if (r->rank == from)
    memcpy(p->key.at, at.bytes, at.length);
  ranks_broadcast(r, from, p->key.at, p->key.n);
}

static uint32_t find_parent(struct message_batches *x, const struct located_state *p, state_ref *ref) {
  struct ranks *r = x->ranks;
  uint64_t mine = parent_here(x, p), *all = memory_alloc(r->n * sizeof *all);
  uint32_t at = 0;
  ranks_barrier(r); /* some rank may have asked for names */
  ranks_allgather(r, &mine, 1, all);
  while (at < r->n && all[at] == STATE_REF_NONE)
    at++;
  *ref = at < r->n ? all[at] : STATE_REF_NONE;
  memory_free(all);
  return at;
}

static void broadcast_target(struct message_batches *x, uint32_t from, uint32_t property, bytes *key) {
  struct ranks *r = x->ranks;
  uint64_t n = x->targets[property].n;
  ranks_broadcast(r, from, &n, sizeof n);
  key->n = (size_t)n;
  vec_reserve(key, key->n + KEY_SHORT_BYTES);
  memset(key->at, 0, key->n + KEY_SHORT_BYTES);
  if (r->rank == from)
    memcpy(key->at, x->targets[property].at, key->n);
  ranks_broadcast(r, from, key->at, key->n);
}

static void rank_path_clear(struct rank_path *path) {
  for (size_t k = 0; k < path->keys.n; k++)
    vec_release(&path->keys.at[k]);
  vec_clear(&path->keys);
}

/* From the last state back to the first. */
static void trace_back(struct message_batches *x, const struct finding *f, uint32_t at, struct rank_path *path) {
  struct located_state p;
  if (f->by_step && f->property != UINT32_MAX) {
    bytes key = {0};
    broadcast_target(x, at, f->property, &key);
    vec_push(&path->keys, key);
  }
  if (f->state == STATE_REF_NONE)
    return;
  broadcast_state(x, at, f->state, f->rounds - f->by_step, &p);
  vec_push(&path->keys, p.key);
  while (p.parent != STATE_REF_NONE) {
    state_ref parent;
    at = find_parent(x, &p, &parent);
    if (at == x->ranks->n) { /* transition systems may stop when they are interrupted */
      rank_path_clear(path);
      return;
    }
    broadcast_state(x, at, parent, p.layer - 1, &p);
    vec_push(&path->keys, p.key);
  }
}

void rank_paths_make(struct message_batches *x) {
  struct search *s = x->worker->search;
  uint32_t n = x->worker->space->query->nproperties;
  s->across.paths = memory_alloc((n + (size_t)1) * sizeof *s->across.paths);
  for (uint32_t i = 0; i <= n; i++) {
    const struct finding *f = i < n ? &s->findings[i] : &s->error;
    struct rank_path *path = &s->across.paths[i];
    if (!f->found)
      continue;
    trace_back(x, f, x->found_at[i], path);
    vec_reverse(&path->keys, 0);
  }
}

void rank_paths_free(struct search *s) {
  for (uint32_t i = 0; s->across.paths && i <= s->space->query->nproperties; i++) {
    rank_path_clear(&s->across.paths[i]);
    vec_release(&s->across.paths[i].keys);
  }
  memory_free(s->across.paths);
  s->across.paths = NULL;
}

void rank_paths_save(const struct search *s, struct saver *to) {
  for (uint32_t i = 0; i <= s->space->query->nproperties; i++) {
    const struct rank_path *path = &s->across.paths[i];
    save_number(to, path->keys.n);
    for (size_t k = 0; k < path->keys.n; k++)
      save_block(to, path->keys.at[k].at, path->keys.at[k].n);
  }
}

void rank_paths_load(struct search *s, struct loader *from, visited_key_fn *valid) {
  uint32_t n = s->space->query->nproperties;
  rank_paths_free(s);
  s->across.paths = memory_alloc((n + (size_t)1) * sizeof *s->across.paths);
  for (uint32_t i = 0; i <= n; i++)
    for (uint64_t k = load_number(from); k > 0 && !from->bad; k--) {
      bytes key = {0};
      load_key(from, &key);
      vec_push(&s->across.paths[i].keys, key);
      from->bad = from->bad || key.n > UINT32_MAX || !valid(s, &(struct state){key.at, (uint32_t)key.n});
    }
}

static const struct rank_path *path_to(const struct search *s, const struct finding *f) {
  return &s->across.paths[f == &s->error ? s->space->query->nproperties : (size_t)(f - s->findings)];
}

bool rank_path_is_known(const struct search *s, const struct finding *f) {
  return s->across.paths && path_to(s, f)->keys.n > 0;
}

struct state *rank_path(const struct search *s, const struct finding *f, uint32_t *n, struct path_goal *goal) {
  const struct rank_path *path = path_to(s, f);
  struct state *states = memory_alloc((path->keys.n + 1) * sizeof *states);
  for (size_t i = 0; i < path->keys.n; i++)
    states[i] = (struct state){path->keys.at[i].at, (uint32_t)path->keys.at[i].n};
  *n = (uint32_t)path->keys.n;
  *goal = finding_goal(f);
  return states;
}
