#include "fine/fine_space.h"

#include "sem/fine.h"
#include "space/concretise.h"
#include "space/initial.h"

#include <string.h>

static struct fine_space *fine_of(struct space *space) { return (struct fine_space *)space; }

/* --- what both ways need --- */

bool fine_distance(struct fine_space *s, const uint32_t *done, const bool *live) {
  uint32_t least = UINT32_MAX, most = 0;
  for (uint32_t p = 0; p < s->n; p++)
    if (live[p]) {
      least = done[p] < least ? done[p] : least;
      most = done[p] > most ? done[p] : most;
    }
  uint32_t distance = least == UINT32_MAX ? 0 : most - least;
  if (distance > s->max_distance || distance > WINDOW_MOST) {
    s->base.distance_cut = true;
    return false;
  }
  s->distance = distance;
  return true;
}

bool fine_is_over(struct fine_space *s, struct global *view) {
  struct model_error ignored;
  struct state state;
  if (!s->base.question->until)
    return false;
  global_canonical(s->pack, view, NULL);
  global_encode(s->pack, view, &s->view_buffer, &s->view_capacity, &state);
  return s->rounds->base.ops->atom(&s->rounds->base, 0, &state, &ignored) == V_TRUE;
}

void fine_note_distance(struct fine_space *s, struct global *view) {
  if (s->distance > s->base.distance && !fine_is_over(s, view))
    s->base.distance = s->distance;
}

void fine_go_on(const struct model *m, uint32_t *point, value *phase, uint32_t *rounds) {
  const struct point *at = &m->points[*point];
  *phase += at->phase_end && at->endless;
  *point = at->next;
  ++*rounds;
}

uint64_t fine_broken(struct fine_space *s, const struct global *view, uint32_t p, local_id after) {
  const struct question *q = s->base.question;
  uint64_t broken = steps_broken_by(s->rounds, view->at[p].local, after);
  if (!s->rounds->nglobal_steps)
    return broken;
  struct global *next = s->after;
  struct member *at = next->at;
  *next = *view;
  next->at = at;
  memcpy(at, view->at, view->n * sizeof *at);
  at[p].local = after;
  struct config *b = global_to_config(s->pack, view), *a = global_to_config(s->pack, next);
  for (uint32_t i = 0; i < q->nproperties; i++)
    if (s->rounds->step_checks[i].step && !s->rounds->step_checks[i].local &&
        config_holds(s->meaning, s->model->properties[q->properties[i]].formula, b, a, NULL) != V_TRUE)
      broken |= UINT64_C(1) << (i < 63 ? i : 63);
  config_free(a);
  config_free(b);
  return broken;
}

void fine_keep_farthest(struct fine_space *s, const struct state *state) {
  s->farthest = memory_resize(s->farthest, state->length + (size_t)1);
  memcpy(s->farthest, state->bytes, state->length);
  s->base.farthest = (struct state){s->farthest, state->length};
}

void fine_room(struct fine_space *s, size_t bytes) {
  if (bytes <= s->capacity)
    return;
  s->capacity = 2 * bytes;
  s->buffer = memory_resize(s->buffer, s->capacity);
  s->best = memory_resize(s->best, s->capacity);
}

#define PERMUTATIONS_MOST 120

struct permuting {
  const struct model *model;
  uint32_t order[FINE_PROCESSES_MOST];
  bool (*visit)(void *context, const uint32_t *order);
  void *context;
};

static bool permute_from(struct permuting *k, uint32_t i) {
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

bool fine_permutations(const struct fine_space *s, bool (*visit)(void *context, const uint32_t *order), void *context) {
  uint64_t all = 1;
  const struct licences *l = s->base.licences;
  if (!l->of[REDUCE_SYMMETRY].applied || !l->anonymous)
    return false;
  for (uint32_t r = 0; r < s->model->nroles; r++)
    for (uint32_t i = 2; i <= s->model->roles[r].count && all <= PERMUTATIONS_MOST; i++)
      all *= i;
  if (all > PERMUTATIONS_MOST)
    return false;
  struct permuting k = {.model = s->model, .visit = visit, .context = context};
  for (uint32_t p = 0; p < s->n; p++)
    k.order[p] = p;
  permute_from(&k, 0);
  return true;
}

/* --- the waist --- */

struct starting {
  struct fine_space *space;
  emit_fn *emit;
  void *context;
  struct global *spread;     /* a process each */
  const struct state *sought; /* or NULL */
  struct config *found;
};

/* Initial states are those of whole rounds. */
static bool start_from(void *context, const struct state *state, const struct edge *edge) {
  struct starting *k = context;
  struct fine_space *s = k->space;
  if (edge->error)
    return k->emit(k->context, NULL, edge);
  struct global *g = k->spread, *packed = global_new(s->pack);
  global_decode(s->pack, state, packed);
  struct config *c = global_to_config(s->pack, packed);
  global_from_config(s->pack, c, g);
  g->inits = packed->inits;
  uint32_t *next = memory_alloc((s->model->nroles + 1) * sizeof *next); /* by role */
  for (uint32_t r = 0; r < s->model->nroles; r++)
    next[r] = s->model->roles[r].first;
  for (uint32_t i = 0; i < packed->n; i++) /* blanks stay */
    for (uint32_t left = packed->at[i].count; left > 0; left--)
      g->at[next[local_role(s->pack, packed->at[i].local)]++].local = packed->at[i].local;
  memory_free(next);
  config_free(c);
  global_free(packed);
  return s->solo ? solo_initial(s, g, edge->processes, k->emit, k->context) : whole_initial(s, g, edge->processes, k->emit, k->context);
}

/* The way that works for every environment. */
static void take_whole_way(struct fine_space *s) {
  s->base.fleeting = false;
  solo_free(s->solo);
  s->solo = NULL;
  s->base.has_channels = false;
  s->base.distance = s->base.channel_bound = 0;
  s->base.farthest.length = 0;
  s->base.successors = arena_printf(&s->rounds->arena, "whole rounds, agreed on by the first to end one: %s", s->solo_refused);
}

static bool space_initial(struct space *space, emit_fn *emit, void *context) {
  struct fine_space *s = fine_of(space);
  if (s->solo && s->solo_refused)
    take_whole_way(s);
  struct starting k = {.space = s, .emit = emit, .context = context, .spread = global_new(s->pack)};
  bool more = s->rounds->base.ops->initial(&s->rounds->base, start_from, &k);
  global_free(k.spread);
  return more;
}

static bool space_successors(struct space *space, const struct state *state, emit_fn *emit, void *context) {
  struct fine_space *s = fine_of(space);
  return s->solo ? solo_successors(s, state, emit, context) : whole_successors(s, state, emit, context);
}

void fine_state_view(struct fine_space *s, const struct state *state, struct global *g) {
  if (s->solo)
    solo_view(s, state, g);
  else
    whole_view(s, state, g);
}

static enum verdict3 space_holds(struct space *space, uint32_t i, const struct state *state, struct model_error *error) {
  struct fine_space *s = fine_of(space);
  struct state view;
  fine_state_view(s, state, s->view);
  global_canonical(s->pack, s->view, NULL);
  global_encode(s->pack, s->view, &s->view_buffer, &s->view_capacity, &view);
  return s->rounds->base.ops->holds(&s->rounds->base, i, &view, error);
}

static enum verdict3 space_atom(struct space *space, uint32_t i, const struct state *state, struct model_error *error) {
  struct fine_space *s = fine_of(space);
  struct state view;
  fine_state_view(s, state, s->view);
  global_canonical(s->pack, s->view, NULL);
  global_encode(s->pack, s->view, &s->view_buffer, &s->view_capacity, &view);
  return s->rounds->base.ops->atom(&s->rounds->base, i, &view, error);
}

static bool is_start(void *context, const struct state *state, const struct edge *edge) {
  struct starting *k = context;
  (void)edge;
  return !state || state->length != k->sought->length || memcmp(state->bytes, k->sought->bytes, state->length) != 0;
}

static bool seek_start(void *context, const struct state *state, const struct edge *edge) {
  struct starting *k = context;
  struct starting one = *k;
  one.emit = is_start;
  one.context = k;
  if (edge->error || start_from(&one, state, edge))
    return true;
  uint8_t *bytes = memory_alloc(state->length + (size_t)1); /* the tables reuse theirs */
  struct state kept = {memcpy(bytes, state->bytes, state->length), state->length};
  k->found = round_real_start(k->space->rounds, &kept);
  memory_free(bytes);
  return false;
}

static bool space_concretise(struct space *space, const struct state *path, uint32_t n, const struct goal *goal,
                             struct run *run) {
  struct fine_space *s = fine_of(space);
  struct starting k = {.space = s, .sought = &path[0], .spread = global_new(s->pack)};
  *run = (struct run){0};
  s->rounds->base.ops->initial(&s->rounds->base, seek_start, &k);
  global_free(k.spread);
  run->initial = k.found;
  bool cut = space->distance_cut;
  bool ok = k.found && (s->solo ? solo_concretise(s, k.found, path, n, goal, run) : whole_concretise(s, k.found, path, n, goal, run));
  space->distance_cut = cut;
  if (!ok)
    run_release(run);
  return ok;
}

static void space_stored(struct space *space, const struct state *state) {
  (void)space;
  (void)state;
}

static bool space_assignments(struct space *space, struct text *decimal) {
  (void)space;
  (void)decimal;
  return false;
}

static void fine_save(struct space *space, struct saver *to) {
  struct fine_space *s = fine_of(space);
  space_save(space, to);
  round_space_save(&s->rounds->base, to);
  save_number(to, s->max_distance);
  save_number(to, s->distance);
  save_number(to, space->farthest.length);
  save_bytes(to, space->farthest.bytes, space->farthest.length);
}

static void fine_load(struct space *space, struct loader *from) {
  struct fine_space *s = fine_of(space);
  space_load(space, from);
  round_space_load(&s->rounds->base, from);
  from->bad |= load_number(from) != s->max_distance;
  s->distance = (uint32_t)load_number(from);
  struct state farthest = {.length = (uint32_t)load_number(from)};
  farthest.bytes = load_place(from, farthest.length);
  if (!from->bad && farthest.length > 0)
    fine_keep_farthest(s, &farthest);
}

static size_t space_memory(const struct space *space) {
  const struct fine_space *s = (const struct fine_space *)space;
  return s->rounds->base.ops->memory(&s->rounds->base) + whole_memory(s->whole) + (s->solo ? solo_memory(s->solo) : 0);
}

static void space_free(struct space *space) {
  struct fine_space *s = fine_of(space);
  whole_free(s->whole);
  solo_free(s->solo);
  global_free(s->view);
  global_free(s->after);
  memory_free(s->buffer);
  memory_free(s->best);
  memory_free(s->view_buffer);
  memory_free(s->farthest);
  s->rounds->base.ops->free(&s->rounds->base);
  memory_free(s);
}

static const struct space_ops fine_space_ops = {
    .initial = space_initial,
    .successors = space_successors,
    .holds = space_holds,
    .atom = space_atom,
    .concretise = space_concretise,
    .stored = space_stored,
    .heard_of_assignments = space_assignments,
    .save = fine_save,
    .load = fine_load,
    .memory = space_memory,
    .free = space_free,
};

struct space *fine_space_new(struct meaning *meaning, struct model *m, const struct question *q,
                             const struct licences *l, const struct space_options *options) {
  struct fine_space *s = memory_alloc(sizeof *s);
  s->base = (struct space){.ops = &fine_space_ops, .model = m, .question = q, .licences = l, .edges_complete = true,
                           .has_distance = true, .has_channels = true,
                           .fleeting = true, /* the solo way's keys hold numbers of sendings, by what was looked at before */
                           .successors = "each process by itself"};
  s->meaning = meaning;
  s->model = m;
  s->n = m->nprocesses;
  s->max_distance = options->max_distance;
  s->rounds = (struct round_space *)round_space_new(meaning, m, q, l, options);
  s->pack = &s->rounds->pack;
  s->base.phase_period = s->pack->keep_phase ? s->pack->phase_period : 1;
  s->view = global_new(s->pack);
  s->after = global_new(s->pack);
  s->whole = whole_new(s);
  for (uint32_t i = 0; i < q->nproperties; i++)
    s->watched |= s->rounds->step_checks[i].step;
  s->solo_refused = options->successors == SUCCESSORS_PLAIN ? "asked for" : solo_refusal(s);
  if (s->solo_refused)
    take_whole_way(s);
  else
    s->solo = solo_new(s);
  return &s->base;
}
