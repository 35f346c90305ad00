#include "lang/ta_lexer.h"

#include <ctype.h>
#include <string.h>

static bool is_letter(char c) { return isalpha((unsigned char)c) || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* The offset behind the comment that starts here; where there is none, the same offset. UINT32_MAX: it has no end. */
static uint32_t behind_comment(const struct source *s, uint32_t at) {
  const char *text = s->text;
  if (at + 1 >= s->length || text[at] != '/')
    return at;
  if (text[at + 1] == '/') {
    while (at < s->length && text[at] != '\n')
      at++;
  } else if (text[at + 1] == '*') {
    for (uint32_t i = at + 2; i + 1 < s->length; i++)
      if (text[i] == '*' && text[i + 1] == '/')
        return i + 2;
    return UINT32_MAX;
  }
  return at;
}

/* Skips blanks and comments; the start of a comment without an end is in *open. */
static uint32_t skip(const struct source *s, uint32_t at, uint32_t *open) {
  *open = UINT32_MAX;
  for (;;) {
    while (at < s->length && s->text[at] && strchr(" \t\r\n\f\v", s->text[at]))
      at++;
    uint32_t next = behind_comment(s, at);
    if (next == UINT32_MAX) {
      *open = at;
      return (uint32_t)s->length;
    }
    if (next == at)
      return at;
    at = next;
  }
}

static const struct {
  char text[3];
  int sign;
} pairs[] = {{"==", TA_SIGN_EQ}, {"!=", TA_SIGN_NE},     {"=!", TA_SIGN_NE},        {"<=", TA_SIGN_LE},
             {">=", TA_SIGN_GE}, {"->", TA_SIGN_ARROW},  {":=", TA_SIGN_ASSIGN},    {"&&", TA_SIGN_AND},
             {"||", TA_SIGN_OR}, {"[]", TA_SIGN_ALWAYS}, {"<>", TA_SIGN_EVENTUALLY}};

static struct ta_token number_at(const struct source *s, uint32_t at, struct diags *diags) {
  struct ta_token t = {.kind = TA_TOKEN_NUMBER, .at = {at, at}};
  bool large = false;
  for (; t.at.to < s->length && is_digit(s->text[t.at.to]); t.at.to++)
    large |= __builtin_mul_overflow(t.number, 10, &t.number) ||
             __builtin_add_overflow(t.number, s->text[t.at.to] - '0', &t.number);
  if (!large)
    return t;
  diag_error(diags, E0606, t.at, "this number needs more than 64 bits");
  t.kind = TA_TOKEN_ERROR;
  return t;
}

struct ta_token ta_token_at(const struct source *s, uint32_t at, struct diags *diags) {
  uint32_t open;
  at = skip(s, at, &open);
  if (open != UINT32_MAX) {
    diag_error(diags, E0106, (struct span){open, open + 2}, "this comment has no end");
    return (struct ta_token){.kind = TA_TOKEN_ERROR, .at = {open, open + 2}};
  }
  struct ta_token t = {.kind = TA_TOKEN_END, .at = {at, at}};
  if (at >= s->length)
    return t;
  const char *text = s->text + at;
  if (is_digit(*text))
    return number_at(s, at, diags);
  if (is_letter(*text)) {
    t.kind = TA_TOKEN_NAME;
    while (t.at.to < s->length && (is_letter(s->text[t.at.to]) || is_digit(s->text[t.at.to])))
      t.at.to++;
    return t;
  }
  t.kind = TA_TOKEN_SIGN;
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
    if (at + 1 < s->length && text[0] == pairs[i].text[0] && text[1] == pairs[i].text[1]) {
      t.sign = pairs[i].sign;
      t.at.to = at + 2;
      return t;
    }
  t.at.to = at + 1;
  if (*text && strchr("{}()[];:,'<>+-*/!", *text)) {
    t.sign = (unsigned char)*text;
    return t;
  }
  if (isprint((unsigned char)*text))
    diag_error(diags, E0106, t.at, "unexpected '%c'", *text);
  else
    diag_error(diags, E0106, t.at, "unexpected byte 0x%02x", (unsigned char)*text);
  t.kind = TA_TOKEN_ERROR;
  return t;
}

const char *ta_text(const struct source *s, struct span at, struct arena *arena) {
  char *out = arena_alloc(arena, at.to - at.from + (size_t)1);
  size_t n = 0;
  for (uint32_t i = at.from; i < at.to;) {
    uint32_t open, next = skip(s, i, &open);
    if (next > i) {
      if (n && next < at.to)
        out[n++] = ' ';
      i = next;
    } else {
      out[n++] = s->text[i++];
    }
  }
  return out;
}
