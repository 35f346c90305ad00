/* States of the local mode and their keys. Where processes and senders are indistinguishable, it does not matter which
   process sent which message: messages of rounds that their senders have ended are kept as a bag for each round. */
#include "async/async_local.h"

#include "interp/round_step.h"

#include <stdlib.h>
#include <string.h>

uint32_t async_local_point(const struct async_system *s, const struct async_local_state *l, uint32_t round,
                           value *phase, uint32_t *rounds) {
  const struct round_offset *round_offset = &s->local_mode->round_offset[(size_t)l->point * ASYNC_LOCAL_ROUNDS + round];
  *phase = l->phase;
  *rounds = l->rounds;
  if (l->point == POINT_END)
    return POINT_END;
  *phase += round_offset->phases;
  *rounds += round;
  return round_offset->point;
}

/* The schedule position a given number of rounds after each point. */
static struct round_offset *round_offsets_make(const struct model *m, struct arena *arena) {
  struct round_offset *all = arena_array(arena, (size_t)m->npoints * ASYNC_LOCAL_ROUNDS + 1, sizeof *all);
  for (uint32_t p = 0; p < m->npoints; p++) {
    uint32_t point = p, rounds = 0;
    value phase = 0;
    for (uint32_t i = 0; i < ASYNC_LOCAL_ROUNDS; i++) {
      all[(size_t)p * ASYNC_LOCAL_ROUNDS + i] = (struct round_offset){point, phase};
      if (point != POINT_END)
        async_next_round(m, &point, &phase, &rounds);
    }
  }
  return all;
}

void async_local_assign(struct async_local_state *to, const struct async_local_state *from) {
  memcpy(to, from, offsetof(struct async_local_state, sent));
  memcpy(to->sent, from->sent, (from->width + 1) * sizeof *from->sent);
}

bool async_local_give_up(struct async_system *s, const char *why) {
  s->local_refused = why;
  s->base.restart = true;
  return false;
}

/* --- normal form --- */

/* Can the message that q sent in a round it has ended still be received? */
static bool matters(struct async_system *s, const struct async_local_state *l, uint32_t sending, uint32_t q,
                    uint32_t round, const bool *live) {
  for (uint32_t p = 0; p < s->n; p++)
    if (live[p] && l->done[p] <= round && async_local_reaches(s, sending, q, p))
      return true;
  return false;
}

bool async_local_normalise(struct async_system *s, struct async_local_state *l, uint32_t *shift) {
  bool live[ASYNC_LOCAL_PROCESSES] = {false};
  uint32_t least = UINT32_MAX, most = 0;
  for (uint32_t p = 0; p < s->n; p++) {
    live[p] = async_local_live(s, l, p);
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
  if (!async_distance(s, l->done, live))
    return false;
  for (uint32_t i = 0; i < least; i++)
    async_next_round(s->model, &l->point, &l->phase, &l->rounds);
  if (l->rounds > s->pack->kept.rounds_cap)
    l->rounds = s->pack->kept.rounds_cap;
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
      if (l->done[q] > r && l->sent[r][q] != SENT_IRRELEVANT && !matters(s, l, l->sent[r][q], q, r, live))
        l->sent[r][q] = SENT_IRRELEVANT;
  return true;
}

/* --- keys --- */

static uint64_t sent_number(uint32_t sent) { return sent == SENT_IRRELEVANT ? 0 : (uint64_t)sent + 1; }
static uint32_t sent_of(uint64_t number) { return number == 0 ? SENT_IRRELEVANT : (uint32_t)(number - 1); }

static bool is_in_round(const struct async_system *s, const struct async_local_state *l, uint32_t p) {
  value phase;
  uint32_t rounds;
  return async_local_live(s, l, p) && async_local_point(s, l, l->done[p], &phase, &rounds) != POINT_END;
}

static uint8_t *put_head(const struct async_system *s, const struct async_local_state *l, uint8_t *at) {
  const struct pack *k = s->pack;
  value phase = k->kept.phase_period ? (l->phase - 1) % k->kept.phase_period + 1 : l->phase;
  at = key_put(at, l->point == POINT_END ? s->model->npoints : l->point);
  if (k->kept.rounds)
    at = key_put(at, l->rounds);
  if (k->kept.phase)
    at = key_put(at, (uint64_t)phase);
  at = key_put(at, l->globals);
  return key_put(at, l->inits);
}

static const uint8_t *get_head(const struct async_system *s, const uint8_t *at, struct async_local_state *l) {
  const struct pack *k = s->pack;
  uint64_t x;
  at = key_get(at, &x), l->point = x == s->model->npoints ? POINT_END : (uint32_t)x;
  l->rounds = 0;
  l->phase = 1;
  if (k->kept.rounds)
    at = key_get(at, &x), l->rounds = (uint32_t)x;
  if (k->kept.phase)
    at = key_get(at, &x), l->phase = (value)x;
  at = key_get(at, &x), l->globals = (uint32_t)x;
  at = key_get(at, &x), l->inits = (uint32_t)x;
  return at;
}

static uint8_t *put_process(const struct async_system *s, const struct async_local_state *l, uint32_t p, uint8_t *at) {
  bool live = async_local_live(s, l, p);
  at = key_put(at, l->local[p]);
  if (!s->local_mode->bag || live)
    at = key_put(at, l->done[p]);
  if (live) {
    at = key_put(at, (l->gone[p] | l->there[p]) != 0);
    if (l->gone[p] | l->there[p]) {
      at = key_put(at, l->gone[p]);
      at = key_put(at, l->there[p]);
    }
    if (s->local_mode->chooses && is_in_round(s, l, p))
      at = key_put(at, sent_number(l->sent[l->done[p]][p]));
  }
  return at;
}

static const uint8_t *get_process(struct async_system *s, const uint8_t *at, struct async_local_state *l, uint32_t p) {
  uint64_t x;
  at = key_get(at, &x), l->local[p] = (local_id)x;
  bool live = async_local_live(s, l, p);
  l->done[p] = l->gone[p] = l->there[p] = 0;
  if (!s->local_mode->bag || live)
    at = key_get(at, &x), l->done[p] = (uint32_t)x;
  if (live) {
    at = key_get(at, &x);
    if (x) {
      at = key_get(at, &x), l->gone[p] = (uint32_t)x;
      at = key_get(at, &x), l->there[p] = (uint32_t)x;
    }
    if (s->local_mode->chooses && is_in_round(s, l, p))
      at = key_get(at, &x), l->sent[l->done[p]][p] = sent_of(x);
  }
  return at;
}

/* Compares processes of the same role. */
static int order_processes(const struct async_system *s, const struct async_local_state *l, uint32_t p, uint32_t q) {
  bool live = async_local_live(s, l, p), other = async_local_live(s, l, q);
#define BY(a, b)                                                                                                       \
  if ((a) != (b))                                                                                                      \
  return (a) < (b) ? -1 : 1
  BY(live, other);
  BY(l->local[p], l->local[q]);
  if (!live)
    return 0;
  BY(l->done[p], l->done[q]);
  BY(l->gone[p], l->gone[q]);
  BY(l->there[p], l->there[q]);
  if (s->local_mode->chooses && is_in_round(s, l, p))
    BY(l->sent[l->done[p]][p], l->sent[l->done[q]][q]);
#undef BY
  return 0;
}

static int by_number(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

static uint8_t *put_bags(const struct async_system *s, const struct async_local_state *l, uint8_t *at) {
  uint32_t order[ASYNC_LOCAL_PROCESSES], sent[ASYNC_LOCAL_PROCESSES];
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

/* Assigns the messages in the bags to senders: first to processes that are known to have taken part. */
static const uint8_t *get_bags(struct async_system *s, const uint8_t *at, struct async_local_state *l) {
  uint64_t n, x;
  for (uint32_t r = 0; r < s->model->nroles; r++) {
    const struct role *role = &s->model->roles[r];
    for (uint32_t p = role->first; p < role->first + role->count; p++)
      at = get_process(s, at, l, p);
    for (uint32_t round = 0; round < l->width; round++) {
      at = key_get(at, &n);
      for (uint32_t idle = 0; idle < 2; idle++)
        for (uint32_t p = role->first; p < role->first + role->count && n; p++) {
          bool live = async_local_live(s, l, p);
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

/* Sorts the messages of processes that have ended the round, if their senders are indistinguishable. */
static void sort_round(struct async_system *s, const struct async_local_state *l, uint32_t round, uint32_t *sent) {
  value phase;
  uint32_t rounds, point = async_local_point(s, l, round, &phase, &rounds), some[ASYNC_LOCAL_PROCESSES];
  memcpy(sent, l->sent[round], s->n * sizeof *sent);
  if (!s->local_mode->total || !async_local_senders_alike(s, point, rounds, l->globals))
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

struct state async_local_encode(struct async_system *s, const struct async_local_state *l) {
  uint32_t sent[ASYNC_LOCAL_PROCESSES];
  async_key_room(s, 100 + s->n * (l->width + (size_t)4) * 20);
  uint8_t *at = key_put(put_head(s, l, s->best), l->width);
  if (s->local_mode->bag)
    at = put_bags(s, l, at);
  for (uint32_t p = 0; p < s->n && !s->local_mode->bag; p++)
    at = put_process(s, l, p, at);
  for (uint32_t r = 0; r < l->width && !s->local_mode->bag; r++) {
    sort_round(s, l, r, sent);
    for (uint32_t p = 0; p < s->n; p++)
      if (l->done[p] > r)
        at = key_put(at, sent_number(sent[p]));
  }
  return (struct state){s->best, (uint32_t)(at - s->best)};
}

static bool keep_sent(void *context, struct async_local_state *l) {
  (void)context;
  (void)l;
  return true;
}

static void async_local_decode(struct async_system *s, const struct state *state, struct async_local_state *l) {
  uint64_t x;
  const uint8_t *at = get_head(s, state->bytes, l);
  at = key_get(at, &x), l->width = (uint32_t)x;
  if (s->local_mode->bag)
    at = get_bags(s, at, l);
  for (uint32_t p = 0; p < s->n && !s->local_mode->bag; p++)
    at = get_process(s, at, l, p);
  for (uint32_t r = 0; r < l->width && !s->local_mode->bag; r++)
    for (uint32_t p = 0; p < s->n; p++)
      if (l->done[p] > r)
        at = key_get(at, &x), l->sent[r][p] = sent_of(x);
  for (uint32_t p = 0; p < s->n && !s->local_mode->chooses; p++)
    if (is_in_round(s, l, p))
      async_local_begin_round(s, l, p, keep_sent, NULL);
}

/* --- for async_system.c --- */

void async_local_state_view(const struct async_system *s, const struct async_local_state *l, struct unpacked_state *g) {
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

void async_local_view(struct async_system *s, const struct state *state, struct unpacked_state *g) {
  async_local_decode(s, state, s->local_mode->from);
  async_local_state_view(s, s->local_mode->from, g);
}

/* The largest number of pending messages of one kind (of one round in the text) to one live process, over the rounds
   that it has not ended; 0 if it cannot exceed channel_bound. */
static uint32_t most_pending(struct async_system *s, const struct async_local_state *l) {
  uint32_t most = 0, total = 0, in_round = 0;
  for (uint32_t q = 0; q < s->n; q++) {
    total += l->done[q] + 1;
    in_round |= (uint32_t)is_in_round(s, l, q) << q;
  }
  if (total <= s->base.channel_bound)
    return 0;
  for (uint32_t p = 0; p < s->n; p++) {
    uint32_t pending[ASYNC_LOCAL_ROUNDS] = {0}, kind[ASYNC_LOCAL_ROUNDS], rounds;
    value phase;
    for (uint32_t r = l->done[p]; async_local_live(s, l, p) && r <= l->width; r++) {
      uint32_t point = async_local_point(s, l, r, &phase, &rounds), k = l->done[p];
      kind[r] = point == POINT_END ? POINT_END : s->model->roles[0].body[point].at.from;
      while (kind[k] != kind[r])
        k++;
      for (uint32_t q = 0; q < s->n; q++)
        if ((l->done[q] > r || (l->done[q] == r && in_round >> q & 1)) && l->sent[r][q] != SENT_IRRELEVANT)
          pending[k] += async_local_reaches(s, l->sent[r][q], q, p);
      most = pending[k] > most ? pending[k] : most;
    }
  }
  return most;
}

struct async_local_emitter {
  struct async_system *system;
  emit_fn *emit;
  void *context;
};

void async_local_note(struct async_system *s, const struct async_local_state *l) {
  uint32_t pending = most_pending(s, l);
  s->distance = 0;
  for (uint32_t p = 0; p < s->n; p++)
    if (async_local_live(s, l, p) && l->done[p] > s->distance)
      s->distance = l->done[p];
  if (s->distance <= s->base.distance && pending <= s->base.channel_bound)
    return;
  async_local_state_view(s, l, s->after);
  if (async_until_holds(s, s->after))
    return;
  if (pending > s->base.channel_bound)
    s->base.channel_bound = pending;
  if (s->distance > s->base.distance) {
    struct state state = async_local_encode(s, l);
    s->base.distance = s->distance;
    async_keep_farthest(s, &state);
  }
}

static bool emit_local_state(void *context, const struct async_local_step *step, const struct async_local_state *next) {
  struct async_local_emitter *e = context;
  struct edge edge = {.processes = step->crash, .broken = step->broken};
  async_local_note(e->system, next);
  struct state state = async_local_encode(e->system, next);
  return e->emit(e->context, &state, &edge);
}

bool async_local_successors(struct async_system *s, const struct state *state, emit_fn *emit, void *context) {
  struct async_local_emitter e = {s, emit, context};
  struct async_local_state *l = memory_alloc(sizeof *l);
  async_local_decode(s, state, l);
  async_local_state_view(s, l, s->view);
  bool more = true;
  for (uint32_t p = 0; p < s->n && more; p++) {
    bool seen = false;
    for (uint32_t q = s->model->roles[model_role_of(s->model, p)].first; q < p && s->local_mode->bag && !seen; q++)
      seen = order_processes(s, l, q, p) == 0;
    more = seen || async_local_fused_steps(s, l, p, emit_local_state, &e);
  }
  memory_free(l);
  return more;
}

struct round_beginning {
  struct async_system *system;
  uint32_t next; /* the process that sends next */
  bool (*then)(void *context, struct async_local_state *);
  void *context;
};

static bool begin_rest(void *context, struct async_local_state *l) {
  struct round_beginning *b = context;
  uint32_t p = b->next;
  if (p == b->system->n)
    return b->then(b->context, l);
  b->next = p + 1;
  bool more = is_in_round(b->system, l, p) ? async_local_begin_round(b->system, l, p, begin_rest, b) : begin_rest(b, l);
  b->next = p;
  return more;
}

bool async_local_start(struct async_system *s, const struct unpacked_state *g,
                       bool (*then)(void *context, struct async_local_state *), void *context) {
  struct async_local_state *l = memory_alloc(sizeof *l);
  struct round_beginning b = {s, 0, then, context};
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

struct async_local_initial {
  struct async_local_emitter emitter;
  struct edge edge;
};

static bool emit_start(void *context, struct async_local_state *l) {
  struct async_local_initial *k = context;
  async_local_note(k->emitter.system, l);
  struct state state = async_local_encode(k->emitter.system, l);
  return k->emitter.emit(k->emitter.context, &state, &k->edge);
}

bool async_local_initial(struct async_system *s, const struct unpacked_state *g, uint32_t faulty, emit_fn *emit,
                         void *context) {
  struct async_local_initial k = {{s, emit, context}, {.processes = faulty}};
  return async_local_start(s, g, emit_start, &k);
}

/* --- constructor --- */

static local_id some_local(struct async_system *s, uint32_t role, value status) {
  const struct role *r = &s->model->roles[role];
  value *v = memory_alloc((role_local_length(r) + 1) * sizeof *v);
  v[LOCAL_STATUS] = status;
  for (uint32_t i = 0; i < r->nvars; i++)
    v[LOCAL_VAR(i)] = type_default(&s->model->values, r->vars[i].type);
  local_id id = local_put(s->pack, role, v);
  memory_free(v);
  return id;
}

static void look_at_role(struct async_system *s, uint32_t role) {
  struct async_local *async_local = s->local_mode;
  async_local->present[role] = some_local(s, role, 0);
  async_local->absent[role] = some_local(s, role, STATUS_HALTED);
  async_local->halts[role] = role_halts(s->model, &s->model->roles[role]);
  for (uint32_t i = 0; i < s->model->npoints; i++)
    async_local->chooses |= s->rounds->local.sends[(size_t)role * s->model->npoints + i]->chooses;
}

struct async_local *async_local_new(struct async_system *s) {
  const struct licences *l = s->base.licences;
  struct async_local *async_local = memory_alloc(sizeof *async_local);
  s->local_mode = async_local;
  async_local->system = s;
  async_local->rounds = s->rounds;
  async_local->bag = l->of[REDUCE_SYMMETRY].applied && l->anonymous && s->rounds->form.group;
  async_local->crashes = environment_clause(s->rounds->env, CLAUSE_CRASH) != NULL;
  arena_init(&async_local->arena);
  async_local->round_offset = round_offsets_make(s->model, &async_local->arena);
  async_local->vectors = intern_new();
  async_local->halts = arena_array(&async_local->arena, s->model->nroles + 1, sizeof *async_local->halts);
  async_local->present = arena_array(&async_local->arena, s->model->nroles + 1, sizeof *async_local->present);
  async_local->absent = arena_array(&async_local->arena, s->model->nroles + 1, sizeof *async_local->absent);
  async_local->total = !async_local->crashes;
  for (uint32_t r = 0; r < s->model->nroles; r++) {
    look_at_role(s, r);
    async_local->total &= !async_local->halts[r];
  }
  /* with a single process, fusing steps that no process hears might never end */
  async_local->fuses_steps =
      s->n > 1 && async_local->total && !s->pack->kept.rounds && l->of[REDUCE_PARTIAL_ORDER].applied;
  async_local->from = memory_alloc(sizeof *async_local->from);
  return async_local;
}

void async_local_free(struct async_local *async_local) {
  if (!async_local)
    return;
  arena_release(&async_local->arena);
  intern_free(async_local->vectors);
  memo_release(&async_local->permissions_of);
  memo_release(&async_local->outcomes_of);
  memo_release(&async_local->alike);
  memo_release(&async_local->kept);
  vec_release(&async_local->permissions);
  vec_release(&async_local->outcomes);
  memory_free(async_local->from);
  memory_free(async_local);
}

size_t async_local_memory(const struct async_local *async_local) {
  return intern_bytes(async_local->vectors) + memo_bytes(&async_local->permissions_of) +
         memo_bytes(&async_local->outcomes_of) + memo_bytes(&async_local->kept);
}
