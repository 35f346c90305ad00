#include "sem/config.h"
#include "sem/eval.h"

#include <string.h>

struct meaning *meaning_new(struct model *m) {
  struct meaning *meaning = memory_alloc(sizeof *meaning);
  meaning->model = m;
  arena_init(&meaning->strings);
  arena_init(&meaning->scratch);
  for (uint32_t r = 0; r < m->nroles; r++) {
    uint32_t length = role_local_length(&m->roles[r]);
    if (length > meaning->max_local)
      meaning->max_local = length;
    if (m->roles[r].nvars > meaning->max_vars)
      meaning->max_vars = m->roles[r].nvars;
  }
  return meaning;
}

void meaning_free(struct meaning *meaning) {
  if (!meaning)
    return;
  arena_release(&meaning->strings);
  arena_release(&meaning->scratch);
  memory_free(meaning);
}

void meaning_watch(struct meaning *meaning, const volatile sig_atomic_t *stop) { meaning->stop = stop; }

void meaning_follow(struct meaning *meaning, enum semantics semantics, bool arrivals) {
  meaning->semantics = semantics;
  meaning->arrivals = arrivals;
}

struct config *config_new(const struct model *m) {
  struct config *c = memory_alloc(sizeof *c);
  c->nprocesses = m->nprocesses;
  c->phase = 1;
  c->globals = memory_alloc((m->nglobals + 1) * sizeof *c->globals);
  c->local = memory_alloc((m->nprocesses + 1) * sizeof *c->local);
  for (uint32_t p = 0; p < m->nprocesses; p++)
    c->local[p] = memory_alloc(role_local_length(&m->roles[model_role_of(m, p)]) * sizeof **c->local);
  return c;
}

static void config_assign(const struct model *m, struct config *to, const struct config *from) {
  to->point = from->point;
  to->rounds = from->rounds;
  to->phase = from->phase;
  to->lost = from->lost;
  to->corrupted = from->corrupted;
  memcpy(to->globals, from->globals, m->nglobals * sizeof *to->globals);
  for (uint32_t p = 0; p < m->nprocesses; p++)
    memcpy(to->local[p], from->local[p],
           role_local_length(&m->roles[model_role_of(m, p)]) * sizeof **to->local);
}

struct config *config_copy(const struct model *m, const struct config *c) {
  struct config *copy = config_new(m);
  config_assign(m, copy, c);
  return copy;
}

void config_free(struct config *c) {
  if (!c)
    return;
  for (uint32_t p = 0; p < c->nprocesses; p++)
    memory_free(c->local[p]);
  memory_free(c->local);
  memory_free(c->globals);
  memory_free(c);
}

bool config_equal(const struct model *m, const struct config *a, const struct config *b) {
  if (a->point != b->point || a->rounds != b->rounds || a->phase != b->phase || a->lost != b->lost ||
      a->corrupted != b->corrupted || memcmp(a->globals, b->globals, m->nglobals * sizeof *a->globals))
    return false;
  for (uint32_t p = 0; p < m->nprocesses; p++)
    if (memcmp(a->local[p], b->local[p],
               role_local_length(&m->roles[model_role_of(m, p)]) * sizeof **a->local))
      return false;
  return true;
}

struct witness *witness_new(const struct model *m) {
  struct witness *w = memory_alloc(sizeof *w);
  uint32_t n = m->nprocesses;
  w->nprocesses = n;
  w->oracles = memory_alloc((n + 1) * sizeof *w->oracles);
  w->crashes = memory_alloc((n + 1) * sizeof *w->crashes);
  w->heard = memory_alloc((n + 1) * sizeof *w->heard);
  w->sends = memory_alloc((n + 1) * sizeof *w->sends);
  w->updates = memory_alloc((n + 1) * sizeof *w->updates);
  for (uint32_t p = 0; p < n; p++)
    w->heard[p] = memory_alloc(n + 1);
  return w;
}

void witness_free(struct witness *w) {
  if (!w)
    return;
  for (uint32_t p = 0; p < w->nprocesses; p++) {
    memory_free(w->heard[p]);
    memory_free(w->oracles[p]);
    memory_free(w->sends[p].at);
    memory_free(w->updates[p].at);
  }
  memory_free(w->oracles);
  memory_free(w->crashes);
  memory_free(w->heard);
  memory_free(w->sends);
  memory_free(w->updates);
  memory_free(w->forged);
  memory_free(w);
}

void step_log_release(struct step_log *log) {
  memory_free(log->sent);
  memory_free(log->arrivals);
  memory_free(log->changes);
  memset(log, 0, sizeof *log);
}

enum verdict3 config_holds(struct meaning *meaning, const struct node *formula, const struct config *before,
                           const struct config *after, struct model_error *error) {
  struct eval e;
  jmp_buf failure;
  eval_begin(&e, meaning);
  e.before = before;
  e.after = after;
  e.globals = before->globals;
  e.point = before->point == POINT_END ? meaning->model->npoints - 1 : before->point;
  e.phase = before->phase;
  e.failure = &failure;
  e.error.process = UINT32_MAX;
  if (setjmp(failure)) {
    if (error)
      *error = e.error;
    return V_ERROR;
  }
  return eval_true(&e, formula) ? V_TRUE : V_FALSE;
}
