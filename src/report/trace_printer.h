/* What the text renderers of a trace share: values, groups of processes that do the same, lines with a
 * label. */
#ifndef RONDO_REPORT_TRACE_PRINTER_H
#define RONDO_REPORT_TRACE_PRINTER_H

#include "report/trace_text.h"

struct trace_printer {
  const struct trace *trace;
  const struct model *model;
  const struct style *style;
  struct text *out;
  struct trace_document *document; /* of which that is a part; or NULL */
  uint32_t until;                  /* steps: only those before it are grouped */
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
                        struct text *what); /* takes the text */
/* "P(1), P(3): what" for each group, and releases them. */
void process_groups_print(struct process_groups *, const struct trace_printer *, const char *label, bool one_each);
void process_groups_release(struct process_groups *);

void trace_printer_value(const struct trace_printer *, struct text *, const struct type *,
                         value);                                        /* shortened unless verbose */
void trace_printer_heading(const struct trace_printer *, const char *); /* a section begins */
void trace_printer_mark_step(const struct trace_printer *);             /* a step begins */
void trace_printer_phrase(const struct trace_printer *, const char *label, const char *phrase);

/* Each part of an array or record that differs; of other types, the whole. */
typedef void changed_part_fn(const struct trace_printer *, const struct type *, const char *place, value before,
                             value after, void *context);
void trace_printer_changed_parts(const struct trace_printer *, const struct type *, const char *place, value before,
                                 value after, changed_part_fn *, void *context);
/* "x 2 -> 1"; of arrays and records only the parts that differ; after a comma if there is something already. */
void trace_printer_change(const struct trace_printer *, const struct type *, const char *place, value before,
                          value after, struct text *);
/* "  (lines 3, 4)": where the changes were made, unless that is known. */
void trace_printer_lines(const struct trace_printer *, const struct change *, size_t n, uint32_t known, struct text *);

/* Is its first value chosen, so that the start has to show it? Verbose: all. */
bool trace_printer_shows_start(const struct trace_printer *, const struct var *);
/* "round 3: vote, phase 2" */
void trace_printer_round_title(const struct trace_printer *, uint32_t step, struct text *);
/* "coord = P(1), ...": what is chosen for the process in that round. */
void trace_printer_oracles(const struct trace_printer *, uint32_t step, uint32_t process, struct text *);
/* Round number step + 1: what was chosen and sent, who heard whom, what changed. */
void trace_printer_round(const struct trace_printer *, uint32_t step);

/* Fine rounds: who ended which round when, and where everybody is. */
void trace_printer_order(const struct trace_printer *);

/* Steps from .. to - 1 of a run of them, under a heading. */
void trace_printer_steps(const struct trace_printer *, const char *heading, uint32_t from, uint32_t to);
/* Of a run that goes on for ever: how it can, although the environment assumes what it does. */
void trace_printer_assumptions(const struct trace_printer *, struct interpreter *);
/* Messages on their way, by receiver, after a label. */
void trace_printer_in_flight(const struct trace_printer *, const struct config *, const char *label);

#endif
