/* Collective operations on the host's transport: waiting without occupying a processor, answering requests meanwhile,
   messages of any size, and the end of a command. */
#include "search/ranks.h"

#include "base/memory.h"

#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MESSAGE_MAX ((size_t)1 << 30) /* bytes, see rondo_transport */

/* What rank 0 broadcasts to ranks waiting for the next search; any other value is the exit status. */
#define WORD_SEARCH UINT64_MAX

void ranks_init(struct ranks *r, const rondo_transport *t) {
  *r = (struct ranks){.transport = t, .rank = t->rank, .n = t->size};
}

void ranks_fail(struct ranks *r, const char *why) { r->transport->fail(r->transport->context, why); }

/* --- waiting --- */

/* A rank that does not respond so long after an interruption probably never will. If mpirun is the cause of the
   interruption, it kills all ranks after a second. */
#define LOST_SECONDS 0.3

struct rank_wait {
  uint32_t times;
  double since; /* when the interruption was seen; 0: none was */
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void check_lost(struct ranks *r, struct rank_wait *w) {
  if (!r->lost || !r->interrupt || !*r->interrupt || *r->interrupt == INTERRUPT_TIME)
    return;
  if (w->since == 0)
    w->since = now();
  if (now() - w->since < LOST_SECONDS)
    return;
  r->lost(r->lost_context);
  r->lost = NULL;
}

/* There may be fewer processors than ranks: a waiting rank yields, and soon sleeps. On a loaded machine, yielding alone
   would use up its share of the processor, and the rank that it waits for would get none: a request for a name, of
   which there are thousands, would take as long as all others run. */
static void wait_a_little(struct ranks *r, struct rank_wait *w) {
  if (++w->times < 100)
    return;
  sched_yield();
  check_lost(r, w);
  if (w->times > 200)
    usleep(w->times > 5000 ? 1000 : 20);
}

/* Waits until the pending operation completes. */
static void wait_for_all(struct ranks *r, bool serving) {
  for (struct rank_wait w = {0}; !r->transport->test(r->transport->context); wait_a_little(r, &w))
    if (serving)
      ranks_serve(r);
}

/* --- requests --- */

static void send_message(struct ranks *r, uint32_t to, const bytes *b) {
  if (b->n > MESSAGE_MAX)
    ranks_fail(r, "a message is too large");
  r->transport->send(r->transport->context, to, b->at, b->n);
}

static void receive_message(struct ranks *r, uint32_t from, size_t n, bytes *b) {
  vec_reserve(b, n + 1);
  r->transport->receive(r->transport->context, from, b->at, n);
  b->n = n;
}

void ranks_serve(struct ranks *r) {
  uint32_t from;
  size_t n;
  while (r->rank == 0 && r->transport->poll(r->transport->context, &from, &n)) {
    receive_message(r, from, n, &r->request);
    dictionary_answer(r, r->request.at, n, &r->reply);
    send_message(r, from, &r->reply);
  }
}

void ranks_ask(struct ranks *r, const bytes *request, bytes *reply) {
  uint32_t from;
  size_t n;
  send_message(r, 0, request);
  for (struct rank_wait w = {0}; !r->transport->poll(r->transport->context, &from, &n);)
    wait_a_little(r, &w);
  receive_message(r, from, n, reply);
}

/* --- collective operations --- */

void ranks_barrier(struct ranks *r) {
  r->transport->begin_barrier(r->transport->context);
  wait_for_all(r, true);
}

void ranks_allgather(struct ranks *r, const uint64_t *mine, uint32_t n, uint64_t *all) {
  r->transport->begin_gather(r->transport->context, mine, n, all);
  wait_for_all(r, false);
}

void ranks_broadcast(struct ranks *r, uint32_t from, void *at, size_t n) {
  for (size_t done = 0; done < n; done += MESSAGE_MAX) {
    size_t left = n - done;
    r->transport->begin_broadcast(r->transport->context, from, (char *)at + done,
                                  left < MESSAGE_MAX ? left : MESSAGE_MAX);
    wait_for_all(r, false);
  }
}

/* How many bytes each rank has for this one, limited so that they can be exchanged at once. */
static size_t exchange_sizes(struct ranks *r, const size_t *out_n, size_t *in_n) {
  uint64_t *sizes = memory_alloc(2 * r->n * sizeof *sizes);
  size_t *each = memory_alloc(r->n * sizeof *each), sum = 0;
  for (uint32_t i = 0; i < r->n; i++) {
    sizes[i] = out_n[i];
    each[i] = sizeof *sizes;
    if (out_n[i] > MESSAGE_MAX || (sum += out_n[i]) > MESSAGE_MAX)
      ranks_fail(r, "the messages of a rank are too large");
  }
  r->transport->begin_exchange(r->transport->context, sizes, each, sizes + r->n, each);
  wait_for_all(r, false);
  sum = 0;
  for (uint32_t i = 0; i < r->n; i++) {
    in_n[i] = (size_t)sizes[r->n + i];
    if (sizes[r->n + i] > MESSAGE_MAX || (sum += in_n[i]) > MESSAGE_MAX)
      ranks_fail(r, "the messages to a rank are too large");
  }
  memory_free(sizes);
  memory_free(each);
  return sum;
}

void ranks_exchange(struct ranks *r, const bytes *out, bytes *in, size_t *first) {
  size_t *out_n = memory_alloc(2 * r->n * sizeof *out_n), *in_n = out_n + r->n, at = 0;
  bytes all = {0};
  for (uint32_t i = 0; i < r->n; i++)
    out_n[i] = out[i].n;
  in->n = exchange_sizes(r, out_n, in_n);
  vec_reserve(in, in->n + 1);
  for (uint32_t i = 0; i < r->n; i++) {
    first[i] = at;
    at += in_n[i];
    vec_reserve(&all, all.n + out_n[i] + 1);
    if (out_n[i])
      memcpy(all.at + all.n, out[i].at, out_n[i]);
    all.n += out_n[i];
  }
  first[r->n] = at;
  r->transport->begin_exchange(r->transport->context, all.at, out_n, in->at, in_n);
  wait_for_all(r, false);
  vec_release(&all);
  memory_free(out_n);
}

/* --- between searches --- */

static uint64_t broadcast_word(struct ranks *r, uint64_t word) {
  ranks_broadcast(r, 0, &word, sizeof word);
  return word;
}

bool ranks_next_search(struct ranks *r) {
  if (r->ended)
    return false;
  uint64_t word = broadcast_word(r, WORD_SEARCH);
  r->ended = word != WORD_SEARCH;
  if (r->ended)
    r->status = (int)word;
  return !r->ended;
}

int ranks_finish(struct ranks *r, int status) {
  if (!r->ended) {
    uint64_t word = broadcast_word(r, (uint64_t)status);
    if (word == WORD_SEARCH)
      ranks_fail(r, "ranks have lost each other");
    r->status = (int)word;
  }
  return r->status;
}
