/* Several threads at one layer: each has a space that shares its names with the others', and a lane of the store. */
#include "search/spill.h"

#include "base/memory.h"
#include "base/thread.h"

struct crew {
  struct sweep **all; /* the first one is the search's own */
  uint32_t n;
  atomic_bool halt;
  pthread_mutex_t lock; /* of the frontier */
  /* Resting: */
  pthread_mutex_t rest;
  pthread_cond_t over;
  uint32_t active, resting;
  uint64_t rests; /* so far */
};

struct crew *crew_new(struct sweep *first, uint32_t threads) {
  struct search *s = first->search;
  uint32_t n = threads < STORE_LANES ? threads : STORE_LANES;
  struct crew *c = memory_alloc(sizeof *c);
  c->all = memory_alloc(n * sizeof *c->all);
  pthread_mutex_init(&c->lock, NULL);
  pthread_mutex_init(&c->rest, NULL);
  pthread_cond_init(&c->over, NULL);
  c->all[c->n++] = first;
  while (c->n < n) {
    struct space *space = first->space->ops->another(first->space);
    if (!space) {
      crew_free(c);
      return NULL;
    }
    struct sweep *w = sweep_new(s, space, c->n);
    for (uint32_t i = 0; i < space->question->nproperties; i++)
      w->findings[i] = first->findings[i];
    w->error = first->error;
    w->halt = &c->halt;
    c->all[c->n++] = w;
  }
  first->halt = &c->halt;
  store_share(s->store, n);
  return c;
}

void crew_dismiss(struct crew *c) {
  if (c)
    c->all[0] = NULL;
}

/* The spaces live as long as what was found: errors have their texts there. */
void crew_free(struct crew *c) {
  if (!c)
    return;
  for (uint32_t i = 1; i < c->n; i++) {
    struct space *space = c->all[i]->space;
    sweep_free(c->all[i]);
    space->ops->free(space);
  }
  pthread_mutex_destroy(&c->lock);
  pthread_mutex_destroy(&c->rest);
  pthread_cond_destroy(&c->over);
  memory_free(c->all);
  memory_free(c);
}

size_t crew_memory(const struct crew *c) {
  size_t bytes = 0;
  for (uint32_t i = 1; i < c->n; i++)
    bytes += c->all[i]->memory;
  return bytes;
}

static void join_all(struct crew *c) {
  for (uint32_t i = 1; i < c->n; i++) {
    sweep_join(c->all[0], c->all[i]);
    c->all[0]->space->ops->join(c->all[0]->space, c->all[i]->space);
  }
}

/* Everybody rests, or is done. */
static void write_down(struct crew *c) {
  struct search *s = c->all[0]->search;
  if (!c->halt) {
    join_all(c);
    if (s->spill_folder)
      spill_make_room(s, c->all, c->n);
    else
      checkpoint_write(s, c->all, c->n);
    if (s->ending != SEARCH_EXHAUSTED)
      sweep_stop(c->all[0], (enum search_end)s->ending);
  }
  s->pause = false;
  c->rests++;
  pthread_cond_broadcast(&c->over);
}

void crew_rest(struct crew *c) {
  pthread_mutex_lock(&c->rest);
  uint64_t this = c->rests;
  if (++c->resting == c->active)
    write_down(c);
  while (c->rests == this)
    pthread_cond_wait(&c->over, &c->rest);
  c->resting--;
  pthread_mutex_unlock(&c->rest);
}

static void leave(struct crew *c) {
  pthread_mutex_lock(&c->rest);
  if (--c->active > 0 && c->resting == c->active && c->all[0]->search->pause)
    write_down(c);
  pthread_mutex_unlock(&c->rest);
}

struct task {
  struct sweep *sweep;
  bool (*work)(struct sweep *);
  struct memory_handler memory; /* of who started it */
};

static void *do_task(void *context) {
  struct task *t = context;
  memory_on_exhausted(t->memory.exhausted, t->memory.context);
  t->sweep->made = t->work(t->sweep);
  if (!t->sweep->made)
    *t->sweep->halt = true;
  leave(t->sweep->search->crew);
  return NULL;
}

bool crew_do(struct crew *c, bool (*work)(struct sweep *), const struct layer *layer, const struct layer *next) {
  struct sweep *first = c->all[0];
  struct frontier frontier;
  frontier_of(&frontier, first->search, layer);
  frontier.lock = &c->lock;
  struct task *tasks = memory_alloc(c->n * sizeof *tasks);
  pthread_t *threads = memory_alloc(c->n * sizeof *threads);
  uint32_t started = 1;
  c->halt = false;
  c->active = c->n;
  for (uint32_t i = 0; i < c->n; i++) {
    struct sweep *w = c->all[i];
    tasks[i] = (struct task){w, work, memory_handler()};
    w->shared = true;
    w->frontier = &frontier;
    w->next = next;
    w->at = w->ntaken = 0;
    w->rounds = first->rounds;
    w->space->decided = first->space->decided;
    w->end = first->end; /* a limit may be behind us, with something left to check */
    w->made = true;
  }
  while (started < c->n && thread_begin(&threads[started], do_task, &tasks[started]))
    started++;
  for (uint32_t i = started; i < c->n; i++) /* fewer will do */
    leave(c);
  do_task(&tasks[0]);
  for (uint32_t i = 1; i < started; i++)
    thread_join(threads[i]);
  join_all(c);
  frontier_release(&frontier);
  first->shared = false;
  memory_free(tasks);
  memory_free(threads);
  return first->made;
}
