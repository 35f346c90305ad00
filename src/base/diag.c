#include "base/diag.h"

#include "base/printable.h"

#include "base/memory.h"
#include "base/vec.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
  DIAGS_KEPT = 1000,       /* bounds the time spent on garbage input; further diagnostics are only counted */
  DIAGS_PRINTED = 50,      /* further diagnostics are not worth reading */
  NAME_LONGEST = 64,       /* longer names are not compared */
  SEARCHED_MAX = 10000000, /* candidates for all suggestions together: about a second */
};

void diags_init(struct diags *d, const struct source *source) { *d = (struct diags){.source = source}; }

void diags_release(struct diags *d) {
  for (size_t i = 0; i < d->n; i++) {
    memory_free(d->at[i].message);
    memory_free(d->at[i].help);
  }
  memory_free(d->at);
  *d = (struct diags){.source = d->source};
}

/* ---- codes ---- */

const struct diag_entry *diag_entry(enum diag_code code) {
  static const struct diag_entry entries[] = {
#define CODE(code, title, explanation, command, model) {#code, title, explanation, command, model},
#include "base/diag_codes.def"
#undef CODE
  };
  return &entries[code];
}

enum diag_level diag_code_level(enum diag_code code) {
  char letter = diag_entry(code)->code[0];
  return letter == 'E' ? DIAG_ERROR : letter == 'W' ? DIAG_WARNING : DIAG_NOTE;
}

const char *diag_level_name(enum diag_level level) {
  static const char *const names[] = {"error", "warning", "note"};
  return names[level];
}

bool diag_code_find(const char *text, enum diag_code *found) {
  for (unsigned c = 0; c < DIAG_CODES; c++)
    if (strcasecmp(diag_entry((enum diag_code)c)->code, text) == 0) {
      *found = (enum diag_code)c;
      return true;
    }
  return false;
}

/* ---- reporting ---- */

bool diags_stopped(struct diags *d) {
  if (!d->stopped && d->stop && *d->stop) {
    d->stopped = true;
    d->errors++;
  }
  return d->stopped;
}

static bool span_nowhere(struct span at) { return at.from == 0 && at.to == 0; }

static bool diags_repeats(const struct diags *d, enum diag_level level, struct span at) {
  if (span_nowhere(at))
    return false;
  for (size_t i = d->n; i-- > 0;)
    if (diag_code_level(d->at[i].code) == level && d->at[i].at.from == at.from && !span_nowhere(d->at[i].at))
      return true;
  return false;
}

/* A dropped diagnostic sets a flag, so that its help is dropped as well. */
static void diags_add(struct diags *d, enum diag_code code, struct span at, const char *format, va_list args) {
  enum diag_level level = diag_code_level(code);
  d->dropped = d->n >= DIAGS_KEPT || d->stopped || diags_repeats(d, level, at);
  if (d->n >= DIAGS_KEPT && level == DIAG_ERROR)
    d->errors++;
  if (d->dropped)
    return;
  struct text message = {0};
  text_addv(&message, format, args);
  text_make_printable(&message);
  if (!message.at)
    text_add(&message, "");
  struct diag one = {.code = code, .at = at, .message = message.at};
  vec_push(d, one);
  d->errors += level == DIAG_ERROR;
}

void diag_errorv(struct diags *d, enum diag_code code, struct span at, const char *format, va_list args) {
  diags_add(d, code, at, format, args);
}

void diag_error(struct diags *d, enum diag_code code, struct span at, const char *format, ...) {
  va_list args;
  va_start(args, format);
  diag_errorv(d, code, at, format, args);
  va_end(args);
}

void diag_warning(struct diags *d, enum diag_code code, struct span at, const char *format, ...) {
  va_list args;
  va_start(args, format);
  diags_add(d, code, at, format, args);
  va_end(args);
}

void diag_helpv(struct diags *d, const char *format, va_list args) {
  if (d->dropped || d->n == 0)
    return;
  struct text help = {0};
  text_addv(&help, format, args);
  text_make_printable(&help);
  struct diag *newest = &d->at[d->n - 1];
  memory_free(newest->help);
  newest->help = help.at;
}

void diag_help(struct diags *d, const char *format, ...) {
  va_list args;
  va_start(args, format);
  diag_helpv(d, format, args);
  va_end(args);
}

/* ---- places ---- */

/* Length of the UTF-8 character at 'at'; 1 if the bytes are not valid UTF-8. */
static size_t character_bytes(const char *at, size_t left) {
  const unsigned char *u = (const unsigned char *)at;
  size_t n = u[0] < 0x80                   ? 1
             : u[0] >= 0xC2 && u[0] < 0xE0 ? 2
             : (u[0] & 0xF0) == 0xE0       ? 3
             : u[0] >= 0xF0 && u[0] < 0xF5 ? 4
                                           : 0;
  if (n == 0 || n > left)
    return 1;
  for (size_t i = 1; i < n; i++)
    if ((u[i] & 0xC0) != 0x80)
      return 1;
  return n;
}

/* The column of an offset in the line that begins at `begin`. */
static uint32_t column_of(const struct source *s, size_t begin, size_t end) {
  uint32_t column = 1;
  for (size_t i = begin; i < end; i += character_bytes(s->text + i, end - i))
    column++;
  return column;
}

void source_place(const struct source *s, uint32_t offset, uint32_t *line, uint32_t *column) {
  size_t end = offset < s->length ? offset : s->length, begin = 0;
  const char *newline;
  for (*line = 1; (newline = memchr(s->text + begin, '\n', end - begin)) != NULL; ++*line)
    begin = (size_t)(newline - s->text) + 1;
  *column = column_of(s, begin, end);
}

void source_lines_init(struct source_lines *x, const struct source *s) {
  *x = (struct source_lines){.source = s};
  const char *at = s->text, *end = s->text + s->length, *newline;
  for (vec_push(&x->starts, 0); (newline = memchr(at, '\n', (size_t)(end - at))) != NULL; at = newline + 1)
    vec_push(&x->starts, (uint32_t)(newline + 1 - s->text));
}

void source_lines_release(struct source_lines *x) { vec_release(&x->starts); }

void source_lines_place(const struct source_lines *x, uint32_t offset, uint32_t *line, uint32_t *column) {
  size_t low = 0, high = x->starts.n, end = offset < x->source->length ? offset : x->source->length;
  while (high - low > 1) { /* the line starts at or before the offset; the one at `high` does not */
    size_t middle = low + (high - low) / 2;
    if (x->starts.at[middle] <= end)
      low = middle;
    else
      high = middle;
  }
  *line = (uint32_t)low + 1;
  *column = column_of(x->source, x->starts.at[low], end);
}

uint32_t source_line_number(const struct source *s, struct span at) {
  uint32_t line, column;
  source_place(s, at.from, &line, &column);
  return line;
}

static bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

void source_add_text(const struct source *s, struct span at, struct text *out) {
  const char *text = s->text;
  uint32_t end = at.to < s->length ? at.to : (uint32_t)s->length;
  bool blank = false, first = true;
  for (uint32_t i = at.from; i < end; i++) {
    if (text[i] == '/' && i + 1 < end && text[i + 1] == '/')
      while (i < end && text[i] != '\n')
        i++;
    if (i == end || is_blank(text[i])) {
      blank = true;
      continue;
    }
    text_add(out, blank && !first ? " " : "");
    text_add_n(out, &text[i], 1);
    blank = first = false;
  }
}

static const char *line_text(const struct source *s, size_t begin, size_t *length) {
  const char *at = s->text + begin;
  const char *newline = memchr(at, '\n', s->length - begin);
  *length = newline ? (size_t)(newline - at) : s->length - begin;
  if (*length && at[*length - 1] == '\r')
    --*length;
  return at;
}

const char *source_line(const struct source *s, uint32_t line, size_t *length) {
  size_t begin = 0;
  for (uint32_t l = 1; l < line && begin < s->length; l++) {
    const char *newline = memchr(s->text + begin, '\n', s->length - begin);
    begin = newline ? (size_t)(newline - s->text) + 1 : s->length;
  }
  return line_text(s, begin, length);
}

/* ---- printing ---- */

/* A source line as printed: tabs become spaces, unprintable characters become '?'. Columns count characters. [caret,
   caret_end) is the underlined part. */
struct source_excerpt {
  struct text text;
  size_t columns, caret, caret_end;
};

static void excerpt_add(struct source_excerpt *s, const char *at, size_t n, size_t columns) {
  text_add_n(&s->text, at, n);
  s->columns += columns;
}

static void excerpt_fill(struct source_excerpt *s, const char *line, size_t length, size_t from, size_t to) {
  for (size_t i = 0; i < length;) {
    if (i <= from)
      s->caret = s->columns;
    if (i < to)
      s->caret_end = s->columns + 1;
    unsigned char c = (unsigned char)line[i];
    size_t n = character_bytes(line + i, length - i);
    if (c == '\t') {
      size_t wide = 4 - s->columns % 4;
      excerpt_add(s, "    ", wide, wide);
    } else if (n == 1 && (c < 0x20 || c >= 0x7F)) {
      excerpt_add(s, "?", 1, 1);
    } else if (n == 2 && c == 0xC2 && (unsigned char)line[i + 1] < 0xA0) {
      excerpt_add(s, "?", 1, 1); /* control characters of Latin-1 */
    } else {
      excerpt_add(s, line + i, n, 1);
    }
    i += n;
  }
  if (from >= length) /* at the end of the line */
    s->caret = s->columns;
  if (s->caret_end <= s->caret)
    s->caret_end = s->caret + 1;
}

/* Byte offset of a column in the printed line. */
static size_t excerpt_offset(const struct source_excerpt *s, size_t column) {
  size_t i = 0;
  for (size_t c = 0; c < column && i < s->text.n; c++)
    i += character_bytes(s->text.at + i, s->text.n - i);
  return i;
}

enum { EXCERPT_WIDTH = 110, EXCERPT_BEFORE = 50 };

static void excerpt_print(const struct source_excerpt *s, uint32_t number, bool colour, struct text *out) {
  size_t first = 0, last = s->columns;
  if (last > EXCERPT_WIDTH) {
    first = s->caret > EXCERPT_BEFORE + 3 ? s->caret - EXCERPT_BEFORE : 0;
    if (last > first + EXCERPT_WIDTH)
      last = first + EXCERPT_WIDTH;
  }
  const char *left = first > 0 ? "..." : "", *right = last < s->columns ? "..." : "";
  size_t from = excerpt_offset(s, first), to = excerpt_offset(s, last);
  text_addf(out, "%5u | %s", number, left);
  text_add_n(out, text_or_empty(&s->text) + from, to - from);
  text_addf(out, "%s\n      | ", right);
  size_t indent = s->caret - first + strlen(left);
  size_t end = s->caret_end < last ? s->caret_end : last;
  text_addf(out, "%*s%s^", (int)indent, "", colour ? "\033[1;32m" : "");
  for (size_t c = s->caret + 1; c < end; c++)
    text_add(out, "~");
  text_addf(out, "%s\n", colour ? "\033[0m" : "");
}

static void diag_print(const struct source_lines *lines, const struct diag *d, bool colour, struct text *out) {
  const struct source *source = lines->source;
  const char *code = diag_entry(d->code)->code, *name = diag_level_name(diag_code_level(d->code));
  const char *tint = diag_code_level(d->code) == DIAG_ERROR ? "\033[1;31m" : "\033[1;35m";
  bool placed = !span_nowhere(d->at);
  uint32_t line = 1, column = 1;
  text_add_printable(out, source->path ? source->path : "<text>");
  text_add(out, ":");
  if (placed) {
    source_lines_place(lines, d->at.from, &line, &column);
    text_addf(out, "%u:%u:", line, column);
  }
  text_addf(out, " %s%s[%s]:%s %s\n", colour ? tint : "", name, code, colour ? "\033[0m" : "", d->message);
  if (placed) {
    size_t begin = lines->starts.at[line - 1], length;
    const char *at = line_text(source, begin, &length);
    struct source_excerpt shown = {0};
    excerpt_fill(&shown, at, length, d->at.from > begin ? d->at.from - begin : 0,
                 d->at.to > begin ? d->at.to - begin : 0);
    excerpt_print(&shown, line, colour, out);
    text_release(&shown.text);
  }
  if (d->help)
    text_addf(out, "  help: %s\n", d->help);
}

static int diag_compare(const void *a, const void *b) {
  const struct diag *x = *(const struct diag *const *)a, *y = *(const struct diag *const *)b;
  if (x->at.from != y->at.from)
    return x->at.from < y->at.from ? -1 : 1;
  return x < y ? -1 : x > y; /* ties in the order of reporting: qsort is not stable */
}

void diags_each(const struct diags *d, bool colour, diag_fn *visit, void *context) {
  VEC(const struct diag *) order = {0};
  struct text shown = {0};
  for (size_t i = 0; i < d->n; i++)
    vec_push(&order, &d->at[i]);
  if (order.n)
    qsort(order.at, order.n, sizeof *order.at, diag_compare);
  struct source_lines lines = {0};
  if (order.n)
    source_lines_init(&lines, d->source);
  size_t printed[DIAG_LEVELS] = {0};
  for (size_t i = 0; i < order.n; i++)
    if (printed[diag_code_level(order.at[i]->code)]++ < DIAGS_PRINTED) {
      text_release(&shown);
      diag_print(&lines, order.at[i], colour, &shown);
      visit(context, order.at[i], shown.at);
    }
  source_lines_release(&lines);
  vec_release(&order);
  if (d->errors > DIAGS_PRINTED) {
    size_t more = d->errors - DIAGS_PRINTED;
    text_release(&shown);
    text_addf(&shown, "and %zu more error%s\n", more, more == 1 ? "" : "s");
    visit(context, NULL, shown.at);
  }
  text_release(&shown);
}

static void append(void *context, const struct diag *d, const char *shown) {
  (void)d;
  text_add(context, shown);
}

void diags_print(const struct diags *d, bool colour, struct text *out) { diags_each(d, colour, append, out); }

/* ---- did you mean ---- */

/* Damerau-Levenshtein distance (optimal string alignment): swapped letters are a common typing error. */
static size_t name_distance(const char *a, size_t n, const char *b, size_t m) {
  size_t rows[3][NAME_LONGEST + 1];
  size_t *before = rows[0], *last = rows[1], *now = rows[2];
  for (size_t j = 0; j <= m; j++)
    last[j] = j;
  for (size_t i = 1; i <= n; i++) {
    now[0] = i;
    for (size_t j = 1; j <= m; j++) {
      size_t best = last[j - 1] + (a[i - 1] != b[j - 1]);
      if (last[j] + 1 < best)
        best = last[j] + 1;
      if (now[j - 1] + 1 < best)
        best = now[j - 1] + 1;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
        best = before[j - 2] + 1;
      now[j] = best;
    }
    size_t *oldest = before;
    before = last;
    last = now;
    now = oldest;
  }
  return last[m];
}

void nearest_init(struct nearest *x, const char *name) {
  size_t length = strlen(name);
  *x = (struct nearest){.name = name, .length = length, .distance = length < 5 ? 1 : (length + 2) / 3};
}

void nearest_offer(struct nearest *x, const char *candidate) {
  size_t other = strlen(candidate), longest = x->length > other ? x->length : other;
  size_t difference = longest - (x->length < other ? x->length : other);
  if (longest > NAME_LONGEST || difference > x->distance)
    return;
  if (x->length == other && strcmp(x->name, candidate) != 0 && strcasecmp(x->name, candidate) == 0) {
    x->distance = 0; /* capitals alone differ */
    x->found = candidate;
    return;
  }
  size_t distance = name_distance(x->name, x->length, candidate, other);
  if (distance < longest && (distance < x->distance || (distance == x->distance && !x->found))) {
    x->distance = distance;
    x->found = candidate;
  }
}

const char *nearest_name(const char *name, const char *const *candidates, size_t n) {
  struct nearest x;
  nearest_init(&x, name);
  for (size_t i = 0; i < n; i++)
    nearest_offer(&x, candidates[i]);
  return x.found;
}

bool diag_may_search(struct diags *d, size_t candidates) {
  if (d->dropped || d->searched > SEARCHED_MAX)
    return false;
  d->searched += candidates;
  return true;
}
