/* The formats that programs (export/program.h) are written in, one file each. */
#ifndef RONDO_EXPORT_EXPORT_FORMATS_H
#define RONDO_EXPORT_EXPORT_FORMATS_H

#include "export/program.h"

void export_promela(const struct program *, struct text *);
void export_murphi(const struct program *, struct text *);
void export_tla(const struct program *, struct text *);
void export_program_smv(const struct program *, struct text *);
/* The graph of its states. False: there are more than that. */
bool export_dot(const struct program *, uint64_t most, struct text *);

#endif
