/* The joint mode: a lockstep round is fixed when the first process ends it. Every heard-of assignment that the
   interpreter allows is tried, and the results and heard-of sets of the other processes in that round are part of the
   state until they have ended it too. This is exact for every environment, by definition. */
#include "async/async_system.h"

#include "interp/async_round.h"
#include "lockstep/lockstep_local_steps.h"
#include "lockstep/round_rank.h"

#include <string.h>

struct joint_round { /* one way to take a round */
  uint32_t to;       /* in joint->results: [point, phase, lost, corrupted, locals...] */
  uint64_t *needs;   /* by process: the senders whose messages it receives */
  uint32_t crashes;
  uint32_t faults;
  struct witness *witness;
  const struct model_error *error; /* then `to` is meaningless */
};

struct joint_rounds {
  VEC(struct joint_round) at;
  bool known;
};

struct async_joint {
  struct async_system *system;
  struct intern *configs, *results;
  VEC(struct joint_rounds) steps; /* by config */
  struct arena arena;             /* errors, needs */
  struct cut *from, *to, *best;
};

/* A state: lockstep rounds 0 .. width of a window, and how far each process has advanced in them. */
struct cut {
  uint32_t point, rounds; /* of the window's first round */
  value phase;
  int64_t lost, corrupted; /* after its last round */
  uint32_t globals, inits, width;
  uint32_t *done;
  local_id *local; /* [process * (ASYNC_WINDOW_MAX + 2) + round], from done on */
  uint64_t *needs; /* likewise: the senders it has to wait for in the next round */
};
#define AT(p, round) ((size_t)(p) * (ASYNC_WINDOW_MAX + 2) + (round))

static struct cut *cut_new(uint32_t n) {
  struct cut *c = memory_alloc(sizeof *c);
  c->done = memory_alloc((n + 1) * sizeof *c->done);
  c->local = memory_alloc(AT(n + 1, 0) * sizeof *c->local);
  c->needs = memory_alloc(AT(n + 1, 0) * sizeof *c->needs);
  return c;
}

static void cut_free(struct cut *c) {
  memory_free(c->done);
  memory_free(c->local);
  memory_free(c->needs);
  memory_free(c);
}

static void cut_assign(struct cut *to, const struct cut *from, uint32_t n) {
  uint32_t *done = to->done;
  local_id *local = to->local;
  uint64_t *needs = to->needs;
  *to = *from;
  to->done = memcpy(done, from->done, n * sizeof *done);
  to->local = local;
  to->needs = needs;
  for (uint32_t p = 0; p < n; p++) {
    memcpy(local + AT(p, 0), from->local + AT(p, 0), (from->width + 1) * sizeof *local);
    memcpy(needs + AT(p, 0), from->needs + AT(p, 0), (from->width + 1) * sizeof *needs);
  }
}

struct async_joint *async_joint_new(struct async_system *s) {
  struct async_joint *w = memory_alloc(sizeof *w);
  w->system = s;
  w->configs = intern_new();
  w->results = intern_new();
  arena_init(&w->arena);
  w->from = cut_new(s->n);
  w->to = cut_new(s->n);
  w->best = cut_new(s->n);
  return w;
}

static void steps_release(struct joint_rounds *steps) {
  for (size_t k = 0; k < steps->at.n; k++)
    witness_free(steps->at.at[k].witness);
  vec_release(&steps->at);
}

void async_joint_free(struct async_joint *w) {
  for (size_t i = 0; i < w->steps.n; i++)
    steps_release(&w->steps.at[i]);
  vec_release(&w->steps);
  intern_free(w->configs);
  intern_free(w->results);
  arena_release(&w->arena);
  cut_free(w->from);
  cut_free(w->to);
  cut_free(w->best);
  memory_free(w);
}

size_t async_joint_memory(const struct async_joint *w) {
  size_t bytes = intern_bytes(w->configs) + intern_bytes(w->results);
  for (size_t i = 0; i < w->steps.n; i++)
    bytes += w->steps.at[i].at.n * (sizeof(struct joint_round) + 160);
  return bytes;
}

/* --- position of the window's rounds in the schedule --- */

static uint32_t point_after(const struct model *m, const struct cut *c, uint32_t round, value *phase,
                            uint32_t *rounds) {
  uint32_t point = c->point;
  *phase = c->phase;
  *rounds = c->rounds;
  for (uint32_t i = 0; i < round; i++)
    async_next_round(m, &point, phase, rounds);
  return point;
}

/* --- lockstep rounds, each computed once --- */

struct joint_round_builder {
  struct async_joint *joint;
  const struct config *from;
  struct joint_rounds *steps;
  value *key;
  uint64_t *needs;
};

static bool no_more_needs(const uint64_t *a, const uint64_t *b, uint32_t n) {
  for (uint32_t p = 0; p < n; p++)
    if (a[p] & ~b[p])
      return false;
  return true;
}

static bool keep_step(void *context, const struct witness *w, enum step_result result, const struct config *next,
                      const struct model_error *error) {
  struct joint_round_builder *k = context;
  struct async_joint *joint = k->joint;
  struct async_system *s = joint->system;
  uint32_t n = s->n, length = 0;
  struct joint_round step = {.faults = (uint32_t)(next->lost - k->from->lost + next->corrupted - k->from->corrupted)};
  if (result == STEP_BAD_WITNESS)
    return true;
  for (uint32_t p = 0; p < n; p++)
    step.crashes += w->crashes[p];
  if (result == STEP_ERROR) {
    struct model_error *kept = arena_alloc(&joint->arena, sizeof *kept);
    *kept = *error;
    step.error = kept;
    step.to = INTERN_NONE;
  } else {
    k->key[length++] = s->pack->kept.lost ? next->lost : 0;
    k->key[length++] = s->pack->kept.corrupted ? next->corrupted : 0;
    for (uint32_t p = 0; p < n; p++)
      k->key[length++] =
          local_drop_dead(s->pack, local_put(s->pack, model_role_of(s->model, p), next->local[p]), next->point);
    step.to = intern_put(joint->results, k->key, length);
  }
  round_messages(s->interp, k->from, w, k->needs);
  size_t kept = 0;
  for (size_t i = 0; i < k->steps->at.n;
       i++) { /* equal results: keep the rounds in which processes wait for fewer senders */
    struct joint_round *old = &k->steps->at.at[i];
    bool same =
        old->to == step.to && old->faults == step.faults && old->crashes == step.crashes &&
        (!step.error || (step.error->process == old->error->process && step.error->at.from == old->error->at.from));
    if (same && no_more_needs(old->needs, k->needs, n))
      return true;
    if (same && no_more_needs(k->needs, old->needs, n))
      witness_free(old->witness);
    else
      k->steps->at.at[kept++] = *old;
  }
  k->steps->at.n = kept;
  step.needs = arena_keep_array(&joint->arena, k->needs, n, sizeof *k->needs);
  step.witness = witness_copy(s->model, w);
  vec_push(&k->steps->at, step);
  return true;
}

static struct config *config_at(struct async_system *s, const struct cut *c) {
  struct unpacked_state *g = s->after;
  g->point = point_after(s->model, c, c->width, &g->phase, &g->rounds);
  g->lost = c->lost;
  g->corrupted = c->corrupted;
  g->globals = c->globals;
  g->inits = c->inits;
  g->n = s->n;
  for (uint32_t p = 0; p < s->n; p++)
    g->at[p] = (struct member){c->local[AT(p, c->width)], 1};
  return global_to_config(s->pack, g);
}

/* All ways to take the round after the window. NULL: interrupted. */
static const struct joint_rounds *joint_rounds_after(struct async_system *s, const struct cut *c) {
  struct async_joint *w = s->joint;
  value *key = memory_alloc((s->n + 8) * sizeof *key);
  uint32_t length = 0, rounds;
  value phase;
  key[length++] = point_after(s->model, c, c->width, &phase, &rounds);
  key[length++] = s->pack->kept.phase ? phase : 1;
  key[length++] = s->pack->kept.rounds ? rounds : 0;
  key[length++] = c->lost;
  key[length++] = c->corrupted;
  key[length++] = c->globals;
  for (uint32_t p = 0; p < s->n; p++)
    key[length++] = c->local[AT(p, c->width)];
  uint32_t id = intern_put(w->configs, key, length);
  while (w->steps.n <= id)
    vec_push(&w->steps, (struct joint_rounds){0});
  bool complete = true;
  if (!w->steps.at[id].known) {
    struct config *config = config_at(s, c);
    struct joint_rounds made = {0};
    struct joint_round_builder k = {w, config, &made, key, memory_alloc((s->n + 1) * sizeof *k.needs)};
    complete = config_successors(s->interp, s->base.query->environment, config, keep_step, &k);
    memory_free(k.needs);
    config_free(config);
    made.known = complete;
    if (complete)
      w->steps.at[id] = made;
    else
      steps_release(&made);
  }
  memory_free(key);
  return complete ? &w->steps.at[id] : NULL;
}

/* --- normal form --- */

static bool is_live(const struct async_system *s, const struct cut *c, uint32_t p, uint32_t round) {
  return process_active(local_status(s->pack, c->local[AT(p, round)]));
}

/* Moves processes that take no part any more to the end of the window, starts the window at the round of the last live
   process, and clears waits for messages that were sent. False: live processes are further apart than max_distance. */
static bool cut_normalise(struct async_system *s, struct cut *c) {
  uint32_t least = c->width;
  bool live[ASYNC_RUN_PROCESSES_MAX];
  for (uint32_t p = 0; p < s->n; p++) {
    live[p] = is_live(s, c, p, c->done[p]);
    if (!live[p])
      c->done[p] = c->width;
    if (c->done[p] < least)
      least = c->done[p];
  }
  if (!async_distance(s, c->done, live))
    return false;
  for (uint32_t p = 0; p < s->n; p++)
    for (uint32_t r = c->done[p]; r < c->width; r++)
      for (uint32_t q = 0; q < s->n; q++)
        if (c->done[q] >= r)
          c->needs[AT(p, r)] &= ~(UINT64_C(1) << q);
  for (uint32_t i = 0; i < least; i++)
    async_next_round(s->model, &c->point, &c->phase, &c->rounds);
  if (c->rounds > s->pack->kept.rounds_cap)
    c->rounds = s->pack->kept.rounds_cap;
  for (uint32_t p = 0; p < s->n && least; p++) {
    memmove(c->local + AT(p, 0), c->local + AT(p, least), (c->width - least + 1) * sizeof *c->local);
    memmove(c->needs + AT(p, 0), c->needs + AT(p, least), (c->width - least + 1) * sizeof *c->needs);
    c->done[p] -= least;
  }
  c->width -= least;
  return true;
}

/* Replaces round numbers by their rank, as in lockstep rounds. */
static void cut_rank(struct async_system *s, struct cut *c) {
  struct round_ranks ranks;
  value phase;
  uint32_t rounds;
  point_after(s->model, c, c->width, &phase, &rounds);
  round_ranks_begin(&ranks);
  for (uint32_t p = 0; p < s->n; p++)
    for (uint32_t r = c->done[p]; r <= c->width; r++)
      round_ranks_note_local(&ranks, s->pack, c->local[AT(p, r)]);
  for (value i = c->phase; i <= phase; i++)
    round_ranks_note(&ranks, i);
  if (round_ranks_assign(&ranks, s->pack, phase)) {
    for (uint32_t p = 0; p < s->n; p++)
      for (uint32_t r = c->done[p]; r <= c->width; r++)
        c->local[AT(p, r)] = round_ranks_rename(&ranks, s->pack, c->local[AT(p, r)]);
    c->phase = ranks.rank[c->phase];
  }
  round_ranks_release(&ranks);
}

static size_t cut_key(struct async_system *s, const struct cut *c, const uint32_t *order, uint8_t *key) {
  const struct pack *k = s->pack;
  uint8_t *at = key_put(key, c->point == POINT_END ? s->model->npoints : c->point);
  uint8_t to[ASYNC_RUN_PROCESSES_MAX];
  if (k->kept.rounds)
    at = key_put(at, c->rounds);
  if (k->kept.phase)
    at = key_put(at, (uint64_t)c->phase);
  if (k->kept.lost)
    at = key_put(at, (uint64_t)c->lost);
  if (k->kept.corrupted)
    at = key_put(at, (uint64_t)c->corrupted);
  at = key_put(at, c->globals);
  at = key_put(at, c->inits);
  at = key_put(at, c->width);
  for (uint32_t i = 0; i < s->n; i++)
    to[order[i]] = (uint8_t)i;
  for (uint32_t i = 0; i < s->n; i++) {
    uint32_t p = order[i];
    at = key_put(at, c->done[p]);
    for (uint32_t r = c->done[p]; r <= c->width; r++) {
      at = key_put(at, c->local[AT(p, r)]);
      uint64_t needs = 0;
      for (uint32_t q = 0; q < s->n && r < c->width; q++)
        needs |= (c->needs[AT(p, r)] >> q & 1) << to[q];
      if (r < c->width)
        at = key_put(at, needs);
    }
  }
  return (size_t)(at - key);
}

static void cut_decode(struct async_system *s, const struct state *state, struct cut *c) {
  const struct pack *k = s->pack;
  uint64_t x;
  const uint8_t *at = key_get(state->bytes, &x);
  c->point = x == s->model->npoints ? POINT_END : (uint32_t)x;
  c->rounds = 0;
  c->phase = 1;
  c->lost = c->corrupted = 0;
  if (k->kept.rounds)
    at = key_get(at, &x), c->rounds = (uint32_t)x;
  if (k->kept.phase)
    at = key_get(at, &x), c->phase = (value)x;
  if (k->kept.lost)
    at = key_get(at, &x), c->lost = (int64_t)x;
  if (k->kept.corrupted)
    at = key_get(at, &x), c->corrupted = (int64_t)x;
  at = key_get(at, &x), c->globals = (uint32_t)x;
  at = key_get(at, &x), c->inits = (uint32_t)x;
  at = key_get(at, &x), c->width = (uint32_t)x;
  for (uint32_t p = 0; p < s->n; p++) {
    at = key_get(at, &x), c->done[p] = (uint32_t)x;
    for (uint32_t r = c->done[p]; r <= c->width; r++) {
      at = key_get(at, &x), c->local[AT(p, r)] = (local_id)x;
      if (r < c->width)
        at = key_get(at, &c->needs[AT(p, r)]);
    }
  }
}

/* A key from outside, which may be any bytes. */
bool async_joint_key_is_sound(const struct async_system *s, const struct state *state) {
  const struct pack *k = s->pack;
  const uint8_t *at = state->bytes, *end = at + state->length;
  uint64_t point, rounds = 0, phase = 1, lost = 0, corrupted = 0, globals, inits, width;
  at = key_get_checked(at, end, &point);
  if (k->kept.rounds)
    at = key_get_checked(at, end, &rounds);
  if (k->kept.phase)
    at = key_get_checked(at, end, &phase);
  if (k->kept.lost)
    at = key_get_checked(at, end, &lost);
  if (k->kept.corrupted)
    at = key_get_checked(at, end, &corrupted);
  at = key_get_checked(at, end, &globals);
  at = key_get_checked(at, end, &inits);
  at = key_get_checked(at, end, &width);
  if (!at || point > s->model->npoints || rounds > k->kept.rounds_cap || phase == 0 || phase > UINT32_MAX ||
      lost > INT64_MAX / 2 || corrupted > INT64_MAX / 2 || width > ASYNC_WINDOW_MAX || !globals_are_sound(k, globals) ||
      (k->kept.initials == INITIALS_SET ? !initials_are_sound(k, inits) : inits != 0))
    return false;
  for (uint32_t p = 0; p < s->n; p++) {
    uint64_t done, local, needs;
    at = key_get_checked(at, end, &done);
    if (!at || done > width)
      return false;
    for (uint64_t r = done; r <= width; r++) {
      at = key_get_checked(at, end, &local);
      if (!at || local >= intern_count(k->locals) || local_role(k, (local_id)local) != model_role_of(s->model, p))
        return false;
      if (r < width)
        at = key_get_checked(at, end, &needs);
      if (!at || (r < width && s->n < 64 && needs >> s->n != 0))
        return false;
    }
  }
  return at == end;
}

struct joint_key_search {
  struct async_system *system;
  const struct cut *cut;
  size_t length; /* of the smallest key so far; 0: none */
};

static bool better_key(void *context, const uint32_t *order) {
  struct joint_key_search *k = context;
  struct async_system *s = k->system;
  size_t n = cut_key(s, k->cut, order, s->buffer), least = n < k->length ? n : k->length;
  int c = k->length ? memcmp(s->buffer, s->best, least) : -1;
  if (c < 0 || (c == 0 && n < k->length)) {
    uint8_t *best = s->best;
    s->best = s->buffer;
    s->buffer = best;
    k->length = n;
  }
  return true;
}

/* The canonical key of the cut; in system->best. */
static struct state cut_encode(struct async_system *s, struct cut *c) {
  struct joint_key_search k = {s, c, 0};
  if (s->pack->rank &&
      s->pack->licences->phase_residue == 1) /* each process has its own phase, so residues cannot be kept */
    cut_rank(s, c);
  if (s->pack->kept.phase_period)
    c->phase = (c->phase - 1) % s->pack->kept.phase_period + 1;
  async_key_room(s, 100 + s->n * (c->width + (size_t)2) * 20);
  if (!async_permutations(s, better_key, &k)) {
    uint32_t same[ASYNC_RUN_PROCESSES_MAX];
    for (uint32_t p = 0; p < s->n; p++)
      same[p] = p;
    better_key(&k, same);
  }
  return (struct state){s->best, (uint32_t)k.length};
}

/* --- steps --- */

/* Process p ends its round: changes c to the result, not normalised. step is NULL if the round is already fixed. */
static bool cut_advance(struct async_system *s, struct cut *c, uint32_t p, const struct joint_round *step) {
  if (step) {
    const value *to = intern_at(s->joint->results, step->to);
    c->lost = to[0];
    c->corrupted = to[1];
    for (uint32_t q = 0; q < s->n; q++) {
      c->needs[AT(q, c->width)] = step->needs[q];
      c->local[AT(q, c->width + 1)] = (local_id)to[2 + q];
      if (c->done[q] == c->width && !is_live(s, c, q, c->width))
        c->done[q]++;
    }
    c->width++;
  }
  c->done[p]++;
  return cut_normalise(s, c);
}

/* Has every sender that p hears in its current round sent its message? */
static bool all_sent(const struct async_system *s, const struct cut *c, uint64_t needs, uint32_t p) {
  for (uint32_t q = 0; q < s->n; q++)
    if (needs >> q & 1 && c->done[q] < c->done[p])
      return false;
  return true;
}

typedef bool cut_fn(void *context, uint32_t process, const struct joint_round *step, struct cut *next,
                    const struct edge *);

static bool each_step(struct async_system *s, const struct cut *c, cut_fn *visit, void *context) {
  struct async_joint *w = s->joint;
  for (uint32_t p = 0; p < s->n; p++) {
    value phase;
    uint32_t rounds;
    if (!is_live(s, c, p, c->done[p]) || point_after(s->model, c, c->done[p], &phase, &rounds) == POINT_END)
      continue;
    if (c->done[p] < c->width) {
      struct edge edge = {.processes = (local_status(s->pack, c->local[AT(p, c->done[p] + 1)]) & STATUS_CRASHED) != 0};
      if (!all_sent(s, c, c->needs[AT(p, c->done[p])], p))
        continue;
      cut_assign(w->to, c, s->n);
      edge.broken = async_broken(s, s->view, p, c->local[AT(p, c->done[p] + 1)]);
      if (cut_advance(s, w->to, p, NULL) && !visit(context, p, NULL, w->to, &edge))
        return false;
      continue;
    }
    if (c->width >= ASYNC_WINDOW_MAX) {
      s->base.distance_cut = true;
      continue;
    }
    const struct joint_rounds *all = joint_rounds_after(s, c);
    if (!all)
      return false;
    for (size_t i = 0; i < all->at.n; i++) {
      const struct joint_round *step = &all->at.at[i];
      struct edge edge = {.faults = step->faults, .error = step->error};
      if (!all_sent(s, c, step->needs[p], p) || (step->error && step->error->process != p))
        continue;
      if (step->error) {
        if (!visit(context, p, step, NULL, &edge))
          return false;
        continue;
      }
      local_id after = (local_id)intern_at(w->results, step->to)[2 + p];
      edge.processes = (local_status(s->pack, after) & STATUS_CRASHED) != 0;
      edge.broken = async_broken(s, s->view, p, after);
      cut_assign(w->to, c, s->n);
      if (cut_advance(s, w->to, p, step) && !visit(context, p, step, w->to, &edge))
        return false;
    }
  }
  return true;
}

static void cut_view(const struct async_system *s, const struct cut *c, struct unpacked_state *g) {
  value phase;
  g->point = point_after(s->model, c, 0, &phase, &g->rounds);
  g->phase = phase;
  g->lost = c->lost;
  g->corrupted = c->corrupted;
  g->globals = c->globals;
  g->inits = c->inits;
  g->n = s->n;
  for (uint32_t p = 0; p < s->n; p++)
    g->at[p] = (struct member){c->local[AT(p, c->done[p])], 1};
}

void async_joint_view(struct async_system *s, const struct state *state, struct unpacked_state *g) {
  cut_decode(s, state, s->joint->from);
  cut_view(s, s->joint->from, g);
}

struct async_joint_emitter {
  struct async_system *system;
  emit_fn *emit;
  void *context;
};

static bool emit_cut(void *context, uint32_t process, const struct joint_round *step, struct cut *next,
                     const struct edge *edge) {
  struct async_joint_emitter *e = context;
  (void)process;
  (void)step;
  if (!next)
    return e->emit(e->context, NULL, edge);
  uint32_t before = e->system->base.distance;
  if (e->system->distance > before) {
    cut_view(e->system, next, e->system->after);
    async_note_distance(e->system, e->system->after);
  }
  struct state state = cut_encode(e->system, next);
  if (e->system->base.distance > before)
    async_keep_farthest(e->system, &state);
  return e->emit(e->context, &state, edge);
}

bool async_joint_successors(struct async_system *s, const struct state *state, emit_fn *emit, void *context) {
  struct async_joint_emitter e = {s, emit, context};
  async_joint_view(s, state, s->view);
  return each_step(s, s->joint->from, emit_cut, &e);
}

static void cut_start(struct cut *c, const struct unpacked_state *g) {
  c->point = g->point;
  c->rounds = 0;
  c->phase = 1;
  c->lost = c->corrupted = 0;
  c->globals = g->globals;
  c->inits = g->inits;
  c->width = 0;
  for (uint32_t p = 0; p < g->n; p++) {
    c->done[p] = 0;
    c->local[AT(p, 0)] = g->at[p].local;
  }
}

bool async_joint_initial(struct async_system *s, const struct unpacked_state *g, uint32_t faulty, emit_fn *emit,
                         void *context) {
  struct edge edge = {.processes = faulty};
  struct cut *c = s->joint->to;
  cut_start(c, g);
  cut_normalise(s, c);
  struct state state = cut_encode(s, c);
  return emit(context, &state, &edge);
}

/* --- concrete runs --- */

struct async_joint_replay {
  struct async_system *system;
  const struct state *target;   /* NULL: an error */
  const struct path_goal *goal; /* of the last step; NULL: another step */
  struct cut *next;
  struct run *run;
  bool found;
};

static bool follow(void *context, uint32_t process, const struct joint_round *step, struct cut *next,
                   const struct edge *edge) {
  struct async_joint_replay *f = context;
  struct async_system *s = f->system;
  if (!next != !f->target)
    return true;
  if (f->goal && f->goal->kind == GOAL_BROKEN_STEP && !(edge->broken >> f->goal->property & 1))
    return true;
  if (next) {
    cut_assign(s->joint->best, next, s->n);
    struct state state = cut_encode(s, s->joint->best);
    if (state.length != f->target->length || memcmp(state.bytes, f->target->bytes, state.length) != 0)
      return true;
    cut_assign(f->next, next, s->n);
  }
  f->found = true;
  f->run->order = memory_resize_array(f->run->order, f->run->norder + 1, sizeof *f->run->order);
  f->run->order[f->run->norder++] = process;
  if (step) {
    f->run->steps = memory_resize_array(f->run->steps, f->run->nsteps + 1, sizeof *f->run->steps);
    f->run->steps[f->run->nsteps++] = witness_copy(s->model, step->witness);
  }
  return false;
}

bool async_joint_concretise(struct async_system *s, const struct config *start, const struct state *path, uint32_t n,
                            const struct path_goal *goal, struct run *run) {
  uint32_t steps = goal->kind == GOAL_ERROR ? n : n - 1;
  struct cut *at = cut_new(s->n), *next = cut_new(s->n);
  struct unpacked_state *g = global_new(s->pack);
  global_from_config(s->pack, start, g);
  for (uint32_t p = 0; p < g->n; p++)
    g->at[p].local = local_at_start(s->pack, g->at[p].local);
  cut_start(at, g);
  cut_normalise(s, at);
  global_free(g);
  bool ok = true;
  for (uint32_t i = 0; i < steps && ok; i++) {
    struct async_joint_replay f = {s, i + 1 < n ? &path[i + 1] : NULL, i + 1 == steps ? goal : NULL, next, run, false};
    cut_view(s, at, s->view);
    each_step(s, at, follow, &f);
    ok = f.found;
    struct cut *was = at;
    at = next;
    next = was;
  }
  cut_free(at);
  cut_free(next);
  return ok;
}
