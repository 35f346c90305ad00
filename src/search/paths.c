#include "search/paths.h"

#include <string.h>

/* A state, wherever it lies. */
struct place {
  bytes key;
  state_ref parent;
  charge charge;
  uint32_t layer;
};

struct search_for { /* is there a step to it? */
  const struct place *target;
  charge from;
  bool found;
};

static bool look_for(void *context, const struct state *state, const struct edge *edge) {
  struct search_for *l = context;
  const struct place *t = l->target;
  l->found = !edge->error && charge_add(l->from, edge->processes, edge->faults) <= t->charge &&
             state->length == t->key.n && memcmp(state->bytes, t->key.at, t->key.n) == 0;
  return !l->found;
}

/* Does this rank have the parent of p? */
static bool is_parent_here(struct parcels *x, const struct place *p) {
  struct space *space = x->sweep->space;
  const struct store *store = x->sweep->search->store;
  state_ref ref = p->parent;
  if (ref < x->layers.at[p->layer - 1] || ref >= x->layers.at[p->layer] || !store_has(store, ref))
    return false;
  struct stored at = store_at(store, ref);
  struct state state = {at.bytes, at.length};
  struct search_for l = {.target = p, .from = at.charge};
  space->partial = false;
  if (space->ops->successors(space, &state, look_for, &l) && space->partial)
    space->ops->others(space, &state, look_for, &l);
  return l.found;
}

/* What one rank has under a reference, for all. */
static void tell_place(struct parcels *x, uint32_t from, state_ref ref, uint32_t layer, struct place *p) {
  struct ranks *r = x->ranks;
  struct stored at = {0};
  if (r->rank == from)
    at = store_at(x->sweep->search->store, ref);
  uint64_t head[3] = {at.length, at.parent, at.charge};
  r->ops->tell(r, from, head, sizeof head);
  *p = (struct place){.parent = head[1], .charge = (charge)head[2], .layer = layer};
  p->key.n = (size_t)head[0];
  vec_reserve(&p->key, p->key.n + STORE_SHORT);
  memset(p->key.at, 0, p->key.n + STORE_SHORT);
  if (r->rank == from)
    memcpy(p->key.at, at.bytes, at.length);
  r->ops->tell(r, from, p->key.at, p->key.n);
}

static uint32_t find_parent(struct parcels *x, const struct place *p) {
  struct ranks *r = x->ranks;
  uint64_t mine = is_parent_here(x, p), *all = memory_alloc(r->n * sizeof *all);
  uint32_t at = 0;
  r->ops->meet(r); /* somebody may have asked for names */
  r->ops->gather(r, &mine, 1, all);
  while (at < r->n && !all[at])
    at++;
  memory_free(all);
  return at;
}

static void tell_target(struct parcels *x, uint32_t from, uint32_t property, bytes *key) {
  struct ranks *r = x->ranks;
  uint64_t n = x->targets[property].n;
  r->ops->tell(r, from, &n, sizeof n);
  key->n = (size_t)n;
  vec_reserve(key, key->n + STORE_SHORT);
  memset(key->at, 0, key->n + STORE_SHORT);
  if (r->rank == from)
    memcpy(key->at, x->targets[property].at, key->n);
  r->ops->tell(r, from, key->at, key->n);
}

static void told_path_clear(struct told_path *path) {
  for (size_t k = 0; k < path->keys.n; k++)
    vec_release(&path->keys.at[k]);
  vec_clear(&path->keys);
}

/* From the last state to the first. */
static void trace_back(struct parcels *x, const struct finding *f, uint32_t at, struct told_path *path) {
  struct place p;
  if (f->by_step && f->property != UINT32_MAX) {
    bytes key = {0};
    tell_target(x, at, f->property, &key);
    vec_push(&path->keys, key);
  }
  if (f->state == STORE_NONE)
    return;
  tell_place(x, at, f->state, f->rounds - f->by_step, &p);
  vec_push(&path->keys, p.key);
  while (p.parent != STORE_NONE) {
    at = find_parent(x, &p);
    if (at == x->ranks->n) { /* spaces give up when they are interrupted */
      told_path_clear(path);
      return;
    }
    state_ref parent = p.parent;
    tell_place(x, at, parent, p.layer - 1, &p);
    vec_push(&path->keys, p.key);
  }
}

void told_paths_make(struct parcels *x) {
  struct search *s = x->sweep->search;
  uint32_t n = x->sweep->space->question->nproperties;
  s->paths = memory_alloc((n + (size_t)1) * sizeof *s->paths);
  for (uint32_t i = 0; i <= n; i++) {
    const struct finding *f = i < n ? &s->findings[i] : &s->error;
    struct told_path *path = &s->paths[i];
    if (!f->found)
      continue;
    trace_back(x, f, x->found_at[i], path);
    for (size_t k = 0; 2 * k + 1 < path->keys.n; k++) {
      bytes other = path->keys.at[k];
      path->keys.at[k] = path->keys.at[path->keys.n - 1 - k];
      path->keys.at[path->keys.n - 1 - k] = other;
    }
  }
}

void told_paths_free(struct search *s) {
  for (uint32_t i = 0; s->paths && i <= s->space->question->nproperties; i++) {
    told_path_clear(&s->paths[i]);
    vec_release(&s->paths[i].keys);
  }
  memory_free(s->paths);
  s->paths = NULL;
}

void told_paths_save(const struct search *s, struct saver *to) {
  for (uint32_t i = 0; i <= s->space->question->nproperties; i++) {
    const struct told_path *path = &s->paths[i];
    save_number(to, path->keys.n);
    for (size_t k = 0; k < path->keys.n; k++)
      save_block(to, path->keys.at[k].at, path->keys.at[k].n);
  }
}

void told_paths_load(struct search *s, struct loader *from) {
  uint32_t n = s->space->question->nproperties;
  told_paths_free(s);
  s->paths = memory_alloc((n + (size_t)1) * sizeof *s->paths);
  for (uint32_t i = 0; i <= n; i++)
    for (uint64_t k = load_number(from); k > 0 && !from->bad; k--) {
      bytes key = {0};
      load_key(from, &key);
      vec_push(&s->paths[i].keys, key);
    }
}

static const struct told_path *path_to(const struct search *s, const struct finding *f) {
  return &s->paths[f == &s->error ? s->space->question->nproperties : (size_t)(f - s->findings)];
}

bool told_path_is_known(const struct search *s, const struct finding *f) { return s->paths && path_to(s, f)->keys.n > 0; }

struct state *told_path(const struct search *s, const struct finding *f, uint32_t *n, struct goal *goal) {
  const struct told_path *path = path_to(s, f);
  struct state *states = memory_alloc((path->keys.n + 1) * sizeof *states);
  for (size_t i = 0; i < path->keys.n; i++)
    states[i] = (struct state){path->keys.at[i].at, (uint32_t)path->keys.at[i].n};
  *n = (uint32_t)path->keys.n;
  *goal = finding_goal(f);
  return states;
}
