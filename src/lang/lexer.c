#include "lang/lexer.h"

#include <string.h>

struct lexer {
  const char *text;
  uint32_t at, length;
  bool first;    /* no token yet on this line */
  bool unclosed; /* no end of a foreign comment follows */
  struct diags *diags;
  struct tokens *out;
};

static const struct {
  enum token_kind kind;
  uint32_t length;
  const char *text;
} punctuation[] = {
#define TOKEN(kind, text) {T_##kind, sizeof text - 1, text},
#include "lang/token.def"
#undef TOKEN
};

static const struct {
  uint32_t length;
  bool reserved;
  const char *text;
} words[] = {
    {0, false, ""},
#define WORD(id, text, reserved) {sizeof text - 1, reserved, text},
#include "lang/token.def"
#undef WORD
};

/* Notations of papers and other languages, with the equivalent in this language. */
static const struct {
  const char *foreign, *ours;
} foreign_signs[] = {
    {"≤", "<="},     {"≥", ">="},     {"≠", "!="},     {"∧", "and"},  {"∨", "or"},     {"¬", "not"},        {"∈", "in"},
    {"∉", "not in"}, {"∃", "exists"}, {"∀", "forall"}, {"∪", "|"},    {"∩", "&"},      {"∖", "-"},          {"⇒", "=>"},
    {"→", "=>"},     {"←", ":="},     {"∅", "{}"},     {"⊥", "none"}, {"□", "always"}, {"◇", "eventually"}, {"×", "*"},
    {"·", "*"},      {"−", "-"},      {"\\", "-"},     {"%", "mod"},  {"~", "not"},
};

static void lexer_step(struct lexer *);

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static void lexer_emit(struct lexer *l, struct token t, uint32_t from) {
  t.at = (struct span){from, l->at};
  t.first = l->first;
  l->first = false;
  vec_push(&l->out->list, t);
}

static enum word word_find(const char *at, uint32_t length) {
  for (unsigned w = 1; w < WORDS; w++)
    if (words[w].length == length && memcmp(words[w].text, at, length) == 0)
      return (enum word)w;
  return W_ORDINARY;
}

/* NAME = [A-Za-z_][A-Za-z0-9_]* */
static void lexer_name(struct lexer *l) {
  uint32_t from = l->at;
  while (l->at < l->length && (is_letter(l->text[l->at]) || is_digit(l->text[l->at])))
    l->at++;
  enum word word = word_find(l->text + from, l->at - from);
  lexer_emit(l, (struct token){.kind = T_NAME, .word = word}, from);
}

/* NUMBER = [0-9]+ */
static void lexer_number(struct lexer *l) {
  uint32_t from = l->at;
  int64_t number = 0;
  bool fits = true;
  for (; l->at < l->length && is_digit(l->text[l->at]); l->at++)
    fits = fits && !__builtin_mul_overflow(number, (int64_t)10, &number) &&
           !__builtin_add_overflow(number, (int64_t)(l->text[l->at] - '0'), &number);
  struct span digits = {from, l->at};
  if (!fits)
    diag_error(l->diags, digits, "number too large (more than %lld)", (long long)INT64_MAX);
  uint32_t letters = l->at;
  while (letters < l->length && (is_letter(l->text[letters]) || is_digit(l->text[letters])))
    letters++;
  if (letters > l->at) {
    diag_error(l->diags, (struct span){from, letters}, "name starts with a digit");
    diag_help(l->diags, "write 'x3' for a name, '3 * x' for a product");
    l->at = letters;
  }
  lexer_emit(l, (struct token){.kind = T_NUMBER, .number = fits ? number : INT64_MAX}, from);
}

static bool lexer_punctuation(struct lexer *l) {
  for (size_t i = 0; i < sizeof punctuation / sizeof *punctuation; i++) {
    uint32_t n = punctuation[i].length, from = l->at;
    if (n > l->length - l->at || memcmp(punctuation[i].text, l->text + l->at, n) != 0)
      continue;
    l->at += n;
    lexer_emit(l, (struct token){.kind = punctuation[i].kind}, from);
    return true;
  }
  return false;
}

static void lexer_comment(struct lexer *l) {
  uint32_t from = l->at;
  const char *newline = memchr(l->text + from, '\n', l->length - from);
  l->at = newline ? (uint32_t)(newline - l->text) : l->length;
  uint32_t to = l->at;
  while (to > from && is_blank(l->text[to - 1]))
    to--;
  struct span comment = {from, to};
  vec_push(&l->out->comments, comment);
}

/* '/' followed by '*' does not open a comment in this language. The comment is skipped nevertheless, because otherwise
   each of its words would be reported. */
static void lexer_foreign_comment(struct lexer *l) {
  uint32_t from = l->at;
  const char *end = l->unclosed ? NULL : memmem(l->text + from + 2, l->length - from - 2, "*/", 2);
  const char *newline = memchr(l->text + from, '\n', l->length - from);
  l->unclosed = !end;
  l->at = end ? (uint32_t)(end - l->text) + 2 : newline ? (uint32_t)(newline - l->text) : l->length;
  diag_error(l->diags, (struct span){from, from + 2}, "unexpected '/*'");
  diag_help(l->diags, "a comment starts with '//' and ends with its line");
}

static bool lexer_known(const struct lexer *l, uint32_t at) {
  char c = l->text[at];
  if (is_letter(c) || is_digit(c) || is_blank(c) || c == '\n')
    return true;
  return c != '\0' && strchr(":=!<>-+*/&|.,;?'()[]{}", c) != NULL;
}

/* The length in bytes of the UTF-8 character here; 0: not valid UTF-8. */
static uint32_t lexer_character(const struct lexer *l, uint32_t end) {
  unsigned char c = (unsigned char)l->text[l->at];
  uint32_t n = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
  if (c >= 0x80 && (c < 0xC2 || c > 0xF4 || n > end - l->at))
    return 0;
  for (uint32_t i = 1; i < n; i++)
    if (((unsigned char)l->text[l->at + i] & 0xC0) != 0x80)
      return 0;
  return n;
}

/* A mathematical symbol is reported, and read as its equivalent. */
static bool lexer_foreign_sign(struct lexer *l, uint32_t n) {
  uint32_t from = l->at;
  const char *ours = NULL;
  for (size_t i = 0; i < sizeof foreign_signs / sizeof *foreign_signs; i++)
    if (strlen(foreign_signs[i].foreign) == n && memcmp(foreign_signs[i].foreign, l->text + from, n) == 0)
      ours = foreign_signs[i].ours;
  if (!ours)
    return false;
  diag_error(l->diags, (struct span){from, from + n}, "unexpected character '%.*s'", (int)n, l->text + from);
  diag_help(l->diags, "write '%s'", ours);
  l->at = from + n;
  struct lexer meant = {.text = ours, .length = (uint32_t)strlen(ours), .diags = l->diags};
  struct tokens tokens = {0};
  meant.out = &tokens;
  while (meant.at < meant.length)
    lexer_step(&meant);
  for (size_t i = 0; i < tokens.list.n; i++)
    lexer_emit(l, tokens.list.at[i], from);
  tokens_release(&tokens);
  return true;
}

/* The language has no strings, but skipping one gives better errors than reading its contents. */
static uint32_t lexer_string_end(const struct lexer *l) {
  for (uint32_t i = l->at + 1; i < l->length && l->text[i] != '\n'; i++)
    if (l->text[i] == '"')
      return i + 1;
  return l->at + 1;
}

/* A sequence of bytes that start no token is reported once. */
static void lexer_unknown(struct lexer *l) {
  uint32_t from = l->at, to = from;
  while (to < l->length && !lexer_known(l, to))
    to++;
  uint32_t n = lexer_character(l, to);
  unsigned char c = (unsigned char)l->text[from];
  if (n && lexer_foreign_sign(l, n))
    return;
  if (c == '"')
    to = lexer_string_end(l);
  struct span at = {from, to};
  if (n == 0 || c < 0x20 || c == 0x7F)
    diag_error(l->diags, at, "unexpected byte 0x%02x", c);
  else
    diag_error(l->diags, at, "unexpected character '%.*s'", (int)n, l->text + from);
  if (c == '#')
    diag_help(l->diags, "a comment starts with '//'");
  if (c == '"')
    diag_help(l->diags, "there are no strings; a type can list names: {active, passive}");
  l->at = to;
  if (c == '#') /* a comment in other languages: otherwise each of its words would be reported */
    while (l->at < l->length && l->text[l->at] != '\n')
      l->at++;
  else
    lexer_emit(l, (struct token){.kind = T_UNKNOWN}, from);
}

/* Reads one token, comment or blank. */
static void lexer_step(struct lexer *l) {
  const char *at = l->text + l->at;
  uint32_t left = l->length - l->at;
  if (*at == '\n') {
    l->first = true;
    l->at++;
  } else if (is_blank(*at)) {
    l->at++;
  } else if (left >= 2 && at[0] == '/' && at[1] == '/') {
    lexer_comment(l);
  } else if (left >= 2 && at[0] == '/' && at[1] == '*') {
    lexer_foreign_comment(l);
  } else if (is_letter(*at)) {
    lexer_name(l);
  } else if (is_digit(*at)) {
    lexer_number(l);
  } else if (!lexer_punctuation(l)) {
    lexer_unknown(l);
  }
}

void tokens_read(struct tokens *out, const struct source *source, struct diags *diags) {
  *out = (struct tokens){0};
  struct lexer l = {.text = source->text, .first = true, .diags = diags, .out = out};
  if (source->length >= UINT32_MAX) {
    diag_error(diags, (struct span){0, 0}, "file too large");
  } else {
    l.length = (uint32_t)source->length;
  }
  if (l.length >= 3 && memcmp(l.text, "\xEF\xBB\xBF", 3) == 0)
    l.at = 3; /* a byte order mark, written by some editors */
  while (l.at < l.length)
    lexer_step(&l);
  lexer_emit(&l, (struct token){.kind = T_END}, l.at);
}

void tokens_release(struct tokens *t) {
  vec_release(&t->list);
  vec_release(&t->comments);
}

const char *token_kind_text(enum token_kind kind) {
  if (kind == T_NAME)
    return "name";
  if (kind == T_NUMBER)
    return "number";
  for (size_t i = 0; i < sizeof punctuation / sizeof *punctuation; i++)
    if (punctuation[i].kind == kind)
      return punctuation[i].text;
  return "end of file";
}

const char *word_text(enum word word) { return words[word].text; }
bool word_reserved(enum word word) { return words[word].reserved; }
