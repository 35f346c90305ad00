/* Ranks that reach each other by MPI. */
#ifndef RONDO_MPI_MPI_RANKS_H
#define RONDO_MPI_MPI_RANKS_H

#include "search/ranks.h"

struct ranks *mpi_ranks_open(int *argc, char ***argv);
/* Rank 0 says with which status all end; the others wait for that, and end with it. Returns it. */
int mpi_ranks_close(struct ranks *, int status);

#endif
