/* Shared by the diagrams of rounds and of steps: rows, labels, the caption. */
#ifndef RONDO_REPORT_DIAGRAM_PARTS_H
#define RONDO_REPORT_DIAGRAM_PARTS_H

#include "report/diagram.h"
#include "report/svg.h"
#include "report/trace_printer.h"

/* Labels: lines of text, one above the other. */
struct label_line {
  enum ink ink;
  char *words, *full; /* owned; full: before truncation */
};
struct labels {
  VEC(struct label_line) at;
};
void labels_release(struct labels *);
int labels_width(const struct labels *);
/* Keeps at most LABELS_MAX lines; the last one gives the number of omitted lines. */
#define LABELS_MAX 4
void labels_cut(struct labels *);
#define BESIDE_WORDS 12 /* room beside labels */

/* A process, or a shared variable. */
struct diagram_row {
  unsigned above, below; /* lines of text above and below */
  int y;
};

struct diagram {
  const struct trace *trace;
  const struct model *model;
  const struct trace_document *document;
  struct trace_printer printer;
  struct style style;
  struct svg svg;
  bool **key; /* by role and variable: does the property read it? */
  bool *key_global;
  unsigned widest;          /* maximal number of characters of a label */
  struct diagram_row *rows; /* processes, then shared variables */
  uint32_t nrows;
  int left;                                         /* where the lines begin */
  int right;                                        /* where the drawing ends */
  int head;                                         /* lines of text between caption and rows: headings, the loop */
  bool lost, forged, crashed, pending, waits, keys; /* entries of the legend */
  bool caption;
  struct text shown[3]; /* strings of svg.hook */
};

void diagram_init(struct diagram *, const struct trace *);
/* What is drawn next shows the process (a row) in that step of the trace; NO_STEP_SHOWN: at the start. */
#define NO_STEP_SHOWN UINT32_MAX /* the start */
#define NO_ROW_SHOWN UINT32_MAX
void diagram_show(struct diagram *, uint32_t step, uint32_t row);
/* The same for a message; the text is the message. kind: steps only. */
void diagram_show_message(struct diagram *, uint32_t step, uint32_t from, uint32_t to, uint32_t kind,
                          const char *message);
void diagram_show_nothing(struct diagram *);
/* Adds a line to the labels, truncated if too long; takes ownership of the text. Empty lines are skipped. */
void diagram_label(const struct diagram *, struct labels *, enum ink, struct text *);
/* Adds "x = 1" for each changed part, those that the property reads first. Returns whether the property reads one. */
bool diagram_changes(struct diagram *, const struct change *, size_t n, struct labels *);
/* The fields of a record without their names: "(1, none)". For other types, the value. */
void diagram_short_value(const struct diagram *, const struct type *, value, struct text *);
/* The initial state of a process: "x = 1", "Byzantine". */
void diagram_start(struct diagram *, uint32_t process, struct labels *);
bool diagram_is_gone(const struct config *, uint32_t process); /* crashed or halted */
int diagram_along(int from, int to, int hundredths);           /* a part of the way */
const char *diagram_row_name(const struct diagram *, uint32_t row, struct text *);

/* Computes the distances of the rows, once their labels are known. */
void diagram_space_rows(struct diagram *);
/* Moves the rows below the caption, once the width is known. Returns the end of the caption, with room for `head` lines
   after it. */
int diagram_place_rows(struct diagram *);
void diagram_draw_labels(struct diagram *, const struct labels *, enum anchor, int x, int y, bool above);
void diagram_draw_names(struct diagram *);
/* The mark of a process that takes part in that step; key: it changes what the property reads. */
void diagram_draw_mark(struct diagram *, uint32_t step, uint32_t process, bool key, int x);
/* Lassos: the word "loop" above [loop, end]. Violations: a line at the end of the run, from `top` to `bottom`. */
void diagram_draw_end(struct diagram *, int head, int loop, int end, int top, int bottom);
void diagram_finish(struct diagram *, struct text *out);

void diagram_rounds(struct diagram *);
void diagram_steps(struct diagram *);

#endif
