#include "search/compaction_path.h"

#include "base/memory.h"
#include "base/vec.h"
#include "search/worker.h"

#include <string.h>

/* The candidates for one position of the path, consecutively in `keys`. The last one is being followed; those before it
   led nowhere. */
struct path_position {
  state_ref ref;
  VEC(size_t) ends;
  VEC(uint8_t) keys;
};

struct path_reconstruction {
  const struct search *search;
  const struct finding *finding;
  struct path_position *positions;
  uint32_t n, at; /* number of positions, and the one for which a candidate is being sought */
  bool found;     /* a candidate was found */
  bool fails;     /* a step from the last one ends in an error */
};

#define KEY_PADDING 16 /* so many bytes after a key are readable */

static struct state state_at(const struct path_position *position, size_t i) {
  size_t from = i ? position->ends.at[i - 1] : 0;
  return (struct state){position->keys.at + from, (uint32_t)(position->ends.at[i] - from)};
}

static struct state last_of(const struct path_position *position) { return state_at(position, position->ends.n - 1); }

static bool is_known(const struct path_position *position, const struct state *state) {
  for (size_t i = 0; i < position->ends.n; i++) {
    struct state other = state_at(position, i);
    if (other.length == state->length && !memcmp(other.bytes, state->bytes, state->length))
      return true;
  }
  return false;
}

static bool consider(void *context, const struct state *state, const struct edge *edge) {
  struct path_reconstruction *r = context;
  const struct finding *f = r->finding;
  const struct visited_set *visited_set = r->search->visited_set;
  if (r->at == r->n) {
    r->fails |= edge->error != NULL;
    return !r->fails;
  }
  struct path_position *position = &r->positions[r->at];
  bool last = r->at + 1 == r->n;
  if (edge->error || visited_lookup(visited_set, state->bytes, state->length) != position->ref)
    return true;
  if (last && f->target != STATE_REF_NONE && !(edge->broken >> (f->property < 63 ? f->property : 63) & 1))
    return true;
  if (is_known(position, state))
    return true;
  vec_reserve(&position->keys, position->keys.n + state->length + KEY_PADDING);
  memcpy(position->keys.at + position->keys.n, state->bytes, state->length);
  position->keys.n += state->length;
  vec_push(&position->ends, position->keys.n);
  r->found = true;
  return false;
}

/* Restores `decided` as it was when states of that layer were expanded, because partial-order reduction depends on the
   open properties. */
static void tell_decided(const struct search *s, uint32_t rounds) {
  s->space->decided = 0;
  for (uint32_t i = 0; i < s->space->query->nproperties && i < 64; i++)
    s->space->decided |= (uint64_t)(s->findings[i].found && s->findings[i].rounds <= rounds) << i;
}

/* Finds another candidate for position `at`, a successor of the current one before it. There is hardly ever a second
   one, so the first is followed before others are sought. */
static bool find_state(struct path_reconstruction *r, uint32_t at) {
  struct system *space = r->search->space;
  r->at = at;
  r->found = false;
  if (at == 0) {
    space->ops->initial(space, consider, r);
    return r->found;
  }
  struct state from = last_of(&r->positions[at - 1]);
  tell_decided(r->search, at - 1);
  system_all_successors(space, &from, consider, r);
  return r->found;
}

/* Does the path end in the finding? */
static bool arrives(struct path_reconstruction *r) {
  const struct finding *f = r->finding;
  struct system *space = r->search->space;
  struct state last = last_of(&r->positions[r->n - 1]);
  struct model_error ignored;
  if (finding_goal(f).kind == GOAL_ERROR) {
    find_state(r, r->n);
    return r->fails;
  }
  if (f->by_step || f->property == UINT32_MAX)
    return true;
  enum verdict3 v = space->ops->holds(space, f->property, &last, &ignored);
  if (f->error.message)
    return v == V_ERROR;
  return v == (question_property(space, f->property)->kind == PROPERTY_COVER ? V_TRUE : V_FALSE);
}

/* Depth-first, with backtracking. */
static bool follow(struct path_reconstruction *r) {
  for (uint32_t at = 0;;) {
    if (at == r->n && arrives(r))
      return true;
    if (at < r->n && find_state(r, at)) {
      at++;
      continue;
    }
    if (at == 0)
      return false;
    if (at < r->n) {
      vec_clear(&r->positions[at].ends);
      vec_clear(&r->positions[at].keys);
    }
    at--;
  }
}

static struct state *path_copy(const struct path_reconstruction *r) {
  size_t bytes = r->n * sizeof(struct state) + KEY_PADDING;
  for (uint32_t i = 0; i < r->n; i++)
    bytes += last_of(&r->positions[i]).length;
  struct state *path = memory_alloc(bytes);
  uint8_t *at = (uint8_t *)(path + r->n);
  for (uint32_t i = 0; i < r->n; i++) {
    struct state on = last_of(&r->positions[i]);
    memcpy(at, on.bytes, on.length);
    path[i] = (struct state){at, on.length};
    at += on.length;
  }
  return path;
}

struct state *compaction_path(const struct search *s, const struct finding *f, uint32_t *n) {
  struct path_reconstruction r = {.search = s, .finding = f, .n = f->target != STATE_REF_NONE};
  uint64_t decided = s->space->decided;
  for (state_ref ref = f->state; ref != STATE_REF_NONE; ref = visited_get(s->visited_set, ref).parent)
    r.n++;
  r.positions = memory_alloc(r.n * sizeof *r.positions);
  uint32_t at = r.n;
  if (f->target != STATE_REF_NONE)
    r.positions[--at].ref = f->target;
  for (state_ref ref = f->state; ref != STATE_REF_NONE; ref = visited_get(s->visited_set, ref).parent)
    r.positions[--at].ref = ref;
  struct state *path = follow(&r) ? path_copy(&r) : NULL;
  for (uint32_t i = 0; i < r.n; i++) {
    vec_release(&r.positions[i].ends);
    vec_release(&r.positions[i].keys);
  }
  memory_free(r.positions);
  s->space->decided = decided;
  *n = r.n;
  return path;
}
