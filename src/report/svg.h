/* An SVG drawing in layers: bands, lines, marks, text. All coordinates are integers, so the same run gives the same
   bytes everywhere. The font has a fixed width, so the width of a text is known.

   A drawing can stand alone or inside a page. Its style sheet concerns only its own elements (class "rondo-diagram"),
   all colours are custom properties (--rondo-ink, ...) that a page can set, and elements say what they show: data-step,
   data-process, data-from, data-to, data-kind, data-message (docs/pictures.md). It has no scripts. */
#ifndef RONDO_REPORT_SVG_H
#define RONDO_REPORT_SVG_H

#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

#define SVG_NO_STEP UINT32_MAX
#define SVG_KINDS 6 /* colours of kinds of messages */

/* What an element shows. Strings are borrowed until the element is added; NULL: none. */
struct svg_hook {
  uint32_t step;       /* its number, from 1; 0: the start */
  const char *steps;   /* or several numbers, separated by blanks */
  const char *process; /* numbers, separated by blanks */
  const char *from, *to;
  const char *kind, *message;
  const char *title; /* tooltip; text has its own */
};

struct svg {
  struct text bands, lines, marks, words;
  struct svg_hook hook;      /* of the elements that are added next */
  unsigned kind;             /* colour of the messages that are added next: 1 .. SVG_KINDS; 0: the common one */
  bool heads[SVG_KINDS + 2]; /* arrow heads that are used: by kind; of forged messages */
};

/* Colours and strokes are classes of an embedded style sheet, which supports light and dark backgrounds. */
enum stroke {
  STROKE_LIFE,      /* line of an active process */
  STROKE_GONE,      /* line of a process that is no longer active */
  STROKE_BYZANTINE, /* line of a Byzantine process */
  STROKE_GRID,      /* start of a round */
  STROKE_MESSAGE,   /* an arrow */
  STROKE_FORGED,    /* an arrow: forged or corrupted message */
  STROKE_LOST,      /* dashed, no head */
  STROKE_PENDING,   /* no head */
  STROKE_TIE,       /* connects related elements */
  STROKE_LOOP,
  STROKE_END
};
enum ink {
  INK_PLAIN,
  INK_FAINT,
  INK_KEY, /* a witness of the property: bold, highlighted */
  INK_BAD,
  INK_GOOD,
  INK_LOST,
  INK_MESSAGE /* the colour of svg.kind */
};
enum anchor { ANCHOR_START, ANCHOR_MIDDLE, ANCHOR_END };
enum mark {
  MARK_DOT,
  MARK_KEY,    /* a larger dot: a witness of the property changes */
  MARK_LARGE,  /* a larger dot: a process recovers */
  MARK_RING,   /* hollow: a message arrived and is pending */
  MARK_SQUARE, /* a shared variable is written; a process halts */
  MARK_CROSS,  /* a message is lost */
  MARK_CRASH
};
/* Cells of a heard-of matrix. */
enum cell { CELL_HEARD, CELL_PARTLY, CELL_LOST, CELL_FORGED, CELL_NOTHING };

#define SVG_LINE 14 /* line spacing of text */
#define SVG_CELL 12 /* size of a cell */

int svg_width(const char *words); /* of ordinary text; titles are wider */
int svg_title_width(const char *words);

void svg_hook_clear(struct svg *); /* what is added next shows nothing in particular */
void svg_band(struct svg *, const char *class, int x, int y, int width, int height); /* a rectangle behind everything */
void svg_line(struct svg *, enum stroke, int x1, int y1, int x2, int y2);
void svg_arc(struct svg *, enum stroke, int x1, int y1, int x2, int y2,
             int bend); /* bend: offset above (< 0) or below */
/* From (x1, y + depth) up to y, along to x2, and down again, with an arrow head there. */
void svg_loop(struct svg *, int x1, int x2, int y, int depth);
void svg_mark(struct svg *, enum mark, enum ink, int x, int y);
void svg_cell(struct svg *, enum cell, int x, int y); /* its centre */
void svg_cells(struct svg *, const char *path);       /* heard cells, at once */
/* A number above a column of cells. */
void svg_small(struct svg *, int x, int y, const char *words, const char *full);
/* full: the tooltip, or NULL. */
void svg_words(struct svg *, enum ink, enum anchor, int x, int y, const char *words, const char *full);
void svg_title(struct svg *, enum ink, int x, int y, const char *words);

/* Writes the complete drawing and releases it. */
void svg_finish(struct svg *, const char *title, int width, int height, struct text *out);

/* Adds at most `most` characters; a truncated text ends in "..". */
void text_add_fitted(const char *words, unsigned most, struct text *out);
/* Escapes the special characters of XML and HTML. */
void text_add_escaped(struct text *, const char *);

#endif
