/* The terminal as a host of the library: answers to standard output, everything else to standard error; signals;
 * processes. */
#ifndef RONDO_CLI_TERMINAL_H
#define RONDO_CLI_TERMINAL_H

#include "rondo.h"

/* transport: to other ranks that write to the same terminal, which is then used as if it were a file; or NULL. */
rondo *terminal_open(const rondo_transport *);
/* Flushes, and gives the exit status: that of the command, or what became of the answer. */
int terminal_close(rondo *, rondo_status);

#endif
