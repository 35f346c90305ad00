/* A table with aligned columns, as text or Markdown. First its columns are added, then its cells, row by row. */
#ifndef RONDO_REPORT_TEXT_TABLE_H
#define RONDO_REPORT_TEXT_TABLE_H

#include "report/layout.h"

enum text_align { ALIGN_LEFT, ALIGN_RIGHT };

struct table_column {
  char *head;
  enum text_align align;
  size_t width;
};
struct table_cell {
  char *words;
  enum paint paint;
};
struct text_table {
  unsigned indent, gap; /* blanks before a row and between its cells */
  VEC(struct table_column) columns;
  VEC(struct table_cell) cells;
};

void text_table_column(struct text_table *, const char *head, enum text_align, size_t least_width);
void text_table_add(struct text_table *,
                    struct text *cell); /* takes ownership of the text; an empty one is shown as - */
void text_table_add_word(struct text_table *, const char *cell, enum paint);
size_t text_table_width(const struct text_table *);
void text_table_print_head(const struct text_table *, const struct style *, struct text *);
void text_table_print_rows(const struct text_table *, const struct style *, struct text *);
void text_table_print_markdown(const struct text_table *, struct text *);
void text_table_release(struct text_table *);

#endif
