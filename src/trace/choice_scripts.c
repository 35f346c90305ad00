#include "trace/choice_scripts.h"

#include "interp/event_step.h"
#include "interp/round_step.h"

#include <string.h>

/* ---- sending ---- */

/* Does p send exactly these messages? -1: it sends two messages to one receiver, which is an error. */
static int sends_match(const struct model *m, const struct local_send_list *out, uint32_t p, const bool *sent,
                       const value *message) {
  bool match = true;
  for (uint32_t q = 0; q < m->nprocesses; q++) {
    const struct local_send *one = NULL;
    for (size_t i = 0; i < out->n; i++)
      if (round_send_reaches(m, &out->at[i], p, q)) {
        if (one)
          return -1;
        one = &out->at[i];
      }
    size_t at = (size_t)p * m->nprocesses + q;
    match &= (one != NULL) == sent[at] && (!one || one->message == message[at]);
  }
  return match;
}

/* Finds the first send script that matches; failing: the first that ends in an error. */
static bool find_sends(struct interpreter *interp, const struct config *c, struct witness *w, uint32_t p,
                       const bool *sent, const value *message, bool failing) {
  const struct model *m = interp->model;
  struct choices choices = {0};
  struct local_send_list out = {0};
  bool found = false;
  do {
    struct eval e;
    value *local = local_with_oracles(m, c, w, p);
    local_begin(&e, interp, p, c->point, c->phase, local, c->globals);
    e.choices = &choices;
    bool ok = local_sends(&e, &out);
    int match = ok ? sends_match(m, &out, p, sent, message) : -1;
    found = failing ? match < 0 : match > 0;
    memory_free(local);
  } while (!found && choices_next(&choices));
  if (found)
    script_keep(&w->sends[p], &choices);
  choices_release(&choices);
  memory_free(out.at);
  return found;
}

/* ---- updating ---- */

/* Is this the wanted state of p once its round is over? */
static bool becomes(struct interpreter *interp, const struct config *c, uint32_t p, value *local, const value *wanted) {
  const struct role *role = &interp->model->roles[model_role_of(interp->model, p)];
  local_reset_oracles(interp, model_role_of(interp->model, p), c->point, local);
  return !memcmp(local, wanted, role_local_length(role) * sizeof *local);
}

static bool find_update(const struct message_exchange *x, struct witness *w, uint32_t p, const struct config *after) {
  const struct config *c = x->config;
  const struct model *m = x->interp->model;
  struct choices choices = {0};
  struct received received;
  struct received_entry *entries = memory_alloc((m->nprocesses + (size_t)1) * sizeof *entries);
  uint32_t length = role_local_length(&m->roles[model_role_of(m, p)]);
  value *local = memory_alloc(length * sizeof *local);
  bool found = false, possible = exchange_receive(x, w, p, entries, &received, NULL);
  do {
    struct eval e;
    memcpy(local, x->local[p], length * sizeof *local);
    local_begin(&e, x->interp, p, c->point, c->phase, local, c->globals);
    e.choices = &choices;
    bool ok = possible && local_update(&e, &received);
    found = possible && (after ? ok && becomes(x->interp, c, p, local, after->local[p]) : !ok);
  } while (possible && !found && choices_next(&choices));
  if (found)
    script_keep(&w->updates[p], &choices);
  choices_release(&choices);
  memory_free(entries);
  memory_free(local);
  return found;
}

static bool find_updates(struct interpreter *interp, const struct config *c, const struct config *after,
                         struct witness *w) {
  struct message_exchange x;
  struct model_error error;
  bool all = exchange_begin(&x, interp, c, w, &error) == STEP_OK, any = false;
  for (uint32_t p = 0; p < c->nprocesses && all && !(any && !after); p++)
    if (process_active(c->local[p][LOCAL_STATUS]) && !w->crashes[p]) {
      bool found = find_update(&x, w, p, after);
      any |= found;
      all = found || !after;
    }
  exchange_release(&x);
  return after ? all : all && any;
}

bool witness_find_scripts(struct interpreter *interp, const struct config *before, const struct config *after,
                          struct witness *w, const bool *sent, const value *message) {
  bool sends = true;
  for (uint32_t p = 0; p < before->nprocesses && sends; p++)
    if (process_active(before->local[p][LOCAL_STATUS]))
      sends = find_sends(interp, before, w, p, sent, message, false);
  if (sends && find_updates(interp, before, after, w))
    return true;
  for (uint32_t p = 0; p < before->nprocesses && !after; p++)
    if (process_active(before->local[p][LOCAL_STATUS]) && find_sends(interp, before, w, p, sent, message, true))
      return true;
  return false;
}

/* ---- steps ---- */

struct step_target {
  const struct model *model;
  const struct config *after;
  struct witness *found;
};

static bool is_sought(void *context, const struct witness *w, enum step_result result, const struct config *next,
                      const struct model_error *error) {
  struct step_target *s = context;
  (void)error;
  if (s->after ? result == STEP_OK && config_equal(s->model, next, s->after) : result == STEP_ERROR)
    s->found = witness_copy(s->model, w);
  return !s->found;
}

struct witness *witness_find(struct interpreter *interp, uint32_t environment, const struct config *before,
                             const struct config *after, uint32_t process, uint32_t action) {
  struct step_target s = {interp->model, after, NULL};
  event_steps_of(interp, environment, before, process, action, is_sought, &s);
  return s.found;
}

/* ---- initial states ---- */

struct initial_check {
  struct interpreter *interp;
  uint32_t environment;
  struct model_error error;
};

static bool fails_to_start(void *context, const value *globals) {
  struct initial_check *s = context;
  bool ok = true;
  for (uint32_t p = 0; p < s->interp->model->nprocesses && ok; p++) {
    struct locals ways = {0};
    ok = local_initials(s->interp, s->environment, p, globals, &ways, &s->error);
    locals_release(&ways);
  }
  return ok;
}

bool initial_error(struct interpreter *interp, uint32_t environment, struct model_error *error) {
  struct initial_check s = {.interp = interp, .environment = environment};
  struct model_error global = {0};
  globals_each(interp, fails_to_start, &s, &global);
  *error = global.message ? global : s.error;
  return error->message != NULL;
}
