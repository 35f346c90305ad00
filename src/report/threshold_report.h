/* What `rondo threshold` says, in words and in JSON. */
#ifndef RONDO_REPORT_THRESHOLD_REPORT_H
#define RONDO_REPORT_THRESHOLD_REPORT_H

#include "param/proof.h"
#include "report/layout.h"

#include <jansson.h>

#define THRESHOLD_SCHEMA "rondo-threshold/1"

struct threshold {
  const struct counter_property *property;
  const struct counter_graph *graph; /* with the conditions that are not in query */
  cube_vec unsafe;                   /* where it fails: all of it if `exact`, else as far as it is known */
  bool exact;
  uint32_t ways;  /* counterexamples that were needed */
  bool has_proof; /* the newest one: of the rest if `exact`, else how far it got */
  bool has_edge;  /* a counterexample on the edge */
  struct proof proof, edge;
  struct text scripts; /* SMT-LIB: what confirms the regions */
  double seconds;
  size_t memory;
};
void threshold_release(struct threshold *);

void threshold_text(const struct threshold *, const struct style *, struct text *);
json_t *threshold_json(const struct threshold *);

#endif
