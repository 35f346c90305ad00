#include "system/initial_enumeration.h"

#include "interp/local.h"
#include "interp/round_step.h"
#include "model/node.h"

#include <string.h>

struct initial_enumerator {
  const struct initial_system *of;
  const struct model *model;
  struct arena arena; /* classes */
  VEC(struct initial_class) classes;
  VEC(struct initial_choice) choices;
  const value *globals;
  const value **local; /* by process */
  uint64_t *used;      /* by value index: the number of processes that start with it */
  uint64_t nvalues;    /* 0: no reduction applies to initial values */
  bool partition, order;
  uint64_t single; /* bits of followed inputs that name one process */
  uint64_t placed; /* those of them that have been assigned */
  struct model_error *error;
};

/* --- classes --- */

/* The variable whose free initial value is reduced, if the role has exactly one. */
static uint32_t reduced_input(const struct initial_enumerator *e, uint32_t role) {
  uint32_t found = NO_VAR, n = 0;
  for (uint32_t i = 0; i < e->model->roles[role].nvars; i++) {
    const struct var *v = &e->model->roles[role].vars[i];
    if (v->kind == VAR_INPUT && !v->init && v->type == e->of->licences->value_type) {
      found = i;
      n++;
    }
  }
  return n == 1 ? found : NO_VAR;
}

/* Can a process of the role be named by all these inputs? */
static bool may_be_followed(const struct initial_enumerator *e, uint32_t role, uint64_t followed) {
  for (uint32_t i = 0; i < e->of->nfollowed; i++) {
    const struct type *t = e->model->globals[e->of->followed[i]].type;
    uint32_t of = t->kind == TYPE_SET ? t->element->role : t->role;
    if ((followed >> i & 1) && of != ROLE_ANY && of != role)
      return false;
  }
  return true;
}

static void class_fill(struct initial_enumerator *e, struct initial_class *c, const struct locals *ways) {
  uint32_t input = reduced_input(e, c->role), bits = e->of->nfollowed;
  const struct var *vars = e->model->roles[c->role].vars;
  size_t most = ways->n << bits;
  c->nways = ways->n;
  c->ways = arena_copy(&e->arena, ways->at, ways->n * ways->length * sizeof *ways->at);
  c->options = arena_array(&e->arena, most + 1, sizeof *c->options);
  for (size_t i = 0; i < most; i++) {
    const value *local = c->ways + (i >> bits) * ways->length;
    uint64_t followed = i & ((UINT64_C(1) << bits) - 1);
    if (!may_be_followed(e, c->role, followed))
      continue;
    bool reduced = input != NO_VAR && !(local[LOCAL_STATUS] & STATUS_BYZANTINE);
    c->options[c->n++] = (struct initial_option){
        .local = local,
        .followed = followed,
        .value = reduced ? (int64_t)type_index(&e->model->values, vars[input].type, local[LOCAL_VAR(input)]) : -1,
        .name = e->of->name ? e->of->name(e->of->context, c->role, local, followed) : 0};
  }
  c->ascending = c->n > 0 && c->options[0].value == 0;
  for (uint32_t i = 1; i < c->n; i++) {
    int64_t before = c->options[i - 1].value, v = c->options[i].value;
    c->ascending &= v == before || v == before + 1;
  }
}

static bool reads_identity(const struct node *n) { return n && node_has_traits(n, TRAIT_SELF | TRAIT_NUMBERED); }

/* Do the processes of the role start in the same ways, judged by the text alone? */
static bool starts_without_identity(const struct model *m, const struct role *role) {
  bool found = m->ndefs > 0;
  for (uint32_t i = 0; i < role->nvars; i++)
    found |= reads_identity(role->vars[i].init) || reads_identity(role->vars[i].where);
  return !found;
}

bool role_starts_naming_processes(const struct role *role) {
  for (uint32_t i = 0; i < role->nvars; i++)
    if (type_contains_kind(role->vars[i].type, TYPE_PROCESS) && role->vars[i].kind != VAR_ORACLE)
      return true;
  return false;
}

static bool same_ways(const struct initial_class *c, const struct locals *ways) {
  return c->nways == ways->n && !memcmp(c->ways, ways->at, ways->n * ways->length * sizeof *ways->at);
}

/* Adds process p to the last class of its role, or makes a class of its own. `known`: it starts in the same ways as
   the last class. */
static bool class_add(struct initial_enumerator *e, uint32_t r, uint32_t p, struct initial_class *last, bool known) {
  const struct initial_system *s = e->of;
  struct initial_class c = {.role = r, .first = p, .size = 1};
  struct locals ways = {0};
  bool ok = known || local_initials(s->interp, s->query->environment, p, e->globals, &ways, e->error);
  bool same = ok && last && (known || same_ways(last, &ways));
  if (same && s->interchangeable(s->context, e->globals, last, p)) {
    last->size++;
  } else if (ok) {
    if (same) {
      c = *last;
      c.first = p;
      c.size = 1;
    } else {
      class_fill(e, &c, &ways);
    }
    vec_push(&e->classes, c);
  }
  locals_release(&ways);
  return ok;
}

static bool classes_make(struct initial_enumerator *e) {
  vec_clear(&e->classes);
  arena_clear(&e->arena);
  for (uint32_t r = 0; r < e->model->nroles; r++) {
    const struct role *role = &e->model->roles[r];
    bool same = starts_without_identity(e->model, role);
    for (uint32_t i = 0; i < role->count; i++)
      if (!class_add(e, r, role->first + i, i ? &e->classes.at[e->classes.n - 1] : NULL, same && i))
        return false;
  }
  return true;
}

/* --- values up to renaming, or up to order --- */

static bool values_representative(const struct initial_enumerator *e) {
  for (uint64_t v = 1; v < e->nvalues; v++) {
    if (e->order && e->used[v] && !e->used[v - 1])
      return false;
    if (e->partition && e->used[v] > e->used[v - 1])
      return false;
  }
  return true;
}

/* The largest number of the `left` processes that may start with value v, if values are assigned in ascending order. */
static uint32_t most_with_value(const struct initial_enumerator *e, int64_t v, uint32_t left) {
  if (e->order && e->used[v - 1] == 0)
    return 0;
  if (e->partition && e->used[v - 1] < e->used[v] + left)
    return (uint32_t)(e->used[v - 1] - e->used[v]);
  return left;
}

/* --- states --- */

static bool visit_state(struct initial_enumerator *e) {
  const struct initial_system *s = e->of;
  if (e->placed != e->single || !values_representative(e) ||
      !initial_allowed(e->model, s->query->environment, e->local))
    return true;
  struct initial_state state = {
      .globals = e->globals, .local = e->local, .choices = e->choices.at, .nchoices = e->choices.n};
  for (uint32_t p = 0; p < e->model->nprocesses; p++)
    state.faulty += (e->local[p][LOCAL_STATUS] & STATUS_FAULTY) != 0;
  return s->visit(s->context, &state);
}

/* `left` processes of class number c still have to be given an initial local state, from option i on. */
static bool start_class(struct initial_enumerator *e, size_t c, uint32_t i, uint32_t left) {
  if (c == e->classes.n)
    return visit_state(e);
  const struct initial_class *class = &e->classes.at[c];
  if (left == 0)
    return start_class(e, c + 1, 0, c + 1 < e->classes.n ? e->classes.at[c + 1].size : 0);
  if (i == class->n)
    return true;
  const struct initial_option *option = &class->options[i];
  bool counted = option->value >= 0 && e->nvalues;
  uint64_t single = option->followed & e->single;
  uint32_t most = left, first = class->first + class->size - left;
  if (class->ascending && e->classes.n == 1 && option->value > 0 && e->nvalues)
    most = most_with_value(e, option->value, left);
  if (single && most > 1)
    most = 1;
  if (single & e->placed)
    most = 0;
  for (uint32_t p = first; p < first + most; p++)
    e->local[p] = option->local;
  for (uint32_t take = most;; take--) {
    size_t n = e->choices.n;
    if (take)
      vec_push(&e->choices, ((struct initial_choice){option, take}));
    if (counted)
      e->used[option->value] += take;
    e->placed |= take ? single : 0;
    bool more = start_class(e, c, i + 1, left - take);
    e->placed &= ~(take ? single : 0);
    if (counted)
      e->used[option->value] -= take;
    e->choices.n = n;
    if (!more || take == 0)
      return more;
  }
}

static bool start_with(void *context, const value *globals) {
  struct initial_enumerator *e = context;
  e->globals = globals;
  return classes_make(e) && start_class(e, 0, 0, e->classes.n ? e->classes.at[0].size : 0);
}

bool initial_states_each(const struct initial_system *s, struct model_error *error) {
  const struct licences *l = s->licences;
  const struct model *m = s->interp->model;
  struct initial_enumerator e = {.of = s, .model = m, .error = error};
  *error = (struct model_error){0};
  e.partition = l->of[REDUCE_PARTITION].applied && l->value_type;
  e.order = !e.partition && l->of[REDUCE_ORDER].applied && l->value_type;
  e.nvalues = e.partition || e.order ? l->value_type->count : 0;
  e.used = memory_alloc(memory_size((e.nvalues + 1) * sizeof *e.used));
  e.local = memory_alloc((m->nprocesses + 1) * sizeof *e.local);
  arena_init(&e.arena);
  for (uint32_t i = 0; i < s->nfollowed; i++)
    if (m->globals[s->followed[i]].type->kind == TYPE_PROCESS)
      e.single |= UINT64_C(1) << i;
  bool more = s->nfollowed ? globals_each_but_followed(s->interp, start_with, &e, error)
                           : globals_each(s->interp, start_with, &e, error);
  memory_free(e.used);
  memory_free(e.local);
  arena_release(&e.arena);
  vec_release(&e.classes);
  vec_release(&e.choices);
  return more;
}

void emit_initial_error(struct arena *arena, const struct model_error *error, emit_fn *emit, void *context) {
  emit(context, NULL, &(struct edge){.error = arena_copy(arena, error, sizeof *error)});
}
