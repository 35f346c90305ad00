/* Initial states. Processes with the same possible initial states form a class; if they are symmetric, only the number
   that starts in each state matters. Initial values are enumerated up to renaming (partition) or up to their order
   (order) if licensed. The processes that a query follows are chosen together with their initial states. */
#include "lockstep/lockstep_initial.h"

#include <string.h>

struct initial_class {
  uint32_t role, first, size;
  local_id *local;  /* the possible initial local states */
  uint32_t *inits;  /* the first values of each, in pack.vectors; 0: none */
  int64_t *value;   /* index of the free initial value that is reduced, or -1 */
  uint64_t *single; /* for each: the bits of pack.followed whose input names this process alone */
  uint32_t n;
  bool ascending; /* value[] is ascending without gaps: unrepresentative choices can be pruned early */
};

struct lockstep_initial {
  struct lockstep *system;
  emit_fn *emit;
  void *context;
  const value *globals;
  VEC(struct initial_class) classes;
  struct unpacked_state *raw;
  uint32_t *chosen_inits; /* by member of raw */
  uint64_t *used;         /* by value index: the number of processes that start with it */
  uint64_t nvalues;
  uint64_t single,
      placed; /* bits of pack.followed: inputs that name one process; those of them that have been assigned */
  bool partition, order;
  struct model_error error;
  bool failed;
  const struct state *sought; /* the state to find, or NULL */
  struct unpacked_state *found;
};

/* The variable whose free initial value is reduced, if this role has exactly one. */
static uint32_t reduced_input(const struct lockstep_initial *st, uint32_t role) {
  const struct lockstep *s = st->system;
  const struct type *t = s->base.licences->value_type;
  uint32_t found = UINT32_MAX;
  for (uint32_t i = 0; i < s->model->roles[role].nvars; i++) {
    const struct var *v = &s->model->roles[role].vars[i];
    if (v->kind == VAR_INPUT && !v->init && v->type == t)
      found = found == UINT32_MAX ? i : UINT32_MAX - 1;
  }
  return found >= UINT32_MAX - 1 ? UINT32_MAX : found;
}

static uint32_t inits_put(struct lockstep *s, uint32_t role, const value *local) {
  const struct role *r = &s->model->roles[role];
  uint32_t inputs = role_ninputs(r);
  if (!inputs || (local[LOCAL_STATUS] & STATUS_BYZANTINE))
    return 0;
  value *v = memory_alloc((inputs + 1) * sizeof *v);
  v[0] = role;
  memcpy(v + 1, local + 1 + r->nvars, inputs * sizeof *v);
  uint32_t id = intern_put(s->pack.vectors, v, inputs + 1);
  memory_free(v);
  return id;
}

/* Can a process of the role be named by all these inputs? */
static bool may_be_followed(const struct lockstep *s, uint32_t role, uint64_t followed) {
  for (uint32_t i = 0; i < s->pack.nfollowed; i++) {
    const struct type *t = s->model->globals[s->pack.followed[i]].type;
    uint32_t of = t->kind == TYPE_SET ? t->element->role : t->role;
    if ((followed >> i & 1) && of != ROLE_ANY && of != role)
      return false;
  }
  return true;
}

static void class_fill(struct lockstep_initial *st, struct initial_class *c, struct locals *ways) {
  struct lockstep *s = st->system;
  uint32_t input = reduced_input(st, c->role);
  size_t most = ways->n << s->pack.nfollowed;
  c->n = 0;
  c->local = arena_array(&s->arena, most + 1, sizeof *c->local);
  c->inits = arena_array(&s->arena, most + 1, sizeof *c->inits);
  c->value = arena_array(&s->arena, most + 1, sizeof *c->value);
  c->single = arena_array(&s->arena, most + 1, sizeof *c->single);
  for (size_t i = 0; i < most; i++) {
    value *local = ways->at + (i >> s->pack.nfollowed) * ways->length, status = local[LOCAL_STATUS];
    uint64_t followed = i & ((UINT64_C(1) << s->pack.nfollowed) - 1);
    if (!may_be_followed(s, c->role, followed))
      continue;
    local[LOCAL_STATUS] |= (value)(followed << STATUS_FOLLOWED);
    c->local[c->n] = local_at_start(&s->pack, local_put(&s->pack, c->role, local));
    local[LOCAL_STATUS] = status;
    c->single[c->n] = followed & st->single;
    c->inits[c->n] = inits_put(s, c->role, local);
    bool byzantine = status & STATUS_BYZANTINE;
    c->value[c->n++] = input == UINT32_MAX || byzantine
                           ? -1
                           : (int64_t)type_index(&s->model->values, s->model->roles[c->role].vars[input].type,
                                                 local[LOCAL_VAR(input)]);
  }
  c->ascending = c->n > 0 && c->value[0] == 0;
  for (uint32_t i = 1; i < c->n; i++)
    c->ascending &= c->value[i] == c->value[i - 1] || c->value[i] == c->value[i - 1] + 1;
}

static bool mentions_processes(const struct role *role) {
  for (uint32_t i = 0; i < role->nvars; i++)
    if (type_contains_kind(role->vars[i].type, TYPE_PROCESS) && role->vars[i].kind != VAR_ORACLE)
      return true;
  return false;
}

static bool same_ways(const struct locals *a, const struct locals *b) {
  return a->n == b->n && !memcmp(a->at, b->at, a->n * a->length * sizeof *a->at);
}

static bool classes_make(struct lockstep_initial *st) {
  struct lockstep *s = st->system;
  const struct model *m = s->model;
  bool symmetric = s->pack.bag || s->pack.sort || s->pack.permute;
  vec_clear(&st->classes);
  for (uint32_t r = 0; r < m->nroles; r++) {
    const struct role *role = &m->roles[r];
    struct locals first = {0};
    bool alike = symmetric && s->base.licences->identity[r] != IDENTITY_NUMBERED && !mentions_processes(role);
    for (uint32_t p = role->first; p < role->first + role->count; p++) {
      struct locals ways = {0};
      if (p > role->first && s->same_start[r]) {
        if (alike) {
          st->classes.at[st->classes.n - 1].size++;
          continue;
        }
        struct initial_class c = st->classes.at[st->classes.n - 1];
        c.first = p;
        vec_push(&st->classes, c);
        continue;
      }
      if (!local_initials(s->interp, s->base.query->environment, p, st->globals, &ways, &st->error)) {
        locals_release(&ways);
        locals_release(&first);
        return false;
      }
      struct initial_class c = {.role = r, .first = p, .size = 1};
      if (p > role->first && alike && same_ways(&first, &ways)) {
        st->classes.at[st->classes.n - 1].size++;
      } else {
        class_fill(st, &c, &ways);
        vec_push(&st->classes, c);
      }
      locals_release(&first);
      first = ways;
    }
    locals_release(&first);
  }
  return true;
}

/* --- limits on faults that exist from the start --- */

static bool start_within(const struct lockstep *s, const struct unpacked_state *g, enum clause_kind kind, value bits) {
  int64_t *faulty = memory_alloc((s->model->nroles + 1) * sizeof *faulty);
  for (uint32_t i = 0; i < g->n; i++)
    if (local_status(&s->pack, g->at[i].local) & bits)
      faulty[local_role(&s->pack, g->at[i].local)] += g->at[i].count;
  bool ok = faults_within(s->model, s->env, kind, faulty);
  memory_free(faulty);
  return ok;
}

static bool distinct_kept(const struct lockstep *s, const struct unpacked_state *g) {
  for (uint32_t i = 0; i < g->n; i++) {
    uint32_t r = local_role(&s->pack, g->at[i].local);
    const struct role *role = &s->model->roles[r];
    const value *a = local_values(&s->pack, g->at[i].local);
    for (uint32_t v = 0; v < role->nvars; v++) {
      if (!role->vars[v].distinct || (a[LOCAL_STATUS] & STATUS_BYZANTINE))
        continue;
      if (g->at[i].count > 1)
        return false;
      for (uint32_t k = i + 1; k < g->n; k++) {
        const value *b = local_values(&s->pack, g->at[k].local);
        if (local_role(&s->pack, g->at[k].local) == r && !(b[LOCAL_STATUS] & STATUS_BYZANTINE) &&
            a[LOCAL_VAR(v)] == b[LOCAL_VAR(v)])
          return false;
      }
    }
  }
  return true;
}

/* --- values up to renaming, or up to order --- */

static bool values_representative(const struct lockstep_initial *st) {
  for (uint64_t v = 1; v < st->nvalues; v++) {
    if (st->order && st->used[v] && !st->used[v - 1])
      return false;
    if (st->partition && st->used[v] > st->used[v - 1])
      return false;
  }
  return true;
}

static uint32_t set_of_inits(struct lockstep_initial *st) {
  struct lockstep *s = st->system;
  if (s->pack.initials != INITIALS_SET)
    return 0;
  value *ids = memory_alloc((st->raw->n + 1) * sizeof *ids);
  size_t n = 0;
  for (uint32_t i = 0; i < st->raw->n; i++) {
    value id = st->chosen_inits[i];
    size_t at = 0;
    while (at < n && ids[at] < id)
      at++;
    if (id == 0 || (at < n && ids[at] == id))
      continue;
    memmove(ids + at + 1, ids + at, (n - at) * sizeof *ids);
    ids[at] = id;
    n++;
  }
  uint32_t set = intern_put(s->pack.vectors, ids, n);
  memory_free(ids);
  return set;
}

static bool emit_start(struct lockstep_initial *st) {
  struct lockstep *s = st->system;
  struct unpacked_state *g = st->raw;
  if (!values_representative(st) || !distinct_kept(s, g) || !start_within(s, g, CLAUSE_BYZANTINE, STATUS_BYZANTINE) ||
      !start_within(s, g, CLAUSE_OMIT, STATUS_OMITS_SEND | STATUS_OMITS_RECEIVE))
    return true;
  struct edge edge = {0};
  struct unpacked_state *out = s->scratch;
  struct member *room = out->at;
  *out = *g;
  out->at = room;
  memcpy(out->at, g->at, g->n * sizeof *g->at);
  for (uint32_t i = 0; i < g->n; i++)
    if (local_status(&s->pack, g->at[i].local) & STATUS_FAULTY)
      edge.processes += g->at[i].count;
  out->inits = set_of_inits(st);
  global_canonical(&s->pack, out, NULL);
  struct state state;
  global_encode(&s->pack, out, &s->buffer, &s->buffer_capacity, &state);
  if (st->sought) {
    if (state.length != st->sought->length || memcmp(state.bytes, st->sought->bytes, state.length))
      return true;
    room = st->found->at;
    *st->found = *g;
    st->found->at = room;
    memcpy(room, g->at, g->n * sizeof *room);
    return false;
  }
  s->initial_states++;
  return st->emit(st->context, &state, &edge);
}

/* `left` processes of class c still have to be given an initial state, of number i or later. */
static bool start_class(struct lockstep_initial *st, size_t c, uint32_t i, uint32_t left) {
  struct lockstep *s = st->system;
  if (c == st->classes.n)
    return st->placed != st->single || emit_start(st);
  const struct initial_class *class = &st->classes.at[c];
  if (left == 0)
    return start_class(st, c + 1, 0, c + 1 < st->classes.n ? st->classes.at[c + 1].size : 0);
  if (i == class->n)
    return true;
  int64_t v = class->value[i];
  uint32_t most = left;
  if (class->ascending && st->classes.n == 1 && v > 0) {
    if (st->order && st->used[v - 1] == 0)
      return true;
    if (st->partition && st->used[v - 1] < st->used[v] + most)
      most = (uint32_t)(st->used[v - 1] - st->used[v]);
  }
  if (class->single[i] && most > 1)
    most = 1;
  if (class->single[i] & st->placed)
    most = 0;
  uint32_t n = st->raw->n;
  for (uint32_t take = most;; take--) {
    if (take && s->pack.bag) {
      st->raw->at[n] = (struct member){class->local[i], take};
      st->chosen_inits[n] = class->inits[i];
      st->raw->n = n + 1;
    }
    for (uint32_t k = 0; k < take && !s->pack.bag; k++) {
      st->raw->at[n + k] = (struct member){class->local[i], 1};
      st->chosen_inits[n + k] = class->inits[i];
      st->raw->n = n + take;
    }
    if (v >= 0 && take)
      st->used[v] += take;
    st->placed |= take ? class->single[i] : 0;
    bool more = start_class(st, c, i + 1, left - take);
    st->placed &= ~(take ? class->single[i] : 0);
    if (v >= 0 && take)
      st->used[v] -= take;
    st->raw->n = n;
    if (!more)
      return false;
    if (take == 0)
      return true;
  }
}

static bool start_with(void *context, const value *globals) {
  struct lockstep_initial *st = context;
  struct lockstep *s = st->system;
  st->globals = globals;
  if (!classes_make(st)) {
    st->failed = true;
    return false;
  }
  st->raw->point = 0;
  st->raw->rounds = 0;
  st->raw->phase = 1;
  st->raw->lost = st->raw->corrupted = 0;
  st->raw->globals = intern_put(s->pack.vectors, globals, s->model->nglobals);
  st->raw->n = 0;
  return start_class(st, 0, 0, st->classes.n ? st->classes.at[0].size : 0);
}

static bool start_all(struct lockstep_initial *st) {
  struct lockstep *s = st->system;
  const struct licences *l = s->base.licences;
  st->partition = l->of[REDUCE_PARTITION].applied && l->value_type;
  st->order = !st->partition && l->of[REDUCE_ORDER].applied && l->value_type;
  st->nvalues = st->partition || st->order ? l->value_type->count : 0;
  uint64_t room = l->value_type && l->value_type->count < UINT32_MAX ? l->value_type->count : 0;
  st->used = memory_alloc(memory_size((room + 1) * sizeof *st->used));
  st->raw = global_new(&s->pack);
  st->chosen_inits = memory_alloc((s->model->nprocesses + 1) * sizeof *st->chosen_inits);
  for (uint32_t i = 0; i < s->pack.nfollowed; i++)
    if (s->model->globals[s->pack.followed[i]].type->kind == TYPE_PROCESS)
      st->single |= UINT64_C(1) << i;
  bool more = s->pack.nfollowed ? globals_each_but_followed(s->interp, start_with, st, &st->error)
                                : globals_each(s->interp, start_with, st, &st->error);
  memory_free(st->used);
  memory_free(st->chosen_inits);
  global_free(st->raw);
  vec_release(&st->classes);
  return more;
}

bool initial_states(struct lockstep *s, emit_fn *emit, void *context) {
  struct lockstep_initial st = {.system = s, .emit = emit, .context = context};
  bool more = start_all(&st);
  if (!more && st.error.message) {
    struct model_error *error = arena_copy(&s->arena, &st.error, sizeof st.error);
    emit(context, NULL, &(struct edge){.error = error});
  }
  return more;
}

bool initial_find(struct lockstep *s, const struct state *sought, struct unpacked_state *raw) {
  struct lockstep_initial st = {.system = s, .sought = sought, .found = raw};
  return !start_all(&st) && !st.error.message;
}
