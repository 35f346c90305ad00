#include "report/trace_printer.h"

#include <string.h>

#define VALUE_MAX 60 /* characters shown of a long value, unless verbose */
#define PARTS_MAX 6  /* changed parts of one array or record, likewise */

void trace_printer_value(const struct trace_printer *t, struct text *out, const struct type *type, value v) {
  struct text whole = {0};
  value_print(&t->model->values, t->model, type, v, &whole);
  if (whole.n > VALUE_MAX && !t->style->verbose) {
    text_add_n(out, whole.at, VALUE_MAX - 4);
    text_add(out, " ...");
  } else {
    text_add(out, text_or_empty(&whole));
  }
  text_release(&whole);
}

void process_groups_add(struct process_groups *g, const struct trace_printer *t, uint32_t process, struct text *what) {
  const char *text = text_or_empty(what);
  size_t i = 0;
  while (i < g->at.n && strcmp(g->at.at[i].what, text) != 0)
    i++;
  if (i == g->at.n) {
    struct process_group fresh = {memory_strdup(text), memory_alloc(t->model->nprocesses + 1)};
    vec_push(&g->at, fresh);
  }
  g->at.at[i].members[process] = 1;
  text_release(what);
}

void process_groups_release(struct process_groups *g) {
  for (size_t i = 0; i < g->at.n; i++) {
    memory_free(g->at.at[i].what);
    memory_free(g->at.at[i].members);
  }
  vec_release(&g->at);
}

void process_groups_print(struct process_groups *g, const struct trace_printer *t, const char *label, bool one_each) {
  struct text_items items = {0};
  for (size_t i = 0; i < g->at.n; i++) {
    struct text item = {0};
    processes_add(&item, t->model, g->at.at[i].members);
    text_addf(&item, ": %s", g->at.at[i].what);
    items_add(&items, &item);
  }
  process_groups_release(g);
  items_print(&items, t->style, label, one_each, t->out);
}

void trace_printer_phrase(const struct trace_printer *t, const char *label, const char *phrase) {
  struct text_items items = {0};
  struct text v = {0};
  text_add(&v, phrase);
  items_add(&items, &v);
  items_print(&items, t->style, label, false, t->out);
}

static void mark(const struct trace_printer *t, bool step, uint32_t first, uint32_t last) {
  if (t->document)
    vec_push(&t->document->marks, ((struct trace_mark){t->out->n, step, first, last}));
}

void trace_printer_mark_steps(const struct trace_printer *t, uint32_t first, uint32_t last) {
  mark(t, true, first, last);
}

void trace_printer_heading(const struct trace_printer *t, const char *text, uint32_t number) {
  mark(t, false, number, number);
  text_add(t->out, "\n");
  paint_add(t->out, t->style, PAINT_TITLE, text);
  text_add(t->out, "\n");
}

/* --- changes --- */

void trace_printer_changed_parts(const struct trace_printer *t, const struct type *type, const char *place,
                                 value before, value after, changed_part_fn *part, void *context) {
  struct values *values = &t->trace->model->values;
  size_t n;
  const value *was, *is;
  if (before == after)
    return;
  if (type->kind != TYPE_ARRAY && type->kind != TYPE_RECORD) {
    part(t, type, place, before, after, context);
    return;
  }
  was = value_parts(values, before, &n);
  is = value_parts(values, after, &n);
  for (size_t i = 0; i < n; i++) {
    struct text name = {0};
    text_addf(&name, type->kind == TYPE_RECORD ? "%s." : "%s[", place);
    if (type->kind == TYPE_RECORD) {
      text_add(&name, type->fields[i].name);
    } else {
      value_print(values, t->model, type->index, type_nth(values, type->index, i), &name);
      text_add(&name, "]");
    }
    trace_printer_changed_parts(t, type->kind == TYPE_RECORD ? type->fields[i].type : type->element, name.at, was[i],
                                is[i], part, context);
    text_release(&name);
  }
}

struct change_list {
  unsigned n;
  struct text *out;
};

static void print_part(const struct trace_printer *t, const struct type *type, const char *place, value before,
                       value after, void *context) {
  struct change_list *changes_printed = context;
  struct text *out = changes_printed->out;
  if (++changes_printed->n > PARTS_MAX && !t->style->verbose)
    return;
  text_addf(out, "%s%s ", out->n ? ", " : "", place);
  trace_printer_value(t, out, type, before);
  text_add(out, " -> ");
  trace_printer_value(t, out, type, after);
}

void trace_printer_lines(const struct trace_printer *t, const struct change *changes, size_t n, uint32_t known,
                         struct text *out) {
  struct text lines = {0};
  uint32_t last = 0, count = 0;
  for (;;) { /* in ascending order, each once */
    uint32_t next = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
      uint32_t line = changes[i].at.to ? source_line_number(&t->model->source, changes[i].at) : 0;
      if (line > last && line < next && line != known)
        next = line;
    }
    if (next == UINT32_MAX)
      break;
    text_addf(&lines, "%s%u", count++ ? ", " : "", next);
    last = next;
  }
  if (count > 0) {
    struct text whole = {0};
    text_addf(&whole, "  (line%s %s)", count == 1 ? "" : "s", lines.at);
    paint_add(out, t->style, PAINT_FAINT, whole.at);
    text_release(&whole);
  }
  text_release(&lines);
}

void trace_printer_change(const struct trace_printer *t, const struct type *type, const char *place, value before,
                          value after, struct text *out) {
  struct change_list changes_printed = {0, out};
  trace_printer_changed_parts(t, type, place, before, after, print_part, &changes_printed);
  if (changes_printed.n > PARTS_MAX && !t->style->verbose)
    text_addf(out, " and %u more", changes_printed.n - PARTS_MAX);
}
