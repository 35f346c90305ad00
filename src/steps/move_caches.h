/* Caches of the moves of processes, by bits of the key: for one process, or jointly for adjacent ones. */
#ifndef RONDO_STEPS_MOVE_CACHES_H
#define RONDO_STEPS_MOVE_CACHES_H

#include "steps/moves.h"
#include "steps/process_moves.h"
#include "steps/relevant_fields.h"
#include "steps/step_system_internal.h"

#define DIRECT_BITS 16
struct move_cache_entry {
  uint64_t window, memory;
  struct short_moves *moves;
  uint32_t byzantine;
};
/* Cache of the moves of a process, by bits of the key. At most one of `direct` and `cache` is not NULL. */
struct move_cache {
  /* a table indexed by window and shared memory, if they are short and nothing else matters */
  struct short_moves **direct;
  struct move_cache_entry *cache; /* NULL: not worthwhile yet, or the window does not fit */
  struct key_window window;
  uint32_t role;
  uint32_t bits; /* log2 of the cache size */
};

static inline struct move_cache_entry *move_cache_slot(const struct move_cache *g, uint64_t window, uint64_t memory,
                                                       uint32_t byzantine) {
  uint64_t h = window * 0x9E3779B97F4A7C15u + (memory ^ (uint64_t)byzantine << 40) * 0xC2B2AE3D27D4EB4Fu;
  return &g->cache[h >> (64 - g->bits)];
}
static inline bool move_cache_hit(const struct move_cache_entry *c, uint64_t window, uint64_t memory,
                                  uint32_t byzantine) {
  return c->moves && c->window == window && c->memory == memory && c->byzantine == byzantine;
}

/* Caches for several processes whose fields are adjacent in the key. Most of the time most of them have no move, so one
   look-up serves all. Without them, Paxos takes 5 % more instructions at 400 000 states. */
#define JOINT_PROCESSES_MAX 3
struct joint_cache_entry { /* the moves of the processes that have any, then NULLs */
  uint64_t window;         /* 1 + the window; 0: empty */
  struct short_moves *moves[JOINT_PROCESSES_MAX];
};
struct joint_cache {
  uint32_t first, n;
  bool by_message;                /* one process, looked up by message */
  const struct move_cache *alone; /* one process, looked up in its own cache; else NULL */
  struct key_window window;
  struct joint_cache_entry *cache; /* NULL: look up each process separately */
  uint32_t bits;                   /* log2 of the cache size */
  uint32_t missed;
};
static inline struct joint_cache_entry *joint_cache_slot(const struct joint_cache *y, uint64_t window) {
  return &y->cache[window * 0x9E3779B97F4A7C15u >> (64 - y->bits)];
}

void move_caches_release(struct step_system *);
void move_caches_clear(struct step_system *); /* after a new key layout */
/* Makes the joint caches for the current key layout, or enlarges them as the search proceeds; move_cache_grow does the
   same for one process. */
__attribute__((cold)) void joint_caches_make(struct step_system *);
void move_cache_grow(struct step_system *, uint32_t p);

static inline struct short_moves **move_cache_direct_slot(const struct step_system *s, const struct move_cache *g) {
  return &g->direct[key_window(&g->window, s->words) | s->scratch.memory[g->role] << g->window.width];
}

/* NULL: not in the cache. */
static inline struct short_moves *moves_in_cache(const struct step_system *s, const struct move_cache *g,
                                                 uint32_t byzantine) {
  if (g->direct)
    return *move_cache_direct_slot(s, g);
  if (g->cache) {
    uint64_t memory = s->scratch.memory[g->role], window = key_window(&g->window, s->words);
    const struct move_cache_entry *known = move_cache_slot(g, window, memory, byzantine);
    if (move_cache_hit(known, window, memory, byzantine))
      return known->moves;
  }
  return NULL;
}

/* Like moves_of, but looks into the cache first. */
static inline struct moves *moves_at(struct step_system *s, uint32_t p, uint32_t byzantine) {
  const struct short_moves *known = moves_in_cache(s, &s->moves_store.move_caches[p], byzantine);
  return known ? known->of : moves_of(s, p, byzantine);
}

#endif
