#include "search/retrace.h"

#include "base/memory.h"
#include "base/vec.h"
#include "search/sweep.h"

#include <string.h>

/* States that may be the one of that number on the way; they stand in `keys` one behind the other. */
struct stop {
  state_ref ref;
  VEC(size_t) ends;
  VEC(uint8_t) keys;
  size_t taken; /* the one that is followed now */
};

struct retracing {
  const struct search *search;
  const struct finding *finding;
  struct stop *stops;
  uint32_t n, at; /* how many there are, and the one whose states are being found */
  bool fails;     /* a step from the last one ends in an error */
};

#define BEHIND 16 /* that many bytes behind a key may be read */

static struct state state_at(const struct stop *stop, size_t i) {
  size_t from = i ? stop->ends.at[i - 1] : 0;
  return (struct state){stop->keys.at + from, (uint32_t)(stop->ends.at[i] - from)};
}

static bool is_known(const struct stop *stop, const struct state *state) {
  for (size_t i = 0; i < stop->ends.n; i++) {
    struct state other = state_at(stop, i);
    if (other.length == state->length && !memcmp(other.bytes, state->bytes, state->length))
      return true;
  }
  return false;
}

static bool consider(void *context, const struct state *state, const struct edge *edge) {
  struct retracing *r = context;
  const struct finding *f = r->finding;
  const struct store *store = r->search->store;
  if (r->at == r->n) {
    r->fails |= edge->error != NULL;
    return !r->fails;
  }
  struct stop *stop = &r->stops[r->at];
  bool last = r->at + 1 == r->n;
  if (edge->error || store_seek(store, state->bytes, state->length) != stop->ref)
    return true;
  if (last && f->target != STORE_NONE && !(edge->broken >> (f->property < 63 ? f->property : 63) & 1))
    return true;
  if (is_known(stop, state))
    return true;
  vec_reserve(&stop->keys, stop->keys.n + state->length + BEHIND);
  memcpy(stop->keys.at + stop->keys.n, state->bytes, state->length);
  stop->keys.n += state->length;
  vec_push(&stop->ends, stop->keys.n);
  return true;
}

/* As it was when states of that layer were expanded: which steps are left out goes by what is asked. */
static void tell_decided(const struct search *s, uint32_t rounds) {
  s->space->decided = 0;
  for (uint32_t i = 0; i < s->space->question->nproperties && i < 64; i++)
    s->space->decided |= (uint64_t)(s->findings[i].found && s->findings[i].rounds <= rounds) << i;
}

/* What may come at `at`, after what is taken before it. */
static void find_states(struct retracing *r) {
  struct space *space = r->search->space;
  if (r->at < r->n) {
    vec_clear(&r->stops[r->at].ends);
    vec_clear(&r->stops[r->at].keys);
    r->stops[r->at].taken = 0;
  }
  if (r->at == 0) {
    space->ops->initial(space, consider, r);
    return;
  }
  struct state from = state_at(&r->stops[r->at - 1], r->stops[r->at - 1].taken);
  space->partial = false;
  tell_decided(r->search, r->at - 1);
  if (space->ops->successors(space, &from, consider, r) && space->partial)
    space->ops->others(space, &from, consider, r);
}

/* Is where it has come to what was found? */
static bool arrives(struct retracing *r) {
  const struct finding *f = r->finding;
  struct space *space = r->search->space;
  struct state last = state_at(&r->stops[r->n - 1], r->stops[r->n - 1].taken);
  struct model_error ignored;
  if (finding_goal(f).kind == GOAL_ERROR) {
    r->at = r->n;
    find_states(r);
    return r->fails;
  }
  if (f->by_step || f->property == UINT32_MAX)
    return true;
  enum verdict3 v = space->ops->holds(space, f->property, &last, &ignored);
  if (f->error.message)
    return v == V_ERROR;
  return v == (question_property(space, f->property)->kind == PROPERTY_COVER ? V_TRUE : V_FALSE);
}

/* Depth first. */
static bool follow(struct retracing *r) {
  for (uint32_t at = 0;; at++) {
    if (at == r->n) {
      if (arrives(r))
        return true;
    } else {
      r->at = at;
      find_states(r);
      if (r->stops[at].ends.n > 0)
        continue;
    }
    do { /* back to where there is another one */
      if (at == 0)
        return false;
      at--;
    } while (++r->stops[at].taken >= r->stops[at].ends.n);
  }
}

static struct state *told(const struct retracing *r) {
  size_t bytes = r->n * sizeof(struct state) + BEHIND;
  for (uint32_t i = 0; i < r->n; i++)
    bytes += state_at(&r->stops[i], r->stops[i].taken).length;
  struct state *path = memory_alloc(bytes);
  uint8_t *at = (uint8_t *)(path + r->n);
  for (uint32_t i = 0; i < r->n; i++) {
    struct state on = state_at(&r->stops[i], r->stops[i].taken);
    memcpy(at, on.bytes, on.length);
    path[i] = (struct state){at, on.length};
    at += on.length;
  }
  return path;
}

struct state *retrace(const struct search *s, const struct finding *f, uint32_t *n) {
  struct retracing r = {.search = s, .finding = f, .n = f->target != STORE_NONE};
  uint64_t decided = s->space->decided;
  for (state_ref ref = f->state; ref != STORE_NONE; ref = store_at(s->store, ref).parent)
    r.n++;
  r.stops = memory_alloc(r.n * sizeof *r.stops);
  uint32_t at = r.n;
  if (f->target != STORE_NONE)
    r.stops[--at].ref = f->target;
  for (state_ref ref = f->state; ref != STORE_NONE; ref = store_at(s->store, ref).parent)
    r.stops[--at].ref = ref;
  struct state *path = follow(&r) ? told(&r) : NULL;
  for (uint32_t i = 0; i < r.n; i++) {
    vec_release(&r.stops[i].ends);
    vec_release(&r.stops[i].keys);
  }
  memory_free(r.stops);
  s->space->decided = decided;
  *n = r.n;
  return path;
}
