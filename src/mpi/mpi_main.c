/* rondo-mpi: `rondo check` by several processes, started by mpirun. */
#include "cli/terminal.h"
#include "driver/commands.h"
#include "mpi/mpi_ranks.h"

int main(int argc, char **argv) {
  struct ranks *ranks = mpi_ranks_open(&argc, &argv);
  rondo *r = terminal_open(ranks);
  return mpi_ranks_close(ranks, terminal_close(r, command_with_ranks(r, ranks, argc - 1, argv + 1)));
}
