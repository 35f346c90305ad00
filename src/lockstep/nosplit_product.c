/* No-split rounds: any two processes hear some process in common. The condition is upward closed, so only the maximal
   heard-of sets that lead to an outcome matter. It is also pairwise, so the successors are the union of plain products
   over the maximal cliques of intersecting sets. */
#include "lockstep/expansion.h"
#include "lockstep/lockstep_local_steps.h"
#include "lockstep/outcome_product.h"
#include "lockstep/outcome_set.h"

#include <string.h>

void group_senders(const struct round_receivable *o, const uint64_t *groups, uint32_t nactors, uint64_t *senders) {
  memset(senders, 0, bitset_words(nactors) * sizeof *senders);
  if (nactors < 64) {
    *senders = group_senders_word(o, groups);
    return;
  }
  for (uint32_t i = 0; i < 2 * nactors; i++) {
    uint32_t group = o->group_of[i];
    if (group && groups[(group - 1) / 64] >> (group - 1) % 64 & 1)
      senders[i / 2 / 64] |= UINT64_C(1) << i / 2 % 64;
  }
}

bool clique_has(const uint64_t *const *clique, uint32_t nclique, const uint64_t *senders, uint32_t nactors) {
  for (uint32_t i = 0; i < nclique; i++)
    if (!memcmp(clique[i], senders, bitset_words(nactors) * sizeof *senders))
      return true;
  return false;
}

struct cliques {
  struct expansion *x;
  bool (*product)(struct expansion *);
  struct arena arena;
  uint32_t words;       /* of a set */
  const uint64_t **set; /* distinct maximal heard-of sets, as sets of actors */
  uint32_t n, cap;
  const uint64_t **chosen;
  uint32_t nchosen;
};

static bool meet(const struct cliques *c, const uint64_t *a, const uint64_t *b) {
  for (uint32_t i = 0; i < c->words; i++)
    if (a[i] & b[i])
      return true;
  return false;
}

static void sets_add(struct cliques *c, const uint64_t *set) {
  if (!meet(c, set, set))
    return; /* the empty set intersects no set, not even itself */
  for (uint32_t i = 0; i < c->n; i++)
    if (!memcmp(c->set[i], set, c->words * sizeof *set))
      return;
  if (c->n == c->cap) {
    c->cap = c->cap ? 2 * c->cap : 32;
    c->set = memory_resize_array(c->set, c->cap, sizeof *c->set);
  }
  c->set[c->n++] = arena_keep_array(&c->arena, set, c->words, sizeof *set);
}

/* Bron and Kerbosch 1973, with a pivot: every maximal family of pairwise intersecting sets. */
static bool grow(struct cliques *c, const uint64_t **candidates, uint32_t n, const uint64_t **excluded,
                 uint32_t nexcluded) {
  if (n == 0) {
    if (nexcluded)
      return true;
    c->x->clique = c->chosen;
    c->x->nclique = c->nchosen;
    return c->product(c->x);
  }
  const uint64_t *pivot = nexcluded ? excluded[0] : candidates[0];
  uint32_t best = 0;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t meets = 0;
    for (uint32_t k = 0; k < n; k++)
      meets += meet(c, candidates[i], candidates[k]);
    if (meets > best) {
      best = meets;
      pivot = candidates[i];
    }
  }
  const uint64_t **inner = memory_alloc((n + nexcluded + 2) * 2 * sizeof *inner), **inner_excluded = inner + n + 1;
  const uint64_t **tried = memory_alloc((n + nexcluded + 1) * sizeof *tried);
  uint32_t ntried = nexcluded;
  memcpy(tried, excluded, nexcluded * sizeof *tried);
  bool *done = memory_alloc(n + 1), more = true;
  for (uint32_t i = 0; i < n && more; i++) {
    if (candidates[i] != pivot && meet(c, candidates[i], pivot))
      continue;
    uint32_t ni = 0, nx = 0;
    for (uint32_t k = 0; k < n; k++)
      if (k != i && !done[k] && meet(c, candidates[k], candidates[i]))
        inner[ni++] = candidates[k];
    for (uint32_t k = 0; k < ntried; k++)
      if (meet(c, tried[k], candidates[i]))
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
  uint32_t nactors = (uint32_t)x->actors.n;
  struct cliques c = {.x = x, .product = product, .words = bitset_words(nactors)};
  bool anybody = false;
  arena_init(&c.arena);
  x->senders = memory_alloc(c.words * sizeof *x->senders);
  for (uint32_t i = 0; i < nactors; i++) {
    const struct actor *a = &x->actors.at[i];
    if (a->idle || a->crashing)
      continue;
    anybody = true;
    const struct local_outcome_set *outcome_set = &x->system->outcomes.outcome_sets.at[a->outcome_set];
    uint32_t words = bitset_words(a->receivable.n);
    for (uint32_t k = 0; k < outcome_set->n; k++)
      for (uint32_t j = 0; j < outcome_set->outcomes[k].nmasks; j++) {
        group_senders(&a->receivable, outcome_set->outcomes[k].masks + (size_t)j * words, nactors, x->senders);
        sets_add(&c, x->senders);
      }
  }
  c.chosen = memory_alloc((c.n + 1) * sizeof *c.chosen);
  const uint64_t *none = NULL;
  bool more = c.n ? grow(&c, c.set, c.n, &none, 0) : anybody || product(x);
  x->clique = NULL;
  x->nclique = 0;
  memory_free(c.set);
  memory_free(c.chosen);
  memory_free(x->senders);
  x->senders = NULL;
  arena_release(&c.arena);
  return more;
}
