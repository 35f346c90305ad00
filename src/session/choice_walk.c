/* All choices of a state, in the interpreter's plain order. */
#include "session/session_internal.h"

#include "interp/local.h"

#include <string.h>

struct choice_walk {
  struct session *session;
  choice_fn *visit;
  void *context;
  uint64_t index;
  bool ended;
};

/* An evaluation that was interrupted looks like an error of the model, so the stop flag is tested first. */
static bool visit_step(void *context, const struct witness *w, enum step_result result, const struct config *next,
                       const struct model_error *error) {
  struct choice_walk *k = context;
  if (interpreter_stopped(k->session->interp))
    return false;
  if (result == STEP_BAD_WITNESS)
    return true;
  k->ended = !k->visit(k->context, k->index++, w, result, next, error);
  arena_clear(&k->session->interp->strings); /* otherwise error messages that are never shown would accumulate */
  return !k->ended;
}

enum walk_end choices_walk(struct session *s, uint32_t environment, const struct config *c, choice_fn *visit,
                           void *context) {
  struct choice_walk k = {.session = s, .visit = visit, .context = context};
  if (session_stop_seen(s))
    return WALK_STOPPED;
  bool all = config_successors(s->interp, environment, c, visit_step, &k);
  if (all || k.ended)
    return all ? WALK_ALL : WALK_ENDED;
  if (!session_stop_seen(s)) { /* the flag was set, but has been cleared since */
    s->interrupted = true;
    session_fail(s, "interrupted");
  }
  return WALK_STOPPED;
}

/* --- equality of witnesses --- */

static bool same_script(const struct script *a, const struct script *b) {
  return a->n == b->n && (a->n == 0 || !memcmp(a->at, b->at, a->n * sizeof *a->at));
}

static bool same_event(const struct event *a, const struct event *b) {
  if (a->kind != b->kind || a->process != b->process || a->action != b->action || a->message_kind != b->message_kind ||
      a->ntaken != b->ntaken || a->nout != b->nout || !same_script(&a->script, &b->script))
    return false;
  for (uint32_t i = 0; i < a->ntaken; i++) {
    const struct taken_message *x = &a->taken[i], *y = &b->taken[i];
    if (x->from != y->from || x->forged != y->forged || x->kept != y->kept || x->message != y->message ||
        (!x->forged && x->place != y->place))
      return false;
  }
  return a->nout == 0 || !memcmp(a->out, b->out, a->nout * sizeof *a->out);
}

static bool same_sending(const struct model *m, const struct witness *a, const struct witness *b, uint32_t p) {
  uint32_t noracles = role_noracles(&m->roles[model_role_of(m, p)]);
  if (a->crashes[p] != b->crashes[p] || !same_script(&a->sends[p], &b->sends[p]))
    return false;
  return noracles == 0 ||
         (a->oracles[p] && b->oracles[p] && !memcmp(a->oracles[p], b->oracles[p], noracles * sizeof(value)));
}

bool witness_equal_sending(const struct model *m, const struct witness *a, const struct witness *b) {
  for (uint32_t p = 0; p < m->nprocesses; p++)
    if (!same_sending(m, a, b, p))
      return false;
  return true;
}

bool witness_equal(const struct model *m, const struct witness *a, const struct witness *b) {
  if (a->event || b->event)
    return a->event && b->event && same_event(a->event, b->event);
  if (a->nforged != b->nforged)
    return false;
  for (uint32_t p = 0; p < m->nprocesses; p++)
    if (!same_sending(m, a, b, p) || memcmp(a->heard[p], b->heard[p], a->nprocesses) ||
        !same_script(&a->updates[p], &b->updates[p]))
      return false;
  for (uint32_t i = 0; i < a->nforged; i++)
    if (a->forged[i].receiver != b->forged[i].receiver || a->forged[i].sender != b->forged[i].sender ||
        a->forged[i].message != b->forged[i].message)
      return false;
  return true;
}
