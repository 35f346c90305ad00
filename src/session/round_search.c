#include "session/round_search.h"

#include "trace/trace.h"

#include <string.h>

/* --- clauses that can be evaluated on a single reception --- */

struct heard_use {
  uint32_t slot;
  bool any, other;
};

static bool look_heard_of(void *context, const struct node *n) {
  struct heard_use *u = context;
  if (n->op != NODE_HO && n->op != NODE_SHO)
    return true;
  bool named = n->kid[0]->op == NODE_SLOT && (!u->any || n->kid[0]->index == u->slot);
  u->other |= !named;
  u->any = true;
  u->slot = n->kid[0]->index;
  return true;
}

/* Does the clause have the form `forall p ...: body`, where the body reads HO[p] and no other heard-of set, and the
   ranges read none? */
static bool clause_separates(const struct clause *c, uint32_t *slot) {
  struct heard_use use = {0}, ranges = {0};
  bool bound = false;
  if (!c->pred || c->pred->op != NODE_FORALL)
    return false;
  node_walk(c->pred->kid[0], look_heard_of, &use);
  for (uint32_t i = 0; i < c->pred->ngen; i++) {
    const struct generator *g = &c->pred->gen[i];
    bound |= g->slot == use.slot;
    node_walk(g->range, look_heard_of, &ranges);
    if (g->cond)
      node_walk(g->cond, look_heard_of, &ranges);
  }
  *slot = use.slot;
  return use.any && !use.other && !ranges.any && bound;
}

struct reception_query {
  const struct node *body;
  uint32_t slot;
  value process;
  bool good;
};

static bool ask_binding(struct eval *e, void *context, uint64_t weight) {
  struct reception_query *q = context;
  (void)weight;
  if (e->slot[q->slot] == q->process)
    q->good = eval_true(e, q->body);
  return q->good;
}

static bool clause_holds_of_reception(struct round_search *h, const struct local_clause *k, uint32_t p,
                                      uint8_t *const *corrupt) {
  struct config seen = *h->config;
  struct reception_query q = {k->clause->pred->kid[0], k->slot, p, true};
  struct eval e;
  jmp_buf failure;
  seen.local = h->exchange.local; /* with the oracles of this round */
  eval_begin(&e, h->session->interp);
  e.before = &seen;
  e.globals = seen.globals;
  e.point = seen.point;
  e.phase = seen.phase;
  e.heard = h->probe->heard;
  e.corrupt = corrupt;
  e.failure = &failure;
  if (setjmp(failure))
    return false;
  eval_bindings(&e, k->clause->pred->gen, k->clause->pred->ngen, ask_binding, &q);
  return q.good;
}

/* False: no round with this reception of the probe is allowed. */
static bool reception_passes(struct round_search *h, uint32_t p) {
  uint8_t **corrupt = h->local_clauses.n ? witness_corrupt(h->probe) : NULL;
  bool good = true;
  for (size_t i = 0; i < h->local_clauses.n && good; i++)
    good = clause_holds_of_reception(h, &h->local_clauses.at[i], p, corrupt);
  memory_free(corrupt);
  return good;
}

/* --- the search --- */

void round_search_init(struct round_search *h, struct session *s, uint64_t most) {
  uint32_t n = s->model.nprocesses;
  *h = (struct round_search){
      .session = s, .config = session_current(s), .env = &s->model.environments[s->environment], .most = most};
  h->heard_of_read = environment_reads_heard_of(h->env);
  for (uint32_t i = 0; i < h->env->nclauses; i++) {
    struct local_clause k = {&h->env->clauses[i], 0};
    if (clause_applies(&s->model, k.clause, h->config) && clause_separates(k.clause, &k.slot))
      vec_push(&h->local_clauses, k);
  }
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
  vec_release(&h->local_clauses);
  witness_free(h->witness);
  witness_free(h->probe);
  witness_free(h->found);
  config_free(h->next);
  arena_release(&h->arena);
}

bool round_search_spend(struct round_search *h) {
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

static bool prefix_ready(struct prefix_enumeration *k) {
  struct round_search *h = k->search;
  if (!round_search_spend(h))
    return false;
  enum step_result begun = exchange_begin(&h->exchange, h->session->interp, h->config, h->witness, &h->error);
  bool more = begun == STEP_BAD_WITNESS || k->visit(h, k->context, begun == STEP_ERROR);
  streams_clear(h);
  exchange_release(&h->exchange);
  arena_clear(&h->arena);
  arena_clear(&h->session->interp->strings); /* the errors of the receptions that were tried */
  return more;
}

/* Enumerates every script of every sender. */
static bool enumerate_sends(struct prefix_enumeration *k, uint32_t p) {
  struct round_search *h = k->search;
  struct witness *w = h->witness;
  if (p == h->config->nprocesses)
    return prefix_ready(k);
  if (!process_active(h->config->local[p][LOCAL_STATUS]))
    return enumerate_sends(k, p + 1);
  struct choices choices = {0};
  bool more;
  do {
    process_sends(h->session, h->config, w, p, &choices);
    w->sends[p] = (struct script){(uint32_t)choices.at, choices.taken.at};
    more = enumerate_sends(k, p + 1);
    w->sends[p] = (struct script){0, NULL};
  } while (more && choices_next(&choices));
  choices_release(&choices);
  return more;
}

/* A process with a target crashes if and only if the target does. */
static bool crash_fits(const struct round_search *h, uint32_t p, bool crash) {
  const struct wanted_outcome *t = &h->targets[p];
  if (t->any)
    return true;
  return t->local ? crash == ((t->local[LOCAL_STATUS] & STATUS_CRASHED) != 0) : !crash;
}

static bool enumerate_crashes(struct prefix_enumeration *k, uint32_t p) {
  struct round_search *h = k->search;
  if (p == h->config->nprocesses)
    return enumerate_sends(k, 0);
  if (!process_active(h->config->local[p][LOCAL_STATUS]))
    return enumerate_crashes(k, p + 1);
  if (crash_fits(h, p, false) && !enumerate_crashes(k, p + 1))
    return false;
  if (!environment_clause(h->env, CLAUSE_CRASH) || !crash_fits(h, p, true))
    return true;
  h->witness->crashes[p] = true;
  bool more = !crashes_within_limits(h->session, h->config, h->witness) || enumerate_crashes(k, p + 1);
  h->witness->crashes[p] = false;
  return more;
}

static bool enumerate_oracles(struct prefix_enumeration *k, uint32_t p, uint32_t var, uint32_t position) {
  struct round_search *h = k->search;
  struct model *m = &h->session->model;
  if (p == m->nprocesses)
    return enumerate_crashes(k, 0);
  const struct role *role = process_role(m, p);
  if (var == role->nvars)
    return enumerate_oracles(k, p + 1, 0, 0);
  const struct var *v = &role->vars[var];
  if (v->kind != VAR_ORACLE)
    return enumerate_oracles(k, p, var + 1, position);
  value **oracles = &h->witness->oracles[p];
  if (!*oracles)
    *oracles = memory_alloc(role_noracles(role) * sizeof **oracles);
  if (!oracle_chosen_at(m, v, h->config->point) || !process_active(h->config->local[p][LOCAL_STATUS])) {
    (*oracles)[position] = h->config->local[p][LOCAL_VAR(var)];
    return enumerate_oracles(k, p, var + 1, position + 1);
  }
  for (uint64_t i = 0; i < v->type->count; i++) {
    (*oracles)[position] = type_nth(&m->values, v->type, i);
    if (!enumerate_oracles(k, p, var + 1, position + 1))
      return false;
  }
  return true;
}

bool round_prefixes_each(struct round_search *h, round_prefix_fn *visit, void *context) {
  struct prefix_enumeration k = {h, visit, context};
  return enumerate_oracles(&k, 0, 0, 0);
}

/* --- receptions --- */

static bool updates(const struct round_search *h, uint32_t p) {
  return process_active(h->config->local[p][LOCAL_STATUS]) && !h->witness->crashes[p];
}

static bool may_miss(const struct round_search *h, uint32_t p, uint32_t q) {
  if (!updates(h, p))
    return h->heard_of_read;
  if (!environment_delivers(h->env) || !must_hear(&h->exchange, h->witness, p, q))
    return true;
  return p != q && environment_clause(h->env, CLAUSE_LOST);
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
    t->free |= (uint64_t)may_miss(h, p, q) << q;
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
  return all_of(h->config->nprocesses) & ~spread_over(t->free, t->lost);
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
    ok = process_updates(h->session, &h->exchange, h->probe, p, &t->choices, working, &error);
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
    if (!reception_passes(h, p))
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

static void witness_clear_receptions(struct round_search *h) {
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
  if (!exchange_allowed(&h->exchange, h->session->environment, h->witness, &why))
    return false;
  enum step_result result = exchange_step(&h->exchange, h->session->environment, h->witness, h->next, NULL, &error);
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
  witness_clear_receptions(h);
  return found;
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
