/* Step simulation: does a hand-written counter system do all that the algorithm does?

   A concrete program walks through every state of an algorithm, for a few processes, and shows each
   as a view: the counters that it amounts to, and for each control its value, or that any will do.
   For every step from one view to the next, and every state of the counter system that fits the
   first, some moves (at most `depth`) must lead to a state that fits the second. The moves are
   those of interp/counter_run.c, with every amount up to the largest that can occur. */
#ifndef RONDO_TESTS_SIMULATION_H
#define RONDO_TESTS_SIMULATION_H

#include "base/hash.h"
#include "interp/counter_run.h"
#include "lang/typecheck_counters.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SIM_COUNTERS = 16, SIM_CONTROLS = 8, SIM_PARAMS = 8, ANY_VALUE = -1 };

struct sim_state {
  int64_t counters[SIM_COUNTERS], controls[SIM_CONTROLS];
};

struct view {
  int64_t counters[SIM_COUNTERS], controls[SIM_CONTROLS]; /* ANY_VALUE: any */
};

/* Every row once; its index is its name. */
struct sim_table {
  size_t size;
  VEC(char) rows;
  size_t n;
  VEC(uint32_t) slots; /* index + 1 */
};

typedef VEC(uint32_t) id_vec;

struct sim {
  struct counter_system *s;
  struct arena arena;
  int64_t params[SIM_PARAMS];
  int64_t largest; /* amount */
  unsigned depth;
  int flag, last; /* controls: where the flag is false, more can happen, so it may always be; where
                     it is true, it must be in the view, and `last` as there. -1: there are none */
  struct sim_table states, views, done; /* done: pairs of a state and a view that were confirmed */
  VEC(id_vec) next;                     /* by state */
  VEC(bool) expanded;
  VEC(id_vec) fits; /* by view: the states */
  size_t steps;
};

/* ---- tables ---- */

static void table_grow(struct sim_table *t) {
  size_t cap = t->slots.cap ? t->slots.cap * 2 : 1024;
  vec_release(&t->slots);
  vec_reserve(&t->slots, cap);
  t->slots.n = cap = t->slots.cap;
  memset(t->slots.at, 0, cap * sizeof *t->slots.at);
  for (uint32_t i = 0; i < t->n; i++) {
    size_t at = hash_bytes(t->rows.at + i * t->size, t->size) % cap;
    while (t->slots.at[at])
      at = (at + 1) % cap;
    t->slots.at[at] = i + 1;
  }
}

static uint32_t table_put(struct sim_table *t, const void *row, bool *fresh) {
  if (t->n * 2 >= t->slots.n)
    table_grow(t);
  size_t at = hash_bytes(row, t->size) % t->slots.n;
  for (; t->slots.at[at]; at = (at + 1) % t->slots.n)
    if (memcmp(t->rows.at + (t->slots.at[at] - 1) * t->size, row, t->size) == 0) {
      *fresh = false;
      return t->slots.at[at] - 1;
    }
  vec_reserve(&t->rows, t->rows.n + t->size);
  memcpy(t->rows.at + t->rows.n, row, t->size);
  t->rows.n += t->size;
  t->slots.at[at] = (uint32_t)++t->n;
  *fresh = true;
  return (uint32_t)t->n - 1;
}

static void table_free(struct sim_table *t) {
  vec_release(&t->rows);
  vec_release(&t->slots);
}

/* ---- the counter system ---- */

static struct counter_system *system_load(const char *path, struct arena *arena) {
  FILE *f = fopen(path, "rb");
  if (!f)
    fail_msg("cannot open %s", path);
  char *text = arena_alloc(arena, 1 << 20);
  struct source source = {path, text, fread(text, 1, (1 << 20) - 1, f)};
  fclose(f);
  struct diags diags;
  diags_init(&diags, &source);
  struct ast *tree = parse_file(&source, arena, &diags);
  struct counter_system *s = counters_typecheck(tree, &source, NULL, 0, &diags);
  diags_release(&diags);
  assert_non_null(s);
  return s;
}

/* Parameters in the order of the file, without those that are defined. */
static void sim_open(struct sim *m, const char *path, const int64_t *params, int64_t largest, unsigned depth) {
  *m = (struct sim){.largest = largest, .depth = depth, .flag = -1, .last = -1};
  arena_init(&m->arena);
  m->s = system_load(path, &m->arena);
  m->states.size = sizeof(struct sim_state);
  m->views.size = sizeof(struct view);
  m->done.size = 2 * sizeof(uint32_t);
  assert_true(m->s->ncounters <= SIM_COUNTERS && m->s->ncontrols <= SIM_CONTROLS && m->s->nparams <= SIM_PARAMS);
  for (uint32_t i = 0, k = 0; i < m->s->nparams; i++)
    if (!m->s->params[i].is)
      m->params[i] = params[k++];
  counter_params_hold(m->s, false, m->params); /* conditions aside: what is defined gets its value */
}

static void sim_close(struct sim *m) {
  for (size_t i = 0; i < m->next.n; i++)
    vec_release(&m->next.at[i]);
  for (size_t i = 0; i < m->fits.n; i++)
    vec_release(&m->fits.at[i]);
  vec_release(&m->next);
  vec_release(&m->fits);
  vec_release(&m->expanded);
  table_free(&m->states);
  table_free(&m->views);
  table_free(&m->done);
  counter_system_free(m->s);
  arena_release(&m->arena);
}

static uint32_t counter_named(const struct sim *m, const char *name) {
  for (uint32_t i = 0; i < m->s->ncounters; i++)
    if (strcmp(m->s->counters[i].name, name) == 0)
      return i;
  fail_msg("no counter %s", name);
  return 0;
}

/* Its values by label or number; -1: there is no such control. */
__attribute__((unused)) static int control_named(const struct sim *m, const char *name) {
  for (uint32_t i = 0; i < m->s->ncontrols; i++)
    if (strcmp(m->s->controls[i].name, name) == 0)
      return (int)i;
  return -1;
}

static uint32_t state_id(struct sim *m, const struct sim_state *s) {
  bool fresh;
  uint32_t id = table_put(&m->states, s, &fresh);
  if (fresh) {
    vec_push(&m->next, (id_vec){0});
    vec_push(&m->expanded, false);
  }
  return id;
}

static struct sim_state state_at(const struct sim *m, uint32_t id) {
  struct sim_state s;
  memcpy(&s, m->states.rows.at + id * m->states.size, sizeof s);
  return s;
}

/* ---- moves ---- */

/* The conjuncts of a guard that read no amount from `known` on are true? */
static bool may_hold(const struct term *t, const struct counter_values *v, uint32_t known) {
  if (t->op == TERM_AND)
    return may_hold(t->kid[0], v, known) && may_hold(t->kid[1], v, known);
  uint32_t reads = 0;
  const struct term *stack[64];
  int n = 0;
  stack[n++] = t;
  while (n) {
    const struct term *at = stack[--n];
    if (at->op == TERM_AMOUNT && at->index + 1 > reads)
      reads = at->index + 1;
    for (int i = 0; i < 3; i++)
      if (at->kid[i])
        stack[n++] = at->kid[i];
  }
  if (reads > known)
    return true;
  int64_t truth;
  return term_value(t, v, &truth) && truth;
}

static void try_amounts(struct sim *m, uint32_t from, uint32_t move, int64_t *amounts, uint32_t known) {
  struct sim_state before = state_at(m, from), after = {0};
  const struct counter_move *mv = &m->s->moves[move];
  struct counter_values v = {m->params, before.counters, before.controls, amounts};
  if (!may_hold(mv->guard, &v, known))
    return;
  if (known < mv->namounts) {
    for (amounts[known] = 0; amounts[known] <= m->largest; amounts[known]++)
      try_amounts(m, from, move, amounts, known + 1);
    return;
  }
  struct counter_state now = {before.counters, before.controls}, next = {after.counters, after.controls};
  if (counter_moves(m->s, move, m->params, &now, amounts, &next)) {
    uint32_t id = state_id(m, &after);
    vec_push(&m->next.at[from], id);
  }
}

static void expand(struct sim *m, uint32_t id) {
  int64_t amounts[16];
  if (m->expanded.at[id])
    return;
  for (uint32_t i = 0; i < m->s->nmoves; i++)
    try_amounts(m, id, i, amounts, 0);
  m->expanded.at[id] = true;
}

/* ---- views ---- */

static void add_fits(struct sim *m, uint32_t view, struct sim_state *s, const struct view *v, uint32_t control) {
  if (control == m->s->ncontrols) {
    if (m->flag >= 0 && v->controls[m->flag] != ANY_VALUE && s->controls[m->flag] &&
        (!v->controls[m->flag] || s->controls[m->last] != v->controls[m->last]))
      return;
    uint32_t id = state_id(m, s);
    vec_push(&m->fits.at[view], id);
    return;
  }
  const struct control *c = &m->s->controls[control];
  for (int64_t x = c->low; x <= c->high; x++)
    if (v->controls[control] == ANY_VALUE || v->controls[control] == x || (int)control == m->flag ||
        (int)control == m->last) {
      s->controls[control] = x;
      add_fits(m, view, s, v, control + 1);
    }
}

static uint32_t view_id(struct sim *m, const struct view *v) {
  bool fresh;
  uint32_t id = table_put(&m->views, v, &fresh);
  if (fresh) {
    struct sim_state s = {0};
    memcpy(s.counters, v->counters, sizeof s.counters);
    vec_push(&m->fits, (id_vec){0});
    add_fits(m, id, &s, v, 0);
  }
  return id;
}

/* All controls any, all counters zero. */
static struct view view_new(const struct sim *m) {
  struct view v = {0};
  for (uint32_t i = 0; i < m->s->ncontrols; i++)
    v.controls[i] = ANY_VALUE;
  return v;
}

static bool among(const id_vec *ids, uint32_t id) {
  for (size_t i = 0; i < ids->n; i++)
    if (ids->at[i] == id)
      return true;
  return false;
}

static void say_state(const struct sim *m, uint32_t id) {
  struct sim_state s = state_at(m, id);
  for (uint32_t i = 0; i < m->s->ncontrols; i++)
    print_error(" %s=%" PRId64, m->s->controls[i].name, s.controls[i]);
  for (uint32_t i = 0; i < m->s->ncounters; i++)
    print_error(" %s=%" PRId64, m->s->counters[i].name, s.counters[i]);
  print_error("\n");
}

/* Some state that fits is reached from that one. */
static bool reaches(struct sim *m, uint32_t from, uint32_t view) {
  id_vec seen = {0};
  bool found = false;
  size_t layer = 0, end = 1;
  vec_push(&seen, from);
  found = among(&m->fits.at[view], from);
  for (unsigned d = 0; d < m->depth && !found && layer < seen.n; d++) {
    for (; layer < end && !found; layer++) {
      uint32_t at = seen.at[layer];
      expand(m, at);
      for (size_t i = 0; i < m->next.at[at].n && !found; i++) {
        uint32_t next = m->next.at[at].at[i];
        found = among(&m->fits.at[view], next);
        if (!among(&seen, next))
          vec_push(&seen, next);
      }
    }
    end = seen.n;
  }
  vec_release(&seen);
  return found;
}

static void sim_step(struct sim *m, const struct view *before, const struct view *after) {
  uint32_t from = view_id(m, before), to = view_id(m, after);
  m->steps++;
  for (size_t i = 0; i < m->fits.at[from].n; i++) {
    uint32_t pair[2] = {m->fits.at[from].at[i], to};
    bool fresh;
    table_put(&m->done, pair, &fresh);
    if (!fresh || reaches(m, pair[0], to))
      continue;
    print_error("%s: no move matches a step\n  from", m->s->source.path);
    say_state(m, pair[0]);
    print_error("  to  ");
    say_state(m, m->fits.at[to].at[0]);
    fail();
  }
}

/* Some state that fits is a start of the property. */
static bool sim_starts(struct sim *m, const struct view *v) {
  uint32_t view = view_id(m, v);
  for (size_t i = 0; i < m->fits.at[view].n; i++) {
    struct sim_state s = state_at(m, m->fits.at[view].at[i]);
    struct counter_state now = {s.counters, s.controls};
    if (counter_starts(m->s, &m->s->properties[0], m->params, &now))
      return true;
  }
  return false;
}

/* All states that fit are unsafe. */
static bool sim_unsafe(struct sim *m, const struct view *v) {
  uint32_t view = view_id(m, v);
  for (size_t i = 0; i < m->fits.at[view].n; i++) {
    struct sim_state s = state_at(m, m->fits.at[view].at[i]);
    struct counter_state now = {s.counters, s.controls};
    if (!counter_unsafe(m->s, &m->s->properties[0], m->params, &now))
      return false;
  }
  return true;
}

#endif
