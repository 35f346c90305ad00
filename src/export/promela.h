/* Shared by promela.c and promela_live.c. Private to src/export. */
#ifndef RONDO_EXPORT_PROMELA_H
#define RONDO_EXPORT_PROMELA_H

#include "export/expr_printer.h"

void promela_define(struct expr_printer *, expr_id, void *indent);

/* The parts of a liveness property. They print nothing if there is none. */
void promela_live_declare(struct expr_printer *);
const char *promela_live_guard(const struct expr_printer *); /* printed before every rule's guard */
void promela_live_attempt(struct expr_printer *);            /* printed after it */
void promela_live_satisfied(struct expr_printer *, const char *indent);
void promela_live_count_uses(struct expr_printer *);
void promela_live_evaluate(struct expr_printer *);
void promela_live_advance(struct expr_printer *);
void promela_live_options(struct expr_printer *);
void promela_live_claim(struct expr_printer *);

#endif
