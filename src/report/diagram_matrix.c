/* Rounds of many different processes: each round is a heard-of matrix, beside what is sent and what changes. A row of
   the matrix is a receiver, a column is a sender; both are rows of the diagram, in the same order. */
#include "report/diagram_parts.h"

#include <string.h>

#define ROW_DISTANCE 18
#define NUMBER_LINE 12
#define WORD_GAP 8

struct matrix_round {
  int band, sends, cells, changed, end; /* x: of the band, of the columns, of the next band */
};

struct matrix_diagram {
  struct diagram *d;
  uint32_t n, nsteps;
  struct labels *starts, *sends, *changed; /* by row; by round and row */
  bool *key;                               /* by round and row */
  struct matrix_round *rounds;
};

static size_t at(const struct matrix_diagram *m, uint32_t step, uint32_t row) { return (size_t)step * m->n + row; }

/* --- labels --- */

static void make_labels(struct matrix_diagram *m) {
  struct diagram *d = m->d;
  for (uint32_t i = 0; i < m->n; i++) {
    diagram_start(d, d->rows[i].first, &m->starts[i]);
    labels_join(&m->starts[i], d->widest);
    for (uint32_t step = 0; step < m->nsteps; step++) {
      struct labels *sends = &m->sends[at(m, step, i)], *changed = &m->changed[at(m, step, i)];
      diagram_label_sends(d, step, i, true, sends);
      labels_join(sends, d->widest);
      if (d->trace->run.steps[step]->crashes[d->rows[i].first] && trace_has_ended(d->trace, d->rows[i].first, step)) {
        struct text v = {0};
        text_add(&v, "crashes");
        diagram_label(d, changed, INK_BAD, &v);
      }
      if (step + 1 < d->trace->nconfigs)
        m->key[at(m, step, i)] = diagram_label_changes(d, step, i, false, changed);
      labels_join(changed, d->widest);
    }
  }
}

/* The lines of a label stand beside each other here. */
static int widest(const struct labels *l, uint32_t n) {
  int w = 0;
  for (uint32_t i = 0; i < n; i++) {
    int all = 0;
    for (size_t k = 0; k < l[i].at.n; k++)
      all += svg_width(l[i].at.at[k].words) + (k ? WORD_GAP : 0);
    w = all > w ? all : w;
  }
  return w;
}

static void place(struct matrix_diagram *m) {
  struct diagram *d = m->d;
  int w = widest(m->starts, m->n), x = d->left + (w ? w + BESIDE_WORDS : 0);
  for (uint32_t step = 0; step < m->nsteps; step++) {
    struct matrix_round *r = &m->rounds[step];
    struct text title = {0};
    trace_printer_round_title(&d->printer, step, &title);
    int sends = widest(m->sends + at(m, step, 0), m->n), changed = widest(m->changed + at(m, step, 0), m->n);
    r->band = x;
    r->sends = x + 6;
    r->cells = r->sends + (sends ? sends + BESIDE_WORDS : 0);
    r->changed = r->cells + (int)m->n * SVG_CELL + 6;
    r->end = r->changed + (changed ? changed + BESIDE_WORDS : 0);
    if (r->end < r->band + svg_width(title.at) + BESIDE_WORDS)
      r->end = r->band + svg_width(title.at) + BESIDE_WORDS;
    x = r->end;
    text_release(&title);
  }
  d->right = x > d->right ? x : d->right;
  for (uint32_t i = 0; i < m->n; i++)
    d->rows[i].y = (int)i * ROW_DISTANCE;
}

/* --- drawing --- */

static enum cell cell_of(const struct row_hearing *h) {
  return h->forged             ? CELL_FORGED
         : h->sent == 0        ? CELL_NOTHING
         : h->heard == h->sent ? CELL_HEARD
         : h->heard == 0       ? CELL_LOST
                               : CELL_PARTLY;
}

static void draw_row(struct matrix_diagram *m, uint32_t step, uint32_t row, const struct row_hearing *of) {
  static const enum legend_entry legend[] = {[CELL_HEARD] = LEGEND_HEARD_CELL,
                                             [CELL_PARTLY] = LEGEND_PARTLY_CELL,
                                             [CELL_LOST] = LEGEND_LOST_CELL,
                                             [CELL_FORGED] = LEGEND_FORGED_CELL,
                                             [CELL_NOTHING] = LEGEND_HEARD_CELL};
  static const char *const words[] = {"hears", "hears some of", "does not hear", "hears a forged message of", ""};
  struct diagram *d = m->d;
  struct text cells = {0};
  int y = d->rows[row].y;
  for (uint32_t q = 0; q < m->n; q++) {
    enum cell cell = cell_of(&of[q]);
    int x = m->rounds[step].cells + (int)q * SVG_CELL + SVG_CELL / 2;
    if (cell == CELL_NOTHING)
      continue;
    d->legend[legend[cell]] = true;
    if (cell == CELL_HEARD) {
      text_addf(&cells, "M%d %dh10v10h-10z", x - 5, y - 5);
      continue;
    }
    struct text title = {0};
    text_addf(&title, "%s %s %s", d->rows[row].name, words[cell], d->rows[q].name);
    diagram_show(d, step, UINT32_MAX);
    d->svg.hook.from = d->rows[q].list;
    d->svg.hook.to = d->rows[row].list;
    d->svg.hook.title = title.at;
    svg_cell(&d->svg, cell, x, y);
    text_release(&title);
  }
  diagram_show(d, step, UINT32_MAX);
  d->svg.hook.to = d->rows[row].list;
  if (cells.n)
    svg_cells(&d->svg, cells.at);
  text_release(&cells);
}

/* The number of a process: 12 of P(12). Folded rows: of the first. */
static void draw_numbers(struct matrix_diagram *m, uint32_t step, int y) {
  struct diagram *d = m->d;
  for (uint32_t q = 0; q < m->n; q++) {
    struct text name = {0};
    process_print(d->model, d->rows[q].first, &name);
    const char *open = strchr(name.at, '(');
    struct text number = {0};
    text_add_n(&number, open ? open + 1 : name.at, strcspn(open ? open + 1 : name.at, ")"));
    svg_small(&d->svg, m->rounds[step].cells + (int)q * SVG_CELL + SVG_CELL / 2, y, text_or_empty(&number),
              d->rows[q].name);
    text_release(&number);
    text_release(&name);
  }
}

static void draw_words(struct matrix_diagram *m, const struct labels *l, int x, uint32_t row) {
  for (size_t i = 0; i < l->at.n; i++) {
    svg_words(&m->d->svg, l->at.at[i].ink, ANCHOR_START, x, m->d->rows[row].y + 4, l->at.at[i].words, l->at.at[i].full);
    x += svg_width(l->at.at[i].words) + WORD_GAP;
  }
}

static void draw_round(struct matrix_diagram *m, uint32_t step, int line, int bottom) {
  struct diagram *d = m->d;
  const struct matrix_round *r = &m->rounds[step];
  struct row_hearing *h = diagram_hearing(d, step);
  struct text title = {0};
  trace_printer_round_title(&d->printer, step, &title);
  diagram_show(d, step, UINT32_MAX);
  svg_band(&d->svg, step % 2 ? "band alt" : "band", r->band, line - 14, r->end - r->band, bottom - line + 14);
  svg_words(&d->svg, INK_FAINT, ANCHOR_START, r->band + 6, line, title.at, NULL);
  draw_numbers(m, step, line + NUMBER_LINE + 2);
  for (uint32_t i = 0; i < m->n; i++) {
    draw_row(m, step, i, h + (size_t)i * m->n);
    diagram_show(d, step, i);
    draw_words(m, &m->sends[at(m, step, i)], r->sends, i);
    draw_words(m, &m->changed[at(m, step, i)], r->changed, i);
  }
  text_release(&title);
  memory_free(h);
}

static void draw(struct matrix_diagram *m, int head) {
  struct diagram *d = m->d;
  int line = head + (d->head - 1) * (SVG_LINE + 4) + 6, end = d->left;
  for (uint32_t i = 0; i < m->n; i++)
    d->rows[i].y += NUMBER_LINE + 4;
  int bottom = diagram_bottom(d);
  for (uint32_t step = 0; step < m->nsteps; step++) {
    draw_round(m, step, line, bottom);
    end = m->rounds[step].end;
  }
  diagram_show_nothing(d);
  uint32_t loop = d->trace->claim.lasso ? d->trace->claim.loop : 0;
  diagram_draw_end(d, head, loop < m->nsteps ? m->rounds[loop].band : end, end, line - 14, bottom);
  for (uint32_t i = 0; i < m->n; i++) {
    diagram_show(d, NO_STEP_SHOWN, i);
    draw_words(m, &m->starts[i], d->left, i);
  }
  diagram_draw_names(d);
}

static void labels_free(struct labels *l, size_t n) {
  for (size_t i = 0; i < n; i++)
    labels_release(&l[i]);
  memory_free(l);
}

void diagram_matrix(struct diagram *d) {
  struct matrix_diagram m = {.d = d, .n = d->nlines, .nsteps = d->trace->run.nsteps};
  size_t n = (size_t)m.n * m.nsteps;
  m.starts = memory_alloc((m.n + 1) * sizeof *m.starts);
  m.sends = memory_alloc((n + 1) * sizeof *m.sends);
  m.changed = memory_alloc((n + 1) * sizeof *m.changed);
  m.key = memory_alloc((n + 1) * sizeof *m.key);
  m.rounds = memory_alloc((m.nsteps + 1) * sizeof *m.rounds);
  d->widest = m.nsteps <= 3 ? 40 : 30;
  make_labels(&m);
  place(&m);
  d->legend[LEGEND_BYZANTINE] = false; /* said at the start of its row */
  draw(&m, diagram_place_rows(d));
  labels_free(m.starts, m.n);
  labels_free(m.sends, n);
  labels_free(m.changed, n);
  memory_free(m.key);
  memory_free(m.rounds);
}
