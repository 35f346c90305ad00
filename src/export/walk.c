#include "export/walk.h"

#include "base/intern.h"

#include <string.h>

struct step { /* one rule in one state, its choices so far */
  struct walk *walk;
  const struct rule *rule;
  uint32_t number, from;
  const int64_t *state;
  int64_t *choice;
  int64_t *value;     /* by wire, of this choice */
  uint32_t *computed; /* by wire: in which round of computing */
  uint32_t now;
  int64_t *last;      /* by guard: the last choice that it needs */
  int64_t *next;
};

static const struct gate_node *node_at(const struct walk *w, wire x) { return node_of(&w->program->circuit, x); }

static int64_t compute(struct step *s, wire x);

static int64_t compute_node(struct step *s, const struct gate_node *n) {
  int64_t a;
  switch (n->gate) {
  case GATE_NUMBER: return n->number;
  case GATE_CELL: return s->state[s->walk->first[n->index]];
  case GATE_PARAM: return s->choice[n->index];
  case GATE_READ:
    a = compute(s, n->kid[0]);
    if (a < 0 || a >= s->walk->program->cells.at[n->index].length)
      return 0;
    return s->state[s->walk->first[n->index] + a];
  case GATE_ADD: return compute(s, n->kid[0]) + compute(s, n->kid[1]);
  case GATE_SUB: return compute(s, n->kid[0]) - compute(s, n->kid[1]);
  case GATE_MUL: return compute(s, n->kid[0]) * compute(s, n->kid[1]);
  case GATE_DIV:
  case GATE_MOD:
    a = compute(s, n->kid[1]);
    return a == 0 ? 0 : n->gate == GATE_DIV ? compute(s, n->kid[0]) / a : compute(s, n->kid[0]) % a;
  case GATE_NOT: return !compute(s, n->kid[0]);
  case GATE_AND: return compute(s, n->kid[0]) && compute(s, n->kid[1]);
  case GATE_OR: return compute(s, n->kid[0]) || compute(s, n->kid[1]);
  case GATE_EQ: return compute(s, n->kid[0]) == compute(s, n->kid[1]);
  case GATE_LT: return compute(s, n->kid[0]) < compute(s, n->kid[1]);
  case GATE_LE: return compute(s, n->kid[0]) <= compute(s, n->kid[1]);
  case GATE_IF: return compute(s, compute(s, n->kid[0]) ? n->kid[1] : n->kid[2]);
  case GATE_COUNT: return compute(s, n->kid[0]);
  }
  return 0;
}

static int64_t compute(struct step *s, wire x) {
  if (s->computed[x] != s->now) {
    s->value[x] = compute_node(s, node_at(s->walk, x));
    s->computed[x] = s->now;
  }
  return s->value[x];
}

static void last_choice(const struct walk *w, wire x, int64_t *last) {
  const struct gate_node *n = node_at(w, x);
  if (n->gate == GATE_PARAM && (int64_t)n->index > *last)
    *last = n->index;
  for (unsigned i = 0; i < gate_kids(n->gate); i++)
    last_choice(w, n->kid[i], last);
}

static void add_edge(struct step *s, uint32_t to, bool fails) {
  struct walk_edge e = {s->from, to, s->number, fails};
  for (size_t i = s->walk->edges.n; i-- > 0 && s->walk->edges.at[i].from == s->from;) {
    const struct walk_edge *other = &s->walk->edges.at[i];
    if (other->to == to && other->rule == s->number && other->fails == fails)
      return;
  }
  vec_push(&s->walk->edges, e);
}

static void commit(struct step *s) {
  struct walk *w = s->walk;
  memcpy(s->next, s->state, w->width * sizeof *s->next);
  for (size_t i = 0; i < s->rule->changes.n; i++) {
    const struct cell_change *c = &s->rule->changes.at[i];
    int64_t *at = &s->next[w->first[c->cell]];
    if (c->index == NO_WIRE) {
      *at = compute(s, c->value);
    } else if (compute(s, c->condition)) {
      at += compute(s, c->index);
      *at = c->absorbed ? c->by > 0 : *at + c->by;
    }
  }
  uint32_t to = intern_put(w->states, s->next, w->width);
  w->nstates = to + 1 > w->nstates ? to + 1 : w->nstates;
  add_edge(s, to, false);
}

static bool guards_hold(struct step *s, int64_t after) {
  for (size_t i = 0; i < s->rule->guards.n; i++)
    if (s->last[i] == after && !compute(s, s->rule->guards.at[i]))
      return false;
  return true;
}

static void choose(struct step *s, size_t i) {
  if (i < s->rule->choices.n) {
    for (int64_t v = s->rule->choices.at[i].lo; v <= s->rule->choices.at[i].hi; v++) {
      s->choice[i] = v;
      s->now++;
      if (guards_hold(s, (int64_t)i))
        choose(s, i + 1);
    }
    return;
  }
  if (!compute(s, s->rule->possible))
    return;
  for (size_t k = 0; k < s->rule->failures.n; k++)
    if (compute(s, s->rule->failures.at[k].when)) {
      add_edge(s, s->from, true);
      return;
    }
  commit(s);
}

static void expand(struct walk *w, uint32_t from, uint32_t number, struct step *s) {
  s->rule = &w->program->rules.at[number];
  s->number = number;
  s->from = from;
  s->state = walk_state(w, from);
  s->choice = memory_alloc((s->rule->choices.n + 1) * sizeof *s->choice);
  s->last = memory_alloc((s->rule->guards.n + 1) * sizeof *s->last);
  for (size_t i = 0; i < s->rule->guards.n; i++) {
    s->last[i] = -1;
    last_choice(w, s->rule->guards.at[i], &s->last[i]);
  }
  s->now++;
  if (guards_hold(s, -1))
    choose(s, 0);
  memory_free(s->choice);
  memory_free(s->last);
}

bool walk_all(struct walk *w, const struct program *g, uint64_t most) {
  *w = (struct walk){.program = g, .states = intern_new(), .first = memory_alloc((g->cells.n + 1) * sizeof *w->first)};
  for (size_t i = 0; i < g->cells.n; i++) {
    w->first[i] = w->width;
    w->width += g->cells.at[i].length ? g->cells.at[i].length : 1;
  }
  struct step s = {.walk = w};
  s.value = memory_alloc((g->circuit.nodes.n + 1) * sizeof *s.value);
  s.computed = memory_alloc((g->circuit.nodes.n + 1) * sizeof *s.computed);
  s.next = memory_alloc((w->width + 1) * sizeof *s.next);
  for (size_t i = 0; i < g->cells.n; i++)
    s.next[w->first[i]] = g->cells.at[i].truth || g->cells.at[i].length ? 0 : g->cells.at[i].lo;
  intern_put(w->states, s.next, w->width);
  w->nstates = 1;
  for (uint32_t i = 0; i < w->nstates && w->nstates <= most + 1; i++)
    for (uint32_t r = 0; r < g->rules.n; r++)
      expand(w, i, r, &s);
  memory_free(s.value);
  memory_free(s.computed);
  memory_free(s.next);
  return w->nstates <= most + 1;
}

const int64_t *walk_state(const struct walk *w, uint32_t state) { return intern_at(w->states, state); }

int64_t walk_value(const struct walk *w, uint32_t state, wire x) {
  size_t n = w->program->circuit.nodes.n + 1;
  struct step s = {.walk = (struct walk *)w, .state = walk_state(w, state), .now = 1};
  s.value = memory_alloc(n * sizeof *s.value);
  s.computed = memory_alloc(n * sizeof *s.computed);
  int64_t v = compute(&s, x);
  memory_free(s.value);
  memory_free(s.computed);
  return v;
}

void walk_release(struct walk *w) {
  intern_free(w->states);
  vec_release(&w->edges);
  memory_free(w->first);
}
