/* Reading checkpoints, which may hold anything: every part is checked before it is used. */
#include "search/checkpoint_parts.h"
#include "search/rank_parts.h"
#include "search/rank_paths.h"
#include "search/spill.h"

#include <math.h>
#include <string.h>

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

bool checkpoint_is_of(struct loader *from, const struct checkpoints *c, struct checkpoint_origin *origin) {
  uint64_t command = load_number(from);
  origin->generation = load_number(from);
  origin->ranks = (uint32_t)load_below(from, UINT32_MAX);
  from->bad |= origin->generation > 0 && origin->ranks == 0;
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
  struct checkpoint_origin origin;
  from->bad |= !checkpoint_is_of(from, s->checkpoints, &origin) || origin.generation != s->saving.generation ||
               (origin.generation > 0 && origin.ranks != s->saving.written_by) ||
               load_number(from) != checkpoint_instance_fingerprint(s);
  if (!from->bad)
    load_intern(from, s->space->model->values.vectors);
  from->bad |= load_number(from) != checkpoint_query_fingerprint(s);
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

/* All but the visited states of an unfinished search. */
static enum checkpoint_found load_progress(struct search *s, struct loader *from, struct worker *w) {
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
  }
  return what;
}

/* The visited states, which all references must refer to. */
static void load_states(struct search *s, struct loader *from, const struct worker *w, uint32_t part) {
  load_store(s, from);
  from->bad = from->bad || !stage_is_sound(s, w) || !findings_are_sound(s, &w->error) ||
              (s->ranks && !batches_are_sound(w->batches, part, s->saving.written_by)) ||
              (s->disk.spill && !spill_claims_hold(s->disk.spill)) || from->at != from->end;
}

static void note_resumed(struct search *s, struct worker *w) {
  worker_add_elapsed(w, s->stats.seconds);
  if (w->rounds < s->saving.resumed_from)
    s->saving.resumed_from = w->rounds;
}

bool checkpoint_load_part(struct search *s, struct worker *w, uint32_t part, bool states, struct text *why) {
  struct text path = checkpoint_part(s->checkpoints, s->saving.number, part, s->saving.generation);
  struct archive a;
  vec_clear(&s->stage->first);
  bool ok = archive_open(&a, path.at, false, why);
  if (ok) {
    ok = load_progress(s, &a.loader, w) == CHECKPOINT_RUNNING && !a.loader.bad;
    if (ok && states)
      load_states(s, &a.loader, w, part);
    ok = ok && !a.loader.bad;
    if (!ok)
      text_addf(why, "'%s' is of another search; this one begins again", path.at);
    archive_close(&a);
  }
  text_release(&path);
  return ok;
}

static enum checkpoint_found load_search(struct search *s, struct loader *from, struct worker *w) {
  enum checkpoint_found what = load_progress(s, from, w);
  if (from->bad)
    return CHECKPOINT_NONE;
  if (what == CHECKPOINT_RUNNING) {
    load_states(s, from, w, s->ranks ? s->ranks->rank : 0);
    note_resumed(s, w);
  } else {
    s->error = w->error;
    s->end = (enum search_end)load_below(from, SEARCH_STATES);
    if (load_number(from))
      load_store(s, from);
    if (s->ranks)
      rank_paths_load(s, from, key_is_valid);
    from->bad = from->bad || (!s->ranks && checkpoint_needs_store(s) && !findings_are_sound(s, &s->error)) ||
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
    struct checkpoint_origin origin;
    bool same = archive_open(&a, path.at, false, &why) && checkpoint_is_of(&a.loader, s->checkpoints, &origin) &&
                load_number(&a.loader) == checkpoint_instance_fingerprint(s);
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
  struct checkpoint_origin origin = {0};
  struct archive a;
  if (s->ranks && archive_open(&a, path.at, false, &why)) {
    if (!checkpoint_is_of(&a.loader, s->checkpoints, &origin))
      origin = (struct checkpoint_origin){0};
    archive_close(&a);
  }
  text_release(&why);
  s->saving.generation = origin.generation;
  s->saving.written_by = origin.generation > 0 ? origin.ranks : 0;
  if (s->saving.generation == 0)
    return path;
  text_release(&path);
  return checkpoint_part(s->checkpoints, s->saving.number, s->ranks->rank, s->saving.generation);
}

static enum checkpoint_found read_own(struct search *s, struct worker *w, const char *path, struct text *why) {
  struct archive a;
  if (!archive_open(&a, path, false, why)) {
    text_release(why); /* there is none */
    return CHECKPOINT_NONE;
  }
  enum checkpoint_found found = load_search(s, &a.loader, w);
  archive_close(&a);
  if (found == CHECKPOINT_NONE)
    text_addf(why, "'%s' is of another search; this one begins again", path);
  return found;
}

static enum checkpoint_found read_file(struct search *s, struct worker *w) {
  struct text path = file_of(s), why = {0};
  enum checkpoint_found found = CHECKPOINT_NONE;
  if (s->saving.generation == 0 || s->saving.written_by == s->ranks->n) {
    found = read_own(s, w, path.at, &why);
  } else if (rank_parts_join(s, w, &why)) {
    note_resumed(s, w);
    found = CHECKPOINT_RUNNING;
  }
  if (found == CHECKPOINT_NONE && why.n > 0) {
    search_reset(s, w); /* the transition system may keep unused names; they do no harm */
    s->checkpoints->say(s->checkpoints->say_context, why.at);
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
  checkpoint_schedule(s, 0);
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
  checkpoint_schedule(s, 0);
  return found;
}
