/* States of the solo way, and how they are written down. Where nobody is told from another, and senders are not told
   apart, it does not matter which of the others sent what: messages of rounds that their senders have ended are kept as a bag
   for each round. */
#include "fine/solo.h"

#include "sem/round.h"

#include <stdlib.h>
#include <string.h>

uint32_t lone_point(const struct fine_space *s, const struct lone *l, uint32_t round, value *phase, uint32_t *rounds) {
  const struct later *later = &s->solo->later[(size_t)l->point * SOLO_ROUNDS + round];
  *phase = l->phase;
  *rounds = l->rounds;
  if (l->point == POINT_END)
    return POINT_END;
  *phase += later->phases;
  *rounds += round;
  return later->point;
}

/* Where one is some rounds after each point. */
static struct later *later_make(const struct model *m, struct arena *arena) {
  struct later *all = arena_array(arena, (size_t)m->npoints * SOLO_ROUNDS + 1, sizeof *all);
  for (uint32_t p = 0; p < m->npoints; p++) {
    uint32_t point = p, rounds = 0;
    value phase = 0;
    for (uint32_t i = 0; i < SOLO_ROUNDS; i++) {
      all[(size_t)p * SOLO_ROUNDS + i] = (struct later){point, phase};
      if (point != POINT_END)
        fine_go_on(m, &point, &phase, &rounds);
    }
  }
  return all;
}

void lone_assign(struct lone *to, const struct lone *from) {
  memcpy(to, from, offsetof(struct lone, sent));
  memcpy(to->sent, from->sent, (from->width + 1) * sizeof *from->sent);
}

bool solo_give_up(struct fine_space *s, const char *why) {
  s->solo_refused = why;
  s->base.restart = true;
  return false;
}

/* --- normal form --- */

/* Can what q sent in a round that it has ended still be received? */
static bool matters(struct fine_space *s, const struct lone *l, uint32_t sending, uint32_t q, uint32_t round,
                    const bool *live) {
  for (uint32_t p = 0; p < s->n; p++)
    if (live[p] && l->done[p] <= round && solo_reaches(s, sending, q, p))
      return true;
  return false;
}

bool lone_normalise(struct fine_space *s, struct lone *l, uint32_t *shift) {
  bool live[SOLO_PROCESSES] = {false};
  uint32_t least = UINT32_MAX, most = 0;
  for (uint32_t p = 0; p < s->n; p++) {
    live[p] = lone_live(s, l, p);
    if (live[p] && l->done[p] < least)
      least = l->done[p];
    if (l->done[p] > most)
      most = l->done[p];
    if (!live[p])
      l->gone[p] = l->there[p] = 0;
    else if (l->there[p] <= l->done[p] + 1)
      l->there[p] = 0;
  }
  if (least == UINT32_MAX)
    least = most;
  *shift = least;
  if (!fine_distance(s, l->done, live))
    return false;
  for (uint32_t i = 0; i < least; i++)
    fine_go_on(s->model, &l->point, &l->phase, &l->rounds);
  if (l->rounds > s->pack->rounds_cap)
    l->rounds = s->pack->rounds_cap;
  l->width = most - least;
  if (least)
    memmove(l->sent, l->sent + least, (l->width + 1) * sizeof *l->sent);
  for (uint32_t p = 0; p < s->n; p++) {
    l->done[p] = l->done[p] > least ? l->done[p] - least : 0;
    l->gone[p] = l->gone[p] > least ? l->gone[p] - least : 0;
    l->there[p] = l->there[p] > least ? l->there[p] - least : 0;
  }
  for (uint32_t r = 0; r < l->width; r++)
    for (uint32_t q = 0; q < s->n; q++)
      if (l->done[q] > r && l->sent[r][q] != SENT_IN_VAIN && !matters(s, l, l->sent[r][q], q, r, live))
        l->sent[r][q] = SENT_IN_VAIN;
  return true;
}

/* --- keys --- */

static uint64_t sent_number(uint32_t sent) { return sent == SENT_IN_VAIN ? 0 : (uint64_t)sent + 1; }
static uint32_t sent_of(uint64_t number) { return number == 0 ? SENT_IN_VAIN : (uint32_t)(number - 1); }

static bool is_in_round(const struct fine_space *s, const struct lone *l, uint32_t p) {
  value phase;
  uint32_t rounds;
  return lone_live(s, l, p) && lone_point(s, l, l->done[p], &phase, &rounds) != POINT_END;
}

static uint8_t *put_head(const struct fine_space *s, const struct lone *l, uint8_t *at) {
  const struct pack *k = s->pack;
  value phase = k->phase_period ? (l->phase - 1) % k->phase_period + 1 : l->phase;
  at = key_put(at, l->point == POINT_END ? s->model->npoints : l->point);
  if (k->keep_rounds)
    at = key_put(at, l->rounds);
  if (k->keep_phase)
    at = key_put(at, (uint64_t)phase);
  at = key_put(at, l->globals);
  return key_put(at, l->inits);
}

static const uint8_t *get_head(const struct fine_space *s, const uint8_t *at, struct lone *l) {
  const struct pack *k = s->pack;
  uint64_t x;
  at = key_get(at, &x), l->point = x == s->model->npoints ? POINT_END : (uint32_t)x;
  l->rounds = 0;
  l->phase = 1;
  if (k->keep_rounds)
    at = key_get(at, &x), l->rounds = (uint32_t)x;
  if (k->keep_phase)
    at = key_get(at, &x), l->phase = (value)x;
  at = key_get(at, &x), l->globals = (uint32_t)x;
  at = key_get(at, &x), l->inits = (uint32_t)x;
  return at;
}

static uint8_t *put_process(const struct fine_space *s, const struct lone *l, uint32_t p, uint8_t *at) {
  bool live = lone_live(s, l, p);
  at = key_put(at, l->local[p]);
  if (!s->solo->bag || live)
    at = key_put(at, l->done[p]);
  if (live) {
    at = key_put(at, (l->gone[p] | l->there[p]) != 0);
    if (l->gone[p] | l->there[p]) {
      at = key_put(at, l->gone[p]);
      at = key_put(at, l->there[p]);
    }
    if (s->solo->chooses && is_in_round(s, l, p))
      at = key_put(at, sent_number(l->sent[l->done[p]][p]));
  }
  return at;
}

static const uint8_t *get_process(struct fine_space *s, const uint8_t *at, struct lone *l, uint32_t p) {
  uint64_t x;
  at = key_get(at, &x), l->local[p] = (local_id)x;
  bool live = lone_live(s, l, p);
  l->done[p] = l->gone[p] = l->there[p] = 0;
  if (!s->solo->bag || live)
    at = key_get(at, &x), l->done[p] = (uint32_t)x;
  if (live) {
    at = key_get(at, &x);
    if (x) {
      at = key_get(at, &x), l->gone[p] = (uint32_t)x;
      at = key_get(at, &x), l->there[p] = (uint32_t)x;
    }
    if (s->solo->chooses && is_in_round(s, l, p))
      at = key_get(at, &x), l->sent[l->done[p]][p] = sent_of(x);
  }
  return at;
}

/* Of processes of the same role. */
static int order_processes(const struct fine_space *s, const struct lone *l, uint32_t p, uint32_t q) {
  bool live = lone_live(s, l, p), other = lone_live(s, l, q);
#define BY(a, b)                                                                                                      \
  if ((a) != (b))                                                                                                     \
  return (a) < (b) ? -1 : 1
  BY(live, other);
  BY(l->local[p], l->local[q]);
  if (!live)
    return 0;
  BY(l->done[p], l->done[q]);
  BY(l->gone[p], l->gone[q]);
  BY(l->there[p], l->there[q]);
  if (s->solo->chooses && is_in_round(s, l, p))
    BY(l->sent[l->done[p]][p], l->sent[l->done[q]][q]);
#undef BY
  return 0;
}

static int by_number(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

static uint8_t *put_bags(const struct fine_space *s, const struct lone *l, uint8_t *at) {
  uint32_t order[SOLO_PROCESSES], sent[SOLO_PROCESSES];
  for (uint32_t r = 0; r < s->model->nroles; r++) {
    const struct role *role = &s->model->roles[r];
    for (uint32_t i = 0; i < role->count; i++) {
      uint32_t k = i;
      for (; k > 0 && order_processes(s, l, order[k - 1], role->first + i) > 0; k--)
        order[k] = order[k - 1];
      order[k] = role->first + i;
    }
    for (uint32_t i = 0; i < role->count; i++)
      at = put_process(s, l, order[i], at);
    for (uint32_t round = 0; round < l->width; round++) {
      uint32_t n = 0;
      for (uint32_t p = role->first; p < role->first + role->count; p++)
        if (l->done[p] > round)
          sent[n++] = l->sent[round][p];
      qsort(sent, n, sizeof *sent, by_number);
      at = key_put(at, n);
      for (uint32_t i = 0; i < n; i++)
        at = key_put(at, sent_number(sent[i]));
    }
  }
  return at;
}

/* Whoever sent a message that is left: first those who are known to have taken part. */
static const uint8_t *get_bags(struct fine_space *s, const uint8_t *at, struct lone *l) {
  uint64_t n, x;
  for (uint32_t r = 0; r < s->model->nroles; r++) {
    const struct role *role = &s->model->roles[r];
    for (uint32_t p = role->first; p < role->first + role->count; p++)
      at = get_process(s, at, l, p);
    for (uint32_t round = 0; round < l->width; round++) {
      at = key_get(at, &n);
      for (uint32_t idle = 0; idle < 2; idle++)
        for (uint32_t p = role->first; p < role->first + role->count && n; p++) {
          bool live = lone_live(s, l, p);
          if (idle == live || (live && l->done[p] <= round))
            continue;
          at = key_get(at, &x), l->sent[round][p] = sent_of(x);
          if (!live)
            l->done[p] = round + 1;
          n--;
        }
    }
  }
  return at;
}

/* Who of those that have ended a round sent what in it does not matter where nobody can tell. */
static void sort_round(struct fine_space *s, const struct lone *l, uint32_t round, uint32_t *sent) {
  value phase;
  uint32_t rounds, point = lone_point(s, l, round, &phase, &rounds), some[SOLO_PROCESSES];
  memcpy(sent, l->sent[round], s->n * sizeof *sent);
  if (!s->solo->total || !solo_senders_alike(s, point, rounds, l->globals))
    return;
  for (uint32_t r = 0; r < s->model->nroles; r++) {
    const struct role *role = &s->model->roles[r];
    uint32_t n = 0;
    for (uint32_t p = role->first; p < role->first + role->count; p++)
      if (l->done[p] > round)
        some[n++] = sent[p];
    qsort(some, n, sizeof *some, by_number);
    n = 0;
    for (uint32_t p = role->first; p < role->first + role->count; p++)
      if (l->done[p] > round)
        sent[p] = some[n++];
  }
}

struct state lone_encode(struct fine_space *s, const struct lone *l) {
  uint32_t sent[SOLO_PROCESSES];
  fine_room(s, 100 + s->n * (l->width + (size_t)4) * 20);
  uint8_t *at = key_put(put_head(s, l, s->best), l->width);
  if (s->solo->bag)
    at = put_bags(s, l, at);
  for (uint32_t p = 0; p < s->n && !s->solo->bag; p++)
    at = put_process(s, l, p, at);
  for (uint32_t r = 0; r < l->width && !s->solo->bag; r++) {
    sort_round(s, l, r, sent);
    for (uint32_t p = 0; p < s->n; p++)
      if (l->done[p] > r)
        at = key_put(at, sent_number(sent[p]));
  }
  return (struct state){s->best, (uint32_t)(at - s->best)};
}

static bool keep_sent(void *context, struct lone *l) {
  (void)context;
  (void)l;
  return true;
}

static void lone_decode(struct fine_space *s, const struct state *state, struct lone *l) {
  uint64_t x;
  const uint8_t *at = get_head(s, state->bytes, l);
  at = key_get(at, &x), l->width = (uint32_t)x;
  if (s->solo->bag)
    at = get_bags(s, at, l);
  for (uint32_t p = 0; p < s->n && !s->solo->bag; p++)
    at = get_process(s, at, l, p);
  for (uint32_t r = 0; r < l->width && !s->solo->bag; r++)
    for (uint32_t p = 0; p < s->n; p++)
      if (l->done[p] > r)
        at = key_get(at, &x), l->sent[r][p] = sent_of(x);
  for (uint32_t p = 0; p < s->n && !s->solo->chooses; p++)
    if (is_in_round(s, l, p))
      lone_begin(s, l, p, keep_sent, NULL);
}

/* --- the waist's side --- */

void lone_view(const struct fine_space *s, const struct lone *l, struct global *g) {
  g->point = l->point;
  g->rounds = l->rounds;
  g->phase = l->phase;
  g->lost = g->corrupted = 0;
  g->globals = l->globals;
  g->inits = l->inits;
  g->n = s->n;
  for (uint32_t p = 0; p < s->n; p++)
    g->at[p] = (struct member){l->local[p], 1};
}

void solo_view(struct fine_space *s, const struct state *state, struct global *g) {
  lone_decode(s, state, s->solo->from);
  lone_view(s, s->solo->from, g);
}

/* The most messages of one kind (of one round in the text) sent to one live process, of rounds that it has not ended; if that may be
   more than what is known. */
static uint32_t most_pending(struct fine_space *s, const struct lone *l) {
  uint32_t most = 0, total = 0, in_round = 0;
  for (uint32_t q = 0; q < s->n; q++) {
    total += l->done[q] + 1;
    in_round |= (uint32_t)is_in_round(s, l, q) << q;
  }
  if (total <= s->base.channel_bound)
    return 0;
  for (uint32_t p = 0; p < s->n; p++) {
    uint32_t pending[SOLO_ROUNDS] = {0}, kind[SOLO_ROUNDS], rounds;
    value phase;
    for (uint32_t r = l->done[p]; lone_live(s, l, p) && r <= l->width; r++) {
      uint32_t point = lone_point(s, l, r, &phase, &rounds), k = l->done[p];
      kind[r] = point == POINT_END ? POINT_END : s->model->roles[0].body[point].at.from;
      while (kind[k] != kind[r])
        k++;
      for (uint32_t q = 0; q < s->n; q++)
        if ((l->done[q] > r || (l->done[q] == r && in_round >> q & 1)) && l->sent[r][q] != SENT_IN_VAIN)
          pending[k] += solo_reaches(s, l->sent[r][q], q, p);
      most = pending[k] > most ? pending[k] : most;
    }
  }
  return most;
}

struct emitting {
  struct fine_space *space;
  emit_fn *emit;
  void *context;
};

void lone_note(struct fine_space *s, const struct lone *l) {
  uint32_t pending = most_pending(s, l);
  s->distance = 0;
  for (uint32_t p = 0; p < s->n; p++)
    if (lone_live(s, l, p) && l->done[p] > s->distance)
      s->distance = l->done[p];
  if (s->distance <= s->base.distance && pending <= s->base.channel_bound)
    return;
  lone_view(s, l, s->after);
  if (fine_is_over(s, s->after))
    return;
  if (pending > s->base.channel_bound)
    s->base.channel_bound = pending;
  if (s->distance > s->base.distance) {
    struct state state = lone_encode(s, l);
    s->base.distance = s->distance;
    fine_keep_farthest(s, &state);
  }
}

static bool emit_lone(void *context, const struct lone_step *step, const struct lone *next) {
  struct emitting *e = context;
  struct edge edge = {.processes = step->crash, .broken = step->broken};
  lone_note(e->space, next);
  struct state state = lone_encode(e->space, next);
  return e->emit(e->context, &state, &edge);
}

bool solo_successors(struct fine_space *s, const struct state *state, emit_fn *emit, void *context) {
  struct emitting e = {s, emit, context};
  struct lone *l = memory_alloc(sizeof *l);
  lone_decode(s, state, l);
  lone_view(s, l, s->view);
  bool more = true;
  for (uint32_t p = 0; p < s->n && more; p++) {
    bool seen = false;
    for (uint32_t q = s->model->roles[model_role_of(s->model, p)].first; q < p && s->solo->bag && !seen; q++)
      seen = order_processes(s, l, q, p) == 0;
    more = seen || lone_strides(s, l, p, emit_lone, &e);
  }
  memory_free(l);
  return more;
}

struct beginning {
  struct fine_space *space;
  uint32_t next; /* the process that is to send */
  bool (*then)(void *context, struct lone *);
  void *context;
};

static bool begin_rest(void *context, struct lone *l) {
  struct beginning *b = context;
  uint32_t p = b->next;
  if (p == b->space->n)
    return b->then(b->context, l);
  b->next = p + 1;
  bool more = is_in_round(b->space, l, p) ? lone_begin(b->space, l, p, begin_rest, b) : begin_rest(b, l);
  b->next = p;
  return more;
}

bool lone_start(struct fine_space *s, const struct global *g, bool (*then)(void *context, struct lone *), void *context) {
  struct lone *l = memory_alloc(sizeof *l);
  struct beginning b = {s, 0, then, context};
  l->point = g->point;
  l->phase = 1;
  l->globals = g->globals;
  l->inits = g->inits;
  for (uint32_t p = 0; p < g->n; p++)
    l->local[p] = g->at[p].local;
  bool more = begin_rest(&b, l);
  memory_free(l);
  return more;
}

struct starting {
  struct emitting emitting;
  struct edge edge;
};

static bool emit_start(void *context, struct lone *l) {
  struct starting *k = context;
  lone_note(k->emitting.space, l);
  struct state state = lone_encode(k->emitting.space, l);
  return k->emitting.emit(k->emitting.context, &state, &k->edge);
}

bool solo_initial(struct fine_space *s, const struct global *g, uint32_t faulty, emit_fn *emit, void *context) {
  struct starting k = {{s, emit, context}, {.processes = faulty}};
  return lone_start(s, g, emit_start, &k);
}

/* --- making one --- */

static local_id some_local(struct fine_space *s, uint32_t role, value status) {
  const struct role *r = &s->model->roles[role];
  value *v = memory_alloc((role_local_length(r) + 1) * sizeof *v);
  v[LOCAL_STATUS] = status;
  for (uint32_t i = 0; i < r->nvars; i++)
    v[LOCAL_VAR(i)] = type_default(&s->model->values, r->vars[i].type);
  local_id id = local_put(s->pack, role, v);
  memory_free(v);
  return id;
}

static void look_at_role(struct fine_space *s, uint32_t role) {
  struct solo *solo = s->solo;
  solo->present[role] = some_local(s, role, 0);
  solo->absent[role] = some_local(s, role, STATUS_HALTED);
  solo->halts[role] = role_halts(s->model, &s->model->roles[role]);
  for (uint32_t i = 0; i < s->model->npoints; i++)
    solo->chooses |= s->rounds->sends[(size_t)role * s->model->npoints + i]->chooses;
}

struct solo *solo_new(struct fine_space *s) {
  const struct licences *l = s->base.licences;
  struct solo *solo = memory_alloc(sizeof *solo);
  s->solo = solo;
  solo->space = s;
  solo->rounds = s->rounds;
  solo->bag = l->of[REDUCE_SYMMETRY].applied && l->anonymous && s->rounds->group;
  solo->crashes = environment_clause(s->rounds->env, CLAUSE_CRASH) != NULL;
  arena_init(&solo->arena);
  solo->later = later_make(s->model, &solo->arena);
  solo->vectors = intern_new();
  solo->halts = arena_array(&solo->arena, s->model->nroles + 1, sizeof *solo->halts);
  solo->present = arena_array(&solo->arena, s->model->nroles + 1, sizeof *solo->present);
  solo->absent = arena_array(&solo->arena, s->model->nroles + 1, sizeof *solo->absent);
  solo->total = !solo->crashes;
  for (uint32_t r = 0; r < s->model->nroles; r++) {
    look_at_role(s, r);
    solo->total &= !solo->halts[r];
  }
  solo->strides = solo->total && !s->pack->keep_rounds && l->of[REDUCE_PARTIAL_ORDER].applied;
  solo->from = memory_alloc(sizeof *solo->from);
  return solo;
}

void solo_free(struct solo *solo) {
  if (!solo)
    return;
  arena_release(&solo->arena);
  intern_free(solo->vectors);
  memo_release(&solo->permissions_of);
  memo_release(&solo->dishes_of);
  memo_release(&solo->sends_to);
  memo_release(&solo->ignored);
  memo_release(&solo->alike);
  memo_release(&solo->kept);
  vec_release(&solo->permissions);
  vec_release(&solo->dishes);
  memory_free(solo->from);
  memory_free(solo);
}

size_t solo_memory(const struct solo *solo) {
  return intern_bytes(solo->vectors) + memo_bytes(&solo->permissions_of) + memo_bytes(&solo->dishes_of) +
         memo_bytes(&solo->kept) + memo_bytes(&solo->sends_to);
}
