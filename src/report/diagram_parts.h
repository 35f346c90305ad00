/* What diagrams of rounds and of steps share: rows, labels, the caption. */
#ifndef RONDO_REPORT_DIAGRAM_PARTS_H
#define RONDO_REPORT_DIAGRAM_PARTS_H

#include "report/diagram.h"
#include "report/svg.h"
#include "report/trace_printer.h"

/* Words one above the other. */
struct label_line {
  enum ink ink;
  char *words, *full; /* owned; full: before it was cut */
};
struct labels {
  VEC(struct label_line) at;
};
void labels_release(struct labels *);
int labels_width(const struct labels *);
/* At most LABELS_MAX lines: instead of the others, how many there are. */
#define LABELS_MAX 4
void labels_cut(struct labels *);

/* A process, or a shared variable. */
struct diagram_row {
  unsigned above, below; /* lines of words on either side */
  int y;
};

struct diagram {
  const struct trace *trace;
  const struct model *model;
  const struct trace_document *document;
  struct trace_printer printer;
  struct style style;
  struct svg svg;
  bool **key; /* by role and variable: does the property speak of it? */
  bool *key_global;
  unsigned widest;          /* characters of a label */
  struct diagram_row *rows; /* processes, then shared variables */
  uint32_t nrows;
  int left;  /* where the lines begin */
  int right; /* where the drawing ends */
  int head;  /* lines of words above the rows, besides the caption: headings, the loop */
  bool lost, forged, crashed, pending, waits, keys; /* what the legend has to explain */
};

void diagram_init(struct diagram *, const struct trace *);
/* A line of the labels, cut where it is too long; takes the text. Empty ones are left out. */
void diagram_label(const struct diagram *, struct labels *, enum ink, struct text *);
/* "x = 1" for each part that changed; those that the property speaks of first. Returns whether the property speaks of
   one. */
bool diagram_changes(struct diagram *, const struct change *, size_t n, struct labels *);
/* The parts of a record, without their names: "(1, none)". Of other types, the value. */
void diagram_short_value(const struct diagram *, const struct type *, value, struct text *);
/* How the process starts: "x = 1", "Byzantine". */
void diagram_start(struct diagram *, uint32_t process, struct labels *);
const char *diagram_row_name(const struct diagram *, uint32_t row, struct text *);

/* Once their words are known: how far apart the rows are, the first of them at any place. */
void diagram_space_rows(struct diagram *);
/* Once x is known: moves the rows below the caption. Returns where that ends; `head` lines fit between. */
int diagram_place_rows(struct diagram *);
void diagram_draw_labels(struct diagram *, const struct labels *, enum anchor, int x, int y, bool above);
void diagram_draw_names(struct diagram *);
/* "loop" above [from, to], at y. */
void diagram_draw_loop(struct diagram *, int from, int to, int y, const char *word);
void diagram_finish(struct diagram *, struct text *out);

void diagram_rounds(struct diagram *);
void diagram_steps(struct diagram *);

#endif
