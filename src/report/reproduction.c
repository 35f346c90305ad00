#include "report/reproduction.h"

#include "base/memory.h"
#include "report/text_table.h"

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
  if (states >= 1e5 && fmod(states, 1000) == 0) { /* rounded in the paper */
    int power = (int)floor(log10(states));
    text_addf(out, "%.1f e%d", states / pow(10, power), power);
  } else if (states > 0) {
    number_add(out, (uint64_t)states);
  }
}

static void add_their_seconds(struct text *out, double seconds) {
  if (seconds == 0)
    text_add(out, "~0 s");
  else if (seconds > 0)
    text_addf(out, seconds < 10 ? "%g s" : "%.0f s", seconds);
}

static void add_ratio(struct text *out, double theirs, double ours) {
  double ratio = theirs / ours;
  if (theirs <= 0 || ours <= 0)
    return;
  if (ratio >= 100)
    number_add(out, (uint64_t)(ratio + 0.5));
  else
    text_addf(out, ratio >= 10 ? "%.0f" : "%.1f", ratio);
}

/* The rows of the paper beside ours. */
static void make_table(const struct reproduction *r, struct text_table *t) {
  static const struct {
    const char *head;
    enum text_align align;
  } columns[] = {{"setting", ALIGN_LEFT}, {"paper's way", ALIGN_LEFT},   {"paper", ALIGN_LEFT},
                 {"states", ALIGN_RIGHT}, {"memory", ALIGN_RIGHT},       {"time", ALIGN_RIGHT},
                 {"rondo", ALIGN_LEFT},   {"states", ALIGN_RIGHT},       {"memory", ALIGN_RIGHT},
                 {"time", ALIGN_RIGHT},   {"states: 1 to", ALIGN_RIGHT}, {"time: 1 to", ALIGN_RIGHT}};
  *t = (struct text_table){.indent = 2, .gap = 2};
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
    text_table_column(t, columns[i].head, columns[i].align, 0);
  for (size_t i = 0; i < published_nrows(r->table); i++) {
    const struct published_row *p = &r->table->rows[i];
    const struct reproduced_row *o = &r->rows[i];
    struct text cell = {0};
    text_table_add_word(t, p->setting, PAINT_NONE);
    text_table_add_word(t, p->way, PAINT_NONE);
    text_table_add_word(t, row_verdict_name(p->paper), PAINT_NONE);
    add_states(&cell, p->states);
    text_table_add(t, &cell);
    text_add(&cell, p->memory ? p->memory : "");
    text_table_add(t, &cell);
    add_their_seconds(&cell, p->seconds);
    text_table_add(t, &cell);
    text_addf(&cell, "%s%s", o->done ? row_verdict_name(o->verdict) : "not run",
              !o->done           ? ""
              : !row_right(p, o) ? " (!)"
              : corrects(p)      ? " (*)"
                                 : "");
    text_table_add(t, &cell);
    if (o->has_states)
      number_add(&cell, (uint64_t)o->states);
    text_table_add(t, &cell);
    if (o->memory > 0)
      bytes_add(&cell, (uint64_t)o->memory);
    text_table_add(t, &cell);
    if (o->done)
      seconds_add(&cell, o->seconds);
    text_table_add(t, &cell);
    add_ratio(&cell, p->states, o->has_states ? o->states : 0);
    text_table_add(t, &cell);
    add_ratio(&cell, p->seconds, o->done ? o->seconds : 0);
    text_table_add(t, &cell);
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

void reproduction_text(const struct reproduction *r, const struct style *style, struct text *out) {
  struct text_table t;
  paint_add(out, style, PAINT_TITLE, r->table->title);
  text_addf(out, "\npaper: %s. %s\n\n", r->table->tool, r->table->about);
  make_table(r, &t);
  text_table_print_head(&t, style, out);
  text_table_print_rows(&t, style, out);
  text_table_release(&t);
  text_add(out, "\n");
  add_notes(r, "  ", out);
}

/* --- Markdown --- */

void reproduction_markdown(const struct reproduction *r, struct text *out) {
  struct text_table t;
  text_addf(out, "## %s\n`rondo reproduce %s`. The paper's tool: %s. %s\n\n", r->table->title, r->table->name,
            r->table->tool, r->table->about);
  make_table(r, &t);
  text_table_print_markdown(&t, out);
  text_table_release(&t);
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
