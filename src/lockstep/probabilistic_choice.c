/* Almost-sure queries: separates the choices of an adversary from coins. The choices of an update form a tree, and the
   adversary knows the coins tossed before each of its choices. Its strategies correspond to sets of updates: at its own
   nodes it takes one branch; at a coin, all branches occur. */
#include "lockstep/probabilistic_choice.h"

#include "interp/round_step.h"
#include "lockstep/lockstep.h"
#include "lockstep/lockstep_local_steps.h"
#include "lockstep/outcome_product.h"

#include <stdlib.h>
#include <string.h>

#define STRATEGIES_MOST 4096

enum { PROBABILISTIC = -1 }; /* in the place of an update's status: see update_put */

bool update_is_probabilistic(const struct lockstep *s, uint32_t update) {
  return s->coins.used && update < UPDATE_CRASH && intern_at(s->local.local_updates, update)[0] == PROBABILISTIC;
}

struct strategies { /* sets of updates, in system->local_updates: a single update, or PROBABILISTIC and several */
  uint32_t *at;
  size_t n, cap;
};

static int compare_values(const void *a, const void *b) {
  const value *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

static void updates_append(const struct lockstep *s, uint32_t update, value *v, size_t *n) {
  if (!update_is_probabilistic(s, update)) {
    v[(*n)++] = update;
    return;
  }
  size_t length = intern_length(s->local.local_updates, update) - 1;
  memcpy(v + *n, intern_at(s->local.local_updates, update) + 1, length * sizeof *v);
  *n += length;
}

static size_t updates_count(const struct lockstep *s, uint32_t update) {
  return update_is_probabilistic(s, update) ? intern_length(s->local.local_updates, update) - 1 : 1;
}

static uint32_t updates_union(struct lockstep *s, uint32_t a, uint32_t b) {
  value *v = memory_alloc((updates_count(s, a) + updates_count(s, b) + 1) * sizeof *v);
  size_t n = 1, kept = 2;
  v[0] = PROBABILISTIC;
  updates_append(s, a, v, &n);
  updates_append(s, b, v, &n);
  qsort(v + 1, n - 1, sizeof *v, compare_values);
  for (size_t i = 2; i < n; i++)
    if (v[i] != v[kept - 1])
      v[kept++] = v[i];
  uint32_t id = kept == 2 ? (uint32_t)v[1] : intern_put(s->local.local_updates, v, kept);
  memory_free(v);
  return id;
}

/* The runs at..at+n agree on their first `depth` choices. */
static void strategies_at(struct lockstep *s, const struct update_run *at, size_t n, size_t depth,
                          struct strategies *out) {
  if (at[0].n <= depth) { /* then this is the only run */
    add_unique(&out->at, &out->n, &out->cap, at[0].update);
    return;
  }
  bool coin = depth < 64 && at[0].coins >> depth & 1, first = true;
  for (size_t i = 0, j; i < n; i = j) {
    for (j = i + 1; j < n && at[j].taken[depth] == at[i].taken[depth];)
      j++;
    struct strategies branch = {0}, both = {0};
    strategies_at(s, at + i, j - i, depth + 1, &branch);
    for (size_t k = 0; k < branch.n; k++) {
      if (!coin || first)
        add_unique(&both.at, &both.n, &both.cap, branch.at[k]);
      for (size_t l = 0; l < out->n && coin && !first; l++)
        add_unique(&both.at, &both.n, &both.cap, updates_union(s, out->at[l], branch.at[k]));
    }
    if (coin)
      out->n = 0;
    for (size_t k = 0; k < both.n; k++)
      add_unique(&out->at, &out->n, &out->cap, both.at[k]);
    if (out->n > STRATEGIES_MOST) {
      s->base.coins_lost = "a process mixes too many coins with free choices in one step";
      out->n = 1;
    }
    first = false;
    memory_free(branch.at);
    memory_free(both.at);
  }
}

void probabilistic_updates(struct lockstep *s, const struct update_run *at, size_t n, uint32_t **found, size_t *nfound,
                           size_t *cap) {
  struct strategies all = {0};
  strategies_at(s, at, n, 0, &all);
  for (size_t i = 0; i < all.n; i++)
    add_unique(found, nfound, cap, all.at[i]);
  memory_free(all.at);
}

/* --- applied to a particular local state --- */

void successor_of_coins(struct lockstep *s, local_id local, uint32_t point, uint32_t update,
                        struct lockstep_successor *o) {
  size_t n = intern_length(s->local.local_updates, update) - 1, kept = 0;
  value *next = memory_alloc((n + 1) * sizeof *next);
  for (size_t i = 0; i < n; i++) {
    uint32_t one = (uint32_t)intern_at(s->local.local_updates, update)[1 + i], error = update_error(s, one);
    next[i] = error ? COIN_RESULT_ERROR | (error - 1) : local_after(s, local, point, one);
  }
  qsort(next, n, sizeof *next, compare_values);
  for (size_t i = 0; i < n; i++)
    if (kept == 0 || next[i] != next[kept - 1])
      next[kept++] = next[i];
  o->next = (local_id)next[0];
  if (kept == 1 && (next[0] & COIN_RESULT_ERROR)) {
    o->error = 1 + (o->next & ~COIN_RESULT_ERROR);
    o->next = 0;
  } else if (kept > 1) { /* equal sets must have the same index */
    uint32_t key = intern_put(s->vectors, next, kept), place;
    if (!memo_find(&s->coins.results_of, key, 0, &place)) {
      uint32_t *kept_at = arena_array(&s->arena, kept, sizeof *kept_at);
      for (size_t i = 0; i < kept; i++)
        kept_at[i] = (uint32_t)next[i];
      vec_push(&s->local.lists, ((struct list){kept_at, (uint32_t)kept}));
      place = (uint32_t)s->local.lists.n;
      memo_add(&s->coins.results_of, key, 0, place);
    }
    o->adversary_choice = place;
  }
  memory_free(next);
}

/* --- plain enumeration --- */

typedef VEC(value) value_vec;

/* The choices of an update, without its coins. */
static void put_choices(struct lockstep *s, const struct message_exchange *x, const struct witness *w, uint32_t p,
                        struct received_entry *entries, value_vec *key) {
  const struct role *role = &s->model->roles[model_role_of(s->model, p)];
  struct received received;
  struct choices choices = {0};
  struct eval e;
  value *local = memory_alloc(role_local_length(role) * sizeof *local);
  memcpy(local, x->local[p], role_local_length(role) * sizeof *local);
  exchange_receive(x, w, p, entries, &received, NULL);
  local_begin(&e, s->interp, p, x->config->point, x->config->phase, local, x->config->globals);
  choices_give(&choices, &w->updates[p]);
  e.choices = &choices;
  local_update(&e, &received);
  bool tossed = false;
  for (size_t i = 0; i < choices.at; i++) {
    bool coin = i < 64 && choices.coins >> i & 1;
    if (!coin && tossed)
      s->base.coins_lost = "the plain way cannot tell what is chosen after a coin is tossed";
    tossed |= coin;
    if (!coin)
      vec_push(key, choices.taken.at[i]);
  }
  vec_push(key, -1);
  choices_release(&choices);
  memory_free(local);
}

uint32_t plain_adversary_choice(struct lockstep *s, const struct config *c, const struct witness *w) {
  const struct model *m = s->model;
  struct message_exchange x;
  struct model_error ignored;
  value_vec key = {0};
  if (exchange_begin(&x, s->interp, c, w, &ignored) != STEP_OK) {
    exchange_release(&x);
    return ++s->coins.adversary_choice;
  }
  struct received_entry *entries = memory_alloc((m->nprocesses + 1) * sizeof *entries);
  for (uint32_t p = 0; p < m->nprocesses; p++) {
    for (uint32_t i = 0; w->oracles[p] && i < role_noracles(&m->roles[model_role_of(m, p)]); i++)
      vec_push(&key, w->oracles[p][i]);
    vec_push(&key, w->crashes[p]);
    for (uint32_t i = 0; i < w->sends[p].n; i++)
      vec_push(&key, w->sends[p].at[i]);
    for (uint32_t q = 0; q < m->nprocesses; q++)
      vec_push(&key, w->heard[p][q]);
    if (process_active(c->local[p][LOCAL_STATUS]) && !w->crashes[p])
      put_choices(s, &x, w, p, entries, &key);
  }
  for (uint32_t i = 0; i < w->nforged; i++) {
    vec_push(&key, w->forged[i].receiver);
    vec_push(&key, w->forged[i].sender);
    vec_push(&key, w->forged[i].message);
  }
  uint32_t id = intern_put(s->coins.plain_adversary_choices, key.at, key.n);
  memory_free(entries);
  vec_release(&key);
  exchange_release(&x);
  if (s->interp->coins_lost)
    s->base.coins_lost = s->interp->coins_lost;
  return id;
}
