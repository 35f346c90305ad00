#include "export/state_graph.h"

#include "base/intern.h"

#include <string.h>

struct rule_instance { /* one rule in one state, with its choices so far */
  struct state_graph *walk;
  const struct rule *rule;
  uint32_t number, from;
  const int64_t *state;
  int64_t *choice;
  int64_t *value;     /* by expr_id, for the current choices */
  uint32_t *computed; /* by expr_id: the evaluation in which it was computed */
  uint32_t now;
  int64_t *last; /* by guard: the last choice that it needs */
  int64_t *next;
};

static const struct expr_node *node_at(const struct state_graph *w, expr_id x) {
  return node_of(&w->program->expr_graph, x);
}

static int64_t eval(struct rule_instance *s, expr_id x);

static int64_t eval_node(struct rule_instance *s, const struct expr_node *n) {
  int64_t a;
  switch (n->expr_kind) {
  case EXPR_NUMBER:
    return n->number;
  case EXPR_VARIABLE:
    return s->state[s->walk->first[n->index]];
  case EXPR_CHOICE:
    return s->choice[n->index];
  case EXPR_ARRAY_READ:
    a = eval(s, n->kid[0]);
    if (a < 0 || a >= s->walk->program->variables.at[n->index].length)
      return 0;
    return s->state[s->walk->first[n->index] + a];
  case EXPR_ADD:
    return eval(s, n->kid[0]) + eval(s, n->kid[1]);
  case EXPR_SUB:
    return eval(s, n->kid[0]) - eval(s, n->kid[1]);
  case EXPR_MUL:
    return eval(s, n->kid[0]) * eval(s, n->kid[1]);
  case EXPR_DIV:
  case EXPR_MOD:
    a = eval(s, n->kid[1]);
    return a == 0 ? 0 : n->expr_kind == EXPR_DIV ? eval(s, n->kid[0]) / a : eval(s, n->kid[0]) % a;
  case EXPR_NOT:
    return !eval(s, n->kid[0]);
  case EXPR_AND:
    return eval(s, n->kid[0]) && eval(s, n->kid[1]);
  case EXPR_OR:
    return eval(s, n->kid[0]) || eval(s, n->kid[1]);
  case EXPR_EQ:
    return eval(s, n->kid[0]) == eval(s, n->kid[1]);
  case EXPR_LT:
    return eval(s, n->kid[0]) < eval(s, n->kid[1]);
  case EXPR_LE:
    return eval(s, n->kid[0]) <= eval(s, n->kid[1]);
  case EXPR_ITE:
    return eval(s, eval(s, n->kid[0]) ? n->kid[1] : n->kid[2]);
  case EXPR_BOUNDED:
    return eval(s, n->kid[0]);
  }
  return 0;
}

static int64_t eval(struct rule_instance *s, expr_id x) {
  if (s->computed[x] != s->now) {
    s->value[x] = eval_node(s, node_at(s->walk, x));
    s->computed[x] = s->now;
  }
  return s->value[x];
}

static void add_edge(struct rule_instance *s, uint32_t to, bool fails) {
  struct state_graph_edge e = {s->from, to, s->number, fails};
  for (size_t i = s->walk->edges.n; i-- > 0 && s->walk->edges.at[i].from == s->from;) {
    const struct state_graph_edge *other = &s->walk->edges.at[i];
    if (other->to == to && other->rule == s->number && other->fails == fails)
      return;
  }
  vec_push(&s->walk->edges, e);
}

static void commit(struct rule_instance *s) {
  struct state_graph *w = s->walk;
  memcpy(s->next, s->state, w->width * sizeof *s->next);
  for (size_t i = 0; i < s->rule->changes.n; i++) {
    const struct variable_update *c = &s->rule->changes.at[i];
    int64_t *at = &s->next[w->first[c->cell]];
    if (c->index == NO_EXPR) {
      *at = eval(s, c->value);
    } else if (eval(s, c->condition)) {
      int64_t index = eval(s, c->index);
      if (index < 0 || index >= w->program->variables.at[c->cell].length) {
        add_edge(s, s->from, true);
        return;
      }
      at += index;
      *at = c->absorbed ? c->by > 0 : *at + c->by;
    }
  }
  uint32_t to = intern_put(w->states, s->next, w->width);
  w->nstates = to + 1 > w->nstates ? to + 1 : w->nstates;
  add_edge(s, to, false);
}

static bool guards_hold(struct rule_instance *s, int64_t after) {
  for (size_t i = 0; i < s->rule->guards.n; i++)
    if (s->last[i] == after && !eval(s, s->rule->guards.at[i]))
      return false;
  return true;
}

static void choose(struct rule_instance *s, size_t i) {
  if (i < s->rule->choices.n) {
    for (int64_t v = s->rule->choices.at[i].lo; v <= s->rule->choices.at[i].hi; v++) {
      s->choice[i] = v;
      s->now++;
      if (guards_hold(s, (int64_t)i))
        choose(s, i + 1);
    }
    return;
  }
  if (!eval(s, s->rule->possible))
    return;
  for (size_t k = 0; k < s->rule->failures.n; k++)
    if (eval(s, s->rule->failures.at[k].when)) {
      add_edge(s, s->from, true);
      return;
    }
  commit(s);
}

static void expand(struct state_graph *w, uint32_t from, uint32_t number, struct rule_instance *s) {
  s->rule = &w->program->rules.at[number];
  s->number = number;
  s->from = from;
  s->state = state_graph_state(w, from);
  s->choice = memory_alloc((s->rule->choices.n + 1) * sizeof *s->choice);
  s->last = memory_alloc((s->rule->guards.n + 1) * sizeof *s->last);
  for (size_t i = 0; i < s->rule->guards.n; i++)
    s->last[i] = (int64_t)node_at(w, s->rule->guards.at[i])->choices - 1;
  s->now++;
  if (guards_hold(s, -1))
    choose(s, 0);
  memory_free(s->choice);
  memory_free(s->last);
}

bool state_graph_build(struct state_graph *w, const struct program *g, uint64_t most) {
  *w = (struct state_graph){
      .program = g, .states = intern_new(), .first = memory_alloc((g->variables.n + 1) * sizeof *w->first)};
  for (size_t i = 0; i < g->variables.n; i++) {
    w->first[i] = w->width;
    w->width += g->variables.at[i].length ? g->variables.at[i].length : 1;
  }
  struct rule_instance s = {.walk = w};
  s.value = memory_alloc((g->expr_graph.nodes.n + 1) * sizeof *s.value);
  s.computed = memory_alloc((g->expr_graph.nodes.n + 1) * sizeof *s.computed);
  s.next = memory_alloc((w->width + 1) * sizeof *s.next);
  for (size_t i = 0; i < g->variables.n; i++)
    s.next[w->first[i]] = g->variables.at[i].truth || g->variables.at[i].length ? 0 : g->variables.at[i].lo;
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

const int64_t *state_graph_state(const struct state_graph *w, uint32_t state) { return intern_at(w->states, state); }

int64_t state_graph_eval(const struct state_graph *w, uint32_t state, expr_id x) {
  size_t n = w->program->expr_graph.nodes.n + 1;
  struct rule_instance s = {.walk = (struct state_graph *)w, .state = state_graph_state(w, state), .now = 1};
  s.value = memory_alloc(n * sizeof *s.value);
  s.computed = memory_alloc(n * sizeof *s.computed);
  int64_t v = eval(&s, x);
  memory_free(s.value);
  memory_free(s.computed);
  return v;
}

void state_graph_release(struct state_graph *w) {
  intern_free(w->states);
  vec_release(&w->edges);
  memory_free(w->first);
}
