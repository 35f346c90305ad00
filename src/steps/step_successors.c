/* The successors of a state: the moves of each process, applied to the packed state. */
#include "steps/step_successors.h"

#include "steps/automorphic.h"
#include "steps/constant_memory.h"
#include "steps/dead_data.h"
#include "steps/move_caches.h"
#include "steps/normalise.h"
#include "steps/per_message.h"
#include "steps/process_moves.h"
#include "steps/step_fairness.h"
#include "steps/step_properties.h"
#include "steps/step_system_internal.h"
#include "steps/stubborn_sets.h"

#include <string.h>

/* --- applying a move --- */

static bool charge_budget(struct step_system *s, const struct move *m, uint64_t *words) {
  uint32_t n;
  const value *v = content_values(&s->cells, s->cells.budget, key_get(&s->keys, words, s->cells.budget), &n);
  if ((m->lost && !loss_allowed(s->env, v[0], m->lost)) ||
      (m->duplicated && !duplication_allowed(s->env, v[1], m->duplicated)))
    return false;
  if (!m->error &&
      !key_set(&s->keys, words, s->cells.budget, budget_put(&s->cells, v[0] + m->lost, v[1] + m->duplicated)))
    s->base.restart = true;
  return true;
}

/* After a write to shared memory, variables of all other processes may have become unread. */
static bool clear_unread_of_others(struct step_system *s, uint32_t p, uint64_t *words) {
  const struct model *m = s->model;
  bool fits = true;
  for (uint32_t r = 0; r < m->nroles; r++) {
    uint32_t globals = visible_globals(s, words, r, UINT64_MAX);
    for (uint32_t q = m->roles[r].first; q < m->roles[r].first + m->roles[r].count; q++)
      if (q != p)
        fits &= key_set(&s->keys, words, q, clear_unread_variables(s, q, key_get(&s->keys, words, q), globals));
  }
  return fits;
}

static bool apply_patches(struct step_system *s, const struct move *m, uint64_t *words) {
  bool fits = true;
  for (uint32_t i = 0; i < m->npatches; i++)
    fits &= key_set(&s->keys, words, m->patches[i].cell, m->patches[i].to);
  return fits;
}

static inline bool is_dead_on_arrival(struct step_system *s, struct dead_message_cache *d, uint32_t to,
                                      const uint64_t *words) {
  content local = key_get(&s->keys, words, to);
  uint8_t known = local < d->n ? d->of[local] : 0;
  return known ? known == 2 : dead_message_lookup(s, d, local);
}

enum send_result { SENT, SEND_REFUSED, SEND_OVERFLOW }; /* REFUSED: a channel is full; OVERFLOW: keys are too narrow */

static enum send_result send_all(struct step_system *s, uint32_t p, const struct channel_sends *sends,
                                 uint64_t *words) {
  bool fits = true;
  for (uint32_t i = 0; i < sends->n && fits; i++) {
    const struct channel_send *t = &sends->at[i];
    if (t->dead && is_dead_on_arrival(s, t->dead, t->to, words))
      continue;
    if (s->form.defers_sends) {
      normalise_deferred_send(s, p, t->to, t->append->message_id);
      continue;
    }
    content to = channel_append(&s->channels, t->append, key_get(&s->keys, words, t->cell));
    if (to == CHANNEL_FULL)
      return SEND_REFUSED;
    if (s->dead.drops_blocked_messages)
      to = drop_dead_messages(s, t->to, key_get(&s->keys, words, t->to), p, to);
    fits &= key_set(&s->keys, words, t->cell, to);
  }
  return fits ? SENT : SEND_OVERFLOW;
}

/* In place. False: the move is not enabled (a channel is full, a budget is exhausted), or the keys are too narrow. */
static bool move_apply(struct step_system *s, uint32_t p, const struct move *m, uint64_t *words) {
  if ((m->lost | m->duplicated) && s->cells.budget != NO_CELL && !charge_budget(s, m, words))
    return false;
  bool fits = apply_patches(s, m, words);
  enum send_result sent = m->sends && fits ? send_all(s, p, m->sends, words) : SENT;
  if (sent == SEND_REFUSED)
    return false;
  fits &= sent == SENT;
  if (m->writes && s->dead.constant_memory)
    fits &= clear_unread_of_others(s, p, words);
  if (!fits)
    s->base.restart = true;
  return !s->base.restart;
}

/* --- emitting --- */

/* Avoids a call of memcpy for short keys; there is always room for two words. */
static inline void copy_words(const struct step_system *s, uint64_t *to, const uint64_t *from) {
  to[0] = from[0];
  to[1] = from[1];
  if (s->keys.nwords > 2)
    memcpy(to, from, s->keys.nwords * sizeof *to);
}

/* Which processes may crash or recover: computed once for each status vector. */
static void find_permits(struct step_system *s) {
  uint32_t n = s->model->nprocesses;
  for (uint32_t p = 0; p < n; p++)
    s->fault_permits.status[p] = status_of(s, s->words, p);
  uint32_t id = intern_put(s->fault_permits.statuses, s->fault_permits.status, n);
  if (id == s->fault_permits.permits.n) {
    uint8_t *permits = arena_alloc(&s->arena, n + 1);
    for (uint32_t p = 0; p < n; p++)
      permits[p] = (uint8_t)((crash_allowed(s->model, s->env, s->fault_permits.status, p) ? PERMIT_CRASH : 0) |
                             (recovery_allowed(s->model, s->env, s->fault_permits.status, p) ? PERMIT_RECOVERY : 0));
    vec_push(&s->fault_permits.permits, permits);
  }
  s->fault_permits.permitted = s->fault_permits.permits.at[id];
}

static bool may_happen(struct step_system *s, uint32_t p, const struct move *m, const struct moves *all) {
  if (m->kind == EVENT_ACTION)
    return true;
  if (m->kind == EVENT_RECOVER)
    return s->fault_permits.permitted[p] & PERMIT_RECOVERY;
  if (m->kind != EVENT_CRASH)
    return true;
  if (!(s->fault_permits.permitted[p] & PERMIT_CRASH))
    return false;
  if (!m->whole || s->cells.bound == 0)
    return true;
  copy_words(s, s->scratch.whole, s->words);
  return move_apply(s, p, &all->at[m->whole - 1], s->scratch.whole);
}

/* Stores the canonical key of the state in system->next in system->packed. False: the keys are too narrow. */
static bool canonical_key(struct step_system *s) {
  keys_unpack(&s->keys, s->scratch.next, s->scratch.row);
  s->form.only_messages = s->form.may_defer_sends && only_messages_differ(s, s->words, s->scratch.row);
  bool fits = row_key(s, s->scratch.row, s->scratch.packed, NULL, NULL);
  s->form.only_messages = false;
  return fits || keys_too_narrow(s);
}

static bool emit_move(struct step_system *s, uint32_t p, const struct move *m, emit_fn *emit, void *context) {
  copy_words(s, s->scratch.next, s->words);
  s->form.defers_sends = s->form.may_defer_sends;
  bool taken = move_apply(s, p, m, s->scratch.next);
  s->form.defers_sends = false;
  if (!taken) {
    normalise_drop_deferred(s); /* otherwise the next row would receive them */
    return s->base.restart ? keys_too_narrow(s) : true;
  }
  struct edge edge = {.faults = (uint32_t)m->lost + m->duplicated,
                      .processes = m->became_faulty,
                      .broken = m->broken,
                      .error = m->error,
                      .group = group_in_state(s, m->group),
                      .adversary_choice = m->adversary_choice,
                      .optional = m->optional};
  if (m->error)
    return emit(context, NULL, &edge);
  if (s->checked.nglobal_steps)
    edge.broken |= step_properties_broken_by_step(s, s->words, s->scratch.next);
  if (!s->form.normalised) {
    struct state state = keys_state(&s->keys, s->scratch.next);
    return emit(context, &state, &edge);
  }
  if (!canonical_key(s))
    return false;
  if (s->distance.too_far)
    return cut_by_distance(s);
  struct state state = keys_state(&s->keys, s->scratch.packed);
  return emit(context, &state, &edge);
}

/* The class of steps that a move belongs to, for stubborn sets: a row of bits and one bit of it. */
static size_t move_class(const struct step_system *s, uint32_t p, const struct move *m, uint64_t *bit) {
  const struct role *role = &s->model->roles[s->role_of[p]];
  size_t row = (size_t)p * stubborn_stride(s->partial_order.stubborn);
  *bit = 1;
  if (m->kind != EVENT_ACTION)
    return row + role->nactions + (m->kind == EVENT_CRASH ? STUBBORN_CRASH : STUBBORN_RECOVER);
  if (role->actions[m->action].trigger == TRIGGER_ONE)
    *bit <<= m->sender;
  return row + m->action;
}

/* Computes the stubborn sets of the state. True: explore `invisible_set` before `visible_set`. */
static bool choose_classes(struct step_system *s, uint32_t byzantine) {
  uint64_t bit;
  memset(s->partial_order.enabled, 0,
         (size_t)s->model->nprocesses * stubborn_stride(s->partial_order.stubborn) * sizeof *s->partial_order.enabled);
  for (uint32_t p = 0; p < s->model->nprocesses; p++) {
    const struct moves *moves = moves_at(s, p, byzantine);
    for (uint32_t i = 0; i < moves->n; i++)
      if (may_happen(s, p, &moves->at[i], moves)) {
        size_t class = move_class(s, p, &moves->at[i], &bit);
        s->partial_order.enabled[class] |= bit;
      }
  }
  keys_unpack(&s->keys, s->words, s->scratch.row);
  return stubborn_sets(s->partial_order.stubborn, s->scratch.row, s->base.decided, s->partial_order.enabled,
                       s->partial_order.visible_set, s->partial_order.invisible_set);
}

static bool is_explored(const struct step_system *s, uint32_t p, const struct move *m, enum step_subset which) {
  uint64_t bit;
  size_t class = move_class(s, p, m, &bit);
  bool visible = s->partial_order.visible_set[class] & bit,
       invisible = s->base.has_deferred && s->partial_order.invisible_set[class] & bit;
  return which == STEPS_STUBBORN ? (s->base.has_deferred ? invisible : visible) : visible && !invisible;
}

/* The steps of a process are not explored if the same steps of an automorphic process are. */
static bool covered_by_automorphism(const struct step_system *s, uint32_t p, enum step_subset which) {
  uint32_t twin = s->automorphic.of[p];
  if (twin == p || which == STEPS_ALL)
    return twin != p;
  uint32_t stride = stubborn_stride(s->partial_order.stubborn);
  uint64_t between = (p < 64 ? UINT64_C(1) << p : 0) | (twin < 64 ? UINT64_C(1) << twin : 0);
  for (uint32_t i = 0; i < stride; i++) {
    uint64_t mine = s->partial_order.visible_set[p * stride + i],
             theirs = s->partial_order.visible_set[twin * stride + i];
    if (s->base.has_deferred) {
      mine |= s->partial_order.invisible_set[p * stride + i];
      theirs &= s->partial_order.invisible_set[twin * stride + i];
    }
    if ((mine & ~theirs) || (mine & between & ~UINT64_C(1)))
      return false;
  }
  return true;
}

static bool emit_moves(struct step_system *s, const struct moves *moves, emit_fn *emit, void *context) {
  for (uint32_t i = 0; i < moves->n; i++)
    if (!emit_move(s, moves->process, &moves->at[i], emit, context))
      return false;
  return true;
}

/* --- short moves: keys of up to four words --- */

static inline enum send_result send_short(struct step_system *s, const struct short_move *m, uint64_t *next) {
  for (const struct short_send *t = m->sends, *end = t + m->nsends; t < end; t++) {
    if (t->dead && is_dead_on_arrival(s, t->dead, t->to, next))
      continue;
    content to = channel_append(&s->channels, t->append, (content)(next[t->word] >> t->shift & t->mask));
    if (to == CHANNEL_FULL)
      return SEND_REFUSED;
    if (to & ~t->mask)
      return SEND_OVERFLOW;
    next[t->word] = (next[t->word] & ~(t->mask << t->shift)) | (uint64_t)to << t->shift;
  }
  return SENT;
}

static inline void apply_short(const struct short_move *m, uint32_t words, const uint64_t *from, uint64_t *next) {
  for (uint32_t w = 0; w < words; w++)
    next[w] = (from[w] & m->masks[w]) | m->masks[words + w];
}

/* Applies one move to `words`; the result is in `next`. Inlined because nwords is a constant in each caller. */
__attribute__((always_inline)) static inline enum send_result
take_short_move(struct step_system *s, const struct enabled_moves *able, const struct short_move *m, uint32_t nwords,
                const uint64_t *words, uint64_t *next) {
  const struct key_field *f = able->channel;
  apply_short(m, nwords, words, next);
  if (f) {
    uint64_t mask = (UINT64_C(1) << f->width) - 1;
    if (able->rest & ~mask)
      return SEND_OVERFLOW;
    next[f->word] = (next[f->word] & ~(mask << f->shift)) | (uint64_t)able->rest << f->shift;
  }
  return m->nsends ? send_short(s, m, next) : SENT;
}

/* Emits the moves one by one, if the engine has no list or the list is full. */
__attribute__((noinline)) static bool emit_short_moves(struct step_system *s, const struct enabled_moves *able,
                                                       uint32_t nwords, emit_fn *emit, void *context) {
  const char *at = (const char *)able->moves->at;
  uint64_t next[SHORT_KEY_WORDS + 1];
  struct edge edge = {.group = NO_GROUP};
  if (!able->channel)
    return emit_moves(s, able->moves->of, emit, context);
  for (uint32_t i = 0; i < able->moves->n; i++, at += short_move_size(nwords)) {
    enum send_result sent = take_short_move(s, able, (const struct short_move *)at, nwords, s->words, next);
    if (sent == SEND_OVERFLOW)
      return keys_too_narrow(s);
    struct state state = keys_state(&s->keys, next);
    if (sent == SENT && !emit(context, &state, &edge))
      return false;
  }
  return true;
}

/* Writes all enabled moves directly to the engine's list, while there is room. */
__attribute__((always_inline)) static inline bool list_short_successors(struct step_system *s, uint32_t nwords,
                                                                        emit_fn *emit, void *context) {
  struct short_states *short_keyed = s->base.short_keyed;
  const uint64_t *words = s->words;
  uint32_t n = short_keyed ? short_keyed->n : 0, most = short_keyed ? short_keyed->most : 0;
  for (const struct enabled_moves *able = s->enabled_moves.at, *end = able + s->enabled_moves.n; able < end; able++) {
    const struct short_moves *moves = able->moves;
    if (__builtin_expect(n + moves->n > most, 0)) {
      if (!emit_short_moves(s, able, nwords, emit, context))
        return false;
      continue;
    }
    const char *at = (const char *)moves->at, *last = at + moves->n * short_move_size(nwords);
    for (; at < last; at += short_move_size(nwords)) {
      const struct short_move *move = (const struct short_move *)at;
      enum send_result sent = take_short_move(s, able, move, nwords, words, short_keyed->at + (size_t)nwords * n);
      if (sent == SEND_OVERFLOW)
        return keys_too_narrow(s);
      short_keyed->invisible[n] = move->invisible;
      n += sent == SENT;
    }
  }
  if (short_keyed)
    short_keyed->n = n;
  return true;
}

/* There is always room: see enabled_moves. */
static inline void enabled_add(struct step_system *s, struct short_moves *moves) {
  s->enabled_moves.at[s->enabled_moves.n++] = (struct enabled_moves){moves, NULL, 0};
}

/* Looks up the processes of a joint cache one by one, and adds the moves of those that have any to enabled_moves and to
   `found`. False: stopped. */
__attribute__((noinline)) static bool lookup_each(struct step_system *s, const struct joint_cache *joint_cache,
                                                  struct short_moves **found, bool *all_short, uint32_t byzantine,
                                                  emit_fn *emit, void *context) {
  for (uint32_t p = joint_cache->first, end = p + joint_cache->n; p < end; p++) {
    struct short_moves *known = moves_in_cache(s, &s->moves_store.move_caches[p], byzantine);
    struct moves *moves = known ? NULL : moves_of(s, p, byzantine);
    if (moves && moves->cached)
      known = moves->short_keyed;
    if (known ? known->n == 0 : moves->n == 0)
      continue;
    if (known && known->short_keyed) {
      enabled_add(s, known);
      if (found)
        *found++ = known;
      continue;
    }
    if (!emit_moves(s, known ? known->of : moves, emit, context)) /* emitted now, because the next look-up may free
                                                                     them */
      return false;
    *all_short = false;
  }
  return true;
}

static bool lookup_joint(struct step_system *s, struct joint_cache *joint_cache, uint32_t byzantine, emit_fn *emit,
                         void *context) {
  uint64_t window = key_window(&joint_cache->window, s->words);
  struct joint_cache_entry *known = joint_cache_slot(joint_cache, window), now = {.window = window + 1};
  bool all_short = true;
  if (known->window == window + 1) {
    for (uint32_t i = 0; i < JOINT_PROCESSES_MAX && known->moves[i]; i++)
      enabled_add(s, known->moves[i]);
    return true;
  }
  joint_cache->missed++;
  if (!lookup_each(s, joint_cache, now.moves, &all_short, byzantine, emit, context))
    return false;
  if (all_short)
    *known = now;
  return true;
}

/* For processes without a move cache, and for cache misses. */
static bool lookup_uncached(struct step_system *s, struct joint_cache *joint_cache, uint32_t byzantine, emit_fn *emit,
                            void *context) {
  bool all_short;
  if (joint_cache->by_message && message_moves_lookup(s, joint_cache->first))
    return true;
  return joint_cache->cache ? lookup_joint(s, joint_cache, byzantine, emit, context)
                            : lookup_each(s, joint_cache, NULL, &all_short, byzantine, emit, context);
}

/* Collects the enabled moves. All look-ups come first, so that their cache misses overlap. */
static bool find_enabled_moves(struct step_system *s, uint32_t byzantine, emit_fn *emit, void *context) {
  if (s->moves_store.njoint_caches == 0 || (s->expanded & (s->expanded - 1)) == 0)
    joint_caches_make(s);
  vec_reserve(&s->enabled_moves, s->model->nprocesses + s->moves_store.enabled_most);
  struct enabled_moves *able = s->enabled_moves.at;
  for (struct joint_cache *joint_cache = s->moves_store.joint_caches, *end = joint_cache + s->moves_store.njoint_caches;
       joint_cache < end; joint_cache++) {
    struct short_moves *known = joint_cache->alone ? moves_in_cache(s, joint_cache->alone, byzantine) : NULL;
    if (known && known->short_keyed) {
      *able = (struct enabled_moves){known, NULL, 0};
      able += known->n != 0; /* branch-free, because the outcome is unpredictable */
      continue;
    }
    s->enabled_moves.n = (size_t)(able - s->enabled_moves.at);
    if (!lookup_uncached(s, joint_cache, byzantine, emit, context))
      return false;
    able = s->enabled_moves.at + s->enabled_moves.n;
  }
  s->enabled_moves.n = (size_t)(able - s->enabled_moves.at);
  return true;
}

/* One function for each key length: a common one would run out of registers. */
__attribute__((noinline)) static bool successors_in_two(struct step_system *s, emit_fn *emit, void *context) {
  return list_short_successors(s, 2, emit, context);
}
__attribute__((noinline)) static bool successors_in_four(struct step_system *s, emit_fn *emit, void *context) {
  return list_short_successors(s, SHORT_KEY_WORDS, emit, context);
}

bool short_key_successors(struct step_system *s, emit_fn *emit, void *context) {
  uint32_t nwords = short_key_words(&s->keys);
  if (s->base.short_keyed) {
    s->base.short_keyed->length = s->keys.nbytes;
    s->base.short_keyed->words = nwords;
  }
  if (!find_enabled_moves(s, load_visible_memory(s), emit, context))
    return false;
  return nwords == 2 ? successors_in_two(s, emit, context) : successors_in_four(s, emit, context);
}

bool move_successors(struct step_system *s, enum step_subset which, emit_fn *emit, void *context) {
  uint32_t byzantine = load_visible_memory(s);
  if (s->faults.crashes)
    find_permits(s);
  if (which != STEPS_ALL)
    s->base.has_deferred = choose_classes(s, byzantine);
  if (s->automorphic.any)
    automorphic_find(s, s->words);
  for (uint32_t p = 0; p < s->model->nprocesses; p++) {
    if (s->automorphic.any && covered_by_automorphism(s, p, which))
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

bool step_system_each_move(struct step_system *s, step_fn *visit, void *context) {
  uint32_t byzantine = load_visible_memory(s);
  if (s->faults.crashes)
    find_permits(s);
  for (uint32_t p = 0; p < s->model->nprocesses; p++) {
    const struct moves *moves = moves_of(s, p, byzantine);
    for (uint32_t i = 0; i < moves->n; i++) {
      const struct move *m = &moves->at[i];
      copy_words(s, s->scratch.next, s->words);
      if (may_happen(s, p, m, moves) && move_apply(s, p, m, s->scratch.next) && !visit(context, p, m))
        return false;
      if (s->base.restart)
        return false;
    }
  }
  return true;
}
