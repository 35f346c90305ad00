/* An SVG drawing in layers: lines, then marks, then text. All coordinates are integers, so the same run gives the same
   bytes everywhere. The font has a fixed width, so the width of a text is known. */
#ifndef RONDO_REPORT_SVG_H
#define RONDO_REPORT_SVG_H

#include "base/text.h"

#include <stdbool.h>

struct svg {
  struct text lines, marks, words;
};

/* Colours and strokes are classes of an embedded style sheet, which supports light and dark backgrounds. */
enum stroke {
  STROKE_LIFE,    /* line of an active process */
  STROKE_GONE,    /* line of a process that is no longer active */
  STROKE_GRID,    /* start of a round */
  STROKE_MESSAGE, /* an arrow */
  STROKE_FORGED,  /* an arrow: forged or corrupted message */
  STROKE_LOST,    /* dashed, no head */
  STROKE_PENDING, /* no head */
  STROKE_TIE,     /* connects related elements */
  STROKE_LOOP,
  STROKE_END
};
enum ink { INK_PLAIN, INK_FAINT, INK_KEY /* read by the property */, INK_BAD, INK_GOOD };
enum anchor { ANCHOR_START, ANCHOR_MIDDLE, ANCHOR_END };
enum mark {
  MARK_DOT,
  MARK_KEY,    /* a larger dot: a variable that the property reads changes */
  MARK_RING,   /* hollow: a message arrived and is pending */
  MARK_SQUARE, /* a shared variable is written; a process halts */
  MARK_CROSS,  /* a message is lost */
  MARK_CRASH
};

#define SVG_LINE 14 /* line spacing of text */

int svg_width(const char *words); /* of ordinary text; titles are wider */
int svg_title_width(const char *words);

void svg_line(struct svg *, enum stroke, int x1, int y1, int x2, int y2);
void svg_arc(struct svg *, enum stroke, int x1, int y1, int x2, int y2,
             int bend); /* bend: offset above (< 0) or below */
void svg_mark(struct svg *, enum mark, enum ink, int x, int y);
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
