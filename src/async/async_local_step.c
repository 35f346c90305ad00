/* Steps of the local mode: a process ends its round and begins the next one. */
#include "async/async_local.h"

#include "interp/round_step.h"
#include "lockstep/lockstep_local_steps.h"
#include "lockstep/outcome_set.h"

#include <string.h>

/* --- outcomes of a process --- */

struct async_outcome_builder {
  struct async_system *system;
  const struct async_local_state *state_of_local;
  uint32_t p, point, context;
  value phase;
  const struct read_set *reads;
  bool senders_distinct; /* senders are distinguishable */
  VEC(value) bag;
  VEC(struct async_local_outcome) found;
};

static const struct local_send *message_of(const struct async_outcome_builder *v, uint32_t q) {
  const struct async_system *s = v->system;
  const struct local_send_list *out =
      &s->rounds->local.round_sends.at[v->state_of_local->sent[v->state_of_local->done[v->p]][q]];
  for (size_t i = 0; i < out->n; i++)
    if (round_send_reaches(s->model, &out->at[i], q, v->p))
      return &out->at[i];
  return NULL;
}

static void bag_add(struct async_outcome_builder *v, value message, value tag) {
  size_t at = 0;
  for (; at < v->bag.n; at += BAG_ENTRY) {
    value *entry = v->bag.at + at;
    if (entry[0] == message && entry[1] == tag) {
      entry[2] += v->reads->counts;
      return;
    }
    if (entry[0] > message || (entry[0] == message && entry[1] > tag))
      break;
  }
  vec_reserve(&v->bag, v->bag.n + BAG_ENTRY);
  memmove(v->bag.at + at + BAG_ENTRY, v->bag.at + at, (v->bag.n - at) * sizeof *v->bag.at);
  v->bag.n += BAG_ENTRY;
  memcpy(v->bag.at + at, (value[BAG_ENTRY]){message, tag, 1, 0}, BAG_ENTRY * sizeof(value));
}

static void outcomes_add(struct async_outcome_builder *v, uint32_t heard, const value *messages) {
  vec_clear(&v->bag);
  for (uint32_t q = 0; q < v->system->n && v->reads->received != RECEIVED_UNREAD; q++)
    if (heard >> q & 1)
      bag_add(v, messages[q], v->senders_distinct ? (value)q : -1);
  const struct list *local_updates = step_updates(v->system->rounds, v->context, v->bag.at, v->bag.n);
  for (uint32_t i = 0; i < local_updates->n; i++) {
    bool seen = false;
    for (size_t k = 0; k < v->found.n && !seen; k++)
      seen = v->found.at[k].update == local_updates->at[i];
    if (!seen)
      vec_push(&v->found, ((struct async_local_outcome){local_updates->at[i], heard}));
  }
}

static void async_outcome_builder_init(struct async_outcome_builder *v, struct async_system *s,
                                       const struct async_local_state *l, uint32_t p) {
  uint32_t rounds, role = model_role_of(s->model, p);
  *v = (struct async_outcome_builder){.system = s, .state_of_local = l, .p = p};
  v->point = async_local_point(s, l, l->done[p], &v->phase, &rounds);
  v->context = projection_of(s->rounds, l->local[p], v->point, p, v->phase, l->globals);
  v->reads = s->rounds->local.updates[(size_t)role * s->model->npoints + v->point];
  v->senders_distinct = !s->rounds->form.group || v->reads->received >= RECEIVED_NAMED;
}

/* One outcome for each update that the allowed sets lead to. */
static struct async_local_outcomes outcomes_for(struct async_outcome_builder *v, uint32_t senders, uint32_t sets) {
  struct async_system *s = v->system;
  struct async_local *async_local = s->local_mode;
  value key[2 + 2 * ASYNC_LOCAL_PROCESSES] = {v->context, sets}, messages[ASYNC_LOCAL_PROCESSES];
  uint32_t n = 2, id;
  for (uint32_t q = 0; q < s->n; q++)
    if (senders >> q & 1) {
      messages[q] = message_of(v, q)->message;
      key[n++] = q;
      key[n++] = v->reads->received == RECEIVED_UNREAD ? 0 : messages[q];
    }
  uint32_t name = intern_put(async_local->vectors, key, n);
  if (!memo_find(&async_local->outcomes_of, name, 0, &id)) {
    vec_clear(&v->found);
    for (uint32_t set = senders;; set = (set - 1) & senders) {
      const uint64_t *bits = (const uint64_t *)intern_at(async_local->vectors, sets);
      if (bits[set / 64] >> set % 64 & 1)
        outcomes_add(v, set, messages);
      if (set == 0)
        break;
    }
    struct async_local_outcomes made = {
        arena_keep_array(&async_local->arena, v->found.at, v->found.n, sizeof *v->found.at), (uint32_t)v->found.n};
    id = (uint32_t)async_local->outcomes.n;
    vec_push(&async_local->outcomes, made);
    memo_add(&async_local->outcomes_of, name, 0, id);
  }
  return async_local->outcomes.at[id];
}

/* --- ending a round --- */

struct async_local_transition {
  struct async_system *system;
  const struct async_local_state *from;
  struct async_local_step step;
  async_local_step_fn *visit;
  void *context;
};

static bool has_promises(const struct async_system *s, const struct async_local_state *l) {
  for (uint32_t p = 0; p < s->n; p++)
    if (l->gone[p] | l->there[p])
      return true;
  return false;
}

static bool sends_twice(const struct async_system *s, const struct local_send_list *out, uint32_t q) {
  for (uint32_t p = 0; p < s->n && out->n > 1; p++) {
    uint32_t reaching = 0;
    for (size_t i = 0; i < out->n; i++)
      reaching += round_send_reaches(s->model, &out->at[i], q, p);
    if (reaching > 1)
      return true;
  }
  return false;
}

bool async_local_begin_round(struct async_system *s, struct async_local_state *l, uint32_t p,
                             bool (*then)(void *context, struct async_local_state *), void *context) {
  value phase;
  uint32_t rounds, point = async_local_point(s, l, l->done[p], &phase, &rounds);
  struct list all = *send_alternatives(s->rounds, l->local[p], point, p, phase, l->globals);
  for (uint32_t i = 0; i < all.n; i++) {
    if (all.at[i] & SENDING_ERROR)
      return async_local_give_up(s, "sending can fail");
    if (sends_twice(s, &s->rounds->local.round_sends.at[all.at[i]], p))
      return async_local_give_up(s, "two messages to one receiver in a round");
    l->sent[l->done[p]][p] = all.at[i];
    if (!then(context, l))
      return false;
  }
  return true;
}

static bool finish(void *context, struct async_local_state *l) {
  struct async_local_transition *k = context;
  struct async_system *s = k->system;
  struct async_local_state next;
  async_local_assign(&next, l);
  if (!async_local_normalise(s, &next, &k->step.shift) ||
      (has_promises(s, &next) && !async_local_promises_hold(s, &next)))
    return !s->base.restart;
  uint32_t p = k->step.process;
  k->step.after = next.local[p];
  k->step.sent = async_local_live(s, &next, p) ? next.sent[next.done[p]][p] : SENT_IRRELEVANT;
  return k->visit(k->context, &k->step, &next);
}

/* p changes to `after`. If `promise`: of the processes behind, exactly `coming` will take part in its round. */
static bool take(struct async_local_transition *k, local_id after, bool promise, uint32_t coming) {
  struct async_system *s = k->system;
  uint32_t p = k->step.process, r = k->from->done[p], rounds;
  struct async_local_state next;
  value phase;
  async_local_assign(&next, k->from);
  for (uint32_t q = 0; q < s->n && promise; q++) {
    if (!async_local_live(s, &next, q) || next.done[q] >= r)
      continue;
    if (coming >> q & 1)
      next.there[q] = next.there[q] > r + 1 ? next.there[q] : r + 1;
    else if (!next.gone[q] || next.gone[q] > r + 1)
      next.gone[q] = r + 1;
  }
  next.local[p] = after;
  next.done[p] = r + 1;
  if (next.done[p] > next.width)
    next.width = next.done[p];
  bool live = async_local_live(s, &next, p);
  if (live ? next.gone[p] && next.gone[p] - 1 <= r + 1 : next.there[p] && next.there[p] - 1 >= r + 1)
    return true; /* this contradicts its promise */
  if (live && async_local_point(s, &next, r + 1, &phase, &rounds) != POINT_END)
    return async_local_begin_round(s, &next, p, finish, k);
  return finish(k, &next);
}

static bool may_crash(const struct async_system *s, const struct async_local_state *l, uint32_t p) {
  int64_t faulty[ASYNC_LOCAL_PROCESSES + 1] = {0};
  if (!s->local_mode->crashes)
    return false;
  for (uint32_t q = 0; q < s->n; q++)
    faulty[model_role_of(s->model, q)] += q == p || (local_status(s->pack, l->local[q]) & STATUS_CRASHED) != 0;
  return faults_within(s->model, s->rounds->env, CLAUSE_CRASH, faulty);
}

static bool take_crashes(struct async_local_transition *k, const struct permissions *all, uint32_t point) {
  struct async_system *s = k->system;
  uint32_t p = k->step.process;
  local_id after = local_after(s->rounds, k->from->local[p], point, UPDATE_CRASH);
  k->step.crash = true;
  k->step.heard = 0;
  if (all->always)
    return take(k, after, false, 0);
  for (uint32_t i = 0; i < all->nviable; i++)
    if (!take(k, after, true, all->viable[i]))
      return false;
  return true;
}

static uint32_t senders_to(struct async_system *s, const struct async_local_state *l, uint32_t p) {
  uint32_t r = l->done[p], senders = 0;
  for (uint32_t q = 0; q < s->n; q++)
    if ((l->done[q] > r || (l->done[q] == r && async_local_live(s, l, q))) && l->sent[r][q] != SENT_IRRELEVANT &&
        async_local_reaches(s, l->sent[r][q], q, p))
      senders |= 1u << q;
  return senders;
}

static bool in_outcomes(const struct async_local_outcomes *d, uint32_t update) {
  for (uint32_t i = 0; i < d->n; i++)
    if (d->at[i].update == update)
      return true;
  return false;
}

bool async_local_steps(struct async_system *s, const struct async_local_state *l, uint32_t p,
                       async_local_step_fn *visit, void *context) {
  value phase;
  uint32_t rounds;
  if (!async_local_live(s, l, p) || async_local_point(s, l, l->done[p], &phase, &rounds) == POINT_END)
    return true;
  if (l->done[p] >= ASYNC_WINDOW_MAX) {
    s->base.distance_cut = true;
    return true;
  }
  const struct permissions *found = async_local_permissions(s, l, p);
  if (!found)
    return false;
  struct permissions all = *found; /* the tables may be reallocated */
  struct async_local_transition k = {s, l, {.process = p}, visit, context};
  struct async_outcome_builder v;
  struct async_local_outcomes first = {0};
  bool more = true;
  async_outcome_builder_init(&v, s, l, p);
  for (uint32_t i = 0; i < all.n && more; i++) {
    struct async_local_outcomes d = outcomes_for(&v, senders_to(s, l, p), all.at[i].sets);
    for (uint32_t e = 0; e < d.n && more; e++) {
      if (i > 0 && in_outcomes(&first, d.at[e].update))
        continue; /* possible without a promise */
      if (update_error(s->rounds, d.at[e].update)) {
        more = async_local_give_up(s, "an update can fail");
        break;
      }
      local_id after = local_after(s->rounds, l->local[p], v.point, d.at[e].update);
      k.step.heard = d.at[e].heard;
      k.step.broken = s->watched ? async_broken(s, s->view, p, after) : 0;
      more = take(&k, after, i > 0, all.at[i].coming);
    }
    if (i == 0)
      first = d;
  }
  vec_release(&v.bag);
  vec_release(&v.found);
  if (more && may_crash(s, l, p)) {
    local_id after = local_after(s->rounds, l->local[p], v.point, UPDATE_CRASH);
    k.step.broken = s->watched ? async_broken(s, s->view, p, after) : 0;
    more = take_crashes(&k, &all, v.point);
  }
  return more;
}

/* --- invisible steps --- */

/* A step that changes nothing, to a round in which no process hears this one and no condition depends on its presence,
   can be postponed arbitrarily: so it is fused with the next step. */
struct step_fusion {
  struct async_system *system;
  const struct async_local_step *before;
  local_id local; /* of the process */
  async_local_step_fn *visit;
  void *context;
};

static bool unheard(struct async_system *s, const struct async_local_state *l, uint32_t p) {
  value phase;
  uint32_t rounds, point = async_local_point(s, l, l->done[p], &phase, &rounds);
  if (point == POINT_END)
    return false;
  for (uint32_t q = 0; q < s->n; q++)
    if (q != p && l->done[q] <= l->done[p] &&
        (async_local_reaches(s, l->sent[l->done[p]][p], p, q) ||
         !async_local_ignores(s, point, rounds, phase, l->globals, p, q)))
      return false;
  return true;
}

static bool fuse_step(void *context, const struct async_local_step *step, const struct async_local_state *next) {
  struct step_fusion *k = context, after = *k;
  struct async_local_step whole = *step;
  whole.before = k->before;
  if (step->broken || step->after != k->local || !unheard(k->system, next, step->process))
    return k->visit(k->context, &whole, next);
  async_local_note(k->system, next);
  after.before = &whole;
  return async_local_steps(k->system, next, step->process, fuse_step, &after);
}

bool async_local_fused_steps(struct async_system *s, const struct async_local_state *l, uint32_t p,
                             async_local_step_fn *visit, void *context) {
  struct step_fusion k = {s, NULL, l->local[p], visit, context};
  return s->local_mode->fuses_steps ? async_local_steps(s, l, p, fuse_step, &k)
                                    : async_local_steps(s, l, p, visit, context);
}

/* --- promises --- */

static bool one_is_enough(void *context, const struct async_local_step *step, const struct async_local_state *next) {
  (void)step;
  (void)next;
  *(bool *)context = true;
  return false;
}

/* Rounds are communication-closed: if the promises can be fulfilled at all, then by advancing round by round, the last
   process first. The last process makes no promises about others. */
bool async_local_promises_hold(struct async_system *s, const struct async_local_state *l) {
  uint32_t last = UINT32_MAX, known;
  struct state key = async_local_encode(s, l);
  VEC(value) bytes = {0};
  for (uint32_t i = 0; i < key.length; i++)
    vec_push(&bytes, key.bytes[i]);
  uint32_t name = intern_put(s->local_mode->vectors, bytes.at, bytes.n);
  vec_release(&bytes);
  if (memo_find(&s->local_mode->kept, name, 0, &known))
    return known;
  for (uint32_t p = 0; p < s->n; p++)
    if (async_local_live(s, l, p) && (last == UINT32_MAX || l->done[p] < l->done[last]))
      last = p;
  bool found = false, watched = s->watched;
  s->watched = false;
  async_local_steps(s, l, last, one_is_enough, &found);
  s->watched = watched;
  if (!s->base.restart)
    memo_add(&s->local_mode->kept, name, 0, found);
  return found;
}
