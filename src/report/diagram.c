#include "report/diagram_parts.h"

#include "analysis/dataflow.h"

#include <string.h>

#define MARGIN 16
#define WIDTH_MIN 560       /* avoids too many line breaks in captions */
#define ROW_DISTANCE_MIN 46 /* from one line to the next */
#define STAYS_WIDTH 60      /* of a loop without steps */
#define STEPS_MAX 2000
#define CAPTION_WIDTH 100
#define MESSAGES_MAX 50000
#define FORMULA_MAX 600 /* characters of a formula in the caption */

/* --- what elements show --- */

void diagram_show_nothing(struct diagram *d) {
  for (unsigned i = 0; i < 3; i++)
    text_release(&d->shown[i]);
  svg_hook_clear(&d->svg);
}

static uint32_t step_shown(const struct diagram *d, uint32_t step) {
  return step == NO_STEP_SHOWN ? d->trace->before : d->trace->before + step + 1;
}

void diagram_show(struct diagram *d, uint32_t step, uint32_t row) {
  diagram_show_nothing(d);
  d->svg.hook.step = step_shown(d, step);
  if (row >= d->model->nprocesses)
    return;
  text_addf(&d->shown[0], "%u", row);
  d->svg.hook.process = d->shown[0].at;
}

void diagram_show_message(struct diagram *d, uint32_t step, uint32_t from, uint32_t to, uint32_t kind,
                          const char *message) {
  diagram_show_nothing(d);
  text_addf(&d->shown[0], "%u", from);
  text_addf(&d->shown[1], "%u", to);
  process_print(d->model, from, &d->shown[2]);
  text_add(&d->shown[2], " to ");
  process_print(d->model, to, &d->shown[2]);
  text_addf(&d->shown[2], ": %s", message);
  d->svg.hook = (struct svg_hook){.step = step_shown(d, step),
                                  .from = d->shown[0].at,
                                  .to = d->shown[1].at,
                                  .message = message,
                                  .title = d->shown[2].at};
  if (model_steps(d->model) && kind < d->model->nmessages) {
    d->svg.hook.kind = d->model->messages[kind].name;
    d->svg.kind = 1 + kind % SVG_KINDS;
  }
}

/* --- labels --- */

void labels_release(struct labels *l) {
  for (size_t i = 0; i < l->at.n; i++) {
    memory_free(l->at.at[i].words);
    memory_free(l->at.at[i].full);
  }
  vec_release(&l->at);
}

int labels_width(const struct labels *l) {
  int widest = 0;
  for (size_t i = 0; i < l->at.n; i++) {
    int w = svg_width(l->at.at[i].words);
    w += l->at.at[i].ink == INK_KEY ? w / 30 : 0; /* bold */
    widest = w > widest ? w : widest;
  }
  return widest;
}

void diagram_label(const struct diagram *d, struct labels *l, enum ink ink, struct text *words) {
  struct text cut = {0};
  if (words->n > 0) {
    text_add_fitted(words->at, d->widest, &cut);
    vec_push(&l->at, ((struct label_line){ink, memory_strdup(cut.at), memory_strdup(words->at)}));
  }
  text_release(&cut);
  text_release(words);
}

/* --- changes --- */

struct change_labels {
  struct diagram *diagram;
  struct labels *labels;
  enum ink ink;
};

static void add_part(const struct trace_printer *t, const struct type *type, const char *place, value before,
                     value after, void *context) {
  struct change_labels *c = context;
  struct text v = {0};
  (void)before;
  text_addf(&v, "%s%s= ", place, *place ? " " : "");
  value_print(&t->model->values, t->model, type, after, &v);
  diagram_label(c->diagram, c->labels, c->ink, &v);
}

static bool is_property_var(const struct diagram *d, const struct change *c) {
  return c->process == PROCESS_SHARED ? d->key_global[c->var] : d->key[model_role_of(d->model, c->process)][c->var];
}

void labels_cut(struct labels *l) {
  struct text all = {0}, count = {0};
  if (l->at.n <= LABELS_MAX)
    return;
  for (size_t i = LABELS_MAX - 1; i < l->at.n; i++) {
    text_addf(&all, "%s%s", all.n ? "\n" : "", l->at.at[i].full);
    memory_free(l->at.at[i].words);
    memory_free(l->at.at[i].full);
  }
  text_addf(&count, "and %zu more", l->at.n - (LABELS_MAX - 1));
  l->at.n = LABELS_MAX - 1;
  vec_push(&l->at, ((struct label_line){INK_FAINT, memory_strdup(count.at), memory_strdup(all.at)}));
  text_release(&all);
  text_release(&count);
}

bool diagram_changes(struct diagram *d, const struct change *changes, size_t n, struct labels *l) {
  bool any = false;
  for (unsigned key = 2; key-- > 0;)
    for (size_t i = 0; i < n; i++) {
      const struct change *c = &changes[i];
      const struct var *var = change_var(d->model, c);
      bool shared = c->process == PROCESS_SHARED && var->kind == VAR_SHARED; /* the row already shows the name */
      struct change_labels changed = {d, l, key ? INK_KEY : INK_PLAIN};
      if (var->kind == VAR_ORACLE || var_is_hidden(var) || is_property_var(d, c) != key)
        continue;
      any |= key;
      trace_printer_changed_parts(&d->printer, var->type, shared ? "" : var->name, c->before, c->after, add_part,
                                  &changed);
    }
  d->keys |= any;
  labels_cut(l);
  return any;
}

void diagram_short_value(const struct diagram *d, const struct type *type, value v, struct text *out) {
  const struct values *values = &d->model->values;
  size_t n;
  if (type->kind != TYPE_RECORD) {
    value_print(values, d->model, type, v, out);
    return;
  }
  const value *parts = value_parts(values, v, &n);
  for (size_t i = 0; i < n; i++) {
    text_add(out, i ? ", " : "(");
    value_print(values, d->model, type->fields[i].type, parts[i], out);
  }
  text_add(out, ")");
}

void diagram_start(struct diagram *d, uint32_t p, struct labels *l) {
  const struct config *c = d->trace->configs[0];
  const struct role *role = process_role(d->model, p);
  value status = c->local[p][LOCAL_STATUS];
  struct text v = {0};
  if (status & STATUS_BYZANTINE)
    text_add(&v, "Byzantine");
  else if (status & (STATUS_OMITS_SEND | STATUS_OMITS_RECEIVE))
    text_add(&v, "may omit");
  diagram_label(d, l, INK_BAD, &v);
  for (uint32_t i = 0; i < role->nvars && !(status & STATUS_BYZANTINE); i++)
    if (trace_printer_shows_start(&d->printer, &role->vars[i])) {
      v = (struct text){0};
      text_addf(&v, "%s = ", role->vars[i].name);
      value_print(&d->model->values, d->model, role->vars[i].type, c->local[p][LOCAL_VAR(i)], &v);
      diagram_label(d, l, INK_FAINT, &v);
    }
  labels_cut(l);
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

void diagram_init(struct diagram *d, const struct trace *t) {
  const struct model *m = t->model;
  *d = (struct diagram){
      .svg.hook.step = SVG_NO_STEP, .trace = t, .model = m, .nrows = m->nprocesses, .right = WIDTH_MIN, .left = MARGIN};
  d->style.width = CAPTION_WIDTH;
  d->printer = (struct trace_printer){.trace = t, .model = m, .until = t->run.nsteps};
  d->key = memory_alloc((m->nroles + 1) * sizeof *d->key);
  for (uint32_t r = 0; r < m->nroles; r++)
    d->key[r] = memory_alloc((m->roles[r].nvars + 1) * sizeof **d->key);
  d->key_global = memory_alloc((m->nglobals + 1) * sizeof *d->key_global);
  if (trace_property(t))
    node_walk_deep(m, trace_property(t)->formula, mark_property_var, d);
  for (uint32_t i = 0; i < m->nglobals; i++)
    d->nrows += m->globals[i].kind == VAR_SHARED;
  d->rows = memory_alloc((d->nrows + 1) * sizeof *d->rows);
}

/* --- the caption --- */

static void draw_wrapped(struct diagram *d, const char *line, int *y) {
  size_t most = (size_t)(d->right - MARGIN) * 4 / 29, n = strlen(line), from = 0;
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
    svg_words(&d->svg, indent ? INK_PLAIN : INK_FAINT, ANCHOR_START, MARGIN, *y, part.at, NULL);
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
static int draw_caption(struct diagram *d) {
  const struct trace_document *of = d->document;
  int y = MARGIN + 14;
  if (!d->caption)
    return MARGIN - 4;
  if (of->title.n) {
    struct text words = {0};
    text_addf(&words, "%s%s", of->title.at, text_or_empty(&of->place));
    svg_title(&d->svg, of->good ? INK_GOOD : INK_BAD, MARGIN, y, words.at);
    if (MARGIN + svg_title_width(words.at) > d->right)
      d->right = MARGIN + svg_title_width(words.at);
    text_release(&words);
    y += 20;
  }
  draw_wrapped(d, of->subject.at, &y);
  draw_lines(d, &of->details, &y);
  draw_lines(d, &of->reasons, &y);
  return y;
}

/* --- rows --- */

const char *diagram_row_name(const struct diagram *d, uint32_t row, struct text *out) {
  uint32_t shared = row - d->model->nprocesses;
  if (row < d->model->nprocesses) {
    process_print(d->model, row, out);
    return out->at;
  }
  for (uint32_t i = 0; i < d->model->nglobals; i++)
    if (d->model->globals[i].kind == VAR_SHARED && shared-- == 0)
      text_add(out, d->model->globals[i].name);
  return text_or_empty(out);
}

void diagram_space_rows(struct diagram *d) {
  for (uint32_t i = 0; i < d->nrows; i++) {
    struct diagram_row *r = &d->rows[i];
    int previous = i ? d->rows[i - 1].y + (int)d->rows[i - 1].below * SVG_LINE + 6 : 0;
    r->y = previous + (int)r->above * SVG_LINE + 14;
    if (i > 0 && r->y < d->rows[i - 1].y + ROW_DISTANCE_MIN)
      r->y = d->rows[i - 1].y + ROW_DISTANCE_MIN;
    if (i == d->model->nprocesses ||
        (i > 0 && i < d->model->nprocesses && model_role_of(d->model, i) != model_role_of(d->model, i - 1)))
      r->y += 12;
  }
}

int diagram_place_rows(struct diagram *d) {
  int head = draw_caption(d) + 8;
  for (uint32_t i = 0; i < d->nrows; i++)
    d->rows[i].y += head + d->head * (SVG_LINE + 4);
  return head;
}

void diagram_draw_names(struct diagram *d) {
  for (uint32_t i = 0; i < d->nrows; i++) {
    struct text name = {0};
    svg_words(&d->svg, INK_PLAIN, ANCHOR_END, d->left - 8, d->rows[i].y + 4, diagram_row_name(d, i, &name), NULL);
    text_release(&name);
  }
}

void diagram_draw_labels(struct diagram *d, const struct labels *l, enum anchor anchor, int x, int y, bool above) {
  for (size_t i = 0; i < l->at.n; i++) {
    const struct label_line *one = &l->at.at[i];
    int at = above ? y - 8 - (int)(l->at.n - 1 - i) * SVG_LINE : y + 16 + (int)i * SVG_LINE;
    svg_words(&d->svg, one->ink, anchor, x, at, one->words, one->full);
  }
}

bool diagram_is_gone(const struct config *c, uint32_t p) {
  return c->local[p][LOCAL_STATUS] & (STATUS_CRASHED | STATUS_HALTED);
}

int diagram_along(int from, int to, int hundredths) { return from + (to - from) * hundredths / 100; }

void diagram_draw_mark(struct diagram *d, uint32_t step, uint32_t p, bool key, int x) {
  bool fails = step + 1 >= d->trace->nconfigs, halts = trace_halts(d->trace, p, step);
  svg_mark(&d->svg,
           halts          ? MARK_SQUARE
           : key || fails ? MARK_KEY
                          : MARK_DOT,
           fails ? INK_BAD
           : key ? INK_KEY
                 : INK_PLAIN,
           x, d->rows[p].y);
}

void diagram_draw_end(struct diagram *d, int head, int loop, int end, int top, int bottom) {
  bool stays = trace_stays(d->trace);
  int from = stays ? end - STAYS_WIDTH : loop, y = head + 2;
  if (d->trace->claim.lasso) {
    svg_line(&d->svg, STROKE_LOOP, from, y, end, y);
    svg_line(&d->svg, STROKE_LOOP, from, y, from, y + 6);
    svg_line(&d->svg, STROKE_LOOP, end, y, end, y + 6);
    svg_words(&d->svg, INK_PLAIN, ANCHOR_MIDDLE, (from + end) / 2, y + 4, stays ? "stays" : "loop", NULL);
  } else if (!d->document->good && !d->trace->claim.error) {
    svg_line(&d->svg, STROKE_END, end, top, end, bottom);
  }
}

/* --- the diagram --- */

static int draw_legend(struct diagram *d, int y) {
  const struct {
    bool used;
    const char *words;
  } all[] = {{d->keys, "bold: what the property speaks of"},
             {d->lost, "dashed, with a cross: lost"},
             {d->forged, "red arrow: made up or corrupted"},
             {d->crashed, "red cross: crash"},
             {d->pending, "arrow with an open end: still on its way"},
             {d->waits, "ring: delivered, or in a round that it has not ended"}};
  int x = MARGIN;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (!all[i].used)
      continue;
    if (x > MARGIN && x + svg_width(all[i].words) > d->right) {
      x = MARGIN;
      y += SVG_LINE + 2;
    }
    svg_words(&d->svg, INK_FAINT, ANCHOR_START, x, y, all[i].words, NULL);
    x += svg_width(all[i].words) + 22;
  }
  return x > MARGIN ? y : y - SVG_LINE;
}

void diagram_finish(struct diagram *d, struct text *out) {
  const struct diagram_row *last = d->nrows ? &d->rows[d->nrows - 1] : NULL;
  int y = (last ? last->y + (int)last->below * SVG_LINE : 0) + 38;
  y = draw_legend(d, y);
  svg_finish(&d->svg, d->document->subject.at, d->right + MARGIN, y + MARGIN, out);
  for (uint32_t r = 0; r < d->model->nroles; r++)
    memory_free(d->key[r]);
  memory_free(d->key);
  memory_free(d->key_global);
  memory_free(d->rows);
  diagram_show_nothing(d);
}

bool trace_drawable(const struct trace *t) {
  size_t messages = 0;
  for (uint32_t i = 0; i < t->run.nsteps; i++)
    messages += t->logs[i].nsent + t->logs[i].narrivals;
  return t->run.nsteps <= STEPS_MAX && messages <= MESSAGES_MAX;
}

const struct diagram_options diagram_whole = {.caption = true, .fold = true};

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

void trace_document_svg(const struct trace_document *document, const struct trace *t, const struct diagram_options *how,
                        struct text *out) {
  struct diagram d;
  diagram_init(&d, t);
  d.document = document;
  d.caption = how->caption;
  d.printer.style = &d.style;
  for (uint32_t i = 0; i < d.nrows; i++) {
    struct text name = {0};
    int w = MARGIN + svg_width(diagram_row_name(&d, i, &name)) + 10;
    d.left = w > d.left ? w : d.left;
    text_release(&name);
  }
  if (model_steps(t->model))
    diagram_steps(&d);
  else
    diagram_rounds(&d);
  diagram_finish(&d, out);
}
