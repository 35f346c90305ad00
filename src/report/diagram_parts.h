/* Shared by the diagrams of rounds and of steps: rows, labels, the caption, the legend. */
#ifndef RONDO_REPORT_DIAGRAM_PARTS_H
#define RONDO_REPORT_DIAGRAM_PARTS_H

#include "report/diagram.h"
#include "report/svg.h"
#include "report/trace_printer.h"

#define DIAGRAM_MARGIN 16
#define FOLD_FROM 7 /* processes: from so many on, identical ones are drawn as one line */

/* Labels: lines of text, one above the other. */
struct label_line {
  enum ink ink;
  unsigned kind;      /* INK_MESSAGE: as in struct svg */
  char *words, *full; /* owned; full: before truncation */
};
struct labels {
  VEC(struct label_line) at;
};
void labels_release(struct labels *);
int labels_width(const struct labels *);
bool labels_equal(const struct labels *, const struct labels *);
/* Keeps at most LABELS_MAX lines; the last one gives the number of omitted lines. */
#define LABELS_MAX 4
void labels_cut(struct labels *);
/* Makes one line of those of witnesses and one of the others, of at most that many characters each. */
void labels_join(struct labels *, unsigned most);
#define BESIDE_WORDS 12 /* room beside labels */

/* Processes that are drawn as one line, or a shared variable. */
struct diagram_row {
  uint32_t first, count; /* the first of the processes, and their number; shared variables: index of the global, 0 */
  uint8_t *members;      /* owned, by process; shared variables: NULL */
  char *name, *shown;    /* owned; shown: of limited length */
  char *list;            /* owned: the numbers of the processes */
  unsigned above, below; /* lines of text above and below */
  int y;
};

enum legend_entry {
  LEGEND_KEY,
  LEGEND_LOST,
  LEGEND_PARTLY,
  LEGEND_FORGED,
  LEGEND_CRASH,
  LEGEND_RECOVERS,
  LEGEND_BYZANTINE,
  LEGEND_OMITS,
  LEGEND_HALTS,
  LEGEND_PENDING,
  LEGEND_WAITS,
  LEGEND_WRITES,
  LEGEND_HEARD_CELL,
  LEGEND_PARTLY_CELL,
  LEGEND_LOST_CELL,
  LEGEND_FORGED_CELL,
  LEGEND_COUNT
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
  bool *witness;            /* by process: is the instance of the property about it? */
  unsigned widest;          /* maximal number of characters of a label */
  struct diagram_row *rows; /* processes, then shared variables */
  uint32_t nrows;
  uint32_t nlines;  /* rows of processes */
  uint32_t *row_of; /* by process */
  bool caption, fold;
  int left;                  /* where the lines begin */
  int right;                 /* where the drawing ends */
  int head;                  /* lines of text between caption and rows: headings, the loop */
  bool legend[LEGEND_COUNT]; /* the entries that are needed */
  bool kinds[SVG_KINDS];     /* by colour: is there a message of that kind? */
  struct text shown[4];      /* strings of svg.hook */
};

/* What is drawn next shows the row in that step of the trace; NO_STEP_SHOWN: at the start. */
#define NO_STEP_SHOWN UINT32_MAX
void diagram_show(struct diagram *, uint32_t step, uint32_t row);
/* The same for a message; the text is the message. kind: steps only. */
void diagram_show_message(struct diagram *, uint32_t step, uint32_t from_row, uint32_t to_row, uint32_t kind,
                          const char *message);
void diagram_show_nothing(struct diagram *);
unsigned diagram_kind_colour(const struct diagram *, uint32_t kind);

/* Adds a line to the labels, truncated if too long; takes ownership of the text. Empty lines are skipped. */
void diagram_label(const struct diagram *, struct labels *, enum ink, struct text *);
/* Adds "x = 1" for each changed part, witnesses of the property first. Returns whether there is one. */
bool diagram_changes(struct diagram *, uint32_t step, const struct change *, size_t n, struct labels *);
/* The fields of a record without their names: "(1, none)". For other types, the value. */
void diagram_short_value(const struct diagram *, const struct type *, value, struct text *);
/* The initial state of a process: "x = 1", "Byzantine". */
void diagram_start(struct diagram *, uint32_t process, struct labels *);
bool diagram_is_gone(const struct config *, uint32_t process); /* crashed or halted */
int diagram_along(int from, int to, int hundredths);           /* a part of the way */

/* Makes the rows; class_of: by process, numbered by their first members; NULL: every process has its own. */
void diagram_make_rows(struct diagram *, const uint32_t *class_of, bool with_shared);
/* Computes the distances of the rows, once their labels are known. */
void diagram_space_rows(struct diagram *);
/* Moves the rows below the caption, once the width is known. Returns the end of the caption, with room for `head` lines
   after it. */
int diagram_place_rows(struct diagram *);
int diagram_bottom(const struct diagram *); /* of the rows and their labels */
void diagram_draw_labels(struct diagram *, const struct labels *, enum anchor, int x, int y, bool above);
void diagram_draw_names(struct diagram *);
/* The line of a process in the state `c`. */
void diagram_draw_life(struct diagram *, const struct config *c, uint32_t row, int x1, int x2);
/* The mark of a process that takes part in that step; key: a witness of the property changes. */
void diagram_draw_mark(struct diagram *, uint32_t step, uint32_t row, bool key, int x);
/* Lassos: an arrow from `end` back to `loop`. Violations: a line at the end of the run, from `top` to `bottom`. */
void diagram_draw_end(struct diagram *, int head, int loop, int end, int top, int bottom);
int diagram_draw_caption(struct diagram *);       /* returns its end */
int diagram_draw_legend(struct diagram *, int y); /* returns its end */

void diagram_rounds(struct diagram *);
void diagram_steps(struct diagram *);

/* Heard-of sets of the rows of a round: how many messages from one row to another were sent to processes that take
   part, how many of them arrived, and how many were forged. By receiver and sender: [to * nlines + from]. */
struct row_hearing {
  uint32_t sent, heard, forged;
};
struct row_hearing *diagram_hearing(const struct diagram *, uint32_t step); /* for memory_free */
/* Rounds as heard-of matrices: one column for each row that sends. */
void diagram_matrix(struct diagram *);
/* Labels of a row in a round: the messages that it sends, and oracles; what it changes, and what it misses. */
void diagram_label_sends(struct diagram *, uint32_t step, uint32_t row, bool all_forged, struct labels *);
bool diagram_label_changes(struct diagram *, uint32_t step, uint32_t row, bool misses, struct labels *);

#endif
