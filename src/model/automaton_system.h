/* The typed form of a threshold automaton: a counter system without properties, whose counters are the locations and
   the shared variables, and specifications, which are formulas of temporal logic. It comes from a file
   (lang/threshold_automaton.h), or from a counter system of that shape (export/counter_automaton.h). */
#ifndef RONDO_MODEL_AUTOMATON_SYSTEM_H
#define RONDO_MODEL_AUTOMATON_SYSTEM_H

#include "model/counter_system.h"

enum ta_formula_op {
  TA_STATE, /* a condition on one state: `term` */
  TA_NOT,
  TA_AND,
  TA_OR,
  TA_IMPLIES,
  TA_ALWAYS,
  TA_EVENTUALLY,
  TA_FINALLY, /* the condition `term` holds in the last state; only in normal forms (ta_tableau.h) */
};

struct ta_formula {
  enum ta_formula_op op;
  struct span at;
  struct term *term;
  struct ta_formula *kid[2];
};

struct ta_specification {
  const char *name;
  struct span at; /* of the name */
  struct ta_formula *formula;
  const char *text; /* as written, on one line */
};

struct ta_rule {
  uint32_t from, to; /* counters */
  bool idle;         /* changes nothing: not among the moves */
  struct span at;
};

struct threshold_automaton {
  struct counter_system *system; /* without properties: its moves are the rules that are not idle */
  bool *is_location;             /* by counter; the others are shared variables */
  struct ta_rule *rules;
  uint32_t nrules;
  struct ta_specification *specifications;
  uint32_t nspecifications;
  uint32_t *unknowns; /* parameters of the system: unknowns without a value, if it was read with them left open */
  uint32_t nunknowns;
};

#endif
