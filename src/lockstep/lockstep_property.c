/* Cached property values. If a formula cannot count processes, then more equal processes than it has quantifiers make
   no difference. */
#include "lockstep/lockstep_property.h"

#include "analysis/action_use.h"
#include "analysis/may_fail.h"
#include "lockstep/expansion.h"
#include "lockstep/outcome_product.h"
#include "system/initial_set.h"
#include "system/property_values.h"

#include <string.h>

struct lockstep_property_cache {
  struct property_cache values;
  struct memo class_of; /* local -> class */
  bool counting;
  uint32_t rank; /* number of process quantifiers */
};

static struct lockstep_property_cache *caches_of(struct lockstep *s) {
  if (s->properties.caches)
    return s->properties.caches;
  const struct query *q = s->base.query;
  s->properties.caches = memory_alloc((query_nformulas(q) + 1) * sizeof *s->properties.caches);
  for (uint32_t i = 0; i < query_nformulas(q); i++) {
    struct lockstep_property_cache *m = &s->properties.caches[i];
    const struct node *formula = query_formula(s->model, q, i);
    property_cache_init(&m->values, s->model, formula, &s->arena);
    m->counting = formula_counts_processes(s->model, formula, &m->rank);
  }
  return s->properties.caches;
}

void property_tables_release(struct lockstep *s) {
  for (uint32_t i = 0; s->properties.caches && i < query_nformulas(s->base.query); i++) {
    property_cache_release(&s->properties.caches[i].values);
    memo_release(&s->properties.caches[i].class_of);
  }
  memory_free(s->properties.caches);
  memo_release(&s->properties.steps_broken);
}

size_t property_tables_bytes(const struct lockstep *s) {
  size_t bytes = memo_bytes(&s->properties.steps_broken);
  for (uint32_t i = 0; s->properties.caches && i < query_nformulas(s->base.query); i++)
    bytes += property_cache_bytes(&s->properties.caches[i].values) + memo_bytes(&s->properties.caches[i].class_of);
  return bytes;
}

static uint32_t class_of(struct lockstep *s, struct lockstep_property_cache *m, local_id id) {
  uint32_t class;
  if (!memo_find(&m->class_of, id, 0, &class)) {
    class = property_class(&m->values, s->model, local_role(&s->pack, id), local_values(&s->pack, id));
    memo_add(&m->class_of, id, 0, class);
  }
  return class;
}

/* The number of processes of a member that makes a difference. Followed processes are named, so all of them are kept.
 */
static uint32_t kept_of(const struct lockstep *s, const struct member *m, uint32_t most) {
  return m->count < most || (local_status(&s->pack, m->local) & ~STATUS_BITS) ? m->count : most;
}

static enum verdict3 evaluate_reduced(struct lockstep *s, const struct node *formula, const struct unpacked_state *g,
                                      uint32_t most, struct model_error *error) {
  struct reduced_model d;
  reduced_model_init(&d, s->interp);
  for (uint32_t i = 0; i < g->n; i++)
    d.roles[local_role(&s->pack, g->at[i].local)].count += kept_of(s, &g->at[i], most);
  reduced_model_number(&d);
  struct unpacked_state few = *g;
  few.at = memory_alloc((g->n + 1) * sizeof *few.at);
  for (uint32_t i = 0; i < g->n; i++)
    few.at[i] = (struct member){g->at[i].local, kept_of(s, &g->at[i], most)};
  struct pack pack = s->pack;
  pack.model = &d.model;
  struct config *c = global_to_config(&pack, &few);
  enum verdict3 v = config_holds(&d.interp, formula, c, NULL, error);
  config_free(c);
  memory_free(few.at);
  reduced_model_release(&d, s->interp);
  return v;
}

static uint32_t evaluate(struct lockstep *s, struct lockstep_property_cache *m, const struct unpacked_state *g,
                         uint32_t most) {
  struct model_error error = {0};
  enum verdict3 v;
  if (s->pack.bag && !m->counting) {
    v = evaluate_reduced(s, m->values.formula, g, most, &error);
  } else {
    struct config *c = global_to_config(&s->pack, g);
    v = config_holds(s->interp, m->values.formula, c, NULL, &error);
    config_free(c);
  }
  return property_verdict_number(&m->values, v, &error);
}

static uint32_t initial_members(const struct lockstep *s, const struct unpacked_state *g) {
  return (uint32_t)initial_set_members(s->model, intern_at(s->pack.vectors, g->inits),
                                       intern_length(s->pack.vectors, g->inits));
}

enum verdict3 formula_holds(struct lockstep *s, uint32_t i, const struct state *state, struct model_error *error) {
  struct lockstep_property_cache *m = &caches_of(s)[i];
  struct unpacked_state *g = s->scratch;
  global_decode(&s->pack, state, g);
  uint32_t most = m->counting ? UINT32_MAX : m->rank + initial_members(s, g);
  size_t n = 6 + 2 * (size_t)g->n, k = 0;
  value small[160], *v = n <= 160 ? small : memory_alloc(n * sizeof *v);
  uint32_t rounds = s->pack.kept.rounds     ? g->rounds
                    : g->point == POINT_END ? s->model->npoints
                                            : s->model->points[g->point].number - 1;
  v[k++] = m->values.reads.rounds ? (value)rounds : -1;
  v[k++] = m->values.reads.phase ? g->phase : -1;
  v[k++] = g->globals;
  v[k++] = g->inits;
  for (uint32_t j = 0; j < g->n; j++) {
    v[k++] = class_of(s, m, g->at[j].local);
    if (s->pack.bag)
      v[k++] = kept_of(s, &g->at[j], most);
  }
  uint32_t *verdict = property_verdict_slot(&m->values, v, k);
  if (v != small)
    memory_free(v);
  if (!*verdict)
    *verdict = 1 + evaluate(s, m, g, most);
  return property_verdict(&m->values, *verdict - 1, error);
}

/* --- step properties --- */

void step_checks_prepare(struct lockstep *s) {
  const struct query *q = s->base.query;
  s->properties.step_checks = arena_array(&s->arena, q->nproperties + 1, sizeof *s->properties.step_checks);
  for (uint32_t i = 0; i < q->nproperties; i++) {
    const struct property *p = &s->model->properties[q->properties[i]];
    struct step_check *c = &s->properties.step_checks[i];
    c->step = p->step;
    if (!p->step)
      continue;
    bool others_count =
        q->semantics == SEMANTICS_FINE && !property_is_stutter_invariant(p); /* processes that do not move matter too */
    if (property_is_one_process_step(p) && i < 32 && !others_count &&
        !node_may_fail(s->model, q, p->formula, NULL, NULL)) {
      c->local =
          s->pack.kept.initials != INITIALS_SET || p->stability_of; /* stability properties do not read first values */
      c->role = p->formula->gen[0].range->index;
    }
    if (!c->local)
      s->properties.nglobal_steps++;
  }
}

uint64_t steps_broken_by(struct lockstep *s, local_id before, local_id after) {
  const struct query *q = s->base.query;
  uint32_t broken = 0, r = local_role(&s->pack, before);
  bool any = false;
  for (uint32_t i = 0; i < q->nproperties; i++)
    any |= s->properties.step_checks[i].local &&
           (s->properties.step_checks[i].role == ROLE_ANY || s->properties.step_checks[i].role == r);
  if (!any || (local_status(&s->pack, before) & STATUS_BYZANTINE))
    return 0;
  if (memo_find(&s->properties.steps_broken, before, after, &broken))
    return broken;
  for (uint32_t i = 0; i < q->nproperties; i++) {
    const struct step_check *c = &s->properties.step_checks[i];
    const struct node *f = s->model->properties[q->properties[i]].formula;
    if (c->local && (c->role == ROLE_ANY || c->role == r) &&
        !one_process_step_holds(s->interp, f, r, local_values(&s->pack, before), local_values(&s->pack, after)))
      broken |= UINT32_C(1) << i;
  }
  memo_add(&s->properties.steps_broken, before, after, broken);
  return broken;
}

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
  uint64_t which = 0;
  for (uint32_t i = 0; i < q->nproperties; i++)
    which |= (uint64_t)!s->properties.step_checks[i].local << i;
  uint64_t broken = broken_step_properties(s->interp, q, which, before, after);
  config_free(before);
  config_free(after);
  memory_free(from.at);
  memory_free(to.at);
  return broken;
}
