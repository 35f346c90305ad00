#include "search/liveness_graph.h"

#include "base/intern.h"
#include "base/memory.h"

#include <string.h>

#define TICKS_PER_LIMIT_CHECK 2048
#define TICKS_PER_STATE 16

static uint32_t label_of(struct liveness_graph *g, uint64_t marks, uint32_t group, uint32_t adversary_choice) {
  int64_t key[] = {(int64_t)marks, group, adversary_choice};
  uint32_t name = intern_put(g->label_names, key, 3);
  if (name == g->labels.n)
    vec_push(&g->labels, ((struct edge_label){marks, group, adversary_choice}));
  return name;
}

static void empty(struct liveness_graph *g) {
  g->visited_set = visited_new();
  g->label_names = intern_new();
  g->error_at.from = UINT32_MAX;
  /* LABEL_STAYS; different from all labels of steps, because no adversary choice has that number */
  label_of(g, UINT64_MAX, NO_GROUP, UINT32_MAX);
}

void liveness_graph_init(struct liveness_graph *g, struct system *space, const struct limits *limits) {
  *g = (struct liveness_graph){.space = space, .limits = *limits, .clock.started = search_now()};
  if (g->limits.states == 0 || g->limits.states > VISITED_MAX_STATES)
    g->limits.states = VISITED_MAX_STATES;
  empty(g);
}

void liveness_graph_release(struct liveness_graph *g) {
  visited_free(g->visited_set);
  intern_free(g->label_names);
  vec_release(&g->refs);
  vec_release(&g->letters);
  vec_release(&g->first);
  vec_release(&g->count);
  vec_release(&g->steps);
  vec_release(&g->labels);
  vec_release(&g->last_edge);
  *g = (struct liveness_graph){0};
}

/* Keys have changed their meaning: start over. */
static void begin_again(struct liveness_graph *g) {
  struct liveness_graph fresh = {.space = g->space,
                                 .limits = g->limits,
                                 .progress = g->progress,
                                 .progress_context = g->progress_context,
                                 .clock = g->clock};
  liveness_graph_release(g);
  *g = fresh;
  empty(g);
  g->space->restart = false;
}

struct state liveness_graph_state(const struct liveness_graph *g, uint32_t state) {
  struct stored at = visited_get(g->visited_set, g->refs.at[state]);
  return (struct state){at.bytes, at.length};
}

/* --- limits --- */

void liveness_graph_stop(struct liveness_graph *g, enum search_end why) {
  if (g->end == SEARCH_EXHAUSTED)
    g->end = why;
}

size_t liveness_graph_bytes(const struct liveness_graph *g) {
  return visited_bytes(g->visited_set) + intern_bytes(g->label_names) + g->refs.cap * sizeof *g->refs.at +
         g->letters.cap * sizeof *g->letters.at + g->first.cap * sizeof *g->first.at +
         g->count.cap * sizeof *g->count.at + g->steps.cap * sizeof *g->steps.at +
         g->last_edge.cap * sizeof *g->last_edge.at + g->product_memory + g->precheck.memory;
}

void liveness_graph_update_stats(struct liveness_graph *g) {
  g->stats.states = g->refs.n > g->precheck.states ? g->refs.n : g->precheck.states;
  g->stats.seconds = search_now() - g->clock.started;
  g->stats.memory = liveness_graph_bytes(g) + g->space->ops->memory(g->space);
}

bool liveness_graph_may_continue(struct liveness_graph *g) {
  if (!g->limits.interrupt || !*g->limits.interrupt)
    return true;
  liveness_graph_stop(g, search_interrupted(*g->limits.interrupt));
  return false;
}

bool liveness_graph_tick(struct liveness_graph *g, uint32_t ticks) {
  g->clock.ticks += ticks;
  if (g->clock.ticks < TICKS_PER_LIMIT_CHECK)
    return true;
  g->clock.ticks = 0;
  liveness_graph_update_stats(g);
  if (search_time_is_up(&g->limits, &g->stats))
    liveness_graph_stop(g, SEARCH_TIME);
  if (g->limits.memory > 0 && search_memory_used(&g->look, &g->stats) >= g->limits.memory)
    liveness_graph_stop(g, SEARCH_MEMORY);
  search_report_progress(&g->clock, g->progress, g->progress_context, &g->stats);
  return liveness_graph_may_continue(g) && !search_limited(g->end);
}

/* --- exploration --- */

static void found_error(struct liveness_graph *g, const struct model_error *error, uint32_t atom, uint32_t from) {
  bool by_step = atom == UINT32_MAX;
  if (g->error.found)
    return;
  g->error_at.atom = atom;
  g->error = (struct finding){.found = true,
                              .by_step = by_step,
                              .state = STATE_REF_NONE,
                              .target = STATE_REF_NONE,
                              .property = by_step ? UINT32_MAX : 0,
                              .error = *error};
  g->error_at.from = from;
  liveness_graph_stop(g, SEARCH_MODEL_ERROR);
}

bool run_letter(struct system *space, const struct state *at, uint64_t *letter, uint32_t *atom,
                struct model_error *error) {
  *letter = 0;
  for (*atom = 0; *atom < space->query->natoms; ++*atom) {
    *error = (struct model_error){0};
    enum verdict3 v = space->ops->atom(space, *atom, at, error);
    if (v == V_ERROR)
      return false;
    *letter |= (uint64_t)(v == V_TRUE) << *atom;
  }
  return true;
}

static bool read_letter(struct liveness_graph *g, uint32_t state) {
  struct state at = liveness_graph_state(g, state);
  struct model_error error;
  uint32_t atom;
  bool ok = run_letter(g->space, &at, &g->letters.at[state], &atom, &error);
  if (!liveness_graph_may_continue(g)) /* results after an interruption are invalid */
    return false;
  if (!ok)
    found_error(g, &error, atom, state);
  return ok;
}

/* Evaluates the atoms in new states. Not while the transition system generates them: one request at a time. */
static bool read_letters(struct liveness_graph *g) {
  while (g->expansion.evaluated < g->refs.n)
    if (!read_letter(g, g->expansion.evaluated++))
      return false;
  return !g->space->restart;
}

/* UINT32_MAX: the state cannot be added. */
static uint32_t add_state(struct liveness_graph *g, const struct state *state) {
  uint64_t hash = key_hash(state->bytes, state->length);
  state_ref ref = visited_find(g->visited_set, state->bytes, state->length, hash);
  if (ref != STATE_REF_NONE)
    return visited_cost(g->visited_set, ref); /* the fault cost field holds the state's number */
  if (g->refs.n >= g->limits.states) {
    liveness_graph_stop(g, SEARCH_STATES);
    return UINT32_MAX;
  }
  uint32_t number = (uint32_t)g->refs.n;
  visited_insert(g->visited_set, state->bytes, state->length, hash, 0, STATE_REF_NONE, number, &ref);
  vec_push(&g->refs, ref);
  vec_push(&g->letters, 0);
  vec_push(&g->first, UNEXPANDED);
  vec_push(&g->count, 0);
  vec_push(&g->last_edge, ((struct last_edge){UINT32_MAX, 0}));
  if (g->space->ops->statistics.stored)
    g->space->ops->statistics.stored(g->space, state);
  return number;
}

static bool add_initial(void *context, const struct state *state, const struct edge *edge) {
  struct liveness_graph *g = context;
  if (edge->error) {
    found_error(g, edge->error, UINT32_MAX, UINT32_MAX);
    return false;
  }
  return add_state(g, state) != UINT32_MAX && liveness_graph_tick(g, 1);
}

bool liveness_graph_add_initial(struct liveness_graph *g, const struct state *state) {
  bool ok = add_initial(g, state, &(struct edge){.group = NO_GROUP}) && read_letters(g);
  g->initials = (uint32_t)g->refs.n;
  return ok;
}

/* Filters out a repetition of the step that last reached the target. Other duplicates do no harm. */
static bool is_new(struct liveness_graph *g, struct liveness_graph_edge step) {
  struct last_edge *l = &g->last_edge.at[step.to];
  if (l->from == g->expansion.state && l->label == step.label)
    return false;
  *l = (struct last_edge){g->expansion.state, step.label};
  return true;
}

static bool add_step(void *context, const struct state *state, const struct edge *edge) {
  struct liveness_graph *g = context;
  if (edge->error) {
    found_error(g, edge->error, UINT32_MAX, g->expansion.state);
    return false;
  }
  g->stats.transitions++;
  run_edges_note(&g->expansion.noted, edge);
  uint32_t to = add_state(g, state);
  if (to == UINT32_MAX)
    return false;
  struct liveness_graph_edge step = {to, label_of(g, edge->marks, edge->group, edge->adversary_choice)};
  if (is_new(g, step))
    vec_push(&g->steps, step);
  return liveness_graph_tick(g, 1);
}

/* Rounds: a run continues as long as there are steps. Steps: faults are optional. If the distance bound cut off steps,
   there are some. */
static bool may_stay(struct system *space, const struct state *at, const struct run_edges *noted) {
  if (space->distance_cut)
    return false;
  if (model_steps(space->model))
    return !noted->mandatory;
  return !noted->any && (!space->ops->liveness.stutters_forever || space->ops->liveness.stutters_forever(space, at));
}

bool run_edges_emit(struct system *space, const struct state *at, emit_fn *emit, void *context, struct run_edges *noted,
                    bool *stays) {
  bool cut = space->distance_cut; /* as set by other states */
  *noted = (struct run_edges){0};
  space->distance_cut = false;
  bool ok = system_all_successors(space, at, emit, context);
  *stays = ok && may_stay(space, at, noted);
  space->distance_cut |= cut;
  return ok;
}

bool liveness_graph_expand(struct liveness_graph *g, uint32_t state) {
  if (g->first.at[state] != UNEXPANDED)
    return true;
  if (g->limits.rounds > 0) { /* everything within the bound was expanded at the start */
    g->cut = true;
    return true;
  }
  struct state at = liveness_graph_state(g, state);
  if (g->within.has && !g->within.has(g->within.context, &at))
    return true;
  g->expansion.state = state;
  g->first.at[state] = g->steps.n;
  bool stays, ok = run_edges_emit(g->space, &at, add_step, g, &g->expansion.noted, &stays);
  ok = liveness_graph_may_continue(g) && ok; /* an interrupted system may leave out steps */
  if (ok && stays)
    vec_push(&g->steps, ((struct liveness_graph_edge){state, LABEL_STAYS}));
  g->count.at[state] = (uint32_t)(g->steps.n - g->first.at[state]);
  if (!ok || !read_letters(g)) {
    liveness_graph_may_continue(g); /* in case the transition system stopped by itself when it was interrupted */
    return false;
  }
  return liveness_graph_tick(g, TICKS_PER_STATE);
}

/* Breadth-first, up to limits.rounds. */
static bool expand_layers(struct liveness_graph *g) {
  uint32_t rounds = g->limits.rounds;
  g->limits.rounds = 0;
  bool ok = true;
  uint32_t from = 0;
  for (uint32_t depth = 0; depth < rounds && ok; depth++) {
    uint32_t to = (uint32_t)g->refs.n;
    for (; from < to && ok; from++)
      ok = liveness_graph_expand(g, from);
  }
  g->limits.rounds = rounds;
  return ok;
}

bool liveness_graph_begin(struct liveness_graph *g) {
  while (true) {
    if (g->space->restart)
      begin_again(g);
    bool ok = g->space->ops->initial(g->space, add_initial, g) && read_letters(g);
    g->initials = (uint32_t)g->refs.n;
    ok = ok && (g->limits.rounds == 0 || expand_layers(g));
    if (!g->space->restart) {
      if (!ok)
        liveness_graph_may_continue(g);
      return ok;
    }
  }
}

/* --- paths --- */

uint32_t *liveness_graph_path(const struct liveness_graph *g, uint32_t state, uint32_t *n) {
  size_t states = g->refs.n;
  uint32_t *parent = memory_alloc((states + 1) * sizeof *parent);
  VEC(uint32_t) queue = {0};
  memset(parent, 0xff, states * sizeof *parent);
  for (uint32_t i = 0; i < g->initials; i++) {
    parent[i] = i;
    vec_push(&queue, i);
  }
  for (size_t k = 0; k < queue.n && parent[state] == UINT32_MAX; k++) {
    uint32_t count;
    const struct liveness_graph_edge *steps = liveness_graph_edges(g, queue.at[k], &count);
    for (uint32_t i = 0; i < count; i++)
      if (parent[steps[i].to] == UINT32_MAX) {
        parent[steps[i].to] = queue.at[k];
        vec_push(&queue, steps[i].to);
      }
  }
  *n = 1;
  for (uint32_t s = state; parent[s] != s && parent[s] != UINT32_MAX; s = parent[s])
    ++*n;
  uint32_t *way = memory_alloc(*n * sizeof *way);
  for (uint32_t s = state, at = *n; at-- > 0; s = parent[s])
    way[at] = s;
  vec_release(&queue);
  memory_free(parent);
  return way;
}

/* The depth: the number of layers in the explored part. */
static void find_depth(struct liveness_graph *g) {
  uint8_t *seen = memory_alloc(g->refs.n + 1);
  VEC(uint32_t) queue = {0};
  for (uint32_t i = 0; i < g->initials; i++) {
    seen[i] = 1;
    vec_push(&queue, i);
  }
  g->stats.depth = 0;
  for (size_t from = 0, to = queue.n; from < to; from = to, to = queue.n) {
    g->stats.frontier = to - from;
    g->stats.depth += from > 0;
    for (size_t k = from; k < to; k++) {
      uint32_t count;
      const struct liveness_graph_edge *steps = liveness_graph_edges(g, queue.at[k], &count);
      for (uint32_t i = 0; i < count; i++)
        if (!seen[steps[i].to]) {
          seen[steps[i].to] = 1;
          vec_push(&queue, steps[i].to);
        }
    }
  }
  vec_release(&queue);
  memory_free(seen);
}

void liveness_graph_finish(struct liveness_graph *g) {
  liveness_graph_update_stats(g);
  find_depth(g);
}
