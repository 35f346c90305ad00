/* The number of heard-of assignments that plain enumeration would try. */
#include "lockstep/heard_of_count.h"

#include <string.h>

#define LIMB 1000000000u

struct big { /* little-endian limbs in base 10^9 */
  VEC(uint32_t) limb;
};

static void big_multiply(struct big *b, uint64_t m) {
  unsigned __int128 carry = 0;
  for (size_t i = 0; i < b->limb.n; i++) {
    carry += (unsigned __int128)b->limb.at[i] * m;
    b->limb.at[i] = (uint32_t)(carry % LIMB);
    carry /= LIMB;
  }
  for (; carry; carry /= LIMB)
    vec_push(&b->limb, (uint32_t)(carry % LIMB));
}

static void big_add(struct big *b, const struct big *other) {
  uint64_t carry = 0;
  for (size_t i = 0; i < other->limb.n || carry; i++) {
    if (i == b->limb.n)
      vec_push(&b->limb, 0);
    carry += (uint64_t)b->limb.at[i] + (i < other->limb.n ? other->limb.at[i] : 0);
    b->limb.at[i] = (uint32_t)(carry % LIMB);
    carry /= LIMB;
  }
}

static void big_set(struct big *b, uint64_t x) {
  vec_clear(&b->limb);
  for (; x; x /= LIMB)
    vec_push(&b->limb, (uint32_t)(x % LIMB));
}

static void big_print(const struct big *b, struct text *out) {
  size_t n = b->limb.n;
  while (n && b->limb.at[n - 1] == 0)
    n--;
  if (n == 0) {
    text_add(out, "0");
    return;
  }
  text_addf(out, "%u", b->limb.at[n - 1]);
  for (size_t i = n - 1; i > 0; i--)
    text_addf(out, "%09u", b->limb.at[i - 1]);
}

static bool set_allowed(const struct rules *r, const struct model *m, uint32_t p, uint32_t set) {
  uint32_t size = (uint32_t)__builtin_popcount(set), self = set >> p & 1;
  for (uint32_t i = 0; i < r->nsizes; i++)
    if (r->sizes[i].role == model_role_of(m, p) && !r->sizes[i].ok[2 * size + self])
      return false;
  return true;
}

#define COUPLED_MOST 5 /* processes: then a set of heard-of sets is a word */

struct coupled_count {
  enum coupling coupling;
  uint32_t n;
  uint32_t allowed[COUPLED_MOST];     /* by process: the heard-of sets that sizes allow, one bit for each */
  uint32_t meets[1u << COUPLED_MOST]; /* by set: the sets that intersect it */
};

/* Assignments for the processes from p on. open: the sets that are compatible with those chosen so far; common: the
   processes that are in all of those. */
static uint64_t count_coupled(const struct coupled_count *c, uint32_t p, uint32_t open, uint32_t common) {
  uint64_t total = 0;
  uint32_t sets = open & c->allowed[p];
  if (p + 1 == c->n)
    return (uint64_t)__builtin_popcount(sets);
  for (; sets; sets &= sets - 1) {
    uint32_t set = (uint32_t)__builtin_ctz(sets), both = common & set;
    total += count_coupled(c, p + 1, c->coupling == COUPLED_KERNEL ? c->meets[both] : open & c->meets[set], both);
  }
  return total;
}

static uint64_t coupled_assignments(const struct rules *r, const struct model *m) {
  struct coupled_count c = {.coupling = r->coupling, .n = m->nprocesses};
  uint32_t sets = 1u << c.n;
  if (c.n == 0)
    return r->coupling != COUPLED_KERNEL;
  for (uint32_t set = 0; set < sets; set++) {
    for (uint32_t p = 0; p < c.n; p++)
      c.allowed[p] |= (uint32_t)set_allowed(r, m, p, set) << set;
    for (uint32_t other = 0; other < sets; other++)
      c.meets[set] |= (uint32_t)((set & other) != 0) << other;
  }
  return count_coupled(&c, 0, c.meets[sets - 1], sets - 1);
}

static uint64_t choose(uint32_t n, uint32_t k) {
  uint64_t c = 1;
  for (uint32_t i = 1; i <= k; i++)
    c = c * (n - k + i) / i;
  return c;
}

static bool count_round(const struct rules *r, const struct model *m, struct big *out) {
  uint32_t n = m->nprocesses;
  if (r->plain || r->nfilters || r->crashes || r->lossy || r->corrupts)
    return false;
  if (r->delivers) {
    big_set(out, 1);
    return true;
  }
  if (r->coupling == COUPLED_UNIFORM) {
    uint64_t total = 0;
    for (uint32_t size = 0; size <= n && n <= 60; size++)
      total += !r->uniform_size || r->uniform_size[size] ? choose(n, size) : 0;
    big_set(out, total);
    return n <= 60;
  }
  if (r->coupling != COUPLED_NOT) {
    if (n > COUPLED_MOST)
      return false;
    big_set(out, coupled_assignments(r, m));
    return true;
  }
  if (n > 300 || (r->nsizes && n > 60))
    return false;
  big_set(out, 1);
  for (uint32_t p = 0; p < n; p++) {
    if (!r->nsizes) {
      for (uint32_t q = 0; q < n; q += 30)
        big_multiply(out, UINT64_C(1) << (n - q < 30 ? n - q : 30));
      continue;
    }
    uint64_t sets = 0;
    for (uint32_t size = 0; size <= n; size++)
      for (uint32_t self = 0; self < 2; self++) {
        bool ok = !(self && size == 0) && !(!self && size == n);
        for (uint32_t i = 0; i < r->nsizes; i++)
          ok = ok && (r->sizes[i].role != model_role_of(m, p) || r->sizes[i].ok[2 * size + self]);
        sets += ok ? choose(n - 1, size - self) : 0;
      }
    big_multiply(out, sets);
  }
  return true;
}

bool heard_of_count(struct lockstep *s, struct text *decimal) {
  struct big total = {{0}}, round = {{0}};
  bool known = true;
  big_set(&total, s->initial_states);
  for (uint32_t i = 0; i < s->stored_at.n && known; i++) {
    if (!s->stored_at.at[i] || i >= s->rules.n || !s->rules.at[i])
      continue;
    known = count_round(s->rules.at[i], s->model, &round);
    big_multiply(&round, s->stored_at.at[i]);
    big_add(&total, &round);
  }
  for (uint32_t i = 0; i < s->env->nclauses; i++)
    known &= s->env->clauses[i].kind != CLAUSE_OMIT && s->env->clauses[i].kind != CLAUSE_BYZANTINE;
  if (known)
    big_print(&total, decimal);
  vec_release(&total.limb);
  vec_release(&round.limb);
  return known;
}
