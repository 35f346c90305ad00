/* Local steps, each computed once by the interpreter. */
#include "lockstep/lockstep_local_steps.h"

#include "lockstep/lockstep.h"
#include "lockstep/outcome_set.h"
#include "lockstep/probabilistic_choice.h"

#include <string.h>

/* --- tables --- */

void local_step_tables_init(struct local_step_tables *t, const struct model *m, struct arena *arena) {
  size_t n = (size_t)m->nroles * m->npoints;
  t->projections = intern_new();
  t->bags = intern_new();
  t->local_updates = intern_new();
  t->sends = arena_array(arena, n + 1, sizeof *t->sends);
  t->updates = arena_array(arena, n + 1, sizeof *t->updates);
  for (uint32_t r = 0; r < m->nroles; r++)
    for (uint32_t p = 0; p < m->npoints; p++) {
      t->sends[(size_t)r * m->npoints + p] = read_set_of_sends(m, r, p, arena);
      t->updates[(size_t)r * m->npoints + p] = read_set_of_update(m, r, p, arena);
    }
}

void local_step_tables_release(struct local_step_tables *t) {
  intern_free(t->projections);
  intern_free(t->bags);
  intern_free(t->local_updates);
  memo_release(&t->projection_of);
  memo_release(&t->steps);
  memo_release(&t->after);
  memo_release(&t->round_sends_of);
  memo_release(&t->named_of);
  memo_release(&t->oracles_of);
  vec_release(&t->lists);
  vec_release(&t->errors);
  vec_release(&t->round_sends);
  vec_release(&t->alternatives);
}

size_t local_step_tables_bytes(const struct local_step_tables *t) {
  return intern_bytes(t->projections) + intern_bytes(t->bags) + intern_bytes(t->local_updates) +
         memo_bytes(&t->projection_of) + memo_bytes(&t->steps) + memo_bytes(&t->after) +
         memo_bytes(&t->round_sends_of) + memo_bytes(&t->named_of) + memo_bytes(&t->oracles_of) + vec_bytes(&t->lists) +
         vec_bytes(&t->errors) + vec_bytes(&t->round_sends) + vec_bytes(&t->alternatives);
}

/* --- projections and steps --- */

void *arena_keep_array(struct arena *arena, const void *from, size_t n, size_t each) {
  void *kept = arena_array(arena, n + 1, each);
  if (n)
    memcpy(kept, from, n * each);
  return kept;
}

static const struct read_set *reads_at(struct read_set **table, const struct model *m, uint32_t role, uint32_t point) {
  return table[(size_t)role * m->npoints + point];
}

/* The projection keeps only what the update reads, so local states that differ elsewhere share their steps. */
static uint32_t projection_put(struct lockstep *s, local_id id, uint32_t point, uint32_t me, value phase,
                               uint32_t globals, const struct read_set *reads, value kind) {
  uint32_t r = local_role(&s->pack, id);
  const struct role *role = &s->model->roles[r];
  const value *local = local_values(&s->pack, id);
  size_t n = 7 + role->nvars;
  value *v = memory_alloc(n * sizeof *v);
  v[0] = kind;
  v[1] = r;
  v[2] = point;
  v[3] = reads->me ? (value)me : -1;
  v[4] = reads->phase ? phase : -1;
  v[5] = reads->globals ? (value)globals : -1;
  v[6] = local[LOCAL_STATUS] & STATUS_BITS;
  /* an assignment may change a part of a don't-care value: any value is correct */
  for (uint32_t i = 0; i < role->nvars; i++)
    v[7 + i] = reads->vars[i] && local[LOCAL_VAR(i)] != VALUE_DONT_CARE
                   ? local[LOCAL_VAR(i)]
                   : type_default(&s->model->values, role->vars[i].type);
  uint32_t projection = intern_put(s->local.projections, v, n);
  memory_free(v);
  return projection;
}

static uint32_t projection_find(struct lockstep *s, local_id id, uint32_t point, uint32_t me, value phase,
                                uint32_t globals, const struct read_set *reads, value kind) {
  uint64_t who = reads->me ? (uint64_t)me + 1 : 0, when = reads->phase ? (uint64_t)phase + 1 : 0;
  uint64_t with = reads->globals ? (uint64_t)globals + 1 : 0;
  if (who >> 24 || when >> 16 || with >> 24) /* does not fit into the key of the memo table */
    return projection_put(s, id, point, me, phase, globals, reads, kind);
  uint64_t a = (uint64_t)id << 32 | point << 1 | (uint32_t)kind, b = who | when << 24 | with << 40;
  uint32_t projection;
  if (memo_find(&s->local.projection_of, a, b, &projection))
    return projection;
  projection = projection_put(s, id, point, me, phase, globals, reads, kind);
  memo_add(&s->local.projection_of, a, b, projection);
  return projection;
}

uint32_t projection_of(struct lockstep *s, local_id id, uint32_t point, uint32_t me, value phase, uint32_t globals) {
  return projection_find(s, id, point, me, phase, globals,
                         reads_at(s->local.updates, s->model, local_role(&s->pack, id), point), 1);
}

struct unpacked_projection { /* a projection, unpacked for the interpreter */
  uint32_t role, point, me;
  value phase;
  const value *globals;
  value *local;
};

static void unpack_projection(struct lockstep *s, uint32_t projection, value *local, struct unpacked_projection *c) {
  const value *v = intern_at(s->local.projections, projection);
  size_t n = intern_length(s->local.projections, projection) - 7;
  c->role = (uint32_t)v[1];
  c->point = (uint32_t)v[2];
  c->me = v[3] < 0 ? s->model->roles[c->role].first : (uint32_t)v[3];
  c->phase = v[4] < 0 ? 1 : v[4];
  c->globals = intern_at(s->pack.vectors, v[5] < 0 ? 0 : (uint32_t)v[5]);
  c->local = local;
  local[LOCAL_STATUS] = v[6];
  memcpy(local + 1, v + 7, n * sizeof *local);
}

static uint32_t error_put(struct lockstep *s, const struct model_error *error) {
  for (size_t i = 0; i < s->local.errors.n; i++)
    if (s->local.errors.at[i].at.from == error->at.from && !strcmp(s->local.errors.at[i].message, error->message))
      return (uint32_t)i;
  vec_push(&s->local.errors, *error);
  return (uint32_t)s->local.errors.n - 1;
}

/* [status, 1 + error or 0, then (variable, value) pairs] */
static uint32_t update_put(struct lockstep *s, struct eval *e, bool ok) {
  const struct role *role = &s->model->roles[e->role];
  value *v = arena_array(e->scratch, 2 + 2 * (size_t)role->nvars, sizeof *v);
  size_t n = 2;
  v[0] = e->local[LOCAL_STATUS];
  v[1] = ok ? 0 : 1 + (value)error_put(s, &e->error);
  for (uint32_t i = 0; i < role->nvars && ok; i++)
    if (e->record.assigned[i]) {
      v[n++] = i;
      v[n++] = e->local[LOCAL_VAR(i)];
    }
  return intern_put(s->local.local_updates, v, n);
}

uint32_t update_error(const struct lockstep *s, uint32_t update) {
  return update >= UPDATE_CRASH || update_is_probabilistic(s, update)
             ? 0
             : (uint32_t)intern_at(s->local.local_updates, update)[1];
}

static uint32_t list_put(struct lockstep *s, const uint32_t *at, size_t n) {
  struct list l = {arena_keep_array(&s->arena, at, n, sizeof *at), (uint32_t)n};
  vec_push(&s->local.lists, l);
  return (uint32_t)s->local.lists.n - 1;
}

void add_unique(uint32_t **at, size_t *n, size_t *cap, uint32_t x) {
  for (size_t i = 0; i < *n; i++)
    if ((*at)[i] == x)
      return;
  if (*n + 1 >= *cap)
    *at = vec_grow(*at, cap, *n + 2, sizeof **at);
  (*at)[(*n)++] = x;
}

static uint32_t *keep_script(struct arena *arena, const struct choices *c) {
  return arena_keep_array(arena, c->taken.at, c->at, sizeof *c->taken.at);
}

uint32_t step_updates_traced(struct lockstep *s, uint32_t projection, const value *bag, size_t length,
                             struct decisions *decisions) {
  struct received_entry small[32], *entries = small;
  uint32_t n = (uint32_t)(length / BAG_ENTRY);
  if (n > 32)
    entries = memory_alloc(n * sizeof *entries);
  for (uint32_t i = 0; i < n; i++) {
    const value *b = bag + (size_t)i * BAG_ENTRY;
    entries[i] = (struct received_entry){b[0], b[1] < 0 ? NO_SENDER : (uint32_t)b[1], (uint32_t)b[2], b[3] != 0};
  }
  struct received received = {entries, n};
  value *local = memory_alloc((s->interp->max_local + 1) * sizeof *local);
  bool *assigned = memory_alloc(s->interp->max_vars + 1);
  struct choices choices = {0};
  uint32_t *found = NULL;
  size_t nfound = 0, cap = 0;
  struct unpacked_projection c;
  struct eval *e = &s->eval;
  VEC(struct update_run) update_runs = {0};
  struct arena scratch;
  arena_init(&scratch);
  do {
    memset(assigned, 0, s->interp->max_vars + 1);
    unpack_projection(s, projection, local, &c);
    local_begin(e, s->interp, c.me, c.point, c.phase, local, c.globals);
    e->role = c.role;
    e->choices = &choices;
    e->record.assigned = assigned;
    e->decisions = decisions;
    e->stop = s->interp->stop;
    bool ok = local_update(e, &received);
    if (lockstep_stopped(s)) /* the evaluation may have been abandoned */
      break;
    s->base.order_mattered |= e->order_mattered;
    uint32_t update = update_put(s, e, ok);
    if (s->coins.used)
      vec_push(&update_runs, ((struct update_run){keep_script(&scratch, &choices), choices.at, choices.coins, update}));
    else
      add_unique(&found, &nfound, &cap, update);
  } while (!lockstep_stopped(s) && choices_next(&choices));
  if (update_runs.n > 0) /* probabilistic, and not stopped before the first run ended */
    probabilistic_updates(s, update_runs.at, update_runs.n, &found, &nfound, &cap);
  if (s->interp->coins_lost)
    s->base.coins_lost = s->interp->coins_lost;
  vec_release(&update_runs);
  arena_release(&scratch);
  uint32_t result = list_put(s, found, nfound);
  choices_release(&choices);
  memory_free(found);
  memory_free(local);
  memory_free(assigned);
  if (entries != small)
    memory_free(entries);
  return result;
}

const struct list *step_updates(struct lockstep *s, uint32_t projection, const value *bag, size_t length) {
  uint32_t id = intern_put(s->local.bags, bag, length), result;
  if (!memo_find(&s->local.steps, projection, id, &result)) {
    result = step_updates_traced(s, projection, bag, length, NULL);
    if (!lockstep_stopped(s))
      memo_add(&s->local.steps, projection, id, result);
  }
  return &s->local.lists.at[result];
}

/* --- sending --- */

static uint32_t round_sends_put(struct lockstep *s, const struct local_send_list *out) {
  for (size_t i = 0; i < s->local.round_sends.n; i++)
    if (local_send_lists_equal(&s->local.round_sends.at[i], out))
      return (uint32_t)i;
  struct local_send_list copy = {arena_keep_array(&s->arena, out->at, out->n, sizeof *out->at), out->n, out->n};
  vec_push(&s->local.round_sends, copy);
  return (uint32_t)s->local.round_sends.n - 1;
}

static uint32_t sends_compute(struct lockstep *s, uint32_t projection) {
  value *local = memory_alloc((s->interp->max_local + 1) * sizeof *local);
  struct choices choices = {0};
  struct local_send_list out = {memory_alloc(sizeof *out.at), 0, 1};
  uint32_t *found = NULL;
  size_t nfound = 0, cap = 0;
  struct unpacked_projection c;
  do {
    struct eval *e = &s->eval;
    unpack_projection(s, projection, local, &c);
    local_begin(e, s->interp, c.me, c.point, c.phase, local, c.globals);
    e->role = c.role;
    e->choices = &choices;
    uint32_t alternative = local_sends(e, &out) ? round_sends_put(s, &out) : SENDING_ERROR | error_put(s, &e->error);
    add_unique(&found, &nfound, &cap, alternative);
    if (s->coins.used && choices.coins)
      s->base.coins_lost = "a message depends on a coin that is tossed when it is sent";
  } while (!lockstep_stopped(s) && choices_next(&choices));
  struct list l = {arena_keep_array(&s->arena, found, nfound, sizeof *found), (uint32_t)nfound};
  vec_push(&s->local.alternatives, l);
  choices_release(&choices);
  memory_free(local);
  memory_free(found);
  memory_free(out.at);
  return (uint32_t)s->local.alternatives.n - 1;
}

const struct list *send_alternatives(struct lockstep *s, local_id id, uint32_t point, uint32_t me, value phase,
                                     uint32_t globals) {
  uint32_t projection = projection_find(s, id, point, me, phase, globals,
                                        reads_at(s->local.sends, s->model, local_role(&s->pack, id), point), 0);
  uint32_t result;
  if (!memo_find(&s->local.round_sends_of, projection, 0, &result)) {
    result = sends_compute(s, projection);
    if (!lockstep_stopped(s))
      memo_add(&s->local.round_sends_of, projection, 0, result);
  }
  return &s->local.alternatives.at[result];
}

/* --- updates --- */

local_id local_after(struct lockstep *s, local_id id, uint32_t point, uint32_t update) {
  uint64_t key = (uint64_t)id << 32 | point;
  uint32_t result;
  if (memo_find(&s->local.after, key, update, &result))
    return result;
  uint32_t r = local_role(&s->pack, id), length = role_local_length(&s->model->roles[r]);
  value *v = memory_alloc(length * sizeof *v);
  memcpy(v, local_values(&s->pack, id), length * sizeof *v);
  if (update == UPDATE_CRASH) {
    v[LOCAL_STATUS] |= STATUS_CRASHED;
  } else if (update != UPDATE_IDLE) {
    const value *changes = intern_at(s->local.local_updates, update);
    size_t n = intern_length(s->local.local_updates, update);
    v[LOCAL_STATUS] = (v[LOCAL_STATUS] & ~STATUS_BITS) | changes[0];
    for (size_t i = 2; i < n; i += 2)
      v[LOCAL_VAR(changes[i])] = changes[i + 1];
  }
  if (!(v[LOCAL_STATUS] & STATUS_BYZANTINE))
    local_reset_oracles(s->interp, r, point, v);
  result = local_put(&s->pack, r, v);
  result = local_drop_dead(&s->pack, result, s->model->points[point].next);
  memory_free(v);
  memo_add(&s->local.after, key, update, result);
  return result;
}
