/* Words and signs of threshold automata. Private to the reader of these files (ta_*.c). */
#ifndef RONDO_LANG_TA_LEXER_H
#define RONDO_LANG_TA_LEXER_H

#include "base/arena.h"
#include "base/diag.h"

enum ta_token_kind {
  TA_TOKEN_END,
  TA_TOKEN_NAME,
  TA_TOKEN_NUMBER,
  TA_TOKEN_SIGN,
  TA_TOKEN_ERROR /* reported */
};

/* Signs of several characters have numbers of their own; the others are their character. */
enum ta_sign {
  TA_SIGN_EQ = 256,   /* == */
  TA_SIGN_NE,         /* != =! */
  TA_SIGN_LE,         /* <= */
  TA_SIGN_GE,         /* >= */
  TA_SIGN_ARROW,      /* -> */
  TA_SIGN_ASSIGN,     /* := */
  TA_SIGN_AND,        /* && */
  TA_SIGN_OR,         /* || */
  TA_SIGN_ALWAYS,     /* [] */
  TA_SIGN_EVENTUALLY, /* <> */
};

struct ta_token {
  enum ta_token_kind kind;
  int sign; /* of a SIGN */
  int64_t number;
  struct span at;
};

/* The token that starts at the offset, or after blanks and comments behind it. */
struct ta_token ta_token_at(const struct source *, uint32_t offset, struct diags *);
/* The text in one line: blanks and comments become one blank. */
const char *ta_text(const struct source *, struct span, struct arena *);

#endif
