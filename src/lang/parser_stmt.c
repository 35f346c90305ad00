/* Statements. Each function stands below the grammar rule that it parses. */
#include "lang/parser.h"

#include <string.h>

/* send = "send" expr "to" expr ["when" expr]   ("when" only in a round) */
struct ast *parse_send(struct parser *p, bool with_when) {
  struct construct_start place = parser_place(p);
  parser_expect_word(p, W_SEND);
  parser_add(p, parse_expr(p));
  if (!parser_take_word(p, W_TO) && !p->panic) {
    parser_complain(p, E0106, "expected 'to', found %s", parser_found(p));
    parser_help(p, "write 'send MESSAGE to all', 'to others', 'to p' or 'to ROLE'");
    /* after a missing 'to', a name on the same line is the target; anything else is the next construct */
    p->panic = !parser_sees_name(p, 0) || parser_look(p, 0)->first;
  }
  parser_add(p, parse_expr(p));
  if (!with_when && parser_sees_word(p, W_WHEN)) {
    parser_complain(p, E0111, "'when' in a statement");
    parser_help(p, "write 'if CONDITION { send ... }'");
    parser_take_word(p, W_WHEN);
    parse_expr(p);
  }
  parser_add(p, with_when && parser_take_word(p, W_WHEN) ? parse_expr(p) : NULL);
  return parser_node(p, AST_SEND, place);
}

/* The block of a condition or of a loop; "then" is only used in expressions. */
static struct ast *parse_body(struct parser *p) {
  if (parser_sees_word(p, W_THEN)) {
    parser_complain(p, E0108, "expected '{', found 'then'");
    parser_help(p, "as a statement: 'if CONDITION { ... } else { ... }'");
    parser_take_word(p, W_THEN);
  }
  parser_recover_header(p);
  bool without_block = parser_sees_word(p, W_ELSE), bare = !p->panic && !parser_sees(p, T_LBRACE);
  struct ast *block = parse_block(p);
  if (without_block)
    parser_help(p, "as an expression: 'if C then A else B'");
  else if (bare)
    parser_help(p, "a block is in braces: 'if CONDITION { ... } else { ... }'");
  return block;
}

/* if = "if" expr block ["else" (if | block)] */
static struct ast *parse_if(struct parser *p) {
  if (!parser_enter(p))
    return parser_error_node(p);
  struct construct_start place = parser_place(p);
  p->at++; /* 'if', or the keyword for 'else if' in another language */
  parser_add(p, parse_expr(p));
  parser_add(p, parse_body(p));
  const struct token *t = parser_look(p, 0);
  struct ast *rest = NULL;
  if (parser_sees_word(p, W_ELSE)) {
    parser_begin(p, BEGIN_BRANCH);
    parser_take_word(p, W_ELSE);
    rest = parser_sees_word(p, W_IF) ? parse_if(p) : parse_block(p);
  } else if (t->kind == T_NAME && t->word == W_ORDINARY && parser_look(p, 1)->kind != T_BECOMES) {
    const char *name = parser_text(p, t);
    if (strcmp(name, "elif") == 0 || strcmp(name, "elsif") == 0 || strcmp(name, "elseif") == 0) {
      parser_complain(p, E0108, "unexpected '%s'", name);
      parser_help(p, "write 'else if'");
      rest = parse_if(p);
    }
  }
  parser_add(p, rest);
  struct ast *node = parser_node(p, AST_IF, place);
  parser_leave(p);
  return node;
}

/* foreach = "foreach" NAME "in" expr block */
static struct ast *parse_foreach(struct parser *p) {
  struct construct_start place = parser_place(p);
  if (!parser_take_word(p, W_FOREACH)) {
    parser_complain(p, E0108, "'for' is no statement");
    parser_help(p, "'foreach x in SET { ... }' goes through a collection");
    parser_take_word(p, W_FOR);
  }
  place.word = parser_look(p, 0)->at;
  const char *name = parser_expect_name(p, "a variable's name");
  parser_expect_word(p, W_IN);
  parser_add(p, parse_expr(p));
  parser_add(p, parse_body(p));
  return parser_named(p, AST_FOREACH, place, name);
}

/* let = "let" NAME "=" expr */
static struct ast *parse_let(struct parser *p) {
  struct construct_start place = parser_place(p);
  parser_expect_word(p, W_LET);
  place.word = parser_look(p, 0)->at;
  const char *name = parser_expect_name(p, "a name");
  if (parser_sees(p, T_BECOMES)) {
    parser_complain(p, E0113, "expected '=', found ':='");
    parser_help(p, "'let' gives a value a name, once: 'let x = ...'");
    parser_take(p, T_BECOMES);
  } else {
    parser_expect(p, T_ASSIGN);
  }
  parser_add(p, parse_expr(p));
  return parser_named(p, AST_LET, place, name);
}

/* goto = "goto" NAME */
static struct ast *parse_goto(struct parser *p) {
  struct construct_start place = parser_place(p);
  parser_expect_word(p, W_GOTO);
  place.word = parser_look(p, 0)->at;
  const char *name = parser_expect_name(p, "a step's name");
  return parser_named(p, AST_GOTO, place, name);
}

#define STATEMENTS                                                                                                     \
  "a statement is 'x := VALUE', 'send MESSAGE to ...', 'if CONDITION { ... }', 'let NAME = VALUE', 'foreach', 'goto' " \
  "or "                                                                                                                \
  "'halt'"

/* Reports that a place is not followed by ':='. */
static void assignment_error(struct parser *p, const struct ast *target) {
  static const char *const starts[] = {"if", "let", "send", "goto", "halt", "foreach"};
  const char *name = target->kind == AST_NAME ? target->name : "x";
  const struct token *t = parser_look(p, 0);
  bool declares = t->kind == T_NAME && parser_look(p, 1)->kind == T_ASSIGN;
  bool updates = (t->kind == T_PLUS || t->kind == T_MINUS || t->kind == T_TIMES) && parser_look(p, 1)->kind == T_ASSIGN;
  bool counts = t->kind == T_APPEND;
  const char *near = t->kind == T_NAME || t->kind == T_NUMBER || t->kind == T_LPAREN
                         ? nearest_name(name, starts, sizeof starts / sizeof *starts)
                         : NULL;
  if (parser_reject_foreign(p, FOREIGN_SECOND))
    return;
  parser_fail(p, E0113, "':='");
  if (near && (strcmp(near, "let") != 0 || declares))
    parser_help(p, "did you mean '%s'?", near);
  else if (updates || counts)
    parser_help(p, "write '%s := %s %s'", name, name, t->kind == T_MINUS ? "- 1" : t->kind == T_TIMES ? "* 2" : "+ 1");
  else if (t->kind == T_LPAREN)
    parser_help(p, target->kind == AST_SELECT
                       ? "there are no methods: a set grows by 'x := x | {e}', a sequence by 'x := x ++ [e]'"
                       : "there are no procedures: 'def NAME(FIELD: TYPE) = EXPRESSION' is for expressions");
  else if (t->kind == T_COLON)
    parser_help(p, "there are no labels: a part of an action is a step of its own, 'step NAME { ... }'");
  else if (t->kind == T_COMMA)
    parser_help(p, "one assignment for each variable: 'x := 1', then 'y := 2'");
  else
    parser_help(p, STATEMENTS);
}

/* place ":=" expr */
static struct ast *parse_assignment(struct parser *p) {
  struct construct_start start = parser_place(p);
  struct ast *target = parse_place(p);
  struct construct_start place = start;
  place.word = parser_look(p, 0)->at;
  parser_add(p, target);
  if (parser_sees(p, T_ASSIGN) || parser_sees(p, T_EQ)) {
    parser_complain(p, E0113, "expected ':=', found %s", parser_found(p));
    parser_help(p, parser_sees(p, T_EQ)
                       ? "an assignment is written ':='; a condition that is waited for stands before a "
                         "block, 'when CONDITION { ... }'"
                       : "an assignment is written ':='");
    p->at++;
  } else if (!parser_take(p, T_BECOMES)) {
    assignment_error(p, target);
  }
  parser_add(p, parse_expr(p));
  return parser_node(p, AST_ASSIGN, place);
}

/* stmt = if | let | send | goto | "halt" | foreach | place ":=" expr */
static struct ast *parse_statement(struct parser *p) {
  struct construct_start place = parser_place(p);
  parser_begin(p, BEGIN_CONSTRUCT);
  if (parser_reject_foreign(p, FOREIGN_STATEMENT))
    return parser_error_node(p);
  if (parser_sees_word(p, W_IF))
    return parse_if(p);
  if (parser_sees_word(p, W_LET))
    return parse_let(p);
  if (parser_sees_word(p, W_SEND))
    return parse_send(p, false);
  if (parser_sees_word(p, W_GOTO))
    return parse_goto(p);
  if (parser_sees_word(p, W_FOREACH) || parser_sees_word(p, W_FOR))
    return parse_foreach(p);
  if (parser_take_word(p, W_HALT))
    return parser_node(p, AST_HALT, place);
  if (parser_sees_name(p, 0))
    return parse_assignment(p);
  if (parser_reject_foreign(p, FOREIGN_INFIX)) /* after the expression of the statement before */
    return parser_error_node(p);
  const struct token *t = parser_look(p, 0);
  bool without_if = parser_sees_word(p, W_ELSE);
  parser_fail(p, E0106, "a statement");
  if (without_if)
    parser_help(p, "'else' follows the '}' of its 'if' at once");
  else if (t->kind == T_APPEND)
    parser_help(p, "write 'x := x + 1'");
  else if (t->kind == T_LBRACE)
    parser_help(p, "a block belongs to 'if', 'else' or 'foreach'");
  else if (t->kind == T_COMMA)
    parser_help(p, "several receivers are a set: 'send MESSAGE to {p, q}'");
  else if (t->kind == T_LPAREN)
    parser_help(p, "there are no methods; a free choice is 'pick(S)'");
  else
    parser_help(p, STATEMENTS);
  return parser_error_node(p);
}

/* block = "{" { stmt } "}" */
struct ast *parse_block(struct parser *p) {
  struct construct_start place = parser_place(p);
  if (!parser_enter(p))
    return parser_error_node(p);
  if (parser_open(p)) {
    for (;;) {
      parser_skip_semicolons(p);
      if (parser_sees(p, T_RBRACE) || parser_sees(p, T_END) || parser_at_declaration(p) ||
          (parser_at_member(p) && !parser_is_inside(p)))
        break;
      size_t before = p->at;
      struct ast *statement = parse_statement(p);
      parser_add(p, statement);
      if (p->panic)
        parser_recover_statement(p, before);
    }
    parser_close(p);
  }
  parser_leave(p);
  return parser_node(p, AST_BLOCK, place);
}
