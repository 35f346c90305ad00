#include "search/spill.h"

#include "base/text.h"
#include "search/records.h"

#include <errno.h>
#include <string.h>

/* Looked up together, so that the waits for memory overlap. */
#define GROUP 64

/* States that nobody asks for once they are in their place. Two bits of a record's parent are free. */
#define CANDIDATE_KNOWN (UINT64_C(1) << POSITION_BITS)
#define CANDIDATE_NEXT (UINT64_C(2) << POSITION_BITS) /* it is in the layer that is being made */

/* What the store held, by when it was found, when it was emptied for the first time. */
enum age { AGE_BEFORE, AGE_LAYER, AGE_NEXT, AGES };

struct spill {
  struct shelf *shelf;
  uint64_t states;
  state_ref next;   /* where the layer that is being made begins */
  uint64_t before;  /* states when it did */
  VEC(uint8_t *) told; /* states of paths */
  /* Where things were put when there was a place for them in memory: */
  state_ref from[STORE_LANES][AGES + 1]; /* by lane: where each age begins */
  int64_t (*base)[AGES];                 /* by chunk: what to add to offsets in it */
  uint32_t *lane;                        /* by chunk */
};

void spill_free(struct spill *p) {
  if (!p)
    return;
  shelf_free(p->shelf);
  for (size_t i = 0; i < p->told.n; i++)
    memory_free(p->told.at[i]);
  vec_release(&p->told);
  memory_free(p->base);
  memory_free(p->lane);
  memory_free(p);
}

uint64_t spill_states(const struct spill *p) { return p->states; }
uint64_t spill_bytes(const struct spill *p) { return shelf_end(p->shelf); }

/* What is on the shelf stays there, and what is in memory as well. */
static void give_up(struct search *s, struct sweep *w, int error) {
  struct text why = {0};
  text_addf(&why, "states could not be kept in '%s': %s", s->spill_folder, strerror(error));
  memory_free(s->spill_trouble);
  s->why = s->spill_trouble = why.at;
  sweep_stop(w, SEARCH_GAVE_UP);
}

/* The store is empty from now on. */
static void store_clear(struct search *s) {
  uint32_t lanes = store_lanes(s->store);
  store_free(s->store);
  memory_trim();
  s->store = store_new();
  if (lanes > 1)
    store_share(s->store, lanes);
}

/* --- for the first time: everything that is in memory --- */

static void find_ages(const struct search *s, struct spill *p) {
  const struct stage *at = s->stage;
  for (uint32_t i = 0; i < store_lanes(s->store); i++) {
    state_ref *from = p->from[i], end = store_end_of(s->store, i);
    from[AGE_BEFORE] = store_first_of(s->store, i);
    from[AGE_LAYER] = i < at->layer.lanes ? at->layer.from[i] : end;
    from[AGE_NEXT] = at->kind == STAGE_EXPAND && i < at->next.lanes ? at->next.from[i] : end;
    from[AGES] = end;
    if (at->kind == STAGE_INITIAL)
      from[AGE_LAYER] = from[AGE_NEXT] = from[AGE_BEFORE];
    if (from[AGE_LAYER] > from[AGE_NEXT]) /* a lane that the layer does not have */
      from[AGE_LAYER] = from[AGE_NEXT];
  }
}

/* The part of a chunk that lies between two references. */
static bool part_of(const struct store *s, uint32_t chunk, state_ref from, state_ref to, uint32_t *low, uint32_t *high) {
  state_ref begin = (state_ref)chunk << CHUNK_BITS, end = begin + s->chunks[chunk].used;
  begin = begin < from ? from : begin;
  end = end > to ? to : end;
  *low = (uint32_t)(begin - ((state_ref)chunk << CHUNK_BITS));
  *high = (uint32_t)(end - ((state_ref)chunk << CHUNK_BITS));
  return begin < end;
}

static void find_bases(const struct store *s, struct spill *p) {
  uint32_t low, high;
  int64_t at = (int64_t)shelf_first();
  p->base = memory_alloc(s->nchunks * sizeof *p->base);
  p->lane = memory_alloc(s->nchunks * sizeof *p->lane);
  for (int age = 0; age < AGES; age++)
    for (uint32_t lane = 0; lane < s->lanes; lane++)
      for (uint32_t c = (uint32_t)(store_first_of(s, lane) >> CHUNK_BITS);; c = s->chunks[c].next) {
        p->lane[c] = lane;
        if (part_of(s, c, p->from[lane][age], p->from[lane][age + 1], &low, &high)) {
          p->base[c][age] = at - low;
          at += high - low;
        }
        if (!s->chunks[c].next)
          break;
      }
}

state_ref spill_place(const struct spill *p, state_ref ref) {
  if (ref == STORE_NONE)
    return ref;
  uint32_t chunk = (uint32_t)(ref >> CHUNK_BITS);
  const state_ref *from = p->from[p->lane[chunk]];
  enum age age = ref >= from[AGE_NEXT] ? AGE_NEXT : ref >= from[AGE_LAYER] ? AGE_LAYER : AGE_BEFORE;
  return (state_ref)((int64_t)(ref & (CHUNK_SIZE - 1)) + p->base[chunk][age]);
}

static uint8_t *record_of(const struct store_reader *r) { return record_at(r->store, r->ref); }
static size_t size_of(const struct store_reader *r) {
  return (size_t)(r->stored.bytes + r->stored.length - record_of(r));
}

/* How many; `taken` of them were taken from the layer: *left is where the others begin. */
static uint64_t put_age(const struct search *s, struct spill *p, enum age age, uint64_t taken, state_ref *left) {
  uint64_t n = 0;
  for (uint32_t lane = 0; lane < store_lanes(s->store); lane++) {
    struct store_reader r = store_reader(s->store, p->from[lane][age], p->from[lane][age + 1]);
    while (store_read(&r)) {
      if (n++ == taken)
        *left = shelf_end(p->shelf);
      if (!shelf_add(p->shelf, record_of(&r), size_of(&r), spill_place(p, r.stored.parent)))
        return n;
    }
  }
  if (n <= taken)
    *left = shelf_end(p->shelf);
  return n;
}

static void place_finding(const struct spill *p, struct finding *f) {
  if (!f->found)
    return;
  f->state = spill_place(p, f->state);
  f->target = spill_place(p, f->target);
}

static void place_findings(const struct search *s, const struct spill *p, struct sweep *w) {
  for (uint32_t i = 0; i < s->space->question->nproperties; i++)
    place_finding(p, &w->findings[i]);
  place_finding(p, &w->error);
}

static void begin(struct search *s, struct sweep *const *all, uint32_t n) {
  struct stage *at = s->stage;
  struct frontier *f = all[0]->frontier;
  int error;
  state_ref left = 0, layer, none;
  struct shelf *shelf = shelf_new(s->spill_folder, &error);
  if (!shelf) {
    give_up(s, all[0], error);
    return;
  }
  struct spill *p = memory_alloc(sizeof *p);
  p->shelf = shelf;
  find_ages(s, p);
  find_bases(s->store, p);
  p->states = put_age(s, p, AGE_BEFORE, UINT64_MAX, &none);
  layer = shelf_end(shelf);
  p->states += put_age(s, p, AGE_LAYER, f ? (uint64_t)f->taken : 0, &left);
  p->next = shelf_end(shelf);
  p->before = p->states;
  p->states += put_age(s, p, AGE_NEXT, UINT64_MAX, &none);
  if (!shelf_settle(shelf)) {
    give_up(s, all[0], shelf_error(shelf));
    spill_free(p);
    return;
  }
  for (uint32_t i = 0; i < n; i++) {
    sweep_move(all[i], p);
    place_findings(s, p, all[i]);
  }
  at->layer = (struct layer){.lanes = 1, .from = {layer}, .to = {p->next}};
  if (f) {
    f->on_shelf = true;
    f->shelf = shelf_reader(shelf, left, p->next);
  }
  store_clear(s);
  s->spill = p;
}

/* --- candidates --- */

/* The findings that name one, in all sweeps. */
typedef VEC(struct finding *) findings_vec;

static void find_named(const struct search *s, struct sweep *const *all, uint32_t n, findings_vec *named) {
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k <= s->space->question->nproperties; k++) {
      struct finding *f = k < s->space->question->nproperties ? &all[i]->findings[k] : &all[i]->error;
      if (f->found && (f->state | f->target) & SPILL_CANDIDATE)
        vec_push(named, f);
    }
}

static void name_place(const findings_vec *named, state_ref candidate, state_ref place) {
  candidate |= SPILL_CANDIDATE;
  for (size_t i = 0; i < named->n; i++) {
    struct finding *f = named->at[i];
    f->state = f->state == candidate ? place : f->state;
    f->target = f->target == candidate ? place : f->target;
  }
}

/* A candidate is on the shelf, where the reader is. */
static void known(struct search *s, struct shelf_reader *r, uint8_t *record, const struct stored *on, state_ref place,
                  state_ref candidate) {
  uint8_t *own = record_at(s->store, candidate);
  struct stored found = store_at(s->store, candidate);
  state_ref marks = CANDIDATE_KNOWN | (place >= s->spill->next ? CANDIDATE_NEXT : 0), marked = found.parent | marks;
  if (place >= s->spill->next && found.charge < on->charge) { /* else it costs nothing already */
    memcpy(record, &found.parent, PARENT_BYTES);
    memcpy((uint8_t *)on->bytes - CHARGE_BYTES, &found.charge, CHARGE_BYTES);
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
  if (at->length > STORE_SHORT)
    return store_hash(at->bytes, at->length);
  struct short_key key;
  store_words(at->bytes, at->length, &key);
  return store_hash_short(&key, at->length);
}

/* As many as are in memory, at most GROUP. */
static uint32_t read_group(const struct store *store, struct shelf_reader *r, struct looked_up *group) {
  uint32_t n = 0;
  for (; n < GROUP && shelf_read(r); n++) {
    group[n] = (struct looked_up){r->record, r->stored, r->ref, hash_of(&r->stored)};
    store_prefetch_index(store, group[n].hash);
  }
  for (uint32_t i = 0; i < n; i++)
    store_prefetch_record(store, group[i].hash, 0);
  return n;
}

/* Marks those candidates that are on the shelf. False: it did not come to the end; why is said. */
static bool find_known(struct search *s, struct sweep *w, const findings_vec *named) {
  struct spill *p = s->spill;
  struct looked_up group[GROUP];
  const volatile sig_atomic_t *interrupt = s->limits.interrupt;
  if (store_count(s->store) == 0 && !shelf_error(p->shelf))
    return true;
  struct shelf_reader r = shelf_reader(p->shelf, shelf_first(), shelf_end(p->shelf));
  while (!(interrupt && *interrupt) && shelf_fill(&r))
    for (uint32_t n = GROUP; n == GROUP;) {
      n = read_group(s->store, &r, group);
      for (uint32_t i = 0; i < n; i++) {
        const struct looked_up *l = &group[i];
        state_ref ref = store_find(s->store, l->stored.bytes, l->stored.length, l->hash);
        if (ref == STORE_NONE)
          continue;
        known(s, &r, l->record, &l->stored, l->ref, ref);
        name_place(named, ref, l->ref);
      }
    }
  bool whole = r.next == r.end;
  shelf_reader_release(&r);
  if (shelf_error(p->shelf))
    give_up(s, w, shelf_error(p->shelf));
  else if (!whole)
    sweep_stop(w, search_interrupted(*interrupt));
  return whole && !shelf_error(p->shelf);
}

static bool is_known(const struct stored *candidate) { return candidate->parent & CANDIDATE_KNOWN; }

/* Those that are not there are put at its end. */
static bool put_new(struct search *s, struct sweep *w, const findings_vec *named) {
  struct spill *p = s->spill;
  struct space *space = s->space;
  for (uint32_t lane = 0; lane < store_lanes(s->store); lane++) {
    struct store_reader r = store_reader(s->store, store_first_of(s->store, lane), store_end_of(s->store, lane));
    while (store_read(&r)) {
      if (is_known(&r.stored))
        continue;
      name_place(named, r.ref, shelf_end(p->shelf));
      if (!shelf_add(p->shelf, record_of(&r), size_of(&r), r.stored.parent))
        break;
      p->states++;
      if (space->ops->stored)
        space->ops->stored(space, &(struct state){r.stored.bytes, r.stored.length});
    }
  }
  if (!shelf_settle(p->shelf)) {
    give_up(s, w, shelf_error(p->shelf));
    return false;
  }
  return true;
}

/* Candidates get their places, or fall out. False: that could not be done. */
static bool empty(struct search *s, struct sweep *const *all, uint32_t n) {
  findings_vec named = {0};
  find_named(s, all, n, &named);
  bool done = find_known(s, all[0], &named);
  for (uint32_t i = 0; i < n && done; i++)
    sweep_learn(all[i]);
  done = done && put_new(s, all[0], &named);
  vec_release(&named);
  if (!done)
    return false;
  store_clear(s);
  if (s->limits.states < STORE_MOST && s->spill->states >= s->limits.states)
    sweep_stop(all[0], SEARCH_STATES);
  return true;
}

bool spill_candidate_is_next(const struct search *s, state_ref candidate) {
  state_ref parent = store_at(s->store, candidate).parent;
  return !(parent & CANDIDATE_KNOWN) || parent & CANDIDATE_NEXT;
}

void spill_make_room(struct search *s, struct sweep *const *all, uint32_t n) {
  if (s->spill)
    empty(s, all, n);
  else
    begin(s, all, n);
}

bool spill_close_layer(struct sweep *w, bool made) {
  struct search *s = w->search;
  struct spill *p = s->spill;
  struct stage *at = s->stage;
  if (made && !s->space->restart)
    made = empty(s, &w, 1);
  search_stop(s, w->end);
  at->layer = (struct layer){.lanes = 1, .from = {p->next}, .to = {shelf_end(p->shelf)}};
  at->states = p->states - p->before;
  p->next = shelf_end(p->shelf);
  p->before = p->states;
  s->pause = false;
  return made && !search_limited(s->end);
}

bool spill_has_new(struct sweep *w) {
  struct search *s = w->search;
  findings_vec none = {0};
  if (!find_known(s, w, &none))
    return false;
  bool any = false;
  struct store_reader r = store_reader(s->store, store_first_of(s->store, w->lane), store_end_of(s->store, w->lane));
  while (!any && store_read(&r))
    any = !is_known(&r.stored);
  store_clear(s);
  s->pause = false;
  return any;
}

/* --- reading --- */

/* Records can be longer than what is read at once. */
static bool read_next(struct shelf_reader *r) {
  while (!shelf_read(r))
    if (!shelf_fill(r))
      return false;
  return true;
}

struct stored spill_at(const struct search *s, state_ref ref, shelf_bytes *into) { return shelf_at(s->spill->shelf, ref, into); }

state_ref spill_find(const struct search *s, const uint8_t *bytes, uint32_t length) {
  struct shelf_reader r = shelf_reader(s->spill->shelf, shelf_first(), shelf_end(s->spill->shelf));
  state_ref found = STORE_NONE;
  while (found == STORE_NONE && read_next(&r))
    if (r.stored.length == length && !memcmp(r.stored.bytes, bytes, length))
      found = r.ref;
  shelf_reader_release(&r);
  return found;
}

/* A copy that lives as long as what was spilled. */
static struct state keep(struct spill *p, const struct stored *at) {
  uint8_t *bytes = memory_alloc(at->length + (size_t)STORE_SHORT);
  if (at->length > 0)
    memcpy(bytes, at->bytes, at->length);
  vec_push(&p->told, bytes);
  return (struct state){bytes, at->length};
}

/* If it was not to have a place any more: where it is. */
static struct stored read_at(const struct search *s, state_ref ref, shelf_bytes *into) {
  if (!(ref & SPILL_CANDIDATE))
    return shelf_at(s->spill->shelf, ref, into);
  struct stored candidate = store_at(s->store, ref & ~SPILL_CANDIDATE);
  candidate.parent &= POSITION_MASK;
  return candidate;
}

struct state *spill_path(const struct search *s, const struct finding *f, uint32_t *n) {
  struct spill *p = s->spill;
  VEC(struct state) back = {0};
  shelf_bytes bytes = {0};
  if (f->target != STORE_NONE) {
    struct stored last = read_at(s, f->target, &bytes);
    vec_push(&back, keep(p, &last));
  }
  for (state_ref r = f->state; r != STORE_NONE;) {
    struct stored on = read_at(s, r, &bytes);
    vec_push(&back, keep(p, &on));
    r = on.parent;
  }
  for (size_t i = 0; i < back.n / 2; i++) {
    struct state last = back.at[back.n - 1 - i];
    back.at[back.n - 1 - i] = back.at[i];
    back.at[i] = last;
  }
  vec_release(&bytes);
  *n = (uint32_t)back.n;
  return back.at;
}

struct shelf_reader spill_reader(const struct spill *p, const struct layer *layer) {
  return shelf_reader(p->shelf, layer->from[0], layer->to[0]);
}

uint32_t spill_take(struct shelf_reader *r, struct taken *to, uint32_t most, shelf_bytes *into) {
  uint32_t n = 0;
  vec_clear(into);
  while (n < most && read_next(r)) {
    vec_reserve(into, into->n + r->stored.length + STORE_SHORT);
    memcpy(into->at + into->n, r->stored.bytes, r->stored.length);
    into->n += r->stored.length;
    to[n++] = (struct taken){r->ref, r->stored};
  }
  const uint8_t *bytes = into->at;
  for (uint32_t i = 0; i < n; bytes += to[i++].stored.length)
    to[i].stored.bytes = bytes;
  return n;
}
