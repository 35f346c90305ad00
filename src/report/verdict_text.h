/* Phrases about verdicts and what was proved, shared by several kinds of results. */
#ifndef RONDO_REPORT_VERDICT_TEXT_H
#define RONDO_REPORT_VERDICT_TEXT_H

#include "report/check_result.h"
#include "report/text_table.h"

/* A table without a head: names, verdicts, and what was proved. Printing releases it. */
void verdict_table_init(struct text_table *);
void verdict_table_add(struct text_table *, const char *name, enum verdict, const char *proved);
void verdict_table_print(struct text_table *, const struct style *, struct text *);
const char *verdict_word(enum verdict, bool brief); /* "VIOLATED"; brief: "inconcl." */
enum paint verdict_paint(enum verdict);
void verdict_add_every_run(struct text *, const struct model *, const struct licences *); /* every run, n = 4 */
void verdict_add_missed(
    struct text *, const struct search *); /* , but for a state missed with ...; nothing if full states were stored */
void verdict_add_length(struct text *, bool steps, uint64_t n); /* 3 rounds, 3 steps */
/* the limit of ... was reached; why: the solver gave up */
void verdict_add_limit(struct text *, enum search_end, const struct limits *, const char *why);
void verdict_add_after(struct text *, bool steps, uint64_t n); /* after 3 rounds; in an initial state */
void verdict_add_faulty(struct text *, uint64_t n);            /* , 1 faulty process; or nothing */

#endif
