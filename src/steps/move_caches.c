/* Caches of moves by bits of the key. */
#include "steps/move_caches.h"

#include "steps/per_message.h"
#include "steps/process_moves.h"
#include "steps/relevant_fields.h"
#include "steps/step_system_internal.h"

static void joint_caches_clear(struct moves_store *v) {
  for (uint32_t i = 0; i < v->njoint_caches; i++)
    memory_free(v->joint_caches[i].cache);
  v->njoint_caches = 0;
}

void move_caches_release(struct step_system *s) {
  for (uint32_t p = 0; p < s->model->nprocesses; p++) {
    memory_free(s->moves_store.move_caches[p].cache);
    memory_free(s->moves_store.move_caches[p].direct);
  }
  joint_caches_clear(&s->moves_store);
}

void move_caches_clear(struct step_system *s) {
  move_caches_release(s);
  arena_clear(&s->moves_store.short_keyed); /* short moves are compiled again when they are needed */
  s->moves_store.short_bytes = 0;
  memory_used_locate(s);
  message_moves_clear(s);
  for (uint32_t p = 0; p < s->model->nprocesses; p++)
    s->moves_store.move_caches[p] = (struct move_cache){.window = s->keys.window[p], .role = s->role_of[p]};
}

#define JOINT_WIDTH_MAX 40 /* bits; wider windows hardly ever repeat */

/* From the first bit of one window to the last bit of the other. */
static struct key_window window_across(const struct key_window *first, const struct key_window *last) {
  uint32_t begin = first->word * 64 + first->shift, end = last->word * 64 + last->shift + last->width;
  struct key_window w = *first;
  w.fits = end - begin <= JOINT_WIDTH_MAX;
  w.width = (uint8_t)(w.fits ? end - begin : 0);
  w.mask = (UINT64_C(1) << w.width) - 1;
  return w;
}

static bool reads_own_window_only(const struct step_system *s, uint32_t p) {
  return !s->steps.uses[s->role_of[p]] && !s->faults.byzantine && s->keys.window[p].fits && s->keys.window[p].width > 0;
}

static void joint_caches_form(struct step_system *s) {
  struct moves_store *v = &s->moves_store;
  uint32_t n = s->model->nprocesses;
  for (uint32_t p = 0; p < n;) {
    struct joint_cache *joint_cache = &v->joint_caches[v->njoint_caches++];
    uint32_t first = p++;
    *joint_cache = (struct joint_cache){.first = first, .n = 1, .by_message = v->per_message[first].used};
    while (p < n && joint_cache->n < JOINT_PROCESSES_MAX && !joint_cache->by_message && !v->per_message[p].used &&
           reads_own_window_only(s, first) && reads_own_window_only(s, p)) {
      struct key_window w = window_across(&s->keys.window[first], &s->keys.window[p]);
      if (!w.fits)
        break;
      joint_cache->window = w;
      joint_cache->n++;
      p++;
    }
    if (joint_cache->n == 1 && !joint_cache->by_message)
      joint_cache->alone = &v->move_caches[first];
  }
}

void joint_caches_make(struct step_system *s) {
  struct moves_store *v = &s->moves_store;
  uint32_t bits = s->expanded < 1u << 17 ? 11 : s->expanded < 1u << 20 ? 12 : 14;
  if (v->njoint_caches == 0)
    joint_caches_form(s);
  for (uint32_t i = 0; i < v->njoint_caches; i++) {
    struct joint_cache *joint_cache = &v->joint_caches[i];
    if (joint_cache->n == 1 || (joint_cache->bits && !joint_cache->cache))
      continue;
    bool in_vain = s->expanded > 4096 && joint_cache->missed > s->expanded / 2;
    if (bits > joint_cache->bits || in_vain) {
      memory_free(joint_cache->cache);
      joint_cache->cache = in_vain ? NULL : memory_alloc(sizeof *joint_cache->cache << bits);
      joint_cache->bits = bits;
    }
  }
}

/* Caches grow with the number of expanded states and the number of distinct views. */
void move_cache_grow(struct step_system *s, uint32_t p) {
  struct move_cache *g = &s->moves_store.move_caches[p];
  const struct key_window *w = &s->keys.window[p];
  const struct key_window *memory = &s->keys.memory;
  uint32_t seen = w->width + (!s->steps.uses[s->role_of[p]] ? 0u : memory->fits ? memory->width : 64u);
  uint32_t bits = s->expanded < 64         ? 0
                  : s->expanded < 4096     ? 10
                  : s->expanded < 65536    ? 12
                  : s->expanded < 1u << 20 ? 14
                                           : 17;
  bool direct = bits >= 12 && seen <= DIRECT_BITS && !s->faults.byzantine;
  while (bits > 8 && !direct && (size_t)1 << bits > 4 * intern_count(s->moves_store.move_tables[p].seen))
    bits--;
  if (!w->fits || bits <= g->bits || g->direct)
    return;
  memory_free(g->cache);
  g->cache = NULL;
  g->bits = bits;
  if (direct)
    g->direct = memory_alloc(sizeof *g->direct << seen);
  else
    g->cache = memory_alloc(sizeof *g->cache << bits);
}
