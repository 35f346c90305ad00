#include "report/reproduction.h"

#include "base/memory.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *row_verdict_name(enum row_verdict t) {
  static const char *const names[] = {"holds", "violated", "-"};
  return names[t];
}

static bool row_right(const struct published_row *p, const struct reproduced_row *r) {
  return r->done && r->verdict == p->ours;
}

/* Does the correct verdict differ from the paper's? */
static bool corrects(const struct published_row *p) { return p->paper != ROW_UNDECIDED && p->paper != p->ours; }

bool reproduction_right(const struct reproduction *r) {
  for (size_t i = 0; i < published_nrows(r->table); i++)
    if (!row_right(&r->table->rows[i], &r->rows[i]))
      return false;
  return true;
}

void reproduction_release(struct reproduction *r) {
  for (size_t i = 0; i < published_nrows(r->table); i++) {
    memory_free(r->rows[i].distance);
    memory_free(r->rows[i].fault);
  }
  memory_free(r->rows);
  *r = (struct reproduction){0};
}

/* --- cells --- */

static void add_states(struct text *out, double states) {
  if (states <= 0)
    text_add(out, "-");
  else if (states >= 1e5 && fmod(states, 1000) == 0) { /* rounded in the paper */
    int power = (int)floor(log10(states));
    text_addf(out, "%.1f e%d", states / pow(10, power), power);
  } else
    number_add(out, (uint64_t)states);
}

static void add_their_seconds(struct text *out, double seconds) {
  if (seconds < 0)
    text_add(out, "-");
  else if (seconds == 0)
    text_add(out, "~0 s");
  else if (seconds < 10)
    text_addf(out, "%g s", seconds);
  else
    text_addf(out, "%.0f s", seconds);
}

static void add_ratio(struct text *out, double theirs, double ours) {
  double ratio = theirs / ours;
  if (theirs <= 0 || ours <= 0)
    text_add(out, "-");
  else if (ratio >= 100)
    number_add(out, (uint64_t)(ratio + 0.5));
  else
    text_addf(out, ratio >= 10 ? "%.0f" : "%.1f", ratio);
}

#define COLUMNS 12
static const char *const heads[COLUMNS] = {"setting", "paper's way", "paper",  "states", "memory",       "time",
                                           "rondo",   "states",      "memory", "time",   "states: 1 to", "time: 1 to"};
static bool is_number(unsigned column) { return column >= 3 && column != 6; }

static void add_cell(const struct reproduction *r, size_t row, unsigned column, struct text *out) {
  const struct published_row *p = &r->table->rows[row];
  const struct reproduced_row *o = &r->rows[row];
  const char *mark = !o->done ? "not run" : !row_right(p, o) ? " (!)" : corrects(p) ? " (*)" : "";
  switch (column) {
  case 0:
    text_add(out, p->setting);
    break;
  case 1:
    text_add(out, p->way);
    break;
  case 2:
    text_add(out, row_verdict_name(p->paper));
    break;
  case 3:
    add_states(out, p->states);
    break;
  case 4:
    text_add(out, p->memory ? p->memory : "-");
    break;
  case 5:
    add_their_seconds(out, p->seconds);
    break;
  case 6:
    text_addf(out, "%s%s", o->done ? row_verdict_name(o->verdict) : "", mark);
    break;
  case 7:
    if (o->has_states)
      number_add(out, (uint64_t)o->states);
    else
      text_add(out, "-");
    break;
  case 8:
    if (o->memory > 0)
      bytes_add(out, (uint64_t)o->memory);
    else
      text_add(out, "-");
    break;
  case 9:
    if (o->done)
      seconds_add(out, o->seconds);
    else
      text_add(out, "-");
    break;
  case 10:
    add_ratio(out, p->states, o->has_states ? o->states : 0);
    break;
  default:
    add_ratio(out, p->seconds, o->done ? o->seconds : 0);
    break;
  }
}

/* Notes: explanations of marks, distances found, faults. */
static void add_notes(const struct reproduction *r, const char *bullet, struct text *out) {
  for (size_t i = 0; i < published_nrows(r->table); i++) {
    const struct published_row *p = &r->table->rows[i];
    const struct reproduced_row *o = &r->rows[i];
    if (p->note)
      text_addf(out, "%s%s, %s%s: %s\n", bullet, p->setting, p->way, corrects(p) ? " (*)" : "", p->note);
    if (o->distance)
      text_addf(out, "%s%s, %s: largest distance of rounds found: %s\n", bullet, p->setting, p->way, o->distance);
    if (o->fault)
      text_addf(out, "%s%s, %s (!): %s\n", bullet, p->setting, p->way, o->fault);
  }
}

/* --- text --- */

static size_t column_width(const struct reproduction *r, unsigned column) {
  size_t width = strlen(heads[column]);
  for (size_t i = 0; i < published_nrows(r->table); i++) {
    struct text cell = {0};
    add_cell(r, i, column, &cell);
    width = cell.n > width ? cell.n : width;
    text_release(&cell);
  }
  return width;
}

static void add_padded(struct text *out, const char *cell, size_t width, bool right) {
  int space = (int)(width - strlen(cell));
  text_addf(out, "  %*s%s%*s", right ? space : 0, "", cell, right ? 0 : space, "");
}

static void trim_line(struct text *out) {
  while (out->n > 0 && out->at[out->n - 1] == ' ')
    out->at[--out->n] = 0;
}

void reproduction_text(const struct reproduction *r, const struct style *style, struct text *out) {
  size_t width[COLUMNS];
  struct text line = {0};
  paint_add(out, style, PAINT_TITLE, r->table->title);
  text_addf(out, "\npaper: %s. %s\n\n", r->table->tool, r->table->about);
  for (unsigned c = 0; c < COLUMNS; c++) {
    width[c] = column_width(r, c);
    add_padded(&line, heads[c], width[c], is_number(c));
  }
  trim_line(&line);
  paint_add(out, style, PAINT_TITLE, line.at);
  text_add(out, "\n");
  for (size_t i = 0; i < published_nrows(r->table); i++) {
    line.n = 0;
    for (unsigned c = 0; c < COLUMNS; c++) {
      struct text cell = {0};
      add_cell(r, i, c, &cell);
      add_padded(&line, text_or_empty(&cell), width[c], is_number(c));
      text_release(&cell);
    }
    trim_line(&line);
    text_addf(out, "%s\n", line.at);
  }
  text_release(&line);
  text_add(out, "\n");
  add_notes(r, "  ", out);
}

/* --- Markdown --- */

void reproduction_markdown(const struct reproduction *r, struct text *out) {
  text_addf(out, "## %s\n`rondo reproduce %s`. The paper's tool: %s. %s\n\n", r->table->title, r->table->name,
            r->table->tool, r->table->about);
  for (unsigned c = 0; c < COLUMNS; c++)
    text_addf(out, "| %s ", heads[c]);
  text_add(out, "|\n");
  for (unsigned c = 0; c < COLUMNS; c++)
    text_add(out, is_number(c) ? "| ---: " : "| --- ");
  text_add(out, "|\n");
  for (size_t i = 0; i < published_nrows(r->table); i++) {
    for (unsigned c = 0; c < COLUMNS; c++) {
      text_add(out, "| ");
      add_cell(r, i, c, out);
      text_add(out, " ");
    }
    text_add(out, "|\n");
  }
  text_add(out, "\n");
  add_notes(r, "- ", out);
  text_add(out, "\n");
}

/* --- CSV --- */

static void csv_add(struct text *out, const char *field) {
  bool quoted = strpbrk(field, ",\"\n") != NULL;
  text_add(out, quoted ? "\"" : "");
  for (; *field; field++) {
    if (*field == '"')
      text_add(out, "\"");
    text_add_n(out, field, 1);
  }
  text_add(out, quoted ? "\"" : "");
}

void reproduction_csv(const struct reproduction *r, bool head, struct text *out) {
  if (head)
    text_add(
        out,
        "table,setting,way,paper_verdict,paper_states,paper_memory,paper_seconds,verdict,states,memory_bytes,seconds,"
        "right,command,note\n");
  for (size_t i = 0; i < published_nrows(r->table); i++) {
    const struct published_row *p = &r->table->rows[i];
    const struct reproduced_row *o = &r->rows[i];
    const char *first[] = {r->table->name, p->setting, p->way, row_verdict_name(p->paper)};
    for (size_t k = 0; k < sizeof first / sizeof *first; k++) {
      csv_add(out, first[k]);
      text_add(out, ",");
    }
    if (p->states > 0)
      text_addf(out, "%.0f", p->states);
    text_add(out, ",");
    csv_add(out, p->memory ? p->memory : "");
    text_add(out, ",");
    if (p->seconds >= 0)
      text_addf(out, "%g", p->seconds);
    text_addf(out, ",%s,", o->done ? row_verdict_name(o->verdict) : "");
    if (o->has_states)
      text_addf(out, "%.0f", o->states);
    text_addf(out, ",%.0f,%.3f,%s,", o->memory, o->seconds, row_right(p, o) ? "true" : "false");
    csv_add(out, p->command);
    text_add(out, ",");
    csv_add(out, p->note ? p->note : "");
    text_add(out, "\n");
  }
}

/* --- JSON --- */

static json_t *number_or_null(bool known, double x) { return known ? json_real(x) : json_null(); }
static json_t *count_or_null(bool known, double x) { return known ? json_integer((json_int_t)x) : json_null(); }
static json_t *string_or_null(const char *s) { return s ? json_string(s) : json_null(); }

static json_t *row_json(const struct published_row *p, const struct reproduced_row *o) {
  json_t *paper = json_pack("{s:s, s:o, s:o, s:o}", "verdict", row_verdict_name(p->paper), "states",
                            count_or_null(p->states > 0, p->states), "memory", string_or_null(p->memory), "seconds",
                            number_or_null(p->seconds >= 0, p->seconds));
  json_t *ours = json_pack(
      "{s:o, s:o, s:o, s:o, s:o}", "verdict", string_or_null(o->done ? row_verdict_name(o->verdict) : NULL), "states",
      count_or_null(o->has_states, o->states), "memory_bytes", count_or_null(o->memory > 0, o->memory), "seconds",
      number_or_null(o->done, o->seconds), "round_distance", string_or_null(o->distance));
  return json_pack("{s:s, s:s, s:o, s:o, s:b, s:b, s:s, s:o, s:o}", "setting", p->setting, "way", p->way, "paper",
                   paper, "rondo", ours, "right", row_right(p, o), "correction", corrects(p), "command", p->command,
                   "note", string_or_null(p->note), "fault", string_or_null(o->fault));
}

void reproduction_json(const struct reproduction *r, size_t n, struct text *out) {
  json_t *tables = json_array();
  bool right = true;
  for (size_t t = 0; t < n; t++) {
    json_t *rows = json_array();
    for (size_t i = 0; i < published_nrows(r[t].table); i++)
      json_array_append_new(rows, row_json(&r[t].table->rows[i], &r[t].rows[i]));
    right &= reproduction_right(&r[t]);
    json_array_append_new(tables, json_pack("{s:s, s:s, s:s, s:s, s:b, s:o}", "name", r[t].table->name, "title",
                                            r[t].table->title, "tool", r[t].table->tool, "about", r[t].table->about,
                                            "right", reproduction_right(&r[t]), "rows", rows));
  }
  json_t *all = json_pack("{s:s, s:b, s:o}", "schema", "rondo-reproduce/1", "right", right, "tables", tables);
  char *dumped = json_dumps(all, JSON_INDENT(1));
  text_addf(out, "%s\n", dumped);
  free(dumped);
  json_decref(all);
}
