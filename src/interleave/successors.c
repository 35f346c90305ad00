/* The steps from a state: each process's moves, applied to the packed state. */
#include "interleave/interleave_space.h"

#include "base/hash.h"

#include <string.h>

/* --- applying one --- */

static bool charge_budget(struct interleave *s, const struct move *m, uint64_t *words) {
  uint32_t n;
  const value *v = content_values(&s->cells, s->cells.budget, key_get(&s->keys, words, s->cells.budget), &n);
  if ((m->lost && !loss_allowed(s->env, v[0], m->lost)) ||
      (m->duplicated && !duplication_allowed(s->env, v[1], m->duplicated)))
    return false;
  if (!m->error && !key_set(&s->keys, words, s->cells.budget, budget_put(&s->cells, v[0] + m->lost, v[1] + m->duplicated)))
    s->base.restart = true;
  return true;
}

/* Memory has changed: that concerns all others, too. */
static bool forget_all_unread(struct interleave *s, uint32_t p, uint64_t *words) {
  const struct model *m = s->model;
  bool fits = true;
  for (uint32_t r = 0; r < m->nroles; r++) {
    uint32_t globals = sight_globals(s, words, r, UINT64_MAX);
    for (uint32_t q = m->roles[r].first; q < m->roles[r].first + m->roles[r].count; q++)
      if (q != p)
        fits &= key_set(&s->keys, words, q, forget_unread(s, q, key_get(&s->keys, words, q), globals));
  }
  return fits;
}

static bool apply_patches(struct interleave *s, const struct move *m, uint64_t *words) {
  bool fits = true;
  for (uint32_t i = 0; i < m->npatches; i++)
    fits &= key_set(&s->keys, words, m->patches[i].cell, m->patches[i].to);
  return fits;
}

static inline bool is_nobodys(struct interleave *s, struct deadness *d, uint32_t to, const uint64_t *words) {
  content local = key_get(&s->keys, words, to);
  uint8_t known = local < d->n ? d->of[local] : 0;
  return known ? known == 2 : deadness_known(s, d, local);
}

enum sending { SENT, REFUSED, SENT_TOO_MUCH }; /* a channel is full; keys are too narrow */

static enum sending send_all(struct interleave *s, uint32_t p, const struct posts *posts, uint64_t *words) {
  bool fits = true;
  for (uint32_t i = 0; i < posts->n && fits; i++) {
    const struct post *t = &posts->at[i];
    if (t->dead && is_nobodys(s, t->dead, t->to, words))
      continue;
    if (s->settles_later) {
      settle_later(s, p, t->to, t->append->letter);
      continue;
    }
    content to = channel_append(&s->channels, t->append, key_get(&s->keys, words, t->cell));
    if (to == CHANNEL_FULL)
      return REFUSED;
    if (s->stuck_channels)
      to = forget_messages(s, t->to, key_get(&s->keys, words, t->to), p, to);
    fits &= key_set(&s->keys, words, t->cell, to);
  }
  return fits ? SENT : SENT_TOO_MUCH;
}

/* In place. False: it cannot be taken (a channel is full, a budget is used up), or keys have become too narrow. */
static bool move_apply(struct interleave *s, uint32_t p, const struct move *m, uint64_t *words) {
  if ((m->lost | m->duplicated) && s->cells.budget != NO_CELL && !charge_budget(s, m, words))
    return false;
  bool fits = apply_patches(s, m, words);
  enum sending sent = m->posts && fits ? send_all(s, p, m->posts, words) : SENT;
  if (sent == REFUSED)
    return false;
  fits &= sent == SENT;
  if (m->writes && s->frozen)
    fits &= forget_all_unread(s, p, words);
  if (!fits)
    s->base.restart = true;
  return !s->base.restart;
}

/* --- emitting --- */

/* Short keys need no call; there is room for two words always. */
static inline void copy_words(const struct interleave *s, uint64_t *to, const uint64_t *from) {
  to[0] = from[0];
  to[1] = from[1];
  if (s->keys.nwords > 2)
    memcpy(to, from, s->keys.nwords * sizeof *to);
}

/* Who may crash or recover, by who has: decided once. */
static void find_permits(struct interleave *s) {
  uint32_t n = s->model->nprocesses;
  for (uint32_t p = 0; p < n; p++)
    s->status[p] = status_of(s, s->words, p);
  uint32_t id = intern_put(s->statuses, s->status, n);
  if (id == s->permits.n) {
    uint8_t *permits = arena_alloc(&s->arena, n + 1);
    for (uint32_t p = 0; p < n; p++)
      permits[p] = (uint8_t)((crash_allowed(s->model, s->env, s->status, p) ? PERMIT_CRASH : 0) |
                             (recovery_allowed(s->model, s->env, s->status, p) ? PERMIT_RECOVERY : 0));
    vec_push(&s->permits, permits);
  }
  s->permitted = s->permits.at[id];
}

static bool may_happen(struct interleave *s, uint32_t p, const struct move *m, const struct moves *all) {
  if (m->kind == EVENT_ACTION)
    return true;
  if (m->kind == EVENT_RECOVER)
    return s->permitted[p] & PERMIT_RECOVERY;
  if (m->kind != EVENT_CRASH)
    return true;
  if (!(s->permitted[p] & PERMIT_CRASH))
    return false;
  if (!m->whole || s->cells.bound == 0)
    return true;
  copy_words(s, s->whole, s->words);
  return move_apply(s, p, &all->at[m->whole - 1], s->whole);
}

/* The canonical key of the state in space->next, in space->packed: different states often have the same successors, so the
   latest ones are remembered by what they were before. False: too narrow. */
static bool canonical_key(struct interleave *s) {
  uint32_t n = s->keys.nwords;
  uint64_t h = 0;
  if (!s->forms) {
    keys_unpack(&s->keys, s->next, s->row);
    s->only_messages = s->may_settle_later && only_messages_differ(s, s->words, s->row);
    bool fits = row_key(s, s->row, s->packed, NULL, NULL);
    s->only_messages = false;
    return fits || too_narrow(s);
  }
  for (uint32_t i = 0; i < n; i++)
    h = hash_mix(h, s->next[i]);
  uint64_t *known = s->forms + ((h ^ h >> 31) & (FORMS_REMEMBERED - 1)) * (2 * (size_t)n + 1), *slot = known + 1;
  if (*known && !memcmp(slot, s->next, n * sizeof *slot)) {
    s->too_far = false;
    memcpy(s->packed, slot + n, n * sizeof *slot);
    return true;
  }
  keys_unpack(&s->keys, s->next, s->row);
  if (!row_key(s, s->row, s->packed, NULL, NULL))
    return too_narrow(s);
  *known = !s->too_far;
  if (s->too_far)
    return true;
  memcpy(slot, s->next, n * sizeof *slot);
  memcpy(slot + n, s->packed, n * sizeof *slot);
  return true;
}

static bool emit_move(struct interleave *s, uint32_t p, const struct move *m, emit_fn *emit, void *context) {
  copy_words(s, s->next, s->words);
  s->settles_later = s->may_settle_later;
  bool taken = move_apply(s, p, m, s->next);
  s->settles_later = false;
  if (!taken)
    return s->base.restart ? too_narrow(s) : true;
  struct edge edge = {.faults = (uint32_t)m->lost + m->duplicated, .processes = m->became_faulty,
                      .broken = m->broken, .error = m->error, .group = m->group, .lottery = m->lottery, .optional = m->optional};
  if (m->error)
    return emit(context, NULL, &edge);
  if (s->nglobal_steps)
    edge.broken |= steps_broken_by_step(s, s->words, s->next);
  if (!s->normal) {
    struct state state = keys_state(&s->keys, s->next);
    return emit(context, &state, &edge);
  }
  if (!canonical_key(s))
    return false;
  if (s->too_far)
    return leave_out(s);
  struct state state = keys_state(&s->keys, s->packed);
  return emit(context, &state, &edge);
}

/* The class of steps that a move belongs to, for the stubborn set: a row of bits, and one of them. */
static size_t move_class(const struct interleave *s, uint32_t p, const struct move *m, uint64_t *bit) {
  const struct role *role = &s->model->roles[s->role_of[p]];
  size_t row = (size_t)p * stubborn_stride(s->stubborn);
  *bit = 1;
  if (m->kind != EVENT_ACTION)
    return row + role->nactions + (m->kind == EVENT_CRASH ? STUBBORN_CRASH : STUBBORN_RECOVER);
  if (role->actions[m->action].trigger == TRIGGER_ONE)
    *bit <<= m->sender;
  return row + m->action;
}

/* Which classes of steps are worth exploring from here: true if `prepare` are, before `aim`. */
static bool choose_classes(struct interleave *s, uint32_t byzantine) {
  uint64_t bit;
  memset(s->enabled, 0, (size_t)s->model->nprocesses * stubborn_stride(s->stubborn) * sizeof *s->enabled);
  for (uint32_t p = 0; p < s->model->nprocesses; p++) {
    const struct moves *moves = moves_at(s, p, byzantine);
    for (uint32_t i = 0; i < moves->n; i++)
      if (may_happen(s, p, &moves->at[i], moves)) {
        size_t class = move_class(s, p, &moves->at[i], &bit);
        s->enabled[class] |= bit;
      }
  }
  keys_unpack(&s->keys, s->words, s->row);
  return stubborn_sets(s->stubborn, s->row, s->base.decided, s->enabled, s->aim, s->prepare);
}

static bool is_explored(const struct interleave *s, uint32_t p, const struct move *m, enum which which) {
  uint64_t bit;
  size_t class = move_class(s, p, m, &bit);
  bool aims = s->aim[class] & bit, prepares = s->base.partial && s->prepare[class] & bit;
  return which == STEPS_FIRST ? (s->base.partial ? prepares : aims) : aims && !prepares;
}

/* A twin need not be asked where the other one is asked for the same steps. */
static bool asked_already(const struct interleave *s, uint32_t p, enum which which) {
  uint32_t twin = s->twins.of[p];
  if (twin == p || which == STEPS_ALL)
    return twin != p;
  uint32_t stride = stubborn_stride(s->stubborn);
  uint64_t between = (p < 64 ? UINT64_C(1) << p : 0) | (twin < 64 ? UINT64_C(1) << twin : 0);
  for (uint32_t i = 0; i < stride; i++) {
    uint64_t mine = s->aim[p * stride + i], theirs = s->aim[twin * stride + i];
    if (s->base.partial) {
      mine |= s->prepare[p * stride + i];
      theirs &= s->prepare[twin * stride + i];
    }
    if ((mine & ~theirs) || (mine & between & ~UINT64_C(1)))
      return false;
  }
  return true;
}

static bool emit_moves(struct interleave *s, const struct moves *moves, emit_fn *emit, void *context) {
  for (uint32_t i = 0; i < moves->n; i++)
    if (!emit_move(s, moves->process, &moves->at[i], emit, context))
      return false;
  return true;
}

/* --- short ways: keys of up to four words --- */

static inline enum sending send_briefly(struct interleave *s, const struct brief_move *m, uint64_t *next) {
  for (const struct brief_post *t = m->posts, *end = t + m->nposts; t < end; t++) {
    if (t->dead && is_nobodys(s, t->dead, t->to, next))
      continue;
    content to = channel_append(&s->channels, t->append, (content)(next[t->word] >> t->shift & t->mask));
    if (to == CHANNEL_FULL)
      return REFUSED;
    if (to & ~t->mask)
      return SENT_TOO_MUCH;
    next[t->word] = (next[t->word] & ~(t->mask << t->shift)) | (uint64_t)to << t->shift;
  }
  return SENT;
}

static inline void apply_briefly(const struct brief_move *m, uint32_t words, const uint64_t *from, uint64_t *next) {
  for (uint32_t w = 0; w < words; w++)
    next[w] = (from[w] & m->masks[w]) | m->masks[words + w];
}

/* One move from `words`, made in `next`. Compilers think it too long; how long keys are is known where it is called. */
__attribute__((always_inline)) static inline enum sending take_briefly(struct interleave *s, const struct able *able,
                                                                       const struct brief_move *m, uint32_t nwords,
                                                                       const uint64_t *words, uint64_t *next) {
  const struct key_field *f = able->channel;
  apply_briefly(m, nwords, words, next);
  if (f) {
    uint64_t mask = (UINT64_C(1) << f->width) - 1;
    if (able->rest & ~mask)
      return SENT_TOO_MUCH;
    next[f->word] = (next[f->word] & ~(mask << f->shift)) | (uint64_t)able->rest << f->shift;
  }
  return m->nposts ? send_briefly(s, m, next) : SENT;
}

/* As they come, where the engine keeps no list, or it is full. */
__attribute__((noinline)) static bool emit_briefly(struct interleave *s, const struct able *able, uint32_t nwords, emit_fn *emit,
                                                   void *context) {
  const char *at = (const char *)able->moves->at;
  uint64_t next[BRIEF_WORDS + 1];
  struct edge edge = {.group = NO_GROUP};
  if (!able->channel)
    return emit_moves(s, able->moves->of, emit, context);
  for (uint32_t i = 0; i < able->moves->n; i++, at += brief_size(nwords)) {
    enum sending sent = take_briefly(s, able, (const struct brief_move *)at, nwords, s->words, next);
    if (sent == SENT_TOO_MUCH)
      return too_narrow(s);
    struct state state = keys_state(&s->keys, next);
    if (sent == SENT && !emit(context, &state, &edge))
      return false;
  }
  return true;
}

/* What all that are able can do, right into the engine's list, as long as there is room. */
__attribute__((always_inline)) static inline bool brief_successors(struct interleave *s, uint32_t nwords, emit_fn *emit, void *context) {
  struct short_states *brief = s->base.brief;
  const uint64_t *words = s->words;
  uint32_t n = brief ? brief->n : 0, most = brief ? brief->most : 0;
  for (const struct able *able = s->able.at, *end = able + s->able.n; able < end; able++) {
    const struct brief_moves *moves = able->moves;
    if (__builtin_expect(n + moves->n > most, 0)) {
      if (!emit_briefly(s, able, nwords, emit, context))
        return false;
      continue;
    }
    const char *at = (const char *)moves->at, *last = at + moves->n * brief_size(nwords);
    for (; at < last; at += brief_size(nwords)) {
      const struct brief_move *move = (const struct brief_move *)at;
      enum sending sent = take_briefly(s, able, move, nwords, words, brief->at + (size_t)nwords * n);
      if (sent == SENT_TOO_MUCH)
        return too_narrow(s);
      brief->quiet[n] = move->quiet;
      n += sent == SENT;
    }
  }
  if (brief)
    brief->n = n;
  return true;
}

/* There is room for it: see `able`. */
static inline void able_add(struct interleave *s, struct brief_moves *moves) { s->able.at[s->able.n++] = (struct able){moves, NULL, 0}; }

/* What those of a party can do that can do something, one by one, into `found` and `able`. False: stopped. */
__attribute__((noinline)) static bool ask_each(struct interleave *s, const struct party *party, struct brief_moves **found,
                                               bool *all_brief, uint32_t byzantine, emit_fn *emit, void *context) {
  for (uint32_t p = party->first, end = p + party->n; p < end; p++) {
    struct brief_moves *known = moves_at_hand(s, &s->mover.glances[p], byzantine);
    struct moves *moves = known ? NULL : moves_of(s, p, byzantine);
    if (moves && moves->remembered)
      known = moves->brief;
    if (known ? known->n == 0 : moves->n == 0)
      continue;
    if (known && known->brief) {
      able_add(s, known);
      if (found)
        *found++ = known;
      continue;
    }
    if (!emit_moves(s, known ? known->of : moves, emit, context)) /* now: some are gone with the next look-up */
      return false;
    *all_brief = false;
  }
  return true;
}

static bool ask_party(struct interleave *s, struct party *party, uint32_t byzantine, emit_fn *emit, void *context) {
  uint64_t window = key_window(&party->window, s->words);
  struct cached_party *known = party_at(party, window), now = {.window = window + 1};
  bool all_brief = true;
  if (known->window == window + 1) {
    for (uint32_t i = 0; i < PARTY_MOST && known->moves[i]; i++)
      able_add(s, known->moves[i]);
    return true;
  }
  party->missed++;
  if (!ask_each(s, party, now.moves, &all_brief, byzantine, emit, context))
    return false;
  if (all_brief)
    *known = now;
  return true;
}

/* Those who are not asked alone, or of whom it is not at hand what they can do. */
static bool ask_otherwise(struct interleave *s, struct party *party, uint32_t byzantine, emit_fn *emit, void *context) {
  bool all_brief;
  if (party->by_letter && letters_ask(s, party->first))
    return true;
  return party->cache ? ask_party(s, party, byzantine, emit, context) : ask_each(s, party, NULL, &all_brief, byzantine, emit, context);
}

/* Who can do something. All look-ups come first, so that they wait for memory together. */
static bool find_able(struct interleave *s, uint32_t byzantine, emit_fn *emit, void *context) {
  if (s->mover.nparties == 0 || (s->expanded & (s->expanded - 1)) == 0)
    make_parties(s);
  vec_reserve(&s->able, s->model->nprocesses + s->mover.able_most);
  struct able *able = s->able.at;
  for (struct party *party = s->mover.parties, *end = party + s->mover.nparties; party < end; party++) {
    struct brief_moves *known = party->alone ? moves_at_hand(s, party->alone, byzantine) : NULL;
    if (known && known->brief) {
      *able = (struct able){known, NULL, 0};
      able += known->n != 0; /* no branch: nobody could tell which way it goes */
      continue;
    }
    s->able.n = (size_t)(able - s->able.at);
    if (!ask_otherwise(s, party, byzantine, emit, context))
      return false;
    able = s->able.at + s->able.n;
  }
  s->able.n = (size_t)(able - s->able.at);
  return true;
}

/* For each length of keys by itself: together they have too few registers. */
__attribute__((noinline)) static bool successors_in_two(struct interleave *s, emit_fn *emit, void *context) {
  return brief_successors(s, 2, emit, context);
}
__attribute__((noinline)) static bool successors_in_four(struct interleave *s, emit_fn *emit, void *context) {
  return brief_successors(s, BRIEF_WORDS, emit, context);
}

bool short_successors(struct interleave *s, emit_fn *emit, void *context) {
  uint32_t nwords = brief_words(&s->keys);
  if (s->base.brief) {
    s->base.brief->length = s->keys.nbytes;
    s->base.brief->words = nwords;
  }
  if (!find_able(s, look_around(s), emit, context))
    return false;
  return nwords == 2 ? successors_in_two(s, emit, context) : successors_in_four(s, emit, context);
}

bool fast_successors(struct interleave *s, enum which which, emit_fn *emit, void *context) {
  uint32_t byzantine = look_around(s);
  if (s->crashes)
    find_permits(s);
  if (which != STEPS_ALL)
    s->base.partial = choose_classes(s, byzantine);
  if (s->twins.any)
    twins_find(s, s->words);
  for (uint32_t p = 0; p < s->model->nprocesses; p++) {
    if (s->twins.any && asked_already(s, p, which))
      continue;
    const struct moves *moves = moves_at(s, p, byzantine);
    for (uint32_t i = 0; i < moves->n; i++) {
      const struct move *m = &moves->at[i];
      if (!may_happen(s, p, m, moves) || (which != STEPS_ALL && !is_explored(s, p, m, which)))
        continue;
      if (!emit_move(s, p, m, emit, context))
        return false;
    }
  }
  return true;
}

bool steps_each(struct interleave *s, step_fn *visit, void *context) {
  uint32_t byzantine = look_around(s);
  if (s->crashes)
    find_permits(s);
  for (uint32_t p = 0; p < s->model->nprocesses; p++) {
    const struct moves *moves = moves_of(s, p, byzantine);
    for (uint32_t i = 0; i < moves->n; i++) {
      const struct move *m = &moves->at[i];
      copy_words(s, s->next, s->words);
      if (may_happen(s, p, m, moves) && move_apply(s, p, m, s->next) && !visit(context, p, m))
        return false;
      if (s->base.restart)
        return false;
    }
  }
  return true;
}
