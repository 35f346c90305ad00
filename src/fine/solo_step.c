/* Steps of the solo way: a process ends its round, and begins the next one. */
#include "fine/solo.h"

#include "sem/round.h"

#include <string.h>

/* --- what a process can become --- */

struct serving {
  struct fine_space *space;
  const struct lone *lone;
  uint32_t p, point, context;
  value phase;
  const struct reads *reads;
  bool told_apart; /* senders are */
  VEC(value) bag;
  VEC(struct dish) found;
};

static const struct sending *message_of(const struct serving *v, uint32_t q) {
  const struct fine_space *s = v->space;
  const struct sendings *out = &s->rounds->sendings.at[v->lone->sent[v->lone->done[v->p]][q]];
  for (size_t i = 0; i < out->n; i++)
    if (sending_reaches(s->model, &out->at[i], q, v->p))
      return &out->at[i];
  return NULL;
}

static void bag_add(struct serving *v, value message, value tag) {
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

static void serve(struct serving *v, uint32_t heard, const value *messages) {
  vec_clear(&v->bag);
  for (uint32_t q = 0; q < v->space->n && v->reads->received != RECEIVED_UNREAD; q++)
    if (heard >> q & 1)
      bag_add(v, messages[q], v->told_apart ? (value)q : -1);
  const struct list *effects = step_effects(v->space->rounds, v->context, v->bag.at, v->bag.n);
  for (uint32_t i = 0; i < effects->n; i++) {
    bool seen = false;
    for (size_t k = 0; k < v->found.n && !seen; k++)
      seen = v->found.at[k].effect == effects->at[i];
    if (!seen)
      vec_push(&v->found, ((struct dish){effects->at[i], heard}));
  }
}

static void serving_init(struct serving *v, struct fine_space *s, const struct lone *l, uint32_t p) {
  uint32_t rounds, role = model_role_of(s->model, p);
  *v = (struct serving){.space = s, .lone = l, .p = p};
  v->point = lone_point(s, l, l->done[p], &v->phase, &rounds);
  v->context = context_of(s->rounds, l->local[p], v->point, p, v->phase, l->globals);
  v->reads = s->rounds->updates[(size_t)role * s->model->npoints + v->point];
  v->told_apart = !s->rounds->group || v->reads->received >= RECEIVED_NAMED;
}

/* One dish for each effect of what the sets allow. */
static struct dishes dishes_for(struct serving *v, uint32_t senders, uint32_t sets) {
  struct fine_space *s = v->space;
  struct solo *solo = s->solo;
  value key[2 + 2 * SOLO_PROCESSES] = {v->context, sets}, messages[SOLO_PROCESSES];
  uint32_t n = 2, id;
  for (uint32_t q = 0; q < s->n; q++)
    if (senders >> q & 1) {
      messages[q] = message_of(v, q)->message;
      key[n++] = q;
      key[n++] = v->reads->received == RECEIVED_UNREAD ? 0 : messages[q];
    }
  uint32_t name = intern_put(solo->vectors, key, n);
  if (!memo_find(&solo->dishes_of, name, 0, &id)) {
    vec_clear(&v->found);
    for (uint32_t set = senders;; set = (set - 1) & senders) {
      const uint64_t *bits = (const uint64_t *)intern_at(solo->vectors, sets);
      if (bits[set / 64] >> set % 64 & 1)
        serve(v, set, messages);
      if (set == 0)
        break;
    }
    struct dishes made = {keep_array(&solo->arena, v->found.at, v->found.n, sizeof *v->found.at), (uint32_t)v->found.n};
    id = (uint32_t)solo->dishes.n;
    vec_push(&solo->dishes, made);
    memo_add(&solo->dishes_of, name, 0, id);
  }
  return solo->dishes.at[id];
}

/* --- ending a round --- */

struct taking {
  struct fine_space *space;
  const struct lone *from;
  struct lone_step step;
  lone_fn *visit;
  void *context;
};

static bool has_promises(const struct fine_space *s, const struct lone *l) {
  for (uint32_t p = 0; p < s->n; p++)
    if (l->gone[p] | l->there[p])
      return true;
  return false;
}

static bool sends_twice(const struct fine_space *s, const struct sendings *out, uint32_t q) {
  for (uint32_t p = 0; p < s->n && out->n > 1; p++) {
    uint32_t reaching = 0;
    for (size_t i = 0; i < out->n; i++)
      reaching += sending_reaches(s->model, &out->at[i], q, p);
    if (reaching > 1)
      return true;
  }
  return false;
}

bool lone_begin(struct fine_space *s, struct lone *l, uint32_t p, bool (*then)(void *context, struct lone *),
                void *context) {
  value phase;
  uint32_t rounds, point = lone_point(s, l, l->done[p], &phase, &rounds);
  struct list all = *send_alternatives(s->rounds, l->local[p], point, p, phase, l->globals);
  for (uint32_t i = 0; i < all.n; i++) {
    if (all.at[i] & SENDING_ERROR)
      return solo_give_up(s, "sending can fail");
    if (sends_twice(s, &s->rounds->sendings.at[all.at[i]], p))
      return solo_give_up(s, "two messages to one receiver in a round");
    l->sent[l->done[p]][p] = all.at[i];
    if (!then(context, l))
      return false;
  }
  return true;
}

static bool finish(void *context, struct lone *l) {
  struct taking *k = context;
  struct fine_space *s = k->space;
  struct lone next;
  lone_assign(&next, l);
  if (!lone_normalise(s, &next, &k->step.shift) || (has_promises(s, &next) && !lone_keeps(s, &next)))
    return !s->base.restart;
  uint32_t p = k->step.process;
  k->step.after = next.local[p];
  k->step.sent = lone_live(s, &next, p) ? next.sent[next.done[p]][p] : SENT_IN_VAIN;
  return k->visit(k->context, &k->step, &next);
}

/* p becomes `after`; of those behind just `coming` will take part in its round, if that is a promise. */
static bool take(struct taking *k, local_id after, bool promise, uint32_t coming) {
  struct fine_space *s = k->space;
  uint32_t p = k->step.process, r = k->from->done[p], rounds;
  struct lone next;
  value phase;
  lone_assign(&next, k->from);
  for (uint32_t q = 0; q < s->n && promise; q++) {
    if (!lone_live(s, &next, q) || next.done[q] >= r)
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
  bool live = lone_live(s, &next, p);
  if (live ? next.gone[p] && next.gone[p] - 1 <= r + 1 : next.there[p] && next.there[p] - 1 >= r + 1)
    return true; /* it has promised otherwise */
  if (live && lone_point(s, &next, r + 1, &phase, &rounds) != POINT_END)
    return lone_begin(s, &next, p, finish, k);
  return finish(k, &next);
}

static bool may_crash(const struct fine_space *s, const struct lone *l, uint32_t p) {
  int64_t faulty[SOLO_PROCESSES + 1] = {0};
  if (!s->solo->crashes)
    return false;
  for (uint32_t q = 0; q < s->n; q++)
    faulty[model_role_of(s->model, q)] += q == p || (local_status(s->pack, l->local[q]) & STATUS_CRASHED) != 0;
  return faults_within(s->model, s->rounds->env, CLAUSE_CRASH, faulty);
}

static bool take_crashes(struct taking *k, const struct permissions *all, uint32_t point) {
  struct fine_space *s = k->space;
  uint32_t p = k->step.process;
  local_id after = local_after(s->rounds, k->from->local[p], point, EFFECT_CRASH);
  k->step.crash = true;
  k->step.heard = 0;
  if (all->always)
    return take(k, after, false, 0);
  for (uint32_t i = 0; i < all->nviable; i++)
    if (!take(k, after, true, all->viable[i]))
      return false;
  return true;
}

static uint32_t senders_to(struct fine_space *s, const struct lone *l, uint32_t p) {
  uint32_t r = l->done[p], senders = 0;
  for (uint32_t q = 0; q < s->n; q++)
    if ((l->done[q] > r || (l->done[q] == r && lone_live(s, l, q))) && l->sent[r][q] != SENT_IN_VAIN &&
        solo_reaches(s, l->sent[r][q], q, p))
      senders |= 1u << q;
  return senders;
}

static bool in_dishes(const struct dishes *d, uint32_t effect) {
  for (uint32_t i = 0; i < d->n; i++)
    if (d->at[i].effect == effect)
      return true;
  return false;
}

bool lone_steps(struct fine_space *s, const struct lone *l, uint32_t p, lone_fn *visit, void *context) {
  value phase;
  uint32_t rounds;
  if (!lone_live(s, l, p) || lone_point(s, l, l->done[p], &phase, &rounds) == POINT_END)
    return true;
  if (l->done[p] >= WINDOW_MOST) {
    s->base.distance_cut = true;
    return true;
  }
  const struct permissions *found = solo_permissions(s, l, p);
  if (!found)
    return false;
  struct permissions all = *found; /* the tables may move */
  struct taking k = {s, l, {.process = p}, visit, context};
  struct serving v;
  struct dishes first = {0};
  bool more = true;
  serving_init(&v, s, l, p);
  for (uint32_t i = 0; i < all.n && more; i++) {
    struct dishes d = dishes_for(&v, senders_to(s, l, p), all.at[i].sets);
    for (uint32_t e = 0; e < d.n && more; e++) {
      if (i > 0 && in_dishes(&first, d.at[e].effect))
        continue; /* without any promise */
      if (effect_error(s->rounds, d.at[e].effect)) {
        more = solo_give_up(s, "an update can fail");
        break;
      }
      local_id after = local_after(s->rounds, l->local[p], v.point, d.at[e].effect);
      k.step.heard = d.at[e].heard;
      k.step.broken = s->watched ? fine_broken(s, s->view, p, after) : 0;
      more = take(&k, after, i > 0, all.at[i].coming);
    }
    if (i == 0)
      first = d;
  }
  vec_release(&v.bag);
  vec_release(&v.found);
  if (more && may_crash(s, l, p)) {
    local_id after = local_after(s->rounds, l->local[p], v.point, EFFECT_CRASH);
    k.step.broken = s->watched ? fine_broken(s, s->view, p, after) : 0;
    more = take_crashes(&k, &all, v.point);
  }
  return more;
}

/* --- silent steps --- */

/* A step that changes nothing, to a round in which nobody will hear the process or ask whether it is there, can be taken as late
   as one likes: so it is taken together with the next one. */
struct striding {
  struct fine_space *space;
  const struct lone_step *before;
  local_id local; /* of the process */
  lone_fn *visit;
  void *context;
};

static bool unheard(struct fine_space *s, const struct lone *l, uint32_t p) {
  value phase;
  uint32_t rounds, point = lone_point(s, l, l->done[p], &phase, &rounds);
  if (point == POINT_END)
    return false;
  for (uint32_t q = 0; q < s->n; q++)
    if (q != p && l->done[q] <= l->done[p] &&
        (solo_reaches(s, l->sent[l->done[p]][p], p, q) || !solo_ignores(s, point, rounds, phase, l->globals, p, q)))
      return false;
  return true;
}

static bool stride(void *context, const struct lone_step *step, const struct lone *next) {
  struct striding *k = context, after = *k;
  struct lone_step whole = *step;
  whole.before = k->before;
  if (step->broken || step->after != k->local || !unheard(k->space, next, step->process))
    return k->visit(k->context, &whole, next);
  lone_note(k->space, next);
  after.before = &whole;
  return lone_steps(k->space, next, step->process, stride, &after);
}

bool lone_strides(struct fine_space *s, const struct lone *l, uint32_t p, lone_fn *visit, void *context) {
  struct striding k = {s, NULL, l->local[p], visit, context};
  return s->solo->strides ? lone_steps(s, l, p, stride, &k) : lone_steps(s, l, p, visit, context);
}

/* --- promises --- */

static bool one_is_enough(void *context, const struct lone_step *step, const struct lone *next) {
  (void)step;
  (void)next;
  *(bool *)context = true;
  return false;
}

/* Rounds are communication-closed: if promises can be kept at all, then by going on round by round, the last one first. Whoever is
   last makes no promises for others. */
bool lone_keeps(struct fine_space *s, const struct lone *l) {
  uint32_t last = UINT32_MAX, known;
  struct state key = lone_encode(s, l);
  VEC(value) bytes = {0};
  for (uint32_t i = 0; i < key.length; i++)
    vec_push(&bytes, key.bytes[i]);
  uint32_t name = intern_put(s->solo->vectors, bytes.at, bytes.n);
  vec_release(&bytes);
  if (memo_find(&s->solo->kept, name, 0, &known))
    return known;
  for (uint32_t p = 0; p < s->n; p++)
    if (lone_live(s, l, p) && (last == UINT32_MAX || l->done[p] < l->done[last]))
      last = p;
  bool found = false, watched = s->watched;
  s->watched = false;
  lone_steps(s, l, last, one_is_enough, &found);
  s->watched = watched;
  if (!s->base.restart)
    memo_add(&s->solo->kept, name, 0, found);
  return found;
}
