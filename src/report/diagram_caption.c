/* The caption of a diagram and its legend. */
#include "report/diagram_parts.h"

#include <string.h>

#define FORMULA_MAX 600 /* characters of a formula in the caption */
#define SAMPLE 28       /* width of a sample in the legend */

/* --- the caption --- */

static void draw_wrapped(struct diagram *d, const char *line, int *y) {
  size_t most = (size_t)(d->right - DIAGRAM_MARGIN) * 4 / 29, n = strlen(line), from = 0;
  size_t indent = strspn(line, " ");
  for (from = indent; from < n;) {
    size_t fits = n - from;
    if (fits > most) {
      for (fits = most; fits > most / 2 && line[from + fits] != ' ';)
        fits--;
      while (((unsigned char)line[from + fits] & 0xc0) == 0x80) /* do not break inside a UTF-8 character */
        fits++;
    }
    struct text part = {0};
    text_add_n(&part, line + from, fits);
    svg_words(&d->svg, indent ? INK_PLAIN : INK_FAINT, ANCHOR_START, DIAGRAM_MARGIN, *y, part.at, NULL);
    text_release(&part);
    *y += SVG_LINE + 2;
    from += fits + strspn(line + from + fits, " ");
  }
}

/* Draws each line of a text. */
static void draw_lines(struct diagram *d, const struct text *text, int *y) {
  for (const char *line = text_or_empty(text); *line;) {
    size_t n = strcspn(line, "\n");
    struct text words = {0};
    text_add_n(&words, line, n < FORMULA_MAX ? n : FORMULA_MAX);
    draw_wrapped(d, text_or_empty(&words), y);
    text_release(&words);
    line += n + (line[n] != '\0');
  }
}

/* The claim and the model, then the full formula, and why the run may continue forever. */
int diagram_draw_caption(struct diagram *d) {
  const struct trace_document *of = d->document;
  int y = DIAGRAM_MARGIN + 14;
  if (!d->caption)
    return DIAGRAM_MARGIN - 4;
  if (of->title.n) {
    struct text words = {0};
    text_addf(&words, "%s%s", of->title.at, text_or_empty(&of->place));
    svg_title(&d->svg, of->good ? INK_GOOD : INK_BAD, DIAGRAM_MARGIN, y, words.at);
    if (DIAGRAM_MARGIN + svg_title_width(words.at) > d->right)
      d->right = DIAGRAM_MARGIN + svg_title_width(words.at);
    text_release(&words);
    y += 20;
  }
  draw_wrapped(d, of->subject.at, &y);
  draw_lines(d, &of->details, &y);
  draw_lines(d, &of->reasons, &y);
  return y;
}

/* --- the legend --- */

static const char *const explained[LEGEND_COUNT] = {
    [LEGEND_KEY] = "what the property is about",
    [LEGEND_LOST] = "lost message",
    [LEGEND_PARTLY] = "some arrive",
    [LEGEND_FORGED] = "forged or corrupted message",
    [LEGEND_CRASH] = "crash",
    [LEGEND_RECOVERS] = "recovery",
    [LEGEND_BYZANTINE] = "Byzantine: sends anything",
    [LEGEND_OMITS] = "some of its messages may be lost",
    [LEGEND_HALTS] = "halts",
    [LEGEND_PENDING] = "still on its way",
    [LEGEND_WAITS] = "delivered, or in a round that has not ended",
    [LEGEND_WRITES] = "writes a shared variable",
    [LEGEND_HEARD_CELL] = "heard",
    [LEGEND_PARTLY_CELL] = "some of them heard",
    [LEGEND_LOST_CELL] = "sent, not heard",
    [LEGEND_FORGED_CELL] = "heard, but forged or corrupted",
};

static void draw_sample(struct diagram *d, enum legend_entry entry, int x, int y) {
  struct svg *s = &d->svg;
  int middle = x + SAMPLE / 2 - 4, end = x + SAMPLE - 8;
  switch (entry) {
  case LEGEND_KEY:
    svg_mark(s, MARK_KEY, INK_KEY, middle, y);
    break;
  case LEGEND_LOST:
    svg_line(s, STROKE_LOST, x, y, end, y);
    svg_mark(s, MARK_CROSS, INK_BAD, end, y);
    break;
  case LEGEND_PARTLY:
    svg_words(s, INK_LOST, ANCHOR_START, x - 4, y + 4, "1/2", NULL);
    break;
  case LEGEND_FORGED:
    svg_line(s, STROKE_FORGED, x, y, end, y);
    break;
  case LEGEND_CRASH:
    svg_mark(s, MARK_CRASH, INK_BAD, middle, y);
    break;
  case LEGEND_RECOVERS:
    svg_mark(s, MARK_LARGE, INK_GOOD, middle, y);
    break;
  case LEGEND_BYZANTINE:
    svg_line(s, STROKE_BYZANTINE, x, y, end, y);
    break;
  case LEGEND_OMITS:
    svg_words(s, INK_BAD, ANCHOR_START, x - 8, y + 4, "omit", NULL);
    break;
  case LEGEND_HALTS:
  case LEGEND_WRITES:
    svg_mark(s, MARK_SQUARE, INK_PLAIN, middle, y);
    break;
  case LEGEND_PENDING:
    svg_line(s, STROKE_PENDING, x, y, end, y);
    svg_mark(s, MARK_RING, INK_PLAIN, end, y);
    break;
  case LEGEND_WAITS:
    svg_mark(s, MARK_RING, INK_PLAIN, middle, y);
    break;
  case LEGEND_HEARD_CELL:
    svg_cell(s, CELL_HEARD, middle, y);
    break;
  case LEGEND_PARTLY_CELL:
    svg_cell(s, CELL_PARTLY, middle, y);
    break;
  case LEGEND_LOST_CELL:
    svg_cell(s, CELL_LOST, middle, y);
    break;
  case LEGEND_FORGED_CELL:
    svg_cell(s, CELL_FORGED, middle, y);
    break;
  case LEGEND_COUNT:
    break;
  }
}

/* Moves to the next line if the words do not fit. */
static void make_room(const struct diagram *d, const char *words, int *x, int *y) {
  if (*x > DIAGRAM_MARGIN && *x + SAMPLE + svg_width(words) > d->right) {
    *x = DIAGRAM_MARGIN;
    *y += SVG_LINE + 6;
  }
}

static void draw_kind(struct diagram *d, unsigned colour, int *x, int *y) {
  struct text names = {0};
  for (uint32_t k = colour; k < d->model->nmessages; k += SVG_KINDS)
    text_addf(&names, "%s%s", names.n ? ", " : "", d->model->messages[k].name);
  make_room(d, text_or_empty(&names), x, y);
  d->svg.kind = colour + 1;
  svg_line(&d->svg, STROKE_MESSAGE, *x, *y - 4, *x + SAMPLE - 6, *y - 4);
  d->svg.kind = 0;
  svg_words(&d->svg, INK_FAINT, ANCHOR_START, *x + SAMPLE, *y, text_or_empty(&names), NULL);
  *x += SAMPLE + svg_width(text_or_empty(&names)) + 22;
  text_release(&names);
}

int diagram_draw_legend(struct diagram *d, int y) {
  int x = DIAGRAM_MARGIN, first = y;
  bool any = false;
  for (unsigned k = 0; k < SVG_KINDS; k++)
    if (d->kinds[k]) {
      draw_kind(d, k, &x, &y);
      any = true;
    }
  for (int i = 0; i < LEGEND_COUNT; i++) {
    if (!d->legend[i])
      continue;
    make_room(d, explained[i], &x, &y);
    draw_sample(d, (enum legend_entry)i, x, y - 4);
    svg_words(&d->svg, INK_FAINT, ANCHOR_START, x + SAMPLE, y, explained[i], NULL);
    x += SAMPLE + svg_width(explained[i]) + 22;
    any = true;
  }
  return any ? y : first - SVG_LINE;
}
