/* Diagrams of round models. A round has a text area, without arrows, and then an area for its messages. The text area
   shows the changes of the previous round below the lines and the messages to be sent above them. So no arrow crosses
   text, except short labels of forged messages. */
#include "report/diagram_parts.h"

#include <string.h>

#define ARROWS_LEAST 70 /* width of the arrow area, and the extra width per process */
#define ARROWS_EACH 14
#define ARROWS_MOST 170
#define FORGED_LABEL_MAX 6 /* characters that fit on an arrow */

struct round_moment { /* a process before a round, or after the last */
  struct labels changed, sends;
  bool key;
};

struct rounds_diagram {
  struct diagram *d;
  uint32_t n, nsteps;
  struct round_moment *moments; /* by round, 0 .. nsteps, and process */
  int *from, *to;               /* by round: x range of its arrows; from[nsteps]: the end */
};

static struct round_moment *moment_at(struct rounds_diagram *r, uint32_t step, uint32_t p) {
  return &r->moments[(size_t)step * r->n + p];
}

/* --- labels --- */

/* The messages that p sends: "1", with the receivers if not all. */
static void add_sends(struct rounds_diagram *r, uint32_t step, uint32_t p, struct labels *l) {
  struct diagram *d = r->d;
  const struct step_log *log = &d->trace->logs[step];
  uint8_t *to = memory_alloc(r->n + 1);
  for (size_t i = 0; i < log->nsent;) {
    const struct sent *first = &log->sent[i];
    struct text v = {0}, whom = {0};
    uint32_t n = 0;
    i = sent_together(d->trace, log, i, to, &n);
    if (first->from != p)
      continue;
    value_print(&d->model->values, d->model, first->type, first->message, &v);
    if (n + 1 < r->n || (n < r->n && to[p])) {
      text_add(&whom, " to ");
      processes_add(&whom, d->model, to);
    }
    if (v.n + whom.n > d->widest) { /* too long: omit the names of fields */
      text_release(&v);
      diagram_short_value(d, first->type, first->message, &v);
    }
    text_add(&v, text_or_empty(&whom));
    text_release(&whom);
    diagram_label(d, l, INK_FAINT, &v);
  }
  memory_free(to);
}

static bool is_short(const char *label) { return strlen(label) <= FORGED_LABEL_MAX; }

/* Forged messages of p: "(x: 1, ts: 2) to P(1), P(3)". */
static void add_forged_labels(struct rounds_diagram *r, uint32_t step, uint32_t p, struct labels *l) {
  const struct style whole = {.verbose = true};
  struct trace_printer printer = r->d->printer;
  struct process_groups forged = {0};
  printer.style = &whole;
  trace_printer_forged(&printer, step, p, &forged);
  for (size_t i = 0; i < forged.at.n; i++) {
    struct text v = {0};
    if (is_short(forged.at.at[i].what))
      continue; /* it is printed on its arrow */
    text_addf(&v, "%s to ", forged.at.at[i].what);
    processes_add(&v, r->d->model, forged.at.at[i].members);
    diagram_label(r->d, l, INK_BAD, &v);
  }
  process_groups_release(&forged);
}

static void label_changes(struct rounds_diagram *r, uint32_t step, uint32_t p, struct round_moment *m) {
  struct diagram *d = r->d;
  const struct trace *t = d->trace;
  const struct step_log *log = &t->logs[step - 1];
  size_t first = 0, n = 0;
  while (first < log->nchanges && log->changes[first].process != p)
    first++;
  while (first + n < log->nchanges && log->changes[first + n].process == p)
    n++;
  m->key = diagram_changes(d, log->changes + first, n, &m->changed);
  if (trace_halts(t, p, step - 1)) {
    struct text v = {0};
    text_add(&v, "halts");
    diagram_label(d, &m->changed, INK_FAINT, &v);
  }
  if (t->run.norder && trace_has_ended(t, p, step - 1)) { /* fine rounds: the position in the order */
    struct text v = {0};
    for (uint32_t i = 0, ended = 0; i < t->run.norder; i++)
      if (t->run.order[i] == p && ++ended == t->before + step)
        text_addf(&v, "step %u", i + 1);
    diagram_label(d, &m->changed, INK_FAINT, &v);
  }
}

static void make_labels(struct rounds_diagram *r) {
  for (uint32_t step = 0; step <= r->nsteps; step++)
    for (uint32_t p = 0; p < r->n; p++) {
      struct round_moment *m = moment_at(r, step, p);
      struct diagram_row *row = &r->d->rows[p];
      struct text oracles = {0};
      if (step == 0)
        diagram_start(r->d, p, &m->changed);
      else if (step < r->d->trace->nconfigs)
        label_changes(r, step, p, m);
      if (step < r->nsteps) {
        trace_printer_oracles(&r->d->printer, step, p, &oracles);
        diagram_label(r->d, &m->sends, INK_PLAIN, &oracles);
        add_sends(r, step, p, &m->sends);
        add_forged_labels(r, step, p, &m->sends);
        labels_cut(&m->sends);
      }
      row->below = m->changed.at.n > row->below ? (unsigned)m->changed.at.n : row->below;
      row->above = m->sends.at.n > row->above ? (unsigned)m->sends.at.n : row->above;
    }
}

/* --- positions --- */

static void place_columns(struct rounds_diagram *r) {
  struct diagram *d = r->d;
  int arrows = ARROWS_LEAST + ARROWS_EACH * (int)r->n, x = d->left, heading = 0;
  arrows = arrows > ARROWS_MOST ? ARROWS_MOST : arrows;
  for (uint32_t step = 0; step <= r->nsteps; step++) {
    int widest = 10, begun = x;
    for (uint32_t p = 0; p < r->n; p++) {
      int changed = labels_width(&moment_at(r, step, p)->changed), sends = labels_width(&moment_at(r, step, p)->sends);
      widest = changed > widest ? changed : widest;
      widest = sends > widest ? sends : widest;
    }
    x += widest + 2 * BESIDE_WORDS;
    if (step > 0 && x < begun - arrows + heading + BESIDE_WORDS)
      x = begun - arrows + heading + BESIDE_WORDS;
    r->from[step] = x;
    if (step < r->nsteps) {
      struct text title = {0};
      trace_printer_round_title(&d->printer, step, &title);
      heading = svg_width(title.at);
      text_release(&title);
      x = r->to[step] = x + arrows;
    }
  }
  d->right = x > d->right ? x : d->right;
}

/* --- lines --- */

static void draw_life(struct rounds_diagram *r, uint32_t p) {
  struct diagram *d = r->d;
  const struct trace *t = d->trace;
  int y = d->rows[p].y, x = d->left;
  for (uint32_t step = 0; step < r->nsteps && trace_has_begun(t, p, step); step++) {
    bool before = diagram_is_gone(t->configs[step], p), crashes = t->run.steps[step]->crashes[p];
    diagram_show(d, step, p);
    int crash = r->from[step] + (r->to[step] - r->from[step]) / 4;
    svg_line(&d->svg, before ? STROKE_GONE : STROKE_LIFE, x, y, r->from[step], y);
    x = r->from[step];
    if (!trace_has_ended(t, p, step)) {
      svg_mark(&d->svg, MARK_RING, INK_PLAIN, x, y);
      d->waits = true;
      return;
    }
    if (crashes) {
      svg_line(&d->svg, STROKE_LIFE, x, y, crash, y);
      svg_mark(&d->svg, MARK_CRASH, INK_BAD, crash, y);
      d->crashed = true;
      x = crash;
    }
    svg_line(&d->svg, before || crashes ? STROKE_GONE : STROKE_LIFE, x, y, r->to[step], y);
    x = r->to[step];
  }
  diagram_show_nothing(d);
  if (trace_has_begun(t, p, r->nsteps))
    svg_line(&d->svg, diagram_is_gone(t->configs[t->nconfigs - 1], p) ? STROKE_GONE : STROKE_LIFE, x, y,
             r->from[r->nsteps], y);
}

static void draw_update(struct rounds_diagram *r, uint32_t step, uint32_t p) {
  const struct trace *t = r->d->trace;
  bool others_error = step + 1 >= t->nconfigs && t->error.process != p;
  if (trace_takes_part(t, p, step) && !others_error)
    diagram_show(r->d, step, p), diagram_draw_mark(r->d, step, p, moment_at(r, step + 1, p)->key, r->to[step]);
}

/* --- messages --- */

static void draw_lost(struct rounds_diagram *r, uint32_t step) {
  const struct step_log *log = &r->d->trace->logs[step];
  uint8_t *missed, *heard = trace_heard_of(r->d->trace, step, &missed);
  uint32_t n = 0;
  for (size_t i = 0; i < log->nsent; i++)
    n += missed[(size_t)log->sent[i].to * r->n + log->sent[i].from];
  for (size_t i = 0; i < log->nsent; i++) {
    const struct sent *s = &log->sent[i];
    int from = r->d->rows[s->from].y, to = r->d->rows[s->to].y;
    int rows = s->from < s->to ? (int)(s->to - s->from) : (int)(s->from - s->to);
    if (!missed[(size_t)s->to * r->n + s->from])
      continue;
    /* Many lost messages get short lines, to stay distinguishable. Otherwise the lines end a third of a row before the
   receiver, where only messages to that receiver meet. */
    int way = rows == 0 ? 50 : n > 2 * r->n + 2 ? 26 : 100 - 34 / rows < 84 ? 100 - 34 / rows : 84;
    int x = diagram_along(r->from[step], r->to[step], way), y = diagram_along(from, to, way);
    struct text message = {0};
    value_print(&r->d->model->values, r->d->model, s->type, s->message, &message);
    diagram_show_message(r->d, step, s->from, s->to, 0, text_or_empty(&message));
    if (s->from != s->to)
      svg_line(&r->d->svg, STROKE_LOST, r->from[step], from, x, y);
    svg_mark(&r->d->svg, MARK_CROSS, INK_BAD, x, y);
    diagram_show_nothing(r->d);
    text_release(&message);
    r->d->lost = true;
  }
  memory_free(heard);
}

/* A short forged message is printed on its arrow; adjacent forgers use different positions. */
static void draw_forged(struct rounds_diagram *r, uint32_t step, const struct arrival *a) {
  struct diagram *d = r->d;
  struct text label = {0};
  int way = 30 + (int)(a->from % 3) * 17;
  value_print(&d->model->values, d->model, a->type, a->message, &label);
  if (is_short(text_or_empty(&label)))
    svg_words(&d->svg, INK_BAD, ANCHOR_MIDDLE, diagram_along(r->from[step], r->to[step], way),
              diagram_along(d->rows[a->from].y, d->rows[a->to].y, way) + 4, text_or_empty(&label), NULL);
  text_release(&label);
  d->forged = true;
}

static void draw_arrivals(struct rounds_diagram *r, uint32_t step) {
  struct diagram *d = r->d;
  const struct step_log *log = &d->trace->logs[step];
  for (size_t i = 0; i < log->narrivals; i++) {
    const struct arrival *a = &log->arrivals[i];
    int from = d->rows[a->from].y, to = d->rows[a->to].y;
    if (a->from == a->to && !a->forged)
      continue; /* shown on the process's own line */
    int end = a->from == a->to ? to : from < to ? to - 4 : to + 4;
    struct text message = {0};
    value_print(&d->model->values, d->model, a->type, a->message, &message);
    diagram_show_message(d, step, a->from, a->to, 0, text_or_empty(&message));
    svg_line(&d->svg, a->forged ? STROKE_FORGED : STROKE_MESSAGE, r->from[step], from, r->to[step] - 3, end);
    if (a->forged)
      draw_forged(r, step, a);
    diagram_show_nothing(d);
    text_release(&message);
  }
}

/* --- the diagram --- */

static void draw_round(struct rounds_diagram *r, uint32_t step, int head, int bottom) {
  struct diagram *d = r->d;
  struct text title = {0};
  trace_printer_round_title(&d->printer, step, &title);
  svg_line(&d->svg, STROKE_GRID, r->from[step], head + 5, r->from[step], bottom);
  svg_words(&d->svg, INK_FAINT, ANCHOR_START, r->from[step], head, title.at, NULL);
  text_release(&title);
  draw_arrivals(r, step);
  draw_lost(r, step);
  for (uint32_t p = 0; p < r->n; p++)
    draw_update(r, step, p);
}

static void draw(struct rounds_diagram *r, int head) {
  struct diagram *d = r->d;
  int bottom = r->n ? d->rows[r->n - 1].y + (int)d->rows[r->n - 1].below * SVG_LINE + 8 : head;
  int line = head + (d->head - 1) * (SVG_LINE + 4) + 4;
  for (uint32_t step = 0; step < r->nsteps; step++)
    draw_round(r, step, line, bottom);
  diagram_draw_end(d, head, r->from[d->trace->claim.loop], r->from[r->nsteps], line + 5, bottom);
  for (uint32_t p = 0; p < r->n; p++) {
    diagram_show_nothing(d);
    draw_life(r, p);
    for (uint32_t step = 0; step <= r->nsteps; step++) {
      struct round_moment *m = moment_at(r, step, p);
      int x = step ? r->to[step - 1] + 6 : d->left + 2;
      diagram_show(d, step - 1, p);
      diagram_draw_labels(d, &m->changed, ANCHOR_START, x, d->rows[p].y, false);
      diagram_show(d, step, p);
      diagram_draw_labels(d, &m->sends, ANCHOR_END, r->from[step] - 5, d->rows[p].y, true);
    }
  }
  diagram_show_nothing(d);
  diagram_draw_names(d);
}

void diagram_rounds(struct diagram *d) {
  struct rounds_diagram r = {.d = d, .n = d->model->nprocesses, .nsteps = d->trace->run.nsteps};
  size_t n = ((size_t)r.nsteps + 1) * r.n;
  r.moments = memory_alloc((n + 1) * sizeof *r.moments);
  r.from = memory_alloc((r.nsteps + 1) * sizeof *r.from);
  r.to = memory_alloc((r.nsteps + 1) * sizeof *r.to);
  d->head = d->trace->claim.lasso ? 2 : 1;
  d->widest = r.nsteps <= 3 ? 34 : r.nsteps <= 8 ? 26 : 20; /* more rounds: shorter labels */
  d->nrows = r.n;                                           /* no shared variables */
  make_labels(&r);
  diagram_space_rows(d);
  place_columns(&r);
  draw(&r, diagram_place_rows(d));
  for (size_t i = 0; i < n; i++) {
    labels_release(&r.moments[i].changed);
    labels_release(&r.moments[i].sends);
  }
  memory_free(r.moments);
  memory_free(r.from);
  memory_free(r.to);
}
