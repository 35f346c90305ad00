/* Counter systems as text that can be read again. */
#ifndef RONDO_TESTS_COUNTER_DUMP_H
#define RONDO_TESTS_COUNTER_DUMP_H

#include "model/counter_system.h"

/* As text of the language; what the checker makes of it is the same system. */
void counter_system_print(const struct counter_system *, struct text *);

#endif
