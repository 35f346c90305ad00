/* Whatever the bytes: the parser answers; and what parses is formatted to the same tree, once and
   for all. With libFuzzer: clang -fsanitize=fuzzer,address,undefined. With STANDALONE, a program of
   its own: fuzz_parser FILE...                      reads each file fuzz_parser -n COUNT [-s SEED]
   FILE...   reads COUNT damaged copies of them */
#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"
#include "lang/ast.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

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

#ifdef STANDALONE

#include "base/memory.h"
#include "base/vec.h"

typedef VEC(char) bytes;

static uint64_t next_random(uint64_t *state) { /* xorshift64* */
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * 0x2545F4914F6CDD1Du;
}

static size_t below(uint64_t *state, size_t n) { return n ? (size_t)(next_random(state) % n) : 0; }

static void bytes_add(bytes *b, const char *at, size_t n) {
  for (size_t i = 0; i < n; i++)
    vec_push(b, at[i]);
}

/* Replaces [from, to) by n bytes. */
static void bytes_splice(bytes *b, size_t from, size_t to, const char *at, size_t n) {
  bytes copy = {0};
  bytes_add(&copy, b->at, from);
  bytes_add(&copy, at, n);
  bytes_add(&copy, b->at + to, b->n - to);
  vec_release(b);
  *b = copy;
}

static size_t line_start(const bytes *b, size_t at) {
  while (at > 0 && b->at[at - 1] != '\n')
    at--;
  return at;
}

static size_t line_end(const bytes *b, size_t at) {
  while (at < b->n && b->at[at] != '\n')
    at++;
  return at < b->n ? at + 1 : at;
}

static const char *const splices[] = {
    "algorithm",
    "counters",
    "param",
    "process",
    "environment",
    "round",
    "phase",
    "update",
    "send",
    "step",
    "or",
    "on",
    "when",
    "if",
    "else",
    "let",
    "goto",
    "halt",
    "foreach",
    "exists",
    "forall",
    "always",
    "not",
    "in",
    "for",
    "of",
    "none",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "|",
    "||",
    "&",
    "+",
    "-",
    "*",
    "/",
    ":=",
    "=",
    "==",
    "=>",
    "->",
    "..",
    ".",
    ",",
    ":",
    ";",
    "?",
    "'",
    "//",
    "\n",
    "  ",
    "\t",
    "99",
    "99999999999999999999",
    "\xE2\x88\xA7",
    "\xFF",
    "x",
};

/* Other blanks, line breaks and comments where there were blanks: the model stays the same one. */
static void respace(bytes *b, uint64_t *random) {
  static const char *const blanks[] = {"\n", "  ", "    ", "\t", "\n\n\n", " // c\n", "   // d  \n", "\n// e\n"};
  bytes copy = {0};
  bool comment = false;
  for (size_t i = 0; i < b->n; i++) {
    if (b->at[i] == '/' && i + 1 < b->n && b->at[i + 1] == '/')
      comment = true;
    if (b->at[i] == '\n')
      comment = false;
    const char *blank = blanks[below(random, sizeof blanks / sizeof *blanks)];
    if (!comment && b->at[i] == ' ' && below(random, 12) == 0)
      bytes_add(&copy, blank, strlen(blank));
    else
      vec_push(&copy, b->at[i]);
  }
  vec_release(b);
  *b = copy;
}

static void damage(bytes *b, uint64_t *random, const bytes *other) {
  size_t at = below(random, b->n + 1), word = below(random, sizeof splices / sizeof *splices);
  size_t from = line_start(b, at), to = line_end(b, at);
  bytes line = {0};
  switch (below(random, 7)) {
  case 0: /* a word or sign, more or less often */
    for (size_t i = below(random, 4) ? 1 : below(random, 600); i > 0; i--) {
      bytes_splice(b, at, at, " ", below(random, 2));
      bytes_splice(b, at, at, splices[word], strlen(splices[word]));
    }
    break;
  case 1: /* a flipped bit */
    if (at < b->n)
      b->at[at] = (char)(b->at[at] ^ (1 << below(random, 8)));
    break;
  case 2: /* an end that is missing */
    b->n = at;
    break;
  case 3: /* a line twice */
    bytes_add(&line, b->at + from, to - from);
    bytes_splice(b, from, from, line.at, line.n);
    break;
  case 4: /* a line gone */
    bytes_splice(b, from, to, "", 0);
    break;
  case 5: /* a piece gone */
    bytes_splice(b, at, at + below(random, b->n - at + 1) % 12, "", 0);
    break;
  default: /* a piece of another model */
    from = below(random, other->n + 1);
    bytes_splice(b, at, at, other->at + from, below(random, other->n - from + 1) % 80);
  }
  vec_release(&line);
}

static void read_bytes(const char *path, bytes *into) {
  FILE *file = fopen(path, "rb");
  if (!file) {
    perror(path);
    exit(2);
  }
  for (int c; (c = fgetc(file)) != EOF;)
    vec_push(into, (char)c);
  fclose(file);
}

int main(int argc, char **argv) {
  size_t count = 0;
  uint64_t random = 1;
  VEC(bytes) seeds = {0};
  for (int i = 1; i < argc; i++) {
    bool has_value = i + 1 < argc;
    if (strcmp(argv[i], "-n") == 0 && has_value) {
      count = strtoul(argv[++i], NULL, 10);
    } else if (strcmp(argv[i], "-s") == 0 && has_value) {
      random = strtoull(argv[++i], NULL, 10) * 2 + 1; /* never 0 */
    } else {
      bytes seed = {0};
      read_bytes(argv[i], &seed);
      LLVMFuzzerTestOneInput((const uint8_t *)seed.at, seed.n);
      vec_push(&seeds, seed);
    }
  }
  for (size_t i = 0; i < count && seeds.n; i++) {
    const bytes *seed = &seeds.at[below(&random, seeds.n)];
    bytes copy = {0};
    bytes_add(&copy, seed->at, seed->n);
    if (below(&random, 3) == 0)
      respace(&copy, &random);
    for (size_t k = below(&random, 6); k > 0; k--)
      damage(&copy, &random, &seeds.at[below(&random, seeds.n)]);
    LLVMFuzzerTestOneInput((const uint8_t *)copy.at, copy.n);
    vec_release(&copy);
  }
  for (size_t i = 0; i < seeds.n; i++)
    vec_release(&seeds.at[i]);
  vec_release(&seeds);
  return 0;
}

#endif
