/* Whatever the bytes: the parser answers; and what parses is formatted to the same tree, once and for all. */
#include "fuzz.h"

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"
#include "lang/ast.h"

static void must(bool holds, const char *what, const char *text) {
  if (holds)
    return;
  fprintf(stderr, "fuzz_parser: %s\n%s\n", what, text);
  abort();
}

/* Every place lies in the source, and a node's place around its word. */
static void check_places(const struct ast *a, size_t length, const char *text) {
  must(a->at.from <= a->at.to && a->at.to <= length, "place outside the source", text);
  must(a->word.from <= a->word.to && a->word.to <= length, "word outside the source", text);
  for (uint32_t i = 0; i < a->n; i++)
    if (a->kid[i])
      check_places(a->kid[i], length, text);
}

static void check_format(const struct source *source, const struct ast *file) {
  struct text once = {0}, twice = {0};
  struct arena arena;
  struct diags diags;
  arena_init(&arena);
  format_source(source, &once);
  struct source formatted = {.path = "f", .text = text_or_empty(&once), .length = once.n};
  diags_init(&diags, &formatted);
  struct ast *again = parse_file(&formatted, &arena, &diags);
  must(diags.errors == 0, "the formatted model does not parse", formatted.text);
  must(ast_same(file, again), "the formatted model is another one", formatted.text);
  format_source(&formatted, &twice);
  must(once.n == twice.n && memcmp(once.at, twice.at, once.n) == 0, "formatting is not stable", formatted.text);
  text_release(&once);
  text_release(&twice);
  diags_release(&diags);
  arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  char *text = malloc(size + 1); /* exact, so that reading past the end is seen */
  if (!text)
    return 0;
  if (size)
    memcpy(text, bytes, size);
  text[size] = '\0';
  struct source source = {.path = "f", .text = text, .length = size};
  struct arena arena;
  struct diags diags;
  struct text shown = {0};
  arena_init(&arena);
  diags_init(&diags, &source);
  struct ast *file = parse_file(&source, &arena, &diags);
  check_places(file, size, text);
  diags_print(&diags, size % 2, &shown);
  must((diags.errors == 0) == (diags.n == 0), "errors are miscounted", text);
  if (diags.errors == 0)
    check_format(&source, file);
  diags_release(&diags);
  diags_init(&diags, &source);
  parse_expression(&source, &arena, &diags);
  diags_release(&diags);
  text_release(&shown);
  arena_release(&arena);
  free(text);
  return 0;
}
