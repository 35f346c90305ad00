#include "lockstep/bag_distribution.h"

#include "lockstep/subsumption.h"

#include <string.h>

/* y is a possible result exactly if, for every set S of local states, y(S) >= least[S], where least[S] is the number of
   processes that can only go to S (Hall's theorem; max flow, min cut), and y(all) is the number of all processes.
   `least` is supermodular, so a choice of y for some of the local states that satisfies these bounds, and those of the
   complements, can always be completed. */
struct bag_distribution {
  uint32_t n;
  uint32_t next[DISTRIBUTION_MAX];
  uint32_t counts[DISTRIBUTION_MAX];
  int64_t total;
  int64_t least[1 << DISTRIBUTION_MAX];
  int64_t sum[1 << DISTRIBUTION_MAX]; /* of the counts chosen so far, by set of local states */
  bag_distribution_fn *visit;
  void *context;
};

static bool distribute_from(struct bag_distribution *s, uint32_t i) {
  if (i == s->n)
    return s->visit(s->context, s->next, s->counts, s->n);
  uint32_t all = (1u << s->n) - 1, bit = 1u << i;
  int64_t low = 0, high = s->total;
  for (uint32_t set = 0; set < bit; set++) {
    int64_t lower = s->least[set | bit] - s->sum[set];
    int64_t upper = s->total - s->least[all & ~(set | bit)] - s->sum[set];
    low = lower > low ? lower : low;
    high = upper < high ? upper : high;
  }
  for (int64_t y = high; y >= low; y--) {
    s->counts[i] = (uint32_t)y;
    for (uint32_t set = 0; set < bit; set++)
      s->sum[set | bit] = s->sum[set] + y;
    if (!distribute_from(s, i + 1))
      return false;
  }
  return true;
}

static bool next_add(struct bag_distribution *s, uint32_t local) {
  uint32_t at = 0;
  while (at < s->n && s->next[at] < local)
    at++;
  if (at < s->n && s->next[at] == local)
    return true;
  if (s->n == DISTRIBUTION_MAX)
    return false;
  memmove(s->next + at + 1, s->next + at, (s->n - at) * sizeof *s->next);
  s->next[at] = local;
  s->n++;
  return true;
}

static uint32_t set_of(const struct bag_distribution *s, const struct intern *lists, uint32_t word) {
  uint32_t set = 0;
  const int64_t *list = word & LIST ? intern_at(lists, word & ~LIST) : NULL;
  size_t length = list ? intern_length(lists, word & ~LIST) : 0;
  for (uint32_t i = 0; i < s->n; i++) {
    bool in = !list && s->next[i] == word;
    for (size_t k = 0; k < length && !in; k += 2)
      in = list[k] == (int64_t)s->next[i];
    set |= (uint32_t)in << i;
  }
  return set;
}

bool bag_distribute(const struct intern *lists, const uint32_t *words, uint32_t length, bool *done,
                    bag_distribution_fn *visit, void *context) {
  struct bag_distribution s = {.visit = visit, .context = context};
  *done = false;
  for (uint32_t i = 0; i < length; i += 2) {
    const int64_t *list = words[i] & LIST ? intern_at(lists, words[i] & ~LIST) : NULL;
    size_t n = list ? intern_length(lists, words[i] & ~LIST) : 0;
    if (!list && !next_add(&s, words[i]))
      return true;
    for (size_t k = 0; k < n; k += 2)
      if (list[k + 1] != 0 || !next_add(&s, (uint32_t)list[k]))
        return true;
    s.total += words[i + 1];
  }
  for (uint32_t i = 0; i < length; i += 2) {
    uint32_t set = set_of(&s, lists, words[i]);
    for (uint32_t over = set; over < 1u << s.n; over = (over + 1) | set)
      s.least[over] += words[i + 1];
  }
  *done = true;
  return distribute_from(&s, 0);
}
