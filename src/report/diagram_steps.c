/* Diagrams of step models. A moment is drawn on the line of its row, as far left as the order of steps, the labels on
   the line and the messages it receives allow, where few arrows cross labels. Shared variables have their own lines
   below those of the processes. */
#include "interp/local.h"
#include "report/diagram_moments.h"

#define STEP_LEAST 22   /* distance between moments */
#define FLIGHT_LEAST 40 /* distance between send and receive */
#define PENDING_LENGTH 20
#define CLEAR 7 /* distance from a moment to an unrelated arrow */
#define TRIES_MAX 16
#define SHIFT 9
#define LOOK_BACK 60 /* arrows and moments that a new one is compared with */

static int moment_x(const struct steps_diagram *s, uint32_t moment) {
  return moment == STEP_EARLIER ? s->d->left : s->moments.at[moment].x;
}

/* --- positions --- */

struct box {
  int left, right, top, bottom;
};

static int end_of(int x, const struct labels *l) { return x + 5 + labels_width(l) + BESIDE_WORDS; }

static struct box labels_box(const struct steps_diagram *s, const struct moment *m, bool above, int x) {
  const struct labels *l = above ? &m->above : &m->below;
  int y = s->d->rows[m->row].y, n = (int)l->at.n * SVG_LINE;
  struct box b = {x + 4, x + 6 + labels_width(l), above ? y - 6 - n : y + 5, above ? y - 6 : y + 5 + n};
  if (l->at.n == 0)
    b.right = b.left;
  return b;
}

/* Does the line cross the box? */
static bool crosses(int x1, int y1, int x2, int y2, const struct box *b) {
  if (b->right <= b->left || x2 <= x1)
    return false;
  int from = x1 > b->left ? x1 : b->left, to = x2 < b->right ? x2 : b->right;
  if (from >= to)
    return false;
  int ya = y1 + (y2 - y1) * (from - x1) / (x2 - x1), yb = y1 + (y2 - y1) * (to - x1) / (x2 - x1);
  return (ya < yb ? ya : yb) < b->bottom && (ya < yb ? yb : ya) > b->top;
}

/* Does the arrow pass through the point (x, row)? It would seem to start or end there. */
static bool goes_through(const struct steps_diagram *s, int x1, uint32_t from, int x2, uint32_t to, int x,
                         uint32_t row) {
  const struct diagram_row *r = s->d->rows;
  if (row <= (from < to ? from : to) || row >= (from < to ? to : from))
    return false;
  int at = x1 + (x2 - x1) * (r[row].y - r[from].y) / (r[to].y - r[from].y);
  return at > x - CLEAR && at < x + CLEAR;
}

/* The cost of an arrow from (x1, from) to (x2, to) and a moment at x. */
static unsigned arrow_cost(const struct steps_diagram *s, int x1, uint32_t from, int x2, uint32_t to,
                           const struct moment *m, int x) {
  const struct diagram_row *r = s->d->rows;
  struct box above = labels_box(s, m, true, x), below = labels_box(s, m, false, x);
  return (goes_through(s, x1, from, x2, to, x, m->row) ? 8u : 0u) +
         (crosses(x1, r[from].y, x2, r[to].y, &above) ? 1u : 0u) +
         (crosses(x1, r[from].y, x2, r[to].y, &below) ? 1u : 0u);
}

/* With the moment at x: earlier arrows through it and its labels, and its own arrows through earlier ones. arrows: how
   many are there up to its own. */
static unsigned cost_at(const struct steps_diagram *s, uint32_t moment, int x, size_t arrows) {
  const struct moment *m = &s->moments.at[moment];
  unsigned cost = 0;
  for (size_t i = arrows; i-- > 0 && arrows - i < LOOK_BACK;) {
    const struct moment_arrow *a = &s->arrows.at[i];
    bool own = a->taken == moment;
    int x2 = own ? x : s->moments.at[a->taken].x;
    int x1 = a->end == FLIGHT_FORGED ? x2 - FORGED_LENGTH : moment_x(s, a->sent);
    if (!own) {
      cost += arrow_cost(s, x1, a->from, x2, a->to, m, x);
      continue;
    }
    for (uint32_t k = moment; k-- > 0 && moment - k < LOOK_BACK;)
      cost += arrow_cost(s, x1, a->from, x2, a->to, &s->moments.at[k], s->moments.at[k].x);
  }
  return cost;
}

static void add_forged_label(const struct steps_diagram *s, const struct moment_arrow *a, struct text *whole,
                             struct text *cut) {
  struct text words = {0};
  diagram_add_message(s->d, a->kind, a->message, &words);
  text_add_fitted(words.at, FORGED_LABEL_MAX, cut);
  if (whole)
    text_add(whole, words.at);
  text_release(&words);
}

/* The least x of a moment, by the messages that it takes. first: the first arrow after those of earlier moments. */
static int arrival(const struct steps_diagram *s, uint32_t moment, const int *busy, size_t first, int x) {
  for (size_t i = first; i < s->arrows.n && s->arrows.at[i].taken == moment; i++) {
    const struct moment_arrow *a = &s->arrows.at[i];
    int least = a->end == FLIGHT_FORGED ? busy[a->from] + FORGED_LENGTH : moment_x(s, a->sent) + FLIGHT_LEAST;
    x = x < least ? least : x;
  }
  return x;
}

static void place_moment(struct steps_diagram *s, uint32_t moment, int *busy, size_t *arrows) {
  struct moment *m = &s->moments.at[moment];
  const struct diagram *d = s->d;
  int x = d->left + BESIDE_WORDS;
  if (moment) {
    const struct moment *previous = m - 1;
    int numbers = (svg_width(previous->numbers.at) + svg_width(m->numbers.at)) / 2 + 4;
    x = previous->x + (numbers > STEP_LEAST ? numbers : STEP_LEAST);
  }
  x = x < busy[m->row] ? busy[m->row] : x;
  for (uint32_t k = 0; k < s->nshared; k++)
    if (m->labels->writes[k].at.n > 0 && x < busy[d->nlines + k])
      x = busy[d->nlines + k];
  x = arrival(s, moment, busy, *arrows, x);
  while (*arrows < s->arrows.n && s->arrows.at[*arrows].taken == moment)
    ++*arrows;
  unsigned best = cost_at(s, moment, x, *arrows);
  m->x = x;
  for (int k = 1; k <= TRIES_MAX && best > 0; k++) {
    unsigned cost = cost_at(s, moment, x + k * SHIFT, *arrows);
    if (cost < best) {
      best = cost;
      m->x = x + k * SHIFT;
    }
  }
  int above = end_of(m->x, &m->above), below = end_of(m->x, &m->below);
  busy[m->row] = above > below ? above : below;
  for (uint32_t k = 0; k < s->nshared; k++)
    if (m->labels->writes[k].at.n > 0)
      busy[d->nlines + k] = end_of(m->x, &m->labels->writes[k]);
}

/* Reserves space for labels of forged messages on the lines of the forgers. */
static void reserve_forged(struct steps_diagram *s, uint32_t moment, int *busy, size_t arrows) {
  while (arrows-- > 0 && s->arrows.at[arrows].taken == moment) {
    const struct moment_arrow *a = &s->arrows.at[arrows];
    struct text words = {0};
    if (a->end != FLIGHT_FORGED)
      continue;
    add_forged_label(s, a, NULL, &words);
    int end = s->moments.at[moment].x - FORGED_LENGTH + svg_width(words.at) + BESIDE_WORDS;
    busy[a->from] = end > busy[a->from] ? end : busy[a->from];
    text_release(&words);
  }
}

/* Chooses the positions of the moments. */
static void moments_place(struct steps_diagram *s) {
  struct diagram *d = s->d;
  int *busy = memory_alloc((d->nrows + 1) * sizeof *busy); /* by row: right end of the labels so far */
  size_t arrows = 0;
  for (uint32_t i = 0; i < d->nrows; i++)
    busy[i] = end_of(d->left + 2, &s->starts[i]);
  for (uint32_t i = 0; i < s->moments.n; i++) {
    place_moment(s, i, busy, &arrows);
    reserve_forged(s, i, busy, arrows);
  }
  s->end = s->moments.n ? s->moments.at[s->moments.n - 1].x + FLIGHT_LEAST : d->left + FLIGHT_LEAST;
  for (uint32_t i = 0; i < d->nrows; i++)
    s->end = busy[i] > s->end ? busy[i] : s->end;
  d->right = s->end > d->right ? s->end : d->right;
  memory_free(busy);
}

/* --- lines --- */

static void show_moment(struct steps_diagram *s, uint32_t moment) {
  const struct moment *m = &s->moments.at[moment];
  diagram_show(s->d, m->step, m->row);
  s->d->svg.hook.steps = m->list.at;
}

static void draw_life(struct steps_diagram *s, uint32_t row) {
  struct diagram *d = s->d;
  const struct trace *t = d->trace;
  uint32_t p = d->rows[row].first;
  int x = d->left;
  d->svg.hook.process = d->rows[row].list;
  for (uint32_t step = 0; step + 1 < t->nconfigs; step++) {
    if (diagram_is_gone(t->configs[step], p) == diagram_is_gone(t->configs[step + 1], p))
      continue;
    int at = s->moments.at[s->moment_of[step]].x;
    diagram_draw_life(d, t->configs[step], row, x, at);
    x = at;
  }
  diagram_draw_life(d, t->configs[t->nconfigs - 1], row, x, s->end);
  diagram_show_nothing(d);
}

static void draw_writes(struct steps_diagram *s, const struct moment *m) {
  struct diagram *d = s->d;
  for (uint32_t k = 0; k < s->nshared; k++) {
    const struct labels *l = &m->labels->writes[k];
    int y = d->rows[d->nlines + k].y;
    if (l->at.n == 0)
      continue;
    d->legend[LEGEND_WRITES] = true;
    svg_line(&d->svg, STROKE_TIE, m->x, d->rows[m->row].y, m->x, y);
    svg_mark(&d->svg, MARK_SQUARE, l->at.at[0].ink, m->x, y);
    diagram_draw_labels(d, l, ANCHOR_START, m->x + 6, y, false);
  }
}

static void draw_moment(struct steps_diagram *s, uint32_t moment) {
  struct diagram *d = s->d;
  const struct moment *m = &s->moments.at[moment];
  const struct event *e = steps_event(s, m->step);
  int y = d->rows[m->row].y;
  show_moment(s, moment);
  switch (e->kind) {
  case EVENT_ACTION:
    diagram_draw_mark(d, m->step, m->row, m->labels->key, m->x);
    break;
  case EVENT_DELIVER:
    svg_mark(&d->svg, MARK_RING, INK_PLAIN, m->x, y);
    d->legend[LEGEND_WAITS] = true;
    break;
  case EVENT_LOSE:
    return;
  case EVENT_CRASH:
    svg_mark(&d->svg, MARK_CRASH, INK_BAD, m->x, y);
    d->legend[LEGEND_CRASH] = true;
    break;
  case EVENT_RECOVER:
    svg_mark(&d->svg, MARK_LARGE, INK_GOOD, m->x, y);
    d->legend[LEGEND_RECOVERS] = true;
    break;
  }
  diagram_draw_labels(d, &m->above, ANCHOR_START, m->x + 5, y, true);
  diagram_draw_labels(d, &m->below, ANCHOR_START, m->x + 5, y, false);
  draw_writes(s, m);
}

/* --- messages --- */

static void draw_forged(struct steps_diagram *s, const struct moment_arrow *a) {
  struct diagram *d = s->d;
  struct text whole = {0}, cut = {0};
  int x = s->moments.at[a->taken].x, y = d->rows[a->to].y, from = d->rows[a->from].y;
  add_forged_label(s, a, &whole, &cut);
  svg_line(&d->svg, STROKE_FORGED, x - FORGED_LENGTH, from, x - 2, y + (from < y ? -4 : 4));
  svg_words(&d->svg, INK_BAD, ANCHOR_START, x - FORGED_LENGTH, from + (from < y ? -8 : 16), cut.at, whole.at);
  text_release(&whole);
  text_release(&cut);
  d->legend[LEGEND_FORGED] = true;
}

/* A lost message says which it is and to whom it was sent. */
static void draw_lost(struct steps_diagram *s, const struct moment_arrow *a, int x0, int x) {
  struct diagram *d = s->d;
  struct text words = {0};
  int from = d->rows[a->from].y, to = a->from == a->to ? from - 24 : d->rows[a->to].y;
  int x2 = diagram_along(x0, x, 60), y2 = diagram_along(from, to, 60);
  svg_line(&d->svg, STROKE_LOST, x0, from, x2, y2);
  svg_mark(&d->svg, MARK_CROSS, INK_BAD, x2, y2);
  text_addf(&words, "%s to %s", d->model->messages[a->kind].name, d->rows[a->to].name);
  svg_words(&d->svg, INK_LOST, ANCHOR_START, x2 + 8, y2 + 4, words.at, NULL);
  if (d->right < x2 + 8 + svg_width(words.at))
    d->right = x2 + 8 + svg_width(words.at);
  text_release(&words);
  d->legend[LEGEND_LOST] = true;
}

/* Messages in transit at the end of the run, those of one kind in one direction once. Steep enough not to cross labels.
 */
static void draw_pending(struct steps_diagram *s, size_t arrow) {
  struct diagram *d = s->d;
  const struct moment_arrow *a = &s->arrows.at[arrow];
  int x = moment_x(s, a->sent), y = d->rows[a->from].y, end = y + (a->to > a->from ? PENDING_LENGTH : -PENDING_LENGTH);
  if (a->sent == STEP_EARLIER)
    return;
  for (size_t i = arrow; i-- > 0 && s->arrows.at[i].end == FLIGHT_PENDING;) {
    const struct moment_arrow *o = &s->arrows.at[i];
    if (o->sent == a->sent && o->kind == a->kind && (o->to > o->from) == (a->to > a->from))
      return;
  }
  svg_line(&d->svg, STROKE_PENDING, x, y, x + 1, end);
  svg_mark(&d->svg, MARK_RING, INK_PLAIN, x + 1, end);
  d->legend[LEGEND_PENDING] = true;
}

static void draw_arrow(struct steps_diagram *s, size_t arrow) {
  struct diagram *d = s->d;
  const struct moment_arrow *a = &s->arrows.at[arrow];
  int from = d->rows[a->from].y, to = d->rows[a->to].y;
  int x0 = a->end == FLIGHT_FORGED ? 0 : moment_x(s, a->sent), x = a->taken == STEP_NEVER ? 0 : moment_x(s, a->taken);
  uint32_t shown = a->taken != STEP_NEVER ? a->taken : a->sent;
  struct text message = {0};
  message_print(d->model, a->kind, a->message, &message);
  diagram_show_message(d, shown == STEP_EARLIER ? NO_STEP_SHOWN : s->moments.at[shown].step, a->from, a->to, a->kind,
                       message.at);
  if (shown != STEP_EARLIER)
    d->svg.hook.steps = s->moments.at[shown].list.at;
  if (d->svg.kind && a->end != FLIGHT_FORGED)
    d->kinds[d->svg.kind - 1] = true;
  switch (a->end) {
  case FLIGHT_FORGED:
    draw_forged(s, a);
    break;
  case FLIGHT_LOST:
    draw_lost(s, a, x0, x);
    break;
  case FLIGHT_PENDING:
    draw_pending(s, arrow);
    break;
  case FLIGHT_TAKEN:
    if (a->from == a->to)
      svg_arc(&d->svg, STROKE_MESSAGE, x0, from, x - 2, to - 4, -34);
    else
      svg_line(&d->svg, STROKE_MESSAGE, x0, from, x - 2, to + (from < to ? -4 : 4));
    break;
  }
  diagram_show_nothing(d);
  text_release(&message);
}

/* The final points of the witnesses, if the property reads them. */
static void draw_points(struct steps_diagram *s) {
  struct diagram *d = s->d;
  const struct config *last = d->trace->configs[d->trace->nconfigs - 1];
  int widest = 0;
  for (uint32_t i = 0; i < d->nlines; i++) {
    uint32_t p = d->rows[i].first;
    const struct role *role = process_role(d->model, p);
    struct text v = {0};
    if (role->point_var == NO_VAR || !d->witness[p] || !d->key[model_role_of(d->model, p)][role->point_var])
      continue;
    text_add(&v, "at ");
    value_print(&d->model->values, d->model, role->vars[role->point_var].type,
                last->local[p][LOCAL_VAR(role->point_var)], &v);
    svg_words(&d->svg, INK_KEY, ANCHOR_START, s->end + 8, d->rows[i].y + 4, v.at, NULL);
    widest = svg_width(v.at) > widest ? svg_width(v.at) : widest;
    text_release(&v);
    d->legend[LEGEND_KEY] = true;
  }
  if (widest > 0 && d->right < s->end + 14 + widest)
    d->right = s->end + 14 + widest;
}

/* --- the diagram --- */

/* The number of each moment, and a strip that a page can light. */
static void draw_numbers(struct steps_diagram *s, int line, int bottom) {
  struct diagram *d = s->d;
  for (uint32_t i = 0; i < s->moments.n; i++) {
    const struct moment *m = &s->moments.at[i];
    int next = i + 1 < s->moments.n ? m[1].x - 11 : s->end;
    show_moment(s, i);
    svg_band(&d->svg, "strip", m->x - 11, line - 12, next - m->x + 11, bottom - line + 12);
    svg_words(&d->svg, INK_FAINT, ANCHOR_MIDDLE, m->x, line, m->numbers.at, NULL);
  }
  diagram_show_nothing(d);
}

static void draw(struct steps_diagram *s, int head) {
  struct diagram *d = s->d;
  int line = head + (d->head - 1) * (SVG_LINE + 4) + 4, bottom = diagram_bottom(d);
  for (uint32_t i = 0; i < d->nrows; i++) {
    if (i < d->nlines)
      draw_life(s, i);
    else
      svg_line(&d->svg, STROKE_GONE, d->left, d->rows[i].y, s->end, d->rows[i].y);
    diagram_show(d, NO_STEP_SHOWN, i);
    diagram_draw_labels(d, &s->starts[i], ANCHOR_START, d->left + 2, d->rows[i].y, false);
    diagram_show_nothing(d);
  }
  for (size_t i = 0; i < s->arrows.n; i++)
    draw_arrow(s, i);
  draw_numbers(s, line, bottom);
  for (uint32_t i = 0; i < s->moments.n; i++)
    draw_moment(s, i);
  diagram_show_nothing(d);
  uint32_t loop = d->trace->claim.loop;
  bool loops = d->trace->claim.lasso && loop < s->nsteps;
  diagram_draw_end(d, head, loops ? s->moments.at[s->moment_of[loop]].x - 13 : s->end, s->end, line - 12, bottom);
  draw_points(s);
  diagram_draw_names(d);
}

void diagram_steps(struct diagram *d) {
  struct steps_diagram s;
  d->head = d->trace->claim.lasso ? 2 : 1;
  steps_diagram_init(&s, d);
  diagram_space_rows(d);
  moments_place(&s);
  draw(&s, diagram_place_rows(d));
  steps_diagram_release(&s);
}
