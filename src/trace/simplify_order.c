/* Reorders a run of steps so that the acting process changes as rarely as possible, and equal steps of several
   processes are adjacent. Each event must have the same effect on its process as before. A beam search: for every
   number of events placed, the best prefixes are kept. */
#include "trace/simplify_internal.h"

#include <string.h>

#define WIDEST 200
#define NARROWEST 8
#define MOST_WORK 60000 /* prefixes times events */
#define TRIES 5         /* orders that are tried in full */

/* The cost of placing one event directly after another. */
enum { COST_ALIKE = 0, COST_SAME_PROCESS = 1, COST_SWITCH = 3 };

struct order_prefix { /* a prefix: some events placed */
  size_t parent;      /* index in nodes, SIZE_MAX: none */
  size_t event;       /* the one placed last */
  uint32_t cost;
  struct config *config; /* after these events; NULL once the prefix has been extended */
  bool *placed;          /* by event; likewise */
};

struct order_search {
  struct step_simplifier *simplifier;
  const events *run;
  value **before, **after; /* by event: the local state of its process followed by the globals, before and after it */
  bool last_stays;         /* the claim is about the last event, which therefore stays last */
  VEC(struct order_prefix) nodes;
};

static const struct event *event_at(const struct order_search *o, size_t i) { return o->run->at[i]->event; }

static size_t local_bytes(const struct order_search *o, size_t i) {
  return role_local_length(process_role(o->simplifier->model, event_at(o, i)->process)) * sizeof(value);
}

/* Do both events make the same changes? */
static bool same_changes(const struct order_search *o, size_t i, size_t k) {
  size_t n = local_bytes(o, i) / sizeof(value) + o->simplifier->model->nglobals;
  for (size_t v = 0; v < n; v++) {
    bool first = o->before[i][v] != o->after[i][v], second = o->before[k][v] != o->after[k][v];
    if (first != second || (first && (o->before[i][v] != o->before[k][v] || o->after[i][v] != o->after[k][v])))
      return false;
  }
  return true;
}

/* Two processes of one role take the same step. */
static bool same_step_elsewhere(const struct order_search *o, size_t i, size_t k) {
  const struct event *a = event_at(o, i), *b = event_at(o, k);
  const struct model *m = o->simplifier->model;
  if (a->kind != b->kind || a->action != b->action || a->message_kind != b->message_kind || a->ntaken != b->ntaken ||
      a->script.n != b->script.n || a->nout != b->nout || process_role(m, a->process) != process_role(m, b->process))
    return false;
  for (uint32_t t = 0; t < a->ntaken; t++)
    if (a->taken[t].from != b->taken[t].from || a->taken[t].message != b->taken[t].message)
      return false;
  return (a->script.n == 0 || !memcmp(a->script.at, b->script.at, a->script.n * sizeof *a->script.at)) &&
         same_changes(o, i, k);
}

static uint32_t cost_after(const struct order_search *o, size_t before, size_t i) {
  if (event_at(o, before)->process == event_at(o, i)->process)
    return COST_SAME_PROCESS;
  return same_step_elsewhere(o, before, i) ? COST_ALIKE : COST_SWITCH;
}

static uint32_t cost_of(const struct order_search *o) {
  uint32_t cost = 0;
  for (size_t i = 1; i < o->run->n; i++)
    cost += cost_after(o, i - 1, i);
  return cost;
}

static value *noted(const struct order_search *o, size_t i, const struct config *c) {
  size_t length = local_bytes(o, i), shared = o->simplifier->model->nglobals * sizeof(value);
  value *out = memory_alloc(length + shared);
  memcpy(out, c->local[event_at(o, i)->process], length);
  memcpy(out + length / sizeof *out, c->globals, shared);
  return out;
}

/* Records the effects of all events. */
static bool note_effects(struct order_search *o) {
  struct step_simplifier *t = o->simplifier;
  bool ok = true;
  config_assign(t->model, t->at, t->initial);
  for (size_t i = 0; i < o->run->n; i++) {
    enum step_result result = STEP_OK;
    o->before[i] = noted(o, i, t->at);
    ok = ok && step_simplifier_step(t, o->run->at[i], &result);
    if (ok && result == STEP_OK)
      step_simplifier_swap(t);
    o->after[i] = noted(o, i, t->at);
  }
  return ok;
}

/* May event i follow so many others? */
static bool is_due(const struct order_search *o, size_t i, size_t placed) {
  return !o->last_stays || i + 1 < o->run->n || placed + 1 == o->run->n;
}

/* Takes event i from the configuration to t->next, if its effect on its process is the same. */
static bool place(struct order_search *o, const struct config *from, size_t i) {
  struct step_simplifier *t = o->simplifier;
  enum step_result result;
  if (memcmp(from->local[event_at(o, i)->process], o->before[i], local_bytes(o, i)) != 0)
    return false;
  config_assign(t->model, t->at, from);
  return step_simplifier_step(t, o->run->at[i], &result) &&
         (result != STEP_OK || !memcmp(t->next->local[event_at(o, i)->process], o->after[i], local_bytes(o, i)));
}

static void forget(struct order_prefix *b) {
  config_free(b->config);
  memory_free(b->placed);
  b->config = NULL;
  b->placed = NULL;
}

/* The prefix with these events and this last event among those from `first` on; nodes.n: none. */
static size_t find(const struct order_search *o, size_t first, const bool *placed, size_t event) {
  size_t i = first;
  while (i < o->nodes.n && (o->nodes.at[i].event != event || memcmp(o->nodes.at[i].placed, placed, o->run->n) != 0))
    i++;
  return i;
}

/* Adds the prefix extended by event i. */
static void extend(struct order_search *o, size_t parent, size_t i, size_t layer) {
  const struct order_prefix *from = &o->nodes.at[parent];
  uint32_t cost = from->cost + (from->parent == SIZE_MAX ? 0 : cost_after(o, from->event, i));
  bool *placed = memory_alloc(o->run->n + 1);
  memcpy(placed, from->placed, o->run->n);
  placed[i] = true;
  size_t known = find(o, layer, placed, i);
  bool worse = known < o->nodes.n && o->nodes.at[known].cost <= cost;
  if (worse || !place(o, from->config, i)) {
    memory_free(placed);
    return;
  }
  struct order_prefix made = {parent, i, cost, config_copy(o->simplifier->model, o->simplifier->next), placed};
  if (known == o->nodes.n) {
    vec_push(&o->nodes, made);
    return;
  }
  forget(&o->nodes.at[known]);
  o->nodes.at[known] = made;
}

/* Keeps the cheapest prefixes of a layer, in their order. */
static void narrow(struct order_search *o, size_t layer, size_t width) {
  while (o->nodes.n - layer > width) {
    size_t worst = layer;
    for (size_t i = layer; i < o->nodes.n; i++)
      if (o->nodes.at[i].cost >= o->nodes.at[worst].cost)
        worst = i;
    forget(&o->nodes.at[worst]);
    memmove(&o->nodes.at[worst], &o->nodes.at[worst + 1], (o->nodes.n - worst - 1) * sizeof *o->nodes.at);
    o->nodes.n--;
  }
}

/* Extends all prefixes of a layer by one event, those of the original order first. */
static void extend_layer(struct order_search *o, size_t from, size_t to, size_t n) {
  for (size_t b = from; b < to; b++) {
    for (size_t i = 0; i < o->run->n; i++)
      if (!o->nodes.at[b].placed[i] && is_due(o, i, n))
        extend(o, b, i, to);
    forget(&o->nodes.at[b]);
  }
}

static void read_back(const struct order_search *o, size_t node, events *out) {
  vec_clear(out);
  for (size_t i = node; o->nodes.at[i].parent != SIZE_MAX; i = o->nodes.at[i].parent)
    vec_push(out, o->run->at[o->nodes.at[i].event]);
  vec_reverse(out, 0);
}

/* The best complete order that shows the claim at its end, and not before. */
static bool choose(struct order_search *o, size_t layer, uint32_t cost, events *best) {
  events kept = {0};
  bool found = false;
  for (unsigned try = 0; try < TRIES && !found; try++) {
    size_t cheapest = o->nodes.n;
    for (size_t i = layer; i < o->nodes.n; i++)
      if (o->nodes.at[i].cost < (cheapest < o->nodes.n ? o->nodes.at[cheapest].cost : cost))
        cheapest = i;
    if (cheapest == o->nodes.n)
      break;
    read_back(o, cheapest, best);
    found = step_simplifier_attempt(o->simplifier, best, SIZE_MAX, &kept) && kept.n == best->n;
    o->nodes.at[cheapest].cost = UINT32_MAX;
  }
  vec_release(&kept);
  return found;
}

static bool last_matters(const struct step_simplifier *t) {
  uint32_t p = t->claim->property;
  return t->claim->error || p == NO_PROPERTY || t->model->properties[p].step;
}

static void begin(struct order_search *o) {
  struct order_prefix nothing = {SIZE_MAX, 0, 0, config_copy(o->simplifier->model, o->simplifier->initial),
                                 memory_alloc(o->run->n + 1)};
  vec_push(&o->nodes, nothing);
}

void step_simplifier_order(struct step_simplifier *t, events *run) {
  struct order_search o = {.simplifier = t, .run = run, .last_stays = last_matters(t)};
  events best = {0};
  size_t n = run->n, layer = 0, width = n > 0 ? MOST_WORK / (n * n) : 0;
  width = width > WIDEST ? WIDEST : width < NARROWEST ? NARROWEST : width;
  o.before = memory_alloc((n + 1) * sizeof *o.before);
  o.after = memory_alloc((n + 1) * sizeof *o.after);
  bool ok = note_effects(&o);
  begin(&o);
  for (size_t placed = 0; placed < n && ok && !step_simplifier_exhausted(t); placed++) {
    size_t end = o.nodes.n;
    extend_layer(&o, layer, end, placed);
    narrow(&o, end, width);
    layer = end;
    ok = o.nodes.n > layer;
  }
  if (ok && n > 0 && !step_simplifier_exhausted(t) && choose(&o, layer, cost_of(&o), &best))
    memcpy(run->at, best.at, n * sizeof *run->at);
  for (size_t i = 0; i < o.nodes.n; i++)
    forget(&o.nodes.at[i]);
  for (size_t i = 0; i < n; i++) {
    memory_free(o.before[i]);
    memory_free(o.after[i]);
  }
  vec_release(&o.nodes);
  vec_release(&best);
  memory_free(o.before);
  memory_free(o.after);
}
