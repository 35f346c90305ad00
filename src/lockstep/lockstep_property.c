/* Cached property values. A formula depends on a state only through the variables it reads, so its value is cached by
   these. If it cannot count processes, then more equal processes than it has quantifiers make no difference either. */
#include "analysis/action_use.h"
#include "analysis/formula_reads.h"
#include "analysis/may_fail.h"
#include "lockstep/expansion.h"

#include <string.h>

struct lockstep_property_cache {
  struct intern *classes; /* the part of a local state that the property reads */
  struct memo class_of;   /* local -> class */
  struct intern *views;   /* the part of a global state that the property reads */
  struct memo value_of;   /* view -> verdict */
  struct formula_reads reads;
  bool counting;
  uint32_t rank; /* number of process quantifiers */
  VEC(struct model_error) errors;
};

static struct lockstep_property_cache *memos_of(struct lockstep *s) {
  if (s->property_caches)
    return s->property_caches;
  const struct query *q = s->base.query;
  s->property_caches = memory_alloc((query_nformulas(q) + 1) * sizeof *s->property_caches);
  for (uint32_t i = 0; i < query_nformulas(q); i++) {
    struct lockstep_property_cache *m = &s->property_caches[i];
    m->classes = intern_new();
    m->views = intern_new();
    const struct node *formula = query_formula(s->model, q, i);
    m->reads = formula_reads_of(s->model, formula, &s->arena);
    m->counting = formula_counts_processes(s->model, formula, &m->rank);
  }
  return s->property_caches;
}

void property_caches_free(struct lockstep *s) {
  for (uint32_t i = 0; s->property_caches && i < query_nformulas(s->base.query); i++) {
    struct lockstep_property_cache *m = &s->property_caches[i];
    intern_free(m->classes);
    intern_free(m->views);
    memo_release(&m->class_of);
    memo_release(&m->value_of);
    vec_release(&m->errors);
  }
  memory_free(s->property_caches);
  s->property_caches = NULL;
}

static uint32_t class_of(struct lockstep *s, struct lockstep_property_cache *m, local_id id) {
  uint32_t class;
  if (memo_find(&m->class_of, id, 0, &class))
    return class;
  uint32_t r = local_role(&s->pack, id);
  const struct role *role = &s->model->roles[r];
  const value *local = local_values(&s->pack, id);
  uint32_t length = role_local_length(role);
  value *v = memory_alloc((length + 1) * sizeof *v);
  v[0] = r;
  v[1] = local[LOCAL_STATUS] & (STATUS_BYZANTINE | ~STATUS_BITS);
  if (m->reads.status)
    v[1] |= (local[LOCAL_STATUS] & STATUS_FAULTY) ? STATUS_CRASHED : 0;
  for (uint32_t i = 0; i < role->nvars; i++)
    v[2 + i] = m->reads.vars[r][i] ? local[LOCAL_VAR(i)] : 0;
  memcpy(v + 2 + role->nvars, local + 1 + role->nvars, (length - 1 - role->nvars) * sizeof *v);
  class = intern_put(m->classes, v, length + 1);
  memory_free(v);
  memo_add(&m->class_of, id, 0, class);
  return class;
}

/* The number of processes of a member that makes a difference. Followed processes are named, so all of them are kept.
 */
static uint32_t kept_of(const struct lockstep *s, const struct member *m, uint32_t most) {
  return m->count < most || (local_status(&s->pack, m->local) & ~STATUS_BITS) ? m->count : most;
}

/* A model with fewer processes, for formulas that cannot count them. */
struct small_model {
  struct model model;
  struct interpreter interp;
  struct role *roles;
};

static void small_init(struct small_model *sm, struct lockstep *s) {
  sm->model = *s->model;
  sm->roles = memory_alloc((s->model->nroles + 1) * sizeof *sm->roles);
  memcpy(sm->roles, s->model->roles, s->model->nroles * sizeof *sm->roles);
  for (uint32_t r = 0; r < s->model->nroles; r++)
    sm->roles[r].count = 0;
  sm->model.roles = sm->roles;
  sm->interp = *s->interp;
  sm->interp.model = &sm->model;
}

static void small_number(struct small_model *sm) {
  uint32_t first = 0;
  for (uint32_t r = 0; r < sm->model.nroles; r++) {
    sm->roles[r].first = first;
    first += sm->roles[r].count;
  }
  sm->model.nprocesses = first;
}

static void small_release(struct small_model *sm, struct lockstep *s) {
  /* arenas may have grown while the copy was used */
  s->interp->strings = sm->interp.strings;
  s->interp->scratch = sm->interp.scratch;
  memory_free(sm->roles);
}

static enum verdict3 evaluate_small(struct lockstep *s, const struct node *formula, const struct unpacked_state *g,
                                    uint32_t most, struct model_error *error) {
  struct small_model sm;
  small_init(&sm, s);
  for (uint32_t i = 0; i < g->n; i++)
    sm.roles[local_role(&s->pack, g->at[i].local)].count += kept_of(s, &g->at[i], most);
  small_number(&sm);
  struct unpacked_state few = *g;
  few.at = memory_alloc((g->n + 1) * sizeof *few.at);
  for (uint32_t i = 0; i < g->n; i++)
    few.at[i] = (struct member){g->at[i].local, kept_of(s, &g->at[i], most)};
  struct pack pack = s->pack;
  pack.model = &sm.model;
  struct config *c = global_to_config(&pack, &few);
  enum verdict3 v = config_holds(&sm.interp, formula, c, NULL, error);
  config_free(c);
  memory_free(few.at);
  small_release(&sm, s);
  return v;
}

static enum verdict3 evaluate(struct lockstep *s, const struct lockstep_property_cache *m, const struct node *formula,
                              const struct unpacked_state *g, uint32_t most, struct model_error *error) {
  if (s->pack.bag && !m->counting)
    return evaluate_small(s, formula, g, most, error);
  struct config *c = global_to_config(&s->pack, g);
  enum verdict3 v = config_holds(s->interp, formula, c, NULL, error);
  config_free(c);
  return v;
}

enum verdict3 formula_holds(struct lockstep *s, uint32_t i, const struct state *state, struct model_error *error) {
  struct lockstep_property_cache *m = &memos_of(s)[i];
  struct unpacked_state *g = s->scratch;
  global_decode(&s->pack, state, g);
  uint32_t most = m->counting ? UINT32_MAX : m->rank + (uint32_t)intern_length(s->pack.vectors, g->inits);
  size_t n = 6 + 2 * (size_t)g->n, k = 0;
  value small[160], *v = n <= 160 ? small : memory_alloc(n * sizeof *v);
  uint32_t rounds = s->pack.keep_rounds     ? g->rounds
                    : g->point == POINT_END ? s->model->npoints
                                            : s->model->points[g->point].number - 1;
  v[k++] = m->reads.rounds ? (value)rounds : -1;
  v[k++] = m->reads.phase ? g->phase : -1;
  v[k++] = g->globals;
  v[k++] = g->inits;
  for (uint32_t j = 0; j < g->n; j++) {
    v[k++] = class_of(s, m, g->at[j].local);
    if (s->pack.bag)
      v[k++] = kept_of(s, &g->at[j], most);
  }
  uint32_t view = intern_put(m->views, v, k), verdict;
  if (v != small)
    memory_free(v);
  if (!memo_find(&m->value_of, view, 0, &verdict)) {
    struct model_error failure = {0};
    verdict = evaluate(s, m, query_formula(s->model, s->base.query, i), g, most, &failure);
    if (verdict == V_ERROR) {
      vec_push(&m->errors, failure);
      verdict += (uint32_t)m->errors.n - 1;
    }
    memo_add(&m->value_of, view, 0, verdict);
  }
  if (verdict >= V_ERROR) {
    *error = m->errors.at[verdict - V_ERROR];
    return V_ERROR;
  }
  return (enum verdict3)verdict;
}

/* --- step properties --- */

void step_checks_prepare(struct lockstep *s) {
  const struct query *q = s->base.query;
  s->step_checks = arena_array(&s->arena, q->nproperties + 1, sizeof *s->step_checks);
  for (uint32_t i = 0; i < q->nproperties; i++) {
    const struct property *p = &s->model->properties[q->properties[i]];
    struct step_check *c = &s->step_checks[i];
    c->step = p->step;
    if (!p->step)
      continue;
    bool others_count =
        q->semantics == SEMANTICS_FINE && !property_is_stutter_invariant(p); /* processes that do not move matter too */
    if (property_is_one_process_step(p) && i < 32 && !others_count &&
        !node_may_fail(s->model, q, p->formula, NULL, NULL)) {
      c->local =
          s->pack.initials != INITIALS_SET || p->stability_of; /* stability properties do not read first values */
      c->role = p->formula->gen[0].range->index;
    }
    if (!c->local)
      s->nglobal_steps++;
  }
}

uint64_t steps_broken_by(struct lockstep *s, local_id before, local_id after) {
  const struct query *q = s->base.query;
  uint32_t broken = 0, r = local_role(&s->pack, before);
  bool any = false;
  for (uint32_t i = 0; i < q->nproperties; i++)
    any |= s->step_checks[i].local && (s->step_checks[i].role == ROLE_ANY || s->step_checks[i].role == r);
  if (!any || (local_status(&s->pack, before) & STATUS_BYZANTINE))
    return 0;
  if (memo_find(&s->steps_broken, before, after, &broken))
    return broken;
  struct small_model sm;
  small_init(&sm, s);
  sm.roles[r].count = 1;
  small_number(&sm);
  struct config *b = config_new(&sm.model), *a = config_new(&sm.model);
  uint32_t length = role_local_length(&sm.roles[r]);
  memcpy(b->local[0], local_values(&s->pack, before), length * sizeof(value));
  memcpy(a->local[0], local_values(&s->pack, after), length * sizeof(value));
  for (uint32_t i = 0; i < q->nproperties; i++) {
    const struct step_check *c = &s->step_checks[i];
    const struct node *f = s->model->properties[q->properties[i]].formula;
    if (c->local && (c->role == ROLE_ANY || c->role == r) && config_holds(&sm.interp, f, b, a, NULL) != V_TRUE)
      broken |= UINT32_C(1) << i;
  }
  config_free(b);
  config_free(a);
  small_release(&sm, s);
  memo_add(&s->steps_broken, before, after, broken);
  return broken;
}

/* The key lists each process's change; the value is the set of properties that the step breaks. */
uint64_t steps_broken_globally(struct lockstep *s, const struct expansion *x) {
  const struct query *q = s->base.query;
  const struct model *m = s->model;
  struct config *before, *after;
  struct unpacked_state from = *x->from, to = *x->next;
  from.at = memory_alloc((m->nprocesses + 1) * sizeof *from.at);
  to.at = memory_alloc((m->nprocesses + 1) * sizeof *to.at);
  from.n = to.n = (uint32_t)x->picks.n;
  for (uint32_t i = 0; i < x->picks.n; i++) {
    const struct pick *p = &x->picks.at[i];
    uint32_t at = s->pack.bag ? i : x->actors.at[p->actor].process;
    from.at[at] = (struct member){x->actors.at[p->actor].original, p->count};
    to.at[at] = (struct member){p->successor->next, p->count};
  }
  before = global_to_config(&s->pack, &from);
  after = global_to_config(&s->pack, &to);
  uint64_t broken = 0;
  for (uint32_t i = 0; i < q->nproperties; i++)
    if (s->step_checks[i].step && !s->step_checks[i].local &&
        config_holds(s->interp, m->properties[q->properties[i]].formula, before, after, NULL) != V_TRUE)
      broken |= UINT64_C(1) << i;
  config_free(before);
  config_free(after);
  memory_free(from.at);
  memory_free(to.at);
  return broken;
}
