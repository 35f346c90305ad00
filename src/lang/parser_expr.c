/* Expressions. Each function stands below the grammar rule that it parses. */
#include "lang/parser.h"

static struct ast *parse_disj(struct parser *);
static struct ast *parse_unary(struct parser *);
static struct ast *parse_factor(struct parser *);

/* ---- building ---- */

static struct ast *operation(struct parser *p, struct construct_start place, enum ast_kind kind, enum ast_op op,
                             struct ast *left, struct ast *right) {
  parser_add(p, left);
  if (right)
    parser_add(p, right);
  struct ast *node = parser_node(p, kind, place);
  node->op = node->kind == AST_ERROR ? OP_NONE : op;
  return node;
}

/* The start of an operation whose operator is the current token. */
static struct construct_start sign_place(struct parser *p, struct construct_start start) {
  start.word = parser_look(p, 0)->at;
  return start;
}

/* Two adjacent bars where an operator is expected: 'or' in other languages. */
static bool sees_double_bar(const struct parser *p) {
  const struct token *t = parser_look(p, 0), *next = parser_look(p, 1);
  return t->kind == T_BAR && next->kind == T_BAR && t->at.to == next->at.from;
}

/* A symbol of another language with only one possible meaning: reported, and read as its equivalent. */
static bool take_foreign(struct parser *p, enum token_kind kind, const char *ours) {
  if (!parser_sees(p, kind))
    return false;
  parser_complain(p, E0108, "unexpected '%s'", token_kind_text(kind));
  parser_help(p, "write '%s'", ours);
  return parser_take(p, kind);
}

/* ---- connectives ---- */

static bool take_leads_to(struct parser *p) {
  if (parser_look(p, 0)->word != W_LEADS || parser_look(p, 1)->word != W_TO)
    return false;
  return parser_take_word(p, W_LEADS) && parser_take_word(p, W_TO);
}

/* expr = disj ["otherwise" expr | "=>" expr | "leads" "to" expr] */
struct ast *parse_expr(struct parser *p) {
  if (!parser_enter(p))
    return parser_error_node(p);
  struct construct_start start = parser_place(p);
  struct ast *left = parse_disj(p);
  struct construct_start place = sign_place(p, start);
  enum ast_op op = parser_take_word(p, W_OTHERWISE) ? OP_OTHERWISE
                   : parser_take(p, T_ARROW)        ? OP_IMPLIES
                   : take_leads_to(p)               ? OP_LEADS_TO
                                                    : OP_NONE;
  if (!op && parser_sees_word(p, W_LEADS) && !parser_look(p, 0)->first && parser_look(p, 1)->kind == T_MINUS) {
    parser_complain(p, E0108, "unexpected 'leads-'");
    parser_help(p, "write 'leads to'");
    p->panic = true;
  }
  if (!op && !parser_look(p, 0)->first)
    parser_reject_foreign(p, FOREIGN_INFIX);
  if (op)
    left = operation(p, place, AST_BINARY, op, left, parse_expr(p));
  parser_leave(p);
  return left;
}

/* conj = unary {("and" | "until") unary} */
static struct ast *parse_conj(struct parser *p) {
  struct construct_start start = parser_place(p);
  struct ast *left = parse_unary(p);
  for (;;) {
    struct construct_start place = sign_place(p, start);
    enum ast_op op = OP_AND;
    if (parser_take_word(p, W_UNTIL))
      op = OP_UNTIL;
    else if (!parser_take_word(p, W_AND) && !take_foreign(p, T_AND_AND, "and"))
      return left;
    left = operation(p, place, AST_BINARY, op, left, parse_unary(p));
  }
}

/* disj = conj {"or" conj} */
static struct ast *parse_disj(struct parser *p) {
  struct construct_start start = parser_place(p);
  struct ast *left = parse_conj(p);
  for (;;) {
    struct construct_start place = sign_place(p, start);
    if (sees_double_bar(p)) {
      parser_complain(p, E0108, "unexpected '||'");
      parser_help(p, "write 'or'");
      parser_take(p, T_BAR);
      parser_take(p, T_BAR);
    } else if (!parser_take_word(p, W_OR)) {
      return left;
    }
    left = operation(p, place, AST_BINARY, OP_OR, left, parse_conj(p));
  }
}

/* ---- binders ---- */

/* After a comma: does names "in" follow? */
static bool sees_binding(const struct parser *p, size_t ahead) {
  while (parser_sees_name(p, ahead) && parser_look(p, ahead + 1)->kind == T_COMMA)
    ahead += 2;
  return parser_sees_name(p, ahead) && parser_look(p, ahead + 1)->word == W_IN;
}

/* names "in" range ["if" expr]   (the condition only in comprehensions) */
static struct ast *parse_generator(struct parser *p, bool conditional) {
  struct construct_start place = parser_place(p);
  bool open = parser_sees(p, T_LPAREN);
  parser_add(p, parse_names(p, "a variable's name"));
  if (open)
    parser_help(p, "write it without parentheses: 'x in SET'");
  if (!parser_expect_word(p, W_IN))
    parser_help(p, "say what it ranges over: 'x in SET'");
  parser_add(p, parse_range(p));
  parser_add(p, conditional && parser_take_word(p, W_IF) ? parse_expr(p) : NULL);
  return parser_node(p, AST_GENERATOR, place);
}

/* binder = generator {"," generator}
   gen    = "for" generator {"," generator} */
static void add_generators(struct parser *p, bool conditional) {
  parser_add(p, parse_generator(p, conditional));
  while (parser_sees(p, T_COMMA) && sees_binding(p, 1)) {
    parser_take(p, T_COMMA);
    parser_add(p, parse_generator(p, conditional));
  }
}

/* ("exists" | "forall") binder [":" expr] */
static struct ast *parse_quantifier(struct parser *p) {
  struct construct_start place = parser_place(p);
  bool all = parser_take_word(p, W_FORALL);
  if (!all)
    parser_expect_word(p, W_EXISTS);
  return parse_quantified(p, place, all);
}

/* Is this where the ':' of a quantifier was forgotten? Nothing that can follow a quantifier without a body stands here.
 */
static bool sees_body(const struct parser *p, bool all) {
  const struct token *t = parser_look(p, 0);
  switch (token_among(t->kind)) {
  case T_EQ:
  case T_NE:
  case T_LT:
  case T_LE:
  case T_GT:
  case T_GE:
  case T_ASSIGN:
    return true;
  case T_COMMA:
    return all;
  case T_NAME:
    return !t->first && t->word == W_ORDINARY && all;
  }
  return false;
}

/* binder [":" expr], after its keyword */
struct ast *parse_quantified(struct parser *p, struct construct_start place, bool all) {
  size_t body = p->kids.n;
  parser_add(p, NULL);
  add_generators(p, false);
  if (parser_take(p, T_COLON)) {
    struct ast *read = parse_expr(p);
    p->kids.at[body] = read;
  } else if (sees_body(p, all)) {
    parser_fail(p, E0106, "':'");
    parser_help(p, "a colon stands before the condition: '%s x in SET: CONDITION'", all ? "forall" : "exists");
  }
  struct ast *node = parser_node(p, AST_QUANTIFIER, place);
  node->number = all;
  return node;
}

/* "if" expr "then" expr "else" expr */
static struct ast *parse_conditional(struct parser *p) {
  struct construct_start place = parser_place(p);
  parser_expect_word(p, W_IF);
  parser_add(p, parse_expr(p));
  if (!parser_expect_word(p, W_THEN))
    parser_help(p, "a conditional expression is written 'if C then A else B'");
  parser_add(p, parse_expr(p));
  if (!parser_expect_word(p, W_ELSE))
    parser_help(p, "a conditional expression needs its 'else': it must have a value");
  parser_add(p, parse_expr(p));
  return parser_node(p, AST_CONDITIONAL, place);
}

/* ---- relations ---- */

/* relop = "==" | "!=" | "<=" | ">=" | "<" | ">" | "in" | "not" "in" */
bool parse_relation_sign(struct parser *p, enum ast_op *op) {
  static const struct {
    enum token_kind kind;
    enum ast_op op;
  } signs[] = {{T_EQ, OP_EQ}, {T_NE, OP_NE}, {T_LE, OP_LE}, {T_GE, OP_GE}, {T_LT, OP_LT}, {T_GT, OP_GT}};
  for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
    if (parser_take(p, signs[i].kind)) {
      *op = signs[i].op;
      return true;
    }
  if (take_foreign(p, T_ASSIGN, "==") || take_foreign(p, T_BECOMES, "==")) {
    *op = OP_EQ;
    return true;
  }
  *op = OP_NOT_IN;
  if (parser_sees_word(p, W_NOT) && parser_look(p, 1)->word == W_IN)
    return parser_take_word(p, W_NOT) && parser_take_word(p, W_IN);
  *op = OP_IN;
  return parser_take_word(p, W_IN);
}

/* range = sum [".." sum] */
struct ast *parse_range(struct parser *p) {
  struct construct_start start = parser_place(p);
  struct ast *left = parse_sum(p);
  struct construct_start place = sign_place(p, start);
  if (!parser_take(p, T_RANGE))
    return left;
  return operation(p, place, AST_INTERVAL, OP_NONE, left, parse_sum(p));
}

/* relation = range {relop range}
   A chain a <= b <= c is a <= b and b <= c. */
static struct ast *parse_relation(struct parser *p) {
  struct construct_start start = parser_place(p), from = start;
  struct ast *left = parse_range(p), *chain = NULL;
  for (;;) {
    struct construct_start place = sign_place(p, from), link = sign_place(p, start);
    enum ast_op op;
    if (!parse_relation_sign(p, &op))
      return chain ? chain : left;
    from = parser_place(p);
    struct ast *right = parse_range(p);
    struct ast *relation = operation(p, place, AST_RELATION, op, left, right);
    chain = chain ? operation(p, link, AST_BINARY, OP_AND, chain, relation) : relation;
    left = right;
  }
}

/* unary = ("not" | "always" | "eventually") unary | quantifier | conditional | relation */
static struct ast *parse_unary(struct parser *p) {
  struct construct_start place = parser_place(p);
  if (parser_sees_word(p, W_EXISTS) || parser_sees_word(p, W_FORALL))
    return parse_quantifier(p);
  if (parser_sees_word(p, W_IF))
    return parse_conditional(p);
  enum ast_op op = OP_NONE;
  if (parser_take_word(p, W_NOT) || take_foreign(p, T_BANG, "not"))
    op = OP_NOT;
  else if (parser_take_word(p, W_ALWAYS))
    op = OP_ALWAYS;
  else if (parser_take_word(p, W_EVENTUALLY))
    op = OP_EVENTUALLY;
  if (!op)
    return parse_relation(p);
  if (!parser_enter(p))
    return parser_error_node(p);
  struct ast *node = operation(p, place, AST_UNARY, op, parse_unary(p), NULL);
  parser_leave(p);
  return node;
}

/* ---- arithmetic and sets ---- */

/* term = factor {("*" | "/" | "mod" | "&") factor} */
static struct ast *parse_term(struct parser *p) {
  struct construct_start start = parser_place(p);
  struct ast *left = parse_factor(p);
  for (;;) {
    struct construct_start place = sign_place(p, start);
    enum ast_op op = parser_take(p, T_TIMES)      ? OP_MUL
                     : parser_take(p, T_DIVIDE)   ? OP_DIV
                     : parser_take(p, T_MEET)     ? OP_MEET
                     : parser_take_word(p, W_MOD) ? OP_MOD
                                                  : OP_NONE;
    if (!op)
      return left;
    left = operation(p, place, AST_BINARY, op, left, parse_factor(p));
  }
}

/* sum  = term {("+" | "-" | "|" | "++") term}
   card = term {("+" | "-" | "++") term}          (between bars, a bar closes) */
static struct ast *parse_sum_or_card(struct parser *p, bool card) {
  struct construct_start start = parser_place(p);
  struct ast *left = parse_term(p);
  for (;;) {
    struct construct_start place = sign_place(p, start);
    enum ast_op op = parser_take(p, T_PLUS)     ? OP_ADD
                     : parser_take(p, T_MINUS)  ? OP_SUB
                     : parser_take(p, T_APPEND) ? OP_APPEND
                                                : OP_NONE;
    if (!op && !card && !sees_double_bar(p) && parser_take(p, T_BAR))
      op = OP_UNITE;
    if (!op)
      return left;
    left = operation(p, place, AST_BINARY, op, left, parse_term(p));
  }
}

struct ast *parse_sum(struct parser *p) {
  return parse_sum_or_card(p, false);
}

/* ---- atoms ---- */

/* "|" card "|" */
static struct ast *parse_cardinality(struct parser *p) {
  struct construct_start place = parser_place(p);
  parser_mark(p, ROLE_PREFIX);
  parser_expect(p, T_BAR);
  parser_add(p, parse_sum_or_card(p, true));
  parser_mark(p, ROLE_TIGHT);
  if (!parser_expect(p, T_BAR))
    parser_help(p, "a bar before opened a cardinality; put a union or a condition in it in '(' and ')'");
  return parser_node(p, AST_CARDINALITY, place);
}

/* The rest of a collection after its first element: [gen | {"," element}]; true for gen. */
static bool add_rest(struct parser *p, enum token_kind close, struct ast *(*parse_element)(struct parser *)) {
  if (parser_take_word(p, W_FOR)) {
    add_generators(p, true);
    if (parser_sees(p, T_COMMA)) {
      parser_fail(p, E0106, close == T_RBRACE ? "'}'" : "')'");
      parser_help(p, "after 'for' a comma can only add 'x in SET'");
    }
    return true;
  }
  while (parser_take(p, T_COMMA))
    parser_add(p, parse_element(p));
  return false;
}

/* "{" [expr [gen | {"," expr}]] "}" */
static struct ast *parse_set(struct parser *p) {
  struct construct_start place = parser_place(p);
  enum ast_kind kind = AST_SET;
  parser_expect(p, T_LBRACE);
  if (!parser_sees(p, T_RBRACE)) {
    parser_add(p, parse_expr(p));
    if (add_rest(p, T_RBRACE, parse_expr))
      kind = AST_SET_OF;
  }
  if (parser_sees(p, T_COLON)) {
    bool field = p->kids.n == place.kids + 1 && p->kids.at[place.kids]->kind == AST_NAME;
    parser_fail(p, E0106, "'}'");
    if (field)
      parser_help(p, "a record is written '(a: 1, b: 2)', an array '[p in P: VALUE]'");
    else
      parser_help(p, "the elements that satisfy a condition are '{x for x in S if C}'; an array is '[p in P: VALUE]'");
  }
  parser_expect(p, T_RBRACE);
  return parser_node(p, kind, place);
}

/* After "[": NAME "in" sum ":"? A sum holds no relation and no connective outside brackets. */
static bool sees_array(const struct parser *p) {
  if (!parser_sees_name(p, 1) || parser_look(p, 2)->word != W_IN)
    return false;
  size_t open = 0;
  for (size_t i = 3;; i++) {
    const struct token *t = parser_look(p, i);
    if (t->kind == T_END)
      return false;
    if (t->kind == T_LPAREN || t->kind == T_LBRACKET || t->kind == T_LBRACE) {
      open++;
    } else if (t->kind == T_RPAREN || t->kind == T_RBRACKET || t->kind == T_RBRACE) {
      if (open-- == 0)
        return false;
    } else if (open == 0) {
      if (t->kind == T_COLON)
        return true;
      if (t->kind == T_COMMA || (t->word != W_MOD && word_reserved(t->word)))
        return false;
    }
  }
}

/* "[" NAME "in" range ":" expr "]" | "[" [expr {"," expr}] "]" */
static struct ast *parse_bracketed(struct parser *p) {
  struct construct_start place = parser_place(p);
  bool array = sees_array(p);
  const char *name = NULL;
  parser_expect(p, T_LBRACKET);
  if (array) {
    place.word = parser_look(p, 0)->at;
    name = parser_expect_name(p, "a variable's name");
    parser_expect_word(p, W_IN);
    parser_add(p, parse_range(p));
    parser_expect(p, T_COLON);
    parser_add(p, parse_expr(p));
  } else if (!parser_sees(p, T_RBRACKET)) {
    parser_add(p, parse_expr(p));
    while (parser_take(p, T_COMMA))
      parser_add(p, parse_expr(p));
  }
  bool collects = parser_sees_word(p, W_FOR);
  if (!parser_expect(p, T_RBRACKET) && collects)
    parser_help(p, "an array is '[p in P: VALUE]', a set '{x for x in S if C}'");
  struct ast *node = parser_node(p, array ? AST_ARRAY_OF : AST_SEQUENCE, place);
  node->name = name;
  return node;
}

/* "count" "(" binder ":" expr ")" */
static struct ast *parse_count(struct parser *p) {
  struct construct_start place = parser_place(p);
  parser_expect_word(p, W_COUNT);
  parser_mark(p, ROLE_TIGHT);
  parser_expect(p, T_LPAREN);
  size_t condition = p->kids.n;
  parser_add(p, NULL);
  bool set = parser_sees_name(p, 0) && parser_look(p, 1)->kind == T_RPAREN;
  add_generators(p, false);
  if (set)
    parser_help(p, "the number of elements is |SET|; 'count(x in SET: CONDITION)' is that of those with a property");
  if (!parser_expect(p, T_COLON) && !set)
    parser_help(p, "write 'count(x in SET: CONDITION)', or |SET| to count them all");
  struct ast *read = parse_expr(p);
  p->kids.at[condition] = read;
  parser_expect_close(p, T_RPAREN, place.from);
  return parser_node(p, AST_COUNT, place);
}

/* item = NAME ":" expr | expr */
static struct ast *parse_item(struct parser *p) {
  if (!parser_sees_name(p, 0) || parser_look(p, 1)->kind != T_COLON)
    return parse_expr(p);
  struct construct_start place = parser_place(p);
  const char *name = parser_expect_name(p, "a field's name");
  parser_expect(p, T_COLON);
  parser_add(p, parse_expr(p));
  return parser_named(p, AST_ITEM, place, name);
}

/* f{x in S}, vote{v: 1}: no block starts like this. */
static bool sees_arguments_in_braces(const struct parser *p) {
  const struct token *then = parser_look(p, 2);
  return parser_sees(p, T_LBRACE) && parser_look(p, 1)->kind == T_NAME && (then->word == W_IN || then->kind == T_COLON);
}

/* NAME ["(" [item [gen | {"," item}]] ")"] */
static struct ast *parse_name_or_call(struct parser *p) {
  struct construct_start place = parser_place(p);
  enum ast_kind kind = AST_NAME;
  const char *name = parser_expect_name(p, "an expression");
  if (parser_sees(p, T_LPAREN)) {
    parser_mark(p, ROLE_TIGHT);
    parser_take(p, T_LPAREN);
    kind = AST_CALL;
    if (!parser_sees(p, T_RPAREN)) {
      parser_add(p, parse_item(p));
      if (add_rest(p, T_RPAREN, parse_item))
        kind = AST_CALL_OVER;
    }
    bool colon = parser_sees(p, T_COLON) || (parser_sees_word(p, W_IF) && !parser_look(p, 0)->first),
         semicolon = parser_sees(p, T_SEMICOLON);
    if (!parser_expect_close(p, T_RPAREN, place.from) && colon)
      parser_help(p, "write '%s(VALUE for x in SET)', with 'if CONDITION' after it for some of them", name);
    else if (semicolon)
      parser_help(p, "arguments are separated by commas");
  }
  if (kind == AST_NAME && sees_arguments_in_braces(p)) {
    parser_complain(p, E0106, "expected '(', found '{'");
    parser_help(p, "arguments are in parentheses: '%s(...)'", name);
    p->panic = true;
  }
  return parser_named(p, kind, place, name);
}

/* "(" item {"," item} ")"   (one that has no name is only put in parentheses) */
static struct ast *parse_parenthesised(struct parser *p) {
  struct construct_start place = parser_place(p);
  parser_expect(p, T_LPAREN);
  struct ast *first = parse_item(p);
  parser_add(p, first);
  while (parser_take(p, T_COMMA))
    parser_add(p, parse_item(p));
  bool tuple = p->kids.n - place.kids > 1 || first->kind == AST_ITEM, collects = parser_sees_word(p, W_FOR);
  if (!parser_expect_close(p, T_RPAREN, place.from) && collects)
    parser_help(p, "a set is '{x for x in S if C}'");
  if (tuple)
    return parser_node(p, AST_TUPLE, place);
  p->kids.n = place.kids;
  return first;
}

/* Does an operand follow the name here, so that the name is an operator of another language? In a block the next
   statement may follow on the same line. */
static bool sees_operand(const struct parser *p) {
  const struct token *t = parser_look(p, 0), *next = parser_look(p, 1);
  const char *text = p->source->text + t->at.from;
  bool capitals = t->kind == T_NAME && t->at.to - t->at.from > 1 && text[1] >= 'A' && text[1] <= 'Z';
  if (t->kind != T_NAME || next->first)
    return false;
  if (capitals)
    return next->kind == T_NAME || next->kind == T_LBRACE;
  if (next->kind != T_NAME || (t->word != W_ORDINARY && t->word != W_ANY && t->word != W_EVERY && t->word != W_EACH &&
                               t->word != W_SOME && t->word != W_INFINITELY && t->word != W_AT))
    return false;
  if (p->braces.n > 0)
    return parser_look(p, 2)->word == W_IN;
  return next->word == W_ORDINARY || next->word == W_OFTEN || next->word == W_EXISTS || next->word == W_FORALL;
}

/* atom = NUMBER | "none" | "true" | "false" | cardinality | set | bracketed | count
        | NAME [arguments] | parenthesised */
static struct ast *parse_atom(struct parser *p) {
  struct construct_start place = parser_place(p);
  const struct token *t = parser_look(p, 0);
  if (parser_take(p, T_NUMBER)) {
    struct ast *node = parser_node(p, AST_NUMBER, place);
    node->number = t->number;
    return node;
  }
  if (parser_take_word(p, W_NONE))
    return parser_node(p, AST_NONE, place);
  if (parser_take_word(p, W_TRUE))
    return parser_node(p, AST_TRUE, place);
  if (parser_take_word(p, W_FALSE))
    return parser_node(p, AST_FALSE, place);
  if (parser_sees(p, T_BAR))
    return parse_cardinality(p);
  if (parser_sees(p, T_LBRACE))
    return parse_set(p);
  if (parser_sees(p, T_LBRACKET))
    return parse_bracketed(p);
  if (parser_sees_word(p, W_COUNT) && parser_look(p, 1)->kind == T_LPAREN)
    return parse_count(p);
  if (sees_operand(p) && parser_reject_foreign(p, FOREIGN_PREFIX))
    return parser_error_node(p);
  if (p->braces.n > 0 && t->first && parser_sees_name(p, 0) && parser_look(p, 1)->kind == T_BECOMES) {
    parser_fail(p, E0106, "an expression");
    parser_help(p, "the line before is not complete");
    return parser_error_node(p);
  }
  if (parser_sees_name(p, 0))
    return parse_name_or_call(p);
  if (parser_sees(p, T_LPAREN))
    return parse_parenthesised(p);
  parser_fail(p, E0106, "an expression");
  return parser_error_node(p);
}

/* index = "[" expr {"," expr} "]"   select = "." NAME   prime = "'" */
static struct ast *parse_postfix(struct parser *p, struct construct_start start, struct ast *left) {
  struct construct_start place = sign_place(p, start);
  parser_mark(p, ROLE_TIGHT);
  parser_add(p, left);
  if (parser_take(p, T_PRIME))
    return parser_node(p, AST_PRIMED, place);
  if (parser_take(p, T_LBRACKET)) {
    do
      parser_add(p, parse_expr(p));
    while (parser_take(p, T_COMMA));
    parser_expect(p, T_RBRACKET);
    return parser_node(p, AST_INDEX, place);
  }
  parser_expect(p, T_DOT);
  place.word = parser_look(p, 0)->at;
  bool number = parser_sees(p, T_NUMBER);
  const struct token *field = parser_look(p, 0);
  const char *method = field->kind != T_NAME ? NULL
                                             : foreign_word_help(p->source->text + field->at.from,
                                                                 field->at.to - field->at.from, FOREIGN_METHOD);
  bool reserved = field->kind == T_NAME && word_reserved(field->word);
  const char *name = parser_expect_name(p, "a field's name");
  if (number)
    parser_help(p, "numbers are whole; a range is written with two dots, '0..3'");
  else if (reserved && method)
    parser_help(p, "there are no methods: %s", method);
  return parser_named(p, AST_SELECT, place, name);
}

/* Methods of other languages: x.f(...) */
static void reject_method(struct parser *p) {
  const struct token *t = parser_look(p, 0);
  if (!parser_sees(p, T_LPAREN) || p->at < 2 || t->at.from != t[-1].at.to || t[-2].kind != T_DOT)
    return;
  const char *method = foreign_word_help(p->source->text + t[-1].at.from, t[-1].at.to - t[-1].at.from, FOREIGN_METHOD);
  parser_complain(p, E0108, "unexpected '('");
  parser_help(p, "there are no methods: %s", method ? method : "a function is called as 'f(x)'");
  p->stop.at = (struct span){t->at.from, t->at.from};
  p->panic = true;
}

/* factor = "-" factor | atom { index | select | prime } */
static struct ast *parse_factor(struct parser *p) {
  struct construct_start start = parser_place(p);
  if (!parser_enter(p))
    return parser_error_node(p);
  struct ast *node;
  if (parser_sees(p, T_MINUS)) {
    parser_mark(p, ROLE_PREFIX);
    parser_take(p, T_MINUS);
    node = operation(p, start, AST_UNARY, OP_NEG, parse_factor(p), NULL);
  } else {
    node = parse_atom(p);
    while (parser_sees(p, T_LBRACKET) || parser_sees(p, T_DOT) || parser_sees(p, T_PRIME)) {
      node = parse_postfix(p, start, node);
      reject_method(p);
    }
  }
  parser_leave(p);
  return node;
}

/* place = NAME { index | select } */
struct ast *parse_place(struct parser *p) {
  struct construct_start start = parser_place(p);
  const char *name = parser_expect_name(p, "a variable");
  struct ast *node = parser_node(p, AST_NAME, start);
  node->name = name;
  while (parser_sees(p, T_LBRACKET) || parser_sees(p, T_DOT))
    node = parse_postfix(p, start, node);
  return node;
}
