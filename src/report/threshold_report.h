/* The results of `rondo threshold`, as text and JSON. */
#ifndef RONDO_REPORT_THRESHOLD_REPORT_H
#define RONDO_REPORT_THRESHOLD_REPORT_H

#include "param/proof.h"
#include "report/check_result.h"
#include "report/layout.h"

#include <jansson.h>

#define THRESHOLD_SCHEMA "rondo-threshold/1"

struct threshold {
  const struct counter_property *property;
  const struct counter_graph *graph; /* with the conditions other than the queried ones */
  cube_vec unsafe;                   /* the region where the property fails: complete if `exact`, else the known part */
  bool exact;
  uint32_t ways;  /* number of counterexamples used */
  bool has_proof; /* the latest proof: that the rest is safe if `exact`, else how far it got */
  bool has_edge;  /* has a counterexample on the boundary of the region */
  struct proof proof, edge;
  /* A derived system: the same by the algorithm itself, and the interpreter of its run; or NULL. Borrowed. */
  const struct property_result *found;
  struct interpreter *interp;
  struct text scripts; /* SMT-LIB scripts that confirm the regions */
  double seconds;
  size_t memory;
};
void threshold_release(struct threshold *);

void threshold_text(const struct threshold *, const struct style *, struct text *);
json_t *threshold_json(const struct threshold *);

#endif
