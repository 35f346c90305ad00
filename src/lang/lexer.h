/* Lexer: text to tokens. Newlines are not significant. Comments are stored separately, for the formatter. */
#ifndef RONDO_LANG_LEXER_H
#define RONDO_LANG_LEXER_H

#include "base/diag.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

enum token_kind {
  T_END, /* end of the text; also the only token that a parser sees while it recovers from an error */
  T_NAME,
  T_NUMBER,
  T_UNKNOWN, /* already reported; no grammar rule accepts it */
#define TOKEN(kind, text) T_##kind,
#include "lang/token.def"
#undef TOKEN
  TOKEN_KINDS
};

enum word {
  W_ORDINARY, /* a name without a meaning in the grammar */
#define WORD(id, text, reserved) W_##id,
#include "lang/token.def"
#undef WORD
  WORDS
};

/* The role that the parser assigned to a token; it determines spacing in the formatter. */
enum token_role {
  ROLE_PLAIN,
  ROLE_BLOCK,  /* a brace around statements, rounds or clauses; other braces are sets */
  ROLE_TIGHT,  /* no space before it: f( a[ |x| */
  ROLE_PREFIX, /* no space after it: -x, the bar that opens |x| */
};

/* The construct that begins at a token, assigned by the parser; it determines indentation in the formatter. */
enum token_begin {
  BEGIN_NOTHING,
  BEGIN_CONSTRUCT,   /* a declaration, round, handler, statement, clause */
  BEGIN_BRANCH,      /* 'else': level with its 'if' */
  BEGIN_ALTERNATIVE, /* 'or' of a step: one level further in */
};

/* Makes it possible to switch over some kinds without `default:` and without -Wswitch-enum warnings. Code after the
   switch handles all other kinds. */
static inline unsigned token_among(enum token_kind kind) { return kind; }
static inline unsigned word_among(enum word word) { return word; }

struct token {
  enum token_kind kind;
  enum word word; /* for T_NAME */
  struct span at;
  int64_t number;         /* for T_NUMBER */
  bool first;             /* first token on its line */
  enum token_role role;   /* set by the parser */
  enum token_begin begin; /* set by the parser */
};

struct tokens {
  VEC(struct token) list;    /* ends with T_END */
  VEC(struct span) comments; /* from '//' to the end of the line, without trailing blanks */
};

/* Reads the whole source. Characters that form no token are reported and skipped. */
void tokens_read(struct tokens *, const struct source *, struct diags *);
void tokens_release(struct tokens *);

const char *token_kind_text(enum token_kind); /* ":=", "name", "end of file" */
const char *word_text(enum word);
bool word_reserved(enum word);

#endif
