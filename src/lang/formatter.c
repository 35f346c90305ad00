/* The formatter works on tokens. The parser has assigned each token its role and the construct that begins at it, so
   nothing is guessed here. The user's line breaks and comments are kept. */
#include "lang/lexer.h"
#include "lang/parser.h"

#include <string.h>

enum { INDENT = 2, COMMENT_GAP = 2, TAB = 8, PASSES = 20 };

/* A token or a comment, in source order. */
struct format_token {
  const struct token *token; /* NULL: a comment */
  struct span at;
  size_t breaks; /* newlines before it */
  size_t column; /* in the source, with tabs expanded */
  size_t gap;    /* columns between it and the previous token on the same line */
  size_t line;   /* index in formatter.starts */
  size_t out;    /* column in the output */
};

/* An output line: code, and possibly a trailing comment. */
struct format_line {
  size_t from, to;                    /* range in formatter.code */
  size_t width;                       /* width of the code in characters */
  bool blank;                         /* preceded by an empty line */
  const struct format_token *comment; /* or NULL */
};

/* An open block: the indentation of its contents, and the construct that it belongs to. */
struct format_block {
  size_t contents, construct;
};

struct formatter {
  const struct source *source;
  VEC(struct format_token) pieces;
  VEC(size_t) starts; /* the first token of each non-empty source line */
  VEC(struct format_line) lines;
  VEC(struct format_block) frames;
  struct text code;
  size_t next;      /* a token at or after the current position, found by formatter_comment_indent */
  size_t construct; /* indentation of the construct being written */
  bool tables;      /* keep columns that are aligned */
};

/* ---- tokens and comments ---- */

/* A position in the source that only moves forward: one pass over the text serves all tokens. */
struct source_cursor {
  uint32_t at;
  size_t breaks, column;
};

static void cursor_move(struct source_cursor *c, const struct source *s, uint32_t to) {
  for (; c->at < to; c->at++) {
    unsigned char byte = (unsigned char)s->text[c->at];
    if (byte == '\n') {
      c->breaks++;
      c->column = 0;
    } else if (byte == '\t') {
      c->column += TAB - c->column % TAB;
    } else {
      c->column += (byte & 0xC0) != 0x80;
    }
  }
}

static void formatter_take(struct formatter *f, struct source_cursor *c, const struct token *token, struct span at) {
  struct format_token piece = {.token = token, .at = at};
  size_t column = c->column;
  c->breaks = 0;
  cursor_move(c, f->source, at.from);
  piece.breaks = c->breaks;
  piece.column = c->column;
  piece.gap = c->breaks ? 0 : c->column - column;
  if (piece.breaks || f->pieces.n == 0)
    vec_push(&f->starts, f->pieces.n);
  piece.line = f->starts.n - 1;
  vec_push(&f->pieces, piece);
  cursor_move(c, f->source, at.to);
}

/* Merges tokens and comments by position. */
static void formatter_collect(struct formatter *f, const struct tokens *tokens) {
  struct source_cursor cursor = {0};
  size_t t = 0, c = 0;
  for (;;) {
    const struct token *token = &tokens->list.at[t];
    bool end = token->kind == T_END;
    if (c < tokens->comments.n && (end || tokens->comments.at[c].from < token->at.from))
      formatter_take(f, &cursor, NULL, tokens->comments.at[c++]);
    else if (!end)
      formatter_take(f, &cursor, &tokens->list.at[t++], token->at);
    else
      return;
  }
}

static bool piece_is_block(const struct format_token *p, enum token_kind brace) {
  return p->token && p->token->kind == brace && p->token->role == ROLE_BLOCK;
}

/* ---- spaces ---- */

/* Tokens without a space on their left, or on their right. */
static bool sticks_left(const struct token *t) {
  switch (token_among(t->kind)) {
  case T_COMMA:
  case T_SEMICOLON:
  case T_COLON:
  case T_RPAREN:
  case T_RBRACKET:
  case T_RBRACE: /* of a set */
  case T_OPTION:
  case T_PRIME:
  case T_DOT:
  case T_RANGE:
    return true;
  }
  return t->role == ROLE_TIGHT;
}

static bool sticks_right(const struct token *t) {
  switch (token_among(t->kind)) {
  case T_LPAREN:
  case T_LBRACKET:
  case T_LBRACE: /* of a set */
  case T_DOT:
  case T_RANGE:
    return true;
  }
  return t->role == ROLE_PREFIX;
}

static size_t spaces_between(const struct format_token *left, const struct format_token *right) {
  if (piece_is_block(left, T_LBRACE) && piece_is_block(right, T_RBRACE))
    return 0;
  if (right->token->begin == BEGIN_CONSTRUCT)
    return piece_is_block(left, T_LBRACE) || left->token->kind == T_SEMICOLON ? 1 : 2;
  if (right->token->role == ROLE_BLOCK)
    return 1;
  if (left->token->role == ROLE_BLOCK)
    return right->token->kind == T_SEMICOLON ? 0 : 1;
  return sticks_left(right->token) || sticks_right(left->token) ? 0 : 1;
}

/* The token of a source line that starts in that column, or NULL. */
static const struct format_token *line_column(const struct formatter *f, size_t line, size_t column) {
  size_t low = f->starts.at[line];
  size_t end = line + 1 < f->starts.n ? f->starts.at[line + 1] : f->pieces.n, high = end;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (f->pieces.at[middle].column < column)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == end || f->pieces.at[low].column != column || !f->pieces.at[low].token)
    return NULL;
  return &f->pieces.at[low];
}

/* Is there a token of this source line, preceded by extra blanks, in that column? */
static bool line_has_column(const struct formatter *f, size_t line, size_t column) {
  const struct format_token *piece = line_column(f, line, column);
  return piece && piece->gap > 0;
}

/* Blanks that align a token with the line above or below are kept. */
static size_t formatter_gap(const struct formatter *f, size_t i) {
  const struct format_token *piece = &f->pieces.at[i];
  size_t spaces = spaces_between(piece - 1, piece);
  if (!f->tables || spaces == 0 || piece->gap <= spaces)
    return spaces;
  size_t line = piece->line;
  bool above = line > 0 && f->pieces.at[f->starts.at[line]].breaks == 1 && line_has_column(f, line - 1, piece->column);
  bool below = line + 1 < f->starts.n && f->pieces.at[f->starts.at[line + 1]].breaks == 1 &&
               line_has_column(f, line + 1, piece->column);
  return above || below ? piece->gap : spaces;
}

/* ---- indentation ---- */

static size_t formatter_contents(const struct formatter *f) {
  return f->frames.n ? f->frames.at[f->frames.n - 1].contents : 0;
}

/* Updates the state for a token: the construct that begins at it, and the blocks it opens or closes. Returns the
   indentation of a line that starts with it. */
static size_t formatter_enter(struct formatter *f, const struct format_token *piece) {
  const struct token *t = piece->token;
  if (t->begin == BEGIN_CONSTRUCT || t->begin == BEGIN_BRANCH)
    return f->construct = formatter_contents(f);
  if (t->begin == BEGIN_ALTERNATIVE)
    return f->construct = formatter_contents(f) + INDENT;
  if (piece_is_block(piece, T_LBRACE)) {
    struct format_block frame = {.contents = f->construct + INDENT, .construct = f->construct};
    vec_push(&f->frames, frame);
    return frame.construct;
  }
  if (piece_is_block(piece, T_RBRACE) && f->frames.n)
    return f->construct = f->frames.at[--f->frames.n].construct;
  if (t->kind == T_RPAREN || t->kind == T_RBRACKET || t->kind == T_RBRACE)
    return f->construct;
  return f->construct + INDENT;
}

/* A comment on its own line is indented like the code that follows it. */
static size_t formatter_comment_indent(struct formatter *f, size_t i) {
  if (i < f->next) /* the comments before it were passed already */
    i = f->next;
  while (i < f->pieces.n && !f->pieces.at[i].token)
    i++;
  f->next = i;
  if (i == f->pieces.n || piece_is_block(&f->pieces.at[i], T_RBRACE))
    return formatter_contents(f);
  const struct token *t = f->pieces.at[i].token;
  if (t->begin == BEGIN_CONSTRUCT || t->begin == BEGIN_BRANCH)
    return formatter_contents(f);
  return (t->begin == BEGIN_ALTERNATIVE ? formatter_contents(f) : f->construct) + INDENT;
}

/* A continuation line may be aligned with a token of the line above. */
static size_t formatter_hang(const struct formatter *f, const struct format_token *piece, size_t indent) {
  const struct token *t = piece->token;
  bool closes = t->kind == T_RPAREN || t->kind == T_RBRACKET || t->kind == T_RBRACE;
  if (t->begin != BEGIN_NOTHING || t->role == ROLE_BLOCK || closes || piece->breaks != 1 || piece->line == 0)
    return indent;
  const struct format_token *above = line_column(f, piece->line - 1, piece->column);
  return above && above->out > indent ? above->out : indent;
}

/* ---- lines ---- */

static size_t count_characters(const char *at, size_t n) {
  size_t count = 0;
  for (size_t i = 0; i < n; i++)
    count += ((unsigned char)at[i] & 0xC0) != 0x80;
  return count;
}

static void formatter_start_line(struct formatter *f, bool blank) {
  struct format_line line = {.from = f->code.n, .to = f->code.n, .blank = blank && f->lines.n > 0};
  vec_push(&f->lines, line);
}

static void formatter_add(struct formatter *f, size_t spaces, struct span at) {
  text_pad_to(&f->code, f->code.n, spaces);
  text_add_n(&f->code, f->source->text + at.from, at.to - at.from);
  struct format_line *line = &f->lines.at[f->lines.n - 1];
  line->to = f->code.n;
  line->width += spaces + count_characters(f->source->text + at.from, at.to - at.from);
}

static void formatter_lay_out(struct formatter *f) {
  for (size_t i = 0; i < f->pieces.n; i++) {
    struct format_token *piece = &f->pieces.at[i];
    bool first = i == 0 || piece->breaks > 0;
    if (first)
      formatter_start_line(f, piece->breaks > 1);
    if (!piece->token && first) {
      formatter_add(f, formatter_comment_indent(f, i), piece->at);
    } else if (!piece->token) {
      f->lines.at[f->lines.n - 1].comment = piece;
    } else {
      size_t indent = formatter_enter(f, piece);
      size_t spaces = first ? formatter_hang(f, piece, indent) : formatter_gap(f, i);
      piece->out = f->lines.at[f->lines.n - 1].width + spaces;
      formatter_add(f, spaces, piece->at);
    }
  }
}

/* Comments aligned in the source stay aligned. A single comment keeps its column if it was clearly set apart. */
static size_t comment_column(const struct formatter *f, size_t first, size_t *end) {
  const struct format_line *line = &f->lines.at[first];
  const struct format_token *comment = line->comment;
  size_t column = line->width + COMMENT_GAP, i = first + 1;
  for (; i < f->lines.n; i++) {
    const struct format_line *next = &f->lines.at[i];
    if (!next->comment || next->blank || next->comment->column != comment->column)
      break;
    if (next->width + COMMENT_GAP > column)
      column = next->width + COMMENT_GAP;
  }
  *end = i;
  bool apart = i > first + 1 || comment->gap > COMMENT_GAP;
  return apart && comment->column > column ? comment->column : column;
}

static void formatter_write(struct formatter *f, struct text *out) {
  size_t column = 0, aligned = 0;
  for (size_t i = 0; i < f->lines.n; i++) {
    const struct format_line *line = &f->lines.at[i];
    if (line->blank)
      text_add(out, "\n");
    size_t start = out->n;
    text_add_n(out, f->code.at + line->from, line->to - line->from);
    if (line->comment) {
      if (i >= aligned)
        column = comment_column(f, i, &aligned);
      text_pad_to(out, start, column);
      struct span at = line->comment->at;
      text_add_n(out, f->source->text + at.from, at.to - at.from);
    }
    text_add(out, "\n");
  }
}

/* One pass. False: the source does not parse, so the roles of tokens are unreliable. */
static bool format_once(const struct source *source, bool tables, struct text *out) {
  struct arena arena;
  struct diags diags;
  struct tokens tokens;
  struct parser parser;
  arena_init(&arena);
  diags_init(&diags, source);
  tokens_read(&tokens, source, &diags);
  parser_init(&parser, source, &arena, &diags, &tokens);
  parser_file(&parser);
  bool parses = diags.errors == 0;
  if (parses) {
    struct formatter f = {.source = source, .tables = tables};
    formatter_collect(&f, &tokens);
    formatter_lay_out(&f);
    formatter_write(&f, out);
    vec_release(&f.pieces);
    vec_release(&f.starts);
    vec_release(&f.lines);
    vec_release(&f.frames);
    text_release(&f.code);
  }
  parser_release(&parser);
  tokens_release(&tokens);
  diags_release(&diags);
  arena_release(&arena);
  return parses;
}

/* Giving up one aligned column may leave another one without a partner, so passes are repeated until nothing changes.
   Each pass only removes blanks, and few passes are needed in practice. Input that needs many passes loses its
   alignment instead. */
void format_source(const struct source *source, struct text *out) {
  struct text now = {0}, next = {0};
  struct source again = {.path = source->path};
  bool same = false;
  text_add_n(&now, source->text, source->length);
  for (int pass = 0; pass < PASSES && !same; pass++) {
    again.text = now.at;
    again.length = now.n;
    next.n = 0;
    if (!format_once(&again, pass + 1 < PASSES, &next))
      break;
    same = next.n == now.n && memcmp(text_or_empty(&next), now.at, now.n) == 0;
    struct text old = now;
    now = next;
    next = old;
  }
  text_add_n(out, text_or_empty(&now), now.n);
  text_release(&now);
  text_release(&next);
}
