#include "search/sieve.h"

#include "search/store_look.h"

#include <string.h>

/* What the store has in the place of a state's parent: its number in the depth-first search. */
#define CELL_NEW 0
#define CELL_DONE STORE_NONE

/* A successor on its way into the store. */
struct found {
  size_t key; /* in keys */
  uint64_t left_off;
  uint32_t length;
  uint64_t hash, marks;
};

struct target {
  state_ref to;
  uint64_t marks;
};

struct sieve_root { /* a partial component, as in a dive */
  state_ref number;
  uint64_t accepts, marks, arc_marks;
  bool circle; /* there is a way round in it */
};

struct frame {
  state_ref number; /* of the state */
  size_t targets;   /* those from here on, up to the next frame's, are left */
};

struct sieve {
  struct live *live;
  struct graph *graph; /* its limits */
  struct space *space;
  struct store *store;
  bool *lasting;       /* by transition of the automaton: it can be taken again and again */
  uint64_t transitions;
  VEC(uint8_t) keys;
  VEC(struct found) found;
  VEC(struct frame) path;
  VEC(struct target) targets;
  VEC(struct sieve_root) roots;
  VEC(state_ref) open; /* states of components that are not complete: the number of each is its place, from 1 */
  bool obliged; /* some step found is not optional */
  enum sieved says;
};

static void sieve_init(struct sieve *s, struct live *l) {
  *s = (struct sieve){.live = l, .graph = &l->graph, .space = l->graph.space, .store = store_new(),
                      .lasting = automaton_lasting(l->automaton)};
}

static void sieve_release(struct sieve *s) {
  s->graph->beside_memory = 0;
  store_free(s->store);
  memory_free(s->lasting);
  vec_release(&s->keys);
  vec_release(&s->found);
  vec_release(&s->path);
  vec_release(&s->targets);
  vec_release(&s->roots);
  vec_release(&s->open);
}

/* False: it ends. */
static bool end_with(struct sieve *s, enum sieved says) {
  s->says = says;
  return false;
}

static bool tick(struct sieve *s, uint32_t ticks) {
  struct graph *g = s->graph;
  g->beside_states = store_count(s->store);
  g->beside_memory = store_bytes(s->store) + s->targets.cap * sizeof *s->targets.at +
                    s->path.cap * sizeof *s->path.at + s->roots.cap * sizeof *s->roots.at + s->open.cap * sizeof *s->open.at;
  return graph_tick(g, ticks) || end_with(s, SIEVE_STOPPED);
}

static state_ref cell(const struct sieve *s, state_ref ref) { return store_at(s->store, ref).parent; }
static void set_cell(struct sieve *s, state_ref ref, state_ref number) { store_relink(s->store, ref, number, 0); }

/* --- states --- */

static void note(struct sieve *s, const struct state *state, uint64_t marks) {
  size_t room = ((size_t)state->length + 15) / 16 * 16; /* for whoever compares words */
  struct found f = {.key = s->keys.n, .length = state->length, .hash = store_hash(state->bytes, state->length), .marks = marks};
  vec_reserve(&s->keys, s->keys.n + room);
  memcpy(s->keys.at + s->keys.n, state->bytes, state->length);
  s->keys.n += room;
  store_prefetch_index(s->store, f.hash);
  vec_push(&s->found, f);
}

static bool note_initial(void *context, const struct state *state, const struct edge *edge) {
  struct sieve *s = context;
  if (edge->error)
    return end_with(s, SIEVED_SOME);
  note(s, state, 0);
  return true;
}

static bool note_step(void *context, const struct state *state, const struct edge *edge) {
  struct sieve *s = context;
  if (edge->error)
    return end_with(s, SIEVED_SOME);
  s->transitions++;
  s->obliged |= !edge->optional;
  note(s, state, edge->marks);
  return tick(s, 1);
}

/* Together, so that the waits for memory overlap. `inner`: of a state in which a run may come by again and again; then they
   are its targets, as far as there is anything to find out about them. False: a limit was reached. */
static bool put_found(struct sieve *s, state_ref from, bool inner) {
  uint64_t finally = s->live->assumptions.finally;
  struct sieve_root *top = inner ? &s->roots.at[s->roots.n - 1] : NULL;
  for (size_t i = 0; i < s->found.n; i++)
    s->found.at[i].left_off = store_prefetch_record(s->store, s->found.at[i].hash, 0);
  for (size_t i = 0; i < s->found.n; i++) {
    const struct found *f = &s->found.at[i];
    state_ref to;
    bool is_new = store_put(s->store, s->keys.at + f->key, f->length, f->hash, f->left_off, CELL_NEW, 0, &to);
    if (is_new && store_count(s->store) > s->graph->limits.states) {
      graph_stop(s->graph, SEARCH_STATES);
      return end_with(s, SIEVE_STOPPED);
    }
    if (!inner || (finally & ~f->marks))
      continue;
    if (to == from) {
      top->circle = true;
      top->marks |= f->marks;
    } else if (is_new || cell(s, to) != CELL_DONE) {
      vec_push(&s->targets, ((struct target){to, f->marks}));
    }
  }
  return true;
}

/* --- what the automaton can do in a state --- */

struct reading {
  bool any;         /* it can read it */
  bool lasting;     /* by a transition that can be taken again and again */
  uint64_t accepts; /* of those */
};

/* False: the truth of an atom is not known. */
static bool read_state(struct sieve *s, const struct state *at, struct reading *r) {
  const struct automaton *a = s->live->automaton;
  uint64_t letter = 0;
  for (uint32_t i = 0; i < s->space->question->natoms; i++) {
    struct model_error error = {0};
    enum verdict3 v = s->space->ops->atom(s->space, i, at, &error);
    if (v == V_ERROR)
      return end_with(s, SIEVED_SOME);
    letter |= (uint64_t)(v == V_TRUE) << i;
  }
  *r = (struct reading){0};
  for (uint32_t i = 0; i < a->first[a->nstates]; i++)
    if (transition_reads(&a->transitions[i], letter)) {
      r->any = true;
      r->lasting |= s->lasting[i];
      r->accepts |= s->lasting[i] ? a->transitions[i].accepts : 0;
    }
  return !s->space->restart;
}

/* --- expansion --- */

static bool may_stay(const struct sieve *s, const struct state *at) {
  if (s->space->distance_cut)
    return false;
  if (model_steps(s->space->model))
    return !s->obliged;
  return s->found.n == 0 && (!s->space->ops->stays || s->space->ops->stays(s->space, at));
}

static bool find_successors(struct sieve *s, const struct state *at, bool *stays) {
  struct space *space = s->space;
  bool cut = space->distance_cut; /* by others */
  vec_clear(&s->found);
  vec_clear(&s->keys);
  s->obliged = false;
  space->partial = false;
  space->distance_cut = false;
  bool ok = space->ops->successors(space, at, note_step, s) &&
            (!space->partial || space->ops->others(space, at, note_step, s));
  *stays = ok && may_stay(s, at);
  space->distance_cut |= cut;
  if (!graph_undisturbed(s->graph)) /* there may be more steps than it told */
    return end_with(s, SIEVE_STOPPED);
  if (!ok && s->says == SIEVED_ALL && !space->restart)
    return end_with(s, SIEVED_SOME);
  return ok && !space->restart;
}

/* A state that was not visited before. False: it ends, or has to begin again. */
static bool enter(struct sieve *s, state_ref ref, uint64_t marks) {
  struct stored stored = store_at(s->store, ref);
  struct state at = {stored.bytes, stored.length};
  struct reading reading;
  bool stays;
  bool read = read_state(s, &at, &reading);
  if (!graph_undisturbed(s->graph))
    return end_with(s, SIEVE_STOPPED);
  if (!read)
    return false;
  if (!reading.any) {
    set_cell(s, ref, CELL_DONE);
    return true;
  }
  if (!find_successors(s, &at, &stays) || !tick(s, 16))
    return false;
  if (!reading.lasting) {
    set_cell(s, ref, CELL_DONE);
    return put_found(s, ref, false);
  }
  vec_push(&s->open, ref);
  set_cell(s, ref, s->open.n);
  vec_push(&s->path, ((struct frame){s->open.n, s->targets.n}));
  vec_push(&s->roots, ((struct sieve_root){.number = s->open.n, .accepts = reading.accepts, .arc_marks = marks,
                                           .marks = stays ? UINT64_MAX : 0, .circle = stays}));
  return put_found(s, ref, true);
}

/* --- components --- */

static void close_circle(struct sieve *s, state_ref number, uint64_t marks) {
  struct sieve_root *top = &s->roots.at[s->roots.n - 1];
  uint64_t accepts = 0;
  while (top->number > number) {
    accepts |= top->accepts;
    marks |= top->marks | top->arc_marks;
    top = &s->roots.at[--s->roots.n - 1];
  }
  top->accepts |= accepts;
  top->marks |= marks;
  top->circle = true;
}

static bool is_inside(void *context, const struct state *state) {
  const struct sieve *s = context;
  state_ref ref = store_seek(s->store, state->bytes, state->length);
  state_ref number = ref == STORE_NONE ? CELL_NEW : cell(s, ref);
  return number != CELL_DONE && number >= s->roots.at[s->roots.n - 1].number;
}

/* The component in the product: whatever leads out of it leads nowhere. */
static bool may_accept(struct sieve *s, size_t first) {
  struct live part;
  struct graph *g = &part.graph;
  live_init(&part, s->space, s->live->automaton, &s->live->assumptions, &s->graph->limits);
  g->started = s->graph->started;
  g->beside_memory = graph_bytes(s->graph);
  g->inside = is_inside;
  g->inside_context = s;
  bool accepts = false, ok = true;
  for (size_t i = first; i < s->open.n && ok; i++) {
    struct stored at = store_at(s->store, s->open.at[i]);
    ok = graph_add_initial(g, &(struct state){at.bytes, at.length});
  }
  accepts = ok && live_accepts_anywhere(&part);
  if (search_limited(g->end)) {
    graph_stop(s->graph, g->end);
    s->says = SIEVE_STOPPED;
  } else if (g->error.found || accepts) {
    s->says = SIEVED_SOME;
  }
  live_release(&part);
  return accepts;
}

/* All targets of the last state on the path were followed. False: it ends, or has to begin again. */
static bool leave(struct sieve *s) {
  const struct assumptions *a = &s->live->assumptions;
  const struct sieve_root *top = &s->roots.at[s->roots.n - 1];
  state_ref number = s->path.at[--s->path.n].number;
  if (number != top->number)
    return true;
  size_t first = (size_t)number - 1;
  bool full = top->circle && top->accepts == automaton_sets(s->live->automaton) && !(a->often & ~top->marks);
  if (full && (may_accept(s, first) || s->says != SIEVED_ALL || s->space->restart))
    return false;
  for (size_t i = first; i < s->open.n; i++)
    set_cell(s, s->open.at[i], CELL_DONE);
  s->open.n = first;
  s->roots.n--;
  return true;
}

static bool visit(struct sieve *s, state_ref start) {
  if (!enter(s, start, 0))
    return false;
  while (s->path.n > 0) {
    if (!tick(s, 1))
      return false;
    if (s->targets.n == s->path.at[s->path.n - 1].targets) {
      if (!leave(s))
        return false;
      continue;
    }
    struct target t = s->targets.at[--s->targets.n];
    state_ref number = cell(s, t.to);
    if (number == CELL_NEW) {
      if (!enter(s, t.to, t.marks))
        return false;
    } else if (number != CELL_DONE) {
      close_circle(s, number, t.marks);
    }
  }
  return true;
}

/* Every state that is found is visited: from others, or in its turn. */
static bool visit_all(struct sieve *s) {
  if (!s->space->ops->initial(s->space, note_initial, s) || !put_found(s, STORE_NONE, false))
    return false;
  for (state_ref r = store_first(); r < store_end(s->store); r = store_next(s->store, r))
    if (cell(s, r) == CELL_NEW && !visit(s, r))
      return false;
  return true;
}

enum sieved sieve_run(struct live *l, bool *rekeyed) {
  struct sieve s;
  bool again;
  *rekeyed = false;
  do {
    sieve_init(&s, l);
    again = !visit_all(&s) && s.space->restart;
    *rekeyed |= again;
    l->graph.beside_states = store_count(s.store);
    l->graph.beside_transitions = s.transitions;
    graph_refresh(&l->graph);
    s.space->restart = false;
    sieve_release(&s);
  } while (again);
  return s.says;
}
