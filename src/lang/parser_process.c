/* Processes: rounds and handlers. Each function stands below the grammar rule that it parses. */
#include "lang/parser.h"

/* ---- rounds ---- */

/* Reports a construct in a round that is neither 'send' nor 'update'. */
static void round_error(struct parser *p) {
  bool statement = parser_sees_name(p, 0) || parser_sees_word(p, W_IF) || parser_sees_word(p, W_LET);
  parser_fail(p, E0106, "'send' or 'update'");
  if (statement)
    parser_help(p, "a statement stands in 'update { ... }'; is there one '}' too many before it?");
}

/* round = "round" [NAME] "{" { send } ["update" block] "}" */
static struct ast *parse_round(struct parser *p) {
  struct construct_start place = parser_place(p);
  parser_begin(p, BEGIN_CONSTRUCT);
  parser_expect_word(p, W_ROUND);
  const char *name = NULL;
  if (parser_sees(p, T_NAME)) {
    place.word = parser_look(p, 0)->at;
    name = parser_expect_name(p, "the round's name");
  }
  struct ast *update = NULL;
  parser_recover_header(p);
  if (parser_open(p)) {
    for (;;) {
      parser_skip_semicolons(p);
      size_t before = p->at;
      parser_begin(p, BEGIN_CONSTRUCT);
      if (parser_sees_word(p, W_SEND)) {
        if (update) {
          parser_complain(p, E0111, "'send' after 'update'");
          parser_help(p, "a round sends from its state at the start: put 'send' before 'update'");
        }
        parser_add(p, parse_send(p, true));
      } else if (parser_sees_word(p, W_UPDATE)) {
        if (update)
          parser_complain(p, E0112, "second 'update' in a round");
        parser_take_word(p, W_UPDATE);
        p->in_round = true;
        update = parse_block(p);
        p->in_round = false;
      } else if (parser_sees(p, T_RBRACE) || parser_sees(p, T_END) || parser_at_declaration(p) || parser_at_member(p)) {
        parser_begin(p, BEGIN_NOTHING);
        break;
      } else {
        round_error(p);
      }
      if (p->panic)
        parser_recover_statement(p, before);
    }
    parser_close(p);
  }
  parser_add(p, update);
  return parser_named(p, AST_ROUND, place, name);
}

/* "{" round { round } "}" */
static void add_rounds(struct parser *p) {
  parser_recover_header(p);
  if (!parser_open(p))
    return;
  size_t kids = p->kids.n;
  for (;;) {
    parser_skip_semicolons(p);
    size_t before = p->at;
    if (parser_sees_word(p, W_ROUND)) {
      parser_add(p, parse_round(p));
    } else if (parser_sees(p, T_RBRACE) || parser_sees(p, T_END) || parser_at_declaration(p) || parser_at_member(p)) {
      break;
    } else {
      parser_fail(p, E0106, "'round'");
      kids = SIZE_MAX; /* not empty, but could not be parsed */
    }
    if (p->panic)
      parser_recover_member(p, before);
  }
  if (p->kids.n == kids) {
    parser_complain(p, E0106, "expected 'round', found %s", parser_found(p));
    parser_help(p, "write 'round NAME { send ... to ...  update { ... } }'");
  }
  parser_close(p);
}

/* segment = ("once" | "repeat" expr ["as" NAME] | "phase" [NAME]) "{" round { round } "}"
           | round | "finally" block */
static struct ast *parse_segment(struct parser *p) {
  struct construct_start place = parser_place(p);
  if (parser_sees_word(p, W_ROUND))
    return parse_round(p);
  if (parser_take_word(p, W_FINALLY)) {
    parser_add(p, parse_block(p));
    return parser_node(p, AST_FINALLY, place);
  }
  enum ast_kind kind = AST_PHASE;
  const char *name = NULL;
  if (parser_take_word(p, W_ONCE)) {
    kind = AST_ONCE;
  } else if (parser_take_word(p, W_REPEAT)) {
    kind = AST_REPEAT;
    parser_add(p, parse_expr(p));
    if (parser_take_word(p, W_AS)) {
      place.word = parser_look(p, 0)->at;
      name = parser_expect_name(p, "the counter's name");
    }
  } else if (parser_expect_word(p, W_PHASE) && parser_sees(p, T_NAME)) {
    place.word = parser_look(p, 0)->at;
    name = parser_expect_name(p, "the phase number's name");
  }
  add_rounds(p);
  return parser_named(p, kind, place, name);
}

/* ---- handlers ---- */

/* arg = NAME [relop sum] */
static struct ast *parse_argument(struct parser *p) {
  struct construct_start place = parser_place(p);
  bool value = parser_sees(p, T_NUMBER) || parser_sees_word(p, W_TRUE) || parser_sees_word(p, W_FALSE) ||
               parser_sees_word(p, W_NONE);
  const char *name = parser_expect_name(p, "a field's name");
  if (value)
    parser_help(p, "name the field that is meant: 'MESSAGE(field == value)'");
  if (parser_sees(p, T_COLON)) {
    parser_fail(p, E0106, "')'");
    parser_help(p, "a pattern names the field alone, 'MESSAGE(%s)': its type is in the declaration", name);
  }
  enum ast_op op = OP_NONE;
  if (!parse_relation_sign(p, &op))
    op = OP_NONE;
  parser_add(p, op ? parse_sum(p) : NULL);
  struct ast *node = parser_named(p, AST_ARGUMENT, place, name);
  node->op = node->kind == AST_ERROR ? OP_NONE : op;
  return node;
}

/* pattern = NAME ["(" arg {"," arg} ")"] */
static struct ast *parse_pattern(struct parser *p) {
  struct construct_start place = parser_place(p);
  bool compares = parser_sees(p, T_BAR);
  const char *name = parser_expect_name(p, "a message");
  if (compares)
    parser_help(p, "that many messages are waited for by 'on Q: SIZE of MESSAGE'");
  if (parser_sees(p, T_LPAREN)) {
    parser_mark(p, ROLE_TIGHT);
    parser_take(p, T_LPAREN);
    do
      parser_add(p, parse_argument(p));
    while (parser_take(p, T_COMMA));
    parser_expect(p, T_RPAREN);
  }
  return parser_named(p, AST_PATTERN, place, name);
}

/* After NAME ":": a size and "of", or a pattern? A pattern is a name with or without arguments,
   and no operator follows it. */
static bool sees_quorum(const struct parser *p) {
  if (!parser_sees_name(p, 0) || parser_sees_word(p, W_EXACTLY))
    return true;
  size_t i = 1, open = 0;
  if (parser_look(p, i)->kind == T_LPAREN)
    do {
      enum token_kind kind = parser_look(p, i++)->kind;
      if (kind == T_END)
        return false;
      open += kind == T_LPAREN;
      open -= kind == T_RPAREN;
    } while (open > 0);
  const struct token *t = parser_look(p, i);
  return t->word == W_OF || t->word == W_MOD || t->kind == T_PLUS || t->kind == T_MINUS || t->kind == T_TIMES ||
         t->kind == T_DIVIDE || t->kind == T_DOT || t->kind == T_LBRACKET;
}

enum { ON_SIZE, ON_PATTERN, ON_SAME, ON_FROM, ON_IF, ON_PARTS };

/* what = NAME ":" ["exactly"] sum "of" pattern | [NAME ":"] pattern */
static const char *parse_what(struct parser *p, struct ast **part, uint32_t *flags, struct span *word) {
  const char *name = NULL;
  if (parser_sees_name(p, 0) && parser_look(p, 1)->kind == T_COLON) {
    *word = parser_look(p, 0)->at;
    name = parser_expect_name(p, "a name");
    parser_expect(p, T_COLON);
    bool at_least = parser_sees_word(p, W_AT) || parser_sees(p, T_GE) || parser_sees(p, T_GT);
    if (at_least) {
      parser_fail(p, E0106, "the size of a quorum");
      parser_help(p, "'on Q: k of MESSAGE' waits for k messages or more; exactly k are 'exactly k of MESSAGE'");
    } else if (parser_sees(p, T_LBRACE)) {
      parser_fail(p, E0106, "a message");
      parser_help(p, "say which kind: 'on m: KIND { ... }'");
    } else if (sees_quorum(p)) {
      *flags |= parser_take_word(p, W_EXACTLY) ? AST_FLAG_EXACTLY : 0;
      part[ON_SIZE] = parse_sum(p);
      if (!parser_expect_word(p, W_OF))
        parser_help(p, "a quorum is written 'on Q: SIZE of MESSAGE'");
    }
  }
  bool quorum = parser_sees(p, T_NUMBER) || parser_sees(p, T_LPAREN) || parser_look(p, 1)->word == W_OF;
  if (parser_look(p, 1)->kind == T_NAME && parser_sees_name(p, 1) && parser_look(p, 1)->word == W_ORDINARY)
    parser_reject_foreign(p, FOREIGN_TRIGGER);
  if (quorum && !part[ON_SIZE]) {
    parser_fail(p, E0106, "a message");
    parser_help(p, "a quorum has a name: 'on Q: SIZE of MESSAGE'");
  }
  part[ON_PATTERN] = parse_pattern(p);
  return name;
}

/* from = "from" NAME */
static struct ast *parse_from(struct parser *p) {
  struct construct_start place = parser_place(p);
  parser_expect_word(p, W_FROM);
  place.word = parser_look(p, 0)->at;
  const char *name = parser_expect_name(p, "the sender's name");
  return parser_named(p, AST_FROM, place, name);
}

/* same = "same" NAME {"," NAME} */
static struct ast *parse_same(struct parser *p) {
  struct construct_start place = parser_place(p);
  parser_expect_word(p, W_SAME);
  struct ast *names = parse_names(p, "a field's name");
  for (uint32_t i = 0; i < names->n; i++)
    parser_add(p, names->kid[i]);
  return parser_node(p, AST_SAME, place);
}

/* ["same" names] ["from" NAME] ["if" expr] ["once"] ["taken"]   (each at most once, in any order)
 */
static void parse_modifiers(struct parser *p, struct ast **part, uint32_t *flags) {
  for (;;) {
    bool again = false;
    const char *found = parser_found(p);
    struct span at = parser_look(p, 0)->at;
    if (parser_sees_word(p, W_SAME)) {
      again = part[ON_SAME];
      part[ON_SAME] = parse_same(p);
    } else if (parser_sees_word(p, W_FROM)) {
      again = part[ON_FROM];
      part[ON_FROM] = parse_from(p);
    } else if (parser_sees_word(p, W_IF) || parser_sees_word(p, W_WHEN)) {
      if (parser_sees_word(p, W_WHEN)) {
        parser_complain(p, E0111, "expected 'if', found 'when'");
        parser_help(p, "the condition of 'on' is written 'if'; 'when' waits for no message");
      }
      p->at++;
      again = part[ON_IF];
      part[ON_IF] = parse_expr(p);
    } else if (parser_take_word(p, W_ONCE)) {
      again = *flags & AST_FLAG_ONCE;
      *flags |= AST_FLAG_ONCE;
    } else if (parser_take_word(p, W_TAKEN)) {
      again = *flags & AST_FLAG_TAKEN;
      *flags |= AST_FLAG_TAKEN;
    } else {
      return;
    }
    if (again)
      diag_error(p->diags, E0112, at, "second %s in a trigger", found);
  }
}

/* trigger = "when" expr ["once"] | "on" what modifiers */
static struct ast *parse_trigger(struct parser *p) {
  struct construct_start place = parser_place(p);
  struct ast *part[ON_PARTS] = {NULL}, *when = NULL;
  const char *name = NULL;
  uint32_t flags = 0;
  bool is_if = parser_sees_word(p, W_IF);
  if (is_if) {
    parser_complain(p, E0111, "expected 'when', found 'if'");
    parser_help(p, "a step that waits for a condition is written 'step NAME when CONDITION { ... }'");
  }
  if (parser_take_word(p, W_WHEN) || parser_take_word(p, W_IF)) {
    when = parse_expr(p);
    flags |= parser_take_word(p, W_ONCE) ? AST_FLAG_ONCE : 0;
  } else {
    parser_expect_word(p, W_ON);
    name = parse_what(p, part, &flags, &place.word);
    parse_modifiers(p, part, &flags);
  }
  parser_add(p, when);
  for (size_t i = 0; i < ON_PARTS; i++)
    parser_add(p, part[i]);
  struct ast *node = parser_named(p, AST_TRIGGER, place, name);
  node->flags = flags;
  return node;
}

static bool sees_trigger(const struct parser *p) {
  return parser_sees_word(p, W_WHEN) || parser_sees_word(p, W_ON) || parser_sees_word(p, W_IF);
}

/* The block of a trigger is missing, or something stands before it. */
static void help_body(struct parser *p, const struct token *t, const char *header) {
  static const char *const words[] = {"await", "wait", "guard", "requires"};
  bool waits = t->kind == T_NAME && nearest_name(parser_text(p, t), words, sizeof words / sizeof *words);
  if (waits)
    parser_help(p, "write 'when CONDITION { ... }'");
  else if (t->kind == T_AND_AND || t->word == W_AND)
    parser_help(p, "the condition of a handler follows 'if': 'on MESSAGE if CONDITION { ... }'");
  else if (t->kind == T_COMMA || t->word == W_OR)
    parser_help(
        p,
        "one handler for each: 'on A { ... }' and 'on B { ... }'; in a step 'step NAME on A { ... } or on B { ... }'");
  else if (t->kind == T_GE || t->kind == T_GT)
    parser_help(p, "that many messages are waited for by 'on Q: SIZE of MESSAGE'");
  else
    parser_help(p, "a block is in braces: '%s { ... }'", header);
}

/* alternative = [trigger] block */
static struct ast *parse_alternative(struct parser *p, bool needs_trigger) {
  struct construct_start place = parser_place(p);
  bool waits = needs_trigger || sees_trigger(p), when = parser_sees_word(p, W_WHEN);
  parser_add(p, waits ? parse_trigger(p) : NULL);
  parser_recover_header(p);
  const struct token *t = parser_look(p, 0);
  bool bare = !p->panic && t->kind != T_LBRACE;
  parser_add(p, parse_block(p));
  if (bare)
    help_body(p, t, !waits ? "step NAME" : when ? "when CONDITION" : "on MESSAGE");
  return parser_node(p, AST_ALTERNATIVE, place);
}

/* reaction = "start" block | ["final"] "step" NAME [trigger] block { "or" trigger block } | trigger block */
static struct ast *parse_reaction(struct parser *p) {
  struct construct_start place = parser_place(p);
  if (parser_take_word(p, W_START)) {
    bool bare = !parser_sees(p, T_LBRACE);
    parser_add(p, parse_block(p));
    if (bare)
      parser_help(p, "a block is in braces: 'start { ... }'");
    return parser_node(p, AST_START, place);
  }
  bool final = parser_take_word(p, W_FINAL);
  if (final ? !parser_expect_word(p, W_STEP) : !parser_take_word(p, W_STEP))
    return final ? parser_error_node(p) : parse_alternative(p, true);
  place.word = parser_look(p, 0)->at;
  bool named = parser_sees_name(p, 0);
  const char *name = parser_expect_name(p, "the step's name");
  if (!named)
    parser_help(p, "a step has a name: 'step NAME { ... }'");
  parser_add(p, parse_alternative(p, false));
  while (parser_sees_word(p, W_OR)) {
    parser_begin(p, BEGIN_ALTERNATIVE);
    parser_take_word(p, W_OR);
    parser_add(p, parse_alternative(p, true));
  }
  struct ast *node = parser_named(p, AST_STEP, place, name);
  node->flags = final ? AST_FLAG_FINAL : 0;
  return node;
}

/* ---- the process ---- */

static const struct word_rule members[] = {
    {W_INPUT, parse_store},    {W_VAR, parse_store},     {W_STABLE, parse_store},  {W_SHARED, parse_store},
    {W_GHOST, parse_store},    {W_ORACLE, parse_store},  {W_DEF, parse_def},       {W_ONCE, parse_segment},
    {W_REPEAT, parse_segment}, {W_PHASE, parse_segment}, {W_ROUND, parse_segment}, {W_FINALLY, parse_segment},
    {W_START, parse_reaction}, {W_STEP, parse_reaction}, {W_WHEN, parse_reaction}, {W_ON, parse_reaction},
    {W_FINAL, parse_reaction},
};

/* Handles a word that starts no member of a process. If it is close to one that does, it is read as that word. */
static bool guess_member(struct parser *p) {
  if (parser_reject_foreign(p, FOREIGN_MEMBER))
    return false;
  struct token *t = &p->tokens->list.at[p->at];
  const struct token *next = parser_look(p, 1);
  enum word near = W_ORDINARY;
  if (next->kind == T_NAME || next->kind == T_LBRACE)
    near = parser_nearest_word(p, WORD_RULES(members));
  if (!near) {
    bool statement = parser_sees_name(p, 0) || word_reserved(t->word) || t->word == W_UPDATE;
    bool variable = t->kind == T_NAME && next->kind == T_COLON;
    const struct token *after = parser_look(p, 2);
    bool label = variable && (parser_look(p, 3)->kind == T_BECOMES || after->word == W_SEND || after->word == W_IF ||
                              after->kind == T_LBRACE);
    bool method = t->kind == T_NAME && t->word == W_ORDINARY && next->kind == T_LPAREN;
    parser_fail(p, E0106, "a variable, a round or a handler");
    if (label)
      parser_help(p, "there are no labels: what a process does in one go is 'step NAME { ... }'");
    else if (method)
      parser_help(p, "there are no methods: a message is handled by 'on MESSAGE(FIELD) { ... }', a function is 'def "
                     "NAME(FIELD: TYPE) = EXPRESSION'");
    else if (t->word == W_GOTO)
      parser_help(p, "'goto' is the last statement of a block: 'step NAME { ...  goto OTHER }'");
    else if (variable)
      parser_help(p, "a variable is declared by 'var NAME: TYPE = VALUE'");
    else if (statement)
      parser_help(p, "statements stand in 'update' of a round, in 'start', in a step or handler");
    return false;
  }
  parser_complain(p, E0110, "unknown word %s", parser_found(p));
  parser_help(p, "did you mean '%s'?", word_text(near));
  t->word = near;
  return true;
}

/* member = store | def | segment | reaction */
static struct ast *parse_member(struct parser *p, bool *behaves) {
  parser_begin(p, BEGIN_CONSTRUCT);
  for (int attempt = 0; attempt < 2; attempt++) {
    parse_rule *rule = parser_rule(p, WORD_RULES(members));
    bool declares = rule == parse_def || rule == parse_store;
    if (declares && *behaves) {
      parser_complain(p, E0111, "%s after the first round or handler", parser_found(p));
      parser_help(p, "variables and definitions come first in a process");
    }
    *behaves = *behaves || !declares;
    if (rule)
      return rule(p);
    if (!guess_member(p))
      return parser_error_node(p);
  }
  return parser_error_node(p);
}

/* "{" { store | def } { segment | reaction } "}" */
static void add_members(struct parser *p) {
  if (!parser_open(p))
    return;
  bool behaves = false;
  for (;;) {
    parser_skip_semicolons(p);
    if (parser_at_declaration(p) && parser_is_inside(p)) {
      parse_misplaced(p);
      continue;
    }
    if (parser_sees(p, T_RBRACE) || parser_sees(p, T_END) || parser_at_declaration(p))
      break;
    size_t before = p->at;
    parser_add(p, parse_member(p, &behaves));
    if (p->panic)
      parser_recover_member(p, before);
  }
  parser_close(p);
}

/* process = "process" NAME "[" expr "]" ["ring" | "graph" expr] "{" members "}" */
struct ast *parse_process(struct parser *p) {
  struct construct_start place = parser_place(p);
  parser_expect_word(p, W_PROCESS);
  place.word = parser_look(p, 0)->at;
  bool named = parser_sees_name(p, 0);
  const char *name = parser_expect_name(p, "the process's name");
  if (!named)
    parser_help(p, "write 'process P[n] { ... }'");
  parser_mark(p, ROLE_TIGHT);
  if (!parser_expect(p, T_LBRACKET))
    parser_help(p, "say how many there are: 'process P[n] { ... }'");
  parser_add(p, parse_expr(p));
  if (!parser_expect_close(p, T_RBRACKET, place.from))
    parser_help(p, "say how many there are: 'process P[n] { ... }'");
  bool ring = parser_take_word(p, W_RING);
  parser_add(p, parser_take_word(p, W_GRAPH) ? parse_expr(p) : NULL);
  parser_recover_header(p);
  bool bare = !p->panic && !parser_sees(p, T_LBRACE);
  add_members(p);
  if (bare)
    parser_help(p, "what it stores and does is in braces: 'process P[n] { ... }'");
  struct ast *node = parser_named(p, AST_PROCESS, place, name);
  node->flags = ring ? AST_FLAG_RING : 0;
  return node;
}
