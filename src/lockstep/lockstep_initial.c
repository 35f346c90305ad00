#include "lockstep/lockstep_initial.h"

#include "system/initial_enumeration.h"
#include "system/initial_set.h"

#include <string.h>

struct lockstep_initial {
  struct lockstep *system;
  emit_fn *emit;
  void *context;
  struct unpacked_state *raw;
  const struct state *sought; /* the state to find, or NULL */
};

static bool interchangeable(void *context, const value *globals, const struct initial_class *c, uint32_t q) {
  const struct lockstep *s = ((struct lockstep_initial *)context)->system;
  (void)globals; /* renaming processes maps them to globals that are enumerated too */
  (void)q;
  return (s->pack.bag || s->pack.sort || s->pack.permute) && s->base.licences->identity[c->role] != IDENTITY_NUMBERED &&
         !role_starts_naming_processes(&s->model->roles[c->role]);
}

static local_id start_of(void *context, uint32_t role, const value *local, uint64_t followed) {
  struct pack *p = &((struct lockstep_initial *)context)->system->pack;
  return local_at_start(p, local_put_followed(p, role, local, (value)(followed << STATUS_FOLLOWED)));
}

static void raw_state(struct lockstep_initial *st, const struct initial_state *from) {
  struct lockstep *s = st->system;
  struct unpacked_state *g = st->raw;
  g->point = 0;
  g->rounds = 0;
  g->phase = 1;
  g->lost = g->corrupted = 0;
  g->obligation = 0;
  g->globals = intern_put(s->pack.vectors, from->globals, s->model->nglobals);
  g->inits = s->pack.kept.initials == INITIALS_SET ? initials_put(&s->pack, from->local) : 0;
  g->n = 0;
  for (size_t i = 0; i < from->nchoices; i++) {
    const struct initial_choice *c = &from->choices[i];
    if (s->pack.bag)
      g->at[g->n++] = (struct member){c->option->name, c->count};
    for (uint32_t k = 0; k < c->count && !s->pack.bag; k++)
      g->at[g->n++] = (struct member){c->option->name, 1};
  }
}

static bool visit_initial(void *context, const struct initial_state *from) {
  struct lockstep_initial *st = context;
  struct lockstep *s = st->system;
  struct unpacked_state *out = s->scratch;
  struct member *room = out->at;
  raw_state(st, from);
  *out = *st->raw;
  out->at = room;
  memcpy(out->at, st->raw->at, st->raw->n * sizeof *out->at);
  global_canonical(&s->pack, out, NULL);
  struct state state;
  global_encode(&s->pack, out, &s->buffer, &s->buffer_capacity, &state);
  if (st->sought)
    return state.length != st->sought->length || memcmp(state.bytes, st->sought->bytes, state.length) != 0;
  s->initial_states++;
  return st->emit(st->context, &state, &(struct edge){.processes = from->faulty});
}

static bool each_initial(struct lockstep_initial *st, struct model_error *error) {
  struct lockstep *s = st->system;
  struct initial_system of = {.interp = s->interp,
                              .query = s->base.query,
                              .licences = s->base.licences,
                              .followed = s->pack.followed,
                              .nfollowed = s->pack.nfollowed,
                              .context = st,
                              .interchangeable = interchangeable,
                              .name = start_of,
                              .visit = visit_initial};
  return initial_states_each(&of, error);
}

bool initial_states(struct lockstep *s, emit_fn *emit, void *context) {
  struct lockstep_initial st = {.system = s, .emit = emit, .context = context, .raw = global_new(&s->pack)};
  struct model_error error;
  bool more = each_initial(&st, &error);
  if (!more && error.message)
    emit_initial_error(&s->arena, &error, emit, context);
  global_free(st.raw);
  return more;
}

bool initial_find(struct lockstep *s, const struct state *sought, struct unpacked_state *raw) {
  struct lockstep_initial st = {.system = s, .sought = sought, .raw = raw};
  struct model_error error;
  return !each_initial(&st, &error) && !error.message;
}
