/* The result of `check` as text. */
#ifndef RONDO_REPORT_TEXT_REPORT_H
#define RONDO_REPORT_TEXT_REPORT_H

#include "report/check_result.h"
#include "report/layout.h"

/* A run of it: its title; and everything else. */
void report_title(const struct model *, uint32_t environment, enum semantics, const struct style *, struct text *);
void report_run_text(const struct check_result *, const struct run_result *, const struct style *, struct text *);

#endif
