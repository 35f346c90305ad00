#include "report/diagram_moments.h"

#include "report/diagram_fold.h"

#include <inttypes.h>
#include <string.h>

#define OWN_WEIGHT 100
#define SHORT_RUN 14 /* steps: short enough for longer labels */

const struct event *steps_event(const struct steps_diagram *s, uint32_t step) {
  return s->d->trace->run.steps[step]->event;
}

static uint32_t shared_index(const struct steps_diagram *s, uint32_t global) {
  uint32_t index = 0;
  for (uint32_t i = 0; i < global; i++)
    index += s->d->model->globals[i].kind == VAR_SHARED;
  return index;
}

/* --- labels --- */

void diagram_add_message(const struct diagram *d, uint32_t kind, value v, struct text *out) {
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
    diagram_add_message(s->d, log->sent[i].kind, log->sent[i].message, &v);
    s->d->svg.kind = diagram_kind_colour(s->d, log->sent[i].kind);
    diagram_label(s->d, l, INK_MESSAGE, &v);
  }
  s->d->svg.kind = 0;
  labels_cut(l);
}

static void label_event(struct steps_diagram *s, uint32_t step, struct labels *l) {
  const struct event *e = steps_event(s, step);
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
  struct step_labels *m = &s->steps[step];
  VEC(struct change) own = {0};
  m->writes = memory_alloc((s->nshared + 1) * sizeof *m->writes);
  label_sends(s, step, &m->sends);
  label_event(s, step, &m->does);
  for (size_t i = 0; i < log->nchanges; i++) {
    const struct change *c = &log->changes[i];
    if (c->process == PROCESS_SHARED && s->d->model->globals[c->var].kind == VAR_SHARED) {
      diagram_changes(s->d, step, c, 1, &m->writes[shared_index(s, c->var)]);
      labels_cut(&m->writes[shared_index(s, c->var)]);
    } else {
      vec_push(&own, *c);
    }
  }
  m->key = diagram_changes(s->d, step, own.at, own.n, &m->does);
  labels_cut(&m->does);
  vec_release(&own);
}

/* --- folding --- */

static bool same_labels(const struct steps_diagram *s, uint32_t a, uint32_t b) {
  bool same =
      labels_equal(&s->steps[a].sends, &s->steps[b].sends) && labels_equal(&s->steps[a].does, &s->steps[b].does);
  for (uint32_t k = 0; k < s->nshared && same; k++)
    same = labels_equal(&s->steps[a].writes[k], &s->steps[b].writes[k]);
  return same;
}

/* Could the step be drawn with the steps first .. step - 1? Different processes do the same. */
static bool joins(const struct steps_diagram *s, uint32_t first, uint32_t step) {
  const struct event *a = steps_event(s, first), *b = steps_event(s, step);
  const struct model *m = s->d->model;
  if (a->kind != b->kind || event_action(m, a) != event_action(m, b) || a->ntaken != b->ntaken ||
      model_role_of(m, a->process) != model_role_of(m, b->process) || !same_labels(s, first, step))
    return false;
  for (uint32_t i = first; i < step; i++)
    if (steps_event(s, i)->process == b->process)
      return false;
  return true;
}

/* Groups of consecutive steps: by step, the first one. */
static uint32_t *group_steps(const struct steps_diagram *s) {
  uint32_t *group = memory_alloc((s->nsteps + 1) * sizeof *group);
  uint32_t *needs = memory_alloc((s->nsteps + 1) * sizeof *needs); /* the steps up to the last that sent it something */
  for (size_t i = 0; i < s->flights.at.n; i++) {
    const struct flight *f = &s->flights.at.at[i];
    if (f->taken != STEP_NEVER && f->sent != STEP_EARLIER && f->sent + 1 > needs[f->taken])
      needs[f->taken] = f->sent + 1;
  }
  for (uint32_t step = 0; step < s->nsteps; step++) {
    uint32_t first = step ? group[step - 1] : 0;
    group[step] = step && needs[step] <= first && joins(s, first, step) ? first : step;
  }
  memory_free(needs);
  return group;
}

static void add_start(const struct steps_diagram *s, uint32_t p, bool alone, struct text *out) {
  const struct trace *t = s->d->trace;
  const struct role *role = process_role(t->model, p);
  text_addf(out, "%u %u;", model_role_of(t->model, p), alone ? p + 1 : 0);
  for (uint32_t v = 0; v < LOCAL_VAR(role->nvars); v++)
    text_addf(out, "%" PRId64 ",", (int64_t)t->configs[0]->local[p][v]);
}

static uint32_t group_at(const uint32_t *group, uint32_t step) { return step == STEP_NEVER ? step : group[step]; }

static void add_flights(const struct steps_diagram *s, const struct fold *f, const uint32_t *group, struct text *of) {
  for (size_t i = 0; i < s->flights.at.n; i++) {
    const struct flight *m = &s->flights.at.at[i];
    struct text what = {0};
    text_addf(&what, "%d %u %" PRId64 " %u %u", m->end, m->kind, (int64_t)m->message, group_at(group, m->sent),
              group_at(group, m->taken));
    text_addf(&of[m->from], ">%s %u", what.at, f->class_of[m->to]);
    text_addf(&of[m->to], "<%s %u", what.at, f->class_of[m->from]);
    text_release(&what);
  }
}

static void fold_steps(const struct steps_diagram *s, const uint32_t *group, struct fold *f) {
  uint32_t n = s->d->model->nprocesses;
  struct text *of = memory_alloc((n + 1) * sizeof *of);
  bool all = true;
  fold_init(f, n);
  for (uint32_t p = 0; p < n; p++)
    all &= s->d->witness[p];
  for (uint32_t p = 0; p < n; p++)
    add_start(s, p, s->d->witness[p] && !all, &of[p]);
  for (uint32_t step = 0; step < s->nsteps; step++)
    text_addf(&of[steps_event(s, step)->process], "%u.", group[step]);
  bool split = fold_split(f, of) || f->nclasses == 1;
  while (split && f->nclasses < n) {
    add_flights(s, f, group, of);
    split = fold_split(f, of);
  }
  memory_free(of);
}

/* --- moments --- */

static void join_moment(struct steps_diagram *s, struct moment *m, uint32_t step) {
  uint32_t number = s->d->trace->before + step + 1;
  bool next = step == m->last + 1;
  if (m->list.n) {
    size_t dash = 0;
    for (size_t i = 0; i < m->numbers.n; i++)
      dash = m->numbers.at[i] == '-' || m->numbers.at[i] == ',' ? i : dash;
    if (next && dash && m->numbers.at[dash] == '-') {
      m->numbers.n = dash;
      m->numbers.at[dash] = '\0';
    }
    text_addf(&m->numbers, "%s%u", next ? "-" : ",", number);
  } else {
    text_addf(&m->numbers, "%u", number);
  }
  text_addf(&m->list, "%s%u", m->list.n ? " " : "", number);
  m->last = step;
}

static void make_moments(struct steps_diagram *s, const uint32_t *group) {
  for (uint32_t step = 0; step < s->nsteps; step++) {
    uint32_t row = s->d->row_of[steps_event(s, step)->process], first = group ? group[step] : step;
    uint32_t at = (uint32_t)s->moments.n;
    for (uint32_t k = (uint32_t)s->moments.n; k-- > 0 && s->moments.at[k].last >= first;)
      if (s->moments.at[k].row == row && s->moments.at[k].step >= first)
        at = k;
    if (at == s->moments.n)
      vec_push(&s->moments, ((struct moment){.step = step, .last = step, .row = row, .labels = &s->steps[step]}));
    join_moment(s, &s->moments.at[at], step);
    s->moment_of[step] = at;
  }
}

static void make_arrows(struct steps_diagram *s) {
  for (size_t i = 0; i < s->flights.at.n; i++) {
    const struct flight *f = &s->flights.at.at[i];
    struct moment_arrow a = {.end = f->end,
                             .sent = f->sent == STEP_EARLIER ? STEP_EARLIER : s->moment_of[f->sent],
                             .taken = f->taken == STEP_NEVER ? STEP_NEVER : s->moment_of[f->taken],
                             .from = s->d->row_of[f->from],
                             .to = s->d->row_of[f->to],
                             .kind = f->kind,
                             .message = f->message};
    bool repeated = false;
    for (size_t k = s->arrows.n; k-- > 0 && !repeated && s->arrows.at[k].taken == a.taken;) {
      const struct moment_arrow *o = &s->arrows.at[k];
      repeated = o->end == a.end && o->sent == a.sent && o->from == a.from && o->to == a.to && o->kind == a.kind &&
                 o->message == a.message;
    }
    if (!repeated)
      vec_push(&s->arrows, a);
  }
}

static void add_labels(struct labels *to, const struct labels *from) {
  for (size_t i = 0; i < from->at.n; i++) {
    struct label_line line = from->at.at[i];
    line.words = memory_strdup(line.words);
    line.full = memory_strdup(line.full);
    vec_push(&to->at, line);
  }
}

/* The next moment of the row after that one, or the one before it; STEP_NEVER: none. */
static uint32_t neighbour(const struct steps_diagram *s, uint32_t moment, uint32_t row, bool next) {
  for (uint32_t i = next ? moment + 1 : moment; next ? i < s->moments.n : i-- > 0; i += next)
    if (s->moments.at[i].row == row)
      return i;
  return STEP_NEVER;
}

/* Labels are on the side that fewer messages pass: those that the moment sends, those that the one before it on its
   line has sent, and those that the next one takes. */
static void choose_sides(struct steps_diagram *s) {
  unsigned *up = memory_alloc((s->moments.n + 1) * sizeof *up), *down = memory_alloc((s->moments.n + 1) * sizeof *down);
  for (size_t i = 0; i < s->arrows.n; i++) {
    const struct moment_arrow *a = &s->arrows.at[i];
    if (a->sent == STEP_EARLIER || a->end == FLIGHT_FORGED || a->end == FLIGHT_PENDING)
      continue;
    bool rises = a->to <= a->from;
    uint32_t after = neighbour(s, a->sent, a->from, true), before = neighbour(s, a->taken, a->to, false);
    *(rises ? &up[a->sent] : &down[a->sent]) += OWN_WEIGHT;
    if (after != STEP_NEVER && after < a->taken)
      ++*(rises ? &up[after] : &down[after]);
    if (before != STEP_NEVER && before > a->sent)
      ++*(rises ? &down[before] : &up[before]);
  }
  for (size_t i = 0; i < s->moments.n; i++) {
    struct moment *m = &s->moments.at[i];
    bool both = (up[i] >= OWN_WEIGHT) == (down[i] >= OWN_WEIGHT) && up[i] >= OWN_WEIGHT;
    m->side = both || up[i] == down[i] ? LABELS_SPLIT : down[i] > up[i] ? LABELS_ABOVE : LABELS_BELOW;
    if (m->side == LABELS_ABOVE)
      add_labels(&m->above, &m->labels->does);
    add_labels(m->side == LABELS_BELOW ? &m->below : &m->above, &m->labels->sends);
    if (m->side != LABELS_ABOVE)
      add_labels(&m->below, &m->labels->does);
  }
  memory_free(up);
  memory_free(down);
}

static void max_lines(unsigned *lines, const struct labels *l) {
  *lines = l->at.n > *lines ? (unsigned)l->at.n : *lines;
}

static void label_starts(struct steps_diagram *s) {
  struct diagram *d = s->d;
  for (uint32_t i = 0; i < d->nrows; i++) {
    struct text v = {0};
    if (i < d->nlines) {
      diagram_start(d, d->rows[i].first, &s->starts[i]);
    } else {
      text_add(&v, "= ");
      value_print(&d->model->values, d->model, d->model->globals[d->rows[i].first].type,
                  d->trace->configs[0]->globals[d->rows[i].first], &v);
      diagram_label(d, &s->starts[i], INK_FAINT, &v);
    }
    max_lines(&d->rows[i].below, &s->starts[i]);
  }
  for (size_t i = 0; i < s->moments.n; i++) {
    const struct moment *m = &s->moments.at[i];
    max_lines(&d->rows[m->row].above, &m->above);
    max_lines(&d->rows[m->row].below, &m->below);
    for (uint32_t k = 0; k < s->nshared; k++)
      max_lines(&d->rows[d->nlines + k].below, &m->labels->writes[k]);
  }
}

void steps_diagram_init(struct steps_diagram *s, struct diagram *d) {
  *s = (struct steps_diagram){.d = d, .nsteps = d->trace->run.nsteps};
  s->nshared = shared_index(s, d->model->nglobals);
  s->steps = memory_alloc((s->nsteps + 1) * sizeof *s->steps);
  s->moment_of = memory_alloc((s->nsteps + 1) * sizeof *s->moment_of);
  d->widest = s->nsteps <= SHORT_RUN ? 32 : 22;
  flights_find(&s->flights, d->trace);
  for (uint32_t step = 0; step < s->nsteps; step++)
    label_step(s, step);
  struct fold fold = {0};
  uint32_t *group = d->fold ? group_steps(s) : NULL;
  if (group)
    fold_steps(s, group, &fold);
  diagram_make_rows(d, fold.class_of, true);
  s->starts = memory_alloc((d->nrows + 1) * sizeof *s->starts);
  make_moments(s, group);
  make_arrows(s);
  choose_sides(s);
  label_starts(s);
  fold_release(&fold);
  memory_free(group);
}

void steps_diagram_release(struct steps_diagram *s) {
  for (uint32_t step = 0; step < s->nsteps; step++) {
    labels_release(&s->steps[step].sends);
    labels_release(&s->steps[step].does);
    for (uint32_t k = 0; k < s->nshared; k++)
      labels_release(&s->steps[step].writes[k]);
    memory_free(s->steps[step].writes);
  }
  for (size_t i = 0; i < s->moments.n; i++) {
    struct moment *m = &s->moments.at[i];
    text_release(&m->numbers);
    text_release(&m->list);
    labels_release(&m->above);
    labels_release(&m->below);
  }
  for (uint32_t i = 0; i < s->d->nrows; i++)
    labels_release(&s->starts[i]);
  memory_free(s->steps);
  memory_free(s->starts);
  memory_free(s->moment_of);
  vec_release(&s->moments);
  vec_release(&s->arrows);
  flights_release(&s->flights);
}
