/* The parts of `rondo export`: algorithms, counter systems (driver/command_export.c) and threshold automata. */
#ifndef RONDO_DRIVER_COMMAND_EXPORT_H
#define RONDO_DRIVER_COMMAND_EXPORT_H

#include "driver/load.h"

/* These return the exit status. */
int export_model(const struct parsed_file *, const struct command_options *);
int export_counter_property(struct rondo *, const struct counter_system *, const struct counter_property *,
                            const char *format); /* horn, mcmt, smv */
int export_automaton(const struct parsed_file *, const struct command_options *);
/* Only one of its properties, or all if it is NULL. */
int export_counters_as_automaton(struct rondo *, const struct counter_system *, const struct counter_property *only);

bool is_counter_format(const char *format);

#endif
