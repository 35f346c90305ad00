/* `rondo explain`: the table of diagnostics (base/diag_codes.def). */
#include "driver/commands.h"
#include "driver/context.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Words, wrapped. */
static void paragraph_add(struct text *out, const char *words, unsigned width) {
  size_t column = 0;
  while (*words) {
    size_t n = strcspn(words, " ");
    if (column > 0 && column + 1 + n > width) {
      text_add(out, "\n");
      column = 0;
    }
    text_add(out, column ? " " : "");
    text_add_n(out, words, n);
    column += n + (column > 0);
    words += n + strspn(words + n, " ");
  }
  text_add(out, "\n");
}

static void lines_add(struct text *out, const char *lines) {
  while (*lines) {
    size_t n = strcspn(lines, "\n");
    text_add(out, "  ");
    text_add_n(out, lines, n);
    text_add(out, "\n");
    lines += n + (lines[n] == '\n');
  }
}

static void entry_add(const struct diag_entry *e, unsigned width, struct text *out) {
  text_addf(out, "%s: %s\n\n", e->code, e->title);
  paragraph_add(out, e->explanation, width);
  text_add(out, "\nexample:\n\n");
  lines_add(out, e->model);
  text_addf(out, "%s  $ %s\n", *e->model ? "\n" : "", e->command);
}

static json_t *entry_json(enum diag_code code) {
  const struct diag_entry *e = diag_entry(code);
  return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "code", e->code, "severity",
                   diag_level_name(diag_code_level(code)), "title", e->title, "explanation", e->explanation, "command",
                   e->command, "model", e->model);
}

/* How far one code is from another: the letter, the phase and the number count, in this order. */
static unsigned code_distance(const char *given, const char *code) {
  unsigned letter = toupper((unsigned char)given[0]) == code[0] ? 0 : 20000;
  long other = strtol(code + 1, NULL, 10), number = strtol(given + (isalpha((unsigned char)given[0]) != 0), NULL, 10);
  if (number < 0 || number > 9999)
    number = 9999;
  return letter + (unsigned)(number > other ? number - other : other - number);
}

enum { CODES_NEAR = 5 };

static int report_unknown_code(const struct command_options *o, const char *given) {
  struct text near = {0};
  unsigned after = 0; /* those before are listed */
  for (int shown = 0; shown < CODES_NEAR; shown++) {
    unsigned best = UINT32_MAX, code = 0;
    for (unsigned c = 0; c < DIAG_CODES; c++) {
      unsigned key = code_distance(given, diag_entry((enum diag_code)c)->code) * DIAG_CODES + c;
      if (key >= after && key < best) {
        best = key;
        code = c;
      }
    }
    after = best + 1;
    text_addf(&near, "%s%s (%s)", shown ? ", " : "", diag_entry((enum diag_code)code)->code,
              diag_entry((enum diag_code)code)->title);
  }
  context_error(o->rondo, E0818, "unknown code '%.20s'\n  help: there are %s; 'rondo explain' lists them all", given,
                near.at);
  text_release(&near);
  return EXIT_BAD_INPUT;
}

int command_explain(const struct command_options *o) {
  struct text out = {0};
  struct style style = context_style(o->rondo, false);
  enum diag_code code;
  json_t *codes = json_array();
  int status = EXIT_HOLDS;
  for (size_t i = 0; i < o->files.n && status == EXIT_HOLDS; i++)
    if (!diag_code_find(o->files.at[i], &code)) {
      status = report_unknown_code(o, o->files.at[i]);
    } else {
      json_array_append_new(codes, entry_json(code));
      text_add(&out, i ? "\n" : "");
      entry_add(diag_entry(code), style.width, &out);
    }
  for (unsigned c = 0; c < DIAG_CODES && o->files.n == 0; c++) {
    json_array_append_new(codes, entry_json((enum diag_code)c));
    text_addf(&out, "%s  %s\n", diag_entry((enum diag_code)c)->code, diag_entry((enum diag_code)c)->title);
  }
  if (o->output.json || status != EXIT_HOLDS)
    text_release(&out);
  if (o->output.json && status == EXIT_HOLDS)
    context_json(o->rondo, json_pack("{s:s, s:O}", "schema", "rondo-explain/1", "codes", codes), &out);
  context_write(o->rondo, &out);
  json_decref(codes);
  return status;
}
