/* Initial states. Processes with the same initial local states that cannot be distinguished form a group: only the
   number of processes in each local state matters. If licensed, initial values are considered up to renaming
   (partition) or up to their order (order). */
#include "steps/step_system_internal.h"

#include "interp/local.h"
#include "interp/round_step.h"

#include <string.h>

struct initial_group {
  uint32_t role, first, size;
  struct locals ways; /* possible initial local states */
  int64_t *value;     /* index of the free initial value to which the reduction applies, or -1 */
  bool ascending;     /* value[i] is i: counts that violate the order or partition reduction are pruned early */
};

struct step_initial_search {
  struct step_system *space;
  emit_fn *emit;
  void *context;
  VEC(struct initial_group) groups;
  struct config *config;
  uint64_t *used; /* by value index: number of processes that start with it */
  uint64_t nvalues;
  bool partition, order;
  const uint8_t *sought; /* a key, or NULL */
  struct model_error error;
};

/* The variable whose free initial value is reduced, if the role has exactly one. */
static uint32_t reduced_input(const struct step_initial_search *st, uint32_t role) {
  const struct step_system *s = st->space;
  const struct type *t = s->base.licences->value_type;
  uint32_t found = NO_VAR, n = 0;
  for (uint32_t i = 0; i < s->model->roles[role].nvars; i++) {
    const struct var *v = &s->model->roles[role].vars[i];
    if (v->kind == VAR_INPUT && !v->init && v->type == t) {
      found = i;
      n++;
    }
  }
  return n == 1 ? found : NO_VAR;
}

static void group_fill(struct step_initial_search *st, struct initial_group *g) {
  struct step_system *s = st->space;
  uint32_t input = reduced_input(st, g->role);
  g->value = memory_alloc((g->ways.n + 1) * sizeof *g->value);
  g->ascending = true;
  for (size_t i = 0; i < g->ways.n; i++) {
    const value *local = g->ways.at + i * g->ways.length;
    g->value[i] = input == NO_VAR || (local[LOCAL_STATUS] & STATUS_BYZANTINE)
                      ? -1
                      : (int64_t)type_index(&s->model->values, s->model->roles[g->role].vars[input].type,
                                            local[LOCAL_VAR(input)]);
    g->ascending &= g->value[i] == (int64_t)i;
  }
}

static bool mentions_processes(const struct role *role) {
  for (uint32_t i = 0; i < role->nvars; i++)
    if (type_contains_kind(role->vars[i].type, TYPE_PROCESS))
      return true;
  return false;
}

/* Would exchanging q with p, the first process of its group, leave the globals unchanged? */
static bool globals_stay(const struct step_initial_search *st, uint32_t p, uint32_t q) {
  const struct model *m = st->space->model;
  uint32_t *to = memory_alloc((m->nprocesses + 1) * sizeof *to);
  bool stay = true;
  for (uint32_t i = 0; i < m->nprocesses; i++)
    to[i] = i == p ? q : i == q ? p : i;
  for (uint32_t i = 0; i < m->nglobals && stay; i++)
    if (type_contains_kind(m->globals[i].type, TYPE_PROCESS))
      stay = value_rename(&st->space->model->values, m->globals[i].type, st->config->globals[i],
                          &(struct renaming){.process = to}) == st->config->globals[i];
  memory_free(to);
  return stay;
}

/* Does every permutation of the group give the same state? */
static bool interchangeable(const struct step_initial_search *st, const struct initial_group *g, uint32_t q) {
  const struct step_system *s = st->space;
  return s->canonical && s->base.licences->of[REDUCE_SYMMETRY].applied &&
         s->base.licences->identity[g->role] <= IDENTITY_EQUALITY && !mentions_processes(&s->model->roles[g->role]) &&
         globals_stay(st, g->first, q);
}

static bool same_ways(const struct locals *a, const struct locals *b) {
  return a->n == b->n && !memcmp(a->at, b->at, a->n * a->length * sizeof *a->at);
}

static void groups_release(struct step_initial_search *st) {
  for (size_t i = 0; i < st->groups.n; i++) {
    locals_release(&st->groups.at[i].ways);
    memory_free(st->groups.at[i].value);
  }
  vec_clear(&st->groups);
}

static bool groups_make(struct step_initial_search *st) {
  struct step_system *s = st->space;
  const struct model *m = s->model;
  groups_release(st);
  for (uint32_t p = 0; p < m->nprocesses; p++) {
    uint32_t r = s->role_of[p];
    struct initial_group g = {.role = r, .first = p, .size = 1};
    if (!local_initials(s->interp, s->base.query->environment, p, st->config->globals, &g.ways, &st->error)) {
      locals_release(&g.ways);
      return false;
    }
    struct initial_group *last = st->groups.n ? &st->groups.at[st->groups.n - 1] : NULL;
    if (last && last->role == r && same_ways(&last->ways, &g.ways) && interchangeable(st, last, p)) {
      last->size++;
      locals_release(&g.ways);
    } else {
      group_fill(st, &g);
      vec_push(&st->groups, g);
    }
  }
  return true;
}

static bool values_representative(const struct step_initial_search *st) {
  for (uint64_t v = 1; v < st->nvalues; v++) {
    if (st->order && st->used[v] && !st->used[v - 1])
      return false;
    if (st->partition && st->used[v] > st->used[v - 1])
      return false;
  }
  return true;
}

/* False: the caller stopped the enumeration. */
static bool emit_initial(struct step_initial_search *st) {
  struct step_system *s = st->space;
  struct config *c = st->config;
  if (!values_representative(st) ||
      !initial_allowed(s->model, s->base.query->environment, (const value *const *)c->local))
    return true;
  struct edge edge = {0};
  for (uint32_t p = 0; p < s->model->nprocesses; p++)
    edge.processes += (c->local[p][LOCAL_STATUS] & STATUS_FAULTY) != 0;
  row_from_config(s, c, s->row);
  if (!row_key(s, s->row, s->next, NULL, NULL)) {
    s->base.restart = true;
    return false;
  }
  if (st->sought)
    return memcmp(st->sought, s->next, s->keys.nbytes) != 0;
  struct state state = keys_state(&s->keys, s->next);
  return st->emit(st->context, &state, &edge);
}

static void start_process(struct step_initial_search *st, const struct initial_group *g, uint32_t p, size_t way) {
  memcpy(st->config->local[p], g->ways.at + way * g->ways.length, g->ways.length * sizeof(value));
}

/* Assigns initial states to the `left` remaining processes of group i, from number `way` on. */
static bool start_group(struct step_initial_search *st, size_t i, size_t way, uint32_t left) {
  if (i == st->groups.n)
    return emit_initial(st);
  const struct initial_group *g = &st->groups.at[i];
  if (left == 0)
    return start_group(st, i + 1, 0, i + 1 < st->groups.n ? st->groups.at[i + 1].size : 0);
  if (way == g->ways.n)
    return true;
  int64_t v = g->value[way];
  uint32_t most = left, first = g->first + g->size - left;
  if (g->ascending && st->groups.n == 1 && v > 0 && st->nvalues) {
    if (st->order && st->used[v - 1] == 0)
      return true;
    if (st->partition && st->used[v - 1] < most)
      most = (uint32_t)st->used[v - 1];
  }
  for (uint32_t p = first; p < first + most; p++)
    start_process(st, g, p, way);
  for (uint32_t take = most;; take--) {
    if (v >= 0 && st->nvalues)
      st->used[v] += take;
    bool more = start_group(st, i, way + 1, left - take);
    if (v >= 0 && st->nvalues)
      st->used[v] -= take;
    if (!more || take == 0)
      return more;
  }
}

static bool start_with(void *context, const value *globals) {
  struct step_initial_search *st = context;
  memcpy(st->config->globals, globals, st->space->model->nglobals * sizeof *globals);
  if (!groups_make(st))
    return false;
  return start_group(st, 0, 0, st->groups.n ? st->groups.at[0].size : 0);
}

static bool start_all(struct step_initial_search *st) {
  struct step_system *s = st->space;
  const struct licences *l = s->base.licences;
  st->partition = l->of[REDUCE_PARTITION].applied && l->value_type;
  st->order = !st->partition && l->of[REDUCE_ORDER].applied && l->value_type;
  st->nvalues = st->partition || st->order ? l->value_type->count : 0;
  st->used = memory_alloc(memory_size((st->nvalues + 1) * sizeof *st->used));
  st->config = config_new(s->model);
  bool more = globals_each(s->interp, start_with, st, &st->error);
  memory_free(st->used);
  groups_release(st);
  vec_release(&st->groups);
  return more;
}

bool step_system_initial(struct step_system *s, emit_fn *emit, void *context) {
  struct step_initial_search st = {.space = s, .emit = emit, .context = context};
  bool more = start_all(&st);
  config_free(st.config);
  if (!more && st.error.message) {
    struct model_error *error = arena_copy(&s->arena, &st.error, sizeof st.error);
    emit(context, NULL, &(struct edge){.error = error});
  }
  return more;
}

struct config *step_system_initial_find(struct step_system *s, const struct state *sought) {
  struct step_initial_search st = {.space = s, .sought = sought->bytes};
  if (!start_all(&st) && !st.error.message && !s->base.restart)
    return st.config;
  config_free(st.config);
  return NULL;
}
