/* Locations that nothing tells apart are counted together: they have sent the same, the property reads the same of
   them, and they have the same rules to locations that are counted together (the coarsest bisimulation, by refinement:
   Kanellakis and Smolka 1990). */
#include "param/handlers_internal.h"

#include "analysis/formula_reads.h"
#include "base/memory.h"

#include <string.h>

struct class_refinement {
  struct handler_builder *h;
  const bool *reads; /* by variable: the property reads it */
  bool initials;
  uint32_t *of, *next; /* by location: its class, before and after a pass */
  uint32_t *first;     /* by location: its first rule in `ordered` */
  uint32_t *ordered;   /* rules by location */
};

static bool same_guards(const sent_guard_vec *a, const sent_guard_vec *b) {
  bool same = a->n == b->n;
  for (size_t i = 0; i < a->n && same; i++) {
    const struct sent_guard *x = &a->at[i], *y = &b->at[i];
    same = x->nsets == y->nsets && memcmp(x->sets, y->sets, x->nsets * sizeof *x->sets) == 0 &&
           x->cube.n == y->cube.n && x->cube.width == y->cube.width && x->cube.empty == y->cube.empty;
    for (uint32_t k = 0; k < x->cube.n && same; k++)
      same = x->cube.equal.at[k] == y->cube.equal.at[k] &&
             memcmp(cube_row(&x->cube, k), cube_row(&y->cube, k), x->cube.width * sizeof(int64_t)) == 0;
  }
  return same;
}

static bool same_enabled(struct handler_builder *h, const struct handler_rule *a, const struct handler_rule *b) {
  const struct action_outcomes *x = outcomes_of(h, h->h->locations.at[a->from].local, a->action);
  const struct action_outcomes *y = outcomes_of(h, h->h->locations.at[b->from].local, b->action);
  return x == y ||
         (x && y && x->always == y->always && x->larger == y->larger && same_guards(&x->enabled, &y->enabled));
}

static bool same_rule(struct class_refinement *r, const struct handler_rule *a, const struct handler_rule *b) {
  if (a->action != b->action || a->message != b->message || a->crashes != b->crashes || !a->outcome != !b->outcome ||
      r->of[a->to] != r->of[b->to] || (a->from == a->to) != (b->from == b->to))
    return false;
  return a->outcome == b->outcome ||
         (same_guards(&a->outcome->guards, &b->outcome->guards) && same_enabled(r->h, a, b));
}

static bool has_rules_of(struct class_refinement *r, uint32_t one, uint32_t other) {
  const struct handler_rule *rules = r->h->h->rules.at;
  for (uint32_t i = r->first[one]; i < r->first[one + 1]; i++) {
    bool found = false;
    for (uint32_t k = r->first[other]; k < r->first[other + 1] && !found; k++)
      found = same_rule(r, &rules[r->ordered[i]], &rules[r->ordered[k]]);
    if (!found)
      return false;
  }
  return true;
}

/* What is told apart from the beginning. */
static bool look_alike(const struct class_refinement *r, uint32_t one, uint32_t other) {
  const struct handler_system *s = r->h->h;
  const struct handler_location *a = &s->locations.at[one], *b = &s->locations.at[other];
  const value *x = s->locals.at[a->local], *y = s->locals.at[b->local];
  bool same =
      a->sent == b->sent && a->partly == b->partly && a->doomed == b->doomed && x[LOCAL_STATUS] == y[LOCAL_STATUS];
  for (uint32_t i = 0; i < r->h->b.role->nvars && same; i++)
    same = !r->reads[i] || x[LOCAL_VAR(i)] == y[LOCAL_VAR(i)];
  for (uint32_t i = 1 + r->h->b.role->nvars; i < r->h->length && same && r->initials; i++)
    same = x[i] == y[i];
  return same;
}

/* One pass. Returns the number of classes. */
static uint32_t refine(struct class_refinement *r, bool begin) {
  uint32_t n = (uint32_t)r->h->h->locations.n, classes = 0;
  for (uint32_t l = 0; l < n; l++) {
    uint32_t k = 0;
    while (k < l &&
           !(begin ? look_alike(r, l, k) : r->of[l] == r->of[k] && has_rules_of(r, l, k) && has_rules_of(r, k, l)))
      k++;
    r->next[l] = k < l ? r->next[k] : classes++;
  }
  memcpy(r->of, r->next, n * sizeof *r->of);
  return classes;
}

static void order_rules(struct class_refinement *r) {
  const struct handler_system *s = r->h->h;
  uint32_t at = 0;
  for (uint32_t l = 0; l < s->locations.n; l++) {
    r->first[l] = at;
    for (uint32_t i = 0; i < s->rules.n; i++)
      if (s->rules.at[i].from == l)
        r->ordered[at++] = i;
  }
  r->first[s->locations.n] = at;
}

bool handlers_quotient(struct handler_builder *h) {
  struct handler_system *s = h->h;
  const struct property *p = &h->b.m->properties[h->b.q->properties[0]];
  struct formula_reads reads = formula_reads_of(h->b.m, p->formula, &s->arena);
  struct class_refinement r = {.h = h, .reads = reads.vars[0], .initials = reads.initials};
  size_t n = s->locations.n + 1;
  r.of = memory_alloc(n * sizeof *r.of);
  r.next = memory_alloc(n * sizeof *r.next);
  r.first = memory_alloc((n + 1) * sizeof *r.first);
  r.ordered = memory_alloc((s->rules.n + 1) * sizeof *r.ordered);
  order_rules(&r);
  uint32_t classes = refine(&r, true), before = 0;
  while (classes > before && !derive_stopped(&h->b)) {
    before = classes;
    classes = refine(&r, false);
  }
  for (uint32_t l = 0; l < s->locations.n; l++) {
    vec_push(&s->class_of, r.of[l]);
    if (r.of[l] == s->members.n) /* classes are numbered in the order of their first locations */
      vec_push(&s->members, l);
  }
  memory_free(r.of);
  memory_free(r.next);
  memory_free(r.first);
  memory_free(r.ordered);
  return !h->b.d->refused;
}
