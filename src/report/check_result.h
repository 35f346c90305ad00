/* What came out of checking one instance of a model: verdicts with what was proved, and where they
 * come from. */
#ifndef RONDO_REPORT_CHECK_RESULT_H
#define RONDO_REPORT_CHECK_RESULT_H

#include "search/bfs.h"
#include "trace/trace.h"

enum verdict { VERDICT_HOLDS, VERDICT_INCONCLUSIVE, VERDICT_VIOLATED }; /* the larger beats the smaller */
const char *verdict_name(enum verdict);                                 /* as in JSON */

/* What a search or a solver says of runs that show something: a violation, a cover that is reached, an error. Lengths
   are rounds or steps. Two answers to the same query contradict each other if one found a run where the other says
   there is none. */
#define LENGTH_UNKNOWN UINT32_MAX
#define NO_LENGTH UINT32_MAX
struct evidence {
  bool found;
  uint32_t length;      /* found: of the run, or LENGTH_UNKNOWN */
  uint32_t none_before; /* no shorter run shows it; NO_LENGTH: none does */
  bool cheapest;        /* found: no run of this length has less than: */
  fault_cost fault_cost;
};

struct property_result {
  const struct property *property; /* NULL: `no_error`, which is there only if the model has an error */
  uint32_t index;                  /* in the model */
  uint32_t environment;
  enum verdict verdict;
  bool vacuous;             /* LIVE: it holds because no run satisfies what the environment assumes */
  struct evidence evidence; /* not LIVE */
  char *proved;             /* owned */
  struct licence rounds;    /* model of rounds: may it be checked on whole rounds (analysis/local_properties.h)? Only
                               granted, reason and    at are set; reason NULL: nobody asks */
  struct trace *trace;      /* owned, or NULL */
};
const char *property_result_name(const struct property_result *);
const char *property_result_kind(const struct property_result *);

/* What came of asking again in another way (--audit). A contradiction is not among it: that is a fault, and no result.
 */
enum audit_end { AUDIT_AGREES, AUDIT_UNDECIDED, AUDIT_REFUSED };
struct audit_note {
  const char *way; /* its options; borrowed */
  enum audit_end end;
  uint64_t states; /* 0: of a solver */
  char *why;       /* UNDECIDED, REFUSED; else NULL; owned */
};

struct run_result { /* the properties checked together, in one environment; a live one is alone */
  uint32_t environment;
  enum semantics semantics;
  const struct licences *licences; /* borrowed */
  struct property_result *properties;
  uint32_t nproperties;
  enum search_end end;
  bool cut; /* the user said how far to look, and there is more */
  struct search_stats stats;
  bool hashed;   /* states were distinguished by their signatures; then: */
  double missed; /* how probable it is, at most, that one was taken for another */
  bool transitions_counted;
  bool has_channels;        /* messages lie in channels; then: */
  uint32_t channel_bound;   /* the most that were pending in one of them, as far as they are kept */
  bool has_distance;        /* processes have rounds of their own; then: */
  uint32_t distance;        /* the largest between live ones that was found */
  struct trace *divergence; /* a run in which processes get apart without bound, and its segment that some of them can
                            repeat for ever while others stay behind; owned, or NULL */
  struct divergent_segment {
    uint32_t from, to;
  } segment;         /* whole rounds from + 1 .. to */
  bool distance_cut; /* there is more to see further apart */
  bool order_mattered;
  char *heard_of_assignments; /* decimal, or NULL: cannot be counted; owned */
  char *successors;           /* how they were made; owned */
  const char *engine;         /* NULL: the search; else which solver's, and then there are no states: */
  uint64_t variables;         /* that the solver was free to choose */
  uint32_t query_group;       /* which of the check's queries this answers */
  struct evidence errors;     /* of the model; not of a live property */
  struct audit_note *audits;  /* by way; NULL: no audit was asked for; owned */
  uint32_t naudits;
  struct model *model; /* a live property: the model as it was asked about, owned, as is its interp; else NULL */
  struct interpreter *interp;
};

struct check_result {
  struct model *model;        /* borrowed */
  struct interpreter *interp; /* borrowed */
  struct run_result *runs;
  uint32_t nruns;
  enum verdict verdict;
};

/* Those of the run, or else of the check. */
const struct model *result_model(const struct check_result *, const struct run_result *);
struct interpreter *result_interpreter(const struct check_result *, const struct run_result *);

void property_result_release(struct property_result *);
void run_result_release(struct run_result *);
void check_result_release(struct check_result *);

/* They take the text: what was proved. The result has room for one more property. */
void property_result_set_proved(struct property_result *, struct text *proved);
void run_result_add(struct run_result *, struct property_result, struct text *proved);
/* Fills in everything but traces, audits and the heard-of count: the query's properties in order,
   then no_error if there is one. */
void run_result_fill(struct run_result *, const struct search *, const struct licences *);
/* The same of a live property. shown: the property as reports name it. refused: why it was not asked, or NULL; then
   there is no search. vacuous: what no run satisfies, or NULL. */
struct liveness_search;
bool live_shows_violation(const struct liveness_search *); /* a run that violates the property was found */
void run_result_fill_live(struct run_result *, const struct system *, const struct liveness_search *,
                          const struct licences *, const struct property *shown, const char *refused,
                          const char *vacuous);
/* LIVE: says what its trace shows, and that of an error that came up. */
void property_result_describe_lasso(struct property_result *);
/* "infinitely often: ...", a clause about runs as the text has it, on one line. */
void clause_print(const struct model *, const struct clause *, struct text *);
/* It is inconclusive: the run that was found could not be built in time, or not be made to return to an earlier state.
 */
enum unshown { UNSHOWN_STOPPED, UNSHOWN_UNBOUNDED, UNSHOWN_OPEN };
void property_result_describe_unshown(struct property_result *, enum unshown, enum search_end, const struct limits *);
void property_result_describe_error(struct property_result *);
/* Steps: says what its trace shows, which may be less than what the search came across; and that no run is shorter, if
   that is sure. */
void property_result_describe_trace(struct property_result *, bool shortest);
/* From the verdicts of the runs. */
void check_result_conclude(struct check_result *);

#endif
