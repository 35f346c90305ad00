#include "report/teller.h"

#include <string.h>

#define LONG_VALUE 60 /* what is shown of a long value unless the user wants all */

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
