#include "search/rank_paths.h"
#include "search/spill.h"

#include "base/hash.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

/* Writing takes at most one part in so many of the time. */
#define SHARE_OF_TIME 10
/* The end of a search is saved only if the search took so long. */
#define END_SECONDS 1.0

struct text checkpoint_path(const struct checkpoints *c, uint32_t number) {
  struct text t = {0};
  text_addf(&t, "%s/search-%u", c->folder, number);
  return t;
}

struct text checkpoint_part(const struct checkpoints *c, uint32_t number, uint32_t rank, uint64_t generation) {
  struct text t = checkpoint_path(c, number);
  text_addf(&t, ".rank-%u.%llu", rank, (unsigned long long)generation);
  return t;
}

/* --- which search it is --- */

static void mix(void *stream, uint64_t x) { hash_stream_add(stream, &x, sizeof x); }

static uint64_t instance_fingerprint(const struct search *s) {
  const struct model *m = s->space->model;
  void *h = hash_stream_new();
  mix(h, m->nprocesses);
  for (uint32_t i = 0; i < m->nparams; i++)
    mix(h, (uint64_t)m->params[i].value);
  return hash_stream_end(h);
}

/* The query, its reductions and its limits. */
static uint64_t query_fingerprint(const struct search *s) {
  const struct query *q = s->space->query;
  void *h = hash_stream_new();
  mix(h, q->environment);
  mix(h, q->semantics);
  mix(h, q->until);
  mix(h, q->nproperties);
  for (uint32_t i = 0; i < q->nproperties; i++)
    mix(h, q->properties[i]);
  for (unsigned i = 0; i < REDUCTIONS; i++)
    mix(h, s->space->licences->of[i].applied);
  mix(h, s->limits.rounds);
  mix(h, s->limits.states);
  hash_stream_add(h, s->space->successors, strlen(s->space->successors));
  return hash_stream_end(h);
}

/* --- writing --- */

static void save_finding(struct saver *to, const struct finding *f) {
  save_number(to, f->found);
  save_number(to, f->excluded);
  save_number(to, f->by_step);
  save_number(to, f->rounds);
  save_number(to, f->fault_cost);
  save_number(to, f->state);
  save_number(to, f->target);
  save_number(to, f->property);
  save_number(to, f->error.at.from);
  save_number(to, f->error.at.to);
  save_number(to, f->error.process);
  save_text(to, f->error.message);
}

static void save_findings(struct saver *to, const struct search *s, const struct finding *error) {
  for (uint32_t i = 0; i < s->space->query->nproperties; i++)
    save_finding(to, &s->findings[i]);
  save_finding(to, error);
}

static void save_beginning(struct saver *to, const struct search *s, uint64_t generation) {
  save_number(to, s->checkpoints->command);
  save_number(to, generation);
  save_number(to, instance_fingerprint(s));
  save_intern(to, s->space->model->values.vectors);
}

static void save_stats(struct saver *to, const struct search_stats *s) {
  uint64_t seconds;
  memcpy(&seconds, &s->seconds, sizeof seconds);
  save_number(to, s->states);
  save_number(to, s->transitions);
  save_number(to, s->depth);
  save_number(to, s->depth_unknown);
  save_number(to, s->frontier);
  save_number(to, s->layer);
  save_number(to, s->done);
  save_number(to, seconds);
  save_number(to, s->memory);
  save_number(to, s->disk);
}

static void save_head(struct saver *to, const struct search *s, uint64_t generation, enum checkpoint_found what) {
  save_beginning(to, s, generation);
  save_number(to, query_fingerprint(s));
  save_number(to, what);
  save_stats(to, &s->stats);
  save_number(to, s->threads.from);
  save_number(to, s->saving.resumed_from);
  save_number(to, s->complete);
  save_number(to, s->cut);
}

static void save_layer(struct saver *to, const struct layer *l) {
  save_number(to, l->partitions);
  for (uint32_t i = 0; i < l->partitions; i++) {
    save_number(to, l->from[i]);
    save_number(to, l->to[i]);
  }
}

/* Progress of all workers: first the states that a worker has taken but not processed, then the states still in the
   frontier. */
static void save_stage(struct saver *to, const struct search_stage *at, struct worker *const *all, uint32_t n) {
  const struct frontier *f = all[0]->taken.frontier;
  bool begun = all[0]->suspend_at == SUSPEND_BETWEEN_STATES || (all[0]->batches && !all[0]->batches->resting);
  size_t first = f->nfirst;
  save_number(to, at->kind);
  save_layer(to, &at->layer);
  save_layer(to, &at->next);
  save_number(to, at->states);
  save_number(to, at->before);
  save_number(to, at->transitions);
  save_number(to, begun ? all[0]->transitions : at->transitions);
  save_number(to, all[0]->frontier_states);
  save_number(to, all[0]->rounds);
  save_number(to, all[0]->space->decided);
  save_number(to, begun);
  if (!begun)
    return;
  for (uint32_t i = 0; i < n; i++)
    first += all[i]->taken.n - all[i]->taken.at;
  save_number(to, f->taken - first);
  for (uint32_t i = 0; i < at->layer.partitions; i++)
    save_number(to, f->on_disk ? f->disk_log.next : f->reader[i].next);
  save_number(to, first);
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = all[i]->taken.at; k < all[i]->taken.n; k++)
      save_number(to, all[i]->taken.states[k].ref);
  for (size_t i = 0; i < f->nfirst; i++)
    save_number(to, f->first[i]);
}

/* The visited states: in memory, and on disk. */
static void save_store(struct saver *to, const struct search *s) {
  visited_save(s->visited_set, to);
  save_number(to, s->disk.spill != NULL);
  if (s->disk.spill)
    spill_save(s->disk.spill, to);
}

/* False: *why gives the reason. */
static bool end_file(struct saver *to, bool begun, const char *path, struct text *why) {
  if (begun && archive_end(to, path))
    return true;
  text_addf(why, "cannot write the checkpoint '%s': %s\n  the search goes on; what was written before stays", path,
            strerror(to->error));
  return false;
}

static void say_and_release(const struct search *s, struct text *message) {
  if (message->n > 0)
    s->checkpoints->say(s->checkpoints->say_context, message->at);
  text_release(message);
}

static void schedule_next(struct search *s, double took) {
  double wait = s->checkpoints->seconds;
  s->saving.due = s->stats.seconds + (wait > SHARE_OF_TIME * took ? wait : SHARE_OF_TIME * took);
}

/* False: *why gives the reason. */
static bool write_running(struct search *s, const char *path, uint64_t generation, struct worker *const *all,
                          uint32_t n, struct text *why) {
  struct saver to;
  bool begun = archive_begin(&to, path);
  if (begun) {
    save_head(&to, s, generation, CHECKPOINT_RUNNING);
    save_findings(&to, s, &all[0]->error);
    s->space->ops->checkpoint.save(s->space, &to);
    save_stage(&to, s->stage, all, n);
    worker_save(all[0], &to);
    if (all[0]->batches)
      batches_save(all[0]->batches, &to);
    save_store(&to, s);
  }
  return end_file(&to, begun, path, why);
}

/* Makes this generation the valid one. */
static bool commit(const struct search *s, const char *path, uint64_t generation, struct text *why) {
  struct saver to;
  bool begun = archive_begin(&to, path);
  if (begun)
    save_beginning(&to, s, generation);
  return end_file(&to, begun, path, why);
}

static void remove_part(const struct search *s, uint64_t generation) {
  struct text path = checkpoint_part(s->checkpoints, s->saving.number, s->ranks->rank, generation);
  if (generation > 0)
    unlink(path.at);
  text_release(&path);
}

static void write_parts(struct search *s, const char *path, struct worker *w, struct text *why) {
  struct ranks *r = s->ranks;
  uint64_t generation = s->saving.generation + 1;
  struct text part = checkpoint_part(s->checkpoints, s->saving.number, r->rank, generation);
  bool written = ranks_all_ok(r, write_running(s, part.at, generation, &w, 1, why), why);
  bool counts = written && ranks_all_ok(r, r->rank != 0 || commit(s, path, generation, why), why);
  remove_part(s, counts ? s->saving.generation : generation);
  if (counts)
    s->saving.generation = generation;
  text_release(&part);
}

void checkpoint_write(struct search *s, struct worker *const *all, uint32_t n) {
  struct text path = checkpoint_path(s->checkpoints, s->saving.number), why = {0};
  worker_update_stats(all[0]);
  double before = s->stats.seconds;
  s->checkpoints->writing = true;
  if (s->ranks)
    write_parts(s, path.at, all[0], &why);
  else
    write_running(s, path.at, 0, all, n, &why);
  s->checkpoints->writing = false;
  say_and_release(s, &why);
  text_release(&path);
  worker_update_stats(all[0]);
  schedule_next(s, s->stats.seconds - before);
}

/* After the end of a search, states are needed only to print a path. */
static bool needs_store(const struct search *s) {
  bool needed = s->error.found || s->space->farthest.length > 0;
  for (uint32_t i = 0; i < s->space->query->nproperties; i++)
    needed |= s->findings[i].found;
  return needed;
}

static bool is_worth_a_file(const struct search *s) {
  double least = s->checkpoints->seconds < END_SECONDS ? s->checkpoints->seconds : END_SECONDS;
  return !search_limited(s->end) && (s->stats.seconds >= least || (!s->ranks && s->threads.from != UINT32_MAX));
}

static void write_end(const struct search *s, const struct worker *w, struct text *why) {
  struct text path = checkpoint_path(s->checkpoints, s->saving.number);
  struct saver to;
  bool begun = archive_begin(&to, path.at), visited_set = needs_store(s) && !s->ranks;
  if (begun) {
    save_head(&to, s, 0, CHECKPOINT_END);
    save_findings(&to, s, &w->error);
    s->space->ops->checkpoint.save(s->space, &to);
    save_number(&to, s->end);
    save_number(&to, visited_set);
    if (visited_set)
      save_store(&to, s);
    if (s->ranks)
      rank_paths_save(s, &to);
  }
  end_file(&to, begun, path.at, why);
  text_release(&path);
}

/* Rank 0 has all results by now. */
void checkpoint_write_end(struct search *s, struct worker *w) {
  struct text why = {0};
  uint64_t worth = is_worth_a_file(s);
  s->checkpoints->unfinished |= search_limited(s->end);
  if (s->ranks)
    ranks_broadcast(s->ranks, 0, &worth, sizeof worth);
  if (!worth)
    return;
  if (!s->ranks || s->ranks->rank == 0)
    write_end(s, w, &why);
  if (s->ranks && ranks_all_ok(s->ranks, why.n == 0, &why))
    remove_part(s, s->saving.generation);
  say_and_release(s, &why);
}

/* --- reading --- */

static void load_finding(struct search *s, struct loader *from, struct finding *f) {
  f->found = load_below(from, 2);
  f->excluded = load_below(from, 2);
  f->by_step = load_below(from, 2);
  f->rounds = (uint32_t)load_below(from, UINT32_MAX);
  f->fault_cost = (fault_cost)load_number(from);
  f->state = load_number(from);
  f->target = load_number(from);
  f->property = (uint32_t)load_number(from);
  f->error.at.from = (uint32_t)load_number(from);
  f->error.at.to = (uint32_t)load_number(from);
  f->error.process = (uint32_t)load_number(from);
  f->error.message = load_text(from);
  if (f->error.message) {
    s->saving.texts = memory_resize_array(s->saving.texts, s->saving.ntexts + 1, sizeof *s->saving.texts);
    s->saving.texts[s->saving.ntexts++] = (char *)f->error.message;
  }
  bool is_error = f->property == UINT32_MAX || f->error.message;
  from->bad |= f->found && ((f->property != UINT32_MAX && f->property >= s->space->query->nproperties) ||
                            (is_error && !f->error.message) || (!is_error && f->state == STATE_REF_NONE) ||
                            f->error.at.from > f->error.at.to || f->error.at.to > s->space->model->source.length ||
                            (f->error.process != UINT32_MAX && f->error.process >= s->space->model->nprocesses));
}

static void load_findings(struct search *s, struct loader *from, struct finding *error) {
  for (uint32_t i = 0; i < s->space->query->nproperties; i++)
    load_finding(s, from, &s->findings[i]);
  load_finding(s, from, error);
}

bool checkpoint_is_of(struct loader *from, const struct checkpoints *c, uint64_t *generation) {
  uint64_t command = load_number(from);
  *generation = load_number(from);
  return command == c->command && !from->bad;
}

static void load_stats(struct loader *from, struct search_stats *s) {
  s->states = load_number(from);
  s->transitions = load_number(from);
  s->depth = (uint32_t)load_number(from);
  s->depth_unknown = load_below(from, 2);
  s->frontier = load_number(from);
  s->layer = load_number(from);
  s->done = load_number(from);
  uint64_t seconds = load_number(from);
  memcpy(&s->seconds, &seconds, sizeof seconds);
  s->memory = memory_size(load_number(from));
  s->disk = load_number(from);
  from->bad |= !isfinite(s->seconds) || s->seconds < 0;
}

/* The loader is marked bad if the file belongs to another search. */
static enum checkpoint_found load_head(struct search *s, struct loader *from) {
  uint64_t generation;
  from->bad |= !checkpoint_is_of(from, s->checkpoints, &generation) || generation != s->saving.generation ||
               load_number(from) != instance_fingerprint(s);
  if (!from->bad)
    load_intern(from, s->space->model->values.vectors);
  from->bad |= load_number(from) != query_fingerprint(s);
  enum checkpoint_found what = (enum checkpoint_found)load_below(from, CHECKPOINT_RUNNING + 1);
  load_stats(from, &s->stats);
  s->threads.from = (uint32_t)load_number(from);
  s->saving.resumed_from = (uint32_t)load_number(from);
  s->complete = (uint32_t)load_number(from);
  s->cut = load_below(from, 2);
  return what;
}

static void load_layer(struct loader *from, struct layer *l) {
  *l = (struct layer){.partitions = (uint32_t)load_below(from, MAX_PARTITIONS + 1)};
  for (uint32_t i = 0; i < l->partitions; i++) {
    l->from[i] = load_number(from);
    l->to[i] = load_number(from);
  }
}

static void load_stage(struct loader *from, struct search_stage *at, struct worker *w) {
  at->kind = (enum stage_kind)load_below(from, STAGE_BEYOND);
  from->bad |= at->kind == STAGE_DEFERRED && !w->search->ranks;
  load_layer(from, &at->layer);
  load_layer(from, &at->next);
  at->states = load_number(from);
  at->before = load_number(from);
  at->transitions = load_number(from);
  w->transitions = load_number(from);
  w->frontier_states = load_number(from);
  w->rounds = (uint32_t)load_below(from, UINT32_MAX);
  w->space->decided = load_number(from);
  at->begun = load_below(from, 2);
  if (!at->begun || from->bad)
    return;
  at->done = load_number(from);
  for (uint32_t i = 0; i < at->layer.partitions && !from->bad; i++)
    at->at[i] = load_number(from);
  uint64_t n = load_number(from);
  for (uint64_t i = 0; i < n && !from->bad; i++)
    vec_push(&at->first, load_number(from));
}

static bool key_is_valid(void *context, const struct state *key) {
  const struct search *s = context;
  return s->space->ops->checkpoint.valid(s->space, key);
}

static void load_store(struct search *s, struct loader *from) {
  struct visited_set *loaded = visited_load_valid(from, key_is_valid, s);
  if (!loaded)
    return;
  visited_free(s->visited_set);
  s->visited_set = loaded;
  if (load_below(from, 2) && !spill_load(s, from, key_is_valid))
    from->bad = true;
}

/* --- do the references refer to anything? --- */

/* With several ranks, a finding may be of another one. */
static bool is_state(const struct search *s, state_ref ref) {
  return s->disk.spill ? spill_claim(s->disk.spill, ref, false) : visited_has(s->visited_set, ref);
}

static bool is_position(const struct search *s, uint32_t partition, state_ref ref) {
  return s->disk.spill ? partition == 0 && spill_claim(s->disk.spill, ref, true)
                       : visited_is_position(s->visited_set, partition, ref);
}

static bool finding_is_sound(const struct search *s, const struct finding *f) {
  return !f->found || s->ranks ||
         ((f->state == STATE_REF_NONE || is_state(s, f->state)) &&
          (f->target == STATE_REF_NONE || is_state(s, f->target)));
}

static bool findings_are_sound(const struct search *s, const struct finding *error) {
  bool ok = finding_is_sound(s, error);
  for (uint32_t i = 0; i < s->space->query->nproperties; i++)
    ok &= finding_is_sound(s, &s->findings[i]);
  return ok;
}

static bool layer_is_sound(const struct search *s, const struct layer *l, bool has_end) {
  uint32_t partitions = s->disk.spill ? 1 : visited_partitions(s->visited_set);
  if (l->partitions > partitions)
    return false;
  for (uint32_t i = 0; i < l->partitions; i++)
    if (!is_position(s, i, l->from[i]) || (has_end && (!is_position(s, i, l->to[i]) || l->from[i] > l->to[i])))
      return false;
  return true;
}

static bool stage_is_sound(const struct search *s, const struct worker *w) {
  const struct search_stage *at = s->stage;
  bool builds = at->kind == STAGE_EXPAND || at->kind == STAGE_DEFERRED;
  if (at->layer.partitions == 0 || !layer_is_sound(s, &at->layer, true) ||
      (builds && !s->disk.spill && !layer_is_sound(s, &at->next, false)))
    return false;
  for (uint32_t i = 0; i < at->layer.partitions && at->begun; i++)
    if (!is_position(s, i, at->at[i]) || at->at[i] < at->layer.from[i] || at->at[i] > at->layer.to[i])
      return false;
  for (size_t i = 0; i < at->first.n; i++)
    if (!is_state(s, at->first.at[i]))
      return false;
  return worker_refs_are_sound(w, is_state);
}

static void say_resumed(const struct search *s) {
  struct text t = {0};
  text_addf(&t, "search %u goes on from %llu states", s->saving.number + 1, (unsigned long long)s->stats.states);
  s->checkpoints->say(s->checkpoints->say_context, t.at);
  text_release(&t);
}

static enum checkpoint_found load_search(struct search *s, struct loader *from, struct worker *w) {
  enum checkpoint_found what = load_head(s, from);
  if (from->bad)
    return CHECKPOINT_NONE;
  load_findings(s, from, &w->error);
  s->space->ops->checkpoint.load(s->space, from);
  if (what == CHECKPOINT_RUNNING) {
    load_stage(from, s->stage, w);
    worker_load(w, from);
    if (s->ranks)
      batches_load(w->batches, from);
    load_store(s, from);
    from->bad = from->bad || !stage_is_sound(s, w) || !findings_are_sound(s, &w->error) ||
                (s->ranks && !batches_are_sound(w->batches)) || (s->disk.spill && !spill_claims_hold(s->disk.spill));
    worker_add_elapsed(w, s->stats.seconds);
    if (w->rounds < s->saving.resumed_from)
      s->saving.resumed_from = w->rounds;
  } else {
    s->error = w->error;
    s->end = (enum search_end)load_below(from, SEARCH_STATES);
    if (load_number(from))
      load_store(s, from);
    if (s->ranks)
      rank_paths_load(s, from, key_is_valid);
    from->bad = from->bad || (!s->ranks && needs_store(s) && !findings_are_sound(s, &s->error)) ||
                (s->disk.spill && !spill_claims_hold(s->disk.spill));
  }
  from->bad |= from->at != from->end;
  return from->bad ? CHECKPOINT_NONE : what;
}

/* Values are named in order of appearance, and a later file contains more of them. Loading all names beforehand ensures
   that whatever happens between two searches cannot assign them differently. */
static void load_value_names(const struct search *s) {
  for (uint32_t i = s->checkpoints->last; i-- > s->saving.number;) {
    struct text path = checkpoint_path(s->checkpoints, i), why = {0};
    struct archive a;
    uint64_t generation;
    bool same = archive_open(&a, path.at, false, &why) && checkpoint_is_of(&a.loader, s->checkpoints, &generation) &&
                load_number(&a.loader) == instance_fingerprint(s);
    if (same)
      load_intern(&a.loader, s->space->model->values.vectors);
    archive_close(&a);
    text_release(&path);
    text_release(&why);
    if (same)
      return;
  }
}

/* The file to load: with several ranks, an unfinished search has one file for each rank. */
static struct text file_of(struct search *s) {
  struct text path = checkpoint_path(s->checkpoints, s->saving.number), why = {0};
  struct archive a;
  s->saving.generation = 0;
  if (s->ranks && archive_open(&a, path.at, false, &why)) {
    checkpoint_is_of(&a.loader, s->checkpoints, &s->saving.generation);
    archive_close(&a);
  }
  text_release(&why);
  if (s->saving.generation == 0)
    return path;
  text_release(&path);
  return checkpoint_part(s->checkpoints, s->saving.number, s->ranks->rank, s->saving.generation);
}

static enum checkpoint_found read_file(struct search *s, struct worker *w) {
  struct text path = file_of(s), why = {0};
  struct archive a;
  enum checkpoint_found found = CHECKPOINT_NONE;
  if (archive_open(&a, path.at, false, &why)) {
    found = load_search(s, &a.loader, w);
    archive_close(&a);
    if (found == CHECKPOINT_NONE) {
      search_reset(s, w); /* the transition system may keep unused names; they do no harm */
      text_addf(&why, "'%s' is of another search; this one begins again", path.at);
      s->checkpoints->say(s->checkpoints->say_context, why.at);
    }
  }
  text_release(&path);
  text_release(&why);
  return found;
}

/* Rank 0 runs some searches alone, so it determines the number. */
static void find_number(struct search *s) {
  struct checkpoints *c = s->checkpoints;
  uint64_t number = c->searches;
  if (s->ranks)
    ranks_broadcast(s->ranks, 0, &number, sizeof number);
  s->saving.number = (uint32_t)number;
  c->searches = s->saving.number + 1;
}

enum checkpoint_found checkpoint_read(struct search *s, struct worker *w) {
  struct checkpoints *c = s->checkpoints;
  find_number(s);
  schedule_next(s, 0);
  if (!s->space->ops->checkpoint.save || s->space->keys_transient) {
    s->checkpoints = NULL;
    return CHECKPOINT_NONE;
  }
  if (!c->resumed || s->saving.number >= c->last)
    return CHECKPOINT_NONE;
  load_value_names(s);
  enum checkpoint_found found = read_file(s, w);
  if (s->ranks && !ranks_agree(s->ranks, found))
    ranks_fail(s->ranks, "ranks disagree about a checkpoint");
  if (found == CHECKPOINT_RUNNING)
    say_resumed(s);
  schedule_next(s, 0);
  return found;
}
