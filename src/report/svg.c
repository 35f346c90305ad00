#include "report/svg.h"

#include <string.h>

static const char *const strokes[] = {"life", "gone", "grid", "msg", "lie", "lost", "open", "tie", "loop", "end"};
static const char *const inks[] = {"plain", "faint", "key", "bad", "good"};

/* Every colour has two variants: for light and for dark backgrounds. */
static const char style[] =
    "<style>\n"
    "text{font:12px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre;paint-order:stroke;"
    "stroke-width:3px;stroke-linejoin:round}\n"
    ".title{font-size:15px;font-weight:bold}\n"
    "path,line{fill:none}\n"
    ".life{stroke-width:1.6}.gone{stroke-width:1;stroke-dasharray:1 4}.grid{stroke-width:1}\n"
    ".msg,.lie,.open{stroke-width:1.1}.lie{stroke-width:1.6}.lost{stroke-width:1.1;stroke-dasharray:5 3}\n"
    ".tie{stroke-width:1;stroke-dasharray:2 3}.loop{stroke-width:2}.end{stroke-width:1.5}\n"
    ".cut{stroke-width:1.6}.crash{stroke-width:3}.ring{stroke-width:1.4}text.key{font-weight:bold}\n"
    ".paper,.ring{fill:#fff}text{stroke:#fff}\n"
    ".plain{fill:#24292f}.faint{fill:#656d76}.key{fill:#0550ae}.bad{fill:#c4232b}.good{fill:#1a7f37}\n"
    ".life,.ring{stroke:#424a53}.gone,.tie{stroke:#8c959f}.grid{stroke:#e3e6ea}.msg,.open{stroke:#6e7781}\n"
    ".lost,.cut{stroke:#b35900}.lie,.crash,.end{stroke:#c4232b}.loop{stroke:#8250df}.h-msg{fill:#6e7781}.h-lie{fill:#"
    "c4232b}\n"
    "@media (prefers-color-scheme:dark){\n"
    ".paper,.ring{fill:#0d1117}text{stroke:#0d1117}\n"
    ".plain{fill:#e6edf3}.faint{fill:#9198a1}.key{fill:#79c0ff}.bad{fill:#ff7b72}.good{fill:#56d364}\n"
    ".life,.ring{stroke:#adb5bd}.gone,.tie{stroke:#6e7681}.grid{stroke:#262c34}.msg,.open{stroke:#848d97}\n"
    ".lost,.cut{stroke:#f0883e}.lie,.crash,.end{stroke:#ff7b72}.loop{stroke:#d2a8ff}.h-msg{fill:#848d97}.h-lie{fill:#"
    "ff7b72}\n"
    "}\n"
    "</style>\n"
    "<defs>\n"
    "<marker id=\"to\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" "
    "markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"h-msg\" d=\"M0 1L8 4L0 7z\"/></marker>\n"
    "<marker id=\"lie\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"9\" markerHeight=\"9\" "
    "markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"h-lie\" d=\"M0 1L8 4L0 7z\"/></marker>\n"
    "</defs>\n";

static unsigned characters(const char *words) { /* counts UTF-8 characters */
  unsigned n = 0;
  for (; *words; words++)
    n += ((unsigned char)*words & 0xc0) != 0x80;
  return n;
}

int svg_width(const char *words) { return (int)characters(words) * 29 / 4 + 1; } /* 12 px, 0.6 em each */

int svg_title_width(const char *words) { return (int)characters(words) * 37 / 4 + 1; }

static const char *head_of(enum stroke s) {
  return s == STROKE_MESSAGE ? " marker-end=\"url(#to)\"" : s == STROKE_FORGED ? " marker-end=\"url(#lie)\"" : "";
}

void svg_line(struct svg *s, enum stroke stroke, int x1, int y1, int x2, int y2) {
  text_addf(&s->lines, "<path class=\"%s\" d=\"M%d %dL%d %d\"%s/>\n", strokes[stroke], x1, y1, x2, y2, head_of(stroke));
}

void svg_arc(struct svg *s, enum stroke stroke, int x1, int y1, int x2, int y2, int bend) {
  text_addf(&s->lines, "<path class=\"%s\" d=\"M%d %dQ%d %d %d %d\"%s/>\n", strokes[stroke], x1, y1, (x1 + x2) / 2,
            (y1 + y2) / 2 + bend, x2, y2, head_of(stroke));
}

void svg_mark(struct svg *s, enum mark mark, enum ink ink, int x, int y) {
  switch (mark) {
  case MARK_DOT:
  case MARK_KEY:
    text_addf(&s->marks, "<circle class=\"%s\" cx=\"%d\" cy=\"%d\" r=\"%d\"/>\n", inks[ink], x, y,
              mark == MARK_KEY ? 5 : 3);
    break;
  case MARK_RING:
    text_addf(&s->marks, "<circle class=\"ring\" cx=\"%d\" cy=\"%d\" r=\"3\"/>\n", x, y);
    break;
  case MARK_SQUARE:
    text_addf(&s->marks, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"8\" height=\"8\"/>\n", inks[ink], x - 4, y - 4);
    break;
  case MARK_CROSS:
  case MARK_CRASH: {
    int r = mark == MARK_CRASH ? 6 : 4;
    text_addf(&s->marks, "<path class=\"%s\" d=\"M%d %dl%d %dm0 %dl%d %d\"/>\n", mark == MARK_CRASH ? "crash" : "cut",
              x - r, y - r, 2 * r, 2 * r, -2 * r, -2 * r, 2 * r);
    break;
  }
  }
}

void text_add_escaped(struct text *out, const char *words) {
  for (; *words; words++) {
    const char *name = *words == '&'   ? "&amp;"
                       : *words == '<' ? "&lt;"
                       : *words == '>' ? "&gt;"
                       : *words == '"' ? "&quot;"
                                       : NULL;
    if (name)
      text_add(out, name);
    else if ((unsigned char)*words >= ' ' || *words == '\n' ||
             *words == '\t') /* XML forbids other control characters */
      text_add_n(out, words, 1);
  }
}

static void add_words(struct svg *s, const char *more, enum ink ink, enum anchor anchor, int x, int y,
                      const char *words, const char *full) {
  static const char *const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
  text_addf(&s->words, "<text class=\"%s%s\" x=\"%d\" y=\"%d\"%s>", inks[ink], more, x, y, anchors[anchor]);
  if (full && strcmp(full, words) != 0) {
    text_add(&s->words, "<title>");
    text_add_escaped(&s->words, full);
    text_add(&s->words, "</title>");
  }
  text_add_escaped(&s->words, words);
  text_add(&s->words, "</text>\n");
}

void svg_words(struct svg *s, enum ink ink, enum anchor anchor, int x, int y, const char *words, const char *full) {
  add_words(s, "", ink, anchor, x, y, words, full);
}

void svg_title(struct svg *s, enum ink ink, int x, int y, const char *words) {
  add_words(s, " title", ink, ANCHOR_START, x, y, words, NULL);
}

void svg_finish(struct svg *s, const char *title, int width, int height, struct text *out) {
  text_addf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\">\n"
            "<title>",
            width, height, width, height);
  text_add_escaped(out, title);
  text_addf(out, "</title>\n%s<rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n%s%s%s</svg>\n", style, width, height,
            text_or_empty(&s->lines), text_or_empty(&s->marks), text_or_empty(&s->words));
  text_release(&s->lines);
  text_release(&s->marks);
  text_release(&s->words);
}

void text_add_fitted(const char *words, unsigned most, struct text *out) {
  if (characters(words) <= most) {
    text_add(out, words);
    return;
  }
  unsigned n = 0;
  const char *end = words;
  for (; *end; end++)
    if (((unsigned char)*end & 0xc0) != 0x80 && n++ == most - 2)
      break;
  text_add_n(out, words, (size_t)(end - words));
  text_add(out, "..");
}
