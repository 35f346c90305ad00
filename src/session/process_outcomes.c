/* The possible outcomes of a process in the next round, and rounds with given outcomes. */
#include "session/round_search.h"

#include "base/intern.h"
#include "interp/async_round.h"
#include "trace/trace.h"

#include <string.h>

#define WORK_MAX 1000000

struct known_outcome {
  struct wanted_outcome target; /* in the arena of the result */
  struct witness *found;
  enum session_search search;
};

typedef VEC(int64_t) context_key;

struct outcome_collector {
  struct round_search *search;
  uint32_t process;
  struct arena *arena;
  struct intern *seen; /* contexts, projected to what matters to the process */
  VEC(struct known_outcome) known;
};

/* --- all outcomes, each with a round if one is easily found --- */

static bool same_outcome(const struct outcome_collector *k, const struct wanted_outcome *a, const value *local,
                         const char *message) {
  if (!a->local || !local)
    return !a->local && !local && !strcmp(a->message, message);
  uint32_t length = role_local_length(process_role(&k->search->session->model, k->process));
  return !memcmp(a->local, local, length * sizeof *local);
}

static struct known_outcome *outcome_known(struct outcome_collector *k, const value *local, const char *message) {
  for (size_t i = 0; i < k->known.n; i++)
    if (same_outcome(k, &k->known.at[i].target, local, message))
      return &k->known.at[i];
  uint32_t length = role_local_length(process_role(&k->search->session->model, k->process));
  struct known_outcome known = {.search = SESSION_GAVE_UP};
  if (local)
    known.target.local = arena_copy(k->arena, local, length * sizeof *local);
  else
    known.target.message = arena_printf(k->arena, "%s", message);
  vec_push(&k->known, known);
  return &k->known.at[k->known.n - 1];
}

/* Clauses about heard-of sets may read the oracles of all processes. Nothing else that they read is chosen in the
   round, except heard-of sets and forged messages. */
static void add_oracles(const struct round_search *h, context_key *key) {
  const struct model *m = &h->session->model;
  for (uint32_t q = 0; q < m->nprocesses && h->pruning.known.n; q++) {
    const struct role *role = process_role(m, q);
    for (uint32_t i = 0; i < role->nvars; i++)
      if (role->vars[i].kind == VAR_ORACLE)
        vec_push(key, h->exchange->local[q][LOCAL_VAR(i)]);
  }
}

/* Was there an earlier context that looks the same to this process? */
static bool prefix_seen(struct outcome_collector *k) {
  struct round_search *h = k->search;
  const struct model *m = &h->session->model;
  uint32_t p = k->process, length = role_local_length(process_role(m, p));
  context_key key = {0};
  struct model_error ignored;
  vec_push(&key, (int64_t)h->witness->crashes[p]);
  for (uint32_t i = 0; i < length; i++)
    vec_push(&key, h->exchange->local[p][i]);
  for (uint32_t q = 0; q < m->nprocesses; q++) {
    const struct local_send *sent;
    exchange_message(h->exchange, q, p, &sent, &ignored);
    vec_push(&key, (int64_t)(sent != NULL));
    vec_push(&key, sent ? sent->message : 0);
    vec_push(&key, (int64_t)must_hear(h->exchange, h->witness, p, q));
  }
  add_oracles(h, &key);
  size_t before = intern_count(k->seen);
  intern_put(k->seen, key.at, key.n);
  vec_release(&key);
  return intern_count(k->seen) == before;
}

/* Tries two ways to complete the round: the other processes hear as much as possible, or the same as this process. */
static void complete_round(struct outcome_collector *k, struct known_outcome *known,
                           const struct process_reception *reception) {
  struct round_search *h = k->search;
  uint32_t n = h->config->nprocesses;
  const struct process_reception **receptions = memory_alloc((n + (size_t)1) * sizeof *receptions);
  struct process_reception *copies = memory_alloc((n + (size_t)1) * sizeof *copies);
  bool there = true;
  for (uint32_t q = 0; q < n && there; q++) {
    const struct process_reception *first = q == k->process ? reception : round_search_reception(h, q, 0);
    there = first != NULL;
    copies[q] = there ? *first : (struct process_reception){0};
    receptions[q] = &copies[q];
  }
  h->targets[k->process] = known->target;
  bool found = there && round_search_try(h, receptions);
  if (there && !found && !h->spent) {
    for (uint32_t q = 0; q < n; q++)
      if (q != k->process)
        copies[q] = (struct process_reception){.heard = reception->heard};
    round_search_try(h, receptions);
  }
  h->targets[k->process] = (struct wanted_outcome){.any = true};
  known->found = h->found;
  h->found = NULL;
  memory_free(copies);
  memory_free(receptions);
}

static bool collect(struct round_search *h, void *context, bool failed) {
  struct outcome_collector *k = context;
  const char *why;
  if (failed) {
    if (h->error.process != k->process)
      return true;
    struct known_outcome *known = outcome_known(k, NULL, h->error.message);
    if (!known->found && config_allows(h->session->interp, h->session->environment, h->config, h->witness, &why))
      known->found = witness_copy(&h->session->model, h->witness);
    return true;
  }
  if (prefix_seen(k))
    return true;
  round_search_restart(h);
  const struct process_reception *at;
  for (size_t i = 0; (at = round_search_reception(h, k->process, i)) && !h->spent; i++) {
    struct process_reception reception = *at;
    struct known_outcome *known = outcome_known(k, reception.local, reception.message);
    if (!known->found)
      complete_round(k, known, &reception);
  }
  return !h->spent;
}

/* --- a round for given outcomes --- */

static bool find_after_prefix(struct round_search *h, void *context, bool failed) {
  const char *why;
  (void)context;
  if (failed) { /* then only that error can be the wanted outcome */
    bool met = true, wanted = false;
    for (uint32_t p = 0; p < h->config->nprocesses; p++) {
      met &= target_met(h, p, STEP_ERROR, NULL, &h->error);
      wanted |= !h->targets[p].any;
    }
    if (met && wanted && config_allows(h->session->interp, h->session->environment, h->config, h->witness, &why))
      h->found = witness_copy(&h->session->model, h->witness);
    return !h->found;
  }
  round_search_restart(h);
  return round_search_run(h);
}

static enum session_search find(struct round_search *h, struct witness **found) {
  round_prefixes_each(h, find_after_prefix, NULL);
  *found = h->found;
  h->found = NULL;
  return *found ? SESSION_FOUND : h->spent ? SESSION_GAVE_UP : SESSION_IMPOSSIBLE;
}

/* The remaining work is divided among the outcomes that still lack a round. */
static void find_remaining(struct outcome_collector *k, uint64_t most) {
  struct round_search *h = k->search;
  size_t left = 0;
  for (size_t i = 0; i < k->known.n; i++)
    left += !k->known.at[i].found;
  for (size_t i = 0; i < k->known.n; i++) {
    struct known_outcome *known = &k->known.at[i];
    known->search = known->found ? SESSION_FOUND : SESSION_GAVE_UP;
    if (known->found || h->session->interrupted || h->work >= most)
      continue;
    h->most = h->work + (most - h->work) / left--;
    h->spent = false;
    h->targets[k->process] = known->target;
    known->search = find(h, &known->found);
  }
}

/* --- results --- */

static const char *local_text(struct session *s, struct arena *arena, uint32_t p, const value *local) {
  const struct model *m = &s->model;
  const struct role *role = process_role(m, p);
  struct text text = {0};
  status_text(local[LOCAL_STATUS], &text);
  for (uint32_t i = 0; i < role->nvars; i++) {
    if (var_is_hidden(&role->vars[i]) || (local[LOCAL_STATUS] & STATUS_BYZANTINE))
      continue;
    text_addf(&text, "%s%s = ", text.n ? ", " : "", role->vars[i].name);
    value_print(&m->values, m, role->vars[i].type, local[LOCAL_VAR(i)], &text);
  }
  return text_to_arena(arena, &text);
}

static void fill_outcome(struct outcome_collector *k, struct known_outcome *known, struct session_outcome *out) {
  struct round_search *h = k->search;
  const value *now = h->config->local[k->process], *local = known->target.local;
  *out = (struct session_outcome){.search = known->search, .error = !local, .changed = true};
  out->text = local ? local_text(h->session, k->arena, k->process, local) : known->target.message;
  if (local) {
    uint32_t length = role_local_length(process_role(&h->session->model, k->process));
    out->crashed = local[LOCAL_STATUS] & STATUS_CRASHED;
    out->halted = local[LOCAL_STATUS] & STATUS_HALTED;
    out->changed = memcmp(local, now, length * sizeof *local) != 0;
  }
  if (known->found) {
    witness_normalise(h->session, h->config, known->found);
    round_of_witness(h->session, h->config, known->found, h->pruning.ends, &out->round);
  }
}

/* Asynchronous rounds: the outcome of a process whose round is fixed; none if it has to wait. */
static void fixed_outcome(struct session *s, uint32_t p, struct session_outcomes *out) {
  const struct async_run *run = s->path.async;
  const struct config *before = run->at.at[run->done[p]], *after = run->at.at[run->done[p] + 1];
  uint32_t length = role_local_length(process_role(&s->model, p));
  out->complete = true;
  out->n = session_cannot_end(s, NULL, p) == NULL;
  out->at = arena_array(&out->arena, 1, sizeof *out->at);
  if (!out->n)
    return;
  *out->at =
      (struct session_outcome){.search = SESSION_FOUND,
                               .text = local_text(s, &out->arena, p, after->local[p]),
                               .crashed = after->local[p][LOCAL_STATUS] & STATUS_CRASHED,
                               .halted = after->local[p][LOCAL_STATUS] & STATUS_HALTED,
                               .changed = memcmp(before->local[p], after->local[p], length * sizeof(value)) != 0};
  round_of_witness(s, before, session_ended_round(s, NULL, p, &before), p, &out->at->round);
}

bool session_outcomes(struct session *s, uint32_t process, uint64_t most, struct session_outcomes *out) {
  session_clear_error(s);
  *out = (struct session_outcomes){0};
  if (!round_config(s, process))
    return false;
  if (process >= s->model.nprocesses)
    return session_fail(s, "there is no process %u", process);
  struct round_search h;
  arena_init(&out->arena);
  if (s->path.async && s->path.async->done[process] < s->path.async->nrounds) {
    fixed_outcome(s, process, out);
    return true;
  }
  most = most ? most : WORK_MAX;
  round_search_init(&h, s, session_current(s), process, most);
  struct outcome_collector k = {.search = &h, .process = process, .arena = &out->arena, .seen = intern_new()};
  out->complete = round_prefixes_each(&h, collect, &k);
  find_remaining(&k, most);
  out->at = arena_array(&out->arena, k.known.n + 1, sizeof *out->at);
  for (size_t i = 0; i < k.known.n; i++) {
    if (k.known.at[i].search != SESSION_IMPOSSIBLE)
      fill_outcome(&k, &k.known.at[i], &out->at[out->n++]);
    witness_free(k.known.at[i].found);
  }
  out->work = h.work;
  vec_release(&k.known);
  intern_free(k.seen);
  round_search_release(&h);
  return true;
}

void session_outcomes_release(struct session_outcomes *out) {
  for (size_t i = 0; i < out->n; i++)
    session_round_release(&out->at[i].round);
  arena_release(&out->arena);
  *out = (struct session_outcomes){0};
}

/* --- one outcome for each process --- */

/* Makes the outcome of p in that round its target. The round as a whole need not be allowed. */
static bool set_target(struct round_search *h, const struct session_round *round, uint32_t p, struct arena *arena) {
  struct session *s = h->session;
  struct witness *w = round_witness(s, h->config, round);
  struct model_error error = {0};
  if (!w)
    return false;
  enum step_result result = config_step(s->interp, s->environment, h->config, w, h->next, NULL, &error);
  uint32_t length = role_local_length(process_role(&s->model, p));
  h->targets[p] = (struct wanted_outcome){0};
  if (result == STEP_OK)
    h->targets[p].local = arena_copy(arena, h->next->local[p], length * sizeof(value));
  else if (result == STEP_ERROR && error.process == p)
    h->targets[p].message = arena_printf(arena, "%s", error.message);
  witness_free(w);
  return h->targets[p].local || h->targets[p].message ||
         session_fail(s, "the round that is wanted of process %u cannot be taken", p);
}

/* Asynchronous rounds: the process that ends the round, which must not be fixed yet. */
static bool ending_process(struct session *s, const struct session_round *const *wanted, uint32_t *process) {
  const struct async_run *run = s->path.async;
  *process = SESSION_NO_PROCESS;
  for (uint32_t p = 0; p < s->model.nprocesses && *process == SESSION_NO_PROCESS; p++)
    if (wanted[p])
      *process = wanted[p]->process;
  return !run || (*process < run->n && run->done[*process] == run->nrounds) ||
         session_fail(s, "a process must be named that ends a round which is not fixed yet");
}

bool session_find_round(struct session *s, const struct session_round *const *wanted, uint64_t most,
                        enum session_search *search, struct session_round *found) {
  uint32_t process;
  session_clear_error(s);
  *found = (struct session_round){0};
  if (!round_config(s, SESSION_NO_PROCESS) || !ending_process(s, wanted, &process))
    return false;
  struct round_search h;
  struct arena arena;
  struct witness *w = NULL;
  bool ok = true;
  arena_init(&arena);
  round_search_init(&h, s, session_current(s), process, most ? most : WORK_MAX);
  for (uint32_t p = 0; p < s->model.nprocesses && ok; p++)
    if (wanted[p])
      ok = set_target(&h, wanted[p], p, &arena);
  if (ok)
    *search = find(&h, &w);
  if (w) {
    witness_normalise(s, h.config, w);
    round_of_witness(s, h.config, w, h.pruning.ends, found);
    witness_free(w);
  }
  round_search_release(&h);
  arena_release(&arena);
  return ok;
}
