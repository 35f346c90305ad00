/* rondo_transport on MPI. Sizes fit MPI's ints: the library sends at most 2^30 bytes at a time. */
#include "cli/mpi_transport.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct mpi_connection {
  MPI_Request request;                                  /* the collective operation that was begun */
  int *out_counts, *out_starts, *in_counts, *in_starts; /* of an exchange, by rank */
  uint32_t *machine;
  uint32_t rank, size;
};

static void fail(void *context, const char *why) {
  const struct mpi_connection *c = context;
  fprintf(stderr, "rondo: a fault of rondo itself: rank %u: %s\n", c->rank, why);
  MPI_Abort(MPI_COMM_WORLD, RONDO_FAULT);
  abort();
}

/* --- messages --- */

static void send_bytes(void *context, uint32_t to, const void *bytes, size_t n) {
  (void)context;
  MPI_Send(bytes, (int)n, MPI_BYTE, (int)to, 0, MPI_COMM_WORLD);
}

static bool poll_message(void *context, uint32_t *from, size_t *n) {
  int there = 0, length = 0;
  MPI_Status status;
  (void)context;
  MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &there, &status);
  if (!there)
    return false;
  MPI_Get_count(&status, MPI_BYTE, &length);
  *from = (uint32_t)status.MPI_SOURCE;
  *n = (size_t)length;
  return true;
}

static void receive_bytes(void *context, uint32_t from, void *bytes, size_t n) {
  (void)context;
  MPI_Recv(bytes, (int)n, MPI_BYTE, (int)from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* --- collective operations --- */

static void begin_barrier(void *context) {
  struct mpi_connection *c = context;
  MPI_Ibarrier(MPI_COMM_WORLD, &c->request);
}

static void begin_gather(void *context, const uint64_t *mine, size_t n, uint64_t *all) {
  struct mpi_connection *c = context;
  MPI_Iallgather(mine, (int)n, MPI_UINT64_T, all, (int)n, MPI_UINT64_T, MPI_COMM_WORLD, &c->request);
}

static void begin_broadcast(void *context, uint32_t from, void *bytes, size_t n) {
  struct mpi_connection *c = context;
  MPI_Ibcast(bytes, (int)n, MPI_BYTE, (int)from, MPI_COMM_WORLD, &c->request);
}

static void layout(const struct mpi_connection *c, const size_t *n, int *counts, int *starts) {
  for (uint32_t i = 0; i < c->size; i++) {
    counts[i] = (int)n[i];
    starts[i] = i == 0 ? 0 : starts[i - 1] + counts[i - 1];
  }
}

static void begin_exchange(void *context, const void *out, const size_t *out_n, void *in, const size_t *in_n) {
  struct mpi_connection *c = context;
  layout(c, out_n, c->out_counts, c->out_starts);
  layout(c, in_n, c->in_counts, c->in_starts);
  MPI_Ialltoallv(out, c->out_counts, c->out_starts, MPI_BYTE, in, c->in_counts, c->in_starts, MPI_BYTE, MPI_COMM_WORLD,
                 &c->request);
}

static bool test(void *context) {
  struct mpi_connection *c = context;
  int done = 0;
  MPI_Test(&c->request, &done, MPI_STATUS_IGNORE);
  return done;
}

/* --- from the first to the last --- */

static void *allocate(struct mpi_connection *c, size_t size) {
  void *at = calloc(c ? c->size : 1, size);
  if (!at) {
    fputs("rondo: out of memory\n", stderr);
    MPI_Abort(MPI_COMM_WORLD, RONDO_INCONCLUSIVE);
    abort();
  }
  return at;
}

/* A machine is named by the first of its ranks. */
static void find_machines(struct mpi_connection *c) {
  MPI_Comm here;
  uint32_t first = c->rank;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
  MPI_Bcast(&first, 1, MPI_UINT32_T, 0, here);
  MPI_Comm_free(&here);
  MPI_Allgather(&first, 1, MPI_UINT32_T, c->machine, 1, MPI_UINT32_T, MPI_COMM_WORLD);
}

void mpi_open(rondo_transport *t, int *argc, char ***argv) {
  int rank, size;
  MPI_Init(argc, argv); /* what goes wrong from here on ends all of them: MPI_ERRORS_ARE_FATAL */
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  struct mpi_connection *c = allocate(NULL, sizeof *c);
  c->rank = (uint32_t)rank;
  c->size = (uint32_t)size;
  c->out_counts = allocate(c, sizeof *c->out_counts);
  c->out_starts = allocate(c, sizeof *c->out_starts);
  c->in_counts = allocate(c, sizeof *c->in_counts);
  c->in_starts = allocate(c, sizeof *c->in_starts);
  c->machine = allocate(c, sizeof *c->machine);
  find_machines(c);
  *t = (rondo_transport){.context = c,
                         .rank = c->rank,
                         .size = c->size,
                         .machine = c->machine,
                         .send = send_bytes,
                         .poll = poll_message,
                         .receive = receive_bytes,
                         .begin_barrier = begin_barrier,
                         .begin_gather = begin_gather,
                         .begin_broadcast = begin_broadcast,
                         .begin_exchange = begin_exchange,
                         .test = test,
                         .fail = fail};
}

int mpi_close(rondo_transport *t, int status) {
  struct mpi_connection *c = t->context;
  MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  free(c->out_counts);
  free(c->out_starts);
  free(c->in_counts);
  free(c->in_starts);
  free(c->machine);
  free(c);
  return status;
}
