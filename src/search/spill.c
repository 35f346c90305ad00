#include "search/spill.h"

#include "base/text.h"
#include "search/visited_records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Looked up together, so that memory accesses overlap. */
#define GROUP 64

/* Marks of candidates, in the two unused bits of a record's parent. They are only needed until the new candidates are
   appended. */
#define CANDIDATE_KNOWN (UINT64_C(1) << POSITION_BITS)
#define CANDIDATE_NEXT (UINT64_C(2) << POSITION_BITS) /* it is in the layer being built */

/* The states that were in memory at the first spill, by the layer they belong to. */
enum layer_age { AGE_BEFORE, AGE_LAYER, AGE_NEXT, AGES };

struct spill {
  struct disk_log *disk_log;
  uint64_t states;
  state_ref next;           /* where the layer being built begins */
  uint64_t before;          /* number of states when it began */
  VEC(uint8_t *) path_keys; /* keys of states on paths */
  VEC(state_ref) claims;    /* spill_claim */
  /* Maps references into memory to offsets on disk: */
  state_ref from[MAX_PARTITIONS][AGES + 1]; /* by partition: where each age begins */
  int64_t (*base)[AGES];                    /* by chunk: what to add to offsets in the chunk */
  uint32_t *partition;                      /* by chunk */
};

void spill_free(struct spill *p) {
  if (!p)
    return;
  disk_log_free(p->disk_log);
  for (size_t i = 0; i < p->path_keys.n; i++)
    memory_free(p->path_keys.at[i]);
  vec_release(&p->path_keys);
  vec_release(&p->claims);
  memory_free(p->base);
  memory_free(p->partition);
  memory_free(p);
}

/* States on the disk log stay there, and so do states in memory. */
static void stop_spilling(struct search *s, struct worker *w, int error) {
  struct text why = {0};
  text_addf(&why, "states could not be kept in '%s': %s", s->disk.folder, strerror(error));
  memory_free(s->disk.error_text);
  s->why = s->disk.error_text = why.at;
  worker_stop(w, SEARCH_GAVE_UP);
}

/* Replaces the visited set by an empty one. */
static void visited_clear(struct search *s) {
  uint32_t partitions = visited_partitions(s->visited_set);
  visited_free(s->visited_set);
  memory_trim();
  s->visited_set = visited_new();
  if (partitions > 1)
    visited_share(s->visited_set, partitions);
}

/* --- the first spill: all states in memory --- */

static void find_ages(const struct search *s, struct spill *p) {
  const struct search_stage *at = s->stage;
  for (uint32_t i = 0; i < visited_partitions(s->visited_set); i++) {
    state_ref *from = p->from[i], end = visited_end_of(s->visited_set, i);
    from[AGE_BEFORE] = visited_first_of(s->visited_set, i);
    from[AGE_LAYER] = i < at->layer.partitions ? at->layer.from[i] : end;
    from[AGE_NEXT] = at->kind == STAGE_EXPAND && i < at->next.partitions ? at->next.from[i] : end;
    from[AGES] = end;
    if (at->kind == STAGE_INITIAL)
      from[AGE_LAYER] = from[AGE_NEXT] = from[AGE_BEFORE];
    if (from[AGE_LAYER] > from[AGE_NEXT]) /* the layer has no states in this partition */
      from[AGE_LAYER] = from[AGE_NEXT];
  }
}

/* The part of a chunk that lies between two references. */
static bool part_of(const struct visited_set *s, uint32_t chunk, state_ref from, state_ref to, uint32_t *low,
                    uint32_t *high) {
  state_ref begin = (state_ref)chunk << CHUNK_BITS, end = begin + s->chunks[chunk].used;
  begin = begin < from ? from : begin;
  end = end > to ? to : end;
  *low = (uint32_t)(begin - ((state_ref)chunk << CHUNK_BITS));
  *high = (uint32_t)(end - ((state_ref)chunk << CHUNK_BITS));
  return begin < end;
}

static void find_bases(const struct visited_set *s, struct spill *p) {
  uint32_t low, high;
  int64_t at = 0;
  p->base = memory_alloc(s->nchunks * sizeof *p->base);
  p->partition = memory_alloc(s->nchunks * sizeof *p->partition);
  for (int age = 0; age < AGES; age++)
    for (uint32_t partition = 0; partition < s->partitions; partition++)
      for (uint32_t c = (uint32_t)(visited_first_of(s, partition) >> CHUNK_BITS);; c = s->chunks[c].next) {
        p->partition[c] = partition;
        if (part_of(s, c, p->from[partition][age], p->from[partition][age + 1], &low, &high)) {
          p->base[c][age] = at - low;
          at += high - low;
        }
        if (!s->chunks[c].next)
          break;
      }
}

state_ref spill_relocate(const struct spill *p, state_ref ref) {
  if (ref == STATE_REF_NONE)
    return ref;
  uint32_t chunk = (uint32_t)(ref >> CHUNK_BITS);
  const state_ref *from = p->from[p->partition[chunk]];
  enum layer_age age = ref >= from[AGE_NEXT] ? AGE_NEXT : ref >= from[AGE_LAYER] ? AGE_LAYER : AGE_BEFORE;
  return (state_ref)((int64_t)(ref & (CHUNK_SIZE - 1)) + p->base[chunk][age]);
}

static uint8_t *record_of(const struct visited_reader *r) { return record_at(r->visited_set, r->ref); }
static size_t size_of(const struct visited_reader *r) {
  return (size_t)(r->stored.bytes + r->stored.length - record_of(r));
}

/* Returns the number of states. With a frontier, *left is where those begin that were not taken from it: it takes the
   partitions in order. */
static uint64_t append_age(const struct search *s, struct spill *p, enum layer_age age, const struct frontier *f,
                           state_ref *left) {
  uint64_t n = 0;
  bool found = false;
  for (uint32_t partition = 0; partition < visited_partitions(s->visited_set); partition++) {
    struct visited_reader r = visited_reader(s->visited_set, p->from[partition][age], p->from[partition][age + 1]);
    while (visited_read(&r)) {
      n++;
      if (f && !found && partition < f->layer->partitions && r.ref >= f->reader[partition].next) {
        *left = disk_log_end(p->disk_log);
        found = true;
      }
      if (!disk_log_append(p->disk_log, record_of(&r), size_of(&r), spill_relocate(p, r.stored.parent)))
        return n;
    }
  }
  if (!found)
    *left = disk_log_end(p->disk_log);
  return n;
}

static void relocate_finding(const struct spill *p, struct finding *f) {
  if (!f->found)
    return;
  f->state = spill_relocate(p, f->state);
  f->target = spill_relocate(p, f->target);
}

static void relocate_findings(const struct search *s, const struct spill *p, struct worker *w) {
  for (uint32_t i = 0; i < s->space->query->nproperties; i++)
    relocate_finding(p, &w->findings[i]);
  relocate_finding(p, &w->error);
}

static void begin(struct search *s, struct worker *const *all, uint32_t n) {
  struct search_stage *at = s->stage;
  struct frontier *f = all[0]->taken.frontier;
  int error;
  state_ref left = 0, layer, none = 0;
  struct disk_log *disk_log = disk_log_new(s->disk.folder, &error);
  if (!disk_log) {
    stop_spilling(s, all[0], error);
    return;
  }
  struct spill *p = memory_alloc(sizeof *p);
  p->disk_log = disk_log;
  find_ages(s, p);
  find_bases(s->visited_set, p);
  p->states = append_age(s, p, AGE_BEFORE, NULL, &none);
  layer = disk_log_end(disk_log);
  p->states += append_age(s, p, AGE_LAYER, f, &left);
  p->next = disk_log_end(disk_log);
  p->before = p->states;
  p->states += append_age(s, p, AGE_NEXT, NULL, &none);
  if (!disk_log_flush(disk_log)) {
    stop_spilling(s, all[0], disk_log_error(disk_log));
    spill_free(p);
    return;
  }
  for (uint32_t i = 0; i < n; i++) {
    worker_relocate(all[i], p);
    relocate_findings(s, p, all[i]);
  }
  at->layer = (struct layer){.partitions = 1, .from = {layer}, .to = {p->next}};
  for (size_t i = 0; i < at->first.n; i++)
    at->first.at[i] = spill_relocate(p, at->first.at[i]);
  if (f) {
    f->on_disk = true;
    f->disk_log = disk_log_reader(disk_log, left, p->next);
  }
  visited_clear(s);
  s->disk.spill = p;
  s->backend = &visited_on_disk;
}

/* --- candidates --- */

/* The findings of all workers that refer to candidates. */
typedef VEC(struct finding *) findings_vec;

static void find_candidate_findings(const struct search *s, struct worker *const *all, uint32_t n,
                                    findings_vec *named) {
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k <= s->space->query->nproperties; k++) {
      struct finding *f = k < s->space->query->nproperties ? &all[i]->findings[k] : &all[i]->error;
      if (f->found && (f->state | f->target) & CANDIDATE_TAG)
        vec_push(named, f);
    }
}

static void relocate_named(const findings_vec *named, state_ref candidate, state_ref place) {
  candidate |= CANDIDATE_TAG;
  for (size_t i = 0; i < named->n; i++) {
    struct finding *f = named->at[i];
    f->state = f->state == candidate ? place : f->state;
    f->target = f->target == candidate ? place : f->target;
  }
}

/* A candidate is on the disk log, at the reader's position. */
static void mark_known(struct search *s, struct disk_log_reader *r, uint8_t *record, const struct stored *on,
                       state_ref place, state_ref candidate) {
  uint8_t *own = record_at(s->visited_set, candidate);
  struct stored found = visited_get(s->visited_set, candidate);
  state_ref marks = CANDIDATE_KNOWN | (place >= s->disk.spill->next ? CANDIDATE_NEXT : 0),
            marked = found.parent | marks;
  /* Only states of the layer being built get a cheaper parent. A record without a cost field has cost 0 already. */
  if (place >= s->disk.spill->next && found.fault_cost < on->fault_cost) {
    memcpy(record, &found.parent, PARENT_BYTES);
    memcpy((uint8_t *)on->bytes - COST_BYTES, &found.fault_cost, COST_BYTES);
    r->changed = true;
  }
  memcpy(own, &marked, PARENT_BYTES);
}

struct looked_up {
  uint8_t *record;
  struct stored stored;
  state_ref ref;
  uint64_t hash;
};

static uint64_t hash_of(const struct stored *at) {
  if (at->length > KEY_SHORT_BYTES)
    return key_hash(at->bytes, at->length);
  struct short_key key;
  key_words(at->bytes, at->length, &key);
  return key_hash_short(&key, at->length);
}

/* Reads as many records as are in the buffer, at most GROUP. */
static uint32_t read_group(const struct visited_set *visited_set, struct disk_log_reader *r, struct looked_up *group) {
  uint32_t n = 0;
  for (; n < GROUP && disk_log_read(r); n++) {
    group[n] = (struct looked_up){r->record, r->stored, r->ref, hash_of(&r->stored)};
    visited_prefetch_bucket(visited_set, group[n].hash);
  }
  for (uint32_t i = 0; i < n; i++)
    visited_prefetch_record(visited_set, group[i].hash, 0);
  return n;
}

/* Marks the candidates that are on the disk log. False: it did not reach the end, and the worker was stopped. */
static bool find_known(struct search *s, struct worker *w, const findings_vec *named) {
  struct spill *p = s->disk.spill;
  struct looked_up group[GROUP];
  const volatile sig_atomic_t *interrupt = s->limits.interrupt;
  if (visited_count(s->visited_set) == 0 && !disk_log_error(p->disk_log))
    return true;
  struct disk_log_reader r = disk_log_reader(p->disk_log, 0, disk_log_end(p->disk_log));
  while (!(interrupt && *interrupt) && disk_log_fill(&r))
    for (uint32_t n = GROUP; n == GROUP;) {
      n = read_group(s->visited_set, &r, group);
      for (uint32_t i = 0; i < n; i++) {
        const struct looked_up *l = &group[i];
        state_ref ref = visited_find(s->visited_set, l->stored.bytes, l->stored.length, l->hash);
        if (ref == STATE_REF_NONE)
          continue;
        mark_known(s, &r, l->record, &l->stored, l->ref, ref);
        relocate_named(named, ref, l->ref);
      }
    }
  bool whole = r.next == r.end;
  disk_log_reader_release(&r);
  if (disk_log_error(p->disk_log))
    stop_spilling(s, w, disk_log_error(p->disk_log));
  else if (!whole)
    worker_stop(w, search_interrupted(*interrupt));
  return whole && !disk_log_error(p->disk_log);
}

static bool is_known(const struct stored *candidate) { return candidate->parent & CANDIDATE_KNOWN; }

/* Appends the candidates that are not on the disk log. */
static bool append_new(struct search *s, struct worker *w, const findings_vec *named) {
  struct spill *p = s->disk.spill;
  struct system *space = s->space;
  for (uint32_t partition = 0; partition < visited_partitions(s->visited_set); partition++) {
    struct visited_reader r = visited_reader(s->visited_set, visited_first_of(s->visited_set, partition),
                                             visited_end_of(s->visited_set, partition));
    while (visited_read(&r)) {
      if (is_known(&r.stored))
        continue;
      relocate_named(named, r.ref, disk_log_end(p->disk_log));
      if (!disk_log_append(p->disk_log, record_of(&r), size_of(&r), r.stored.parent))
        break;
      p->states++;
      if (space->ops->statistics.stored)
        space->ops->statistics.stored(space, &(struct state){r.stored.bytes, r.stored.length});
    }
  }
  if (!disk_log_flush(p->disk_log)) {
    stop_spilling(s, w, disk_log_error(p->disk_log));
    return false;
  }
  return true;
}

/* Appends new candidates to the disk log and drops the others. False: it failed. */
static bool empty(struct search *s, struct worker *const *all, uint32_t n) {
  findings_vec named = {0};
  find_candidate_findings(s, all, n, &named);
  bool done = find_known(s, all[0], &named);
  for (uint32_t i = 0; i < n && done; i++)
    worker_resolve_candidates(all[i]);
  done = done && append_new(s, all[0], &named);
  vec_release(&named);
  if (!done)
    return false;
  visited_clear(s);
  if (s->limits.states < VISITED_MAX_STATES && s->disk.spill->states >= s->limits.states)
    worker_stop(all[0], SEARCH_STATES);
  return true;
}

bool spill_candidate_is_next(const struct search *s, state_ref candidate) {
  state_ref parent = visited_get(s->visited_set, candidate).parent;
  return !(parent & CANDIDATE_KNOWN) || parent & CANDIDATE_NEXT;
}

/* Can the workers be saved as they are? */
static bool is_time_to_save(const struct search *s, struct worker *const *all, uint32_t n) {
  bool ok = s->checkpoints && s->saving.wanted && s->stage->kind != STAGE_INITIAL && s->stage->kind != STAGE_BEYOND;
  for (uint32_t i = 0; i < n; i++)
    ok &= !all[i]->amid_state && all[i]->deferral.states.n == 0;
  return ok;
}

static void save(struct search *s, struct worker *const *all, uint32_t n) {
  s->saving.wanted = false;
  checkpoint_write(s, all, n);
  if (s->saving.ending != SEARCH_EXHAUSTED)
    worker_stop(all[0], (enum search_end)s->saving.ending);
}

static void begin_or_save(struct search *s, struct worker *const *all, uint32_t n) {
  bool only_save = s->saving.wanted && !s->disk.full;
  if (is_time_to_save(s, all, n))
    save(s, all, n);
  if (!only_save && !search_limited(all[0]->end))
    begin(s, all, n);
  s->disk.full = false;
}

static void empty_candidates(struct search *s, struct worker *const *all, uint32_t n) {
  s->disk.full = false;
  if (empty(s, all, n) && !search_limited(all[0]->end) && is_time_to_save(s, all, n))
    save(s, all, n);
}

static bool close_layer(struct worker *w, bool made) {
  struct search *s = w->search;
  struct spill *p = s->disk.spill;
  struct search_stage *at = s->stage;
  if (made && !s->space->restart)
    made = empty(s, &w, 1);
  search_stop(s, w->end);
  at->layer = (struct layer){.partitions = 1, .from = {p->next}, .to = {disk_log_end(p->disk_log)}};
  at->states = p->states - p->before;
  p->next = disk_log_end(p->disk_log);
  p->before = p->states;
  s->pause = false;
  return made && !search_limited(s->end);
}

static bool has_new(struct worker *w) {
  struct search *s = w->search;
  findings_vec none = {0};
  if (!find_known(s, w, &none))
    return false;
  bool any = false;
  struct visited_reader r = visited_reader(s->visited_set, visited_first_of(s->visited_set, w->partition),
                                           visited_end_of(s->visited_set, w->partition));
  while (!any && visited_read(&r))
    any = !is_known(&r.stored);
  visited_clear(s);
  s->pause = false;
  return any;
}

/* --- reading --- */

/* A record can be longer than the buffer. */
static bool read_record(struct disk_log_reader *r) {
  while (!disk_log_read(r))
    if (!disk_log_fill(r))
      return false;
  return true;
}

static struct stored get(const struct search *s, state_ref ref, disk_log_bytes *into) {
  return disk_log_get(s->disk.spill->disk_log, ref, into);
}

static state_ref find(const struct search *s, const struct state *state) {
  struct disk_log_reader r = disk_log_reader(s->disk.spill->disk_log, 0, disk_log_end(s->disk.spill->disk_log));
  state_ref found = STATE_REF_NONE;
  while (found == STATE_REF_NONE && read_record(&r))
    if (r.stored.length == state->length && !memcmp(r.stored.bytes, state->bytes, state->length))
      found = r.ref;
  disk_log_reader_release(&r);
  return found;
}

/* A copy that lives as long as the spill. */
static struct state keep(struct spill *p, const struct stored *at) {
  uint8_t *bytes = memory_alloc(at->length + (size_t)KEY_SHORT_BYTES);
  if (at->length > 0)
    memcpy(bytes, at->bytes, at->length);
  vec_push(&p->path_keys, bytes);
  return (struct state){bytes, at->length};
}

/* If the search stopped before a candidate was written to disk, it is still in memory. */
static struct stored read_at(const struct search *s, state_ref ref, disk_log_bytes *into) {
  if (!(ref & CANDIDATE_TAG))
    return disk_log_get(s->disk.spill->disk_log, ref, into);
  struct stored candidate = visited_get(s->visited_set, ref & ~CANDIDATE_TAG);
  candidate.parent &= POSITION_MASK;
  return candidate;
}

/* --- checkpoints --- */

void spill_save(struct spill *p, struct saver *to) {
  save_number(to, p->states);
  save_number(to, p->next);
  save_number(to, p->before);
  save_number(to, disk_log_end(p->disk_log));
  disk_log_save(p->disk_log, to);
}

/* Every record ends before the end, and has a valid key. */
static bool records_are_sound(struct search *s, struct disk_log *log, uint64_t *n, visited_key_fn *valid) {
  struct disk_log_reader r = disk_log_reader(log, 0, disk_log_end(log));
  bool ok = true;
  for (*n = 0; ok && read_record(&r); ++*n)
    ok = valid(s, &(struct state){r.stored.bytes, r.stored.length});
  ok &= r.next == r.end && !disk_log_error(log);
  disk_log_reader_release(&r);
  return ok;
}

bool spill_load(struct search *s, struct loader *from, visited_key_fn *valid) {
  uint64_t states = load_number(from), next = load_number(from), before = load_number(from), n;
  size_t length;
  int error;
  const uint8_t *bytes = load_block(from, &length);
  struct disk_log *log = bytes && s->disk.folder ? disk_log_new(s->disk.folder, &error) : NULL;
  if (!log)
    return false;
  struct spill *p = memory_alloc(sizeof *p);
  *p = (struct spill){.disk_log = log, .states = states, .next = next, .before = before};
  if (!disk_log_append_bytes(log, bytes, length) || !records_are_sound(s, log, &n, valid) || n != states ||
      before > states || visited_count(s->visited_set) != 0) {
    spill_free(p);
    return false;
  }
  s->disk.spill = p;
  s->backend = &visited_on_disk;
  visited_free(s->visited_set);
  s->visited_set = visited_new();
  return spill_claim(p, next, true);
}

bool spill_claim(struct spill *p, state_ref ref, bool may_be_end) {
  if (ref != disk_log_end(p->disk_log) || !may_be_end)
    vec_push(&p->claims, ref);
  return true;
}

static int compare_refs(const void *a, const void *b) {
  state_ref x = *(const state_ref *)a, y = *(const state_ref *)b;
  return x < y ? -1 : x > y;
}

bool spill_claims_hold(struct spill *p) {
  struct disk_log_reader r = disk_log_reader(p->disk_log, 0, disk_log_end(p->disk_log));
  size_t i = 0;
  if (p->claims.n > 0)
    qsort(p->claims.at, p->claims.n, sizeof *p->claims.at, compare_refs);
  while (i < p->claims.n && read_record(&r) && p->claims.at[i] >= r.ref)
    while (i < p->claims.n && p->claims.at[i] == r.ref)
      i++;
  disk_log_reader_release(&r);
  bool hold = i == p->claims.n;
  vec_clear(&p->claims);
  return hold;
}

static struct state *path(const struct search *s, const struct finding *f, uint32_t *n, struct path_goal *goal) {
  struct spill *p = s->disk.spill;
  VEC(struct state) back = {0};
  *goal = finding_goal(f);
  disk_log_bytes bytes = {0};
  if (f->target != STATE_REF_NONE) {
    struct stored last = read_at(s, f->target, &bytes);
    vec_push(&back, keep(p, &last));
  }
  bool sound = true, resumed = s->checkpoints && s->checkpoints->resumed;
  for (state_ref r = f->state; r != STATE_REF_NONE && sound;) {
    struct stored on = read_at(s, r, &bytes);
    sound = !resumed ||
            (s->space->ops->checkpoint.valid(s->space, &(struct state){on.bytes, on.length}) && back.n <= p->states);
    vec_push(&back, keep(p, &on));
    r = on.parent;
  }
  vec_reverse(&back, 0);
  vec_release(&bytes);
  if (!sound) { /* only if the checkpoint was forged */
    vec_release(&back);
    return NULL;
  }
  *n = (uint32_t)back.n;
  return back.at;
}

static void open_frontier(struct frontier *f, const struct search *s, const struct layer *layer) {
  const struct search_stage *at = s->stage;
  struct disk_log *log = s->disk.spill->disk_log;
  *f = (struct frontier){.layer = layer,
                         .on_disk = true,
                         .disk_log = disk_log_reader(log, at->begun ? at->at[0] : layer->from[0], layer->to[0])};
  if (!at->begun)
    return;
  f->first = at->first.at;
  f->nfirst = at->first.n;
  f->taken = at->done;
}

static void take_bytes(disk_log_bytes *into, const struct stored *at) {
  vec_reserve(into, into->n + at->length + KEY_SHORT_BYTES);
  if (at->length > 0)
    memcpy(into->at + into->n, at->bytes, at->length);
  into->n += at->length;
}

uint32_t spill_take(struct frontier *f, struct frontier_state *to, uint32_t most, disk_log_bytes *into) {
  struct disk_log_reader *r = &f->disk_log;
  disk_log_bytes one = {0};
  uint32_t n = 0;
  vec_clear(into);
  for (; n < most && f->nfirst > 0; f->nfirst--, f->first++) {
    to[n] = (struct frontier_state){*f->first, disk_log_get(r->disk_log, *f->first, &one)};
    take_bytes(into, &to[n++].stored);
  }
  vec_release(&one);
  while (n < most && read_record(r)) {
    take_bytes(into, &r->stored);
    to[n++] = (struct frontier_state){r->ref, r->stored};
  }
  const uint8_t *bytes = into->at;
  for (uint32_t i = 0; i < n; bytes += to[i++].stored.length)
    to[i].stored.bytes = bytes;
  return n;
}

/* --- backends --- */

/* Parents of candidates are on disk, so differences between them would not be small. */
static struct visited_set *new_plain(const struct search *s) {
  (void)s;
  return visited_new();
}

static bool probe(struct worker *w, const struct state *state, const struct edge *edge) {
  state_ref ref;
  (void)edge;
  visited_insert_in(w->search->visited_set, w->partition, state->bytes, state->length,
                    key_hash(state->bytes, state->length), 0, STATE_REF_NONE, 0, &ref);
  return true;
}

static void count(struct worker *w) {
  struct search *s = w->search;
  memory_count(w);
  s->stats.states = s->disk.spill->states;
  s->stats.disk = disk_log_end(s->disk.spill->disk_log);
}

/* Memory is full. The proviso can be evaluated only when all candidates are resolved. */
static bool suspend(struct worker *w) {
  struct search *s = w->search;
  bool uses_proviso = w->space->uses_proviso, in_memory = !s->disk.spill;
  if (uses_proviso && !(worker_flush(w) && (!in_memory || worker_expand_waiting(w))))
    return false;
  if (s->saving.wanted && (w->shared || w->suspend_at == SUSPEND_ANYWHERE) && !worker_flush(w))
    return false; /* see suspend in visited_backend.c */
  if (!worker_suspend_all(w) || (uses_proviso && !worker_expand_waiting(w)))
    return false;
  if (!uses_proviso || in_memory || !s->saving.wanted)
    return true;
  s->pause = true; /* again, now that no steps are deferred */
  return worker_suspend_all(w);
}

/* A search that was not limited has merged them with the file. */
static void forget_candidates(struct search *s) {
  if (search_limited(s->end))
    return;
  visited_free(s->visited_set);
  s->visited_set = visited_new();
}

const struct visited_backend visited_spillable = {.new_set = new_plain,
                                                  .relocates = true,
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
                                                  .suspend_all = begin_or_save};

const struct visited_backend visited_on_disk = {.new_set = new_plain,
                                                .proviso = PROVISO_WHEN_EMPTIED,
                                                .candidates = true,
                                                .relocates = true,
                                                .close_layer = close_layer,
                                                .layer_states = memory_layer_states,
                                                .done = forget_candidates,
                                                .open_frontier = open_frontier,
                                                .get = get,
                                                .find = find,
                                                .has_path = memory_has_path,
                                                .path = path,
                                                .probe = probe,
                                                .has_new = has_new,
                                                .count = count,
                                                .suspend = suspend,
                                                .suspend_all = empty_candidates};
