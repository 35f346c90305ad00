/* A table with one row per instance, for checks over ranges of parameters. */
#ifndef RONDO_REPORT_INSTANCE_TABLE_H
#define RONDO_REPORT_INSTANCE_TABLE_H

#include "report/check_result.h"
#include "report/layout.h"

/* The columns are those of the first instance, with parameters and properties in the order of the model. */
void table_head(const struct check_result *, const struct style *, struct text *);
void table_row(const struct check_result *, const struct style *, struct text *);

#endif
