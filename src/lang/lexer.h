/* Text to tokens. Newlines mean nothing; comments are kept apart, for the formatter. */
#ifndef RONDO_LANG_LEXER_H
#define RONDO_LANG_LEXER_H

#include "base/diag.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

enum token_kind {
  T_END, /* of the text; also what a parser sees while it is recovering from an error */
  T_NAME,
  T_NUMBER,
  T_UNKNOWN, /* already reported; no rule takes it */
#define TOKEN(kind, text) T_##kind,
#include "lang/token.def"
#undef TOKEN
  TOKEN_KINDS
};

enum word {
  W_ORDINARY, /* a name that has no meaning in the grammar */
#define WORD(id, text, reserved) W_##id,
#include "lang/token.def"
#undef WORD
  WORDS
};

/* What the parser found a token to be; the formatter spaces by it. */
enum token_role {
  ROLE_PLAIN,
  ROLE_BLOCK,  /* a brace around statements, rounds, clauses; other braces are sets */
  ROLE_TIGHT,  /* follows its left neighbour without space: f( a[ |x| */
  ROLE_PREFIX, /* is followed without space: -x, the bar that opens |x| */
};

/* What the parser found to begin at a token; the formatter indents by it. */
enum token_begin {
  BEGIN_NOTHING,
  BEGIN_CONSTRUCT,   /* a declaration, round, handler, statement, clause */
  BEGIN_BRANCH,      /* 'else': level with its 'if' */
  BEGIN_ALTERNATIVE, /* 'or' of a step: one level further in */
};

/* For a switch over those that mean something here, without `default:`; what stands behind it is for all the others. */
static inline unsigned token_among(enum token_kind kind) { return kind; }
static inline unsigned word_among(enum word word) { return word; }

struct token {
  enum token_kind kind;
  enum word word; /* of a T_NAME */
  struct span at;
  int64_t number;         /* of a T_NUMBER */
  bool first;             /* the first token of its line */
  enum token_role role;   /* set by the parser */
  enum token_begin begin; /* set by the parser */
};

struct tokens {
  VEC(struct token) list;    /* ends with T_END */
  VEC(struct span) comments; /* from '//' to the line's end, trailing blanks not included */
};

/* Reads the whole source; what is no token is reported and skipped. */
void tokens_read(struct tokens *, const struct source *, struct diags *);
void tokens_release(struct tokens *);

const char *token_kind_text(enum token_kind); /* ":=", "name", "end of file" */
const char *word_text(enum word);
bool word_reserved(enum word);

#endif
