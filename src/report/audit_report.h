/* The same check answered in several ways (--audit): where two answers contradict each other, and
 * what each way came to. */
#ifndef RONDO_REPORT_AUDIT_REPORT_H
#define RONDO_REPORT_AUDIT_REPORT_H

#include "base/vec.h"
#include "report/check_result.h"

struct audit_variant {
  const char *options;        /* what the command line has for it; "": as asked. Borrowed */
  struct check_result result; /* owned */
  char **refused;             /* by inquiry: why the engine cannot answer it, or NULL; owned, as are the strings */
  uint32_t nquery_groups;
};
void audit_variant_release(struct audit_variant *);

/* Two answers of which at most one is right. */
struct conflict {
  uint32_t way[2];
  const struct run_result *run[2];
  const struct property *property; /* NULL: errors of the model */
  bool forced;                     /* one of them rests on a reduction that was forced against its licence */
};
struct conflicts {
  VEC(struct conflict) at;
};

/* Of a result on whole rounds: is it said of rounds of one's own, too? */
bool is_local_result(const struct property_result *);

/* All of them, of every two ways. Verdicts, errors, lengths of what both say is shortest, what it
   costs, vacuity. What is local must be the same in whole rounds and in rounds of one's own. What a limit left
   undecided contradicts nothing. */
void audit_compare(const struct audit_variant *, uint32_t n, struct conflicts *);
/* "'agreement' in environment 'free': holds (every run, n = 3) as asked, violated (after 2 rounds)
 * with --reduce none" */
void conflict_print(const struct conflict *, const struct audit_variant *, struct text *);
/* What a way came to of a run of the first one; for a run's `audits`. */
struct audit_note audit_note_for(const struct audit_variant *, const struct run_result *);

/* Of a run that was audited: did every way that could answer it come to an end? */
bool audit_complete(const struct run_result *);
/* "4 ways agree: as asked, --reduce none, ...", on one line. */
void audit_text(const struct run_result *, struct text *);

#endif
