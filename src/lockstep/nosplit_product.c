/* No-split rounds: any two processes hear somebody in common. It is upward closed, so of the heard-of sets that give
   an outcome only the maximal ones matter; and pairwise, so the successors are the union, over the maximal cliques of
   sets that meet, of plain products. */
#include "lockstep/expansion.h"

#include <string.h>

/* The senders in a set of groups. */
uint64_t group_senders(const struct round_receivable *o, uint64_t groups) {
  uint64_t members = 0;
  for (uint32_t i = 0; i < o->n && i < 64; i++)
    if (groups >> i & 1)
      members |= o->groups[i].members;
  return members;
}

struct cliques {
  struct expansion *x;
  bool (*product)(struct expansion *);
  uint64_t *set; /* distinct maximal heard-of sets, as sets of actors */
  uint32_t n, cap;
  uint64_t *chosen;
  uint32_t nchosen;
};

static void sets_add(struct cliques *c, uint64_t set) {
  if (set == 0)
    return; /* a process that hears nobody meets nobody, not even itself */
  for (uint32_t i = 0; i < c->n; i++)
    if (c->set[i] == set)
      return;
  if (c->n == c->cap) {
    c->cap = c->cap ? 2 * c->cap : 32;
    c->set = memory_resize_array(c->set, c->cap, sizeof *c->set);
  }
  c->set[c->n++] = set;
}

/* Bron & Kerbosch 1973, with a pivot: every maximal set of pairwise meeting sets. */
static bool grow(struct cliques *c, uint64_t *candidates, uint32_t n, uint64_t *excluded, uint32_t nexcluded) {
  if (n == 0) {
    if (nexcluded)
      return true;
    c->x->clique = c->chosen;
    c->x->nclique = c->nchosen;
    return c->product(c->x);
  }
  uint64_t pivot = nexcluded ? excluded[0] : candidates[0];
  uint32_t best = 0;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t meets = 0;
    for (uint32_t k = 0; k < n; k++)
      meets += (candidates[i] & candidates[k]) != 0;
    if (meets > best) {
      best = meets;
      pivot = candidates[i];
    }
  }
  uint64_t *inner = memory_alloc((n + nexcluded + 2) * 2 * sizeof *inner), *inner_excluded = inner + n + 1;
  uint64_t *tried = memory_alloc((n + nexcluded + 1) * sizeof *tried);
  uint32_t ntried = nexcluded;
  memcpy(tried, excluded, nexcluded * sizeof *tried);
  bool *done = memory_alloc(n + 1), more = true;
  for (uint32_t i = 0; i < n && more; i++) {
    if (candidates[i] != pivot && (candidates[i] & pivot))
      continue;
    uint32_t ni = 0, nx = 0;
    for (uint32_t k = 0; k < n; k++)
      if (k != i && !done[k] && (candidates[k] & candidates[i]))
        inner[ni++] = candidates[k];
    for (uint32_t k = 0; k < ntried; k++)
      if (tried[k] & candidates[i])
        inner_excluded[nx++] = tried[k];
    c->chosen[c->nchosen++] = candidates[i];
    more = grow(c, inner, ni, inner_excluded, nx);
    c->nchosen--;
    done[i] = true;
    tried[ntried++] = candidates[i];
  }
  memory_free(inner);
  memory_free(tried);
  memory_free(done);
  return more;
}

bool nosplit_rounds(struct expansion *x, bool (*product)(struct expansion *)) {
  struct cliques c = {.x = x, .product = product};
  bool anybody = false;
  for (uint32_t i = 0; i < x->actors.n; i++) {
    const struct actor *a = &x->actors.at[i];
    if (a->idle || a->crashing)
      continue;
    anybody = true;
    const struct local_outcome_set *outcome_set = &x->system->outcome_sets.at[a->outcome_set];
    for (uint32_t k = 0; k < outcome_set->n; k++)
      for (uint32_t j = 0; j < outcome_set->outcomes[k].nmasks; j++)
        sets_add(&c, group_senders(&a->receivable, outcome_set->outcomes[k].masks[j]));
  }
  c.chosen = memory_alloc((c.n + 1) * sizeof *c.chosen);
  uint64_t none = 0;
  bool more = c.n ? grow(&c, c.set, c.n, &none, 0) : anybody || product(x);
  x->clique = NULL;
  x->nclique = 0;
  memory_free(c.set);
  memory_free(c.chosen);
  return more;
}
