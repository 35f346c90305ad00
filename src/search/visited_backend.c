/* States in memory: all are in the visited set, and a state that is not there is new. */
#include "search/visited_backend.h"

#include "base/memory.h"
#include "search/compaction_path.h"

static struct visited_set *new_delta(const struct search *s) {
  (void)s;
  return visited_new_delta();
}

static struct visited_set *new_compact(const struct search *s) { return visited_new_compact(s->limits.signature); }

/* The new layer is what was added to each partition since the stage began. */
bool memory_close_layer(struct worker *w, bool made) {
  struct search_stage *at = w->search->stage;
  const struct visited_set *visited_set = w->search->visited_set;
  if (at->kind != STAGE_INITIAL)
    at->layer = at->next;
  at->states = visited_count(visited_set) - at->before;
  for (uint32_t i = 0; i < at->layer.partitions; i++) {
    at->layer.to[i] = visited_end_of(visited_set, i);
    at->layer.from[i] = visited_from(visited_set, at->layer.from[i]);
  }
  return made;
}

uint64_t memory_layer_states(const struct worker *w) { return w->search->stage->states; }

void memory_open_frontier(struct frontier *f, const struct search *s, const struct layer *layer) {
  const struct search_stage *at = s->stage;
  *f = (struct frontier){.layer = layer, .in_order = s->backend->relocates};
  for (uint32_t i = 0; i < layer->partitions; i++)
    f->reader[i] = visited_reader(s->visited_set, at->begun ? at->at[i] : layer->from[i], layer->to[i]);
  if (!at->begun)
    return;
  f->first = at->first.at;
  f->nfirst = at->first.n;
  f->taken = at->done;
}

struct stored memory_get(const struct search *s, state_ref ref, disk_log_bytes *into) {
  (void)into;
  return visited_get_key(s->visited_set, ref);
}

state_ref memory_find(const struct search *s, const struct state *state) {
  return visited_lookup(s->visited_set, state->bytes, state->length);
}

bool memory_has_path(const struct search *s, const struct finding *f) {
  (void)s;
  return f->state != STATE_REF_NONE;
}

struct state *memory_path(const struct search *s, const struct finding *f, uint32_t *n, struct path_goal *goal) {
  uint32_t length = f->target != STATE_REF_NONE;
  *goal = finding_goal(f);
  for (state_ref r = f->state; r != STATE_REF_NONE; r = visited_get(s->visited_set, r).parent)
    if (!visited_has(s->visited_set, r) || length++ > visited_count(s->visited_set))
      return NULL; /* only if the checkpoint was forged */
  struct state *path = memory_alloc((length ? length : 1) * sizeof *path);
  uint32_t at = length;
  if (f->target != STATE_REF_NONE) {
    struct stored last = visited_get(s->visited_set, f->target);
    path[--at] = (struct state){last.bytes, last.length};
  }
  for (state_ref r = f->state; r != STATE_REF_NONE;) {
    struct stored on = visited_get(s->visited_set, r);
    path[--at] = (struct state){on.bytes, on.length};
    r = on.parent;
  }
  *n = length;
  return path;
}

static struct state *path_of_signatures(const struct search *s, const struct finding *f, uint32_t *n,
                                        struct path_goal *goal) {
  *goal = finding_goal(f);
  return compaction_path(s, f, n);
}

bool memory_probe(struct worker *w, const struct state *state, const struct edge *edge) {
  (void)edge;
  w->search->cut = memory_find(w->search, state) == STATE_REF_NONE;
  return true;
}

void memory_count(struct worker *w) {
  struct search *s = w->search;
  s->stats.states = visited_count(s->visited_set);
  s->stats.layer = s->stage ? s->stage->states : 0;
  s->stats.done = s->stage && w->taken.frontier ? w->taken.frontier->taken : 0;
}

static void write_checkpoint(struct search *s, struct worker *const *all, uint32_t n) {
  checkpoint_write(s, all, n);
  if (s->saving.ending != SEARCH_EXHAUSTED)
    worker_stop(all[0], (enum search_end)s->saving.ending);
}

/* If the order of insertions is nondeterministic (several threads) or will be repeated (the layer restarts), pending
   successors are inserted first. Otherwise they are saved as pending, so that the resumed search proceeds exactly as if
   it had not stopped. */
static bool suspend(struct worker *w) {
  if ((w->shared || w->suspend_at == SUSPEND_ANYWHERE) && !worker_flush(w))
    return false;
  return worker_suspend_all(w);
}

const struct visited_backend visited_in_memory = {.new_set = new_delta,
                                                  .keeps_keys = true,
                                                  .close_layer = memory_close_layer,
                                                  .layer_states = memory_layer_states,
                                                  .open_frontier = memory_open_frontier,
                                                  .get = memory_get,
                                                  .find = memory_find,
                                                  .has_path = memory_has_path,
                                                  .path = memory_path,
                                                  .probe = memory_probe,
                                                  .count = memory_count,
                                                  .suspend = suspend,
                                                  .suspend_all = write_checkpoint};

const struct visited_backend visited_compacted = {.new_set = new_compact,
                                                  .close_layer = memory_close_layer,
                                                  .layer_states = memory_layer_states,
                                                  .open_frontier = memory_open_frontier,
                                                  .get = memory_get,
                                                  .find = memory_find,
                                                  .has_path = memory_has_path,
                                                  .path = path_of_signatures,
                                                  .probe = memory_probe,
                                                  .count = memory_count,
                                                  .suspend = suspend,
                                                  .suspend_all = write_checkpoint};
