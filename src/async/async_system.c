#include "async/async_system.h"

#include "interp/async_round.h"
#include "lockstep/lockstep_concretise.h"
#include "lockstep/lockstep_initial.h"
#include "lockstep/lockstep_property.h"
#include "lockstep/lockstep_system.h"

#include <string.h>

static struct async_system *async_of(struct system *system) { return (struct async_system *)system; }

/* --- shared by both modes --- */

bool async_distance(struct async_system *s, const uint32_t *done, const bool *live) {
  uint32_t least = UINT32_MAX, most = 0;
  for (uint32_t p = 0; p < s->n; p++)
    if (live[p]) {
      least = done[p] < least ? done[p] : least;
      most = done[p] > most ? done[p] : most;
    }
  uint32_t distance = least == UINT32_MAX ? 0 : most - least;
  if (distance > s->max_distance || distance > ASYNC_WINDOW_MAX) {
    s->base.distance_cut = true;
    return false;
  }
  s->distance = distance;
  return true;
}

bool async_until_holds(struct async_system *s, struct unpacked_state *view) {
  struct model_error ignored;
  struct state state;
  if (!s->base.query->until)
    return false;
  global_canonical(s->pack, view, NULL);
  global_encode(s->pack, view, &s->view_buffer, &s->view_capacity, &state);
  return s->rounds->base.ops->atom(&s->rounds->base, 0, &state, &ignored) == V_TRUE;
}

void async_note_distance(struct async_system *s, struct unpacked_state *view) {
  if (s->distance > s->base.distance && !async_until_holds(s, view))
    s->base.distance = s->distance;
}

void async_next_round(const struct model *m, uint32_t *point, value *phase, uint32_t *rounds) {
  const struct point *at = &m->points[*point];
  *phase += at->phase_end && at->endless;
  *point = at->next;
  ++*rounds;
}

uint64_t async_broken(struct async_system *s, const struct unpacked_state *view, uint32_t p, local_id after) {
  const struct query *q = s->base.query;
  uint64_t broken = steps_broken_by(s->rounds, view->at[p].local, after);
  if (!s->rounds->properties.nglobal_steps)
    return broken;
  struct unpacked_state *next = s->after;
  struct member *at = next->at;
  *next = *view;
  next->at = at;
  memcpy(at, view->at, view->n * sizeof *at);
  at[p].local = after;
  struct config *b = global_to_config(s->pack, view), *a = global_to_config(s->pack, next);
  for (uint32_t i = 0; i < q->nproperties; i++)
    if (s->rounds->properties.step_checks[i].step && !s->rounds->properties.step_checks[i].local &&
        config_holds(s->interp, s->model->properties[q->properties[i]].formula, b, a, NULL) != V_TRUE)
      broken |= UINT64_C(1) << i;
  config_free(a);
  config_free(b);
  return broken;
}

void async_keep_farthest(struct async_system *s, const struct state *state) {
  s->farthest = memory_resize(s->farthest, state->length + (size_t)1);
  memcpy(s->farthest, state->bytes, state->length);
  s->base.farthest = (struct state){s->farthest, state->length};
}

void async_key_room(struct async_system *s, size_t bytes) {
  if (bytes <= s->capacity)
    return;
  s->capacity = 2 * bytes;
  s->buffer = memory_resize(s->buffer, s->capacity);
  s->best = memory_resize(s->best, s->capacity);
}

#define PERMUTATIONS_MOST 120

struct permutation_walk {
  const struct model *model;
  uint32_t order[ASYNC_RUN_PROCESSES_MAX];
  bool (*visit)(void *context, const uint32_t *order);
  void *context;
};

static bool permute_from(struct permutation_walk *k, uint32_t i) {
  if (i == k->model->nprocesses)
    return k->visit(k->context, k->order);
  const struct role *role = &k->model->roles[model_role_of(k->model, i)];
  uint32_t own = k->order[i];
  for (uint32_t other = i; other < role->first + role->count; other++) {
    k->order[i] = k->order[other];
    k->order[other] = own;
    bool more = permute_from(k, i + 1);
    k->order[other] = k->order[i];
    k->order[i] = own;
    if (!more)
      return false;
  }
  return true;
}

bool async_permutations(const struct async_system *s, bool (*visit)(void *context, const uint32_t *order),
                        void *context) {
  uint64_t all = 1;
  const struct licences *l = s->base.licences;
  if (!l->of[REDUCE_SYMMETRY].applied || !l->anonymous)
    return false;
  for (uint32_t r = 0; r < s->model->nroles; r++)
    for (uint32_t i = 2; i <= s->model->roles[r].count && all <= PERMUTATIONS_MOST; i++)
      all *= i;
  if (all > PERMUTATIONS_MOST)
    return false;
  struct permutation_walk k = {.model = s->model, .visit = visit, .context = context};
  for (uint32_t p = 0; p < s->n; p++)
    k.order[p] = p;
  permute_from(&k, 0);
  return true;
}

/* --- the interface of transition systems --- */

struct async_initial_context {
  struct async_system *system;
  emit_fn *emit;
  void *context;
  struct unpacked_state *vector; /* one member for each process */
  const struct state *sought;    /* the state to find, or NULL */
  struct config *found;
};

/* The initial states are those of lockstep rounds. */
static bool start_from(void *context, const struct state *state, const struct edge *edge) {
  struct async_initial_context *k = context;
  struct async_system *s = k->system;
  if (edge->error)
    return k->emit(k->context, NULL, edge);
  struct unpacked_state *g = k->vector, *packed = global_new(s->pack);
  global_decode(s->pack, state, packed);
  struct config *c = global_to_config(s->pack, packed);
  global_from_config(s->pack, c, g);
  g->inits = packed->inits;
  uint32_t *next = memory_alloc((s->model->nroles + 1) * sizeof *next); /* by role */
  for (uint32_t r = 0; r < s->model->nroles; r++)
    next[r] = s->model->roles[r].first;
  for (uint32_t i = 0; i < packed->n; i++) /* don't-care values stay */
    for (uint32_t left = packed->at[i].count; left > 0; left--)
      g->at[next[local_role(s->pack, packed->at[i].local)]++].local = packed->at[i].local;
  memory_free(next);
  config_free(c);
  global_free(packed);
  return s->local_mode ? async_local_initial(s, g, edge->processes, k->emit, k->context)
                       : async_joint_initial(s, g, edge->processes, k->emit, k->context);
}

/* Switches to the mode that works for every environment. */
static void use_joint(struct async_system *s) {
  s->base.keys_transient = false;
  async_local_free(s->local_mode);
  s->local_mode = NULL;
  s->base.has_channels = false;
  s->base.distance = s->base.channel_bound = 0;
  s->base.farthest.length = 0;
  s->base.successors =
      arena_printf(&s->rounds->arena, "whole rounds, agreed on by the first to end one: %s", s->local_refused);
}

static bool async_initial(struct system *system, emit_fn *emit, void *context) {
  struct async_system *s = async_of(system);
  if (s->local_mode && s->local_refused)
    use_joint(s);
  struct async_initial_context k = {.system = s, .emit = emit, .context = context, .vector = global_new(s->pack)};
  bool more = s->rounds->base.ops->initial(&s->rounds->base, start_from, &k);
  global_free(k.vector);
  return more;
}

static bool async_successors(struct system *system, const struct state *state, emit_fn *emit, void *context) {
  struct async_system *s = async_of(system);
  return s->local_mode ? async_local_successors(s, state, emit, context)
                       : async_joint_successors(s, state, emit, context);
}

void async_state_view(struct async_system *s, const struct state *state, struct unpacked_state *g) {
  if (s->local_mode)
    async_local_view(s, state, g);
  else
    async_joint_view(s, state, g);
}

static enum verdict3 async_holds(struct system *system, uint32_t i, const struct state *state,
                                 struct model_error *error) {
  struct async_system *s = async_of(system);
  struct state view;
  async_state_view(s, state, s->view);
  global_canonical(s->pack, s->view, NULL);
  global_encode(s->pack, s->view, &s->view_buffer, &s->view_capacity, &view);
  return s->rounds->base.ops->holds(&s->rounds->base, i, &view, error);
}

static enum verdict3 async_atom(struct system *system, uint32_t i, const struct state *state,
                                struct model_error *error) {
  struct async_system *s = async_of(system);
  struct state view;
  async_state_view(s, state, s->view);
  global_canonical(s->pack, s->view, NULL);
  global_encode(s->pack, s->view, &s->view_buffer, &s->view_capacity, &view);
  return s->rounds->base.ops->atom(&s->rounds->base, i, &view, error);
}

static bool is_start(void *context, const struct state *state, const struct edge *edge) {
  struct async_initial_context *k = context;
  (void)edge;
  return !state || state->length != k->sought->length || memcmp(state->bytes, k->sought->bytes, state->length) != 0;
}

static bool seek_start(void *context, const struct state *state, const struct edge *edge) {
  struct async_initial_context *k = context;
  struct async_initial_context one = *k;
  one.emit = is_start;
  one.context = k;
  if (edge->error || start_from(&one, state, edge))
    return true;
  uint8_t *bytes = memory_alloc(state->length + (size_t)1); /* the lockstep system reuses its buffer */
  struct state kept = {memcpy(bytes, state->bytes, state->length), state->length};
  k->found = lockstep_real_start(k->system->rounds, &kept);
  memory_free(bytes);
  return false;
}

static bool async_concretise(struct system *system, const struct state *path, uint32_t n, const struct path_goal *goal,
                             struct run *run) {
  struct async_system *s = async_of(system);
  struct async_initial_context k = {.system = s, .sought = &path[0], .vector = global_new(s->pack)};
  *run = (struct run){0};
  s->rounds->base.ops->initial(&s->rounds->base, seek_start, &k);
  global_free(k.vector);
  run->initial = k.found;
  bool cut = system->distance_cut;
  bool ok = k.found && (s->local_mode ? async_local_concretise(s, k.found, path, n, goal, run)
                                      : async_joint_concretise(s, k.found, path, n, goal, run));
  system->distance_cut = cut;
  if (!ok)
    run_release(run);
  return ok;
}

static void async_stored(struct system *system, const struct state *state) {
  (void)system;
  (void)state;
}

static bool async_assignments(struct system *system, struct text *decimal) {
  (void)system;
  (void)decimal;
  return false;
}

static void async_save(struct system *system, struct saver *to) {
  struct async_system *s = async_of(system);
  system_save_common(system, to);
  lockstep_save(&s->rounds->base, to);
  save_number(to, s->max_distance);
  save_number(to, s->distance);
  save_block(to, system->farthest.bytes, system->farthest.length);
}

static void async_load(struct system *system, struct loader *from) {
  struct async_system *s = async_of(system);
  system_load_common(system, from);
  lockstep_load(&s->rounds->base, from);
  from->bad |= load_number(from) != s->max_distance;
  s->distance = (uint32_t)load_number(from);
  size_t length;
  const void *farthest = load_block(from, &length);
  struct state key = {farthest, (uint32_t)length};
  from->bad |= length > 0 && (length > UINT32_MAX || !async_joint_key_is_sound(s, &key));
  if (!from->bad && length > 0)
    async_keep_farthest(s, &key);
}

static bool async_valid(struct system *system, const struct state *state) {
  return async_joint_key_is_sound(async_of(system), state);
}

static size_t async_memory(const struct system *system) {
  const struct async_system *s = (const struct async_system *)system;
  return s->rounds->base.ops->memory(&s->rounds->base) + async_joint_memory(s->joint) +
         (s->local_mode ? async_local_memory(s->local_mode) : 0);
}

static void async_free(struct system *system) {
  struct async_system *s = async_of(system);
  async_joint_free(s->joint);
  async_local_free(s->local_mode);
  global_free(s->view);
  global_free(s->after);
  memory_free(s->buffer);
  memory_free(s->best);
  memory_free(s->view_buffer);
  memory_free(s->farthest);
  s->rounds->base.ops->free(&s->rounds->base);
  memory_free(s);
}

static const struct system_ops async_system_ops = {
    .initial = async_initial,
    .successors = async_successors,
    .holds = async_holds,
    .atom = async_atom,
    .concretise = async_concretise,
    .statistics.stored = async_stored,
    .statistics.heard_of_assignments = async_assignments,
    .checkpoint.save = async_save,
    .checkpoint.load = async_load,
    .checkpoint.valid = async_valid,
    .memory = async_memory,
    .free = async_free,
};

struct system *async_system_new(struct interpreter *interp, struct model *m, const struct query *q,
                                const struct licences *l, const struct system_options *options) {
  struct async_system *s = memory_alloc(sizeof *s);
  s->base = (struct system){.ops = &async_system_ops,
                            .model = m,
                            .query = q,
                            .licences = l,
                            .edges_complete = true,
                            .has_distance = true,
                            .has_channels = true,
                            .keys_transient =
                                true, /* local mode: keys hold ids of sends, which depend on the order of discovery */
                            .successors = "each process by itself"};
  s->interp = interp;
  s->model = m;
  s->n = m->nprocesses;
  s->max_distance = options->max_distance;
  s->rounds = (struct lockstep *)lockstep_new(interp, m, q, l, options);
  s->pack = &s->rounds->pack;
  s->base.phase_period = s->pack->kept.phase ? s->pack->kept.phase_period : 1;
  s->view = global_new(s->pack);
  s->after = global_new(s->pack);
  s->joint = async_joint_new(s);
  for (uint32_t i = 0; i < q->nproperties; i++)
    s->watched |= s->rounds->properties.step_checks[i].step;
  s->local_refused = options->successors == SUCCESSORS_PLAIN ? "asked for" : async_local_refusal(s);
  if (s->local_refused)
    use_joint(s);
  else
    s->local_mode = async_local_new(s);
  return &s->base;
}
