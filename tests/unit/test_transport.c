/* Ranks without MPI: threads, each with a context of its own, on a rondo_transport in memory. They must find what one
   process finds. The transport is also an example of how to write one. */
#include "rondo.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define RANKS 3

struct posted { /* one rank's part of a collective operation */
  bool there;
  char *bytes;
  size_t n[RANKS]; /* for each rank */
};

struct operation {
  struct posted of[RANKS];
  unsigned over; /* ranks that are through with it */
};

struct message {
  uint32_t from, to;
  char *bytes;
  size_t n;
  struct message *next;
};

struct network { /* all of it below the lock */
  pthread_mutex_t lock;
  struct operation *operations;
  size_t noperations;
  struct message *messages; /* oldest first */
};

struct endpoint {
  struct network *network;
  uint32_t rank;
  size_t begun; /* operations */
  /* where the answers to the last one go: `size[i]` bytes from rank i on, and where they begin in what it posted */
  char *to;
  size_t size[RANKS], start[RANKS];
};

static char *copy(const void *bytes, size_t n) {
  char *c = malloc(n + 1);
  assert_non_null(c);
  if (n)
    memcpy(c, bytes, n);
  return c;
}

/* --- messages --- */

static void send_bytes(void *context, uint32_t to, const void *bytes, size_t n) {
  struct endpoint *e = context;
  struct message *m = malloc(sizeof *m), **at;
  assert_non_null(m);
  *m = (struct message){.from = e->rank, .to = to, .bytes = copy(bytes, n), .n = n};
  pthread_mutex_lock(&e->network->lock);
  for (at = &e->network->messages; *at; at = &(*at)->next)
    ;
  *at = m;
  pthread_mutex_unlock(&e->network->lock);
}

static bool poll_message(void *context, uint32_t *from, size_t *n) {
  struct endpoint *e = context;
  pthread_mutex_lock(&e->network->lock);
  struct message *m = e->network->messages;
  while (m && m->to != e->rank)
    m = m->next;
  if (m) {
    *from = m->from;
    *n = m->n;
  }
  pthread_mutex_unlock(&e->network->lock);
  return m;
}

static void receive_bytes(void *context, uint32_t from, void *bytes, size_t n) {
  struct endpoint *e = context;
  pthread_mutex_lock(&e->network->lock);
  struct message **at = &e->network->messages, *m;
  while ((*at)->to != e->rank || (*at)->from != from)
    at = &(*at)->next;
  m = *at;
  *at = m->next;
  pthread_mutex_unlock(&e->network->lock);
  memcpy(bytes, m->bytes, n);
  free(m->bytes);
  free(m);
}

/* --- collective operations --- */

/* This rank has so many bytes for each rank; the endpoint says what it wants of the others. */
static void begin(struct endpoint *e, const void *bytes, const size_t *n) {
  struct network *w = e->network;
  size_t all = 0;
  pthread_mutex_lock(&w->lock);
  if (e->begun == w->noperations) {
    w->operations = realloc(w->operations, (w->noperations + 1) * sizeof *w->operations);
    memset(&w->operations[w->noperations++], 0, sizeof *w->operations);
  }
  struct posted *p = &w->operations[e->begun++].of[e->rank];
  for (uint32_t i = 0; i < RANKS; i++)
    all += p->n[i] = n[i];
  p->bytes = copy(bytes, all);
  p->there = true;
  pthread_mutex_unlock(&w->lock);
}

static void begin_barrier(void *context) {
  struct endpoint *e = context;
  memset(e->size, 0, sizeof e->size);
  begin(e, "", e->size);
}

static void begin_gather(void *context, const uint64_t *mine, size_t n, uint64_t *all) {
  struct endpoint *e = context;
  size_t once[RANKS] = {n * sizeof *mine};
  for (uint32_t i = 0; i < RANKS; i++) {
    e->size[i] = n * sizeof *mine;
    e->start[i] = 0;
  }
  e->to = (char *)all;
  begin(e, mine, once);
}

static void begin_broadcast(void *context, uint32_t from, void *bytes, size_t n) {
  struct endpoint *e = context;
  size_t once[RANKS] = {e->rank == from ? n : 0};
  memset(e->size, 0, sizeof e->size);
  e->size[from] = e->rank == from ? 0 : n;
  e->start[from] = 0;
  e->to = bytes;
  begin(e, bytes, once);
}

static void begin_exchange(void *context, const void *out, const size_t *out_n, void *in, const size_t *in_n) {
  struct endpoint *e = context;
  memcpy(e->size, in_n, sizeof e->size);
  for (uint32_t i = 0; i < RANKS; i++)
    e->start[i] = SIZE_MAX; /* what comes before it in the posted bytes */
  e->to = in;
  begin(e, out, out_n);
}

static bool test(void *context) {
  struct endpoint *e = context;
  struct network *w = e->network;
  pthread_mutex_lock(&w->lock);
  struct operation *o = &w->operations[e->begun - 1];
  bool all = true;
  for (uint32_t i = 0; i < RANKS; i++)
    all &= o->of[i].there;
  char *to = e->to;
  for (uint32_t i = 0; all && i < RANKS; i++) {
    size_t start = e->start[i];
    if (start == SIZE_MAX) {
      start = 0;
      for (uint32_t k = 0; k < e->rank; k++)
        start += o->of[i].n[k];
    }
    if (e->size[i])
      memcpy(to, o->of[i].bytes + start, e->size[i]);
    to += e->size[i];
  }
  if (all && ++o->over == RANKS)
    for (uint32_t i = 0; i < RANKS; i++)
      free(o->of[i].bytes);
  pthread_mutex_unlock(&w->lock);
  return all;
}

static void fail_all(void *context, const char *why) {
  (void)context;
  fprintf(stderr, "%s\n", why);
  abort();
}

static rondo_transport transport_of(struct endpoint *e) {
  return (rondo_transport){.context = e,
                           .rank = e->rank,
                           .size = RANKS,
                           .send = send_bytes,
                           .poll = poll_message,
                           .receive = receive_bytes,
                           .begin_barrier = begin_barrier,
                           .begin_gather = begin_gather,
                           .begin_broadcast = begin_broadcast,
                           .begin_exchange = begin_exchange,
                           .test = test,
                           .fail = fail_all};
}

/* --- checks --- */

/* Messages between processes, so that ranks have many names to agree on; 'late' is violated. */
static const char relay[] = "algorithm Relay\n"
                            "param n where n >= 2\n"
                            "message go(y: 0..3)\n"
                            "process P[n] {\n"
                            "  var x: 0..3 = 0\n"
                            "  var done: bool = false\n"
                            "  step begin when not done { done := true  send go(1) to P }\n"
                            "  on go(y) if x < 3 { x := x + 1  if y < 3 { send go(y + 1) to P } }\n"
                            "}\n"
                            "environment e {}\n"
                            "safety ok: forall p in P: p.x <= 3\n"
                            "safety late: not forall p in P: p.x == 3\n"
                            "cover all_done: forall p in P: p.done\n";

struct rank {
  struct endpoint endpoint;
  const char *text, *n;
  rondo_status status;
  size_t verdicts;
  char summary[2048];
};

static void summarise(struct rank *k, const rondo_result *result) {
  size_t at = 0;
  k->status = rondo_result_status(result);
  k->verdicts = rondo_result_verdicts(result);
  for (size_t i = 0; i < k->verdicts; i++) {
    rondo_verdict v = rondo_result_verdict(result, i);
    at += (size_t)snprintf(k->summary + at, sizeof k->summary - at, "%s %d %s %zu\n", v.property, (int)v.status,
                           v.proved, rondo_result_trace(result, i).steps);
  }
  snprintf(k->summary + at, sizeof k->summary - at, "%llu states\n", (unsigned long long)rondo_result_states(result));
}

static void check(struct rank *k, const rondo_transport *transport) {
  rondo_host host = {.transport = transport};
  rondo *r = rondo_new(&host);
  rondo_model *m = rondo_open_text(r, "relay.rondo", k->text, strlen(k->text));
  if (m && rondo_set(m, "n", k->n)) {
    for (int again = 0; again < 2; again++) { /* a context can be used again */
      rondo_result *result = rondo_check(m, NULL);
      summarise(k, result);
      rondo_result_free(result);
    }
  }
  rondo_close(m);
  rondo_free(r);
}

static void *run_rank(void *context) {
  struct rank *k = context;
  rondo_transport transport = transport_of(&k->endpoint);
  check(k, &transport);
  return NULL;
}

static void compare(const char *text, const char *n) {
  struct network network = {.lock = PTHREAD_MUTEX_INITIALIZER};
  struct rank ranks[RANKS], alone = {.text = text, .n = n};
  pthread_t threads[RANKS];
  for (uint32_t i = 0; i < RANKS; i++) {
    ranks[i] = (struct rank){.endpoint = {.network = &network, .rank = i}, .text = text, .n = n};
    assert_int_equal(pthread_create(&threads[i], NULL, run_rank, &ranks[i]), 0);
  }
  for (uint32_t i = 0; i < RANKS; i++)
    pthread_join(threads[i], NULL);
  check(&alone, NULL);
  assert_string_equal(ranks[0].summary, alone.summary);
  for (uint32_t i = 0; i < RANKS; i++)
    assert_int_equal(ranks[i].status, alone.status);
  for (uint32_t i = 1; i < RANKS; i++)
    assert_int_equal(ranks[i].verdicts, 0);
  assert_null(network.messages);
  assert_true(network.noperations > 0);
  for (size_t i = 0; i < network.noperations; i++)
    assert_int_equal(network.operations[i].over, RANKS);
  free(network.operations);
}

static void ranks_agree_with_one_process(void **state) {
  (void)state;
  compare(relay, "3");
}

static void mistakes_end_all_ranks(void **state) {
  (void)state;
  compare("algorithm X\nprocess P[2] {\n  var x: bool = 3\n  round { }\n}\nsafety s: true\n", "3");
  compare(relay, "1");    /* the conditions of the parameters do not hold */
  compare(relay, "1..2"); /* a table, of which one instance is left out */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ranks_agree_with_one_process),
      cmocka_unit_test(mistakes_end_all_ranks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
