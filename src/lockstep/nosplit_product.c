/* No-split rounds: any two processes hear some process in common. The condition is upward closed, so only the maximal
   heard-of sets that lead to an outcome matter. It is also pairwise, so the successors are the union of plain products
   over the maximal cliques of intersecting sets. */
#include "lockstep/expansion.h"
#include "lockstep/lockstep_local_steps.h"
#include "lockstep/outcome_product.h"
#include "lockstep/outcome_set.h"

#include <string.h>

#define TABLE_SETS 2048 /* a table of intersections of so many sets takes 4 MiB */

struct cliques {
  struct expansion *x;
  bool (*product)(struct expansion *);
  uint32_t words;     /* of a set of actors */
  VEC(uint64_t) sets; /* distinct maximal heard-of sets; number 0 is the empty set, which intersects no set */
  uint32_t n;
  bool *meets;  /* [set * n + set]: do they intersect? NULL: there are too many sets for a table */
  bool *chosen; /* by set */
};

/* Converts a set of groups to the set of their actors. */
static void group_senders(const struct cliques *c, const struct round_receivable *o, const uint64_t *groups,
                          uint64_t *senders) {
  memset(senders, 0, c->words * sizeof *senders);
  for (uint32_t i = 0; i < 2 * c->x->actors.n; i++) {
    uint32_t group = o->group_of[i];
    if (group && groups[(group - 1) / 64] >> (group - 1) % 64 & 1)
      senders[i / 2 / 64] |= UINT64_C(1) << i / 2 % 64;
  }
}

/* The number of the set of senders of these groups. */
static uint32_t set_put(struct cliques *c, const struct round_receivable *o, const uint64_t *groups) {
  vec_reserve(&c->sets, c->sets.n + c->words);
  uint64_t *set = c->sets.at + c->sets.n;
  group_senders(c, o, groups, set);
  for (uint32_t i = 0; i < c->n; i++) {
    const uint64_t *known = c->sets.at + (size_t)i * c->words;
    if (known[0] == set[0] && (c->words == 1 || !memcmp(known, set, c->words * sizeof *set)))
      return i;
  }
  c->sets.n += c->words;
  return c->n++;
}

/* Numbers the sets of every actor: see mask_sets. Returns the numbers of all actors, in one block. */
static uint32_t *number_sets(struct cliques *c) {
  struct lockstep *s = c->x->system;
  size_t nmasks = 0;
  for (size_t i = 0; i < c->x->actors.n; i++) {
    const struct actor *a = &c->x->actors.at[i];
    const struct local_outcome_set *all = &s->outcomes.outcome_sets.at[a->outcome_set];
    if (!a->idle && !a->crashing && all->n)
      nmasks += all->outcomes[all->n - 1].first_mask + all->outcomes[all->n - 1].nmasks;
  }
  uint32_t *numbers = memory_alloc((nmasks + 1) * sizeof *numbers), *next = numbers;
  for (size_t i = 0; i < c->x->actors.n; i++) {
    struct actor *a = &c->x->actors.at[i];
    if (a->idle || a->crashing)
      continue;
    const struct local_outcome_set *all = &s->outcomes.outcome_sets.at[a->outcome_set];
    uint32_t words = bitset_words(a->receivable.n);
    a->mask_sets = next;
    for (uint32_t k = 0; k < all->n; k++)
      for (uint32_t j = 0; j < all->outcomes[k].nmasks; j++)
        *next++ = lockstep_stopped(s) ? 0 : set_put(c, &a->receivable, all->outcomes[k].masks + (size_t)j * words);
  }
  return numbers;
}

static bool intersect(const struct cliques *c, uint32_t a, uint32_t b) {
  const uint64_t *of_a = c->sets.at + (size_t)a * c->words, *of_b = c->sets.at + (size_t)b * c->words;
  for (uint32_t w = 0; w < c->words; w++)
    if (of_a[w] & of_b[w])
      return true;
  return false;
}

static void find_meetings(struct cliques *c) {
  if (c->n > TABLE_SETS)
    return;
  c->meets = memory_alloc((size_t)c->n * c->n);
  for (uint32_t i = 0; i < c->n; i++)
    for (uint32_t k = 0; k < c->n; k++)
      c->meets[(size_t)i * c->n + k] = intersect(c, i, k);
}

static bool meet(const struct cliques *c, uint32_t a, uint32_t b) {
  return c->meets ? c->meets[(size_t)a * c->n + b] : intersect(c, a, b);
}

/* Bron and Kerbosch 1973, with a pivot: every maximal family of pairwise intersecting sets. */
static bool grow(struct cliques *c, const uint32_t *candidates, uint32_t n, const uint32_t *excluded,
                 uint32_t nexcluded) {
  if (lockstep_stopped(c->x->system))
    return false;
  if (n == 0) {
    if (nexcluded)
      return true;
    c->x->clique = c->chosen;
    return c->product(c->x);
  }
  uint32_t pivot = nexcluded ? excluded[0] : candidates[0], best = 0;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t meets = 0;
    for (uint32_t k = 0; k < n; k++)
      meets += meet(c, candidates[i], candidates[k]);
    if (meets > best) {
      best = meets;
      pivot = candidates[i];
    }
  }
  uint32_t most = n + nexcluded, ntried = nexcluded;
  uint32_t *inner = memory_alloc((2 * (size_t)n + 2 * (size_t)most) * sizeof *inner);
  uint32_t *done = inner + n, *inner_excluded = done + n, *tried = inner_excluded + most;
  if (nexcluded)
    memcpy(tried, excluded, nexcluded * sizeof *tried);
  bool more = true;
  for (uint32_t i = 0; i < n && more; i++) {
    uint32_t set = candidates[i], ni = 0, nx = 0;
    if (set != pivot && meet(c, set, pivot))
      continue;
    for (uint32_t k = 0; k < n; k++)
      if (k != i && !done[k] && meet(c, candidates[k], set))
        inner[ni++] = candidates[k];
    for (uint32_t k = 0; k < ntried; k++)
      if (meet(c, tried[k], set))
        inner_excluded[nx++] = tried[k];
    c->chosen[set] = true;
    more = grow(c, inner, ni, inner_excluded, nx);
    c->chosen[set] = false;
    done[i] = true;
    tried[ntried++] = set;
  }
  memory_free(inner);
  return more;
}

bool nosplit_rounds(struct expansion *x, bool (*product)(struct expansion *)) {
  struct cliques c = {.x = x, .product = product, .words = bitset_words((uint32_t)x->actors.n), .n = 1};
  bool anybody = false, more = true;
  for (size_t i = 0; i < x->actors.n; i++)
    anybody |= !x->actors.at[i].idle && !x->actors.at[i].crashing;
  if (!anybody)
    return product(x);
  for (uint32_t i = 0; i < c.words; i++)
    vec_push(&c.sets, 0);
  uint32_t *numbers = number_sets(&c);
  find_meetings(&c);
  c.chosen = memory_alloc(c.n + 1);
  uint32_t *candidates = memory_alloc((c.n + 1) * sizeof *candidates);
  for (uint32_t i = 1; i < c.n; i++)
    candidates[i - 1] = i;
  if (c.n > 1)
    more = grow(&c, candidates, c.n - 1, NULL, 0);
  x->clique = NULL;
  memory_free(candidates);
  memory_free(c.chosen);
  memory_free(c.meets);
  memory_free(numbers);
  vec_release(&c.sets);
  return more;
}
