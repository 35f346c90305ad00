#include "session/round_search.h"

#include "trace/trace.h"

#include <string.h>

/* --- the search --- */

void round_search_init(struct round_search *h, struct session *s, const struct config *c, uint32_t process,
                       uint64_t most) {
  uint32_t n = s->model.nprocesses;
  *h = (struct round_search){.session = s, .config = c, .env = &s->model.environments[s->environment], .most = most};
  round_pruning_init(&h->pruning, s, s->environment, h->config);
  if (s->path.async)
    round_pruning_ends(&h->pruning, process);
  arena_init(&h->arena);
  h->witness = witness_new(&s->model);
  h->probe = witness_new(&s->model);
  h->probe->forged = memory_alloc((n + (size_t)1) * sizeof *h->probe->forged);
  h->witness->forged = memory_alloc(((size_t)n * n + 1) * sizeof *h->witness->forged);
  h->next = config_new(&s->model);
  h->streams = memory_alloc((n + (size_t)1) * sizeof *h->streams);
  h->targets = memory_alloc((n + (size_t)1) * sizeof *h->targets);
  for (uint32_t p = 0; p < n; p++)
    h->targets[p].any = true;
}

static void streams_clear(struct round_search *h) {
  for (uint32_t p = 0; p < h->session->model.nprocesses; p++) {
    struct reception_stream *t = &h->streams[p];
    choices_release(&t->choices);
    vec_release(&t->receptions);
    memory_free(t->digits);
    *t = (struct reception_stream){0};
  }
}

void round_search_release(struct round_search *h) {
  streams_clear(h);
  memory_free(h->streams);
  memory_free(h->targets);
  round_pruning_release(&h->pruning);
  witness_free(h->witness);
  witness_free(h->probe);
  witness_free(h->found);
  config_free(h->next);
  arena_release(&h->arena);
}

/* false: the limit is reached */
static bool round_search_spend(struct round_search *h) {
  h->spent |= h->work >= h->most || session_stop_seen(h->session);
  h->work++;
  return !h->spent;
}

/* --- contexts --- */

struct prefix_enumeration {
  struct round_search *search;
  round_prefix_fn *visit;
  void *context;
};

/* A process with a target crashes if and only if the target does. */
static bool crash_fits(const struct round_search *h, uint32_t p, bool crash) {
  const struct wanted_outcome *t = &h->targets[p];
  return t->any || crash == (t->local && t->local[LOCAL_STATUS] & STATUS_CRASHED);
}

static bool prefix_crash(void *context, const struct witness *w, uint32_t p) {
  const struct round_search *h = ((struct prefix_enumeration *)context)->search;
  return crash_fits(h, p, true) && crashes_within_limits(h->session, h->config, w);
}

/* The search borrows everything of the context but the heard-of sets, forged messages and updates. */
static void prefix_set(struct witness *to, const struct witness *from) {
  for (uint32_t p = 0; p < to->nprocesses; p++) {
    to->oracles[p] = from ? from->oracles[p] : NULL;
    to->crashes[p] = from && from->crashes[p];
    to->sends[p] = from ? from->sends[p] : (struct script){0, NULL};
  }
}

static enum round_part prefix_sent(void *context, struct witness *w, const struct message_exchange *x,
                                   enum step_result begun, const struct model_error *error) {
  struct prefix_enumeration *k = context;
  struct round_search *h = k->search;
  for (uint32_t p = 0; p < w->nprocesses; p++)
    if (process_active(h->config->local[p][LOCAL_STATUS]) && !crash_fits(h, p, w->crashes[p])) {
      h->spent |= session_stop_seen(h->session);
      return h->spent ? ROUND_STOP : ROUND_SKIP;
    }
  if (!round_search_spend(h))
    return ROUND_STOP;
  prefix_set(h->witness, w);
  h->exchange = x;
  if (begun == STEP_ERROR)
    h->error = *error;
  bool more = k->visit(h, k->context, begun == STEP_ERROR);
  prefix_set(h->witness, NULL);
  streams_clear(h);
  arena_clear(&h->arena);
  arena_clear(&h->session->interp->strings); /* the errors of the receptions that were tried */
  return more ? ROUND_SKIP : ROUND_STOP;
}

static bool no_step(void *context, const struct witness *w, enum step_result result, const struct config *next,
                    const struct model_error *error) {
  (void)context;
  (void)w;
  (void)next;
  (void)error;
  return result == STEP_BAD_WITNESS;
}

bool round_prefixes_each(struct round_search *h, round_prefix_fn *visit, void *context) {
  struct prefix_enumeration k = {h, visit, context};
  struct round_filter filter = {
      .context = &k, .last_row = h->config->nprocesses - 1, .crash = prefix_crash, .sent = prefix_sent};
  return round_some_steps(h->session->interp, h->session->environment, h->config, &filter, no_step, NULL);
}

/* --- receptions --- */

static bool updates(const struct round_search *h, uint32_t p) {
  return process_active(h->config->local[p][LOCAL_STATUS]) && !h->witness->crashes[p];
}

static void stream_begin(struct round_search *h, uint32_t p) {
  struct reception_stream *t = &h->streams[p];
  const struct model *m = &h->session->model;
  const struct type *type = process_role(m, p)->body[h->config->point].received;
  bool corrupts = environment_corrupts(h->env);
  t->begun = true;
  t->digits = memory_alloc((m->nprocesses + (size_t)1) * sizeof *t->digits);
  for (uint32_t q = 0; q < m->nprocesses; q++) {
    bool liar = h->config->local[q][LOCAL_STATUS] & STATUS_BYZANTINE;
    bool absent = message_is_absent(&h->pruning, h->exchange, h->witness, p, q);
    bool may_miss = exchange_may_miss(h->exchange, h->env, h->witness, h->pruning.reads, p, q);
    t->missed |= (uint64_t)absent << q;
    t->free |= (uint64_t)(may_miss && !absent) << q;
    t->done |= absent && !may_miss;
    t->forgeable |= (uint64_t)(updates(h, p) && type && type->count < UINT32_MAX && (liar || corrupts)) << q;
  }
}

void round_search_restart(struct round_search *h) { streams_clear(h); }

static uint64_t all_of(uint32_t n) { return n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1; }

/* Distributes the bits of a number over the positions of the bits of `free`. */
static uint64_t spread_over(uint64_t free, uint64_t number) {
  uint64_t spread = 0;
  for (uint32_t i = 0; free; i++, free &= free - 1)
    if (number >> i & 1)
      spread |= free & -free;
  return spread;
}

static uint64_t stream_heard(const struct round_search *h, const struct reception_stream *t) {
  return all_of(h->config->nprocesses) & ~t->missed & ~spread_over(t->free, t->lost);
}

/* The next set of processes that are not heard: of the same size (Gosper's hack), otherwise one larger. False: there
   are no more. */
static bool next_lost(struct reception_stream *t) {
  uint32_t m = (uint32_t)__builtin_popcountll(t->free);
  uint64_t low = t->lost & -t->lost, sum = t->lost + low;
  bool more = t->lost && sum > t->lost; /* no overflow */
  uint64_t next = more ? sum | ((t->lost ^ sum) / low >> 2) : 0;
  if (more && !(next & ~all_of(m))) {
    t->lost = next;
    return true;
  }
  t->lost = all_of(++t->nlost);
  return t->nlost <= m;
}

/* The next combination of forged messages from the processes that are heard. False: all combinations were tried, and
   nothing is forged again. */
static bool next_forged(const struct round_search *h, struct reception_stream *t, uint32_t p) {
  const struct model *m = &h->session->model;
  const struct type *type = process_role(m, p)->body[h->config->point].received;
  uint64_t heard = stream_heard(h, t);
  for (uint32_t q = 0; q < m->nprocesses; q++) {
    if (!(t->forgeable & heard) || !((t->forgeable & heard) >> q & 1))
      continue;
    if (t->digits[q] < type->count) {
      t->digits[q]++;
      return true;
    }
    t->digits[q] = 0;
  }
  return false;
}

static void probe_set(struct round_search *h, const struct reception_stream *t, uint32_t p) {
  struct model *m = &h->session->model;
  const struct type *type = process_role(m, p)->body[h->config->point].received;
  uint64_t heard = stream_heard(h, t);
  h->probe->nforged = 0;
  for (uint32_t q = 0; q < m->nprocesses; q++) {
    h->probe->heard[p][q] = heard >> q & 1;
    if (t->digits[q])
      h->probe->forged[h->probe->nforged++] =
          (struct forgery){p, q, type_nth(&m->values, type, t->digits[q] - (uint64_t)1)};
  }
}

/* The outcome of p with this reception, for the next script of choices. */
static void reception_run(struct round_search *h, struct reception_stream *t, uint32_t p,
                          struct process_reception *reception) {
  const struct model *m = &h->session->model;
  uint32_t r = model_role_of(m, p), length = role_local_length(&m->roles[r]);
  value *local = arena_array(&h->arena, length, sizeof *local);
  struct model_error error = {0};
  bool ok = true;
  *reception = (struct process_reception){.heard = stream_heard(h, t), .nforged = h->probe->nforged};
  if (reception->nforged)
    reception->forged = arena_copy(&h->arena, h->probe->forged, reception->nforged * sizeof *reception->forged);
  if (updates(h, p)) {
    value *working = memory_alloc(h->session->interp->max_local * sizeof *working);
    ok = process_updates(h->session, h->exchange, h->probe, p, &t->choices, working, &error);
    memcpy(local, working, length * sizeof *local);
    memory_free(working);
    reception->script.n = (uint32_t)t->choices.at;
    if (t->choices.at)
      reception->script.at = arena_copy(&h->arena, t->choices.taken.at, t->choices.at * sizeof *reception->script.at);
  } else {
    memcpy(local, h->config->local[p], length * sizeof *local);
    local[LOCAL_STATUS] |= h->witness->crashes[p] ? STATUS_CRASHED : 0;
  }
  if (!(local[LOCAL_STATUS] & STATUS_BYZANTINE))
    local_reset_oracles(h->session->interp, r, h->config->point, local);
  reception->local = ok ? local : NULL;
  reception->message = ok ? NULL : error.message;
}

/* Advances to the next reception of p, whatever its outcome. False: there are no more. */
static bool stream_next(struct round_search *h, uint32_t p, struct process_reception *reception) {
  struct reception_stream *t = &h->streams[p];
  bool fresh = !t->begun;
  if (fresh)
    stream_begin(h, p);
  if (t->done)
    return false;
  if (t->choosing && (t->choosing = choices_next(&t->choices))) {
    if (!round_search_spend(h))
      return false;
    probe_set(h, t, p);
    reception_run(h, t, p, reception);
    return true;
  }
  while (fresh || next_forged(h, t, p) || next_lost(t)) {
    fresh = false;
    if (!round_search_spend(h))
      return false;
    probe_set(h, t, p);
    if (!reception_may_be_allowed(&h->pruning, h->exchange, h->probe, p))
      continue;
    choices_clear(&t->choices);
    t->choosing = true;
    reception_run(h, t, p, reception);
    return true;
  }
  t->done = true;
  return false;
}

static bool reception_fits(const struct round_search *h, uint32_t p, const struct process_reception *reception) {
  const struct wanted_outcome *t = &h->targets[p];
  const struct model *m = &h->session->model;
  if (t->any)
    return true;
  if (!t->local || !reception->local)
    return !t->local && !reception->local && !strcmp(t->message, reception->message);
  return !memcmp(t->local, reception->local, role_local_length(process_role(m, p)) * sizeof *reception->local);
}

const struct process_reception *round_search_reception(struct round_search *h, uint32_t p, size_t i) {
  struct reception_stream *t = &h->streams[p];
  struct process_reception reception;
  while (t->receptions.n <= i && !t->done && !h->spent && stream_next(h, p, &reception))
    if (reception_fits(h, p, &reception))
      vec_push(&t->receptions, reception);
  return i < t->receptions.n ? &t->receptions.at[i] : NULL;
}

/* --- whole rounds --- */

static void witness_set_reception(struct round_search *h, uint32_t p, const struct process_reception *reception) {
  struct witness *w = h->witness;
  for (uint32_t q = 0; q < w->nprocesses; q++)
    w->heard[p][q] = reception->heard >> q & 1;
  for (uint32_t i = 0; i < reception->nforged; i++)
    w->forged[w->nforged++] = reception->forged[i];
  w->updates[p] = reception->script;
}

void round_search_undo(struct round_search *h) {
  h->witness->nforged = 0;
  for (uint32_t p = 0; p < h->witness->nprocesses; p++)
    h->witness->updates[p] = (struct script){0, NULL};
}

bool target_met(const struct round_search *h, uint32_t p, enum step_result result, const struct config *next,
                const struct model_error *error) {
  const struct wanted_outcome *t = &h->targets[p];
  const struct model *m = &h->session->model;
  if (t->any)
    return true;
  if (!t->local)
    return result == STEP_ERROR && error->process == p && error->message && !strcmp(error->message, t->message);
  return result == STEP_OK &&
         !memcmp(t->local, next->local[p], role_local_length(process_role(m, p)) * sizeof *t->local);
}

/* The receptions are judged and executed as one round. A round in which another process fails does not count, unless an
   error is wanted. */
static bool round_search_judge(struct round_search *h) {
  const char *why;
  struct model_error error = {0};
  if (!exchange_allowed(h->exchange, h->session->environment, h->witness, &why))
    return false;
  enum step_result result = exchange_step(h->exchange, h->session->environment, h->witness, h->next, NULL, &error);
  if (result == STEP_BAD_WITNESS)
    return false;
  bool wanted = false;
  for (uint32_t p = 0; p < h->config->nprocesses; p++) {
    if (!target_met(h, p, result, h->next, &error))
      return false;
    wanted |= !h->targets[p].any && !h->targets[p].local;
  }
  if (result == STEP_ERROR && !wanted)
    return false;
  h->found = witness_copy(&h->session->model, h->witness);
  return true;
}

bool round_search_try(struct round_search *h, const struct process_reception *const *receptions) {
  if (!round_search_spend(h))
    return false;
  for (uint32_t p = 0; p < h->config->nprocesses; p++)
    witness_set_reception(h, p, receptions[p]);
  bool found = round_search_judge(h);
  round_search_undo(h);
  return found;
}

enum step_result round_search_step(struct round_search *h, const struct process_reception *const *receptions) {
  const char *why;
  for (uint32_t p = 0; p < h->config->nprocesses; p++)
    witness_set_reception(h, p, receptions[p]);
  h->error = (struct model_error){0};
  return exchange_allowed(h->exchange, h->session->environment, h->witness, &why)
             ? exchange_step(h->exchange, h->session->environment, h->witness, h->next, NULL, &h->error)
             : STEP_BAD_WITNESS;
}

static bool combine(struct round_search *h, const struct process_reception **receptions, uint32_t p) {
  if (p == h->config->nprocesses)
    return !round_search_try(h, receptions) && !h->spent;
  for (size_t i = 0; round_search_reception(h, p, i); i++) {
    struct process_reception reception =
        *round_search_reception(h, p, i); /* a copy: the list may move when it grows, but the data that a reception
                                             points to does not */
    receptions[p] = &reception;
    if (!combine(h, receptions, p + 1))
      return false;
  }
  return !h->spent;
}

bool round_search_run(struct round_search *h) {
  const struct process_reception **receptions = memory_alloc((h->config->nprocesses + (size_t)1) * sizeof *receptions);
  bool more = combine(h, receptions, 0);
  memory_free(receptions);
  return more;
}
