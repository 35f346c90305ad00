/* rondo-mpi: `rondo check` by several processes, started by mpirun. */
#include "cli/terminal.h"
#include "driver/commands.h"
#include "mpi/wire.h"

int main(int argc, char **argv) {
  struct ranks *ranks = wire_open(&argc, &argv);
  rondo *r = terminal_open(ranks);
  return wire_close(ranks, terminal_close(r, command_of_ranks(r, ranks, argc - 1, argv + 1)));
}
