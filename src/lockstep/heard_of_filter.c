/* Conditions on single processes: which heard-of sets and which oracles each may have. They couple no processes, so
   outcome sets are still made for each process separately; but the identity of the senders matters, not only their
   messages. */
#include "interp/round_step.h"
#include "lockstep/expansion.h"
#include "lockstep/outcome_product.h"

#include <string.h>

static const struct config *config_of(struct expansion *x) {
  if (!x->config)
    x->config = global_to_config(&x->system->pack, x->from);
  return x->config;
}

bool actor_followed(const struct expansion *x, const struct actor *a, uint32_t input) {
  const struct pack *p = &x->system->pack;
  for (uint32_t i = 0; i < p->nfollowed; i++)
    if (p->followed[i] == input)
      return local_status(p, a->original) >> (STATUS_FOLLOWED + i) & 1;
  return intern_at(p->vectors, x->from->globals)[input] == (value)a->process;
}

/* Does the filter apply to this process? Quantifiers of clauses range over active processes only. */
static bool is_about(const struct expansion *x, const struct filter *f, const struct actor *a) {
  if (f->slot == NO_SLOT)
    return f->followed ? actor_followed(x, a, f->followed - 1) : f->process == a->process;
  return f->range || (!a->idle && (f->role == ROLE_ANY || f->role == a->role));
}

struct filter_context {
  struct config seen; /* with the actor's oracles */
  value **local;
  value *own;
  uint8_t **heard; /* the same row for every process: only the actor's is read */
};

static void filter_context_init(struct filter_context *q, struct expansion *x, const struct actor *a, uint8_t *row) {
  const struct model *m = x->system->model;
  const struct role *role = &m->roles[a->role];
  const value *from = local_values(&x->system->pack, a->local);
  uint32_t n = m->nprocesses;
  q->seen = *config_of(x);
  q->local = memory_alloc((n + 1) * sizeof *q->local);
  q->heard = memory_alloc((n + 1) * sizeof *q->heard);
  memcpy(q->local, q->seen.local, n * sizeof *q->local);
  q->own = memory_alloc(role_local_length(role) * sizeof *q->own);
  memcpy(q->own, from, role_local_length(role) * sizeof *q->own);
  for (uint32_t i = 0; i < role->nvars; i++)
    if (q->own[LOCAL_VAR(i)] == VALUE_DONT_CARE)
      q->own[LOCAL_VAR(i)] = type_default(&x->system->model->values, role->vars[i].type);
  q->local[a->process] = q->own;
  q->seen.local = q->local;
  for (uint32_t p = 0; p < n; p++)
    q->heard[p] = row;
}

static void filter_context_release(struct filter_context *q) {
  memory_free(q->local);
  memory_free(q->heard);
  memory_free(q->own);
}

static bool admits(struct expansion *x, struct filter_context *q, const struct filter *f, const struct actor *a) {
  struct eval e;
  jmp_buf failure;
  eval_begin(&e, x->system->interp);
  e.before = &q->seen;
  e.globals = q->seen.globals;
  e.point = q->seen.point;
  e.phase = q->seen.phase;
  e.round.heard = q->heard;
  e.failure = &failure;
  if (setjmp(failure))
    return false;
  for (uint32_t i = 0; f->of.bound && i < f->of.clause->nwitness; i++)
    e.slot[f->of.clause->witness[i].slot] = f->of.bound[i];
  if (f->range && !set_contains(e.values, f->range->type, eval_node(&e, f->range), a->process))
    return true;
  if (f->slot != NO_SLOT)
    e.slot[f->slot] = a->process;
  return eval_true(&e, f->of.pred);
}

static bool size_allowed(const struct expansion *x, const struct actor *a, const uint8_t *row, uint32_t n) {
  const struct rules *r = x->rules;
  uint32_t size = 0;
  for (uint32_t q = 0; q < n; q++)
    size += row[q];
  for (uint32_t i = 0; i < r->nsizes && !a->idle; i++)
    if (r->sizes[i].role == a->role && !r->sizes[i].ok[2 * (size_t)size + row[a->process]] &&
        (!r->sizes[i].followed || actor_followed(x, a, r->sizes[i].followed - 1)))
      return false;
  return true;
}

static uint32_t sets_compute(struct expansion *x, const struct actor *a) {
  uint32_t n = x->system->model->nprocesses;
  uint64_t sets = UINT64_C(1) << n;
  size_t words = (size_t)(sets + 63) / 64;
  uint8_t *row = memory_alloc(n + 1);
  value *bits = memory_alloc(words * sizeof *bits);
  struct filter_context q;
  filter_context_init(&q, x, a, row);
  for (uint64_t set = 0; set < sets; set++) {
    for (uint32_t p = 0; p < n; p++)
      row[p] = set >> p & 1;
    bool ok = size_allowed(x, a, row, n);
    for (uint32_t i = 0; i < x->rules->nfilters && ok; i++)
      ok = !is_about(x, &x->rules->filters[i], a) || admits(x, &q, &x->rules->filters[i], a);
    if (ok)
      bits[set / 64] |= (value)(UINT64_C(1) << set % 64);
  }
  uint32_t id = intern_put(x->system->vectors, bits, words);
  filter_context_release(&q);
  memory_free(bits);
  memory_free(row);
  return id;
}

/* Everything that determines which sets are allowed. */
static uint32_t sets_key(struct expansion *x, const struct actor *a) {
  const struct lockstep *s = x->system;
  bool oracle = false, status = false, round = false;
  for (uint32_t i = 0; i < x->rules->nfilters; i++) {
    const struct filter *f = &x->rules->filters[i];
    oracle |= f->oracle;
    status |= f->status;
    round |= f->round;
  }
  VEC(value) key = {0};
  vec_push(&key, x->rules_index);
  vec_push(&key, a->process);
  vec_push(&key, a->idle);
  vec_push(&key, x->from->globals);
  vec_push(&key, local_status(&s->pack, a->original) & ~STATUS_BITS);
  vec_push(&key, oracle ? (value)a->local : -1);
  vec_push(&key, round ? (value)x->from->rounds : -1);
  for (uint32_t i = 0; status && i < x->from->n; i++)
    vec_push(&key, local_status(&s->pack, x->from->at[i].local));
  uint32_t id = intern_put(s->vectors, key.at, key.n);
  vec_release(&key);
  return id;
}

uint32_t allowed_sets(struct expansion *x, const struct actor *a) {
  if (!x->rules->nfilters)
    return 0;
  uint32_t key = sets_key(x, a), found;
  if (!memo_find(&x->system->rules.allowed_of, key, 0, &found)) {
    found = sets_compute(x, a);
    memo_add(&x->system->rules.allowed_of, key, 0, found);
  }
  return 1 + found;
}

bool some_set_allowed(const struct lockstep *s, uint32_t allowed) {
  if (!allowed)
    return true;
  const value *bits = intern_at(s->vectors, allowed - 1);
  for (size_t i = 0; i < intern_length(s->vectors, allowed - 1); i++)
    if (bits[i])
      return true;
  return false;
}

bool oracles_admitted(struct expansion *x, const struct actor *a) {
  bool ok = true;
  struct filter_context q;
  filter_context_init(&q, x, a, NULL);
  for (uint32_t i = 0; i < x->rules->noracle_filters && ok; i++)
    ok = !is_about(x, &x->rules->oracle_filters[i], a) || admits(x, &q, &x->rules->oracle_filters[i], a);
  filter_context_release(&q);
  return ok;
}
