/* Diagrams of round models. A round is a band with three columns: what is sent, arrows, what changes. So no arrow
   crosses text, except short labels on arrows. Processes that do the same share a line if there are many; if too many
   lines remain, each round becomes a heard-of matrix (diagram_matrix.c). */
#include "report/diagram_fold.h"
#include "report/diagram_parts.h"

#include <string.h>

#define ARROWS_LEAST 76 /* width of the arrow area, and the extra width per row */
#define ARROWS_EACH 14
#define ARROWS_MOST 170
#define ARROW_ROWS_MAX 6   /* rows: more become a matrix */
#define FORGED_LABEL_MAX 6 /* characters that fit on an arrow */

struct round_moment { /* a row before a round, or after the last */
  struct labels changed, sends;
  bool key;
};

struct rounds_diagram {
  struct diagram *d;
  uint32_t n, nsteps;
  struct round_moment *moments; /* by round, 0 .. nsteps, and row; sends: of that round; changed: of the one before */
  int *band;                    /* by round: where its band begins; band[nsteps]: the end */
  int *from, *to;               /* by round: x range of its arrows */
};

static struct round_moment *moment_at(struct rounds_diagram *r, uint32_t step, uint32_t row) {
  return &r->moments[(size_t)step * r->n + row];
}

/* --- labels --- */

static bool is_short(const char *label) { return strlen(label) <= FORGED_LABEL_MAX; }

/* The messages that p sends: "1", with the receivers if not all. */
static void add_sends(struct diagram *d, uint32_t step, uint32_t p, struct labels *l) {
  const struct step_log *log = &d->trace->logs[step];
  uint32_t n = d->model->nprocesses;
  uint8_t *to = memory_alloc(n + 1);
  for (size_t i = 0; i < log->nsent;) {
    const struct sent *first = &log->sent[i];
    struct text v = {0}, whom = {0};
    uint32_t count = 0;
    i = sent_together(d->trace, log, i, to, &count);
    if (first->from != p)
      continue;
    value_print(&d->model->values, d->model, first->type, first->message, &v);
    if (count + 1 < n || (count < n && to[p])) {
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

/* Forged messages of p: "(x: 1, ts: 2) to P(1), P(3)". */
static void add_forged_labels(struct diagram *d, uint32_t step, uint32_t p, bool all, struct labels *l) {
  const struct style whole = {.verbose = true};
  struct trace_printer printer = d->printer;
  struct process_groups forged = {0};
  printer.style = &whole;
  trace_printer_forged(&printer, step, p, &forged);
  for (size_t i = 0; i < forged.at.n; i++) {
    struct text v = {0};
    if (!all && is_short(forged.at.at[i].what))
      continue; /* it is printed on its arrow */
    text_addf(&v, "%s to ", forged.at.at[i].what);
    processes_add(&v, d->model, forged.at.at[i].members);
    diagram_label(d, l, INK_BAD, &v);
  }
  process_groups_release(&forged);
}

void diagram_label_sends(struct diagram *d, uint32_t step, uint32_t row, bool all_forged, struct labels *l) {
  struct text oracles = {0};
  uint32_t p = d->rows[row].first;
  trace_printer_oracles(&d->printer, step, p, &oracles);
  diagram_label(d, l, INK_PLAIN, &oracles);
  add_sends(d, step, p, l);
  add_forged_labels(d, step, p, all_forged, l);
}

/* Whom the row does not hear: "misses P(1)", "misses 2 of P(3)..P(6)". */
static void add_misses(struct diagram *d, uint32_t step, uint32_t row, struct labels *l) {
  struct row_hearing *h = diagram_hearing(d, step);
  uint8_t *whom = memory_alloc(d->model->nprocesses + 1);
  struct text v = {0}, some = {0};
  for (uint32_t q = 0; q < d->nlines; q++) {
    const struct row_hearing *of = &h[(size_t)row * d->nlines + q];
    uint32_t missed = (of->sent - of->heard) / d->rows[row].count;
    uint32_t most = d->rows[q].count - (q == row && d->rows[q].count > 1);
    if (of->sent == of->heard)
      continue;
    if (of->heard == 0 && of->forged == 0 && (q != row || most == 1))
      for (uint32_t p = 0; p < d->model->nprocesses; p++)
        whom[p] |= d->rows[q].members[p];
    else if (of->heard == 0 && q == row)
      text_addf(&some, "%seach other", some.n ? ", " : "");
    else
      text_addf(&some, "%s%u of %s", some.n ? ", " : "", missed ? missed : 1, d->rows[q].name);
  }
  if (memchr(whom, 1, d->model->nprocesses)) {
    text_add(&v, "misses ");
    if (d->rows[row].count == 1 && whom[d->rows[row].first] && !memchr(whom, 1, d->rows[row].first) &&
        !memchr(whom + d->rows[row].first + 1, 1, d->model->nprocesses - d->rows[row].first - 1))
      text_add(&v, "itself");
    else
      processes_add(&v, d->model, whom);
  }
  if (some.n)
    text_addf(&v, "%s%s", v.n ? ", " : "misses ", some.at);
  diagram_label(d, l, INK_LOST, &v);
  text_release(&some);
  memory_free(whom);
  memory_free(h);
}

bool diagram_label_changes(struct diagram *d, uint32_t step, uint32_t row, bool misses, struct labels *l) {
  const struct trace *t = d->trace;
  const struct step_log *log = &t->logs[step];
  uint32_t p = d->rows[row].first;
  size_t first = 0, n = 0;
  while (first < log->nchanges && log->changes[first].process != p)
    first++;
  while (first + n < log->nchanges && log->changes[first + n].process == p)
    n++;
  bool key = diagram_changes(d, step, log->changes + first, n, l);
  if (trace_halts(t, p, step)) {
    struct text v = {0};
    text_add(&v, "halts");
    diagram_label(d, l, INK_FAINT, &v);
  }
  if (misses)
    add_misses(d, step, row, l);
  if (t->run.norder && trace_has_ended(t, p, step)) { /* fine rounds: the position in the order */
    struct text v = {0};
    for (uint32_t i = 0, ended = 0; i < t->run.norder; i++)
      if (t->run.order[i] == p && ++ended == t->before + step + 1)
        text_addf(&v, "step %u", i + 1);
    diagram_label(d, l, INK_FAINT, &v);
  }
  return key;
}

static void make_labels(struct rounds_diagram *r) {
  for (uint32_t step = 0; step <= r->nsteps; step++)
    for (uint32_t i = 0; i < r->n; i++) {
      struct round_moment *m = moment_at(r, step, i);
      struct diagram_row *row = &r->d->rows[i];
      if (step == 0)
        diagram_start(r->d, row->first, &m->changed);
      else if (step < r->d->trace->nconfigs)
        m->key = diagram_label_changes(r->d, step - 1, i, true, &m->changed);
      if (step < r->nsteps)
        diagram_label_sends(r->d, step, i, false, &m->sends);
      labels_cut(&m->changed);
      labels_cut(&m->sends);
      row->below = m->changed.at.n > row->below ? (unsigned)m->changed.at.n : row->below;
      row->above = m->sends.at.n > row->above ? (unsigned)m->sends.at.n : row->above;
    }
}

/* --- positions --- */

static int width_of(struct rounds_diagram *r, uint32_t step, bool sends) {
  int widest = 0;
  for (uint32_t i = 0; i < r->n; i++) {
    const struct round_moment *m = moment_at(r, step, i);
    int w = labels_width(sends ? &m->sends : &m->changed);
    widest = w > widest ? w : widest;
  }
  return widest;
}

static void place_columns(struct rounds_diagram *r) {
  struct diagram *d = r->d;
  int arrows = ARROWS_LEAST + ARROWS_EACH * (int)r->n, x = d->left;
  arrows = arrows > ARROWS_MOST ? ARROWS_MOST : arrows;
  x += width_of(r, 0, false) + BESIDE_WORDS;
  for (uint32_t step = 0; step < r->nsteps; step++) {
    struct text title = {0};
    int sends = width_of(r, step, true), changed = width_of(r, step + 1, false);
    trace_printer_round_title(&d->printer, step, &title);
    r->band[step] = x;
    r->from[step] = x + sends + (sends ? 2 * BESIDE_WORDS - 6 : BESIDE_WORDS);
    r->to[step] = r->from[step] + arrows;
    x = r->to[step] + (changed ? changed + 6 : 0) + BESIDE_WORDS;
    if (x < r->band[step] + svg_width(title.at) + 2 * BESIDE_WORDS)
      x = r->band[step] + svg_width(title.at) + 2 * BESIDE_WORDS;
    text_release(&title);
  }
  r->band[r->nsteps] = x;
  d->right = x > d->right ? x : d->right;
}

/* --- lines --- */

static void draw_life(struct rounds_diagram *r, uint32_t row) {
  struct diagram *d = r->d;
  const struct trace *t = d->trace;
  uint32_t p = d->rows[row].first;
  int y = d->rows[row].y, x = d->left;
  diagram_show_nothing(d);
  d->svg.hook.process = d->rows[row].list;
  for (uint32_t step = 0; step < r->nsteps && trace_has_begun(t, p, step); step++) {
    bool crashes = t->run.steps[step]->crashes[p];
    int crash = r->from[step] + (r->to[step] - r->from[step]) / 4;
    diagram_draw_life(d, t->configs[step], row, x, r->from[step]);
    x = r->from[step];
    if (!trace_has_ended(t, p, step)) {
      diagram_show(d, step, row);
      svg_mark(&d->svg, MARK_RING, INK_PLAIN, x, y);
      d->legend[LEGEND_WAITS] = true;
      return;
    }
    if (crashes) {
      diagram_draw_life(d, t->configs[step], row, x, crash);
      diagram_show(d, step, row);
      svg_mark(&d->svg, MARK_CRASH, INK_BAD, crash, y);
      diagram_show_nothing(d);
      d->svg.hook.process = d->rows[row].list;
      d->legend[LEGEND_CRASH] = true;
      svg_line(&d->svg, STROKE_GONE, crash, y, r->to[step], y);
    } else {
      diagram_draw_life(d, t->configs[step], row, x, r->to[step]);
    }
    x = r->to[step];
  }
  if (trace_has_begun(t, p, r->nsteps))
    diagram_draw_life(d, t->configs[t->nconfigs - 1], row, x, r->band[r->nsteps]);
}

static void draw_update(struct rounds_diagram *r, uint32_t step, uint32_t row) {
  const struct trace *t = r->d->trace;
  uint32_t p = r->d->rows[row].first;
  bool others_error = step + 1 >= t->nconfigs && r->d->row_of[t->error.process] != row;
  if (!trace_takes_part(t, p, step) || others_error)
    return;
  diagram_show(r->d, step, row);
  diagram_draw_mark(r->d, step, row, moment_at(r, step + 1, row)->key, r->to[step]);
}

/* --- messages --- */

struct row_hearing *diagram_hearing(const struct diagram *d, uint32_t step) {
  const struct step_log *log = &d->trace->logs[step];
  struct row_hearing *h = memory_alloc(((size_t)d->nlines * d->nlines + 1) * sizeof *h);
  uint32_t n = d->model->nprocesses;
  uint8_t *missed, *heard = trace_heard_of(d->trace, step, &missed);
  for (uint32_t p = 0; p < n; p++)
    for (uint32_t q = 0; q < n; q++) {
      struct row_hearing *at = &h[(size_t)d->row_of[p] * d->nlines + d->row_of[q]];
      bool got = heard[(size_t)p * n + q];
      if (p == q && d->rows[d->row_of[p]].count > 1)
        continue; /* in a row of several, messages to itself are left out */
      at->sent += got || missed[(size_t)p * n + q];
      at->heard += got;
    }
  for (size_t i = 0; i < log->narrivals; i++)
    if (log->arrivals[i].forged && heard[(size_t)log->arrivals[i].to * n + log->arrivals[i].from])
      h[(size_t)d->row_of[log->arrivals[i].to] * d->nlines + d->row_of[log->arrivals[i].from]].forged++;
  memory_free(heard);
  return h;
}

/* The messages from one row to another, each once: what arrived (forged: only forged ones), or else what was sent. */
static void add_contents(const struct diagram *d, uint32_t step, uint32_t from, uint32_t to, bool arrived, bool forged,
                         struct text *out) {
  const struct step_log *log = &d->trace->logs[step];
  struct text seen = {0};
  for (size_t i = 0; i < (arrived ? log->narrivals : log->nsent); i++) {
    const struct arrival *a = &log->arrivals[i];
    const struct sent *s = &log->sent[i];
    struct text v = {0};
    if (d->row_of[arrived ? a->from : s->from] != from || d->row_of[arrived ? a->to : s->to] != to ||
        (arrived && a->forged != forged))
      continue;
    text_add(&v, " ");
    value_print(&d->model->values, d->model, arrived ? a->type : s->type, arrived ? a->message : s->message, &v);
    text_add(&v, ";");
    if (!strstr(text_or_empty(&seen), v.at)) {
      text_add(&seen, v.at);
      text_add(out, out->n ? " or " : "");
      text_add_n(out, v.at + 1, v.n - 2);
    }
    text_release(&v);
  }
  text_release(&seen);
}

/* A lost message ends before the receiver, where only messages to that receiver meet. Many of them are short, to stay
   distinguishable. */
static void draw_lost(struct rounds_diagram *r, uint32_t step, uint32_t from, uint32_t to, bool many) {
  struct diagram *d = r->d;
  int y1 = d->rows[from].y, y2 = d->rows[to].y, rows = from < to ? (int)(to - from) : (int)(from - to);
  int way = rows == 0 ? 50 : many ? 26 : 100 - 34 / rows < 84 ? 100 - 34 / rows : 84;
  int x = diagram_along(r->from[step], r->to[step], way), y = diagram_along(y1, y2, way);
  if (from != to)
    svg_line(&d->svg, STROKE_LOST, r->from[step], y1, x, y);
  svg_mark(&d->svg, MARK_CROSS, INK_BAD, x, y);
  d->legend[LEGEND_LOST] = true;
}

/* An arrow; short forged messages are printed on it, adjacent forgers at different positions. */
static void draw_arrow(struct rounds_diagram *r, uint32_t step, uint32_t from, uint32_t to, bool forged,
                       const char *label) {
  struct diagram *d = r->d;
  int y1 = d->rows[from].y, y2 = d->rows[to].y, way = 30 + (int)(from % 3) * 17;
  int end = from == to ? y2 : y1 < y2 ? y2 - 4 : y2 + 4;
  svg_line(&d->svg, forged ? STROKE_FORGED : STROKE_MESSAGE, r->from[step], y1, r->to[step] - 3, end);
  if (label && *label)
    svg_words(&d->svg, forged ? INK_BAD : INK_LOST, ANCHOR_MIDDLE, diagram_along(r->from[step], r->to[step], way),
              diagram_along(y1, y2, way) + 4, label, NULL);
  d->legend[LEGEND_FORGED] |= forged;
}

static void draw_messages_between(struct rounds_diagram *r, uint32_t step, uint32_t from, uint32_t to,
                                  const struct row_hearing *h, bool many) {
  struct diagram *d = r->d;
  struct text contents = {0}, share = {0};
  bool lost = h->heard == 0 && h->sent > 0, honest = h->heard > h->forged;
  if (lost || (honest && from != to)) {
    add_contents(d, step, from, to, !lost, false, &contents);
    diagram_show_message(d, step, from, to, 0, text_or_empty(&contents));
    text_release(&contents);
  }
  if (lost)
    draw_lost(r, step, from, to, many);
  if (h->heard < h->sent && h->heard > 0) {
    uint32_t each = d->rows[to].count;
    bool divides = h->heard % each == 0 && h->sent % each == 0;
    text_addf(&share, "%u/%u", divides ? h->heard / each : h->heard, divides ? h->sent / each : h->sent);
    d->legend[LEGEND_PARTLY] = true;
  }
  if (honest && from != to)
    draw_arrow(r, step, from, to, false, text_or_empty(&share));
  if (h->forged > 0) {
    add_contents(d, step, from, to, true, true, &contents);
    diagram_show_message(d, step, from, to, 0, text_or_empty(&contents));
    draw_arrow(r, step, from, to, true, is_short(text_or_empty(&contents)) ? text_or_empty(&contents) : NULL);
    text_release(&contents);
  }
  text_release(&share);
  diagram_show_nothing(d);
}

static void draw_messages(struct rounds_diagram *r, uint32_t step) {
  struct row_hearing *h = diagram_hearing(r->d, step);
  uint32_t lost = 0;
  for (size_t i = 0; i < (size_t)r->n * r->n; i++)
    lost += h[i].heard == 0 && h[i].sent > 0;
  for (uint32_t to = 0; to < r->n; to++)
    for (uint32_t from = 0; from < r->n; from++)
      draw_messages_between(r, step, from, to, &h[(size_t)to * r->n + from], lost > 2 * r->n + 2);
  memory_free(h);
}

/* --- the diagram --- */

static void draw_round(struct rounds_diagram *r, uint32_t step, int line, int bottom) {
  struct diagram *d = r->d;
  struct text title = {0};
  trace_printer_round_title(&d->printer, step, &title);
  diagram_show(d, step, UINT32_MAX);
  svg_band(&d->svg, step % 2 ? "band alt" : "band", r->band[step], line - 14, r->band[step + 1] - r->band[step],
           bottom - line + 14);
  svg_words(&d->svg, INK_FAINT, ANCHOR_START, r->band[step] + 6, line, title.at, NULL);
  text_release(&title);
  draw_messages(r, step);
  for (uint32_t i = 0; i < r->n; i++)
    draw_update(r, step, i);
}

static void draw(struct rounds_diagram *r, int head) {
  struct diagram *d = r->d;
  int bottom = diagram_bottom(d), line = head + (d->head - 1) * (SVG_LINE + 4) + 6;
  for (uint32_t step = 0; step < r->nsteps; step++)
    draw_round(r, step, line, bottom);
  diagram_show_nothing(d);
  diagram_draw_end(d, head, r->band[d->trace->claim.lasso ? d->trace->claim.loop : 0], r->band[r->nsteps], line - 14,
                   bottom);
  for (uint32_t i = 0; i < r->n; i++) {
    draw_life(r, i);
    for (uint32_t step = 0; step <= r->nsteps; step++) {
      struct round_moment *m = moment_at(r, step, i);
      int x = step ? r->to[step - 1] + 6 : d->left + 2;
      diagram_show(d, step ? step - 1 : NO_STEP_SHOWN, i);
      diagram_draw_labels(d, &m->changed, ANCHOR_START, x, d->rows[i].y, false);
      diagram_show(d, step, i);
      if (step < r->nsteps)
        diagram_draw_labels(d, &m->sends, ANCHOR_END, r->from[step] - 5, d->rows[i].y, true);
    }
  }
  diagram_draw_names(d);
}

static void draw_with_arrows(struct diagram *d) {
  struct rounds_diagram r = {.d = d, .n = d->nlines, .nsteps = d->trace->run.nsteps};
  size_t n = ((size_t)r.nsteps + 1) * r.n;
  r.moments = memory_alloc((n + 1) * sizeof *r.moments);
  r.band = memory_alloc((r.nsteps + 1) * sizeof *r.band);
  r.from = memory_alloc((r.nsteps + 1) * sizeof *r.from);
  r.to = memory_alloc((r.nsteps + 1) * sizeof *r.to);
  d->widest = r.nsteps <= 3 ? 34 : r.nsteps <= 8 ? 26 : 20; /* more rounds: shorter labels */
  make_labels(&r);
  diagram_space_rows(d);
  place_columns(&r);
  draw(&r, diagram_place_rows(d));
  for (size_t i = 0; i < n; i++) {
    labels_release(&r.moments[i].changed);
    labels_release(&r.moments[i].sends);
  }
  memory_free(r.moments);
  memory_free(r.band);
  memory_free(r.from);
  memory_free(r.to);
}

void diagram_rounds(struct diagram *d) {
  struct fold fold = {0};
  d->head = d->trace->claim.lasso ? 2 : 1;
  if (d->fold)
    fold_rounds(&fold, d->trace, d->witness);
  diagram_make_rows(d, fold.class_of, false);
  if (d->fold && d->nlines > ARROW_ROWS_MAX)
    diagram_matrix(d);
  else
    draw_with_arrows(d);
  fold_release(&fold);
}
