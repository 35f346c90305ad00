#include "report/diagram_parts.h"

#include "analysis/dataflow.h"

#include <string.h>

#define WIDTH_MIN 560       /* avoids too many line breaks in captions */
#define ROW_DISTANCE_MIN 44 /* from one line to the next */
#define STAYS_WIDTH 60      /* of a loop without steps */
#define NAME_MAX_WIDTH 30   /* characters of the name of a row */
#define STEPS_MAX 2000
#define CAPTION_WIDTH 100
#define MESSAGES_MAX 50000

const struct diagram_options diagram_whole = {.caption = true, .fold = true};

/* --- what elements show --- */

void diagram_show_nothing(struct diagram *d) {
  for (unsigned i = 0; i < sizeof d->shown / sizeof *d->shown; i++)
    text_release(&d->shown[i]);
  svg_hook_clear(&d->svg);
}

static uint32_t step_shown(const struct diagram *d, uint32_t step) {
  return step == NO_STEP_SHOWN ? d->trace->before : d->trace->before + step + 1;
}

void diagram_show(struct diagram *d, uint32_t step, uint32_t row) {
  diagram_show_nothing(d);
  d->svg.hook.step = step_shown(d, step);
  if (row < d->nlines)
    d->svg.hook.process = d->rows[row].list;
}

void diagram_show_message(struct diagram *d, uint32_t step, uint32_t from, uint32_t to, uint32_t kind,
                          const char *message) {
  diagram_show_nothing(d);
  text_add(&d->shown[0], message);
  text_addf(&d->shown[1], "%s to %s: %s", d->rows[from].name, d->rows[to].name, message);
  d->svg.hook = (struct svg_hook){.step = step_shown(d, step),
                                  .from = d->rows[from].list,
                                  .to = d->rows[to].list,
                                  .message = d->shown[0].at,
                                  .title = d->shown[1].at};
  if (model_steps(d->model) && kind < d->model->nmessages) {
    d->svg.hook.kind = d->model->messages[kind].name;
    d->svg.kind = diagram_kind_colour(d, kind);
  }
}

unsigned diagram_kind_colour(const struct diagram *d, uint32_t kind) {
  return d->model->kind == MODEL_MESSAGES ? 1 + kind % SVG_KINDS : 0;
}

/* --- rows --- */

static void name_row(const struct diagram *d, struct diagram_row *r) {
  struct text name = {0}, list = {0};
  if (!r->members)
    text_add(&name, d->model->globals[r->first].name);
  else
    processes_add(&name, d->model, r->members);
  for (uint32_t p = 0; r->members && p < d->model->nprocesses; p++)
    if (r->members[p])
      text_addf(&list, "%s%u", list.n ? " " : "", p);
  r->name = memory_strdup(text_or_empty(&name));
  if (r->count > 1 && name.n > NAME_MAX_WIDTH) {
    text_release(&name);
    process_print(d->model, r->first, &name);
    text_addf(&name, " and %u more", r->count - 1);
  }
  r->shown = memory_strdup(text_or_empty(&name));
  r->list = memory_strdup(text_or_empty(&list));
  text_release(&name);
  text_release(&list);
}

void diagram_make_rows(struct diagram *d, const uint32_t *class_of, bool with_shared) {
  const struct model *m = d->model;
  d->rows = memory_alloc(((size_t)m->nprocesses + m->nglobals + 1) * sizeof *d->rows);
  for (uint32_t p = 0; p < m->nprocesses; p++) {
    uint32_t r = class_of ? class_of[p] : p;
    struct diagram_row *row = &d->rows[r];
    d->row_of[p] = r;
    if (r == d->nlines) {
      d->nlines++;
      *row = (struct diagram_row){.first = p, .members = memory_alloc(m->nprocesses + 1)};
    }
    row->members[p] = 1;
    row->count++;
  }
  d->nrows = d->nlines;
  for (uint32_t i = 0; with_shared && i < m->nglobals; i++)
    if (m->globals[i].kind == VAR_SHARED)
      d->rows[d->nrows++] = (struct diagram_row){.first = i};
  for (uint32_t i = 0; i < d->nrows; i++) {
    name_row(d, &d->rows[i]);
    int w = DIAGRAM_MARGIN + svg_width(d->rows[i].shown) + 10;
    d->left = w > d->left ? w : d->left;
  }
}

static bool new_role(const struct diagram *d, uint32_t row) {
  return row == d->nlines || (row < d->nlines && model_role_of(d->model, d->rows[row].first) !=
                                                     model_role_of(d->model, d->rows[row - 1].first));
}

void diagram_space_rows(struct diagram *d) {
  for (uint32_t i = 0; i < d->nrows; i++) {
    struct diagram_row *r = &d->rows[i];
    int previous = i ? d->rows[i - 1].y + (int)d->rows[i - 1].below * SVG_LINE + 8 : 0;
    r->y = previous + (int)r->above * SVG_LINE + 14;
    if (i > 0 && r->y < d->rows[i - 1].y + ROW_DISTANCE_MIN)
      r->y = d->rows[i - 1].y + ROW_DISTANCE_MIN;
    if (i > 0 && new_role(d, i))
      r->y += 12;
  }
}

int diagram_place_rows(struct diagram *d) {
  int head = diagram_draw_caption(d) + 8;
  for (uint32_t i = 0; i < d->nrows; i++)
    d->rows[i].y += head + d->head * (SVG_LINE + 4);
  return head;
}

int diagram_bottom(const struct diagram *d) {
  const struct diagram_row *last = d->nrows ? &d->rows[d->nrows - 1] : NULL;
  return last ? last->y + (int)last->below * SVG_LINE + 10 : 0;
}

void diagram_draw_names(struct diagram *d) {
  for (uint32_t i = 0; i < d->nrows; i++) {
    diagram_show_nothing(d);
    if (i < d->nlines)
      d->svg.hook.process = d->rows[i].list;
    svg_words(&d->svg, INK_PLAIN, ANCHOR_END, d->left - 8, d->rows[i].y + 4, d->rows[i].shown, d->rows[i].name);
  }
  diagram_show_nothing(d);
}

/* --- lines and marks --- */

bool diagram_is_gone(const struct config *c, uint32_t p) {
  return c->local[p][LOCAL_STATUS] & (STATUS_CRASHED | STATUS_HALTED);
}

int diagram_along(int from, int to, int hundredths) { return from + (to - from) * hundredths / 100; }

void diagram_draw_life(struct diagram *d, const struct config *c, uint32_t row, int x1, int x2) {
  uint32_t p = d->rows[row].first;
  enum stroke stroke = diagram_is_gone(c, p)                            ? STROKE_GONE
                       : (c->local[p][LOCAL_STATUS] & STATUS_BYZANTINE) ? STROKE_BYZANTINE
                                                                        : STROKE_LIFE;
  if (x2 > x1)
    svg_line(&d->svg, stroke, x1, d->rows[row].y, x2, d->rows[row].y);
}

void diagram_draw_mark(struct diagram *d, uint32_t step, uint32_t row, bool key, int x) {
  bool fails = step + 1 >= d->trace->nconfigs, halts = trace_halts(d->trace, d->rows[row].first, step);
  d->legend[LEGEND_HALTS] |= halts;
  svg_mark(&d->svg,
           halts          ? MARK_SQUARE
           : key || fails ? MARK_KEY
                          : MARK_DOT,
           fails ? INK_BAD
           : key ? INK_KEY
                 : INK_PLAIN,
           x, d->rows[row].y);
}

void diagram_draw_end(struct diagram *d, int head, int loop, int end, int top, int bottom) {
  bool stays = trace_stays(d->trace);
  int from = stays ? end - STAYS_WIDTH : loop, y = head + 2;
  const char *words = stays ? "forever" : "loop";
  if (d->trace->claim.lasso) {
    svg_loop(&d->svg, end, from, y, 16);
    svg_words(&d->svg, INK_PLAIN, ANCHOR_MIDDLE, (from + end) / 2, y + 4, words, NULL);
  } else if (!d->document->good && !d->trace->claim.error) {
    svg_line(&d->svg, STROKE_END, end, top, end, bottom);
  }
}

/* --- variables read by the property --- */

static bool mark_property_var(void *context, const struct node *n) {
  struct diagram *d = context;
  if (n->op == NODE_GLOBAL)
    d->key_global[n->index] = true;
  for (uint32_t r = 0; n->op == NODE_REMOTE && r < d->model->nroles; r++)
    if (d->model->fields[n->index].var[r] != NO_VAR)
      d->key[r][d->model->fields[n->index].var[r]] = true;
  return true;
}

static void diagram_init(struct diagram *d, const struct trace_document *document, const struct trace *t) {
  const struct model *m = t->model;
  *d = (struct diagram){.trace = t, .model = m, .document = document, .right = WIDTH_MIN, .left = DIAGRAM_MARGIN};
  svg_hook_clear(&d->svg);
  d->style.width = CAPTION_WIDTH;
  d->printer = (struct trace_printer){.trace = t, .model = m, .style = &d->style, .until = t->run.nsteps};
  d->key = memory_alloc((m->nroles + 1) * sizeof *d->key);
  for (uint32_t r = 0; r < m->nroles; r++)
    d->key[r] = memory_alloc((m->roles[r].nvars + 1) * sizeof **d->key);
  d->key_global = memory_alloc((m->nglobals + 1) * sizeof *d->key_global);
  d->witness = memory_alloc((m->nprocesses + 1) * sizeof *d->witness);
  d->row_of = memory_alloc((m->nprocesses + 1) * sizeof *d->row_of);
  if (!trace_property(t))
    return;
  node_walk_deep(m, trace_property(t)->formula, mark_property_var, d);
  for (uint32_t p = 0; p < m->nprocesses; p++)
    d->witness[p] = document->all_witnesses;
  for (size_t i = 0; i < document->witnesses.n; i++)
    d->witness[document->witnesses.at[i]] = true;
}

static void diagram_release(struct diagram *d) {
  for (uint32_t r = 0; r < d->model->nroles; r++)
    memory_free(d->key[r]);
  for (uint32_t i = 0; i < d->nrows; i++) {
    memory_free(d->rows[i].members);
    memory_free(d->rows[i].name);
    memory_free(d->rows[i].shown);
    memory_free(d->rows[i].list);
  }
  memory_free(d->key);
  memory_free(d->key_global);
  memory_free(d->witness);
  memory_free(d->rows);
  memory_free(d->row_of);
  diagram_show_nothing(d);
}

/* --- the diagram --- */

bool trace_drawable(const struct trace *t) {
  size_t messages = 0;
  for (uint32_t i = 0; i < t->run.nsteps; i++)
    messages += t->logs[i].nsent + t->logs[i].narrivals;
  return t->run.nsteps <= STEPS_MAX && messages <= MESSAGES_MAX;
}

void trace_document_svg(const struct trace_document *document, const struct trace *t, const struct diagram_options *how,
                        struct text *out) {
  struct diagram d;
  struct text label = {0};
  diagram_init(&d, document, t);
  d.caption = how->caption;
  d.fold = how->fold && t->model->nprocesses >= FOLD_FROM;
  if (model_steps(t->model))
    diagram_steps(&d);
  else
    diagram_rounds(&d);
  int y = diagram_draw_legend(&d, diagram_bottom(&d) + 24);
  text_addf(&label, "%s%s%s", text_or_empty(&document->title), document->title.n ? ": " : "", document->subject.at);
  svg_finish(&d.svg, label.at, d.right + DIAGRAM_MARGIN, y + DIAGRAM_MARGIN, out);
  text_release(&label);
  diagram_release(&d);
}

void trace_svg_part(const struct trace *t, struct interpreter *interp, const struct diagram_options *how,
                    struct text *out) {
  const struct style plain = {.width = CAPTION_WIDTH};
  struct trace_document document;
  trace_document_make(&document, t, interp, &plain);
  trace_document_svg(&document, t, how, out);
  trace_document_release(&document);
}

void trace_svg(const struct trace *t, struct interpreter *interp, struct text *out) {
  trace_svg_part(t, interp, &diagram_whole, out);
}
