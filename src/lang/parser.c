#include "lang/parser.h"

#include <stdarg.h>
#include <string.h>

enum { NESTING_MAX = 400, AST_SIZE_MAX = 1 << 24 };

void parser_init(struct parser *p, const struct source *source, struct arena *arena, struct diags *diags,
                 struct tokens *tokens) {
  *p = (struct parser){.source = source, .arena = arena, .diags = diags, .tokens = tokens, .stop = {.kind = T_END}};
}

void parser_release(struct parser *p) {
  vec_release(&p->kids);
  vec_release(&p->braces);
  vec_release(&p->misplaced);
  vec_release(&p->unclosed.open);
}

/* ---- tokens ---- */

const struct token *parser_look(const struct parser *p, size_t ahead) {
  size_t last = p->tokens->list.n - 1;
  if (p->panic)
    return &p->stop;
  return &p->tokens->list.at[p->at + ahead < last ? p->at + ahead : last];
}

bool parser_sees(const struct parser *p, enum token_kind kind) { return parser_look(p, 0)->kind == kind && !p->panic; }

bool parser_sees_word(const struct parser *p, enum word word) {
  const struct token *t = parser_look(p, 0);
  return t->kind == T_NAME && t->word == word;
}

parse_rule *parser_rule(const struct parser *p, const struct word_rule *rules, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (parser_sees_word(p, rules[i].word))
      return rules[i].rule;
  return NULL;
}

enum word parser_nearest_word(struct parser *p, const struct word_rule *rules, size_t n) {
  const struct token *t = parser_look(p, 0);
  struct nearest near;
  enum word word = W_ORDINARY;
  if (t->kind != T_NAME)
    return W_ORDINARY;
  nearest_init(&near, parser_text(p, t));
  for (size_t i = 0; i < n; i++) {
    nearest_offer(&near, word_text(rules[i].word));
    word = near.found == word_text(rules[i].word) ? rules[i].word : word;
  }
  return word;
}

bool parser_sees_name(const struct parser *p, size_t ahead) {
  const struct token *t = parser_look(p, ahead);
  return t->kind == T_NAME && !word_reserved(t->word) && !token_declares(t, parser_look(p, ahead + 1));
}

static void parser_advance(struct parser *p) {
  if (!p->panic && p->at + 1 < p->tokens->list.n)
    p->at++;
}

bool parser_take(struct parser *p, enum token_kind kind) {
  bool there = parser_sees(p, kind);
  if (there)
    parser_advance(p);
  return there;
}

bool parser_take_word(struct parser *p, enum word word) {
  bool there = parser_sees_word(p, word);
  if (there)
    parser_advance(p);
  return there;
}

bool parser_expect(struct parser *p, enum token_kind kind) {
  if (parser_take(p, kind))
    return true;
  char expected[16] = "'";
  strncat(strncat(expected, token_kind_text(kind), 12), "'", 2);
  parser_fail(p, E0106, expected);
  return false;
}

bool parser_expect_word(struct parser *p, enum word word) {
  if (parser_take_word(p, word))
    return true;
  char expected[24] = "'";
  strncat(strncat(expected, word_text(word), 20), "'", 2);
  parser_fail(p, E0106, expected);
  return false;
}

bool parser_expect_close(struct parser *p, enum token_kind kind, uint32_t from) {
  const struct token *t = parser_look(p, 0);
  bool ends = t->first || t->kind == T_END || t->kind == T_RBRACE;
  if (parser_expect(p, kind))
    return true;
  if (ends && diag_may_search(p->diags, 0))
    parser_help(p, "the '%s' at line %u is not closed", kind == T_RPAREN ? "(" : "[",
                source_line_number(p->source, (struct span){from, from}));
  return false;
}

const char *parser_expect_name(struct parser *p, const char *what) {
  const struct token *t = parser_look(p, 0);
  if (parser_sees_name(p, 0)) {
    parser_advance(p);
    return parser_text(p, t);
  }
  bool reserved = t->kind == T_NAME && word_reserved(t->word);
  parser_fail(p, E0106, what);
  if (reserved)
    parser_help(p, "'%s' is a word of the language and cannot be a name", word_text(t->word));
  return "";
}

const char *parser_text(struct parser *p, const struct token *t) {
  return arena_strndup(p->arena, p->source->text + t->at.from, t->at.to - t->at.from);
}

void parser_mark(struct parser *p, enum token_role role) {
  if (!p->panic)
    p->tokens->list.at[p->at].role = role;
}

void parser_begin(struct parser *p, enum token_begin begin) {
  if (!p->panic)
    p->tokens->list.at[p->at].begin = begin;
}

/* ---- errors ---- */

void parser_complain(struct parser *p, enum diag_code code, const char *format, ...) {
  p->reported = !p->panic;
  if (p->panic)
    return;
  va_list args;
  va_start(args, format);
  diag_errorv(p->diags, code, parser_look(p, 0)->at, format, args);
  va_end(args);
}

void parser_help(struct parser *p, const char *format, ...) {
  if (!p->reported)
    return;
  va_list args;
  va_start(args, format);
  diag_helpv(p->diags, format, args);
  va_end(args);
}

const char *parser_found(struct parser *p) {
  const struct token *t = parser_look(p, 0);
  if (t->kind == T_END)
    return "end of file";
  enum { SHOWN = 40 };
  uint32_t n = t->at.to - t->at.from;
  return arena_printf(p->arena, "'%.*s%s'", (int)(n < SHOWN ? n : SHOWN), p->source->text + t->at.from,
                      n < SHOWN ? "" : "...");
}

/* Symbols of other languages in this position. */
static const char *foreign_sign_help(const struct parser *p, const struct token *t) {
  switch (token_among(t->kind)) {
  case T_GT:
    return p->at > 0 && t[-1].kind == T_LT ? "write '!='" : NULL;
  case T_ASSIGN:
    return "':=' assigns, '==' compares";
  case T_EQ:
    return "'==' compares; '=' gives a name or a first value, and ':=' assigns";
  case T_BECOMES:
    return "':=' assigns and only stands in a statement; '==' compares";
  case T_AND_AND:
    return "write 'and'";
  case T_BANG:
    return "write 'not'";
  case T_SEMICOLON:
    return "leave it out: statements and declarations need no semicolon";
  case T_PRIME:
    return "there are no strings or characters; a type can list names: {active, passive}";
  }
  return NULL;
}

bool parser_reject_foreign(struct parser *p, enum foreign_place place) {
  const struct token *t = parser_look(p, 0), *next = parser_look(p, 1);
  if (p->panic || t->kind == T_END)
    return false;
  if (t->kind == T_NAME && (next->kind == T_BECOMES || next->kind == T_DOT)) /* a name of the model */
    return false;
  if ((place == FOREIGN_STATEMENT || place == FOREIGN_UPDATE || place == FOREIGN_INFIX) && t->kind == T_NAME &&
      (next->kind == T_LBRACKET || (next->kind == T_ASSIGN && place != FOREIGN_INFIX)))
    return false;
  if (place != FOREIGN_DECLARATION && place != FOREIGN_MEMBER && place != FOREIGN_CLAUSE && t->kind == T_NAME &&
      word_reserved(t->word))
    return false;
  if (place == FOREIGN_INFIX && t->kind == T_NAME && t->word != W_ORDINARY &&
      (t->word != W_AT || p->braces.n > 0)) /* in an environment, 'at most' starts a clause */
    return false;
  if (t->kind != T_NAME && t->kind != T_TO && t->kind != T_OPTION && t->kind != T_BANG && t->kind != T_LT &&
      t->kind != T_PRIME)
    return false;
  const char *help = foreign_word_help(p->source->text + t->at.from, t->at.to - t->at.from, place);
  if (!help)
    return false;
  parser_complain(p, E0108, "unexpected %s", parser_found(p));
  parser_help(p, "%s", help);
  p->stop.at = (struct span){t->at.from, t->at.from};
  return p->panic = true;
}

void parser_fail(struct parser *p, enum diag_code code, const char *expected) {
  p->reported = !p->panic;
  if (p->panic)
    return;
  const struct token *t = parser_look(p, 0);
  struct span at = t->at;
  if (t->kind == T_END && p->at > 0) /* the last token: an error behind the last line is not helpful */
    at = (struct span){p->tokens->list.at[p->at - 1].at.to - 1, p->tokens->list.at[p->at - 1].at.to};
  diag_error(p->diags, code, at, "expected %s, found %s", expected, parser_found(p));
  const char *habit = foreign_sign_help(p, t);
  if (habit)
    parser_help(p, "%s", habit);
  p->stop.at = (struct span){t->at.from, t->at.from};
  p->panic = true;
}

bool parser_enter(struct parser *p) {
  if (diags_stopped(p->diags))
    p->at = p->tokens->list.n - 1;
  if (p->panic)
    return false;
  if (p->depth >= NESTING_MAX) {
    parser_complain(p, E0105, "nested too deep");
    p->stop.at = (struct span){parser_look(p, 0)->at.from, parser_look(p, 0)->at.from};
    p->panic = true;
    return false;
  }
  p->depth++;
  return true;
}

void parser_leave(struct parser *p) { p->depth--; }

void parser_skip_semicolons(struct parser *p) {
  while (parser_sees(p, T_SEMICOLON)) {
    if (!p->semicolons) {
      parser_complain(p, E0108, "unexpected ';'");
      parser_help(p, "leave it out: statements and declarations need no semicolon");
      p->semicolons = true;
    }
    parser_advance(p);
  }
}

/* ---- nodes ---- */

/* Stored beside each node, for the parser only: the height of its tree, and its size if shared nodes are counted
   repeatedly. Both are bounded, so that walks over the tree need no checks of their own. */
struct measured_ast {
  uint32_t height, weight;
  struct ast ast;
};

struct construct_start parser_place(const struct parser *p) {
  struct span at = parser_look(p, 0)->at;
  return (struct construct_start){.from = at.from, .word = at, .kids = p->kids.n};
}

void parser_add(struct parser *p, struct ast *kid) { vec_push(&p->kids, kid); }

static struct ast *parser_leaf(struct parser *p, enum ast_kind kind, struct construct_start place) {
  struct measured_ast *node = arena_alloc(p->arena, sizeof *node);
  uint32_t to = p->at > 0 ? p->tokens->list.at[p->at - 1].at.to : 0;
  node->height = node->weight = 1;
  node->ast = (struct ast){.kind = kind, .word = place.word};
  node->ast.at = (struct span){place.from, to > place.from ? to : place.word.to};
  return &node->ast;
}

struct ast *parser_node(struct parser *p, enum ast_kind kind, struct construct_start place) {
  struct ast *a = parser_leaf(p, kind, place);
  struct measured_ast *node = (struct measured_ast *)((char *)a - offsetof(struct measured_ast, ast));
  size_t n = p->kids.n - place.kids;
  for (size_t i = 0; i < n; i++) {
    struct ast *kid = p->kids.at[place.kids + i];
    if (!kid)
      continue;
    struct measured_ast *below = (struct measured_ast *)((char *)kid - offsetof(struct measured_ast, ast));
    if (below->height >= node->height)
      node->height = below->height + 1;
    node->weight += below->weight; /* each at most AST_SIZE_MAX, so there is no overflow before the check */
    if (node->weight > AST_SIZE_MAX || node->height > AST_HEIGHT_MAX) {
      parser_complain(p, E0105, "expression too large");
      parser_help(p, "give a part of it a name with 'def' or 'let'");
      p->panic = true;
      p->kids.n = place.kids;
      return parser_leaf(p, AST_ERROR, place);
    }
  }
  if (n) {
    a->kid = arena_copy(p->arena, p->kids.at + place.kids, n * sizeof *a->kid);
    a->n = (uint32_t)n;
  }
  p->kids.n = place.kids;
  return a;
}

struct ast *parser_named(struct parser *p, enum ast_kind kind, struct construct_start place, const char *name) {
  struct ast *node = parser_node(p, kind, place);
  node->name = name;
  return node;
}

struct ast *parser_error_node(struct parser *p) {
  return parser_leaf(p, AST_ERROR, parser_place(p));
}

/* ---- entry points ---- */

struct ast *parse_file(const struct source *source, struct arena *arena, struct diags *diags) {
  struct tokens tokens;
  struct parser p;
  tokens_read(&tokens, source, diags);
  parser_init(&p, source, arena, diags, &tokens);
  struct ast *file = parser_file(&p);
  parser_release(&p);
  tokens_release(&tokens);
  return file;
}

struct ast *parse_expression(const struct source *source, struct arena *arena, struct diags *diags) {
  struct tokens tokens;
  struct parser p;
  tokens_read(&tokens, source, diags);
  parser_init(&p, source, arena, diags, &tokens);
  struct ast *expr = parse_expr(&p);
  if (!p.panic && !parser_sees(&p, T_END))
    parser_fail(&p, E0106, "end of expression");
  parser_release(&p);
  tokens_release(&tokens);
  return expr;
}
