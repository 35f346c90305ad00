#include "search/checkpoint_parts.h"
#include "search/rank_paths.h"
#include "search/spill.h"

#include "base/hash.h"

#include <errno.h>
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

uint64_t checkpoint_instance_fingerprint(const struct search *s) {
  const struct model *m = s->space->model;
  void *h = hash_stream_new();
  mix(h, m->nprocesses);
  for (uint32_t i = 0; i < m->nparams; i++)
    mix(h, (uint64_t)m->params[i].value);
  return hash_stream_end(h);
}

uint64_t checkpoint_query_fingerprint(const struct search *s) {
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
  save_number(to, s->ranks ? s->ranks->n : 0);
  save_number(to, checkpoint_instance_fingerprint(s));
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
  save_number(to, checkpoint_query_fingerprint(s));
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

void checkpoint_schedule(struct search *s, double took) {
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

/* Each rank removes its own part of a generation. If there were more ranks then, the others' parts are shared out. */
static void remove_parts(const struct search *s, uint64_t generation, uint32_t written_by) {
  for (uint32_t i = s->ranks->rank; i < written_by && generation > 0; i += s->ranks->n) {
    struct text path = checkpoint_part(s->checkpoints, s->saving.number, i, generation);
    unlink(path.at);
    text_release(&path);
  }
}

static void write_parts(struct search *s, const char *path, struct worker *w, struct text *why) {
  struct ranks *r = s->ranks;
  uint64_t generation = s->saving.generation + 1;
  struct text part = checkpoint_part(s->checkpoints, s->saving.number, r->rank, generation);
  bool written = ranks_all_ok(r, write_running(s, part.at, generation, &w, 1, why), why);
  bool counts = written && ranks_all_ok(r, r->rank != 0 || commit(s, path, generation, why), why);
  remove_parts(s, counts ? s->saving.generation : generation, counts ? s->saving.written_by : r->n);
  if (counts) {
    s->saving.generation = generation;
    s->saving.written_by = r->n;
  }
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
  checkpoint_schedule(s, s->stats.seconds - before);
}

bool checkpoint_needs_store(const struct search *s) {
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
  bool begun = archive_begin(&to, path.at), visited_set = checkpoint_needs_store(s) && !s->ranks;
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
    remove_parts(s, s->saving.generation, s->saving.written_by);
  say_and_release(s, &why);
}
