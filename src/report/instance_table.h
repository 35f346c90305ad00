/* One row for each instance, where the user asked for a range of parameters. */
#ifndef RONDO_REPORT_INSTANCE_TABLE_H
#define RONDO_REPORT_INSTANCE_TABLE_H

#include "report/check_result.h"
#include "report/layout.h"

/* Columns are those of the first instance; the model's own order of parameters and properties. */
void table_head(const struct check_result *, const struct style *, struct text *);
void table_row(const struct check_result *, const struct style *, struct text *);

#endif
