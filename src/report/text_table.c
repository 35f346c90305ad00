#include "report/text_table.h"

#include <string.h>

static void widen(struct table_column *c, const char *words) {
  size_t width = text_columns(words, strlen(words));
  c->width = width > c->width ? width : c->width;
}

void text_table_column(struct text_table *t, const char *head, enum text_align align, size_t least_width) {
  vec_push(&t->columns, ((struct table_column){memory_strdup(head), align, least_width}));
  widen(&t->columns.at[t->columns.n - 1], head);
}

void text_table_add_word(struct text_table *t, const char *cell, enum paint paint) {
  widen(&t->columns.at[t->cells.n % t->columns.n], cell);
  vec_push(&t->cells, ((struct table_cell){memory_strdup(cell), paint}));
}

void text_table_add(struct text_table *t, struct text *cell) {
  text_table_add_word(t, cell->n ? cell->at : "-", PAINT_NONE);
  text_release(cell);
}

size_t text_table_width(const struct text_table *t) {
  size_t sum = t->indent + t->gap * (t->columns.n - 1);
  for (size_t i = 0; i < t->columns.n; i++)
    sum += t->columns.at[i].width;
  return sum;
}

/* The last column is not padded, so that lines do not end in blanks. */
static void print_cell(const struct text_table *t, size_t column, const char *words, enum paint paint,
                       const struct style *style, struct text *out) {
  const struct table_column *c = &t->columns.at[column];
  bool right = c->align == ALIGN_RIGHT, last = column + 1 == t->columns.n;
  int space = (int)(c->width - text_columns(words, strlen(words)));
  text_addf(out, "%*s", (int)(column ? t->gap : t->indent) + (right ? space : 0), "");
  paint_add(out, style, paint, words);
  text_addf(out, "%*s%s", right || last ? 0 : space, "", last ? "\n" : "");
}

void text_table_print_head(const struct text_table *t, const struct style *style, struct text *out) {
  for (size_t i = 0; i < t->columns.n; i++)
    print_cell(t, i, t->columns.at[i].head, PAINT_TITLE, style, out);
}

void text_table_print_rows(const struct text_table *t, const struct style *style, struct text *out) {
  for (size_t i = 0; i < t->cells.n; i++)
    print_cell(t, i % t->columns.n, t->cells.at[i].words, t->cells.at[i].paint, style, out);
}

void text_table_print_markdown(const struct text_table *t, struct text *out) {
  for (size_t i = 0; i < t->columns.n; i++)
    text_addf(out, "| %s ", t->columns.at[i].head);
  text_add(out, "|\n");
  for (size_t i = 0; i < t->columns.n; i++)
    text_add(out, t->columns.at[i].align == ALIGN_RIGHT ? "| ---: " : "| --- ");
  text_add(out, "|\n");
  for (size_t i = 0; i < t->cells.n; i++)
    text_addf(out, "| %s %s", t->cells.at[i].words, (i + 1) % t->columns.n ? "" : "|\n");
}

void text_table_release(struct text_table *t) {
  for (size_t i = 0; i < t->columns.n; i++)
    memory_free(t->columns.at[i].head);
  for (size_t i = 0; i < t->cells.n; i++)
    memory_free(t->cells.at[i].words);
  vec_release(&t->columns);
  vec_release(&t->cells);
}
