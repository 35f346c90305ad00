/* The values of the unknowns of a threshold automaton, or of a model, for which its properties hold, as text and JSON.
 */
#ifndef RONDO_REPORT_SYNTHESIS_REPORT_H
#define RONDO_REPORT_SYNTHESIS_REPORT_H

#include "interp/counter_run.h"
#include "report/layout.h"

#include <jansson.h>

#define SYNTHESIS_SCHEMA "rondo-synthesis/1"

struct synthesis_values { /* for which all specifications were proved, or for which something is open */
  int64_t *values;        /* by unknown */
  char *note;             /* of a solution: the specifications that hold vacuously, or NULL; else what is open */
};

struct synthesis_violation { /* the candidate that it was found for, and its run */
  int64_t *values;
  const struct counter_system *system;
  const struct counter_property *property;
  struct counter_run run;
  /* of a model: the run of the algorithm; run is empty, and system and property are NULL */
  const char *name; /* of the property */
  char *text;
  json_t *trace;
};

struct synthesis {
  bool model;                        /* not an automaton */
  const struct counter_system *open; /* with the unknowns left open */
  const uint32_t *unknowns;          /* parameters of it */
  uint32_t nunknowns;
  const int64_t *low, *high; /* by unknown: the values that are considered, within the assumptions */
  const char **properties;   /* that are required */
  uint32_t nproperties;
  VEC(struct synthesis_values) solutions, undecided;
  VEC(struct synthesis_violation) violations;
  bool exact;        /* all other values are ruled out by the violations */
  const char *limit; /* if not: why */
  double seconds;
  size_t memory;
};

void synthesis_text(const struct synthesis *, const struct style *, struct text *);
json_t *synthesis_json(const struct synthesis *);

#endif
