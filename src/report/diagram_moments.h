/* Diagrams of step models: steps with their labels, and moments: what is drawn at one point. */
#ifndef RONDO_REPORT_DIAGRAM_MOMENTS_H
#define RONDO_REPORT_DIAGRAM_MOMENTS_H

#include "report/diagram_flights.h"
#include "report/diagram_parts.h"

#define FORGED_LENGTH 34
#define FORGED_LABEL_MAX 22

struct step_labels {
  struct labels sends, does;
  struct labels *writes; /* by shared variable */
  bool key;
};

enum label_side { LABELS_SPLIT /* sends above, the rest below */, LABELS_ABOVE, LABELS_BELOW };

struct moment { /* a step, or several by the processes of one row that differ in nothing else */
  uint32_t step, last;
  uint32_t row;
  struct text numbers; /* "3-5" */
  struct text list;    /* "3 4 5" */
  struct labels above, below;
  const struct step_labels *labels; /* of the first step */
  enum label_side side;
  int x;
};

struct moment_arrow {
  enum flight_end end;
  uint32_t sent, taken; /* moments; STEP_EARLIER, STEP_NEVER */
  uint32_t from, to;    /* rows */
  uint32_t kind;
  value message;
};

struct steps_diagram {
  struct diagram *d;
  uint32_t nsteps, nshared;
  struct step_labels *steps;
  struct labels *starts; /* by row */
  struct flights flights;
  uint32_t *moment_of; /* by step */
  VEC(struct moment) moments;
  VEC(struct moment_arrow) arrows; /* in the order of the moments that take them; pending ones last */
  int end;
};

/* Labels the steps, makes rows, moments and arrows. */
void steps_diagram_init(struct steps_diagram *, struct diagram *);
void steps_diagram_release(struct steps_diagram *);

const struct event *steps_event(const struct steps_diagram *, uint32_t step);
/* For example promise(1, none), without the names of the fields. */
void diagram_add_message(const struct diagram *, uint32_t kind, value, struct text *);

#endif
