#include "steps/step_initial.h"

#include "steps/dead_data.h"
#include "steps/step_system_internal.h"
#include "system/initial_enumeration.h"

#include <string.h>

struct step_initial_search {
  struct step_system *system;
  emit_fn *emit;
  void *context;
  struct config *config;
  const uint8_t *sought; /* a key, or NULL */
};

/* Would exchanging p and q leave the globals unchanged? */
static bool globals_stay(struct model *m, const value *globals, uint32_t p, uint32_t q) {
  uint32_t *to = memory_alloc((m->nprocesses + 1) * sizeof *to);
  bool stay = true;
  for (uint32_t i = 0; i < m->nprocesses; i++)
    to[i] = i == p ? q : i == q ? p : i;
  for (uint32_t i = 0; i < m->nglobals && stay; i++)
    if (type_contains_kind(m->globals[i].type, TYPE_PROCESS))
      stay = value_rename(&m->values, m->globals[i].type, globals[i], &(struct renaming){.process = to}) == globals[i];
  memory_free(to);
  return stay;
}

static bool interchangeable(void *context, const value *globals, const struct initial_class *c, uint32_t q) {
  const struct step_system *s = ((struct step_initial_search *)context)->system;
  return s->form.canonical && s->base.licences->of[REDUCE_SYMMETRY].applied &&
         s->base.licences->identity[c->role] <= IDENTITY_EQUALITY &&
         !role_starts_naming_processes(&s->model->roles[c->role]) && globals_stay(s->model, globals, c->first, q);
}

static bool visit_initial(void *context, const struct initial_state *from) {
  struct step_initial_search *st = context;
  struct step_system *s = st->system;
  memcpy(st->config->globals, from->globals, s->model->nglobals * sizeof *from->globals);
  for (uint32_t p = 0; p < s->model->nprocesses; p++)
    memcpy(st->config->local[p], from->local[p],
           role_local_length(&s->model->roles[s->role_of[p]]) * sizeof *from->local[p]);
  row_from_config(s, st->config, s->scratch.row);
  if (!row_key(s, s->scratch.row, s->scratch.next, NULL, NULL)) {
    s->base.restart = true;
    return false;
  }
  if (st->sought)
    return memcmp(st->sought, s->scratch.next, s->keys.nbytes) != 0;
  struct state state = keys_state(&s->keys, s->scratch.next);
  return st->emit(st->context, &state, &(struct edge){.processes = from->faulty});
}

static bool each_initial(struct step_initial_search *st, struct model_error *error) {
  struct step_system *s = st->system;
  struct initial_system of = {.interp = s->interp,
                              .query = s->base.query,
                              .licences = s->base.licences,
                              .context = st,
                              .interchangeable = interchangeable,
                              .visit = visit_initial};
  return initial_states_each(&of, error);
}

bool step_system_initial(struct step_system *s, emit_fn *emit, void *context) {
  struct step_initial_search st = {.system = s, .emit = emit, .context = context, .config = config_new(s->model)};
  struct model_error error;
  bool more = each_initial(&st, &error);
  if (!more && error.message)
    emit_initial_error(&s->arena, &error, emit, context);
  config_free(st.config);
  return more;
}

struct config *step_system_initial_find(struct step_system *s, const struct state *sought) {
  struct step_initial_search st = {.system = s, .config = config_new(s->model), .sought = sought->bytes};
  struct model_error error;
  if (!each_initial(&st, &error) && !error.message && !s->base.restart)
    return st.config;
  config_free(st.config);
  return NULL;
}
