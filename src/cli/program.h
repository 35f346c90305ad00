/* The program: from the command line to the exit status. */
#ifndef RONDO_CLI_PROGRAM_H
#define RONDO_CLI_PROGRAM_H

#include "search/ranks.h"

/* ranks: who else runs the same program with the same arguments, or NULL. The first of them tells, the others help. */
int program(int argc, char **argv, struct ranks *);

#endif
