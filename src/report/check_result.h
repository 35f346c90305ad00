/* The result of checking one instance of a model: verdicts, what was proved, and how. */
#ifndef RONDO_REPORT_CHECK_RESULT_H
#define RONDO_REPORT_CHECK_RESULT_H

#include "search/bfs.h"
#include "trace/trace.h"

enum verdict { VERDICT_HOLDS, VERDICT_INCONCLUSIVE, VERDICT_VIOLATED }; /* in ascending order of priority */
const char *verdict_name(enum verdict);                                 /* as in JSON */

/* What a search or a solver knows about runs that show a violation, a reached cover or an error. Lengths are in rounds
   or steps. Two answers to the same query contradict each other if one found a run that the other excludes. */
#define LENGTH_UNKNOWN UINT32_MAX
#define NO_LENGTH UINT32_MAX
struct evidence {
  bool found;
  uint32_t length;      /* if found: length of the run, or LENGTH_UNKNOWN */
  uint32_t none_before; /* no run shorter than this shows it; NO_LENGTH: no run does */
  bool cheapest;        /* if found: no run of this length has fewer than: */
  fault_cost fault_cost;
};

struct property_result {
  const struct property *property; /* NULL: `no_error`, present only if the model has an error */
  uint32_t index;                  /* in the model */
  uint32_t environment;
  enum verdict verdict;
  bool unasked;             /* the built-in `deadlock`: if it is inconclusive, that is not a verdict of the check */
  bool vacuous;             /* LIVE: it holds because no run satisfies the environment's assumptions */
  struct evidence evidence; /* not LIVE */
  char *proved;             /* owned */
  struct licence rounds;    /* round models: may coarse rounds be used (analysis/local_properties.h)? Sets only granted,
                               reason, at; reason NULL: not applicable */
  struct trace *trace;      /* owned, or NULL */
};
const char *property_result_name(const struct property_result *);
const char *property_result_kind(const struct property_result *);

/* The result of an audit variant (--audit). Contradictions are not represented here: they are reported as faults. */
enum audit_end { AUDIT_AGREES, AUDIT_UNDECIDED, AUDIT_REFUSED };
struct audit_note {
  const char *way; /* options of the variant; borrowed */
  enum audit_end end;
  uint64_t states; /* 0 for a solver */
  char *why;       /* UNDECIDED, REFUSED; else NULL; owned */
};

struct run_result { /* properties checked together in one environment; a liveness property is checked alone */
  uint32_t environment;
  enum semantics semantics;
  const struct licences *licences; /* borrowed */
  struct property_result *properties;
  uint32_t nproperties;
  enum search_end end;
  bool cut; /* the search ended at a depth set by the user, and there are more states */
  struct search_stats stats;
  bool hashed;   /* the visited set stores only signatures; then: */
  double missed; /* upper bound for the probability of a collision */
  bool transitions_counted;
  bool has_channels;        /* the model has channels; then: */
  uint32_t channel_bound;   /* the largest number of pending messages in one channel, among those stored */
  bool has_distance;        /* fine rounds; then: */
  uint32_t distance;        /* the largest round distance found between live processes */
  struct trace *divergence; /* a run with unbounded round distance, and its segment that some processes can repeat
   forever while others stay behind; owned, or NULL */
  struct divergent_segment {
    uint32_t from, to;
  } segment;         /* coarse rounds from + 1 .. to */
  bool distance_cut; /* the bound on the distance cut off states */
  bool order_mattered;
  char *heard_of_assignments; /* decimal; NULL: cannot be counted; owned */
  char *successors;           /* how successors were computed; owned */
  const char *engine;         /* NULL: the search; else the solver engine, which has no states but: */
  uint64_t variables;         /* number of free variables */
  bool runs_all_code;         /* whatever code some run executes, the interpreter has executed for this search, with
                                 its coverage recorded */
  uint32_t query_group;       /* index of the query of the check */
  struct evidence errors;     /* errors of the model; not for a liveness property */
  struct audit_note *audits;  /* by variant; NULL: no audit; owned */
  uint32_t naudits;
  struct model *model; /* a liveness property: its own model, owned, as is its interp; else NULL */
  struct interpreter *interp;
};

struct coverage_report; /* report/coverage_report.h */

struct check_result {
  struct model *model;        /* borrowed */
  struct interpreter *interp; /* borrowed */
  struct run_result *runs;
  uint32_t nruns;
  enum verdict verdict;
  struct coverage_report *coverage; /* what no run takes; owned, or NULL */
};

/* The model and interpreter of the run if it has its own, else those of the check. */
const struct model *result_model(const struct check_result *, const struct run_result *);
struct interpreter *result_interpreter(const struct check_result *, const struct run_result *);

void property_result_release(struct property_result *);
void run_result_release(struct run_result *);
void check_result_release(struct check_result *);

/* These take ownership of the text that says what was proved. The result has room for one more property. */
void property_result_set_proved(struct property_result *, struct text *proved);
void run_result_add(struct run_result *, struct property_result, struct text *proved);
/* Fills in everything except traces, audits and the heard-of count: the query's properties in order, then no_error if
   the model has an error. */
void run_result_fill(struct run_result *, const struct search *, const struct licences *);
/* The same for a liveness property. shown: the property as named in reports. refused: why it was not checked (there is
   no search then), or NULL. vacuous: the assumption that no run satisfies, or NULL. */
struct liveness_search;
bool live_shows_violation(const struct liveness_search *); /* a run that violates the property was found */
void run_result_fill_live(struct run_result *, const struct system *, const struct liveness_search *,
                          const struct licences *, const struct property *shown, const char *refused,
                          const char *vacuous);
/* LIVE: describes what its trace, or the trace of an error, shows; and of steps whether it may not be the shortest. */
void property_result_describe_lasso(struct property_result *, bool shortest);
/* Prints a clause about runs as in the source, "infinitely often: ...", on one line. */
void clause_print(const struct model *, const struct clause *, struct text *);
/* Makes the result inconclusive: the run found could not be built in time, or could not be closed to a lasso. */
enum unshown { UNSHOWN_STOPPED, UNSHOWN_UNBOUNDED, UNSHOWN_OPEN };
void property_result_describe_unshown(struct property_result *, enum unshown, enum search_end, const struct limits *);
void property_result_describe_error(struct property_result *);
/* Step models: describes what its trace shows, which may be shorter than the run found by the search; and that no run
   is shorter, if `shortest`. */
void property_result_describe_trace(struct property_result *, bool shortest);
/* Derives the overall verdict from the runs. */
void check_result_conclude(struct check_result *);

#endif
