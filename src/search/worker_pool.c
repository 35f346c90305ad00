/* Several threads at one layer: each has its own transition system, which shares its names with the others, and its own
   partition of the visited set. */
#include "search/visited_backend.h"

#include "base/memory.h"
#include "base/thread.h"

struct worker_pool {
  struct worker **all; /* the first one belongs to the search */
  uint32_t n;
  atomic_bool halt;
  pthread_mutex_t lock; /* of the frontier */
  /* Suspension: */
  pthread_mutex_t suspend_lock;
  pthread_cond_t over;
  uint32_t active, suspended;
  uint64_t suspensions; /* so far */
};

struct worker_pool *worker_pool_new(struct worker *first, uint32_t threads) {
  struct search *s = first->search;
  uint32_t n = threads < MAX_PARTITIONS ? threads : MAX_PARTITIONS;
  struct worker_pool *c = memory_alloc(sizeof *c);
  c->all = memory_alloc(n * sizeof *c->all);
  pthread_mutex_init(&c->lock, NULL);
  pthread_mutex_init(&c->suspend_lock, NULL);
  pthread_cond_init(&c->over, NULL);
  c->all[c->n++] = first;
  while (c->n < n) {
    struct system *space = first->space->ops->threads.clone(first->space);
    if (!space) {
      worker_pool_free(c);
      return NULL;
    }
    struct worker *w = worker_new(s, space, c->n);
    for (uint32_t i = 0; i < space->query->nproperties; i++)
      w->findings[i] = first->findings[i];
    w->error = first->error;
    w->halt = &c->halt;
    c->all[c->n++] = w;
  }
  first->halt = &c->halt;
  visited_share(s->visited_set, n);
  return c;
}

void worker_pool_detach(struct worker_pool *c) {
  if (c)
    c->all[0] = NULL;
}

/* The transition systems live as long as the findings, because they own the texts of errors. */
void worker_pool_free(struct worker_pool *c) {
  if (!c)
    return;
  for (uint32_t i = 1; i < c->n; i++) {
    struct system *space = c->all[i]->space;
    worker_free(c->all[i]);
    space->ops->free(space);
  }
  pthread_mutex_destroy(&c->lock);
  pthread_mutex_destroy(&c->suspend_lock);
  pthread_cond_destroy(&c->over);
  memory_free(c->all);
  memory_free(c);
}

size_t worker_pool_memory(const struct worker_pool *c) {
  size_t bytes = 0;
  for (uint32_t i = 1; i < c->n; i++)
    bytes += c->all[i]->memory;
  return bytes;
}

static void join_all(struct worker_pool *c) {
  for (uint32_t i = 1; i < c->n; i++) {
    worker_merge(c->all[0], c->all[i]);
    c->all[0]->space->ops->threads.join(c->all[0]->space, c->all[i]->space);
  }
}

/* All workers are suspended or done. */
static void suspend_all(struct worker_pool *c) {
  struct search *s = c->all[0]->search;
  if (!c->halt) {
    join_all(c);
    s->backend->suspend_all(s, c->all, c->n);
  }
  s->pause = false;
  c->suspensions++;
  pthread_cond_broadcast(&c->over);
}

void worker_pool_suspend(struct worker_pool *c) {
  pthread_mutex_lock(&c->suspend_lock);
  uint64_t this = c->suspensions;
  if (++c->suspended == c->active)
    suspend_all(c);
  while (c->suspensions == this)
    pthread_cond_wait(&c->over, &c->suspend_lock);
  c->suspended--;
  pthread_mutex_unlock(&c->suspend_lock);
}

static void leave(struct worker_pool *c) {
  pthread_mutex_lock(&c->suspend_lock);
  if (--c->active > 0 && c->suspended == c->active && c->all[0]->search->pause)
    suspend_all(c);
  pthread_mutex_unlock(&c->suspend_lock);
}

struct task {
  struct worker *worker;
  bool (*work)(struct worker *);
  struct memory_handler memory; /* of the thread that started it */
};

static void *do_task(void *context) {
  struct task *t = context;
  memory_on_exhausted(t->memory.exhausted, t->memory.context);
  t->worker->made = t->work(t->worker);
  if (!t->worker->made)
    *t->worker->halt = true;
  leave(t->worker->search->threads.pool);
  return NULL;
}

bool worker_pool_run(struct worker_pool *c, bool (*work)(struct worker *), const struct layer *layer,
                     const struct layer *next) {
  struct worker *first = c->all[0];
  struct frontier frontier;
  first->search->backend->open_frontier(&frontier, first->search, layer);
  frontier.lock = &c->lock;
  struct task *tasks = memory_alloc(c->n * sizeof *tasks);
  pthread_t *threads = memory_alloc(c->n * sizeof *threads);
  uint32_t started = 1;
  c->halt = false;
  c->active = c->n;
  for (uint32_t i = 0; i < c->n; i++) {
    struct worker *w = c->all[i];
    tasks[i] = (struct task){w, work, memory_handler()};
    w->shared = true;
    w->taken.frontier = &frontier;
    w->next = next;
    w->taken.at = w->taken.n = 0;
    w->rounds = first->rounds;
    w->space->decided = first->space->decided;
    w->end = first->end; /* a limit may have been reached earlier, with states left to check */
    w->made = true;
  }
  while (started < c->n && thread_start(&threads[started], do_task, &tasks[started]))
    started++;
  for (uint32_t i = started; i < c->n; i++) /* continue with fewer threads */
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
