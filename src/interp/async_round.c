#include "interp/async_round.h"

#include "interp/round_step.h"

#include <string.h>

void round_messages(struct interpreter *interp, const struct config *c, const struct witness *w,
                    uint64_t *by_receiver) {
  struct message_exchange x;
  struct model_error error;
  bool begun = exchange_begin(&x, interp, c, w, &error) != STEP_BAD_WITNESS;
  for (uint32_t p = 0; p < w->nprocesses; p++) {
    by_receiver[p] = 0;
    if (!begun || !process_active(c->local[p][LOCAL_STATUS]) || w->crashes[p])
      continue;
    for (uint32_t q = 0; q < w->nprocesses && q < ASYNC_RUN_PROCESSES_MAX; q++) {
      const struct local_send *s;
      if (w->heard[p][q] && exchange_message(&x, q, p, &s, &error) && s)
        by_receiver[p] |= UINT64_C(1) << q;
    }
  }
  exchange_release(&x);
}

void async_run_add_messages(struct async_run *f, const uint64_t *by_receiver, const struct config *after) {
  for (uint32_t p = 0; p < f->n; p++)
    vec_push(&f->messages, by_receiver[p]);
  f->nrounds++;
  if (after)
    vec_push(&f->at, after);
}

void async_run_add_round(struct async_run *f, const struct witness *w, const struct config *after) {
  uint64_t *by_receiver = memory_alloc((f->n + (size_t)1) * sizeof *by_receiver);
  round_messages(f->interp, f->at.at[f->nrounds], w, by_receiver);
  async_run_add_messages(f, by_receiver, after);
  memory_free(by_receiver);
}

void async_run_drop_round(struct async_run *f) {
  f->at.n = f->nrounds--;
  f->messages.n -= f->n;
}

void async_run_init(struct async_run *f, struct interpreter *interp, struct config *const *at,
                    struct witness *const *rounds, uint32_t nrounds) {
  uint32_t n = interp->model->nprocesses;
  *f = (struct async_run){.interp = interp, .n = n};
  f->done = memory_alloc((n + 1) * sizeof *f->done);
  f->sent = memory_alloc((n + 1) * sizeof *f->sent);
  f->got = memory_alloc((size_t)n * n + 1);
  vec_push(&f->at, at[0]);
  for (uint32_t r = 0; r < nrounds; r++)
    async_run_add_round(f, rounds[r], at[r + 1]);
}

void async_run_release(struct async_run *f) {
  memory_free(f->done);
  memory_free(f->sent);
  memory_free(f->got);
  vec_release(&f->at);
  vec_release(&f->messages);
}

static bool in_a_round(const struct async_run *f, uint32_t p, const char **why) {
  *why = "there is no such process";
  if (p >= f->n)
    return false;
  *why = "it has ended all rounds there are";
  if (f->done[p] >= f->nrounds)
    return false;
  *why = "it takes no part in rounds any more";
  return process_active(f->at.at[f->done[p]]->local[p][LOCAL_STATUS]);
}

/* Has q sent in this round? Yes if it is in a later round, no if it is in an earlier one. */
static bool has_sent(const struct async_run *f, uint32_t q, uint32_t round) {
  return f->done[q] > round || (f->done[q] == round && f->sent[q]);
}

bool async_run_possible(const struct async_run *f, const struct async_event *e, const char **why) {
  uint32_t p = e->process;
  if (!in_a_round(f, p, why))
    return false;
  uint64_t messages = f->messages.at[(size_t)f->done[p] * f->n + p];
  switch (e->kind) {
  case ASYNC_SEND:
    *why = "it has sent already";
    return !f->sent[p];
  case ASYNC_RECEIVE:
    *why = "it does not receive that in this round";
    if (e->from >= f->n || !(messages >> e->from & 1) || f->got[(size_t)p * f->n + e->from])
      return false;
    *why = "that message has not been sent yet";
    return has_sent(f, e->from, f->done[p]);
  case ASYNC_UPDATE:
    break;
  }
  *why = "it has not sent yet";
  if (!f->sent[p])
    return false;
  *why = "it has not received all that it is to";
  for (uint32_t q = 0; q < f->n && q < ASYNC_RUN_PROCESSES_MAX; q++)
    if (messages >> q & 1 && !f->got[(size_t)p * f->n + q])
      return false;
  return true;
}

void async_run_take(struct async_run *f, const struct async_event *e) {
  switch (e->kind) {
  case ASYNC_SEND:
    f->sent[e->process] = true;
    break;
  case ASYNC_RECEIVE:
    f->got[(size_t)e->process * f->n + e->from] = 1;
    break;
  case ASYNC_UPDATE:
    f->done[e->process]++;
    f->sent[e->process] = false;
    memset(f->got + (size_t)e->process * f->n, 0, f->n);
    break;
  }
}

bool async_run_end_round(struct async_run *f, uint32_t p, const char **why) {
  const char *ignored;
  for (uint32_t q = 0; q < f->n; q++) {
    struct async_event send = {ASYNC_SEND, q, 0};
    if (async_run_possible(f, &send, &ignored))
      async_run_take(f, &send);
  }
  if (!in_a_round(f, p, why))
    return false;
  for (uint32_t q = 0; q < f->n; q++) {
    struct async_event receive = {ASYNC_RECEIVE, p, q};
    if (async_run_possible(f, &receive, &ignored))
      async_run_take(f, &receive);
  }
  struct async_event update = {ASYNC_UPDATE, p, 0};
  if (!async_run_possible(f, &update, why))
    return false;
  async_run_take(f, &update);
  return true;
}

void async_run_undo(struct async_run *f, uint32_t p) {
  f->done[p]--;
  memset(f->sent, 0, f->n * sizeof *f->sent);
  memset(f->got, 0, (size_t)f->n * f->n);
}

void async_run_view(const struct async_run *f, struct config *out) {
  const struct model *m = f->interp->model;
  uint32_t least = UINT32_MAX, most = 0;
  for (uint32_t p = 0; p < f->n; p++) {
    bool active = process_active(f->at.at[f->done[p]]->local[p][LOCAL_STATUS]);
    least = active && f->done[p] < least ? f->done[p] : least;
    most = f->done[p] > most ? f->done[p] : most;
  }
  const struct config *last = f->at.at[least == UINT32_MAX ? most : least];
  config_assign(m, out, last);
  for (uint32_t p = 0; p < f->n; p++)
    memcpy(out->local[p], f->at.at[f->done[p]]->local[p],
           role_local_length(&m->roles[model_role_of(m, p)]) * sizeof **out->local);
}
