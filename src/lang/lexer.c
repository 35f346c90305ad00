#include "lang/lexer.h"

#include "lang/foreign.h"

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
    diag_error(l->diags, E0103, digits, "number too large (more than %lld)", (long long)INT64_MAX);
  uint32_t letters = l->at;
  while (letters < l->length && (is_letter(l->text[letters]) || is_digit(l->text[letters])))
    letters++;
  if (letters > l->at) {
    diag_error(l->diags, E0104, (struct span){from, letters}, "name starts with a digit");
    bool hexadecimal = l->text[from] == '0' && letters > from + 2 && (l->text[from + 1] | 0x20) == 'x';
    diag_help(l->diags, hexadecimal ? "numbers are decimal" : "write 'x3' for a name, '3 * x' for a product");
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
  const char *alone = memchr(l->text + from, '\r', to - from);
  if (alone) { /* otherwise the comment would hide the rest of the file */
    uint32_t at = (uint32_t)(alone - l->text);
    diag_error(l->diags, E0102, (struct span){at, at + 1}, "a carriage return without a line feed in a comment");
    diag_help(l->diags, "lines end with a line feed: convert the file");
  }
  struct span comment = {from, to};
  vec_push(&l->out->comments, comment);
}

/* Comments of other languages are reported and skipped, because otherwise each of their words would be reported. */
static void lexer_report_comment(struct lexer *l, uint32_t length) {
  diag_error(l->diags, E0102, (struct span){l->at, l->at + length}, "unexpected '%.*s'", (int)length, l->text + l->at);
  diag_help(l->diags, "a comment starts with '//' and ends with its line");
}

static void lexer_skip_line(struct lexer *l) {
  const char *newline = memchr(l->text + l->at, '\n', l->length - l->at);
  l->at = newline ? (uint32_t)(newline - l->text) : l->length;
}

static void lexer_foreign_comment(struct lexer *l, const char *close) {
  const char *end = l->unclosed ? NULL : memmem(l->text + l->at + 2, l->length - l->at - 2, close, 2);
  lexer_report_comment(l, 2);
  l->unclosed = !end;
  if (end)
    l->at = (uint32_t)(end - l->text) + 2;
  else
    lexer_skip_line(l);
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

/* ---- signs of other languages ---- */

static void lexer_emit_meant(struct lexer *l, const char *ours, uint32_t from) {
  struct tokens tokens = {0};
  struct lexer meant = {.text = ours, .length = (uint32_t)strlen(ours), .diags = l->diags, .out = &tokens};
  while (meant.at < meant.length)
    lexer_step(&meant);
  for (size_t i = 0; i < tokens.list.n; i++)
    lexer_emit(l, tokens.list.at[i], from);
  if (tokens.list.n == 0)
    lexer_emit(l, (struct token){.kind = T_UNKNOWN}, from);
  tokens_release(&tokens);
}

/* Does an expression end with the last token? */
static bool lexer_after_operand(const struct lexer *l) {
  const struct token *t = l->out->list.n ? &l->out->list.at[l->out->list.n - 1] : NULL;
  return t && !l->first &&
         (t->kind == T_NUMBER || t->kind == T_RPAREN || t->kind == T_RBRACKET || t->kind == T_RBRACE ||
          t->kind == T_PRIME || t->kind == T_BAR ||
          (t->kind == T_NAME &&
           (!words[t->word].reserved || t->word == W_TRUE || t->word == W_FALSE || t->word == W_NONE)));
}

/* Is the empty sequence that starts here a box of temporal logic? It is one at the start of a formula, before what an
   empty sequence cannot stand before. */
static bool lexer_is_box(const struct lexer *l) {
  const struct token *t = l->out->list.n ? &l->out->list.at[l->out->list.n - 1] : NULL;
  uint32_t next = l->at + 2;
  if (!t || (t->kind != T_COLON && t->kind != T_LPAREN && t->kind != T_ARROW && t->word != W_AND && t->word != W_OR &&
             t->word != W_NOT && t->word != W_ALWAYS && t->word != W_EVENTUALLY))
    return false;
  while (next < l->length && is_blank(l->text[next]))
    next++;
  uint32_t end = next;
  while (end < l->length && is_letter(l->text[end]))
    end++;
  if (end > next)
    return !words[word_find(l->text + next, end - next)].reserved;
  return next < l->length && strchr("(<~!", l->text[next]) != NULL && l->text[next] != '\0';
}

/* A sign of another language is reported, and read as what is meant. */
static bool lexer_foreign_sign(struct lexer *l) {
  static const struct foreign_sign
      box = {"[]", "always", "write 'always', in a live property; 'safety NAME: C' says that C always holds"},
      diamond = {"<>", "eventually", "write 'eventually', in a live property: 'live NAME: eventually C'"},
      unequal = {"<>", "!=", "write '!='"};
  const char *at = l->text + l->at;
  uint32_t left = l->length - l->at, from = l->at;
  const struct foreign_sign *s = foreign_sign_find(at, left);
  if (left >= 2 && !memcmp(at, "<>", 2))
    s = lexer_after_operand(l) ? &unequal : &diamond;
  else if (left >= 2 && !memcmp(at, "[]", 2) && lexer_is_box(l))
    s = &box;
  if (!s || (at[0] == '-' && !l->first)) /* a row of minus signs is a ruler at the start of a line only */
    return false;
  uint32_t n = (uint32_t)strlen(s->sign);
  bool character = (unsigned char)at[0] >= 0x80 || n == 1;
  diag_error(l->diags, character ? E0101 : E0108, (struct span){from, from + n}, "unexpected %s'%s'",
             character ? "character " : "", s->sign);
  diag_help(l->diags, "%s", s->help);
  l->at = from + n;
  if (at[0] == '#' || (n == 4 && (at[0] == '-' || at[0] == '='))) /* the rest of the line belongs to it */
    lexer_skip_line(l);
  else
    lexer_emit_meant(l, s->ours, from);
  return true;
}

/* A comment in most languages, in others "not equal" or a size. */
static void lexer_hash(struct lexer *l) {
  bool size = !l->first && !lexer_after_operand(l) && l->at + 1 < l->length && is_letter(l->text[l->at + 1]);
  diag_error(l->diags, size ? E0108 : E0102, (struct span){l->at, l->at + 1}, "unexpected '#'");
  if (size)
    diag_help(l->diags, "the size of a set is written |S|; a comment starts with '//'");
  else if (lexer_after_operand(l))
    diag_help(l->diags, "a comment starts with '//'; for 'not equal' write '!='");
  else
    diag_help(l->diags, "a comment starts with '//' and ends with its line");
  if (size)
    l->at++; /* the operand is read */
  else
    lexer_skip_line(l);
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
  if (c == '"')
    to = lexer_string_end(l);
  struct span at = {from, to};
  if (n == 0 || c < 0x20 || c == 0x7F)
    diag_error(l->diags, E0101, at, "unexpected byte 0x%02x", c);
  else
    diag_error(l->diags, E0101, at, "unexpected character '%.*s'", (int)n, l->text + from);
  if (c == '"')
    diag_help(l->diags, "there are no strings; a type can list names: {active, passive}");
  else if (n > 1)
    diag_help(l->diags, "only comments may have characters outside ASCII");
  l->at = to;
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
    lexer_foreign_comment(l, "*/");
  } else if (left >= 2 && at[0] == '(' && at[1] == '*') {
    lexer_foreign_comment(l, "*)");
  } else if (left >= 2 && at[0] == '\\' && at[1] == '*') {
    lexer_report_comment(l, 2);
    lexer_skip_line(l);
  } else if (l->first && (*at == '%' || (left >= 3 && !memcmp(at, "--", 2) && is_blank(at[2])))) {
    lexer_report_comment(l, *at == '%' ? 1 : 2);
    lexer_skip_line(l);
  } else if (is_letter(*at)) {
    lexer_name(l);
  } else if (is_digit(*at)) {
    lexer_number(l);
  } else if (!lexer_foreign_sign(l)) {
    if (*at == '#')
      lexer_hash(l);
    else if (!lexer_punctuation(l))
      lexer_unknown(l);
  }
}

/* False, with an error, if the file cannot be a model: one error says more than one for each of its bytes. */
static bool lexer_sees_text(struct lexer *l) {
  enum { LOOKED_AT = 4096 };
  const char *zero = memchr(l->text, 0, l->length < LOOKED_AT ? l->length : LOOKED_AT);
  bool wide = l->length >= 2 && (!memcmp(l->text, "\xFF\xFE", 2) || !memcmp(l->text, "\xFE\xFF", 2));
  if (!zero && !wide)
    return true;
  uint32_t from = wide ? 0 : (uint32_t)(zero - l->text);
  diag_error(l->diags, E0101, (struct span){from, from + 1}, "unexpected byte 0x%02x", (unsigned char)l->text[from]);
  diag_help(l->diags, wide ? "the file is in UTF-16: save it as UTF-8" : "the file is not text, or not in UTF-8");
  return false;
}

void tokens_read(struct tokens *out, const struct source *source, struct diags *diags) {
  *out = (struct tokens){0};
  struct lexer l = {.text = source->text, .first = true, .diags = diags, .out = out};
  if (source->length >= UINT32_MAX) {
    diag_error(diags, E0105, (struct span){0, 0}, "file too large");
  } else {
    l.length = (uint32_t)source->length;
  }
  if (l.length >= 3 && memcmp(l.text, "\xEF\xBB\xBF", 3) == 0)
    l.at = 3; /* a byte order mark, written by some editors */
  if (!lexer_sees_text(&l))
    l.at = l.length;
  while (l.at < l.length && !diags_stopped(diags))
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
