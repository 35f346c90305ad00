/* Declarations and types. Each function stands below the grammar rule that it parses. */
#include "lang/parser.h"

#include <string.h>

/* ---- names and types ---- */

static struct ast *parse_name(struct parser *p, const char *what) {
  struct construct_start place = parser_place(p);
  const char *name = parser_expect_name(p, what);
  return parser_named(p, AST_NAME, place, name);
}

/* names = NAME {"," NAME} */
struct ast *parse_names(struct parser *p, const char *what) {
  struct construct_start place = parser_place(p);
  do
    parser_add(p, parse_name(p, what));
  while (parser_take(p, T_COMMA));
  return parser_node(p, AST_NAMES, place);
}

/* field = NAME ":" type */
static struct ast *parse_field(struct parser *p) {
  struct construct_start place = parser_place(p);
  bool none = parser_sees(p, T_RPAREN);
  const char *name = parser_expect_name(p, "a field's name");
  if (none)
    parser_help(p, "without fields there are no parentheses");
  if (!parser_expect(p, T_COLON))
    parser_help(p, "each field has a type: 'x: Value'");
  parser_add(p, parse_type(p));
  return parser_named(p, AST_FIELD, place, name);
}

/* "(" fields ")"   fields = field {"," field} */
static void add_fields(struct parser *p) {
  parser_expect(p, T_LPAREN);
  do
    parser_add(p, parse_field(p));
  while (parser_take(p, T_COMMA));
  parser_expect(p, T_RPAREN);
}

/* unit = "phase" | "round" | "step" | "receiver" */
struct ast *parse_unit(struct parser *p, bool required) {
  struct construct_start place = parser_place(p);
  enum ast_unit unit = parser_take_word(p, W_PHASE)      ? UNIT_PHASE
                       : parser_take_word(p, W_ROUND)    ? UNIT_ROUND
                       : parser_take_word(p, W_STEP)     ? UNIT_STEP
                       : parser_take_word(p, W_RECEIVER) ? UNIT_RECEIVER
                                                         : UNIT_NONE;
  if (unit == UNIT_NONE && !required)
    return NULL;
  if (unit == UNIT_NONE)
    parser_fail(p, E0106, "'phase', 'round', 'step' or 'receiver'");
  struct ast *node = parser_node(p, AST_UNIT, place);
  node->number = unit;
  return node;
}

/* "{" names "}" */
static struct ast *parse_enum(struct parser *p, struct construct_start place) {
  parser_expect(p, T_LBRACE);
  do {
    bool number = parser_sees(p, T_NUMBER) || parser_sees(p, T_MINUS), last = parser_sees(p, T_RBRACE);
    parser_add(p, parse_name(p, "a value's name"));
    if (number)
      parser_help(p, "a range of numbers is written '0..1'; braces list names: {red, green}");
    else if (last)
      parser_help(p, "names stand in braces, with commas between them: {red, green}");
  } while (parser_take(p, T_COMMA));
  bool name = parser_sees(p, T_NAME);
  if (!parser_expect(p, T_RBRACE) && name)
    parser_help(p, "commas stand between names: {red, green}");
  return parser_node(p, AST_TYPE_ENUM, place);
}

/* Types of other languages that have arguments: Set(T), List[T], map T to U. */
static bool reject_foreign_type(struct parser *p) {
  const struct token *t = parser_look(p, 0), *next = parser_look(p, 1);
  if (t->kind != T_NAME || next->first ||
      (next->kind != T_LPAREN && next->kind != T_LBRACKET && next->kind != T_LT && next->kind != T_LBRACE &&
       next->word != W_OF && !(next->kind == T_NAME && next->word == W_ORDINARY)))
    return false;
  return parser_reject_foreign(p, FOREIGN_TYPE);
}

/* sum ".." sum | NAME */
static struct ast *parse_range_or_name(struct parser *p, struct construct_start place) {
  if (!parser_sees_name(p, 0) && !parser_sees(p, T_NUMBER) && !parser_sees(p, T_LPAREN) && !parser_sees(p, T_MINUS) &&
      !parser_sees(p, T_BAR)) {
    parser_fail(p, E0106, "a type");
    return parser_error_node(p);
  }
  if (reject_foreign_type(p))
    return parser_error_node(p);
  struct ast *low = parse_sum(p);
  if (low->kind == AST_NAME && !parser_sees(p, T_RANGE)) {
    struct ast *node = parser_node(p, AST_TYPE_NAME, place);
    node->name = low->name;
    return node;
  }
  parser_add(p, low);
  bool parts = low->kind == AST_TUPLE, names = low->kind == AST_BINARY && low->op == OP_UNITE;
  if (!parser_expect(p, T_RANGE))
    parser_help(p, parts   ? "a record type names its parts: '(a: T, b: U)'"
                   : names ? "names are listed in braces: {a, b}; 'T?' is a T or 'none'"
                           : "a range of numbers is written '1..n'");
  bool dots = parser_sees(p, T_DOT);
  parser_add(p, parse_sum(p));
  if (dots)
    parser_help(p, "a range has two dots: '0..3'");
  return parser_node(p, AST_TYPE_RANGE, place);
}

/* "seq" "of" type "up" "to" sum ["distinct"] */
static struct ast *parse_sequence_type(struct parser *p, struct construct_start place) {
  parser_expect_word(p, W_SEQ);
  parser_expect_word(p, W_OF);
  parser_add(p, parse_type(p));
  if (!parser_take_word(p, W_UP)) {
    parser_fail(p, E0106, "'up to'");
    parser_help(p, "a sequence has a longest length: 'seq of T up to n'");
  }
  parser_expect_word(p, W_TO);
  parser_add(p, parse_sum(p));
  bool distinct = parser_take_word(p, W_DISTINCT);
  struct ast *node = parser_node(p, AST_TYPE_SEQ, place);
  node->flags = distinct ? AST_FLAG_DISTINCT : 0;
  return node;
}

/* "[" type "]" type */
static struct ast *parse_array_type(struct parser *p, struct construct_start place) {
  parser_expect(p, T_LBRACKET);
  parser_add(p, parse_type(p));
  parser_expect(p, T_RBRACKET);
  bool none = parser_sees(p, T_ASSIGN) || parser_sees(p, T_RBRACE) || parser_look(p, 0)->first;
  parser_add(p, parse_type(p));
  if (none)
    parser_help(p, "an array says what it has for each index: '[P] bool'; a range has no brackets");
  return parser_node(p, AST_TYPE_ARRAY, place);
}

/* base = "bool" | "int" | "round" | "set" "of" type | sequence | array
        | "(" fields ")" | ["unordered"] enum | ["unordered"] sum ".." sum | NAME */
static struct ast *parse_base(struct parser *p) {
  struct construct_start place = parser_place(p);
  if (parser_sees_word(p, W_SEQ))
    return parse_sequence_type(p, place);
  if (parser_take_word(p, W_SET)) {
    if (!parser_expect_word(p, W_OF))
      parser_help(p, "write 'set of T'");
    parser_add(p, parse_type(p));
    return parser_node(p, AST_TYPE_SET, place);
  }
  if (parser_take_word(p, W_BOOL))
    return parser_node(p, AST_TYPE_BOOL, place);
  if (parser_take_word(p, W_INT))
    return parser_node(p, AST_TYPE_INT, place);
  if (parser_take_word(p, W_ROUND))
    return parser_node(p, AST_TYPE_ROUND, place);
  if (parser_sees(p, T_LBRACKET))
    return parse_array_type(p, place);
  if (parser_sees(p, T_LPAREN) && parser_sees_name(p, 1) && parser_look(p, 2)->kind == T_COLON) {
    add_fields(p);
    return parser_node(p, AST_TYPE_RECORD, place);
  }
  bool unordered = parser_take_word(p, W_UNORDERED);
  struct ast *node = parser_sees(p, T_LBRACE) ? parse_enum(p, place) : parse_range_or_name(p, place);
  if (unordered && node->kind == AST_TYPE_NAME && !p->panic) {
    diag_error(p->diags, E0111, node->at, "'unordered' before the name of a type");
    diag_help(p->diags, "say it where the type is made: 'type T = unordered 1..k'");
  } else if (unordered) {
    node->flags |= AST_FLAG_UNORDERED;
  }
  return node;
}

/* type = base {"?"} */
struct ast *parse_type(struct parser *p) {
  if (!parser_enter(p))
    return parser_error_node(p);
  struct construct_start start = parser_place(p);
  struct ast *type = parse_base(p);
  for (;;) {
    struct construct_start place = start;
    place.word = parser_look(p, 0)->at;
    if (!parser_take(p, T_OPTION))
      break;
    parser_add(p, type);
    type = parser_node(p, AST_TYPE_OPTION, place);
  }
  bool array = parser_sees(p, T_LBRACKET) && !parser_look(p, 0)->first, maps = parser_sees(p, T_TO);
  bool either = parser_sees(p, T_BAR) && !parser_look(p, 0)->first;
  if (array || maps || either) {
    parser_complain(p, E0108, "unexpected %s", parser_found(p));
    parser_help(p, either ? "names are listed in braces: {a, b}; 'T?' is a T or 'none'"
                   : maps ? "an array is written '[INDEX] T', with a type or a role as its index: '[P] bool'"
                          : "an array is written '[INDEX] T': '[1..3] bool'");
    p->stop.at = (struct span){parser_look(p, 0)->at.from, parser_look(p, 0)->at.from};
    p->panic = true;
  }
  parser_leave(p);
  return type;
}

/* ---- declarations ---- */

/* After the names of parameters, what other languages have. */
static void help_param(struct parser *p) {
  const struct token *t = parser_look(p, 0);
  bool value = t->kind == T_BECOMES || t->kind == T_EQ || (t->kind == T_NUMBER && !t->first);
  if (!value && t->kind != T_LT && t->kind != T_LE && t->kind != T_GT && t->kind != T_GE && t->word != W_IN)
    return;
  parser_complain(p, E0108, "unexpected %s", parser_found(p));
  if (value)
    parser_help(p, "a default is given with '=': 'param n = 3'");
  else
    parser_help(p, "a condition follows 'where': 'param n where n > 1'");
  p->panic = true;
}

/* param = "param" names [":" type] ["=" expr] ["where" expr] */
static struct ast *parse_param(struct parser *p) {
  struct construct_start place = parser_place(p);
  parser_expect_word(p, W_PARAM);
  parser_add(p, parse_names(p, "a parameter's name"));
  help_param(p);
  parser_add(p, parser_take(p, T_COLON) ? parse_type(p) : NULL);
  parser_add(p, parser_take(p, T_ASSIGN) ? parse_expr(p) : NULL);
  parser_add(p, parser_take_word(p, W_WHERE) ? parse_expr(p) : NULL);
  return parser_node(p, AST_PARAM, place);
}

/* typedef = "type" NAME "=" type */
static struct ast *parse_typedef(struct parser *p) {
  struct construct_start place = parser_place(p);
  parser_expect_word(p, W_TYPE);
  place.word = parser_look(p, 0)->at;
  const char *name = parser_expect_name(p, "a type's name");
  if (!parser_expect(p, T_ASSIGN))
    parser_help(p, "a type says what its values are: 'type T = {a, b}', 'type T = 1..n'");
  parser_add(p, parse_type(p));
  return parser_named(p, AST_TYPEDEF, place, name);
}

/* sig = NAME ["(" fields ")"] */
static struct ast *parse_signature(struct parser *p) {
  struct construct_start place = parser_place(p);
  const char *name = parser_expect_name(p, "a message's name");
  parser_mark(p, ROLE_TIGHT);
  if (parser_sees(p, T_LPAREN))
    add_fields(p);
  else
    parser_mark(p, ROLE_PLAIN);
  return parser_named(p, AST_SIGNATURE, place, name);
}

/* messages = "message" sig {"," sig} */
static struct ast *parse_messages(struct parser *p) {
  struct construct_start place = parser_place(p);
  parser_expect_word(p, W_MESSAGE);
  do
    parser_add(p, parse_signature(p));
  while (parser_take(p, T_COMMA));
  return parser_node(p, AST_MESSAGES, place);
}

/* def = "def" NAME ["(" fields ")"] [":" type] "=" expr */
struct ast *parse_def(struct parser *p) {
  struct construct_start place = parser_place(p);
  parser_expect_word(p, W_DEF);
  place.word = parser_look(p, 0)->at;
  const char *name = parser_expect_name(p, "a name");
  if (parser_sees(p, T_LPAREN)) {
    struct construct_start fields = parser_place(p);
    parser_mark(p, ROLE_TIGHT);
    add_fields(p);
    parser_add(p, parser_node(p, AST_FIELDS, fields));
  } else {
    parser_add(p, NULL);
  }
  parser_add(p, parser_take(p, T_COLON) ? parse_type(p) : NULL);
  bool result = parser_sees(p, T_TO);
  if (!parser_expect(p, T_ASSIGN))
    parser_help(p, result ? "the type of the result follows a colon: 'def NAME(FIELD: TYPE): TYPE = EXPRESSION'"
                          : "write 'def NAME(FIELD: TYPE) = EXPRESSION'");
  parser_add(p, parse_expr(p));
  return parser_named(p, AST_DEF, place, name);
}

/* store = ("input" | "var" | "stable" | "shared" | "ghost" | "oracle") names ":" type
           ["distinct"] ["each" unit] ["=" expr] ["where" expr] */
struct ast *parse_store(struct parser *p) {
  struct construct_start place = parser_place(p);
  enum ast_store store = parser_take_word(p, W_INPUT)    ? STORE_INPUT
                         : parser_take_word(p, W_SHARED) ? STORE_SHARED
                         : parser_take_word(p, W_GHOST)  ? STORE_GHOST
                         : parser_take_word(p, W_ORACLE) ? STORE_ORACLE
                         : parser_take_word(p, W_STABLE) ? STORE_STABLE
                                                         : STORE_VAR;
  if (store == STORE_VAR)
    parser_expect_word(p, W_VAR);
  parser_add(p, parse_names(p, "a variable's name"));
  if (!parser_expect(p, T_COLON))
    parser_help(p, "a variable has a type: 'var x: Value = 1'");
  parser_add(p, parse_type(p));
  bool distinct = parser_take_word(p, W_DISTINCT);
  struct ast *unit = parser_take_word(p, W_EACH) ? parse_unit(p, true) : NULL;
  if (parser_sees(p, T_BECOMES)) {
    parser_complain(p, E0113, "expected '=', found ':='");
    parser_help(p, "an initial value is given with '='");
    parser_take(p, T_BECOMES);
    parser_add(p, parse_expr(p));
  } else {
    parser_add(p, parser_take(p, T_ASSIGN) ? parse_expr(p) : NULL);
  }
  parser_add(p, parser_take_word(p, W_WHERE) ? parse_expr(p) : NULL);
  parser_add(p, unit);
  struct ast *node = parser_node(p, AST_STORE, place);
  node->number = store;
  node->flags = distinct ? AST_FLAG_DISTINCT : 0;
  return node;
}

/* resilience = "resilience" expr */
static struct ast *parse_resilience(struct parser *p) {
  struct construct_start place = parser_place(p);
  parser_expect_word(p, W_RESILIENCE);
  parser_add(p, parse_expr(p));
  return parser_node(p, AST_RESILIENCE, place);
}

/* counter = "counter" names */
static struct ast *parse_counter(struct parser *p) {
  struct construct_start place = parser_place(p);
  parser_expect_word(p, W_COUNTER);
  do
    parser_add(p, parse_name(p, "a counter's name"));
  while (parser_take(p, T_COMMA));
  return parser_node(p, AST_COUNTER, place);
}

/* start = "start" expr */
static struct ast *parse_start(struct parser *p) {
  struct construct_start place = parser_place(p);
  parser_expect_word(p, W_START);
  parser_add(p, parse_expr(p));
  return parser_node(p, AST_COUNTER_START, place);
}

/* control = "control" names ":" type ["=" expr] */
static struct ast *parse_control(struct parser *p) {
  struct construct_start place = parser_place(p);
  parser_expect_word(p, W_CONTROL);
  parser_add(p, parse_names(p, "the name of a control"));
  if (!parser_expect(p, T_COLON))
    parser_help(p, "a control has a finite type: 'control stage: {ask, answer} = ask'");
  parser_add(p, parse_type(p));
  parser_add(p, parser_take(p, T_ASSIGN) ? parse_expr(p) : NULL);
  return parser_node(p, AST_CONTROL, place);
}

/* ---- the file ---- */

static const struct word_rule declarations[] = {
    {W_PARAM, parse_param},     {W_TYPE, parse_typedef},    {W_MESSAGE, parse_messages},
    {W_DEF, parse_def},         {W_INPUT, parse_store},     {W_VAR, parse_store},
    {W_SHARED, parse_store},    {W_GHOST, parse_store},     {W_STABLE, parse_store},
    {W_ORACLE, parse_store},    {W_PROCESS, parse_process}, {W_ENVIRONMENT, parse_environment},
    {W_SAFETY, parse_property}, {W_COVER, parse_property},  {W_LIVE, parse_property},
    {W_COUNTER, parse_counter}, {W_CONTROL, parse_control}, {W_START, parse_start},
    {W_MOVE, parse_move},       {W_UNSAFE, parse_unsafe},   {W_RESILIENCE, parse_resilience},
};

/* A word that starts no declaration. If it is close to one that does, it is read as that word. */
static struct ast *parse_misspelt(struct parser *p) {
  if (parser_sees(p, T_RBRACE)) {
    parser_complain(p, E0107, "unexpected '}'");
    parser_help(p, "no '{' is open here");
    parser_take(p, T_RBRACE);
    return NULL;
  }
  if (parser_reject_foreign(p, FOREIGN_DECLARATION))
    return NULL;
  enum token_kind next = parser_look(p, 1)->kind;
  if (parser_look(p, 0)->kind == T_NAME && parser_look(p, 0)->word == W_ORDINARY &&
      (next == T_EQ || next == T_ASSIGN || next == T_LPAREN)) {
    parser_fail(p, E0106, "a declaration");
    parser_help(p, "a definition is written 'def NAME = EXPRESSION' or 'def NAME(FIELD: TYPE) = EXPRESSION'");
    return NULL;
  }
  enum word near = parser_sees_name(p, 1) ? parser_nearest_word(p, WORD_RULES(declarations)) : W_ORDINARY;
  if (near) {
    parser_complain(p, E0110, "unknown declaration %s", parser_found(p));
    parser_help(p, "did you mean '%s'?", word_text(near));
    p->tokens->list.at[p->at].word = near;
    return parser_rule(p, WORD_RULES(declarations))(p);
  }
  if (parser_at_member(p) || parser_sees_word(p, W_SEND)) {
    parser_complain(p, E0111, "%s outside a process", parser_found(p));
    parser_help(p, "is there one '}' too many before it?");
    p->panic = true;
    return NULL;
  }
  const struct token *t = parser_look(p, 0);
  bool closes = t->kind == T_RPAREN || t->kind == T_RBRACKET, comma = t->kind == T_COMMA;
  bool compares =
      t->kind == T_EQ || t->kind == T_NE || t->kind == T_LT || t->kind == T_LE || t->kind == T_GT || t->kind == T_GE;
  parser_fail(p, E0106, "a declaration");
  if (closes)
    parser_help(p, "no '%s' is open here", t->kind == T_RPAREN ? "(" : "[");
  else if (comma)
    parser_help(p, "conditions are joined by 'and'");
  else if (compares)
    parser_help(p, "what stands before it ends a declaration: is something missing, or a parenthesis?");
  else
    parser_help(p, "as 'param', 'type', 'process', 'environment', 'safety'");
  return NULL;
}

void parse_misplaced(struct parser *p) {
  size_t before = p->at;
  parse_rule *rule = parser_rule(p, WORD_RULES(declarations));
  parser_complain(p, E0111, "%s inside a process", parser_found(p));
  parser_help(p, "it stands outside: move it before the process, or close the process before it with '}'");
  struct ast *node = rule ? rule(p) : NULL;
  if (node)
    vec_push(&p->misplaced, node);
  else
    p->at++;
  if (p->panic)
    parser_recover_member(p, before);
}

/* decl = param | typedef | messages | def | store | process | environment | property
        | counter | control | start | move | unsafe | resilience */
static void add_declaration(struct parser *p) {
  parse_rule *rule = parser_rule(p, WORD_RULES(declarations));
  parser_begin(p, BEGIN_CONSTRUCT);
  struct ast *node = rule ? rule(p) : parse_misspelt(p);
  if (node)
    parser_add(p, node);
}

/* Is it the heading of a model in another language, alone on its line: model NAME? */
static bool starts_model(const struct parser *p) {
  const struct token *t = parser_look(p, 0);
  const char *help = foreign_word_help(p->source->text + t->at.from, t->at.to - t->at.from, FOREIGN_DECLARATION);
  return help && strstr(help, "a model starts with") && parser_look(p, 2)->first;
}

/* ("algorithm" | "counters") NAME */
static const char *parse_heading(struct parser *p, uint32_t *flags) {
  parser_begin(p, BEGIN_CONSTRUCT);
  if (parser_take_word(p, W_COUNTERS)) {
    *flags = AST_FLAG_COUNTERS;
    return parser_expect_name(p, "the name of the counter system");
  }
  if (parser_take_word(p, W_ALGORITHM))
    return parser_expect_name(p, "the algorithm's name");
  if (parser_sees(p, T_END) && p->diags->errors > 0) /* it is no text */
    return "";
  if (parser_sees(p, T_END)) {
    diag_error(p->diags, E0109, (struct span){0, 0}, "the file is empty");
    diag_help(p->diags, "a model starts with 'algorithm NAME'");
    return "";
  }
  static const struct word_rule headings[] = {{W_ALGORITHM, NULL}, {W_COUNTERS, NULL}};
  enum word near = parser_nearest_word(p, WORD_RULES(headings));
  parser_complain(p, E0109, "expected 'algorithm', found %s", parser_found(p));
  if (near)
    parser_help(p, "did you mean '%s'?", word_text(near));
  else
    parser_help(p, "a model starts with 'algorithm NAME' or 'counters NAME'");
  if (parser_rule(p, WORD_RULES(declarations))) /* the heading is missing */
    return "";
  if (parser_sees(p, T_NAME) && parser_sees_name(p, 1) && (near || starts_model(p))) {
    p->at++; /* accept it as a heading */
    return parser_expect_name(p, "the algorithm's name");
  }
  p->at = p->tokens->list.n - 1; /* a file of another language: one error says so */
  return "";
}

/* file = ("algorithm" | "counters") NAME { decl } END */
struct ast *parser_file(struct parser *p) {
  struct construct_start place = parser_place(p);
  uint32_t flags = 0;
  size_t before = p->at;
  place.word = parser_look(p, p->tokens->list.n > 2 ? 1 : 0)->at;
  const char *name = parse_heading(p, &flags);
  if (p->panic)
    parser_recover_declaration(p, before);
  while (!parser_sees(p, T_END) && !diags_stopped(p->diags)) {
    before = p->at;
    parser_skip_semicolons(p);
    if (parser_sees(p, T_END))
      break;
    add_declaration(p);
    if (p->panic)
      parser_recover_declaration(p, before);
  }
  for (size_t i = 0; i < p->misplaced.n; i++)
    parser_add(p, p->misplaced.at[i]);
  struct ast *file = parser_node(p, AST_FILE, place);
  if (file->kind == AST_ERROR) /* there are too many declarations; the caller still gets a file */
    file->kind = AST_FILE;
  file->name = name;
  file->flags = flags;
  return file;
}
