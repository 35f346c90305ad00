/* Ranks that reach each other by MPI. */
#ifndef RONDO_MPI_WIRE_H
#define RONDO_MPI_WIRE_H

#include "search/ranks.h"

struct ranks *wire_open(int *argc, char ***argv);
/* Rank 0 says with which status all end; the others wait for that, and end with it. Returns it. */
int wire_close(struct ranks *, int status);

#endif
