/* The terminal as a host of the library: answers to standard output, everything else to standard error; signals;
 * processes. */
#ifndef RONDO_CLI_TERMINAL_H
#define RONDO_CLI_TERMINAL_H

#include "rondo.h"

/* ranks: of several that write to one terminal; then nothing looks like one. */
rondo *terminal_open(bool ranks);
/* Flushes, and gives the exit status: that of the command, or what became of the answer. */
int terminal_close(rondo *, rondo_status);

#endif
