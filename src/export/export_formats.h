/* The target formats of programs (export/program.h), one file each. */
#ifndef RONDO_EXPORT_EXPORT_FORMATS_H
#define RONDO_EXPORT_EXPORT_FORMATS_H

#include "export/program.h"

void export_promela(const struct program *, struct text *);
void export_murphi(const struct program *, struct text *);
void export_tla(const struct program *, struct text *);
void export_program_smv(const struct program *, struct text *);
/* The state graph. Returns false if there are more than `most` states. */
bool export_dot(const struct program *, uint64_t most, struct text *);

#endif
