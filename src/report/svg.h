/* A drawing, in the words of SVG: lines below, marks on them, words on top. Whole numbers only, so that the same run
   gives the same bytes everywhere; one fixed-width font, so that the width of a word is known. */
#ifndef RONDO_REPORT_SVG_H
#define RONDO_REPORT_SVG_H

#include "base/text.h"

#include <stdbool.h>

struct svg {
  struct text lines, marks, words;
};

/* Colours and strokes are classes of a style sheet inside the drawing: for light and for dark backgrounds. */
enum stroke {
  STROKE_LIFE,    /* of a process that takes part */
  STROKE_GONE,    /* of one that no longer does */
  STROKE_GRID,    /* where a round begins */
  STROKE_MESSAGE, /* an arrow */
  STROKE_FORGED,  /* an arrow: made up, or changed on the way */
  STROKE_LOST,    /* dashed, no head */
  STROKE_PENDING, /* no head */
  STROKE_TIE,     /* what belongs together */
  STROKE_LOOP,
  STROKE_END
};
enum ink { INK_PLAIN, INK_FAINT, INK_KEY /* what the property speaks of */, INK_BAD, INK_GOOD };
enum anchor { ANCHOR_START, ANCHOR_MIDDLE, ANCHOR_END };
enum mark {
  MARK_DOT,
  MARK_KEY,    /* a larger dot: something that the property speaks of changes */
  MARK_RING,   /* hollow: a message is there, and waits */
  MARK_SQUARE, /* a shared variable is written; a process halts */
  MARK_CROSS,  /* a message is lost */
  MARK_CRASH
};

#define SVG_LINE 14 /* from one line of words to the next */

int svg_width(const char *words); /* of ordinary words; of titles, more */
int svg_title_width(const char *words);

void svg_line(struct svg *, enum stroke, int x1, int y1, int x2, int y2);
void svg_arc(struct svg *, enum stroke, int x1, int y1, int x2, int y2,
             int bend); /* bend: how far above (< 0) or below */
void svg_mark(struct svg *, enum mark, enum ink, int x, int y);
/* full: what a pointer that rests on the words is shown, or NULL. */
void svg_words(struct svg *, enum ink, enum anchor, int x, int y, const char *words, const char *full);
void svg_title(struct svg *, enum ink, int x, int y, const char *words);

/* The whole drawing; releases it. */
void svg_finish(struct svg *, const char *title, int width, int height, struct text *out);

/* At most `most` characters of it: what does not fit is "..". */
void text_add_fitted(const char *words, unsigned most, struct text *out);
/* With what XML and HTML would take for their own replaced. */
void text_add_escaped(struct text *, const char *);

#endif
