/* The harness as a program of its own, where there is no libFuzzer:
     fuzz_NAME FILE...                        reads each file
     fuzz_NAME -n COUNT [-s SEED] FILE...     reads also COUNT damaged copies of them; without files, noise */
#include "fuzz.h"

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
  for (size_t i = 0; i < count && !seeds.n; i++) {
    bytes noise = {0};
    for (size_t k = 2 + below(&random, 36); k > 0; k--)
      vec_push(&noise, (char)next_random(&random));
    LLVMFuzzerTestOneInput((const uint8_t *)noise.at, noise.n);
    vec_release(&noise);
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
