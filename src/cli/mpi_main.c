/* rondo-mpi: `rondo check` by several processes, started by mpirun. */
#include "cli/mpi_transport.h"
#include "cli/terminal.h"

int main(int argc, char **argv) {
  rondo_transport transport;
  mpi_open(&transport, &argc, &argv);
  rondo *r = terminal_open(&transport);
  return mpi_close(&transport, terminal_close(r, rondo_command(r, argc - 1, argv + 1)));
}
