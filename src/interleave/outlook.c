/* What of its sight a process can make use of, by its local state: where no action can be asked that takes a message the
   channels into it do not count, and shared memory only as far as actions that can be asked read or write it. */
#include "interleave/interleave_space.h"

#include "model/flow.h"

#include <string.h>

#define GLOBALS_MOST 64
#define OVERLOOKED_BITS 14 /* of a local state's name; with more of them everything counts on the short way */

static bool look_global(void *context, const struct node *n) {
  uint64_t *uses = context;
  if (n->op == NODE_GLOBAL)
    *uses |= UINT64_C(1) << n->index;
  else if (!op_is_known(n->op))
    *uses = UINT64_MAX;
  return true;
}

void outlooks_init(struct interleave *s) {
  struct mover *v = &s->mover;
  const struct model *m = s->model;
  v->outlooks = arena_array(&s->arena, m->nroles + 1, sizeof *v->outlooks);
  v->memory_used = arena_array(&s->arena, m->nroles + 1, sizeof *v->memory_used);
  v->overlooked = arena_array(&s->arena, m->nroles + 1, sizeof *v->overlooked);
  v->always_used = m->nglobals > GLOBALS_MOST || s->recovers ? UINT64_MAX : 0;
  for (uint32_t r = 0; r < m->nroles && !v->always_used; r++) /* who can send to whom may depend on it */
    if (m->roles[r].graph)
      node_walk_deep(m, m->roles[r].graph, look_global, &v->always_used);
}

void outlooks_release(struct interleave *s) {
  for (uint32_t r = 0; r < s->model->nroles; r++) {
    vec_release(&s->mover.outlooks[r]);
    memory_free(s->mover.overlooked[r]);
  }
}

size_t outlooks_bytes(const struct interleave *s) {
  size_t bytes = 0;
  for (uint32_t r = 0; r < s->model->nroles; r++)
    bytes += s->mover.outlooks[r].cap * sizeof(struct outlook);
  return bytes;
}

/* Messages that arrive, get lost or are forgotten are of concern whoever takes them. */
static bool always_hears(const struct interleave *s) {
  return s->meaning->semantics != SEMANTICS_M || s->loses || s->forgets_messages || s->stuck_channels;
}

struct outlook outlook_of(struct interleave *s, uint32_t p, content local) {
  struct mover *v = &s->mover;
  uint32_t r = s->role_of[p];
  const struct role *role = &s->model->roles[r];
  while (v->outlooks[r].n <= local)
    vec_push(&v->outlooks[r], (struct outlook){0});
  struct outlook *o = &v->outlooks[r].at[local];
  if (o->known)
    return *o;
  uint32_t n;
  const value *values = content_values(&s->cells, p, local, &n);
  *o = (struct outlook){.known = true, .hears = always_hears(s), .uses = s->frozen ? UINT64_MAX : v->always_used};
  memcpy(s->steps.local, values, n * sizeof *values);
  local_unblank(&s->cells, r, s->steps.local);
  for (uint32_t a = 0; a < role->nactions; a++) {
    if (!action_open(s->model, r, s->steps.local, a))
      continue;
    const struct action_use *use = &s->use->of[r][a];
    o->hears |= role->actions[a].trigger != TRIGGER_NONE;
    o->gathers |= role->actions[a].trigger == TRIGGER_QUORUM;
    for (uint32_t g = 0; g < s->model->nglobals && g < GLOBALS_MOST; g++)
      o->uses |= (uint64_t)(use->reads_shared[g] || use->writes_shared[g]) << g;
  }
  return *o;
}

/* --- as bits of keys --- */

static uint64_t memory_bits(const struct interleave *s, uint32_t global) {
  const struct key_window *memory = &s->keys.memory;
  const struct key_field *f = &s->keys.field[s->cells.global[global]];
  return f->width ? ((UINT64_C(1) << f->width) - 1) << (f->word * 64 + f->shift - memory->word * 64 - memory->shift) : 0;
}

void overlooked_forget(struct interleave *s) {
  struct mover *v = &s->mover;
  for (uint32_t r = 0; r < s->model->nroles; r++) {
    memory_free(v->overlooked[r]);
    v->memory_used[r] = 0;
    for (uint32_t g = 0; g < s->model->nglobals && s->keys.memory.fits; g++)
      v->memory_used[r] |= s->steps.used[r][g] ? memory_bits(s, g) : 0;
    uint32_t width = s->model->roles[r].count ? s->keys.field[s->model->roles[r].first].width : 0;
    v->overlooked[r] = width && width <= OVERLOOKED_BITS ? memory_alloc(sizeof *v->overlooked[r] << width) : NULL;
  }
}

void overlooked_note(struct interleave *s, uint32_t p, content local, const struct outlook *o) {
  bool fits = s->keys.memory.fits;
  struct overlooked *of = s->mover.overlooked[s->role_of[p]];
  if (!of)
    return;
  of += local;
  of->window = o->hears ? 0 : ~((UINT64_C(1) << s->keys.field[p].width) - 1);
  of->memory = fits ? UINT64_MAX : 0;
  for (uint32_t g = 0; g < s->model->nglobals && fits; g++)
    if (g >= GLOBALS_MOST || o->uses >> g & 1)
      of->memory &= ~memory_bits(s, g);
}
