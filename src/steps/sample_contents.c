/* A few random walks before the search, so that most contents have names when keys are laid out. Keys are then as short
   as the names allow and seldom need a new layout. Only the names are kept. */
#include "steps/sample_contents.h"

#include "base/hash.h"
#include "steps/step_initial.h"
#include "steps/step_successors.h"
#include "steps/step_system_internal.h"

#include <string.h>

#define STEPS_MOST 20000
#define STEPS_IDLE 1500 /* steps without a new name */
#define WALK_LONGEST 150
#define STARTS_MAX 200

struct content_sampler {
  struct step_system *system;
  uint64_t random;
  uint64_t ndrawn;  /* successors seen so far in this step */
  uint64_t *at;     /* the sampled state */
  uint64_t *starts; /* the first initial states, computed once */
  uint64_t nstarts;
};

static uint64_t draw(struct content_sampler *t, uint64_t n) {
  t->random = hash_mix(t->random + 1, 0xD1B54A32D192ED03u);
  return t->random % n;
}

static size_t key_room(const struct content_sampler *t) { return t->system->keys.nwords + 2; }

/* Each successor is sampled with the same probability (reservoir sampling). */
static bool draw_successor(void *context, const struct state *state, const struct edge *edge) {
  struct content_sampler *t = context;
  if (!edge->error && draw(t, ++t->ndrawn) == 0)
    keys_load(&t->system->keys, state, t->at);
  return true;
}

static bool add_start(void *context, const struct state *state, const struct edge *edge) {
  struct content_sampler *t = context;
  if (edge->error)
    return true;
  keys_load(&t->system->keys, state, t->starts + t->nstarts++ * key_room(t));
  return t->nstarts < STARTS_MAX;
}

static size_t names(const struct step_system *s) {
  size_t n = 0;
  for (uint32_t t = 0; t < s->cells.ntables; t++)
    n += intern_count(s->cells.tables[t]);
  return n;
}

static bool walk_step(struct content_sampler *t) {
  struct step_system *s = t->system;
  memcpy(s->words, t->at, s->keys.nwords * sizeof *s->words);
  t->ndrawn = 0;
  move_successors(s, STEPS_ALL, draw_successor, t);
  return t->ndrawn > 0 && !s->base.restart;
}

static void walk_start(struct content_sampler *t) {
  memcpy(t->at, t->starts + draw(t, t->nstarts) * key_room(t), key_room(t) * sizeof *t->at);
}

void sample_contents(struct step_system *s) {
  struct content_sampler t = {.system = s};
  t.at = memory_alloc(key_room(&t) * sizeof *t.at);
  t.starts = memory_alloc(STARTS_MAX * key_room(&t) * sizeof *t.starts);
  step_system_initial(s, add_start, &t);
  size_t known = names(s);
  for (uint32_t steps = 0, idle = 0; t.nstarts > 0 && !s->base.restart && steps < STEPS_MOST && idle < STEPS_IDLE;) {
    walk_start(&t);
    for (uint32_t length = 0; length < WALK_LONGEST && idle < STEPS_IDLE; length++, steps++) {
      bool more = walk_step(&t);
      idle = names(s) > known ? 0 : idle + 1;
      known = names(s);
      if (!more) {
        idle++; /* ensures termination if walks end immediately */
        break;
      }
    }
  }
  s->base.restart = false;
  memory_free(t.at);
  memory_free(t.starts);
}
