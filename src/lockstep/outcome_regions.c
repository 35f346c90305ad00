/* Outcome sets for many processes. The decisions of an update are signs of linear forms over the number of each message
   heard, so all combinations of numbers fall into few regions with the same updates. The regions are found by running
   the update at a point and tracing its decisions (eval.h, struct decisions). They form a decision tree for each
   projection and set of messages heard, independent of the numbers that can be received. For a given receivable, the
   tree is traversed with these numbers as bounds; at a branch that has not been explored yet, the update is run at a
   point inside it. */
#include "lockstep/lockstep_local_steps.h"
#include "lockstep/outcome_builder.h"
#include "lockstep/outcome_set.h"

#include <string.h>

struct count_box {
  int64_t lo[FORM_MAX], hi[FORM_MAX];
};

struct region_search {
  struct outcome_builder *b;
  uint32_t n; /* groups heard */
  uint32_t group[FORM_MAX];
  struct count_box box;
  VEC(struct sign_decision) path;
  bool lost;
};

/* --- is there a point in the box where all forms have the required signs? --- */

static void form_bounds(const struct form *f, const struct count_box *x, uint32_t n, int64_t *least, int64_t *most) {
  *least = *most = f->constant;
  for (uint32_t i = 0; i < n; i++) {
    *least += f->of[i] * (f->of[i] > 0 ? x->lo[i] : x->hi[i]);
    *most += f->of[i] * (f->of[i] > 0 ? x->hi[i] : x->lo[i]);
  }
}

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

/* Removes points that cannot satisfy form <= bound; false: nothing is left. */
static bool cut_at_most(const struct form *f, int64_t bound, struct count_box *x, uint32_t n, bool *changed) {
  int64_t least, most;
  form_bounds(f, x, n, &least, &most);
  if (least > bound)
    return false;
  if (most <= bound)
    return true;
  for (uint32_t i = 0; i < n; i++) {
    int64_t c = f->of[i];
    if (c > 0) {
      int64_t hi = x->lo[i] + floor_div(bound - least, c);
      if (hi < x->hi[i]) {
        x->hi[i] = hi;
        *changed = true;
      }
    } else if (c < 0) {
      int64_t lo = x->hi[i] - floor_div(bound - least, -c);
      if (lo > x->lo[i]) {
        x->lo[i] = lo;
        *changed = true;
      }
    }
    if (x->lo[i] > x->hi[i])
      return false;
  }
  return true;
}

static struct form negated(const struct form *f) {
  struct form g = {.constant = -f->constant};
  for (uint32_t i = 0; i < FORM_MAX; i++)
    g.of[i] = -f->of[i];
  return g;
}

static bool cut(const struct sign_decision *d, struct count_box *x, uint32_t n, bool *changed) {
  struct form g = negated(&d->form);
  if (d->sign < 0)
    return cut_at_most(&d->form, -1, x, n, changed);
  if (d->sign > 0)
    return cut_at_most(&g, -1, x, n, changed);
  return cut_at_most(&d->form, 0, x, n, changed) && cut_at_most(&g, 0, x, n, changed);
}

static bool surely(const struct sign_decision *d, const struct count_box *x, uint32_t n) {
  int64_t least, most;
  form_bounds(&d->form, x, n, &least, &most);
  return d->sign < 0 ? most < 0 : d->sign > 0 ? least > 0 : least == 0 && most == 0;
}

static bool solve(const struct sign_decision *d, size_t nd, struct count_box *x, uint32_t n) {
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t k = 0; k < nd; k++)
      if (!cut(&d[k], x, n, &changed))
        return false;
  }
  uint32_t widest = UINT32_MAX;
  for (size_t k = 0; k < nd; k++)
    for (uint32_t i = 0; i < n && !surely(&d[k], x, n); i++)
      if (d[k].form.of[i] && x->hi[i] > x->lo[i] &&
          (widest == UINT32_MAX || x->hi[i] - x->lo[i] > x->hi[widest] - x->lo[widest]))
        widest = i;
  if (widest == UINT32_MAX) { /* all points satisfy the constraints: hear as many as possible */
    for (uint32_t i = 0; i < n; i++)
      x->lo[i] = x->hi[i];
    return true;
  }
  int64_t middle = x->lo[widest] + (x->hi[widest] - x->lo[widest]) / 2;
  struct count_box half = *x;
  half.lo[widest] = middle + 1;
  if (solve(d, nd, &half, n)) {
    *x = half;
    return true;
  }
  half = *x;
  half.hi[widest] = middle;
  if (!solve(d, nd, &half, n))
    return false;
  *x = half;
  return true;
}

/* A point with the fewest lost messages, if losses are charged. */
static bool solve_cheaply(struct region_search *r, struct count_box *x) {
  const struct round_receivable *o = r->b->receivable;
  *x = r->box;
  if (!solve(r->path.at, r->path.n, x, r->n))
    return false;
  if (!r->b->rules->lossy)
    return true;
  struct form lost = {0};
  int64_t found = 0;
  for (uint32_t i = 0; i < r->n; i++) {
    lost.constant += o->groups[r->group[i]].count;
    lost.of[i] = -1;
    found += (int64_t)o->groups[r->group[i]].count - x->lo[i];
  }
  for (int64_t low = 0; low < found;) {
    int64_t middle = low + (found - low) / 2;
    struct count_box y = r->box;
    struct sign_decision cheap = {lost, -1};
    cheap.form.constant -= middle + 1;
    vec_push(&r->path, cheap);
    bool ok = solve(r->path.at, r->path.n, &y, r->n);
    r->path.n--;
    if (ok) {
      *x = y;
      found = 0;
      for (uint32_t i = 0; i < r->n; i++)
        found += (int64_t)o->groups[r->group[i]].count - y.lo[i];
    } else {
      low = middle + 1;
    }
  }
  return true;
}

/* --- the tree --- */

static uint32_t run_at(struct region_search *r, const struct count_box *point, struct decisions *taken) {
  const struct round_receivable *o = r->b->receivable;
  value bag[FORM_MAX * BAG_ENTRY];
  for (uint32_t i = 0; i < r->n; i++) {
    const struct sender_group *g = &o->groups[r->group[i]];
    value *entry = bag + (size_t)i * BAG_ENTRY;
    entry[0] = g->message;
    entry[1] = g->tag == NO_SENDER ? -1 : (value)g->tag;
    entry[2] = point->lo[i];
    entry[3] = 0;
  }
  return step_updates_traced(r->b->system, r->b->projection, bag, (size_t)r->n * BAG_ENTRY, taken);
}

static uint32_t node_new(struct lockstep *s) {
  vec_push(&s->outcomes.regions, (struct decision_node){0});
  return (uint32_t)s->outcomes.regions.n - 1;
}

static int sign_at(const struct form *f, const struct count_box *point, uint32_t n) {
  int64_t v = f->constant;
  for (uint32_t i = 0; i < n; i++)
    v += f->of[i] * point->lo[i];
  return v < 0 ? -1 : v > 0;
}

/* Inserts a run below `node`, which is unexplored; the earlier decisions of the run lead to it. */
static void enter(struct region_search *r, uint32_t node, const struct count_box *point) {
  struct lockstep *s = r->b->system;
  struct decisions taken = {.entry = UINT32_MAX};
  uint32_t local_updates = run_at(r, point, &taken);
  if (taken.lost || lockstep_stopped(s)) { /* the node stays unexplored, so later traversals fail here as well */
    r->lost = true;
    vec_release(&taken.taken);
    return;
  }
  for (size_t k = 0; k < taken.taken.n; k++) {
    const struct sign_decision *d = &taken.taken.at[k];
    bool known = false; /* already decided on the path to this node */
    for (size_t i = 0; i < r->path.n && !known; i++)
      known = !memcmp(&r->path.at[i].form, &d->form, sizeof d->form);
    for (size_t i = 0; i < k && !known; i++)
      known = !memcmp(&taken.taken.at[i].form, &d->form, sizeof d->form);
    if (known)
      continue;
    uint32_t child = node_new(s);
    s->outcomes.regions.at[node].form = d->form;
    s->outcomes.regions.at[node].child[sign_at(&d->form, point, r->n) + 1] = child + 1;
    node = child;
  }
  s->outcomes.regions.at[node].local_updates = local_updates + 1;
  vec_release(&taken.taken);
}

static bool is_unknown(const struct decision_node *node) {
  return !node->local_updates && !node->child[0] && !node->child[1] && !node->child[2];
}

static bool all_free_already(const struct outcome_builder *b, const struct list *l) {
  for (uint32_t i = 0; i < l->n; i++) {
    bool found = false;
    for (size_t k = 0; k < b->outcomes.n && !found; k++)
      found = b->outcomes.at[k].update == l->at[i] && b->outcomes.at[k].cost == 0;
    if (!found)
      return false;
  }
  return true;
}

static void take_leaf(struct region_search *r, const struct list *l) {
  struct outcome_builder *b = r->b;
  struct count_box point;
  if (all_free_already(b, l) || !solve_cheaply(r, &point))
    return;
  memset(b->heard, 0, b->receivable->n * sizeof *b->heard);
  b->cost = 0;
  for (uint32_t i = 0; i < b->receivable->n; i++)
    if (b->receivable->groups[i].silent)
      b->heard[i] = b->receivable->groups[i].count;
  for (uint32_t i = 0; i < r->n; i++)
    b->heard[r->group[i]] = (uint32_t)point.lo[i];
  for (uint32_t i = 0; i < b->receivable->n && b->rules->lossy; i++)
    if (!b->receivable->groups[i].silent)
      b->cost += b->receivable->groups[i].count - b->heard[i];
  b->size = UINT32_MAX;
  for (uint32_t i = 0; i < l->n; i++)
    outcome_add(b, l->at[i]);
  b->cost = 0;
}

static void explore(struct region_search *r, uint32_t node) {
  struct lockstep *s = r->b->system;
  if (is_unknown(&s->outcomes.regions.at[node])) {
    struct count_box point = r->box;
    if (!solve(r->path.at, r->path.n, &point, r->n))
      return;
    enter(r, node, &point);
  }
  if (r->lost)
    return;
  if (s->outcomes.regions.at[node].local_updates) {
    struct list l = s->local.lists.at[s->outcomes.regions.at[node].local_updates - 1];
    take_leaf(r, &l);
    return;
  }
  for (int sign = -1; sign <= 1 && !r->lost; sign++) {
    struct sign_decision d = {s->outcomes.regions.at[node].form, sign};
    struct count_box trial = r->box;
    bool changed = false;
    if (!cut(&d, &trial, r->n, &changed))
      continue;
    if (!s->outcomes.regions.at[node].child[sign + 1]) {
      uint32_t child = node_new(s);
      s->outcomes.regions.at[node].child[sign + 1] = child + 1;
    }
    vec_push(&r->path, d);
    explore(r, s->outcomes.regions.at[node].child[sign + 1] - 1);
    r->path.n--;
  }
}

/* --- all sets of groups --- */

static uint32_t root_of(struct region_search *r) {
  struct lockstep *s = r->b->system;
  value messages[2 * FORM_MAX];
  for (uint32_t i = 0; i < r->n; i++) {
    messages[2 * i] = r->b->receivable->groups[r->group[i]].message;
    messages[2 * i + 1] = r->b->receivable->groups[r->group[i]].tag;
  }
  uint32_t key = intern_put(s->vectors, messages, 2 * (size_t)r->n), root;
  if (!memo_find(&s->outcomes.region_roots, r->b->projection, key, &root)) {
    root = node_new(s);
    memo_add(&s->outcomes.region_roots, r->b->projection, key, root);
  }
  return root;
}

static bool worth_it(const struct outcome_builder *b, uint32_t heard) {
  double ways = 1, sets = 1;
  for (uint32_t i = 0; i < b->receivable->n; i++)
    if (!b->receivable->groups[i].silent) {
      ways *= b->receivable->groups[i].count + 1.0;
      sets *= 2;
    }
  return heard <= 10 && (b->system->outcomes.by == OUTCOMES_BY_REGIONS || ways > 16 * sets);
}

bool outcomes_by_regions(struct outcome_builder *b) {
  const struct round_receivable *o = b->receivable;
  struct region_search r = {.b = b};
  uint32_t heard[FORM_MAX], n = 0;
  if (b->system->outcomes.by == OUTCOMES_BY_ENUMERATION || !b->reads->counts || o->nbyzantine || o->exact ||
      b->nsizes || o->allowed || b->every_cost || b->rules->corrupts || b->rules->coupling == COUPLED_NOSPLIT ||
      b->reads->received == RECEIVED_UNREAD)
    return false;
  for (uint32_t i = 0; i < o->n; i++) {
    if (b->rules->lossy && o->groups[i].must != o->groups[i].count)
      return false;
    if (o->groups[i].silent)
      continue;
    if (n == FORM_MAX)
      return false;
    heard[n++] = i;
  }
  if (!worth_it(b, n))
    return false;
  for (uint32_t set = 0; set < 1u << n && !r.lost; set++) {
    bool possible = true;
    r.n = 0;
    for (uint32_t i = 0; i < n && possible; i++) {
      const struct sender_group *g = &o->groups[heard[i]];
      uint32_t least = group_least(b, g);
      if (o->need == heard[i] && least == 0)
        least = 1;
      if (!(set >> i & 1)) {
        possible = least == 0;
        continue;
      }
      r.group[r.n] = heard[i];
      r.box.lo[r.n] = least ? least : 1;
      r.box.hi[r.n++] = g->count;
    }
    if (possible)
      explore(&r, root_of(&r));
  }
  vec_release(&r.path);
  if (r.lost)
    vec_clear(&b->outcomes);
  return !r.lost;
}
