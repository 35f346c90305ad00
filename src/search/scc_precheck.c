#include "search/scc_precheck.h"

#include "search/scc_stack.h"
#include "search/visited_index.h"

#include <string.h>

/* The visited set stores a state's DFS number in place of its parent. */
#define DFS_NEW 0
#define DFS_DONE STATE_REF_NONE

/* A successor that is waiting to be inserted. */
struct precheck_successor {
  size_t key; /* offset in `keys` */
  uint64_t probe_position;
  uint32_t length;
  uint64_t hash, marks;
};

struct precheck_edge {
  state_ref to;
  uint64_t marks;
};

struct precheck_frame {
  state_ref number; /* DFS number of the state */
  size_t targets;   /* the targets from here up to the next frame's are not visited yet */
};

struct scc_precheck {
  struct liveness_search *live;
  struct liveness_graph *graph; /* for its limits */
  struct system *space;
  struct visited_set *visited_set;
  bool *lasting; /* by transition of the automaton: it can recur in an accepting run */
  uint64_t transitions;
  VEC(uint8_t) keys;
  VEC(struct precheck_successor) found;
  VEC(struct precheck_frame) path;
  VEC(struct precheck_edge) targets;
  scc_roots roots;        /* accepts: what the automaton can accept in their states */
  VEC(state_ref) open;    /* states of incomplete components; the DFS number of each is its position, from 1 */
  struct run_edges noted; /* of the state being expanded */
  enum precheck_result says;
};

static void scc_precheck_init(struct scc_precheck *s, struct liveness_search *l) {
  *s = (struct scc_precheck){.live = l,
                             .graph = &l->graph,
                             .space = l->graph.space,
                             .visited_set = visited_new(),
                             .lasting = automaton_recurrent(l->automaton)};
}

static void scc_precheck_release(struct scc_precheck *s) {
  s->graph->precheck.memory = 0;
  visited_free(s->visited_set);
  memory_free(s->lasting);
  vec_release(&s->keys);
  vec_release(&s->found);
  vec_release(&s->path);
  vec_release(&s->targets);
  vec_release(&s->roots);
  vec_release(&s->open);
}

/* Ends the pre-check; returns false. */
static bool end_with(struct scc_precheck *s, enum precheck_result says) {
  s->says = says;
  return false;
}

static bool tick(struct scc_precheck *s, uint32_t ticks) {
  struct liveness_graph *g = s->graph;
  g->precheck.states = visited_count(s->visited_set);
  g->precheck.memory = visited_bytes(s->visited_set) + s->targets.cap * sizeof *s->targets.at +
                       s->path.cap * sizeof *s->path.at + s->roots.cap * sizeof *s->roots.at +
                       s->open.cap * sizeof *s->open.at;
  return liveness_graph_tick(g, ticks) || end_with(s, PRECHECK_STOPPED);
}

static state_ref dfs_number(const struct scc_precheck *s, state_ref ref) {
  return visited_get(s->visited_set, ref).parent;
}
static void set_dfs_number(struct scc_precheck *s, state_ref ref, state_ref number) {
  visited_set_parent(s->visited_set, ref, number, 0);
}

/* --- states --- */

static void note(struct scc_precheck *s, const struct state *state, uint64_t marks) {
  size_t room = ((size_t)state->length + 15) / 16 * 16; /* padding, because keys are compared as words */
  struct precheck_successor f = {
      .key = s->keys.n, .length = state->length, .hash = key_hash(state->bytes, state->length), .marks = marks};
  vec_reserve(&s->keys, s->keys.n + room);
  memcpy(s->keys.at + s->keys.n, state->bytes, state->length);
  s->keys.n += room;
  visited_prefetch_bucket(s->visited_set, f.hash);
  vec_push(&s->found, f);
}

static bool note_initial(void *context, const struct state *state, const struct edge *edge) {
  struct scc_precheck *s = context;
  if (edge->error)
    return end_with(s, PRECHECK_UNDECIDED);
  note(s, state, 0);
  return true;
}

static bool note_step(void *context, const struct state *state, const struct edge *edge) {
  struct scc_precheck *s = context;
  if (edge->error)
    return end_with(s, PRECHECK_UNDECIDED);
  s->transitions++;
  run_edges_note(&s->noted, edge);
  note(s, state, edge->marks);
  return tick(s, 1);
}

/* Inserts the successors together, so that memory accesses overlap. `inner`: of a state that a run may visit infinitely
   often; then the successors become its targets, unless nothing remains to be learned about them. False: a limit was
   reached. */
static bool put_found(struct scc_precheck *s, state_ref from, bool inner) {
  uint64_t finally = s->live->assumptions.finally;
  struct scc_root *top = inner ? &s->roots.at[s->roots.n - 1] : NULL;
  for (size_t i = 0; i < s->found.n; i++)
    s->found.at[i].probe_position = visited_prefetch_record(s->visited_set, s->found.at[i].hash, 0);
  for (size_t i = 0; i < s->found.n; i++) {
    const struct precheck_successor *f = &s->found.at[i];
    state_ref to;
    bool is_new =
        visited_insert(s->visited_set, s->keys.at + f->key, f->length, f->hash, f->probe_position, DFS_NEW, 0, &to);
    if (is_new && visited_count(s->visited_set) > s->graph->limits.states) {
      liveness_graph_stop(s->graph, SEARCH_STATES);
      return end_with(s, PRECHECK_STOPPED);
    }
    if (!inner || (finally & ~f->marks))
      continue;
    if (to == from) {
      top->cyclic = true;
      top->marks |= f->marks;
    } else if (is_new || dfs_number(s, to) != DFS_DONE) {
      vec_push(&s->targets, ((struct precheck_edge){to, f->marks}));
    }
  }
  return true;
}

/* --- the automaton's moves in a state --- */

struct automaton_reading {
  bool any;         /* it can read the state's letter */
  bool lasting;     /* by a transition that can recur */
  uint64_t accepts; /* acceptance sets of those transitions */
};

/* False: an atom has no value. */
static bool read_state(struct scc_precheck *s, const struct state *at, struct automaton_reading *r) {
  const struct automaton *a = s->live->automaton;
  uint64_t letter;
  uint32_t atom;
  struct model_error error;
  if (!run_letter(s->space, at, &letter, &atom, &error))
    return end_with(s, PRECHECK_UNDECIDED);
  *r = (struct automaton_reading){0};
  for (uint32_t i = 0; i < a->first[a->nstates]; i++)
    if (automaton_transition_reads(&a->transitions[i], letter)) {
      r->any = true;
      r->lasting |= s->lasting[i];
      r->accepts |= s->lasting[i] ? a->transitions[i].accepts : 0;
    }
  return !s->space->restart;
}

/* --- expansion --- */

static bool find_successors(struct scc_precheck *s, const struct state *at, bool *stays) {
  struct system *space = s->space;
  vec_clear(&s->found);
  vec_clear(&s->keys);
  bool ok = run_edges_emit(space, at, note_step, s, &s->noted, stays);
  if (!liveness_graph_may_continue(s->graph)) /* some steps may be missing */
    return end_with(s, PRECHECK_STOPPED);
  if (!ok && s->says == PRECHECK_EMPTY && !space->restart)
    return end_with(s, PRECHECK_UNDECIDED);
  return ok && !space->restart;
}

/* Visits a new state. False: the pre-check ends, or must restart. */
static bool enter(struct scc_precheck *s, state_ref ref, uint64_t marks) {
  struct stored stored = visited_get(s->visited_set, ref);
  struct state at = {stored.bytes, stored.length};
  struct automaton_reading reading;
  bool stays;
  bool read = read_state(s, &at, &reading);
  if (!liveness_graph_may_continue(s->graph))
    return end_with(s, PRECHECK_STOPPED);
  if (!read)
    return false;
  if (!reading.any) {
    set_dfs_number(s, ref, DFS_DONE);
    return true;
  }
  if (!find_successors(s, &at, &stays) || !tick(s, 16))
    return false;
  if (!reading.lasting) {
    set_dfs_number(s, ref, DFS_DONE);
    return put_found(s, ref, false);
  }
  vec_push(&s->open, ref);
  set_dfs_number(s, ref, s->open.n);
  vec_push(&s->path, ((struct precheck_frame){s->open.n, s->targets.n}));
  vec_push(&s->roots, ((struct scc_root){.number = s->open.n,
                                         .accepts = reading.accepts,
                                         .arc_marks = marks,
                                         .marks = stays ? UINT64_MAX : 0,
                                         .cyclic = stays}));
  return put_found(s, ref, true);
}

/* --- components --- */

static bool is_inside(void *context, const struct state *state) {
  const struct scc_precheck *s = context;
  state_ref ref = visited_lookup(s->visited_set, state->bytes, state->length);
  state_ref number = ref == STATE_REF_NONE ? DFS_NEW : dfs_number(s, ref);
  return number != DFS_DONE && number >= s->roots.at[s->roots.n - 1].number;
}

/* Examines the component in the product, without the edges that leave it. */
static bool may_accept(struct scc_precheck *s, size_t first) {
  struct liveness_search part;
  struct liveness_graph *g = &part.graph;
  liveness_search_init(&part, s->space, s->live->automaton, &s->live->assumptions, &s->graph->limits);
  g->clock.started = s->graph->clock.started;
  g->precheck.memory = liveness_graph_bytes(s->graph);
  g->within.has = is_inside;
  g->within.context = s;
  bool accepts = false, ok = true;
  for (size_t i = first; i < s->open.n && ok; i++) {
    struct stored at = visited_get(s->visited_set, s->open.at[i]);
    ok = liveness_graph_add_initial(g, &(struct state){at.bytes, at.length});
  }
  accepts = ok && liveness_search_accepts_anywhere(&part);
  if (search_limited(g->end)) {
    liveness_graph_stop(s->graph, g->end);
    s->says = PRECHECK_STOPPED;
  } else if (g->error.found || accepts) {
    s->says = PRECHECK_UNDECIDED;
  }
  liveness_search_release(&part);
  return accepts;
}

/* All targets of the last state on the path have been visited. False: the pre-check ends, or must restart. */
static bool leave(struct scc_precheck *s) {
  const struct assumptions *a = &s->live->assumptions;
  const struct scc_root *top = &s->roots.at[s->roots.n - 1];
  state_ref number = s->path.at[--s->path.n].number;
  if (number != top->number)
    return true;
  size_t first = (size_t)number - 1;
  bool full = top->cyclic && top->accepts == automaton_sets(s->live->automaton) && !(a->often & ~top->marks);
  if (full && (may_accept(s, first) || s->says != PRECHECK_EMPTY || s->space->restart))
    return false;
  for (size_t i = first; i < s->open.n; i++)
    set_dfs_number(s, s->open.at[i], DFS_DONE);
  s->open.n = first;
  s->roots.n--;
  return true;
}

static bool visit(struct scc_precheck *s, state_ref start) {
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
    struct precheck_edge t = s->targets.at[--s->targets.n];
    state_ref number = dfs_number(s, t.to);
    if (number == DFS_NEW) {
      if (!enter(s, t.to, t.marks))
        return false;
    } else if (number != DFS_DONE) {
      scc_roots_merge(&s->roots, number, 0, t.marks);
    }
  }
  return true;
}

/* Every state in the visited set is visited, either from another state or in order of insertion. */
static bool visit_all(struct scc_precheck *s) {
  if (!s->space->ops->initial(s->space, note_initial, s) || !put_found(s, STATE_REF_NONE, false))
    return false;
  for (state_ref r = visited_first(); r < visited_end(s->visited_set); r = visited_next(s->visited_set, r))
    if (dfs_number(s, r) == DFS_NEW && !visit(s, r))
      return false;
  return true;
}

enum precheck_result scc_precheck_run(struct liveness_search *l, bool *rekeyed) {
  struct scc_precheck s;
  bool again;
  *rekeyed = false;
  do {
    scc_precheck_init(&s, l);
    again = !visit_all(&s) && s.space->restart;
    *rekeyed |= again;
    l->graph.precheck.states = visited_count(s.visited_set);
    l->graph.precheck.transitions = s.transitions;
    liveness_graph_update_stats(&l->graph);
    s.space->restart = false;
    scc_precheck_release(&s);
  } while (again);
  return s.says;
}
