/* Which fields of the state affect the moves of a process, by its local state. Its inbound channels matter only if some
   action that takes messages may be enabled. Shared memory matters only as far as such actions read or write it. */
#include "steps/relevant_fields.h"

#include "analysis/action_use.h"
#include "analysis/dataflow.h"
#include "steps/process_moves.h"
#include "steps/step_system_internal.h"

#include <string.h>

#define GLOBALS_MOST 64

static bool look_global(void *context, const struct node *n) {
  uint64_t *uses = context;
  if (n->op == NODE_GLOBAL)
    *uses |= UINT64_C(1) << n->index;
  else if (!op_is_known(n->op))
    *uses = UINT64_MAX;
  return true;
}

void relevant_fields_init(struct step_system *s) {
  struct moves_store *v = &s->moves_store;
  const struct model *m = s->model;
  v->relevant_by_state = arena_array(&s->arena, m->nroles + 1, sizeof *v->relevant_by_state);
  v->memory_used = arena_array(&s->arena, m->nroles + 1, sizeof *v->memory_used);
  v->always_used = m->nglobals > GLOBALS_MOST || s->faults.recovers ? UINT64_MAX : 0;
  for (uint32_t r = 0; r < m->nroles && v->always_used != UINT64_MAX; r++) /* who can send to whom may depend on
                                                                              globals */
    if (m->roles[r].graph)
      node_walk_deep(m, m->roles[r].graph, look_global, &v->always_used);
}

void relevant_fields_release(struct step_system *s) {
  for (uint32_t r = 0; r < s->model->nroles; r++)
    vec_release(&s->moves_store.relevant_by_state[r]);
}

size_t relevant_fields_bytes(const struct step_system *s) {
  size_t bytes = 0;
  for (uint32_t r = 0; r < s->model->nroles; r++)
    bytes += s->moves_store.relevant_by_state[r].cap * sizeof(struct process_relevant_fields);
  return bytes;
}

/* Messages that arrive, are lost or are dropped matter even if no action takes them. */
static bool always_reads_channels(const struct step_system *s) {
  return s->interp->semantics != SEMANTICS_M || s->faults.loses || s->dead.drops_dead_messages ||
         s->dead.drops_blocked_messages;
}

struct process_relevant_fields relevant_fields_of(struct step_system *s, uint32_t p, content local) {
  struct moves_store *v = &s->moves_store;
  uint32_t r = s->role_of[p];
  const struct role *role = &s->model->roles[r];
  while (v->relevant_by_state[r].n <= local)
    vec_push(&v->relevant_by_state[r], (struct process_relevant_fields){0});
  struct process_relevant_fields *o = &v->relevant_by_state[r].at[local];
  if (o->known)
    return *o;
  uint32_t n;
  const value *values = content_values(&s->cells, p, local, &n);
  *o = (struct process_relevant_fields){.known = true,
                                        .reads_channels = always_reads_channels(s),
                                        .uses = s->dead.constant_memory ? UINT64_MAX : v->always_used};
  memcpy(s->steps.local, values, n * sizeof *values);
  local_fill_dont_care(s->model, r, s->steps.local);
  for (uint32_t a = 0; a < role->nactions; a++) {
    if (!action_open(s->model, r, s->steps.local, a))
      continue;
    const struct action_use *use = &s->use->of[r][a];
    o->reads_channels |= role->actions[a].trigger != TRIGGER_NONE;
    o->reads_quorum |= role->actions[a].trigger == TRIGGER_QUORUM;
    for (uint32_t g = 0; g < s->model->nglobals && g < GLOBALS_MOST; g++)
      o->uses |= (uint64_t)(use->reads_shared[g] || use->writes_shared[g]) << g;
  }
  return *o;
}

static uint64_t memory_bits(const struct step_system *s, uint32_t global) {
  const struct key_window *memory = &s->keys.memory;
  const struct key_field *f = &s->keys.field[s->cells.global[global]];
  return f->width ? ((UINT64_C(1) << f->width) - 1) << (f->word * 64 + f->shift - memory->word * 64 - memory->shift)
                  : 0;
}

void memory_used_locate(struct step_system *s) {
  struct moves_store *v = &s->moves_store;
  for (uint32_t r = 0; r < s->model->nroles; r++) {
    v->memory_used[r] = 0;
    for (uint32_t g = 0; g < s->model->nglobals && s->keys.memory.fits; g++)
      v->memory_used[r] |= s->steps.used[r][g] ? memory_bits(s, g) : 0;
  }
}
