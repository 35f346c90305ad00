/* Diagrams of step models. A step is drawn on the line of its process, as far left as the order of steps, the labels on
   the line and the messages it receives allow. Its sends are shown above, its changes below. Shared variables have
   their own lines below those of the processes. */
#include "interp/local.h"
#include "report/diagram_parts.h"

#include <string.h>

#define STEP_LEAST 20   /* distance between steps */
#define FLIGHT_LEAST 40 /* distance between send and receive */
#define FORGED_LENGTH 34
#define FORGED_LABEL_MAX 22
#define PENDING_LENGTH 20
#define CLEAR 7 /* distance from a step to an unrelated arrow */
#define TRIES_MAX 12
#define SHORT_RUN 14 /* steps: short enough for longer labels */

struct step_moment { /* a step */
  struct labels sends, does;
  struct labels *writes; /* by row of a shared variable */
  bool key;
  int x;
};

#define EARLIER UINT32_MAX /* step: before the part of the run that is drawn */

struct message_flight { /* a message since it was sent */
  uint32_t from, to, kind, step;
  value message;
  bool landed; /* its arrow is drawn: it was delivered or read */
  bool over;
};

enum arrow_kind { ARROW_TAKEN, ARROW_LOST, ARROW_FORGED };
struct diagram_arrow {
  enum arrow_kind way;
  uint32_t sent, from, taken, to; /* sent and taken: steps */
  uint32_t kind;                  /* FORGED */
  value message;
};

struct steps_diagram {
  struct diagram *d;
  uint32_t n, nsteps, nshared;
  struct step_moment *moments;
  struct labels *starts; /* by row */
  int *busy;             /* by row: right end of the labels so far */
  int end;
  VEC(struct message_flight) flights;

  VEC(struct diagram_arrow) arrows;
};

static const struct event *event_at(const struct steps_diagram *s, uint32_t step) {
  return s->d->trace->run.steps[step]->event;
}

static int x_of(const struct steps_diagram *s, uint32_t step) {
  return step == EARLIER ? s->d->left : s->moments[step].x;
}

static uint32_t row_of_shared(const struct steps_diagram *s, uint32_t global) {
  uint32_t row = s->n;
  for (uint32_t i = 0; i < global; i++)
    row += s->d->model->globals[i].kind == VAR_SHARED;
  return row;
}

/* --- labels --- */

/* For example promise(1, none), without the names of the fields. */
static void add_message(const struct diagram *d, uint32_t kind, value v, struct text *out) {
  const struct message_kind *k = &d->model->messages[kind];
  text_add(out, k->name);
  if (k->type->size > 0)
    diagram_short_value(d, k->type, v, out);
}

static void label_sends(struct steps_diagram *s, uint32_t step, struct labels *l) {
  const struct step_log *log = &s->d->trace->logs[step];
  for (size_t i = 0; i < log->nsent; i++) {
    struct text v = {0};
    bool repeated = false;
    for (size_t k = 0; k < i && !repeated; k++)
      repeated = log->sent[k].kind == log->sent[i].kind && log->sent[k].message == log->sent[i].message;
    if (repeated)
      continue;
    add_message(s->d, log->sent[i].kind, log->sent[i].message, &v);
    diagram_label(s->d, l, INK_FAINT, &v);
  }
  labels_cut(l);
}

static void label_event(struct steps_diagram *s, uint32_t step, struct labels *l) {
  const struct event *e = event_at(s, step);
  const struct action *a = event_action(s->d->model, e);
  struct text v = {0};
  if (e->kind == EVENT_CRASH)
    text_add(&v, "crashes");
  else if (e->kind == EVENT_RECOVER)
    text_add(&v, "recovers");
  else if (e->kind == EVENT_ACTION && (a->trigger != TRIGGER_ONE || a->point != ANY_POINT) &&
           strcmp(a->name, "when") != 0)
    text_add(&v, a->name); /* an action that receives one message is identified by its arrow */
  diagram_label(s->d, l, INK_FAINT, &v);
}

static void label_step(struct steps_diagram *s, uint32_t step) {
  const struct step_log *log = &s->d->trace->logs[step];
  struct step_moment *m = &s->moments[step];
  VEC(struct change) own = {0};
  m->writes = memory_alloc((s->nshared + 1) * sizeof *m->writes);
  label_sends(s, step, &m->sends);
  label_event(s, step, &m->does);
  for (size_t i = 0; i < log->nchanges; i++) {
    const struct change *c = &log->changes[i];
    if (c->process == PROCESS_SHARED && s->d->model->globals[c->var].kind == VAR_SHARED)
      diagram_changes(s->d, c, 1, &m->writes[row_of_shared(s, c->var) - s->n]);
    else
      vec_push(&own, *c);
  }
  m->key = diagram_changes(s->d, own.at, own.n, &m->does);
  vec_release(&own);
}

static void max_lines(unsigned *lines, const struct labels *l) {
  *lines = l->at.n > *lines ? (unsigned)l->at.n : *lines;
}

static void make_labels(struct steps_diagram *s) {
  struct diagram *d = s->d;
  for (uint32_t i = 0; i < d->model->nglobals; i++) {
    struct text v = {0};
    if (d->model->globals[i].kind != VAR_SHARED)
      continue;
    text_add(&v, "= ");
    value_print(&d->model->values, d->model, d->model->globals[i].type, d->trace->configs[0]->globals[i], &v);
    diagram_label(d, &s->starts[row_of_shared(s, i)], INK_FAINT, &v);
  }
  for (uint32_t p = 0; p < s->n; p++)
    diagram_start(d, p, &s->starts[p]);
  for (uint32_t i = 0; i < d->nrows; i++)
    max_lines(&d->rows[i].below, &s->starts[i]);
  for (uint32_t step = 0; step < s->nsteps; step++) {
    struct step_moment *m = &s->moments[step];
    struct diagram_row *row = &d->rows[event_at(s, step)->process];
    label_step(s, step);
    max_lines(&row->above, &m->sends);
    max_lines(&row->below, &m->does);
    for (uint32_t k = 0; k < s->nshared; k++)
      max_lines(&d->rows[s->n + k].below, &m->writes[k]);
  }
}

/* --- messages and positions --- */

/* The oldest such message that is not over, or the newest; NULL: none. */
static struct message_flight *message_flight_find(struct steps_diagram *s, uint32_t from, uint32_t to, uint32_t kind,
                                                  value message, bool newest) {
  for (size_t i = 0; i < s->flights.n; i++) {
    struct message_flight *f = &s->flights.at[newest ? s->flights.n - 1 - i : i];
    if (!f->over && f->from == from && f->to == to && f->kind == kind && f->message == message)
      return f;
  }
  return NULL;
}

/* The messages that a step receives, reads, delivers or loses. The step must not be left of their arrival. */
static void receive_messages(struct steps_diagram *s, uint32_t step, int *x) {
  const struct event *e = event_at(s, step);
  const struct action *a = event_action(s->d->model, e);
  uint32_t kind = event_message_kind(s->d->model, e);
  for (uint32_t i = 0; i < e->ntaken; i++) {
    const struct taken_message *m = &e->taken[i];
    struct message_flight *f = m->forged ? NULL : message_flight_find(s, m->from, e->process, kind, m->message, false);
    struct diagram_arrow arrow = {m->forged               ? ARROW_FORGED
                                  : e->kind == EVENT_LOSE ? ARROW_LOST
                                                          : ARROW_TAKEN,
                                  EARLIER,
                                  m->from,
                                  step,
                                  e->process,
                                  kind,
                                  m->message};
    if (f) {
      int least = x_of(s, f->step) + FLIGHT_LEAST;
      arrow.sent = f->step;
      *x = *x < least ? least : *x;
    }
    if (m->forged || (f && !f->landed))
      vec_push(&s->arrows, arrow);
    if (m->forged && *x < s->busy[m->from] + FORGED_LENGTH)
      *x = s->busy[m->from] + FORGED_LENGTH;
    if (!f)
      continue;
    bool stays = e->kind == EVENT_DELIVER || (a && a->trigger == TRIGGER_QUORUM && !a->taken);
    f->landed |= stays;
    f->over |= !stays && !m->kept;
  }
}

static void add_forged_label(const struct steps_diagram *s, const struct diagram_arrow *a, struct text *whole,
                             struct text *cut) {
  struct text words = {0};
  add_message(s->d, a->kind, a->message, &words);
  text_add_fitted(words.at, FORGED_LABEL_MAX, cut);
  if (whole)
    text_add(whole, words.at);
  text_release(&words);
}

/* Reserves space for labels of forged messages on the lines of the forgers. */
static void reserve_forged(struct steps_diagram *s, uint32_t step, int x) {
  for (size_t i = s->arrows.n; i-- > 0 && s->arrows.at[i].taken == step;) {
    const struct diagram_arrow *a = &s->arrows.at[i];
    struct text words = {0};
    if (a->way != ARROW_FORGED)
      continue;
    add_forged_label(s, a, NULL, &words);
    s->busy[a->from] = x - FORGED_LENGTH + svg_width(words.at) + BESIDE_WORDS;
    text_release(&words);
  }
}

static int end_of(int x, const struct labels *l) { return x + 5 + labels_width(l) + BESIDE_WORDS; }

/* Does the arrow pass through the point (x, row)? It would seem to start or end there. */
static bool goes_through(const struct steps_diagram *s, int x1, uint32_t from, int x2, uint32_t to, int x,
                         uint32_t row) {
  const struct diagram_row *r = s->d->rows;
  if (row <= (from < to ? from : to) || row >= (from < to ? to : from))
    return false;
  int at = x1 + (x2 - x1) * (r[row].y - r[from].y) / (r[to].y - r[from].y);
  return at > x - CLEAR && at < x + CLEAR;
}

/* With the step at x, no earlier arrow passes through it, and none of its own arrows passes through an earlier step. */
static bool is_clear(const struct steps_diagram *s, uint32_t step, int x) {
  uint32_t p = event_at(s, step)->process;
  for (size_t i = 0; i < s->arrows.n; i++) {
    const struct diagram_arrow *a = &s->arrows.at[i];
    bool own = a->taken == step;
    int x1 = a->way == ARROW_FORGED ? (own ? x : s->moments[a->taken].x) - FORGED_LENGTH : x_of(s, a->sent);
    if (!own && goes_through(s, x1, a->from, s->moments[a->taken].x, a->to, x, p))
      return false;
    for (uint32_t k = 0; own && k < step; k++)
      if (goes_through(s, x1, a->from, x, a->to, s->moments[k].x, event_at(s, k)->process))
        return false;
  }
  return true;
}

static void place_step(struct steps_diagram *s, uint32_t step) {
  const struct step_log *log = &s->d->trace->logs[step];
  struct step_moment *m = &s->moments[step];
  uint32_t p = event_at(s, step)->process;
  int x = step ? s->moments[step - 1].x + STEP_LEAST : s->d->left + BESIDE_WORDS;
  x = x < s->busy[p] ? s->busy[p] : x;
  for (uint32_t k = 0; k < s->nshared; k++)
    if (m->writes[k].at.n > 0 && x < s->busy[s->n + k])
      x = s->busy[s->n + k];
  receive_messages(s, step, &x);
  for (unsigned tries = 0; tries < TRIES_MAX && !is_clear(s, step, x); tries++)
    x += CLEAR;
  m->x = x;
  reserve_forged(s, step, x);
  s->busy[p] = end_of(x, &m->sends) > end_of(x, &m->does) ? end_of(x, &m->sends) : end_of(x, &m->does);
  for (uint32_t k = 0; k < s->nshared; k++)
    if (m->writes[k].at.n > 0)
      s->busy[s->n + k] = end_of(x, &m->writes[k]);
  for (size_t i = 0; i < log->nsent; i++)
    vec_push(&s->flights, ((struct message_flight){log->sent[i].from, log->sent[i].to, log->sent[i].kind, step,
                                                   log->sent[i].message, false, false}));
}

static void place(struct steps_diagram *s) {
  struct diagram *d = s->d;
  const struct config *first = d->trace->configs[0];
  for (uint32_t i = 0; i < first->npackets; i++) {
    const struct packet *p = &first->packets[i];
    vec_push(&s->flights, ((struct message_flight){p->from, p->to, p->kind, EARLIER, p->message, false, false}));
  }
  for (uint32_t i = 0; i < d->nrows; i++)
    s->busy[i] = end_of(d->left + 2, &s->starts[i]);
  for (uint32_t step = 0; step < s->nsteps; step++)
    place_step(s, step);
  s->end = s->nsteps ? s->moments[s->nsteps - 1].x + 2 * FLIGHT_LEAST : d->left + FLIGHT_LEAST;
  for (uint32_t i = 0; i < d->nrows; i++)
    s->end = s->busy[i] > s->end ? s->busy[i] : s->end;
  d->right = s->end > d->right ? s->end : d->right;
}

/* --- lines --- */

static void draw_life(struct steps_diagram *s, uint32_t p) {
  struct diagram *d = s->d;
  const struct trace *t = d->trace;
  int x = d->left, y = d->rows[p].y;
  bool gone = diagram_is_gone(t->configs[0], p);
  for (uint32_t step = 0; step + 1 < t->nconfigs; step++) {
    bool now = diagram_is_gone(t->configs[step + 1], p);
    if (now == gone)
      continue;
    svg_line(&d->svg, gone ? STROKE_GONE : STROKE_LIFE, x, y, s->moments[step].x, y);
    x = s->moments[step].x;
    gone = now;
  }
  svg_line(&d->svg, gone ? STROKE_GONE : STROKE_LIFE, x, y, s->end, y);
}

static void draw_writes(struct steps_diagram *s, uint32_t step) {
  struct diagram *d = s->d;
  const struct step_moment *m = &s->moments[step];
  for (uint32_t k = 0; k < s->nshared; k++) {
    const struct labels *l = &m->writes[k];
    int y = d->rows[s->n + k].y;
    if (l->at.n == 0)
      continue;
    svg_line(&d->svg, STROKE_TIE, m->x, d->rows[event_at(s, step)->process].y, m->x, y);
    svg_mark(&d->svg, MARK_SQUARE, l->at.at[0].ink, m->x, y);
    diagram_draw_labels(d, l, ANCHOR_START, m->x + 6, y, false);
  }
}

static void draw_event(struct steps_diagram *s, uint32_t step) {
  struct diagram *d = s->d;
  const struct event *e = event_at(s, step);
  const struct step_moment *m = &s->moments[step];
  int y = d->rows[e->process].y;
  switch (e->kind) {
  case EVENT_ACTION:
    diagram_draw_mark(d, step, e->process, m->key, m->x);
    break;
  case EVENT_DELIVER:
    svg_mark(&d->svg, MARK_RING, INK_PLAIN, m->x, y);
    d->waits = true;
    break;
  case EVENT_LOSE:
    return;
  case EVENT_CRASH:
    svg_mark(&d->svg, MARK_CRASH, INK_BAD, m->x, y);
    d->crashed = true;
    break;
  case EVENT_RECOVER:
    svg_mark(&d->svg, MARK_KEY, INK_GOOD, m->x, y);
    break;
  }
  diagram_draw_labels(d, &m->sends, ANCHOR_START, m->x + 5, y, true);
  diagram_draw_labels(d, &m->does, ANCHOR_START, m->x + 5, y, false);
  draw_writes(s, step);
}

static void draw_forged(struct steps_diagram *s, const struct diagram_arrow *a) {
  struct diagram *d = s->d;
  struct text whole = {0}, cut = {0};
  int x = s->moments[a->taken].x, y = d->rows[a->to].y, from = d->rows[a->from].y;
  add_forged_label(s, a, &whole, &cut);
  svg_line(&d->svg, STROKE_FORGED, x - FORGED_LENGTH, from, x - 2, y + (from < y ? -4 : 4));
  svg_words(&d->svg, INK_BAD, ANCHOR_START, x - FORGED_LENGTH, from + (from < y ? -8 : 16), cut.at, whole.at);
  text_release(&whole);
  text_release(&cut);
  d->forged = true;
}

static void draw_arrow(struct steps_diagram *s, const struct diagram_arrow *a) {
  struct diagram *d = s->d;
  int from = d->rows[a->from].y, to = d->rows[a->to].y, x = s->moments[a->taken].x,
      x0 = a->way == ARROW_FORGED ? x : x_of(s, a->sent);
  struct text message = {0};
  message_print(d->model, a->kind, a->message, &message);
  diagram_show_message(d, a->taken, a->from, a->to, a->kind, message.at);
  if (a->way == ARROW_FORGED) {
    draw_forged(s, a);
  } else if (a->way == ARROW_LOST) {
    x = diagram_along(x0, x, 60);
    to = a->from == a->to ? from - 14 : diagram_along(from, to, 60);
    svg_line(&d->svg, STROKE_LOST, x0, from, x, to);
    svg_mark(&d->svg, MARK_CROSS, INK_BAD, x, to);
    d->lost = true;
  } else if (a->from == a->to) {
    svg_arc(&d->svg, STROKE_MESSAGE, x0, from, x - 2, to - 4, -34);
  } else {
    svg_line(&d->svg, STROKE_MESSAGE, x0, from, x - 2, to + (from < to ? -4 : 4));
  }
  diagram_show_nothing(d);
  text_release(&message);
}

/* Messages in transit at the end of the run. Of equal messages, the newest are drawn, as many as are pending. */
static void draw_pending(struct steps_diagram *s) {
  struct diagram *d = s->d;
  const struct config *last = d->trace->configs[d->trace->nconfigs - 1];
  for (uint32_t i = 0; i < last->npackets; i++) {
    const struct packet *p = &last->packets[i];
    struct message_flight *f = message_flight_find(s, p->from, p->to, p->kind, p->message, true);
    if (!f || !process_active(last->local[p->to][LOCAL_STATUS]))
      continue; /* the receiver is not active */
    f->over = true;
    if (f->landed)
      continue;
    int x = x_of(s, f->step), from = d->rows[f->from].y, to = d->rows[f->to].y;
    struct text message = {0};
    int y = from + (to > from ? PENDING_LENGTH : -PENDING_LENGTH); /* steep enough not to cross labels */
    message_print(d->model, f->kind, f->message, &message);
    diagram_show_message(d, f->step == EARLIER ? NO_STEP_SHOWN : f->step, f->from, f->to, f->kind, message.at);
    svg_line(&d->svg, STROKE_PENDING, x, from, x + 1, y);
    svg_mark(&d->svg, MARK_RING, INK_PLAIN, x + 1, y);
    diagram_show_nothing(d);
    text_release(&message);
    d->pending = true;
  }
}

/* The final points of the processes, if the property reads them. */
static void draw_points(struct steps_diagram *s) {
  struct diagram *d = s->d;
  const struct config *last = d->trace->configs[d->trace->nconfigs - 1];
  int widest = 0;
  for (uint32_t p = 0; p < s->n; p++) {
    const struct role *role = process_role(d->model, p);
    struct text v = {0};
    if (role->point_var == NO_VAR || !d->key[model_role_of(d->model, p)][role->point_var])
      continue;
    text_add(&v, "at ");
    value_print(&d->model->values, d->model, role->vars[role->point_var].type,
                last->local[p][LOCAL_VAR(role->point_var)], &v);
    svg_words(&d->svg, INK_KEY, ANCHOR_START, s->end + 8, d->rows[p].y + 4, v.at, NULL);
    widest = svg_width(v.at) > widest ? svg_width(v.at) : widest;
    text_release(&v);
    d->keys = true;
  }
  if (widest > 0 && d->right < s->end + 12 + widest)
    d->right = s->end + 12 + widest;
}

/* --- the diagram --- */

static void draw(struct steps_diagram *s, int head) {
  struct diagram *d = s->d;
  int line = head + (d->head - 1) * (SVG_LINE + 4) + 4;
  int bottom = d->nrows ? d->rows[d->nrows - 1].y + (int)d->rows[d->nrows - 1].below * SVG_LINE + 8 : line;
  for (uint32_t i = 0; i < d->nrows; i++) {
    if (i < s->n)
      draw_life(s, i);
    else
      svg_line(&d->svg, STROKE_GONE, d->left, d->rows[i].y, s->end, d->rows[i].y);
    diagram_draw_labels(d, &s->starts[i], ANCHOR_START, d->left + 2, d->rows[i].y, false);
  }
  for (size_t i = 0; i < s->arrows.n; i++)
    draw_arrow(s, &s->arrows.at[i]);
  for (uint32_t step = 0; step < s->nsteps; step++) {
    struct text number = {0};
    text_addf(&number, "%u", d->trace->before + step + 1);
    diagram_show(d, step, event_at(s, step)->process);
    svg_words(&d->svg, INK_FAINT, ANCHOR_MIDDLE, s->moments[step].x, line, number.at, NULL);
    text_release(&number);
    draw_event(s, step);
  }
  diagram_show_nothing(d);
  diagram_draw_end(d, head, (d->trace->claim.lasso ? s->moments[d->trace->claim.loop].x : 0) - 8, s->end, line, bottom);
  draw_pending(s);
  draw_points(s);
  diagram_draw_names(d);
}

static void steps_release(struct steps_diagram *s) {
  for (uint32_t step = 0; step < s->nsteps; step++) {
    struct step_moment *m = &s->moments[step];
    labels_release(&m->sends);
    labels_release(&m->does);
    for (uint32_t k = 0; m->writes && k < s->nshared; k++)
      labels_release(&m->writes[k]);
    memory_free(m->writes);
  }
  for (uint32_t i = 0; i < s->d->nrows; i++)
    labels_release(&s->starts[i]);
  memory_free(s->moments);
  memory_free(s->starts);
  memory_free(s->busy);
  vec_release(&s->flights);
  vec_release(&s->arrows);
}

void diagram_steps(struct diagram *d) {
  struct steps_diagram s = {.d = d, .n = d->model->nprocesses, .nsteps = d->trace->run.nsteps};
  s.nshared = d->nrows - s.n;
  s.moments = memory_alloc((s.nsteps + 1) * sizeof *s.moments);
  s.starts = memory_alloc((d->nrows + 1) * sizeof *s.starts);
  s.busy = memory_alloc((d->nrows + 1) * sizeof *s.busy);
  d->head = d->trace->claim.lasso ? 2 : 1;
  d->widest = s.nsteps <= SHORT_RUN ? 32 : 22;
  make_labels(&s);
  diagram_space_rows(d);
  place(&s);
  draw(&s, diagram_place_rows(d));
  steps_release(&s);
}
