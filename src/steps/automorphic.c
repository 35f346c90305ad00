/* Automorphic processes can be exchanged without changing the state. They have the same steps, which lead to the same
   canonical states. */
#include "steps/automorphic.h"

#include "steps/step_system_internal.h"

#include <string.h>

static bool type_names_process(const struct type *t) { return type_contains_kind(t, TYPE_PROCESS); }

/* Can any value contain the identity of a process (of any role)? */
static bool values_name_processes(const struct model *m) {
  bool any = false;
  for (uint32_t r = 0; r < m->nroles; r++)
    for (uint32_t i = 0; i < m->roles[r].nvars; i++)
      any |= type_names_process(m->roles[r].vars[i].type);
  for (uint32_t i = 0; i < m->nglobals; i++)
    any |= type_names_process(m->globals[i].type);
  for (uint32_t i = 0; i < m->nmessages; i++)
    any |= type_names_process(m->messages[i].type);
  return any;
}

void automorphic_init(struct step_system *s) {
  const struct model *m = s->model;
  const struct licences *l = s->base.licences;
  struct automorphic_processes *t = &s->automorphic;
  if (!l->of[REDUCE_SYMMETRY].applied || !s->form.canonical)
    return;
  t->named = values_name_processes(m);
  t->role = arena_array(&s->arena, m->nroles + 1, sizeof *t->role);
  for (uint32_t r = 0; r < m->nroles; r++) {
    t->role[r] = m->roles[r].count > 1 && l->identity[r] <= IDENTITY_EQUALITY;
    t->any |= t->role[r];
  }
  t->to = arena_array(&s->arena, m->nprocesses + 1, sizeof *t->to);
  t->of = arena_array(&s->arena, m->nprocesses + 1, sizeof *t->of);
  t->row = arena_array(&s->arena, s->cells.ncells + 1, sizeof *t->row);
  t->swapped = arena_array(&s->arena, s->cells.ncells + 1, sizeof *t->swapped);
  for (uint32_t p = 0; p < m->nprocesses; p++)
    t->to[p] = p;
}

static bool same_channel(const struct step_system *s, uint32_t from, uint32_t to, uint32_t other_from,
                         uint32_t other_to) {
  uint32_t n = s->model->nprocesses;
  uint32_t a = s->cells.channel[(size_t)from * n + to], b = s->cells.channel[(size_t)other_from * n + other_to];
  return (a == NO_CELL) == (b == NO_CELL) && (a == NO_CELL || s->automorphic.row[a] == s->automorphic.row[b]);
}

static bool same_columns(const struct step_system *s, uint32_t p, uint32_t q) {
  if (s->automorphic.row[p] != s->automorphic.row[q])
    return false;
  if (!same_channel(s, p, p, q, q) || !same_channel(s, p, q, q, p))
    return false;
  for (uint32_t r = 0; r < s->model->nprocesses; r++)
    if (r != p && r != q && (!same_channel(s, p, r, q, r) || !same_channel(s, r, p, r, q)))
      return false;
  return true;
}

static bool are_automorphic(struct step_system *s, uint32_t p, uint32_t q) {
  struct automorphic_processes *t = &s->automorphic;
  if (!same_columns(s, p, q))
    return false;
  if (!t->named)
    return true;
  memcpy(t->swapped, t->row, s->cells.ncells * sizeof *t->swapped);
  t->to[p] = q;
  t->to[q] = p;
  canonical_rename(s->form.canonical, t->swapped, t->to, NULL);
  t->to[p] = p;
  t->to[q] = q;
  return !memcmp(t->swapped, t->row, s->cells.ncells * sizeof *t->row);
}

void automorphic_find(struct step_system *s, const uint64_t *words) {
  struct automorphic_processes *t = &s->automorphic;
  keys_unpack(&s->keys, words, t->row);
  for (uint32_t p = 0; p < s->model->nprocesses; p++) {
    const struct role *role = &s->model->roles[s->role_of[p]];
    t->of[p] = p;
    for (uint32_t q = role->first; q < p && t->role[s->role_of[p]] && t->of[p] == p; q++)
      if (t->of[q] == q && are_automorphic(s, q, p))
        t->of[p] = q;
  }
}
