#include "mpi/mpi_ranks.h"

#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TAG_ASK 1
#define TAG_ANSWER 2
#define PIECE ((size_t)1 << 30) /* MPI counts in ints */

/* What rank 0 says to those that wait for it. */
enum { WORD_SEARCH = -1 }; /* anything else: the exit status */

struct mpi_ranks {
  struct ranks ranks;
  int *counts, *starts, *in_counts, *in_starts;
  bytes answer;
};

static struct mpi_ranks *mpi_ranks_of(struct ranks *r) { return (struct mpi_ranks *)r; }

static void out_of_order(struct ranks *r) { r->ops->fail(r, "ranks have lost each other"); }

/* --- waiting --- */

/* After an interruption: who has not come by then is not likely to. mpirun, if it is what interrupts, kills after a
 * second. */
#define LOST_SECONDS 0.3

struct rank_wait {
  uint32_t times;
  double since; /* the interruption was seen; 0: there is none */
};

static void wait_in_vain(struct ranks *r, struct rank_wait *w) {
  if (!r->lost || !r->interrupt || !*r->interrupt || *r->interrupt == INTERRUPT_TIME)
    return;
  if (w->since == 0)
    w->since = MPI_Wtime();
  if (MPI_Wtime() - w->since < LOST_SECONDS)
    return;
  r->lost(r->lost_context);
  r->lost = NULL;
}

/* There may be fewer processors than ranks: who waits lets others go on, and after some time sleeps. */
static void wait_a_little(struct ranks *r, struct rank_wait *w) {
  if (++w->times < 200)
    return;
  sched_yield();
  wait_in_vain(r, w);
  if (w->times > 2000)
    usleep(w->times > 20000 ? 1000 : 20);
}

static void wait_for(struct ranks *r, MPI_Request *request, bool serving) {
  int done = 0;
  for (struct rank_wait w = {0}; MPI_Test(request, &done, MPI_STATUS_IGNORE), !done; wait_a_little(r, &w))
    if (serving)
      r->ops->serve(r);
}

/* --- names --- */

static void mpi_ranks_serve(struct ranks *r) {
  struct mpi_ranks *w = mpi_ranks_of(r);
  int waiting, n;
  MPI_Status status;
  if (r->rank != 0)
    return;
  while (MPI_Iprobe(MPI_ANY_SOURCE, TAG_ASK, MPI_COMM_WORLD, &waiting, &status), waiting) {
    MPI_Get_count(&status, MPI_BYTE, &n);
    vec_reserve(&r->request, (size_t)n + 1);
    MPI_Recv(r->request.at, n, MPI_BYTE, status.MPI_SOURCE, TAG_ASK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    dictionary_answer(r, r->request.at, (size_t)n, &w->answer);
    MPI_Send(w->answer.at, (int)w->answer.n, MPI_BYTE, status.MPI_SOURCE, TAG_ANSWER, MPI_COMM_WORLD);
  }
}

static void mpi_ranks_ask(struct ranks *r, const bytes *request, bytes *reply) {
  int there = 0, n;
  MPI_Status status;
  MPI_Send(request->at, (int)request->n, MPI_BYTE, 0, TAG_ASK, MPI_COMM_WORLD);
  for (struct rank_wait w = {0}; MPI_Iprobe(0, TAG_ANSWER, MPI_COMM_WORLD, &there, &status), !there;)
    wait_a_little(r, &w);
  MPI_Get_count(&status, MPI_BYTE, &n);
  vec_reserve(reply, (size_t)n + 1);
  MPI_Recv(reply->at, n, MPI_BYTE, 0, TAG_ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  reply->n = (size_t)n;
}

/* --- everybody --- */

static void mpi_ranks_barrier(struct ranks *r) {
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  wait_for(r, &request, true);
}

static void mpi_ranks_allgather(struct ranks *r, const uint64_t *mine, uint32_t n, uint64_t *all) {
  MPI_Request request;
  MPI_Iallgather(mine, (int)n, MPI_UINT64_T, all, (int)n, MPI_UINT64_T, MPI_COMM_WORLD, &request);
  wait_for(r, &request, false);
}

static void mpi_ranks_broadcast(struct ranks *r, uint32_t from, void *at, size_t n) {
  for (size_t done = 0; done < n; done += PIECE) {
    MPI_Request request;
    MPI_Ibcast((char *)at + done, (int)(n - done < PIECE ? n - done : PIECE), MPI_BYTE, (int)from, MPI_COMM_WORLD,
               &request);
    wait_for(r, &request, false);
  }
}

static void mpi_ranks_exchange(struct ranks *r, const bytes *out, bytes *in, size_t *first) {
  struct mpi_ranks *w = mpi_ranks_of(r);
  for (uint32_t i = 0; i < r->n; i++)
    w->counts[i] = (int)out[i].n;
  MPI_Request request;
  MPI_Ialltoall(w->counts, 1, MPI_INT, w->in_counts, 1, MPI_INT, MPI_COMM_WORLD, &request);
  wait_for(r, &request, false);
  size_t n = 0, sent = 0;
  for (uint32_t i = 0; i < r->n; i++) {
    first[i] = n;
    w->in_starts[i] = (int)n;
    n += (size_t)w->in_counts[i];
    w->starts[i] = (int)sent;
    sent += out[i].n;
  }
  first[r->n] = n;
  vec_reserve(in, n + 1);
  in->n = n;
  bytes all = {0};
  vec_reserve(&all, sent + 1);
  for (uint32_t i = 0; i < r->n; i++)
    if (out[i].n)
      memcpy(all.at + w->starts[i], out[i].at, out[i].n);
  if (n > PIECE || sent > PIECE)
    r->ops->fail(r, "a parcel is too large");
  MPI_Ialltoallv(all.at, w->counts, w->starts, MPI_BYTE, in->at, w->in_counts, w->in_starts, MPI_BYTE, MPI_COMM_WORLD,
                 &request);
  wait_for(r, &request, false);
  vec_release(&all);
}

static int broadcast_word(struct ranks *r, int word) {
  MPI_Request request;
  MPI_Ibcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
  wait_for(r, &request, false);
  return word;
}

static void mpi_ranks_finish(struct ranks *r) {
  struct mpi_ranks *w = mpi_ranks_of(r);
  MPI_Finalize();
  ranks_release(r);
  memory_free(w->counts);
  memory_free(w->starts);
  memory_free(w->in_counts);
  memory_free(w->in_starts);
  vec_release(&w->answer);
  memory_free(w);
}

static void mpi_ranks_wait(struct ranks *r) {
  int word = broadcast_word(r, WORD_SEARCH);
  if (word == WORD_SEARCH)
    return;
  mpi_ranks_finish(r);
  exit(word);
}

static void mpi_ranks_fail(struct ranks *r, const char *why) {
  fprintf(stderr, "rondo: a fault of rondo itself: rank %u: %s\n", r->rank, why);
  MPI_Abort(MPI_COMM_WORLD, 4);
}

/* --- from the first to the last --- */

static const struct ranks_ops mpi_ranks_ops = {.barrier = mpi_ranks_barrier,
                                               .serve = mpi_ranks_serve,
                                               .ask = mpi_ranks_ask,
                                               .allgather = mpi_ranks_allgather,
                                               .broadcast = mpi_ranks_broadcast,
                                               .exchange = mpi_ranks_exchange,
                                               .wait = mpi_ranks_wait,
                                               .fail = mpi_ranks_fail};

/* A machine is named by the first of its ranks. */
static void find_machines(struct ranks *r) {
  MPI_Comm here;
  int first = (int)r->rank;
  int *all = memory_alloc(r->n * sizeof *all);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
  MPI_Bcast(&first, 1, MPI_INT, 0, here);
  MPI_Comm_free(&here);
  MPI_Allgather(&first, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
  r->machine = memory_alloc(r->n * sizeof *r->machine);
  for (uint32_t i = 0; i < r->n; i++)
    r->machine[i] = (uint32_t)all[i];
  memory_free(all);
}

struct ranks *mpi_ranks_open(int *argc, char ***argv) {
  struct mpi_ranks *w = memory_alloc(sizeof *w);
  int rank, n;
  MPI_Init(argc, argv); /* what goes wrong from here on ends all of them: MPI_ERRORS_ARE_FATAL */
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  w->ranks = (struct ranks){.ops = &mpi_ranks_ops, .rank = (uint32_t)rank, .n = (uint32_t)n};
  int **arrays[] = {&w->counts, &w->starts, &w->in_counts, &w->in_starts};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    *arrays[i] = memory_alloc((size_t)n * sizeof **arrays[i]);
  find_machines(&w->ranks);
  return &w->ranks;
}

int mpi_ranks_close(struct ranks *r, int status) {
  status = broadcast_word(r, status);
  if (status == WORD_SEARCH)
    out_of_order(r);
  mpi_ranks_finish(r);
  return status;
}
