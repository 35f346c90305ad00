/* The same check answered with several variants of options (--audit): contradictions between two answers, and the
   result of each variant. */
#ifndef RONDO_REPORT_AUDIT_REPORT_H
#define RONDO_REPORT_AUDIT_REPORT_H

#include "base/vec.h"
#include "report/check_result.h"

struct audit_variant {
  const char *options;        /* its command-line options; "": as given by the user. Borrowed */
  struct check_result result; /* owned */
  char **refused;             /* by query group: why the engine cannot answer it, or NULL; owned, as are the strings */
  uint32_t nquery_groups;
};
void audit_variant_release(struct audit_variant *);

/* Two contradictory answers. */
struct conflict {
  uint32_t way[2];
  const struct run_result *run[2];
  const struct property *property; /* NULL: errors of the model */
  bool forced;                     /* one of them used a reduction that was forced without a licence */
};
struct conflicts {
  VEC(struct conflict) at;
};

/* Does a result for coarse (lockstep) rounds also apply to fine (asynchronous) rounds? */
bool is_local_result(const struct property_result *);

/* All contradictions between any two variants: in verdicts, errors, lengths and costs of runs that both call minimal,
   and vacuity. Local properties must have the same verdict in coarse and in fine rounds. A result left undecided by a
   limit contradicts nothing. */
void audit_compare(const struct audit_variant *, uint32_t n, struct conflicts *);
/* "'agreement' in environment 'free': holds (every run, n = 3) as asked, violated (after 2 rounds)
 * with --reduce none" */
void conflict_print(const struct conflict *, const struct audit_variant *, struct text *);
/* The result of a variant for a run of the first one; for the run's `audits`. */
struct audit_note audit_note_for(const struct audit_variant *, const struct run_result *);

/* For an audited run: did every variant that supports the query finish? */
bool audit_complete(const struct run_result *);
/* "4 ways agree: as asked, --reduce none, ...", on one line. */
void audit_text(const struct run_result *, struct text *);

#endif
