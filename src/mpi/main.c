/* rondo-mpi: `rondo check` by several processes, started by mpirun. */
#include "cli/program.h"
#include "mpi/wire.h"

int main(int argc, char **argv) {
  struct ranks *ranks = wire_open(&argc, &argv);
  return wire_close(ranks, program(argc, argv, ranks));
}
