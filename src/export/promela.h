/* What promela.c and promela_live.c share. Internal to src/export. */
#ifndef RONDO_EXPORT_PROMELA_H
#define RONDO_EXPORT_PROMELA_H

#include "export/print.h"

void promela_define(struct printer *, wire, void *indent);

/* The parts of a live property; all of them write nothing if there is none. */
void promela_live_declare(struct printer *);
const char *promela_live_guard(const struct printer *); /* what stands in front of every rule's guard */
void promela_live_attempt(struct printer *); /* what stands behind it */
void promela_live_meets(struct printer *, const char *indent);
void promela_live_want(struct printer *);
void promela_live_judge(struct printer *);
void promela_live_follow(struct printer *);
void promela_live_options(struct printer *);
void promela_live_claim(struct printer *);

#endif
