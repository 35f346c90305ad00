#include "report/teller.h"

#include <string.h>

#define LONG_VALUE 60 /* what is shown of a long value unless the user wants all */
#define MOST_PARTS 6  /* changed parts of one array or record, likewise */

uint32_t teller_line(const struct model *m, struct span at) {
  uint32_t line, column;
  source_place(&m->source, at.from, &line, &column);
  return line;
}

void teller_value(const struct teller *t, struct text *out, const struct type *type, value v) {
  struct text whole = {0};
  value_print(&t->model->values, t->model, type, v, &whole);
  if (whole.n > LONG_VALUE && !t->style->verbose) {
    text_add_n(out, whole.at, LONG_VALUE - 4);
    text_add(out, " ...");
  } else {
    text_add(out, text_or_empty(&whole));
  }
  text_release(&whole);
}

void groups_add(struct groups *g, const struct teller *t, uint32_t process, struct text *what) {
  const char *text = text_or_empty(what);
  size_t i = 0;
  while (i < g->at.n && strcmp(g->at.at[i].what, text) != 0)
    i++;
  if (i == g->at.n) {
    struct group fresh = {memory_strdup(text), memory_alloc(t->model->nprocesses + 1)};
    vec_push(&g->at, fresh);
  }
  g->at.at[i].members[process] = 1;
  text_release(what);
}

void groups_release(struct groups *g) {
  for (size_t i = 0; i < g->at.n; i++) {
    memory_free(g->at.at[i].what);
    memory_free(g->at.at[i].members);
  }
  vec_release(&g->at);
}

void groups_print(struct groups *g, const struct teller *t, const char *label, bool one_each) {
  struct items items = {0};
  for (size_t i = 0; i < g->at.n; i++) {
    struct text item = {0};
    processes_add(&item, t->model, g->at.at[i].members);
    text_addf(&item, ": %s", g->at.at[i].what);
    items_add(&items, &item);
  }
  groups_release(g);
  items_print(&items, t->style, label, one_each, t->out);
}

void teller_phrase(const struct teller *t, const char *label, const char *phrase) {
  struct items items = {0};
  struct text v = {0};
  text_add(&v, phrase);
  items_add(&items, &v);
  items_print(&items, t->style, label, false, t->out);
}

void teller_heading(const struct teller *t, const char *text) {
  text_add(t->out, "\n");
  paint_add(t->out, t->style, PAINT_TITLE, text);
  text_add(t->out, "\n");
}

/* --- what changed --- */

void teller_parts(const struct teller *t, const struct type *type, const char *place, value before,
                  value after, teller_part_fn *part, void *context) {
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
    teller_parts(t, type->kind == TYPE_RECORD ? type->fields[i].type : type->element, name.at,
                 was[i], is[i], part, context);
    text_release(&name);
  }
}

struct told_parts {
  unsigned n;
  struct text *out;
};

static void tell_part(const struct teller *t, const struct type *type, const char *place,
                      value before, value after, void *context) {
  struct told_parts *told = context;
  struct text *out = told->out;
  if (++told->n > MOST_PARTS && !t->style->verbose)
    return;
  text_addf(out, "%s%s ", out->n ? ", " : "", place);
  teller_value(t, out, type, before);
  text_add(out, " -> ");
  teller_value(t, out, type, after);
}

void teller_lines(const struct teller *t, const struct change *changes, size_t n, uint32_t known,
                  struct text *out) {
  struct text lines = {0};
  uint32_t last = 0, count = 0;
  for (;;) { /* in ascending order, each once */
    uint32_t next = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
      uint32_t line = changes[i].at.to ? teller_line(t->model, changes[i].at) : 0;
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

void teller_change(const struct teller *t, const struct type *type, const char *place, value before,
                   value after, struct text *out) {
  struct told_parts told = {0, out};
  teller_parts(t, type, place, before, after, tell_part, &told);
  if (told.n > MOST_PARTS && !t->style->verbose)
    text_addf(out, " and %u more", told.n - MOST_PARTS);
}
