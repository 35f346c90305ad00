/* Statements. Each function stands below the grammar rule that it parses. */
#include "lang/parser.h"

#include <string.h>

/* Does a block follow the condition after the 'if' here, so that it is a statement of its own? */
static bool sees_block(const struct parser *p) {
  for (size_t i = 1;; i++) {
    const struct token *t = parser_look(p, i);
    if (t->kind == T_LBRACE)
      return true;
    if (t->kind == T_END || t->kind == T_RBRACE || t->kind == T_BECOMES || t->word == W_SEND)
      return false;
  }
}

/* send = "send" expr "to" expr ["when" expr]   ("when" only in a round) */
struct ast *parse_send(struct parser *p, bool with_when) {
  struct construct_start place = parser_place(p);
  parser_expect_word(p, W_SEND);
  parser_add(p, parse_expr(p));
  if (!parser_take_word(p, W_TO) && !p->panic) {
    const struct token *t = parser_look(p, 0);
    bool fields = !t->first && (t->kind == T_NUMBER || t->kind == T_LBRACE);
    parser_complain(p, E0106, "expected 'to', found %s", parser_found(p));
    parser_help(p, fields ? "fields are in parentheses: 'send vote(1) to all'"
                          : "write 'send MESSAGE to all', 'to others', 'to p' or 'to ROLE'");
    /* after a missing 'to', a name on the same line is the target; anything else is the next construct */
    p->panic = !parser_sees_name(p, 0) || parser_look(p, 0)->first;
  }
  parser_add(p, parse_expr(p));
  bool when = parser_sees_word(p, W_WHEN),
       after = parser_sees_word(p, W_IF) && !parser_look(p, 0)->first && !sees_block(p);
  if (with_when && after) {
    parser_complain(p, E0111, "expected 'when', found 'if'");
    parser_help(p, "write 'send ... to ... when CONDITION'");
    parser_take_word(p, W_IF);
    parse_expr(p);
  } else if (!with_when && (when || after)) {
    parser_complain(p, E0111, "%s after a message", parser_found(p));
    parser_help(p, "write 'if CONDITION { send ... }'");
    p->at++;
    parse_expr(p);
  }
  parser_add(p, with_when && parser_take_word(p, W_WHEN) ? parse_expr(p) : NULL);
  return parser_node(p, AST_SEND, place);
}

/* The block of a condition or of a loop; "then" is only used in expressions. */
static struct ast *parse_body(struct parser *p, bool loop) {
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
    parser_help(p, loop ? "a block is in braces: 'foreach m in received { ... }'"
                        : "a block is in braces: 'if CONDITION { ... } else { ... }'");
  return block;
}

/* if = "if" expr block ["else" (if | block)] */
static struct ast *parse_if(struct parser *p) {
  if (!parser_enter(p))
    return parser_error_node(p);
  struct construct_start place = parser_place(p);
  p->at++; /* 'if', or the keyword for 'else if' in another language */
  parser_add(p, parse_expr(p));
  parser_add(p, parse_body(p, false));
  const struct token *t = parser_look(p, 0);
  struct ast *rest = NULL;
  if (parser_sees_word(p, W_ELSE)) {
    parser_begin(p, BEGIN_BRANCH);
    parser_take_word(p, W_ELSE);
    bool bare = !parser_sees_word(p, W_IF) && !parser_sees(p, T_LBRACE);
    rest = parser_sees_word(p, W_IF) ? parse_if(p) : parse_block(p);
    if (bare)
      parser_help(p, "a block is in braces: 'if CONDITION { ... } else { ... }'");
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
    parser_help(
        p, "'foreach m in Q { ... }' goes through the messages of a quorum, in rounds 'foreach m in received { ... }'");
    parser_take_word(p, W_FOR);
  }
  place.word = parser_look(p, 0)->at;
  bool open = parser_sees(p, T_LPAREN);
  const char *name = parser_expect_name(p, "a variable's name");
  if (open)
    parser_help(p, "write it without parentheses: 'foreach m in received { ... }'");
  parser_expect_word(p, W_IN);
  parser_add(p, parse_expr(p));
  parser_add(p, parse_body(p, true));
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
    bool typed = parser_sees(p, T_COLON);
    parser_expect(p, T_ASSIGN);
    if (typed)
      parser_help(p, "a 'let' has the type of its value: 'let x = VALUE'");
  }
  parser_add(p, parse_expr(p));
  return parser_named(p, AST_LET, place, name);
}

/* goto = "goto" NAME */
static struct ast *parse_goto(struct parser *p) {
  struct construct_start place = parser_place(p);
  parser_expect_word(p, W_GOTO);
  place.word = parser_look(p, 0)->at;
  bool number = parser_sees(p, T_NUMBER);
  const char *name = parser_expect_name(p, "a step's name");
  if (number)
    parser_help(p, "steps have names: 'step NAME { ... }'");
  return parser_named(p, AST_GOTO, place, name);
}

#define STATEMENTS                                                                                                     \
  "a statement is 'x := VALUE', 'send MESSAGE to ...', 'if CONDITION { ... }', 'let NAME = VALUE', 'foreach', 'goto' " \
  "or "                                                                                                                \
  "'halt'"

/* Is it the variable of a process, as in P(1).x := 0? */
static bool of_process(const struct parser *p) {
  for (size_t i = 1; parser_look(p, i)->kind != T_END && !parser_look(p, i)->first; i++)
    if (parser_look(p, i)->kind == T_RPAREN)
      return parser_look(p, i + 1)->kind == T_DOT;
  return false;
}

/* Does the token follow the receiver of a message, on one line? */
static bool follows_send(const struct parser *p) {
  for (size_t i = p->at; i-- > 0;) {
    const struct token *t = &p->tokens->list.at[i];
    if (t->word == W_SEND || t->first)
      return t->word == W_SEND;
  }
  return false;
}

/* Reports that a place is not followed by ':='. */
static void assignment_error(struct parser *p, const struct ast *target) {
  static const char *const starts[] = {"if", "let", "send", "goto", "halt", "foreach"};
  const char *name = target->kind == AST_NAME ? target->name : "x";
  const struct token *t = parser_look(p, 0);
  bool declares = t->kind == T_NAME && parser_look(p, 1)->kind == T_ASSIGN;
  bool updates = (t->kind == T_PLUS || t->kind == T_MINUS || t->kind == T_TIMES) && parser_look(p, 1)->kind == T_ASSIGN;
  bool counts = t->kind == T_APPEND, alone = t->first || t->kind == T_RBRACE;
  const struct token *more = parser_look(p, 2);
  const char *near = t->kind == T_NAME || t->kind == T_NUMBER || t->kind == T_LPAREN
                         ? nearest_name(name, starts, sizeof starts / sizeof *starts)
                         : NULL;
  if (parser_reject_foreign(p, FOREIGN_SECOND))
    return;
  if (target->kind == AST_NAME && alone) { /* the line is no statement; what follows it is */
    if (!p->panic)
      diag_error(p->diags, E0106, target->at, "expected a statement, found '%s'", name);
    p->reported = !p->panic;
    parser_help(p, STATEMENTS);
    p->stop.at = (struct span){t->at.from, t->at.from};
    p->panic = true;
    return;
  }
  parser_fail(p, E0113, "':='");
  if (near && (strcmp(near, "let") != 0 || declares))
    parser_help(p, "did you mean '%s'?", near);
  else if (updates && t->kind == T_PLUS && more->kind != T_NUMBER)
    parser_help(p, "write '%s := %s + 1'; a set grows by '%s := %s | {e}'", name, name, name, name);
  else if (updates || counts)
    parser_help(p, "write '%s := %s %s'", name, name, t->kind == T_MINUS ? "- 1" : t->kind == T_TIMES ? "* 2" : "+ 1");
  else if (t->kind == T_LPAREN)
    parser_help(p, target->kind == AST_SELECT
                       ? "there are no methods: a set grows by 'x := x | {e}', a sequence by 'x := x ++ [e]'"
                   : of_process(p)
                       ? "a process assigns its own variables, by their names, and shared ones"
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
  if ((p->in_round && parser_reject_foreign(p, FOREIGN_UPDATE)) || parser_reject_foreign(p, FOREIGN_STATEMENT))
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
  if (parser_take_word(p, W_HALT)) {
    if (parser_sees(p, T_LPAREN)) {
      parser_fail(p, E0106, "a statement");
      parser_help(p, "'halt' has no parentheses");
    }
    return parser_node(p, AST_HALT, place);
  }
  if (parser_sees_name(p, 0))
    return parse_assignment(p);
  if (parser_reject_foreign(p, FOREIGN_INFIX)) /* after the expression of the statement before */
    return parser_error_node(p);
  const struct token *t = parser_look(p, 0);
  bool without_if = parser_sees_word(p, W_ELSE), sent = follows_send(p);
  bool quantifies = parser_sees_word(p, W_FORALL) || parser_sees_word(p, W_EXISTS);
  parser_fail(p, E0106, "a statement");
  if (without_if)
    parser_help(p, "'else' follows the '}' of its 'if' at once");
  else if (t->kind == T_APPEND)
    parser_help(p, "write 'x := x + 1'");
  else if (t->kind == T_LBRACE)
    parser_help(p, "a block belongs to 'if', 'else' or 'foreach'");
  else if (t->kind == T_COMMA && sent)
    parser_help(p, "several receivers are a set: 'send MESSAGE to {p, q}'");
  else if (t->kind == T_COMMA || (t->kind == T_LPAREN && t->first))
    parser_help(p, "one assignment for each variable: 'x := 1', then 'y := 2'");
  else if (t->kind == T_LPAREN)
    parser_help(p, "there are no methods; a free choice is 'pick(S)'");
  else if (t->kind == T_RPAREN || t->kind == T_RBRACKET)
    parser_help(p, "no '%s' is open here", t->kind == T_RPAREN ? "(" : "[");
  else if (quantifies)
    parser_help(
        p, "a message to each member of a set is 'send MESSAGE to SET'; 'if exists x in S: C { ... }' is a condition");
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
