/* Ranks that reach each other by MPI. */
#ifndef RONDO_CLI_MPI_TRANSPORT_H
#define RONDO_CLI_MPI_TRANSPORT_H

#include "rondo.h"

void mpi_open(rondo_transport *, int *argc, char ***argv);
/* All ranks end with the status of rank 0. Returns it. */
int mpi_close(rondo_transport *, int status);

#endif
