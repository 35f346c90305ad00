/* The papers' tables, from models/papers/tables.json. Strings are borrowed from the parsed document. */
#include "report/reproduction.h"

#include "base/memory.h"

#include <jansson.h>
#include <string.h>

static const char *string_of(const json_t *object, const char *key) {
  return json_string_value(json_object_get(object, key));
}

static bool read_verdict(const json_t *j, enum row_verdict *out) {
  const char *name = json_string_value(j);
  *out = !name ? ROW_UNDECIDED : !strcmp(name, "holds") ? ROW_HOLDS : ROW_VIOLATED;
  return json_is_null(j) || (name && !strcmp(row_verdict_name(*out), name));
}

static bool read_row(const json_t *j, struct published_row *row) {
  const json_t *paper = json_object_get(j, "paper"), *seconds = json_object_get(paper, "seconds");
  *row = (struct published_row){.setting = string_of(j, "setting"),
                                .way = string_of(j, "way"),
                                .states = json_number_value(json_object_get(paper, "states")),
                                .memory = string_of(paper, "memory"),
                                .seconds = seconds ? json_number_value(seconds) : -1,
                                .command = string_of(j, "command"),
                                .note = string_of(j, "note")};
  return row->setting && row->way && row->command && read_verdict(json_object_get(paper, "verdict"), &row->paper) &&
         read_verdict(json_object_get(j, "verdict"), &row->ours);
}

static bool read_table(const json_t *j, struct published_table *table) {
  const json_t *rows = json_object_get(j, "rows");
  size_t n = json_array_size(rows);
  struct published_row *at = memory_alloc((n + 1) * sizeof *at);
  *table = (struct published_table){.name = string_of(j, "name"),
                                    .title = string_of(j, "title"),
                                    .tool = string_of(j, "tool"),
                                    .growth = json_is_true(json_object_get(j, "growth")),
                                    .about = string_of(j, "about"),
                                    .rows = at};
  bool ok = table->name && table->title && table->tool && table->about;
  for (size_t i = 0; i < n && ok; i++)
    ok = read_row(json_array_get(rows, i), &at[i]);
  return ok;
}

bool published_read(struct published *p, const char *text, size_t length, struct text *why) {
  json_error_t error;
  *p = (struct published){.document = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error)};
  if (!p->document)
    text_addf(why, "line %d: %s", error.line, error.text);
  size_t n = json_array_size(p->document);
  p->tables = memory_alloc((n + 1) * sizeof *p->tables);
  for (; p->n < n && !why->n; p->n++)
    if (!read_table(json_array_get(p->document, p->n), &p->tables[p->n]))
      text_addf(why, "table %zu is not as it should be", p->n + 1);
  if (p->n == 0 && !why->n)
    text_add(why, "there are no tables");
  return why->n == 0;
}

void published_release(struct published *p) {
  for (size_t i = 0; i < p->n; i++)
    memory_free((void *)p->tables[i].rows);
  memory_free(p->tables);
  json_decref(p->document);
}

size_t published_nrows(const struct published_table *t) {
  size_t n = 0;
  while (t->rows[n].setting)
    n++;
  return n;
}
