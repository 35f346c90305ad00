/* Error recovery: finds the next construct that can be parsed independently, and the brace that was probably
   forgotten. */
#include "lang/parser.h"

enum { ERRORS_MAX = 200 };

static const struct token *token_at(const struct parser *p, size_t i) { return &p->tokens->list.at[i]; }

/* ---- construct starts ---- */

/* No statement, clause or member starts with two names. So a word of this list at the start of a line, followed by a
   name, is a declaration, whatever braces are still open. The excepted words may follow an expression. */
bool token_declares(const struct token *t, const struct token *next) {
  if (t->kind != T_NAME || !t->first)
    return false;
  switch (word_among(t->word)) {
  case W_PARAM:
  case W_TYPE:
  case W_MESSAGE:
  case W_PROCESS:
  case W_ENVIRONMENT:
  case W_SAFETY:
  case W_COVER:
  case W_LIVE:
  case W_COUNTER:
  case W_CONTROL:
  case W_MOVE:
  case W_UNSAFE:
    return next->kind == T_NAME && !word_reserved(next->word) && next->word != W_WHERE && next->word != W_WHEN &&
           next->word != W_ONCE && next->word != W_TAKEN && next->word != W_TO && next->word != W_OF &&
           next->word != W_FROM && next->word != W_SAME && next->word != W_EACH && next->word != W_AS &&
           next->word != W_DISTINCT && next->word != W_UP && next->word != W_BOUND;
  }
  return false;
}

bool parser_at_declaration(const struct parser *p) {
  const struct token *t = parser_look(p, 0), *next = parser_look(p, 1);
  if (t->kind == T_NAME && t->word == W_RESILIENCE && t->first)
    return next->kind == T_NAME || next->kind == T_NUMBER || next->kind == T_LPAREN;
  return token_declares(t, next);
}

bool parser_at_member(const struct parser *p) {
  const struct token *t = parser_look(p, 0), *next = parser_look(p, 1);
  if (t->kind != T_NAME || !t->first)
    return false;
  switch (word_among(t->word)) {
  case W_INPUT:
  case W_VAR:
  case W_STABLE:
  case W_SHARED:
  case W_GHOST:
  case W_ORACLE:
  case W_DEF:
  case W_ON:
    return next->kind == T_NAME;
  case W_ONCE:
  case W_START:
  case W_FINALLY:
  case W_UPDATE:
    return next->kind == T_LBRACE;
  case W_PHASE:
  case W_ROUND:
  case W_STEP:
    return next->kind == T_LBRACE || next->kind == T_NAME;
  case W_FINAL:
    return next->word == W_STEP;
  case W_REPEAT:
  case W_WHEN:
    return next->kind == T_NAME || next->kind == T_NUMBER || next->kind == T_LPAREN || next->kind == T_BAR;
  }
  return false;
}

static bool at_shared_declaration(const struct parser *p) {
  const struct token *t = parser_look(p, 0);
  return parser_at_declaration(p) || parser_at_member(p) || (t->word == W_START && t->first);
}

static bool at_statement(const struct parser *p) {
  const struct token *t = parser_look(p, 0), *next = parser_look(p, 1);
  if (t->kind != T_NAME)
    return false;
  if (t->word == W_LET || t->word == W_SEND || t->word == W_GOTO || t->word == W_HALT || t->word == W_FOREACH ||
      (t->word == W_IF && t->first))
    return true;
  if (next->kind == T_BECOMES || parser_at_member(p))
    return true;
  return t->first && t->word == W_ORDINARY && /* probably a malformed assignment or a misspelt keyword */
         (next->kind == T_ASSIGN || (next->kind == T_NAME && next->word == W_ORDINARY) ||
          (next->kind == T_PLUS && parser_look(p, 2)->kind == T_ASSIGN));
}

static bool at_clause(const struct parser *p) {
  const struct token *t = parser_look(p, 0);
  if (t->kind == T_SEMICOLON)
    return true;
  return t->first && (t->word == W_AT || t->word == W_ANY || t->word == W_EVERY || t->word == W_INFINITELY ||
                      t->word == W_EVENTUALLY || t->word == W_FROM || t->word == W_SYNCHRONOUS || t->word == W_FAIR ||
                      t->word == W_CHANNELS);
}

/* ---- skipping ---- */

/* Number of braces opened but not closed among the tokens [from, to). */
static size_t braces_open(const struct parser *p, size_t from, size_t to) {
  size_t open = 0;
  for (size_t i = from; i < to; i++) {
    if (token_at(p, i)->kind == T_LBRACE)
      open++;
    else if (token_at(p, i)->kind == T_RBRACE && open > 0)
      open--;
  }
  return open;
}

/* Skips to a token where 'begins' holds, or to the '}' of the current block. Nested sets and blocks are skipped as a
   whole. A declaration always ends the skip. */
static void parser_skip(struct parser *p, size_t before, bool (*begins)(const struct parser *)) {
  size_t last = p->tokens->list.n - 1;
  p->panic = false;
  if (p->diags->errors >= ERRORS_MAX) {
    p->at = last;
    return;
  }
  if (p->at == before && !parser_sees(p, T_RBRACE) && !parser_at_declaration(p) && p->at < last)
    p->at++; /* otherwise the same construct would fail again */
  size_t open = braces_open(p, before, p->at);
  for (; p->at < last; p->at++) {
    if (parser_at_declaration(p) || (open == 0 && (parser_sees(p, T_RBRACE) || begins(p))))
      return;
    if (parser_sees(p, T_LBRACE))
      open++;
    else if (parser_sees(p, T_RBRACE))
      open--;
  }
}

void parser_recover_statement(struct parser *p, size_t before) { parser_skip(p, before, at_statement); }

void parser_recover_member(struct parser *p, size_t before) { parser_skip(p, before, parser_at_member); }

void parser_recover_clause(struct parser *p, size_t before) { parser_skip(p, before, at_clause); }

void parser_recover_declaration(struct parser *p, size_t before) { parser_skip(p, before, at_shared_declaration); }

void parser_recover_header(struct parser *p) {
  if (!p->panic)
    return;
  for (size_t i = p->at; i + 1 < p->tokens->list.n; i++) {
    const struct token *t = token_at(p, i);
    if (i > p->at && t->first)
      return;
    if (t->kind == T_LBRACE && token_at(p, i + 1)->first) {
      p->at = i;
      p->panic = false;
      return;
    }
  }
}

/* ---- braces ---- */

static uint32_t line_indent(const struct parser *p, uint32_t offset) {
  const char *text = p->source->text;
  uint32_t begin = offset, indent = 0;
  while (begin > 0 && text[begin - 1] != '\n')
    begin--;
  while (text[begin + indent] == ' ' || text[begin + indent] == '\t')
    indent++;
  return indent;
}

/* The '{' that was most likely left open: the first whose '}' is indented less than the line that opened it; otherwise
   the innermost one. */
static size_t brace_unclosed(struct parser *p) {
  for (; p->unclosed.scanned < p->at && !p->unclosed.found; p->unclosed.scanned++) {
    const struct token *t = token_at(p, p->unclosed.scanned);
    if (t->kind == T_LBRACE)
      vec_push(&p->unclosed.open, p->unclosed.scanned);
    if (t->kind != T_RBRACE || p->unclosed.open.n == 0)
      continue;
    size_t opened = p->unclosed.open.at[p->unclosed.open.n - 1];
    if (t->first && line_indent(p, t->at.from) < line_indent(p, token_at(p, opened)->at.from))
      p->unclosed.found = true;
    else
      p->unclosed.open.n--;
  }
  return p->unclosed.found ? p->unclosed.open.at[p->unclosed.open.n - 1] : p->braces.at[p->braces.n - 1];
}

bool parser_is_inside(const struct parser *p) {
  uint32_t from = parser_look(p, 0)->at.from, brace = token_at(p, p->braces.at[p->braces.n - 1])->at.from;
  return line_indent(p, from) > line_indent(p, brace);
}

bool parser_open(struct parser *p) {
  size_t brace = p->at;
  parser_mark(p, ROLE_BLOCK);
  if (!parser_expect(p, T_LBRACE))
    return false;
  vec_push(&p->braces, brace);
  return true;
}

void parser_close(struct parser *p) {
  parser_mark(p, ROLE_BLOCK);
  if (!parser_take(p, T_RBRACE)) {
    uint32_t brace = token_at(p, brace_unclosed(p))->at.from;
    parser_fail(p, E0107, "'}'");
    if (diag_may_search(p->diags, 0))
      parser_help(p, "the '{' at line %u is not closed", source_line_number(p->source, (struct span){brace, brace}));
    p->panic = false; /* as if it had been present */
  }
  p->braces.n--;
}
