/* Shared by the text renderers of a trace: values, groups of processes that do the same, labelled lines. */
#ifndef RONDO_REPORT_TRACE_PRINTER_H
#define RONDO_REPORT_TRACE_PRINTER_H

#include "report/trace_text.h"

struct trace_printer {
  const struct trace *trace;
  const struct model *model;
  const struct style *style;
  struct text *out;
  struct trace_document *document; /* the document that contains the text, or NULL */
  uint32_t until;                  /* step models: only steps before it are grouped */
};

/* Processes that do the same share a line. */
struct process_group {
  char *what;
  uint8_t *members;
};
struct process_groups {
  VEC(struct process_group) at;
};
void process_groups_add(struct process_groups *, const struct trace_printer *, uint32_t process,
                        struct text *what); /* takes ownership of the text */
/* Prints "P(1), P(3): what" for each group, and releases the groups. */
void process_groups_print(struct process_groups *, const struct trace_printer *, const char *label, bool one_each);
void process_groups_release(struct process_groups *);

void trace_printer_value(const struct trace_printer *, struct text *, const struct type *,
                         value); /* shortened unless verbose */
/* Starts a section. number: of the round; 0: the start; PART_OTHER: none of these. */
void trace_printer_heading(const struct trace_printer *, const char *, uint32_t number);
void trace_printer_mark_steps(const struct trace_printer *, uint32_t first,
                              uint32_t last); /* starts a step, or several */
void trace_printer_phrase(const struct trace_printer *, const char *label, const char *phrase);

/* Called for each differing part of an array or record; for other types, for the whole value. */
typedef void changed_part_fn(const struct trace_printer *, const struct type *, const char *place, value before,
                             value after, void *context);
void trace_printer_changed_parts(const struct trace_printer *, const struct type *, const char *place, value before,
                                 value after, changed_part_fn *, void *context);
/* Adds "x 2 -> 1", for arrays and records only the parts that differ; after a comma if the text is not empty. */
void trace_printer_change(const struct trace_printer *, const struct type *, const char *place, value before,
                          value after, struct text *);
/* Adds "  (lines 3, 4)", the lines of the changes other than the line `known`. */
void trace_printer_lines(const struct trace_printer *, const struct change *, size_t n, uint32_t known, struct text *);

/* Must the start show the variable, because its initial value is a choice? True for all variables if verbose. */
bool trace_printer_shows_start(const struct trace_printer *, const struct var *);
/* "round 3: vote, phase 2" */
void trace_printer_round_title(const struct trace_printer *, uint32_t step, struct text *);
/* "coord = P(1), ...": the oracles of the process in that round. */
void trace_printer_oracles(const struct trace_printer *, uint32_t step, uint32_t process, struct text *);
/* The receivers of each message that the process forges in that round. */
void trace_printer_forged(const struct trace_printer *, uint32_t step, uint32_t process, struct process_groups *);
/* Round number step + 1: choices, messages sent, heard-of sets, changes. */
void trace_printer_round(const struct trace_printer *, uint32_t step);

/* Fine rounds: the order in which processes completed their rounds, and the round each is in. */
void trace_printer_order(const struct trace_printer *);

/* Steps from .. to - 1 of a run of a step model, under a heading. */
void trace_printer_steps(const struct trace_printer *, const char *heading, uint32_t from, uint32_t to);
/* For an infinite run: why it satisfies the assumptions of the environment. */
void trace_printer_assumptions(const struct trace_printer *, struct interpreter *);
/* Messages in transit, by receiver, after a label. */
void trace_printer_in_flight(const struct trace_printer *, const struct config *, const char *label);

#endif
