/* Numbers, sizes, times and definitions as users write them. */
#ifndef RONDO_DRIVER_OPTION_VALUES_H
#define RONDO_DRIVER_OPTION_VALUES_H

#include "driver/options.h"

/* All of them: false if the text is not exactly that; *error then says why. */
bool count_parse(const char *, uint64_t least, uint64_t most, uint64_t *, struct text *error);
bool size_parse(const char *, size_t *, struct text *error);    /* 4G, 512M, 100k, bytes */
bool seconds_parse(const char *, double *, struct text *error); /* 90, 1.5, 500ms, 90s, 5m, 2h */
bool define_parse(const char *, struct define *, struct text *error);

#endif
