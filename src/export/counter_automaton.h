/* Threshold automata in ByMC's format. */
#ifndef RONDO_EXPORT_COUNTER_AUTOMATON_H
#define RONDO_EXPORT_COUNTER_AUTOMATON_H

#include "model/automaton_system.h"

#include <signal.h>

/* A counter system as an automaton, if it is of that form: each move takes one process from one counter to another, or
   needs one to be at a counter. Its properties become specifications; `only` one of them, or all if it is NULL. It
   borrows from the system, and lives in its own arena. NULL: the reason was reported, with its place. Questions to the
   solver end soon after *stop becomes nonzero. */
struct threshold_automaton *automaton_of_counters(const struct counter_system *, const struct counter_property *only,
                                                  const volatile sig_atomic_t *stop, struct diags *);
void automaton_of_counters_free(struct threshold_automaton *);

/* Writes the automaton with the specifications for which `chosen` is true (NULL: all of them). False: the reason was
   reported, with its place. */
bool export_ta(const struct threshold_automaton *, const bool *chosen, struct text *, struct diags *);

#endif
