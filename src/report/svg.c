#include "report/svg.h"

#include "report/viewer_files.h"

#include <string.h>

static const char *const strokes[] = {"life", "gone", "byzantine", "grid", "msg", "lie",
                                      "lost", "open", "tie",       "loop", "end"};
static const char *const inks[] = {"plain", "faint", "key", "bad", "good", "lost", "msg"};

#define HEAD_FORGED (SVG_KINDS + 1)

static unsigned characters(const char *words) { /* counts UTF-8 characters */
  unsigned n = 0;
  for (; *words; words++)
    n += ((unsigned char)*words & 0xc0) != 0x80;
  return n;
}

int svg_width(const char *words) { return (int)characters(words) * 29 / 4 + 1; } /* 12 px, 0.6 em each */

int svg_title_width(const char *words) { return (int)characters(words) * 37 / 4 + 1; }

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

/* --- what an element shows --- */

void svg_hook_clear(struct svg *s) {
  s->hook = (struct svg_hook){.step = SVG_NO_STEP};
  s->kind = 0;
}

static void add_attribute(struct text *out, const char *name, const char *v) {
  if (!v)
    return;
  text_addf(out, " data-%s=\"", name);
  text_add_escaped(out, v);
  text_add(out, "\"");
}

static void add_hook(const struct svg *s, struct text *out) {
  const struct svg_hook *h = &s->hook;
  if (h->steps)
    add_attribute(out, "step", h->steps);
  else if (h->step != SVG_NO_STEP)
    text_addf(out, " data-step=\"%u\"", h->step);
  add_attribute(out, "process", h->process);
  add_attribute(out, "from", h->from);
  add_attribute(out, "to", h->to);
  add_attribute(out, "kind", h->kind);
  add_attribute(out, "message", h->message);
}

/* The end of an element, with its tooltip. */
static void end_element(const struct svg *s, struct text *out, const char *element) {
  if (!s->hook.title) {
    text_add(out, "/>\n");
    return;
  }
  text_add(out, "><title>");
  text_add_escaped(out, s->hook.title);
  text_addf(out, "</title></%s>\n", element);
}

/* --- lines --- */

/* The class: for messages, with their kind. */
static void begin_path(struct svg *s, enum stroke stroke) {
  bool message = stroke == STROKE_MESSAGE || stroke == STROKE_PENDING;
  text_addf(&s->lines, "<path class=\"%s", strokes[stroke]);
  if (message && s->kind)
    text_addf(&s->lines, " k%u", s->kind);
  text_add(&s->lines, "\"");
  add_hook(s, &s->lines);
}

static void end_path(struct svg *s, enum stroke stroke) {
  if (stroke == STROKE_MESSAGE) {
    s->heads[s->kind] = true;
    text_addf(&s->lines, " marker-end=\"url(#rondo-head-%u)\"", s->kind);
  } else if (stroke == STROKE_FORGED) {
    s->heads[HEAD_FORGED] = true;
    text_add(&s->lines, " marker-end=\"url(#rondo-head-lie)\"");
  }
  end_element(s, &s->lines, "path");
}

void svg_band(struct svg *s, const char *class, int x, int y, int width, int height) {
  text_addf(&s->bands, "<rect class=\"%s\"", class);
  add_hook(s, &s->bands);
  text_addf(&s->bands, " x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"", x, y, width, height);
  end_element(s, &s->bands, "rect");
}

void svg_line(struct svg *s, enum stroke stroke, int x1, int y1, int x2, int y2) {
  begin_path(s, stroke);
  text_addf(&s->lines, " d=\"M%d %dL%d %d\"", x1, y1, x2, y2);
  end_path(s, stroke);
}

void svg_arc(struct svg *s, enum stroke stroke, int x1, int y1, int x2, int y2, int bend) {
  begin_path(s, stroke);
  text_addf(&s->lines, " d=\"M%d %dQ%d %d %d %d\"", x1, y1, (x1 + x2) / 2, (y1 + y2) / 2 + bend, x2, y2);
  end_path(s, stroke);
}

void svg_loop(struct svg *s, int x1, int x2, int y, int depth) {
  begin_path(s, STROKE_LOOP);
  text_addf(&s->lines, " d=\"M%d %dV%dH%dV%d\"", x1, y + depth, y, x2, y + depth - 6);
  end_path(s, STROKE_LOOP);
  text_addf(&s->lines, "<path class=\"head-loop\" d=\"M%d %dl5 -8h-10z\"/>\n", x2, y + depth + 1);
}

/* --- marks --- */

void svg_mark(struct svg *s, enum mark mark, enum ink ink, int x, int y) {
  struct text *out = &s->marks;
  switch (mark) {
  case MARK_KEY:
    text_add(out, "<circle class=\"halo\"");
    add_hook(s, out);
    text_addf(out, " cx=\"%d\" cy=\"%d\" r=\"9\"/>\n", x, y);
    /* fallthrough */
  case MARK_LARGE:
  case MARK_DOT:
    text_addf(out, "<circle class=\"%s\"", inks[ink]);
    add_hook(s, out);
    text_addf(out, " cx=\"%d\" cy=\"%d\" r=\"%d\"", x, y, mark == MARK_DOT ? 3 : 5);
    end_element(s, out, "circle");
    break;
  case MARK_RING:
    text_add(out, "<circle class=\"ring\"");
    add_hook(s, out);
    text_addf(out, " cx=\"%d\" cy=\"%d\" r=\"3\"", x, y);
    end_element(s, out, "circle");
    break;
  case MARK_SQUARE:
    if (ink == INK_KEY) {
      text_add(out, "<rect class=\"halo\"");
      add_hook(s, out);
      text_addf(out, " x=\"%d\" y=\"%d\" width=\"16\" height=\"16\"/>\n", x - 8, y - 8);
    }
    text_addf(out, "<rect class=\"%s\"", inks[ink]);
    add_hook(s, out);
    text_addf(out, " x=\"%d\" y=\"%d\" width=\"8\" height=\"8\"", x - 4, y - 4);
    end_element(s, out, "rect");
    break;
  case MARK_CROSS:
  case MARK_CRASH: {
    int r = mark == MARK_CRASH ? 6 : 4;
    text_addf(out, "<path class=\"%s\"", mark == MARK_CRASH ? "crash" : "cut");
    add_hook(s, out);
    text_addf(out, " d=\"M%d %dl%d %dm0 %dl%d %d\"", x - r, y - r, 2 * r, 2 * r, -2 * r, -2 * r, 2 * r);
    end_element(s, out, "path");
    break;
  }
  }
}

void svg_cell(struct svg *s, enum cell cell, int x, int y) {
  static const char *const classes[] = {"heard", "partly", "hole", "forged", "nothing"};
  struct text *out = &s->marks;
  int half = cell == CELL_NOTHING ? 1 : SVG_CELL / 2 - 1, tall = cell == CELL_PARTLY ? half : 2 * half;
  text_addf(out, "<rect class=\"%s\"", classes[cell]);
  add_hook(s, out);
  text_addf(out, " x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"", x - half, cell == CELL_PARTLY ? y : y - half,
            2 * half, tall);
  end_element(s, out, "rect");
  if (cell == CELL_FORGED) {
    text_add(out, "<rect class=\"paper\"");
    add_hook(s, out);
    text_addf(out, " x=\"%d\" y=\"%d\" width=\"4\" height=\"4\"/>\n", x - 2, y - 2);
  } else if (cell == CELL_LOST) {
    text_add(out, "<path class=\"cut\"");
    add_hook(s, out);
    text_addf(out, " d=\"M%d %dl6 6m0 -6l-6 6\"/>\n", x - 3, y - 3);
  }
}

void svg_cells(struct svg *s, const char *path) {
  text_add(&s->marks, "<path class=\"heard\"");
  add_hook(s, &s->marks);
  text_addf(&s->marks, " d=\"%s\"", path);
  end_element(s, &s->marks, "path");
}

/* --- text --- */

static void add_words(struct svg *s, const char *more, enum ink ink, enum anchor anchor, int x, int y,
                      const char *words, const char *full) {
  static const char *const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
  if (ink == INK_KEY && !*more) {
    int width = svg_width(words), left = anchor == ANCHOR_END ? x - width : anchor == ANCHOR_MIDDLE ? x - width / 2 : x;
    text_add(&s->words, "<rect class=\"pen\"");
    add_hook(s, &s->words);
    text_addf(&s->words, " x=\"%d\" y=\"%d\" width=\"%d\" height=\"14\" rx=\"2\"/>\n", left - 2, y - 11, width + 4);
  }
  text_addf(&s->words, "<text class=\"%s%s", inks[ink], more);
  if (ink == INK_MESSAGE && s->kind)
    text_addf(&s->words, " k%u", s->kind);
  text_add(&s->words, "\"");
  add_hook(s, &s->words);
  text_addf(&s->words, " x=\"%d\" y=\"%d\"%s>", x, y, anchors[anchor]);
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

void svg_small(struct svg *s, int x, int y, const char *words, const char *full) {
  add_words(s, " small", INK_FAINT, ANCHOR_MIDDLE, x, y, words, full);
}

void svg_title(struct svg *s, enum ink ink, int x, int y, const char *words) {
  add_words(s, " title", ink, ANCHOR_START, x, y, words, NULL);
}

/* --- the drawing --- */

static void add_head(struct text *out, const char *name, const char *class) {
  text_addf(
      out,
      "<marker id=\"rondo-head-%s\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"9\" markerHeight=\"9\" "
      "markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"%s\" d=\"M0 1L8 4L0 7z\"/></marker>\n",
      name, class);
}

static void add_heads(const struct svg *s, struct text *out) {
  text_add(out, "<defs>\n");
  for (unsigned k = 0; k <= SVG_KINDS; k++)
    if (s->heads[k]) {
      char name[] = {(char)('0' + k), '\0'}, class[] = "head head-0";
      class[10] = name[0];
      add_head(out, name, class);
    }
  if (s->heads[HEAD_FORGED])
    add_head(out, "lie", "head-lie");
  text_add(out, "</defs>\n");
}

void svg_finish(struct svg *s, const char *title, int width, int height, struct text *out) {
  const char *css = strstr(diagram_css, "*/\n"); /* without its comment */
  text_addf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"rondo-diagram\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"",
            width, height, width, height);
  text_add_escaped(out, title);
  text_add(out, "\">\n<title>");
  text_add_escaped(out, title);
  text_addf(out, "</title>\n<style>\n%s</style>\n", css ? css + 3 : diagram_css);
  add_heads(s, out);
  text_addf(out, "<rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n%s%s%s%s</svg>\n", width, height,
            text_or_empty(&s->bands), text_or_empty(&s->lines), text_or_empty(&s->marks), text_or_empty(&s->words));
  text_release(&s->bands);
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
